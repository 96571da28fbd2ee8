//! Concrete launches of a kernel: parameters that reach corners, with few and many iterations.

use super::emulator::random::Random;
use super::emulator::{Contents, Launch, pointer};
use gpuvcc::geometry::Geometry;
use gpuvcc::order::Ordering;
use gpuvcc::ptx::ast::{
    AddressBase, Function, Instruction, IntOp, Item, Op, Operand, RegisterId, ScalarType, StateSpace, VariableRef,
};
use std::collections::BTreeSet;

/// Instructions a thread may execute in one run.
const STEPS: u32 = 3_000;

/// A launch of the given sizes with parameters drawn from a seed; fixed parameters keep their value.
pub fn launch(entry: &Function, sizes: &Geometry, fixed: &[(usize, u64)], seed: u64) -> Launch {
    let mut random = Random::new(seed);
    let Geometry { block, grid } = sizes.or_one();
    let pointers = pointer_slots(entry);
    let constants = constants(entry);
    let mut arrays = 0;
    let mut parameters = Vec::new();
    for (index, parameter) in (0u32..).zip(&entry.params) {
        let element = parameter.ty.bytes().max(1) as usize;
        let size = usize::try_from(parameter.size.unwrap_or(0)).unwrap_or(0);
        // Fields of structures are not typed: those of eight bytes are what the kernel loads so.
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < size {
            let offset = bytes.len();
            let fixed = fixed.iter().find(|(position, _)| *position == index as usize).map(|(_, value)| *value);
            if pointers.contains(&(index, offset as i64)) {
                bytes.extend(pointer(arrays).to_le_bytes());
                arrays += 1;
            } else if let Some(value) = fixed {
                bytes.extend(&value.to_le_bytes()[..element.min(8)]);
            } else {
                let step = if element == 1 { 4.min(size - offset) } else { element.min(8) };
                let value = scalar(parameter.ty, block, grid, &constants, &mut random);
                bytes.extend(&value.to_le_bytes()[..step]);
            }
        }
        bytes.truncate(size);
        parameters.push(bytes);
    }
    let contents = match random.below(4) {
        0 => Contents::Zero,
        1 => Contents::Small(2),
        2 => Contents::Small(64),
        _ => Contents::Any,
    };
    // What counts blocks, or is a lock, starts with zeros: the report assumes it.
    let contents = if synchronises(entry) { Contents::Zero } else { contents };
    Launch { block, grid, only: Vec::new(), parameters, arrays, contents, seed, steps: STEPS }
}

/// Whether a kernel orders its accesses by fences and by atomics or flags.
fn synchronises(entry: &Function) -> bool {
    let ops = || {
        entry.body.iter().flat_map(|body| &body.items).filter_map(|item| match item {
            Item::Instruction(Instruction { op, .. }) => Some(op),
            _ => None,
        })
    };
    let orders = |op: &Op| match op {
        Op::Fence(_) => true,
        Op::Atomic { ordering, .. } | Op::Store { ordering, .. } | Op::Load { ordering, .. } => {
            !matches!(ordering, Ordering::Relaxed(_) | Ordering::Volatile | Ordering::Weak)
        }
        _ => false,
    };
    let tells = |op: &Op| match op {
        Op::Atomic { .. } => true,
        Op::Store { ordering, .. } => *ordering != Ordering::Weak,
        _ => false,
    };
    ops().any(tells) && ops().any(orders)
}

/// Integers that the kernel compares with: parameters near them reach both sides.
fn constants(entry: &Function) -> Vec<u64> {
    let items = entry.body.iter().flat_map(|body| &body.items);
    let operands = items.filter_map(|item| match item {
        Item::Instruction(Instruction { op: Op::Setp { a, b, .. }, .. }) => Some([a, b]),
        _ => None,
    });
    let integers = operands.flatten().filter_map(|operand| match operand {
        Operand::Integer(value) => Some(*value),
        _ => None,
    });
    integers.collect::<BTreeSet<u64>>().into_iter().collect()
}

