//! What one thread does, whatever the number of rounds is.
//!
//! Input: a program for blocks of one size, and the [`Class`] of trip counts. Output: the [`Part`]s of what the thread does.
//! Establishes: for each number of rounds of the class the thread does this and nothing else that others see, in this order,
//! whatever arrays hold and in every schedule; global memory is left out ([`crate::rules::Rules::global_only`]).
//! How: instructions are executed on [`Value`]s; what memory holds is unknown, and must not decide. At the head of a loop registers
//! are compared with those of an earlier turn. If they differ by constants, one round is executed for *any* number of
//! rounds that are over and that are to come; if it leads back to the head, and to registers that differ by the same constants again, the loop has
//! by induction as many such rounds as the class says. A wait that says `false` has to lead back to itself with no trace.
//! Relies on: [`super::value`]. Reference: PTX ISA.

use super::compute::results;
use super::event::{Action, Event, Part, Refusal, Tile, Why};
use super::terms::Terms;
use super::value::{Linear, Number, Region, Value};
use crate::exec::decode::{Code, Program, Slot, Space};
use crate::sync::placement::Placements;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Trip counts `start + period * rounds`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// The word of the parameters that says the trip count, a [`super::terms::Term`].
    pub(super) count: Option<u32>,
    pub(super) scale: Scale,
    pub(super) start: i128,
    pub(super) period: i128,
    /// Rounds at most.
    pub(super) most: i128,
}

/// How a parameter says the trip count: it is the parameter divided by a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    pub(super) unit: i128,
    pub(super) rounds_up: bool,
}

impl Scale {
    pub(super) const ONE: Scale = Scale { unit: 1, rounds_up: false };

    /// The parameter; rounded up, only 0 is none.
    fn parameter(self, count: Linear) -> Linear {
        let Scale { unit, rounds_up } = self;
        let Linear { start, done, left, .. } = count;
        let (before, rest) = match rounds_up {
            true if count == Linear::constant(0) => (0, 0),
            true => (unit - 1, unit - 1),
            false => (0, unit - 1),
        };
        Linear { start: start * unit - before, done: done * unit, left: left * unit, rest }
    }

    /// The largest trip count of which no parameter is above a number, and its largest parameter.
    pub(super) fn largest(self, parameter: i128) -> (i128, i128) {
        let Scale { unit, rounds_up } = self;
        let count = if rounds_up { parameter / unit } else { (parameter + 1) / unit - 1 };
        (count, if rounds_up { count * unit } else { count * unit + unit - 1 })
    }
}

impl Class {
    /// Trip counts of one number.
    pub(super) fn is_one(self) -> bool {
        self.most == 0
    }

    /// The parameter, with so many rounds over and the rest to come, before the first of them.
    fn at_start(self) -> Value {
        let left = if self.is_one() { 0 } else { self.period };
        self.of(Linear { left, ..Linear::constant(self.start) })
    }

    /// The same in a round: it is neither over nor to come.
    fn in_round(self) -> Value {
        let Class { start, period, .. } = self;
        self.of(Linear { start: start + period, done: period, left: period, rest: 0 })
    }

    fn of(self, count: Linear) -> Value {
        Value::Number(Number::new(self.scale.parameter(count), 32))
    }
}

/// What is known of all threads.
pub(super) struct Kernel<'p> {
    pub(super) program: &'p Program,
    /// Registers before the first instruction.
    pub(super) template: Vec<Value>,
    /// Parameters that are pointers.
    pub(super) pointers: BTreeSet<usize>,
    /// Parameters with values that are given.
    pub(super) given: BTreeSet<usize>,
    /// First instructions of loops.
    pub(super) heads: BTreeSet<u32>,
    /// From there to the jumps back.
    pub(super) loops: Vec<Range<u32>>,
    pub(super) terms: RefCell<Terms>,
    /// Parameters that are tensor maps: what their bytes say is not looked at.
    pub(super) tensors: BTreeSet<usize>,
    /// Tensor maps by their offsets in the parameters.
    pub(super) maps: BTreeMap<u64, Map>,
    /// What was made of bits of addresses.
    pub(super) placements: RefCell<Placements>,
    /// Matrices that are inside of their variables.
    pub(super) tiles: RefCell<BTreeSet<Tile>>,
}

