//! `--redundant`: the barriers and fences of a kernel that it can do without.
//!
//! Input: a kernel that is proved, with the conditions of the proof. Output: an answer for each barrier and fence in its text
//! ([`Redundant`]); those that can go together are chosen greedily, each step proved. Establishes: a kernel without an
//! instruction that `can go` is proved for the same launches under the same conditions and assumptions, no random execution
//! of it shows a defect, and it computes the same. Relies on: the ordinary pipeline, to which the module without the instruction is
//! given. Reference: Adve and Hill, Weak ordering, 1990 (programs without races behave as if memory were sequentially consistent).
//!
//! Why results stay. What is proved is that there is no race, no divergence and no failed assertion; that is not about
//! results. Let K be the kernel, B the instruction, K' the kernel without it, both proved. All accesses are weak, so what orders two
//! threads are barriers alone, and since nothing races, memory is sequentially consistent in both.
//!
//! 1. At each barrier of the block all threads are at one instruction (that they do not part is proved of K, for each barrier and each
//!    round). So the barriers of an execution of K are a sequence, the same for all threads of a block, and to leave out all
//!    those of B leaves for the others who waits with whom. Hence an execution of K, without the steps at B, is one of K'. A barrier of a warp
//!    may be completed by threads at another such instruction. So for it this holds where it is the only one in the text, and where
//!    K is proved once more with the assertion, at each of them, that two threads of which one waits for the other are both there,
//!    with one mask ([`Rules::warps_meet`]): then those that two threads wait at for each other are one sequence for both, whatever their number, and without B it is one still.
//!    A fence orders nothing beside weak accesses at all.
//! 2. In K' nothing but barriers, and operations of a warp whose masks name who takes part (`shfl.sync`), lets a thread see what
//!    others did when. Any two steps of different threads that follow each other and are not at one of these can be exchanged,
//!    because they do not conflict: if they did, they would race. So from one state of memory all executions of K' have, up to such
//!    exchanges, the same steps with the same values, and end in one memory. By 1 those of K are among them.
//!
//! It fails where something else tells a thread of the order: atomic, volatile and other strong accesses (and with them loops that wait for
//! what another thread writes), clocks and numbers of multiprocessors, `activemask`, `elect` and the shuffles and votes of
//! old PTX, which depend on who is there; textures, which need not see what was written; the heap; functions without a body (`vprintf`); other grids that
//! start meanwhile; barriers for a part of the block, which pair by count. So does the proof of K' as evidence where assumptions in the kernel speak of
//! states that B led to (`assume`), where races are tolerated (`--allow-same-value`) or defined by a prelude of the user. For all of these the answer is `not claimed`. Fences between proxies, or for barrier objects, order
//! what the proof does not speak of. That nothing outside of the launch reads its arrays while it runs stays an assumption.

use super::input::Input;
use super::options::{Options, PreludeChoice};
use super::pipeline::{self, Program};
use crate::confirm::trials::Trials;
use crate::effort::{self, Effort};
use crate::finding::{Fate, Finding, KernelReport, Redundant, Verdict};
use crate::jobs::Jobs;
use crate::launch::condition::Condition;
use crate::limits;
use crate::order::Order;
use crate::ptx::ast::{AnnotationKind, BarrierKind, Function, Instruction, Item, Module, Op, Operand, SpecialRegister};
use crate::ptx::roles::{self, Slot};
use crate::report::finding::headline;
use crate::report::text::launch_text;
use crate::rules::Rules;
use crate::span::Origin;
use crate::verdict::decide::LOOPS_END;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A proof without a barrier has this much, or a few times what the kernel's own needed.
const LEAST: Effort = Effort::seconds(2);

/// So many times what the kernel's own needed.
const TIMES: u64 = 4;

/// Why nothing is claimed of one of several barriers of warps.
const APART: &str = "threads at this barrier of a warp may wait for threads at another one of the kernel";

/// An item of a function's body, by the numbers of both.
type Place = (usize, usize);

