//! Loops cut, calls inlined, assignments turned into names: the passive program.
//!
//! Input: an IVL program and the name of one of its procedures (no kernel statements left).
//! Output: [`Passive`]: acyclic blocks of assumptions and checks over terms.
//! Establishes: every assertion of the procedure stands once as a check with its place; every loop
//! is cut at its head, where all variables that the loop assigns are havocked and the invariants
//! (the asserts that lead the head block) are checked on entry and after each round, and assumed.
//! Relies on: reducible control flow; inlined procedures have one straight-line block that calls
//! nothing. What is not so is refused, as are postconditions.
//! Reference: Barnett and Leino, weakest precondition of unstructured programs; tutorial 3.

use super::contracts;
use super::definitions;
use super::edges;
use super::exits;
use super::passive::{Check, CheckKind, CutLoop, Passive, PassiveBlock, PassiveItem};
use super::selective;
use super::shown::Shower;
use super::term::{Sort, Term, Terms};
use super::translate::{Environment, Language, Scope, Translator};
use crate::diagnostic::Diagnostic;
use crate::flow::Graph;
use crate::ivl::ast::{
    Attribute, Block, Expr, ExprRef, Implementation, Name, Procedure, Program, Stmt, StmtKind, Transfer, Variable,
};
use crate::ivl::attributes::Attributes as _;
use crate::ivl::claim::Claim;
use crate::ivl::event::as_call;
use crate::ivl::graph;
use crate::limits;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Generates the passive program of a procedure of a two-thread program.
///
/// # Errors
/// Statements or types that those programs do not have (maps, quantifiers, calls without an inlined body),
/// irreducible control flow.
pub fn run(program: &Program, procedure: &Procedure) -> Result<Passive, Diagnostic> {
    let Some(body) = &procedure.body else {
        return Err(Diagnostic::error("no-implementation", "this procedure has no body", procedure.span));
    };
    if let Some(ensures) = procedure.ensures.iter().find(|e| !e.free) {
        return Err(unsupported("a postcondition", ensures.span));
    }
    let _stage = limits::stage("vcgen");
    let target = Target::of(procedure);
    Generator::new(program, target, &edges::split(body), Language::Kernel)?.run()
}

/// Generates the passive program of a body of any program, with the contracts of its own procedure and of those that
/// it calls.
///
/// # Errors
/// Kernel statements, irreducible control flow.
pub(crate) fn of_body(program: &Program, target: Target, body: &Implementation) -> Result<Passive, Diagnostic> {
    let body = exits::unify(body);
    Generator::new(program, target, &edges::split(&body), Language::Full)?.run()
}

/// Whose body is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The procedure, with its contract.
    pub(crate) procedure: &'a Procedure,
    /// Its parameters, as the body names them.
    pub(crate) params: &'a [Variable],
    /// Its results, as the body names them.
    pub(crate) results: &'a [Variable],
    /// Whether only what stands behind a mark is checked.
    pub(crate) is_selective: bool,
}

impl<'a> Target<'a> {
    /// The body that stands with the procedure.
    pub(crate) fn of(procedure: &'a Procedure) -> Self {
        let is_selective = selective::is_asked_for(&procedure.attributes);
        Target { procedure, params: &procedure.params, results: &procedure.results, is_selective }
    }
}

fn unsupported(what: &str, span: Span) -> Diagnostic {
    Diagnostic::unsupported("unsupported-ivl", format!("{what} is not supported in verification conditions"), span)
}

pub(super) struct Generator<'a> {
    pub(super) program: &'a Program,
    pub(super) target: Target<'a>,
    pub(super) body: &'a Implementation,
    pub(super) translator: Translator<'a>,
    /// Constants, global variables, and what the body declares.
    pub(super) variables: BTreeMap<&'a Name, &'a Variable>,
    /// What is declared of variables, with the names of the body.
    pub(super) clauses: BTreeMap<Name, ExprRef>,
    pub(super) graph: Graph,
    pub(super) terms: Terms,
    checks: Vec<Check>,
    /// Whether assertions are checked at this place, and were at the end of each block so far; otherwise they are assumed.
    pub(super) checks_here: bool,
    checks_at_end: Vec<bool>,
    pub(super) loops: Vec<CutLoop>,
    /// Head block index to (loop number, blocks).
    pub(super) heads: BTreeMap<usize, BTreeSet<usize>>,
    pub(super) loop_numbers: BTreeMap<usize, usize>,
    /// Values at the start.
    constants: Environment,
    /// Those of global variables.
    pub(super) at_start: Environment,
}

