//! What surrounds a body: axioms, where clauses, its own contract and those of the procedures that it calls.
//!
//! Establishes: a call checks the preconditions of the callee, gives arbitrary values to its results and to what it
//! modifies, and assumes its postconditions; every return checks the postconditions. Relies on: `modifies` lists all
//! that a body changes ([`crate::ivl::check`]). Reference: Boogie 2, procedures and calls.

use super::passify::{Generator, Target};
use super::passive::{Check, CheckKind, PassiveItem};
use super::selective;
use super::shown::Shower;
use super::term::{Quantifier, Sort, Term};
use super::translate::{Environment, Language, Scope};
use super::wp;
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{
    Attribute, BinaryOp, Block, Condition, Expr, ExprKind, ExprRef, FREE_CALL, Function, Implementation, Name, Program,
    Stmt, StmtKind, Type, Variable,
};
use crate::ivl::attributes::{ASSUMPTION, Attributes, SUBSUMPTION, VERIFIED_UNDER};
use crate::ivl::claim::Claim;
use crate::ivl::{bv, visit};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a constant stands for a choice: `const {:existential true} b: bool;`.
pub(crate) fn is_existential(variable: &Variable) -> bool {
    variable.ty == Type::Bool && variable.attributes.switch("existential") == Some(true)
}

/// The attributes of a clause, without those that say something of assertions: Boogie takes these from the call.
pub(crate) fn without_effect(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| ![VERIFIED_UNDER, SUBSUMPTION].contains(&attribute.name.as_str()))
}

/// Names of one declaration for the values of another: `(formal, actual value)`.
fn bind(formals: &[Variable], values: impl IntoIterator<Item = Term>) -> Vec<(Name, Term)> {
    formals.iter().map(|formal| formal.name.clone()).zip(values).collect()
}

/// The where clause of each variable, with the names of the body: an implementation may have others for the parameters
/// and results of its procedure, which has their clauses.
pub(super) fn where_clauses(program: &Program, target: Target, body: &Implementation) -> BTreeMap<Name, ExprRef> {
    let clause = |variable: &Variable| Some((variable.name.clone(), variable.where_clause.clone()?));
    let mut clauses: BTreeMap<Name, ExprRef> = program.globals.iter().chain(&body.locals).filter_map(clause).collect();
    let procedure = target.procedure;
    let formals = || {
        let params = procedure.params.iter().zip(target.params);
        params.chain(procedure.results.iter().zip(target.results))
    };
    let own = formals().map(|(formal, own)| (formal.name.clone(), bv::var(own.name.clone(), own.ty.clone()))).collect();
    clauses.extend(formals().filter_map(|(formal, variable)| {
        Some((variable.name.clone(), visit::substitute(formal.where_clause.as_ref()?, &own)))
    }));
    clauses
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
            items.push(PassiveItem::assumption(term));
        }
        if self.translator.language == Language::Kernel {
            return Ok(());
        }
        let program = self.program;
        for name in self.translator.by_axiom.clone() {
            let Some(function) = program.functions.iter().find(|function| function.name == name) else { continue };
            let term = self.definition(function, env)?;
            items.push(PassiveItem::assumption(term));
        }
        self.distinct_constants(env, items);
        let names: Vec<Name> = self.variables.keys().map(|name| (*name).clone()).collect();
        self.where_clauses(&names, env, items)
    }

    /// `{:assumption}` variables of the body are true at the start. Those of copies of other bodies are not among them.
    pub(super) fn assumption_variables(&self, env: &Environment, items: &mut Vec<PassiveItem>) {
        if self.translator.language == Language::Full {
            let assumed = self.body.locals.iter().filter(|local| local.attributes.is_on(ASSUMPTION));
            items.extend(assumed.filter_map(|local| Some(PassiveItem::assumption(*env.get(&local.name)?))));
        }
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
        let excluded = Vec::new();
        Ok(self.terms.quantifier(Quantifier { universal: true, variables, triggers, excluded, weight: 1, body }))
    }

    /// Unique constants of a type differ: a function numbers them.
    fn distinct_constants(&mut self, env: &Environment, items: &mut Vec<PassiveItem>) {
        for (number, constant) in self.program.constants.iter().filter(|c| c.unique).enumerate() {
            let Some(&value) = env.get(&constant.variable.name) else { continue };
            let function = format!("{}@number", crate::ivl::print_type(&constant.variable.ty));
            let numbered = self.terms.apply(&function, vec![value], Sort::Int);
            let number = self.terms.int(number as i128);
            items.push(PassiveItem::assumption(self.terms.eq(numbered, number)));
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
            if let Some(clause) = self.clauses.get(name).cloned() {
                let term = self.value(env, &clause)?;
                items.push(PassiveItem::assumption(term));
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
        let under = match call.attributes.first_of(VERIFIED_UNDER) {
            Some(under) => Some(self.value(env, under)?),
            None => None,
        };
        for requires in callee.requires.iter().filter(|requires| !requires.free && !is_free) {
            self.checks_here |= selective::is_mark(&call.attributes);
            let scope = Scope::new(env, None).with(bound.clone());
            self.check_clause(requires, Claim::Precondition, (call.span, &call.attributes, under), &scope, items)?;
        }
        let before = self.globals_of(env);
        for global in &callee.modifies {
            self.havoc(global, env)?;
        }
        self.where_clauses(&callee.modifies, env, items)?;
        let mut values = Vec::new();
        for result in &callee.results {
            let sort = self.translator.sort_of(&mut self.terms, &result.ty, result.span)?;
            values.push(self.terms.fresh(&result.name.to_string(), sort));
        }
        bound.extend(bind(&callee.results, values.iter().copied()));
        let clauses = callee.results.iter().filter_map(|result| result.where_clause.as_ref());
        for clause in clauses.chain(callee.ensures.iter().map(|ensures| &ensures.expr)) {
            let mut scope = Scope::new(env, Some(&before)).with(bound.clone());
            let term = self.translator.in_scope(&mut self.terms, &mut scope, clause)?;
            items.push(PassiveItem::assumption(term));
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
            self.check_clause(ensures, Claim::Postcondition, (block.end, &[], None), &scope, items)?;
        }
        Ok(())
    }

    /// `under` what the clause is known to hold, where the call says so ([`VERIFIED_UNDER`]).
    fn check_clause(
        &mut self,
        clause: &Condition,
        claim: Claim,
        (span, more, under): (Span, &[Attribute], Option<Term>),
        scope: &Scope,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        let known = self.translator.in_scope(&mut self.terms, &mut scope.clone(), &clause.expr)?;
        let term = under.map_or(known, |under| self.terms.or2(under, known));
        let attributes = without_effect(&clause.attributes).chain(more).cloned().collect();
        let mut shower = Shower { translator: &self.translator, terms: &mut self.terms };
        let values = shower.of(&claim, &clause.expr, scope, None)?;
        let (kind, related, guards) = (CheckKind::Assertion, Some(clause.span), self.guards(&clause.expr));
        self.check(
            Check {
                term,
                kind,
                claim,
                site: None,
                candidate: None,
                attributes,
                origin: None,
                span,
                related,
                guards,
                values,
            },
            items,
        );
        if under.is_some() && !wp::is_never_assumed(more) {
            items.push(PassiveItem::assumption(known));
        }
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
