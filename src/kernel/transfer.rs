//! The transfer functions of the pointer analysis, one for each shape of instruction.
//!
//! Input: what the operands may hold. Output: what the destinations may hold; on the way it records
//! escaping regions and evidence for pointers. Relies on: [`Points`] for the arithmetic.

use super::fields::{field, moved_field};
use super::pointers::{Pointers, State, destinations};
use super::points::{Number, Points, Summand};
use super::regions::{ParameterPlace, RegionId, Space};
use crate::cfg::indirect::CALLEE;
use crate::cfg::unknown::is_call;
use crate::ptx::ast::{
    Address, AddressBase, AsyncOp, BarrierKind, Comparison, IntOp, Op, Operand, RegisterId, ScalarType, StateSpace,
    VariableRef,
};

/// What the registers that an operation writes may hold afterwards (if its guard holds).
pub(crate) fn results(analysis: &mut Pointers<'_>, state: &State, op: &Op) -> Vec<(RegisterId, Points)> {
    let all = |dst: &Operand, points: Points| -> Vec<(RegisterId, Points)> {
        destinations(std::slice::from_ref(dst)).into_iter().map(|r| (r, points.clone())).collect()
    };
    match op {
        Op::Mov { dst, src, .. } => all(dst, moved(analysis, state, dst, src)),
        Op::Int { op, saturate, dst, sources, ty, .. } => {
            let values: Vec<_> = sources.iter().map(|s| analysis.operand(state, s)).collect();
            let points =
                if *saturate { mixed(analysis, &values) } else { integer(analysis, *op, *ty, sources, &values) };
            all(dst, points.of_width(result_bits(*op, *ty)))
        }
        Op::Float { ty, dst, sources, .. } => {
            let values: Vec<_> = sources.iter().map(|s| analysis.operand(state, s)).collect();
            all(dst, mixed(analysis, &values).of_width(ty.bits()))
        }
        Op::Cvt { to, from, saturate, dst, sources, .. } => {
            let values: Vec<_> = sources.iter().map(|s| analysis.operand(state, s)).collect();
            all(dst, converted(analysis, *to, *from, *saturate, &values).of_width(to.bits()))
        }
        Op::Setp { comparison, ty, dst, complement, a, b, .. } => {
            compared(analysis, state, *comparison, *ty, a, b);
            let mut written = all(dst, Points::number(Number::Word));
            written.extend(complement.iter().flat_map(|q| all(q, Points::number(Number::Word))));
            written
        }
        Op::Set { comparison, ty, dst, a, b, .. } => {
            compared(analysis, state, *comparison, *ty, a, b);
            all(dst, Points::number(Number::Word))
        }
        Op::Selp { dst, a, b, .. } => all(dst, analysis.operand(state, a).join(&analysis.operand(state, b))),
        Op::Cvta { from_generic, space, dst, src, .. } => {
            let value = analysis.operand(state, src);
            analysis.used_as_address(&value, *space);
            // Beside addresses of this space there may be numbers, whose window must be added.
            if !analysis.is_pure(&value, *space) {
                analysis.escape(&value);
            }
            all(dst, Points { generic: !from_generic, ..value })
        }
        Op::Load { space, ty, dst, address, .. } => load(analysis, state, *space, *ty, dst, address),
        Op::Store { space, src, address, .. } => {
            access(analysis, state, *space, address);
            written(analysis, state, address);
            src.iter().for_each(|s| stored(analysis, state, s));
            Vec::new()
        }
        Op::Atomic { space, ty, dst, address, sources, .. } => {
            access(analysis, state, *space, address);
            written(analysis, state, address);
            sources.iter().for_each(|s| stored(analysis, state, s));
            let value = from_memory(analysis, *ty);
            destinations(dst).into_iter().map(|r| (r, value.clone())).collect()
        }
        Op::Matrix { space, dst, src, address, stride, .. } => {
            access(analysis, state, *space, address);
            if dst.is_empty() {
                written(analysis, state, address);
            }
            src.iter().chain(stride.as_deref()).for_each(|s| stored(analysis, state, s));
            // Two 32-bit registers may be put together to an address.
            let value = from_memory(analysis, ScalarType::B(32));
            destinations(dst).into_iter().map(|r| (r, value.clone())).collect()
        }
        Op::Barrier { kind, id, count, .. } => {
            for operand in [Some(id), count.as_ref()].into_iter().flatten() {
                let value = analysis.operand(state, operand);
                analysis.escape(&value);
            }
            match kind {
                BarrierKind::Reduce { dst, .. } => all(dst, Points::number(Number::Word)),
                BarrierKind::Sync | BarrierKind::Arrive => Vec::new(),
            }
        }
        Op::Allocate { dst, size } => {
            let size = analysis.operand(state, size);
            analysis.escape(&size);
            let written = destinations(std::slice::from_ref(dst));
            written.into_iter().map(|r| (r, Points::region(analysis.regions.heap(r)))).collect()
        }
        Op::Free { address } => {
            access(analysis, state, StateSpace::Generic, address);
            written(analysis, state, address);
            Vec::new()
        }
        Op::Async { operation: AsyncOp::Copy(copy), .. } => {
            access(analysis, state, StateSpace::Global, &copy.from);
            access(analysis, state, StateSpace::Shared, &copy.to);
            // What memory holds stays in memory.
            written(analysis, state, &copy.to);
            if let Some(taken) = &copy.taken {
                let value = analysis.operand(state, taken);
                analysis.escape(&value);
            }
            Vec::new()
        }
        Op::Async { operation: AsyncOp::Bulk(copy), .. } => {
            access(analysis, state, copy.from.space, &copy.from.address);
            access(analysis, state, copy.to.space, &copy.to.address);
            // What memory holds stays in memory.
            written(analysis, state, &copy.to.address);
            if let Some(object) = &copy.object {
                access(analysis, state, object.space, &object.address);
            }
            let value = analysis.operand(state, &copy.size);
            analysis.escape(&value);
            Vec::new()
        }
        Op::Async { operation: AsyncOp::Product(product), .. } => {
            let value = from_memory(analysis, ScalarType::B(32));
            destinations(&product.dst).into_iter().map(|r| (r, value.clone())).collect()
        }
        Op::Object { usage, .. } => {
            access(analysis, state, usage.place.space, &usage.place.address);
            written(analysis, state, &usage.place.address);
            if let Some(source) = usage.action.source() {
                let value = analysis.operand(state, source);
                analysis.escape(&value);
            }
            Vec::new()
        }
        Op::Arbitrary { name, dst, sources } if is_call(name) => {
            let passed: Vec<_> = sources.iter().map(|source| analysis.operand(state, source)).collect();
            let result = called(analysis, &passed);
            destinations(dst).into_iter().map(|r| (r, result.clone())).collect()
        }
        Op::Arbitrary { name, dst, .. } if **name == *CALLEE => {
            destinations(dst).into_iter().map(|r| (r, Points::number(Number::Word))).collect()
        }
        Op::Arbitrary { dst, sources, .. } => {
            // Another lane may get the address.
            for source in sources {
                let value = analysis.operand(state, source);
                analysis.leave(&value);
            }
            let mut value = Points::loaded().join(&Points::data());
            value.tainted = analysis.others_are_tainted;
            destinations(dst).into_iter().map(|r| (r, value.clone())).collect()
        }
        Op::Call { returns, .. } | Op::CallIndirect { returns, .. } => {
            destinations(returns).into_iter().map(|r| (r, Points::loaded())).collect()
        }
        Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::WarpBarrier { .. }
        | Op::Fence(_)
        | Op::Nothing { .. }
        | Op::Async { .. }
        | Op::ClusterBarrier { .. }
        | Op::Registers { .. }
        | Op::Unsupported { .. } => Vec::new(),
    }
}

