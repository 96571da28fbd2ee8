//! Executions from models of the program with its loops written out.
//!
//! Input: a two-thread program with assertions that are not proved. Output: findings that one execution in the
//! emulator has, with its command; of a kernel that is no PTX, findings that every execution has with the model's
//! constants. Establishes: what [`super::emulate`] establishes, or [`way::sure_failure`] for two threads that come to all
//! barriers together. Small launches and parameters are asked for first, and few rounds of the loops. Relies on: nothing;
//! finding nothing says nothing.
//! Reference: the instruction-level paper (bounded checking of the same verification condition).

use super::contents::{self, Read};
use super::emulate::{Emulator, Shown};
use super::explore::{Explored, Suspects, finish};
use super::usual;
use crate::concrete::evaluate::Evaluator;
use crate::concrete::program::Steps;
use crate::concrete::way;
use crate::effort::{Budget, Effort};
use crate::exec::arguments::{self, Argument};
use crate::exec::command::Command;
use crate::exec::launch::{Contents, Schedule};
use crate::finding::facts::{Facts, bits, site_of};
use crate::finding::{Defect, Finding};
use crate::geometry::{BLOCK_THREADS, Geometry, linear};
use crate::infer::passive_of;
use crate::ivl::ast::{Name, Program, Thread};
use crate::ivl::claim::Claim;
use crate::kernel::{Kernel, KernelParameter};
use crate::prove::{Constants, Refuted};
use crate::query::{self, From, Query, Reply};
use crate::solver::Encoding;
use crate::twothread::TwoThread;
use crate::vcgen::passive::{Check, Passive};
use crate::vcgen::term::{BvCompare, Node, Sort, Term, Value, mask};
use crate::vcgen::unroll;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds of each loop.
const ROUNDS: [u32; 4] = [1, 2, 4, 8];

/// Statements of a program that is still looked at.
const MOST_STATEMENTS: usize = 12_000;

/// Bounds on free sizes and on scalar parameters, smallest first.
const BOUNDS: [Bounds; 4] = [
    Bounds { sizes: Geometry { block: [4, 4, 4], grid: [4, 4, 4] }, scalar: 32 },
    Bounds { sizes: Geometry { block: [32, 8, 4], grid: [32, 8, 4] }, scalar: 1024 },
    Bounds { sizes: Geometry { block: [BLOCK_THREADS, 1, 1], grid: [1 << 20, 4, 4] }, scalar: u64::MAX },
    Bounds { sizes: Geometry { block: [32, 8, 4], grid: [1 << 16, 64, 4] }, scalar: u64::MAX },
];

/// What a model may have at most.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Sizes of the launch.
    sizes: Geometry<u32>,
    /// A scalar parameter, as an unsigned number.
    scalar: u64,
}

impl Bounds {
    /// The bound on a constant of the program; `None` for what is neither a size nor a scalar parameter.
    fn of(&self, kernel: &Kernel, name: &Name) -> Option<u128> {
        let mut sizes = self.sizes.registers();
        let size = sizes.find(|(register, _)| *register == name.as_str()).map(|(_, most)| u128::from(most));
        let is_it = |constant: &Name| constant == name;
        let scalar = || {
            let mut scalars = kernel.params.iter().filter(|parameter| !parameter.is_pointer);
            let found = scalars.any(|parameter| parameter.constant.as_ref().is_some_and(is_it));
            found.then_some(u128::from(self.scalar))
        };
        size.or_else(scalar)
    }
}

/// Effort of a query.
const EFFORT: Effort = Effort::milliseconds(400);

/// Models for one program and one bound.
const MODELS: usize = 3;

/// Instructions of all threads in one run.
const RUN_STEPS: u64 = 1_000_000;

/// Instructions of one thread.
const THREAD_STEPS: u64 = 50_000;

/// Bytes of arrays that a command names.
const MOST_CELLS: usize = 400;

/// The orders of threads that are tried with each model.
const SCHEDULES: [Schedule; 3] = [Schedule::RoundRobin, Schedule::Lockstep, Schedule::Adversarial];

/// What arrays hold of which a model says nothing. Where all are zero, two values that differ in general are often one.
const BACKGROUNDS: [Contents; 2] = [Contents::Zero, Contents::Any { seed: 1 }];

