//! Instructions that give registers values.
//!
//! Input: an instruction, registers. Output: what the registers are then. Establishes: it holds for all rounds of the region. Relies on: the notes of
//! the decoder; [`crate::sync::placement`] for bits of addresses. Reference: PTX ISA, integer arithmetic, comparison and selection.

use super::terms::{Function, Operand, Term, Terms};
use super::thread::Follower;
use super::value::{Linear, Number, Value};
use crate::exec::decode::{Code, ConstantKind, Note, Place, Program, Slot};
use crate::exec::values::mask;
use crate::ptx::ast::{Comparison, IntOp, ScalarType};
use crate::sync::placement;
use crate::sync::taint::{Part, Placed};

impl Follower<'_> {
    /// An instruction that gives registers values.
    pub(super) fn compute(&mut self, at: u32, code: Code, slots: Vec<Slot>) {
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
            (Code::Select { a, b, p, .. }, _) => match (self.decided(p), value(a), value(b)) {
                (Some(true), a, _) => a,
                (Some(false), _, b) => b,
                (None, a, b) if a == b => a,
                _ => Value::Any,
            },
            (Code::One { a, .. }, Some(Note::Low32)) => value(a).low32(region),
            (Code::One { a, .. }, Some(Note::Convert { .. })) => value(a).widened(region),
            (Code::One { a, .. }, Some(Note::Integer { op: op @ (IntOp::Not | IntOp::Neg), ty })) => {
                // All bits changed, a number is -1 minus it.
                let start = if *op == IntOp::Not { mask(ty.bits()) } else { 0 };
                Value::constant(start).sum(value(a), -1, ty.bits(), region)
            }
            (Code::One { f, a, .. }, None | Some(Note::Integer { .. })) => {
                value(a).value().map_or(Value::Any, |a| Value::constant(f(a)))
            }
            (Code::Two { a, .. }, Some(Note::ToGeneric | Note::FromGeneric)) => match value(a) {
                Value::Place { variable, offset, .. } => {
                    Value::Place { variable, generic: note == Some(&Note::ToGeneric), offset }
                }
                parameter @ Value::Parameter(_) => parameter,
                _ => Value::Any,
            },
            (Code::Two { a, b, .. }, Some(Note::Sum { bits: 64 })) if matches!(value(a), Value::Parameter(_)) => {
                self.in_parameters(value(a), value(b))
            }
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
                self.ask(at, [value(a), value(b)]);
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
            (Code::Three { a, b, c, .. }, Some(Note::WideProductSum { of })) => {
                value(a).product_sum(value(b), value(c), Some(*of), 2 * of.bits(), region)
            }
            (Code::Three { f, a, b, c, .. }, None | Some(Note::Integer { .. })) => {
                match (value(a).value(), value(b).value(), value(c).value()) {
                    (Some(a), Some(b), Some(c)) => Value::constant(f(a, b, c)),
                    _ => Value::Any,
                }
            }
            (
                Code::Many { f, bits, s, .. },
                None | Some(Note::Integer { .. } | Note::ProductSum { .. } | Note::WideProductSum { .. }),
            ) => match s.map(|slot| value(slot).value()) {
                [Some(a), Some(b), Some(c), Some(d)] => {
                    let result = program.functions[usize::from(f)](&[a, b, c, d, 0]);
                    Value::constant(result & mask(u32::from(bits)))
                }
                _ => Value::Any,
            },
            (Code::Compare(index), Some(Note::Comparison { comparison, ty })) => {
                return self.compare((at, index), *comparison, *ty, &slots);
            }
            _ => Value::Any,
        };
        let result = match result {
            Value::Any => self.bits(at, code).or_else(|| self.term(code, note)).unwrap_or(Value::Any),
            result => result,
        };
        let nothing = match note {
            Some(Note::Unknown) => Value::Any,
            _ if self.is_number(code) => Value::Unknown,
            _ => Value::Any,
        };
        match slots[..] {
            [d] if result != Value::Any => self.set(d, result),
            _ => slots.into_iter().for_each(|slot| self.set(slot, nothing)),
        }
    }

    /// An address in the parameters, plus a number; it is a generic address before its window is added, too.
    fn in_parameters(&self, address: Value, number: Value) -> Value {
        match (address, number.value()) {
            (address, Some(start)) if start == self.kernel.program.windows.param => address,
            (Value::Parameter(offset), Some(number)) => Value::Parameter(offset.wrapping_add(number)),
            _ => Value::Any,
        }
    }

    /// A function of numbers and of bits of the address of one shared variable.
    fn bits(&mut self, at: u32, code: Code) -> Option<Value> {
        let program = self.kernel.program;
        if matches!(program.notes.codes.get(&at), Some(Note::Inexact | Note::Unknown | Note::Parameter { .. })) {
            return None;
        }
        let slots: &[Slot] = match &code {
            Code::One { a, .. } => &[*a],
            Code::Two { a, b, .. } => &[*a, *b],
            Code::Three { a, b, c, .. } => &[*a, *b, *c],
            Code::Many { s, .. } => s,
            _ => return None,
        };
        let mut number = None;
        let mut operands = Vec::new();
        for slot in slots {
            let value = self.get(*slot);
            let (of, placed) = match value {
                Value::Number(_) => (value.value()?, None),
                Value::Bits { variable, part, value } => (value, Some((variable, part))),
                Value::Place { variable, generic: false, offset } => {
                    let variable = variable as u16;
                    let address = placement::start(program, variable) + offset.value()?;
                    (address, Some((variable, Part::Whole(0))))
                }
                _ => return None,
            };
            let placed = placed.map(|(variable, part)| (*number.get_or_insert(variable), variable, part));
            if placed.is_some_and(|(one, other, _)| one != other) {
                return None;
            }
            operands.push((of, placed.map(|(_, one, part)| Placed { place: Place::Shared(one), part })));
        }
        let variable = number?;
        let function = |values: &[u64]| match code {
            Code::One { f, .. } => f(values[0]),
            Code::Two { f, .. } => f(values[0], values[1]),
            Code::Three { f, .. } => f(values[0], values[1], values[2]),
            Code::Many { f, bits, .. } => {
                let all = [values[0], values[1], values[2], values[3], 0];
                program.functions[usize::from(f)](&all) & mask(u32::from(bits))
            }
            _ => panic!("phases: a function of bits has operands"),
        };
        let value = function(&operands.iter().map(|(value, _)| *value).collect::<Vec<u64>>());
        Some(match self.kernel.placements.borrow_mut().made(program, variable, (at, 0, operands), &function)? {
            None => Value::constant(value),
            Some(Part::Whole(0)) => {
                let offset = i128::from(value) - i128::from(placement::start(program, variable));
                let offset = Number::new(Linear::constant(offset), 32);
                Value::Place { variable: u32::from(variable), generic: false, offset }
            }
            Some(part) => Value::Bits { variable, part, value },
        })
    }

    /// Whether a result is a number that comes from numbers only, and so no address.
    fn is_number(&self, code: Code) -> bool {
        let sources: &[Slot] = match code {
            Code::One { a, .. } | Code::Move { a, .. } => &[a],
            Code::Two { a, b, .. } | Code::Partial { a, b, .. } | Code::Select { a, b, .. } => &[a, b],
            Code::Three { a, b, c, .. } => &[a, b, c],
            Code::Many { s, .. } => &s.clone(),
            Code::Compare(_) | Code::Clock { .. } => &[],
            _ => return false,
        };
        sources.iter().all(|slot| self.get(*slot).is_number())
    }

    /// A comparison in a loop.
    fn ask(&self, at: u32, operands: [Value; 2]) {
        if self.kernel.loops.iter().any(|body| body.contains(&at)) {
            let terms =
                operands.iter().filter_map(|value| if let Value::Term(term) = value { Some(*term) } else { None });
            terms.for_each(|term| self.kernel.terms.borrow_mut().ask(term));
        }
    }

    /// A function of terms and numbers.
    fn term(&self, code: Code, note: Option<&Note>) -> Option<Value> {
        if matches!(note, Some(Note::Inexact | Note::Unknown | Note::Parameter { .. })) {
            return None;
        }
        let (function, slots): (Function, &[Slot]) = match &code {
            Code::One { f, a, .. } => (Function::At(*f as usize), &[*a]),
            Code::Two { f, a, b, .. } => (Function::At(*f as usize), &[*a, *b]),
            Code::Three { f, a, b, c, .. } => (Function::At(*f as usize), &[*a, *b, *c]),
            Code::Many { f, bits, s, .. } => (Function::Many(*f, *bits), s),
            Code::Select { p, a, b, .. } => (Function::Select, &[*p, *a, *b]),
            // By no other number it is specified for all.
            Code::Partial { f, a, b, .. } if self.get(*b).value().is_some_and(|by| (2..1 << 15).contains(&by)) => {
                (Function::At(*f as usize), &[*a, *b])
            }
            _ => return None,
        };
        let operand = |slot: &Slot| match self.get(*slot) {
            Value::Term(term) => Some(Operand::Term(term)),
            value => value.value().map(Operand::Number),
        };
        let operands: Vec<Operand> = slots.iter().map(operand).collect::<Option<_>>()?;
        let has_term = operands.iter().any(|operand| matches!(operand, Operand::Term(_)));
        has_term.then(|| Value::Term(self.kernel.terms.borrow_mut().number(Term::Function(function, operands))))
    }

    fn compare(&mut self, (at, index): (u32, u32), comparison: Comparison, ty: ScalarType, slots: &[Slot]) {
        let parts = &self.kernel.program.comparisons[index as usize];
        self.ask(at, [self.get(parts.a), self.get(parts.b)]);
        let said = Value::compared(comparison, ty, [self.get(parts.a), self.get(parts.b)], self.region);
        let other = parts.combine.map(|(_, slot)| self.get(slot).value());
        slots.iter().for_each(|slot| self.set(*slot, Value::Unknown));
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
        let sample = self.kernel.program.template[usize::from(slot)];
        match () {
            () if self.kernel.given.contains(&index) => Value::constant(sample),
            () if bytes <= 4 && !self.kernel.pointers.contains(&index) => {
                let term = self.kernel.terms.borrow_mut().number(Term::Parameter { index, offset, bytes, sample });
                if Some(term) == self.class.count { self.count } else { Value::Term(term) }
            }
            // A pointer, maybe in a structure.
            () if bytes == 8 && !self.kernel.tensors.contains(&index) => Value::Array(index as u32 | offset << 16),
            () => Value::Any,
        }
    }
}

