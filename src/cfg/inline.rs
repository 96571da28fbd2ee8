//! Inlining: an entry and the device functions it calls become one flat list of lines.
//!
//! Input: a [`Module`] and an entry. Output: [`Flat`]: labels, statements, jumps, exits.
//! Establishes: no `call`, `ret`, `exit`, `trap` or branch instruction is left among the statements;
//! guarded control flow and guarded barriers are explicit jumps; registers and `.local`/`.param`
//! variables are per call, `.shared`, `.global` and `.const` variables of a function exist once;
//! an annotation is over the registers of its copy.
//! Relies on: the parser resolved every name. Reference: PTX `call`, `ret`, `exit`, `trap`,
//! "Parameter state space".

use super::graph::Statement;
use crate::diagnostic::Diagnostic;
use crate::order::Ordering;
use crate::ptx::ast::{
    Address, AddressBase, Body, Function, Guard, Instruction, Item, LabelId, Module, Op, Operand, Register, RegisterId,
    StateSpace, Variable, VariableRef,
};
use crate::ptx::roles::{Slot, visit};
use crate::rules::Rules;
use crate::span::Origin;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Calls nested deeper than this are refused.
const MAX_CALL_DEPTH: usize = 64;
/// Inlining stops with a refusal beyond this many lines.
const MAX_LINES: usize = 400_000;

/// A label of the flat list.
pub(crate) type FlatLabel = usize;

/// The inlined entry.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    /// Lines in order; the entry starts at the first.
    pub(crate) lines: Vec<Line>,
    /// Name of each label.
    pub(crate) label_names: Vec<Arc<str>>,
    /// Registers of all copies.
    pub(crate) registers: Vec<Register>,
    /// Variables of all copies.
    pub(crate) variables: Vec<Variable>,
    /// What is assumed of its calls, for people.
    pub(crate) assumptions: BTreeSet<Cow<'static, str>>,
}

/// One line.
#[derive(Debug)]
pub(crate) struct Line {
    /// What stands there.
    pub(crate) kind: LineKind,
    /// The instruction it comes from.
    pub(crate) origin: Option<Arc<Origin>>,
}

/// Line forms.
#[derive(Debug)]
pub(crate) enum LineKind {
    Label(FlatLabel),
    /// Straight-line code.
    Statement(Statement),
    /// A jump, conditional if guarded.
    Jump {
        /// Taken when this holds.
        guard: Option<Guard>,
        /// Target.
        target: FlatLabel,
    },
    /// `brx.idx`
    JumpIndexed {
        /// Index register.
        index: Operand,
        /// Targets.
        targets: Vec<FlatLabel>,
    },
    /// The thread leaves the kernel.
    Leave {
        /// Taken when this holds.
        guard: Option<Guard>,
        /// By `trap`.
        traps: bool,
    },
    /// An error if control may reach this line; control goes on after it.
    Refuse(Diagnostic),
    /// The end of a body: nothing may fall through it.
    FallOff(Diagnostic),
}

/// Inlines all calls of an entry.
///
/// # Errors
/// An entry without a body; annotations that name an ambiguous register.
pub(crate) fn run(module: &Module, entry: &Function, rules: Rules) -> Result<Flat, Vec<Diagnostic>> {
    let Some(body) = &entry.body else {
        let message = format!("entry `{}` is declared but not defined", entry.name);
        return Err(vec![Diagnostic::error("entry-without-body", message, entry.span)]);
    };
    let (flat, once) = (Flat::default(), BTreeMap::new());
    let mut inliner = Inliner { module, rules, flat, once, calls: 0, errors: Vec::new() };
    let identity = (0..entry.params.len() as u32).map(VariableRef::Param).collect();
    let index = module.functions.iter().position(|f| f.name == entry.name);
    let mut frame = inliner.open_frame(index, body, identity, Vec::new(), None);
    let stack = index.into_iter().collect::<Vec<_>>();
    inliner.copy_body(entry, body, &mut frame, &stack);
    if inliner.errors.is_empty() { Ok(inliner.flat) } else { Err(inliner.errors) }
}

/// One copy of a body: how its indices map to those of the flat list.
pub(super) struct Frame {
    first_register: u32,
    first_label: FlatLabel,
    variables: Vec<u32>,
    params: Vec<VariableRef>,
    returns: Vec<VariableRef>,
    /// Where `ret` goes; `None` in the entry, where it leaves the kernel.
    continuation: Option<FlatLabel>,
}

