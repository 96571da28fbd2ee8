//! One pair of threads: infer invariants, then prove every assertion under them.
//!
//! Input: a two-thread program. Output: [`PairOutcome`]: what is proved, what a model refutes, what
//! stayed open. Establishes: `open` and `refuted` are empty only if every assertion of the program
//! was proved under invariants that are themselves proved, in one of the encodings.
//! Reference: DESIGN section 5 (integers first, bit-vectors as second try); proof-notes, lesson 5.

use crate::diagnostic::Diagnostic;
use crate::infer::candidates::{self, Candidate};
use crate::infer::houdini::{self, Deadline, Fate, Verdict, role_of};
use crate::infer::simulate::{self, Simulation};
use crate::infer::{self, Annotated, Probe};
use crate::ivl::ast::{Attribute, BinaryOp, ExprKind, ExprRef, Name, Program, Type};
use crate::ivl::visit::{self, Visitor};
use crate::jobs::Jobs;
use crate::solver::{Answer, Budget, Encoding, Value, prove};
use crate::span::Origin;
use crate::twothread::TwoThread;
use crate::vcgen::passive::{Check, Passive, Shown};
use crate::vcgen::regions;
use crate::vcgen::term::Term;
use crate::vcgen::wp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A model's values of the program's constants, by IVL name.
pub type Constants = BTreeMap<String, Value>;

/// An assertion that a model refutes.
#[derive(Clone, Debug)]
pub struct Refuted {
    /// The assertion.
    pub check: Check,
    /// Values of constants in the model.
    pub constants: Constants,
    /// Values of the variables of an assertion of the user: now, and at the beginning of the round.
    pub values: Vec<(Name, Value, Option<Value>)>,
}

/// What a model says that a report may tell.
#[derive(Clone, Debug, Default)]
struct Model {
    constants: Constants,
    /// Terms that assertions of the user show.
    shown: BTreeMap<Term, Value>,
}

impl Model {
    fn refuted(self, check: &Check) -> Refuted {
        let value = |term: Term| self.shown.get(&term).copied();
        let shown = |shown: &Shown| Some((shown.name.clone(), value(shown.now)?, shown.before.and_then(value)));
        let values = check.values.iter().filter_map(shown).collect();
        Refuted { check: check.clone(), constants: self.constants, values }
    }
}

/// What came of one pair.
pub struct PairOutcome {
    /// Assertions that a model refutes in the last encoding tried.
    pub refuted: Vec<Refuted>,
    /// Assertions without an answer, with the solver's reason.
    pub open: Vec<(Check, String)>,
    /// All of these, by their order among the assertions of the program.
    unproved: BTreeSet<usize>,
    /// Loops that a thread enters and no thread that entered can leave (indices into the loops).
    pub endless: Vec<usize>,
    /// No execution meets the preconditions and assumptions to the end: a proof would say nothing.
    pub vacuous: bool,
    /// Assumptions of the user that threads come to and that no thread satisfies.
    pub unsatisfied: Vec<Arc<Origin>>,
    /// Candidates tried, and kept by the encoding that proved most.
    pub candidates: (usize, usize),
    /// Assertions checked.
    pub assertions: usize,
    /// What was inferred, for `--emit`.
    pub inference: Inference,
}

impl PairOutcome {
    /// Whether every assertion is proved.
    pub fn is_proved(&self) -> bool {
        self.refuted.is_empty() && self.open.is_empty()
    }
}

/// Candidates and their fate, with the program they stand in.
pub struct Inference {
    /// The annotated program.
    pub annotated: Annotated,
    /// One fate for each candidate.
    pub fates: Vec<Fate>,
    /// Encodings, the one that suits the kernel in front.
    pub encodings: Vec<Encoding>,
    /// Iterations of Houdini.
    pub iterations: usize,
    /// The passive program.
    pub passive: Passive,
}

impl Inference {
    /// Whether a candidate is kept.
    pub fn keeps(&self, candidate: usize) -> bool {
        self.fates.get(candidate) == Some(&Fate::Kept)
    }

    /// The kept candidates.
    fn kept(&self) -> Vec<Candidate> {
        let candidates = self.annotated.candidates.iter().enumerate();
        candidates.filter(|(i, _)| self.keeps(*i)).map(|(_, c)| c.clone()).collect()
    }
}

