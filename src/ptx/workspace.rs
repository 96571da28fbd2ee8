//! The memory through which the blocks of a cooperative launch wait for each other, as a variable.
//!
//! Input: a [`Module`]. Output: the same, where the address that a function composes of `%envreg1` (its high half) and
//! `%envreg2` (its low half), and accesses memory at, is that of a variable [`NAME`] in global memory. Establishes: each such address names the one
//! variable. Why: `grid.sync()` of cooperative groups finds its counter there, and nothing else in PTX says where it is. Relies on: the driver
//! gives a cooperative launch memory of its own, cleared, and its address in these two registers; in other launches it
//! is 0, and the code of cooperative groups traps. Reference: PTX ISA, `%envreg`; CUDA Programming Guide, "Grid Synchronization".

use super::ast::{
    Address, AddressBase, Function, Instruction, IntOp, Item, Linkage, Module, Op, Operand, RegisterId, ScalarType,
    SpecialRegister, StateSpace, Variable, VariableRef,
};
use super::roles::{Slot, registers, visit};
use crate::span::Span;
use std::collections::BTreeMap;

/// What the variable is called.
const NAME: &str = "grid_workspace";

/// The registers with the halves of the address.
const HIGH: &str = "%envreg1";
const LOW: &str = "%envreg2";

/// Through so many copies and conversions a half is followed.
const MOST_STEPS: u32 = 8;

/// Its size in bytes: a number that is not read, and the counter.
const SIZE: u64 = 8;

/// Names the memory wherever its address is composed.
pub(super) fn name(module: &mut Module) {
    let found: Vec<Found> = module.functions.iter().map(found).collect();
    if found.iter().all(|found| found.addresses.is_empty()) {
        return;
    }
    let workspace = VariableRef::Module(module.variables.len() as u32);
    let mut span = Span::NONE;
    for (function, Found { addresses, halves }) in module.functions.iter_mut().zip(found) {
        let Some(body) = &mut function.body else { continue };
        for (index, item) in body.items.iter_mut().enumerate() {
            let Item::Instruction(instruction) = item else { continue };
            if addresses.contains(&index)
                && let Some(dst) = result(&instruction.op)
            {
                span = instruction.origin.span;
                let (space, src) = (StateSpace::Global, Operand::Variable(workspace, 0));
                instruction.op = Op::Cvta { from_generic: false, space, bits: 64, dst, src };
            } else if halves.contains(&index)
                && let Op::Mov { src, .. } = &mut instruction.op
            {
                *src = Operand::Integer(0);
            }
        }
    }
    let is_free = |name: &String| module.variables.iter().all(|variable| *variable.name != **name);
    let mut names = std::iter::once(NAME.to_string()).chain((1..).map(|number| format!("{NAME}_{number}")));
    module.variables.push(Variable {
        name: names.find(is_free).unwrap_or_default().into(),
        spelling: None,
        space: StateSpace::Global,
        ty: ScalarType::B(8),
        size: Some(SIZE),
        // What the accesses of its words take for granted.
        align: 4,
        linkage: Linkage::Internal,
        pointer: None,
        initialised: false,
        initial_values: Vec::new(),
        initialiser_symbols: Vec::new(),
        span,
    });
}

/// Items of a function.
#[derive(Default)]
struct Found {
    /// They compose the address.
    addresses: Vec<usize>,
    /// They read a half of it of which nothing else is made.
    halves: Vec<usize>,
}

fn found(function: &Function) -> Found {
    let items = function.body.iter().flat_map(|body| body.items.iter().enumerate());
    let instructions = items.filter_map(|(index, item)| match item {
        Item::Instruction(instruction) => Some((index, instruction)),
        _ => None,
    });
    let instructions: Vec<(usize, &Instruction)> = instructions.collect();
    if !instructions.iter().any(|(_, instruction)| reads(&instruction.op)) {
        return Found::default();
    }
    // What a register has that one instruction writes, whatever happened.
    let mut written: BTreeMap<RegisterId, Option<&Instruction>> = BTreeMap::new();
    for (_, instruction) in &instructions {
        for register in registers(instruction).1 {
            let only = instruction.guard.is_none().then_some(*instruction);
            written.entry(register).and_modify(|other| *other = None).or_insert(only);
        }
    }
    let halves = Halves { written };
    let composes = |instruction: &Instruction| instruction.guard.is_none() && halves.compose(&instruction.op);
    let is_part = |register: &RegisterId| halves.is_part(&Operand::Register(*register));
    let is_apart = instructions.iter().all(|(_, instruction)| {
        let (read, written) = registers(instruction);
        let is_step = !written.is_empty() && written.iter().all(is_part);
        composes(instruction) || is_step || !read.iter().any(is_part)
    });
    let indices = |is_it: &dyn Fn(&Instruction) -> bool| {
        instructions.iter().filter(|(_, instruction)| is_it(instruction)).map(|(index, _)| *index).collect()
    };
    let addresses: Vec<usize> = indices(&composes);
    if !instructions.iter().any(|(_, instruction)| halves.accesses(instruction)) {
        return Found::default();
    }
    // A register that is written elsewhere, too, may hold a half where it is asked for.
    let is_half = |instruction: &Instruction| {
        let (_, written) = registers(instruction);
        reads(&instruction.op) && !written.is_empty() && written.iter().all(is_part)
    };
    let halves = if is_apart { indices(&is_half) } else { Vec::new() };
    Found { addresses, halves }
}

