//! Instructions that compute, move and access memory.
//!
//! Input: an [`Op`]. Output: its [`Code`].
//! Establishes: an operation without a model becomes [`Code::Refuse`], which is an error only when a
//! thread executes it.

use super::function::Decoder;
use super::matrix::Matrix;
use super::{Access, Code, CompareParts, ConstantKind, Note, Pack, Place, Slot, Space, Strength};
use crate::exec::values::atomic::AtomicOperation;
use crate::exec::values::convert::convert_function;
use crate::exec::values::float::{self, Format};
use crate::exec::values::integer::{self, Direct, direct, direct_compare, integer};
use crate::exec::values::packed::{Function, float_function};
use crate::exec::values::{mask, signed};
use crate::order::Ordering;
use crate::ptx::ast::{
    Address, AddressBase, BoolOp, Comparison, IntOp, Op, Operand, ScalarType, StateSpace, VariableRef,
};

impl Decoder<'_> {
    /// One operation, without its guard.
    pub(crate) fn operation(&mut self, op: &Op) {
        if self.computation(op).is_none() {
            let text = self.origin.text.clone();
            self.refuse(format!("`{text}` is not emulated"));
        }
    }

    fn computation(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Mov { ty, dst, src } => self.mov(*ty, dst, src),
            Op::Int { op, ty, saturate, carry_out, dst, sources } => {
                self.integer(*op, *ty, *saturate, *carry_out, dst, sources)
            }
            Op::Float { name, ty, dst, sources } => self.float(name, *ty, dst, sources),
            Op::Setp { comparison, ty, name, dst, complement, a, b, combine } => {
                let d = self.destination(dst).map(|(slot, _)| (slot, 1));
                let complement = complement.as_ref().and_then(|operand| self.destination(operand));
                let parts = (d, complement.map(|(slot, _)| slot));
                self.compare(*comparison, *ty, name, (a, b), combine.as_deref(), parts)
            }
            Op::Set { comparison, to, ty, name, dst, a, b, combine } => {
                let one = match (Format::of(*to), to.is_float()) {
                    (Some(format), _) => ((1 << (format.exponent - 1)) - 1) << format.mantissa,
                    (None, true) => return None,
                    (None, false) => mask(to.bits()),
                };
                let d = self.destination(dst).map(|(slot, bits)| (slot, one & mask(u32::from(bits))));
                self.compare(*comparison, *ty, name, (a, b), combine.as_deref(), (d, None))
            }
            Op::Selp { ty, dst, a, b, predicate } => {
                let (a, b) = (self.source(a, ty.bits())?, self.source(b, ty.bits())?);
                let (p, d) = (self.source(predicate, 1)?, self.target(dst));
                self.emit(Code::Select { d, a, b, p });
                Some(())
            }
            Op::Cvt { to, from, saturate, name, dst, sources } => self.cvt(*to, *from, *saturate, name, dst, sources),
            Op::Cvta { from_generic, space, dst, src, .. } => self.cvta(*from_generic, *space, dst, src),
            Op::Load { space, ty, dst, address, ordering, .. } => self.load(*space, *ty, dst, address, *ordering),
            Op::Store { space, ty, src, address, ordering } => self.store(*space, *ty, src, address, *ordering),
            Op::Atomic { space, operation, ty, elements, dst, address, sources, ordering } => {
                let operation = AtomicOperation::of(operation)?;
                self.atomic((*space, address), operation, (*ty, *elements), dst, sources, *ordering)
            }
            Op::Matrix { name, space, dst, src, address, rows, stride } => {
                let (rows, stride) = (*rows, stride.as_deref());
                self.matrix(&Matrix { name, space: *space, dst, src, address, rows, stride })
            }
            _ => self.control(op),
        }
    }

    fn mov(&mut self, ty: ScalarType, dst: &Operand, src: &Operand) -> Option<()> {
        let simple = ty.bits() <= 64 && !matches!(src, Operand::Vector(_)) && !matches!(dst, Operand::Vector(_));
        if simple {
            let a = self.source(src, ty.bits())?;
            let d = self.target(dst);
            self.emit(Code::Move { d, a });
            return Some(());
        }
        let sources = self.parts(src, ty.bits())?;
        let destinations = self.parts(dst, ty.bits())?.into_iter().map(|(slot, bits)| (Some(slot), bits)).collect();
        let index = self.program.packs.len() as u32;
        self.program.packs.push(Pack { sources, destinations });
        self.emit(Code::Pack(index));
        Some(())
    }

    /// Slots and widths of a value's parts, lowest first.
    fn parts(&mut self, operand: &Operand, bits: u32) -> Option<Vec<(Slot, u32)>> {
        Some(match operand {
            Operand::Vector(elements) => {
                let width = bits / elements.len() as u32;
                let mut parts = Vec::new();
                for element in elements.iter() {
                    parts.extend(self.parts(element, width)?);
                }
                parts
            }
            Operand::Register(register) if bits == 128 => {
                vec![(self.register(*register), 64), (self.upper_half(*register), 64)]
            }
            Operand::Sink if bits == 128 => vec![(self.temporary(), 64), (self.temporary(), 64)],
            Operand::Sink => vec![(self.temporary(), bits)],
            _ if bits == 128 => return None,
            _ => vec![(self.source(operand, bits)?, bits)],
        })
    }

    fn integer(
        &mut self,
        op: IntOp,
        ty: ScalarType,
        saturate: bool,
        carry_out: bool,
        dst: &Operand,
        sources: &[Operand],
    ) -> Option<()> {
        let d = self.target(dst);
        let shift = matches!(op, IntOp::Shl | IntOp::Shr);
        let mut slots = Vec::new();
        for (index, operand) in sources.iter().enumerate() {
            let bits = match op {
                _ if shift && index == 1 => 32,
                IntOp::MadWide if index == 2 => 2 * ty.bits(),
                _ => {
                    ty.bits().max(if index > 0 && matches!(op, IntOp::Bfe | IntOp::Bfi | IntOp::Slct) { 32 } else { 1 })
                }
            };
            slots.push(self.source(operand, bits)?);
        }
        if carry_out {
            return self.with_carry(op, ty, d, &slots);
        }
        // Each of these is one instruction.
        match op {
            _ if saturate => {}
            IntOp::Add => self.note(Note::Sum { bits: ty.bits() }),
            IntOp::Sub => self.note(Note::Difference { bits: ty.bits() }),
            IntOp::MadLo => self.note(Note::ProductSum { bits: ty.bits() }),
            IntOp::MadWide => self.note(Note::WideProductSum { of: ty }),
            _ => self.note(Note::Integer { op, ty }),
        }
        match (direct(op, ty).filter(|_| !saturate), op) {
            (Some(Direct::One(f)), _) => self.emit(Code::One { f, d, a: slots[0] }),
            (Some(Direct::Two(f)), _) => self.emit(Code::Two { f, d, a: slots[0], b: slots[1] }),
            (Some(Direct::Three(f)), _) => self.emit(Code::Three { f, d, a: slots[0], b: slots[1], c: slots[2] }),
            (None, IntOp::Div | IntOp::Rem) => {
                let f = division(op, ty)?;
                self.emit(Code::Partial { f, bits: ty.bits() as u8, d, a: slots[0], b: slots[1] });
            }
            (None, IntOp::Bfe | IntOp::Bfi) if ty.bits() == 64 => self.wide_bit_field(op, ty, d, &slots)?,
            (None, _) => {
                let function: Function = Box::new(move |s| integer(op, ty, saturate, s).unwrap_or(0));
                self.many(function, 64, d, &slots)?;
            }
        }
        Some(())
    }

    /// `bfe` and `bfi` of 64 bits. Position and length are "restricted to 0..255": of larger ones the manual takes the low byte,
    /// and hardware (sm_90) all bits, so that the result is open.
    fn wide_bit_field(&mut self, op: IntOp, ty: ScalarType, d: Slot, slots: &[Slot]) -> Option<()> {
        let (value, inside) = (self.temporary(), self.temporary());
        let function: Function = Box::new(move |s| integer(op, ty, false, s).unwrap_or(0));
        self.many(function, 64, value, slots)?;
        let is_inside: Function = Box::new(|s| u64::from((s[0] | s[1]) & mask(32) < 256));
        self.many(is_inside, 1, inside, &slots[slots.len() - 2..])?;
        let f = |value, inside| (inside == 1).then_some(value);
        self.emit(Code::Partial { f, bits: 64, d, a: value, b: inside });
        Some(())
    }

    /// `add.cc`, `sub.cc`, `mad.lo.cc` and `mad.hi.cc`.
    fn with_carry(&mut self, op: IntOp, ty: ScalarType, d: Slot, slots: &[Slot]) -> Option<()> {
        let bits = ty.bits() as u8;
        let (subtract, a, b) = match op {
            IntOp::Add => (false, slots[0], slots[1]),
            IntOp::Sub => (true, slots[0], slots[1]),
            IntOp::MadLo | IntOp::MadHi => {
                let product = if op == IntOp::MadLo { IntOp::MulLo } else { IntOp::MulHi };
                let temporary = self.temporary();
                let function: Function = Box::new(move |s| integer(product, ty, false, s).unwrap_or(0));
                self.many(function, 64, temporary, &slots[..2])?;
                (false, temporary, slots[2])
            }
            _ => return None,
        };
        self.emit(Code::Carry { out: true, input: false, subtract, bits, d, a, b });
        Some(())
    }

    /// Appends a function of up to four sources.
    pub(crate) fn many(&mut self, function: Function, bits: u32, d: Slot, slots: &[Slot]) -> Option<()> {
        // What the function does not read depends on nothing further.
        let mut s = [slots.first().copied().unwrap_or(0); 4];
        for (to, from) in s.iter_mut().zip(slots) {
            *to = *from;
        }
        let f = u16::try_from(self.program.functions.len()).ok().filter(|_| slots.len() <= 4)?;
        self.program.functions.push(function);
        self.emit(Code::Many { f, bits: bits as u8, d, s });
        Some(())
    }

    fn float(&mut self, name: &str, ty: ScalarType, dst: &Operand, sources: &[Operand]) -> Option<()> {
        let d = self.target(dst);
        let mut slots = Vec::new();
        for operand in sources {
            slots.push(self.source(operand, 64)?);
        }
        self.note(Note::Inexact);
        match (name, &slots[..]) {
            ("add.f32" | "add.rn.f32", &[a, b]) => self.emit(Code::Two { f: |a, b| single(f(a) + f(b)), d, a, b }),
            ("sub.f32" | "sub.rn.f32", &[a, b]) => self.emit(Code::Two { f: |a, b| single(f(a) - f(b)), d, a, b }),
            ("mul.f32" | "mul.rn.f32", &[a, b]) => self.emit(Code::Two { f: |a, b| single(f(a) * f(b)), d, a, b }),
            ("fma.rn.f32" | "mad.rn.f32" | "mad.f32", &[a, b, c]) => {
                self.emit(Code::Three { f: |a, b, c| single(f(a).mul_add(f(b), f(c))), d, a, b, c });
            }
            _ => {
                let function = float_function(name, ty, slots.len())?;
                self.many(function, 64, d, &slots)?;
            }
        }
        Some(())
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        ty: ScalarType,
        name: &str,
        (a, b): (&Operand, &Operand),
        combine: Option<&(BoolOp, Operand)>,
        (d, complement): (Option<(Slot, u64)>, Option<Slot>),
    ) -> Option<()> {
        let (a, b) = (self.source(a, ty.bits())?, self.source(b, ty.bits())?);
        let combine = match combine {
            Some((operator, operand)) => Some((*operator, self.source(operand, 1)?)),
            None => None,
        };
        self.note(Note::Comparison { comparison, ty });
        if let (None, None, Some((d, 1)), Some(f)) = (combine, complement, d, direct_compare(comparison, ty))
            && !ty.is_float()
        {
            self.emit(Code::Two { f, d, a, b });
            return Some(());
        }
        let test: Box<dyn Fn(u64, u64) -> bool + Send + Sync> = match Format::of(ty) {
            Some(format) => {
                let flush = name.contains(".ftz") && format != Format::F64;
                Box::new(move |a, b| {
                    let [a, b] = [a, b].map(|bits| format.value(if flush { format.flush(bits) } else { bits }));
                    float::compare(comparison, a, b)
                })
            }
            None if ty.is_float() => return None,
            None => Box::new(move |a, b| integer::compare(comparison, ty, a, b)),
        };
        let index = self.program.comparisons.len() as u32;
        self.program.comparisons.push(CompareParts { test, a, b, combine, d, complement });
        self.emit(Code::Compare(index));
        Some(())
    }

    fn cvt(
        &mut self,
        to: ScalarType,
        from: ScalarType,
        saturate: bool,
        name: &str,
        dst: &Operand,
        sources: &[Operand],
    ) -> Option<()> {
        let bits = self.destination(dst).map_or(64, |(_, bits)| u32::from(bits));
        let d = self.target(dst);
        let mut slots = Vec::new();
        for operand in sources {
            slots.push(self.source(operand, from.bits())?);
        }
        let widening: Option<fn(u64) -> u64> = match (from, saturate || to.is_float() || from.is_float(), bits) {
            (ScalarType::S(32), false, 64) if to.bits() == 64 => Some(|a| signed(a, 32) as u64),
            (ScalarType::U(32), false, 64) if to.bits() == 64 => Some(|a| a & 0xffff_ffff),
            (ScalarType::U(64) | ScalarType::S(64), false, 32) if to.bits() == 32 => Some(|a| a & 0xffff_ffff),
            _ => None,
        };
        if let Some(f) = widening {
            self.note(if from == ScalarType::S(32) { Note::Convert { from, to } } else { Note::Low32 });
            self.emit(Code::One { f, d, a: slots[0] });
            return Some(());
        }
        let function = convert_function(name, to, from, saturate, sources.len())?;
        self.many(function, bits, d, &slots)
    }

    fn cvta(&mut self, from_generic: bool, space: StateSpace, dst: &Operand, src: &Operand) -> Option<()> {
        let windows = self.layout.windows;
        let window = match space {
            StateSpace::Shared | StateSpace::SharedCluster => windows.shared,
            StateSpace::Local => windows.local,
            // Addresses of kernel parameters are generic already, unless 32 bits were taken of them.
            StateSpace::Global | StateSpace::Const | StateSpace::Param => 0,
            StateSpace::Generic => return None,
        };
        let (a, d) = (self.source(src, 64)?, self.target(dst));
        if space == StateSpace::Param && !from_generic {
            let b = self.constant(windows.param);
            // All but the low bits of the window are zeros.
            self.note(Note::Sum { bits: 64 });
            self.emit(Code::Two { f: |a, b| a | b, d, a, b });
            return Some(());
        }
        if window == 0 {
            self.emit(Code::Move { d, a });
            return Some(());
        }
        let b = self.constant(window);
        self.note(if from_generic { Note::FromGeneric } else { Note::ToGeneric });
        let f: fn(u64, u64) -> u64 = if from_generic { u64::wrapping_sub } else { u64::wrapping_add };
        self.emit(Code::Two { f, d, a, b });
        Some(())
    }

    /// Space, base and offset of an address.
    /// Space, register with the address, and bytes to add.
    pub(crate) fn place(&mut self, space: StateSpace, address: &Address) -> Option<(Space, Slot, i64)> {
        let mut offset = address.offset;
        let mut space = match space {
            StateSpace::Generic => Space::Generic,
            StateSpace::Global | StateSpace::Const => Space::Global,
            StateSpace::Shared | StateSpace::SharedCluster => Space::Shared,
            StateSpace::Local => Space::Local,
            StateSpace::Param => Space::Param,
        };
        let base = match &address.base {
            AddressBase::Register(register) => self.register(*register),
            AddressBase::Absolute => self.constant(0),
            AddressBase::Variable(variable) => {
                let (start, found) = self.variable_place(*variable);
                if space == Space::Generic || space == Space::Param {
                    space = found;
                }
                let kind = self.kind_of(*variable, found);
                let start = self.constant_of(start.wrapping_add_signed(offset), kind);
                offset = 0;
                start
            }
        };
        Some((space, base, offset))
    }

    /// The kind of a constant that is the address of a variable.
    pub(crate) fn kind_of(&self, variable: VariableRef, space: Space) -> ConstantKind {
        ConstantKind::Address(Place::of(space, self.layout.shared_number(self.current, variable)))
    }

    pub(crate) fn variable_place(&self, variable: VariableRef) -> (u64, Space) {
        let function = &self.module.functions[self.current];
        let declared = match variable {
            VariableRef::Module(index) => self.module.variables.get(index as usize),
            VariableRef::Body(index) => function.body.as_ref().and_then(|body| body.variables.get(index as usize)),
            VariableRef::Param(index) => function.params.get(index as usize),
            VariableRef::Return(index) => function.returns.get(index as usize),
        };
        let space = match declared.map(|variable| variable.space) {
            Some(StateSpace::Shared | StateSpace::SharedCluster) => Space::Shared,
            Some(StateSpace::Local) => Space::Local,
            Some(StateSpace::Param) if self.is_kernel_parameter(variable) => Space::Param,
            Some(StateSpace::Param) => Space::Local,
            _ => Space::Global,
        };
        (self.layout.address(self.current, variable), space)
    }

    fn load(
        &mut self,
        space: StateSpace,
        ty: ScalarType,
        dst: &[Operand],
        address: &Address,
        ordering: Ordering,
    ) -> Option<()> {
        if let (StateSpace::Param, AddressBase::Variable(VariableRef::Param(index)), true) =
            (space, &address.base, ty.bits() <= 64)
            && self.is_kernel_parameter(VariableRef::Param(*index))
            && let Some(()) = self.load_parameter(*index as usize, ty, dst, address.offset)
        {
            return Some(());
        }
        let mut data = Vec::new();
        for operand in dst {
            match (operand, ty.bits()) {
                (Operand::Register(register), 128) => {
                    data.extend([Some((self.register(*register), 64)), Some((self.upper_half(*register), 64))]);
                }
                (_, 128) => data.extend([None, None]),
                _ => data.push(self.destination(operand)),
            }
        }
        let access = self.access((space, address), ty, data, ordering)?;
        self.push_access(access, Code::Load);
        Some(())
    }

    /// Kernel parameters are known.
    fn load_parameter(&mut self, index: usize, ty: ScalarType, dst: &[Operand], offset: i64) -> Option<()> {
        let bytes = ty.bytes() as usize;
        let parameter = self.launch.parameters.get(index)?;
        let start = usize::try_from(offset).ok()?;
        let values = parameter.get(start..start + bytes * dst.len())?.chunks_exact(bytes);
        let values: Vec<u64> =
            values.map(|chunk| chunk.iter().rev().fold(0, |v, byte| v << 8 | u64::from(*byte))).collect();
        for ((value, operand), at) in values.into_iter().zip(dst).zip((start..).step_by(bytes)) {
            if let Some((d, bits)) = self.destination(operand) {
                let value = if ty.is_signed() { signed(value, ty.bits()) as u64 } else { value };
                let a = self.constant(value & mask(u32::from(bits)));
                self.note(Note::Parameter { index, offset: at as u32, bytes: bytes as u32 });
                self.emit(Code::Move { d, a });
            }
        }
        Some(())
    }

    fn store(
        &mut self,
        space: StateSpace,
        ty: ScalarType,
        src: &[Operand],
        address: &Address,
        ordering: Ordering,
    ) -> Option<()> {
        let mut data = Vec::new();
        for operand in src {
            match (operand, ty.bits()) {
                (Operand::Register(register), 128) => {
                    data.extend([Some((self.register(*register), 64)), Some((self.upper_half(*register), 64))]);
                }
                (_, 128) => return None,
                (operand, bits) => data.push(Some((self.source(operand, bits)?, 64))),
            }
        }
        let access = self.access((space, address), ty, data, ordering)?;
        self.push_access(access, Code::Store);
        Some(())
    }

    fn atomic(
        &mut self,
        place: (StateSpace, &Address),
        operation: AtomicOperation,
        (ty, elements): (ScalarType, u32),
        dst: &[Operand],
        sources: &[Operand],
        ordering: Ordering,
    ) -> Option<()> {
        if ty.bits() > 64 {
            return None;
        }
        let data: Vec<Option<(Slot, u8)>> =
            (0..elements as usize).map(|index| dst.get(index).and_then(|operand| self.destination(operand))).collect();
        let mut slots = Vec::new();
        for operand in sources {
            slots.push(self.source(operand, ty.bits())?);
        }
        let returns = !dst.is_empty();
        let mut access = self.access(place, ty, data, ordering)?;
        // `red` never acquires.
        access.strength.acquire &= returns;
        access.is_reduction = !returns;
        access.parts = ty.atomic_parts();
        access.atomic = Some((operation, ty, slots));
        self.push_access(access, Code::Atomic);
        Some(())
    }

    pub(crate) fn access(
        &mut self,
        (space, address): (StateSpace, &Address),
        ty: ScalarType,
        data: Vec<Option<(Slot, u8)>>,
        ordering: Ordering,
    ) -> Option<Access> {
        let constant = space == StateSpace::Const;
        let (space, base, offset) = self.place(space, address)?;
        let (acquire, release) = match ordering {
            Ordering::Acquire(_) => (true, false),
            Ordering::Release(_) => (false, true),
            Ordering::AcquireRelease(_) => (true, true),
            Ordering::Weak | Ordering::Volatile | Ordering::Relaxed(_) => (false, false),
        };
        let strength = Strength { scope: ordering.strong_scope(), acquire, release };
        let bytes = ty.bytes().min(8);
        let elements = data.len() as u32;
        let is_signed = ty.is_signed();
        let is_reduction = false;
        Some(Access {
            space,
            base,
            offset,
            bytes,
            parts: 1,
            is_signed,
            data,
            elements,
            strength,
            constant,
            is_reduction,
            atomic: None,
        })
    }

    /// Appends an access as an instruction of that kind.
    pub(crate) fn push_access(&mut self, access: Access, kind: fn(u32) -> Code) {
        self.program.accesses.push(access);
        self.emit(kind(self.program.accesses.len() as u32 - 1));
    }
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn single(value: f32) -> u64 {
    if value.is_nan() { Format::F32.nan() } else { u64::from(value.to_bits()) }
}

/// Divisions by type, as functions without captures.
fn division(op: IntOp, ty: ScalarType) -> Option<fn(u64, u64) -> Option<u64>> {
    use ScalarType::{S, U};
    macro_rules! by_type {
        ($op:ident) => {
            match ty {
                U(16) => |a, b| integer(IntOp::$op, U(16), false, &[a, b]),
                U(32) => |a, b| integer(IntOp::$op, U(32), false, &[a, b]),
                U(64) => |a, b| integer(IntOp::$op, U(64), false, &[a, b]),
                S(16) => |a, b| integer(IntOp::$op, S(16), false, &[a, b]),
                S(32) => |a, b| integer(IntOp::$op, S(32), false, &[a, b]),
                S(64) => |a, b| integer(IntOp::$op, S(64), false, &[a, b]),
                _ => return None,
            }
        };
    }
    Some(if op == IntOp::Div { by_type!(Div) } else { by_type!(Rem) })
}