/// Answers for each barrier and fence of a kernel. `own` is what its proof needed; without `conditions` there is none.
pub(crate) fn list(
    report: &mut KernelReport,
    input: &Input,
    (module, entry): (&Module, &str),
    options: &Options,
    conditions: Option<&[Condition]>,
    (own, jobs): (Effort, &Jobs),
) {
    let reachable = reachable(module, entry);
    let places: Vec<(Place, &Instruction)> = instructions(module, &reachable).filter(|(_, i)| orders(&i.op)).collect();
    let is_proved = matches!(report.verdict, Verdict::Verified | Verdict::VerifiedWhen);
    let general = match conditions.filter(|_| is_proved) {
        Some(_) => no_claim(module, &reachable, options),
        None => Some("the kernel with all of them is not proved".to_string()),
    };
    let is_of_warp = |op: &Op| matches!(op, Op::WarpBarrier { .. });
    let has_several = places.iter().filter(|(_, one)| is_of_warp(&one.op)).count() > 1;
    let meet = OnceCell::new();
    let search = Search {
        input,
        module,
        entry,
        options,
        conditions: conditions.unwrap_or_default(),
        assumptions: &report.assumptions,
        // What a proof of the kernel as a whole may take, all proofs here together may take once more.
        budget: effort::Budget::new(Effort::of(options.timeout)),
        each: (own * TIMES).max(LEAST),
        jobs,
    };
    let answer = |(place, instruction): &(Place, &Instruction)| {
        let may_part = || is_of_warp(&instruction.op) && has_several && !meet.get_or_init(|| search.warps_meet());
        let reason = general.clone().or_else(|| no_claim_of(&instruction.op));
        let reason = reason.or_else(|| may_part().then(|| APART.to_string()));
        let origin = instruction.origin.clone();
        match reason {
            Some(reason) => Redundant::new(origin, Fate::NotClaimed, Some(reason)),
            None => search.without(&BTreeSet::from([*place]), origin),
        }
    };
    let mut answers: Vec<Redundant> = places.iter().map(answer).collect();
    search.together(&places, &mut answers);
    report.redundant = Some(answers);
}

/// Whether an instruction is a barrier or a fence.
fn orders(op: &Op) -> bool {
    matches!(op, Op::Barrier { .. } | Op::WarpBarrier { .. } | Op::Fence(_))
}

/// The kernel and the functions that it may call, by number.
fn reachable(module: &Module, entry: &str) -> BTreeSet<usize> {
    let is_entry = |function: &Function| function.is_entry && *function.name == *entry;
    let mut found: BTreeSet<usize> = module.functions.iter().position(is_entry).into_iter().collect();
    let mut open: Vec<usize> = found.iter().copied().collect();
    while let Some(number) = open.pop() {
        for (_, instruction) in instructions(module, &BTreeSet::from([number])) {
            if let Op::Call { function, .. } = instruction.op
                && found.insert(function as usize)
            {
                open.push(function as usize);
            }
        }
    }
    found
}

fn instructions<'a>(
    module: &'a Module,
    functions: &'a BTreeSet<usize>,
) -> impl Iterator<Item = (Place, &'a Instruction)> {
    items(module, functions).filter_map(|(place, item)| match item {
        Item::Instruction(instruction) => Some((place, instruction)),
        Item::Label(_) | Item::Annotation(_) => None,
    })
}

fn items<'a>(module: &'a Module, functions: &'a BTreeSet<usize>) -> impl Iterator<Item = (Place, &'a Item)> {
    let bodies = functions.iter().filter_map(move |&number| Some((number, module.functions[number].body.as_ref()?)));
    bodies.flat_map(|(number, body)| body.items.iter().enumerate().map(move |(at, item)| ((number, at), item)))
}

/// Why nothing is claimed of any barrier or fence of a kernel.
fn no_claim(module: &Module, functions: &BTreeSet<usize>, options: &Options) -> Option<String> {
    if options.rules.allow_same_value {
        return Some("with --allow-same-value races are tolerated".to_string());
    }
    if matches!(options.prelude, PreludeChoice::File(_) | PreludeChoice::Loaded { .. }) {
        return Some("another prelude says what a race is".to_string());
    }
    let bodiless = functions.iter().map(|&number| &module.functions[number]).find(|one| one.body.is_none());
    if let Some(function) = bodiless {
        return Some(format!("`{}`, which the kernel calls, has no body", function.name));
    }
    items(module, functions).find_map(|(_, item)| match item {
        Item::Instruction(instruction) => {
            let why = tells_order(&instruction.op)?;
            Some(format!(
                "results may depend on the order of threads by other means: {why}, PTX line {}",
                instruction.origin.line
            ))
        }
        Item::Annotation(one) if one.kind == AnnotationKind::Assume => {
            Some(format!("an assumption may speak of a state that it leads to, line {}", one.origin.line))
        }
        Item::Annotation(_) | Item::Label(_) => None,
    })
}

