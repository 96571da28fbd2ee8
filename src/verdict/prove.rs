//! One pair of threads: infer invariants, then prove every assertion under them.
//!
//! Input: a two-thread program. Output: [`PairOutcome`]: what is proved, what a model refutes, what
//! stayed open. Establishes: `open` and `refuted` are empty only if every assertion of the program
//! was proved under invariants that are themselves proved, in one of the encodings.
//! Reference: DESIGN section 5 (integers first, bit-vectors as second try); proof-notes, lesson 5.

use crate::diagnostic::Diagnostic;
use crate::infer::houdini::{self, Deadline, Fate};
use crate::infer::{self, Annotated, Probe};
use crate::ivl::ast::{Attribute, ExprRef, Program, Type};
use crate::ivl::visit::{self, Visitor};
use crate::solver::{Answer, Encoding, Value, prove};
use crate::twothread::TwoThread;
use crate::vcgen::passive::{Check, Passive};
use crate::vcgen::term::Term;
use crate::vcgen::wp::{self, Role};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A model's values of the program's constants, by IVL name.
pub type Constants = BTreeMap<String, Value>;

/// An assertion that a model refutes.
#[derive(Clone, Debug)]
pub struct Refuted {
    /// The assertion.
    pub check: Check,
    /// Values of constants in the model.
    pub constants: Constants,
}

/// What came of one pair.
pub struct PairOutcome {
    /// Assertions that a model refutes in the last encoding tried.
    pub refuted: Vec<Refuted>,
    /// Assertions without an answer, with the solver's reason.
    pub open: Vec<(Check, String)>,
    /// Loops that a thread enters and no thread that entered can leave (indices into the loops).
    pub endless: Vec<usize>,
    /// No execution meets the preconditions and assumptions to the end: a proof would say nothing.
    pub vacuous: bool,
    /// Candidates tried, and kept by the encoding that proved most.
    pub candidates: (usize, usize),
    /// Assertions checked.
    pub assertions: usize,
    /// What was inferred, for `--emit`.
    pub inference: Inference,
}

/// Candidates and their fate, with the program they stand in.
pub struct Inference {
    /// The annotated program.
    pub annotated: Annotated,
    /// One fate for each candidate.
    pub fates: Vec<Fate>,
    /// The encoding they were decided in.
    pub encoding: Encoding,
    /// The passive program.
    pub passive: Passive,
}

impl Inference {
    /// Whether a candidate is kept.
    pub fn keeps(&self, candidate: usize) -> bool {
        self.fates.get(candidate) == Some(&Fate::Kept)
    }
}

/// Wall time in milliseconds and resources for all assertions together, and for one alone.
const TOGETHER: (u32, u32) = (6000, 40_000_000);
const ALONE: (u32, u32) = (3000, 20_000_000);
/// A kernel with more defects than this has enough.
const FINDING_LIMIT: usize = 12;

/// Infers invariants in one encoding.
///
/// # Errors
/// What `vcgen` cannot translate.
pub fn infer_in(
    two: &TwoThread,
    uniform_barriers: bool,
    encoding: Encoding,
    deadline: Deadline,
) -> Result<Inference, Diagnostic> {
    let annotated = infer::annotate(two, uniform_barriers, encoding)?;
    let mut passive = infer::passive_of(&annotated.program, &annotated.procedure)?;
    let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
    let count = annotated.candidates.len();
    let outcome = houdini::run(&mut passive, count, encoding, deadline, &|i| relied[i]);
    Ok(Inference { annotated, fates: outcome.fates, encoding, passive })
}

