//! `--shard`: which kernels of a run one machine looks at.
//!
//! Input: the kernels of the whole run. Output: those of a shard, and what its report says of the run. Establishes: each kernel
//! is in exactly one shard; which one depends on its file, its name and its launch alone, so that other kernels that come
//! or go move none. Relies on: all machines are given the same files by the same names, which [`run_of`] lets `gpuvcc merge` check.
//! Reference: book/src/many.md; RFC 9923 (FNV-1a); A. Appleby, MurmurHash3 (fmix64).

use super::launches::KnownLaunch;
use super::options::{Color, Format, Options};
use super::task::Task;
use crate::report::fingerprint::fnv_1a;
use crate::report::run::Shard;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// `3/16`: the third of sixteen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardOf {
    /// From 1, at most `of`.
    pub(crate) number: usize,
    pub(crate) of: usize,
}

impl FromStr for ShardOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no shard I/N, such as 3/16, with I from 1 to N");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let parse = |text: &str| text.parse::<NonZeroUsize>().map(NonZeroUsize::get).map_err(|_| wrong());
        let shard = ShardOf { number: parse(number)?, of: parse(of)? };
        if shard.number <= shard.of { Ok(shard) } else { Err(wrong()) }
    }
}

impl ShardOf {
    /// Whether it has what has this hash.
    fn has(self, hash: u64) -> bool {
        hash % self.of as u64 == self.number as u64 - 1
    }
}

/// The kernels of the shard, and what the report says of it.
pub(super) fn of_run<'t>(tasks: Vec<Task<'t>>, shard: ShardOf, options: &Options) -> (Vec<(usize, Task<'t>)>, Shard) {
    let (total, run) = (tasks.len(), run_of(&tasks, options));
    let tasks = tasks.into_iter().enumerate().filter(|(_, task)| shard.has(hash_of(task))).collect();
    let ShardOf { number, of } = shard;
    (tasks, Shard { number, of, run, total, positions: Vec::new(), error_positions: Vec::new() })
}

fn hash_of(task: &Task) -> u64 {
    hash(task.input.source.name(), &task.entry, task.launch)
}

/// Of a kernel in a launch; where the launch is known from does not matter, so that lines may move.
fn hash(file: &str, entry: &str, launch: Option<&KnownLaunch>) -> u64 {
    let launch = launch.map(|launch| KnownLaunch { origin: String::new(), ..launch.clone() });
    let launch = launch.map(|launch| format!("{launch:?}")).unwrap_or_default();
    mixed(fnv_1a(format!("{file}\n{entry}\n{launch}").as_bytes()))
}

/// Each bit of the result depends on all of the hash: of FNV-1a the lowest bit is a parity.
fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// The same for all shards of a run; other texts, launches or options, or another version, are another run.
fn run_of(tasks: &[Task], options: &Options) -> String {
    // What does not change an answer, or what is this machine's.
    let options = Options {
        shard: options.shard.map(|shard| ShardOf { number: 1, ..shard }),
        jobs: NonZeroUsize::MIN,
        memory: None,
        cache: None,
        output: None,
        command: String::new(),
        format: Format::Text,
        color: Color::Auto,
        quiet: false,
        stats: false,
        ..options.clone()
    };
    let mut text = format!("{}\n{options:?}\n", env!("CARGO_PKG_VERSION"));
    let mut last: Option<&Task> = None;
    for task in tasks {
        // Kernels of one input stand together.
        if last.is_none_or(|last| !std::ptr::eq(last.input, task.input)) {
            let source = &task.input.source;
            let of_text = fnv_1a(source.text().as_bytes());
            text.push_str(&format!(
                "{}\n{of_text:016x}\n{:?}\n{:?}\n",
                source.name(),
                task.input.launch,
                task.annotated
            ));
        }
        text.push_str(&format!("{}\n{:?}\n", task.entry, task.launch));
        last = Some(task);
    }
    format!("{:016x}", fnv_1a(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shards(files: &[(String, String)], of: usize) -> Vec<Vec<usize>> {
        let hashes: Vec<u64> = files.iter().map(|(file, entry)| hash(file, entry, None)).collect();
        let has = |shard: ShardOf| (0..hashes.len()).filter(|index| shard.has(hashes[*index])).collect();
        (1..=of).map(|number| has(ShardOf { number, of })).collect()
    }

    proptest! {
        #[test]
        fn every_kernel_is_in_one_shard(
            kernels in proptest::collection::vec(("[a-z/]{1,8}", "[a-z_0-9]{1,8}"), 0..40),
            of in 1..50usize,
        ) {
            let shards = shards(&kernels, of);
            let mut all: Vec<usize> = shards.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..kernels.len()).collect::<Vec<_>>());
            // Without the last kernel the others are where they were.
            if let Some((_, others)) = kernels.split_last() {
                let fewer = self::shards(others, of);
                for (shard, with) in fewer.iter().zip(&shards) {
                    let with: Vec<usize> = with.iter().copied().filter(|index| *index < others.len()).collect();
                    prop_assert_eq!(shard, &with);
                }
            }
        }
    }

    /// Names as compilers number them, which differ in a digit.
    #[test]
    fn shards_are_of_like_size() {
        let kernels: Vec<_> =
            (0..4096).map(|index| ("k.ptx".to_string(), format!("triton_poi_fused_{index}"))).collect();
        for of in [2, 3, 4, 16] {
            let sizes: Vec<usize> = shards(&kernels, of).iter().map(Vec::len).collect();
            let mean = kernels.len() / of;
            assert!(sizes.iter().all(|size| (mean * 3 / 4..=mean * 5 / 4).contains(size)), "{sizes:?}");
        }
    }

    #[test]
    fn shards_are_read() {
        assert_eq!("3/16".parse(), Ok(ShardOf { number: 3, of: 16 }));
        for wrong in ["", "3", "0/4", "5/4", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(wrong.parse::<ShardOf>().is_err(), "{wrong}");
        }
    }
}
