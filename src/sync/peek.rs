//! Tries of a wait whose answer is looked at later: if it is `true`, the wait itself is left out.
//!
//! Input: a thread that goes on with the answer `false`. Output: its state where both ways meet; registers are open that differ.
//! Establishes: the answer decides nothing but whether the thread waits for the very same phase before it goes on: the way that it
//! does not take leads to the meeting point without doing anything, and on the other one it computes and waits. So what
//! happens is the same, and what it knows behind the meeting point, too. Relies on: registers that depend on the answer alone
//! have two values, and both are computed ([`Peek::slots`]). Reference: PTX ISA, `mbarrier.try_wait`.

use super::alike::Alike;
use super::computations::{is_computation, results};
use super::follow::{Flow, Refusal, What};
use super::own::Own;
use super::taint::{Cause, Open, Taint};
use crate::exec::block::BlockState;
use crate::exec::decode::{Code, ObjectKind, Program, Slot};
use crate::exec::thread::Thread;
use crate::exec::world::World;

/// Jumps from a branch to where its ways meet.
const LONGEST: usize = 32;

/// A try that said `false`.
#[derive(Debug)]
pub(super) struct Peek {
    /// The instruction.
    at: u32,
    /// The object, by its offset in shared memory, and how many phases of it have to be complete.
    wanted: (u32, u32),
    /// It acquires.
    ordered: bool,
    /// Registers that depend on the answer and on nothing else that is open, with their values had it been `true`.
    slots: Vec<(Slot, u64)>,
    detour: Option<Detour>,
}

/// The way on which the thread waits.
#[derive(Debug)]
struct Detour {
    /// Where the other way meets it.
    meet: u32,
    /// The state at the branch.
    own: Own,
    registers: Vec<u64>,
    has_waited: bool,
}

impl Peek {
    /// A try said `false`; its answer is in `d`.
    pub(super) fn new(at: u32, wanted: (u32, u32), (d, ordered): (Slot, bool)) -> Self {
        Peek { at, wanted, ordered, slots: vec![(d, 1)], detour: None }
    }

    /// What registers hold that depend on the answer.
    pub(super) fn taint(&self) -> Taint {
        Taint::open(Cause::Spin, self.at)
    }

    fn refused(&self) -> Refusal {
        Refusal { code: self.at, what: What::Spin, open: None }
    }

    /// Whether this is where both ways meet; then the try is over.
    pub(super) fn meets(&self, thread: &Thread, own: &mut Own) -> Result<bool, Refusal> {
        let Some(detour) = self.detour.as_ref().filter(|detour| detour.meet == thread.next) else { return Ok(false) };
        if !detour.has_waited {
            return Err(self.refused());
        }
        for slot in (0..thread.registers.len()).map(|slot| slot as Slot) {
            let same = thread.value(slot) == detour.registers[usize::from(slot)];
            if !same || own.get(slot) != detour.own.get(slot) {
                own.give(slot, self.taint());
            }
        }
        Ok(true)
    }

    /// The thread waits, and learns what the arrivals before knew, should that be `ordered`.
    pub(super) fn waits(&mut self, wanted: Option<(u32, u32)>, ordered: bool) -> Result<(), Refusal> {
        match &mut self.detour {
            Some(detour) if wanted == Some(self.wanted) && self.ordered >= ordered => detour.has_waited = true,
            Some(_) => return Err(self.refused()),
            None => {}
        }
        Ok(())
    }

    /// The thread is about to execute an instruction. What it gives registers had the answer been `true`; of all others that it
    /// writes nothing is known then.
    pub(super) fn before(
        &mut self,
        program: &Program,
        (world, state): (&mut World, &mut BlockState),
        thread: &mut Thread,
        own: &Own,
        alike: &mut Alike,
    ) -> Result<Vec<(Slot, u64)>, Refusal> {
        let code = program.code[thread.next as usize];
        let (guard, code) = match code {
            Code::Skip { p, .. } => (Some(p), program.code[thread.next as usize + 1]),
            _ => (None, code),
        };
        if self.detour.is_some() && !is_harmless(program, code) {
            return Err(self.refused());
        }
        let written = written(program, code);
        let known = parts(program, code);
        let stays = |slot: &Slot| written.as_ref().is_some_and(|written| !written.contains(slot));
        let before = self.slots.clone();
        self.slots.retain(|(slot, _)| stays(slot));
        let Some((mut inputs, outputs)) = known else { return Ok(Vec::new()) };
        // A guarded instruction leaves what was there.
        inputs.extend(guard.into_iter().flat_map(|guard| outputs.iter().copied().chain([guard])));
        let slots = before;
        let of_answer = |slot: &Slot| slots.iter().any(|(other, _)| other == slot);
        let is_known = |slot: &Slot| of_answer(slot) || !own.get(*slot).is_open() && own.get(*slot).place.is_none();
        if !inputs.iter().any(of_answer) || !inputs.iter().all(is_known) {
            return Ok(Vec::new());
        }
        // What the answer makes of values that differ by block is looked at here alone.
        let others = inputs.iter().filter(|slot| !of_answer(slot));
        others.for_each(|slot| alike.keep_same(own.get(*slot).by_block));
        let (registers, next, steps) = (thread.registers.clone(), thread.next, thread.steps);
        slots.iter().for_each(|(slot, value)| thread.set(*slot, *value));
        thread.run(program, world, state, 1);
        let results = outputs.into_iter().map(|slot| (slot, thread.value(slot))).collect();
        (thread.registers, thread.next, thread.steps) = (registers, next, steps);
        Ok(results)
    }

