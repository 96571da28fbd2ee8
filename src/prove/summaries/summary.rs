//! What is known of the loops that are summarised.
//!
//! Input: a two-thread program with the candidates that are about registers alone. Output: [`Summary`], and with the candidates that were
//! kept the summarised program. Establishes: what is said in the module's header. Relies on: the layout of `predicate`.
//! Reference: [`super`].

use super::locality::Locality;
use super::rename::of;
use super::writer::{Rounds, Writer};
use crate::infer::Annotated;
use crate::infer::candidates::Candidate;
use crate::infer::ghosts::LoopGhosts;
use crate::infer::houdini::{Fate, Outcome};
use crate::ivl;
use crate::ivl::ast::{
    BinaryOp, Block, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Thread, Transfer, Type, Variable,
};
use crate::ivl::bv;
use crate::ivl::claim::Claim;
use crate::ivl::visit::{assigned, children, free_vars, substitute, without_spans};
use crate::prove::few_rounds;
use crate::twothread::TwoThread;
use crate::vcgen::passive::Passive;
use std::collections::{BTreeMap, BTreeSet};

/// Statements of a program that is still looked at.
const MOST_STATEMENTS: usize = 6_000;
/// Families about threads that have left a loop.
const OF_OTHERS: &[&str] = &["affine-left", "exit-test-left"];
/// Families about how far a register gets.
const BOUNDS: &[&str] = &["loop-bound", "non-negative"];
/// Families about what a register was in front of a loop, or how far it gets.
const OF_PLACES: &[&str] = &["affine", "loop-bound", "non-negative"];

/// What may be an invariant about thread 1 while it is in a loop; of thread 2 holds the same.
pub(super) struct Invariant {
    pub(super) family: &'static str,
    pub(super) in_loop: usize,
    pub(super) expr: ExprRef,
}

impl Invariant {
    pub(super) fn of(&self, thread: Thread) -> ExprRef {
        of(&self.expr, thread)
    }
}

/// What is known before the search for invariants.
pub(super) struct Summary<'a> {
    two: &'a TwoThread,
    /// The program with ghosts.
    pub(super) body: &'a Implementation,
    pub(super) loops: &'a [LoopGhosts],
    pub(super) types: BTreeMap<Name, Type>,
    /// Variables of the program proper.
    pub(super) proper: BTreeSet<Name>,
    pub(super) locality: Locality,
    /// The blocks of each loop: of the head and of the back edge.
    pub(super) places: Vec<(usize, usize)>,
    /// Those candidates that are about one thread in its loop.
    pub(super) invariants: Vec<Invariant>,
    /// For each loop, a register of thread 1 with its value at the head of the last round, if that is known.
    pub(super) last: Vec<Option<(Name, u128)>>,
    /// For each loop, registers of thread 1 that move by a number from round to round.
    pub(super) steps: Vec<BTreeMap<Name, u128>>,
}

