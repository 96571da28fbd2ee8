//! Calls through registers: a comparison with the address of each function that may be meant.
//!
//! Input: a call with the functions of its `.calltargets` list or, where it has a prototype only, all functions whose
//! addresses the module takes. Output: for each a comparison and a direct call, and a refusal behind the last. Establishes: the
//! function at the address is called, or the launch stops with the reason: the address is that of no function, or of one
//! that the list has not or that has other parameters (which PTX leaves undefined).
//! Relies on: [`super::function`] places the callees. Reference: PTX `call`, `.calltargets`, `.callprototype`.

use super::Code;
use super::function::Decoder;
use super::layout::function_address;
use crate::ptx::ast::{Item, Module, Operand, Variable, VariableRef};
use crate::ptx::roles::{Slot, visit};
use std::collections::BTreeSet;

/// Functions whose addresses instructions or initialisers hold.
pub(crate) fn with_address(module: &Module) -> BTreeSet<u32> {
    let bodies = || module.functions.iter().filter_map(|function| function.body.as_ref());
    let variables = module.variables.iter().chain(bodies().flat_map(|body| &body.variables));
    let symbols: BTreeSet<&str> = variables.flat_map(|one| &one.initialiser_symbols).map(|symbol| &**symbol).collect();
    let functions = (0..).zip(&module.functions).filter(|(_, function)| symbols.contains(&*function.name));
    let mut found: BTreeSet<u32> = functions.map(|(number, _)| number).collect();
    for item in bodies().flat_map(|body| &body.items) {
        let Item::Instruction(instruction) = item else { continue };
        visit(&mut instruction.op.clone(), &mut |slot| match slot {
            Slot::Source(Operand::Vector(elements)) => found.extend(elements.iter().filter_map(function_in)),
            Slot::Source(operand) => found.extend(function_in(operand)),
            _ => {}
        });
    }
    found
}

fn function_in(operand: &Operand) -> Option<u32> {
    if let Operand::Function(number) = operand { Some(*number) } else { None }
}

impl Decoder<'_> {
    /// `call` of the function at an address.
    pub(crate) fn call_indirect(
        &mut self,
        (address, targets): (&Operand, Option<&[u32]>),
        returns: &[Operand],
        arguments: &[Operand],
    ) -> Option<()> {
        let address = self.source(address, 64)?;
        let mut ends = Vec::new();
        let callees = targets.map_or_else(|| self.with_address.clone(), |listed| listed.iter().copied().collect());
        for callee in callees {
            let (own, is_it) = (self.constant(function_address(callee)), self.temporary());
            self.emit(Code::Two { f: |a, b| u64::from(a == b), d: is_it, a: address, b: own });
            let branch = self.program.code.len();
            self.emit(Code::JumpIf { p: is_it, when: false, to: 0 });
            self.call_this(callee, returns, arguments);
            ends.push(self.program.code.len());
            self.emit(Code::Jump(0));
            let next = self.program.code.len() as u32;
            self.program.code[branch] = Code::JumpIf { p: is_it, when: false, to: next };
        }
        self.refuse("an indirect call of an address that is none of its functions");
        let after = self.program.code.len() as u32;
        ends.into_iter().for_each(|end| self.program.code[end] = Code::Jump(after));
        Some(())
    }

    /// A direct call, where the function has these parameters.
    fn call_this(&mut self, callee: u32, returns: &[Operand], arguments: &[Operand]) {
        let function = &self.module.functions[callee as usize];
        let name = &function.name;
        if !(self.fits(returns, &function.returns) && self.fits(arguments, &function.params)) {
            return self.refuse(format!("an indirect call of `{name}`, which takes other parameters"));
        }
        if self.call(callee as usize, returns, arguments).is_none() {
            self.refuse(format!("an indirect call of `{name}` with such arguments"));
        }
    }

    /// Whether values and formal parameters are as many, and as large where memory stands for them.
    fn fits(&self, values: &[Operand], formals: &[Variable]) -> bool {
        let function = &self.module.functions[self.current];
        let size = |operand: &Operand| match operand {
            Operand::Variable(variable, 0) => {
                let (list, index) = match variable {
                    VariableRef::Module(index) => (Some(&self.module.variables), index),
                    VariableRef::Body(index) => (function.body.as_ref().map(|body| &body.variables), index),
                    VariableRef::Param(index) => (Some(&function.params), index),
                    VariableRef::Return(index) => (Some(&function.returns), index),
                };
                Some(list.and_then(|list| list.get(*index as usize)).and_then(|one| one.size))
            }
            Operand::Variable(..) => Some(None),
            _ => None,
        };
        let alike = |value, formal: &Variable| size(value).is_none_or(|size| size.is_some() && size == formal.size);
        values.len() == formals.len() && values.iter().zip(formals).all(|(value, formal)| alike(value, formal))
    }
}