/// How to go about a proof.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// Every barrier of the program asserts that both threads arrive or none.
    pub uniform_barriers: bool,
    /// Encodings to try, in order.
    pub encodings: &'a [Encoding],
    /// When to stop.
    pub deadline: Deadline,
    /// Families of candidates that are not tried.
    pub omitted: &'a [&'static str],
    /// Whether the first assertion that fails in an encoding ends the try: only a proof is of use.
    pub first_failure: bool,
    /// Threads that may help.
    pub jobs: &'a Jobs,
}

/// What a try may cost, in milliseconds of effort ([`Deadline::budget`]).
#[derive(Clone, Copy)]
struct Effort {
    /// One query for all assertions.
    together: u32,
    /// One query for each assertion; 0 is none.
    alone: u32,
}

/// Short tries: what one encoding finds hard the other often finds easy.
const QUICK: Effort = Effort { together: 400, alone: 0 };
const MIDDLE: Effort = Effort { together: 1500, alone: 0 };
/// The assertions behind one loop.
const REGION: u32 = 400;
/// The last try.
const FULL: Effort = Effort { together: 4000, alone: 2000 };
/// Where invariants multiply unknowns: one try.
const PRODUCTS: Effort = Effort { together: 500, alone: 1500 };
/// Probes: a loop without an answer counts as one that ends.
const PROBE: u32 = 400;
/// Rounds of a loop that may be executed to see whether it ends.
const ROUNDS: usize = 64;
/// A kernel with more defects than this has enough.
const FINDING_LIMIT: usize = 12;

/// Infers invariants in one encoding; what was `proved` before is relied on.
///
/// # Errors
/// What `vcgen` cannot translate.
fn infer_in(
    two: &TwoThread,
    Plan { uniform_barriers, deadline, omitted, jobs, .. }: Plan,
    encodings: &[Encoding],
    proved: &[Candidate],
) -> Result<Inference, Diagnostic> {
    let encoding = encodings[0];
    let annotated = infer::annotate(two, uniform_barriers, encoding, omitted)?;
    let mut passive = infer::passive_of(&annotated.program, &annotated.procedure)?;
    let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
    let known = annotated.candidates.iter().map(|c| proved.contains(c)).collect();
    let twins = candidates::twins(&annotated.candidates);
    let start = houdini::Start { known, twins, relied: &|i| relied[i], encodings, deadline, jobs };
    let houdini::Outcome { fates, encodings, iterations } = houdini::run(&mut passive, &start);
    Ok(Inference { annotated, fates, encodings, iterations, passive })
}

/// The tries to prove the assertions of a pair: under integer invariants over integers and, where that fails,
/// over bit-vectors; then under bit-vector invariants as well. Each begins with what the one before proved; the
/// last is the one that proved all, or after which there is nothing to try.
pub struct Tries<'a> {
    two: &'a TwoThread,
    plan: Plan<'a>,
    encodings: Vec<Encoding>,
    /// Tries so far.
    step: usize,
    is_done: bool,
    earlier: Earlier,
}

/// What tries so far proved.
#[derive(Default)]
struct Earlier {
    /// Candidates.
    kept: Vec<Candidate>,
    /// Assertions that are left, by their order among the assertions of the program; `None` is all.
    unproved: Option<BTreeSet<usize>>,
}

/// Tries until everything is proved or `stop`, asked after a try that left something unproved, ends the search.
///
/// # Errors
/// What `vcgen` cannot translate.
pub fn run(
    tries: impl Iterator<Item = Result<PairOutcome, Diagnostic>>,
    stop: &mut dyn FnMut(&PairOutcome) -> bool,
) -> Result<PairOutcome, Diagnostic> {
    let mut last = None;
    for outcome in tries {
        let outcome = outcome?;
        let is_enough = outcome.is_proved() || stop(&outcome);
        last = Some(outcome);
        if is_enough {
            break;
        }
    }
    last.map_or_else(|| panic!("verdict: no encoding was given"), Ok)
}

impl<'a> Tries<'a> {
    /// No try yet.
    pub fn new(two: &'a TwoThread, plan: Plan<'a>) -> Self {
        let encodings = suited(&two.program, plan.encodings);
        Tries { two, plan, encodings, step: 0, is_done: false, earlier: Earlier::default() }
    }