impl<'a> Summary<'a> {
    /// `None` where no loop has accesses, or one of them cannot be summarised.
    pub(super) fn of(two: &'a TwoThread, annotated: &'a Annotated) -> Option<Self> {
        let procedure = annotated.ghosted.procedures.iter().find(|procedure| procedure.name == two.procedure)?;
        let (body, loops) = (procedure.body.as_ref()?, annotated.loops.as_slice());
        let proper: BTreeSet<Name> = two.implementation().locals.iter().map(|local| local.name.clone()).collect();
        let locality = Locality::of(&annotated.ghosted, procedure);
        let types = body.locals.iter().map(|local| (local.name.clone(), local.ty.clone())).collect();
        let place = |label: &Name| body.blocks.iter().position(|block| block.label == *label);
        let places: Option<Vec<(usize, usize)>> =
            loops.iter().map(|info| Some((place(&info.head)?, place(&info.back)?))).collect();
        let mut summary = Summary {
            two,
            body,
            loops,
            types,
            proper,
            locality,
            places: places?,
            invariants: Vec::new(),
            last: Vec::new(),
            steps: Vec::new(),
        };
        let is_access = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Check(_));
        let has_accesses = (0..loops.len()).any(|number| summary.stmts(number).any(is_access));
        if !has_accesses || !(0..loops.len()).all(|number| summary.is_suitable(number)) {
            return None;
        }
        let candidates = annotated.candidates.iter();
        summary.invariants = candidates.filter_map(|one| summary.invariant(one)).collect();
        summary.leave_out_bounds_of_products();
        Some(summary)
    }

    /// The statements of a loop.
    pub(super) fn stmts(&self, number: usize) -> impl Iterator<Item = &'a Stmt> {
        let (head, back) = self.places[number];
        self.body.blocks[head..=back].iter().flat_map(|block| &block.stmts)
    }

    /// Whether every statement of a loop is about one thread.
    fn is_suitable(&self, number: usize) -> bool {
        let (head, back) = self.places[number];
        self.stmts(number).all(|stmt| self.is_ghost(stmt) || is_probe(stmt) || self.locality.allows(stmt))
            && self.ghosts(number).all(|stmt| self.locality.is_local_assignment(stmt))
            && head < back
            && (head..=back).all(|block| self.is_laid_out(block))
    }

    /// Whether control goes from a block to the next one, or around a loop as it should.
    fn is_laid_out(&self, at: usize) -> bool {
        let label = |block: usize| self.body.blocks.get(block).map(|block| &block.label);
        let Transfer::Goto(targets) = &self.body.blocks[at].transfer else { return false };
        let back = self.loops.iter().find(|info| label(at) == Some(&info.back));
        match (targets.as_slice(), back) {
            ([head], Some(info)) => info.head == *head && label(at + 1) == Some(&info.exit),
            ([next], None) => label(at + 1) == Some(next),
            ([back, exit], None) => {
                label(at + 1) == Some(back) && self.loops.iter().any(|info| info.back == *back && info.exit == *exit)
            }
            _ => false,
        }
    }

    /// Whether a statement assigns a ghost.
    pub(super) fn is_ghost(&self, stmt: &Stmt) -> bool {
        matches!(stmt.kind, StmtKind::Assign(_)) && assigned(stmt).iter().all(|name| !self.proper.contains(name))
    }

    /// The statements of a loop that assign ghosts of one thread.
    fn ghosts(&self, number: usize) -> impl Iterator<Item = &'a Stmt> {
        self.stmts(number)
            .filter(|stmt| self.is_ghost(stmt) && assigned(stmt).iter().any(|name| name.thread().is_some()))
    }

    /// A candidate about thread 1, as it is while this thread is in the loop: the counter of the loop is its own.
    fn invariant(&self, candidate: &Candidate) -> Option<Invariant> {
        let Candidate { family, in_loop, ref expr } = *candidate;
        if OF_OTHERS.contains(&family) {
            return None;
        }
        let ghosts = &self.loops[in_loop];
        let (_, head) = ghosts.head_literal();
        let known = BTreeMap::from([
            (ghosts.k.clone(), ghosts.own_counter(Thread::First)),
            (ghosts.v_active.of(Thread::First), head.clone()),
            (ghosts.active_at_entry(Thread::First), head),
        ]);
        let expr = given(&substitute(expr, &known));
        let says_something = self.locality.is_about(&expr, Thread::First) && !is_true(&expr);
        says_something.then_some(Invariant { family, in_loop, expr })
    }

    /// The invariants as formulas that hold whenever control comes to a head.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let candidate = |one: &Invariant| {
            let expr = bv::implies(self.is_in_loop(one.in_loop), one.expr.clone());
            Candidate { family: one.family, in_loop: one.in_loop, expr }
        };
        self.invariants.iter().map(candidate).collect()
    }

    /// Whether thread 1 is in a loop, at its head or where a round ends.
    pub(super) fn is_in_loop(&self, number: usize) -> ExprRef {
        let ghosts = &self.loops[number];
        let (ty, head) = ghosts.head_literal();
        bv::eq(bv::var(ghosts.v_active.of(Thread::First), ty), head)
    }

    /// How far a register gets whose places are products of unknowns is a hard question, and seldom needed.
    fn leave_out_bounds_of_products(&mut self) {
        let mut multiplied = BTreeSet::new();
        for invariant in self.invariants.iter().filter(|one| multiplies(&one.expr)) {
            let registers = free_vars(&invariant.expr).into_iter().filter(|name| self.proper.contains(name));
            multiplied.extend(registers.map(|name| (invariant.in_loop, name)));
        }
        self.invariants.retain(|one| {
            let mut names = free_vars(&one.expr).into_iter();
            !BOUNDS.contains(&one.family) || !names.any(|name| multiplied.contains(&(one.in_loop, name)))
        });
    }

    /// How the registers move, from a program without candidates, and what need not be asked then: wide ones that move by a
    /// number are mostly places, of which it is enough to know the round.
    pub(super) fn learn_steps(&mut self, passive: &mut Passive) {
        self.last = self.loops.iter().map(|ghosts| few_rounds::last_value(passive, ghosts)).collect();
        let steps = self.loops.iter().map(|ghosts| few_rounds::steps(passive, ghosts).unwrap_or_default());
        self.steps = steps.collect();
        let is_narrow = |types: &BTreeMap<Name, Type>, name: &Name| matches!(types.get(name), Some(Type::Bv(..=32)));
        let counted: Vec<bool> =
            self.steps.iter().map(|of| of.keys().any(|name| is_narrow(&self.types, name))).collect();
        let (types, proper, steps) = (&self.types, &self.proper, &self.steps);
        self.invariants.retain(|one| {
            let is_place = |name: &Name| steps[one.in_loop].contains_key(name) && !is_narrow(types, name);
            let is_left_out = counted[one.in_loop] && OF_PLACES.contains(&one.family);
            !is_left_out || !free_vars(&one.expr).iter().any(|name| proper.contains(name) && is_place(name))
        });
    }

    /// The program without its loops; `None` if it is large.
    pub(super) fn write(&self, kept: &Outcome) -> Option<TwoThread> {
        let invariants = self.invariants.iter().zip(&kept.fates).filter(|(_, fate)| **fate == Fate::Kept);
        let invariants: Vec<&Invariant> = invariants.map(|(one, _)| one).collect();
        let writer = Writer { summary: self, needed: self.needed(&invariants), invariants };
        let (mut blocks, mut at, mut statements): (Vec<Block>, _, _) = (Vec::new(), 0, 0);
        while let Some(block) = self.body.blocks.get(at) {
            let outermost = (0..self.loops.len()).find(|&number| self.places[number].0 == at);
            let block = match outermost {
                None => Block {
                    stmts: block.stmts.iter().filter(|stmt| writer.stays(stmt)).cloned().collect(),
                    ..block.clone()
                },
                Some(number) => {
                    at = self.places[number].1;
                    let transfer = Transfer::Goto(vec![self.loops[number].exit.clone()]);
                    let mut stmts = Vec::new();
                    writer.write(number, Rounds::AnyAndLast, &mut stmts);
                    Block { stmts, transfer, ..block.clone() }
                }
            };
            at += 1;
            statements += block.stmts.len();
            if statements > MOST_STATEMENTS {
                return None;
            }
            blocks.push(block);
        }
        Some(self.with(writer.declared(), blocks))
    }

    /// The two-thread program with other blocks, which have no loops.
    fn with(&self, declared: Vec<Variable>, blocks: Vec<Block>) -> TwoThread {
        let mut written = TwoThread { loops: Vec::new(), ..self.two.clone() };
        let procedures = written.program.procedures.iter_mut().filter(|one| one.name == self.two.procedure);
        if let Some(body) = procedures.filter_map(|procedure| procedure.body.as_mut()).next() {
            body.blocks = blocks;
            body.locals.extend(declared);
        }
        ivl::check_stage(&written.program, "prove");
        written
    }

    /// The ghosts that invariants mention, and those on which they depend.
    fn needed(&self, invariants: &[&Invariant]) -> BTreeSet<Name> {
        let ghosts = |names: BTreeSet<Name>| {
            names.into_iter().filter(|name| self.types.contains_key(name) && !self.proper.contains(name))
        };
        let mut needed = BTreeSet::new();
        let mut waiting: Vec<Name> = invariants
            .iter()
            .flat_map(|one| Thread::BOTH.map(|thread| ghosts(free_vars(&one.of(thread))).collect::<Vec<_>>()).concat())
            .collect();
        while let Some(name) = waiting.pop() {
            if !needed.insert(name.clone()) {
                continue;
            }
            for stmt in self.body.blocks.iter().flat_map(|block| &block.stmts) {
                let StmtKind::Assign(pairs) = &stmt.kind else { continue };
                let values = pairs.iter().filter(|(target, _)| *target == name);
                waiting.extend(values.flat_map(|(_, value)| ghosts(free_vars(value))));
            }
        }
        needed
    }
}

