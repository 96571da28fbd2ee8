//! The state of the translation and its basic steps: reading operands, writing registers, emitting
//! statements.
//!
//! Establishes: a register is assigned one instruction at a time, so expressions stay small; a read
//! that may see an undefined register reads a fresh arbitrary value; a write under a guard keeps the
//! old value when the guard is false; a register that may point into several regions carries a region
//! tag, assigned together with it. Relies on: `definite` and `pointers` walk along with the emission.

use super::LowerOptions;
use super::aggregated::Aggregated;
use super::agreeing::Agreeing;
use super::array_facts::StatedFact;
use super::barrier_invariant::Stated;
use super::bulk::BulkGroups;
use super::declarations::Declarations;
use super::definite::{self, Definite};
use super::groups::Groups;
use super::known_bits::KnownBits;
use super::launch::Launch;
use super::names::Names;
use super::objects::Objects;
use super::parameters::Parameters;
use super::pointers::{self, Pointers};
use super::products::Products;
use super::regions::RegionId;
use crate::cfg::graph::Cfg;
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Attribute, AttributeArg, ExprRef, Name, Stmt, StmtKind, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{Function, Guard, Operand, RegisterId, ScalarType, SpecialRegister, VariableRef};
use crate::span::{Origin, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Width of a region tag in bits; tag 0 is "no region", tag n+1 is region n.
const TAG_BITS: u32 = 32;

/// The translation of one entry.
pub(crate) struct Lowering<'a> {
    pub(crate) entry: &'a Function,
    /// The graph.
    pub(crate) cfg: &'a Cfg,
    /// Private variables became registers: no other access may reach them.
    pub(crate) promoted: bool,
    /// What the user fixed.
    pub(crate) options: &'a LowerOptions,
    /// The pointer analysis.
    pub(crate) pointers: Pointers<'a>,
    /// Definite assignment.
    pub(crate) definite: Definite<'a>,
    /// IVL names given so far.
    pub(crate) names: Names,
    /// Constants, functions, arrays and preconditions.
    pub(crate) declarations: Declarations,
    /// Values of special registers.
    pub(crate) launch: Launch,
    /// Values of kernel parameters.
    pub(crate) parameters: Parameters,
    /// Name of each register.
    pub(crate) registers: Vec<Name>,
    /// Region tags.
    pub(crate) tags: BTreeMap<RegisterId, Name>,
    /// Registers that occur.
    pub(crate) used: BTreeSet<RegisterId>,
    /// Temporaries and other locals.
    pub(crate) locals: Vec<Variable>,
    /// Barrier invariants of the barrier that comes next.
    pub(crate) barrier_invariants: Vec<Stated<'a>>,
    /// What the user states of arrays.
    pub(crate) array_facts: Vec<StatedFact>,
    /// What the user states, one sentence each.
    pub(crate) stated: Vec<String>,
    /// Problems met.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What the user may have meant otherwise.
    pub(crate) warnings: Vec<Diagnostic>,
    /// What the registers hold here.
    pub(crate) pointer_state: pointers::State,
    /// Which registers are written here.
    pub(crate) definite_state: definite::State,
    /// Statements of the block at hand.
    pub(crate) statements: Vec<Stmt>,
    /// The instruction at hand.
    pub(crate) origin: Option<Arc<Origin>>,
    pub(crate) guard: Option<Guard>,
    /// The value of its guard.
    pub(crate) guard_value: Option<ExprRef>,
    /// It is a volatile access.
    pub(crate) is_volatile: bool,
    /// The marks of the accesses of an asynchronous copy.
    pub(crate) underway: Vec<Attribute>,
    /// The kernel has copies with groups.
    pub(crate) has_groups: bool,
    /// The counters of groups of such copies.
    pub(crate) groups: Option<Groups>,
    /// Additions of a leader for its warp.
    pub(crate) aggregated: Aggregated,
    /// What threads of a block have alike.
    pub(crate) agreeing: Agreeing,
    /// What is known of bulk copies, if there are any.
    pub(crate) bulk: Option<BulkGroups>,
    /// What is known of products of matrices, if there are any.
    pub(crate) products: Option<Products>,
    /// Bits of registers that are constants, once something asks for them.
    pub(crate) known_bits: Option<KnownBits<'a>>,
    /// What is known of barrier objects, if there are any and they have a model.
    pub(crate) objects: Option<Objects>,
    /// Tags that the registers written by it get.
    pub(crate) new_tags: BTreeMap<RegisterId, ExprRef>,
}

