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

use super::event::{Action, Event, Part, Refusal, Why};
use super::value::{Linear, Number, Region, Value};
use crate::exec::decode::{Access, Code, ConstantKind, Moves, Note, ObjectKind, Place, Program, Slot, Space, WarpKind};
use crate::exec::values::mask;
use crate::ptx::ast::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// Trip counts `start + period * rounds`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// Parameter that is the trip count.
    pub(super) parameter: usize,
    pub(super) start: i128,
    pub(super) period: i128,
    /// Rounds at most.
    pub(super) most: i128,
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
    /// What the decoder gave the trip count instead of its value.
    pub(super) sentinel: u64,
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

/// Instructions from a wait back to it, and in a round.
const SPIN: usize = 64;
const ROUND: usize = 20_000;

/// Turns of a loop that are compared.
const TURNS: usize = 20;

#[derive(Clone)]
struct State {
    next: u32,
    registers: Vec<Value>,
}

struct Turn {
    head: u32,
    registers: Vec<Value>,
}

/// A thread that is followed.
pub(super) struct Follower<'k> {
    kernel: &'k Kernel<'k>,
    class: Class,
    region: Region,
    state: State,
    /// What [`Class::parameter`] is.
    count: Value,
    events: Vec<Event>,
    pub(super) arrays: &'k mut Arrays,
    has_ended: bool,
    /// On the way back to a wait.
    spins: bool,
    steps: usize,
}

impl<'k> Follower<'k> {
    /// Everything that a thread does.
    pub(super) fn follow(
        kernel: &'k Kernel<'k>,
        class: Class,
        specials: &[(Slot, Value)],
        arrays: &'k mut Arrays,
    ) -> Result<Vec<Part>, Refusal> {
        let mut registers = kernel.template.clone();
        for (slot, value) in specials {
            registers[usize::from(*slot)] = *value;
        }
        let region = Region { most: class.most };
        let count = Linear { start: class.start, done: 0, left: class.period };
        let count = if class.most == 0 { Linear::constant(class.start) } else { count };
        let count = Value::Number(Number::new(count, 32));
        let state = State { next: 0, registers };
        let mut thread = Follower {
            kernel,
            class,
            region,
            state,
            count,
            events: Vec::new(),
            arrays,
            has_ended: false,
            spins: false,
            steps: 0,
        };
        thread.all()
    }

