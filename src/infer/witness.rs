//! The witness of a pending access: an earlier round of the loop, executed once more.
//!
//! Input: a loop with its candidate invariants. Output: statements for its head, behind the
//! invariants, and declarations of the copies they use.
//! Establishes (the image rule): if an access is pending at the head and was logged in round
//! r < k, then some state satisfied the invariants at the head in round r, and executing the body
//! from it leaves exactly such an access pending. The statements havoc a copy of everything that
//! the loop assigns, assume the invariants for it with k = round, run the body on the copy with an
//! empty log, and assume that what is pending at the head is pending in the copy, or was pending on
//! entry. Everything is assumed only if an earlier round is the witness, so the first round stays
//! feasible. The body's assertions of barrier uniformity are assumed in the copy: rounds in which
//! they fail are reported where they fail.
//! Relies on: at most one access is remembered at a time (prelude contract), so that one round
//! witnesses the whole log; a predicated body is straight-line but for inner loops, and those carry
//! their own witnesses already.
//! Reference: proof-notes, lesson 1.

use super::ghosts::{LoopGhosts, declare, statement};
use crate::ivl::ast::{Block, ExprRef, Name, Procedure, Program, Stmt, StmtKind, Thread, Type};
use crate::ivl::bv;
use crate::ivl::claim::{Claim, Inferred, Premise};
use crate::ivl::event::as_call;
use crate::ivl::visit::{assigned, free_vars, substitute};
use crate::order::Order;
use std::collections::{BTreeMap, BTreeSet};

/// What the copy of a body needs to know.
pub(crate) struct Context<'a> {
    /// The program, for the prelude's procedures.
    pub(crate) program: &'a Program,
    /// All loops.
    pub(crate) loops: &'a [LoopGhosts],
    /// Log flags: true while an access is pending.
    pub(crate) flags: &'a [Name],
    /// The rest of the log: what is recorded of the pending access.
    pub(crate) records: &'a [Name],
    /// Types of all variables.
    pub(crate) types: BTreeMap<Name, Type>,
    /// Every barrier of the block asserts that both threads arrive or none, so that thread 1's activity says it all.
    pub(crate) uniform_barriers: bool,
}

/// Adds the witness statements to the head of a loop. Inner loops must have theirs already.
pub(crate) fn insert(procedure: &mut Procedure, context: &Context, index: usize) {
    let ghosts = &context.loops[index];
    let Some(body) = &procedure.body else { return };
    let blocks: Vec<&Block> = body.blocks.iter().filter(|b| ghosts.blocks.contains(&b.label)).collect();
    let mut changed = BTreeSet::new();
    for stmt in blocks.iter().flat_map(|b| &b.stmts) {
        changed.extend(assigned(stmt).into_iter().cloned());
        inlined_effects(context, stmt, &mut changed);
    }
    if !context.flags.iter().any(|f| changed.contains(f)) {
        return;
    }
    let invariants: Vec<Stmt> = leading_asserts(blocks.first());
    let body_stmts = linear_body(context, &blocks, ghosts);
    let copier = Copier::new(ghosts, &changed).with_types(&context.types);
    let kept = copier.slice(context, invariants, body_stmts);
    let stmts = copier.statements(context, kept);
    let mut copies = BTreeSet::new();
    for stmt in &stmts {
        copies.extend(assigned(stmt).into_iter().cloned());
    }
    for local in context.program.procedures.iter().flat_map(|p| &p.body).flat_map(|b| &b.locals) {
        if copies.contains(&inlined_local(&local.name)) {
            declare(procedure, &inlined_local(&local.name), local.ty.clone());
        }
    }
    declare(procedure, &Name::from(format!("witnessed.{}", ghosts.head)), Type::Bool);
    for name in &changed {
        let copy = copier.name(name);
        if let (true, Some(ty)) = (copies.contains(&copy), context.types.get(name)) {
            declare(procedure, &copy, ty.clone());
        }
    }
    if let Some(head) = super::ghosts::block_mut(procedure, &ghosts.head) {
        let position = head.stmts.iter().take_while(|s| matches!(s.kind, StmtKind::Assert(..))).count();
        head.stmts.splice(position..position, stmts);
    }
}

fn leading_asserts(head: Option<&&Block>) -> Vec<Stmt> {
    let stmts = head.map(|b| b.stmts.as_slice()).unwrap_or_default();
    stmts.iter().take_while(|s| matches!(s.kind, StmtKind::Assert(..))).cloned().collect()
}

