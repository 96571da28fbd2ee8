//! One exit for all returns.
//!
//! Input: a body. Output: the same, where only one block returns. Establishes: each postcondition is checked at one
//! place, so one that fails on several ways out is one finding, as it is for Boogie. Relies on: nothing.

use crate::ivl::ast::{Block, Implementation, Name, Transfer};
use crate::span::Span;
use std::borrow::Cow;

/// The label of the common exit. No identifier has an `@`.
pub(crate) const EXIT: &str = "@exit";

/// Leads all returns to one block, if there are several.
pub(crate) fn unify(body: &Implementation) -> Cow<'_, Implementation> {
    let returns = |block: &&Block| block.transfer == Transfer::Return;
    if body.blocks.iter().filter(returns).count() < 2 {
        return Cow::Borrowed(body);
    }
    let mut body = body.clone();
    for block in body.blocks.iter_mut().filter(|block| block.transfer == Transfer::Return) {
        block.transfer = Transfer::Goto(vec![Name::from(EXIT)]);
    }
    let (label, span) = (Name::from(EXIT), Span::NONE);
    body.blocks.push(Block { label, stmts: Vec::new(), transfer: Transfer::Return, span, end: span });
    Cow::Owned(body)
}
