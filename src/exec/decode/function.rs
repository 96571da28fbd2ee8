//! Functions: which are reached, their registers, labels and instructions.
//!
//! Input: a module and an entry. Output: the [`Program`].
//! Establishes: functions call each other without recursion, so each has one window of registers.
//! Relies on: `operations` and `control` for single instructions, `layout` for addresses.

use super::indirect;
use super::layout::{Layout, function_address};
use super::special::{Known, known};
use super::{
    Code, ConstantKind, Deciding, Fact, Frame, NamedSlot, Note, Notes, Place, Program, Register, Slot, SpecialSlot,
    Written, reconvergence,
};
use crate::diagnostic::Diagnostic;
use crate::exec::launch::Launch;
use crate::exec::values::{hash, mask};
use crate::ptx::annotation::{ArrayRef, Value, ValueKind};
use crate::ptx::ast::{
    AnnotationKind, Function, Guard, Instruction, Item, Module, Op, Operand, RegisterId, ScalarType, SpecialRegister,
    StateSpace, VariableRef,
};
use crate::ptx::roles;
use crate::span::{Origin, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// See [`super::decode`].
pub(crate) fn decode(module: &Module, entry: usize, launch: &Launch) -> Result<Program, Diagnostic> {
    let span = module.functions[entry].span;
    let Reached { functions, recursive, with_address } = reachable(module, entry)?;
    let unsupported = |message: String| Diagnostic::unsupported("not-emulated", message, span);
    let layout = Layout::new(module, &functions, launch).map_err(unsupported)?;
    let mut decoder = Decoder::new(module, launch, layout, entry);
    (decoder.recursive, decoder.with_address) = (recursive, with_address);
    decoder.place_registers(&functions);
    for &number in &functions {
        decoder.function(number)?;
    }
    decoder.finish(&functions).ok_or_else(|| unsupported("more registers than the emulator has".to_string()))
}

/// See [`super::registers`].
pub(crate) fn registers(module: &Module, entry: usize) -> Result<(Vec<Register>, Written), Diagnostic> {
    let (mut registers, mut written) = (Vec::new(), Written::new());
    // As in `Decoder::place_registers`.
    let mut first = 0;
    for number in reachable(module, entry)?.functions {
        let function = &module.functions[number];
        let own = function.body.as_ref().map_or(&[][..], |body| &body.registers);
        let base = registers.len();
        for item in function.body.iter().flat_map(|body| &body.items) {
            let Item::Instruction(instruction) = item else { continue };
            let (_, targets) = roles::registers(instruction);
            let targets = targets.into_iter().map(|register| base + register.0 as usize);
            written.entry(instruction.origin.span.start).or_default().extend(targets);
        }
        for (index, register) in own.iter().enumerate() {
            let name = match number == entry {
                true => register.name.clone(),
                false => format!("{}: {}", function.name, register.name).into(),
            };
            let Ok(slot) = Slot::try_from(first + index) else { break };
            let named = NamedSlot { name, slot, bits: register.ty.bits() };
            registers.push(Register { named, ty: register.ty });
        }
        first += 2 * own.len();
    }
    Ok((registers, written))
}

/// What an entry reaches.
struct Reached {
    /// The entry and the functions that it calls, the entry first.
    functions: Vec<usize>,
    /// Calls, by caller and callee, without which no function calls itself.
    recursive: BTreeSet<(usize, usize)>,
    /// Functions that indirect calls without a list may reach.
    with_address: BTreeSet<u32>,
}

fn reachable(module: &Module, entry: usize) -> Result<Reached, Diagnostic> {
    let items = module.functions.iter().filter_map(|function| function.body.as_ref()).flat_map(|body| &body.items);
    let is_unlisted = |item: &Item| match item {
        Item::Instruction(instruction) => matches!(instruction.op, Op::CallIndirect { targets: None, .. }),
        _ => false,
    };
    let with_address =
        if items.into_iter().any(is_unlisted) { indirect::with_address(module) } else { BTreeSet::new() };
    let mut reached = Reached { functions: vec![entry], recursive: BTreeSet::new(), with_address };
    visit(module, entry, &mut vec![(entry, true)], &mut reached)?;
    Ok(reached)
}

/// Depth first: each cycle has a call of a function that is open. Of those that are, it is known whether the call was direct.
fn visit(
    module: &Module,
    number: usize,
    open: &mut Vec<(usize, bool)>,
    reached: &mut Reached,
) -> Result<(), Diagnostic> {
    for item in module.functions[number].body.iter().flat_map(|body| &body.items) {
        let Item::Instruction(Instruction { op, origin, .. }) = item else { continue };
        let (callees, is_direct) = match op {
            Op::Call { function, .. } => (BTreeSet::from([*function]), true),
            Op::CallIndirect { targets: Some(listed), .. } => (listed.iter().copied().collect(), false),
            Op::CallIndirect { targets: None, .. } => (reached.with_address.clone(), false),
            _ => continue,
        };
        for callee in callees.into_iter().map(|callee| callee as usize) {
            if let Some(position) = open.iter().position(|(function, _)| *function == callee) {
                if is_direct && open[position + 1..].iter().all(|(_, is_direct)| *is_direct) {
                    let message = format!("`{}` calls itself, which is not emulated", module.functions[callee].name);
                    return Err(Diagnostic::unsupported("not-emulated", message, origin.span));
                }
                // Perhaps no execution does so.
                reached.recursive.insert((number, callee));
            } else if module.functions[callee].body.is_some() && !reached.functions.contains(&callee) {
                reached.functions.push(callee);
                open.push((callee, is_direct));
                visit(module, callee, open, reached)?;
                open.pop();
            }
        }
    }
    Ok(())
}

/// Builds the program.
pub(crate) struct Decoder<'m> {
    pub(crate) module: &'m Module,
    pub(crate) launch: &'m Launch,
    pub(crate) layout: Layout,
    pub(crate) program: Program,
    /// The function at hand.
    pub(crate) current: usize,
    entry: usize,
    /// Calls that are not made, by caller and callee: functions would call themselves.
    pub(crate) recursive: BTreeSet<(usize, usize)>,
    /// Functions that indirect calls without a list may reach.
    pub(crate) with_address: BTreeSet<u32>,
    /// First slot of each function's registers, by function.
    windows: BTreeMap<usize, usize>,
    slots: usize,
    constants: BTreeMap<(u64, ConstantKind), usize>,
    /// Values of the slots behind the registers.
    further: Vec<u64>,
    specials: Vec<SpecialSlot>,
    /// Branches whose target is still a label.
    pub(crate) fixes: Vec<(usize, u32)>,
    /// Calls whose target is still a function.
    pub(crate) calls: Vec<(usize, usize)>,
    starts: BTreeMap<usize, u32>,
    registers: usize,
    pub(crate) origin: Arc<Origin>,
}

