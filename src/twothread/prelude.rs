//! The prelude: the race-checking runtime, written in the IVL.
//!
//! Input: prelude text; later an array. Output: [`Prelude`]; the declarations for the array. Establishes:
//! every name of the contract (`prelude/README.md`) is there with the right types, procedures have a
//! body, and instances of templates share no names. Relies on: the parser. Reference: the tutorial
//! paper, LOG and CHECK procedures.
//!
//! A declaration whose name contains `$ARRAY` is a template and exists once an array; others exist once.

use crate::diagnostic::Diagnostic;
use crate::ivl;
use crate::ivl::ast::{
    Attribute, AttributeArg, Block, Condition, Constant, ExprKind, ExprRef, Function, Implementation, Name, Procedure,
    Program, Stmt, StmtKind, Transfer, Type, UnaryOp, Variable,
};
use crate::ivl::bv;
use crate::ivl::visit::{Visitor, map_attribute, map_children, map_stmt, walk_expr, walk_stmt};
use crate::span::Span;

/// The text of the prelude with a watched byte, the default.
pub const WATCHED_BYTE: &str = include_str!("../../prelude/watched_byte.ivl");
/// The text of the prelude with the papers' logging sets.
pub const LOGGING_SETS: &str = include_str!("../../prelude/logging_sets.ivl");

/// What stands for the array in names of templates.
const PLACEHOLDER: &str = "$ARRAY";

/// Procedures of the contract without `_$ARRAY`: parameters in order, whether `logged` is returned.
const PROCEDURES: [(&str, &[Parameter], bool); 9] = {
    use Parameter::*;
    [
        ("LOG_READ", &[Active, Site, Offset, Width], true),
        ("LOG_WRITE", &[Active, Site, Offset, Width, Value], true),
        ("LOG_STRONG_READ", &[Active, Site, Offset, Width, Scope], true),
        ("LOG_STRONG_WRITE", &[Active, Site, Offset, Width, Scope], true),
        ("CHECK_READ", &[Active, Offset, Width], false),
        ("CHECK_WRITE", &[Active, Offset, Width, Value], false),
        ("CHECK_STRONG_READ", &[Active, Offset, Width, Scope], false),
        ("CHECK_STRONG_WRITE", &[Active, Offset, Width, Scope], false),
        ("BARRIER_CLEAR", &[Active], false),
    ]
};

/// A parameter of a procedure of the contract.
#[derive(Clone, Copy)]
enum Parameter {
    Active,
    Site,
    Offset,
    Width,
    Value,
    Scope,
}

impl Parameter {
    fn ty(self) -> Type {
        match self {
            Parameter::Active => Type::Bool,
            Parameter::Site => Type::Bv(16),
            Parameter::Offset | Parameter::Width | Parameter::Value => Type::Bv(64),
            Parameter::Scope => Type::Bv(8),
        }
    }
}

/// A prelude that keeps the contract.
#[derive(Clone, Debug)]
pub struct Prelude {
    program: Program,
}

/// The two questions that a prelude may ask about the program it is instantiated for; uses of the
/// constants `_SAME_BLOCK` and `_ALLOW_SAME_VALUE` become these values.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Both threads are of one block.
    pub same_block: bool,
    /// Writes of equal values do not race (`--allow-same-value`).
    pub allow_same_value: bool,
}

/// Parses a prelude and checks the contract.
///
/// # Errors
/// What the parser finds; `prelude-contract` for each missing or wrong name.
pub fn load(text: &str) -> Result<Prelude, Vec<Diagnostic>> {
    let program = ivl::parse(text)?;
    let errors = contract_errors(&program);
    if errors.is_empty() { Ok(Prelude { program }) } else { Err(errors) }
}

fn contract_error(message: String, span: Span) -> Diagnostic {
    Diagnostic::error("prelude-contract", message, span).note("prelude/README.md lists what a prelude must declare")
}

fn contract_errors(program: &Program) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let constants: Vec<&Variable> = program.constants.iter().map(|constant| &constant.variable).collect();
    let globals: Vec<&Variable> = program.globals.iter().collect();
    let has = |name: &str, ty: Type, among: &[&Variable]| {
        among.iter().any(|variable| variable.name.as_str() == name && variable.ty == ty)
    };
    if !has("_TRACKED_SITE", Type::Bv(16), &constants) {
        errors.push(contract_error("the constant `_TRACKED_SITE: bv16` is missing".into(), Span::NONE));
    }
    let watched = |among| has("_WATCHED_OFFSET_$ARRAY", Type::Bv(64), among);
    if !watched(&constants) && !watched(&globals) {
        let message = "the constant or variable `_WATCHED_OFFSET_$ARRAY: bv64` is missing";
        errors.push(contract_error(message.into(), Span::NONE));
    }
    for kind in ["READ", "WRITE", "STRONG_READ", "STRONG_WRITE"] {
        let flag = format!("_{kind}_HAS_OCCURRED_$ARRAY");
        if !has(&flag, Type::Bool, &globals) {
            errors.push(contract_error(format!("the variable `{flag}: bool` is missing"), Span::NONE));
        }
    }
    for (stem, parameters, logs) in PROCEDURES {
        errors.extend(procedure_error(program, stem, parameters, logs));
    }
    if let Some(array) = program.arrays.first() {
        errors.push(contract_error("a prelude declares no shared arrays".into(), array.span));
    }
    errors.extend(program.procedures.iter().filter_map(body_error));
    errors.extend(stray_template(program));
    errors
}

