//! Module level: from top-level constructs to a typed module.
//!
//! Input: the text of a file.
//! Output: an [`ast::Module`](super::ast::Module), or all errors.
//! Establishes: a declaration is merged with its definition; names of variables and functions are
//! unique; aliases are resolved.
//! Relies on: `parse` for syntax trees, `declare` for variables, `body` for function bodies.
//! Reference: PTX ISA, chapter "Directives".

use super::ast::*;
use super::body::{self, Parameter, Shared, duplicate};
use super::context::{Arity, Errors, Interner, MAX_ERRORS, ModuleContext, ModuleSymbol};
use super::declare;
use super::lexer::Lines;
use super::parse::{parse_body, parse_module};
use super::scope::index;
use super::syntax::{self, BodyText, Name, Statement, TopLevel};
use super::values::{integer_literal, undefined};
use super::workspace;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use foldhash::{HashMap, HashSet};
use std::sync::Arc;

/// The module level under construction.
struct Builder<'a> {
    module: Module,
    context: ModuleContext<'a>,
    errors: Errors,
    /// By function index: parameter names and body of the definition.
    bodies: Vec<(Vec<Parameter<'a>>, Option<BodyText<'a>>)>,
    /// Bodies that belong to no function, as their headers are wrong.
    others: Vec<BodyText<'a>>,
    version_seen: bool,
}

/// Parses and types a whole file.
///
/// # Errors
///
/// All errors, in the order of their places, at most [`MAX_ERRORS`] of them.
pub fn parse(text: &str) -> Result<Module, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diagnostic::error("ptx-syntax", "files of 4 GiB and more are not supported", Span::NONE)]);
    }
    let (tree, syntax_errors) = parse_module(text, MAX_ERRORS);
    let mut builder = Builder {
        module: Module { address_size: 32, ..Module::default() },
        context: ModuleContext::default(),
        errors: Errors::default(),
        bodies: Vec::new(),
        others: Vec::new(),
        version_seen: false,
    };
    builder.errors.syntax(syntax_errors);
    builder.declare(tree);
    builder.check_initialisers();
    builder.finish(text)
}

impl<'a> Builder<'a> {
    /// Takes the tree apart, so that what was read is freed on the way.
    fn declare(&mut self, tree: Vec<TopLevel<'a>>) {
        let mut aliases = Vec::new();
        for construct in tree {
            if let TopLevel::Alias(name, target) = construct {
                aliases.push((name, target));
            } else if let Err(error) = self.construct(construct) {
                self.errors.report(error);
            }
        }
        // Aliases last: the function they name may follow them.
        for (name, target) in aliases {
            match self.context.names.get(target.text) {
                Some(&symbol @ ModuleSymbol::Function(_)) => {
                    self.context.names.insert(name.text.into(), symbol);
                }
                _ => self.errors.report(undefined("function", target.text, target.span)),
            }
        }
    }

    fn construct(&mut self, construct: TopLevel<'a>) -> Result<(), Diagnostic> {
        match construct {
            TopLevel::Version(number) => {
                self.version_seen = true;
                self.module.version = version(number)?;
            }
            TopLevel::Target(words) => {
                if let Some(target) = words.first() {
                    self.module.target = target.text.to_string();
                }
            }
            TopLevel::AddressSize(size) => match integer_literal(size.text, size.span)? {
                bits @ (32 | 64) => self.module.address_size = bits as u32,
                _ => return Err(Diagnostic::error("ptx-header", "the address size is 32 or 64", size.span)),
            },
            TopLevel::File { index, path } => {
                let index = integer_literal(index.text, index.span)?;
                self.context.files.insert(index, path.into());
            }
            TopLevel::Variables(declaration) => self.variables(&declaration)?,
            TopLevel::Function(function) => self.function(*function)?,
            // `//@ key: value` tells a test harness what to expect of the file.
            TopLevel::Annotation(comment) if is_test_header(comment.text) => {}
            TopLevel::Annotation(comment) => {
                let message = "annotations belong inside a function body";
                return Err(Diagnostic::error("annotation", message, comment.span));
            }
            TopLevel::SkippedBody(body) => self.others.push(body),
            TopLevel::Alias(..) | TopLevel::Skipped => {}
        }
        Ok(())
    }

