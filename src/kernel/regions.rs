//! Regions: the arrays that addresses may point into.
//!
//! Input: the variables of a module, a [`Cfg`] and the kernel's parameters. Output: [`Regions`], a
//! table that the pointer analysis extends when it finds that a parameter is a pointer.
//! Establishes: one region for each pointer parameter, module variable and `.shared` variable that
//! the kernel mentions, and for each place that calls `malloc`; all `.extern .shared` arrays are one. Under
//! `--may-alias` all global memory is one region, and all shared memory if a parameter points there. Parameters that
//! [`Aliases`] names point into the region of the first of them.
//! Reference: DESIGN section 3 (which regions are disjoint); PTX "State Spaces".

use crate::aliases::Aliases;
use crate::cfg::graph::{Cfg, Statement};
use crate::kernel::LowerOptions;
use crate::ptx::annotation::ArrayRef;
use crate::ptx::ast::{
    Address, AddressBase, Function, Linkage, Module, Op, Operand, RegisterId, StateSpace, Variable, VariableRef,
};
use crate::ptx::roles::{Slot, visit};
use std::collections::{BTreeMap, BTreeSet};

/// Index into [`Regions::all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RegionId(pub(crate) u32);

/// A place in the kernel's parameters that holds a 64-bit value: parameter index, byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ParameterPlace {
    /// Index of the parameter.
    pub(crate) parameter: u32,
    /// Byte offset in it (not 0 inside by-value structs).
    pub(crate) offset: i64,
}

/// A place in memory that the kernel does not write and that may hold a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HeldPlace {
    /// The array.
    pub(crate) holder: RegionId,
    /// Byte offset, where all accesses of the holder have constant ones; otherwise its pointers are not told apart.
    pub(crate) offset: Option<i64>,
}

