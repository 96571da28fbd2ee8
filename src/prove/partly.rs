//! A proof with the loops of few rounds written out, and invariants for the others.
//!
//! Input: a two-thread program. Output: whether all its assertions are proved, and which of its loops are endless. Establishes:
//! they are proved only where those of the program with those loops written out were ([`super::rounds::partly`]), with the
//! assertion that nobody has more rounds among them, under invariants that were proved.
//! Relies on: an assertion that is no race may be relied on behind it, as it is proved like all others. Reference: Biere et
//! al., bounded model checking.
//!
//! Loops over the halves of a block, over the elements of a thread, or for what is left of a loop that the compiler unrolled,
//! have few rounds at a known launch, and stand beside or within loops over the data, which have any number. Written out, they
//! need no invariants, which the loops around them would need as well.

use super::probes::Probed;
use super::{Plan, Tries, WritesOut, few_rounds, idle_logs, rounds};
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::infer::passive_of;
use crate::twothread::TwoThread;

/// Statements of a program that is still looked at.
const MOST_STATEMENTS: usize = 6_000;
/// Loops that may be left: more are not asked for at once.
const MOST_LEFT: usize = 2;
/// What all of it may cost.
const ALL: Effort = Effort::seconds(4);

/// Tries all assertions. Where they are proved: the loops that are endless.
///
/// # Errors
/// What `vcgen` cannot translate.
pub(super) fn proves(two: &TwoThread, plan: Plan, budget: Budget) -> Result<Option<Probed>, Diagnostic> {
    // A single loop is written out as a whole, or needs its invariants.
    if two.loops.len() < 2 {
        return Ok(None);
    }
    let mut passive = passive_of(&two.program, &two.procedure)?;
    let rounds = few_rounds::run(two, &mut passive);
    drop(passive);
    log::debug!("partly written out: rounds {rounds:?}");
    if rounds.iter().all(Option::is_none) {
        return Ok(None);
    }
    let Some(written) = rounds::partly(two, &rounds, MOST_STATEMENTS) else { return Ok(None) };
    if written.loops.len() > MOST_LEFT {
        return Ok(None);
    }
    let written = idle_logs::without(&written);
    let effort = budget.part(ALL).left();
    let plan = Plan { effort, first_failure: true, writes_out: WritesOut::None, in_parts: true, ..plan };
    let outcome = super::run(Tries::new(&written, plan), &mut |_| false)?;
    if !outcome.is_proved() || outcome.vacuous || !outcome.unsatisfied.is_empty() {
        return Ok(None);
    }
    let number = |endless: usize| two.loops.iter().position(|info| info.head == written.loops[endless].head);
    let endless = outcome.endless.into_iter().filter_map(number).collect();
    Ok(Some(Probed { endless, ..Probed::default() }))
}
