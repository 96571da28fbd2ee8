//! The names of a summarised program.
//!
//! Input: expressions. Output: the same about other variables of the same types. Establishes: nothing else changes.
//! Reference: none.

use crate::ivl::ast::{ExprKind, ExprRef, Name, Thread};
use crate::ivl::bv;
use crate::ivl::visit::map_expr;

/// An expression about thread 1 as it is about a thread.
pub(super) fn of(expr: &ExprRef, thread: Thread) -> ExprRef {
    map_expr(expr, &mut |e| match &e.kind {
        ExprKind::Var(name) if name.thread().is_some() => Some(bv::var(name.of(thread), e.ty.clone())),
        _ => None,
    })
}

/// The variable from which a register gets an arbitrary value.
pub(super) fn any(name: &Name) -> Name {
    name.with(".any")
}

/// The number of rounds from which registers get their values, from the name of a counter.
pub(super) fn rounds(counter: &Name) -> Name {
    counter.with(".rounds")
}

/// What a register had in front of the loop with this head.
pub(super) fn before(name: &Name, head: &Name) -> Name {
    name.with(format_args!(".before.{head}"))
}

/// Registers in the tests of this stage.
#[cfg(test)]
pub(super) mod registers {
    use super::*;
    use crate::ivl::ast::Type;

    /// `x$1` or `x$2` of a thread, any other text of none.
    pub(crate) fn name(text: &str) -> Name {
        match text.split_once('$') {
            Some((text, number)) => Name::from(text).of(Thread::BOTH[usize::from(number == "2")]),
            None => Name::from(text),
        }
    }

    /// The register of 32 bits.
    pub(crate) fn var(text: &str) -> ExprRef {
        bv::var(name(text), Type::Bv(32))
    }
}