/// Where a region lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Space {
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local` and the `.param` memory of device calls: no other thread can see it.
    Private,
    /// What the thread got from `malloc`: no other thread can see it, unless the address leaves the thread.
    Heap,
    /// The kernel's own parameters, read through an address.
    Parameters,
}

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RegionKind {
    /// The array that a pointer parameter points to.
    Pointee(ParameterPlace),
    /// What pointers at such a place point to.
    Behind(HeldPlace),
    Variable(VariableRef),
    /// All `.extern .shared` arrays, which start at one address.
    DynamicShared,
    /// All global memory, when arrays may alias.
    GlobalMemory,
    /// All shared memory of the block, when arrays may alias and a parameter points to some of it.
    SharedMemory,
    /// Private memory that a parameter points to.
    Private,
    /// What the `malloc` with this result gives.
    Heap(RegisterId),
    /// The bytes of a kernel parameter.
    Parameter(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// What it is.
    pub(crate) kind: RegionKind,
    /// Where it lives.
    pub(crate) space: Space,
    /// Name in the PTX.
    pub(crate) name: String,
    /// Size in bytes where known.
    pub(crate) size: Option<u64>,
    /// Alignment of its start in bytes where known, else 1.
    pub(crate) align: u64,
}

/// The table of regions.
pub(crate) struct Regions {
    /// All regions.
    pub(crate) all: Vec<Region>,
    by_variable: BTreeMap<VariableRef, RegionId>,
    by_place: BTreeMap<ParameterPlace, RegionId>,
    by_held: BTreeMap<HeldPlace, RegionId>,
    /// Regions whose 64-bit values may point to anything.
    not_holders: BTreeSet<RegionId>,
    /// Variables whose address is taken.
    addressed: BTreeSet<VariableRef>,
    may_alias: bool,
    aliases: Aliases,
}

impl Regions {
    /// The regions of the variables that a kernel mentions and of `.ptr` parameters.
    pub(crate) fn of(module: &Module, entry: &Function, cfg: &Cfg, options: &LowerOptions) -> Regions {
        let (variables, addressed) = mentioned(cfg);
        let mut this = Regions {
            all: Vec::new(),
            by_variable: BTreeMap::new(),
            by_place: BTreeMap::new(),
            by_held: BTreeMap::new(),
            not_holders: BTreeSet::new(),
            addressed,
            may_alias: options.rules.may_alias,
            aliases: options.aliases.clone(),
        };
        for variable in variables {
            let id = match variable {
                VariableRef::Param(index) => this.parameter_bytes(entry, index),
                _ => match declaration(module, cfg, variable) {
                    Some(declared) => this.variable(variable, declared),
                    None => panic!("kernel: a variable that nothing declares: {variable:?}"),
                },
            };
            this.by_variable.insert(variable, id);
            // The host may have changed what an initialiser put there, or not.
            if declaration(module, cfg, variable).is_some_and(|declared| !declared.initialiser_symbols.is_empty()) {
                this.not_holders.insert(id);
            }
        }
        for (index, parameter) in (0u32..).zip(&entry.params) {
            if let Some(space) = parameter.pointer {
                let place = ParameterPlace { parameter: index, offset: 0 };
                this.add_pointee(entry, place, space);
            }
        }
        this
    }

    fn push(&mut self, region: Region) -> RegionId {
        if let Some(known) = self.all.iter().position(|r| (r.kind, r.space) == (region.kind, region.space)) {
            return RegionId(known as u32);
        }
        self.all.push(region);
        RegionId(self.all.len() as u32 - 1)
    }

    fn parameter_bytes(&mut self, entry: &Function, index: u32) -> RegionId {
        let (name, size) = match entry.params.get(index as usize) {
            Some(parameter) => (parameter.name.to_string(), parameter.size),
            None => panic!("kernel: parameter {index} does not exist"),
        };
        self.push(Region { kind: RegionKind::Parameter(index), space: Space::Parameters, name, size, align: 1 })
    }

    fn private(&mut self) -> RegionId {
        let name = "private memory".to_string();
        self.push(Region { kind: RegionKind::Private, space: Space::Private, name, size: None, align: 1 })
    }

    /// The region of the `malloc` whose result a register takes, made at the first use.
    pub(crate) fn heap(&mut self, result: RegisterId) -> RegionId {
        let name = "malloc".to_string();
        self.push(Region { kind: RegionKind::Heap(result), space: Space::Heap, name, size: None, align: 1 })
    }

    /// The region of all shared memory; variables of it become a part.
    fn shared_memory(&mut self) -> RegionId {
        let (kind, name) = (RegionKind::SharedMemory, "shared.memory".to_string());
        let whole = self.push(Region { kind, space: Space::Shared, name, size: None, align: 1 });
        for region in self.by_variable.values_mut() {
            if self.all[region.0 as usize].space == Space::Shared {
                *region = whole;
            }
        }
        whole
    }

    fn global_memory(&mut self) -> RegionId {
        let name = "global.memory".to_string();
        self.push(Region { kind: RegionKind::GlobalMemory, space: Space::Global, name, size: None, align: 1 })
    }

    fn variable(&mut self, reference: VariableRef, declared: &Variable) -> RegionId {
        let dynamic = declared.linkage == Linkage::Extern || declared.size.is_none();
        let space = match declared.space {
            StateSpace::Local | StateSpace::Param | StateSpace::Generic => Space::Private,
            StateSpace::Shared | StateSpace::SharedCluster if dynamic => {
                let (kind, name) = (RegionKind::DynamicShared, "dynamic.shared".to_string());
                let align = u64::from(declared.align.max(1));
                let id = self.push(Region { kind, space: Space::Shared, name, size: None, align });
                let region = &mut self.all[id.0 as usize];
                region.align = region.align.max(align);
                return id;
            }
            StateSpace::Shared | StateSpace::SharedCluster => Space::Shared,
            StateSpace::Global if self.may_alias => return self.global_memory(),
            StateSpace::Global => Space::Global,
            StateSpace::Const => Space::Const,
        };
        self.push(Region {
            kind: RegionKind::Variable(reference),
            space,
            name: declared.name.to_string(),
            size: declared.size,
            align: u64::from(declared.align.max(1)),
        })
    }

    /// Records that a place in the parameters holds a pointer; false if that was known.
    pub(crate) fn add_pointee(&mut self, entry: &Function, place: ParameterPlace, space: StateSpace) -> bool {
        if self.by_place.contains_key(&place) {
            return false;
        }
        let name = self.place_name(entry, place);
        let space = match space {
            StateSpace::Shared | StateSpace::SharedCluster => Space::Shared,
            StateSpace::Const => Space::Const,
            StateSpace::Local | StateSpace::Param => Space::Private,
            StateSpace::Global | StateSpace::Generic => Space::Global,
        };
        let first = self.first_alias(place);
        let id = match (space, first) {
            (Space::Global, _) if self.may_alias => self.global_memory(),
            (Space::Shared, first) if self.may_alias || first.is_some() => self.shared_memory(),
            (Space::Private, _) => self.private(),
            (Space::Global, Some(first)) => {
                let (kind, name) = (RegionKind::Pointee(first), self.place_name(entry, first));
                self.push(Region { kind, space, name, size: None, align: 1 })
            }
            _ => self.push(Region { kind: RegionKind::Pointee(place), space, name, size: None, align: 1 }),
        };
        self.by_place.insert(place, id);
        true
    }

    /// The first of the parameters that point into the array of this one, if there are others.
    fn first_alias(&self, place: ParameterPlace) -> Option<ParameterPlace> {
        let first = self.aliases.first(place.parameter).filter(|_| place.offset == 0);
        first.map(|parameter| ParameterPlace { parameter, offset: 0 })
    }

    /// Whether a parameter points somewhere into the array of another one; if so, how many bytes behind it, if that is known.
    pub(crate) fn behind_first(&self, place: ParameterPlace) -> Option<Option<i64>> {
        let region = self.get(self.of_place(place)?);
        let is_behind = matches!(region.kind, RegionKind::Pointee(first) if first != place);
        is_behind.then(|| self.aliases.distance(place.parameter))
    }

    /// The place that a 64-bit load reads, if pointers there are followed.
    pub(crate) fn held_place(&self, holder: RegionId, variable: Option<VariableRef>, offset: i64) -> Option<HeldPlace> {
        let Region { kind, space, .. } = *self.get(holder);
        if self.may_alias || self.not_holders.contains(&holder) || !matches!(space, Space::Global | Space::Const) {
            return None;
        }
        if let RegionKind::Behind(place) = kind {
            return Some(place);
        }
        let by_name = variable.is_some_and(|variable| !self.addressed.contains(&variable));
        Some(HeldPlace { holder, offset: by_name.then_some(offset) })
    }

    /// Records that a place in memory holds pointers; false if that was known.
    pub(crate) fn add_held(&mut self, place: HeldPlace) -> bool {
        if self.by_held.contains_key(&place) {
            return false;
        }
        let slot = place.offset.map_or(String::new(), |offset| format!(".{offset}"));
        let name = format!("behind.{}{slot}", self.get(place.holder).name);
        let (kind, space) = (RegionKind::Behind(place), Space::Global);
        let id = self.push(Region { kind, space, name, size: None, align: 1 });
        self.by_held.insert(place, id);
        true
    }

    /// The region behind a place, if it is known to hold pointers.
    pub(crate) fn behind(&self, place: HeldPlace) -> Option<RegionId> {
        self.by_held.get(&place).copied()
    }

    /// Follows the pointers in a region no more; false if that was so.
    pub(crate) fn forget(&mut self, holder: RegionId) -> bool {
        self.not_holders.insert(holder)
    }

    /// The regions whose pointers are followed.
    pub(crate) fn holders(&self) -> BTreeSet<RegionId> {
        self.by_held.iter().flat_map(|(place, behind)| [place.holder, *behind]).collect()
    }

    /// The region of a variable's address.
    pub(crate) fn of_variable(&self, variable: VariableRef) -> RegionId {
        match self.by_variable.get(&variable) {
            Some(id) => *id,
            None => panic!("kernel: a variable without region: {variable:?}"),
        }
    }

    /// The region of the pointer at a place in the parameters, if it is known to be one.
    pub(crate) fn of_place(&self, place: ParameterPlace) -> Option<RegionId> {
        self.by_place.get(&place).copied()
    }

    /// The variables that have a region, in order.
    pub(crate) fn variables(&self) -> Vec<VariableRef> {
        self.by_variable.keys().copied().collect()
    }

    /// The places that hold pointers, in order.
    pub(crate) fn places(&self) -> Vec<ParameterPlace> {
        self.by_place.keys().copied().collect()
    }

    /// The PTX name of a place, with the offset inside by-value structs.
    pub(crate) fn place_name(&self, entry: &Function, place: ParameterPlace) -> String {
        let name = entry.params.get(place.parameter as usize).map_or("parameter", |p| &p.name);
        if place.offset == 0 { name.to_string() } else { format!("{name}.{}", place.offset) }
    }

    /// A region.
    pub(crate) fn get(&self, id: RegionId) -> &Region {
        &self.all[id.0 as usize]
    }

    /// All ids in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = RegionId> + use<> {
        (0..self.all.len() as u32).map(RegionId)
    }
}

/// The declaration of a module or body variable.
pub(crate) fn declaration<'a>(module: &'a Module, cfg: &'a Cfg, variable: VariableRef) -> Option<&'a Variable> {
    match variable {
        VariableRef::Module(index) => module.variables.get(index as usize),
        VariableRef::Body(index) => cfg.variables.get(index as usize),
        VariableRef::Param(_) | VariableRef::Return(_) => None,
    }
}

/// Variables in operands and addresses, in order; and those among them whose address a register may hold.
fn mentioned(cfg: &Cfg) -> (BTreeSet<VariableRef>, BTreeSet<VariableRef>) {
    let (mut found, mut addressed) = (BTreeSet::new(), BTreeSet::new());
    let mut operand = |o: &Operand| {
        let elements = if let Operand::Vector(elements) = o { elements.as_slice() } else { std::slice::from_ref(o) };
        addressed.extend(elements.iter().filter_map(|e| match e {
            Operand::Variable(v, _) => Some(*v),
            _ => None,
        }));
    };
    for node in cfg.graph.node_indices() {
        for statement in &cfg.graph[node].statements {
            let instruction = match statement {
                Statement::Instruction(instruction) => instruction,
                Statement::Annotation(annotation) => {
                    found.extend(annotation.arrays().into_iter().filter_map(|array| match array {
                        ArrayRef::Variable(variable) => Some(variable),
                        ArrayRef::Pointee(_) => None,
                    }));
                    continue;
                }
                Statement::Undefine { .. } => continue,
            };
            let loads_parameter = matches!(&instruction.op, Op::Load { space: StateSpace::Param, .. });
            visit(&mut instruction.op.clone(), &mut |slot| match slot {
                // A direct load of a kernel parameter is a constant, no access of a region.
                Slot::Address(Address { base: AddressBase::Variable(VariableRef::Param(_)), .. })
                    if loads_parameter => {}
                Slot::Source(o) | Slot::Destination(o) => operand(o),
                Slot::Address(Address { base: AddressBase::Variable(v), .. }) => {
                    found.insert(*v);
                }
                Slot::Address(_) => {}
            });
        }
    }
    found.extend(&addressed);
    (found, addressed)
}
