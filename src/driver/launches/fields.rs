//! A launch as files write it.
//!
//! Input: the fields of a JSON object or of a TOML table. Output: a [`KnownLaunch`], or what is wrong with a field.
//! Establishes: the launch exists: a GPU can start it. Relies on: nothing. Reference: CUDA C++ Programming Guide, technical
//! specifications by compute capability.

use super::aliases::KnownAlias;
use super::{KnownLaunch, LARGEST_SHARED};
use crate::driver::values::ParameterSetting;
use crate::driver::values::parse_number;
use crate::geometry::{Geometry, LARGEST, unlaunchable_block};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The fields; sizes left out at the end are 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    pub(super) kernel: Option<String>,
    pub(super) block: Option<Vec<u32>>,
    pub(super) grid: Option<Vec<u32>>,
    cluster: Option<Vec<u32>>,
    dynamic_shared: Option<u32>,
    #[serde(default)]
    params: BTreeMap<String, Scalar>,
    /// Values of 8 bytes that are numbers, or pointers to memory that nobody knows.
    #[serde(default)]
    words: BTreeMap<String, Scalar>,
    /// Bytes that pointers point to. Accesses are taken to stay inside of them in any case.
    #[serde(default, rename = "sizes")]
    _sizes: BTreeMap<String, u64>,
    #[serde(default)]
    aliases: Vec<Alias>,
}

/// Two pointers into one array, and how many bytes the second points behind the first.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an alias is two pointers, and perhaps a number of bytes")]
enum Alias {
    Somewhere([String; 2]),
    Behind(String, String, i64),
}

/// The value of a scalar parameter.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Signed(i64),
    Unsigned(u64),
    /// Of no use to a proof.
    Float(#[expect(dead_code, reason = "only told apart")] f64),
    /// An integer, decimal or hexadecimal.
    Text(String),
}

impl From<Alias> for KnownAlias {
    fn from(alias: Alias) -> Self {
        let (parameters, distance) = match alias {
            Alias::Somewhere(parameters) => (parameters, None),
            Alias::Behind(one, other, distance) => ([one, other], Some(distance)),
        };
        KnownAlias { parameters, distance }
    }
}

impl Fields {
    /// The launch of a kernel, with the place that tells it.
    ///
    /// # Errors
    /// No GPU starts it, or a value is none: one sentence, lower case, no full stop.
    pub(super) fn launch(self, kernel: String, origin: String, max_threads: u64) -> Result<KnownLaunch, String> {
        let geometry = Geometry { block: sizes("block", self.block)?, grid: sizes("grid", self.grid)? };
        if let Some(message) = unlaunchable_block(geometry.block) {
            return Err(format!("`block` gives {message}"));
        }
        let too_large =
            geometry.grid.into_iter().zip(LARGEST.grid).find(|(size, largest)| size.is_some_and(|s| s > *largest));
        if let Some((Some(size), largest)) = too_large {
            return Err(format!("`grid` has {size} blocks on an axis, and a GPU at most {largest}"));
        }
        let threads = geometry.or_one().threads();
        if threads >= u128::from(max_threads) {
            return Err(format!("the launch has {threads} threads, but --max-threads allows fewer than {max_threads}"));
        }
        if let Some(bytes) = self.dynamic_shared.filter(|bytes| *bytes > LARGEST_SHARED) {
            return Err(format!("`dynamic_shared` is {bytes}, more than {LARGEST_SHARED}"));
        }
        let cluster = sizes("cluster", self.cluster)?.map(|size| size.unwrap_or(1));
        let (params, words) = (settings(self.params)?, settings(self.words)?);
        let (dynamic_shared, aliases) = (self.dynamic_shared, self.aliases.into_iter().map(KnownAlias::from).collect());
        Ok(KnownLaunch {
            geometry,
            cluster,
            dynamic_shared,
            params,
            words,
            aliases,
            ..KnownLaunch::new(kernel, origin)
        })
    }
}

/// The integers among values; a floating-point number is of no use to a proof.
fn settings(values: BTreeMap<String, Scalar>) -> Result<Vec<ParameterSetting>, String> {
    let mut settings = Vec::new();
    for (name, scalar) in values {
        if let Some(value) = scalar.integer().map_err(|message| format!("`{name}`: {message}"))? {
            settings.push(ParameterSetting { name, value });
        }
    }
    Ok(settings)
}

impl Scalar {
    fn integer(&self) -> Result<Option<i128>, String> {
        match self {
            Scalar::Signed(value) => Ok(Some((*value).into())),
            Scalar::Unsigned(value) => Ok(Some((*value).into())),
            Scalar::Float(_) => Ok(None),
            Scalar::Text(text) => match parse_number(text) {
                Some(value) => Ok(Some(value)),
                None => Err(format!("`{text}` is no number from -2^63 to 2^64-1, decimal or hexadecimal (0x...)")),
            },
        }
    }
}

fn sizes(name: &str, given: Option<Vec<u32>>) -> Result<[Option<u32>; 3], String> {
    let Some(given) = given else { return Ok([None; 3]) };
    if given.is_empty() || given.len() > 3 || given.contains(&0) {
        return Err(format!("`{name}` has one to three sizes, each at least 1"));
    }
    let mut sizes = [Some(1); 3];
    sizes.iter_mut().zip(given).for_each(|(size, value)| *size = Some(value));
    Ok(sizes)
}
