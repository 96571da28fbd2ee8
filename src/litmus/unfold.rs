//! Threads as events with conditions.
//!
//! Input: a resolved test. Output: [`Unfolded`]: all events that may happen, each with the condition under which it does, and the
//! last values of registers, as terms over the values that are read. Establishes: events of a thread are in program order; what
//! depends on what (data, control) is known. Relies on: [`mod@super::unroll`]: jumps lead forward, so one pass in the order of the code
//! sees each instruction after all that lead to it. Reference: herd7's dependencies (all behind a branch depends on it).

use super::ast::Comparison;
use super::event::{Accessed, Dependencies, Event, Kind, Round};
use super::instruction::{
    Access, Action, Arithmetic, Instruction, Meeting, Proxy, ProxyFence, Scope, Semantics, Update, Value,
};
use super::test::{Item, Litmus, Thread};
use super::unroll::{self, Loop, Unrolled, is_cut};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::vcgen::term::{BvBinary, BvCompare, Sort, Term, Terms};
use std::collections::BTreeMap;

/// All values have 32 bits.
pub(crate) const WIDTH: u32 = 32;
/// Tests with more events are refused.
const MOST_EVENTS: usize = 200;

/// All that may happen.
pub(crate) struct Unfolded {
    pub(crate) events: Vec<Event>,
    /// Last values, for each thread.
    pub(crate) registers: Vec<BTreeMap<String, Term>>,
    /// Whether some thread would have begun one more round of a loop.
    pub(crate) cut: Term,
    /// The same of loops whose further rounds may matter.
    pub(crate) cut_matters: Term,
}

/// Unfolds all threads, loops into so many copies.
///
/// # Errors
/// The test is too large.
pub(crate) fn unfold(test: &Litmus, copies: usize, terms: &mut Terms) -> Result<Unfolded, Diagnostic> {
    let never = terms.boolean(false);
    let mut all = Unfolded { events: Vec::new(), registers: Vec::new(), cut: never, cut_matters: never };
    for (number, location) in test.names.locations.iter().enumerate() {
        let address = test.names.variables.iter().find(|variable| variable.location == number);
        let address = address.map_or(0, |variable| variable.address);
        let value = terms.bv(u128::from(location.initial), WIDTH);
        let guard = terms.boolean(true);
        let access = Some(Accessed { location: number, address, value });
        all.events.push(Event { access, ..Event::new(Kind::Initial, None, guard, vec!["GEN"], Span::NONE) });
    }
    for (number, thread) in test.threads.iter().enumerate() {
        let mut loops = Vec::new();
        let code = unroll::unroll(&thread.code, copies, &mut loops)?;
        let mut walk = Walk::new(test, number, terms, &mut all.events, loops.len());
        walk.start(thread);
        for one in &code {
            walk.item(one)?;
        }
        let Walk { registers, cuts, effects, .. } = walk;
        all.registers.push(registers.into_iter().map(|(name, known)| (name, known.value)).collect());
        for (number, Loop { is_stateless }) in loops.into_iter().enumerate() {
            let has_effect = if is_stateless { terms.or(effects[number].clone()) } else { terms.boolean(true) };
            let matters = terms.and2(cuts[number], has_effect);
            all.cut = terms.or2(all.cut, cuts[number]);
            all.cut_matters = terms.or2(all.cut_matters, matters);
        }
    }
    Ok(all)
}

impl Event {
    fn new(kind: Kind, thread: Option<usize>, guard: Term, tags: Vec<&'static str>, span: Span) -> Event {
        let (data, control) = (Dependencies::new(), Dependencies::new());
        Event { kind, thread, guard, access: None, tags, data, control, read: None, barrier: None, span }
    }
}

/// What is known of a register, or of a value.
#[derive(Clone)]
struct Known {
    value: Term,
    /// The reads that it comes from.
    from: Dependencies,
}