/// Why results may depend on the order of threads where an instruction of this kind is in the kernel.
fn tells_order(op: &Op) -> Option<&'static str> {
    match op {
        Op::Atomic { .. } => Some("an atomic access"),
        Op::Load { ordering, .. } | Op::Store { ordering, .. } if ordering.strong_scope().is_some() => {
            Some("a volatile or another strong access")
        }
        Op::Allocate { .. } | Op::Free { .. } => Some("the heap"),
        Op::Async { .. } => Some("an asynchronous copy"),
        Op::ClusterBarrier { .. } => Some("a barrier of clusters"),
        Op::Registers { .. } => Some("registers for which a warp group may wait"),
        Op::Object { .. } => Some("a barrier object"),
        Op::CallIndirect { .. } => Some("a call by address"),
        Op::Unsupported { .. } => Some("an instruction without a model"),
        Op::Barrier { kind: BarrierKind::Arrive, .. } | Op::Barrier { count: Some(_), .. } => {
            Some("a barrier with a count")
        }
        Op::Barrier { aligned: false, .. } => Some("a barrier that need not be one instruction for all threads"),
        Op::Nothing { name } if name.starts_with("griddepcontrol") => Some("another grid that may start"),
        Op::Arbitrary { name, .. } => by_name(name, op).or_else(|| by_registers(op)),
        _ => by_registers(op),
    }
}

/// The same of instructions that are known by name only.
fn by_name(name: &str, op: &Op) -> Option<&'static str> {
    let mut words = name.split('.');
    let first = words.next().unwrap_or_default();
    let is_sync = words.any(|word| word == "sync");
    match first {
        "activemask" | "elect" => Some("it depends on which threads of a warp are there"),
        "shfl" | "vote" | "match" | "redux" if !is_sync => Some("it depends on which threads of a warp are there"),
        "suld" | "sust" | "sured" | "txq" | "suq" | "istypep" => Some("a texture or surface"),
        _ if op.is_texture_fetch() => Some("a texture or surface"),
        _ => None,
    }
}

/// Special registers with values that other executions do not repeat.
fn by_registers(op: &Op) -> Option<&'static str> {
    let mut found = false;
    roles::visit(&mut op.clone(), &mut |slot| {
        if let Slot::Source(operand) = slot {
            found |= changes(operand);
        }
    });
    found.then_some("a special register that changes from launch to launch")
}

fn changes(operand: &Operand) -> bool {
    match operand {
        Operand::Special(SpecialRegister::Other(register)) => !register.name().starts_with("%lanemask_"),
        Operand::Special(SpecialRegister::WarpId) => true,
        Operand::Vector(parts) => parts.iter().any(changes),
        _ => false,
    }
}

/// Why nothing is claimed of a barrier or fence.
fn no_claim_of(op: &Op) -> Option<String> {
    let reason = match op {
        Op::Barrier { kind: BarrierKind::Reduce { .. }, .. } => "it gives a result",
        Op::Fence(fence) => match fence.order() {
            Order::Fence { .. } => return None,
            Order::Proxy { .. } | Order::BarrierObjects => "it orders what the proof does not speak of",
            Order::Block | Order::Counted | Order::Warp | Order::Grid | Order::Completion => return None,
        },
        _ => return None,
    };
    Some(reason.to_string())
}

/// Looks for proofs of a kernel without some instructions.
struct Search<'a> {
    input: &'a Input,
    module: &'a Module,
    entry: &'a str,
    options: &'a Options,
    conditions: &'a [Condition],
    /// Of the kernel's own proof.
    assumptions: &'a [String],
    budget: effort::Budget,
    each: Effort,
    jobs: &'a Jobs,
}

