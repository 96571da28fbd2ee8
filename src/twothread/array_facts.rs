//! What is stated of the elements of arrays that the kernel only reads, for the elements that the two threads load; and of
//! what arrays hold when the kernel starts.
//!
//! Input: loads with `{:entries}` (`kernel::array_facts`), whose values are a function of the offset. Output: behind each of
//! them, variables that keep where it loaded, and an assumption for each pair of such loads so far of either thread;
//! behind accesses with `{:initially}` an assumption of what was there at the start ([`initially`]).
//! Establishes: what is assumed is the fact for two elements that threads have loaded. Elements start at multiples of their
//! size from where the array starts; nothing is assumed of what lies before that. Where variables are arbitrary (at the head of
//! a loop), one choice is that nothing was loaded, or what really was, so no execution is lost. Relies on: the array
//! holds the same all the time. What is assumed of the start is about functions that stand for memory at the start and for
//! nothing else: `read.A.4(offset)` of an array that nobody writes, `contents.A.4(0, offset)` ([`super::contents`]: the first
//! epoch is 0) and `first.ticket.A.4(0, offset)` ([`super::tickets`]: the first interval is 0). So it is true of each
//! execution that the author means, whatever was written before this access. Reference: book/src/annotating.md.

use super::copies::Copies;
use crate::ivl::ast::{Attribute, AttributeArg, ExprKind, ExprRef, Name, Stmt, StmtKind, Thread, Type, Variable};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Premise;
use crate::kernel::{ENTRIES, INITIALLY};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Loads of an array that a later one is compared with.
const MOST: usize = 6;

/// Where a load loaded.
#[derive(Clone)]
struct Loaded {
    active: ExprRef,
    offset: ExprRef,
}

/// The loads so far.
#[derive(Default)]
pub(super) struct ArrayFacts {
    /// By the function that has the values.
    loaded: BTreeMap<Name, Vec<[Loaded; 2]>>,
    number: usize,
    /// Locals introduced.
    pub(super) introduced: Vec<Variable>,
}

impl ArrayFacts {
    /// Behind a load of elements with so many bytes, which yields `function(offset)`.
    pub(super) fn loaded(
        &mut self,
        stmt: &Stmt,
        copies: &Copies,
        [active, offset]: [&ExprRef; 2],
        (function, bytes): (&Name, u32),
        out: &mut Vec<Stmt>,
    ) {
        let value = |offset: &ExprRef| bv::call(function.clone(), vec![offset.clone()], Type::Bv(8 * bytes));
        out.extend(initially(stmt, copies, offset, &value));
        let facts: Vec<&str> = facts(stmt).collect();
        if facts.is_empty() {
            return;
        }
        let number = self.number;
        self.number += 1;
        let plain = |kind| Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() };
        let mut keep = |what: &str, thread: Thread, value: &ExprRef| {
            let name = Name::from(format!("entry.{what}.{number}")).of(thread);
            self.introduced.push(Variable::new(name.clone(), value.ty.clone()));
            out.push(plain(StmtKind::Assign(vec![(name.clone(), copies.expr(value, thread))])));
            bv::var(name, value.ty.clone())
        };
        let now = Thread::BOTH
            .map(|thread| Loaded { active: keep("active", thread, active), offset: keep("offset", thread, offset) });
        let before = self.loaded.entry(function.clone()).or_default();
        for fact in facts {
            let pairs = before.iter().flatten().flat_map(|old| now.iter().map(move |new| (old, new)));
            for (a, b) in pairs.chain([(&now[0], &now[1])]) {
                let both = [a, b].map(|at| bv::and(at.active.clone(), is_element(&at.offset, bytes)));
                let [first, second] = both;
                let holds = holds(fact, [&a.offset, &b.offset], [value(&a.offset), value(&b.offset)]);
                let premise = Premise::Instance(Arc::from(fact));
                out.push(plain(StmtKind::Assume(premise, bv::implies(bv::and(first, second), holds))));
            }
        }
        before.push(now);
        if before.len() > MOST {
            before.remove(0);
        }
    }
}