/// The IVL type of a register.
pub(crate) fn register_type(ty: ScalarType) -> Type {
    if ty == ScalarType::Pred { Type::Bool } else { Type::Bv(ty.bits()) }
}

/// The literal of a region tag.
pub(crate) fn tag_literal(region: Option<RegionId>) -> ExprRef {
    bv::literal(region.map_or(0, |r| u128::from(r.0) + 1), TAG_BITS)
}

/// The type of region tags.
pub(crate) fn tag_type() -> Type {
    Type::Bv(TAG_BITS)
}

impl Lowering<'_> {
    /// Where the instruction at hand stands.
    pub(crate) fn span(&self) -> Span {
        self.origin.as_ref().map_or(self.entry.span, |o| o.span)
    }

    /// Records that something has no sound model.
    pub(crate) fn unsupported(&mut self, code: &'static str, message: impl Into<String>) {
        let diagnostic = Diagnostic::unsupported(code, message, self.span());
        self.diagnostics.push(diagnostic);
    }

    /// Appends a statement for the instruction at hand.
    pub(crate) fn emit(&mut self, kind: StmtKind) {
        self.emit_with(kind, Vec::new());
    }

    /// Appends a statement with attributes.
    pub(crate) fn emit_with(&mut self, kind: StmtKind, attributes: Vec<Attribute>) {
        self.statements.push(Stmt { kind, attributes, span: Span::NONE, origin: self.origin.clone() });
    }

    /// Declares a temporary.
    pub(crate) fn temporary(&mut self, ty: Type) -> Name {
        let name = self.names.numbered("t");
        self.locals.push(Variable::new(name.clone(), ty));
        name
    }

    /// A fresh arbitrary value.
    pub(crate) fn arbitrary(&mut self, ty: Type) -> ExprRef {
        let name = self.temporary(ty.clone());
        self.emit(StmtKind::Havoc(vec![name.clone()]));
        bv::var(name, ty)
    }

    /// Keeps a value that is used more than once in a temporary, unless it is atomic already.
    pub(crate) fn shared(&mut self, value: ExprRef) -> ExprRef {
        use crate::ivl::ast::ExprKind;
        if matches!(value.kind, ExprKind::Var(_) | ExprKind::Bv(_) | ExprKind::Bool(_)) {
            return value;
        }
        let ty = value.ty.clone();
        let name = self.temporary(ty.clone());
        self.emit(StmtKind::Assign(vec![(name.clone(), value)]));
        bv::var(name, ty)
    }

    /// The variable of a register, whatever it holds.
    pub(crate) fn register(&mut self, register: RegisterId) -> ExprRef {
        self.used.insert(register);
        let index = register.0 as usize;
        bv::var(self.registers[index].clone(), register_type(self.cfg.registers[index].ty))
    }

    /// The value that a read of a register sees.
    pub(crate) fn value(&mut self, register: RegisterId) -> ExprRef {
        if self.definite_state.may_be_undefined(register, self.guard) {
            let ty = register_type(self.cfg.registers[register.0 as usize].ty);
            return self.arbitrary(ty);
        }
        self.register(register)
    }

    /// Reads a guard; both the guard and its negation must use one call.
    pub(crate) fn read_guard(&mut self, guard: Guard) -> ExprRef {
        let value = self.value(guard.register);
        let value = self.as_bool(value);
        if guard.negated { bv::not(value) } else { value }
    }

    fn as_bool(&mut self, value: ExprRef) -> ExprRef {
        match value.ty {
            Type::Bv(width) => bv::ne(value, bv::literal(0, width)),
            _ => value,
        }
    }

    /// Reads a predicate operand.
    pub(crate) fn read_predicate(&mut self, operand: &Operand) -> ExprRef {
        match operand {
            Operand::Register(register) => {
                let value = self.value(*register);
                self.as_bool(value)
            }
            Operand::NotPredicate(register) => {
                let value = self.value(*register);
                let value = self.as_bool(value);
                bv::not(value)
            }
            Operand::Integer(value) => bv::boolean(*value != 0),
            _ => self.arbitrary(Type::Bool),
        }
    }

    /// Reads an operand as a value of the given width; wider registers are truncated, narrower ones
    /// zero-extended.
    pub(crate) fn read(&mut self, operand: &Operand, bits: u32) -> ExprRef {
        let value = match operand {
            Operand::Register(register) => self.value(*register),
            Operand::NotPredicate(_) => self.read_predicate(operand),
            // Integers are 64-bit two's complement.
            Operand::Integer(value) => bv::literal(*value as i64 as i128 as u128, bits),
            Operand::Single(value) => self.float_constant(u64::from(*value), 32, bits),
            Operand::Double(value) => self.float_constant(*value, 64, bits),
            Operand::Variable(variable, offset) => {
                let base = self.address_of_variable(*variable);
                bv::add(base, bv::literal(*offset as i128 as u128, 64))
            }
            Operand::Special(special) => self.read_special(*special),
            Operand::Vector(elements) => {
                let widths = self.part_widths(elements, bits);
                let parts: Vec<_> = elements.iter().zip(widths).map(|(e, width)| self.read(e, width)).collect();
                let joined = parts.into_iter().reduce(|low, high| bv::concat(high, low));
                joined.unwrap_or_else(|| bv::literal(0, bits))
            }
            // Where a function lies is one number for the whole launch.
            Operand::Function(index) => {
                let types = vec![Type::Bv(32)];
                let function = self.declarations.function(&mut self.names, "function.address", types, Type::Bv(bits));
                bv::call(function, vec![bv::literal(u128::from(*index), 32)], Type::Bv(bits))
            }
            Operand::Sink => self.arbitrary(Type::Bv(bits)),
        };
        match value.ty {
            Type::Bv(_) => bv::zext(value, bits),
            _ => bv::ite(value, bv::literal(1, bits), bv::literal(0, bits)),
        }
    }

    /// A float constant of that width as a value of so many bits.
    fn float_constant(&mut self, value: u64, width: u32, bits: u32) -> ExprRef {
        match float_literal(value, width, bits) {
            Some(value) => bv::literal(value, bits),
            None => self.arbitrary(Type::Bv(bits)),
        }
    }

    /// Widths of the parts of a packed value: those of the registers if they fill it, else equal parts.
    fn part_widths(&self, elements: &[Operand], bits: u32) -> Vec<u32> {
        let own = |e: &Operand| match e {
            Operand::Register(r) => self.cfg.registers[r.0 as usize].ty.bits(),
            _ => 0,
        };
        let widths: Vec<u32> = elements.iter().map(own).collect();
        if widths.iter().all(|w| *w > 0) && widths.iter().sum::<u32>() == bits {
            return widths;
        }
        vec![bits / (elements.len().max(1) as u32); elements.len()]
    }

    fn read_special(&mut self, special: SpecialRegister) -> ExprRef {
        self.declarations.assumes_lanes |= special == SpecialRegister::LaneId;
        match self.launch.special(special) {
            Some(value) => value,
            None => match special {
                // The lane of a thread is below the warp size, whatever the numbering.
                SpecialRegister::LaneId => {
                    let lane = self.arbitrary(Type::Bv(32));
                    bv::binary(BvOp::And, lane, bv::literal(31, 32))
                }
                SpecialRegister::Other(register) => self.arbitrary(Type::Bv(register.bits())),
                _ => self.arbitrary(Type::Bv(32)),
            },
        }
    }

    /// Writes one destination; `signed` says how a narrower value extends.
    pub(crate) fn write(&mut self, dst: &Operand, value: ExprRef, signed: bool) {
        self.write_all(vec![(dst.clone(), value, signed)]);
    }

    /// Writes several destinations at once, together with their region tags.
    pub(crate) fn write_all(&mut self, writes: Vec<(Operand, ExprRef, bool)>) {
        let mut pairs: Vec<(Name, ExprRef)> = Vec::new();
        for (dst, value, signed) in writes {
            match dst {
                Operand::Register(register) => self.pair(register, value, signed, &mut pairs),
                Operand::Vector(elements) => {
                    let widths = self.part_widths(&elements, bv::width(&value));
                    let mut end = 0;
                    for (element, width) in elements.into_iter().zip(widths) {
                        let low = end;
                        end += width;
                        if let Operand::Register(register) = element {
                            let part = bv::extract(value.clone(), low + width, low);
                            self.pair(register, part, signed, &mut pairs);
                        }
                    }
                }
                _ => {}
            }
        }
        if !pairs.is_empty() {
            self.emit(StmtKind::Assign(pairs));
        }
    }

    fn pair(&mut self, register: RegisterId, value: ExprRef, signed: bool, pairs: &mut Vec<(Name, ExprRef)>) {
        let old = self.register(register);
        let value = match (&old.ty, &value.ty) {
            (Type::Bool, Type::Bv(_)) => self.as_bool(value),
            (Type::Bv(to), Type::Bv(_)) if signed => bv::sext(value, *to),
            (Type::Bv(to), Type::Bv(_)) => bv::zext(value, *to),
            (Type::Bv(to), _) => bv::ite(value, bv::literal(1, *to), bv::literal(0, *to)),
            _ => value,
        };
        let name = self.registers[register.0 as usize].clone();
        let value = match &self.guard_value {
            Some(guard) => bv::ite(guard.clone(), value, old),
            None => value,
        };
        pairs.retain(|p| p.0 != name);
        pairs.push((name, value));
        if let Some(pair) = self.tag_pair(register) {
            pairs.retain(|p| p.0 != pair.0);
            pairs.push(pair);
        }
    }

    /// The assignment of the region tag that goes with a write of a register.
    pub(crate) fn tag_pair(&mut self, register: RegisterId) -> Option<(Name, ExprRef)> {
        let name = self.tags.get(&register)?.clone();
        let old = bv::var(name.clone(), tag_type());
        let new = self.new_tags.get(&register).cloned().unwrap_or_else(|| tag_literal(None));
        let new = match &self.guard_value {
            Some(guard) => bv::ite(guard.clone(), new, old.clone()),
            None => new,
        };
        (new != old).then_some((name, new))
    }

    /// The address at which a variable starts, 64 bits.
    pub(crate) fn address_of_variable(&mut self, variable: VariableRef) -> ExprRef {
        let region = self.pointers.regions.of_variable(variable);
        let cell = self.declarations.variable_bases.get(&variable).cloned();
        cell.unwrap_or_else(|| self.declarations.base(region))
    }
}

/// A float constant at another width than written: `0d` constants of 32-bit instructions are rounded.
fn float_literal(value: u64, width: u32, bits: u32) -> Option<u128> {
    match (width, bits) {
        (a, b) if a == b => Some(u128::from(value)),
        (64, 32) => Some(u128::from((f64::from_bits(value) as f32).to_bits())),
        (32, 64) => Some(u128::from(f64::from(f32::from_bits(value as u32)).to_bits())),
        _ => None,
    }
}

/// An attribute without arguments.
pub(crate) fn flag(name: &str) -> Attribute {
    Attribute { name: Name::from(name), args: Vec::new() }
}

/// An attribute with a text.
pub(crate) fn text(name: &str, value: &str) -> Attribute {
    Attribute { name: Name::from(name), args: vec![AttributeArg::Text(value.to_string())] }
}