    fn attempt(&mut self) -> Result<PairOutcome, Diagnostic> {
        let Plan { deadline, first_failure, .. } = self.plan;
        let (encodings, step) = (&self.encodings, self.step);
        let mut inference = infer_in(self.two, self.plan, &encodings[step..], &self.earlier.kept)?;
        let mut proof = Proof::of(&inference, self.earlier.unproved.as_ref());
        proof.limit = if first_failure { 1 } else { FINDING_LIMIT };
        // Bit by bit, products of unknowns and counters are beyond the solver.
        let multiplies = inference.passive.checks.iter().any(|check| inference.passive.terms.multiplies(check.term));
        let efforts = match step + 1 == encodings.len() && !first_failure {
            _ if multiplies => &[PRODUCTS][..],
            true => &[FULL],
            false => &[QUICK, MIDDLE],
        };
        proof.attempt_regions(&mut inference, deadline);
        for &effort in efforts {
            for encoding in inference.encodings.clone() {
                proof.attempt(&mut inference, encoding, effort, deadline);
            }
        }
        let probed = if proof.is_complete() { probe(&mut inference, deadline) } else { Probed::default() };
        let Probed { endless, vacuous, unsatisfied } = probed;
        let outcome = PairOutcome { endless, vacuous, unsatisfied, ..outcome(inference, proof) };
        self.is_done = multiplies || outcome.is_proved();
        self.earlier = Earlier { kept: outcome.inference.kept(), unproved: Some(outcome.unproved.clone()) };
        Ok(outcome)
    }
}

impl Iterator for Tries<'_> {
    type Item = Result<PairOutcome, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done || self.step >= self.encodings.len() {
            return None;
        }
        let outcome = self.attempt();
        self.step += 1;
        self.is_done |= outcome.is_err();
        Some(outcome)
    }
}

/// The encodings whose answers count for a program. Integers wrap in the bit-vector encoding, which
/// is sound for the ghosts that `infer` adds, not for integers of the input. An exception are bounds on the number of
/// threads: products of sizes that are below a bound of 63 bits do not wrap.
fn suited(program: &Program, encodings: &[Encoding]) -> Vec<Encoding> {
    let mut search = FindInteger(false);
    let mut program = program.clone();
    for procedure in &mut program.procedures {
        procedure.requires.retain(|condition| !bounds_product(&condition.expr));
    }
    visit::walk_program(&mut search, &program);
    if search.0 { vec![Encoding::Integers] } else { encodings.to_vec() }
}

/// `a * b * ... < bound` of values without sign.
fn bounds_product(e: &ExprRef) -> bool {
    fn is_product(e: &ExprRef) -> bool {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Mul, a, b) => is_product(a) && is_product(b),
            ExprKind::Call(name, args) => name.as_str() == "BV32_TO_INT" && args.iter().all(|a| a.ty == Type::Bv(32)),
            ExprKind::Int(factor) => *factor >= 0,
            _ => false,
        }
    }
    match &e.kind {
        ExprKind::Binary(BinaryOp::Lt, product, bound) => {
            is_product(product) && matches!(bound.kind, ExprKind::Int(bound) if bound < 1 << 63)
        }
        _ => false,
    }
}

struct FindInteger(bool);

impl Visitor for FindInteger {
    fn expr(&mut self, e: &ExprRef) {
        self.0 |= e.ty == Type::Int;
        visit::walk_expr(self, e);
    }

    fn attribute(&mut self, _: &Attribute) {}
}

fn outcome(inference: Inference, proof: Proof) -> PairOutcome {
    let checks = &inference.passive.checks;
    let failed = proof.refuted.iter().map(|(i, ..)| i).chain(proof.undecided.iter().map(|(i, _)| i));
    let unproved = failed.filter_map(|check| proof.all.iter().position(|c| c == check)).collect();
    let refuted = proof.refuted.into_iter().map(|(i, _, model)| model.refuted(&checks[i])).collect();
    let open = proof.undecided.into_iter().map(|(i, why)| (checks[i].clone(), why)).collect();
    let candidates = (inference.fates.len(), inference.kept().len());
    PairOutcome {
        refuted,
        open,
        unproved,
        endless: Vec::new(),
        vacuous: false,
        unsatisfied: Vec::new(),
        candidates,
        assertions: proof.all.len(),
        inference,
    }
}

