//! From a failed proof to confirmed findings, by evaluating threads on concrete values.
//!
//! Input: what a proof attempt left refuted or open. Output: findings that some execution surely
//! has, with no havocked or uninterpreted value on the way; nothing when none was met.
//! Reference: DESIGN section 3 (what `confirmed` means).

use super::decide::{Facts, Question};
use super::finding::{AccessKind, AccessReport, Defect, Finding, Launch, ParameterValue};
use super::prove::{Constants, PairOutcome};
use super::replay::{AccessEvent, ConfirmedDivergence, ConfirmedRace, Limits, ThreadIds};
use super::search::{Found, Goal, SearchSpace, search};
use crate::ivl::ast::{ArraySpace, Name};
use crate::solver::Value;
use crate::span::Origin;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Confirmed findings behind a failed proof, at the values of its models first.
pub fn run(question: &Question, facts: &Facts, outcome: &PairOutcome) -> Vec<Finding> {
    let launch = facts.launch;
    let mut space = SearchSpace { block: launch.block, grid: launch.grid, models: Vec::new(), threads: Vec::new() };
    for refuted in &outcome.refuted {
        let model = model(facts, &refuted.constants);
        if !space.models.contains(&model) {
            space.models.push(model);
        }
        for thread in [1, 2] {
            let tid = facts.position(&refuted.constants, "tid", thread);
            let ctaid = facts.position(&refuted.constants, "ctaid", thread);
            space.threads.push(ThreadIds { tid, ctaid });
        }
    }
    let limits = Limits {
        allow_same_value: question.options.allow_same_value,
        exited_ok: question.options.exited_ok,
        ..Limits::default()
    };
    let mut findings = Vec::new();
    for (goal, defect) in [(Goal::Race, Defect::Race), (Goal::Divergence, Defect::Divergence)] {
        if !suspected(outcome, defect) {
            continue;
        }
        if let Some(found) = search(&facts.kernel.program, &space, goal, &limits) {
            findings.extend(found.replay.races.iter().filter_map(|race| facts.race(&found, race)));
            findings.extend(found.replay.divergence.iter().filter_map(|d| facts.divergence(&found, d)));
        }
    }
    findings
}

/// Whether some assertion about that defect was not proved.
fn suspected(outcome: &PairOutcome, defect: Defect) -> bool {
    let word = if defect == Defect::Race { "race" } else { "barrier_divergence" };
    let checks = outcome.refuted.iter().map(|r| &r.check).chain(outcome.open.iter().map(|(c, _)| c));
    checks.flat_map(|c| &c.attributes).any(|a| a.name.as_str() == word)
}

/// The constants of a model that are the same for all threads, with the sizes of the launch.
fn model(facts: &Facts, constants: &Constants) -> BTreeMap<Name, u128> {
    let mut model = BTreeMap::new();
    for (name, value) in constants {
        if name.contains('$') || name.starts_with('_') {
            continue;
        }
        let bits = match value {
            Value::Bool(value) => u128::from(*value),
            Value::Bits(value) => *value,
            Value::Int(value) => *value as u128,
        };
        model.insert(Name::from(name.as_str()), bits);
    }
    let launch = facts.launch(constants);
    for (id, sizes) in [("ntid", launch.block), ("nctaid", launch.grid)] {
        for (axis, size) in ["x", "y", "z"].into_iter().zip(sizes) {
            model.insert(Name::from(format!("{id}.{axis}")), u128::from(size.unwrap_or(1)));
        }
    }
    model
}

impl Facts<'_> {
    fn confirmed(&self, found: &Found, defect: Defect) -> Finding {
        let size = |id: &str, axis: &str, fixed: Option<u32>| {
            let value = found.constants.get(&Name::from(format!("{id}.{axis}"))).copied();
            fixed.or_else(|| value.and_then(|v| u32::try_from(v).ok()))
        };
        let sizes = |id: &str, fixed: [Option<u32>; 3]| {
            let [x, y, z] = fixed;
            [size(id, "x", x), size(id, "y", y), size(id, "z", z)]
        };
        let mut params = BTreeMap::new();
        for param in self.kernel.params.iter().filter(|p| !p.is_pointer) {
            if let Some(value) = param.constant.as_ref().and_then(|c| found.constants.get(c)) {
                params
                    .insert(param.name.clone(), ParameterValue { value: *value as u64, bits: param.bits.clamp(1, 64) });
            }
        }
        Finding {
            defect,
            confirmed: true,
            kind: String::new(),
            array: None,
            space: None,
            offset: None,
            accesses: Vec::new(),
            barrier: None,
            params,
            launch: Some(Launch { block: sizes("ntid", self.launch.block), grid: sizes("nctaid", self.launch.grid) }),
            message: String::new(),
        }
    }

    fn race(&self, found: &Found, race: &ConfirmedRace) -> Option<Finding> {
        let mut finding = self.confirmed(found, Defect::Race);
        finding.kind = format!("{}-{}", race.first.kind.name(), race.second.kind.name());
        finding.array = self.array(&race.array).0;
        finding.space = Some(match race.space {
            ArraySpace::Shared => "shared",
            ArraySpace::Global => "global",
        });
        finding.offset = Some(i128::from(race.offset));
        finding.accesses = vec![event(&race.first)?, event(&race.second)?];
        Some(finding)
    }

    fn divergence(&self, found: &Found, divergence: &ConfirmedDivergence) -> Option<Finding> {
        let mut finding = self.confirmed(found, Defect::Divergence);
        finding.confirmed = divergence.certain;
        finding.kind = "barrier".into();
        let origin = divergence.barrier.origin.clone()?;
        finding.barrier = Some(origin.clone());
        finding.accesses = vec![
            arrival(divergence.arrives, AccessKind::Arrive, origin.clone()),
            arrival(divergence.absent, AccessKind::Absent, origin),
        ];
        Some(finding)
    }
}

fn event(event: &AccessEvent) -> Option<AccessReport> {
    let ThreadIds { tid, ctaid } = event.thread;
    Some(AccessReport { op: event.kind, bytes: event.bytes, thread: tid, block: ctaid, origin: event.origin.clone()? })
}

fn arrival(thread: ThreadIds, op: AccessKind, origin: Arc<Origin>) -> AccessReport {
    AccessReport { op, bytes: 0, thread: thread.tid, block: thread.ctaid, origin }
}
