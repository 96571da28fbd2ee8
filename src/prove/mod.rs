//! One pair of threads: infer invariants, then prove every assertion under them.
//!
//! Input: a two-thread program. Output: [`PairOutcome`]: what is proved, what a model refutes, what
//! stayed open. Establishes: `open` and `refuted` are empty only if every assertion of the program
//! was proved under invariants that are themselves proved, in one of the encodings.
//! Reference: DESIGN section 5 (integers first, bit-vectors as second try); proof-notes, lesson 5.

mod attempt;
mod bare;
mod few;
mod few_rounds;
mod idle_logs;
mod joined;
pub(crate) mod pairs;
mod partly;
mod probes;
pub mod question;
mod rounds;
pub mod summaries;
pub mod used;
mod written_out;

use self::attempt::{FINDING_LIMIT, FULL, HALVES, LONG, MIDDLE, PRODUCTS, Proof, QUICK, QUICK_HALVES};
use self::probes::{Probed, probe};
use crate::diagnostic::Diagnostic;
use crate::effort::{self, Budget, Effort};
use crate::infer::candidates::{self, Candidate};
use crate::infer::houdini::{self, Fate, Outcome, Search};
use crate::infer::{self, Annotated};
use crate::ivl;
use crate::ivl::ast::{Attribute, BinaryOp, ExprKind, ExprRef, Name, Program, Type};
use crate::ivl::claim::{Claim, Probe};
use crate::ivl::visit::{self, Visitor};
use crate::query::{self, From, Query};
use crate::solver::{Encoding, in_own_context};
use crate::span::Origin;
use crate::twothread::TwoThread;
use crate::vcgen::passive::{Check, Passive};
use crate::vcgen::term::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A model's values of the program's constants, by IVL name.
pub(crate) type Constants = BTreeMap<Name, Value>;

/// An assertion that a model refutes.
#[derive(Clone, Debug)]
pub struct Refuted {
    /// The assertion.
    pub(crate) check: Check,
    /// Values of constants in the model.
    pub(crate) constants: Constants,
    /// Values of the variables of an assertion of the user: now, and at the beginning of the round.
    pub(crate) values: Vec<(Name, Value, Option<Value>)>,
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
    pub(crate) unsatisfied: Vec<Arc<Origin>>,
    /// Candidates tried, and kept by the encoding that proved most.
    pub(crate) candidates: (usize, usize),
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
    pub(crate) encodings: Vec<Encoding>,
    /// Iterations of Houdini.
    pub iterations: usize,
    /// The passive program.
    pub(crate) passive: Passive,
}

impl Inference {
    fn new(annotated: Annotated, passive: Passive, Outcome { fates, encodings, iterations }: Outcome) -> Self {
        Inference { annotated, fates, encodings, iterations, passive }
    }

    /// Takes over what Houdini kept.
    fn adopt(&mut self, Outcome { fates, encodings, iterations }: Outcome) {
        (self.fates, self.encodings, self.iterations) = (fates, encodings, iterations);
    }

    /// Whether a candidate is kept.
    pub(crate) fn keeps(&self, candidate: usize) -> bool {
        self.fates.get(candidate) == Some(&Fate::Kept)
    }

    /// A query under the kept candidates.
    pub(super) fn query<'q>(&'q mut self, from: From, goal: &'q BTreeSet<usize>) -> Query<'q> {
        let keep = self.fates.iter().map(|fate| *fate == Fate::Kept).collect();
        let (program, encoding) = (&mut self.passive, self.encodings[0]);
        let rely = program.checks.iter().map(may_rely_on).collect();
        Query { program, from, goal, keep, rely, except: &[], reads: &query::nothing, encoding, most: Effort::ALL }
    }

    /// The kept candidates.
    pub(crate) fn kept(&self) -> Vec<Candidate> {
        let candidates = self.annotated.candidates.iter().enumerate();
        candidates.filter(|(i, _)| self.keeps(*i)).map(|(_, c)| c.clone()).collect()
    }
}

