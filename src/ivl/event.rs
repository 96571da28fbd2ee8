//! What the two threads of a two-thread program do to shared state: accesses, and what orders them.
//!
//! Input: statements about accesses and order. Output: the calls into the prelude that give them their meaning. Establishes: the names and arguments of those calls are made here only. Relies on: the prelude's contract
//! (prelude/README.md). Reference: the tutorial paper (LOG and CHECK).

use super::ast::{Attribute, AttributeArg, ExprRef, Name, Program, StmtKind, Thread};
use super::bv;
use crate::order::Scope;
use std::borrow::Cow;

/// An access of one thread, which is logged or checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number of the access in the text of the kernel.
    pub(crate) site: u32,
    /// Who accesses.
    pub(crate) thread: Thread,
    pub(crate) array: Name,
    /// What is done.
    pub(crate) kind: EventKind,
    /// Whether the thread is there.
    pub(crate) active: ExprRef,
    /// First byte, 64 bits.
    pub(crate) offset: ExprRef,
    /// Width in bytes.
    pub(crate) bytes: u32,
}

/// What an access does, as far as races depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A weak load.
    Read,
    /// A weak store, with the value as 64 bits (of interest under `--allow-same-value`).
    Write(ExprRef),
    /// A strong load.
    StrongRead(Scope),
    /// A strong store, or an atomic.
    StrongWrite(Scope),
}

/// What the prelude does with accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Remembers one of thread 1.
    Log,
    /// Compares one of thread 2 with what is remembered.
    Check,
}

impl EventKind {
    /// Part of the name of its procedures.
    fn stem(&self) -> &'static str {
        match self {
            EventKind::Read => "READ",
            EventKind::Write(_) => "WRITE",
            EventKind::StrongRead(_) => "STRONG_READ",
            EventKind::StrongWrite(_) => "STRONG_WRITE",
        }
    }

    /// The argument that only such accesses have.
    fn argument(&self) -> Option<ExprRef> {
        match self {
            EventKind::Read => None,
            EventKind::Write(value) => Some(value.clone()),
            EventKind::StrongRead(scope) | EventKind::StrongWrite(scope) => Some(scope_number(*scope)),
        }
    }

    /// Whether it is not strong.
    pub(crate) fn is_weak(&self) -> bool {
        matches!(self, EventKind::Read | EventKind::Write(_))
    }
}

impl Event {
    /// The call that logs or checks the access.
    pub(crate) fn call(&self, verb: Verb, logged: Option<&Name>) -> StmtKind {
        let (word, site) = match verb {
            Verb::Log => ("LOG", Some(bv::literal(u128::from(self.site), 16))),
            Verb::Check => ("CHECK", None),
        };
        let mut args = vec![self.active.clone()];
        args.extend(site);
        args.extend([self.offset.clone(), bv::literal(u128::from(self.bytes), 64)]);
        args.extend(self.kind.argument());
        let procedure = Name::from(format!("{word}_{}_{}", self.kind.stem(), self.array));
        StmtKind::Call { procedure, args, results: logged.into_iter().cloned().collect() }
    }

    /// The same with other expressions.
    pub(crate) fn map(&self, f: &mut dyn FnMut(&ExprRef) -> ExprRef) -> Event {
        let kind = match &self.kind {
            EventKind::Write(value) => EventKind::Write(f(value)),
            kind => kind.clone(),
        };
        Event { kind, active: f(&self.active), offset: f(&self.offset), ..self.clone() }
    }

    pub(crate) fn expressions(&self) -> impl Iterator<Item = &ExprRef> {
        let value = if let EventKind::Write(value) = &self.kind { Some(value) } else { None };
        [&self.active, &self.offset].into_iter().chain(value)
    }
}

/// The call that forgets what was logged of an array.
pub(crate) fn clear(array: &Name, both: &ExprRef) -> StmtKind {
    let procedure = Name::from(format!("BARRIER_CLEAR_{array}"));
    StmtKind::Call { procedure, args: vec![both.clone()], results: Vec::new() }
}

/// The call that stands for a statement of the two-thread language, with its attributes; others as they are.
pub fn as_call<'s>(kind: &'s StmtKind, attributes: &'s [Attribute]) -> (Cow<'s, StmtKind>, Cow<'s, [Attribute]>) {
    let (call, site) = match kind {
        StmtKind::Log { event, logged } => (event.call(Verb::Log, Some(logged)), Some(event.site)),
        StmtKind::Check(event) => (event.call(Verb::Check, None), Some(event.site)),
        StmtKind::Order { array, both, by: _ } => (clear(array, both), None),
        _ => return (Cow::Borrowed(kind), Cow::Borrowed(attributes)),
    };
    let site =
        site.map(|site| Attribute { name: Name::from("site"), args: vec![AttributeArg::Expr(bv::int(site.into()))] });
    (Cow::Owned(call), site.into_iter().chain(attributes.iter().cloned()).collect())
}

/// The program in plain Boogie: calls into the prelude in place of events.
pub(crate) fn expanded(mut program: Program) -> Program {
    let bodies = program.procedures.iter_mut().filter_map(|procedure| procedure.body.as_mut());
    for stmt in bodies.flat_map(|body| &mut body.blocks).flat_map(|block| &mut block.stmts) {
        let (kind, attributes) = as_call(&stmt.kind, &stmt.attributes);
        (stmt.kind, stmt.attributes) = (kind.into_owned(), attributes.into_owned());
    }
    program
}

/// How [`StmtKind::Trap`] is written: `fence "trap";`.
pub(crate) const TRAP: &str = "trap";

/// Scopes as the prelude numbers them.
fn scope_number(scope: Scope) -> ExprRef {
    let number = match scope {
        Scope::Cta => 0,
        Scope::Cluster => 1,
        Scope::Gpu => 2,
        Scope::Sys => 3,
    };
    bv::literal(number, 8)
}
