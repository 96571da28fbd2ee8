//! Function bodies: from statements to typed items.
//!
//! Input: the statements of a body, and the names of the module.
//! Output: an [`ast::Body`](super::ast::Body).
//! Establishes: every name is resolved; each instruction knows its text, line and source position.
//! Relies on: `table` for what opcodes mean, `operands` and `build` for typing, `scope` for names.
//! Reference: PTX ISA, chapter "Directives", section on `{}` scopes; instruction `call`.

use super::annotation::{self, ArrayRef};
use super::ast::*;
use super::context::{Errors, Interner, ModuleContext, ModuleSymbol};
use super::declare;
use super::lexer::{Lines, Tokens};
use super::location::Locations;
use super::operands::{Operands, Resolver};
use super::scope::{Family, Scopes, Symbol, Table};
use super::syntax::{self, Expression, ExpressionKind, Name, Statement};
use super::table::{Meaning, Mismatch, Selected, select};
use super::values::{integer_literal, kind_error, undefined};
use super::vector_move;
use crate::diagnostic::Diagnostic;
use crate::order::Ordering;
use crate::span::{Origin, Span};
use foldhash::{HashMap, HashSet};
use std::sync::Arc;

type Result<T> = std::result::Result<T, Diagnostic>;

/// What all bodies of a module share.
pub(crate) struct Shared<'c, 'a> {
    /// The input.
    pub(crate) text: &'a str,
    pub(crate) lines: &'c Lines,
    /// Module level.
    pub(crate) module: &'c ModuleContext<'a>,
    /// Names of the module's variables, which variables of bodies must not share.
    pub(crate) reserved: &'c HashSet<Arc<str>>,
    /// The module's variables.
    pub(crate) variables: &'c [Variable],
    /// Table lookups so far, by opcode as written.
    pub(crate) opcodes: HashMap<&'a str, (Arc<Selected>, Arc<str>)>,
    /// Shared copies of texts.
    pub(crate) interner: &'c Interner,
    /// Errors so far.
    pub(crate) errors: Errors,
}

/// A parameter or result of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter<'a> {
    pub(crate) name: Name<'a>,
    /// The variable that holds it.
    pub(crate) reference: VariableRef,
    /// The type of its register, if it is declared as one.
    pub(crate) register: Option<ScalarType>,
}

/// One body under construction.
struct Builder<'s, 'c, 'a> {
    shared: &'s mut Shared<'c, 'a>,
    scopes: Scopes<'c, 'a>,
    locations: Locations<'c>,
    /// The operands of the instruction at hand.
    operands: Operands,
    /// Its text.
    folded: String,
    /// Results that are declared as registers, with the stores that hand them over.
    results: Vec<Op>,
    /// The function, if it is a kernel.
    entry: Option<&'s Function>,
}

/// What names in annotations mean.
struct Named<'s, 'c, 'a> {
    scopes: &'s mut Scopes<'c, 'a>,
    /// The module's variables.
    variables: &'c [Variable],
    entry: Option<&'s Function>,
}

impl<'a> annotation::Names<'a> for Named<'_, '_, 'a> {
    fn register(&mut self, name: &'a str) -> Option<(RegisterId, ScalarType)> {
        match self.scopes.symbol(name) {
            Some(Symbol::Register(id)) => Some((id, self.scopes.body.registers[id.0 as usize].ty)),
            _ => None,
        }
    }

    fn parameter(&mut self, name: &'a str) -> std::result::Result<(u32, ScalarType), String> {
        annotation::scalar_parameter(self.entry, name)
    }

    fn array(&mut self, name: &'a str) -> std::result::Result<ArrayRef, String> {
        // A scope may have another variable of that name.
        let declared = match self.scopes.symbol(name) {
            Some(Symbol::Variable(VariableRef::Body(index))) => {
                Some(self.scopes.body.variables[index as usize].name.clone())
            }
            _ => None,
        };
        annotation::arrays::named(declared.as_deref().unwrap_or(name), self.variables, &self.scopes.body.variables)
    }

    fn pointer(&mut self, name: &'a str) -> std::result::Result<ArrayRef, String> {
        annotation::arrays::pointee(self.entry, name)
    }
}