/// What a function without a body may give, and leave in memory of the thread that it can reach: a pointer to anywhere,
/// or arithmetic with the addresses that are passed.
fn called(analysis: &mut Pointers<'_>, passed: &[Points]) -> Points {
    let (mut has_pointers, mut reaches_own) = (false, false);
    for value in passed {
        analysis.escape(value);
        analysis.leave(value);
        let is_own = |region: &RegionId| analysis.regions.get(*region).space == Space::Private;
        let may_be_any = value.unknown || value.tainted;
        has_pointers |= may_be_any || !value.regions.iter().all(is_own);
        reaches_own |= may_be_any || value.regions.iter().any(is_own) || !value.opaque.is_empty();
    }
    analysis.facts.taint_stored |= has_pointers && reaches_own;
    let mut value = Points::loaded().join(&Points::data());
    value.tainted = has_pointers || analysis.others_are_tainted;
    value
}

/// Arithmetic that is no address arithmetic.
fn mixed(analysis: &mut Pointers<'_>, values: &[Points]) -> Points {
    values.iter().for_each(|v| analysis.escape(v));
    values.iter().fold(Points::number(Number::Constant), |a, b| a.mix(b))
}

fn moved(analysis: &mut Pointers<'_>, state: &State, dst: &Operand, src: &Operand) -> Points {
    let value = analysis.operand(state, src);
    if let Some(fields) = moved_field(analysis, state, dst, src) {
        return fields;
    }
    let packs = matches!(src, Operand::Vector(_));
    if !packs && !matches!(dst, Operand::Vector(_)) {
        return value;
    }
    analysis.escape(&value);
    let elements = if let Operand::Vector(elements) = src { elements.as_slice() } else { std::slice::from_ref(src) };
    for element in elements {
        let value = analysis.operand(state, element);
        analysis.escape(&value);
    }
    if value.has_pointer_bits() {
        return Points::tainted();
    }
    // Two halves that depend on data may be an address that was taken apart.
    let is_data = value.number == Number::Data || !value.opaque.is_empty();
    if is_data { Points::loaded().join(&Points::data()) } else { value }
}

