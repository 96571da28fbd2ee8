//! What the threads of a block stored, each at a place of its own, behind the barrier that they all pass.
//!
//! Input: stores that are pending at a barrier. Output: for a later load the value that some third thread stored there.
//! Establishes: the value of [`Table::value`] is what memory holds in each execution that did not race before. Relies
//! on: a Boolean that is private, assigned once and computed from `v_active` tells where all threads that pass a
//! barrier have been (stage 4), and so does the way there, where no loop is on it: a thread comes to a block exactly where one
//! of the blocks before it sent it there (`v_active`); two threads of a block that do not pass it together fail its
//! assertion. Variables
//! without predication are assigned before every use, so one that has one assignment has that value wherever it is read.
//! Reference: Chong et al., "Barrier invariants: a shared state abstraction for the analysis of data-dependent GPU
//! kernels"; the thread that such an invariant is instantiated for is computed here from the place that is read.
//!
//! A store `A[place] := value` becomes a rule if place, value and guards are expressions of the launch, the parameters
//! and the thread's own numbers. They are then the same functions for all threads: thread `k` stored `value(k)` at
//! `place(k)`, if its guards hold. Example: behind `s[4 * tid] := n - tid; barrier` the load of `s[o]` has k = o / 4, and
//! yields n - k if k is a thread of the block and 4 * k is o. Behind `if (tid == 31) s[0] = n; barrier` the guard says which k
//! may have stored at a place that is the same for all. Whatever k is guessed, the conditions are tested, so a
//! wrong guess costs a proof and nothing else.
//!
//! A later store by thread k might have hidden it: its place must be known as well, and must not touch this one.
//!
//! A store of an expression of what an atomic with a ticket returned is a rule, too ([`Obtained`]), if place and guards of store
//! and atomic are expressions as above: what is loaded is then made of a ticket that thread k of this block got, whatever its value
//! ([`Table::tickets`]). The variable has that atomic as its one assignment, so it holds what the atomic returned to k the last time.

use super::super::accesses::byte_offset;
use super::super::copies::{Copies, Variation};
use crate::ivl::ast::{BinaryOp, Constant, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Thread, Type};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::visit::{assigned, children, free_vars, map_children, substitute};
use crate::kernel::TICKET;
use crate::predicate::Predicated;
use std::collections::BTreeMap;

/// What an atomic with a ticket returns to a thread.
#[derive(Clone)]
pub(crate) struct Obtained {
    /// The atomic.
    pub(crate) stmt: Stmt,
    /// The variable that holds its result.
    pub(crate) result: Name,
    /// What is stored, of it and constants.
    pub(crate) value: ExprRef,
    /// The byte offset of the counter, 64 bits.
    pub(crate) offset: ExprRef,
}

/// Expressions with more nodes than this are not looked at.
const MOST_NODES: usize = 200;

/// Equalities of guards that are tried.
const MOST_GUESSES: usize = 2;

/// Variables that are defined once, and what is known of constants.
pub(crate) struct Definitions {
    /// Each with its value.
    once: BTreeMap<Name, ExprRef>,
    /// Each with the atomic that is its one assignment.
    obtained: BTreeMap<Name, Stmt>,
    constants: BTreeMap<Name, Variation>,
    /// Threads of a block along x.
    extent: Option<ExprRef>,
    /// Whether a block has one row of threads.
    is_row: bool,
    /// `v_active`, and where blocks send the threads that are there: `v_active := if p.B then to else v_active`.
    active: Name,
    sent: Vec<(Option<ExprRef>, ExprRef)>,
}

