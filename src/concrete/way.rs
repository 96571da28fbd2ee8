//! The way that an execution surely takes.
//!
//! Input: the code of a passive program without loops, values of some symbols. Output: the check that surely fails first
//! on the way from the start. Establishes: that check fails in every execution with these values, whatever the other
//! symbols and functions are. Relies on: nothing; where a choice is open, nothing is found. Reference: none.

use super::evaluate::Evaluator;
use super::program::{Step, Steps};
use crate::vcgen::passive::Passive;
use std::collections::BTreeSet;

/// The first of the `wanted` checks that surely fails, where those that are `relied` on surely hold before it.
pub(crate) fn sure_failure(
    passive: &Passive,
    steps: &Steps,
    evaluator: &mut Evaluator,
    wanted: &BTreeSet<usize>,
    relied: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let mut block = 0;
    loop {
        for step in &steps.blocks[block] {
            match step {
                Step::Assume { candidate: Some(_), .. } => {}
                Step::Assume { condition, .. } if evaluator.surely(*condition) == Some(true) => {}
                Step::Assume { .. } => return None,
                Step::Define { pairs, .. } => evaluator.assign(pairs),
                Step::Check { number, condition } => match evaluator.surely(*condition) {
                    Some(false) if wanted.contains(number) => return Some(*number),
                    Some(true) => {}
                    _ if relied(*number) => return None,
                    _ => {}
                },
            }
        }
        let successors = &passive.blocks[block].successors;
        block = *successors.iter().find(|&&next| is_open(&steps.blocks[next], evaluator))?;
    }
}

/// Whether the assumptions that lead a block surely hold.
fn is_open(steps: &[Step], evaluator: &mut Evaluator) -> bool {
    let leading = steps.iter().map_while(|step| match step {
        Step::Assume { condition, candidate: None } => Some(*condition),
        _ => None,
    });
    leading.into_iter().all(|condition| evaluator.surely(condition) == Some(true))
}
