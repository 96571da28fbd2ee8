//! Refinement 2: variables whose assignment needs no predication.
//!
//! Input: a kernel and its loops. Output: the set of private variables `x` for which `x := e` may
//! stand for `x := if active then e else x`. Establishes: for each of them (a) exactly one statement
//! defines it, (b) that definition dominates every use, (c) every use lies in the innermost loop around
//! the definition (inner loops of that loop included). Relies on: natural loops. Reference: Table 1 of
//! the lock-step paper, refined.
//!
//! Why this is sound. The unpredicated assignment differs only in a sweep in which the thread is
//! inactive at the definition D; it then destroys the value of an earlier active execution of D. D is
//! swept again only when the loop around D, say L, or a loop around L takes its back edge, and then the thread is
//! at the header of L or has left L. If it has left L, (c) says that it reads x only after entering L
//! again; and from the header every path to a use passes D, or else D would not dominate that use (b).
//! So the destroyed value is never read: x is not live across a back edge of a loop around D, nor
//! behind the loop. Dropping (b) or (c) alone is unsound; the tests hold a counterexample for each.

use super::kernel::{Exit, Kernel};
use crate::flow::{Dominators, LoopForest};
use crate::ivl::ast::{ExprKind, ExprRef, Name};
use crate::ivl::visit::{Visitor, assigned, walk_expr};
use std::collections::{BTreeMap, BTreeSet};

/// A place in a block: statement number, or one past the last for the branch.
type Position = (usize, usize);

/// The variables that may be assigned without predication.
pub fn unpredicated(kernel: &Kernel, dominators: &Dominators, forest: &LoopForest) -> BTreeSet<Name> {
    let (definitions, uses) = definitions_and_uses(kernel);
    let suits = |name: &Name, definition: Position| {
        let places = uses.get(name).map_or(&[][..], Vec::as_slice);
        places.iter().all(|&place| dominates(dominators, definition, place) && stays_inside(forest, definition, place))
    };
    definitions
        .iter()
        .filter(|(name, places)| places.len() == 1 && suits(name, places[0]))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Whether every execution that reaches `place` has executed the statement at `definition` before. A
/// statement reads its operands before it defines, so it does not dominate its own operands.
fn dominates(dominators: &Dominators, definition: Position, place: Position) -> bool {
    if definition.0 == place.0 { definition.1 < place.1 } else { dominators.dominates(definition.0, place.0) }
}

/// Whether the place lies in the innermost loop around the definition, if there is one.
fn stays_inside(forest: &LoopForest, definition: Position, place: Position) -> bool {
    forest.innermost[definition.0].is_none_or(|index| forest.loops[index].blocks.contains(&place.0))
}

type Places = BTreeMap<Name, Vec<Position>>;

/// Collects the places where variables occur.
struct Uses {
    places: Places,
    at: Position,
}

impl Visitor for Uses {
    fn expr(&mut self, expr: &ExprRef) {
        if let ExprKind::Var(name) = &expr.kind {
            self.places.entry(name.clone()).or_default().push(self.at);
        }
        walk_expr(self, expr);
    }
}

/// Places of definitions and uses. A statement's attributes count as uses, and so do bound variables,
/// which only makes the answer more cautious.
fn definitions_and_uses(kernel: &Kernel) -> (Places, Places) {
    let mut definitions = Places::new();
    let mut uses = Uses { places: Places::new(), at: (0, 0) };
    for (number, block) in kernel.blocks.iter().enumerate() {
        for (index, stmt) in block.stmts.iter().enumerate() {
            uses.at = (number, index);
            uses.stmt(stmt);
            for name in assigned(stmt) {
                definitions.entry(name.clone()).or_default().push(uses.at);
            }
        }
        if let Exit::Branch { condition, .. } = &block.exit {
            uses.at = (number, block.stmts.len());
            uses.expr(condition);
        }
    }
    (definitions, uses.places)
}
