//! Stage 6, `infer`: loop invariants by Houdini.
//!
//! Input: a two-thread program. Output: the same with ghost code ([`ghosts`]), candidate invariants
//! at the loop heads ([`candidates`]) and, behind them, the witness of the pending access
//! ([`witness`]); then, by [`houdini`], which candidates are inductive.
//! Establishes: kept invariants are asserts that lead the head blocks; they are proved on entry and
//! after each round under themselves alone.
//! Reference: tutorial section 4; proof-notes, lessons 1 to 3 and 9.

pub mod candidates;
pub(crate) mod ghosts;
pub mod houdini;
mod origins;
pub(crate) mod reify;
mod sightings;
pub(crate) mod simulate;
pub(crate) mod start;
pub(crate) mod walks;
pub(crate) mod witness;

use crate::diagnostic::Diagnostic;
use crate::ivl;
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, Procedure, Program, Stmt, StmtKind, Thread, Transfer, Type};
use crate::ivl::bv;
use crate::ivl::claim::{Claim, Inferred, Premise, Probe};
use crate::ivl::visit::{self, Visitor};
use crate::order::Order;
use crate::solver::Encoding;
use crate::span::Span;
use crate::twothread::TwoThread;
use crate::vcgen::passify;
use crate::vcgen::passive::Passive;
use crate::{limits, stats};
use candidates::Candidate;
use ghosts::LoopGhosts;
use std::collections::BTreeMap;
use walks::Walk;

/// A two-thread program with candidates in place.
pub struct Annotated {
    pub(crate) program: Program,
    /// The same with ghosts and probes alone.
    pub(crate) ghosted: Program,
    /// The procedure to verify.
    pub(crate) procedure: Name,
    /// The candidates; the number in `{:candidate}` indexes this.
    pub candidates: Vec<Candidate>,
    /// Loops with their ghosts.
    pub loops: Vec<LoopGhosts>,
}

impl Annotated {
    /// Where some loop goes on where another one ended, with several of its rounds at once: of each candidate, whether it is
    /// about low bits, which over integers are remainders.
    pub(crate) fn remainders(&self) -> Option<Vec<bool>> {
        let are_split = self.candidates.iter().any(|candidate| candidate.family == candidates::OF_SPLIT_LOOPS);
        are_split.then(|| self.candidates.iter().map(|candidate| has_remainder(&candidate.expr)).collect())
    }
}

/// Whether an expression takes a remainder or some of the bits of a value.
fn has_remainder(e: &ExprRef) -> bool {
    struct Find(bool);
    impl Visitor for Find {
        fn expr(&mut self, e: &ExprRef) {
            self.0 |= matches!(e.kind, ExprKind::Extract { .. } | ExprKind::Binary(BinaryOp::Mod, ..));
            visit::walk_expr(self, e);
        }
    }
    let mut find = Find(false);
    find.expr(e);
    find.0
}