    fn variables(&mut self, declaration: &syntax::VariableDeclaration<'a>) -> Result<(), Diagnostic> {
        if matches!(declaration.space.text, ".reg" | ".param") {
            let message = format!("`{}` is declared inside functions only", declaration.space.text);
            return Err(Diagnostic::error("ptx-syntax", message, declaration.space.span));
        }
        for (declared, variable) in declare::variables(declaration)? {
            match self.context.names.get(&declared.text) {
                None => {
                    let symbol = ModuleSymbol::Variable(index(self.module.variables.len()));
                    self.context.names.insert(declared.text, symbol);
                    self.module.variables.push(variable);
                }
                Some(ModuleSymbol::Variable(old)) => self.redeclare(*old, declared.name(), variable)?,
                Some(ModuleSymbol::Function(_)) => return Err(duplicate("variable", declared.name())),
            }
        }
        Ok(())
    }

    /// Initialisers hold addresses of things that exist.
    fn check_initialisers(&mut self) {
        for variable in &self.module.variables {
            let unknown = |symbol: &&Arc<str>| !self.context.names.contains_key(&***symbol);
            if let Some(symbol) = variable.initialiser_symbols.iter().find(unknown) {
                self.errors.report(undefined("name", symbol, variable.span));
            }
        }
    }

    /// `.extern` declarations may be repeated and defined once.
    fn redeclare(&mut self, old: u32, name: Name<'_>, variable: Variable) -> Result<(), Diagnostic> {
        let old = &mut self.module.variables[old as usize];
        match (old.linkage, variable.linkage) {
            (_, Linkage::Extern) => Ok(()),
            (Linkage::Extern, _) => {
                *old = variable;
                Ok(())
            }
            _ => Err(duplicate("variable", name)),
        }
    }

    fn function(&mut self, function: syntax::Function<'a>) -> Result<(), Diagnostic> {
        let (typed, parameters) = header(&function)?;
        let arity = Arity {
            returns: typed.returns.len(),
            params: typed.params.last().is_none_or(|last| last.size.is_some()).then_some(typed.params.len()),
        };
        let body = function.body;
        match self.context.names.get(function.name.text) {
            None => {
                let symbol = ModuleSymbol::Function(index(self.module.functions.len()));
                self.context.names.insert(function.name.text.into(), symbol);
                self.module.functions.push(typed);
                self.context.arities.push(arity);
                self.bodies.push((parameters, body));
            }
            Some(ModuleSymbol::Function(old)) => {
                let old = *old as usize;
                if body.is_none() {
                    return Ok(());
                }
                if self.bodies[old].1.is_some() {
                    self.others.extend(body);
                    return Err(duplicate("function", function.name));
                }
                self.module.functions[old] = typed;
                self.context.arities[old] = arity;
                self.bodies[old] = (parameters, body);
            }
            Some(ModuleSymbol::Variable(_)) => return Err(duplicate("function", function.name)),
        }
        Ok(())
    }

    /// Reads the bodies, one after the other.
    fn finish(self, text: &'a str) -> Result<Module, Vec<Diagnostic>> {
        let Builder { mut module, context, errors, bodies, others, version_seen } = self;
        let (lines, interner) = (Lines::new(text), Interner::default());
        let reserved: HashSet<Arc<str>> = module.variables.iter().map(|variable| variable.name.clone()).collect();
        let mut shared = Shared {
            text,
            lines: &lines,
            module: &context,
            reserved: &reserved,
            variables: &module.variables,
            opcodes: HashMap::default(),
            interner: &interner,
            errors,
        };
        for (function, (parameters, body)) in module.functions.iter_mut().zip(bodies) {
            let Some(body) = body else { continue };
            let Some(statements) = statements(body, &mut shared.errors) else { break };
            function.body = Some(body::body(&mut shared, function, &parameters, statements));
        }
        for body in others {
            statements(body, &mut shared.errors);
        }
        let mut errors = shared.errors;
        if errors.is_complete()
            && let Some(message) = wrong_header(&module, version_seen)
        {
            let start = Span::new(0, text.chars().next().map_or(0, char::len_utf8));
            errors.report(Diagnostic::error("ptx-header", message, start));
        }
        let errors = errors.into_list();
        if errors.is_empty() {
            workspace::name(&mut module);
            Ok(module)
        } else {
            Err(errors)
        }
    }
}

/// What is wrong with the first lines of the file.
fn wrong_header(module: &Module, version_seen: bool) -> Option<&'static str> {
    match (version_seen, module.target.is_empty()) {
        (false, _) => Some("a PTX file starts with `.version`"),
        (true, true) => Some("this PTX file has no `.target`"),
        (true, false) => None,
    }
}

