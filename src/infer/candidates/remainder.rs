//! Family `remainder`: the loops that a compiler makes of one, some rounds for the remainder and the rest several at once.
//!
//! Shapes, for an active thread and a register x that a round moves by S. Where `x < n` keeps the thread in the loop and
//! another loop moves x by s: `(n - 1 - x) mod S >= S - s`, and what follows, `x + (S - s) < n`: the copies of the body
//! are all below n. Where a counter c goes down to zero by D: `x + (S/D) * (c - 1) < n`, so that x stays below n although
//! the loop does not compare them; n is an unknown of the counter's value on entry.
//! Example: of `for (i = tid; i < n; i += 256)` nvcc makes a loop of `((n - 1 - tid) >> 8) + 1 & 3` rounds and one with
//! four copies: `v_active$1 == 7bv16 ==> BV32_TO_SINT(i$1) + 768 < BV32_TO_SINT(n)`.
//! Inductive because S does not change the rest that S leaves; because what x gains the counter loses.
//! Reference: Muchnick, Advanced Compiler Design and Implementation, 17.4.3 (loop unrolling).

use super::{View, affine, exit_test};
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv;
use crate::vcgen::passive::CutLoop;
use crate::vcgen::term::{BvCompare, Node, Sort, Term, Terms, signed};
use std::collections::{BTreeMap, BTreeSet};

/// Bounds that one counter is tried with.
const MOST_BOUNDS: usize = 4;

/// The steps by which loops move a register, without thread suffix.
pub(crate) type Steps = BTreeMap<Name, BTreeSet<i128>>;

/// The constant steps of all registers, in all loops.
pub(super) fn steps(terms: &mut Terms, loops: &[CutLoop]) -> Steps {
    let mut steps = Steps::new();
    for cut in loops {
        for name in cut.assigned.iter().filter(|name| name.thread() == Some(Thread::First)) {
            let Some(&head) = cut.at_head.get(name).filter(|&&head| matches!(terms.sort(head), Sort::Bv(32 | 64)))
            else {
                continue;
            };
            let ends: BTreeSet<Term> = cut.at_end.iter().filter_map(|end| end.get(name)).copied().collect();
            let updates: BTreeSet<Term> = ends.into_iter().flat_map(|end| terms.leaves(end)).collect();
            for update in updates {
                let step = terms.bv_sub(update, head);
                if let Some(step) = terms.bv_value(step) {
                    steps.entry(name.shared()).or_default().insert(signed(step, terms.width(head)));
                }
            }
        }
    }
    steps
}

/// Whether one loop moves a register several times as far as another one.
pub(super) fn is_split(steps: &Steps) -> bool {
    let divides = |steps: &BTreeSet<i128>| {
        let several = |&step: &i128| steps.iter().any(|&single| 0 < single && single < step && step % single == 0);
        steps.iter().any(several)
    };
    steps.values().any(divides)
}

pub(super) fn propose(view: &mut View) {
    if view.origins.is_none() {
        return;
    }
    for thread in Thread::BOTH {
        let moving = moving(view, thread);
        for test in exit_test::at_next_head(view, thread) {
            if let Some((x, n, compare)) = below(view.terms, test) {
                copies(view, &moving, thread, (x, n, compare));
            } else if let Some(counter) = not_zero(view.terms, test) {
                counted(view, &moving, thread, counter);
            }
        }
    }
}

/// A register that a round moves by a constant.
struct Moving {
    name: Name,
    ty: Type,
    step: i128,
}

/// Those of a thread, by their values at the head.
fn moving(view: &mut View, thread: Thread) -> BTreeMap<Term, Moving> {
    let mut moving = BTreeMap::new();
    for (name, ty) in view.variables.clone() {
        let (name, Type::Bv(width @ (32 | 64))) = (name.of(thread), &ty) else { continue };
        let (width, Some(&head)) = (*width, view.cut.at_head.get(&name)) else { continue };
        if let [step] = affine::steps(view, &name)[..]
            && let Some(step) = view.terms.bv_value(step)
        {
            moving.insert(head, Moving { name, ty, step: signed(step, width) });
        }
    }
    moving
}

/// A comparison `x < n`.
fn below(terms: &Terms, test: Term) -> Option<(Term, Term, BvCompare)> {
    match *terms.node(test) {
        Node::BvCompare(compare @ (BvCompare::Slt | BvCompare::Ult), x, n) => Some((x, n, compare)),
        Node::Not(inner) => match *terms.node(inner) {
            Node::BvCompare(BvCompare::Sle, n, x) => Some((x, n, BvCompare::Slt)),
            Node::BvCompare(BvCompare::Ule, n, x) => Some((x, n, BvCompare::Ult)),
            _ => None,
        },
        _ => None,
    }
}

