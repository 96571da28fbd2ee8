//! Computations with values that differ by block.
//!
//! Input: a computation of which an operand differs. Output: how its results differ. Establishes: each candidate that is alive has
//! just these results: the very function is evaluated with its operands. Relies on: `exec::thread`, which this mirrors.
//! Reference: none.

use crate::exec::decode::{Code, Program, Slot};
use crate::exec::thread::Thread;
use crate::exec::values::mask;
use crate::sync::follow::Flow;
use crate::sync::own::Own;
use crate::sync::taint::ByBlock;

impl Flow<'_> {
    /// The instruction at `at` is executed next, and what it gives some registers differs by block.
    pub(in crate::sync) fn evaluate(&mut self, thread: &Thread, own: &mut Own, at: u32) {
        let pending = std::mem::take(&mut own.pending);
        let code = self.program.code[at as usize];
        let before = |slot: Slot| {
            let replaced = pending.iter().find(|(other, _)| *other == slot);
            replaced.map_or_else(|| own.get(slot).by_block, |(_, before)| *before)
        };
        let differences = &mut self.alike.differences;
        let mut is_known = differences.is_any_left();
        let mut here = Vec::new();
        let mut look = |slot: Slot| {
            let by_block = before(slot);
            is_known &= by_block == ByBlock::SAME || differences.get(by_block).is_some();
            thread.value(slot)
        };
        is_known = results(self.program, code, &mut look, &mut here).is_some() && is_known;
        let mut made = vec![ByBlock::UNKNOWN; here.len()];
        if is_known {
            let mut numbers = vec![vec![0; self.alike.candidates.len()]; here.len()];
            let mut there = Vec::new();
            for candidate in differences.alive() {
                there.clear();
                let mut value = |slot: Slot| thread.value(slot).wrapping_add(differences.at(before(slot), candidate));
                if results(self.program, code, &mut value, &mut there).is_none() {
                    differences.drop(candidate);
                    continue;
                }
                for (numbers, (one, other)) in numbers.iter_mut().zip(here.iter().zip(&there)) {
                    numbers[candidate] = other.1.wrapping_sub(one.1);
                }
            }
            made = numbers.into_iter().map(|numbers| differences.intern(numbers)).collect();
        }
        for (slot, _) in pending {
            let known = here.iter().zip(&made).rev().find(|((other, _), _)| *other == slot);
            own.differs(slot, known.map_or(ByBlock::UNKNOWN, |(_, by_block)| *by_block));
        }
    }
}

/// What a computation gives registers whose values are those of `value`; `None` if the ISA does not say, or that is none.
fn results(
    program: &Program,
    code: Code,
    value: &mut dyn FnMut(Slot) -> u64,
    given: &mut Vec<(Slot, u64)>,
) -> Option<()> {
    let (d, result) = match code {
        Code::One { f, d, a } => (d, f(value(a))),
        Code::Two { f, d, a, b } => (d, f(value(a), value(b))),
        Code::Three { f, d, a, b, c } => (d, f(value(a), value(b), value(c))),
        Code::Many { f, bits, d, s } => {
            let [a, b, c, e] = s.map(&mut *value);
            (d, program.functions[usize::from(f)](&[a, b, c, e, 0]) & mask(u32::from(bits)))
        }
        Code::Partial { f, d, a, b, .. } => (d, f(value(a), value(b))?),
        Code::Move { d, a } => (d, value(a)),
        Code::Select { d, a, b, p } => {
            let (a, b) = (value(a), value(b));
            (d, if value(p) & 1 == 1 { a } else { b })
        }
        Code::Pack(index) => {
            let pack = &program.packs[index as usize];
            let sources: Vec<u64> = pack.sources.iter().map(|(slot, _)| value(*slot)).collect();
            let whole = pack.whole(|number, _| sources[number]);
            let parts = pack.destinations.iter().enumerate();
            given.extend(parts.filter_map(|(number, (slot, _))| Some(((*slot)?, pack.part(whole, number)))));
            return Some(());
        }
        Code::Compare(index) => {
            given.extend(program.comparisons[index as usize].results(value).into_iter().flatten());
            return Some(());
        }
        _ => return None,
    };
    given.push((d, result));
    Some(())
}
