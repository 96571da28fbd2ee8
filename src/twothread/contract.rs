//! The contract of a prelude.
//!
//! Input: a program that type-checks. Output: what breaks the contract, each at the declaration at fault.
//! Establishes: the names that `twothread` and `infer` use are there with their types; procedures are straight lines
//! that can be inlined, and touch only the state of their array; no execution is excluded, since a prelude states
//! nothing (no axiom, assumption, precondition, `where` or `unique`), so that it cannot make a proof vacuous.
//! Relies on: the type checker. Reference: prelude/README.md, which lists the rules in this order.

use super::log::{FLAGS, TRACKED_SITE, WATCHED_OFFSET};
use super::prelude::{ALIGNED, NARROW, PLACEHOLDER, is_template};
use crate::diagnostic::Diagnostic;
use crate::ivl;
use crate::ivl::ast::{
    Attribute, AttributeArg, ExprKind, ExprRef, Function, Name, Procedure, Program, Stmt, StmtKind, Transfer, Type,
    Variable,
};
use crate::ivl::claim::{Claim, Conflict};
use crate::ivl::visit::{Visitor, free_vars, walk_expr, walk_program, walk_stmt};
use crate::span::Span;

/// A procedure of the contract.
struct Signature {
    /// Its name without `_$ARRAY`.
    stem: &'static str,
    params: &'static [(&'static str, Type)],
    /// Whether it returns `logged: bool`.
    logs: bool,
}

const ACTIVE: (&str, Type) = ("active", Type::Bool);
const SITE: (&str, Type) = ("site", Type::Bv(16));
const OFFSET: (&str, Type) = ("offset", Type::Bv(64));
const WIDTH: (&str, Type) = ("width", Type::Bv(64));
const VALUE: (&str, Type) = ("value", Type::Bv(64));
const SCOPE: (&str, Type) = ("scope", Type::Bv(8));

const PROCEDURES: [Signature; 9] = [
    Signature { stem: "LOG_READ", params: &[ACTIVE, SITE, OFFSET, WIDTH], logs: true },
    Signature { stem: "LOG_WRITE", params: &[ACTIVE, SITE, OFFSET, WIDTH, VALUE], logs: true },
    Signature { stem: "LOG_STRONG_READ", params: &[ACTIVE, SITE, OFFSET, WIDTH, SCOPE], logs: true },
    Signature { stem: "LOG_STRONG_WRITE", params: &[ACTIVE, SITE, OFFSET, WIDTH, SCOPE], logs: true },
    Signature { stem: "CHECK_READ", params: &[ACTIVE, OFFSET, WIDTH], logs: false },
    Signature { stem: "CHECK_WRITE", params: &[ACTIVE, OFFSET, WIDTH, VALUE], logs: false },
    Signature { stem: "CHECK_STRONG_READ", params: &[ACTIVE, OFFSET, WIDTH, SCOPE], logs: false },
    Signature { stem: "CHECK_STRONG_WRITE", params: &[ACTIVE, OFFSET, WIDTH, SCOPE], logs: false },
    Signature { stem: "BARRIER_CLEAR", params: &[("both", Type::Bool)], logs: false },
];

impl Signature {
    fn name(&self) -> String {
        format!("{}_{PLACEHOLDER}", self.stem)
    }

    /// As it is declared.
    fn text(&self) -> String {
        let params: Vec<String> =
            self.params.iter().map(|(name, ty)| format!("{name}: {}", ivl::print_type(ty))).collect();
        let result = if self.logs { " returns (logged: bool)" } else { "" };
        format!("procedure {{:inline 1}} {}({}){result}", self.name(), params.join(", "))
    }
}

fn error(message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error("prelude-contract", message, span).note("`gpuvcc explain prelude-contract` tells the rules")
}

/// All that breaks the contract.
pub(crate) fn errors(program: &Program) -> Vec<Diagnostic> {
    let mut errors = missing_variables(program);
    errors.extend(PROCEDURES.iter().filter_map(|signature| signature_error(program, signature)));
    errors.extend(statements_of_fact(program));
    if let Some(array) = program.arrays.first() {
        errors.push(error("a prelude declares no shared arrays", array.span));
    }
    for implementation in &program.implementations {
        let message = format!("the body of `{}` stands apart from its procedure", implementation.procedure);
        errors.push(error(message, implementation.span));
    }
    errors.extend(program.functions.iter().filter_map(function_error));
    for procedure in &program.procedures {
        errors.extend(procedure_error(procedure, program));
    }
    errors.extend(stray_templates(program));
    errors
}

