//! What is assumed of the two threads: that they are two.
//!
//! Input: the kernel's constants and preconditions, the launch. Output: constants and preconditions of
//! the two-thread procedure. Establishes: every two distinct threads of the launch that form such a
//! pair satisfy the preconditions, in either order (nothing ranks them). Relies on: `tid.*` and
//! `ctaid.*` number threads and blocks, as in PTX. Reference: the special registers `%tid`, `%ctaid`.

use super::copies::Copies;
use super::{Options, Pair};
use crate::geometry::Axis;
use crate::ivl::ast::{Attribute, Condition, Constant, ExprRef, Name, Procedure, Program, Thread, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::span::Span;

/// Constants and preconditions for a pair.
pub(crate) struct Launch {
    /// All constants, with copies where the threads differ.
    pub(crate) constants: Vec<Constant>,
    /// Preconditions of the procedure.
    pub(crate) requires: Vec<Condition>,
}

impl Launch {
    /// Doubles constants and preconditions and states that the threads are of this pair.
    pub(crate) fn new(program: &Program, kernel: &Procedure, copies: &Copies, pair: Pair, options: &Options) -> Launch {
        let mut constants: Vec<Constant> =
            program.constants.iter().flat_map(|constant| copies.constants(constant)).collect();
        let mut requires = Vec::new();
        for condition in &kernel.requires {
            let copy = |expr| Condition { expr, ..condition.clone() };
            requires.extend(copies.formulas(&condition.expr).into_iter().map(copy));
        }
        match pair {
            Pair::OneThread => {
                for constant in program.constants.iter().filter(|c| copies.doubled.contains_key(&c.variable.name)) {
                    let [first, second] = both(&constant.variable);
                    requires.push(condition("one_thread", bv::eq(first, second)));
                }
            }
            Pair::SameBlock | Pair::DifferentBlocks => {
                let (id, size, sizes) = match pair {
                    Pair::DifferentBlocks => ("ctaid", "nctaid", options.geometry.grid),
                    _ => ("tid", "ntid", options.geometry.block),
                };
                let mut distinct = bv::boolean(false);
                for (axis, extent) in Axis::ALL.into_iter().zip(sizes) {
                    let coordinate = Coordinate { id: format!("{id}.{axis}"), size: format!("{size}.{axis}"), extent };
                    distinct = bv::or(distinct, coordinate.differs(program, &mut constants, &mut requires));
                }
                requires.push(condition("distinct", distinct));
            }
        }
        Launch { constants, requires }
    }
}

/// One axis of a thread's or block's position.
struct Coordinate {
    /// `tid.x`
    id: String,
    /// `ntid.x`
    size: String,
    /// The size, where the launch fixes it.
    extent: Option<u32>,
}

impl Coordinate {
    /// That the threads differ in this coordinate. A kernel that never reads the coordinate does not
    /// declare it, but threads may differ in nothing else: it is then declared here.
    fn differs(&self, program: &Program, constants: &mut Vec<Constant>, requires: &mut Vec<Condition>) -> ExprRef {
        if self.extent == Some(1) {
            return bv::boolean(false);
        }
        let find = |name: &str| program.constants.iter().find(|constant| constant.variable.name.as_str() == name);
        if let Some(known) = find(&self.id) {
            let [first, second] = both(&known.variable);
            return bv::ne(first, second);
        }
        let ty = Type::Bv(32);
        let variable = Variable::new(Name::from(self.id.as_str()), ty);
        for thread in Thread::BOTH {
            let copy = Variable { name: variable.name.of(thread), ..variable.clone() };
            constants.push(Constant { variable: copy, unique: false });
        }
        let size = match (self.extent, find(&self.size)) {
            (Some(extent), _) => Some(bv::literal(u128::from(extent), 32)),
            (None, Some(size)) if size.variable.ty == Type::Bv(32) => {
                Some(bv::var(size.variable.name.clone(), Type::Bv(32)))
            }
            (None, _) => None,
        };
        let [first, second] = both(&variable);
        for (coordinate, size) in [&first, &second].into_iter().zip([&size, &size]) {
            if let Some(size) = size {
                let below = bv::binary(BvOp::Ult, coordinate.clone(), size.clone());
                requires.push(condition("coordinate", below));
            }
        }
        bv::ne(first, second)
    }
}

/// Both copies of a constant.
fn both(variable: &Variable) -> [ExprRef; 2] {
    Thread::BOTH.map(|thread| bv::var(variable.name.of(thread), variable.ty.clone()))
}

fn condition(attribute: &str, expr: ExprRef) -> Condition {
    let attributes = vec![Attribute { name: Name::from(attribute), args: Vec::new() }];
    Condition { free: false, expr, attributes, span: Span::NONE }
}