/// Which loops may be written out as so many rounds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WritesOut {
    None,
    /// Those of few rounds, beside others.
    Some,
    /// All of them as well, which takes longer.
    All,
}

/// How to go about a proof.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// Every barrier of the program asserts that both threads arrive or none.
    pub(crate) uniform_barriers: bool,
    /// Encodings to try, in order.
    pub(crate) encodings: &'a [Encoding],
    /// How many of them are tried. Loops that a compiler made of one are about sums and about bits: their proofs have all.
    pub(crate) tries: usize,
    /// What all tries may spend.
    pub(crate) effort: Effort,
    /// Families of candidates that are not tried.
    pub(crate) omitted: &'a [&'static str],
    /// Whether the first assertion that fails in an encoding ends the try: only a proof is of use.
    pub(crate) first_failure: bool,
    /// Which loops may be written out.
    pub(crate) writes_out: WritesOut,
    /// Whether many assertions without an answer are asked for some at a time.
    pub(crate) in_parts: bool,
}

/// Invariants that took longer are those of a hard proof.
const SOON: Effort = Effort::milliseconds(100);

/// Loops of a program in which any one round of each is looked at first, and what that may cost; the same where loops go on with
/// what others left of rows.
const MANY_LOOPS: usize = 3;
const FIRST: Effort = Effort::milliseconds(500);
const FIRST_OF_ROWS: Effort = Effort::milliseconds(1500);

/// What a proof with joined accesses may cost.
const JOINED: Effort = Effort::seconds(8);

/// Asked once, before a proof that is no matter of moments goes on: whether an execution shows a defect.
pub(crate) type Doubt<'a> = Box<dyn FnOnce() -> bool + Send + 'a>;

/// The tries to prove the assertions of a pair: under integer invariants over integers and, where that fails,
/// over bit-vectors; then under bit-vector invariants as well. Each begins with what the one before proved; the
/// last is the one that proved all, or after which there is nothing to try.
pub(crate) struct Tries<'a> {
    two: &'a TwoThread,
    plan: Plan<'a>,
    doubt: Option<Doubt<'a>>,
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
pub(crate) fn run(
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
    last.map_or_else(|| panic!("prove: no encoding was given"), Ok)
}

impl<'a> Tries<'a> {
    /// No try yet.
    pub(crate) fn new(two: &'a TwoThread, plan: Plan<'a>) -> Self {
        let encodings = suited(&two.program, plan.encodings);
        Tries { two, plan, doubt: None, encodings, step: 0, is_done: false, earlier: Earlier::default() }
    }

    /// The same, but a defect ends them.
    pub(crate) fn doubting(self, doubt: Option<Doubt<'a>>) -> Self {
        Tries { doubt, ..self }
    }

    /// The same, but by invariants alone: they are to be shown.
    pub(crate) fn by_invariants(mut self) -> Self {
        self.plan.writes_out = WritesOut::None;
        self
    }

    /// Whether there is no proof to be found.
    fn has_defect(&mut self) -> bool {
        self.is_done |= self.doubt.take().is_some_and(|doubt| doubt());
        self.is_done
    }

    /// Tries all assertions with accesses beside each other as one. Where they are proved: the loops that are endless.
    fn of_joined(&self, two: &TwoThread, budget: Budget) -> Result<Option<Vec<usize>>, Diagnostic> {
        let plan = Plan { effort: JOINED.min(budget.left() * 2 / 3), first_failure: true, ..self.plan };
        let outcome = run(Tries::new(two, plan), &mut |_| false)?;
        let is_proved = outcome.is_proved() && !outcome.vacuous && outcome.unsatisfied.is_empty();
        Ok(is_proved.then_some(outcome.endless))
    }