/// Types the body of a function with this header.
pub(crate) fn body<'a>(
    shared: &mut Shared<'_, 'a>,
    function: &Function,
    parameters: &[Parameter<'a>],
    statements: Vec<Statement<'a>>,
) -> Body {
    let locations = Locations::new(&shared.module.files);
    let scopes = Scopes::new(shared.interner, shared.reserved);
    let entry = function.is_entry.then_some(function);
    let (operands, folded, results) = (Operands::default(), String::new(), Vec::new());
    let mut builder = Builder { shared, scopes, locations, operands, folded, results, entry };
    builder.scopes.open();
    for parameter in parameters {
        builder.parameter(*parameter);
    }
    builder.scope(statements);
    if let Some(last) = parameters.last() {
        // The end of a body returns too.
        let origin = builder.origin(last.name.span, last.name.text.into());
        builder.hand_over_results(None, &origin);
    }
    builder.scopes.close();
    builder.scopes.body
}

impl<'c, 'a> Builder<'_, 'c, 'a> {
    /// Declares a parameter; one in a register is loaded on entry or stored at each return.
    fn parameter(&mut self, parameter: Parameter<'a>) {
        let Parameter { name, reference, register } = parameter;
        let Some(ty) = register else {
            // A clash among parameters was reported with the header.
            self.scopes.declare_parameter(name.text, reference);
            return;
        };
        self.scopes.declare_register(name.text, ty, 1);
        let Some(Symbol::Register(id)) = self.scopes.symbol(name.text) else {
            panic!("ptx: a parameter register was not entered")
        };
        let (space, ordering, value) = (StateSpace::Param, Ordering::Weak, vec![Operand::Register(id)]);
        let address = Address { base: AddressBase::Variable(reference), offset: 0 };
        if let VariableRef::Return(_) = reference {
            self.results.push(Op::Store { space, ty, src: value, address, ordering });
            return;
        }
        let op = Op::Load { space, ty, dst: value, address, ordering, non_coherent: false };
        let origin = self.origin(name.span, name.text.into());
        self.scopes.body.items.push(Item::Instruction(Instruction { guard: None, op, origin }));
    }

    fn hand_over_results(&mut self, guard: Option<Guard>, origin: &Arc<Origin>) {
        self.push(guard, self.results.clone(), origin);
    }

    /// Several operations of one instruction.
    fn push(&mut self, guard: Option<Guard>, ops: Vec<Op>, origin: &Arc<Origin>) {
        let items = ops.into_iter().map(|op| Item::Instruction(Instruction { guard, op, origin: origin.clone() }));
        self.scopes.body.items.extend(items);
    }

    /// The statements of one scope. Labels first, then lists of them: branches may go forward.
    fn scope(&mut self, statements: Vec<Statement<'a>>) {
        for statement in &statements {
            if let Statement::Label(name) = statement
                && self.scopes.declare_label(*name).is_none()
            {
                self.shared.errors.report(duplicate("label", *name));
            }
        }
        for statement in &statements {
            self.declare_table(statement);
        }
        // Mostly one item each; with `.loc`, every other statement may be none.
        let is_item = |statement: &&Statement| {
            matches!(statement, Statement::Label(_) | Statement::Instruction(_) | Statement::Annotation(_))
        };
        self.scopes.body.items.reserve(statements.iter().filter(is_item).count());
        for statement in statements {
            if let Err(error) = self.statement(statement) {
                self.shared.errors.report(error);
            }
        }
    }

    fn declare_table(&mut self, statement: &Statement<'a>) {
        let (name, table) = match statement {
            Statement::BranchTargets(name, targets) => (*name, Table::Labels(self.targets(targets))),
            Statement::CallTargets(name, targets) => (*name, Table::Functions(Some(self.functions(targets)))),
            Statement::CallPrototype(name) => (*name, Table::Functions(None)),
            _ => return,
        };
        if !self.scopes.declare_table(name.text, table) {
            self.shared.errors.report(duplicate("label", name));
        }
    }

    fn targets(&mut self, targets: &[Name<'a>]) -> Arc<[LabelId]> {
        let mut labels = Vec::with_capacity(targets.len());
        for target in targets {
            match self.scopes.label(target.text) {
                Some(label) => labels.push(label),
                None => self.shared.errors.report(undefined("label", target.text, target.span)),
            }
        }
        labels.into()
    }

    fn functions(&mut self, names: &[Name<'a>]) -> Arc<[u32]> {
        let mut functions = Vec::with_capacity(names.len());
        for name in names {
            match self.function(*name) {
                Ok(function) => functions.push(function),
                Err(error) => self.shared.errors.report(error),
            }
        }
        functions.into()
    }

    fn statement(&mut self, statement: Statement<'a>) -> Result<()> {
        match statement {
            Statement::Label(name) => {
                // A duplicate stands for the first label of that name; it was reported.
                if let Some(label) = self.scopes.label(name.text) {
                    self.scopes.body.items.push(Item::Label(label));
                }
            }
            Statement::Variables(declaration) if declaration.space.text == ".reg" => self.registers(&declaration)?,
            Statement::Variables(declaration) => {
                for (declared, variable) in declare::variables(&declaration)? {
                    if !self.scopes.declare_variable(declared.text.clone(), variable) {
                        return Err(duplicate("variable", declared.name()));
                    }
                }
            }
            Statement::Location(location) => self.locations.enter(&location),
            Statement::Annotation(comment) => self.annotation(comment)?,
            Statement::Instruction(instruction) => self.instruction(&instruction)?,
            Statement::Scope(statements) => {
                self.scopes.open();
                self.scope(statements);
                self.scopes.close();
            }
            Statement::BranchTargets(..)
            | Statement::CallTargets(..)
            | Statement::CallPrototype(_)
            | Statement::Skipped => {}
        }
        Ok(())
    }

    fn registers(&mut self, declaration: &syntax::VariableDeclaration<'a>) -> Result<()> {
        let attributes = declare::attributes(declaration)?;
        for declarator in &declaration.declarators {
            let name = declarator.name;
            if !declarator.dimensions.is_empty() || declarator.initialiser.is_some() {
                return Err(Diagnostic::error(
                    "ptx-syntax",
                    "a register is no array and has no initialiser",
                    name.span,
                ));
            }
            let fresh = match declarator.count {
                None => self.scopes.declare_register(name.text, attributes.ty, attributes.vector),
                Some(count) => {
                    let count = integer_literal(count.text, count.span)?;
                    let family = Family { ty: attributes.ty, elements: attributes.vector, count };
                    self.scopes.declare_family(name.text, family)
                }
            };
            if !fresh {
                return Err(duplicate("register", name));
            }
        }
        Ok(())
    }

    fn origin(&self, span: Span, text: Box<str>) -> Arc<Origin> {
        let position = self.locations.current();
        Arc::new(Origin { span, line: self.shared.lines.line(span.start), position, text })
    }

    /// The text of an instruction, with one blank for each run of white space. Hardly two are equal in a body, so it is
    /// not interned.
    fn text(&mut self, span: Span) -> Box<str> {
        self.folded.clear();
        for word in self.shared.text[span.range()].split_ascii_whitespace() {
            if !self.folded.is_empty() {
                self.folded.push(' ');
            }
            self.folded.push_str(word);
        }
        self.folded.as_str().into()
    }

    /// `//@ kind expression;`
    fn annotation(&mut self, comment: Name<'a>) -> Result<()> {
        let inside = comment.text.strip_prefix("//@").unwrap_or(comment.text);
        let start = comment.span.start as usize + comment.text.len() - inside.len();
        let mut names = Named { scopes: &mut self.scopes, variables: self.shared.variables, entry: self.entry };
        let annotation::Statement { kind, text, expression, threads } = annotation::statement(inside, &mut names)
            .map_err(|mistake| {
                let span = Span::new(start + mistake.range.start, start + mistake.range.end);
                Diagnostic::error("annotation", mistake.message, span)
                    .note("an annotation is `//@ requires|assume|assert|invariant|barrier_invariant EXPRESSION;`")
            })?;
        let origin = self.origin(comment.span, comment.text.trim_end().into());
        let annotation = Annotation { kind, expression, threads, text: text.into(), origin };
        self.scopes.body.items.push(Item::Annotation(annotation));
        Ok(())
    }

    fn instruction(&mut self, instruction: &syntax::Instruction<'a>) -> Result<()> {
        let guard = match instruction.guard {
            Some((negated, name)) => Some(Guard { register: self.resolver().guard(name)?, negated }),
            None => None,
        };
        let (selected, name) = self.select(instruction.opcode)?;
        let text = self.text(instruction.span);
        let origin = self.origin(instruction.span, text);
        if selected.row.meaning == Meaning::Call {
            let op = self.call(instruction, name)?;
            self.push(guard, vec![op], &origin);
            return Ok(());
        }
        let mut resolver = Resolver { scopes: &mut self.scopes, module: self.shared.module };
        resolver.resolve(&selected, instruction.opcode, &instruction.operands, &mut self.operands)?;
        if selected.row.meaning == Meaning::VectorMove {
            let moves = vector_move::moves(selected.types[0], &mut self.operands, &mut self.scopes);
            self.push(guard, moves, &origin);
            return Ok(());
        }
        let op = super::build::build(&selected, name, &mut self.operands, self.shared.interner);
        if matches!(op, Op::Return) {
            self.hand_over_results(guard, &origin);
        }
        self.scopes.body.items.push(Item::Instruction(Instruction { guard, op, origin }));
        Ok(())
    }

    fn resolver(&mut self) -> Resolver<'_, 'c, 'a> {
        Resolver { scopes: &mut self.scopes, module: self.shared.module }
    }

    /// Looks the opcode up; most files use a few dozen opcodes thousands of times.
    fn select(&mut self, opcode: Name<'a>) -> Result<(Arc<Selected>, Arc<str>)> {
        if let Some((selected, name)) = self.shared.opcodes.get(opcode.text) {
            return Ok((selected.clone(), name.clone()));
        }
        let words = opcode_words(opcode.text);
        match select(words[0], &words[1..]) {
            Ok(selected) => {
                let entry = (Arc::new(selected), self.shared.interner.intern(&words.join(".")));
                self.shared.opcodes.insert(opcode.text, entry.clone());
                Ok(entry)
            }
            Err(mismatch) => Err(mismatch_error(opcode, &words, mismatch)),
        }
    }

    /// `call (returns), function, (arguments);`
    fn call(&mut self, instruction: &syntax::Instruction<'a>, name: Arc<str>) -> Result<Op> {
        let mut operands = instruction.operands.iter().peekable();
        let returns = operands.next_if(|operand| is_list(operand));
        let Some(callee) = operands.next() else {
            let message = "`call` needs a function";
            return Err(Diagnostic::error("operand-count", message, instruction.opcode.span));
        };
        let arguments = operands.next_if(|operand| is_list(operand));
        let ExpressionKind::Name(callee_name) = callee.kind else {
            return Err(Diagnostic::error("operand-kind", "expected a function", callee.span));
        };
        if self.scopes.symbol(callee_name).is_some() {
            let Some(table) = operands.next() else {
                let reason = "an indirect call without a list of functions or a prototype".to_string();
                return Ok(Op::Unsupported { name, reason });
            };
            let (function, targets) = (self.resolver().value(callee)?, self.call_targets(table)?);
            let (returns, arguments) = (self.call_values(returns)?, self.call_values(arguments)?);
            return Ok(Op::CallIndirect { function, targets, returns, arguments });
        }
        if let Some(extra) = operands.next() {
            return Err(Diagnostic::error("operand-count", "a direct call has no further operands", extra.span));
        }
        let function = self.function(Name { text: callee_name, span: callee.span })?;
        let (returns, arguments) = (self.call_values(returns)?, self.call_values(arguments)?);
        let arity = self.shared.module.arities[function as usize];
        let fits = returns.len() == arity.returns && arity.params.is_none_or(|params| params == arguments.len());
        if !fits {
            let message = format!("`{callee_name}` has other numbers of parameters or results");
            return Err(Diagnostic::error("operand-count", message, instruction.span));
        }
        Ok(Op::Call { function, returns, arguments })
    }

    fn function(&self, name: Name<'a>) -> Result<u32> {
        match self.shared.module.names.get(name.text) {
            Some(ModuleSymbol::Function(index)) => Ok(*index),
            Some(ModuleSymbol::Variable(_)) => Err(Diagnostic::error("operand-kind", "expected a function", name.span)),
            None => Err(undefined("function", name.text, name.span)),
        }
    }

    /// The functions of a `.calltargets` list; `None` for a prototype.
    fn call_targets(&self, expression: &Expression<'a>) -> Result<Option<Arc<[u32]>>> {
        let table = match expression.kind {
            ExpressionKind::Name(name) => self.scopes.table(name),
            _ => None,
        };
        match table {
            Some(Table::Functions(functions)) => Ok(functions.clone()),
            _ => Err(kind_error(expression.span, "the name of a `.calltargets` list or of a `.callprototype`")),
        }
    }

    fn call_values(&mut self, list: Option<&Expression<'a>>) -> Result<Vec<Operand>> {
        let Some(ExpressionKind::Parenthesised(values)) = list.map(|list| &list.kind) else { return Ok(Vec::new()) };
        values.iter().map(|value| self.resolver().value(value)).collect()
    }
}

