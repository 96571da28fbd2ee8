//! One instruction of one emulated thread.

use super::barriers::arrive;
use super::memory::{Access, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use super::thread::{Frame, Status, Thread};
use super::values::{self, mask};
use super::{World, floats};
use gpuvcc::ptx::ast::{
    Address, AddressBase, BoolOp, Comparison, Instruction, Item, Op, Operand, ScalarType, Scope, StateSpace,
};

/// Executes the next item of a running thread.
pub fn step<'m>(thread: &mut Thread<'m>, world: &mut World<'m>) {
    let frame = thread.frame();
    let body = frame.body;
    let Some(item) = body.items.get(frame.next) else { return leave(thread, world) };
    frame.next += 1;
    let Item::Instruction(instruction) = item else { return };
    thread.steps += 1;
    world.outcome.steps += 1;
    if thread.steps > world.launch.steps {
        return thread.stop("a thread ran out of steps");
    }
    if thread.guard(instruction.guard, world) && execute(thread, world, instruction).is_none() {
        thread.stop(&format!("no model of `{}`", instruction.origin.text));
    }
}

/// Executes an instruction; `None` without a model.
fn execute<'m>(thread: &mut Thread<'m>, world: &mut World<'m>, instruction: &'m Instruction) -> Option<()> {
    match &instruction.op {
        Op::Mov { ty, dst, src } => mov(thread, world, *ty, dst, src),
        Op::Int { op, ty, saturate, dst, sources, .. } => {
            let sources = all(thread, world, sources)?;
            let value = values::int(*op, *ty, *saturate, &sources);
            let value = value.unwrap_or_else(|| thread.arbitrary(world));
            thread.write(dst, value);
            Some(())
        }
        Op::Float { name, ty, dst, sources } => {
            let sources = all(thread, world, sources)?;
            thread.write(dst, floats::arithmetic(name, *ty, &sources));
            Some(())
        }
        Op::Setp { comparison, ty, dst, complement, a, b, combine, .. } => {
            let result = compare(thread, world, *comparison, *ty, (a, b))?;
            let value = combined(thread, world, result, combine)?;
            if let Some(complement) = complement {
                let value = combined(thread, world, !result, combine)?;
                thread.write(complement, u64::from(value));
            }
            thread.write(dst, u64::from(value));
            Some(())
        }
        Op::Set { comparison, to, ty, dst, a, b, combine, .. } => {
            let result = compare(thread, world, *comparison, *ty, (a, b))?;
            let one = match to {
                ScalarType::F(32) => u64::from(1f32.to_bits()),
                to if to.is_float() => return None,
                to => mask(to.bits()),
            };
            let value = combined(thread, world, result, combine)?;
            thread.write(dst, if value { one } else { 0 });
            Some(())
        }
        Op::Selp { ty, dst, a, b, predicate } => {
            let chosen = if thread.value(predicate, world)? & 1 == 1 { a } else { b };
            let value = thread.value(chosen, world)? & mask(ty.bits());
            thread.write(dst, value);
            Some(())
        }
        Op::Cvt { to, from, saturate, name, dst, sources } => {
            let sources = all(thread, world, sources)?;
            let value = match to.is_float() || from.is_float() {
                true => floats::convert(name, *to, *from, &sources),
                false => values::convert(*to, *from, *saturate, *sources.first()?),
            };
            thread.write(dst, value);
            Some(())
        }
        Op::Cvta { from_generic, space, dst, src, .. } => {
            let window = window(*space)?;
            let value = thread.value(src, world)?;
            let parameter = matches!(src, Operand::Variable(..)) && *space == StateSpace::Param;
            let value = match *from_generic {
                _ if parameter => value,
                true => value.wrapping_sub(window),
                false => value.wrapping_add(window),
            };
            thread.write(dst, value);
            Some(())
        }
        Op::Load { .. } | Op::Store { .. } | Op::Atomic { .. } => memory(thread, world, instruction),
        Op::Arbitrary { dst, .. } => {
            for (index, dst) in (0..).zip(dst) {
                let value = thread.arbitrary(world).rotate_left(index);
                thread.write(dst, value);
            }
            Some(())
        }
        // Fences order nothing by themselves.
        Op::Fence { .. } | Op::Nothing { .. } => Some(()),
        _ => control(thread, world, instruction),
    }
}

