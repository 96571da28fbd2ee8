//! Houdini: the greatest inductive subset of the candidate invariants.
//!
//! Input: a passive program with candidates at its loop heads. Output: which candidates are kept.
//! Establishes: every kept candidate holds on entry and is maintained, under the kept ones alone;
//! a query that ends without an answer drops what it asked for.
//! Reference: Flanagan and Leino, Houdini; tutorial section 4; proof-notes, lesson 9: all
//! obligations in one query, everything that its model refutes is dropped at once.

use super::sightings::Watch;
use super::simulate::{self, Simulation};
use super::start;
use crate::concrete::program::Steps;
use crate::effort::{Budget, Effort};
use crate::limits;
use crate::query::{self, From, Model, Query, Reply};
use crate::solver::Encoding;
use crate::twothread::log::Log;
use crate::vcgen::passive::{CheckKind, Passive, PassiveItem};
use crate::vcgen::term::{BvBinary, Node, Term};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

/// When and why a candidate was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Inductive.
    Kept,
    /// A model refuted it on entry, in that Houdini iteration (from 1).
    RefutedOnEntry(usize),
    /// A model refuted its maintenance.
    RefutedAfterRound(usize),
    /// The solver gave no answer.
    Undecided(usize),
}

/// Effort for a query, and for one of many.
const EFFORT: Effort = Effort::milliseconds(500);
const SHORT_EFFORT: Effort = Effort::milliseconds(60);
/// More checks than this are not asked for at once.
const LARGE: usize = 600;
/// Effort for a query about several loops at once.
const TOGETHER: Effort = Effort::milliseconds(150);
/// Checks that are not parted any more where a query without products has no answer.
const SMALL: usize = 8;
/// Rounds of a loop to run on from a model.
const ROUNDS: usize = 6;

/// What Houdini starts from.
pub struct Start<'a> {
    /// For each candidate, whether it was proved before (in another encoding).
    pub known: Vec<bool>,
    /// For each candidate, the same about the other thread, or itself. The program treats both
    /// threads alike, so where one of the two is not inductive the other is not.
    pub twins: Vec<usize>,
    /// Checks that hold because they are proved elsewhere (not races).
    pub relied: &'a (dyn Fn(usize) -> bool + Sync),
    /// For each candidate, whether it is about low bits, if loops go on where others ended: then the checks on entry of a loop
    /// are asked for before those of its rounds, and those about sums apart from those about bits.
    pub remainders: Option<Vec<bool>>,
    /// The arithmetic of the queries: the second where the first gives no answer.
    pub encodings: &'a [Encoding],
    /// When to give up.
    pub budget: Budget,
    /// What the program remembers of accesses.
    pub log: &'a Log,
}

/// What Houdini ends with.
pub struct Outcome {
    /// One for each candidate.
    pub fates: Vec<Fate>,
    /// The encodings, the one that answered last in front: it suits the kernel.
    pub(crate) encodings: Vec<Encoding>,
    /// How often it asked anew, for all loops at once or for each apart.
    pub(crate) iterations: usize,
}

/// Runs Houdini.
pub fn run(passive: &mut Passive, start: &Start) -> Outcome {
    let mut search = Search::begin(passive, start);
    search.end(passive);
    search.outcome()
}

/// Whether a check is about a product of unknowns.
fn multiplies(passive: &Passive) -> bool {
    passive.checks.iter().any(|check| passive.terms.multiplies(check.term))
}

/// Whether an assumption is about a product of unknowns.
fn assumes_products(passive: &Passive) -> bool {
    let items = passive.blocks.iter().flat_map(|block| &block.items);
    let terms = &passive.terms;
    let is_product = |term: Term| match terms.node(term) {
        Node::BvBinary(BvBinary::Mul, a, b) => [a, b].into_iter().all(|t| terms.bv_value(*t).is_none()),
        _ => terms.is_multiplied(term),
    };
    items.into_iter().any(|item| match item {
        PassiveItem::Assume { term, .. } => terms.postorder(*term, &|_| false).into_iter().any(is_product),
        PassiveItem::Check(_) => false,
    })
}