fn is_list(expression: &Expression<'_>) -> bool {
    matches!(expression.kind, ExpressionKind::Parenthesised(_))
}

/// The words of an opcode without dots; blanks and comments may stand between them.
fn opcode_words(opcode: &str) -> Vec<&str> {
    if !opcode.contains('/') {
        return opcode.split('.').map(str::trim).collect();
    }
    let words = Tokens::new(opcode, 1).map(|(start, _, end)| &opcode[start..end]);
    words.map(|word| word.strip_prefix('.').unwrap_or(word)).collect()
}

/// Puts the error at the exact modifier.
fn mismatch_error(opcode: Name<'_>, words: &[&str], mismatch: Mismatch) -> Diagnostic {
    match mismatch {
        Mismatch::Opcode(near) => {
            let message = format!("unknown instruction `{}`", words[0]);
            let error = Diagnostic::error("unknown-opcode", message, word_span(opcode, 0));
            if near.is_empty() { error } else { error.note(format!("similar: {}", near.join(", "))) }
        }
        Mismatch::Modifier(at, expected) => {
            let (message, span) = match words.get(at + 1) {
                Some(word) => (format!("`{}` has no modifier `.{word}` here", words[0]), word_span(opcode, at + 1)),
                None => (format!("`{}` lacks a modifier", words.join(".")), opcode.span),
            };
            let expected: Vec<String> = expected.iter().map(|word| format!(".{word}")).collect();
            let error = Diagnostic::error("unknown-modifier", message, span);
            if expected.is_empty() { error } else { error.note(format!("allowed: {}", expected.join(" "))) }
        }
    }
}

/// The place of the n-th dotted word of an opcode, without its dot.
fn word_span(opcode: Name<'_>, index: usize) -> Span {
    let start = opcode.span.start as usize;
    let mut offset = 0;
    for (position, word) in opcode.text.split('.').enumerate() {
        if position == index {
            let lead = word.len() - word.trim_start().len();
            return Span::new(start + offset + lead, start + offset + lead + word.trim().len());
        }
        offset += word.len() + 1;
    }
    opcode.span
}

/// The error for a name declared twice.
pub(crate) fn duplicate(what: &str, name: Name<'_>) -> Diagnostic {
    Diagnostic::error("duplicate-name", format!("{what} `{}` is declared twice in this scope", name.text), name.span)
}