impl Definitions {
    /// Collects the definitions of a kernel; `block` are its sizes, if they are fixed.
    pub(crate) fn of(predicated: &Predicated, body: &Implementation, block: [Option<u32>; 3]) -> Definitions {
        let program = &predicated.program;
        let mut times: BTreeMap<&Name, u32> = BTreeMap::new();
        let mut values: BTreeMap<Name, ExprRef> = BTreeMap::new();
        let (mut obtained, mut sent) = (BTreeMap::new(), Vec::new());
        for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
            assigned(stmt).into_iter().for_each(|name| *times.entry(name).or_default() += 1);
            if !matches!(stmt.kind, StmtKind::Assign(_)) && assigned(stmt).contains(&&predicated.active) {
                // Nothing does; it would lead anywhere.
                sent.push((None, bv::var(predicated.active.clone(), Type::Bool)));
            }
            if let StmtKind::Atomic { dst: Some(dst), .. } = &stmt.kind
                && stmt.attributes.has(TICKET)
            {
                obtained.insert(dst.clone(), stmt.clone());
            }
            if let StmtKind::Assign(pairs) = &stmt.kind {
                values.extend(pairs.iter().cloned());
                let moves = pairs.iter().filter(|(name, _)| *name == predicated.active);
                sent.extend(moves.map(|(active, value)| sending(active, value)));
            }
        }
        values.retain(|name, _| times.get(name) == Some(&1));
        obtained.retain(|name, _| times.get(name) == Some(&1));
        let variation = |constant: &Constant| (constant.variable.name.clone(), Variation::of(&constant.variable));
        let constants: BTreeMap<Name, Variation> = program.constants.iter().map(variation).collect();
        let size = Name::from("ntid.x");
        let free = constants.contains_key(&size).then(|| bv::var(size, Type::Bv(32)));
        let extent = block[0].map(|extent| bv::literal(u128::from(extent), 32)).or(free);
        let is_row = block[1..] == [Some(1); 2];
        Definitions { once: values, obtained, constants, extent, is_row, active: predicated.active.clone(), sent }
    }

    /// The expression over constants alone; `None` if it depends on anything else, or is large.
    fn resolved(&self, e: &ExprRef) -> Option<ExprRef> {
        let mut nodes = MOST_NODES;
        self.resolve(e, None, &mut nodes)
    }

    /// Where `granted` is a Boolean that holds.
    fn resolve(&self, e: &ExprRef, granted: Option<&Name>, nodes: &mut usize) -> Option<ExprRef> {
        *nodes = nodes.checked_sub(1)?;
        match &e.kind {
            ExprKind::Var(name) => match self.constants.get(name) {
                // A thread has other numbers than these only if nothing relates it to them.
                Some(Variation::Thread) => is_coordinate(name).then(|| e.clone()),
                Some(_) => Some(e.clone()),
                None if granted.is_some_and(|granted| self.root(granted) == self.root(name)) => Some(bv::boolean(true)),
                None => {
                    let value = self.once.get(name)?;
                    match self.block_of(value) {
                        Some(block) => self.comes_to(block, granted, nodes),
                        None => self.resolve(value, granted, nodes),
                    }
                }
            },
            ExprKind::Quantifier { .. } | ExprKind::Old(_) | ExprKind::Select(..) | ExprKind::Store(..) => None,
            _ => {
                let mut failed = false;
                let result = map_children(e, &mut |child| match self.resolve(child, granted, nodes) {
                    Some(resolved) if !failed => resolved,
                    _ => {
                        failed = true;
                        child.clone()
                    }
                });
                (!failed).then_some(result)
            }
        }
    }

    /// The atomic that gave a value, or what it is made of, its counter's offset over constants and who executes it, of those
    /// who pass a barrier.
    fn obtained(&self, value: &ExprRef, barrier: &ExprRef) -> Option<(Obtained, Vec<ExprRef>)> {
        let mut found = None;
        let value = self.of_one_ticket(value, &mut found, &mut { MOST_NODES })?;
        let result = found?;
        let stmt = self.obtained.get(&result)?;
        let StmtKind::Atomic { access, .. } = &stmt.kind else { return None };
        let own = access.own_guard();
        let guards = own.map_or_else(|| Some(Vec::new()), |own| guards(self, barrier, &own))?;
        let offset = self.resolved(&byte_offset(access)?)?;
        Some((Obtained { stmt: stmt.clone(), result, value, offset }, guards))
    }

    /// The expression over constants and one variable with a ticket, which is found.
    fn of_one_ticket(&self, e: &ExprRef, found: &mut Option<Name>, nodes: &mut usize) -> Option<ExprRef> {
        *nodes = nodes.checked_sub(1)?;
        match &e.kind {
            ExprKind::Var(name) if self.obtained.contains_key(name) => {
                (found.get_or_insert_with(|| name.clone()) == name).then(|| e.clone())
            }
            ExprKind::Var(name) => match self.once.get(name) {
                Some(value) if !self.constants.contains_key(name) => self.of_one_ticket(value, found, nodes),
                _ => self.resolved(e),
            },
            ExprKind::Quantifier { .. } | ExprKind::Old(_) | ExprKind::Select(..) | ExprKind::Store(..) => None,
            _ => {
                let mut failed = false;
                let result = map_children(e, &mut |child| match self.of_one_ticket(child, found, nodes) {
                    Some(resolved) if !failed => resolved,
                    _ => {
                        failed = true;
                        child.clone()
                    }
                });
                (!failed).then_some(result)
            }
        }
    }

    /// The block of `v_active == block`.
    fn block_of(&self, e: &ExprRef) -> Option<u128> {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Eq, left, right) => match (&left.kind, &right.kind) {
                (ExprKind::Var(name), ExprKind::Bv(block)) if *name == self.active => Some(*block),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a thread comes to a block. Around a loop this goes on until no nodes are left.
    fn comes_to(&self, block: u128, granted: Option<&Name>, nodes: &mut usize) -> Option<ExprRef> {
        let mut comes = bv::boolean(false);
        for (from, to) in &self.sent {
            let chosen = leads(to, block)?;
            if chosen.kind == ExprKind::Bool(false) {
                continue;
            }
            let chosen = self.resolve(&chosen, granted, nodes)?;
            let from = match from {
                Some(from) => self.resolve(from, granted, nodes)?,
                None => bv::boolean(true),
            };
            comes = bv::or(comes, bv::and(from, chosen));
        }
        Some(comes)
    }

    /// The Boolean that a Boolean stands for: `p.B2 := p.B1`.
    fn root<'d>(&'d self, name: &'d Name) -> &'d Name {
        match self.once.get(name).map(|value| &value.kind) {
            Some(ExprKind::Var(other)) => self.root(other),
            _ => name,
        }
    }
}