/// Whether an expression has a product of unknowns.
pub(in crate::prove) fn multiplies(expr: &ExprRef) -> bool {
    let is_product = match &expr.kind {
        ExprKind::Binary(BinaryOp::Mul, a, b) => [a, b].iter().all(|factor| !matches!(factor.kind, ExprKind::Int(_))),
        _ => false,
    };
    is_product || children(expr).into_iter().any(multiplies)
}

pub(super) fn is_probe(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Assert(Claim::Probe(..), _))
}

/// A formula without premises that are true of a thread in the loop.
fn given(formula: &ExprRef) -> ExprRef {
    match &formula.kind {
        ExprKind::Binary(BinaryOp::Implies, premise, conclusion) if is_true(premise) => given(conclusion),
        _ => formula.clone(),
    }
}

/// Whether a formula is true at a glance.
pub(super) fn is_true(formula: &ExprRef) -> bool {
    match &formula.kind {
        ExprKind::Bool(value) => *value,
        ExprKind::Binary(BinaryOp::Or, a, b) => is_true(a) || is_true(b),
        ExprKind::Binary(BinaryOp::And, a, b) => is_true(a) && is_true(b),
        ExprKind::Binary(BinaryOp::Implies, _, b) => is_true(b),
        ExprKind::Binary(BinaryOp::Eq | BinaryOp::Le, a, b) => without_spans(a) == without_spans(b),
        _ => false,
    }
}