fn has_attribute(check: &Check, name: &str) -> bool {
    check.attributes.iter().any(|a| a.name.as_str() == name)
}

/// A race check: what follows does not rely on it.
fn is_race(check: &Check) -> bool {
    has_attribute(check, "race")
}

/// Whether two race checks are of one instruction, and of the same kind.
pub(super) fn is_part(check: &Check, other: &Check) -> bool {
    let kind = |check: &Check| check.attributes.iter().find(|a| a.name.as_str() == "race").map(|a| a.args.clone());
    is_race(check) && check.origin.is_some() && check.origin == other.origin && kind(check) == kind(other)
}

/// A probe asks whether a loop can be entered or left; it is no assertion.
fn is_probe(check: &Check) -> bool {
    infer::probe_of(&check.attributes).is_some()
}

/// Whether what follows may rely on a check that is proved elsewhere: assertions of barriers and of
/// the user. Never a candidate: dropped ones are false.
pub(super) fn may_rely_on(check: &Check) -> bool {
    check.candidate.is_none() && !is_race(check) && !is_probe(check)
}

/// The assertions of the program proper, and invariants that are not candidates.
pub(super) fn assertions(passive: &Passive) -> Vec<usize> {
    let proper = |c: &Check| c.candidate.is_none() && !is_probe(c);
    (0..passive.checks.len()).filter(|&i| proper(&passive.checks[i])).collect()
}

/// What is known of the assertions of a program.
struct Proof {
    /// All of them: indices of checks. Their order is the same whatever candidates stand between them.
    all: Vec<usize>,
    /// Enough defects.
    limit: usize,
    /// Refuted, with the encoding and the model. Bit-vector models are exact; what a
    /// model over integers refutes may still be provable.
    refuted: Vec<(usize, Encoding, Model)>,
    /// Left without an answer by the last attempt, with the solver's reason.
    undecided: Vec<(usize, String)>,
}

impl Proof {
    /// Everything is open but what an earlier try proved.
    fn of(inference: &Inference, unproved: Option<&BTreeSet<usize>>) -> Proof {
        let all = assertions(&inference.passive);
        let open: Vec<usize> = match unproved {
            None => all.clone(),
            Some(unproved) => unproved.iter().map(|&ordinal| all[ordinal]).collect(),
        };
        let undecided = open.into_iter().map(|check| (check, "not tried".to_string())).collect();
        Proof { all, limit: FINDING_LIMIT, refuted: Vec::new(), undecided }
    }

    fn is_complete(&self) -> bool {
        self.refuted.is_empty() && self.undecided.is_empty()
    }

    /// Tries what is not proved yet in an encoding.
    fn attempt(&mut self, inference: &mut Inference, encoding: Encoding, effort: Effort, deadline: Deadline) {
        let mut open: BTreeSet<usize> = self.undecided.drain(..).map(|(check, _)| check).collect();
        self.refuted.retain(|(check, refuted_in, _)| {
            let retry = *refuted_in == Encoding::Integers && encoding == Encoding::BitVectors;
            !(retry && open.insert(*check))
        });
        let mut parts = vec![open];
        let (mut budget, last) = (effort.together, effort.alone.max(QUICK.together));
        while let Some(mut part) = parts.pop() {
            if self.refuted.len() >= self.limit {
                self.leave(part, "enough defects were found before it");
                continue;
            }
            log::debug!("{} assertions", part.len());
            let reply = ask(inference, encoding, &part, deadline, budget);
            let alone = part.first().copied().filter(|_| part.len() == 1);
            match (reply, alone) {
                (Reply::Proved, _) => {}
                (Reply::Refuted(failing, model), _) if !failing.is_empty() => {
                    for check in failing {
                        part.remove(&check);
                        self.refuted.push((check, encoding, model.clone()));
                        self.set_aside(&inference.passive.checks, check, &mut part);
                    }
                    parts.extend((!part.is_empty()).then_some(part));
                }
                (Reply::Refuted(_, model), Some(check)) => self.refuted.push((check, encoding, model)),
                (Reply::Unknown(why), Some(_)) if budget == last => self.leave(part, &why),
                (Reply::Unknown(why), _) if effort.alone == 0 || deadline.is_over() => self.leave(part, &why),
                (Reply::Unknown(_) | Reply::Refuted(..), _) => {
                    let middle = part.iter().nth(part.len() / 2).copied().unwrap_or_default();
                    let second = part.split_off(&middle);
                    parts.extend([second, part].into_iter().filter(|part| !part.is_empty()));
                    budget = last;
                }
            }
        }
    }

