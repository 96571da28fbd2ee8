//! Whether a proof says anything: loops that end, assumptions that somebody meets.
//!
//! Input: a program whose assertions are proved, with its probes. Output: [`Probed`]. Establishes: what is told is
//! proved under the kept invariants; a probe without an answer tells nothing. Reference: [`Probe`].

use super::attempt::{ask_probes, executed};
use super::{Inference, is_probe};
use crate::effort::{Budget, Effort};
use crate::infer::start;
use crate::ivl::claim::Probe;
use crate::query::Reply;
use crate::span::Origin;
use crate::vcgen::passive::Check;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Probes: a loop without an answer counts as one that ends.
const PROBE: Effort = Effort::milliseconds(400);

/// What the probes say about a program whose assertions are proved.
#[derive(Default)]
pub(super) struct Probed {
    /// The loops that a thread enters and from which no thread that entered comes out.
    pub(crate) endless: Vec<usize>,
    /// No execution comes to the end.
    pub(crate) vacuous: bool,
    /// Assumptions that are reached and never satisfied.
    pub(crate) unsatisfied: Vec<Arc<Origin>>,
}

/// Asks the probes: what an execution comes to, and only for the others the solver.
pub(super) fn probe(inference: &mut Inference, budget: Budget) -> Probed {
    let checks = inference.passive.checks.iter().enumerate();
    let probes: BTreeSet<usize> = checks.filter(|(_, check)| is_probe(check)).map(|(number, _)| number).collect();
    let met = start::find(&inference.passive).map(|state| executed(inference, &probes, &state)).unwrap_or_default();
    let proved_probes = |inference: &mut Inference, selects: &dyn Fn(Probe, usize) -> bool| {
        proved_probes(inference, budget, &met, selects)
    };
    let proved = proved_probes(inference, &|probe, _| !matches!(probe, Probe::Entry | Probe::Reached | Probe::Rounds));
    let left: BTreeSet<usize> = proved.iter().filter(|(p, _)| *p == Probe::Exit).map(|(_, l)| *l).collect();
    let mut endless = Vec::new();
    if !left.is_empty() {
        let not_entered = proved_probes(inference, &|probe, l| probe == Probe::Entry && left.contains(&l));
        endless.extend(left.into_iter().filter(|l| !not_entered.contains(&(Probe::Entry, *l))));
    }
    let vacuous = endless.is_empty() && proved.iter().any(|(probe, _)| *probe == Probe::End);
    let never: BTreeSet<usize> = proved.iter().filter(|(p, _)| *p == Probe::Satisfied).map(|(_, n)| *n).collect();
    let mut unsatisfied = Vec::new();
    if !never.is_empty() {
        let dead = proved_probes(inference, &|probe, n| probe == Probe::Reached && never.contains(&n));
        let checks = &inference.passive.checks;
        let meets = |check: &&Check| match check.claim.probe() {
            Some((Probe::Satisfied, number)) => never.contains(&number) && !dead.contains(&(Probe::Reached, number)),
            _ => false,
        };
        unsatisfied = checks.iter().filter(meets).filter_map(|check| check.origin.clone()).collect();
    }
    Probed { endless, vacuous, unsatisfied }
}

/// The selected probes that are provable, with their numbers; not those that an execution met.
fn proved_probes(
    inference: &mut Inference,
    budget: Budget,
    met: &BTreeSet<usize>,
    selects: &dyn Fn(Probe, usize) -> bool,
) -> Vec<(Probe, usize)> {
    let probes = inference.passive.checks.iter().enumerate();
    let probes = probes.filter_map(|(check, found)| Some((check, found.claim.probe()?)));
    let mut open: BTreeMap<usize, (Probe, usize)> =
        probes.filter(|(check, p)| !met.contains(check) && selects(p.0, p.1)).collect();
    let mut proved = Vec::new();
    while let Some((&first, &probe)) = open.first_key_value() {
        match ask_probes(inference, &open.keys().copied().collect(), PROBE, budget) {
            Reply::Refuted(model) if !model.failing.is_empty() => {
                open.retain(|check, _| !model.failing.contains(check))
            }
            Reply::Proved => {
                proved.extend(open.values());
                break;
            }
            _ => {
                if let Reply::Proved = ask_probes(inference, &BTreeSet::from([first]), PROBE, budget) {
                    proved.push(probe);
                }
                open.remove(&first);
            }
        }
    }
    proved
}
