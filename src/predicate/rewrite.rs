//! Tables 1 and 2: predicates statements and block exits.
//!
//! Input: the statements of one block. Output: the same, guarded by the block's activity variable.
//! Establishes: an inactive thread changes no variable that it may read later, fails no assertion,
//! blocks at no `assume`, performs no access and takes part in no barrier. Relies on:
//! [`super::single_definition`] for variables assigned without predication. Reference: the lock-step
//! paper, Tables 1 and 2.

use super::kernel::Exit;
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Access, ExprRef, Name, Stmt, StmtKind, Type, Variable, WarpBarrier};
use crate::ivl::bv;
use crate::span::{Origin, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Width in bits of `v_active` and of block ids.
pub(crate) const BLOCK_ID_WIDTH: u32 = 16;

/// A block id as an expression.
pub(crate) fn block_id(id: u32) -> ExprRef {
    bv::literal(u128::from(id), BLOCK_ID_WIDTH)
}

/// A statement of generated code.
pub(crate) fn generated(kind: StmtKind, origin: Option<Arc<Origin>>) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin }
}

/// Predicates statements; collects the private variables that this introduces.
pub(crate) struct Rewriter {
    /// Types of the kernel's private variables.
    types: BTreeMap<Name, Type>,
    /// Variables that need no predication.
    unpredicated: BTreeSet<Name>,
    /// Names in use.
    taken: BTreeSet<Name>,
    /// The variable `v_havoc` of each type.
    havoc_variables: Vec<(Type, Name)>,
    /// Private variables introduced so far.
    pub(crate) introduced: Vec<Variable>,
    /// The variable `v_active`.
    pub(crate) active: Name,
    /// The variable `v_next`, once a non-deterministic `goto` needs it.
    next: Option<Name>,
}

impl Rewriter {
    /// A rewriter for a kernel with these private variables; `taken` are all names in use.
    pub(crate) fn new(locals: &[Variable], unpredicated: BTreeSet<Name>, taken: BTreeSet<Name>) -> Rewriter {
        let types = locals.iter().map(|local| (local.name.clone(), local.ty.clone())).collect();
        let mut this = Rewriter {
            types,
            unpredicated,
            taken,
            havoc_variables: Vec::new(),
            introduced: Vec::new(),
            active: Name::from("v_active"),
            next: None,
        };
        this.active = this.introduce("v_active", Type::Bv(BLOCK_ID_WIDTH));
        this
    }

    /// Declares a private variable; primes keep its name apart from the kernel's own.
    pub(crate) fn introduce(&mut self, stem: &str, ty: Type) -> Name {
        let mut name = Name::from(stem);
        while !self.taken.insert(name.clone()) {
            name = Name::from(format!("{name}'"));
        }
        self.introduced.push(Variable::new(name.clone(), ty));
        name
    }

    /// `v_active` as an expression.
    pub(crate) fn active(&self) -> ExprRef {
        bv::var(self.active.clone(), Type::Bv(BLOCK_ID_WIDTH))
    }