/// A tensor map in the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map {
    /// Position of the parameter that has the array of the tensor: itself, or a pointer.
    pub(super) array: usize,
    /// Dimensions.
    pub(super) rank: usize,
    /// Bytes of a box, if a copy writes all of them wherever it is.
    pub(super) bytes: Option<u32>,
}

/// Arrays that threads write, and those that copies read.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrays {
    pub(super) written: BTreeSet<u32>,
    pub(super) any_written: bool,
    /// With the first instruction that does.
    pub(super) copied: BTreeMap<u32, u32>,
}

/// Instructions of one thread.
const STEPS: usize = 200_000;

/// Instructions in a round.
const ROUND: usize = 20_000;

/// Turns of a loop that are compared.
const TURNS: usize = 20;

#[derive(Clone)]
pub(super) struct State {
    pub(super) next: u32,
    pub(super) registers: Vec<Value>,
}

struct Turn {
    head: u32,
    registers: Vec<Value>,
}

/// A thread that is followed.
pub(super) struct Follower<'k> {
    pub(super) kernel: &'k Kernel<'k>,
    pub(super) class: Class,
    pub(super) region: Region,
    pub(super) state: State,
    /// What [`Class::count`] is.
    pub(super) count: Value,
    pub(super) events: Vec<Event>,
    pub(super) arrays: &'k mut Arrays,
    pub(super) has_ended: bool,
    /// On the way back to a wait.
    pub(super) spins: bool,
    /// Whether `elect.sync` elects this thread; and whether it was asked.
    pub(super) is_elected: bool,
    pub(super) elects: bool,
    /// Ways on which it is, where it is not known which one a thread goes.
    pub(super) ways: usize,
    steps: usize,
}

/// A thread.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    /// Its special registers.
    pub(super) specials: &'a [(Slot, Value)],
    /// Whether `elect.sync` elects it.
    pub(super) is_elected: bool,
}

impl<'k> Follower<'k> {
    /// Everything that a thread does; and whether it was asked whether it is elected.
    pub(super) fn follow(
        kernel: &'k Kernel<'k>,
        class: Class,
        Who { specials, is_elected }: Who<'_>,
        arrays: &'k mut Arrays,
    ) -> Result<(Vec<Part>, bool), Refusal> {
        let mut registers = kernel.template.clone();
        for (slot, value) in specials {
            registers[usize::from(*slot)] = *value;
        }
        let region = Region { most: class.most };
        let state = State { next: 0, registers };
        let mut thread = Follower {
            kernel,
            class,
            region,
            state,
            count: class.at_start(),
            events: Vec::new(),
            arrays,
            has_ended: false,
            spins: false,
            is_elected,
            elects: false,
            ways: 0,
            steps: 0,
        };
        let parts = thread.all()?;
        Ok((parts, thread.elects))
    }

    fn all(&mut self) -> Result<Vec<Part>, Refusal> {
        let mut parts = Vec::new();
        let mut turns: Vec<Turn> = Vec::new();
        while !self.has_ended {
            let head = self.state.next;
            if !self.class.is_one() && self.kernel.heads.contains(&head) {
                let registers = self.state.registers.clone();
                let earlier = || turns.iter().rev().filter(|turn| turn.head == head).take(TURNS);
                if earlier().any(|turn| turn.registers == registers) {
                    // It goes on like this for ever.
                    return Err(Refusal { code: head, why: Why::Steps });
                }
                let mut found = None;
                for (number, turn) in earlier().enumerate() {
                    found = self.rounds(&turn.registers, number + 1);
                    if found.is_some() {
                        break;
                    }
                }
                if let Some((events, after)) = found {
                    parts.push(Part::Once(std::mem::take(&mut self.events)));
                    parts.push(Part::Rounds(events));
                    self.state.registers = after;
                    turns.clear();
                } else {
                    turns.push(Turn { head, registers });
                }
            }
            self.step()?;
        }
        parts.push(Part::Once(std::mem::take(&mut self.events)));
        Ok(parts)
    }

