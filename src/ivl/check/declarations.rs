//! Declarations: names, types, functions, conditions, procedures.

use super::super::ast::*;
use super::super::bv_names::{Builtin, MAX_WIDTH, parse_builtin};
use super::super::print;
use super::super::scope::with_suggestion;
use super::super::token;
use super::super::visit;
use super::{Checker, Context, Entry, EntryKind, Mode, ProcedureSignature, Signature, launch_constant};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

impl Checker {
    /// Checks everything, in the order declarations print.
    pub(super) fn program(&mut self, program: &mut Program) {
        self.kernel = !program.arrays.is_empty()
            || program.procedures.iter().any(|p| p.attributes.iter().any(|a| a.name.as_str() == "kernel"));
        self.declare_functions(program);
        self.declare_variables(program);
        self.declare_procedures(&program.procedures);
        for function in &mut program.functions {
            self.function(function);
        }
        self.recursion(&program.functions);
        if self.mode == Mode::Elaborate {
            // Their uses carry the standard names now, which need no declaration.
            let functions = &self.functions;
            program.functions.retain(|f| functions.get(&f.name).is_none_or(|s| s.standard.is_none()));
        }
        for axiom in &mut program.axioms {
            self.place = "an axiom".to_string();
            self.visited.clear();
            self.context = Context::Pure;
            self.condition(axiom);
        }
        for procedure in &mut program.procedures {
            self.procedure(procedure);
        }
        for name in std::mem::take(&mut self.launch_constants) {
            let attribute = Name::new(launch_constant(name.as_str()).unwrap_or("launch"));
            let attributes = vec![Attribute { name: attribute, args: Vec::new() }];
            let variable = Variable { name, ty: Type::Bv(32), where_clause: None, attributes, span: Span::NONE };
            program.constants.push(Constant { variable, unique: false });
        }
    }

    fn declare_variables(&mut self, program: &mut Program) {
        for constant in &mut program.constants {
            self.attributes(&mut constant.variable.attributes);
            self.declare_top_level(&constant.variable, EntryKind::Constant);
        }
        for global in &mut program.globals {
            self.attributes(&mut global.attributes);
            self.declare_top_level(global, EntryKind::Global);
        }
        for array in &program.arrays {
            if array.element_bytes == 0 || array.element_bytes > MAX_WIDTH / 8 {
                let message = format!("an element of array `{}` has {} bytes", array.name, array.element_bytes);
                self.error("ivl-kernel", message, array.span);
                continue;
            }
            let element = Box::new(Type::Bv(8 * array.element_bytes));
            let ty = Type::Map(vec![Type::Bv(64)], element);
            let kind = EntryKind::Array { element_bytes: array.element_bytes };
            let (name, attributes, span) = (array.name.clone(), Vec::new(), array.span);
            self.declare_top_level(&Variable { name, ty, where_clause: None, attributes, span }, kind);
        }
    }

    fn declare_top_level(&mut self, variable: &Variable, kind: EntryKind) {
        self.reserved(variable, kind);
        let Variable { name, ty, span, .. } = variable;
        self.identifier(name, *span);
        self.well_formed(ty, *span);
        if let Some(first) = self.top_level.get(name).map(|e| e.span) {
            self.duplicate("variable", name, *span, first);
        }
        self.top_level.insert(name.clone(), Entry { ty: ty.clone(), kind, span: *span });
    }

    fn declare_local(&mut self, variable: &mut Variable, kind: EntryKind) {
        self.attributes(&mut variable.attributes);
        self.reserved(variable, kind);
        let Variable { name, ty, span, .. } = variable;
        self.identifier(name, *span);
        self.well_formed(ty, *span);
        if let Some(first) = self.local.get(name).or_else(|| self.top_level.get(name)).map(|e| e.span) {
            self.duplicate("variable", name, *span, first);
        }
        self.local.insert(name.clone(), Entry { ty: ty.clone(), kind, span: *span });
    }

