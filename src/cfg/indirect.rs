//! Indirect calls: a choice among the functions that may be meant.
//!
//! Input: a call through a register, with the functions of its `.calltargets` list or, where it has a prototype
//! only, all functions of its shape whose addresses the module takes. Output: a jump to one direct call each, by the function
//! at the address, of which nothing is known but that it is the same at all calls, whatever functions these list
//! ([`CALLEE`]). Establishes: whichever of them is called, the flat list has the execution.
//! Relies on: addresses of functions are made in this module only, where a prototype is all there is; that
//! is printed as an assumption. Reference: PTX `call`, `.calltargets`, `.callprototype`.

use super::inline::{Inliner, Line, LineKind};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Function, Item, Module, Op, Operand, ScalarType, Variable, VariableRef};
use crate::ptx::roles::{Slot, visit};
use crate::span::Origin;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The operation that gives the place in a list of functions of the one at an address: the same function for all threads, all
/// the time, in all lists.
pub(crate) const CALLEE: &str = "callee";

impl Inliner<'_> {
    /// A call of one of these functions, that of the address; `None` leaves it to the shape.
    pub(super) fn call_some(
        &mut self,
        (address, targets): (Operand, Option<&[u32]>),
        returns: &[Operand],
        arguments: &[Operand],
        origin: &Arc<Origin>,
        stack: &[usize],
    ) {
        if targets.is_none() {
            self.flat.assumptions.insert("indirect calls reach functions whose addresses this file takes".into());
        }
        let module = self.module;
        let fits = |callee: &u32| {
            let function = &module.functions[*callee as usize];
            self.fits(returns, &function.returns) && self.fits(arguments, &function.params)
        };
        let callees: BTreeSet<u32> = match targets {
            Some(listed) => listed.iter().copied().collect(),
            None => addresses_taken(module).into_iter().filter(fits).collect(),
        };
        let refusal = match callees.iter().find(|callee| !fits(callee)) {
            Some(callee) => Some(format!("`{}` takes other parameters", module.functions[*callee as usize].name)),
            None if callees.is_empty() => Some("this file takes the address of no function of its shape".to_string()),
            None => None,
        };
        if let Some(why) = refusal {
            let refusal = Diagnostic::unsupported("indirect-call", format!("an indirect call: {why}"), origin.span);
            return self.push(LineKind::Refuse(refusal), origin);
        }
        let index = self.choice(address, &callees, origin);
        let labels: Vec<_> = callees.iter().map(|callee| self.new_label(call_label(module, *callee, origin))).collect();
        self.push(LineKind::JumpIndexed { index, targets: labels.clone() }, origin);
        let end = self.new_label(format!("after.calls.L{}", origin.line));
        for (label, callee) in labels.into_iter().zip(callees) {
            self.flat.lines.push(Line { kind: LineKind::Label(label), origin: None });
            self.call(callee, returns, arguments, origin, stack);
            self.push(LineKind::Jump { guard: None, target: end }, origin);
        }
        self.flat.lines.push(Line { kind: LineKind::Label(end), origin: None });
    }

    /// A register with the place of the function at an address among the callees.
    fn choice(&mut self, address: Operand, callees: &BTreeSet<u32>, origin: &Arc<Origin>) -> Operand {
        let register = Operand::Register(self.push_register("%callee", ScalarType::U(32)));
        let (name, dst) = (Arc::from(CALLEE), vec![register.clone()]);
        let listed = callees.iter().map(|callee| Operand::Integer(u64::from(*callee)));
        let sources = std::iter::once(address).chain(listed).collect();
        self.instruction(Op::Arbitrary { name, dst, sources }, origin);
        register
    }

    /// Whether values and formal parameters are as many, and as large where memory stands for them.
    fn fits(&self, values: &[Operand], formals: &[Variable]) -> bool {
        let size = |operand: &Operand| match operand {
            Operand::Variable(variable, 0) if self.is_param_space(*variable) => match variable {
                VariableRef::Body(index) => self.flat.variables[*index as usize].size,
                _ => None,
            },
            _ => None,
        };
        let alike = |value, formal: &Variable| size(value).is_none_or(|size| Some(size) == formal.size);
        values.len() == formals.len() && values.iter().zip(formals).all(|(value, formal)| alike(value, formal))
    }
}

fn call_label(module: &Module, callee: u32, origin: &Origin) -> String {
    format!("call.{}.L{}", module.functions[callee as usize].name, origin.line)
}

/// Functions that stand as values in instructions or initialisers.
fn addresses_taken(module: &Module) -> BTreeSet<u32> {
    let bodies = || module.functions.iter().filter_map(|function| function.body.as_ref());
    let variables = module.variables.iter().chain(bodies().flat_map(|body| &body.variables));
    let symbols: BTreeSet<&str> =
        variables.flat_map(|variable| variable.initialiser_symbols.iter().map(|name| &**name)).collect();
    let is_named = |function: &Function| symbols.contains(&*function.name);
    let functions = (0..).zip(&module.functions);
    let mut taken: BTreeSet<u32> = functions.filter(|(_, f)| is_named(f)).map(|(index, _)| index).collect();
    for item in bodies().flat_map(|body| &body.items) {
        let Item::Instruction(instruction) = item else { continue };
        visit(&mut instruction.op.clone(), &mut |slot| {
            if let Slot::Source(operand) = slot {
                collect(operand, &mut taken);
            }
        });
    }
    taken
}

fn collect(operand: &Operand, taken: &mut BTreeSet<u32>) {
    match operand {
        Operand::Function(index) => {
            taken.insert(*index);
        }
        Operand::Vector(elements) => elements.iter().for_each(|element| collect(element, taken)),
        _ => {}
    }
}