    /// Tries to prove what is left by what rounds do, with fewer invariants than loops have. What is known then.
    fn by_rounds(
        &self,
        proof: &mut Proof,
        inference: &mut Inference,
        search: &Search,
        encodings: &[Encoding],
        is_joined: bool,
        budget: Budget,
    ) -> Result<Option<Probed>, Diagnostic> {
        let (two, plan) = (self.two, self.plan);
        let is_partly = plan.writes_out >= WritesOut::Some && !is_joined;
        // Invariants with products of unknowns are hard ones, also where loops of few rounds are written out.
        let multiplies = inference.annotated.candidates.iter().any(|candidate| summaries::multiplies(&candidate.expr));
        let summarise = |part: Effort| match is_partly {
            true => summaries::proves(two, plan, budget.part(part)),
            false => Ok(None),
        };
        let mut probed = match first_summary(inference, budget.left()) {
            _ if multiplies => summarise(budget.left() * 3 / 4)?,
            Some(part) => summarise(part)?,
            None => None,
        };
        if probed.is_none() && is_partly {
            probed = partly::proves(two, plan, budget)?;
        }
        if probed.is_none() && !is_joined {
            few::attempt(proof, inference, search, budget);
        }
        let is_open = probed.is_none() && !proof.is_complete();
        let may_write_out = plan.writes_out == WritesOut::All && encodings.contains(&Encoding::BitVectors);
        let is_written_out = is_open && may_write_out && written_out::proves(two, budget)?;
        if is_open && !is_written_out && !multiplies {
            probed = summarise(budget.left() / 2)?;
        }
        if probed.is_some() || is_written_out {
            *proof = Proof::complete(inference);
            inference.adopt(search.nothing());
        }
        Ok(probed)
    }

    fn attempt(&mut self) -> Result<PairOutcome, Diagnostic> {
        let (budget, first_failure) = (Budget::new(self.plan.effort), self.plan.first_failure);
        let step = self.step;
        let Plan { uniform_barriers, omitted, .. } = self.plan;
        let annotated = infer::annotate(self.two, uniform_barriers, self.encodings[step], omitted)?;
        let remainders = annotated.remainders();
        let encodings = match remainders {
            Some(_) => self.encodings.clone(),
            None => self.encodings.iter().copied().take(self.plan.tries).collect(),
        };
        let mut passive = infer::passive_of(&annotated.program, &annotated.procedure)?;
        let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
        let known = annotated.candidates.iter().map(|c| self.earlier.kept.contains(c)).collect();
        let twins = candidates::twins(&annotated.candidates);
        let (relied, log) = (&|i: usize| relied[i], &self.two.log);
        let start = houdini::Start { known, twins, relied, remainders, encodings: &encodings[step..], budget, log };
        let before = effort::spent();
        let mut search = Search::begin(&mut passive, &start);
        let is_hard = !search.is_over() || effort::spent() - before > SOON;
        let mut inference = Inference::new(annotated, passive, search.outcome());
        let mut proof = Proof::of(&inference, self.earlier.unproved.as_ref());
        proof.limit = if first_failure { 1 } else { FINDING_LIMIT };
        proof.in_parts = self.plan.in_parts;
        let is_first = self.earlier.unproved.is_none();
        let mut known = None;
        if is_first && is_hard && self.has_defect() {
            return Ok(outcome(inference, proof));
        }
        let joins = is_first && self.plan.writes_out >= WritesOut::Some;
        let joined = if joins { joined::run(self.two) } else { None };
        if let Some(joined) = &joined {
            if let Some(endless) = self.of_joined(joined, budget)? {
                known = Some(Probed { endless, ..Probed::default() });
                proof = Proof::complete(&inference);
                inference.adopt(search.nothing());
            }
        } else if is_first && !search.is_over() {
            bare::attempt(&mut proof, &mut inference, &search, budget);
        }
        if is_first && !search.is_over() && !proof.is_complete() {
            // What was tried of joined accesses need not be tried of each.
            known = self.by_rounds(&mut proof, &mut inference, &search, &encodings, joined.is_some(), budget)?;
        }
        if !proof.is_complete() {
            search.end(&mut inference.passive);
            inference.adopt(search.outcome());
        }
        for (candidate, fate) in inference.annotated.candidates.iter().zip(&inference.fates) {
            let Candidate { family, in_loop, expr } = candidate;
            log::trace!("loop {in_loop}, {fate:?}: {family} {}", ivl::print_expr(expr));
        }
        // Bit by bit, products of unknowns and counters are beyond the solver.
        let multiplies = inference.passive.checks.iter().any(|check| inference.passive.terms.multiplies(check.term));
        let patiences = match step + 1 == encodings.len() && !first_failure {
            _ if multiplies => &[PRODUCTS][..],
            _ if self.plan.in_parts => &[QUICK_HALVES, MIDDLE],
            true => &[FULL],
            // There is no other encoding.
            false if encodings.len() == 1 => &[QUICK_HALVES, HALVES, LONG],
            false => &[QUICK, MIDDLE],
        };
        proof.attempt_regions(&mut inference, budget);
        proof.attempt_cases(&mut inference, budget);
        if !proof.is_complete() && self.has_defect() {
            return Ok(outcome(inference, proof));
        }
        for &patience in patiences {
            for encoding in inference.encodings.clone() {
                proof.attempt(&mut inference, encoding, patience, budget);
            }
        }
        let probed = known.unwrap_or_else(|| match proof.is_complete() {
            true => probe(&mut inference, budget),
            false => Probed::default(),
        });
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
        if self.is_done || self.step >= self.encodings.len().min(self.plan.tries) {
            return None;
        }
        let start = effort::spent();
        let outcome = in_own_context(|| self.attempt());
        // What happens between two tries is not theirs: another thread may make them.
        self.plan.effort = self.plan.effort - (effort::spent() - start);
        self.step += 1;
        self.is_done |= outcome.is_err();
        Some(outcome)
    }
}

