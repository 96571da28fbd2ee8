//! What is stated of the elements of arrays that the kernel only reads, for the elements that the two threads load.
//!
//! Input: loads with `{:entries}` (`kernel::array_facts`), whose values are a function of the offset. Output: behind each of
//! them, variables that keep where it loaded, and an assumption for each pair of such loads so far of either thread.
//! Establishes: what is assumed is the fact for two elements that threads have loaded. Elements start at multiples of their
//! size from where the array starts; nothing is assumed of what lies before that. Where variables are arbitrary (at the head of
//! a loop), one choice is that nothing was loaded, or what really was, so no execution is lost. Relies on: the array
//! holds the same all the time. Reference: README, "Annotations".

use super::copies::Copies;
use crate::ivl::ast::{AttributeArg, ExprRef, Name, Stmt, StmtKind, Thread, Type, Variable};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Premise;
use crate::kernel::ENTRIES;
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
        let value = |at: &Loaded| bv::call(function.clone(), vec![at.offset.clone()], Type::Bv(8 * bytes));
        for fact in facts {
            let pairs = before.iter().flatten().flat_map(|old| now.iter().map(move |new| (old, new)));
            for (a, b) in pairs.chain([(&now[0], &now[1])]) {
                let both = [a, b].map(|at| bv::and(at.active.clone(), is_element(&at.offset, bytes)));
                let [first, second] = both;
                let holds = holds(fact, [&a.offset, &b.offset], [value(a), value(b)]);
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