/// The `x` of a comparison `x != 0`.
fn not_zero(terms: &Terms, test: Term) -> Option<Term> {
    let Node::Not(inner) = *terms.node(test) else { return None };
    let Node::Eq(a, b) = *terms.node(inner) else { return None };
    match [a, b].map(|side| terms.bv_value(side)) {
        [Some(0), _] => Some(b),
        [_, Some(0)] => Some(a),
        _ => None,
    }
}

/// A loop that ends at a bound, of which another loop does single rounds.
fn copies(view: &mut View, moving: &BTreeMap<Term, Moving>, thread: Thread, (x, n, compare): (Term, Term, BvCompare)) {
    let (Some(Moving { name, ty, step }), Some(n)) = (moving.get(&x), view.reify(n)) else { return };
    let elsewhere = view.steps.get(&name.shared()).into_iter().flatten();
    let single: Vec<i128> = elsewhere.copied().filter(|&s| 0 < s && s < *step && step % s == 0).collect();
    let as_int = |e| if compare == BvCompare::Slt { bv::to_sint(e) } else { bv::to_int(e) };
    let (n, x) = (as_int(n), as_int(bv::var(name.clone(), ty.clone())));
    for s in single {
        let last = bv::op(BinaryOp::Sub, bv::op(BinaryOp::Sub, n.clone(), bv::int(1)), x.clone());
        let rest = bv::op(BinaryOp::Mod, last, bv::int(*step));
        let bound = bv::op(BinaryOp::Add, x.clone(), bv::int(step - s));
        for form in [bv::op(BinaryOp::Le, bv::int(step - s), rest), bv::op(BinaryOp::Lt, bound, n.clone())] {
            view.propose("remainder", bv::implies(view.active(thread), form));
        }
    }
}

/// A loop whose rounds a counter counts down.
fn counted(view: &mut View, moving: &BTreeMap<Term, Moving>, thread: Thread, counter: Term) {
    let Some(Moving { name, ty, step }) = moving.get(&counter).filter(|counter| counter.step < 0) else { return };
    let (rounds, bounds) = (-step, bounds(view, name));
    let left = bv::to_sint(bv::var(name.clone(), ty.clone()));
    for x in moving.values().filter(|x| x.ty == *ty && x.step > 0 && x.step % rounds == 0) {
        let single = x.step / rounds;
        let several = several(view, x, single);
        let to_go = bv::op(BinaryOp::Sub, left.clone(), bv::int(1));
        let x = bv::to_sint(bv::var(x.name.clone(), x.ty.clone()));
        let last = bv::op(BinaryOp::Add, x.clone(), bv::op(BinaryOp::Mul, bv::int(single), to_go));
        let of_copies = bv::op(BinaryOp::Add, x, bv::int(single * (rounds - 1)));
        for n in &bounds {
            for place in [&last, &of_copies] {
                let below = bv::op(BinaryOp::Lt, place.clone(), n.clone());
                view.propose("remainder", bv::implies(view.active(thread), below));
            }
            for copies in &several {
                let rest = bv::op(BinaryOp::Sub, n.clone(), bv::op(BinaryOp::Add, last.clone(), bv::int(single + 1)));
                let rest = bv::op(BinaryOp::Mod, rest, bv::int(*copies));
                let whole = bv::op(BinaryOp::Le, bv::int(copies - single), rest);
                view.propose("remainder", bv::implies(view.active(thread), whole));
            }
        }
    }
}

/// How far a round of another loop moves a register that moves by single steps here.
fn several(view: &View, x: &Moving, single: i128) -> Vec<i128> {
    let elsewhere = view.steps.get(&x.name.shared()).into_iter().flatten();
    elsewhere.copied().filter(|&step| single < step && step % single == 0).collect()
}

/// Unknowns in a counter's value on entry, as integers.
fn bounds(view: &mut View, counter: &Name) -> Vec<ExprRef> {
    let (Some(&head), Some(&entry)) = (view.cut.at_head.get(counter), view.cut.entry.get(counter)) else {
        return Vec::new();
    };
    let (sort, mut symbols) = (view.terms.sort(head), BTreeSet::new());
    view.terms.collect_symbols(entry, &mut Default::default(), &mut symbols);
    let is_bound = |&symbol: &Term| view.terms.sort(symbol) == sort && view.may_be_bound(symbol);
    let like: Vec<Term> = symbols.into_iter().filter(is_bound).collect();
    like.into_iter().filter_map(|symbol| view.reify(symbol)).map(bv::to_sint).take(MOST_BOUNDS).collect()
}