fn procedure_error(program: &Program, stem: &str, parameters: &[Parameter], logs: bool) -> Option<Diagnostic> {
    let name = format!("{stem}_{PLACEHOLDER}");
    let Some(procedure) = program.procedures.iter().find(|procedure| procedure.name.as_str() == name) else {
        return Some(contract_error(format!("the procedure `{name}` is missing"), Span::NONE));
    };
    let params: Vec<Type> = parameters.iter().map(|parameter| parameter.ty()).collect();
    let results = if logs { vec![Type::Bool] } else { Vec::new() };
    let types = |variables: &[Variable]| variables.iter().map(|variable| variable.ty.clone()).collect::<Vec<_>>();
    let right = types(&procedure.params) == params && types(&procedure.results) == results;
    (!right).then(|| {
        contract_error(format!("`{name}` does not have the parameters and results of the contract"), procedure.span)
    })
}

/// Bodies are inlined as straight lines, so they have one block and call nothing.
fn body_error(procedure: &Procedure) -> Option<Diagnostic> {
    let refuse = |message: &str| Some(contract_error(format!("`{}` {message}", procedure.name), procedure.span));
    if !procedure.requires.is_empty() || !procedure.ensures.is_empty() {
        return refuse("has pre- or postconditions; use `assert` and `assume` in its body");
    }
    if !procedure.attributes.iter().any(|attribute| attribute.name.as_str() == "inline") {
        return refuse("lacks the attribute `{:inline 1}`");
    }
    match procedure.body.as_ref().map(|body| &body.blocks[..]) {
        Some([Block { stmts, transfer: Transfer::Return, .. }]) => {
            let plain = |stmt: &Stmt| {
                use StmtKind::*;
                matches!(stmt.kind, Assign(_) | Havoc(_) | Assume(_) | Assert(_))
            };
            if stmts.iter().all(plain) { None } else { refuse("may only assign, havoc, assume and assert") }
        }
        Some(_) => refuse("branches; its body must be a straight line"),
        None => refuse("has no body"),
    }
}

/// A declaration that exists once cannot speak of "the" array.
fn stray_template(program: &Program) -> Vec<Diagnostic> {
    let complain =
        |name: &Name, span| contract_error(format!("`{name}` uses a `{PLACEHOLDER}` name but is no template"), span);
    let mut errors = Vec::new();
    for procedure in program.procedures.iter().filter(|procedure| !is_template(&procedure.name)) {
        let mut found = Placeholders::default();
        found.procedure(procedure);
        if found.0 || procedure.modifies.iter().any(is_template) {
            errors.push(complain(&procedure.name, procedure.span));
        }
    }
    for function in program.functions.iter().filter(|function| !is_template(&function.name)) {
        if function.body.as_ref().is_some_and(mentions_array) {
            errors.push(complain(&function.name, function.span));
        }
    }
    errors
}

fn is_template(name: &Name) -> bool {
    name.as_str().contains(PLACEHOLDER)
}

fn mentions_array(expr: &ExprRef) -> bool {
    let mut found = Placeholders::default();
    found.expr(expr);
    found.0
}

/// Looks for names of templates.
#[derive(Default)]
struct Placeholders(bool);

impl Visitor for Placeholders {
    fn expr(&mut self, expr: &ExprRef) {
        if let ExprKind::Var(name) | ExprKind::Call(name, _) = &expr.kind {
            self.0 |= is_template(name);
        }
        walk_expr(self, expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.0 |= crate::ivl::visit::assigned(stmt).into_iter().any(is_template);
        walk_stmt(self, stmt);
    }
}

impl Prelude {
    /// The declarations that exist once.
    pub fn common(&self, setting: Setting) -> Program {
        self.select(&Instantiation { array: None, setting })
    }

    /// The declarations for one array.
    pub fn instantiate(&self, array: &Name, setting: Setting) -> Program {
        self.select(&Instantiation { array: Some(array), setting })
    }