    /// No answer for some assertions.
    fn leave(&mut self, part: BTreeSet<usize>, why: &str) {
        self.undecided.extend(part.into_iter().map(|check| (check, why.to_string())));
    }

    /// The other elements of a vector and rows of a matrix: a defect of one is one of the instruction.
    fn set_aside(&mut self, checks: &[Check], refuted: usize, open: &mut BTreeSet<usize>) {
        let parts: Vec<usize> =
            open.iter().copied().filter(|&check| is_part(&checks[check], &checks[refuted])).collect();
        for part in parts {
            open.remove(&part);
            self.undecided.push((part, "another part of the instruction races".to_string()));
        }
    }

    /// Tries what lies behind the head of each loop from that head alone: what happened before is a
    /// larger question, and mostly of no matter.
    fn attempt_regions(&mut self, inference: &mut Inference, deadline: Deadline) {
        for (number, checks) in regions::run(&inference.passive) {
            if deadline.is_over() {
                return;
            }
            let is_open = |check: &usize| self.undecided.iter().any(|(open, _)| open == check);
            let mut goal: BTreeSet<usize> = checks.into_iter().filter(is_open).collect();
            for encoding in inference.encodings.clone() {
                let mut tried = goal.clone();
                while !tried.is_empty() {
                    log::debug!("{} assertions behind loop {number}", tried.len());
                    let budget = deadline.budget(encoding, REGION);
                    match ask_behind(inference, number, &tried, (encoding, budget)) {
                        Verdict::Proved => break,
                        Verdict::Refuted(failing) => tried.retain(|check| !failing.contains(check)),
                        Verdict::Unknown => tried.clear(),
                    }
                }
                self.undecided.retain(|(check, _)| !tried.contains(check));
                goal.retain(|check| !tried.contains(check));
            }
        }
    }
}

/// Asks for assertions from the head of a loop.
fn ask_behind(inference: &mut Inference, number: usize, goal: &BTreeSet<usize>, how: (Encoding, Budget)) -> Verdict {
    let Inference { fates, passive, .. } = inference;
    let keep = |c: usize| fates.get(c) == Some(&Fate::Kept);
    let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
    houdini::ask_from_head(passive, number, goal, &keep, &|i| relied[i], how)
}

enum Reply {
    Proved,
    Refuted(BTreeSet<usize>, Model),
    Unknown(String),
}

fn ask(
    inference: &mut Inference,
    encoding: Encoding,
    goal: &BTreeSet<usize>,
    deadline: Deadline,
    effort: u32,
) -> Reply {
    let Inference { fates, passive, .. } = inference;
    let keep = |c: usize| fates.get(c) == Some(&Fate::Kept);
    let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
    let role = |i: usize| role_of(i, goal, &|i| relied[i]);
    let formula = wp::formula(passive, &keep, &role);
    let mut wanted = houdini::wanted(passive, &keep, &role);
    let checked = wanted.len();
    let named: Vec<(String, Term)> = passive.constants.iter().map(|(n, t)| (n.to_string(), *t)).collect();
    wanted.extend(named.iter().map(|(_, t)| *t));
    let shown = goal.iter().flat_map(|&i| &passive.checks[i].values);
    let shown: Vec<Term> = shown.flat_map(|shown| [Some(shown.now), shown.before]).flatten().collect();
    wanted.extend(&shown);
    let for_probes = goal.iter().all(|&i| is_probe(&passive.checks[i]));
    if for_probes {
        wanted.extend(simulate::model_terms(passive, formula));
    }
    match prove(&mut passive.terms, encoding, formula, &wanted, deadline.budget(encoding, effort)) {
        Answer::Proved => Reply::Proved,
        Answer::Unknown(why) => Reply::Unknown(why),
        Answer::Refuted(values) => {
            let (checks, values) = values.split_at(checked);
            let (constants, values) = values.split_at(named.len());
            let (values, model) = values.split_at(shown.len());
            let truth: HashMap<Term, Option<Value>> = wanted.iter().copied().zip(checks.iter().copied()).collect();
            let mut failing = houdini::failing_checks(passive, &truth, &keep, &role);
            if for_probes {
                // An execution that comes to a probe refutes it as well as a model does.
                let terms = &wanted[checked + named.len() + shown.len()..];
                let is_relied = |i: usize| relied[i];
                let mut simulation =
                    Simulation::new(passive, fates.iter().map(|f| *f == Fate::Kept).collect(), &is_relied, ROUNDS);
                simulation.load(terms, model);
                simulation.execute();
                failing.extend(simulation.failing.intersection(goal));
            }
            let constants = named.into_iter().zip(constants).filter_map(|((n, _), v)| v.map(|v| (n, v))).collect();
            let shown = shown.into_iter().zip(values).filter_map(|(t, v)| Some((t, (*v)?))).collect();
            Reply::Refuted(failing, Model { constants, shown })
        }
    }
}