    fn all(&mut self) -> Result<Vec<Part>, Refusal> {
        let mut parts = Vec::new();
        let mut turns: Vec<Turn> = Vec::new();
        while !self.has_ended {
            let head = self.state.next;
            if self.class.most > 0 && self.kernel.heads.contains(&head) {
                let registers = self.state.registers.clone();
                let earlier = turns.iter().rev().filter(|turn| turn.head == head).take(TURNS);
                let mut found = None;
                for (number, turn) in earlier.enumerate() {
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
        let now = self.state.registers.clone();
        let mut steps: Vec<Option<i128>> =
            before.iter().zip(&now).map(|(before, now)| difference(*before, *now)).collect();
        let is_counter = |step: &Option<i128>| step.is_some_and(|step| step != 0 && step % self.class.period == 0);
        if !steps.iter().any(is_counter) {
            return None;
        }
        loop {
            let (events, after) = self.one_round(&now, &steps, turns)?;
            let region = Region { most: self.class.most - 1 };
            let mut is_inductive = true;
            for (index, step) in steps.iter_mut().enumerate() {
                let Some(by) = *step else { continue };
                if !is_next(before_round(now[index], by), after[index], by, region) {
                    (*step, is_inductive) = (None, false);
                }
            }
            if is_inductive {
                let last =
                    now.iter().zip(&steps).map(|(value, step)| step.map_or(Value::Any, |by| after_rounds(*value, by)));
                return Some((events, last.collect()));
            }
        }
    }

    /// Executes one round, when any number of them are over and to come.
    fn one_round(&mut self, now: &[Value], steps: &[Option<i128>], turns: usize) -> Option<(Vec<Event>, Vec<Value>)> {
        let head = self.state.next;
        let (start, period) = (self.class.start, self.class.period);
        let registers =
            now.iter().zip(steps).map(|(value, step)| step.map_or(Value::Any, |by| before_round(*value, by)));
        let count = Linear { start: start + period, done: period, left: period };
        let outer = (self.state.clone(), self.region, self.count, std::mem::take(&mut self.events));
        let arrays = self.arrays.clone();
        self.state.registers = registers.collect();
        self.region = Region { most: self.class.most - 1 };
        self.count = Value::Number(Number::new(count, 32));
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

    fn get(&self, slot: Slot) -> Value {
        self.state.registers[usize::from(slot)]
    }

    fn set(&mut self, slot: Slot, value: Value) {
        self.state.registers[usize::from(slot)] = value;
    }

    /// Executes an instruction, with its guard.
    fn step(&mut self) -> Result<(), Refusal> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Refusal { code: self.state.next, why: Why::Steps });
        }
        let program = self.kernel.program;
        let mut at = self.state.next;
        if let Code::Skip { p, when } = program.code[at as usize] {
            at += 1;
            match self.get(p).value() {
                Some(value) if (value & 1 == 1) == when => {
                    self.state.next = at + 1;
                    return Ok(());
                }
                Some(_) => {}
                None => {
                    let slots = results(program, program.code[at as usize]);
                    let slots = slots.ok_or(Refusal { code: at, why: Why::Control })?;
                    slots.into_iter().for_each(|slot| self.set(slot, Value::Any));
                    self.state.next = at + 1;
                    return Ok(());
                }
            }
        }
        self.state.next = at + 1;
        self.instruction(at)
    }

    fn emit(&mut self, code: u32, action: Action) {
        self.events.push(Event { code, action });
    }

    fn instruction(&mut self, at: u32) -> Result<(), Refusal> {
        let program = self.kernel.program;
        let refuse = |why: Why| Err(Refusal { code: at, why });
        let code = program.code[at as usize];
        match code {
            Code::JumpIf { p, when, to } => match self.get(p).value() {
                Some(value) if (value & 1 == 1) == when => self.state.next = to,
                Some(_) => {}
                None => return refuse(Why::Control),
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
            Code::ProxyFence { shared: true, .. } => self.emit(at, Action::ProxyFence),
            Code::ProxyFence { .. } | Code::Fence { .. } | Code::ObjectFence | Code::Nothing => {}
            _ => match results(program, code) {
                Some(slots) => self.compute(at, code, slots),
                None => return refuse(Why::Instruction),
            },
        }
        Ok(())
    }

    /// An instruction that gives registers values.
    fn compute(&mut self, at: u32, code: Code, slots: Vec<Slot>) {
        let program = self.kernel.program;
        let note = program.notes.codes.get(&at);
        let value = |slot: Slot| self.get(slot);
        let region = self.region;
        let result = match (code, note) {
            (_, Some(Note::Inexact | Note::Unknown)) => Value::Any,
            (Code::Move { a, .. }, Some(Note::Parameter { index, offset, bytes })) => {
                self.parameter(*index, (*offset, *bytes), a)
            }
            (Code::Move { a, .. }, _) => value(a),
            (Code::Select { a, b, p, .. }, _) => match (value(p).value(), value(a), value(b)) {
                (Some(p), a, b) => {
                    if p & 1 == 1 {
                        a
                    } else {
                        b
                    }
                }
                (None, a, b) if a == b => a,
                _ => Value::Any,
            },
            (Code::One { a, .. }, Some(Note::Low32)) => value(a).low32(region),
            (Code::One { a, .. }, Some(Note::Convert { .. })) => value(a).widened(region),
            (Code::One { f, a, .. }, None | Some(Note::Integer { .. })) => {
                value(a).value().map_or(Value::Any, |a| Value::constant(f(a)))
            }
            (Code::Two { a, .. }, Some(Note::ToGeneric | Note::FromGeneric)) => match value(a) {
                Value::Place { variable, offset, .. } => {
                    Value::Place { variable, generic: note == Some(&Note::ToGeneric), offset }
                }
                _ => Value::Any,
            },
            (Code::Two { a, b, .. }, Some(Note::Sum { bits })) => value(a).sum(value(b), 1, *bits, region),
            (Code::Two { a, b, .. }, Some(Note::Difference { bits })) => value(a).sum(value(b), -1, *bits, region),
            (Code::Two { f, a, b, .. }, Some(Note::Integer { op, ty })) => match (value(a).value(), value(b).value()) {
                (Some(a), Some(b)) => Value::constant(f(a, b)),
                _ => Value::integer(*op, *ty, [value(a), value(b)], region),
            },
            (Code::Partial { f, a, b, .. }, Some(Note::Integer { op, ty })) => {
                match (value(a).value(), value(b).value()) {
                    (Some(a), Some(b)) => f(a, b).map_or(Value::Any, Value::constant),
                    _ => Value::integer(*op, *ty, [value(a), value(b)], region),
                }
            }
            (Code::Two { a, b, .. }, Some(Note::Comparison { comparison, ty })) => {
                let said = Value::compared(*comparison, *ty, [value(a), value(b)], region);
                said.map_or(Value::Any, |said| Value::constant(u64::from(said)))
            }
            (Code::Two { f, a, b, .. }, None) => match (value(a).value(), value(b).value()) {
                (Some(a), Some(b)) => Value::constant(f(a, b)),
                _ => Value::Any,
            },
            (Code::Three { a, b, c, .. }, Some(Note::ProductSum { bits })) => {
                value(a).product_sum(value(b), value(c), None, *bits, region)
            }
            (Code::Three { f, a, b, c, .. }, None | Some(Note::Integer { .. })) => {
                match (value(a).value(), value(b).value(), value(c).value()) {
                    (Some(a), Some(b), Some(c)) => Value::constant(f(a, b, c)),
                    _ => Value::Any,
                }
            }
            (Code::Many { f, bits, s, .. }, None | Some(Note::Integer { .. } | Note::ProductSum { .. })) => {
                match s.map(|slot| value(slot).value()) {
                    [Some(a), Some(b), Some(c), Some(d)] => {
                        let result = program.functions[usize::from(f)](&[a, b, c, d, 0]);
                        Value::constant(result & mask(u32::from(bits)))
                    }
                    _ => Value::Any,
                }
            }
            (Code::Compare(index), Some(Note::Comparison { comparison, ty })) => {
                return self.compare(index, *comparison, *ty, &slots);
            }
            _ => Value::Any,
        };
        match slots[..] {
            [d] => self.set(d, result),
            _ => slots.into_iter().for_each(|slot| self.set(slot, Value::Any)),
        }
    }

    fn compare(&mut self, index: u32, comparison: crate::ptx::ast::Comparison, ty: ScalarType, slots: &[Slot]) {
        let parts = &self.kernel.program.comparisons[index as usize];
        let said = Value::compared(comparison, ty, [self.get(parts.a), self.get(parts.b)], self.region);
        let other = parts.combine.map(|(_, slot)| self.get(slot).value());
        slots.iter().for_each(|slot| self.set(*slot, Value::Any));
        let (Some(said), None | Some(Some(_))) = (said, other) else { return };
        // Two numbers of which that is true.
        let pair = if (parts.test)(0, 0) == said {
            Some((0, 0))
        } else {
            [(0, 1), (1, 0)].into_iter().find(|(a, b)| (parts.test)(*a, *b) == said)
        };
        let Some((a, b)) = pair else { return };
        let combined = parts.combine.map(|(_, slot)| slot).zip(other.flatten());
        let mut operands = [a, b].into_iter();
        let results = parts.results(|slot| match combined {
            Some((combined, value)) if operands.len() == 0 && slot == combined => value,
            _ => operands.next().unwrap_or(0),
        });
        for (slot, value) in results.into_iter().flatten() {
            self.set(slot, Value::constant(value));
        }
    }

    fn parameter(&self, index: usize, (offset, bytes): (u32, u32), slot: Slot) -> Value {
        if index == self.class.parameter {
            let is_whole =
                offset == 0 && bytes == 4 && self.kernel.program.template[usize::from(slot)] == self.kernel.sentinel;
            return if is_whole { self.count } else { Value::Any };
        }
        match () {
            () if self.kernel.given.contains(&index) => {
                Value::constant(self.kernel.program.template[usize::from(slot)])
            }
            () if self.kernel.pointers.contains(&index) && offset == 0 && bytes == 8 => Value::Array(index as u32),
            () => Value::Any,
        }
    }

    /// Bytes of shared memory: offset in that of the block.
    fn place(&self, at: u32, access: &Access, bytes: u32) -> Result<u32, Refusal> {
        let refuse = |why| Refusal { code: at, why };
        let Value::Place { variable, generic, offset } = self.get(access.base) else {
            return Err(refuse(Why::Address));
        };
        let is_shared = match access.space {
            Space::Shared => !generic,
            Space::Generic => generic,
            _ => false,
        };
        let offset = offset.value().filter(|_| is_shared).ok_or(refuse(Why::Address))?;
        let width = if generic { 64 } else { 32 };
        let offset = offset.wrapping_add_signed(access.offset) & mask(width);
        let shared = &self.kernel.program.shared[variable as usize];
        let end = offset.checked_add(u64::from(bytes)).ok_or(refuse(Why::Address))?;
        if end > u64::from(shared.size) {
            return Err(refuse(Why::Address));
        }
        Ok(shared.offset + offset as u32)
    }

    fn access(&mut self, at: u32, index: u32, writes: bool) -> Result<(), Refusal> {
        let access = &self.kernel.program.accesses[index as usize];
        let bytes = access.bytes * access.elements;
        let is_shared = match (access.space, self.get(access.base)) {
            (Space::Shared, _) | (Space::Generic, Value::Place { .. }) => true,
            (Space::Generic, Value::Array(_)) | (Space::Global | Space::Local | Space::Param, _) => false,
            (Space::Generic, _) => return Err(Refusal { code: at, why: Why::Address }),
        };
        if is_shared {
            let place = self.place(at, access, bytes)?;
            self.emit(at, Action::Access { at: place, bytes, writes });
        } else if writes && access.space != Space::Local {
            self.writes(access);
        }
        if !writes {
            self.forget(access);
        }
        Ok(())
    }

    fn forget(&mut self, access: &Access) {
        access.data.iter().flatten().for_each(|(slot, _)| self.set(*slot, Value::Any));
    }

    /// Global memory is written.
    fn writes(&mut self, access: &Access) {
        match self.get(access.base) {
            Value::Array(array) => {
                self.arrays.written.insert(array);
            }
            _ => self.arrays.any_written = true,
        }
    }

    fn fixed(&self, at: u32, slot: Slot) -> Result<u32, Refusal> {
        let value = self.get(slot).value().ok_or(Refusal { code: at, why: Why::Barrier })?;
        Ok((value & mask(32)) as u32)
    }

    fn barrier(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let barrier = &self.kernel.program.barriers[index as usize];
        if barrier.reduction.is_some() {
            return Err(Refusal { code: at, why: Why::Instruction });
        }
        let id = self.fixed(at, barrier.id)?;
        let count = barrier.count.map(|slot| self.fixed(at, slot)).transpose()?;
        let (arrives, aligned) = (barrier.arrive, barrier.aligned);
        self.emit(at, Action::Barrier { id, count, arrives, aligned });
        Ok(())
    }

    fn warp(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let operation = &self.kernel.program.warp_operations[index as usize];
        let is_known = operation.kind != WarpKind::Registers && operation.kind != WarpKind::Elect;
        let (Some(members), true) = (operation.mask, is_known) else {
            return Err(Refusal { code: at, why: Why::Instruction });
        };
        let members = self.fixed(at, members)?;
        operation.d.iter().flatten().for_each(|(slot, _)| self.set(*slot, Value::Any));
        self.emit(at, Action::Warp { members, orders: operation.kind == WarpKind::Barrier });
        Ok(())
    }

    fn object(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let operation = &self.kernel.program.objects[index as usize];
        let place = self.place(at, &self.kernel.program.accesses[operation.access as usize], 8)?;
        let refuse = |why| Err(Refusal { code: at, why });
        if !place.is_multiple_of(8) {
            return refuse(Why::Address);
        }
        let action = match operation.kind {
            ObjectKind::Initialise { count } => Action::Initialise { at: place, count: self.fixed(at, count)? },
            ObjectKind::Arrive { count, bytes, drops: false, incomplete: false } if operation.ordered => {
                let count = count.map_or(Ok(1), |slot| self.fixed(at, slot))?;
                let bytes = bytes.map_or(Ok(0), |slot| self.fixed(at, slot))?;
                Action::Arrive { at: place, count, bytes }
            }
            ObjectKind::Wait { phase, parity: true, .. } if operation.ordered => {
                let parity = self.fixed(at, phase)?;
                if parity > 1 {
                    return refuse(Why::Barrier);
                }
                let Some((d, _)) = operation.d else { return refuse(Why::Spin) };
                self.spin(at, d)?;
                self.set(d, Value::constant(1));
                Action::Wait { at: place, parity }
            }
            _ => return refuse(Why::Instruction),
        };
        if let (Some((slot, _)), false) = (operation.d, matches!(action, Action::Wait { .. })) {
            self.set(slot, Value::Any);
        }
        self.emit(at, action);
        Ok(())
    }

    /// The way on which a wait says `false` leads back to it, and leaves no trace.
    fn spin(&mut self, at: u32, d: Slot) -> Result<(), Refusal> {
        let before = self.state.clone();
        if std::mem::replace(&mut self.spins, true) {
            return Err(Refusal { code: at, why: Why::Spin });
        }
        let (events, arrays) = (self.events.len(), self.arrays.clone());
        self.set(d, Value::constant(0));
        let mut is_back = false;
        for _ in 0..SPIN {
            let next = self.state.next as usize;
            // A guard goes with its instruction.
            let is_it = self.state.next == at
                || self.state.next + 1 == at && matches!(self.kernel.program.code[next], Code::Skip { .. });
            if is_it {
                is_back = true;
                break;
            }
            let is_other = matches!(self.kernel.program.code[next], Code::Object(_) | Code::Barrier(_) | Code::Warp(_));
            if is_other || self.step().is_err() || self.has_ended || self.events.len() != events {
                break;
            }
        }
        self.has_ended = false;
        let after = std::mem::replace(&mut self.state, before);
        self.events.truncate(events);
        self.spins = false;
        *self.arrays = arrays;
        let pairs = self.state.registers.iter().zip(&after.registers).enumerate();
        let is_same = pairs.into_iter().all(|(slot, (before, after))| before == after || slot == usize::from(d));
        let is_guarded = is_back && after.next != at && {
            let Code::Skip { p, when } = self.kernel.program.code[after.next as usize] else {
                return Err(Refusal { code: at, why: Why::Spin });
            };
            after.registers[usize::from(p)].value().is_none_or(|value| (value & 1 == 1) == when)
        };
        match is_back && is_same && !is_guarded {
            true => Ok(()),
            false => Err(Refusal { code: at, why: Why::Spin }),
        }
    }

    fn copy(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let program = self.kernel.program;
        let operation = &program.bulk_operations[index as usize];
        let refuse = |why| Err(Refusal { code: at, why });
        let (Moves::Bytes { from, to, size }, Some(object), None, None) =
            (&operation.moves, operation.object, &operation.reduction, operation.multicast)
        else {
            return refuse(Why::Instruction);
        };
        let bytes = self.fixed(at, *size)?;
        let from = &program.accesses[*from as usize];
        let Value::Array(array) = self.get(from.base) else { return refuse(Why::Source) };
        if !matches!(from.space, Space::Global | Space::Generic) || !bytes.is_multiple_of(16) {
            return refuse(Why::Instruction);
        }
        self.arrays.copied.entry(array).or_insert(at);
        let to = self.place(at, &program.accesses[*to as usize], bytes)?;
        let object = self.place(at, &program.accesses[object as usize], 8)?;
        self.emit(at, Action::Copy { to, bytes, object });
        Ok(())
    }
}

/// Results of an instruction that does nothing else.
fn results(program: &Program, code: Code) -> Option<Vec<Slot>> {
    crate::sync::computations::results(program, code)
}

/// By how much a register grew between two turns, where that is a constant.
fn difference(before: Value, now: Value) -> Option<i128> {
    match (before, now) {
        (Value::Number(before), Value::Number(now)) => {
            let is_constant = before.linear.left == now.linear.left && before.bits == now.bits;
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
            Value::Number(Number::new(Linear { start: start + left, done: left + by, left }, bits))
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
        (Value::Number(before), Value::Number(after)) => {
            let next = Linear { start: before.linear.start + by, ..before.linear };
            Number::new(next, before.bits).is_same(after, region)
        }
        _ => before == after,
    }
}

/// The registers of all threads before the first instruction. `sizes`: what the decoder has for the sizes of the grid.
pub(super) fn template(program: &Program, sizes: &[u64]) -> Vec<Value> {
    let registers = program.notes.registers;
    let place = |value: u64, variable: u16| {
        let start = crate::exec::decode::shared_address(u64::from(variable));
        let offset = Number::new(Linear::constant(i128::from(value) - i128::from(start)), 32);
        Value::Place { variable: u32::from(variable), generic: false, offset }
    };
    let value = |(slot, value): (usize, &u64)| match program.notes.constants.get(&(slot as Slot)) {
        _ if slot < registers => Value::Any,
        None | Some(ConstantKind::Number) if sizes.contains(value) => Value::Any,
        None | Some(ConstantKind::Number) => Value::constant(*value),
        Some(ConstantKind::Address(Place::Shared(variable))) if *value < 1 << 32 => place(*value, *variable),
        Some(_) => Value::Any,
    };
    program.template.iter().enumerate().map(value).collect()
}