impl Search<'_> {
    /// The answer where these are left out; `origin` is that of the last of them.
    fn without(&self, places: &BTreeSet<Place>, origin: Arc<Origin>) -> Redundant {
        let program = Program::Ptx(without(self.module, places));
        let Search { input, entry, options, conditions, .. } = *self;
        let not_claimed = |reason: String| Redundant::new(origin.clone(), Fate::NotClaimed, Some(reason));
        let trials = limits::within(|| pipeline::trials(input, &program, entry, options, conditions));
        let trials = match trials {
            Ok(Ok(trials)) => trials,
            Ok(Err(diagnostics)) => return not_claimed(first_message(&diagnostics)),
            Err(_) => return not_claimed("a limit of the run is met (--timeout, --memory)".to_string()),
        };
        if let Some(defect) = &trials.defect {
            return Redundant::new(origin, Fate::Needed, Some(shown(defect)));
        }
        let effort = self.budget.most(self.each);
        if effort.is_none() {
            return not_claimed("no effort is left for its proof (--timeout)".to_string());
        }
        let proof = || pipeline::proof_under(input, &program, entry, options, conditions, (effort, self.jobs));
        match limits::within(proof) {
            Ok(Ok(proof)) => self.answer(proof, trials, origin),
            Ok(Err(diagnostics)) => not_claimed(first_message(&diagnostics)),
            Err(_) => not_claimed("a limit of the run is met (--timeout, --memory)".to_string()),
        }
    }

    fn answer(&self, proof: KernelReport, trials: Trials, origin: Arc<Origin>) -> Redundant {
        let not_claimed = |reason: String| Redundant::new(origin.clone(), Fate::NotClaimed, Some(reason));
        if proof.verdict != Verdict::Verified {
            return match (proof.findings.first(), proof.reasons.first()) {
                (Some(finding), _) => {
                    let reason = format!("without it there may be this: {}{}", headline(finding), lines(finding));
                    Redundant::new(origin, Fate::Needed, Some(reason))
                }
                (None, Some(reason)) => not_claimed(format!("without it there is no proof: {}", reason.message)),
                (None, None) => not_claimed("without it there is no proof".to_string()),
            };
        }
        if let Some(sentence) = self.new_assumption(&proof) {
            return not_claimed(format!("without it the proof assumes more: {sentence}"));
        }
        let unreplayed = (trials.executions == 0)
            .then(|| trials.refused.unwrap_or_else(|| "no random launch meets the conditions".to_string()));
        Redundant { executions: trials.executions, unreplayed, ..Redundant::new(origin, Fate::CanGo, None) }
    }

    /// What a proof assumes and the kernel's own does not.
    fn new_assumption<'p>(&self, proof: &'p KernelReport) -> Option<&'p String> {
        // Which loops are assumed to end depends on what matters of them, and less does.
        let is_new = |sentence: &&String| !sentence.starts_with(LOOPS_END) && !self.assumptions.contains(sentence);
        proof.assumptions.iter().find(is_new)
    }

    /// Whether it is proved of the kernel as it is that threads of a warp that wait for each other do so at one instruction.
    fn warps_meet(&self) -> bool {
        let rules = Rules { warps_meet: true, ..self.options.rules };
        let (options, program) = (Options { rules, ..self.options.clone() }, Program::Ptx(self.module.clone()));
        let effort = (self.budget.most(self.each), self.jobs);
        let proof = || pipeline::proof_under(self.input, &program, self.entry, &options, self.conditions, effort);
        let is_proof =
            |proof: KernelReport| proof.verdict == Verdict::Verified && self.new_assumption(&proof).is_none();
        limits::within(proof).is_ok_and(|proof| proof.is_ok_and(is_proof))
    }

    /// Marks those that can go together: one after the other, where the kernel is still proved.
    fn together(&self, places: &[(Place, &Instruction)], answers: &mut [Redundant]) {
        let mut gone = BTreeSet::new();
        for ((place, instruction), answer) in places.iter().zip(answers) {
            if answer.fate != Fate::CanGo {
                continue;
            }
            let more: BTreeSet<Place> = gone.iter().copied().chain([*place]).collect();
            // Of the first one it is known.
            let goes = gone.is_empty() || self.without(&more, instruction.origin.clone()).fate == Fate::CanGo;
            if goes {
                gone = more;
                answer.together = true;
            }
        }
    }
}

/// The module without some instructions.
fn without(module: &Module, places: &BTreeSet<Place>) -> Module {
    let mut less = module.clone();
    for (number, function) in less.functions.iter_mut().enumerate() {
        if let Some(body) = &mut function.body {
            let mut at = 0..;
            body.items.retain(|_| at.next().is_none_or(|at| !places.contains(&(number, at))));
        }
    }
    less
}

fn first_message(diagnostics: &[crate::diagnostic::Diagnostic]) -> String {
    let message = diagnostics.first().map_or("a stage refuses it", |diagnostic| diagnostic.message.as_str());
    format!("without it: {message}")
}

/// What an execution shows.
fn shown(finding: &Finding) -> String {
    let launch = finding.launch.map_or(String::new(), |launch| format!(" with {}", launch_text(&launch)));
    format!("without it an execution{launch} shows this: {}{}", headline(finding), lines(finding))
}

/// `, lines 3 and 5`
fn lines(finding: &Finding) -> String {
    let origins = finding.accesses.iter().map(|access| &access.origin).chain(&finding.barrier);
    let line = |origin: &Arc<Origin>| origin.position.as_ref().map_or(origin.line, |at| at.own().line);
    let lines: BTreeSet<u32> = origins.map(line).collect();
    let texts: Vec<String> = lines.iter().map(u32::to_string).collect();
    match &texts[..] {
        [] => String::new(),
        [one] => format!(", line {one}"),
        several => format!(", lines {}", several.join(" and ")),
    }
}