/// What the probes say about a program whose assertions are proved.
#[derive(Default)]
struct Probed {
    /// The loops that a thread enters and from which no thread that entered comes out.
    endless: Vec<usize>,
    /// No execution comes to the end.
    vacuous: bool,
    /// Assumptions that are reached and never satisfied.
    unsatisfied: Vec<Arc<Origin>>,
}

fn probe(inference: &mut Inference, deadline: Deadline) -> Probed {
    let proved = proved_probes(inference, deadline, &|probe, _| !matches!(probe, Probe::Entry | Probe::Reached));
    let left: BTreeSet<usize> = proved.iter().filter(|(p, _)| *p == Probe::Exit).map(|(_, l)| *l).collect();
    let mut endless = Vec::new();
    if !left.is_empty() {
        let not_entered = proved_probes(inference, deadline, &|probe, l| probe == Probe::Entry && left.contains(&l));
        endless.extend(left.into_iter().filter(|l| !not_entered.contains(&(Probe::Entry, *l))));
    }
    let vacuous = endless.is_empty() && proved.iter().any(|(probe, _)| *probe == Probe::End);
    let never: BTreeSet<usize> = proved.iter().filter(|(p, _)| *p == Probe::Satisfied).map(|(_, n)| *n).collect();
    let mut unsatisfied = Vec::new();
    if !never.is_empty() {
        let dead = proved_probes(inference, deadline, &|probe, n| probe == Probe::Reached && never.contains(&n));
        let checks = &inference.passive.checks;
        let meets = |check: &&Check| match infer::probe_of(&check.attributes) {
            Some((Probe::Satisfied, number)) => never.contains(&number) && !dead.contains(&(Probe::Reached, number)),
            _ => false,
        };
        unsatisfied = checks.iter().filter(meets).filter_map(|check| check.origin.clone()).collect();
    }
    Probed { endless, vacuous, unsatisfied }
}

/// The selected probes that are provable, with their numbers.
fn proved_probes(
    inference: &mut Inference,
    deadline: Deadline,
    selects: &dyn Fn(Probe, usize) -> bool,
) -> Vec<(Probe, usize)> {
    let encoding = inference.encodings[0];
    let probes = inference.passive.checks.iter().enumerate();
    let probes = probes.filter_map(|(check, found)| Some((check, infer::probe_of(&found.attributes)?)));
    let mut open: BTreeMap<usize, (Probe, usize)> = probes.filter(|(_, p)| selects(p.0, p.1)).collect();
    let mut proved = Vec::new();
    while let Some((&first, &probe)) = open.first_key_value() {
        match ask(inference, encoding, &open.keys().copied().collect(), deadline, PROBE) {
            Reply::Refuted(failing, _) if !failing.is_empty() => open.retain(|check, _| !failing.contains(check)),
            Reply::Proved => {
                proved.extend(open.values());
                break;
            }
            _ => {
                if let Reply::Proved = ask(inference, encoding, &BTreeSet::from([first]), deadline, PROBE) {
                    proved.push(probe);
                }
                open.remove(&first);
            }
        }
    }
    proved
}