/// Constants and variables that are missing, or declared otherwise.
fn missing_variables(program: &Program) -> Vec<Diagnostic> {
    let constants: Vec<&Variable> = program.constants.iter().map(|constant| &constant.variable).collect();
    let globals: Vec<&Variable> = program.globals.iter().collect();
    let both: Vec<&Variable> = constants.iter().chain(&globals).copied().collect();
    let wanted = |kind: &str, name: &str, ty: Type, among: &[&Variable]| {
        if among.iter().any(|variable| variable.name.as_str() == name && variable.ty == ty) {
            return None;
        }
        let wanted = format!("the {kind} `{name}: {}`", ivl::print_type(&ty));
        Some(match both.iter().find(|variable| variable.name.as_str() == name) {
            Some(other) => error(format!("{wanted} is declared otherwise"), other.span),
            None => error(format!("{wanted} is missing"), Span::NONE),
        })
    };
    let site = wanted("constant", TRACKED_SITE, Type::Bv(16), &constants);
    let watched = wanted("constant or variable", WATCHED_OFFSET, Type::Bv(64), &both);
    let flags = FLAGS.iter().filter_map(|flag| wanted("variable", flag, Type::Bool, &globals));
    let mut errors: Vec<Diagnostic> = site.into_iter().chain(watched).chain(flags).collect();
    // The program that the prelude is made for decides these.
    for name in ["_SAME_BLOCK", "_ALLOW_SAME_VALUE", NARROW, ALIGNED] {
        if both.iter().any(|variable| variable.name.as_str() == name) {
            errors.extend(wanted("constant", name, Type::Bool, &constants));
        }
    }
    errors
}

fn signature_error(program: &Program, signature: &Signature) -> Option<Diagnostic> {
    let name = signature.name();
    let Some(procedure) = program.procedures.iter().find(|procedure| procedure.name.as_str() == name) else {
        return Some(error(format!("the procedure `{name}` is missing"), Span::NONE).note(signature.text()));
    };
    let same = |variable: &Variable, (name, ty): &(&str, Type)| variable.name.as_str() == *name && variable.ty == *ty;
    let results: &[(&str, Type)] = if signature.logs { &[("logged", Type::Bool)] } else { &[] };
    for (list, wanted) in [(&procedure.params, signature.params), (&procedure.results, results)] {
        let wrong = list.iter().zip(wanted).find(|(variable, wanted)| !same(variable, wanted));
        if wrong.is_none() && list.len() == wanted.len() {
            continue;
        }
        let span = wrong.map(|(variable, _)| variable.span).filter(|span| *span != Span::NONE);
        let message = format!("`{name}` does not have the parameters and results of the contract");
        return Some(error(message, span.unwrap_or(procedure.span)).note(signature.text()));
    }
    None
}

/// A prelude that assumed something would exclude executions from every proof.
fn statements_of_fact(program: &Program) -> Vec<Diagnostic> {
    const WHY: &str = "what it excludes would be proved of nobody";
    let refuse = |what: &str, span| error(format!("a prelude assumes nothing, and {what}"), span).note(WHY);
    let mut errors: Vec<Diagnostic> =
        program.axioms.iter().map(|axiom| refuse("this is an axiom", axiom.span)).collect();
    for constant in program.constants.iter().filter(|constant| constant.unique) {
        errors.push(refuse(&format!("`{}` is unique", constant.variable.name), constant.variable.span));
    }
    let bodies = program.procedures.iter().filter_map(|procedure| procedure.body.as_ref());
    let constants = program.constants.iter().map(|constant| &constant.variable);
    let parameters = program.procedures.iter().flat_map(|procedure| procedure.params.iter().chain(&procedure.results));
    let variables = constants.chain(&program.globals).chain(parameters).chain(bodies.clone().flat_map(|b| &b.locals));
    for variable in variables.filter(|variable| variable.where_clause.is_some()) {
        errors.push(refuse(&format!("`{}` has a `where` clause", variable.name), variable.span));
    }
    let stmts = bodies.flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
    for stmt in stmts.filter(|stmt| matches!(stmt.kind, StmtKind::Assume(..))) {
        errors.push(refuse("this is an assumption", stmt.span));
    }
    errors
}

