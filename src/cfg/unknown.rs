//! Calls of functions of which nothing is known, under `--unknown-functions=arbitrary`.
//!
//! Input: such a call. Output: one operation that reads every byte of the arguments and gives every byte of the results
//! an arbitrary value. Establishes: an address that is passed counts as gone elsewhere, so the thread's own memory behind
//! it holds arbitrary values from then on. Relies on: the function touches no memory that other threads see, passes no
//! barrier and returns, which is an assumption of the report; `promote` keeps no variable in registers whose address is
//! stored; private memory that is not promoted holds arbitrary values. Reference: PTX `call`, `.extern`.

use super::inline::{Inliner, LineKind};
use crate::diagnostic::Diagnostic;
use crate::order::Ordering;
use crate::ptx::ast::{Address, AddressBase, Function, Op, Operand, ScalarType, StateSpace, Variable, VariableRef};
use crate::span::Origin;
use std::sync::Arc;

/// How the operation for such a call is named, in front of the name of the function. No opcode has a space in it.
const CALL: &str = "call ";

/// Parameters with more pieces than this are refused.
const MAX_PIECES: u64 = 4096;

/// Whether an operation without a model stands for a call of an unknown function.
pub(crate) fn is_call(operation: &str) -> bool {
    operation.starts_with(CALL)
}

/// A part of a parameter: a byte offset and a type of at most 8 bytes.
type Piece = (i64, ScalarType);

impl Inliner<'_> {
    /// A call of a function that has no body and is not known.
    pub(super) fn call_unknown(
        &mut self,
        function: &Function,
        returns: &[Operand],
        arguments: &[Operand],
        origin: &Arc<Origin>,
    ) {
        if !self.has_arity(function, returns, arguments, origin) {
            return;
        }
        let name = &function.name;
        let formals = function.params.iter().chain(&function.returns);
        if let Some(formal) = formals.into_iter().find(|formal| pieces(formal).is_none()) {
            let message = format!("call of `{name}`: its parameter `{}` is large, or of no known size", formal.name);
            let refusal = Diagnostic::unsupported("undefined-function", message, origin.span);
            return self.push(LineKind::Refuse(refusal), origin);
        }
        let assumption = format!(
            "`{name}` (no body) touches no memory that other threads see, passes no barrier, and returns \
             (--unknown-functions=arbitrary)"
        );
        self.flat.assumptions.insert(assumption.into());
        let sources = self.passed(&function.params, arguments, origin);
        let places = self.bind(&function.returns, returns);
        let results: Vec<(VariableRef, Piece, Operand)> = (places.iter().zip(&function.returns))
            .flat_map(|(place, formal)| pieces(formal).into_iter().flatten().map(|piece| (place.0, piece)))
            .map(|(place, piece)| (place, piece, Operand::Register(self.push_register("%result", piece.1))))
            .collect();
        let dst = results.iter().map(|(.., value)| value.clone()).collect();
        self.instruction(Op::Arbitrary { name: format!("{CALL}{name}").into(), dst, sources }, origin);
        for (place, (offset, ty), value) in results {
            let (space, ordering) = (StateSpace::Param, Ordering::Weak);
            let address = Address { base: AddressBase::Variable(place), offset };
            self.instruction(Op::Store { space, ty, src: vec![value], address, ordering }, origin);
        }
        for ((place, fresh), (result, formal)) in places.into_iter().zip(returns.iter().zip(&function.returns)) {
            if fresh && *result != Operand::Sink {
                self.pass(formal, place, None, Some(result), origin);
            }
        }
    }

    /// Registers with all bytes that are passed.
    fn passed(&mut self, formals: &[Variable], arguments: &[Operand], origin: &Arc<Origin>) -> Vec<Operand> {
        let mut sources = Vec::new();
        for ((place, fresh), (argument, formal)) in
            self.bind(formals, arguments).into_iter().zip(arguments.iter().zip(formals))
        {
            if fresh {
                self.pass(formal, place, Some(argument), None, origin);
            }
            for (offset, ty) in pieces(formal).into_iter().flatten() {
                let value = Operand::Register(self.push_register("%passed", ty));
                let (space, ordering) = (StateSpace::Param, Ordering::Weak);
                let address = Address { base: AddressBase::Variable(place), offset };
                let (dst, non_coherent) = (vec![value.clone()], false);
                self.instruction(Op::Load { space, ty, dst, address, ordering, non_coherent }, origin);
                sources.push(value);
            }
        }
        sources
    }
}

/// The pieces of a parameter, as wide as its size and alignment allow: a pointer in it is not cut.
fn pieces(formal: &Variable) -> Option<Vec<Piece>> {
    let size = formal.size?;
    let align = u64::from(formal.align.max(1)).max(u64::from(formal.ty.bytes()));
    let width = [8, 4, 2, 1].into_iter().find(|width| size % width == 0 && align % width == 0)?;
    let ty = ScalarType::B(8 * width as u32);
    (size / width <= MAX_PIECES).then(|| (0..size / width).map(|k| ((k * width) as i64, ty)).collect())
}