/// One pass over the code of a thread.
struct Walk<'a> {
    test: &'a Litmus,
    thread: usize,
    terms: &'a mut Terms,
    events: &'a mut Vec<Event>,
    first: usize,
    registers: BTreeMap<String, Known>,
    /// Whether the next instruction is reached.
    live: Term,
    /// The conditions under which labels are jumped to.
    jumps: BTreeMap<String, Vec<Term>>,
    /// What branches so far depended on.
    control: Dependencies,
    /// For each loop: whether it was cut.
    cuts: Vec<Term>,
    /// For each loop: what its last copy does that others can see.
    effects: Vec<Vec<Term>>,
}

impl<'a> Walk<'a> {
    fn new(
        test: &'a Litmus,
        thread: usize,
        terms: &'a mut Terms,
        events: &'a mut Vec<Event>,
        loops: usize,
    ) -> Walk<'a> {
        let (live, never) = (terms.boolean(true), terms.boolean(false));
        let first = events.len();
        let (registers, jumps, control) = (BTreeMap::new(), BTreeMap::new(), Dependencies::new());
        let (cuts, effects) = (vec![never; loops], vec![Vec::new(); loops]);
        Walk { test, thread, terms, events, first, registers, live, jumps, control, cuts, effects }
    }

    fn start(&mut self, thread: &Thread) {
        for (name, value) in &thread.registers {
            let value = self.terms.bv(u128::from(*value), WIDTH);
            self.registers.insert(name.clone(), Known { value, from: Dependencies::new() });
        }
    }

    fn item(&mut self, one: &Unrolled) -> Result<(), Diagnostic> {
        match &one.item {
            Item::Label(label) => {
                let mut from = self.jumps.remove(label).unwrap_or_default();
                from.push(self.live);
                self.live = self.terms.or(from);
            }
            Item::Step(step) => {
                let before = self.events.len();
                self.step(step);
                for event in &self.events[before..] {
                    // Reads and fences of a round that is left out are not missed.
                    if matches!(event.kind, Kind::Write | Kind::Barrier) {
                        one.last_of.iter().for_each(|number| self.effects[*number].push(event.guard));
                    }
                }
                if self.events.len() > MOST_EVENTS {
                    let message = format!("the test has more than {MOST_EVENTS} events");
                    return Err(Diagnostic::unsupported("litmus-loop", message, step.span)
                        .note("`--unroll` asks for fewer copies of loops"));
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Instruction) {
        let (guard, guarded) = self.guard(step);
        let span = step.span;
        match &step.action {
            Action::Load { to, from, access } => {
                let read = self.access(Kind::Read, *from, *access, guard, &guarded, span);
                let value = self.events[read].access.map(|access| access.value);
                self.set(to, guard, Known { value: value.unwrap_or(guard), from: [(read, guard)].into() }, &guarded);
            }
            Action::Store { to, value, access } => {
                let value = self.value(value);
                let write = self.access(Kind::Write, *to, *access, guard, &guarded, span);
                self.write(write, value);
            }
            Action::Atomic { to, at, update, value, access } => {
                self.atomic(to.as_deref(), (*at, *access), update, value, (guard, &guarded), span);
            }
            Action::Fence { semantics, scope } => {
                let mut tags = vec!["GEN", scope_tag(*scope)];
                tags.extend(order_tags(*semantics, true, true));
                self.push(Event::new(Kind::Fence, Some(self.thread), guard, tags, span), &guarded);
            }
            Action::ProxyFence(fence) => {
                let kind = match fence {
                    ProxyFence::Alias => "ALIAS",
                    ProxyFence::Of(proxy) => proxy_tag(*proxy),
                };
                self.push(Event::new(Kind::Fence, Some(self.thread), guard, vec!["PF", kind], span), &guarded);
            }
            Action::Barrier { meeting, number } => self.barrier(*meeting, number, guard, &guarded, span),
            Action::Move { to, value } => {
                let value = self.value(value);
                self.set(to, guard, value, &guarded);
            }
            Action::Arithmetic { to, operation, a, b } => {
                let (a, b) = (self.value(a), self.value(b));
                let value = self.arithmetic(*operation, a.value, b.value);
                let from = self.joined(&a.from, &b.from);
                self.set(to, guard, Known { value, from }, &guarded);
            }
            Action::Select { to, condition, a, b } => {
                let (a, b) = (self.value(a), self.value(b));
                let condition = self.register(condition);
                let holds = self.is_true(condition.value);
                let value = self.terms.ite(holds, a.value, b.value);
                let from = self.joined(&a.from, &b.from);
                let from = self.joined(&from, &condition.from);
                self.set(to, guard, Known { value, from }, &guarded);
            }
            Action::Branch { comparison, label } => self.branch(comparison.as_ref(), label, guard, guarded),
            Action::Exit => {
                let not = self.terms.not(guard);
                self.live = self.terms.and2(self.live, not);
                self.control = self.joined(&self.control.clone(), &guarded);
            }
            Action::Nothing => {}
        }
    }

    /// Whether an instruction is executed, and what its guard depends on.
    fn guard(&mut self, step: &Instruction) -> (Term, Dependencies) {
        let Some((register, negated)) = &step.guard else { return (self.live, Dependencies::new()) };
        let known = self.register(register);
        let holds = self.is_true(known.value);
        let holds = if *negated { self.terms.not(holds) } else { holds };
        (self.terms.and2(self.live, holds), known.from)
    }

    fn branch(
        &mut self,
        comparison: Option<&(Comparison, Value, Value)>,
        label: &str,
        guard: Term,
        guarded: Dependencies,
    ) {
        let mut depends = guarded;
        let taken = match comparison {
            Some((comparison, a, b)) => {
                let (a, b) = (self.value(a), self.value(b));
                let holds = compare(self.terms, *comparison, a.value, b.value);
                let from = self.joined(&a.from, &b.from);
                depends = self.joined(&depends, &from);
                self.terms.and2(guard, holds)
            }
            None => guard,
        };
        match is_cut(label) {
            Some(number) => self.cuts[number] = self.terms.or2(self.cuts[number], taken),
            None => self.jumps.entry(label.to_string()).or_default().push(taken),
        }
        let not = self.terms.not(taken);
        self.live = self.terms.and2(self.live, not);
        self.control = self.joined(&self.control.clone(), &depends);
    }

    fn atomic(
        &mut self,
        to: Option<&str>,
        (at, access): (usize, Access),
        update: &Update,
        value: &Value,
        (guard, guarded): (Term, &Dependencies),
        span: Span,
    ) {
        let value = self.value(value);
        let read = self.access(Kind::Read, at, access, guard, guarded, span);
        let old = self.events[read].access.map_or(guard, |access| access.value);
        let (new, condition) = match update {
            Update::CompareAndSwap(expected) => {
                let expected = self.value(expected);
                (value.clone(), Some((self.terms.eq(old, expected.value), expected.from)))
            }
            _ => (Known { value: self.updated(update, old, value.value), from: value.from }, None),
        };
        let writes = condition.as_ref().map_or(guard, |(equal, _)| self.terms.and2(guard, *equal));
        let mut depends = guarded.clone();
        if let Some((_, from)) = &condition {
            depends = self.joined(&depends, from);
        }
        let write = self.access(Kind::Write, at, access, writes, &depends, span);
        self.write(write, new);
        self.events[write].read = Some(read);
        for event in [read, write] {
            self.events[event].tags.push("A");
        }
        match to {
            Some(to) => self.set(to, guard, Known { value: old, from: [(read, guard)].into() }, guarded),
            // What nobody gets acquires nothing.
            None => {
                self.events[read].tags.retain(|tag| *tag != "ACQ");
                self.events[read].tags.push("RED");
            }
        }
    }

    fn updated(&mut self, update: &Update, old: Term, value: Term) -> Term {
        let terms = &mut *self.terms;
        let one = terms.bv(1, WIDTH);
        let zero = terms.bv(0, WIDTH);
        match update {
            Update::Add => terms.bv_add(old, value),
            Update::And => terms.bv_binary(BvBinary::And, old, value),
            Update::Or => terms.bv_binary(BvBinary::Or, old, value),
            Update::Xor => terms.bv_binary(BvBinary::Xor, old, value),
            Update::Exchange | Update::CompareAndSwap(_) => value,
            Update::Increment => {
                let wraps = terms.bv_compare(BvCompare::Ule, value, old);
                let more = terms.bv_add(old, one);
                terms.ite(wraps, zero, more)
            }
            Update::Decrement => {
                let is_zero = terms.eq(old, zero);
                let is_above = terms.bv_compare(BvCompare::Ult, value, old);
                let wraps = terms.or2(is_zero, is_above);
                let less = terms.bv_sub(old, one);
                terms.ite(wraps, value, less)
            }
            Update::Minimum { signed } | Update::Maximum { signed } => {
                let order = if *signed { BvCompare::Sle } else { BvCompare::Ule };
                let is_less = terms.bv_compare(order, old, value);
                let is_minimum = matches!(update, Update::Minimum { .. });
                if is_minimum { terms.ite(is_less, old, value) } else { terms.ite(is_less, value, old) }
            }
        }
    }

    fn arithmetic(&mut self, operation: Arithmetic, a: Term, b: Term) -> Term {
        let terms = &mut *self.terms;
        match operation {
            Arithmetic::Add => terms.bv_add(a, b),
            Arithmetic::Subtract => terms.bv_sub(a, b),
            Arithmetic::Bits(operator) => terms.bv_binary(operator, a, b),
            Arithmetic::Minimum | Arithmetic::Maximum => {
                let is_less = terms.bv_compare(BvCompare::Sle, a, b);
                let (first, second) = if operation == Arithmetic::Minimum { (a, b) } else { (b, a) };
                terms.ite(is_less, first, second)
            }
            Arithmetic::Compare(comparison) => {
                let holds = compare(terms, comparison, a, b);
                let (one, zero) = (terms.bv(1, WIDTH), terms.bv(0, WIDTH));
                terms.ite(holds, one, zero)
            }
        }
    }

    fn barrier(&mut self, meeting: Meeting, number: &Value, guard: Term, guarded: &Dependencies, span: Span) {
        let number = self.value(number);
        let mut tags = Vec::new();
        tags.extend(meeting.publishes.then_some("REL"));
        tags.extend(meeting.waits.then_some("ACQ"));
        // The arrivals of a cluster count by themselves, and so do the waits.
        let is_alike = |other: &Event| match meeting.of_cluster {
            true => other.tags.contains(&"ACQ") == meeting.waits,
            false => true,
        };
        let mut time = self.terms.bv(0, WIDTH);
        for at in self.first..self.events.len() {
            let event = &self.events[at];
            if let Some(round) = event.barrier
                && round.of_cluster == meeting.of_cluster
                && is_alike(event)
            {
                let guard = event.guard;
                let same = self.terms.eq(round.number, number.value);
                let counts = self.terms.and2(guard, same);
                let (one, zero) = (self.terms.bv(1, WIDTH), self.terms.bv(0, WIDTH));
                let step = self.terms.ite(counts, one, zero);
                time = self.terms.bv_add(time, step);
            }
        }
        let round = Round { of_cluster: meeting.of_cluster, number: number.value, time };
        let event = Event::new(Kind::Barrier, Some(self.thread), guard, tags, span);
        self.push(Event { barrier: Some(round), ..event }, guarded);
    }

    /// An access; a write gets its value later.
    fn access(
        &mut self,
        kind: Kind,
        variable: usize,
        access: Access,
        guard: Term,
        guarded: &Dependencies,
        span: Span,
    ) -> usize {
        let known = &self.test.names.variables[variable];
        let mut tags = vec![proxy_tag(access.proxy.unwrap_or(known.proxy))];
        if access.semantics == Semantics::Weak {
            tags.push("WEAK");
        } else {
            tags.push(scope_tag(access.scope));
        }
        tags.extend(order_tags(access.semantics, kind == Kind::Read, kind == Kind::Write));
        let value = match kind {
            Kind::Read => self.terms.fresh(&format!("value.{}", self.events.len()), Sort::Bv(WIDTH)),
            _ => self.terms.bv(0, WIDTH),
        };
        let accessed = Accessed { location: known.location, address: known.address, value };
        let event = Event { access: Some(accessed), ..Event::new(kind, Some(self.thread), guard, tags, span) };
        self.push(event, guarded)
    }

    fn write(&mut self, write: usize, value: Known) {
        let event = &mut self.events[write];
        event.data = value.from;
        if let Some(access) = &mut event.access {
            access.value = value.value;
        }
    }

    fn push(&mut self, mut event: Event, guarded: &Dependencies) -> usize {
        event.control = self.joined(&self.control.clone(), guarded);
        self.events.push(event);
        self.events.len() - 1
    }

    /// Of two sets of events, all.
    fn joined(&mut self, a: &Dependencies, b: &Dependencies) -> Dependencies {
        let mut all = a.clone();
        for (event, condition) in b {
            let before = all.get(event).copied();
            let both = before.map_or(*condition, |before| self.terms.or2(before, *condition));
            all.insert(*event, both);
        }
        all
    }

    /// A register gets a value where the guard holds.
    fn set(&mut self, name: &str, guard: Term, new: Known, guarded: &Dependencies) {
        let old = self.register(name);
        let value = self.terms.ite(guard, new.value, old.value);
        let not = self.terms.not(guard);
        let mut from = Dependencies::new();
        for (set, condition) in [(&new.from, guard), (&old.from, not)] {
            for (event, depends) in set {
                let depends = self.terms.and2(condition, *depends);
                let before = from.get(event).copied();
                let both = before.map_or(depends, |before| self.terms.or2(before, depends));
                from.insert(*event, both);
            }
        }
        let from = self.joined(&from, guarded);
        self.registers.insert(name.to_string(), Known { value, from });
    }

    /// A register that nobody wrote is zero, as in herd7.
    fn register(&mut self, name: &str) -> Known {
        let zero = self.terms.bv(0, WIDTH);
        self.registers.get(name).cloned().unwrap_or(Known { value: zero, from: Dependencies::new() })
    }

    fn value(&mut self, value: &Value) -> Known {
        match value {
            Value::Register(name) => self.register(name),
            Value::Constant(value) => {
                Known { value: self.terms.bv(u128::from(*value), WIDTH), from: Dependencies::new() }
            }
        }
    }

    fn is_true(&mut self, value: Term) -> Term {
        let zero = self.terms.bv(0, WIDTH);
        let is_zero = self.terms.eq(value, zero);
        self.terms.not(is_zero)
    }
}

/// A comparison of signed numbers.
pub(crate) fn compare(terms: &mut Terms, comparison: Comparison, a: Term, b: Term) -> Term {
    match comparison {
        Comparison::Equal => terms.eq(a, b),
        Comparison::NotEqual => {
            let equal = terms.eq(a, b);
            terms.not(equal)
        }
        Comparison::Less => terms.bv_compare(BvCompare::Slt, a, b),
        Comparison::LessEqual => terms.bv_compare(BvCompare::Sle, a, b),
        Comparison::Greater => terms.bv_compare(BvCompare::Slt, b, a),
        Comparison::GreaterEqual => terms.bv_compare(BvCompare::Sle, b, a),
    }
}

fn scope_tag(scope: Scope) -> &'static str {
    match scope {
        Scope::Block => "CTA",
        Scope::Cluster => "CLUSTER",
        Scope::Gpu => "GPU",
        Scope::System => "SYS",
    }
}

fn proxy_tag(proxy: Proxy) -> &'static str {
    match proxy {
        Proxy::Generic => "GEN",
        Proxy::Texture => "TEX",
        Proxy::Surface => "SUR",
        Proxy::Constant => "CON",
        Proxy::Asynchronous => "ASYNC",
    }
}

/// Of an atomic operation the read acquires and the write releases; a fence does both.
fn order_tags(semantics: Semantics, acquires: bool, releases: bool) -> Vec<&'static str> {
    let (acquire, release, all) = match semantics {
        Semantics::Weak | Semantics::Relaxed => (false, false, false),
        Semantics::Acquire => (true, false, false),
        Semantics::Release => (false, true, false),
        Semantics::AcquireRelease => (true, true, false),
        Semantics::SequentiallyConsistent => (true, true, true),
    };
    let tags = [("ACQ", acquire && acquires), ("REL", release && releases), ("SC", all)];
    tags.into_iter().filter(|(_, holds)| *holds).map(|(tag, _)| tag).collect()
}
