//! What surrounds a body: axioms, where clauses, its own contract and those of the procedures that it calls.
//!
//! Establishes: a call checks the preconditions of the callee, gives arbitrary values to its results and to what it
//! modifies, and assumes its postconditions; every return checks the postconditions. Relies on: `modifies` lists all
//! that a body changes ([`crate::ivl::check`]). Reference: Boogie 2, procedures and calls.

use super::passify::Generator;
use super::passive::{Check, CheckKind, PassiveItem};
use super::shown::Shower;
use super::term::{Quantifier, Sort, Term};
use super::translate::{Environment, Language, Scope};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{
    Attribute, BinaryOp, Block, Condition, Expr, ExprKind, FREE_CALL, Function, Name, Stmt, StmtKind, Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::span::Span;
use std::collections::BTreeSet;

/// An assertion that is a clause of a contract.
pub const PRECONDITION: &str = "precondition";
/// Likewise.
pub const POSTCONDITION: &str = "postcondition";

/// Whether a constant stands for a choice: `const {:existential true} b: bool;`.
pub fn is_existential(variable: &Variable) -> bool {
    variable.ty == Type::Bool && variable.attributes.is_set_to("existential", true)
}

fn assumption(term: Term) -> PassiveItem {
    PassiveItem::Assume { term, candidate: None, defines: None }
}

/// Names of one declaration for the values of another: `(formal, actual value)`.
fn bind(formals: &[Variable], values: impl IntoIterator<Item = Term>) -> Vec<(Name, Term)> {
    formals.iter().map(|formal| formal.name.clone()).zip(values).collect()
}

impl Generator<'_> {
    /// The values of global variables.
    pub(super) fn globals_of(&self, env: &Environment) -> Environment {
        let value = |global: &Variable| Some((global.name.clone(), *env.get(&global.name)?));
        self.program.globals.iter().filter_map(value).collect()
    }

    /// The names that the contract of the own procedure uses, for the values of the body's names.
    pub(super) fn own_names(&self, env: &Environment) -> Vec<(Name, Term)> {
        let procedure = self.target.procedure;
        let pairs = procedure.params.iter().zip(self.target.params);
        let pairs = pairs.chain(procedure.results.iter().zip(self.target.results));
        pairs.filter_map(|(formal, own)| Some((formal.name.clone(), *env.get(&own.name)?))).collect()
    }

    /// Axioms, definitions of functions, unique constants, and the where clauses of all variables.
    pub(super) fn background(&mut self, env: &Environment, items: &mut Vec<PassiveItem>) -> Result<(), Diagnostic> {
        for axiom in &self.program.axioms {
            let term = self.translator.expr(&mut self.terms, env, &axiom.expr)?;
            items.push(assumption(term));
        }
        if self.translator.language == Language::Kernel {
            return Ok(());
        }
        let program = self.program;
        for name in self.translator.by_axiom.clone() {
            let Some(function) = program.functions.iter().find(|function| function.name == name) else { continue };
            let term = self.definition(function, env)?;
            items.push(assumption(term));
        }
        self.distinct_constants(env, items);
        let names: Vec<Name> = self.variables.keys().map(|name| (*name).clone()).collect();
        self.where_clauses(&names, env, items)?;
        // The procedure may say more of its parameters and results than the body.
        let procedure = self.target.procedure;
        for clause in procedure.params.iter().chain(&procedure.results).filter_map(|v| v.where_clause.as_ref()) {
            let mut scope = Scope::new(env, None).with(self.own_names(env));
            let term = self.translator.in_scope(&mut self.terms, &mut scope, clause)?;
            items.push(assumption(term));
        }
        Ok(())
    }

    /// `forall x :: { f(x) } f(x) == body`
    fn definition(&mut self, function: &Function, env: &Environment) -> Result<Term, Diagnostic> {
        let Some(body) = &function.body else { panic!("vcgen: a function without a body is defined") };
        let mut variables = Vec::new();
        for (name, ty) in &function.params {
            let sort = self.translator.sort_of(&mut self.terms, ty, function.span)?;
            variables.push(self.terms.fresh(&format!("{name}@bound"), sort));
        }
        let bound = function.params.iter().map(|p| p.0.clone()).zip(variables.iter().copied()).collect();
        let mut scope = Scope::new(env, None).with(bound);
        let body = self.translator.in_scope(&mut self.terms, &mut scope, body)?;
        let result = self.translator.sort_of(&mut self.terms, &function.result, function.span)?;
        let application = self.terms.apply(function.name.as_str(), variables.clone(), result);
        let body = self.terms.eq(application, body);
        let triggers = vec![vec![application]];
        Ok(self.terms.quantifier(Quantifier { universal: true, variables, triggers, body }))
    }

    /// Unique constants of a type differ: a function numbers them.
    fn distinct_constants(&mut self, env: &Environment, items: &mut Vec<PassiveItem>) {
        for (number, constant) in self.program.constants.iter().filter(|c| c.unique).enumerate() {
            let Some(&value) = env.get(&constant.variable.name) else { continue };
            let function = format!("{}@number", crate::ivl::print_type(&constant.variable.ty));
            let numbered = self.terms.apply(&function, vec![value], Sort::Int);
            let number = self.terms.int(number as i128);
            items.push(assumption(self.terms.eq(numbered, number)));
        }
    }

    /// Assumes what is declared of variables that have just got arbitrary values.
    pub(super) fn where_clauses(
        &mut self,
        names: &[Name],
        env: &Environment,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        if self.translator.language == Language::Kernel {
            return Ok(());
        }
        for name in names {
            if let Some(clause) = self.variables.get(name).and_then(|variable| variable.where_clause.as_ref()) {
                let term = self.value(env, clause)?;
                items.push(assumption(term));
            }
        }
        Ok(())
    }

    /// A call that stands for what the contract of the callee says.
    pub(super) fn call_by_contract(
        &mut self,
        call: &Stmt,
        name: &Name,
        args: Vec<Term>,
        results: &[Name],
        env: &mut Environment,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        let Some(callee) = self.program.procedures.iter().find(|p| p.name == *name) else {
            panic!("vcgen: the procedure {name} is not declared");
        };
        let mut bound = bind(&callee.params, args);
        let is_free = call.attributes.has(FREE_CALL);
        for requires in callee.requires.iter().filter(|requires| !requires.free && !is_free) {
            let scope = Scope::new(env, None).with(bound.clone());
            self.check_clause(requires, PRECONDITION, (call.span, &call.attributes), &scope, items)?;
        }
        let before = self.globals_of(env);
        for global in &callee.modifies {
            self.havoc(global, env)?;
        }
        self.where_clauses(&callee.modifies, env, items)?;
        let mut values = Vec::new();
        for result in &callee.results {
            let sort = self.translator.sort_of(&mut self.terms, &result.ty, result.span)?;
            values.push(self.terms.fresh(result.name.as_str(), sort));
        }
        bound.extend(bind(&callee.results, values.iter().copied()));
        let clauses = callee.results.iter().filter_map(|result| result.where_clause.as_ref());
        for clause in clauses.chain(callee.ensures.iter().map(|ensures| &ensures.expr)) {
            let mut scope = Scope::new(env, Some(&before)).with(bound.clone());
            let term = self.translator.in_scope(&mut self.terms, &mut scope, clause)?;
            items.push(assumption(term));
        }
        for (result, value) in results.iter().zip(values) {
            env.insert(result.clone(), value);
        }
        Ok(())
    }

    /// Checks the postconditions of the own procedure where a block returns.
    pub(super) fn postconditions(
        &mut self,
        block: &Block,
        env: &Environment,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        let procedure = self.target.procedure;
        let before = self.at_start.clone();
        for ensures in procedure.ensures.iter().filter(|ensures| !ensures.free) {
            let scope = Scope::new(env, Some(&before)).with(self.own_names(env));
            self.check_clause(ensures, POSTCONDITION, (block.end, &[]), &scope, items)?;
        }
        Ok(())
    }

    fn check_clause(
        &mut self,
        clause: &Condition,
        kind: &str,
        (span, more): (Span, &[Attribute]),
        scope: &Scope,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        let term = self.translator.in_scope(&mut self.terms, &mut scope.clone(), &clause.expr)?;
        let mut attributes = vec![Attribute { name: Name::from(kind), args: Vec::new() }];
        attributes.extend(clause.attributes.iter().chain(more).cloned());
        let mut shower = Shower { translator: &self.translator, terms: &mut self.terms };
        let values = shower.of(&attributes, &clause.expr, scope, None)?;
        let (kind, related, guards) = (CheckKind::Assertion, Some(clause.span), self.guards(&clause.expr));
        self.check(
            Check { term, kind, candidate: None, attributes, origin: None, span, related, guards, values },
            items,
        );
        Ok(())
    }

    /// The constants marked `{:existential true}` in front of a formula: `b ==> c ==> e`.
    pub(super) fn guards(&self, e: &Expr) -> Vec<Name> {
        let mut guards = Vec::new();
        let mut rest = e;
        while let ExprKind::Binary(BinaryOp::Implies, condition, then) = &rest.kind {
            if let ExprKind::Var(name) = &condition.kind
                && self.variables.get(name).is_some_and(|variable| is_existential(variable))
            {
                guards.push(name.clone());
            }
            rest = then;
        }
        guards
    }

    /// What a block assigns, with the values at its end.
    pub(super) fn assigned_values(&self, block: &Block, env: &Environment) -> Vec<(Name, Term)> {
        if self.translator.language == Language::Kernel {
            return Vec::new();
        }
        let mut names = BTreeSet::new();
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Call { results, .. } => names.extend(results),
                _ => names.extend(crate::ivl::visit::assigned(stmt)),
            }
        }
        names.into_iter().filter_map(|name| Some((name.clone(), *env.get(name)?))).collect()
    }
}