    /// Predicates one statement by the Boolean `guard`.
    ///
    /// # Errors
    /// A procedure call: kernels have none.
    pub(crate) fn statement(&mut self, stmt: &Stmt, guard: &ExprRef, out: &mut Vec<Stmt>) -> Result<(), Diagnostic> {
        let mut push = |kind| out.push(Stmt { kind, ..stmt.clone() });
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let predicated = |(name, value): &(Name, ExprRef)| (name.clone(), self.value(name, value, guard));
                push(StmtKind::Assign(pairs.iter().map(predicated).collect()));
            }
            StmtKind::Havoc(names) => {
                for name in names {
                    self.through_temporary(stmt, name, guard, out, |fresh| StmtKind::Havoc(vec![fresh]))?;
                }
            }
            StmtKind::Assume(premise, e) => {
                push(StmtKind::Assume(premise.clone(), bv::implies(guard.clone(), e.clone())))
            }
            StmtKind::Assert(claim, e) => push(StmtKind::Assert(claim.clone(), bv::implies(guard.clone(), e.clone()))),
            StmtKind::Store { value, access } => {
                push(StmtKind::Store { value: value.clone(), access: guarded(access, guard) });
            }
            StmtKind::Load { dst, access } => {
                let access = guarded(access, guard);
                self.through_temporary(stmt, dst, guard, out, |dst| StmtKind::Load { dst, access })?;
            }
            StmtKind::Atomic { dst, access } => {
                let access = guarded(access, guard);
                match dst {
                    None => push(StmtKind::Atomic { dst: None, access }),
                    Some(name) => {
                        let atomic = |dst| StmtKind::Atomic { dst: Some(dst), access };
                        self.through_temporary(stmt, name, guard, out, atomic)?;
                    }
                }
            }
            StmtKind::Barrier(barrier) => {
                let mut barrier = barrier.clone();
                barrier.guard = Some(guard.clone());
                match barrier.result.take() {
                    None => push(StmtKind::Barrier(barrier)),
                    Some(name) => {
                        let with_result = |fresh| {
                            barrier.result = Some(fresh);
                            StmtKind::Barrier(barrier)
                        };
                        self.through_temporary(stmt, &name, guard, out, with_result)?;
                    }
                }
            }
            StmtKind::Fence(fence) => push(StmtKind::Fence(fence.clone())),
            StmtKind::WarpBarrier(barrier) => {
                let own = barrier.guard.iter().cloned().fold(guard.clone(), bv::and);
                push(StmtKind::WarpBarrier(WarpBarrier { guard: Some(own), ..barrier.clone() }));
            }
            StmtKind::Trap => push(StmtKind::Trap),
            StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                panic!("predicate: an event of the two-thread language in a kernel")
            }
            StmtKind::Call { procedure, .. } => {
                let message = format!("a kernel cannot call the procedure `{procedure}`");
                return Err(Diagnostic::unsupported("kernel-call", message, place(stmt)));
            }
        }
        Ok(())
    }

    /// Row 1 of Table 1: `if guard then e else v`, or just `e`.
    fn value(&self, name: &Name, value: &ExprRef, guard: &ExprRef) -> ExprRef {
        if self.unpredicated.contains(name) {
            return value.clone();
        }
        bv::ite(guard.clone(), value.clone(), bv::var(name.clone(), value.ty.clone()))
    }

    /// Row 2 of Table 1, also for loads, atomics and barrier results: the statement puts an arbitrary
    /// value into a fresh variable, from which an active thread takes it.
    fn through_temporary(
        &mut self,
        stmt: &Stmt,
        name: &Name,
        guard: &ExprRef,
        out: &mut Vec<Stmt>,
        kind: impl FnOnce(Name) -> StmtKind,
    ) -> Result<(), Diagnostic> {
        if self.unpredicated.contains(name) {
            out.push(Stmt { kind: kind(name.clone()), ..stmt.clone() });
            return Ok(());
        }
        let Some(ty) = self.types.get(name).cloned() else {
            let message = format!("`{name}` is not a private variable of the kernel");
            return Err(Diagnostic::error("kernel-shape", message, place(stmt)));
        };
        let fresh = self.havoc_variable(&ty);
        out.push(Stmt { kind: kind(fresh.clone()), ..stmt.clone() });
        let value = self.value(name, &bv::var(fresh, ty), guard);
        out.push(generated(StmtKind::Assign(vec![(name.clone(), value)]), stmt.origin.clone()));
        Ok(())
    }

    /// The variable `v_havoc` for values of a type. One a type is enough: it is read right after.
    fn havoc_variable(&mut self, ty: &Type) -> Name {
        if let Some((_, name)) = self.havoc_variables.iter().find(|(known, _)| known == ty) {
            return name.clone();
        }
        let suffix = match ty {
            Type::Bool => "bool".to_string(),
            Type::Int => "int".to_string(),
            Type::Bv(width) => format!("bv{width}"),
            Type::Map(..) => "map".to_string(),
            Type::Named(name, _) => name.to_string(),
        };
        let name = self.introduce(&format!("v_havoc.{suffix}"), ty.clone());
        self.havoc_variables.push((ty.clone(), name.clone()));
        name
    }

    /// Table 2: sets `v_active` to the id of the block that the thread executes next. `ids` maps block
    /// numbers to ids, `end` is the id of `End`.
    pub(crate) fn exit(&mut self, exit: &Exit, guard: &ExprRef, ids: &[u32], end: u32, out: &mut Vec<Stmt>) {
        let mut origin = None;
        let next = match exit {
            Exit::End => block_id(end),
            Exit::Jump(target) => block_id(ids[*target]),
            Exit::Branch { condition, then, otherwise, origin: branch } => {
                origin = branch.clone();
                bv::ite(condition.clone(), block_id(ids[*then]), block_id(ids[*otherwise]))
            }
            Exit::Choice(targets) => {
                let next = self.next_variable();
                let variable = bv::var(next.clone(), Type::Bv(BLOCK_ID_WIDTH));
                let is = |target: &usize| bv::eq(variable.clone(), block_id(ids[*target]));
                let any = targets.iter().map(is).fold(bv::boolean(false), bv::or);
                out.push(generated(StmtKind::Havoc(vec![next]), None));
                out.push(generated(StmtKind::assume(any), None));
                variable
            }
        };
        let value = bv::ite(guard.clone(), next, self.active());
        out.push(generated(StmtKind::Assign(vec![(self.active.clone(), value)]), origin));
    }

    fn next_variable(&mut self) -> Name {
        if self.next.is_none() {
            self.next = Some(self.introduce("v_next", Type::Bv(BLOCK_ID_WIDTH)));
        }
        self.next.clone().expect("predicate: v_next was just introduced")
    }
}

/// The access under one more condition.
fn guarded(access: &Access, guard: &ExprRef) -> Access {
    let both = match &access.guard {
        Some(own) => bv::and(guard.clone(), own.clone()),
        None => guard.clone(),
    };
    Access { guard: Some(both), ..access.clone() }
}

/// Where to point for a statement: the PTX instruction, or the IVL text.
pub(crate) fn place(stmt: &Stmt) -> Span {
    stmt.origin.as_ref().map_or(stmt.span, |origin| origin.span)
}
