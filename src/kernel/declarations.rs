//! What a kernel program declares beside its procedure, and where regions and variables start.
//!
//! Input: the regions, and which of them escape. Output: [`Declarations`]. Establishes: a region whose address bits are used
//! only for addressing has base 0, any other a symbolic constant; variables of one space overlap only where they may.
//! Relies on: `pointers` for which regions escape. Reference: PTX ISA, "Variables" and `malloc` of the CUDA device runtime.

use super::lowering::flag;
use super::names::Names;
use super::pointers::Pointers;
use super::regions::{ParameterPlace, Region, RegionId, RegionKind, Space, declaration};
use crate::cfg::graph::Cfg;
use crate::ivl::ast::{Attribute, Condition, Constant, ExprRef, Function as IvlFunction, Name, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{Module, VariableRef};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What the program declares beside its procedure.
#[derive(Default)]
pub(crate) struct Declarations {
    pub(super) constants: Vec<Constant>,
    pub(super) functions: Vec<IvlFunction>,
    function_names: BTreeMap<(String, Vec<Type>, Type), Name>,
    pub(super) requires: Vec<Condition>,
    /// Array of each region; `None` for regions that no other thread can reach.
    pub(crate) arrays: Vec<Option<Name>>,
    /// Address at which each region starts.
    bases: Vec<ExprRef>,
    /// Locals that hold where the block from a `malloc` starts, and how many bytes it has, 64 bits each.
    pub(crate) blocks: BTreeMap<RegionId, [Name; 2]>,
    /// Address at which a variable starts, where that is not its region's.
    pub(crate) variable_bases: BTreeMap<VariableRef, ExprRef>,
    /// Address that a pointer parameter holds, where that is not its region's.
    pub(crate) place_bases: BTreeMap<ParameterPlace, ExprRef>,
    windows: BTreeMap<&'static str, ExprRef>,
    /// Arrays that are accessed.
    pub(crate) used_arrays: BTreeSet<Name>,
    /// Arrays of unknown pointers: global and shared.
    pub(crate) unknown_arrays: Option<[Name; 2]>,
    /// An access of a known region was not checked against its size.
    pub(crate) assumes_bounds: bool,
    /// A number that may be in the place of a pointer was taken for no address.
    pub(crate) assumes_indices: bool,
    /// Accesses were checked against the sizes of blocks that `malloc` may not have given.
    pub(crate) assumes_allocation: bool,
    /// The numbers of lanes are taken from those of threads.
    pub(crate) assumes_lanes: bool,
    /// There are volatile stores, which do not race with volatile accesses.
    pub(crate) volatile_stores: bool,
    /// Counters that additions in loops change, with their widths in bytes.
    pub(crate) counters: Vec<(Name, u32)>,
    /// Arrays of locks under which others are accessed.
    pub(crate) locks: BTreeSet<Name>,
    /// Arrays of flags by which threads know what others did.
    pub(crate) flags: BTreeSet<Name>,
    /// Whether threads look at words that others write.
    pub(crate) waits: bool,
    /// Whether blocks wait for all others.
    pub(crate) has_grid_barriers: bool,
    /// Arrays of counters that only grow, by as many as there are blocks in each round.
    pub(crate) rounds: BTreeSet<Name>,
    /// The counter that tells which block is the last one.
    pub(crate) completion: Option<Name>,
    /// Masks were computed of what other lanes or memory give, and the lanes in them are taken to come.
    pub(crate) assumes_members: bool,
    /// Where shared memory starts was assumed, since descriptors of matrices have a part of the address.
    pub(crate) assumes_shared_start: bool,
    /// Whether texture memory is read, which is taken for constant.
    pub(crate) reads_textures: bool,
}

impl Declarations {
    /// Declares a constant and gives its expression.
    pub(crate) fn constant(&mut self, name: Name, ty: Type, attributes: Vec<Attribute>) -> ExprRef {
        let variable =
            Variable { name: name.clone(), ty: ty.clone(), where_clause: None, attributes, span: Span::NONE };
        self.constants.push(Constant { variable, unique: false });
        bv::var(name, ty)
    }

    /// Adds a precondition.
    pub(crate) fn require(&mut self, attribute: &str, expr: ExprRef) {
        let attributes = vec![flag(attribute)];
        self.requires.push(Condition { free: false, expr, attributes, span: Span::NONE });
    }

    /// The uninterpreted function for a meaning and signature.
    pub(crate) fn function(&mut self, names: &mut Names, meaning: &str, params: Vec<Type>, result: Type) -> Name {
        let key = (meaning.to_string(), params.clone(), result.clone());
        if let Some(name) = self.function_names.get(&key) {
            return name.clone();
        }
        let name = names.fresh(meaning);
        let params = params.into_iter().enumerate().map(|(k, ty)| (Name::from(format!("a{k}")), ty)).collect();
        let attributes = Vec::new();
        let function = IvlFunction { name: name.clone(), params, result, body: None, attributes, span: Span::NONE };
        self.functions.push(function);
        self.function_names.insert(key, name.clone());
        name
    }

    /// The address at which a region starts, 64 bits.
    pub(crate) fn base(&self, region: RegionId) -> ExprRef {
        self.bases[region.0 as usize].clone()
    }

    /// The constant between addresses of a space and generic addresses.
    pub(crate) fn window(&mut self, names: &mut Names, space: &'static str) -> ExprRef {
        if let Some(window) = self.windows.get(space) {
            return window.clone();
        }
        let name = names.fresh(&format!("window.{space}"));
        let window = self.constant(name, Type::Bv(64), Vec::new());
        self.windows.insert(space, window.clone());
        window
    }
}

/// Gives each region its array and its base address.
pub(super) fn declare_regions(
    module: &Module,
    cfg: &Cfg,
    pointers: &Pointers<'_>,
    names: &mut Names,
    declarations: &mut Declarations,
    locals: &mut Vec<Variable>,
) {
    let regions = &pointers.regions;
    let escapes = |space: Space| {
        let escaping = &pointers.facts.escaping;
        regions.ids().any(|id| regions.get(id).space == space && escaping.contains(&id))
    };
    // One window constant belongs to all of a space, so its regions have symbolic bases together.
    let (shared, constants) = (escapes(Space::Shared), escapes(Space::Const));
    for id in regions.ids() {
        let region = regions.get(id);
        let shared_with_others = !matches!(region.space, Space::Private | Space::Heap | Space::Parameters);
        declarations.arrays.push(shared_with_others.then(|| names.fresh(&region.name)));
        let symbolic =
            match region.space {
                Space::Shared => shared || region.kind == RegionKind::SharedMemory,
                Space::Const => constants,
                Space::Private | Space::Heap => true,
                Space::Global | Space::Parameters => pointers.facts.escaping.contains(&id),
                // Addresses in these are what memory or the parameters hold.
            } && !matches!(region.kind, RegionKind::GlobalMemory | RegionKind::Behind(_) | RegionKind::Private);
        let base = match region.space {
            _ if !symbolic => bv::literal(0, 64),
            // Each thread may have its own address of its own memory.
            Space::Private => number(own_number(&format!("base.{}", region.name), names, locals)),
            Space::Heap => {
                let block = ["base.malloc", "size.malloc"].map(|name| own_number(name, names, locals));
                declarations.blocks.insert(id, block.clone());
                number(block[0].clone())
            }
            _ => symbolic_base(region, names, declarations),
        };
        declarations.bases.push(base);
    }
    declare_bases_in_regions(module, cfg, pointers, names, declarations);
}

/// A 64-bit local of the thread, without a value at first.
fn own_number(name: &str, names: &mut Names, locals: &mut Vec<Variable>) -> Name {
    let name = names.fresh(name.trim_start_matches('%'));
    locals.push(Variable::new(name.clone(), Type::Bv(64)));
    name
}

fn number(name: Name) -> ExprRef {
    bv::var(name, Type::Bv(64))
}

/// Where variables and pointers of parameters stand in the regions that hold several.
fn declare_bases_in_regions(
    module: &Module,
    cfg: &Cfg,
    pointers: &Pointers<'_>,
    names: &mut Names,
    declarations: &mut Declarations,
) {
    let regions = &pointers.regions;
    let mut shared: Vec<(ExprRef, &crate::ptx::ast::Variable)> = Vec::new();
    for variable in regions.variables() {
        let region = regions.get(regions.of_variable(variable));
        let Some(declared) = declaration(module, cfg, variable) else { continue };
        let align = u64::from(declared.align.max(1));
        let name = declared.name.trim_start_matches('%').to_string();
        let base = match region.kind {
            RegionKind::GlobalMemory => {
                declarations.constant(names.fresh(&format!("base.{name}")), Type::Bv(64), vec![flag("base")])
            }
            RegionKind::SharedMemory => {
                let base = symbolic_base(&Region { name, align, ..region.clone() }, names, declarations);
                shared.push((base.clone(), declared));
                base
            }
            _ => continue,
        };
        declarations.variable_bases.insert(variable, base);
    }
    lie_apart(&shared, declarations);
    for place in regions.places() {
        let Some(id) = regions.of_place(place) else { continue };
        let behind = regions.behind_first(place);
        let kind = regions.get(id).kind;
        if let Some(Some(distance)) = behind {
            let distance = bv::literal(distance as i128 as u128, 64);
            declarations.place_bases.insert(place, bv::add(declarations.base(id), distance));
        } else if behind.is_some()
            || matches!(kind, RegionKind::GlobalMemory | RegionKind::SharedMemory | RegionKind::Private)
        {
            let name = format!("base.{}", regions.place_name(pointers.entry, place));
            let base = declarations.constant(names.fresh(&name), Type::Bv(64), vec![flag("base")]);
            declarations.place_bases.insert(place, base);
        }
    }
}

/// Shared variables of known size overlap neither each other nor the dynamic ones behind them.
fn lie_apart(variables: &[(ExprRef, &crate::ptx::ast::Variable)], declarations: &mut Declarations) {
    let is_before = |first: &ExprRef, size: u64, second: &ExprRef| {
        let end = bv::add(first.clone(), bv::literal(u128::from(size), 64));
        bv::binary(BvOp::Ule, end, second.clone())
    };
    let end = bv::literal(1 << 32, 64);
    for (number, (first, one)) in variables.iter().enumerate() {
        declarations.require("base", is_before(first, one.size.unwrap_or(0), &end));
        for (second, other) in &variables[number + 1..] {
            let apart = match (one.size, other.size) {
                (Some(size), Some(other)) => bv::or(is_before(first, size, second), is_before(second, other, first)),
                (Some(size), None) => is_before(first, size, second),
                (None, Some(size)) => is_before(second, size, first),
                (None, None) => bv::eq(first.clone(), second.clone()),
            };
            declarations.require("base", apart);
        }
    }
}

fn symbolic_base(region: &Region, names: &mut Names, declarations: &mut Declarations) -> ExprRef {
    let name = names.fresh(&format!("base.{}", region.name));
    let base = declarations.constant(name, Type::Bv(64), vec![flag("base")]);
    if region.space == Space::Shared {
        let high = bv::extract(base.clone(), 64, 32);
        declarations.require("base", bv::eq(high, bv::literal(0, 32)));
    }
    if region.align > 1 && region.align.is_power_of_two() {
        let low = bv::binary(BvOp::And, base.clone(), bv::literal(u128::from(region.align - 1), 64));
        declarations.require("base", bv::eq(low, bv::literal(0, 64)));
    }
    base
}