    /// Whether all further rounds of the loop at hand are alike, each of so many turns: what is done in one, and the
    /// registers after all of them.
    fn rounds(&mut self, before: &[Value], turns: usize) -> Option<(Vec<Event>, Vec<Value>)> {
        let mut now = self.state.registers.clone();
        let mut steps = Vec::with_capacity(now.len());
        for (before, now) in before.iter().zip(&mut now) {
            let step = difference(*before, *now);
            if step.is_none() {
                *now = before.or(*now);
            }
            steps.push(step.unwrap_or(0));
        }
        if !steps.iter().any(|step| *step != 0 && step % self.class.period == 0) {
            return None;
        }
        let region = Region { most: self.class.most - 1 };
        loop {
            let (events, after) = self.one_round(&now, &steps, turns)?;
            let mut is_inductive = true;
            for ((now, step), after) in now.iter_mut().zip(&mut steps).zip(after) {
                let before = before_round(*now, *step);
                if !is_next(before, after, *step, region) {
                    (*now, *step, is_inductive) = (before.or(after), 0, false);
                    // It is no constant that all turns have.
                    if now.number().is_some() {
                        *now = Value::Unknown;
                    }
                }
            }
            if is_inductive {
                let last = now.iter().zip(&steps).map(|(value, step)| after_rounds(*value, *step));
                return Some((events, last.collect()));
            }
        }
    }

    /// Executes one round, when any number of them are over and to come.
    fn one_round(&mut self, now: &[Value], steps: &[i128], turns: usize) -> Option<(Vec<Event>, Vec<Value>)> {
        let head = self.state.next;
        let registers = now.iter().zip(steps).map(|(value, step)| before_round(*value, *step));
        let outer = (self.state.clone(), self.region, self.count, std::mem::take(&mut self.events));
        let arrays = self.arrays.clone();
        self.state.registers = registers.collect();
        self.region = Region { most: self.class.most - 1 };
        self.count = self.class.in_round();
        let mut left = turns;
        let mut is_back = false;
        for _ in 0..ROUND {
            if self.step().is_err() || self.has_ended {
                break;
            }
            left -= usize::from(self.state.next == head);
            if left == 0 {
                is_back = true;
                break;
            }
        }
        self.has_ended = false;
        let after = std::mem::replace(&mut self.state, outer.0);
        (self.region, self.count) = (outer.1, outer.2);
        let events = std::mem::replace(&mut self.events, outer.3);
        if !is_back {
            *self.arrays = arrays;
        }
        is_back.then_some((events, after.registers))
    }

    pub(super) fn get(&self, slot: Slot) -> Value {
        self.state.registers[usize::from(slot)]
    }

    /// Whether a predicate holds.
    pub(super) fn decided(&self, predicate: Slot) -> Option<bool> {
        match self.get(predicate) {
            Value::Term(term) => self.kernel.terms.borrow().supposed(term),
            value => value.value().map(|value| value & 1 == 1),
        }
    }

    /// The thread goes on at one of two instructions.
    fn either(&mut self, (at, p): (u32, Slot), next: [u32; 2]) -> Result<(), Refusal> {
        let why = if let Value::Term(term) = self.get(p) { Why::Condition(term) } else { Why::Control };
        self.both(next).ok_or(Refusal { code: at, why })
    }

    pub(super) fn set(&mut self, slot: Slot, value: Value) {
        self.state.registers[usize::from(slot)] = value;
    }

