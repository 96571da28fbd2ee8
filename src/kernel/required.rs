//! What `requires` says of the launch itself, as preconditions of the kernel.
//!
//! Input: the blocks of the one-thread program, and the names that have one value in a launch. Output: conditions over
//! these names only. Establishes: each follows from a `requires` that every thread of every launch comes to; equalities
//! with a number stand as `constant == number`, so that later stages see a constant, as they do for `--param`.
//! Relies on: the statements stay where they are, so the report and the test for contradictions do not change.
//! Reference: book/src/annotating.md: a `requires` is taken as true for every launch.

use super::lowering::Lowering;
use crate::ivl::ast::{Attribute, BinaryOp, Block, ExprKind, ExprRef, Name, Stmt, StmtKind, Transfer, Type, UnaryOp};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::bv_names::{Builtin, parse_builtin};
use crate::ivl::claim::Premise;
use crate::ivl::visit;
use std::collections::{BTreeMap, BTreeSet};

/// What takes the place of a parameter is no larger.
const MAX_SIZE_NODES: usize = 8;

/// A register whose value is larger is not followed: values are substituted into each other.
const MAX_NODES: usize = 64;

impl Lowering<'_> {
    /// What `requires` says of parameters and sizes becomes a precondition, as what options say is; a parameter that equals
    /// sizes is replaced by them.
    pub(super) fn require_stated(&mut self, blocks: &mut [Block]) {
        let constants = self.declarations.constants.iter().map(|constant| &constant.variable);
        let names = |is_such: &dyn Fn(&[Attribute]) -> bool| -> BTreeSet<Name> {
            constants.clone().filter(|it| is_such(&it.attributes)).map(|it| it.name.clone()).collect()
        };
        let conditions = conditions(blocks, &names(&|own| !own.has("thread") && !own.has("block")));
        let known = self.declarations.requires.iter().map(|condition| &condition.expr).chain(&conditions);
        let is_number = |name: &Name| known.clone().any(|e| of_number(e) == Some(name));
        let mut parameters = names(&|own| own.has("param"));
        parameters.retain(|parameter| !is_number(parameter));
        let sizes = sizes(&conditions, &parameters, &names(&|own| own.has("launch")));
        if !sizes.is_empty() {
            for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
                *stmt = visit::map_stmt(stmt, &mut |e| visit::substitute(e, &sizes));
            }
        }
        for condition in conditions {
            self.declarations.require("stated", condition);
        }
    }
}

/// The constant that a condition says to equal a number.
fn of_number(e: &ExprRef) -> Option<&Name> {
    let ExprKind::Binary(BinaryOp::Eq, a, b) = &e.kind else { return None };
    match (&a.kind, literal(b)) {
        (ExprKind::Var(name), Some(_)) => Some(name),
        _ => None,
    }
}

/// Parameters that equal what sizes of the launch give.
fn sizes(conditions: &[ExprRef], parameters: &BTreeSet<Name>, launch: &BTreeSet<Name>) -> BTreeMap<Name, ExprRef> {
    let mut found = BTreeMap::new();
    for condition in conditions {
        let ExprKind::Binary(BinaryOp::Eq, a, b) = &condition.kind else { continue };
        for (parameter, value) in [(a, b), (b, a)] {
            let ExprKind::Var(name) = &parameter.kind else { continue };
            let free = visit::free_vars(value);
            if parameters.contains(name) && !free.is_empty() && free.is_subset(launch) && nodes(value) <= MAX_SIZE_NODES
            {
                found.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    found
}

/// The conditions, in the order of the statements.
fn conditions(blocks: &[Block], constants: &BTreeSet<Name>) -> Vec<ExprRef> {
    let mut walk = Walk { constants, values: BTreeMap::new(), found: Vec::new() };
    unconditional(blocks).into_iter().flat_map(|block| &block.stmts).for_each(|stmt| walk.stmt(stmt));
    let signed = signed_ranges(&walk.found);
    walk.found.extend(signed);
    walk.found
}

/// The blocks that every thread comes to before the first branch.
fn unconditional(blocks: &[Block]) -> Vec<&Block> {
    let mut way: Vec<&Block> = blocks.first().into_iter().collect();
    while let Some(Transfer::Goto(targets)) = way.last().map(|block| &block.transfer)
        && let [target] = &targets[..]
        && let Some(next) = blocks.iter().find(|block| block.label == *target)
        && way.iter().all(|before| before.label != next.label)
    {
        way.push(next);
    }
    way
}

/// A walk along these blocks.
struct Walk<'a> {
    constants: &'a BTreeSet<Name>,
    /// Registers whose value the constants decide.
    values: BTreeMap<Name, ExprRef>,
    found: Vec<ExprRef>,
}

impl Walk<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let values: Vec<_> = pairs.iter().map(|(name, value)| (name.clone(), self.value(value))).collect();
                for (name, value) in values {
                    match value {
                        Some(value) => self.values.insert(name, value),
                        None => self.values.remove(&name),
                    };
                }
            }
            StmtKind::Assume(Premise::Required, formula) => {
                if let Some(formula) = self.value(formula) {
                    conjuncts(&formula, &mut self.found);
                }
            }
            _ => visit::assigned(stmt).into_iter().for_each(|name| {
                self.values.remove(name);
            }),
        }
    }

    /// The value over the constants, if it is one.
    fn value(&self, e: &ExprRef) -> Option<ExprRef> {
        let known = |name: &Name| self.constants.contains(name) || self.values.contains_key(name);
        if !visit::free_vars(e).iter().all(known) {
            return None;
        }
        let value = simplified(&visit::substitute(e, &self.values));
        (nodes(&value) <= MAX_NODES).then_some(value)
    }
}