fn all(thread: &mut Thread<'_>, world: &mut World<'_>, operands: &[Operand]) -> Option<Vec<u64>> {
    operands.iter().map(|operand| thread.value(operand, world)).collect()
}

fn mov(thread: &mut Thread<'_>, world: &mut World<'_>, ty: ScalarType, dst: &Operand, src: &Operand) -> Option<()> {
    let value = match src {
        Operand::Vector(parts) => {
            let width = ty.bits() / parts.len() as u32;
            let parts = all(thread, world, parts)?;
            parts.iter().rev().fold(0, |value, part| value << (width % 64) | part & mask(width))
        }
        _ => thread.value(src, world)?,
    };
    match dst {
        Operand::Vector(parts) => {
            let width = ty.bits() / parts.len() as u32;
            for (index, part) in (0..).zip(parts) {
                thread.write(part, value >> (width * index) & mask(width));
            }
        }
        _ => thread.write(dst, value & mask(ty.bits())),
    }
    (ty.bits() <= 64).then_some(())
}

fn compare(
    thread: &mut Thread<'_>,
    world: &mut World<'_>,
    comparison: Comparison,
    ty: ScalarType,
    (a, b): (&Operand, &Operand),
) -> Option<bool> {
    let (a, b) = (thread.value(a, world)?, thread.value(b, world)?);
    Some(if ty.is_float() { floats::compare(comparison, ty, a, b) } else { values::compare(comparison, ty, a, b) })
}

fn combined(
    thread: &mut Thread<'_>,
    world: &mut World<'_>,
    result: bool,
    combine: &Option<(BoolOp, Operand)>,
) -> Option<bool> {
    let Some((operator, operand)) = combine else { return Some(result) };
    let other = thread.value(operand, world)? & 1 == 1;
    Some(match operator {
        BoolOp::And => result && other,
        BoolOp::Or => result || other,
        BoolOp::Xor => result != other,
    })
}

/// Where generic addresses of a space start.
fn window(space: StateSpace) -> Option<u64> {
    match space {
        StateSpace::Shared | StateSpace::SharedCluster => Some(SHARED_WINDOW),
        StateSpace::Local => Some(LOCAL_WINDOW),
        StateSpace::Global | StateSpace::Const | StateSpace::Param => Some(0),
        StateSpace::Generic => None,
    }
}

/// A memory that is not `.param` of a call.
#[derive(Clone, Copy)]
enum Place {
    Global(u64),
    Shared(u64),
    Local(u64),
    Parameter(u64),
}

fn place(thread: &mut Thread<'_>, world: &mut World<'_>, space: StateSpace, address: &Address) -> Option<Place> {
    let base = match &address.base {
        AddressBase::Register(register) => thread.value(&Operand::Register(*register), world)?,
        AddressBase::Variable(variable) => thread.address_of(*variable, world)?,
        AddressBase::Absolute => 0,
    };
    let address = base.wrapping_add(address.offset.cast_unsigned());
    Some(match space {
        StateSpace::Global | StateSpace::Const => Place::Global(address),
        StateSpace::Shared | StateSpace::SharedCluster => Place::Shared(address & mask(32)),
        StateSpace::Local => Place::Local(address),
        StateSpace::Param => Place::Parameter(address),
        StateSpace::Generic => match address >> 60 {
            1 => Place::Shared(address & mask(32)),
            2 => Place::Local(address - LOCAL_WINDOW),
            3 => Place::Parameter(address),
            _ => Place::Global(address),
        },
    })
}

