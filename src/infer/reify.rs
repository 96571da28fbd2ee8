//! Terms back to IVL expressions, so that a candidate found on the DAG is a readable invariant.

use crate::ivl::ast::{BinaryOp, ExprRef, Name, Type};
use crate::ivl::bv;
use crate::vcgen::term::{Node, Sort, Term, Terms};
use foldhash::HashMap;

/// Nodes an expression may have; beyond, no candidate is made.
const SIZE_LIMIT: usize = 40;

/// Names for the values known at a loop head.
#[derive(Default)]
pub(crate) struct Names {
    known: HashMap<Term, Name>,
}

/// The IVL type of a sort.
pub(crate) fn type_of(sort: Sort) -> Type {
    match sort {
        Sort::Bool => Type::Bool,
        Sort::Int => Type::Int,
        Sort::Bv(width) => Type::Bv(width),
        Sort::Other(_) => panic!("infer: a value of a sort that kernels do not have"),
    }
}

impl Names {
    /// Names a value, unless it has a name already.
    pub(crate) fn add(&mut self, value: Term, name: Name) {
        self.known.entry(value).or_insert(name);
    }

    /// The expression of a term over named values; `None` if something has no name or it is too large.
    /// `used` collects the names.
    pub(crate) fn reify(&self, terms: &Terms, term: Term, used: &mut Vec<Name>) -> Option<ExprRef> {
        let mut size = 0;
        self.expr(terms, term, used, &mut size)
    }

    fn expr(&self, terms: &Terms, t: Term, used: &mut Vec<Name>, size: &mut usize) -> Option<ExprRef> {
        *size += 1;
        if *size > SIZE_LIMIT {
            return None;
        }
        if let Some(name) = self.known.get(&t) {
            used.push(name.clone());
            return Some(bv::var(name.clone(), type_of(terms.sort(t))));
        }
        let mut go = |t: Term| self.expr(terms, t, used, size);
        Some(match terms.node(t) {
            Node::Bool(value) => bv::boolean(*value),
            Node::BvConst { width, value } => bv::literal(*value, *width),
            Node::IntConst(value) => bv::int(*value),
            Node::Not(a) => bv::not(go(*a)?),
            Node::And(list) => self.fold(list, BinaryOp::And, &mut go)?,
            Node::Or(list) => self.fold(list, BinaryOp::Or, &mut go)?,
            Node::Eq(a, b) => bv::eq(go(*a)?, go(*b)?),
            Node::Ite(c, a, b) => bv::ite(go(*c)?, go(*a)?, go(*b)?),
            Node::BvCompare(op, a, b) => bv::binary(op.operator(), go(*a)?, go(*b)?),
            Node::BvSum { width, constant, members } => {
                let mut sum = bv::literal(*constant, *width);
                for &(member, factor) in members {
                    let member = go(member)?;
                    sum = match factor {
                        1 => bv::add(sum, member),
                        f if f == crate::vcgen::term::mask(*width) => bv::sub(sum, member),
                        f => bv::add(sum, bv::mul(member, bv::literal(f, *width))),
                    };
                }
                sum
            }
            Node::BvBinary(op, a, b) => bv::binary(op.operator(), go(*a)?, go(*b)?),
            Node::Extract { high, low, of } => bv::extract(go(*of)?, high + 1, *low),
            Node::Concat(a, b) => bv::concat(go(*a)?, go(*b)?),
            Node::ZeroExtend(width, a) => bv::zext(go(*a)?, *width),
            Node::SignExtend(width, a) => bv::sext(go(*a)?, *width),
            _ => return None,
        })
    }

    fn fold(&self, list: &[Term], op: BinaryOp, go: &mut dyn FnMut(Term) -> Option<ExprRef>) -> Option<ExprRef> {
        let mut parts = list.iter().map(|&t| go(t));
        let first = parts.next()??;
        parts.try_fold(first, |sum, part| Some(bv::op(op, sum, part?)))
    }
}