fn integer(analysis: &mut Pointers<'_>, op: IntOp, ty: ScalarType, sources: &[Operand], values: &[Points]) -> Points {
    if let Some(fields) = field(analysis, (op, ty), sources, values) {
        return fields;
    }
    match (op, values) {
        (IntOp::Add, [a, b]) => added(analysis, a, b),
        (IntOp::Sub, [a, b]) => {
            let same = analysis.same_base(a, b, ty.bits());
            if !same && (b.has_pointer_bits() || !a.fields.is_empty()) {
                analysis.escape(a);
                analysis.escape(b);
            }
            a.sub(b, same)
        }
        (IntOp::MadLo | IntOp::MadWide, [a, b, c]) => {
            let product = product(analysis, op, a, b);
            added(analysis, &product, c)
        }
        (IntOp::MulLo | IntOp::MulWide, [a, b]) => product(analysis, op, a, b),
        (IntOp::Shl, [a, b]) if is_small_shift(sources) => {
            let scaled = mixed(analysis, values);
            scaled_once(a, b, scaled)
        }
        (IntOp::Min | IntOp::Max, [a, b]) => {
            analysis.escape(a);
            analysis.escape(b);
            a.join(b)
        }
        (IntOp::Slct, [a, b, c]) => {
            analysis.escape(c);
            a.join(b)
        }
        (IntOp::And, [a, b]) => {
            let masks = [(a, sources.get(1)), (b, sources.first())];
            masked(analysis, op, ty, &masks, values)
        }
        (IntOp::Or, [a, b]) => {
            let masks = [(a, sources.get(1)), (b, sources.first())];
            masked(analysis, op, ty, &masks, values)
        }
        _ => mixed(analysis, values),
    }
}

/// The width of what an operation gives.
fn result_bits(op: IntOp, ty: ScalarType) -> u32 {
    if matches!(op, IntOp::MulWide | IntOp::MadWide) { 2 * ty.bits() } else { ty.bits() }
}

fn product(analysis: &mut Pointers<'_>, op: IntOp, a: &Points, b: &Points) -> Points {
    let product = mixed(analysis, &[a.clone(), b.clone()]);
    let is_wide = matches!(op, IntOp::MulWide | IntOp::MadWide);
    if is_wide && product.number == Number::Wide {
        return Points { number: Number::Index, ..product };
    }
    scaled_once(a, b, product)
}