/// The prelude procedure that a call names, with its single block.
fn callee<'a>(context: &Context<'a>, stmt: &Stmt) -> Option<(&'a Procedure, &'a Block)> {
    let call = as_call(&stmt.kind, &[]).0;
    let StmtKind::Call { procedure, .. } = &*call else { return None };
    let callee = context.program.procedures.iter().find(|p| p.name == *procedure)?;
    Some((callee, callee.body.as_ref()?.blocks.first()?))
}

fn inlined_effects(context: &Context, stmt: &Stmt, out: &mut BTreeSet<Name>) {
    if let Some((callee, block)) = callee(context, stmt) {
        let mut names = BTreeSet::new();
        block.stmts.iter().for_each(|s| names.extend(assigned(s).into_iter().cloned()));
        let own: BTreeSet<&Name> = callee.params.iter().chain(&callee.results).map(|v| &v.name).collect();
        let locals: BTreeSet<&Name> = callee.body.iter().flat_map(|b| &b.locals).map(|v| &v.name).collect();
        out.extend(names.into_iter().filter(|n| !own.contains(n) && !locals.contains(n)));
    }
}

/// The body as one list: calls inlined, race checks left out, inner loops cut at their heads.
fn linear_body(context: &Context, blocks: &[&Block], ghosts: &LoopGhosts) -> Vec<Stmt> {
    let mut out = Vec::new();
    for block in blocks {
        if block.label == ghosts.back || context.loops.iter().any(|l| l.back == block.label) {
            continue;
        }
        let mut stmts = block.stmts.as_slice();
        if block.label == ghosts.head {
            stmts = &stmts[leading_asserts(Some(block)).len()..];
        } else if let Some(inner) = context.loops.iter().find(|l| l.head == block.label) {
            let invariants = leading_asserts(Some(block));
            stmts = &stmts[invariants.len()..];
            out.extend(cut_inner(context, blocks, inner, invariants));
        }
        for stmt in stmts {
            flatten(context, stmt, &mut out);
        }
    }
    out
}

/// An inner loop at an arbitrary round: havoc what it assigns, assume its invariants.
fn cut_inner(context: &Context, blocks: &[&Block], inner: &LoopGhosts, invariants: Vec<Stmt>) -> Vec<Stmt> {
    let mut changed = BTreeSet::new();
    for stmt in blocks.iter().filter(|b| inner.blocks.contains(&b.label)).flat_map(|b| &b.stmts) {
        changed.extend(assigned(stmt).into_iter().cloned());
        inlined_effects(context, stmt, &mut changed);
    }
    let mut out = vec![statement(StmtKind::Havoc(changed.into_iter().collect()))];
    out.extend(invariants.into_iter().map(assume_instead));
    out
}

fn assume_instead(stmt: Stmt) -> Stmt {
    match stmt.kind {
        StmtKind::Assert(claim, e) => {
            Stmt { kind: StmtKind::Assume(Premise::Witness(claim.inferred().cloned()), e), ..stmt }
        }
        _ => stmt,
    }
}

/// One statement of the copy: assertions of uniform barriers become assumptions, other assertions
/// and race checks vanish, calls into the prelude are inlined.
fn flatten(context: &Context, stmt: &Stmt, out: &mut Vec<Stmt>) {
    match &stmt.kind {
        StmtKind::Assert(Claim::BarrierMet { .. }, _) if !context.uniform_barriers => {
            out.push(assume_instead(stmt.clone()));
        }
        StmtKind::Assert(..) => {}
        StmtKind::Check(_) => {}
        StmtKind::Log { .. } | StmtKind::Order { .. } => {
            let Some((callee, block)) = callee(context, stmt) else { return };
            let call = as_call(&stmt.kind, &[]).0;
            let StmtKind::Call { args, results, .. } = &*call else { return };
            // A barrier of a warp asserts nothing.
            let of_block = matches!(stmt.kind, StmtKind::Order { by: Order::Block | Order::Counted | Order::Grid, .. });
            let first_thread = context.uniform_barriers && of_block;
            let actual = |a: &ExprRef| if first_thread { of_first_thread(a) } else { a.clone() };
            let mut map: BTreeMap<Name, ExprRef> =
                callee.params.iter().zip(args).map(|(p, a)| (p.name.clone(), actual(a))).collect();
            for (formal, actual) in callee.results.iter().zip(results) {
                map.insert(formal.name.clone(), bv::var(actual.clone(), formal.ty.clone()));
            }
            for local in callee.body.iter().flat_map(|b| &b.locals) {
                map.insert(local.name.clone(), bv::var(inlined_local(&local.name), local.ty.clone()));
            }
            out.extend(block.stmts.iter().filter_map(|s| rewrite(s, &map)));
        }
        _ => out.push(stmt.clone()),
    }
}