/// Who is sent, all where it is `None`, and where to.
fn sending(active: &Name, value: &ExprRef) -> (Option<ExprRef>, ExprRef) {
    match &value.kind {
        ExprKind::Ite(from, to, other) if other.kind == ExprKind::Var(active.clone()) => {
            (Some(from.clone()), to.clone())
        }
        _ => (None, value.clone()),
    }
}

/// When an expression that chooses between blocks is this one; `None` where it is no such expression.
fn leads(to: &ExprRef, block: u128) -> Option<ExprRef> {
    match &to.kind {
        ExprKind::Bv(chosen) => Some(bv::boolean(*chosen == block)),
        ExprKind::Ite(condition, then, otherwise) => {
            let (then, otherwise) = (leads(then, block)?, leads(otherwise, block)?);
            let first = bv::and(condition.clone(), then);
            Some(bv::or(first, bv::and(bv::not(condition.clone()), otherwise)))
        }
        _ => None,
    }
}

fn is_coordinate(name: &Name) -> bool {
    matches!(name.as_str(), "tid.x" | "tid.y" | "tid.z")
}

/// What is stored.
enum Value {
    Known(ExprRef),
    Ticket(Box<Obtained>),
}

/// A store of every thread, over constants.
struct Rule {
    bytes: u32,
    place: ExprRef,
    value: Value,
    /// Who stores.
    guards: Vec<ExprRef>,
    /// Places and widths of the stores that come later.
    later: Vec<(ExprRef, u32)>,
}