/// The pass at work.
pub(super) struct Inliner<'m> {
    pub(super) module: &'m Module,
    pub(super) rules: Rules,
    pub(super) flat: Flat,
    /// The single copy of each `.shared`, `.global` or `.const` body variable.
    once: BTreeMap<(Option<usize>, usize), u32>,
    calls: usize,
    pub(super) errors: Vec<Diagnostic>,
}

impl Inliner<'_> {
    fn open_frame(
        &mut self,
        function: Option<usize>,
        body: &Body,
        params: Vec<VariableRef>,
        returns: Vec<VariableRef>,
        continuation: Option<FlatLabel>,
    ) -> Frame {
        let suffix = if continuation.is_some() { format!("$call{}", self.calls) } else { String::new() };
        let rename = |name: &Arc<str>| -> Arc<str> { Arc::from(format!("{name}{suffix}")) };
        let first_register = self.flat.registers.len() as u32;
        let first_label = self.flat.label_names.len();
        self.flat.registers.extend(body.registers.iter().map(|r| Register { name: rename(&r.name), ty: r.ty }));
        self.flat.label_names.extend(body.labels.iter().map(|l| rename(&l.name)));
        let mut variables = Vec::new();
        for (position, variable) in body.variables.iter().enumerate() {
            let per_call = matches!(variable.space, StateSpace::Local | StateSpace::Param);
            let known = self.once.get(&(function, position)).copied();
            variables.push(match known {
                Some(index) if !per_call => index,
                _ => {
                    let name = if per_call { rename(&variable.name) } else { variable.name.clone() };
                    let index = self.push_variable(Variable { name, ..variable.clone() });
                    self.once.insert((function, position), index);
                    index
                }
            });
        }
        Frame { first_register, first_label, variables, params, returns, continuation }
    }

    fn push_variable(&mut self, variable: Variable) -> u32 {
        self.flat.variables.push(variable);
        self.flat.variables.len() as u32 - 1
    }

    pub(super) fn new_label(&mut self, name: String) -> FlatLabel {
        self.flat.label_names.push(Arc::from(name));
        self.flat.label_names.len() - 1
    }

    pub(super) fn push(&mut self, kind: LineKind, origin: &Arc<Origin>) {
        self.flat.lines.push(Line { kind, origin: Some(origin.clone()) });
    }

    fn copy_body(&mut self, function: &Function, body: &Body, frame: &mut Frame, stack: &[usize]) {
        for item in &body.items {
            match item {
                Item::Label(label) => {
                    let label = frame.label(*label);
                    self.flat.lines.push(Line { kind: LineKind::Label(label), origin: None });
                }
                Item::Annotation(annotation) => {
                    let renamed = annotation.renamed(&|old| frame.register(old), &|old| frame.variable(old));
                    let statement = Statement::Annotation(renamed);
                    self.push(LineKind::Statement(statement), &annotation.origin);
                }
                Item::Instruction(instruction) => self.copy_instruction(instruction, frame, stack),
            }
        }
        let message = format!("control may run past the end of `{}`", function.name);
        let diagnostic = Diagnostic::error("fall-through", message, function.span)
            .note("a body ends in `ret`, `exit`, `trap` or an unconditional branch");
        self.flat.lines.push(Line { kind: LineKind::FallOff(diagnostic), origin: None });
    }

    fn copy_instruction(&mut self, instruction: &Instruction, frame: &mut Frame, stack: &[usize]) {
        let origin = &instruction.origin;
        let guard = instruction.guard.map(|g| Guard { register: frame.register(g.register), ..g });
        match &instruction.op {
            Op::Branch { target } => self.push(LineKind::Jump { guard, target: frame.label(*target) }, origin),
            Op::Exit | Op::Trap => {
                let traps = matches!(instruction.op, Op::Trap);
                self.push(LineKind::Leave { guard, traps }, origin);
            }
            Op::Return => match frame.continuation {
                Some(target) => self.push(LineKind::Jump { guard, target }, origin),
                None => self.push(LineKind::Leave { guard, traps: false }, origin),
            },
            Op::BranchIndexed { index, targets } => {
                let index = frame.operand(index);
                let targets = targets.iter().map(|t| frame.label(*t)).collect();
                // What another index does is undefined.
                self.flat.assumptions.insert("every `brx.idx` has an index below the number of its targets".into());
                self.under_guard(guard, origin, |this| this.push(LineKind::JumpIndexed { index, targets }, origin));
            }
            Op::Call { function, returns, arguments } => {
                let returns: Vec<_> = returns.iter().map(|r| frame.operand(r)).collect();
                let arguments: Vec<_> = arguments.iter().map(|a| frame.operand(a)).collect();
                self.under_guard(guard, origin, |this| this.call(*function, &returns, &arguments, origin, stack));
            }
            Op::CallIndirect { function, targets, returns, arguments } => {
                let function = frame.operand(function);
                let returns: Vec<_> = returns.iter().map(|r| frame.operand(r)).collect();
                let arguments: Vec<_> = arguments.iter().map(|a| frame.operand(a)).collect();
                self.under_guard(guard, origin, |this| {
                    this.call_some((function, targets.as_deref()), &returns, &arguments, origin, stack);
                });
            }
            Op::Barrier { .. } => {
                let op = frame.op(&instruction.op);
                let statement = Statement::Instruction(Instruction { guard: None, op, origin: origin.clone() });
                self.under_guard(guard, origin, |this| this.push(LineKind::Statement(statement), origin));
            }
            op => {
                let op = frame.op(op);
                let statement = Statement::Instruction(Instruction { guard, op, origin: origin.clone() });
                self.push(LineKind::Statement(statement), origin);
            }
        }
    }

    /// Turns a guard into a jump around the code that `inner` produces.
    fn under_guard(&mut self, guard: Option<Guard>, origin: &Arc<Origin>, inner: impl FnOnce(&mut Self)) {
        let Some(guard) = guard else {
            return inner(self);
        };
        let skip = self.new_label(format!("after.L{}", origin.line));
        let negated = Guard { negated: !guard.negated, ..guard };
        self.push(LineKind::Jump { guard: Some(negated), target: skip }, origin);
        inner(self);
        self.flat.lines.push(Line { kind: LineKind::Label(skip), origin: None });
    }

    pub(super) fn call(
        &mut self,
        callee: u32,
        returns: &[Operand],
        arguments: &[Operand],
        origin: &Arc<Origin>,
        stack: &[usize],
    ) {
        let index = callee as usize;
        let module = self.module;
        let Some(function) = module.functions.get(index) else {
            panic!("cfg: call of function {index}, which the module does not have");
        };
        let Some(body) = &function.body else {
            return self.call_undefined(function, returns, arguments, origin);
        };
        if let Some(refusal) = self.refuse_call(index, function, body, stack, origin) {
            return self.push(LineKind::Refuse(refusal), origin);
        }
        if !self.has_arity(function, returns, arguments, origin) {
            return;
        }
        self.calls += 1;
        let continuation = self.new_label(format!("after.call{}.L{}", self.calls, origin.line));
        let result_places = self.bind(&function.returns, returns);
        let argument_places = self.bind(&function.params, arguments);
        let frame_params = argument_places.iter().map(|p| p.0).collect();
        let frame_returns = result_places.iter().map(|p| p.0).collect();
        let mut frame = self.open_frame(Some(index), body, frame_params, frame_returns, Some(continuation));
        self.undefine(&frame, body, origin);
        for ((place, fresh), (argument, formal)) in argument_places.iter().zip(arguments.iter().zip(&function.params)) {
            if *fresh {
                self.pass(formal, *place, Some(argument), None, origin);
            }
        }
        let mut deeper = stack.to_vec();
        deeper.push(index);
        self.copy_body(function, body, &mut frame, &deeper);
        self.flat.lines.push(Line { kind: LineKind::Label(continuation), origin: None });
        for ((place, fresh), (result, formal)) in result_places.iter().zip(returns.iter().zip(&function.returns)) {
            if *fresh && *result != Operand::Sink {
                self.pass(formal, *place, None, Some(result), origin);
            }
        }
    }

    /// Whether a call has as many arguments and results as the function; otherwise that is an error.
    pub(super) fn has_arity(
        &mut self,
        function: &Function,
        returns: &[Operand],
        arguments: &[Operand],
        origin: &Origin,
    ) -> bool {
        let fits = arguments.len() == function.params.len() && returns.len() == function.returns.len();
        if !fits {
            let message = format!(
                "`{}` takes {} arguments and gives {} results, called with {} and {}",
                function.name,
                function.params.len(),
                function.returns.len(),
                arguments.len(),
                returns.len()
            );
            self.errors.push(Diagnostic::error("call-arity", message, origin.span));
        }
        fits
    }

    fn refuse_call(
        &self,
        index: usize,
        function: &Function,
        body: &Body,
        stack: &[usize],
        origin: &Origin,
    ) -> Option<Diagnostic> {
        let name = &function.name;
        if stack.contains(&index) {
            let message = format!("recursive call of `{name}`");
            return Some(Diagnostic::unsupported("recursion", message, origin.span));
        }
        if stack.len() > MAX_CALL_DEPTH || self.flat.lines.len() + body.items.len() > MAX_LINES {
            let message = format!("inlining `{name}` here makes the kernel too large");
            let note = format!("the bounds are {MAX_CALL_DEPTH} nested calls and {MAX_LINES} lines");
            return Some(Diagnostic::unsupported("call-depth", message, origin.span).note(note));
        }
        None
    }

    /// The variable that stands for each formal parameter: the caller's own `.param` variable, or a
    /// fresh one (`true`) when a register or constant is passed.
    pub(super) fn bind(&mut self, formals: &[Variable], actuals: &[Operand]) -> Vec<(VariableRef, bool)> {
        let mut places = Vec::new();
        for (formal, actual) in formals.iter().zip(actuals) {
            places.push(match actual {
                Operand::Variable(variable, 0) if self.is_param_space(*variable) => (*variable, false),
                _ => {
                    let name = Arc::from(format!("{}$call{}", formal.name, self.calls));
                    let fresh = Variable { name, space: StateSpace::Param, ..formal.clone() };
                    (VariableRef::Body(self.push_variable(fresh)), true)
                }
            });
        }
        places
    }

    /// Whether a name stands for the memory of a parameter; other variables are passed by address.
    pub(super) fn is_param_space(&self, variable: VariableRef) -> bool {
        match variable {
            VariableRef::Module(_) => false,
            VariableRef::Body(index) => self.flat.variables[index as usize].space == StateSpace::Param,
            VariableRef::Param(_) | VariableRef::Return(_) => true,
        }
    }

    /// Moves a value between a register or constant and the variable of a formal parameter.
    pub(super) fn pass(
        &mut self,
        formal: &Variable,
        place: VariableRef,
        argument: Option<&Operand>,
        result: Option<&Operand>,
        origin: &Arc<Origin>,
    ) {
        let address = Address { base: AddressBase::Variable(place), offset: 0 };
        let (space, ty, ordering) = (StateSpace::Param, formal.ty, Ordering::Weak);
        let op = match (argument, result) {
            (Some(value), _) => Op::Store { space, ty, src: vec![value.clone()], address, ordering },
            (_, Some(register)) => {
                Op::Load { space, ty, dst: vec![register.clone()], address, ordering, non_coherent: false }
            }
            (None, None) => return,
        };
        let statement = Statement::Instruction(Instruction { guard: None, op, origin: origin.clone() });
        self.push(LineKind::Statement(statement), origin);
    }

    fn undefine(&mut self, frame: &Frame, body: &Body, origin: &Arc<Origin>) {
        let count = body.registers.len() as u32;
        let registers = (frame.first_register..frame.first_register + count).map(RegisterId).collect();
        let own = frame
            .variables
            .iter()
            .copied()
            .filter(|v| matches!(self.flat.variables[*v as usize].space, StateSpace::Local | StateSpace::Param));
        let results = frame.returns.iter().filter_map(|r| match r {
            VariableRef::Body(index) => Some(*index),
            _ => None,
        });
        let variables = own.chain(results).collect();
        self.push(LineKind::Statement(Statement::Undefine { registers, variables }), origin);
    }
}