/// The same of thread 1: what a barrier asserts to be equal for both.
fn of_first_thread(e: &ExprRef) -> ExprRef {
    let second = free_vars(e).into_iter().filter_map(|n| {
        let first = n.of(Thread::First);
        (n.thread() == Some(Thread::Second)).then(|| (n, bv::var(first, Type::Bool)))
    });
    substitute(e, &second.collect())
}

/// The name that a local of a prelude procedure has in copies.
fn inlined_local(name: &Name) -> Name {
    Name::from(format!("{name}.inlined"))
}

/// Substitutes in a statement of straight-line code; assertions vanish.
fn rewrite(stmt: &Stmt, map: &BTreeMap<Name, ExprRef>) -> Option<Stmt> {
    let target = |n: &Name| match map.get(n).map(|e| &e.kind) {
        Some(crate::ivl::ast::ExprKind::Var(new)) => new.clone(),
        _ => n.clone(),
    };
    let kind = match &stmt.kind {
        StmtKind::Assign(list) => StmtKind::Assign(list.iter().map(|(n, e)| (target(n), substitute(e, map))).collect()),
        StmtKind::Havoc(names) => StmtKind::Havoc(names.iter().map(target).collect()),
        StmtKind::Assume(premise, e) => StmtKind::Assume(premise.clone(), substitute(e, map)),
        _ => return None,
    };
    Some(Stmt { kind, ..stmt.clone() })
}

struct Copier<'a> {
    ghosts: &'a LoopGhosts,
    map: BTreeMap<Name, ExprRef>,
    changed: &'a BTreeSet<Name>,
}

/// The parts of a copy that its final log depends on.
struct Sliced {
    invariants: Vec<Stmt>,
    body: Vec<Stmt>,
    needed: BTreeSet<Name>,
}

impl<'a> Copier<'a> {
    fn new(ghosts: &'a LoopGhosts, changed: &'a BTreeSet<Name>) -> Self {
        Copier { ghosts, map: BTreeMap::new(), changed }
    }

    fn with_types(mut self, types: &BTreeMap<Name, Type>) -> Self {
        for name in self.changed {
            if let Some(ty) = types.get(name) {
                self.map.insert(name.clone(), bv::var(self.name(name), ty.clone()));
            }
        }
        self
    }

    /// The copy of a variable.
    fn name(&self, variable: &Name) -> Name {
        variable.with(format_args!(".earlier.{}", self.ghosts.head))
    }

    /// Keeps what the log at the end of the body depends on, going backwards; an assumption is kept
    /// if it speaks about something needed. Leaving assumptions out is always sound.
    fn slice(&self, context: &Context, invariants: Vec<Stmt>, body: Vec<Stmt>) -> Sliced {
        let mut needed: BTreeSet<Name> = context.flags.iter().chain(context.records).cloned().collect();
        let mut kept = Vec::new();
        for stmt in body.into_iter().rev() {
            match &stmt.kind {
                StmtKind::Assign(list) if list.iter().any(|(n, _)| needed.contains(n)) => {
                    list.iter().for_each(|(_, e)| needed.append(&mut free_vars(e)));
                    kept.push(stmt);
                }
                StmtKind::Havoc(names) if names.iter().any(|n| needed.contains(n)) => {
                    let names = names.iter().filter(|n| needed.contains(*n)).cloned().collect();
                    kept.push(Stmt { kind: StmtKind::Havoc(names), ..stmt });
                }
                StmtKind::Assume(_, e) if self.speaks_of(e, &needed) => {
                    needed.append(&mut free_vars(e));
                    kept.push(stmt);
                }
                _ => {}
            }
        }
        kept.reverse();
        // The copy starts with an empty log, whatever the log was in that round.
        for name in context.flags.iter().chain(context.records).chain([&self.ghosts.round]) {
            needed.remove(name);
        }
        // Invariants may connect needed variables through others: two passes reach what matters.
        // What needs thread 2 where the body does not says nothing about thread 1's log.
        let both = needed.iter().any(|n| n.thread() == Some(Thread::Second) && self.changed.contains(n));
        let mut chosen = vec![false; invariants.len()];
        for _ in 0..2 {
            for (i, stmt) in invariants.iter().enumerate() {
                let StmtKind::Assert(_, e) = &stmt.kind else { continue };
                if self.speaks_of(e, &needed) && (both || !self.mentions_second(e)) {
                    chosen[i] = true;
                    needed.append(&mut free_vars(e));
                }
            }
        }
        let invariants = invariants.into_iter().zip(chosen).filter(|(_, c)| *c).map(|(s, _)| s).collect();
        Sliced { invariants, body: kept, needed }
    }