/// Checks of the invariants of a loop that are asked for together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    number: usize,
    part: LoopPart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LoopPart {
    /// On entry and of rounds.
    Whole,
    Entry,
    Round,
}

/// What checks belong to that are about invariants of loops; `entry_first`: those on entry are asked for apart, first.
fn tasks(passive: &Passive, entry_first: bool) -> Vec<Option<Task>> {
    let part = |part| if entry_first { part } else { LoopPart::Whole };
    let task = |kind: &CheckKind| match *kind {
        CheckKind::Entry(number) => Some(Task { number, part: part(LoopPart::Entry) }),
        CheckKind::Maintenance(number) => Some(Task { number, part: part(LoopPart::Round) }),
        CheckKind::Assertion => None,
    };
    passive.checks.iter().map(|check| task(&check.kind)).collect()
}

/// For each candidate, what is checked behind a place that assumes it: the rounds of its own loop, what comes after that,
/// and heads around it, whose witnesses run inner loops once more.
fn dependents(passive: &Passive, tasks: &[Option<Task>], candidates: usize) -> Vec<BTreeSet<Task>> {
    let mut behind: Vec<BTreeSet<Task>> = vec![BTreeSet::new(); passive.blocks.len()];
    let mut dependents = vec![BTreeSet::new(); candidates];
    for (b, block) in passive.blocks.iter().enumerate().rev() {
        let mut here: BTreeSet<Task> = block.successors.iter().flat_map(|&s| behind[s].clone()).collect();
        for item in block.items.iter().rev() {
            match item {
                PassiveItem::Check(i) => here.extend(tasks[*i]),
                PassiveItem::Assume { candidate: Some(candidate), .. } => dependents[*candidate].extend(&here),
                PassiveItem::Assume { .. } => {}
            }
        }
        behind[b] = here;
    }
    dependents
}

/// A search for invariants that has begun.
#[derive(Clone)]
pub(crate) struct Search<'a> {
    fates: Vec<Fate>,
    encodings: Vec<Encoding>,
    start: &'a Start<'a>,
    /// When to give up.
    budget: Budget,
    /// The program as it is executed.
    steps: Rc<Steps>,
    /// Whether the kept candidates are inductive.
    is_over: bool,
    /// Checks of rounds that did not follow from the invariants of their loop alone, and so never will: there are only
    /// fewer of these.
    global: BTreeSet<usize>,
    iteration: usize,
}

impl<'a> Search<'a> {
    /// Executes the program, and asks for all candidates at once where that may have an answer.
    pub(crate) fn begin(passive: &mut Passive, start: &'a Start<'a>) -> Self {
        let _stage = limits::stage("infer");
        let watch = Watch::new(passive, start.log);
        let mut search = Search {
            fates: vec![Fate::Kept; start.known.len()],
            encodings: start.encodings.to_vec(),
            start,
            budget: start.budget,
            steps: Rc::new(Steps::new(passive, &watch.terms())),
            is_over: false,
            global: BTreeSet::new(),
            iteration: 0,
        };
        search.test(passive, &watch);
        search.is_over = search.may_ask_at_once(passive) && search.all_at_once(passive);
        search
    }

    /// Whether the kept candidates are inductive.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Goes on to the end.
    pub(crate) fn end(&mut self, passive: &mut Passive) {
        let _stage = limits::stage("infer");
        if !self.is_over {
            self.loop_by_loop(passive);
            self.is_over = true;
        }
    }

    /// As [`Search::end`], but all at once first, where that is worth a try.
    pub(crate) fn begin_again(&mut self, passive: &mut Passive) {
        let _stage = limits::stage("infer");
        self.is_over = self.may_ask_at_once(passive) && self.all_at_once(passive);
        self.end(passive);
    }

    fn may_ask_at_once(&self, passive: &Passive) -> bool {
        let most = if assumes_products(passive) { 1 } else { 2 };
        let apart = passive.loops.len() > most || self.open_checks(passive).count() > LARGE;
        !multiplies(passive) && !apart
    }