/// Looks for executions with some suspects.
pub(crate) struct Bounded<'a> {
    /// The kernel and its launch.
    pub(crate) facts: &'a Facts<'a>,
    /// What replays a model; `None` for kernels that are no PTX.
    pub(crate) emulator: Option<Emulator<'a>>,
    /// The lines to watch.
    pub(crate) suspects: &'a Suspects,
    /// In this order, per query.
    pub(crate) encodings: &'a [Encoding],
    /// When to stop.
    pub(crate) budget: Budget,
}

/// A model: constants, and what arrays hold at some offsets.
struct Model {
    constants: Constants,
    /// Bytes by array and offset.
    cells: BTreeMap<Name, BTreeMap<i64, u8>>,
    /// Checks that it refutes.
    failing: BTreeSet<usize>,
}

impl Model {
    fn of(passive: &Passive, reads: &BTreeMap<Name, Read>, model: query::Model) -> Model {
        let values: BTreeMap<Term, Option<Value>> = model.read().collect();
        let value = |term: &Term| values.get(term).copied().flatten();
        let constants = passive.constants.iter();
        let constants = constants.filter_map(|(name, term)| Some((name.clone(), value(term)?))).collect();
        let loads = model.terms.iter().filter_map(|&term| load(passive, term, reads));
        let cells = cells(loads.map(|(read, offset, load)| (read, [value(&offset), value(&load)])));
        Model { constants, cells, failing: model.failing }
    }
}