impl<'a> Generator<'a> {
    fn new(
        program: &'a Program,
        target: Target<'a>,
        body: &'a Implementation,
        language: Language,
    ) -> Result<Self, Diagnostic> {
        let declared = program.constants.iter().map(|c| &c.variable).chain(&program.globals);
        let declared = declared.chain(target.params).chain(target.results).chain(&body.locals);
        let variables = declared.map(|variable| (&variable.name, variable)).collect();
        let labels: BTreeSet<&Name> = body.blocks.iter().map(|block| &block.label).collect();
        for block in &body.blocks {
            let Transfer::Goto(targets) = &block.transfer else { continue };
            if let Some(target) = targets.iter().find(|target| !labels.contains(target)) {
                return Err(Diagnostic::error("unknown-label", format!("no block `{target}`"), block.span));
            }
        }
        let functions = program.functions.iter().map(|f| (&f.name, f)).collect();
        let by_axiom = if language == Language::Full { definitions::by_axiom(program) } else { BTreeSet::new() };
        Ok(Generator {
            program,
            target,
            body,
            translator: Translator { functions, by_axiom, language },
            variables,
            clauses: contracts::where_clauses(program, target, body),
            graph: graph::of(body),
            terms: Terms::default(),
            checks: Vec::new(),
            checks_here: !target.is_selective,
            checks_at_end: Vec::new(),
            loops: Vec::new(),
            heads: BTreeMap::new(),
            loop_numbers: BTreeMap::new(),
            constants: Environment::new(),
            at_start: Environment::new(),
        })
    }

    fn run(mut self) -> Result<Passive, Diagnostic> {
        let order = self.find_loops()?;
        let position: BTreeMap<usize, usize> = order.iter().enumerate().map(|(p, &b)| (b, p)).collect();
        let mut blocks: Vec<PassiveBlock> = Vec::new();
        let mut incoming: BTreeMap<usize, Vec<(usize, Environment)>> = BTreeMap::new();
        for (p, &b) in order.iter().enumerate() {
            let block = &self.body.blocks[b];
            let mut items = Vec::new();
            let mut env = if p == 0 {
                self.initial(&mut items)?
            } else {
                let arriving = incoming.remove(&b).unwrap_or_default();
                self.checks_here = arriving.iter().any(|(before, _)| self.checks_at_end[*before]);
                self.join(arriving, &mut blocks)
            };
            let skip = if self.heads.contains_key(&b) { self.cut(b, &mut env, &mut items)? } else { 0 };
            for stmt in &block.stmts[skip..] {
                self.statement(stmt, &mut env, &mut items)?;
            }
            let assigned = self.assigned_values(block, &env);
            if block.label.as_str() == exits::EXIT || matches!(block.transfer, Transfer::Return) {
                self.postconditions(block, &env, &mut items)?;
            }
            let head_of = self.loop_numbers.get(&b).copied();
            let back_to = self.back_edge(b).map(|head| self.loop_numbers[&head]);
            let back_to = back_to.map(|number| (number, self.loops[number].at_end.len()));
            let successors = self.leave(b, block, env, &mut items, &position, &mut incoming, p)?;
            self.checks_at_end.push(self.checks_here);
            let calls = block.stmts.iter().any(|stmt| matches!(stmt.kind, StmtKind::Call { .. }));
            let (label, span, end) = (block.label.clone(), block.span, block.end);
            blocks.push(PassiveBlock { label, span, end, items, assigned, calls, successors, head_of, back_to });
        }
        let constants = self.program.constants.iter().map(|c| &c.variable.name);
        let constants = constants.chain(self.target.params.iter().map(|parameter| &parameter.name));
        let constants = constants.filter_map(|n| Some((n.clone(), *self.constants.get(n)?))).collect();
        let parameters = self.program.constants.iter().filter(|c| c.variable.attributes.has("param"));
        let parameters = parameters.filter_map(|c| self.constants.get(&c.variable.name).copied()).collect();
        Ok(Passive { terms: self.terms, blocks, checks: self.checks, loops: self.loops, constants, parameters })
    }