    /// The same search among few of the candidates in the first encoding, for so much effort.
    pub(crate) fn among(&self, few: &[bool], effort: Effort) -> Self {
        let (encodings, budget) = (vec![self.start.encodings[0]], self.budget.part(effort));
        let mut search = Search { encodings, budget, is_over: false, ..self.clone() };
        for (fate, _) in search.fates.iter_mut().zip(few).filter(|(fate, few)| **fate == Fate::Kept && !**few) {
            *fate = Fate::Undecided(self.iteration);
        }
        search
    }

    /// What is kept now.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome { fates: self.fates.clone(), encodings: self.encodings.clone(), iterations: self.iteration }
    }

    /// Nothing is kept: the proof needed no invariant.
    pub(crate) fn nothing(&self) -> Outcome {
        let undecided = |fate: &Fate| match fate {
            Fate::Kept => Fate::Undecided(self.iteration),
            fate => fate.clone(),
        };
        Outcome { fates: self.fates.iter().map(undecided).collect(), ..self.outcome() }
    }

    fn open_checks(&self, passive: &Passive) -> impl Iterator<Item = usize> {
        let open = |c: Option<usize>| c.is_some_and(|c| self.fates[c] == Fate::Kept && !self.start.known[c]);
        (0..passive.checks.len()).filter(move |&i| open(passive.checks[i].candidate))
    }

    /// Executions from the start refute what is simply false before any proof is tried.
    fn test(&mut self, passive: &mut Passive, watch: &Watch) {
        // Where there are only probes, an execution answers.
        let asks = passive.checks.iter().any(|check| check.claim.probe().is_none());
        // Where unknowns are multiplied, which facts about products are found depends on the order of terms.
        if asks && !multiplies(passive) {
            query::encode_start(passive, self.start.encodings[0], &simulate::model_terms);
        }
        if self.open_checks(passive).next().is_none() {
            return;
        }
        if let Some(model) = self.first_state(passive) {
            let mut simulation = self.simulation(passive, &model);
            let begin = Instant::now();
            simulation.execute_watching(watch);
            let failing = simulation.failing;
            log::debug!("executions refute {} checks, after {} ms", failing.len(), begin.elapsed().as_millis());
            self.drop_failing(passive, &failing);
        }
    }

    /// A state in which the program starts: one that is guessed, or else the solver's.
    fn first_state(&self, passive: &mut Passive) -> Option<Model> {
        let (reads, encoding) = (&simulate::model_terms, self.start.encodings[0]);
        start::find(passive).or_else(|| query::start(passive, reads, encoding, EFFORT, self.budget))
    }

    /// Asks for the checks of all loops in one query: a model that refutes something is easy to find
    /// while many candidates are wrong. False when a query had no answer.
    fn all_at_once(&mut self, passive: &mut Passive) -> bool {
        loop {
            self.iteration += 1;
            let open: BTreeSet<usize> = self.open_checks(passive).collect();
            match self.answer(passive, &open, if passive.loops.len() > 1 { TOGETHER } else { EFFORT }) {
                Reply::Proved => return true,
                Reply::Refuted(model) if self.drop_failing(passive, &model.failing) => {}
                _ => return false,
            }
        }
    }

    /// Asks for the checks of each loop apart, and again where facts that they rely on are gone.
    fn loop_by_loop(&mut self, passive: &mut Passive) {
        let begin = Instant::now();
        let tasks = tasks(passive, self.start.remainders.is_some());
        let dependents = dependents(passive, &tasks, self.fates.len());
        let mut open: BTreeSet<Task> = tasks.iter().flatten().copied().collect();
        let mut asked = 0;
        while let Some(task) = open.pop_first() {
            self.iteration += 1;
            asked += 1;
            let before = self.fates.clone();
            let checks = self.open_checks(passive).filter(|&check| tasks[check] == Some(task)).collect();
            self.ask_for(passive, task.number, checks);
            let fates = self.fates.iter().zip(&before).enumerate();
            let dropped = fates.filter(|(_, (now, before))| now != before).map(|(candidate, _)| candidate);
            open.extend(dropped.flat_map(|candidate| &dependents[candidate]));
        }
        let (loops, time) = (passive.loops.len(), begin.elapsed().as_millis());
        log::debug!("houdini: {loops} loops, asked for {asked} times, {time} ms");
    }

    /// Asks for some checks of a loop.
    fn ask_for(&mut self, passive: &mut Passive, number: usize, checks: BTreeSet<usize>) {
        let is_round =
            |i: &usize| passive.checks[*i].kind == CheckKind::Maintenance(number) && !self.global.contains(i);
        let (rounds, mut left): (BTreeSet<usize>, BTreeSet<usize>) = checks.into_iter().partition(is_round);
        let global = self.not_local(passive, number, rounds);
        left.extend(&global);
        self.global.extend(global);
        if multiplies(passive) {
            left = self.doubtful(passive, left, From::Start);
        }
        self.refute(passive, left);
    }

    /// The checks of a round that do not follow from the invariants of the loop alone. Whatever
    /// happened before the loop is a larger question, and mostly of no matter.
    fn not_local(&mut self, passive: &mut Passive, number: usize, checks: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut are_doubtful = multiplies(passive);
        let mut local = if are_doubtful { self.doubtful(passive, checks, From::Head(number)) } else { checks };
        local = self.by_sums_and_bits(passive, local, number);
        let mut left = BTreeSet::new();
        while !local.is_empty() {
            log::debug!("houdini, loop {number}: {} checks of a round", local.len());
            let reply = self.query(passive, From::Head(number), &local).ask(self.budget);
            match reply {
                Reply::Proved => break,
                Reply::Refuted(Model { failing, .. }) if !failing.is_empty() => {
                    local.retain(|check| !failing.contains(check));
                    left.extend(failing);
                }
                _ if !are_doubtful => {
                    are_doubtful = true;
                    local = self.doubtful(passive, local, From::Head(number));
                }
                _ => left.append(&mut local),
            }
        }
        left
    }

    /// The checks that do not hold whatever the products of unknowns are, from the head of a loop or from the start;
    /// all of them if the solver does not say, or nothing is multiplied. Most checks are not about products, and
    /// soon proved where the others are not in the way.
    fn doubtful(&self, passive: &mut Passive, open: BTreeSet<usize>, from: From) -> BTreeSet<usize> {
        let mut doubtful = BTreeSet::new();
        let mut parts = vec![open];
        while let Some(mut open) = parts.pop() {
            while !open.is_empty() {
                let mut query = Query { most: EFFORT * 4, ..self.query(passive, from, &open) };
                match query.ask_opaque(self.budget) {
                    None => {
                        doubtful.append(&mut open);
                        parts.drain(..).for_each(|mut part| doubtful.append(&mut part));
                    }
                    Some(Reply::Proved) => break,
                    Some(Reply::Refuted(Model { failing, .. })) if !failing.is_empty() => {
                        open.retain(|check| !failing.contains(check));
                        doubtful.extend(failing);
                    }
                    Some(_) if open.len() <= SMALL => doubtful.append(&mut open),
                    Some(_) => {
                        let middle = open.iter().nth(open.len() / 2).copied().unwrap_or_default();
                        parts.push(open.split_off(&middle));
                    }
                }
            }
        }
        doubtful
    }

    /// The checks of a round that are proved neither over integers without what is known of low bits nor, where they are about
    /// those, over bit-vectors.
    fn by_sums_and_bits(&self, passive: &mut Passive, checks: BTreeSet<usize>, number: usize) -> BTreeSet<usize> {
        let has_both = [Encoding::Integers, Encoding::BitVectors].iter().all(|one| self.encodings.contains(one));
        let Some(remainders) = self.start.remainders.as_ref().filter(|_| has_both) else { return checks };
        let by_sums =
            |query: Query| Query { encoding: Encoding::Integers, ..query }.without(remainders).ask(self.budget);
        let left = self.left(passive, checks, From::Head(number), by_sums);
        let is_remainder = |check: &usize| passive.checks[*check].candidate.is_some_and(|c| remainders[c]);
        let (of_bits, mut left): (BTreeSet<usize>, BTreeSet<usize>) = left.into_iter().partition(is_remainder);
        let by_bits = |query: Query| Query { encoding: Encoding::BitVectors, ..query }.ask(self.budget);
        left.extend(self.left(passive, of_bits, From::Head(number), by_bits));
        left
    }

    /// The checks that are not proved in a way to ask.
    fn left(
        &self,
        passive: &mut Passive,
        mut open: BTreeSet<usize>,
        from: From,
        ask: impl Fn(Query) -> Reply,
    ) -> BTreeSet<usize> {
        let mut left = BTreeSet::new();
        while !open.is_empty() {
            match ask(self.query(passive, from, &open)) {
                Reply::Proved => break,
                Reply::Refuted(Model { failing, .. }) if !failing.is_empty() => {
                    open.retain(|check| !failing.contains(check));
                    left.extend(failing);
                }
                _ => left.append(&mut open),
            }
        }
        left
    }

    /// A query under what is kept so far.
    fn query<'q>(&self, program: &'q mut Passive, from: From, goal: &'q BTreeSet<usize>) -> Query<'q> {
        let keep = self.fates.iter().map(|fate| *fate == Fate::Kept).collect();
        let rely = (0..program.checks.len()).map(self.start.relied).collect();
        let encoding = self.encodings[0];
        Query { program, from, goal, keep, rely, except: &[], reads: &query::nothing, encoding, most: EFFORT }
    }

    /// Asks for checks at once, and for each apart where that has no answer: shortly first, then with
    /// more patience for those that need it.
    fn refute(&mut self, passive: &mut Passive, mut open: BTreeSet<usize>) {
        while !open.is_empty() {
            match self.answer(passive, &open, EFFORT) {
                Reply::Proved => return,
                Reply::Refuted(model) if self.drop_failing(passive, &model.failing) => {}
                _ => break,
            }
            let still_open: BTreeSet<usize> = self.open_checks(passive).collect();
            open.retain(|check| still_open.contains(check));
        }
        for effort in [SHORT_EFFORT, EFFORT] {
            for check in std::mem::take(&mut open) {
                if self.open_checks(passive).all(|c| c != check) {
                    continue;
                }
                if self.budget.is_over() {
                    self.drop(passive, check, false);
                    continue;
                }
                match self.answer(passive, &BTreeSet::from([check]), effort) {
                    Reply::Proved => {}
                    Reply::Refuted(model) if self.drop_failing(passive, &model.failing) => {}
                    _ if effort == SHORT_EFFORT => {
                        open.insert(check);
                    }
                    _ => self.drop(passive, check, false),
                }
            }
        }
    }

    /// Asks in the encoding that answered last, then in the other.
    fn answer(&mut self, passive: &mut Passive, open: &BTreeSet<usize>, effort: Effort) -> Reply {
        log::debug!("houdini, iteration {}: {} checks", self.iteration, open.len());
        let mut reply = Reply::Unknown("no encoding was given".into());
        for tried in 0..self.encodings.len() {
            reply = self.ask(passive, open, self.encodings[tried], effort);
            if !matches!(reply, Reply::Unknown(_)) {
                self.encodings[..=tried].rotate_right(1);
                break;
            }
        }
        reply
    }

    /// Drops the candidates of failing checks; false when none was kept until now.
    fn drop_failing(&mut self, passive: &Passive, failing: &BTreeSet<usize>) -> bool {
        let open: BTreeSet<usize> = self.open_checks(passive).collect();
        let failing: Vec<usize> = failing.intersection(&open).copied().collect();
        failing.iter().for_each(|&check| self.drop(passive, check, true));
        !failing.is_empty()
    }

    /// Asks, and runs on from the model.
    fn ask(&mut self, passive: &mut Passive, checks: &BTreeSet<usize>, encoding: Encoding, most: Effort) -> Reply {
        let query = self.query(passive, From::Start, checks);
        let mut reply = Query { encoding, most, reads: &simulate::model_terms, ..query }.ask(self.budget);
        if let Reply::Refuted(model) = &mut reply {
            let mut simulation = self.simulation(passive, model);
            simulation.follow_model();
            model.failing.extend(simulation.failing);
        }
        reply
    }

    /// A simulation that starts from the values of a model.
    fn simulation<'p>(&'p self, passive: &'p Passive, model: &Model) -> Simulation<'p> {
        let kept = self.fates.iter().map(|f| *f == Fate::Kept).collect();
        let mut simulation = Simulation::new((passive, &self.steps), kept, self.start.relied, ROUNDS);
        simulation.load(&model.terms, &model.values);
        simulation
    }

    fn drop(&mut self, passive: &Passive, check: usize, refuted: bool) {
        let Some(candidate) = passive.checks[check].candidate else { return };
        if self.fates[candidate] != Fate::Kept {
            return;
        }
        let fate = match (&passive.checks[check].kind, refuted) {
            (_, false) => Fate::Undecided(self.iteration),
            (CheckKind::Entry(_), _) => Fate::RefutedOnEntry(self.iteration),
            _ => Fate::RefutedAfterRound(self.iteration),
        };
        let twin = self.start.twins[candidate];
        for dropped in [candidate, twin] {
            if !self.start.known[dropped] && self.fates[dropped] == Fate::Kept {
                self.fates[dropped] = fate.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ivl::ast::{Attribute, Program, StmtKind};
    use crate::ivl::attributes::Attributes;
    use crate::ivl::claim::{Claim, Inferred, Premise};
    use crate::vcgen::passify;

    /// No text has candidates, but for that of tests.
    fn mark_candidates(program: &mut Program) {
        let blocks = program.procedures.iter_mut().flat_map(|p| &mut p.body).flat_map(|body| &mut body.blocks);
        for stmt in blocks.flat_map(|block| &mut block.stmts) {
            let Some(number) = stmt.attributes.named("candidate").and_then(Attribute::number) else { continue };
            let inferred = Inferred::Candidate("test", number as usize);
            match &mut stmt.kind {
                StmtKind::Assert(claim, _) => *claim = Claim::Inferred(inferred),
                StmtKind::Assume(premise, _) => *premise = Premise::Witness(Some(inferred)),
                other => panic!("infer: {other:?} is marked"),
            }
        }
    }

    /// A place far in front of a loop may assume its candidates, as the witness of a loop around does.
    /// What was proved with their help is asked again when they fall.
    #[test]
    fn what_relied_on_a_dropped_candidate_falls_too() {
        let text = "
            procedure main()
            {
              var y, z: bv2;
            Start:
              assume {:candidate \"second\", 1} z == 0bv2;
              goto First;
            First:
              assert {:candidate \"first\", 0} z == 0bv2;
              goto Back, Between;
            Back:
              goto First;
            Between:
              havoc y;
              goto Second;
            Second:
              assert {:candidate \"second\", 1} y == 0bv2;
              goto Again, End;
            Again:
              goto Second;
            End:
              return;
            }";
        let mut program = crate::ivl::parse(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        mark_candidates(&mut program);
        let main = &program.procedures[0];
        let mut passive = passify::run(&program, main).unwrap_or_else(|error| panic!("{error:?}"));
        let start = Start {
            known: vec![false; 2],
            twins: vec![0, 1],
            relied: &|_| false,
            remainders: None,
            encodings: &[Encoding::BitVectors],
            budget: Budget::new(Effort::seconds(20)),
            log: &Log::default(),
        };
        let mut search = Search {
            fates: vec![Fate::Kept; 2],
            encodings: start.encodings.to_vec(),
            start: &start,
            budget: start.budget,
            steps: Rc::new(Steps::new(&passive, &[])),
            is_over: false,
            global: BTreeSet::new(),
            iteration: 0,
        };
        search.loop_by_loop(&mut passive);
        assert!(search.fates.iter().all(|fate| *fate != Fate::Kept), "{:?}", search.fates);
    }
}