/// A store that is pending at the barrier.
pub(crate) struct Open {
    /// Width in bytes.
    pub(crate) bytes: u32,
    /// When a thread stores.
    pub(crate) guard: ExprRef,
    /// Byte offset, 64 bits.
    pub(crate) place: ExprRef,
    /// What it stores.
    pub(crate) value: ExprRef,
}

/// What is known of an array since a barrier.
#[derive(Default)]
pub(crate) struct Table {
    rules: Vec<Rule>,
    /// For each thread: whether it passed the barrier.
    passed: Option<[ExprRef; 2]>,
}

impl Table {
    /// The rules behind a barrier with this guard. `passed`: variables that hold what the guard was.
    pub(crate) fn new(definitions: &Definitions, guard: &ExprRef, stores: &[Open], passed: [ExprRef; 2]) -> Table {
        let mut rules: Vec<Rule> = Vec::new();
        let mut later = Some(Vec::new());
        for store in stores.iter().rev() {
            let place = definitions.resolved(&store.place);
            let rule = later.as_ref().and_then(|later| {
                let mut who = guards(definitions, guard, &store.guard)?;
                let value = match definitions.resolved(&store.value) {
                    Some(value) => Value::Known(value),
                    None => {
                        let (ticket, executes) = definitions.obtained(&store.value, guard)?;
                        who.extend(executes);
                        Value::Ticket(Box::new(ticket))
                    }
                };
                let (bytes, place) = (store.bytes, place.clone()?);
                Some(Rule { bytes, place, value, guards: who, later: Vec::clone(later) })
            });
            rules.extend(rule);
            later = later.and_then(|mut all: Vec<_>| {
                all.push((place?, store.bytes));
                Some(all)
            });
        }
        Table { rules, passed: Some(passed) }
    }

    /// What a thread finds at its offset; `otherwise` where no rule says.
    pub(crate) fn value(
        &self,
        definitions: &Definitions,
        copies: &Copies,
        thread: Thread,
        (offset, bytes): (&ExprRef, u32),
        otherwise: ExprRef,
    ) -> ExprRef {
        let found = self.found(definitions, copies, thread, (offset, bytes)).into_iter();
        found.fold(otherwise, |otherwise, Found { rule, writer, holds }| match &rule.value {
            Value::Known(value) => bv::ite(holds, copies.expr(&substitute(value, &writer), thread), otherwise),
            Value::Ticket(_) => otherwise,
        })
    }