/// A scalar: mostly small, or near a size of the launch or a constant of the kernel.
fn scalar(ty: ScalarType, block: [u32; 3], grid: [u32; 3], constants: &[u64], random: &mut Random) -> u64 {
    if let ScalarType::F(32) = ty {
        let values = [0.0f32, 1.0, -1.0, 0.5, f32::NAN];
        return random.pick(&values).map_or(0, |value| u64::from(value.to_bits()));
    }
    let threads = u64::from(block.iter().product::<u32>());
    let all = threads * u64::from(grid.iter().product::<u32>());
    let row = u64::from(block[0]);
    let sizes = [row, threads, all, u64::from(grid[0]), row * u64::from(grid[0])];
    let near = |value: u64, random: &mut Random| value.wrapping_add(random.below(3) as u64).wrapping_sub(1);
    if let (0, Some(constant)) = (random.below(4), random.pick(constants)) {
        return near(*constant, random);
    }
    match random.below(8) {
        0..=2 => random.below(10) as u64,
        3 => 1 << random.below(11),
        4 | 5 => near(sizes[random.below(sizes.len())], random),
        6 => random.below(200) as u64,
        _ => *random.pick(&[u64::MAX, 1 << 31, (1 << 31) - 1, 1 << 30, 100_000, 1 << 32]).unwrap_or(&0),
    }
}

/// Parameters (index and byte offset) whose value is the base of an address.
fn pointer_slots(entry: &Function) -> BTreeSet<(u32, i64)> {
    let Some(body) = &entry.body else { return BTreeSet::new() };
    let instructions: Vec<&Instruction> = body
        .items
        .iter()
        .filter_map(|item| if let Item::Instruction(instruction) = item { Some(instruction) } else { None })
        .collect();
    let mut addresses: BTreeSet<RegisterId> = BTreeSet::new();
    loop {
        let before = addresses.len();
        for instruction in &instructions {
            addresses.extend(address_sources(&instruction.op, &addresses));
        }
        if addresses.len() == before {
            break;
        }
    }
    let mut slots = BTreeSet::new();
    for instruction in instructions {
        if let Op::Load { space: StateSpace::Param, ty, dst, address, .. } = &instruction.op
            && let AddressBase::Variable(VariableRef::Param(index)) = address.base
            && ty.bits() == 64
        {
            for (offset, dst) in (0..).step_by(8).zip(dst) {
                if let Operand::Register(register) = dst
                    && addresses.contains(register)
                {
                    slots.insert((index, address.offset + offset));
                }
            }
        }
    }
    slots
}

/// Registers that hold an address because this instruction uses them as one, or makes one of them.
fn address_sources(op: &Op, addresses: &BTreeSet<RegisterId>) -> Vec<RegisterId> {
    let is_address = |operand: &Operand| matches!(operand, Operand::Register(dst) if addresses.contains(dst));
    let operands: Vec<&Operand> = match op {
        // Functions get pointers as arguments of eight bytes.
        Op::Store { space: StateSpace::Param, ty, src, .. } if ty.bits() == 64 => src.iter().collect(),
        Op::Load { address, .. } | Op::Store { address, .. } | Op::Atomic { address, .. } => {
            return if let AddressBase::Register(register) = address.base { vec![register] } else { Vec::new() };
        }
        Op::Cvta { src, .. } => vec![src],
        Op::Mov { dst, src, .. } if is_address(dst) => vec![src],
        Op::Selp { dst, a, b, .. } if is_address(dst) => vec![a, b],
        Op::Int { op: IntOp::Add | IntOp::Sub, dst, sources, .. } if is_address(dst) => sources.iter().collect(),
        Op::Int { op: IntOp::MadLo | IntOp::MadWide, dst, sources, .. } if is_address(dst) => {
            sources.last().into_iter().collect()
        }
        _ => Vec::new(),
    };
    let register = |operand: &&Operand| if let Operand::Register(register) = operand { Some(*register) } else { None };
    operands.iter().filter_map(register).collect()
}