    fn select(&self, to: &Instantiation) -> Program {
        let wanted = |name: &Name| is_template(name) == to.array.is_some() && to.setting.value(name).is_none();
        let program = &self.program;
        Program {
            types: Vec::new(),
            implementations: Vec::new(),
            constants: program.constants.iter().filter(|c| wanted(&c.variable.name)).map(|c| to.constant(c)).collect(),
            functions: program.functions.iter().filter(|f| wanted(&f.name)).map(|f| to.function(f)).collect(),
            axioms: program
                .axioms
                .iter()
                .filter(|axiom| mentions_array(&axiom.expr) == to.array.is_some())
                .map(|axiom| to.condition(axiom))
                .collect(),
            globals: program.globals.iter().filter(|g| wanted(&g.name)).map(|g| to.variable(g)).collect(),
            arrays: Vec::new(),
            procedures: program.procedures.iter().filter(|p| wanted(&p.name)).map(|p| to.procedure(p)).collect(),
        }
    }
}

impl Setting {
    /// The value of a constant that a setting decides.
    fn value(self, name: &Name) -> Option<bool> {
        match name.as_str() {
            "_SAME_BLOCK" => Some(self.same_block),
            "_ALLOW_SAME_VALUE" => Some(self.allow_same_value),
            _ => None,
        }
    }
}

/// `x := x`, which folding may leave.
fn is_idle(stmt: &Stmt) -> bool {
    let keeps = |(name, value): &(Name, ExprRef)| matches!(&value.kind, ExprKind::Var(other) if other == name);
    matches!(&stmt.kind, StmtKind::Assign(pairs) if pairs.iter().all(keeps))
}

/// Copies declarations, putting an array for the placeholder.
struct Instantiation<'a> {
    array: Option<&'a Name>,
    setting: Setting,
}

impl Instantiation<'_> {
    fn name(&self, name: &Name) -> Name {
        match self.array {
            Some(array) if is_template(name) => Name::from(name.as_str().replace(PLACEHOLDER, array.as_str())),
            _ => name.clone(),
        }
    }

    fn expr(&self, expr: &ExprRef) -> ExprRef {
        let inner = map_children(expr, &mut |child| self.expr(child));
        match &inner.kind {
            ExprKind::Var(name) => match self.setting.value(name) {
                Some(value) => bv::boolean(value),
                None if is_template(name) => bv::var(self.name(name), inner.ty.clone()),
                None => inner,
            },
            ExprKind::Call(name, args) if is_template(name) => {
                bv::call(self.name(name), args.clone(), inner.ty.clone())
            }
            // Rebuilt so that literals fold.
            ExprKind::Binary(op, a, b) => bv::op(*op, a.clone(), b.clone()),
            ExprKind::Unary(UnaryOp::Not, a) => bv::not(a.clone()),
            ExprKind::Ite(c, a, b) => bv::ite(c.clone(), a.clone(), b.clone()),
            _ => inner,
        }
    }

    fn attributes(&self, attributes: &[Attribute]) -> Vec<Attribute> {
        let mut attributes: Vec<Attribute> =
            attributes.iter().map(|attribute| map_attribute(attribute, &mut |e| self.expr(e))).collect();
        for arg in attributes.iter_mut().flat_map(|attribute| &mut attribute.args) {
            if let (AttributeArg::Text(text), Some(array)) = (arg, self.array) {
                *text = text.replace(PLACEHOLDER, array.as_str());
            }
        }
        attributes
    }

    fn variable(&self, variable: &Variable) -> Variable {
        let attributes = self.attributes(&variable.attributes);
        // Spans point into the prelude, which is not the user's input.
        Variable {
            name: self.name(&variable.name),
            ty: variable.ty.clone(),
            where_clause: None,
            attributes,
            span: Span::NONE,
        }
    }

    fn constant(&self, constant: &Constant) -> Constant {
        Constant { variable: self.variable(&constant.variable), unique: constant.unique }
    }

    fn function(&self, function: &Function) -> Function {
        Function {
            name: self.name(&function.name),
            body: function.body.as_ref().map(|body| self.expr(body)),
            span: Span::NONE,
            ..function.clone()
        }
    }

    fn condition(&self, condition: &Condition) -> Condition {
        let attributes = self.attributes(&condition.attributes);
        Condition { free: condition.free, expr: self.expr(&condition.expr), attributes, span: Span::NONE }
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let mut result = map_stmt(stmt, &mut |e| self.expr(e));
        match &mut result.kind {
            StmtKind::Assign(pairs) => pairs.iter_mut().for_each(|(name, _)| *name = self.name(name)),
            StmtKind::Havoc(names) => names.iter_mut().for_each(|name| *name = self.name(name)),
            _ => {}
        }
        result.attributes = self.attributes(&stmt.attributes);
        result.span = Span::NONE;
        result
    }

    fn procedure(&self, procedure: &Procedure) -> Procedure {
        let variables = |list: &[Variable]| list.iter().map(|variable| self.variable(variable)).collect();
        let block = |block: &Block| Block {
            label: block.label.clone(),
            stmts: block.stmts.iter().map(|stmt| self.stmt(stmt)).filter(|stmt| !is_idle(stmt)).collect(),
            transfer: block.transfer.clone(),
            span: Span::NONE,
            end: Span::NONE,
        };
        Procedure {
            name: self.name(&procedure.name),
            params: variables(&procedure.params),
            results: variables(&procedure.results),
            modifies: procedure.modifies.iter().map(|name| self.name(name)).collect(),
            requires: Vec::new(),
            ensures: Vec::new(),
            body: procedure.body.as_ref().map(|body| Implementation {
                locals: variables(&body.locals),
                blocks: body.blocks.iter().map(block).collect(),
            }),
            attributes: self.attributes(&procedure.attributes),
            span: Span::NONE,
        }
    }
}
