//! Winners: at most one thread finds a word as it was before all exchanges, or a bit that it changes as it was before.
//!
//! Input: atomics with `{:winner}` (`kernel::winners`). Output: what is assumed behind them ([`facts`]), about functions of an
//! epoch and an offset, which are those of [`super::tickets`]: `wins.A`, whether thread 1 won the word; `bits.A`, the bits
//! that thread 1 changed. Establishes: what is assumed is true up to the first race. Relies on: `kernel::winners` (what changes
//! the array); [`super::tickets`], whose header tells what an interval is and why nothing but these atomics changes a word in
//! it. Reference: PTX ISA, memory consistency model (atomicity).
//!
//! Why this is sound. Take a word and an interval; let v be what the word holds when it begins. The atomics on the word come one
//! after the other, and each returns what the one before left (or v).
//!
//! *Exchanges* write values of one set W, which is the same for all threads, since each is an expression over constants of the
//! launch; a compare-and-swap that returns anything but what it compares with writes nothing. Once one has written, the word holds
//! a value of W for the rest of the interval. So an atomic that returns a value outside of W and writes is the first to
//! write: there is one such atomic at most, and so one thread at most. Where what is compared with is in W (somebody writes it
//! back), nothing is said of it.
//!
//! *Bits*: where all atomics are `or`s, no bit is cleared, so the atomic that found a bit of its mask clear is the only one that
//! ever set it. The bits that thread 1 set are one number for the word, and those that thread 2 set are none of them. Where all are
//! `and`s the same goes for bits that are cleared.
//!
//! Where only one of the two threads executes such atomics on a word, all is its own, and the functions say so, whatever it
//! stores to the word between them.

use crate::ivl::ast::{Attribute, AttributeArg, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, BvOp};

/// What an atomic does to its word, with expressions of one of the two threads.
pub(super) enum Winner {
    /// An exchange, or a compare-and-swap, and what all of them write.
    Exchange { compares: Option<ExprRef>, values: Vec<ExprRef> },
    /// An `or` with this mask.
    Set(ExprRef),
    /// An `and` with this mask.
    Clear(ExprRef),
}

impl Winner {
    /// Reads the attribute; `copy` makes expressions of the thread.
    pub(super) fn read(attribute: &Attribute, copy: &dyn Fn(&ExprRef) -> ExprRef) -> Option<Winner> {
        let args: Option<Vec<ExprRef>> =
            attribute.args.iter().skip(1).map(|argument| expression(argument, copy)).collect();
        match (attribute.args.first(), args?.as_slice()) {
            (Some(AttributeArg::Text(what)), args) => match (what.as_ref(), args) {
                ("exchange", values) => Some(Winner::Exchange { compares: None, values: values.to_vec() }),
                ("compare", [old, values @ ..]) => {
                    Some(Winner::Exchange { compares: Some(old.clone()), values: values.to_vec() })
                }
                ("set", [mask]) => Some(Winner::Set(mask.clone())),
                ("clear", [mask]) => Some(Winner::Clear(mask.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// The function that says what is thread 1's, and the type of its result.
    pub(super) fn function(&self, array: &Name, bytes: u32) -> (Name, Type) {
        match self {
            Winner::Exchange { .. } => (Name::from(format!("wins.{array}.{bytes}")), Type::Bool),
            Winner::Set(_) | Winner::Clear(_) => (Name::from(format!("bits.{array}.{bytes}")), Type::Bv(8 * bytes)),
        }
    }
}

fn expression(argument: &AttributeArg, copy: &dyn Fn(&ExprRef) -> ExprRef) -> Option<ExprRef> {
    match argument {
        AttributeArg::Expr(e) => Some(copy(e)),
        AttributeArg::Text(_) => None,
    }
}

/// What is known where an atomic of a thread returns `result`, and `first` is what is thread 1's.
pub(super) fn facts(winner: &Winner, thread: Thread, result: &ExprRef, first: ExprRef) -> ExprRef {
    match winner {
        Winner::Exchange { compares, values } => {
            let new = |value: &ExprRef| bv::ne(result.clone(), value.clone());
            let is_first = values.iter().map(new).fold(bv::boolean(true), bv::and);
            let writes = compares.iter().map(|old| bv::eq(result.clone(), old.clone())).fold(is_first, bv::and);
            let own = if thread == Thread::First { first } else { bv::not(first) };
            bv::implies(writes, own)
        }
        Winner::Set(mask) => {
            bits(bv::binary(BvOp::And, mask.clone(), bv::unary(BvOp::Not, result.clone())), thread, first)
        }
        Winner::Clear(mask) => {
            bits(bv::binary(BvOp::And, bv::unary(BvOp::Not, mask.clone()), result.clone()), thread, first)
        }
    }
}

/// That `changed` are bits of thread 1, or none of them.
fn bits(changed: ExprRef, thread: Thread, first: ExprRef) -> ExprRef {
    let others = if thread == Thread::First { bv::unary(BvOp::Not, first) } else { first };
    let width = bv::width(&changed);
    bv::eq(bv::binary(BvOp::And, changed, others), bv::literal(0, width))
}