/// Bodies are inlined as straight lines, so they have one block and call nothing.
fn procedure_error(procedure: &Procedure, program: &Program) -> Option<Diagnostic> {
    let name = &procedure.name;
    let refuse = |message: &str, span| Some(error(format!("`{name}` {message}"), span));
    if let Some(condition) = procedure.requires.iter().chain(&procedure.ensures).next() {
        let span = if condition.span == Span::NONE { procedure.span } else { condition.span };
        return refuse("has pre- or postconditions; a prelude assumes nothing, and asserts in bodies", span);
    }
    if !procedure.attributes.iter().any(is_inline_once) {
        return refuse("lacks the attribute `{:inline 1}`", procedure.span);
    }
    let Some(body) = &procedure.body else { return refuse("has no body", procedure.span) };
    let [block] = &body.blocks[..] else {
        return refuse("branches; its body must be a straight line", procedure.span);
    };
    if block.transfer != Transfer::Return {
        return refuse("loops; its body must be a straight line", procedure.span);
    }
    for stmt in &block.stmts {
        use StmtKind::*;
        match &stmt.kind {
            Assign(_) | Havoc(_) | Assume(..) => {}
            Assert(..) if race_of(stmt).is_none() => {
                let message = "has an assertion that does not say its race: `{:race KIND}` with one of";
                return refuse(&format!("{message} {}", Conflict::ALL.map(Conflict::name).join(", ")), stmt.span);
            }
            Assert(..) => {}
            Call { .. } => return refuse("calls; its body must be a straight line", stmt.span),
            _ => return refuse("may only assign, havoc and assert", stmt.span),
        }
    }
    if !PROCEDURES.iter().any(|signature| *name.as_str() == signature.name()) {
        return refuse("is no procedure of the contract", procedure.span);
    }
    let shared = |name: &&Name| program.globals.iter().any(|global| global.name == **name) && !is_template(name);
    match procedure.modifies.iter().find(shared) {
        Some(shared) => refuse(&format!("modifies `{shared}`, which is not its array's own"), procedure.span),
        None => None,
    }
}

/// Verification conditions have no constants in bodies of functions.
fn function_error(function: &Function) -> Option<Diagnostic> {
    let is_known = |name: &Name| {
        function.params.iter().any(|(param, _)| param == name)
            || matches!(name.as_str(), "_SAME_BLOCK" | "_ALLOW_SAME_VALUE" | NARROW | ALIGNED)
    };
    let unknown = free_vars(function.body.as_ref()?).into_iter().find(|name| !is_known(name))?;
    let message = format!("`{}` mentions `{unknown}`; the body of a function knows its parameters only", function.name);
    Some(error(message, function.span))
}

fn is_inline_once(attribute: &Attribute) -> bool {
    let once = |arg: &AttributeArg| matches!(arg, AttributeArg::Expr(e) if matches!(e.kind, ExprKind::Int(1)));
    attribute.name.as_str() == "inline" && matches!(&attribute.args[..], [arg] if once(arg))
}

/// The kind of race that an assertion speaks of.
fn race_of(stmt: &Stmt) -> Option<Conflict> {
    match stmt.kind {
        StmtKind::Assert(Claim::Race(conflict), _) => Some(conflict),
        _ => None,
    }
}

/// A declaration that exists once cannot speak of "the" array, and none speaks of threads.
fn stray_templates(program: &Program) -> Vec<Diagnostic> {
    let complain = |name: &Name, span| error(format!("`{name}` uses a `{PLACEHOLDER}` name but is no template"), span);
    let mut errors = Vec::new();
    for procedure in program.procedures.iter().filter(|procedure| !is_template(&procedure.name)) {
        let mut found = Names::default();
        found.procedure(procedure);
        if found.template || procedure.modifies.iter().any(is_template) {
            errors.push(complain(&procedure.name, procedure.span));
        }
    }
    for function in &program.functions {
        if !is_template(&function.name) && function.body.as_ref().is_some_and(mentions_array) {
            errors.push(complain(&function.name, function.span));
        }
    }
    let mut found = Names::default();
    walk_program(&mut found, program);
    if let Some((name, span)) = found.launch {
        errors.push(error(format!("a prelude does not know the threads, and `{name}` is about them"), span));
    }
    errors
}

/// Whether an expression mentions a template.
pub(crate) fn mentions_array(expr: &ExprRef) -> bool {
    let mut found = Names::default();
    found.expr(expr);
    found.template
}

/// Looks for names of templates and for launch constants.
#[derive(Default)]
struct Names {
    template: bool,
    launch: Option<(Name, Span)>,
}

impl Visitor for Names {
    fn expr(&mut self, expr: &ExprRef) {
        if let ExprKind::Var(name) | ExprKind::Call(name, _) = &expr.kind {
            self.template |= is_template(name);
            if ivl::launch_constant(name.as_str()).is_some() {
                self.launch = Some((name.clone(), expr.span));
            }
        }
        walk_expr(self, expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.template |= ivl::visit::assigned(stmt).into_iter().any(is_template);
        walk_stmt(self, stmt);
    }
}