impl Bounded<'_> {
    /// Executions of a pair of threads; none if no model's execution shows a suspect.
    pub(crate) fn run(&self, two: &TwoThread) -> Option<Explored> {
        let (program, reads) = contents::run(two, self.facts.kernel);
        let has_loops = !two.loops.is_empty();
        for rounds in ROUNDS.into_iter().take(if has_loops { ROUNDS.len() } else { 1 }) {
            let mut passive = unrolled(&program, two, rounds)?;
            for wanted in [Defect::Race, Defect::Divergence, Defect::BarrierError, Defect::Assertion] {
                let goal = self.goal(two, &passive, wanted);
                log::debug!("{rounds} rounds: {} checks to refute", goal.len());
                if let Some(found) = self.models(two, &mut passive, &reads, goal) {
                    return Some(found);
                }
            }
            if self.is_late() {
                return None;
            }
        }
        None
    }

    fn is_late(&self) -> bool {
        self.budget.is_over()
    }

    /// The checks of one kind of defect at the lines that are watched.
    fn goal(&self, two: &TwoThread, passive: &Passive, wanted: Defect) -> BTreeSet<usize> {
        let is_wanted = |check: &Check| {
            let site = site_of(two, check).and_then(|site| site.origin.as_ref());
            let line = site.or(check.origin.as_ref()).map(|origin| origin.line);
            let lines = match (wanted, &check.claim) {
                (Defect::Race, Claim::Race(_)) => &self.suspects.races,
                (Defect::Divergence, Claim::BarrierMet { .. }) => &self.suspects.barriers,
                (Defect::BarrierError, Claim::BarrierRule(_)) => &self.suspects.rules,
                (Defect::Assertion, claim) => {
                    return is_asserted(claim)
                        && check.origin.as_ref().is_some_and(|place| self.suspects.assertions.contains(place));
                }
                _ => return false,
            };
            line.is_some_and(|line| lines.contains(&line))
        };
        (0..passive.checks.len()).filter(|check| is_wanted(&passive.checks[*check])).collect()
    }

    /// Asks for models, small ones first, and replays them.
    fn models(
        &self,
        two: &TwoThread,
        passive: &mut Passive,
        reads: &BTreeMap<Name, Read>,
        goal: BTreeSet<usize>,
    ) -> Option<Explored> {
        let mut refuted = BTreeSet::new();
        let mut tried = Vec::new();
        for bounds in BOUNDS {
            // Where launch and parameters are fixed, all bounds are the same.
            let outside = self.outside(passive, bounds);
            if tried.contains(&outside) {
                continue;
            }
            tried.push(outside.clone());
            let mut open: BTreeSet<usize> = goal.difference(&refuted).copied().collect();
            for _ in 0..MODELS {
                if open.is_empty() || self.is_late() {
                    break;
                }
                let Some(model) = self.ask(passive, reads, &open, &outside) else { break };
                log::debug!("a model of {} checks", model.failing.len());
                let shown = match &self.emulator {
                    Some(emulator) => self.replayed(emulator, two, &model),
                    None => self.executed(two, passive, &model),
                };
                if let Some(found) = shown {
                    return Some(found);
                }
                let before = open.len();
                open.retain(|check| !model.failing.contains(check));
                refuted.extend(model.failing);
                if open.len() == before {
                    break;
                }
            }
        }
        None
    }

    /// A model in which some check of the goal fails, and none of `outside` holds.
    fn ask(
        &self,
        passive: &mut Passive,
        reads: &BTreeMap<Name, Read>,
        goal: &BTreeSet<usize>,
        outside: &[Term],
    ) -> Option<Model> {
        let wanted = |passive: &Passive, formula: Term| {
            let loads = loads(passive, formula, reads).into_iter().flat_map(|(_, offset, value)| [offset, value]);
            passive.constants.iter().map(|(_, term)| *term).chain(loads).collect()
        };
        for &encoding in self.encodings {
            let rely = passive.checks.iter().map(is_relied).collect();
            let mut query = Query {
                program: &mut *passive,
                from: From::Start,
                goal,
                keep: Vec::new(),
                rely,
                except: outside,
                reads: &wanted,
                encoding,
                most: EFFORT,
            };
            match query.ask(self.budget) {
                Reply::Proved => return None,
                Reply::Unknown(_) => {}
                Reply::Refuted(model) => return Some(Model::of(passive, reads, model)),
            }
        }
        None
    }

    /// What a model beyond the bounds has: one of these holds.
    fn outside(&self, passive: &mut Passive, bounds: Bounds) -> Vec<Term> {
        let mut cases = Vec::new();
        for (name, term) in passive.constants.clone() {
            let Some(bound) = bounds.of(self.facts.kernel, &name) else { continue };
            let Sort::Bv(width) = passive.terms.sort(term) else { continue };
            if bound < mask(width) {
                let bound = passive.terms.bv(bound, width);
                cases.push(passive.terms.bv_compare(BvCompare::Ult, bound, term));
            }
        }
        cases
    }

    /// What surely happens with the constants of a model.
    fn executed(&self, two: &TwoThread, passive: &Passive, model: &Model) -> Option<Explored> {
        let steps = Steps::new(passive, &[]);
        let mut evaluator = Evaluator::new(&steps.code);
        let value = |(name, term): &(Name, Term)| Some((*term, *model.constants.get(name)?));
        evaluator.set(passive.constants.iter().filter_map(value));
        let relied = |check: usize| is_relied(&passive.checks[check]);
        let number = way::sure_failure(passive, &steps, &mut evaluator, &model.failing, &relied);
        let check = passive.checks[number?].clone();
        let counts = match &check.claim {
            _ if usual::can_trap(&self.facts.kernel.program) => false,
            // Threads may meet at barriers that are not `.aligned`.
            Claim::BarrierMet { aligned } => *aligned,
            // Lanes may meet at different instructions.
            Claim::LanesMet => false,
            // Another thread may stay away from a barrier before it.
            _ if !self.suspects.barriers.is_empty() => false,
            Claim::Race(_) => !usual::can_wait(&self.facts.kernel.program),
            _ => true,
        };
        let refuted = Refuted { check, constants: model.constants.clone(), values: Vec::new() };
        let finding = Finding { confirmed: true, ..self.facts.finding(two, &refuted) };
        counts.then(|| Explored { findings: vec![finding], command: None })
    }

    /// What the emulator shows of a model.
    fn replayed(&self, emulator: &Emulator, two: &TwoThread, model: &Model) -> Option<Explored> {
        let constants = &model.constants;
        let launch = self.facts.launch(constants);
        let geometry = launch.or_one().map(|size| size.max(1));
        let blocks: BTreeSet<u32> =
            Thread::BOTH.map(|thread| linear(self.facts.position(constants, "ctaid", thread), geometry.grid)).into();
        log::debug!("replay of a model of {} in {geometry:?}", two.procedure);
        let mut same_value = None;
        for contents in BACKGROUNDS {
            for schedule in SCHEDULES {
                let command = Command {
                    geometry,
                    cluster: [1; 3],
                    only_blocks: Some(blocks.iter().copied().collect()),
                    arguments: self.arguments(emulator, model, &contents)?,
                    dynamic_shared: emulator.dynamic_shared(&Finding::new(Defect::Race, false)),
                    schedule,
                    seed: 1,
                    steps: Some(THREAD_STEPS),
                    rules: emulator.rules,
                };
                let mut shown: Shown = emulator.show(&command, RUN_STEPS).ok()?;
                let counts = shown.is_defined;
                shown.findings.retain(|finding| counts && self.suspects.contain(finding));
                let Some(first) = shown.findings.first() else { continue };
                let has_values = !first.same_value;
                shown.findings.iter_mut().for_each(|finding| finish(finding, &shown.command));
                let explored = Explored { findings: shown.findings, command: Some(shown.command) };
                if has_values {
                    return Some(explored);
                }
                same_value.get_or_insert(explored);
            }
            if same_value.is_none() && !emulator.rules.allow_same_value {
                return None;
            }
        }
        same_value
    }

    /// Arguments with the model's parameters and contents of arrays; those of which it says nothing hold what is given.
    fn arguments(&self, emulator: &Emulator, model: &Model, contents: &Contents) -> Option<Vec<Argument>> {
        let value = |parameter: &KernelParameter| {
            let constant = parameter.constant.as_ref();
            constant.and_then(|name| bits(&model.constants, name)).unwrap_or(0) as u64
        };
        let kernel = self.facts.kernel;
        let mut arguments = emulator.arguments(kernel, &value, contents, false).ok()?;
        for (array, cells) in &model.cells {
            let Some(shown) = kernel.array_names.get(array) else { continue };
            let plain = Argument::of(shown, arguments::Value::Endless(contents.clone()));
            if let Some(argument) = arguments.iter_mut().find(|argument| **argument == plain)
                && cells.len() <= MOST_CELLS
                && !emulator.synchronises(kernel, shown)
            {
                argument.value = arguments::Value::cells(cells.iter().map(|(distance, byte)| (*distance, *byte)));
            }
        }
        Some(arguments)
    }
}