    /// The tickets that a thread may find at its offset, with the offset of the counter: each when a formula holds.
    pub(crate) fn tickets(
        &self,
        definitions: &Definitions,
        copies: &Copies,
        thread: Thread,
        place: (&ExprRef, u32),
    ) -> Vec<(ExprRef, Obtained)> {
        let found = self.found(definitions, copies, thread, place).into_iter();
        let ticket = |Found { rule, writer, holds }: Found<'_>| match &rule.value {
            Value::Known(_) => None,
            Value::Ticket(ticket) => {
                let of = |e: &ExprRef| copies.expr(&substitute(e, &writer), thread);
                let (offset, result) = (of(&ticket.offset), ticket.result.of(thread));
                Some((holds, Obtained { stmt: ticket.stmt.clone(), result, value: of(&ticket.value), offset }))
            }
        };
        found.filter_map(ticket).collect()
    }

    /// The rules that may say what a thread finds at its offset, for each guess who stored it.
    fn found<'t>(
        &'t self,
        definitions: &Definitions,
        copies: &Copies,
        thread: Thread,
        (offset, bytes): (&ExprRef, u32),
    ) -> Vec<Found<'t>> {
        let (Some(extent), Some(passed)) = (&definitions.extent, &self.passed) else { return Vec::new() };
        let passed = &passed[thread.number() as usize - 1];
        let [tid, row, layer] = ["tid.x", "tid.y", "tid.z"].map(Name::from);
        let rules = self.rules.iter().filter(|rule| rule.bytes == bytes);
        let guesses = rules.flat_map(|rule| {
            let rows = [false, true].into_iter().take(if definitions.is_row { 1 } else { 2 });
            rows.flat_map(move |first_row| guesses(rule).into_iter().map(move |guess| (rule, first_row, guess)))
        });
        let found = guesses.filter_map(|(rule, first_row, guess)| {
            let thread_of = |writer: &ExprRef| {
                let mut thread_of = BTreeMap::from([(tid.clone(), writer.clone())]);
                if first_row {
                    thread_of.extend([&row, &layer].map(|axis| (axis.clone(), bv::literal(0, 32))));
                }
                thread_of
            };
            let of = |e: &ExprRef, writer: &ExprRef| copies.expr(&substitute(e, &thread_of(writer)), thread);
            let writer = match guess {
                Guess::Place => writer(&rule.place, &tid, offset, |e, k| of(e, k)),
                Guess::Zero => Some(bv::literal(0, 32)),
                Guess::Equal(a, b) => solution(&a, &b, &tid, |e, k| of(e, k)),
            };
            let writer = writer?;
            let mut holds = bv::and(passed.clone(), bv::binary(BvOp::Ult, writer.clone(), extent.clone()));
            holds = bv::and(holds, bv::eq(of(&rule.place, &writer), offset.clone()));
            for guard in &rule.guards {
                holds = bv::and(holds, of(guard, &writer));
            }
            for (place, width) in &rule.later {
                holds = bv::and(holds, bv::not(super::touches(&of(place, &writer), *width, offset, bytes)));
            }
            Some(Found { rule, writer: thread_of(&writer), holds })
        });
        found.collect()
    }
}

/// A rule for one thread that may have stored.
struct Found<'t> {
    rule: &'t Rule,
    /// The numbers of that thread.
    writer: BTreeMap<Name, ExprRef>,
    /// When it has stored what is there.
    holds: ExprRef,
}

/// Where the thread that stored is looked for.
enum Guess {
    /// It is the one whose place this is.
    Place,
    Zero,
    /// Both sides are equal for it.
    Equal(ExprRef, ExprRef),
}

/// Of a place that is one for all threads the guards say who may have stored there.
fn guesses(rule: &Rule) -> Vec<Guess> {
    let tid = Name::from("tid.x");
    if factor(&rule.place, &tid) != Some(0) {
        return vec![Guess::Place];
    }
    let mut found = Vec::new();
    rule.guards.iter().for_each(|guard| equalities(guard, &tid, &mut found));
    found.truncate(MOST_GUESSES);
    let equal = found.into_iter().map(|(a, b)| Guess::Equal(a, b));
    equal.chain([Guess::Zero]).collect()
}

/// The equalities about a thread's number in a formula, negated or not.
fn equalities(e: &ExprRef, tid: &Name, found: &mut Vec<(ExprRef, ExprRef)>) {
    if let ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) = &e.kind
        && a.ty == Type::Bv(32)
        && free_vars(e).contains(tid)
        && !found.iter().any(|(c, d)| (c, d) == (a, b))
    {
        found.push((a.clone(), b.clone()));
    }
    children(e).iter().for_each(|child| equalities(child, tid, found));
}

/// The thread's number for which two sides are equal: 32 bits.
fn solution(a: &ExprRef, b: &ExprRef, tid: &Name, of: impl Fn(&ExprRef, &ExprRef) -> ExprRef) -> Option<ExprRef> {
    let zero = bv::literal(0, 32);
    let [at_a, at_b] = [a, b].map(|side| of(side, &zero));
    match factor(a, tid)? - factor(b, tid)? {
        1 => Some(bv::sub(at_b, at_a)),
        -1 => Some(bv::sub(at_a, at_b)),
        _ => None,
    }
}

