//! Which checks follow from which loop head.
//!
//! Input: a passive program. Output: for each check the loop whose head every path to it passed last.
//! Establishes: from that head to the check no other head lies between, so that
//! [`super::wp::formula_of_round`] asks for the check without any other loop.

use super::passive::{Passive, PassiveItem};
use std::collections::BTreeMap;

/// Checks by the loop whose head was passed last on every path to them; those before any loop, or
/// behind several heads on different paths, are in none.
pub(crate) fn run(passive: &Passive) -> BTreeMap<usize, Vec<usize>> {
    // For each block: nothing known yet, or the head (or none) at its end.
    let mut last: Vec<Option<Option<usize>>> = vec![None; passive.blocks.len()];
    let mut regions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (b, block) in passive.blocks.iter().enumerate() {
        let before = if b == 0 { Some(None) } else { last[b] };
        let here = block.head_of.or(before.flatten());
        last[b] = Some(here);
        for &next in &block.successors {
            last[next] = match last[next] {
                None => Some(here),
                Some(other) if other == here => Some(here),
                Some(_) => Some(None),
            };
        }
        let Some(number) = here else { continue };
        let checks = block.items.iter().skip(if block.head_of.is_some() { passive.entry_checks(b) } else { 0 });
        regions.entry(number).or_default().extend(checks.filter_map(|item| match item {
            PassiveItem::Check(check) => Some(*check),
            PassiveItem::Assume { .. } => None,
        }));
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcgen::passify;
    use crate::vcgen::term::Node;
    use std::collections::BTreeSet;

    #[test]
    fn checks_belong_to_the_head_before_them() {
        let text = "
            procedure main()
            {
              var x: bv8;
            Start:
              assert x == 0bv8;
              goto First, Beside;
            First:
              assert {:candidate \"first\", 0} x == 1bv8;
              goto Back, Left;
            Back:
              assert x == 2bv8;
              goto First;
            Left:
              assert x == 3bv8;
              goto Second;
            Second:
              assert {:candidate \"second\", 1} x == 4bv8;
              goto Again, End;
            Again:
              goto Second;
            End:
              assert x == 5bv8;
              goto Join;
            Beside:
              assert x == 6bv8;
              goto Join;
            Join:
              assert x == 7bv8;
              return;
            }";
        let program = crate::ivl::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let passive = passify::run(&program, &program.procedures[0]).unwrap_or_else(|error| panic!("{error:?}"));
        let constant = |check: &usize| match passive.terms.node(passive.checks[*check].term) {
            Node::Eq(a, b) => passive.terms.bv_value(*a).or(passive.terms.bv_value(*b)),
            _ => None,
        };
        let regions: Vec<BTreeSet<Option<u128>>> =
            run(&passive).values().map(|checks| checks.iter().map(constant).collect()).collect();
        assert_eq!(regions, [BTreeSet::from([1, 2, 3].map(Some)), BTreeSet::from([4, 5].map(Some))]);
    }
}