impl<'m> Decoder<'m> {
    fn new(module: &'m Module, launch: &'m Launch, layout: Layout, entry: usize) -> Self {
        let windows = layout.windows;
        let program = Program {
            code: Vec::new(),
            origins: Vec::new(),
            functions: Vec::new(),
            accesses: Vec::new(),
            barriers: Vec::new(),
            warp_operations: Vec::new(),
            tables: Vec::new(),
            packs: Vec::new(),
            comparisons: Vec::new(),
            copies: Vec::new(),
            async_copies: Vec::new(),
            bulk_operations: Vec::new(),
            map_operations: Vec::new(),
            products: Vec::new(),
            tensor_operations: Vec::new(),
            objects: Vec::new(),
            annotations: Vec::new(),
            refusals: Vec::new(),
            reconvergence: Vec::new(),
            template: Vec::new(),
            specials: Vec::new(),
            local_size: 0,
            shared: Vec::new(),
            is_flat: false,
            deciding: Deciding::default(),
            shared_size: 0,
            ranks: launch.cluster.iter().product(),
            globals: Vec::new(),
            windows,
            notes: Notes::default(),
        };
        Decoder {
            module,
            launch,
            layout,
            program,
            current: entry,
            entry,
            recursive: BTreeSet::new(),
            with_address: BTreeSet::new(),
            windows: BTreeMap::new(),
            slots: 0,
            constants: BTreeMap::new(),
            further: Vec::new(),
            specials: Vec::new(),
            fixes: Vec::new(),
            calls: Vec::new(),
            starts: BTreeMap::new(),
            registers: 0,
            origin: Arc::new(Origin { span: Span::NONE, line: 0, position: None, text: "".into() }),
        }
    }