/// Whether what stands behind a check may rely on it.
fn is_relied(check: &Check) -> bool {
    !matches!(check.claim, Claim::Race(_))
}

/// Whether the kernel's text asserts it; an assertion of a kernel in the IVL says no more than its formula.
pub(super) fn is_asserted(claim: &Claim) -> bool {
    claim.is_of_user() || *claim == Claim::Formula
}

/// The passive program of so many rounds; `None` if it is too large.
fn unrolled(program: &Program, two: &TwoThread, rounds: u32) -> Option<Passive> {
    let mut program = program.clone();
    let procedure = program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure)?;
    procedure.body = Some(unroll::run(procedure.body.as_ref()?, rounds, MOST_STATEMENTS)?);
    passive_of(&program, &two.procedure).ok()
}

/// The loads in a formula: what reads, the offset, the value.
fn loads<'r>(passive: &Passive, formula: Term, reads: &'r BTreeMap<Name, Read>) -> Vec<(&'r Read, Term, Term)> {
    passive.terms.postorder(formula, &|_| false).into_iter().filter_map(|term| load(passive, term, reads)).collect()
}

/// What a term reads, if it is a load, with its offset.
fn load<'r>(passive: &Passive, term: Term, reads: &'r BTreeMap<Name, Read>) -> Option<(&'r Read, Term, Term)> {
    let Node::Apply(function, operands) = passive.terms.node(term) else { return None };
    let name = &passive.terms.functions.get(*function as usize)?.name;
    Some((reads.get(&Name::from(name.as_str()))?, *operands.first()?, term))
}

/// The bytes behind loads and the values of their offsets and results; zeros are left out.
fn cells<'r>(loads: impl Iterator<Item = (&'r Read, [Option<Value>; 2])>) -> BTreeMap<Name, BTreeMap<i64, u8>> {
    let number = |value: Option<Value>| match value {
        Some(Value::Bits(value)) => Some(value),
        Some(Value::Int(value)) => Some(value as u128),
        _ => None,
    };
    let mut cells: BTreeMap<Name, BTreeMap<i64, u8>> = BTreeMap::new();
    for (read, values) in loads {
        let [Some(offset), Some(value)] = values.map(number) else { continue };
        let array = cells.entry(read.array.clone()).or_default();
        for (index, byte) in (0..).zip(value.to_le_bytes()).take(read.bytes as usize) {
            array.insert((offset as u64 as i64).wrapping_add(index), byte);
        }
    }
    cells.values_mut().for_each(|array| array.retain(|_, byte| *byte != 0));
    cells.retain(|_, array| !array.is_empty());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_the_bytes_of_loads_that_are_not_zero() {
        let read = Read { array: Name::from("a"), bytes: 4 };
        let bits = |value: u128| Some(Value::Bits(value));
        let values = [[bits(4), bits(0x0107)], [bits(u128::from(u64::MAX - 3)), bits(9)], [bits(8), bits(0)]];
        let cells = cells(values.iter().map(|values| (&read, *values)));
        assert_eq!(cells[&Name::from("a")], BTreeMap::from([(-4, 9), (4, 7), (5, 1)]));
    }
}