/// Proves the assertions of a pair. After an encoding that left something unproved, `stop` may end
/// the search for a proof.
///
/// # Errors
/// What `vcgen` cannot translate.
pub fn run(
    two: &TwoThread,
    uniform_barriers: bool,
    encodings: &[Encoding],
    deadline: Deadline,
    stop: &mut dyn FnMut(&PairOutcome) -> bool,
) -> Result<PairOutcome, Diagnostic> {
    let mut best: Option<PairOutcome> = None;
    // Assertions are known by their order among assertions: it is the same in every encoding, while
    // the numbers of checks differ with the candidates.
    let mut remaining: Option<BTreeSet<usize>> = None;
    for encoding in suited(&two.program, encodings) {
        let mut inference = infer_in(two, uniform_barriers, encoding, deadline)?;
        let all = assertions(&inference.passive);
        let ordinal = |check: usize| all.iter().position(|&c| c == check);
        let goal: BTreeSet<usize> = match &remaining {
            Some(remaining) => remaining.iter().map(|&o| all[o]).collect(),
            None => all.iter().copied().collect(),
        };
        let (refuted, open) = prove_all(&mut inference, &goal, deadline);
        let endless = match &best {
            Some(previous) => previous.endless.clone(),
            None => endless_loops(&mut inference, deadline),
        };
        let proved = refuted.is_empty() && open.is_empty() && endless.is_empty();
        let vacuous = proved && !proved_probes(&mut inference, Probe::End, None, deadline).is_empty();
        let unproved = refuted.iter().map(|(i, _)| *i).chain(open.iter().map(|(i, _)| *i));
        remaining = Some(unproved.filter_map(ordinal).collect());
        let outcome = PairOutcome { vacuous, ..outcome(inference, refuted, open, endless, all.len()) };
        let done = outcome.refuted.is_empty() && outcome.open.is_empty();
        let enough = done || stop(&outcome);
        best = Some(outcome);
        if enough {
            break;
        }
    }
    match best {
        Some(outcome) => Ok(outcome),
        None => panic!("verdict: no encoding was given"),
    }
}

/// The encodings whose answers count for a program. Integers wrap in the bit-vector encoding, which
/// is sound for the ghosts that `infer` adds, not for integers of the input.
fn suited(program: &Program, encodings: &[Encoding]) -> Vec<Encoding> {
    let mut search = FindInteger(false);
    visit::walk_program(&mut search, program);
    if search.0 { vec![Encoding::Integers] } else { encodings.to_vec() }
}

struct FindInteger(bool);

impl Visitor for FindInteger {
    fn expr(&mut self, e: &ExprRef) {
        self.0 |= e.ty == Type::Int;
        visit::walk_expr(self, e);
    }

    fn attribute(&mut self, _: &Attribute) {}
}

fn outcome(
    inference: Inference,
    refuted: Vec<(usize, Constants)>,
    open: Vec<(usize, String)>,
    endless: Vec<usize>,
    assertions: usize,
) -> PairOutcome {
    let checks = &inference.passive.checks;
    let refuted = refuted.into_iter().map(|(i, constants)| Refuted { check: checks[i].clone(), constants }).collect();
    let open = open.into_iter().map(|(i, why)| (checks[i].clone(), why)).collect();
    let kept = inference.fates.iter().filter(|f| **f == Fate::Kept).count();
    let candidates = (inference.fates.len(), kept);
    PairOutcome { refuted, open, endless, vacuous: false, candidates, assertions, inference }
}

fn has_attribute(check: &Check, name: &str) -> bool {
    check.attributes.iter().any(|a| a.name.as_str() == name)
}

/// A race check: what follows does not rely on it.
fn is_race(check: &Check) -> bool {
    has_attribute(check, "race")
}

/// A probe asks whether a loop can be entered or left; it is no assertion.
fn is_probe(check: &Check) -> bool {
    infer::probe_of(&check.attributes).is_some()
}

/// Whether what follows may rely on a check that is proved elsewhere: assertions of barriers and of
/// the user. Never a candidate: dropped ones are false.
fn may_rely_on(check: &Check) -> bool {
    check.candidate.is_none() && !is_race(check) && !is_probe(check)
}

/// The assertions of the program proper, and invariants that are not candidates.
fn assertions(passive: &Passive) -> Vec<usize> {
    let proper = |c: &Check| c.candidate.is_none() && !is_probe(c);
    (0..passive.checks.len()).filter(|&i| proper(&passive.checks[i])).collect()
}

type Failures = (Vec<(usize, Constants)>, Vec<(usize, String)>);

