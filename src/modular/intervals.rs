//! Bounds of integer variables at the heads of loops.
//!
//! Input: a body. Output: the same, with an `assert {:inferred}` of bounds in front of each loop head's invariants.
//! Establishes: nothing that is not proved: what it adds is checked like an invariant of the user.
//! Relies on: labels exist, no variable hides another. Reference: Cousot and Cousot, abstract interpretation over intervals, with widening and two
//! rounds of narrowing; Boogie infers the same by default, also without `where` clauses.

use crate::flow::{Graph, Order};
use crate::ivl::ast::{
    BinaryOp, Expr, ExprKind, ExprRef, FREE_CALL, Implementation, Name, Procedure, Program, Stmt, StmtKind, Type,
    UnaryOp,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Claim;
use crate::ivl::{bv, graph, visit};
use crate::vcgen::passify::Target;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds over the whole body after the widening, which make bounds tighter.
const NARROWINGS: usize = 2;

/// Values from `low` to `high`; `None` is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    low: Option<i128>,
    high: Option<i128>,
}

const ANY: Interval = Interval { low: None, high: None };

impl Interval {
    fn of(value: i128) -> Self {
        Interval { low: Some(value), high: Some(value) }
    }

    fn join(self, other: Self) -> Self {
        let low = self.low.zip(other.low).map(|(a, b)| a.min(b));
        Interval { low, high: self.high.zip(other.high).map(|(a, b)| a.max(b)) }
    }

    fn meet(self, other: Self) -> Self {
        let low = self.low.into_iter().chain(other.low).max();
        Interval { low, high: self.high.into_iter().chain(other.high).min() }
    }

    /// Bounds that moved are given up.
    fn widen(self, next: Self) -> Self {
        let keep = |old: Option<i128>, moved: bool| if moved { None } else { old };
        let moved_down = self.low.is_some_and(|low| next.low.is_none_or(|next| next < low));
        let moved_up = self.high.is_some_and(|high| next.high.is_none_or(|next| next > high));
        Interval { low: keep(self.low, moved_down), high: keep(self.high, moved_up) }
    }

    fn add(self, other: Self) -> Self {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Interval { low: sum(self.low, other.low), high: sum(self.high, other.high) }
    }

    fn negate(self) -> Self {
        let negated = |bound: Option<i128>| bound?.checked_neg();
        Interval { low: negated(self.high), high: negated(self.low) }
    }

    fn multiply(self, other: Self) -> Self {
        let (Some(a), Some(b), Some(c), Some(d)) = (self.low, self.high, other.low, other.high) else {
            let negative = |i: Interval| i.low.is_none_or(|low| low < 0);
            return if negative(self) || negative(other) { ANY } else { Interval { low: Some(0), high: None } };
        };
        let corners = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(y));
        match corners.into_iter().collect::<Option<Vec<i128>>>() {
            Some(all) => Interval { low: all.iter().min().copied(), high: all.iter().max().copied() },
            None => ANY,
        }
    }

    /// Euclidean quotient by a positive constant.
    fn divide(self, divisor: i128) -> Self {
        let by = |bound: Option<i128>| Some(bound?.div_euclid(divisor));
        Interval { low: by(self.low), high: by(self.high) }
    }

    fn is_empty(self) -> bool {
        self.low.zip(self.high).is_some_and(|(low, high)| low > high)
    }
}

/// Bounds of variables; one that is absent has none.
type State = BTreeMap<Name, Interval>;

/// Adds bounds to the loop heads of a body.
pub(crate) fn run<'a>(program: &Program, target: Target, body: Cow<'a, Implementation>) -> Cow<'a, Implementation> {
    let analysis = Analysis::new(program, &body);
    if analysis.heads.is_empty() {
        return body;
    }
    let at_entry = analysis.run(at_start(program, target));
    let facts_of = |head: &usize| {
        let bounds = at_entry[*head].iter().flatten().filter(|(name, _)| analysis.assigned.contains(*name));
        (*head, bounds.flat_map(|(name, &interval)| facts(name, interval)).collect::<Vec<Stmt>>())
    };
    let facts: Vec<(usize, Vec<Stmt>)> = analysis.heads.iter().map(facts_of).collect();
    let mut body = body.into_owned();
    for (head, facts) in facts {
        body.blocks[head].stmts.splice(0..0, facts);
    }
    Cow::Owned(body)
}

/// What axioms and preconditions say.
fn at_start(program: &Program, target: Target) -> Option<State> {
    let procedure = target.procedure;
    let pairs = procedure.params.iter().zip(target.params);
    let names = pairs.map(|(formal, own)| (formal.name.clone(), bv::var(own.name.clone(), own.ty.clone()))).collect();
    let mut state = State::new();
    for axiom in &program.axioms {
        assume(&axiom.expr, true, &mut state)?;
    }
    for requires in &procedure.requires {
        assume(&visit::substitute(&requires.expr, &names), true, &mut state)?;
    }
    Some(state)
}