/// Parses a body; `None` if there are as many errors of syntax as are told.
fn statements<'a>(body: BodyText<'a>, errors: &mut Errors) -> Option<Vec<Statement<'a>>> {
    let left = errors.syntax_left();
    if left == 0 {
        return None;
    }
    let (statements, syntax_errors) = parse_body(body, left);
    errors.syntax(syntax_errors);
    Some(statements)
}

fn is_test_header(comment: &str) -> bool {
    let key = comment.strip_prefix("//@").and_then(|text| text.split_whitespace().next());
    key.is_some_and(|key| key.ends_with(':'))
}

fn version(number: Name<'_>) -> Result<(u32, u32), Diagnostic> {
    let parts = number.text.split_once('.');
    let parts = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.ok_or_else(|| Diagnostic::error("ptx-header", "a version is written `major.minor`", number.span))
}

/// Types the header of a function; the body comes later.
fn header<'a>(function: &syntax::Function<'a>) -> Result<(Function, Vec<Parameter<'a>>), Diagnostic> {
    let mut names = Vec::new();
    let returns = parameters(&function.returns, VariableRef::Return, &mut names)?;
    let params = parameters(&function.params, VariableRef::Param, &mut names)?;
    let mut seen = HashSet::default();
    if let Some(twice) = names.iter().find(|p| p.name.text != "_" && !seen.insert(p.name.text)) {
        return Err(duplicate("parameter", twice.name));
    }
    let mut typed = Function {
        name: function.name.text.into(),
        is_entry: function.is_entry,
        linkage: declare::linkage(&function.linkage),
        returns,
        params,
        required_block: None,
        maximum_block: None,
        required_cluster: None,
        body: None,
        span: function.span,
    };
    for (directive, numbers) in &function.directives {
        match directive.text {
            ".reqntid" => typed.required_block = Some(block_size(*directive, numbers)?),
            ".reqnctapercluster" => typed.required_cluster = Some(block_size(*directive, numbers)?),
            ".maxntid" => typed.maximum_block = Some(block_size(*directive, numbers)?),
            _ => {}
        }
    }
    Ok((typed, names))
}

/// Parameters and results. One in a register (`.reg`) becomes a variable beside that register;
/// [`body`] moves the value between the two, so that later stages know one kind of parameter.
fn parameters<'a>(
    declarations: &[syntax::VariableDeclaration<'a>],
    reference: fn(u32) -> VariableRef,
    names: &mut Vec<Parameter<'a>>,
) -> Result<Vec<Variable>, Diagnostic> {
    let mut list = Vec::new();
    for declaration in declarations {
        let register = match declaration.space.text {
            ".reg" => Some(declare::attributes(declaration)?),
            _ => None,
        };
        if register.is_some_and(|register| register.ty == ScalarType::Pred || register.vector > 1) {
            let message = "predicate and vector registers as parameters are not supported";
            return Err(Diagnostic::unsupported("register-parameters", message, declaration.span));
        }
        let register = register.map(|register| register.ty);
        let mut declaration = declaration.clone();
        if register.is_some() {
            declaration.space.text = ".param";
        }
        // The grammar has no families of parameters.
        let declared = declaration.declarators.iter().map(|declarator| declarator.name);
        for (name, (_, mut variable)) in declared.zip(declare::variables(&declaration)?) {
            if register.is_some() {
                variable.name = format!("{}$param", name.text).into();
            }
            names.push(Parameter { name, reference: reference(index(list.len())), register });
            list.push(variable);
        }
    }
    Ok(list)
}

/// One to three numbers; missing ones are 1.
fn block_size(directive: Name<'_>, numbers: &[Name<'_>]) -> Result<[u32; 3], Diagnostic> {
    let mut size = [1; 3];
    if numbers.is_empty() || numbers.len() > size.len() {
        let message = format!("`{}` takes one to three numbers", directive.text);
        return Err(Diagnostic::error("ptx-syntax", message, directive.span));
    }
    for (slot, number) in size.iter_mut().zip(numbers) {
        *slot = match u32::try_from(integer_literal(number.text, number.span)?) {
            Ok(value) if value > 0 => value,
            _ => return Err(Diagnostic::error("ptx-syntax", "a size of blocks or clusters is positive", number.span)),
        };
    }
    Ok(size)
}