/// `ld`, `st`, `atom` and `red`: one access an element.
fn memory<'m>(thread: &mut Thread<'m>, world: &mut World<'m>, instruction: &'m Instruction) -> Option<()> {
    let line = instruction.origin.line;
    match &instruction.op {
        Op::Load { space, ty, dst, address, ordering, .. } => {
            let scope = ordering.strong_scope();
            for (offset, dst) in offsets(*ty).zip(dst) {
                let address = Address { offset: address.offset + offset, ..address.clone() };
                let value = load(thread, world, (*space, &address), *ty, (scope, line))?;
                let value = if ty.is_signed() { values::signed(value, ty.bits()) as u64 } else { value };
                thread.write(dst, value);
            }
            Some(())
        }
        Op::Store { space, ty, src, address, ordering } => {
            let scope = ordering.strong_scope();
            for (offset, src) in offsets(*ty).zip(src) {
                let address = Address { offset: address.offset + offset, ..address.clone() };
                let value = thread.value(src, world)?;
                store(thread, world, (*space, &address), *ty, value, (scope, line))?;
            }
            Some(())
        }
        Op::Atomic { space, operation, ty, elements: 1, dst, address, sources, ordering } => {
            let at = place(thread, world, *space, address)?;
            let sources = all(thread, world, sources)?;
            record(thread, world, at, true, ty.bytes(), (ordering.strong_scope(), line));
            let old = peek(thread, world, at, ty.bytes())?;
            let new = values::atomic(operation, *ty, old, &sources);
            let new = new.unwrap_or_else(|| floats::arithmetic(operation, *ty, &[old, sources[0]]));
            poke(thread, world, at, ty.bytes(), new)?;
            if let Some(dst) = dst.first() {
                thread.write(dst, old);
            }
            Some(())
        }
        _ => None,
    }
}

/// Byte offsets of the elements of a vector access.
fn offsets(ty: ScalarType) -> impl Iterator<Item = i64> {
    (0..).map(move |index| index * i64::from(ty.bytes()))
}

type Source = (Option<Scope>, u32);

fn load<'m>(
    thread: &mut Thread<'m>,
    world: &mut World<'m>,
    (space, address): (StateSpace, &Address),
    ty: ScalarType,
    source: Source,
) -> Option<u64> {
    let bytes = ty.bytes();
    if let (AddressBase::Variable(variable), StateSpace::Param) = (&address.base, space)
        && let Some(slot) = call_slot(thread, world, *variable)
    {
        let start = usize::try_from(address.offset).ok()?;
        let slot = slot.get(start..start + bytes as usize)?;
        return Some(slot.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
    }
    let at = place(thread, world, space, address)?;
    if space != StateSpace::Const {
        record(thread, world, at, false, bytes, source);
    }
    peek(thread, world, at, bytes)
}

fn store<'m>(
    thread: &mut Thread<'m>,
    world: &mut World<'m>,
    (space, address): (StateSpace, &Address),
    ty: ScalarType,
    value: u64,
    source: Source,
) -> Option<()> {
    let bytes = ty.bytes();
    if let (AddressBase::Variable(variable), StateSpace::Param) = (&address.base, space) {
        let start = usize::try_from(address.offset).ok()?;
        let slot = call_slot(thread, world, *variable)?.get_mut(start..start + bytes as usize)?;
        for (byte, shift) in slot.iter_mut().zip((0..).step_by(8)) {
            *byte = (value >> shift & 255) as u8;
        }
        return Some(());
    }
    let at = place(thread, world, space, address)?;
    record(thread, world, at, true, bytes, source);
    poke(thread, world, at, bytes, value)
}

/// The `.param` variable of a call; `None` for parameters of the kernel.
fn call_slot<'t>(
    thread: &'t mut Thread<'_>,
    world: &World<'_>,
    variable: gpuvcc::ptx::ast::VariableRef,
) -> Option<&'t mut Vec<u8>> {
    let of_kernel = thread.frames.len() == 1 && matches!(variable, gpuvcc::ptx::ast::VariableRef::Param(_));
    if of_kernel { None } else { thread.frame().slot(world.module, variable) }
}

