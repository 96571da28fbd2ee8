//! Kernel parameters: one constant for each place that the kernel loads.
//!
//! Input: the graph and the options. Output: [`Parameters`]. Establishes: places that do not overlap
//! are independent constants; overlapping ones are built from one constant a byte, so they agree.
//! Relies on: parameters are read-only and equal for all threads (PTX "Kernel Function Parameters").

use super::KernelParameter;
use super::LowerOptions;
use super::declarations::Declarations;
use super::launch::parameter_attribute;
use super::names::Names;
use super::pointers::Pointers;
use super::regions::{ParameterPlace, Space};
use crate::cfg::graph::{Cfg, Statement};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{ExprRef, Type};
use crate::ivl::bv;
use crate::ptx::ast::{Address, AddressBase, Function, Op, StateSpace, VariableRef};
use std::collections::{BTreeMap, BTreeSet};

/// A loaded place: parameter, byte offset, width in bytes.
type Place = (u32, i64, u32);

/// Values of the loaded places.
#[derive(Default)]
pub(crate) struct Parameters {
    values: BTreeMap<Place, ExprRef>,
    /// What the report tells about them.
    pub(crate) infos: Vec<KernelParameter>,
}

impl Parameters {
    /// Declares the constants.
    ///
    /// # Errors
    /// `--param` values that name no scalar parameter or do not fit it.
    pub(crate) fn new(
        entry: &Function,
        cfg: &Cfg,
        options: &LowerOptions,
        pointers: &Pointers<'_>,
        names: &mut Names,
        declarations: &mut Declarations,
    ) -> Result<Parameters, Vec<Diagnostic>> {
        let mut this = Parameters::default();
        let places = loaded_places(cfg);
        for &(parameter, offset, bytes) in &places {
            let place = ParameterPlace { parameter, offset };
            let name = pointers.regions.place_name(entry, place);
            let pointee = if bytes == 8 { pointers.regions.of_place(place) } else { None };
            let (value, constant) = if let Some(region) = pointee {
                let base = declarations.place_bases.get(&place).cloned();
                let base = base.unwrap_or_else(|| declarations.base(region));
                let constant = match &base.kind {
                    crate::ivl::ast::ExprKind::Var(name) => Some(name.clone()),
                    _ => None,
                };
                (base, constant)
            } else if overlaps(&places, (parameter, offset, bytes)) {
                (this.join_bytes(&name, (parameter, offset, bytes), names, declarations), None)
            } else {
                let constant = names.fresh(&name);
                let attributes = vec![parameter_attribute(&name)];
                (declarations.constant(constant.clone(), Type::Bv(8 * bytes), attributes), Some(constant))
            };
            this.values.insert((parameter, offset, bytes), value);
            let is_pointer = pointee.is_some();
            let is_shared = pointee.is_some_and(|region| pointers.regions.get(region).space == Space::Shared);
            this.infos.push(KernelParameter { constant, name, offset, bits: 8 * bytes, is_pointer, is_shared });
        }
        let errors = this.fix(entry, options, &places, declarations);
        if errors.is_empty() { Ok(this) } else { Err(errors) }
    }

    /// Whether a place holds a pointer to an array.
    pub(crate) fn is_pointer(&self, entry: &Function, parameter: u32) -> bool {
        let name = &*entry.params[parameter as usize].name;
        self.infos.iter().any(|info| info.is_pointer && info.name == name)
    }

    /// The value at a loaded place.
    pub(crate) fn value(&self, parameter: u32, offset: i64, bytes: u32) -> ExprRef {
        match self.values.get(&(parameter, offset, bytes)) {
            Some(value) => value.clone(),
            None => panic!("kernel: parameter place {parameter}+{offset} was not collected"),
        }
    }