/// `low <= x`, `x <= high`
fn facts(name: &Name, interval: Interval) -> Vec<Stmt> {
    let variable = || bv::var(name.clone(), Type::Int);
    let low = interval.low.map(|low| bv::op(BinaryOp::Le, bv::int(low), variable()));
    let high = interval.high.map(|high| bv::op(BinaryOp::Le, variable(), bv::int(high)));
    let assert = |e| Stmt {
        kind: StmtKind::Assert(Claim::IntegerBound, e),
        attributes: Vec::new(),
        span: crate::span::Span::NONE,
        origin: None,
    };
    low.into_iter().chain(high).map(assert).collect()
}

struct Analysis<'a> {
    program: &'a Program,
    body: &'a Implementation,
    graph: Graph,
    /// Blocks that loops lead back to.
    heads: BTreeSet<usize>,
    /// Variables that the body assigns.
    assigned: BTreeSet<Name>,
    /// How the blocks are visited.
    order: Order,
}

impl<'a> Analysis<'a> {
    fn new(program: &'a Program, body: &'a Implementation) -> Self {
        let graph = graph::of(body);
        let order = Order::of(&graph);
        // A loop without one head, which is refused later, has a block to which an edge goes back, too.
        let edges =
            graph.successors.iter().enumerate().flat_map(|(from, targets)| targets.iter().map(move |to| (from, *to)));
        let heads = edges.filter(|(from, to)| order.goes_back(*from, *to)).map(|(_, to)| to).collect();
        let stmts = body.blocks.iter().flat_map(|block| &block.stmts);
        let mut assigned: BTreeSet<Name> = stmts.flat_map(visit::assigned).cloned().collect();
        assigned.extend(program.globals.iter().map(|global| global.name.clone()));
        Analysis { program, body, graph, heads, assigned, order }
    }

    /// The bounds where control reaches each block; `None`: it does not.
    fn run(&self, start: Option<State>) -> Vec<Option<State>> {
        let mut states: Vec<Option<State>> = vec![None; self.body.blocks.len()];
        // Each bound of each head is given up at most once.
        loop {
            let before = states.clone();
            self.round(&start, &mut states, true);
            if states == before {
                break;
            }
        }
        for _ in 0..NARROWINGS {
            self.round(&start, &mut states, false);
        }
        states
    }

    fn round(&self, start: &Option<State>, states: &mut [Option<State>], widens: bool) {
        for (position, &block) in self.order.nodes.iter().enumerate() {
            let mut arriving = if position == 0 { start.clone() } else { None };
            for &before in &self.graph.predecessors[block] {
                let Some(state) = &states[before] else { continue };
                let Some(left) = self.leave(before, state.clone()) else { continue };
                arriving = Some(arriving.map_or_else(|| left.clone(), |known| join(&known, &left)));
            }
            states[block] = match (&states[block], arriving) {
                (Some(old), Some(new)) if widens && self.heads.contains(&block) => Some(widen(old, &join(old, &new))),
                (_, arriving) => arriving,
            };
        }
    }

    /// The bounds at the end of a block; `None`: control does not come there.
    fn leave(&self, block: usize, mut state: State) -> Option<State> {
        for stmt in &self.body.blocks[block].stmts {
            match &stmt.kind {
                StmtKind::Assign(pairs) => {
                    let values: Vec<(Name, Interval)> =
                        pairs.iter().map(|(name, e)| (name.clone(), value(e, &state))).collect();
                    values.into_iter().for_each(|(name, interval)| set(&mut state, name, interval));
                }
                StmtKind::Assume(_, e) | StmtKind::Assert(_, e) => assume(e, true, &mut state)?,
                StmtKind::Call { procedure, args, results } => {
                    let callee = self.program.procedures.iter().find(|callee| callee.name == *procedure)?;
                    let is_free = stmt.attributes.has(FREE_CALL);
                    self.call(callee, args, results, is_free, &mut state)?;
                }
                _ => forget(visit::assigned(stmt), &mut state),
            }
        }
        Some(state)
    }

    /// What the contract of a callee says. A call that is free does not check its preconditions.
    fn call(
        &self,
        callee: &Procedure,
        args: &[ExprRef],
        results: &[Name],
        is_free: bool,
        state: &mut State,
    ) -> Option<()> {
        let constants = self.program.constants.iter().map(|constant| &constant.variable);
        let shared: Vec<&Name> = self.program.globals.iter().chain(constants).map(|variable| &variable.name).collect();
        let mut inside: State = shared.iter().filter_map(|&name| Some((name.clone(), *state.get(name)?))).collect();
        for (formal, arg) in callee.params.iter().zip(args) {
            set(&mut inside, formal.name.clone(), value(arg, state));
        }
        for requires in callee.requires.iter().filter(|requires| !requires.free && !is_free) {
            assume(&requires.expr, true, &mut inside)?;
        }
        // `old(g)` is a variable of its own.
        let mut before = BTreeMap::new();
        for name in &callee.modifies {
            let old = Name::from(format!("{name}@before"));
            inside.get(name).copied().into_iter().for_each(|interval| set(&mut inside, old.clone(), interval));
            before.insert(name.clone(), bv::var(old, Type::Int));
        }
        forget(&callee.modifies, &mut inside);
        for ensures in &callee.ensures {
            assume(&visit::replace_old(&ensures.expr, &before), true, &mut inside)?;
        }
        let formals = callee.results.iter().map(|result| &result.name);
        let pairs = shared.iter().map(|&name| (name, name)).chain(formals.zip(results));
        pairs.for_each(|(from, to)| set(state, to.clone(), inside.get(from).copied().unwrap_or(ANY)));
        Some(())
    }
}

