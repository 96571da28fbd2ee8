//! `--fail-on`: which verdicts fail a run.

use super::{Defect, Verdict};
use std::collections::BTreeSet;
use std::str::FromStr;

/// What can be wrong with a kernel.
const DEFECTS: [Defect; 5] =
    [Defect::Race, Defect::Divergence, Defect::Deadlock, Defect::BarrierError, Defect::Assertion];

/// Verdicts that prove nothing and show nothing.
const OPEN: [Verdict; 3] = [Verdict::VerifiedWhen, Verdict::Unknown, Verdict::Unsupported];

/// The verdicts that fail a run: its exit code is 1 with one of them, and 0 without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailOn(BTreeSet<Verdict>);

impl FailOn {
    /// Whether a kernel with this verdict fails the run.
    pub(crate) fn contains(&self, verdict: Verdict) -> bool {
        self.0.contains(&verdict)
    }

    /// What a word stands for: a verdict, or a group of them.
    fn of_word(word: &str) -> Option<Vec<Verdict>> {
        let confirmed = DEFECTS.map(Verdict::Defect);
        let possible = DEFECTS.map(Verdict::Possible);
        let all = || confirmed.into_iter().chain(possible).chain(OPEN);
        match word {
            "defect" => Some(confirmed.to_vec()),
            "possible" => Some(possible.to_vec()),
            "any" => Some(all().collect()),
            "none" => Some(Vec::new()),
            _ => all().find(|verdict| verdict.name() == word).map(|verdict| vec![verdict]),
        }
    }
}

impl FromStr for FailOn {
    type Err = String;

    /// Verdicts and groups with commas between them.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut verdicts = BTreeSet::new();
        for word in text.split(',').map(str::trim) {
            let found = Self::of_word(word).ok_or_else(|| {
                let names = |verdicts: &[Verdict]| verdicts.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
                let (defects, open) = (names(&DEFECTS.map(Verdict::Defect)), names(&OPEN));
                format!(
                    "`{word}` is no verdict that can fail a run: {defects} (together: defect), each also with \
                     `possible-` (together: possible), {open}; any; none"
                )
            })?;
            verdicts.extend(found);
        }
        Ok(FailOn(verdicts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_their_verdicts() {
        let of = |text: &str| text.parse::<FailOn>().expect("verdicts");
        assert_eq!(of("defect"), of("race,divergence,deadlock,barrier-error,assertion"));
        assert_eq!(of("any"), of("defect, possible, verified-when,unknown,unsupported"));
        assert_eq!(of("none"), FailOn::default());
        assert!(of("possible").contains(Verdict::Possible(Defect::Race)));
        assert!(!of("possible").contains(Verdict::Defect(Defect::Race)));
        for wrong in ["", "verified", "no-defect", "races", "race,"] {
            assert!(wrong.parse::<FailOn>().is_err(), "{wrong}");
        }
    }
}