    /// The little-endian value of the bytes of a place, each a constant.
    fn join_bytes(&mut self, name: &str, place: Place, names: &mut Names, declarations: &mut Declarations) -> ExprRef {
        let (parameter, offset, bytes) = place;
        let base = name.strip_suffix(&format!(".{offset}")).unwrap_or(name);
        let mut parts = Vec::new();
        for at in offset..offset + i64::from(bytes) {
            let byte = self.values.entry((parameter, at, 0)).or_insert_with(|| {
                let name = format!("{base}.byte{at}");
                declarations.constant(names.fresh(&name), Type::Bv(8), vec![parameter_attribute(&name)])
            });
            parts.push(byte.clone());
        }
        let joined = parts.into_iter().reduce(|low, high| bv::concat(high, low));
        joined.unwrap_or_else(|| panic!("kernel: a parameter load of no bytes"))
    }

    /// `--param`: fixes scalars.
    fn fix(
        &self,
        entry: &Function,
        options: &LowerOptions,
        places: &BTreeSet<Place>,
        declarations: &mut Declarations,
    ) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let mut fixed_as: BTreeMap<usize, &str> = BTreeMap::new();
        let is_number = |(key, _): &&(String, u64)| match entry.parameter_or_position(key) {
            Some(index) => !self.is_pointer(entry, index as u32),
            None => true,
        };
        for (key, value) in options.params.iter().chain(options.words.iter().filter(is_number)) {
            let mut error = |message: String| errors.push(Diagnostic::error("parameter", message, entry.span));
            let Some(index) = entry.parameter_or_position(key) else {
                let known: Vec<_> = entry.params.iter().map(|p| format!("`{}`", p.name)).collect();
                error(format!("`{}` has no parameter `{key}`; it has {}", entry.name, known.join(", ")));
                continue;
            };
            if let Some(other) = fixed_as.insert(index, key) {
                error(format!(
                    "the parameter `{}` is fixed twice, as `{other}` and as `{key}`",
                    entry.params[index].name
                ));
                continue;
            }
            let (parameter, bytes) = (&entry.params[index], entry.params[index].ty.bytes());
            let is_pointer = self.infos.iter().any(|i| i.is_pointer && i.name == *parameter.name);
            if parameter.size != Some(u64::from(bytes)) || parameter.ty.is_float() || is_pointer {
                error(format!("`{key}` is not an integer scalar, so it cannot be fixed"));
                continue;
            }
            let bits = 8 * bytes;
            let fits = bits >= 64 || *value >> bits == 0 || (*value as i64) >> (bits - 1) == -1;
            if !fits {
                error(format!("the value {value} does not fit `{key}`, which has {bits} bits"));
                continue;
            }
            for &(_, offset, width) in places.iter().filter(|p| p.0 as usize == index) {
                let shifted = u128::from(*value) >> (8 * offset.clamp(0, 15) as u32);
                let loaded = self.value(index as u32, offset, width);
                declarations.require("param", bv::eq(loaded, bv::literal(shifted, 8 * width)));
            }
        }
        errors
    }
}

fn overlaps(places: &BTreeSet<Place>, (parameter, offset, bytes): Place) -> bool {
    places.iter().any(|&(p, o, b)| {
        (p, o, b) != (parameter, offset, bytes)
            && p == parameter
            && o < offset + i64::from(bytes)
            && offset < o + i64::from(b)
    })
}

/// The places of the kernel's parameters that are loaded directly, element by element.
fn loaded_places(cfg: &Cfg) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for node in cfg.graph.node_indices() {
        for statement in &cfg.graph[node].statements {
            let instruction = match statement {
                Statement::Instruction(instruction) => instruction,
                Statement::Annotation(annotation) => {
                    let named = annotation.parameters().into_iter();
                    places.extend(named.map(|(parameter, bytes)| (parameter, 0, bytes)));
                    continue;
                }
                Statement::Undefine { .. } => continue,
            };
            if let Op::Load {
                space: StateSpace::Param,
                ty,
                dst,
                address: Address { base: AddressBase::Variable(VariableRef::Param(parameter)), offset },
                ..
            } = &instruction.op
            {
                let offsets = (0i64..).map(|k| offset + k * i64::from(ty.bytes()));
                places.extend(offsets.zip(dst).map(|(at, _)| (*parameter, at, ty.bytes())));
            }
        }
    }
    places
}