    /// Symbols for everything declared, and the axioms and preconditions.
    fn initial(&mut self, items: &mut Vec<PassiveItem>) -> Result<Environment, Diagnostic> {
        // Preconditions speak of the procedure's names; a body with others may call something else so.
        let has_own_names = self.target.params.iter().zip(&self.target.procedure.params).any(|(a, b)| a.name != b.name);
        let requires = if has_own_names { &[] } else { self.target.procedure.requires.as_slice() };
        let ranges = super::ranges::of_preconditions(requires);
        let mut env = Environment::new();
        for (name, variable) in self.variables.clone() {
            let Ok(sort) = self.translator.sort_of(&mut self.terms, &variable.ty, variable.span) else { continue };
            let term = match (ranges.get(name), sort) {
                (Some(&(low, high)), Sort::Bv(width)) if low == high => self.terms.bv(low, width),
                (range, _) => self.terms.symbol(&name.to_string(), sort, range.copied()),
            };
            env.insert(name.clone(), term);
        }
        self.constants = env.clone();
        self.at_start = self.globals_of(&env);
        self.background(&env, items)?;
        self.assumption_variables(&env, items);
        for condition in &self.target.procedure.requires {
            let bound = self.own_names(&env);
            let mut scope = Scope::new(&env, None).with(bound);
            let term = self.translator.in_scope(&mut self.terms, &mut scope, &condition.expr)?;
            items.push(PassiveItem::assumption(term));
        }
        Ok(env)
    }

    /// Merges the states of the predecessors: where they differ, a fresh symbol that each
    /// predecessor equates with its own value.
    fn join(&mut self, mut arriving: Vec<(usize, Environment)>, blocks: &mut [PassiveBlock]) -> Environment {
        if arriving.len() < 2 {
            // Most blocks have one predecessor, and states are as large as the program.
            return arriving.pop().map(|(_, env)| env).unwrap_or_default();
        }
        let mut merged = arriving[0].1.clone();
        for (name, value) in &mut merged {
            if arriving.iter().any(|(_, env)| env.get(name) != Some(value)) {
                *value = self.terms.fresh(&name.to_string(), self.terms.sort(*value));
            }
        }
        for (p, env) in arriving {
            for (name, &value) in &merged {
                if env[name] != value {
                    let term = self.terms.eq(value, env[name]);
                    let defines = Some((value, env[name]));
                    blocks[p].items.push(PassiveItem::Assume { term, candidate: None, defines, origin: None });
                }
            }
        }
        merged
    }

    fn statement(
        &mut self,
        stmt: &Stmt,
        env: &mut Environment,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        match &stmt.kind {
            StmtKind::Assign(list) => {
                let values = list.iter().map(|(_, e)| self.value(env, e)).collect::<Result<Vec<_>, _>>()?;
                for ((name, _), value) in list.iter().zip(values) {
                    env.insert(name.clone(), value);
                }
            }
            StmtKind::Havoc(names) => {
                for name in names {
                    self.havoc(name, env)?;
                }
                self.where_clauses(names, env, items)?;
            }
            StmtKind::Assume(premise, e) => {
                self.checks_here |= selective::is_mark(&stmt.attributes);
                let term = self.value(env, e)?;
                if self.terms.truth(term) != Some(true) {
                    let (candidate, origin) = (premise.candidate(), stmt.origin.clone());
                    items.push(PassiveItem::Assume { term, candidate, defines: None, origin });
                }
            }
            StmtKind::Assert(claim, e) => self.assertion(stmt, (claim, e), env, items, CheckKind::Assertion, &[])?,
            StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => self.event(stmt, env, items)?,
            StmtKind::Call { procedure, args, results } => {
                let args = args.iter().map(|a| self.value(env, a)).collect::<Result<Vec<_>, _>>()?;
                match self.translator.language {
                    Language::Kernel => self.call(stmt, procedure, args, results, env, items)?,
                    Language::Full => self.call_by_contract(stmt, procedure, args, results, env, items)?,
                }
            }
            _ => {
                return Err(Diagnostic::unsupported(
                    "unsupported-ivl",
                    "a kernel-language statement reached verification-condition generation",
                    stmt.span,
                ));
            }
        }
        Ok(())
    }