    /// Executes an instruction, with its guard.
    pub(super) fn step(&mut self) -> Result<(), Refusal> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Refusal { code: self.state.next, why: Why::Steps });
        }
        let program = self.kernel.program;
        let mut at = self.state.next;
        if let Code::Skip { p, when } = program.code[at as usize] {
            at += 1;
            match self.decided(p) {
                Some(value) if value == when => {
                    self.state.next = at + 1;
                    return Ok(());
                }
                Some(_) => {}
                None => {
                    let Some(slots) = results(program, program.code[at as usize]) else {
                        return self.either((at, p), [at, at + 1]);
                    };
                    slots.into_iter().for_each(|slot| self.set(slot, Value::Any));
                    self.state.next = at + 1;
                    return Ok(());
                }
            }
        }
        self.state.next = at + 1;
        self.instruction(at)
    }

    pub(super) fn emit(&mut self, code: u32, action: Action) {
        self.events.push(Event { code, action });
    }

    fn instruction(&mut self, at: u32) -> Result<(), Refusal> {
        let program = self.kernel.program;
        let refuse = |why: Why| Err(Refusal { code: at, why });
        let code = program.code[at as usize];
        match code {
            Code::JumpIf { p, when, to } => match self.decided(p) {
                Some(value) if value == when => self.state.next = to,
                Some(_) => {}
                None => return self.either((at, p), [to, at + 1]),
            },
            Code::Jump(to) => self.state.next = to,
            Code::Exit | Code::Return => self.has_ended = true,
            Code::Load(index) | Code::Store(index) => self.access(at, index, matches!(code, Code::Store(_)))?,
            Code::Atomic(index) => {
                let access = &program.accesses[index as usize];
                match (access.space, self.get(access.base)) {
                    (Space::Global, _) | (Space::Generic, Value::Array(_)) => self.writes(access),
                    _ => return refuse(Why::Instruction),
                }
                self.forget(access);
            }
            Code::Barrier(index) => self.barrier(at, index)?,
            Code::Warp(index) => self.warp(at, index)?,
            Code::Object(index) => self.object(at, index)?,
            Code::BulkRead(_) => {}
            Code::BulkWrite(index) => self.copy(at, index)?,
            Code::Product(index) => self.product(at, index)?,
            Code::ProductCommit => self.emit(at, Action::ProductCommit),
            Code::ProductWait { pending } => {
                let pending = u32::try_from(pending).unwrap_or(u32::MAX);
                self.emit(at, Action::ProductWait { pending });
            }
            Code::ProxyFence { shared: true, .. } => self.emit(at, Action::ProxyFence),
            Code::ProxyFence { .. } | Code::Fence { .. } | Code::ObjectFence | Code::Nothing => {}
            _ => match results(program, code) {
                Some(slots) => self.compute(at, code, slots),
                None => return refuse(Why::Instruction),
            },
        }
        Ok(())
    }
}

/// By how much a register grew between two turns, where that is a constant.
fn difference(before: Value, now: Value) -> Option<i128> {
    match (before, now) {
        (Value::Number(before), Value::Number(now)) => {
            let is_constant = before.linear.left == now.linear.left
                && before.linear.rest == now.linear.rest
                && before.bits == now.bits;
            is_constant.then_some(now.linear.start - before.linear.start)
        }
        // An offset that is the same for all trip counts.
        (Value::Place { offset, .. }, _) => (before == now && offset.value().is_some()).then_some(0),
        _ => (before == now).then_some(0),
    }
}

/// The register after the rounds that are over, with one round at hand.
fn before_round(value: Value, by: i128) -> Value {
    match value {
        Value::Number(Number { linear, bits }) => {
            let Linear { start, left, .. } = linear;
            Value::Number(Number::new(Linear { start: start + left, done: left + by, ..linear }, bits))
        }
        other => other,
    }
}

/// The register after all rounds.
fn after_rounds(value: Value, by: i128) -> Value {
    match value {
        Value::Number(Number { linear, bits }) => {
            Value::Number(Number::new(Linear { left: linear.left + by, ..linear }, bits))
        }
        other => other,
    }
}

/// Whether a register has grown by a number in the round at hand.
fn is_next(before: Value, after: Value, by: i128, region: Region) -> bool {
    match (before, after) {
        (Value::Any, _) => true,
        (Value::Unknown, after) => after.is_number(),
        (Value::Number(before), Value::Number(after)) => {
            let next = Linear { start: before.linear.start + by, ..before.linear };
            Number::new(next, before.bits).is_same(after, region)
        }
        _ => before == after,
    }
}