/// Adds ghosts, candidates and witnesses.
///
/// `uniform_barriers`: every barrier of the program asserts that both threads arrive or none. `omitted`:
/// families without which it is to be tried, by [`candidates::names`].
///
/// # Errors
/// What `vcgen` cannot translate.
pub(crate) fn annotate(
    two: &TwoThread,
    uniform_barriers: bool,
    encoding: Encoding,
    omitted: &[&'static str],
) -> Result<Annotated, Diagnostic> {
    let _stage = limits::stage("infer");
    let mut program = two.program.clone();
    let body = program.procedures.iter().find(|p| p.name == two.procedure).and_then(|p| p.body.as_ref());
    let blocks = body.map(|b| b.blocks.as_slice()).unwrap_or_default();
    let loops: Vec<LoopGhosts> = two.loops.iter().map(|l| LoopGhosts::new(l, &two.active, blocks)).collect();
    with_procedure(&mut program, &two.procedure, |p| ghosts::insert(p, &loops));
    with_procedure(&mut program, &two.procedure, |p| insert_probes(p, &loops));
    let barriers: Vec<bool> = loops.iter().map(|l| has_barrier(&program, &two.procedure, l)).collect();
    let (mut found, mut ghosted) = (Vec::new(), program.clone());
    if !loops.is_empty() {
        let mut passive = passive_of(&program, &two.procedure)?;
        let mut walks = Vec::new();
        if !omitted.contains(&"steps") && walks::may_exist(&mut passive) {
            walks = find_walks(two, &program, &loops)?;
            with_procedure(&mut program, &two.procedure, |p| walks.iter().for_each(|w| walks::insert(p, w, &loops)));
            passive = passive_of(&program, &two.procedure)?;
        }
        let (list, snapshots) = candidates::find(&mut passive, &loops, &walks, two, &barriers, encoding, omitted);
        stats::count_candidates(list.len() as u64);
        found = list;
        for (ghosts, mut wanted) in loops.iter().zip(snapshots) {
            wanted.extend(two.log.flags().chain(two.log.records()).cloned());
            let types = types(&program, &two.procedure);
            let typed: Vec<(Name, Type)> =
                wanted.into_iter().filter_map(|n| types.get(&n).cloned().map(|t| (n, t))).collect();
            with_procedure(&mut program, &two.procedure, |p| ghosts::insert_snapshots(p, ghosts, &typed));
        }
        ghosted = program.clone();
        with_procedure(&mut program, &two.procedure, |p| place(p, &loops, &found));
        let (flags, records): (Vec<Name>, Vec<Name>) =
            (two.log.flags().cloned().collect(), two.log.records().cloned().collect());
        // Inner loops first: the copy of an outer body holds the witnesses of its inner loops.
        for index in (0..loops.len()).rev() {
            let covered = |p: &Procedure| p.name == two.procedure && walks::covers(&walks, p, index, &loops[index]);
            if program.procedures.iter().any(covered) {
                continue;
            }
            let types = types(&program, &two.procedure);
            let snapshot = program.clone();
            let context = witness::Context {
                program: &snapshot,
                loops: &loops,
                flags: &flags,
                records: &records,
                types,
                uniform_barriers,
            };
            with_procedure(&mut program, &two.procedure, |p| witness::insert(p, &context, index));
        }
    }
    ivl::check_stage(&program, "infer");
    Ok(Annotated { program, ghosted, procedure: two.procedure.clone(), candidates: found, loops })
}

/// The walks of the registers of a program.
fn find_walks(two: &TwoThread, program: &Program, loops: &[LoopGhosts]) -> Result<Vec<Walk>, Diagnostic> {
    let Some(procedure) = program.procedures.iter().find(|p| p.name == two.procedure) else { return Ok(Vec::new()) };
    let mut observed = program.clone();
    with_procedure(&mut observed, &two.procedure, |p| *p = walks::with_offsets(p));
    let mut passive = passive_of(&observed, &two.procedure)?;
    Ok(walks::find(&mut passive, procedure, loops))
}

/// The passive program of an annotated one.
///
/// # Errors
/// What `vcgen` cannot translate.
pub(crate) fn passive_of(program: &Program, procedure: &Name) -> Result<Passive, Diagnostic> {
    match program.procedures.iter().find(|p| p.name == *procedure) {
        Some(found) => passify::run(program, found),
        None => Err(Diagnostic::error("no-procedure", format!("no procedure `{procedure}`"), Span::NONE)),
    }
}

/// The annotated program with the kept invariants only; `{:used}` marks those that `is_used` selects.
pub(crate) fn with_kept(
    annotated: &Annotated,
    keep: &dyn Fn(usize) -> bool,
    is_used: &dyn Fn(usize) -> bool,
) -> Program {
    let mut program = annotated.program.clone();
    with_procedure(&mut program, &annotated.procedure, |procedure| {
        for block in procedure.body.iter_mut().flat_map(|b| &mut b.blocks) {
            block.stmts.retain_mut(|stmt| is_left(stmt, keep, is_used));
        }
    });
    program
}

/// Whether a statement is left when Houdini is done; candidates that are become invariants.
fn is_left(stmt: &mut Stmt, keep: &dyn Fn(usize) -> bool, is_used: &dyn Fn(usize) -> bool) -> bool {
    let inferred = match &mut stmt.kind {
        StmtKind::Assert(Claim::Probe(..), _) => return false,
        StmtKind::Assert(Claim::Inferred(inferred), _) => inferred,
        StmtKind::Assume(Premise::Witness(Some(inferred)), _) => inferred,
        _ => return true,
    };
    let Inferred::Candidate(family, number) = *inferred else { return true };
    *inferred = Inferred::Kept(family, is_used(number));
    keep(number)
}

fn with_procedure(program: &mut Program, name: &Name, change: impl FnOnce(&mut Procedure)) {
    if let Some(procedure) = program.procedures.iter_mut().find(|p| p.name == *name) {
        change(procedure);
    }
}

/// Candidates as asserts that lead the head blocks.
fn place(procedure: &mut Procedure, loops: &[LoopGhosts], candidates: &[Candidate]) {
    for (index, ghosts) in loops.iter().enumerate() {
        let mut stmts = Vec::new();
        for (number, candidate) in candidates.iter().enumerate().filter(|(_, c)| c.in_loop == index) {
            let claim = Claim::Inferred(Inferred::Candidate(candidate.family, number));
            stmts.push(ghosts::statement(StmtKind::Assert(claim, candidate.expr.clone())));
        }
        if let Some(head) = ghosts::block_mut(procedure, &ghosts.head) {
            head.stmts.splice(0..0, stmts);
        }
    }
}

/// Adds the probes of all loops and of the end.
fn insert_probes(procedure: &mut Procedure, loops: &[LoopGhosts]) {
    for (index, ghosts) in loops.iter().enumerate() {
        let (ty, head) = ghosts.head_literal();
        let places = [
            (Probe::Exit, &ghosts.exit, ghosts.active_at_entry(Thread::First)),
            (Probe::Entry, &ghosts.entry, ghosts.v_active.of(Thread::First)),
        ];
        for (probe, label, v_active) in places {
            let entered = bv::eq(bv::var(v_active, ty.clone()), head.clone());
            if let Some(block) = ghosts::block_mut(procedure, label) {
                block.stmts.push(probe_statement(probe, index, bv::not(entered)));
            }
        }
    }
    for (number, (block, at)) in assumptions(procedure).into_iter().enumerate().rev() {
        let stmts = procedure.body.iter_mut().flat_map(|b| &mut b.blocks).nth(block).map(|b| &mut b.stmts);
        let Some(stmts) = stmts else { continue };
        let away = match &stmts[at].kind {
            StmtKind::Assume(_, e) => match &e.kind {
                ExprKind::Binary(BinaryOp::Implies, active, _) => bv::not(active.clone()),
                _ => bv::boolean(false),
            },
            _ => continue,
        };
        let origin = stmts[at].origin.clone();
        let placed = |probe| Stmt { origin: origin.clone(), ..probe_statement(probe, number, away.clone()) };
        let (reached, satisfied) = (placed(Probe::Reached), placed(Probe::Satisfied));
        stmts.insert(at + 1, satisfied);
        stmts.insert(at, reached);
    }
    let blocks = procedure.body.iter_mut().flat_map(|b| &mut b.blocks);
    for block in blocks.filter(|b| b.transfer == Transfer::Return) {
        block.stmts.push(probe_statement(Probe::End, 0, bv::boolean(false)));
    }
}

/// Where thread 1 meets assumptions of the user: block and statement, in order.
fn assumptions(procedure: &Procedure) -> Vec<(usize, usize)> {
    let of_user = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Assume(premise, _) if premise.is_of_user());
    let mut found = Vec::new();
    for (block, stmts) in procedure.body.iter().flat_map(|b| &b.blocks).map(|b| &b.stmts).enumerate() {
        // The statement of thread 2 follows that of thread 1.
        let places = (0..stmts.len()).filter(|&at| of_user(&stmts[at]));
        found.extend(places.step_by(2).map(|at| (block, at)));
    }
    found
}