fn record(thread: &Thread<'_>, world: &mut World<'_>, at: Place, write: bool, bytes: u32, (scope, line): Source) {
    let (shared, start) = match at {
        Place::Global(start) => (false, start),
        Place::Shared(start) => (true, start),
        Place::Local(_) | Place::Parameter(_) => return,
    };
    let (block, epoch) = (world.block_number, world.order.epoch(thread.linear));
    let access = Access { thread: block << 10 | thread.linear, block, epoch, line, write, scope, start, bytes };
    world.record(shared, access);
}

fn peek(thread: &Thread<'_>, world: &World<'_>, at: Place, bytes: u32) -> Option<u64> {
    if bytes > 8 {
        return None;
    }
    Some(match at {
        Place::Global(address) => world.global.read(address, bytes),
        Place::Shared(address) => world.shared.read(address, bytes),
        Place::Local(address) => thread.local.read(address, bytes),
        Place::Parameter(address) => {
            let parameter = world.launch.parameters.get(((address - PARAM_WINDOW) >> 20) as usize)?;
            let start = (address & mask(20)) as usize;
            let slot = parameter.get(start..start + bytes as usize)?;
            slot.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
        }
    })
}

fn poke(thread: &mut Thread<'_>, world: &mut World<'_>, at: Place, bytes: u32, value: u64) -> Option<()> {
    match at {
        _ if bytes > 8 => return None,
        Place::Global(address) => world.global.write(address, bytes, value),
        Place::Shared(address) => world.shared.write(address, bytes, value),
        Place::Local(address) => thread.local.write(address, bytes, value),
        Place::Parameter(_) => return None,
    }
    Some(())
}

/// Branches, calls and barriers.
fn control<'m>(thread: &mut Thread<'m>, world: &mut World<'m>, instruction: &'m Instruction) -> Option<()> {
    match &instruction.op {
        Op::Branch { target } => jump(thread, world, target.0),
        Op::BranchIndexed { index, targets } => {
            let index = thread.value(index, world)? & mask(32);
            let target = targets.get(usize::try_from(index).ok()?)?;
            jump(thread, world, target.0)
        }
        Op::Return => {
            leave(thread, world);
            Some(())
        }
        Op::Exit => {
            thread.status = Status::Exited;
            Some(())
        }
        Op::Call { function, returns, arguments } => call(thread, world, *function as usize, returns, arguments),
        Op::Barrier { .. } | Op::WarpBarrier { .. } => arrive(thread, world, instruction),
        _ => None,
    }
}

fn jump(thread: &mut Thread<'_>, world: &World<'_>, label: u32) -> Option<()> {
    let frame = thread.frame();
    frame.next = *world.labels.get(frame.function)?.get(label as usize)?;
    Some(())
}

fn call<'m>(
    thread: &mut Thread<'m>,
    world: &mut World<'m>,
    function: usize,
    returns: &'m [Operand],
    arguments: &'m [Operand],
) -> Option<()> {
    let mut callee = Frame::new(world.module, function, returns)?;
    for (index, argument) in (0..).zip(arguments) {
        let bytes = match argument {
            Operand::Variable(variable, 0) => thread.frame().slot(world.module, *variable)?.clone(),
            _ => thread.value(argument, world)?.to_le_bytes().to_vec(),
        };
        let slot = callee.slot(world.module, gpuvcc::ptx::ast::VariableRef::Param(index))?;
        for (to, from) in slot.iter_mut().zip(bytes) {
            *to = from;
        }
    }
    thread.frames.push(callee);
    (thread.frames.len() < 64).then_some(())
}

/// Returns from the innermost call.
fn leave(thread: &mut Thread<'_>, world: &mut World<'_>) {
    let Some(mut callee) = thread.frames.pop() else { panic!("emulator: a return without a frame") };
    if thread.frames.is_empty() {
        thread.status = Status::Exited;
        return;
    }
    for (index, result) in (0..).zip(callee.results) {
        let bytes =
            callee.slot(world.module, gpuvcc::ptx::ast::VariableRef::Return(index)).cloned().unwrap_or_default();
        match result {
            Operand::Variable(variable, _) => {
                if let Some(slot) = thread.frame().slot(world.module, *variable) {
                    *slot = bytes;
                }
            }
            _ => {
                let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                thread.write(result, value);
            }
        }
    }
}
