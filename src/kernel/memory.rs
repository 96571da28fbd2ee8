//! Memory accesses: each becomes accesses of the arrays it may reach.
//!
//! Input: `ld`, `st`, `atom`, `red`, `free` with the regions that `pointers` found for their address. Output:
//! loads, stores and atomics with byte offsets. Establishes: an access whose regions are not all known
//! also touches every array of its space at an arbitrary offset; private memory makes no access and
//! yields arbitrary values; an address of `.shared`, `.const`, `.local` or `.param` has 32 bits, whatever holds it; that an
//! access stays inside its array is asserted, or printed as an assumption.
//! Reference: PTX "Addresses as Operands" (an address wider than its space is truncated), "Generic Addressing",
//! `ld`, `st`, `atom`, `red`; DESIGN sections 3 and 4.

use super::lowering::{Lowering, flag, tag_literal};
use super::pointers::in_space;
use super::points::Number;
use super::regions::{RegionId, RegionKind, Space};
use crate::ivl::ast::{Access, Attribute, ExprRef, Name, StmtKind, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Claim;
use crate::order::Scope;
use crate::ptx::ast::{Address, AddressBase, Operand, ScalarType, StateSpace, VariableRef};

/// `{:aligned}`: a strong access starts at a multiple of its width. (Address operands: "must be naturally aligned"; what is not faults, or its low bits
/// are masked off.)
pub(crate) const ALIGNED: &str = "aligned";

/// An address with what it may reach.
pub(super) struct Place {
    /// Regions of the access's space.
    pub(super) regions: Vec<RegionId>,
    /// It may be elsewhere too.
    pub(super) unknown: bool,
    /// The address without the constant offset, 32 or 64 bits; `None` for a variable's own address.
    pub(super) value: Option<ExprRef>,
    /// Constant byte offset.
    pub(super) offset: i64,
    /// Right modulo 2^32 only: it went through 32 bits, or those of its space are no more.
    pub(super) narrowed: bool,
    /// Which region it is, if there are several.
    pub(super) tag: Option<ExprRef>,
    /// The state space of the instruction.
    pub(super) space: StateSpace,
    /// The variable, if the address is a variable's.
    pub(super) variable: Option<VariableRef>,
    /// Bytes to add, 64 bits.
    pub(super) index: Option<ExprRef>,
    /// The lanes that give an address, for collective accesses ([`Access::collective`]).
    pub(super) givers: Option<ExprRef>,
    /// It may read what a cache kept since before the kernel (`.nc`).
    pub(super) non_coherent: bool,
}

impl Place {
    /// The start of these regions.
    pub(super) fn within(regions: Vec<RegionId>, space: StateSpace) -> Place {
        Place {
            regions,
            unknown: false,
            value: None,
            offset: 0,
            narrowed: false,
            tag: None,
            space,
            variable: None,
            index: None,
            givers: None,
            non_coherent: false,
        }
    }
}

/// What an access does.
pub(super) enum Effect {
    Load(Name),
    Store(ExprRef),
    Atomic(Option<Name>),
}

impl Lowering<'_> {
    /// `ld`
    pub(crate) fn load(
        &mut self,
        space: StateSpace,
        ty: ScalarType,
        dst: &[Operand],
        address: &Address,
        strong: Option<Scope>,
        non_coherent: bool,
    ) {
        let bytes = ty.bytes();
        if let (StateSpace::Param, AddressBase::Variable(VariableRef::Param(parameter))) = (space, &address.base) {
            for (element, operand) in (0i64..).zip(dst) {
                let offset = address.offset + element * i64::from(bytes);
                let value = self.parameters.value(*parameter, offset, bytes);
                self.write(operand, value, ty.is_signed());
            }
            return;
        }
        let Some(mut place) = self.place(space, address) else { return };
        place.non_coherent = non_coherent;
        if dst.len() > 1 {
            // An element may overwrite the address register.
            place.value = place.value.map(|v| self.kept(v));
            place.tag = place.tag.map(|t| self.kept(t));
        }
        if let [Operand::Register(register)] = dst
            && self.load_directly(&place, *register, bytes, strong)
        {
            return;
        }
        for (element, operand) in (0i64..).zip(dst) {
            let value = self.load_element(&place, element * i64::from(bytes), bytes, strong);
            self.write(operand, value, ty.is_signed());
        }
    }

    /// A copy of a value in a temporary, even of a variable.
    pub(super) fn kept(&mut self, value: ExprRef) -> ExprRef {
        let name = self.temporary(value.ty.clone());
        let ty = value.ty.clone();
        self.emit(StmtKind::Assign(vec![(name.clone(), value)]));
        bv::var(name, ty)
    }

    /// Loads straight into the register where nothing has to be chosen or converted.
    fn load_directly(
        &mut self,
        place: &Place,
        register: crate::ptx::ast::RegisterId,
        bytes: u32,
        strong: Option<Scope>,
    ) -> bool {
        let ([region], false, None) = (place.regions.as_slice(), place.unknown, &self.guard_value) else {
            return false;
        };
        let is_array = self.declarations.arrays[region.0 as usize].is_some();
        let same_width = self.cfg.registers[register.0 as usize].ty.bits() == 8 * bytes;
        if !is_array || !same_width || self.tags.contains_key(&register) {
            return false;
        }
        self.used.insert(register);
        let name = self.registers[register.0 as usize].clone();
        self.access(place, *region, 0, bytes, strong, Effect::Load(name));
        true
    }

    /// The value of one element, as wide as the element.
    fn load_element(&mut self, place: &Place, at: i64, bytes: u32, strong: Option<Scope>) -> ExprRef {
        let ty = Type::Bv(8 * bytes);
        let mut choices: Vec<(RegionId, ExprRef)> = Vec::new();
        for &region in &place.regions {
            match self.pointers.regions.get(region).space {
                Space::Private | Space::Heap => self.own_access(place, region, at, bytes),
                Space::Parameters => {
                    let value = self.parameter_bytes(place, region, at, bytes);
                    choices.push((region, value));
                }
                Space::Global | Space::Const | Space::Shared => {
                    let name = self.temporary(ty.clone());
                    self.access(place, region, at, bytes, strong, Effect::Load(name.clone()));
                    choices.push((region, bv::var(name, ty.clone())));
                }
            }
        }
        if place.unknown {
            self.touch_everything(place, bytes, strong, |this| Effect::Load(this.temporary(ty.clone())));
        }
        if let ([(_, value)], 1, false) = (choices.as_slice(), place.regions.len(), place.unknown) {
            return value.clone();
        }
        let otherwise = self.arbitrary(ty);
        let Some(tag) = &place.tag else { return otherwise };
        choices.into_iter().fold(otherwise, |rest, (region, value)| {
            bv::ite(bv::eq(tag.clone(), tag_literal(Some(region))), value, rest)
        })
    }

    /// Bytes of a kernel parameter at an offset that is not constant: a function of the offset.
    fn parameter_bytes(&mut self, place: &Place, region: RegionId, at: i64, bytes: u32) -> ExprRef {
        let meaning = format!("param.{}.read{bytes}", self.pointers.regions.get(region).name);
        let result = Type::Bv(8 * bytes);
        let function = self.declarations.function(&mut self.names, &meaning, vec![Type::Bv(64)], result.clone());
        let offset = self.offset(place, region, at);
        bv::call(function, vec![offset], result)
    }

    /// `st`
    pub(crate) fn store(
        &mut self,
        space: StateSpace,
        ty: ScalarType,
        src: &[Operand],
        address: &Address,
        strong: Option<Scope>,
    ) {
        let Some(place) = self.place(space, address) else { return };
        let bytes = ty.bytes();
        for (element, operand) in (0i64..).zip(src) {
            let value = self.read(operand, 8 * bytes);
            let at = element * i64::from(bytes);
            for &region in &place.regions {
                match self.pointers.regions.get(region).space {
                    Space::Private | Space::Heap => self.own_access(&place, region, at, bytes),
                    Space::Parameters => self.unsupported("parameter-store", "a store to a kernel parameter"),
                    Space::Global | Space::Const | Space::Shared => {
                        self.access(&place, region, at, bytes, strong, Effect::Store(value.clone()));
                    }
                }
            }
            if place.unknown {
                self.touch_everything(&place, bytes, strong, |_| Effect::Store(value.clone()));
            }
        }
    }

    /// `atom` and `red`; `change` is the mark that says what it does to its place. Packed types are sets of scalar accesses (memory model, "packed data types").
    pub(crate) fn atomic(
        &mut self,
        space: StateSpace,
        ty: ScalarType,
        elements: u32,
        dst: &[Operand],
        address: &Address,
        (strong, marks): (Option<Scope>, Vec<Attribute>),
    ) {
        let Some(place) = self.place(space, address) else { return };
        // An `atom` is never weak; `.gpu` is its default.
        let strong = Some(strong.unwrap_or(Scope::Gpu));
        let parts = ty.atomic_parts();
        let bytes = ty.bytes() / parts;
        let single = (place.regions.len() == 1 && !place.unknown && elements * parts == 1).then_some(());
        let mut old = None;
        for at in (0..elements.max(1) * parts).map(|k| i64::from(k * bytes)) {
            for &region in &place.regions {
                match self.pointers.regions.get(region).space {
                    Space::Private | Space::Heap => self.own_access(&place, region, at, bytes),
                    Space::Parameters => self.unsupported("parameter-store", "an atomic on a kernel parameter"),
                    Space::Global | Space::Const | Space::Shared => {
                        if single.is_some() && !dst.is_empty() {
                            old = Some(self.temporary(Type::Bv(8 * bytes)));
                        }
                        self.access(&place, region, at, bytes, strong, Effect::Atomic(old.clone()));
                        marks.iter().filter(|_| single.is_some()).for_each(|mark| self.mark_atomic(mark.clone()));
                    }
                }
            }
            if place.unknown {
                self.touch_everything(&place, bytes, strong, |_| Effect::Atomic(None));
            }
        }
        let mut writes = Vec::new();
        for operand in dst {
            let value = match &old {
                Some(name) => bv::var(name.clone(), Type::Bv(ty.bits())),
                None => self.arbitrary(Type::Bv(ty.bits())),
            };
            writes.push((operand.clone(), value, ty.is_signed()));
        }
        self.write_all(writes);
    }

    /// What an address may reach; `None` if it is refused.
    pub(super) fn place(&mut self, space: StateSpace, address: &Address) -> Option<Place> {
        let mut place = Place {
            offset: address.offset,
            narrowed: !matches!(space, StateSpace::Global | StateSpace::Generic),
            ..Place::within(Vec::new(), space)
        };
        match address.base {
            AddressBase::Register(register) => {
                let points = self.pointers.points(&self.pointer_state, register).clone();
                place.value = Some(self.value(register));
                place.narrowed |= points.narrowed;
                place.regions = points.regions.iter().copied().collect();
                let unknown =
                    points.unknown || points.tainted || !points.opaque.is_empty() || !points.fields.is_empty();
                // A constant is null, and an index no address; except that shared addresses are small numbers too.
                let is_shared = matches!(space, StateSpace::Shared | StateSpace::SharedCluster);
                place.unknown = unknown || points.number >= Number::Wide || is_shared && points.is_number();
                self.declarations.assumes_indices |= !points.regions.is_empty()
                    && !place.unknown
                    && matches!(points.number, Number::Word | Number::Index);
                if points.regions.len() > 1 {
                    place.tag = Some(self.tag_of(&Operand::Register(register)));
                }
            }
            AddressBase::Variable(variable) => {
                place.regions = vec![self.pointers.regions.of_variable(variable)];
                place.variable = Some(variable);
            }
            AddressBase::Absolute => {
                place.unknown = true;
                place.value = Some(bv::literal(0, 64));
            }
        }
        place.regions.retain(|r| in_space(space, self.pointers.regions.get(*r).space));
        place.unknown |= place.regions.is_empty();
        let shared = |r: &RegionId| self.pointers.facts.escaping.contains(r);
        place.unknown |= place.regions.iter().any(|r| self.pointers.regions.get(*r).space == Space::Heap && shared(r));
        // What cannot leave the thread's own memory needs no access.
        if matches!(space, StateSpace::Local | StateSpace::Param) {
            self.declarations.assumes_bounds |= place.unknown && self.promoted;
            place.unknown = false;
        }
        if space == StateSpace::SharedCluster && place.unknown {
            self.unsupported("cluster-address", "an access to the shared memory of another block of the cluster");
            return None;
        }
        Some(place)
    }

    /// `free`: no byte of the block may be in use elsewhere. How long the block is, nothing says.
    pub(crate) fn free(&mut self, address: &Address) {
        let Some(place) = self.place(StateSpace::Generic, address) else { return };
        let value = || Effect::Store(bv::literal(0, 8));
        for &region in &place.regions {
            let Some(array) = self.declarations.arrays[region.0 as usize].clone() else { continue };
            let (guard, offset) = (self.guard_in(&place, region), self.arbitrary(Type::Bv(64)));
            let access = Access { array, guard, offset, scale: 1, bytes: 1, strong: None, collective: None };
            self.emit_access(access, value(), Some("unknown_pointer"));
        }
        if place.unknown {
            self.touch_everything(&place, 1, None, |_| value());
        }
    }

    /// When an access reaches a region: under the guard of its instruction, if the address is there.
    fn guard_in(&self, place: &Place, region: RegionId) -> Option<ExprRef> {
        let in_region = place.tag.as_ref().map(|tag| bv::eq(tag.clone(), tag_literal(Some(region))));
        self.guard_value.iter().cloned().chain(in_region).reduce(bv::and)
    }

    /// An access of memory that other threads do not have: only where it is matters. Beside its array there is the
    /// memory of others, and variables that became registers ([`super::promote`]).
    pub(super) fn own_access(&mut self, place: &Place, region: RegionId, at: i64, bytes: u32) {
        let offset = self.offset(place, region, at);
        let guard = self.guard_in(place, region);
        let reaches_others = self.promoted || place.space != StateSpace::Local && place.space != StateSpace::Param;
        if !self.bounds(region, &offset, bytes, guard) && reaches_others {
            self.declarations.assumes_bounds = true;
        }
    }

    /// Asserts that an access stays inside its region; false if that is not asked for, or the size is not known.
    fn bounds(&mut self, region: RegionId, offset: &ExprRef, bytes: u32, guard: Option<ExprRef>) -> bool {
        if !self.options.rules.check_bounds {
            return false;
        }
        let literal = |bytes: u64| bv::literal(u128::from(bytes), 64);
        let below = |most: ExprRef| bv::binary(BvOp::Ule, offset.clone(), most);
        let block = self.declarations.blocks.get(&region).map(|[_, size]| bv::var(size.clone(), Type::Bv(64)));
        let wanted = u64::from(bytes);
        let inside = match (self.pointers.regions.get(region).size, block) {
            (Some(size), _) => size.checked_sub(wanted).map_or(bv::boolean(false), |most| below(literal(most))),
            (None, Some(size)) => {
                let room = bv::binary(BvOp::Ule, literal(wanted), size.clone());
                bv::and(room, below(bv::sub(size, literal(wanted))))
            }
            (None, None) => return false,
        };
        let inside = guard.into_iter().fold(inside, |e, guard| bv::implies(guard, e));
        self.emit(StmtKind::Assert(Claim::Bounds, inside));
        true
    }

    /// The byte offset in a region, 64 bits.
    pub(super) fn offset(&mut self, place: &Place, region: RegionId, at: i64) -> ExprRef {
        let constant = place.offset.wrapping_add(at);
        let info = self.pointers.regions.get(region).clone();
        let Some(value) = place.value.clone() else {
            let offset = bv::literal(constant as i128 as u128, 64);
            let offset = match (info.kind, place.variable) {
                (RegionKind::GlobalMemory, Some(variable)) => bv::add(self.address_of_variable(variable), offset),
                (RegionKind::SharedMemory, Some(variable)) => {
                    bv::sub(bv::add(self.address_of_variable(variable), offset), self.declarations.base(region))
                }
                _ => offset,
            };
            return self.as_taken(place, info.space, offset);
        };
        let width = bv::width(&value);
        let mut offset = bv::add(value, bv::literal(constant as i128 as u128, width));
        let base = self.declarations.base(region);
        if base != bv::literal(0, 64) {
            offset = bv::sub(offset, bv::zext(base, width));
            let window = match info.space {
                Space::Shared => Some("shared"),
                Space::Const => Some("const"),
                Space::Parameters => Some("param"),
                Space::Global | Space::Private | Space::Heap => None,
            };
            if let (StateSpace::Generic, Some(window)) = (place.space, window) {
                let window = self.declarations.window(&mut self.names, window);
                offset = bv::sub(offset, bv::zext(window, width));
            }
        }
        self.as_taken(place, info.space, offset)
    }

    /// The whole offset in a region of a space, 64 bits, as the address is taken.
    fn as_taken(&self, place: &Place, space: Space, offset: ExprRef) -> ExprRef {
        let offset = place.index.iter().fold(offset, |offset, index| bv::add(bv::zext(offset, 64), index.clone()));
        let is_narrow = match space {
            Space::Shared | Space::Const | Space::Parameters | Space::Private => place.narrowed,
            Space::Global | Space::Heap => false,
        };
        let offset = if is_narrow && bv::width(&offset) == 64 { bv::extract(offset, 32, 0) } else { offset };
        bv::zext(offset, 64)
    }

    /// One access of one region's array.
    pub(super) fn access(
        &mut self,
        place: &Place,
        region: RegionId,
        at: i64,
        bytes: u32,
        strong: Option<Scope>,
        effect: Effect,
    ) {
        if self.options.rules.global_only && self.pointers.regions.get(region).space == Space::Shared {
            if let Effect::Load(dst) | Effect::Atomic(Some(dst)) = effect {
                self.emit(StmtKind::Havoc(vec![dst]));
            }
            return;
        }
        let array = match &self.declarations.arrays[region.0 as usize] {
            Some(array) => array.clone(),
            None => panic!("kernel: an access of a region without array"),
        };
        let offset = self.offset(place, region, at);
        let (guard, collective) = (self.guard_in(place, region), place.givers.clone());
        let access = Access { array, guard, offset: offset.clone(), scale: 1, bytes, strong, collective };
        if !self.bounds(region, &offset, bytes, access.own_guard()) {
            self.declarations.assumes_bounds = true;
        }
        self.emit_access(access, effect, place.non_coherent.then_some("non_coherent"));
    }

    /// `mark` says why nothing is known of what the array holds ([`crate::twothread::contents`]).
    fn emit_access(&mut self, access: Access, effect: Effect, mark: Option<&str>) {
        self.declarations.used_arrays.insert(access.array.clone());
        if self.is_volatile && matches!(effect, Effect::Store(_)) {
            self.declarations.volatile_stores = true;
        }
        let aligned = access.strong.map(|_| flag(ALIGNED));
        let kind = match effect {
            Effect::Load(dst) => StmtKind::Load { dst, access },
            Effect::Store(value) => StmtKind::Store { value, access },
            Effect::Atomic(dst) => StmtKind::Atomic { dst, access },
        };
        let underway = self.underway.clone();
        self.emit_with(kind, mark.into_iter().map(flag).chain(aligned).chain(underway).collect());
    }

    /// An access through a pointer of unknown origin: every array of the space, at any offset.
    pub(super) fn touch_everything(
        &mut self,
        place: &Place,
        bytes: u32,
        strong: Option<Scope>,
        mut effect: impl FnMut(&mut Self) -> Effect,
    ) {
        let (space, offset) = (place.space, self.arbitrary(Type::Bv(64)));
        let inside: Vec<Name> = (self.pointers.regions.all.iter().zip(&self.declarations.arrays))
            .filter(|(region, _)| in_space(space, region.space))
            .filter(|(region, _)| !self.options.rules.global_only || region.space != Space::Shared)
            .filter_map(|(_, array)| array.clone())
            .collect();
        if self.declarations.unknown_arrays.is_none() {
            let arrays = ["unknown.memory", "unknown.shared"].map(|name| self.names.fresh(name));
            self.declarations.unknown_arrays = Some(arrays);
        }
        let unknown = self.declarations.unknown_arrays.clone().into_iter().flatten();
        let unknown = unknown.zip([Space::Global, Space::Shared]).filter(|(_, s)| in_space(space, *s)).map(|(n, _)| n);
        for array in inside.into_iter().chain(unknown.collect::<Vec<_>>()) {
            let guard = self.guard_value.clone();
            let offset = offset.clone();
            let access = Access { array, guard, offset, scale: 1, bytes, strong, collective: place.givers.clone() };
            let effect = effect(self);
            self.emit_access(access, effect, Some("unknown_pointer"));
        }
    }
}