    /// The value of an expression, where `old` gives the values at the start.
    pub(super) fn value(&mut self, env: &Environment, e: &Expr) -> Result<Term, Diagnostic> {
        self.translator.in_scope(&mut self.terms, &mut Scope::new(env, Some(&self.at_start)), e)
    }

    pub(super) fn havoc(&mut self, name: &Name, env: &mut Environment) -> Result<(), Diagnostic> {
        let sort = match env.get(name) {
            Some(&old) => self.terms.sort(old),
            None => match self.variables.get(name) {
                Some(variable) => self.translator.sort_of(&mut self.terms, &variable.ty, variable.span)?,
                None => return Ok(()),
            },
        };
        let fresh = self.terms.fresh(&name.to_string(), sort);
        env.insert(name.clone(), fresh);
        Ok(())
    }

    pub(super) fn assertion(
        &mut self,
        stmt: &Stmt,
        (claim, e): (&Claim, &ExprRef),
        env: &Environment,
        items: &mut Vec<PassiveItem>,
        kind: CheckKind,
        more: &[Attribute],
    ) -> Result<(), Diagnostic> {
        self.checks_here |= selective::is_mark(&stmt.attributes);
        let mut attributes = stmt.attributes.clone();
        attributes.extend_from_slice(more);
        let at_head = match kind {
            CheckKind::Maintenance(number) => self.loops.get(number).map(|cut| &cut.at_head),
            _ => None,
        };
        let scope = Scope::new(env, Some(&self.at_start));
        let term = self.translator.in_scope(&mut self.terms, &mut scope.clone(), e)?;
        let mut shower = Shower { translator: &self.translator, terms: &mut self.terms };
        let values = shower.of(claim, e, &scope, at_head)?;
        let candidate = claim.candidate();
        let guards = self.guards(e);
        // An inlined clause of a contract stands where it is checked; its formula where it is written.
        let related = claim.is_clause().then_some(e.span);
        let claim = claim.clone();
        let (origin, span) = (stmt.origin.clone(), stmt.span);
        self.check(
            Check { term, kind, claim, site: None, candidate, attributes, origin, span, related, guards, values },
            items,
        );
        Ok(())
    }

    pub(super) fn check(&mut self, check: Check, items: &mut Vec<PassiveItem>) {
        if !self.checks_here {
            let Check { term, origin, .. } = check;
            return items.push(PassiveItem::Assume { term, candidate: None, defines: None, origin });
        }
        items.push(PassiveItem::Check(self.checks.len()));
        self.checks.push(check);
    }

    /// An event of the two-thread language: what the prelude says of it.
    fn event(&mut self, stmt: &Stmt, env: &mut Environment, items: &mut Vec<PassiveItem>) -> Result<(), Diagnostic> {
        let (call, _) = as_call(&stmt.kind, &[]);
        let (from, from_item) = (self.checks.len(), items.len());
        self.statement(&Stmt { kind: call.into_owned(), ..stmt.clone() }, env, items)?;
        for item in &mut items[from_item..] {
            if let PassiveItem::Assume { origin, .. } = item {
                origin.clone_from(&stmt.origin);
            }
        }
        if let StmtKind::Check(event) = &stmt.kind {
            self.checks[from..].iter_mut().for_each(|check| check.site = Some(event.site));
        }
        Ok(())
    }

