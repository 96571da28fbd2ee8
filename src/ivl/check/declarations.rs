//! Declarations: names, types, functions, conditions, procedures.

use super::super::ast::*;
use super::super::bv_definitions::{self, builtin_text};
use super::super::bv_names::{Builtin, MAX_WIDTH, parse_builtin};
use super::super::print;
use super::super::print_expr::print_type;
use super::super::scope::with_suggestion;
use super::super::subset;
use super::super::surface::Synonym;
use super::super::token;
use super::super::visit;
use super::{Checker, Context, Entry, EntryKind, Mode, ProcedureSignature, Signature, launch_constant};
use crate::diagnostic::Diagnostic;
use crate::ivl::attributes::{ASSUMPTION, Attributes};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

impl Checker<'_> {
    /// Checks everything, in the order declarations print.
    pub(super) fn program(&mut self, program: &mut Program, synonyms: Vec<Synonym>) {
        self.kernel = !program.arrays.is_empty() || program.procedures.iter().any(|p| p.attributes.has("kernel"));
        self.declare_types(&mut program.types, synonyms);
        self.declare_functions(program);
        self.declare_variables(program);
        self.declare_procedures(&mut program.procedures);
        self.context = Context::State;
        program.types.iter_mut().for_each(|ty| self.attributes(&mut ty.attributes, ty.span));
        program.constants.iter_mut().for_each(|constant| self.annotations(&mut constant.variable));
        program.globals.iter_mut().for_each(|global| self.annotations(global));
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
            self.attributes(&mut axiom.attributes, axiom.span);
            self.context = Context::Pure;
            self.condition(axiom);
        }
        for procedure in &mut program.procedures {
            self.procedure(procedure);
        }
        for implementation in &mut program.implementations {
            self.implementation(implementation);
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
            self.declare_top_level(&mut constant.variable, EntryKind::Constant);
        }
        for global in &mut program.globals {
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
            self.declare_top_level(&mut Variable { name, ty, where_clause: None, attributes, span }, kind);
        }
    }

    fn declare_top_level(&mut self, variable: &mut Variable, kind: EntryKind) {
        self.reserved(variable, kind);
        self.resolve(&mut variable.ty, variable.span);
        let Variable { name, ty, span, .. } = variable;
        self.identifier(name, *span);
        if let Some(first) = self.top_level.get(name).map(|e| e.span) {
            self.duplicate("variable", name, *span, first);
        }
        let is_assumption = variable.attributes.is_on(ASSUMPTION);
        let entry = Entry { name: name.clone(), ty: ty.clone(), kind, span: *span, is_assumption };
        self.top_level.insert(name.clone(), entry);
    }

    /// What is inlined has a scope of its own in `vcgen`, so the prelude's parameters may be called as the kernel's are.
    fn enter_scope(&mut self, attributes: &[Attribute]) {
        self.may_hide = self.mode == Mode::Verify && attributes.has("inline");
    }

    /// Declares a parameter, result or local, whose type is resolved already.
    fn declare_local(&mut self, variable: &mut Variable, kind: EntryKind) {
        self.reserved(variable, kind);
        let Variable { name, ty, span, .. } = variable;
        self.identifier(name, *span);
        if let Some(first) = self.local.get(name).map(|e| e.span) {
            self.duplicate("variable", name, *span, first);
        }
        let written = name.clone();
        if self.top_level.contains_key(name) && !self.may_hide {
            *name = self.unhidden("local variable", &written, *span);
        }
        let is_assumption = variable.attributes.is_on(ASSUMPTION);
        let entry = Entry { name: name.clone(), ty: ty.clone(), kind, span: *span, is_assumption };
        self.local.insert(written, entry);
    }

    fn declare_locals(&mut self, variables: &mut [Variable], kind: EntryKind) {
        variables.iter_mut().for_each(|variable| self.declare_local(variable, kind));
        variables.iter_mut().for_each(|variable| self.annotations(variable));
    }

    fn resolve_all(&mut self, variables: &mut [Variable]) {
        variables.iter_mut().for_each(|variable| self.resolve(&mut variable.ty, variable.span));
    }

    /// Attributes and `where`, which see all that is declared beside the variable, in one state.
    fn annotations(&mut self, variable: &mut Variable) {
        self.attributes(&mut variable.attributes, variable.span);
        self.assumption_variable(variable);
        let Some(clause) = &variable.where_clause else { return };
        let outer = std::mem::replace(&mut self.context, Context::State);
        if let Some(typed) = self.expr_of(clause, &Type::Bool, "a where clause") {
            variable.where_clause = Some(typed);
        }
        self.context = outer;
    }

    /// In a kernel program `tid.x` is nothing but the thread's number: taking it for a value that all
    /// threads share would prove too much.
    fn reserved(&mut self, variable: &Variable, kind: EntryKind) {
        let Some(attribute) = launch_constant(variable.name.as_str()).filter(|_| self.kernel) else { return };
        let attributed = variable.attributes.has(attribute);
        if kind != EntryKind::Constant || variable.ty != Type::Bv(32) || !attributed {
            let message = format!("`{0}` is only declared as `const {{:{attribute}}} {0}: bv32;`", variable.name);
            self.error("ivl-kernel", message, variable.span);
        }
    }

    pub(super) fn duplicate(&mut self, what: &str, name: &Name, span: Span, first: Span) {
        // Functions are declared in front of procedures, wherever they stand.
        let (first, span) = (first.min(span), first.max(span));
        let message = format!("another {what} is called `{name}`");
        self.report(Diagnostic::error("ivl-duplicate", message, span).also(first, "first declared here"));
    }

    /// Names of generated code must be writable.
    pub(super) fn identifier(&mut self, name: &Name, span: Span) {
        if !token::is_identifier(name.as_str()) {
            self.error("ivl-name", format!("{:?} is not an identifier", name.as_str()), span);
        }
    }

    fn declare_functions(&mut self, program: &mut Program) {
        for function in &mut program.functions {
            let span = self.word(function.span, &function.name);
            self.callable("function", &function.name, span);
            function.params.iter_mut().for_each(|(_, ty)| self.resolve(ty, span));
            self.resolve(&mut function.result, span);
            let params: Vec<Type> = function.params.iter().map(|(_, ty)| ty.clone()).collect();
            let standard = self.standard_name(function, &params, span);
            let signature = Signature { params, result: function.result.clone(), standard, span };
            self.functions.entry(function.name.clone()).or_insert(signature);
        }
    }

    /// Functions and procedures share their names.
    fn callable(&mut self, what: &str, name: &Name, span: Span) {
        self.identifier(name, span);
        match self.callables.get(name) {
            Some(first) => self.duplicate(what, name, span, *first),
            None => {
                self.callables.insert(name.clone(), span);
            }
        }
    }

    /// The standard name of a function that is declared with `:bvbuiltin` or is called like a builtin. One that is
    /// defined by others gets a body.
    fn standard_name(&mut self, function: &mut Function, params: &[Type], span: Span) -> Option<Name> {
        let own = parse_builtin(function.name.as_str());
        let declared = match builtin_text(function) {
            Some(text) => {
                let builtin = Builtin::from_smt_name(text, params, &function.result);
                let text = text.to_string();
                if builtin.is_none() && (self.mode == Mode::Verify || !bv_definitions::define(function)) {
                    self.unknown_builtin(&text, span);
                    return None;
                }
                builtin
            }
            None => own.filter(|builtin| print::defines_signed_value(*builtin, function)),
        };
        if own.is_some() && declared != own {
            let message = format!("`{}` is built in and cannot mean anything else", function.name);
            self.error("ivl-duplicate", message, span);
        }
        declared.map(Builtin::name)
    }

    fn unknown_builtin(&mut self, text: &str, span: Span) {
        let known = match bv_definitions::words(text).first() {
            Some(word) => word.starts_with("bv") || word.ends_with("_extend") || word.contains("bv"),
            None => false,
        };
        let error = match known {
            true => {
                let message = format!("no bit-vector operator \"{text}\" has this signature");
                Diagnostic::error("ivl-type", message, span)
            }
            false => subset::error(format!("the built-in function \"{text}\""), span),
        };
        self.report(error);
    }

    fn function(&mut self, function: &mut Function) {
        self.place = format!("function `{}`", function.name);
        self.context = Context::Pure;
        self.visited.clear();
        self.enter_scope(&function.attributes);
        for (name, ty) in function.params.iter_mut().filter(|(name, _)| !name.as_str().is_empty()) {
            let span = self.word(function.span, name);
            let mut variable = Variable { span, ..Variable::new(name.clone(), ty.clone()) };
            self.declare_local(&mut variable, EntryKind::Parameter);
            *name = variable.name;
        }
        self.attributes(&mut function.attributes, function.span);
        if let Some(body) = &mut function.body
            && let Some(typed) = self.expr_of(body, &function.result, "the body of this function")
        {
            *body = typed;
        }
        self.local.clear();
    }

    /// Functions that are abbreviations must not need themselves: those that are `{:inline}`, and all that kernels use.
    fn recursion(&mut self, functions: &[Function]) {
        let inline = |f: &Function| f.attributes.is_on("inline");
        let abbreviations = functions.iter().filter(|f| self.kernel || inline(f));
        let bodies: BTreeMap<&Name, &ExprRef> =
            abbreviations.filter_map(|f| Some((&f.name, f.body.as_ref()?))).collect();
        let mut done = BTreeSet::new();
        for function in functions {
            let mut path = Vec::new();
            if let Some(name) = find_cycle(&function.name, &bodies, &mut path, &mut done) {
                let message = format!("the function `{name}` is defined by itself");
                self.error("ivl-type", message, self.word(function.span, name));
            }
        }
    }

    fn condition(&mut self, condition: &mut Condition) {
        if let Some(typed) = self.expr_of(&condition.expr, &Type::Bool, "a condition") {
            condition.expr = typed;
        }
    }

    /// A precondition or postcondition.
    fn clause(&mut self, condition: &mut Condition) {
        self.loose_attributes(&mut condition.attributes, condition.span);
        self.condition(condition);
    }

    fn declare_procedures(&mut self, procedures: &mut [Procedure]) {
        for procedure in procedures {
            self.callable("procedure", &procedure.name, self.word(procedure.span, &procedure.name));
            self.resolve_all(&mut procedure.params);
            self.resolve_all(&mut procedure.results);
            let types = |variables: &[Variable]| variables.iter().map(|v| v.ty.clone()).collect();
            let signature = ProcedureSignature {
                params: types(&procedure.params),
                results: types(&procedure.results),
                modifies: procedure.modifies.clone(),
                span: procedure.span,
                kernel: procedure.attributes.has("kernel"),
            };
            self.procedures.entry(procedure.name.clone()).or_insert(signature);
        }
    }

    fn procedure(&mut self, procedure: &mut Procedure) {
        self.place = format!("procedure `{}`", procedure.name);
        self.visited.clear();
        self.context = Context::State;
        self.enter_scope(&procedure.attributes);
        for name in &procedure.modifies {
            self.modifies(name, procedure.span);
        }
        self.declare_locals(&mut procedure.params, EntryKind::Parameter);
        procedure.requires.iter_mut().for_each(|c| self.clause(c));
        // Results are not in scope above, so nothing found right there depends on them.
        self.declare_locals(&mut procedure.results, EntryKind::Result);
        self.attributes(&mut procedure.attributes, procedure.span);
        self.context = Context::TwoState;
        procedure.ensures.iter_mut().for_each(|c| self.clause(c));
        if let Some(body) = &mut procedure.body {
            let Procedure { name, attributes, modifies, span, .. } = procedure;
            self.body(name, body, modifies, (attributes, *span));
        }
        self.local.clear();
    }

    /// `attributes` are those of the implementation at `span`, which see the local variables.
    fn body(
        &mut self,
        procedure: &Name,
        body: &mut Implementation,
        modifies: &[Name],
        (attributes, span): (&mut [Attribute], Span),
    ) {
        self.resolve_all(&mut body.locals);
        self.declare_locals(&mut body.locals, EntryKind::Local);
        self.attributes(attributes, span);
        self.assumed.clear();
        self.blocks(procedure, &mut body.blocks, modifies, span);
    }

    fn implementation(&mut self, implementation: &mut SeparateImplementation) {
        let name = implementation.procedure.clone();
        self.place = format!("implementation `{name}`");
        self.visited.clear();
        self.context = Context::State;
        self.resolve_all(&mut implementation.params);
        self.resolve_all(&mut implementation.results);
        let word = self.word(implementation.span, &name);
        let modifies = match self.procedures.get(&name).cloned() {
            Some(signature) => {
                let declared = (signature.span, word);
                self.agree("parameter", &implementation.params, &signature.params, declared);
                self.agree("result", &implementation.results, &signature.results, declared);
                if signature.kernel {
                    let message = format!("the kernel `{name}` has its body in place, not in an implementation");
                    self.report(Diagnostic::error("ivl-kernel", message, word).also(signature.span, "declared here"));
                }
                signature.modifies
            }
            None => {
                let error = Diagnostic::error("ivl-name", format!("no procedure is called `{name}`"), word);
                self.report(with_suggestion(error, &name, self.procedures.keys()));
                Vec::new()
            }
        };
        self.enter_scope(&implementation.attributes);
        self.declare_locals(&mut implementation.params, EntryKind::Parameter);
        self.declare_locals(&mut implementation.results, EntryKind::Result);
        self.context = Context::TwoState;
        let SeparateImplementation { body, attributes, span, .. } = implementation;
        self.body(&name, body, &modifies, (attributes, *span));
        self.local.clear();
    }

    /// Parameters or results of an implementation fit those of its procedure.
    fn agree(&mut self, what: &str, own: &[Variable], declared: &[Type], (declaration, word): (Span, Span)) {
        let label = "declared here";
        if own.len() != declared.len() {
            let message = format!("the procedure has {} {what}s, not {}", declared.len(), own.len());
            self.report_type(Diagnostic::error("ivl-type", message, word).also(declaration, label));
        }
        for (variable, ty) in own.iter().zip(declared) {
            if variable.ty != *ty {
                let (expected, found) = (print_type(ty), print_type(&variable.ty));
                let message = format!("in the procedure this {what} is {expected}, not {found}");
                self.report_type(Diagnostic::error("ivl-type", message, variable.span).also(declaration, label));
            }
        }
    }

    fn modifies(&mut self, name: &Name, head: Span) {
        if matches!(self.top_level.get(name).map(|e| e.kind), Some(EntryKind::Global)) {
            return;
        }
        let word = self.word(Span { start: head.end, end: head.end }, name);
        let place = if self.tokens.is_empty() { head } else { word };
        let error = Diagnostic::error("ivl-modifies", format!("no global variable is called `{name}`"), place);
        let globals = self.top_level.iter().filter(|(_, e)| e.kind == EntryKind::Global).map(|(name, _)| name);
        let error = with_suggestion(error, name, globals);
        match self.top_level.get(name) {
            Some(entry) => self.report_type(error.also(entry.span, "this is no variable")),
            None => self.report(error),
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