/// What a look at any one round of each loop is worth before all rounds are looked at. What is behind many loops depends on how each
/// ends, of which invariants about both threads tell little; and where a loop goes on with what another one left of rows, places
/// are products, which invariants had better not mention.
fn first_summary(inference: &Inference, left: Effort) -> Option<Effort> {
    let Inference { annotated, passive, .. } = inference;
    let goals = passive.checks.iter().map(|check| check.term);
    match annotated.remainders() {
        Some(_) if passive.terms.have_products(goals) => Some(FIRST_OF_ROWS.min(left / 4)),
        _ => (annotated.loops.len() >= MANY_LOOPS).then_some(FIRST.min(left / 32)),
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
        inference,
    }
}

/// A race check: what follows does not rely on it.
fn is_race(check: &Check) -> bool {
    matches!(check.claim, Claim::Race(_))
}

/// Whether two race checks are of one instruction, and of the same kind.
pub(super) fn is_part(check: &Check, other: &Check) -> bool {
    is_race(check) && check.origin.is_some() && check.origin == other.origin && check.claim == other.claim
}

/// A probe asks whether a loop can be entered or left; it is no assertion. That a loop has no more rounds than were written
/// out is one.
pub(super) fn is_probe(check: &Check) -> bool {
    check.claim.probe().is_some_and(|(probe, _)| probe != Probe::Rounds)
}

/// Whether what follows may rely on a check that is proved elsewhere: assertions of barriers and of
/// the user. Never a candidate: dropped ones are false.
pub(super) fn may_rely_on(check: &Check) -> bool {
    check.candidate.is_none() && !is_race(check) && check.claim.probe().is_none()
}

/// The assertions of the program proper, and invariants that are not candidates.
pub(super) fn assertions(passive: &Passive) -> Vec<usize> {
    let proper = |c: &Check| c.candidate.is_none() && !is_probe(c);
    (0..passive.checks.len()).filter(|&i| proper(&passive.checks[i])).collect()
}