impl Frame {
    pub(super) fn register(&self, register: RegisterId) -> RegisterId {
        RegisterId(self.first_register + register.0)
    }

    fn label(&self, label: LabelId) -> FlatLabel {
        self.first_label + label.0 as usize
    }

    fn variable(&self, variable: VariableRef) -> VariableRef {
        match variable {
            VariableRef::Module(_) => variable,
            VariableRef::Body(index) => VariableRef::Body(self.variables[index as usize]),
            VariableRef::Param(index) => self.params[index as usize],
            VariableRef::Return(index) => self.returns[index as usize],
        }
    }

    fn operand(&self, operand: &Operand) -> Operand {
        match operand {
            Operand::Register(r) => Operand::Register(self.register(*r)),
            Operand::NotPredicate(r) => Operand::NotPredicate(self.register(*r)),
            Operand::Variable(v, offset) => Operand::Variable(self.variable(*v), *offset),
            Operand::Vector(elements) => Operand::vector(elements.iter().map(|e| self.operand(e)).collect()),
            other => other.clone(),
        }
    }

    fn op(&self, op: &Op) -> Op {
        let mut op = op.clone();
        visit(&mut op, &mut |slot| match slot {
            Slot::Source(operand) | Slot::Destination(operand) => *operand = self.operand(operand),
            Slot::Address(address) => {
                address.base = match address.base {
                    AddressBase::Register(r) => AddressBase::Register(self.register(r)),
                    AddressBase::Variable(v) => AddressBase::Variable(self.variable(v)),
                    AddressBase::Absolute => AddressBase::Absolute,
                }
            }
        });
        op
    }
}