/// Results of an instruction that does nothing else.
pub(super) fn results(program: &Program, code: Code) -> Option<Vec<Slot>> {
    crate::sync::computations::results(program, code)
}

/// The registers of all threads before the first instruction.
pub(super) fn template(program: &Program, terms: &mut Terms) -> Vec<Value> {
    let registers = program.notes.registers;
    let place = |value: u64, variable: u16| {
        let start = placement::start(program, variable);
        let offset = Number::new(Linear::constant(i128::from(value) - i128::from(start)), 32);
        Value::Place { variable: u32::from(variable), generic: false, offset }
    };
    let value = |(slot, value): (usize, &u64)| match program.notes.constants.get(&(slot as Slot)) {
        _ if slot < registers => Value::Any,
        None | Some(ConstantKind::Number) => Value::constant(*value),
        Some(ConstantKind::Grid(axis)) => Value::Term(terms.number(Term::Grid(*axis))),
        Some(ConstantKind::Address(Place::Shared(variable))) if *value < 1 << 32 => place(*value, *variable),
        Some(ConstantKind::Address(Place::Param)) => {
            value.checked_sub(program.windows.param).map_or(Value::Any, Value::Parameter)
        }
        Some(_) => Value::Any,
    };
    program.template.iter().enumerate().map(value).collect()
}
