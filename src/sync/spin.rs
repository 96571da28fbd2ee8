//! Waits at barrier objects that are asked again until they say `true`.
//!
//! Input: a thread in front of a wait. Output: its registers, of which those are open that differ after the wait has said `false`.
//! Establishes: whatever happens where the wait says `false` leads back to this very wait, and gives registers values and
//! nothing else; so every execution comes to the point behind the wait at which it says `true`, how often it was asked before.
//! Relies on: the engine goes on there ([`super::run`]). Reference: PTX ISA, `mbarrier.test_wait`, `mbarrier.try_wait`.

use super::computations::{is_computation, results};
use super::follow::{Flow, Refusal, What};
use super::own::Own;
use super::taint::{Byte, Cause, Taint};
use crate::exec::block::BlockState;
use crate::exec::decode::{Code, Program, Slot};
use crate::exec::thread::Thread;
use crate::exec::world::World;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions from a wait back to it.
const LONGEST: usize = 256;

/// The waits of a program.
#[derive(Debug, Default)]
pub(super) struct Spins {
    /// Those of which the path back depends on their answer alone, and changes nothing.
    plain: BTreeSet<u32>,
}

/// A block with a thread in front of a wait.
pub(super) struct Waiting<'b> {
    pub(super) world: &'b mut World,
    pub(super) state: &'b mut BlockState,
    pub(super) shared: &'b mut [Byte],
    pub(super) thread: &'b mut Thread,
    pub(super) own: &'b mut Own,
}

impl Spins {
    /// Goes the way on which a wait says `false`. `at`: the wait; `d`: where its answer goes.
    pub(super) fn try_out(
        &mut self,
        flow: &mut Flow<'_>,
        waiting: &mut Waiting<'_>,
        at: u32,
        d: Option<Slot>,
    ) -> Result<(), Refusal> {
        let d = d.ok_or_else(|| refused(at))?;
        if self.plain.contains(&at) {
            return Ok(());
        }
        loop {
            let before = (waiting.own.clone(), waiting.thread.registers.clone());
            let is_plain = around(flow, waiting, at, d);
            // Back to the wait, as if nothing had been asked.
            let (own, registers) = before;
            let after =
                (std::mem::replace(waiting.own, own), std::mem::replace(&mut waiting.thread.registers, registers));
            let is_plain = is_plain?;
            let slots = (0..after.1.len()).filter(|slot| *slot != usize::from(d)).map(|slot| slot as Slot);
            let changed: Vec<Slot> = slots
                .filter(|slot| !waiting.own.get(*slot).is_open())
                .filter(|slot| {
                    let same = waiting.thread.value(*slot) == after.1[usize::from(*slot)];
                    !same || waiting.own.get(*slot) != after.0.get(*slot)
                })
                .collect();
            if changed.is_empty() {
                if is_plain {
                    self.plain.insert(at);
                }
                return Ok(());
            }
            for slot in changed {
                waiting.own.give(slot, Taint::open(Cause::Spin, at));
            }
        }
    }
}

fn refused(at: u32) -> Refusal {
    Refusal { code: at, what: What::Spin, open: None }
}

/// From a wait that says `false` back to it; whether only its answer decided, and nothing changed.
fn around(flow: &mut Flow<'_>, waiting: &mut Waiting<'_>, at: u32, d: Slot) -> Result<bool, Refusal> {
    let Waiting { world, state, shared, thread, own } = waiting;
    let program = flow.program;
    let (start, steps) = (thread.next, thread.steps);
    thread.set(d, 0);
    own.give(d, Taint::FIXED);
    thread.next = at + 1;
    let mut is_plain = start == at;
    let mut back = Err(refused(at));
    for _ in 0..LONGEST {
        let mut next = thread.next;
        let mut code = program.code[next as usize];
        if next == start {
            back = Ok(is_plain);
            break;
        }
        if let Code::Skip { p, when } = code {
            is_plain &= p == d;
            if (thread.value(p) & 1 == 1) != when {
                next += 1;
                code = program.code[next as usize];
            }
        }
        match code {
            Code::JumpIf { p, .. } if own.get(p).is_open() => {
                let first = computed_before(program, start);
                let mut outputs = Vec::new();
                let meets = |to: &u32| {
                    outputs.clear();
                    all_lead_to(program, next, *to, &mut BTreeMap::new(), &mut outputs)
                };
                let Some(to) = (first..=start).find(meets) else { break };
                outputs.into_iter().for_each(|slot| own.give(slot, Taint::open(Cause::Spin, at)));
                (is_plain, thread.next) = (false, to);
                continue;
            }
            Code::JumpIf { p, .. } => is_plain &= p == d,
            Code::Jump(_) | Code::Nothing | Code::Skip { .. } => {}
            Code::JumpTable { .. } => is_plain = false,
            // The flag of carries is no register.
            Code::Carry { .. } => break,
            _ if is_computation(code) => is_plain = false,
            _ => break,
        }
        if let Err(refusal) = flow.step(world, shared, thread, own) {
            back = Err(refusal);
            break;
        }
        thread.run(program, world, state, 1);
    }
    (thread.next, thread.steps) = (start, steps);
    back
}

/// The first of the computations that stand in a row before an instruction. From any of them on, all ways compute the same.
fn computed_before(program: &Program, at: u32) -> u32 {
    let before = (0..at).rev().take_while(|before| match program.code[*before as usize] {
        Code::Carry { .. } => false,
        code => is_computation(code),
    });
    before.last().unwrap_or(at)
}

/// Whether all ways from an instruction lead to another one, without a loop, and do nothing but give registers values. Which
/// those are. `known`: instructions that were looked at, and whether that is done.
fn all_lead_to(
    program: &Program,
    from: u32,
    to: u32,
    known: &mut BTreeMap<u32, bool>,
    outputs: &mut Vec<Slot>,
) -> bool {
    if from == to {
        return true;
    }
    if let Some(is_done) = known.get(&from) {
        return *is_done;
    }
    if known.len() == LONGEST {
        return false;
    }
    known.insert(from, false);
    let code = program.code[from as usize];
    let next = match code {
        Code::Jump(to) => vec![to],
        Code::JumpIf { to, .. } => vec![from + 1, to],
        Code::Skip { .. } => vec![from + 1, from + 2],
        Code::Nothing => vec![from + 1],
        _ => match results(program, code) {
            Some(slots) => {
                outputs.extend(slots);
                vec![from + 1]
            }
            None => return false,
        },
    };
    let leads = next.into_iter().all(|next| all_lead_to(program, next, to, known, outputs));
    known.insert(from, leads);
    leads
}