fn nodes(e: &ExprRef) -> usize {
    1 + visit::children(e).into_iter().map(nodes).sum::<usize>()
}

/// The same with numbers that stand for conditions turned back into these: `(c ? 1 : 0) != 0` is `c`.
fn simplified(e: &ExprRef) -> ExprRef {
    let e = visit::map_children(e, &mut |child| simplified(child));
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => negated(inner),
        ExprKind::Binary(BinaryOp::Eq, a, b) => equal(a, b),
        ExprKind::Binary(BinaryOp::Ne, a, b) => negated(&equal(a, b)),
        ExprKind::Binary(op, a, b) => bv::op(*op, a.clone(), b.clone()),
        ExprKind::Ite(c, a, b) => bv::ite(c.clone(), a.clone(), b.clone()),
        _ => e,
    }
}

fn negated(e: &ExprRef) -> ExprRef {
    match &e.kind {
        ExprKind::Binary(BinaryOp::Eq, a, b) => bv::ne(a.clone(), b.clone()),
        ExprKind::Binary(BinaryOp::Ne, a, b) => equal(a, b),
        ExprKind::Binary(BinaryOp::Or, a, b) => bv::op(BinaryOp::And, negated(a), negated(b)),
        _ => bv::not(e.clone()),
    }
}

fn equal(a: &ExprRef, b: &ExprRef) -> ExprRef {
    let (a, b) = if literal(a).is_some() { (b, a) } else { (a, b) };
    let Some(value) = literal(b) else { return bv::eq(a.clone(), b.clone()) };
    if let Some(number) = literal(a) {
        return bv::boolean(number == value);
    }
    match &a.kind {
        ExprKind::Ite(c, yes, no) => match (literal(yes), literal(no)) {
            (Some(yes), Some(no)) if yes == value && no != value => c.clone(),
            (Some(yes), Some(no)) if no == value && yes != value => negated(c),
            _ => bv::eq(a.clone(), b.clone()),
        },
        ExprKind::Concat(high, low) => {
            let part = |part: &ExprRef, shift: u32| equal(part, &bv::literal(value >> shift, bv::width(part)));
            bv::op(BinaryOp::And, part(high, bv::width(low)), part(low, 0))
        }
        ExprKind::Call(name, args) => {
            let narrow = |from: u32| bv::literal(value, from);
            let extended = match parse_builtin(name.as_str()) {
                Some(Builtin::ZeroExtend { from, .. }) => Some((from, literal(&narrow(from)))),
                Some(Builtin::SignExtend { from, to }) => Some((from, Some(sign_extended(value, from, to)))),
                _ => None,
            };
            match extended {
                Some((from, wide)) if wide == Some(value) => equal(&args[0], &narrow(from)),
                Some(_) => bv::boolean(false),
                None => bv::eq(a.clone(), b.clone()),
            }
        }
        _ => bv::eq(a.clone(), b.clone()),
    }
}

fn literal(e: &ExprRef) -> Option<u128> {
    if let ExprKind::Bv(value) = e.kind { Some(value) } else { None }
}

/// The low bits of a number with the sign that they have, as a number of `to` bits.
fn sign_extended(value: u128, from: u32, to: u32) -> u128 {
    let shifted = ((value << (128 - from)) as i128) >> (128 - from);
    (shifted as u128) & (u128::MAX >> (128 - to))
}