    /// In a kernel program `tid.x` is nothing but the thread's number: taking it for a value that all
    /// threads share would prove too much.
    fn reserved(&mut self, variable: &Variable, kind: EntryKind) {
        let Some(attribute) = launch_constant(variable.name.as_str()).filter(|_| self.kernel) else { return };
        let attributed = variable.attributes.iter().any(|a| a.name.as_str() == attribute);
        if kind != EntryKind::Constant || variable.ty != Type::Bv(32) || !attributed {
            let message = format!("`{0}` is only declared as `const {{:{attribute}}} {0}: bv32;`", variable.name);
            self.error("ivl-kernel", message, variable.span);
        }
    }

    fn duplicate(&mut self, what: &str, name: &Name, span: Span, first: Span) {
        let message = format!("another {what} is called `{name}`");
        self.report(Diagnostic::error("ivl-duplicate", message, span).also(first, "first declared here"));
    }

    /// Names of generated code must be writable.
    pub(super) fn identifier(&mut self, name: &Name, span: Span) {
        if !token::is_identifier(name.as_str()) {
            self.error("ivl-name", format!("{:?} is not an identifier", name.as_str()), span);
        }
    }

    /// Widths must be in range.
    pub(super) fn well_formed(&mut self, ty: &Type, span: Span) {
        match ty {
            Type::Bool | Type::Int => {}
            Type::Bv(width) if (1..=MAX_WIDTH).contains(width) => {}
            Type::Bv(width) => self.error("ivl-type", format!("bv{width}: widths are 1 to {MAX_WIDTH}"), span),
            Type::Map(domain, element) => {
                domain.iter().for_each(|ty| self.well_formed(ty, span));
                self.well_formed(element, span);
            }
            Type::Named(_, arguments) => arguments.iter().for_each(|ty| self.well_formed(ty, span)),
        }
    }

    fn declare_functions(&mut self, program: &Program) {
        let mut first = BTreeMap::new();
        for function in &program.functions {
            self.identifier(&function.name, function.span);
            if let Some(span) = first.insert(function.name.clone(), function.span) {
                self.duplicate("function", &function.name, function.span, span);
            }
            let params: Vec<Type> = function.params.iter().map(|(_, ty)| ty.clone()).collect();
            params.iter().chain([&function.result]).for_each(|ty| self.well_formed(ty, function.span));
            let standard = self.standard_name(function, &params);
            let signature = Signature { params, result: function.result.clone(), standard };
            self.functions.insert(function.name.clone(), signature);
        }
    }

    /// The standard name of a function that is declared with `:bvbuiltin` or is called like a builtin.
    fn standard_name(&mut self, function: &Function, params: &[Type]) -> Option<Name> {
        let own = parse_builtin(function.name.as_str());
        let text = function.attributes.iter().find(|a| a.name.as_str() == "bvbuiltin").map(|a| &a.args[..]);
        let declared = match text {
            Some([AttributeArg::Text(text)]) => {
                let builtin = Builtin::from_smt_name(text, params, &function.result);
                if builtin.is_none() {
                    let message = format!("no bit-vector operator \"{text}\" has this signature");
                    self.error("ivl-type", message, function.span);
                    return None;
                }
                builtin
            }
            Some(_) => {
                self.error("ivl-type", "it is written {:bvbuiltin \"bvadd\"}", function.span);
                return None;
            }
            None => own.filter(|builtin| print::defines_signed_value(*builtin, function)),
        };
        if own.is_some() && declared != own {
            let message = format!("`{}` is built in and cannot mean anything else", function.name);
            self.error("ivl-duplicate", message, function.span);
        }
        declared.map(Builtin::name)
    }

    fn function(&mut self, function: &mut Function) {
        self.place = format!("function `{}`", function.name);
        self.context = Context::Pure;
        self.visited.clear();
        self.attributes(&mut function.attributes);
        for (name, ty) in function.params.iter().filter(|(name, _)| !name.as_str().is_empty()) {
            let (name, ty, span) = (name.clone(), ty.clone(), function.span);
            self.declare_local(
                &mut Variable { name, ty, where_clause: None, attributes: Vec::new(), span },
                EntryKind::Parameter,
            );
        }
        if let Some(body) = &mut function.body
            && let Some(typed) = self.expr_of(body, &function.result, "the body of this function")
        {
            *body = typed;
        }
        self.local.clear();
    }