    /// Wide registers take two slots: the upper half follows all others.
    fn place_registers(&mut self, functions: &[usize]) {
        for &number in functions {
            self.windows.insert(number, self.registers);
            self.registers += 2 * self.body_registers(number).len();
        }
        self.slots = self.registers;
    }

    fn body_registers(&self, number: usize) -> &'m [crate::ptx::ast::Register] {
        self.module.functions[number].body.as_ref().map_or(&[], |body| &body.registers)
    }

    fn function(&mut self, number: usize) -> Result<(), Diagnostic> {
        self.current = number;
        let function: &'m Function = &self.module.functions[number];
        let Some(body) = &function.body else { return Ok(()) };
        let start = self.program.code.len();
        self.starts.insert(number, start as u32);
        let mut labels = vec![0; body.labels.len()];
        let first_fix = self.fixes.len();
        let mut last_origin = None;
        for item in &body.items {
            match item {
                Item::Label(label) => labels[label.0 as usize] = self.program.code.len() as u32,
                Item::Annotation(annotation) => {
                    self.origin = annotation.origin.clone();
                    self.annotation(annotation.kind, &annotation.expression);
                }
                Item::Instruction(instruction) => {
                    self.origin = instruction.origin.clone();
                    last_origin = Some(instruction.origin.clone());
                    self.instruction(instruction);
                }
            }
        }
        // A body may end without `ret`.
        if let Some(origin) = last_origin {
            self.origin = origin;
        }
        self.emit(Code::Return);
        for (at, label) in self.fixes.split_off(first_fix) {
            match &mut self.program.code[at] {
                Code::Jump(to) | Code::JumpIf { to, .. } => *to = labels[label as usize],
                Code::JumpTable { table, .. } => {
                    for target in &mut self.program.tables[*table as usize] {
                        *target = labels[*target as usize];
                    }
                }
                _ => panic!("exec: a branch was lost"),
            }
        }
        let end = self.program.code.len();
        self.program.reconvergence.resize(start, u32::MAX);
        let meets = reconvergence::meeting_points(&self.program, start, end);
        self.program.reconvergence.extend(meets);
        Ok(())
    }

    fn instruction(&mut self, instruction: &'m Instruction) {
        match (instruction.guard, &instruction.op) {
            (Some(Guard { register, negated }), Op::Branch { target }) => {
                let p = self.register(register);
                self.fixes.push((self.program.code.len(), target.0));
                self.emit(Code::JumpIf { p, when: !negated, to: 0 });
            }
            (Some(Guard { register, negated }), op) => {
                let p = self.register(register);
                let at = self.program.code.len();
                self.emit(Code::Skip { p, when: negated });
                self.operation(op);
                // An operation of several steps is jumped over.
                let end = self.program.code.len();
                if end - at > 2 {
                    self.program.code[at] = Code::JumpIf { p, when: negated, to: end as u32 };
                }
            }
            (None, op) => self.operation(op),
        }
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, code: Code) {
        self.program.code.push(code);
        self.program.origins.push(self.origin.clone());
    }

    /// Notes what the next instruction, a call, leaves undefined.
    pub(crate) fn note_frame(&mut self, function: usize) {
        let first = self.windows[&function];
        let callee = &self.module.functions[function];
        let locals = callee.body.iter().flat_map(|body| (0..).zip(&body.variables));
        let locals = locals.filter(|(_, one)| matches!(one.space, StateSpace::Local | StateSpace::Param));
        let locals = locals.map(|(index, one)| (VariableRef::Body(index), one));
        let results = (0..).zip(&callee.returns).map(|(index, one)| (VariableRef::Return(index), one));
        let place = |(variable, one): (VariableRef, &crate::ptx::ast::Variable)| {
            let start = self.layout.address(function, variable) as usize;
            start..start + one.size.unwrap_or(0) as usize
        };
        let variables = locals.chain(results).map(place).collect();
        let registers = first..first + 2 * self.body_registers(function).len();
        self.program.notes.frames.insert(self.program.code.len() as u32, Frame { registers, variables });
    }

    /// Appends an annotation over registers of the function at hand. Parameters are known.
    fn annotation(&mut self, kind: AnnotationKind, expression: &Value) {
        let named = |register: RegisterId| {
            let declared = &self.body_registers(self.current)[register.0 as usize];
            NamedSlot { name: declared.name.clone(), slot: self.register(register), bits: declared.ty.bits() }
        };
        let registers = expression.registers().into_iter().map(named).collect();
        let expression = expression.mapped(&mut |leaf| match leaf {
            ValueKind::Register(register) => ValueKind::Register(RegisterId(u32::from(self.register(*register)))),
            ValueKind::Special(special) => match self.source(&Operand::Special(*special), 32) {
                Some(slot) => ValueKind::Register(RegisterId(u32::from(slot))),
                None => ValueKind::Constant(0),
            },
            ValueKind::Parameter(index) => ValueKind::Constant(self.parameter(*index)),
            other => other.clone(),
        });
        let arrays = expression.arrays().into_iter().map(|array| (array, self.start_of(array))).collect();
        self.check(Fact { kind, expression, registers, arrays });
    }

    /// The lowest 8 bytes of a parameter.
    fn parameter(&self, index: u32) -> u64 {
        let bytes = self.launch.parameters.get(index as usize).map_or(&[][..], Vec::as_slice);
        bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// The generic address of an array in an annotation.
    fn start_of(&self, array: ArrayRef) -> u64 {
        let variables = match array {
            ArrayRef::Pointee(parameter) => return self.parameter(parameter),
            ArrayRef::Variable(VariableRef::Module(_)) => &self.module.variables,
            ArrayRef::Variable(_) => match &self.module.functions[self.current].body {
                Some(body) => &body.variables,
                None => panic!("exec: an annotation stands in no body"),
            },
        };
        match array {
            ArrayRef::Variable(variable @ (VariableRef::Module(index) | VariableRef::Body(index))) => {
                self.layout.generic(variables[index as usize].space, self.layout.address(self.current, variable))
            }
            other => panic!("exec: {other:?} is no array"),
        }
    }

    /// Appends an annotation over slots.
    pub(crate) fn check(&mut self, fact: Fact) {
        let index = self.program.annotations.len() as u32;
        self.program.annotations.push(fact);
        self.emit(Code::Annotation(index));
    }

    /// Appends an instruction without a model.
    pub(crate) fn refuse(&mut self, reason: impl Into<String>) {
        let index = self.program.refusals.len() as u32;
        self.program.refusals.push(reason.into());
        self.emit(Code::Refuse(index));
    }

    /// The type of a register of the function at hand.
    pub(crate) fn register_type(&self, register: RegisterId) -> ScalarType {
        self.body_registers(self.current)[register.0 as usize].ty
    }

    /// The slot of a register of the function at hand. Too many are refused at the end.
    pub(crate) fn register(&self, register: RegisterId) -> Slot {
        (self.windows[&self.current] + register.0 as usize) as Slot
    }

    /// The slot of the upper half of a register of 128 bits.
    pub(crate) fn upper_half(&self, register: RegisterId) -> Slot {
        let half = self.body_registers(self.current).len();
        (self.windows[&self.current] + half + register.0 as usize) as Slot
    }

    /// Slot and width of a destination; `None` for `_`.
    pub(crate) fn destination(&self, operand: &Operand) -> Option<(Slot, u8)> {
        match operand {
            Operand::Register(register) => {
                Some((self.register(*register), self.register_type(*register).bits().min(64) as u8))
            }
            _ => None,
        }
    }

    /// The slot of a destination; `_` has one that nothing reads.
    pub(crate) fn target(&mut self, operand: &Operand) -> Slot {
        match self.destination(operand) {
            Some((slot, _)) => slot,
            None => self.temporary(),
        }
    }

    /// A slot of its own.
    pub(crate) fn temporary(&mut self) -> Slot {
        self.further.push(0);
        self.slots += 1;
        (self.slots - 1) as Slot
    }

    /// The slot of a constant.
    pub(crate) fn constant(&mut self, value: u64) -> Slot {
        self.constant_of(value, ConstantKind::Number)
    }

    /// The slot of a constant of this kind.
    pub(crate) fn constant_of(&mut self, value: u64, kind: ConstantKind) -> Slot {
        if let Some(slot) = self.constants.get(&(value, kind)) {
            return *slot as Slot;
        }
        let slot = self.slots as Slot;
        if kind != ConstantKind::Number {
            self.program.notes.constants.insert(slot, kind);
        }
        self.constants.insert((value, kind), self.slots);
        self.further.push(value);
        self.slots += 1;
        slot
    }

    /// Notes what the next instruction is.
    pub(crate) fn note(&mut self, note: Note) {
        self.program.notes.codes.insert(self.program.code.len() as u32, note);
    }

    /// The slot of a source of this width in bits. Vectors, functions and sinks have none.
    pub(crate) fn source(&mut self, operand: &Operand, bits: u32) -> Option<Slot> {
        Some(match operand {
            Operand::Register(register) => self.register(*register),
            Operand::NotPredicate(register) => {
                let (a, d) = (self.register(*register), self.temporary());
                self.emit(Code::One { f: |value| !value & 1, d, a });
                d
            }
            Operand::Integer(value) => self.constant(value & mask(bits)),
            Operand::Single(bits) => self.constant(u64::from(*bits)),
            Operand::Double(bits) => self.constant(*bits),
            Operand::Variable(variable, offset) => {
                let (address, space) = self.variable_place(*variable);
                let kind = self.kind_of(*variable, space);
                self.constant_of(address.wrapping_add_signed(*offset), kind)
            }
            Operand::Special(register) => self.special(*register),
            Operand::Function(number) => {
                self.constant_of(function_address(*number), ConstantKind::Address(Place::Function))
            }
            Operand::Vector(_) | Operand::Sink => return None,
        })
    }

    /// The slot of a special register.
    pub(crate) fn special(&mut self, register: SpecialRegister) -> Slot {
        match known(register, self.launch, self.layout.shared_size) {
            Known::Constant(value) => self.constant(value),
            Known::OfGrid(axis, value) => self.constant_of(value, ConstantKind::Grid(axis)),
            Known::Chosen(value) => self.constant_of(value, ConstantKind::Chosen),
            Known::OfCluster(value) => self.constant_of(value, ConstantKind::Cluster),
            Known::Slot(value) => {
                if let Some(found) = self.specials.iter().find(|special| special.value == value) {
                    return found.slot;
                }
                let slot = self.temporary();
                self.specials.push(SpecialSlot { slot, value });
                slot
            }
            Known::Clock(shift, bits) => {
                let d = self.temporary();
                self.emit(Code::Clock { d, shift, bits });
                d
            }
            Known::Arbitrary(bits) => {
                let d = self.temporary();
                self.emit(Code::Arbitrary { d, bits });
                d
            }
        }
    }

    /// Whether a variable is a parameter of the kernel.
    pub(crate) fn is_kernel_parameter(&self, variable: VariableRef) -> bool {
        self.current == self.entry && matches!(variable, VariableRef::Param(_))
    }

    fn finish(mut self, functions: &[usize]) -> Option<Program> {
        for (at, function) in std::mem::take(&mut self.calls) {
            if let (Code::Call { to, .. }, Some(start)) = (&mut self.program.code[at], self.starts.get(&function)) {
                *to = *start;
            }
        }
        if self.slots > usize::from(Slot::MAX) {
            return None;
        }
        // Registers hold anything before they are written.
        let mut template = vec![0; self.registers];
        for number in functions {
            let first = self.windows[number];
            for (index, register) in self.body_registers(*number).iter().enumerate() {
                let bits = hash(self.launch.seed, (first + index) as u64);
                template[first + index] = bits & mask(register.ty.bits());
            }
        }
        template.extend(&self.further);
        let Decoder { mut program, layout, specials, .. } = self;
        program.notes.registers = self.registers;
        program.template = template;
        program.specials = specials;
        program.local_size = layout.local_size;
        program.is_flat = layout.is_flat;
        program.shared = layout.shared;
        // So that a block behind another one in memory has its variables at the same multiples.
        program.shared_size = layout.shared_size.next_multiple_of(128);
        program.globals = layout.globals;
        program.deciding = super::opaque::deciding(&program);
        Some(program)
    }
}