fn conjuncts(e: &ExprRef, found: &mut Vec<ExprRef>) {
    match &e.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            conjuncts(a, found);
            conjuncts(b, found);
        }
        // It says nothing.
        ExprKind::Bool(true) => {}
        _ => found.push(e.clone()),
    }
}

/// Of constants that are known to lie between two signed numbers which are not negative, the same without sign.
fn signed_ranges(conditions: &[ExprRef]) -> Vec<ExprRef> {
    let mut ranges: BTreeMap<Name, (u32, i128, i128)> = BTreeMap::new();
    for (name, width, low, high) in conditions.iter().filter_map(signed_bound) {
        let range = ranges.entry(name).or_insert((width, low, high));
        *range = (width, range.1.max(low), range.2.min(high));
    }
    let unsigned = ranges.into_iter().filter(|(_, (_, low, high))| 0 <= *low && low <= high);
    let bounds = unsigned.flat_map(|(name, (width, low, high))| {
        let (constant, number) = (bv::var(name, Type::Bv(width)), |value: i128| bv::literal(value as u128, width));
        let least = bv::binary(BvOp::Uge, constant.clone(), number(low));
        [least, bv::binary(BvOp::Ule, constant, number(high))]
    });
    bounds.collect()
}

/// A constant with its width and the least and greatest signed value that a comparison leaves.
fn signed_bound(e: &ExprRef) -> Option<(Name, u32, i128, i128)> {
    let ExprKind::Call(name, args) = &e.kind else { return None };
    let (Some(Builtin::Op(op, width)), [a, b]) = (parse_builtin(name.as_str()), &args[..]) else { return None };
    let signed = |value: u128| sign_extended(value, width, 128) as i128;
    let (least, greatest) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
    let (constant, low, high) = match (&a.kind, op, &b.kind) {
        (ExprKind::Var(constant), BvOp::Slt, ExprKind::Bv(value)) => (constant, least, signed(*value) - 1),
        (ExprKind::Var(constant), BvOp::Sle, ExprKind::Bv(value)) => (constant, least, signed(*value)),
        (ExprKind::Var(constant), BvOp::Sgt, ExprKind::Bv(value)) => (constant, signed(*value) + 1, greatest),
        (ExprKind::Var(constant), BvOp::Sge, ExprKind::Bv(value)) => (constant, signed(*value), greatest),
        (ExprKind::Bv(value), BvOp::Slt, ExprKind::Var(constant)) => (constant, signed(*value) + 1, greatest),
        (ExprKind::Bv(value), BvOp::Sle, ExprKind::Var(constant)) => (constant, signed(*value), greatest),
        _ => return None,
    };
    Some((constant.clone(), width, low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(width: u32) -> ExprRef {
        bv::var("n", Type::Bv(width))
    }

    #[test]
    fn equalities_with_extensions_and_conditions_name_the_constant() {
        let minus_two = bv::literal(u128::MAX - 1, 64);
        let wide = bv::eq(minus_two, bv::sext(n(32), 64));
        assert_eq!(simplified(&wide), bv::eq(n(32), bv::literal(u128::from(u32::MAX - 1), 32)));
        let chosen = bv::ite(bv::eq(bv::literal(7, 32), n(32)), bv::literal(1, 32), bv::literal(0, 32));
        let condition = bv::ne(chosen, bv::literal(0, 32));
        assert_eq!(simplified(&condition), bv::eq(n(32), bv::literal(7, 32)));
        let parts = bv::eq(bv::concat(n(8), bv::var("m", Type::Bv(8))), bv::literal(0x0102, 16));
        let mut found = Vec::new();
        conjuncts(&simplified(&parts), &mut found);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn an_extension_that_a_number_does_not_fit_is_false() {
        let large = bv::eq(bv::zext(n(32), 64), bv::literal(1 << 40, 64));
        assert_eq!(simplified(&large), bv::boolean(false));
        let positive = bv::eq(bv::sext(n(32), 64), bv::literal(0xffff_ffff, 64));
        assert_eq!(simplified(&positive), bv::boolean(false));
    }

    #[test]
    fn signed_bounds_on_both_sides_are_bounds_without_sign() {
        let at_least = bv::binary(BvOp::Sle, bv::literal(1, 32), n(32));
        let below = bv::binary(BvOp::Slt, n(32), bv::literal(9, 32));
        let least = bv::binary(BvOp::Uge, n(32), bv::literal(1, 32));
        let most = bv::binary(BvOp::Ule, n(32), bv::literal(8, 32));
        assert_eq!(signed_ranges(&[at_least, below.clone()]), [least, most]);
        assert!(signed_ranges(&[below]).is_empty());
    }
}