    /// Functions with bodies are abbreviations, so they must not need themselves.
    fn recursion(&mut self, functions: &[Function]) {
        let bodies: BTreeMap<&Name, &ExprRef> =
            functions.iter().filter_map(|f| Some((&f.name, f.body.as_ref()?))).collect();
        let mut done = BTreeSet::new();
        for function in functions {
            let mut path = Vec::new();
            if let Some(name) = find_cycle(&function.name, &bodies, &mut path, &mut done) {
                let message = format!("the function `{name}` is defined by itself");
                self.error("ivl-type", message, function.span);
            }
        }
    }

    fn condition(&mut self, condition: &mut Condition) {
        self.attributes(&mut condition.attributes);
        if let Some(typed) = self.expr_of(&condition.expr, &Type::Bool, "a condition") {
            condition.expr = typed;
        }
    }

    pub(super) fn attributes(&mut self, attributes: &mut [Attribute]) {
        for arg in attributes.iter_mut().flat_map(|a| &mut a.args) {
            if let AttributeArg::Expr(e) = arg
                && let Some(typed) = self.expr(e)
            {
                *e = typed;
            }
        }
    }

    fn declare_procedures(&mut self, procedures: &[Procedure]) {
        let mut first = BTreeMap::new();
        for procedure in procedures {
            self.identifier(&procedure.name, procedure.span);
            if let Some(span) = first.insert(procedure.name.clone(), procedure.span) {
                self.duplicate("procedure", &procedure.name, procedure.span, span);
            }
            let types = |variables: &[Variable]| variables.iter().map(|v| v.ty.clone()).collect();
            let signature = ProcedureSignature {
                params: types(&procedure.params),
                results: types(&procedure.results),
                modifies: procedure.modifies.clone(),
            };
            self.procedures.insert(procedure.name.clone(), signature);
        }
    }

    fn procedure(&mut self, procedure: &mut Procedure) {
        self.place = format!("procedure `{}`", procedure.name);
        self.visited.clear();
        self.context = Context::State;
        self.attributes(&mut procedure.attributes);
        for name in &procedure.modifies {
            self.modifies(name, procedure.span);
        }
        procedure.params.iter_mut().for_each(|v| self.declare_local(v, EntryKind::Parameter));
        procedure.requires.iter_mut().for_each(|c| self.condition(c));
        // Results are not in scope above, so nothing found right there depends on them.
        procedure.results.iter_mut().for_each(|v| self.declare_local(v, EntryKind::Result));
        self.context = Context::TwoState;
        procedure.ensures.iter_mut().for_each(|c| self.condition(c));
        if let Some(body) = &mut procedure.body {
            body.locals.iter_mut().for_each(|v| self.declare_local(v, EntryKind::Local));
            self.blocks(&procedure.name, &mut body.blocks, &procedure.modifies, procedure.span);
        }
        self.local.clear();
    }

    fn modifies(&mut self, name: &Name, span: Span) {
        if !matches!(self.top_level.get(name).map(|e| e.kind), Some(EntryKind::Global)) {
            let error = Diagnostic::error("ivl-modifies", format!("no global variable is called `{name}`"), span);
            let globals = self.top_level.iter().filter(|(_, e)| e.kind == EntryKind::Global).map(|(name, _)| name);
            let error = with_suggestion(error, name, globals);
            self.report(error);
        }
    }
}

/// A function on a cycle of definitions through `name`, looked for once for each function.
fn find_cycle<'a>(
    name: &'a Name,
    bodies: &BTreeMap<&'a Name, &'a ExprRef>,
    path: &mut Vec<&'a Name>,
    done: &mut BTreeSet<&'a Name>,
) -> Option<&'a Name> {
    if path.contains(&name) {
        return Some(name);
    }
    let body = *bodies.get(name)?;
    if !done.insert(name) {
        return None;
    }
    path.push(name);
    let cycle = called(body).into_iter().find_map(|callee| {
        // A function is done as soon as it is on the path, so the path is looked at first.
        path.contains(&callee).then_some(callee).or_else(|| find_cycle(callee, bodies, path, done))
    });
    path.pop();
    cycle
}

fn called(e: &ExprRef) -> Vec<&Name> {
    let mut names: Vec<&Name> = visit::children(e).into_iter().flat_map(called).collect();
    if let ExprKind::Call(name, _) = &e.kind {
        names.push(name);
    }
    names
}