    fn speaks_of(&self, e: &ExprRef, needed: &BTreeSet<Name>) -> bool {
        let mut free = BTreeSet::new();
        free.append(&mut free_vars(e));
        free.iter().any(|n| self.changed.contains(n) && needed.contains(n))
    }

    fn mentions_second(&self, e: &ExprRef) -> bool {
        let mut free = BTreeSet::new();
        free.append(&mut free_vars(e));
        free.iter().any(|n| n.thread() == Some(Thread::Second) && self.changed.contains(n))
    }

    fn statements(&self, context: &Context, sliced: Sliced) -> Vec<Stmt> {
        let pending = context.flags.iter().fold(bv::boolean(false), |sum, f| bv::or(sum, flag(f)));
        let round = bv::var(self.ghosts.round.clone(), Type::Int);
        let logged_here = bv::op(crate::ivl::ast::BinaryOp::Le, bv::int(0), round.clone());
        let witnessed = Name::from(format!("witnessed.{}", self.ghosts.head));
        let earlier = flag(&witnessed);
        let havocked: Vec<Name> =
            sliced.needed.iter().filter(|n| self.map.contains_key(*n)).map(|n| self.name(n)).collect();
        let mut out = vec![super::ghosts::assign(&witnessed, bv::and(pending.clone(), logged_here.clone()))];
        out.push(statement(StmtKind::Havoc(havocked)));
        if sliced.needed.contains(&self.ghosts.k) {
            let counter = bv::var(self.name(&self.ghosts.k), Type::Int);
            out.push(assume(&earlier, bv::eq(counter, round), None));
        }
        for stmt in &sliced.invariants {
            if let StmtKind::Assert(claim, e) = &stmt.kind {
                out.push(assume(&earlier, substitute(e, &self.map), claim.inferred()));
            }
        }
        for f in context.flags.iter().filter(|f| self.changed.contains(*f)) {
            out.push(super::ghosts::assign(&self.name(f), bv::boolean(false)));
        }
        for stmt in &sliced.body {
            match &stmt.kind {
                StmtKind::Assume(premise, e) => {
                    out.push(assume(&earlier, substitute(e, &self.map), premise.inferred()));
                }
                _ => out.extend(rewrite(stmt, &self.map)),
            }
        }
        for f in context.flags.iter().filter(|f| self.changed.contains(*f)) {
            let on_entry = bv::and(bv::not(logged_here.clone()), bv::var(self.ghosts.snapshot(f), Type::Bool));
            let here = bv::and(logged_here.clone(), flag(&self.name(f)));
            out.push(assume(&bv::boolean(true), bv::implies(flag(f), bv::or(on_entry, here)), None));
        }
        for record in context.records.iter().filter(|r| self.changed.contains(*r)) {
            let Some(ty) = context.types.get(record) else { continue };
            let on_entry = bv::var(self.ghosts.snapshot(record), ty.clone());
            let source = bv::ite(logged_here.clone(), bv::var(self.name(record), ty.clone()), on_entry);
            let same = bv::eq(bv::var(record.clone(), ty.clone()), source);
            out.push(assume(&pending, same, None));
        }
        out
    }
}

/// An assumption of the witness, which may rest on a candidate.
fn assume(guard: &ExprRef, e: ExprRef, inferred: Option<&Inferred>) -> Stmt {
    statement(StmtKind::Assume(Premise::Witness(inferred.cloned()), bv::implies(guard.clone(), e)))
}

fn flag(name: &Name) -> ExprRef {
    bv::var(name.clone(), Type::Bool)
}