/// A word times a constant, or shifted a little, is an index.
fn scaled_once(a: &Points, b: &Points, scaled: Points) -> Points {
    let is_word = |points: &Points| points.number <= Number::Word;
    let is_constant = |points: &Points| points.number == Number::Constant;
    let is_index = is_word(a) && is_word(b) && (is_constant(a) || is_constant(b));
    if is_index && scaled.number == Number::Wide { Points { number: Number::Index, ..scaled } } else { scaled }
}

fn is_small_shift(sources: &[Operand]) -> bool {
    matches!(sources, [_, Operand::Integer(0..=8)])
}

fn added(analysis: &mut Pointers<'_>, a: &Points, b: &Points) -> Points {
    if a.has_pointer_bits() && b.has_pointer_bits() || !(a.fields.is_empty() && b.fields.is_empty()) {
        analysis.escape(a);
        analysis.escape(b);
    }
    a.add(b)
}

/// Alignment of an address (`p & -16`), its low bits (`p & 15`), or an offset set in aligned low bits
/// (`p | 4`): the bits of the base matter, so the region escapes, but it stays the region.
fn masked(
    analysis: &mut Pointers<'_>,
    op: IntOp,
    ty: ScalarType,
    masks: &[(&Points, Option<&Operand>)],
    values: &[Points],
) -> Points {
    const LOW_BITS: u64 = 0xfff;
    let width_mask = if ty.bits() >= 64 { u64::MAX } else { (1 << ty.bits()) - 1 };
    for (value, mask) in masks {
        let Some(Operand::Integer(mask)) = mask else { continue };
        let mask = mask & width_mask;
        let cleared = !mask & width_mask;
        let keeps_high = cleared <= LOW_BITS && (cleared & (cleared + 1)) == 0;
        let sets_low = mask <= LOW_BITS;
        analysis.escape(value);
        match op {
            IntOp::And if keeps_high => return (*value).clone(),
            IntOp::And if sets_low => return Points::data(),
            IntOp::Or if sets_low => return (*value).clone(),
            _ => {}
        }
    }
    mixed(analysis, values)
}

fn converted(
    analysis: &mut Pointers<'_>,
    to: ScalarType,
    from: ScalarType,
    saturate: bool,
    values: &[Points],
) -> Points {
    let [value] = values else { return mixed(analysis, values) };
    if saturate || to.is_float() || from.is_float() {
        return mixed(analysis, values);
    }
    match (from.bits(), to.bits()) {
        (a, b) if a == b || value.is_field() && a.min(b) >= 32 => value.clone(),
        // Shared addresses have 32 significant bits.
        (64, 32) if value.regions.is_empty() || analysis.is_plain_shared(value) => {
            let opaque = if value.opaque.is_empty() { value.opaque.clone() } else { Points::loaded().opaque };
            Points { opaque, narrowed: false, ..value.clone() }
        }
        (32, 64) if value.regions.is_empty() || analysis.is_plain_shared(value) => {
            Points { narrowed: !value.regions.is_empty() || value.narrowed, ..value.clone() }
        }
        _ => mixed(analysis, values),
    }
}

/// Only equality of two addresses of one region does not depend on where the region starts.
fn compared(
    analysis: &mut Pointers<'_>,
    state: &State,
    comparison: Comparison,
    ty: ScalarType,
    a: &Operand,
    b: &Operand,
) {
    let (a, b) = (analysis.operand(state, a), analysis.operand(state, b));
    let equality = matches!(comparison, Comparison::Eq | Comparison::Ne) && !ty.is_float();
    // Whether there is memory tells nothing about where.
    let null_test = equality && [&a, &b].contains(&&Points::number(Number::Constant));
    let owned = |points: &Points| points.regions.iter().all(|r| analysis.regions.get(*r).space == Space::Heap);
    if null_test && owned(&a) && owned(&b) {
        return;
    }
    if !(equality && analysis.same_base(&a, &b, ty.bits())) {
        analysis.escape(&a);
        analysis.escape(&b);
    }
}