fn probe_statement(probe: Probe, index: usize, e: ExprRef) -> Stmt {
    ghosts::statement(StmtKind::Assert(Claim::Probe(probe, index), e))
}

/// Types of all variables of a procedure.
fn types(program: &Program, procedure: &Name) -> BTreeMap<Name, Type> {
    let locals = program.procedures.iter().filter(|p| p.name == *procedure);
    let locals = locals.flat_map(|p| p.params.iter().chain(p.body.iter().flat_map(|b| &b.locals)));
    let constants = program.constants.iter().map(|c| &c.variable);
    constants.chain(&program.globals).chain(locals).map(|v| (v.name.clone(), v.ty.clone())).collect()
}

/// True when a block of the loop clears the log.
fn has_barrier(program: &Program, procedure: &Name, ghosts: &LoopGhosts) -> bool {
    let procedure = program.procedures.iter().find(|p| p.name == *procedure);
    let blocks = procedure.and_then(|p| p.body.as_ref()).map(|b| b.blocks.as_slice()).unwrap_or_default();
    let mut stmts = blocks.iter().filter(|b| ghosts.blocks.contains(&b.label)).flat_map(|b| &b.stmts);
    stmts.any(|stmt| {
        let StmtKind::Order { by, .. } = stmt.kind else { return false };
        match by {
            Order::Block | Order::Counted | Order::Warp | Order::Grid | Order::Completion => true,
            Order::Fence { .. } | Order::BarrierObjects | Order::Proxy { .. } => {
                panic!("infer: {by:?} clears no log")
            }
        }
    })
}
