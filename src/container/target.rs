//! Architectures: `sm_90`, `compute_90`, `sm_90a`, `sm_100f`.

use std::fmt;
use std::str::FromStr;

/// What code of an architecture runs on beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variant {
    /// All later ones.
    Portable,
    /// Its family (`f`).
    Family,
    /// No other one (`a`).
    Specific,
}

/// An architecture; they order from old to new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// 90 for compute capability 9.0.
    pub(crate) number: u32,
    pub(crate) variant: Variant,
}

impl Target {
    /// That of PTX text: the first word of its first `.target`.
    pub(crate) fn of_ptx(text: &str) -> Option<Target> {
        let mut rest = code_from(text);
        while !rest.is_empty() {
            // At least one character, so that this ends.
            let mut ends = rest.char_indices().skip(1).filter(|(_, character)| is_end(*character));
            let (word, behind) = rest.split_at(ends.next().map_or(rest.len(), |(at, _)| at));
            rest = code_from(behind);
            if word == ".target" {
                return rest.split(is_end).next()?.parse().ok();
            }
        }
        None
    }
}

/// Whether a text starts as PTX does.
pub(crate) fn is_ptx(text: &str) -> bool {
    code_from(text).starts_with(".version")
}

/// Debug information has NUL bytes instead of line ends.
fn is_space(character: char) -> bool {
    character.is_ascii_whitespace() || character == '\0'
}

/// What ends a word; a comment may follow it.
fn is_end(character: char) -> bool {
    is_space(character) || matches!(character, ',' | '/')
}

/// PTX text from its first word that is no comment.
fn code_from(text: &str) -> &str {
    let mut rest = text.trim_start_matches(is_space);
    loop {
        let end = if rest.starts_with("//") {
            rest.find(['\n', '\0'])
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 2)
        } else {
            return rest;
        };
        rest = end.map_or("", |end| &rest[end..]).trim_start_matches(is_space);
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.variant {
            Variant::Portable => "",
            Variant::Family => "f",
            Variant::Specific => "a",
        };
        write!(formatter, "sm_{}{letter}", self.number)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no target such as sm_90, sm_90a or compute_90");
        let name = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
        let digits = name.trim_end_matches(|character: char| character.is_ascii_lowercase());
        let variant = match &name[digits.len()..] {
            "" => Variant::Portable,
            "f" => Variant::Family,
            "a" => Variant::Specific,
            _ => return Err(wrong()),
        };
        // The number parser would accept a sign.
        let number = if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None };
        number.map(|number| Target { number, variant }).ok_or_else(wrong)
    }
}

/// Targets with commas, each once, in order.
pub(crate) fn listing(targets: impl IntoIterator<Item = Target>) -> String {
    let mut targets: Vec<Target> = targets.into_iter().collect();
    targets.sort();
    targets.dedup();
    targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_and_written() {
        for (text, written) in [("sm_90", "sm_90"), ("compute_90a", "sm_90a"), ("100f", "sm_100f")] {
            assert_eq!(text.parse::<Target>().map(|target| target.to_string()).as_deref(), Ok(written));
        }
        for text in ["", "sm_", "sm_+9", "sm_90b", "sm_9x0", "sm_99999999999", "sm_90aa", "SM_90"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
        let target = |text: &str| text.parse::<Target>().unwrap();
        assert!(target("sm_90") < target("sm_90a") && target("sm_90a") < target("sm_100"));
        assert_eq!(listing([target("90"), target("80"), target("90")]), "sm_80, sm_90");
    }

    #[test]
    fn ptx_says_its_target() {
        assert_eq!(Target::of_ptx(".version 8.0\n.target sm_90a, debug\n"), "sm_90a".parse().ok());
        let commented = "// .target sm_70\n/* .target sm_75 */.version / 8.0/* .target sm_76 */\r\n.target /* */ sm_80// .target sm_86\n";
        assert_eq!(Target::of_ptx(commented), "sm_80".parse().ok());
        assert_eq!(Target::of_ptx(".version 8.0\0// .target sm_70\0.target sm_90\0"), "sm_90".parse().ok());
        for none in ["", ".version 8.0\n", ".target", ".target ,", "/* .target sm_90", "// .target sm_90"] {
            assert_eq!(Target::of_ptx(none), None, "{none}");
        }
    }
}