fn prove_all(inference: &mut Inference, goal: &BTreeSet<usize>, deadline: Deadline) -> Failures {
    let mut open = goal.clone();
    let mut refuted = Vec::new();
    while !open.is_empty() && refuted.len() < FINDING_LIMIT {
        match ask(inference, &open, deadline, TOGETHER) {
            Reply::Proved => return (refuted, Vec::new()),
            Reply::Refuted(failing, constants) if !failing.is_empty() => {
                for check in failing {
                    open.remove(&check);
                    refuted.push((check, constants.clone()));
                }
            }
            Reply::Refuted(..) | Reply::Unknown(_) => {
                let undecided = one_by_one(inference, &open, deadline, &mut refuted);
                return (refuted, undecided);
            }
        }
    }
    (refuted, open.into_iter().map(|i| (i, "enough defects were found before it".to_string())).collect())
}

fn one_by_one(
    inference: &mut Inference,
    open: &BTreeSet<usize>,
    deadline: Deadline,
    refuted: &mut Vec<(usize, Constants)>,
) -> Vec<(usize, String)> {
    let mut undecided = Vec::new();
    for &check in open {
        match ask(inference, &BTreeSet::from([check]), deadline, ALONE) {
            Reply::Proved => {}
            Reply::Refuted(_, constants) => refuted.push((check, constants)),
            Reply::Unknown(why) => undecided.push((check, why)),
        }
    }
    undecided
}

enum Reply {
    Proved,
    Refuted(BTreeSet<usize>, Constants),
    Unknown(String),
}

fn ask(inference: &mut Inference, goal: &BTreeSet<usize>, deadline: Deadline, limit: (u32, u32)) -> Reply {
    let Inference { fates, passive, encoding, .. } = inference;
    let keep = |c: usize| fates.get(c) == Some(&Fate::Kept);
    let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
    let role = |i: usize| match (goal.contains(&i), relied[i]) {
        (true, _) => Role::Prove,
        (false, true) => Role::Rely,
        (false, false) => Role::Ignore,
    };
    let formula = wp::formula(passive, &keep, &role);
    let mut wanted = houdini::wanted(passive, &keep, &role);
    let checked = wanted.len();
    let named: Vec<(String, Term)> = passive.constants.iter().map(|(n, t)| (n.to_string(), *t)).collect();
    wanted.extend(named.iter().map(|(_, t)| *t));
    match prove(&mut passive.terms, *encoding, formula, &wanted, deadline.budget(limit.0, limit.1)) {
        Answer::Proved => Reply::Proved,
        Answer::Unknown(why) => Reply::Unknown(why),
        Answer::Refuted(values) => {
            let model: HashMap<Term, Option<Value>> =
                wanted[..checked].iter().copied().zip(values[..checked].iter().copied()).collect();
            let failing = houdini::failing_checks(passive, &model, &keep, &role);
            let values = values[checked..].iter();
            let constants = named.into_iter().zip(values).filter_map(|((n, _), v)| v.map(|v| (n, v))).collect();
            Reply::Refuted(failing, constants)
        }
    }
}

/// Loops from which a thread that entered cannot come out: the probe behind the exit is provable,
/// the one in front of it is not.
fn endless_loops(inference: &mut Inference, deadline: Deadline) -> Vec<usize> {
    let unanswered = proved_probes(inference, Probe::Exit, None, deadline);
    if unanswered.is_empty() {
        return Vec::new();
    }
    let unreachable = proved_probes(inference, Probe::Entry, Some(&unanswered), deadline);
    unanswered.difference(&unreachable).copied().collect()
}

/// The loops whose probe of a kind is provable.
fn proved_probes(
    inference: &mut Inference,
    kind: Probe,
    among: Option<&BTreeSet<usize>>,
    deadline: Deadline,
) -> BTreeSet<usize> {
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    for (check, found) in inference.passive.checks.iter().enumerate() {
        if let Some((probe, index)) = infer::probe_of(&found.attributes)
            && probe == kind
            && among.is_none_or(|a| a.contains(&index))
        {
            open.insert(check, index);
        }
    }
    let mut proved = BTreeSet::new();
    while let Some((&first, &index)) = open.first_key_value() {
        match ask(inference, &open.keys().copied().collect(), deadline, ALONE) {
            Reply::Refuted(failing, _) if !failing.is_empty() => open.retain(|check, _| !failing.contains(check)),
            Reply::Proved => {
                proved.extend(open.values());
                break;
            }
            _ => {
                if let Reply::Proved = ask(inference, &BTreeSet::from([first]), deadline, ALONE) {
                    proved.insert(index);
                }
                open.remove(&first);
            }
        }
    }
    proved
}