/// Whether an instruction reads one of the two registers.
fn reads(op: &Op) -> bool {
    matches!(op, Op::Mov { src, .. } if [HIGH, LOW].iter().any(|half| is_register(src, half)))
}

fn is_register(operand: &Operand, name: &str) -> bool {
    matches!(operand, Operand::Special(SpecialRegister::Other(register)) if register.name() == name)
}

/// The register of the whole address.
fn result(op: &Op) -> Option<Operand> {
    match op {
        Op::Mov { dst, .. } | Op::Int { dst, .. } => Some(dst.clone()),
        _ => None,
    }
}

struct Halves<'a> {
    /// The instruction that writes a register, if there is but one.
    written: BTreeMap<RegisterId, Option<&'a Instruction>>,
}

impl Halves<'_> {
    /// Whether the result is the address.
    fn compose(&self, op: &Op) -> bool {
        match op {
            Op::Int { op: IntOp::Bfi, ty, sources, dst: Operand::Register(_), .. } if ty.bits() == 64 => {
                matches!(&sources[..], [high, low, Operand::Integer(32), Operand::Integer(32)]
                    if self.is_half(high, HIGH) && self.is_half(low, LOW))
            }
            Op::Int { op: IntOp::Or, ty, sources, dst: Operand::Register(_), .. } if ty.bits() == 64 => {
                let is_both = |a, b| self.is_shifted(a) && self.is_half(b, LOW);
                matches!(&sources[..], [a, b] if is_both(a, b) || is_both(b, a))
            }
            Op::Mov { src: Operand::Vector(parts), dst: Operand::Register(_), .. } => {
                matches!(&parts[..], [low, high] if self.is_half(high, HIGH) && self.is_half(low, LOW))
            }
            _ => false,
        }
    }

    /// Whether an instruction accesses memory at the address, or behind it.
    fn accesses(&self, instruction: &Instruction) -> bool {
        let mut found = false;
        visit(&mut instruction.op.clone(), &mut |slot| {
            if let Slot::Address(Address { base: AddressBase::Register(base), .. }) = slot {
                found |= self.is_address(&Operand::Register(*base));
            }
        });
        found
    }

    /// Whether an operand has the address, or a number more.
    fn is_address(&self, operand: &Operand) -> bool {
        let mut operand = operand;
        for _ in 0..MOST_STEPS {
            operand = match self.writer(operand) {
                Some(op) if self.compose(op) => return true,
                Some(Op::Mov { src, .. } | Op::Cvta { src, .. }) => src,
                Some(Op::Int { op: IntOp::Add, sources, .. }) => match &sources[..] {
                    [address, Operand::Integer(_)] => address,
                    _ => return false,
                },
                _ => return false,
            };
        }
        false
    }

    /// Whether an operand has one of the registers as a number.
    fn is_half(&self, operand: &Operand, name: &str) -> bool {
        let mut operand = operand;
        for _ in 0..MOST_STEPS {
            if is_register(operand, name) {
                return true;
            }
            operand = match self.writer(operand) {
                Some(Op::Mov { src, .. }) => src,
                Some(Op::Cvt { from, to, sources, .. })
                    if (from.bits(), to.bits()) == (32, 64) && !from.is_signed() =>
                {
                    let [source] = &sources[..] else { return false };
                    source
                }
                _ => return false,
            };
        }
        false
    }

    /// Whether an operand has the high half where it belongs.
    fn is_shifted(&self, operand: &Operand) -> bool {
        match self.writer(operand) {
            Some(Op::Int { op: IntOp::Shl, ty, sources, .. }) if ty.bits() == 64 => {
                matches!(&sources[..], [source, Operand::Integer(32)] if self.is_half(source, HIGH))
            }
            _ => false,
        }
    }

    /// Whether it has nothing but a half.
    fn is_part(&self, operand: &Operand) -> bool {
        [HIGH, LOW].iter().any(|half| self.is_half(operand, half)) || self.is_shifted(operand)
    }

    fn writer(&self, operand: &Operand) -> Option<&Op> {
        let Operand::Register(register) = operand else { return None };
        self.written.get(register).copied().flatten().map(|instruction| &instruction.op)
    }
}