/// The facts that a load is about.
fn facts(stmt: &Stmt) -> impl Iterator<Item = &str> {
    let named = stmt.attributes.all().iter().filter(|attribute| attribute.name.as_str() == ENTRIES);
    named.filter_map(|attribute| match &attribute.args[..] {
        [AttributeArg::Text(text)] => Some(text.as_str()),
        _ => None,
    })
}

/// Assumes for either thread what is stated of the start, where `value` is what its offset held then.
pub(super) fn initially(
    stmt: &Stmt,
    copies: &Copies,
    offset: &ExprRef,
    value: &dyn Fn(&ExprRef) -> ExprRef,
) -> Vec<Stmt> {
    let stated = stmt.attributes.all().iter().filter(|attribute| attribute.name.as_str() == INITIALLY);
    let facts = stated.flat_map(|attribute| {
        Thread::BOTH.map(|thread| {
            let offset = copies.expr(offset, thread);
            let premise = Premise::Instance(Arc::from(INITIALLY));
            let kind = StmtKind::Assume(premise, held(attribute, &offset, &value(&offset)));
            Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() }
        })
    });
    facts.collect()
}

/// What `{:initially}` says of a value that an offset held.
fn held(attribute: &Attribute, offset: &ExprRef, value: &ExprRef) -> ExprRef {
    let width = bv::width(value);
    let bytes = width / 8;
    let numbers = attribute.args.iter().filter_map(|argument| match argument {
        AttributeArg::Expr(e) => {
            if let ExprKind::Int(number) = e.kind {
                u64::try_from(number).ok()
            } else {
                None
            }
        }
        AttributeArg::Text(_) => None,
    });
    let numbers: Vec<u64> = numbers.collect();
    let is = |number: u64| bv::eq(value.clone(), bv::literal(u128::from(number), width));
    let is_at = |at: u64| bv::eq(offset.clone(), bv::literal(u128::from(at), 64));
    match (attribute.text(), &numbers[..]) {
        (Some("all"), [number]) => bv::implies(is_element(offset, bytes), is(*number)),
        (Some("one"), [number, at]) => bv::implies(is_at(*at), is(*number)),
        (Some("these"), values) => (0u64..).zip(values).fold(bv::boolean(true), |all, (index, number)| {
            bv::and(all, bv::implies(is_at(index * u64::from(bytes)), is(*number)))
        }),
        (Some("between"), [least, greatest, bound]) => {
            let number = |number: u64| bv::literal(u128::from(number), width);
            let inside = bv::binary(BvOp::Ult, offset.clone(), bv::literal(u128::from(*bound), 64));
            let above = bv::binary(BvOp::Ule, number(*least), value.clone());
            let below = bv::binary(BvOp::Ule, value.clone(), number(*greatest));
            bv::implies(bv::and(inside, is_element(offset, bytes)), bv::and(above, below))
        }
        _ => bv::boolean(true),
    }
}

/// Whether an element of the array starts at an offset.
fn is_element(offset: &ExprRef, bytes: u32) -> ExprRef {
    let inside = bv::binary(BvOp::Sle, bv::literal(0, 64), offset.clone());
    let low = bytes.trailing_zeros();
    if low == 0 {
        return inside;
    }
    bv::and(inside, bv::eq(bv::extract(offset.clone(), low, 0), bv::literal(0, low)))
}

/// The fact for two elements.
fn holds(fact: &str, [a, b]: [&ExprRef; 2], [x, y]: [ExprRef; 2]) -> ExprRef {
    let order = match fact {
        "distinct" => return bv::or(bv::eq(a.clone(), b.clone()), bv::ne(x, y)),
        "sorted signed" => BvOp::Sle,
        "sorted unsigned" => BvOp::Ule,
        _ => return bv::boolean(true),
    };
    let before = |a: &ExprRef, b: &ExprRef| bv::binary(BvOp::Sle, a.clone(), b.clone());
    let forth = bv::implies(before(a, b), bv::binary(order, x.clone(), y.clone()));
    bv::and(forth, bv::implies(before(b, a), bv::binary(order, y, x)))
}