/// The guards of a store over constants, without the one that all who pass the barrier satisfy.
fn guards(definitions: &Definitions, barrier: &ExprRef, guard: &ExprRef) -> Option<Vec<ExprRef>> {
    match (&guard.kind, &barrier.kind) {
        (ExprKind::Binary(BinaryOp::And, a, b), _) => {
            let mut all = guards(definitions, barrier, a)?;
            all.extend(guards(definitions, barrier, b)?);
            Some(all)
        }
        (ExprKind::Var(own), ExprKind::Var(passed)) if definitions.root(own) == definitions.root(passed) => {
            Some(Vec::new())
        }
        (_, passed) => {
            let granted = if let ExprKind::Var(passed) = passed { Some(passed) } else { None };
            Some(vec![definitions.resolve(guard, granted, &mut { MOST_NODES })?])
        }
    }
}

/// The thread that stores at `offset`, if the place is linear in the thread's number: 32 bits.
fn writer(
    place: &ExprRef,
    tid: &Name,
    offset: &ExprRef,
    of: impl Fn(&ExprRef, &ExprRef) -> ExprRef,
) -> Option<ExprRef> {
    let factor = factor(place, tid).filter(|factor| *factor != 0)?;
    let start = of(place, &bv::literal(0, 32));
    let distance = if factor > 0 { bv::sub(offset.clone(), start) } else { bv::sub(start, offset.clone()) };
    let by = bv::literal(u128::from(factor.unsigned_abs()), 64);
    let number = if factor.unsigned_abs() == 1 { distance } else { bv::binary(BvOp::Udiv, distance, by) };
    Some(bv::extract(number, 32, 0))
}

/// The factor of `tid` in an expression, as if numbers did not wrap; `None` if it is not seen to be linear.
fn factor(e: &ExprRef, tid: &Name) -> Option<i64> {
    if !free_vars(e).contains(tid) {
        return Some(0);
    }
    let operands = children(e);
    let literal = |e: &ExprRef| match e.kind {
        ExprKind::Bv(value) => i64::try_from(value).ok(),
        _ => None,
    };
    match (&e.kind, &operands[..]) {
        (ExprKind::Var(_), _) => Some(1),
        (ExprKind::Call(name, _), [a]) if is_extension(name) => factor(a, tid),
        (ExprKind::Call(name, _), [a, b]) => {
            let operator = name.as_str().split_once('_').map(|(_, operator)| operator)?;
            match operator {
                "ADD" => factor(a, tid)?.checked_add(factor(b, tid)?),
                "SUB" => factor(a, tid)?.checked_sub(factor(b, tid)?),
                "MUL" => match (literal(a), literal(b)) {
                    (Some(by), _) => factor(b, tid)?.checked_mul(by),
                    (_, Some(by)) => factor(a, tid)?.checked_mul(by),
                    _ => None,
                },
                "SHL" => factor(a, tid)?.checked_mul(1i64.checked_shl(u32::try_from(literal(b)?).ok()?)?),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Extensions of either sign.
fn is_extension(function: &Name) -> bool {
    let operator = function.as_str().split_once('_').map(|(_, operator)| operator);
    operator.is_some_and(|operator| operator.starts_with("ZEXT") || operator.starts_with("SEXT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_linear_places() {
        let tid = Name::from("tid.x");
        let thread = || bv::var(tid.clone(), Type::Bv(32));
        let scaled = bv::zext(bv::binary(BvOp::Shl, thread(), bv::literal(2, 32)), 64);
        assert_eq!(factor(&scaled, &tid), Some(4));
        let down = bv::sub(bv::literal(255, 32), thread());
        assert_eq!(factor(&bv::mul(bv::sext(down, 64), bv::literal(8, 64)), &tid), Some(-8));
        assert_eq!(factor(&bv::mul(thread(), thread()), &tid), None);
        assert_eq!(factor(&bv::binary(BvOp::Xor, thread(), bv::literal(1, 32)), &tid), None);
    }
}