fn set(state: &mut State, name: Name, interval: Interval) {
    if interval == ANY {
        state.remove(&name);
    } else {
        state.insert(name, interval);
    }
}

fn forget<'n>(names: impl IntoIterator<Item = &'n Name>, state: &mut State) {
    names.into_iter().for_each(|name| {
        state.remove(name);
    });
}

fn join(a: &State, b: &State) -> State {
    let both = a.iter().filter_map(|(name, interval)| Some((name.clone(), interval.join(*b.get(name)?))));
    both.filter(|(_, interval)| *interval != ANY).collect()
}

fn widen(old: &State, new: &State) -> State {
    let both = old.iter().filter_map(|(name, interval)| Some((name.clone(), interval.widen(*new.get(name)?))));
    both.filter(|(_, interval)| *interval != ANY).collect()
}

/// The values of an integer expression.
fn value(e: &Expr, state: &State) -> Interval {
    match &e.kind {
        _ if e.ty != Type::Int => ANY,
        ExprKind::Int(value) => Interval::of(*value),
        ExprKind::Var(name) => state.get(name).copied().unwrap_or(ANY),
        ExprKind::Unary(UnaryOp::Neg, a) => value(a, state).negate(),
        ExprKind::Ite(_, a, b) => value(a, state).join(value(b, state)),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (value(a, state), value(b, state));
            match (op, b.low.filter(|_| b.low == b.high)) {
                (BinaryOp::Add, _) => a.add(b),
                (BinaryOp::Sub, _) => a.add(b.negate()),
                (BinaryOp::Mul, _) => a.multiply(b),
                (BinaryOp::Div, Some(divisor)) if divisor > 0 => a.divide(divisor),
                (BinaryOp::Mod, Some(divisor)) if divisor > 0 => Interval { low: Some(0), high: Some(divisor - 1) },
                _ => ANY,
            }
        }
        _ => ANY,
    }
}

/// Bounds under a condition; `None`: it cannot be true.
fn assume(e: &Expr, holds: bool, state: &mut State) -> Option<()> {
    match &e.kind {
        ExprKind::Bool(value) if *value != holds => return None,
        ExprKind::Unary(UnaryOp::Not, a) => assume(a, !holds, state)?,
        ExprKind::Binary(BinaryOp::And, a, b) if holds => {
            assume(a, true, state)?;
            assume(b, true, state)?;
        }
        ExprKind::Binary(BinaryOp::Or, a, b) if !holds => {
            assume(a, false, state)?;
            assume(b, false, state)?;
        }
        ExprKind::Binary(BinaryOp::Implies, a, b) if !holds => {
            assume(a, true, state)?;
            assume(b, false, state)?;
        }
        ExprKind::Binary(op, a, b) if a.ty == Type::Int => match (op, holds) {
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => at_most(a, b, 0, state)?,
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => at_most(a, b, -1, state)?,
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => at_most(b, a, 0, state)?,
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => at_most(b, a, -1, state)?,
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => {
                at_most(a, b, 0, state)?;
                at_most(b, a, 0, state)?;
            }
            (BinaryOp::Eq, false) | (BinaryOp::Ne, true) => {
                differs(a, b, state)?;
                differs(b, a, state)?;
            }
            _ => {}
        },
        _ => {}
    }
    Some(())
}

/// `a <= b + offset`
fn at_most(a: &Expr, b: &Expr, offset: i128, state: &mut State) -> Option<()> {
    let above = Interval { low: None, high: value(b, state).add(Interval::of(offset)).high };
    let below = Interval { low: value(a, state).add(Interval::of(-offset)).low, high: None };
    restrict(a, above, state)?;
    restrict(b, below, state)
}

/// A bound that is the one value `a` does not have moves by one.
fn differs(a: &Expr, b: &Expr, state: &mut State) -> Option<()> {
    let (interval, other) = (value(a, state), value(b, state));
    let Some(excluded) = other.low.filter(|_| other.low == other.high) else { return Some(()) };
    let low = interval.low.and_then(|low| if low == excluded { low.checked_add(1) } else { Some(low) });
    let high = interval.high.and_then(|high| if high == excluded { high.checked_sub(1) } else { Some(high) });
    restrict(a, Interval { low, high }, state)
}

fn restrict(e: &Expr, to: Interval, state: &mut State) -> Option<()> {
    let interval = value(e, state).meet(to);
    if interval.is_empty() {
        return None;
    }
    if let ExprKind::Var(name) = &e.kind {
        set(state, name.clone(), interval);
    }
    Some(())
}