    /// Inlines a procedure with one straight-line block.
    fn call(
        &mut self,
        call: &Stmt,
        name: &Name,
        args: Vec<Term>,
        results: &[Name],
        env: &mut Environment,
        items: &mut Vec<PassiveItem>,
    ) -> Result<(), Diagnostic> {
        let callee = self.program.procedures.iter().find(|p| p.name == *name);
        let Some((callee, body)) = callee.and_then(|p| p.body.as_ref().map(|b| (p, b))) else {
            let message = format!("procedure `{name}` has no body to inline");
            return Err(Diagnostic::unsupported("unsupported-ivl", message, call.span));
        };
        let [block @ Block { transfer: Transfer::Return, .. }] = body.blocks.as_slice() else {
            let message = format!("procedure `{name}` is not straight-line");
            return Err(Diagnostic::unsupported("unsupported-ivl", message, call.span));
        };
        if let Some(requires) = callee.requires.first() {
            return Err(unsupported("a precondition of an inlined procedure", requires.span));
        }
        if block.stmts.iter().any(|s| matches!(s.kind, StmtKind::Call { .. })) {
            return Err(unsupported("a call inside an inlined procedure", call.span));
        }
        let own: Vec<&Name> =
            callee.params.iter().chain(&callee.results).chain(&body.locals).map(|v| &v.name).collect();
        let shadowed: Vec<(Name, Option<Term>)> = own.iter().map(|n| ((*n).clone(), env.get(*n).copied())).collect();
        for (param, value) in callee.params.iter().zip(args) {
            env.insert(param.name.clone(), value);
        }
        for variable in callee.results.iter().chain(&body.locals) {
            let sort = self.translator.sort_of(&mut self.terms, &variable.ty, variable.span)?;
            let fresh = self.terms.fresh(&variable.name.to_string(), sort);
            env.insert(variable.name.clone(), fresh);
        }
        for stmt in &block.stmts {
            if let StmtKind::Assert(claim, e) = &stmt.kind {
                let placed = Stmt { origin: call.origin.clone(), span: call.span, ..stmt.clone() };
                self.assertion(&placed, (claim, e), env, items, CheckKind::Assertion, &call.attributes)?;
            } else {
                self.statement(stmt, env, items)?;
            }
        }
        let values: Vec<Term> = callee.results.iter().map(|r| env[&r.name]).collect();
        for (name, old) in shadowed {
            match old {
                Some(value) => env.insert(name, value),
                None => env.remove(&name),
            };
        }
        for (result, value) in results.iter().zip(values) {
            env.insert(result.clone(), value);
        }
        Ok(())
    }

    /// Control leaves a block: back edges check the invariants in a block of their own state.
    #[allow(clippy::too_many_arguments)]
    fn leave(
        &mut self,
        b: usize,
        block: &Block,
        env: Environment,
        items: &mut Vec<PassiveItem>,
        position: &BTreeMap<usize, usize>,
        incoming: &mut BTreeMap<usize, Vec<(usize, Environment)>>,
        p: usize,
    ) -> Result<Vec<usize>, Diagnostic> {
        let mut successors = Vec::new();
        let targets: BTreeSet<usize> = self.graph.successors[b].iter().copied().collect();
        if let Some(head) = self.back_edge(b) {
            if targets.len() > 1 {
                let message = "a block with a back edge has another successor; split the edge";
                return Err(Diagnostic::unsupported("unsupported-ivl", message, block.span));
            }
            let number = self.loop_numbers[&head];
            let invariants = self.invariants(head);
            self.check_invariants(invariants, &env, items, CheckKind::Maintenance(number))?;
            self.loops[number].at_end.push(env);
            return Ok(successors);
        }
        let targets: Vec<(usize, usize)> = targets.iter().filter_map(|t| Some((*t, *position.get(t)?))).collect();
        let copies = std::iter::repeat_n(env, targets.len());
        for ((target, q), env) in targets.into_iter().zip(copies) {
            successors.push(q);
            incoming.entry(target).or_default().push((p, env));
        }
        Ok(successors)
    }
}
