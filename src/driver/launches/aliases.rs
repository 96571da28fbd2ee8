//! Which pointers of a known launch point into one array.
//!
//! Input: the pairs that a launch names, and its words. Output: the same for the stages, by position, with sentences about
//! it. Establishes: pointers that may meet are in one group, or any pointers may alias. Relies on: nothing. Reference: none.

use super::{KnownLaunch, position, shown_parameter};
use crate::aliases::{Aliases, Pair};
use crate::driver::options::Options;
use crate::driver::values::ParameterSetting;
use crate::ptx::ast::Function;

/// From which value on a word may be an address, and how far apart two of one array may be: no GPU has more memory.
const LEAST_ADDRESS: u64 = 1 << 20;
const LARGEST_MEMORY: u64 = 1 << 40;

/// Two pointers to the same memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownAlias {
    /// By name or position.
    pub(super) parameters: [String; 2],
    /// How many bytes the second points behind the first, if that is known.
    pub(super) distance: Option<i64>,
}

/// Tells options which pointers of a launch alias.
pub(super) fn tell(options: &mut Options, launch: &KnownLaunch, function: Option<&Function>, told: &mut Vec<String>) {
    let pairs: Vec<KnownAlias> = launch.aliases.iter().cloned().chain(neighbours(&launch.words)).collect();
    let known: Option<Vec<Pair>> = pairs.iter().map(|alias| pair(alias, function)).collect();
    let (mut sentences, mut any) = (Vec::new(), Vec::new());
    for KnownAlias { parameters: [one, other], distance } in &pairs {
        let named = format!("`{}` and `{}`", shown_parameter(function, one), shown_parameter(function, other));
        sentences.push(match distance {
            Some(0) => format!("{named} are one pointer in that launch"),
            Some(1 | -1) => format!("{named} are 1 byte apart in that launch"),
            Some(bytes) => format!("{named} are {} bytes apart in that launch", bytes.unsigned_abs()),
            None => format!("{named} point into one array in that launch, nobody says how far apart"),
        });
        any.push(named);
    }
    match known {
        Some(known) => {
            options.known_aliases = Aliases::of(&known);
            told.extend(sentences);
        }
        // Structures and kernels in IVL: all pointers is more than was said, so nothing wrong is proved.
        None => {
            options.rules.may_alias = true;
            told.push(format!("any pointers may alias, since {} do in that launch", any.join(", ")));
        }
    }
}

/// A pair by position, if both parameters are pointers and nothing else, or numbers.
fn pair(alias: &KnownAlias, function: Option<&Function>) -> Option<Pair> {
    let [one, other] = alias.parameters.each_ref().map(|name| {
        let index = position(function, name)?;
        let is_plain = function?.params.get(index)?.size == Some(8);
        u32::try_from(index).ok().filter(|_| is_plain)
    });
    let (one, other) = one.zip(other)?;
    (one != other).then_some((one, other, alias.distance))
}

/// Words that may point into one array: what lies in no allocation that is known has no known size.
fn neighbours(words: &[ParameterSetting]) -> impl Iterator<Item = KnownAlias> {
    let pairs =
        words.iter().enumerate().flat_map(|(index, one)| words[index + 1..].iter().map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| {
        let (start, end) = (one.value as u64, other.value as u64);
        let may_be_one = start.min(end) >= LEAST_ADDRESS && start.abs_diff(end) < LARGEST_MEMORY;
        let distance = Some(end.wrapping_sub(start).cast_signed());
        may_be_one.then(|| KnownAlias { parameters: [one.name.clone(), other.name.clone()], distance })
    })
}