    /// The thread has executed an instruction with these results on the other way.
    pub(super) fn after(&mut self, own: &mut Own, results: Vec<(Slot, u64)>) {
        for (slot, value) in results {
            own.give(slot, self.taint());
            self.slots.push((slot, value));
        }
        let open = Some(Open { cause: Cause::Spin, code: self.at });
        self.slots.retain(|(slot, _)| own.get(*slot).open == open);
    }

    /// The thread stands at a branch; the predicate if it depends on the answer, which then is dealt with.
    pub(super) fn branches(&mut self, flow: &Flow<'_>, thread: &Thread, own: &Own) -> Result<Option<Slot>, Refusal> {
        let program = flow.program;
        let at = thread.next;
        let Code::JumpIf { p, when, to } = program.code[at as usize] else { return Ok(None) };
        let Some((_, other)) = self.slots.iter().find(|(slot, _)| *slot == p) else { return Ok(None) };
        if (thread.value(p) ^ other) & 1 == 0 {
            return Ok(Some(p));
        }
        let mut other = if (other & 1 == 1) == when { to } else { at + 1 };
        let meet = program.reconvergence[at as usize];
        for _ in 0..LONGEST {
            if other == meet {
                break;
            }
            other = match program.code[other as usize] {
                Code::Jump(to) => to,
                Code::Nothing => other + 1,
                _ => break,
            };
        }
        if other != meet || self.detour.is_some() {
            return Err(self.refused());
        }
        let (own, registers) = (own.clone(), thread.registers.clone());
        self.detour = Some(Detour { meet, own, registers, has_waited: false });
        Ok(Some(p))
    }
}

/// Whether an instruction does nothing but give registers values, go somewhere, or wait. The flag of carries is no register.
fn is_harmless(program: &Program, code: Code) -> bool {
    match code {
        Code::Carry { .. } => false,
        Code::Jump(_) | Code::JumpIf { .. } | Code::Skip { .. } | Code::Nothing => true,
        Code::Object(index) => matches!(program.objects[index as usize].kind, ObjectKind::Wait { .. }),
        _ => is_computation(code),
    }
}

/// The registers that an instruction writes; `None` if that may be any.
fn written(program: &Program, code: Code) -> Option<Vec<Slot>> {
    Some(match code {
        Code::Load(index) | Code::Atomic(index) => {
            program.accesses[index as usize].data.iter().filter_map(|data| data.map(|(slot, _)| slot)).collect()
        }
        Code::Warp(index) => {
            program.warp_operations[index as usize].d.iter().filter_map(|d| d.map(|(slot, _)| slot)).collect()
        }
        Code::Object(index) => program.objects[index as usize].d.map(|(slot, _)| slot).into_iter().collect(),
        Code::Barrier(index) => {
            program.barriers[index as usize].reduction.and_then(|reduction| reduction.d).into_iter().collect()
        }
        Code::Carry { d, .. } => vec![d],
        Code::Call { .. } | Code::Copies(_) | Code::Return => return None,
        _ => results(program, code).unwrap_or_default(),
    })
}

/// The registers that a computation reads and writes; `None` for those of which only the taint is followed.
fn parts(program: &Program, code: Code) -> Option<(Vec<Slot>, Vec<Slot>)> {
    let inputs = match code {
        Code::One { a, .. } | Code::Move { a, .. } => vec![a],
        Code::Two { a, b, .. } => vec![a, b],
        Code::Three { a, b, c, .. } => vec![a, b, c],
        Code::Select { a, b, p, .. } => vec![a, b, p],
        Code::Compare(index) => {
            let parts = &program.comparisons[index as usize];
            [parts.a, parts.b].into_iter().chain(parts.combine.map(|(_, slot)| slot)).collect()
        }
        _ => return None,
    };
    Some((inputs, results(program, code)?))
}