fn stored(analysis: &mut Pointers<'_>, state: &State, source: &Operand) {
    let value = analysis.operand(state, source);
    analysis.facts.taint_stored |= value.tainted;
    analysis.escape(&value);
}

fn access(analysis: &mut Pointers<'_>, state: &State, space: StateSpace, address: &Address) {
    if let AddressBase::Register(register) = address.base {
        let value = analysis.points(state, register).clone();
        analysis.used_as_address(&value, space);
    }
}

fn written(analysis: &mut Pointers<'_>, state: &State, address: &Address) {
    let value = match address.base {
        AddressBase::Register(register) => analysis.points(state, register).clone(),
        AddressBase::Variable(variable) => Points::region(analysis.regions.of_variable(variable)),
        AddressBase::Absolute => Points::unknown(),
    };
    analysis.writes(&value);
}

fn from_memory(analysis: &Pointers<'_>, ty: ScalarType) -> Points {
    let mut value = if ty.bits() >= 64 { Points::loaded() } else { Points::data() };
    value.tainted = analysis.memory_is_tainted;
    value
}

fn load(
    analysis: &mut Pointers<'_>,
    state: &State,
    space: StateSpace,
    ty: ScalarType,
    dst: &[Operand],
    address: &Address,
) -> Vec<(RegisterId, Points)> {
    if let (StateSpace::Param, AddressBase::Variable(VariableRef::Param(parameter))) = (space, address.base.clone()) {
        let mut written = Vec::new();
        for (element, operand) in (0i64..).zip(dst) {
            let offset = address.offset + element * i64::from(ty.bytes());
            let points = parameter_value(analysis, ParameterPlace { parameter, offset }, ty);
            written.extend(destinations(std::slice::from_ref(operand)).into_iter().map(|r| (r, points.clone())));
        }
        return written;
    }
    access(analysis, state, space, address);
    let mut loaded = Vec::new();
    for (element, operand) in (0i64..).zip(dst) {
        let value = loaded_element(analysis, state, ty, address, element * i64::from(ty.bytes()));
        loaded.extend(destinations(std::slice::from_ref(operand)).into_iter().map(|r| (r, value.clone())));
    }
    loaded
}

/// A 64-bit value of memory that the kernel does not write is followed; others may be anything.
fn loaded_element(analysis: &mut Pointers<'_>, state: &State, ty: ScalarType, address: &Address, at: i64) -> Points {
    let otherwise = from_memory(analysis, ty);
    if ty.bits() != 64 {
        return otherwise;
    }
    let (holder, variable) = match address.base {
        AddressBase::Variable(variable) => (Some(analysis.regions.of_variable(variable)), Some(variable)),
        AddressBase::Register(register) => (analysis.points(state, register).exact_region(), None),
        AddressBase::Absolute => (None, None),
    };
    let place = holder.and_then(|holder| analysis.regions.held_place(holder, variable, address.offset + at));
    let Some(place) = place else { return otherwise };
    let value = match analysis.regions.behind(place) {
        Some(region) => Points::region(region),
        None => Points::opaque(Summand::Held(place)),
    };
    Points { tainted: otherwise.tainted, ..value }
}

fn parameter_value(analysis: &mut Pointers<'_>, place: ParameterPlace, ty: ScalarType) -> Points {
    if ty.bits() == 64 {
        return match analysis.regions.of_place(place) {
            Some(region) => Points::region(region),
            None => Points::opaque(Summand::Parameter(place)),
        };
    }
    let overlapping = (-7..i64::from(ty.bytes()))
        .filter_map(|k| analysis.regions.of_place(ParameterPlace { offset: place.offset + k, ..place }))
        .next();
    if let Some(region) = overlapping {
        analysis.escape(&Points::region(region));
        return Points::tainted();
    }
    let size = analysis.entry.params.get(place.parameter as usize).and_then(|p| p.size);
    let is_scalar = size == Some(u64::from(ty.bytes())) && ty.bits() <= 32;
    if is_scalar { Points::number(Number::Word) } else { Points::data() }
}
