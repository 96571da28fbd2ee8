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

use super::edges;
use super::passive::{Check, CheckKind, CutLoop, Passive, PassiveBlock, PassiveItem, candidate_number};
use super::shown;
use super::term::{Sort, Term, Terms};
use super::translate::{Environment, Translator, sort_of};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Attribute, Block, Implementation, Name, Procedure, Program, Stmt, StmtKind, Transfer, Type};
use crate::span::Span;
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;
use std::collections::{BTreeMap, BTreeSet};

/// Generates the passive program of a procedure.
///
/// # Errors
/// Statements or types without a model here (maps, quantifiers, calls without an inlined body),
/// irreducible control flow.
pub fn run(program: &Program, procedure: &Procedure) -> Result<Passive, Diagnostic> {
    let Some(body) = &procedure.body else {
        return Err(Diagnostic::error("no-implementation", "this procedure has no body", procedure.span));
    };
    if let Some(ensures) = procedure.ensures.iter().find(|e| !e.free) {
        return Err(unsupported("a postcondition", ensures.span));
    }
    Generator::new(program, procedure, &edges::split(body))?.run()
}

fn unsupported(what: &str, span: Span) -> Diagnostic {
    Diagnostic::unsupported("unsupported-ivl", format!("{what} is not supported in verification conditions"), span)
}

struct Generator<'a> {
    program: &'a Program,
    procedure: &'a Procedure,
    body: &'a Implementation,
    translator: Translator<'a>,
    types: BTreeMap<Name, Type>,
    graph: DiGraph<usize, ()>,
    terms: Terms,
    checks: Vec<Check>,
    loops: Vec<CutLoop>,
    /// Head block index to (loop number, blocks).
    heads: BTreeMap<usize, BTreeSet<usize>>,
    loop_numbers: BTreeMap<usize, usize>,
    /// Values at the start.
    constants: Environment,
}

impl<'a> Generator<'a> {
    fn new(program: &'a Program, procedure: &'a Procedure, body: &'a Implementation) -> Result<Self, Diagnostic> {
        let mut types = BTreeMap::new();
        let declared = program.constants.iter().map(|c| &c.variable).chain(&program.globals);
        for variable in declared.chain(&procedure.params).chain(&procedure.results).chain(&body.locals) {
            types.insert(variable.name.clone(), variable.ty.clone());
        }
        let index: BTreeMap<&Name, usize> = body.blocks.iter().enumerate().map(|(i, b)| (&b.label, i)).collect();
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..body.blocks.len()).map(|i| graph.add_node(i)).collect();
        for (i, block) in body.blocks.iter().enumerate() {
            if let Transfer::Goto(targets) = &block.transfer {
                for target in targets {
                    let Some(&j) = index.get(target) else {
                        return Err(Diagnostic::error("unknown-label", format!("no block `{target}`"), block.span));
                    };
                    graph.update_edge(nodes[i], nodes[j], ());
                }
            }
        }
        let functions = program.functions.iter().map(|f| (&f.name, f)).collect();
        Ok(Generator {
            program,
            procedure,
            body,
            translator: Translator { functions },
            types,
            graph,
            terms: Terms::default(),
            checks: Vec::new(),
            loops: Vec::new(),
            heads: BTreeMap::new(),
            loop_numbers: BTreeMap::new(),
            constants: Environment::new(),
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
                self.join(arriving, &mut blocks)
            };
            let skip = if self.heads.contains_key(&b) { self.cut(b, &mut env, &mut items)? } else { 0 };
            for stmt in &block.stmts[skip..] {
                self.statement(stmt, &mut env, &mut items)?;
            }
            let head_of = self.loop_numbers.get(&b).copied();
            let back_to = self.back_edge(b).map(|head| self.loop_numbers[&head]);
            let back_to = back_to.map(|number| (number, self.loops[number].at_end.len()));
            let successors = self.leave(b, block, env, &mut items, &position, &mut incoming, p)?;
            blocks.push(PassiveBlock { label: block.label.clone(), items, successors, head_of, back_to });
        }
        let constants = self.program.constants.iter().map(|c| &c.variable.name);
        let constants = constants.filter_map(|n| Some((n.clone(), *self.constants.get(n)?))).collect();
        Ok(Passive { terms: self.terms, blocks, checks: self.checks, loops: self.loops, constants })
    }

    /// Natural loops and a topological order of the blocks without back edges.
    fn find_loops(&mut self) -> Result<Vec<usize>, Diagnostic> {
        let start = NodeIndex::new(0);
        let doms = dominators::simple_fast(&self.graph, start);
        let mut acyclic = self.graph.clone();
        for edge in self.graph.edge_indices() {
            let Some((from, to)) = self.graph.edge_endpoints(edge) else { continue };
            if doms.dominators(from).is_some_and(|mut d| d.any(|n| n == to)) {
                let blocks = self.loop_blocks(from, to);
                self.heads.entry(to.index()).or_default().extend(blocks);
                if let Some(e) = acyclic.find_edge(from, to) {
                    acyclic.remove_edge(e);
                }
            }
        }
        let mut walk = DfsPostOrder::new(&acyclic, start);
        let mut order = Vec::new();
        while let Some(node) = walk.next(&acyclic) {
            order.push(node.index());
        }
        order.reverse();
        if petgraph::algo::is_cyclic_directed(&acyclic) {
            return Err(Diagnostic::unsupported(
                "irreducible",
                "this procedure has irreducible control flow",
                self.procedure.span,
            ));
        }
        Ok(order)
    }

    fn loop_blocks(&self, latch: NodeIndex, head: NodeIndex) -> BTreeSet<usize> {
        let mut blocks = BTreeSet::from([head.index()]);
        let mut stack = vec![latch];
        while let Some(node) = stack.pop() {
            if blocks.insert(node.index()) {
                stack.extend(self.graph.neighbors_directed(node, petgraph::Direction::Incoming));
            }
        }
        blocks
    }

    /// Symbols for everything declared, and the axioms and preconditions.
    fn initial(&mut self, items: &mut Vec<PassiveItem>) -> Result<Environment, Diagnostic> {
        let ranges = super::ranges::of_preconditions(&self.procedure.requires);
        let mut env = Environment::new();
        for (name, ty) in &self.types {
            let Ok(sort) = sort_of(ty, Span::NONE) else { continue };
            let term = match (ranges.get(name), sort) {
                (Some(&(low, high)), Sort::Bv(width)) if low == high => self.terms.bv(low, width),
                (range, _) => self.terms.symbol(name.as_str(), sort, range.copied()),
            };
            env.insert(name.clone(), term);
        }
        self.constants = env.clone();
        for condition in self.program.axioms.iter().chain(&self.procedure.requires) {
            let term = self.translator.expr(&mut self.terms, &env, &condition.expr)?;
            items.push(PassiveItem::Assume { term, candidate: None, defines: None });
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
                *value = self.terms.fresh(name.as_str(), self.terms.sort(*value));
            }
        }
        for (p, env) in arriving {
            for (name, &value) in &merged {
                if env[name] != value {
                    let term = self.terms.eq(value, env[name]);
                    let defines = Some((value, env[name]));
                    blocks[p].items.push(PassiveItem::Assume { term, candidate: None, defines });
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
                let values =
                    list.iter()
                        .map(|(_, e)| self.translator.expr(&mut self.terms, env, e))
                        .collect::<Result<Vec<_>, _>>()?;
                for ((name, _), value) in list.iter().zip(values) {
                    env.insert(name.clone(), value);
                }
            }
            StmtKind::Havoc(names) => {
                for name in names {
                    self.havoc(name, env)?;
                }
            }
            StmtKind::Assume(e) => {
                let term = self.translator.expr(&mut self.terms, env, e)?;
                if self.terms.truth(term) != Some(true) {
                    items.push(PassiveItem::Assume {
                        term,
                        candidate: candidate_number(&stmt.attributes),
                        defines: None,
                    });
                }
            }
            StmtKind::Assert(e) => self.assertion(stmt, e, env, items, CheckKind::Assertion, &[])?,
            StmtKind::Call { procedure, args, results } => {
                let args = args
                    .iter()
                    .map(|a| self.translator.expr(&mut self.terms, env, a))
                    .collect::<Result<Vec<_>, _>>()?;
                self.call(stmt, procedure, args, results, env, items)?;
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

    fn havoc(&mut self, name: &Name, env: &mut Environment) -> Result<(), Diagnostic> {
        let sort = match env.get(name) {
            Some(&old) => self.terms.sort(old),
            None => match self.types.get(name) {
                Some(ty) => sort_of(ty, Span::NONE)?,
                None => return Ok(()),
            },
        };
        let fresh = self.terms.fresh(name.as_str(), sort);
        env.insert(name.clone(), fresh);
        Ok(())
    }

    fn assertion(
        &mut self,
        stmt: &Stmt,
        e: &crate::ivl::ast::Expr,
        env: &Environment,
        items: &mut Vec<PassiveItem>,
        kind: CheckKind,
        more: &[Attribute],
    ) -> Result<(), Diagnostic> {
        let term = self.translator.expr(&mut self.terms, env, e)?;
        let mut attributes = stmt.attributes.clone();
        attributes.extend_from_slice(more);
        items.push(PassiveItem::Check(self.checks.len()));
        let at_head = match kind {
            CheckKind::Maintenance(number) => self.loops.get(number).map(|cut| &cut.at_head),
            _ => None,
        };
        let values = shown::of(&attributes, e, env, at_head);
        self.checks.push(Check {
            term,
            kind,
            candidate: candidate_number(&attributes),
            attributes,
            origin: stmt.origin.clone(),
            span: stmt.span,
            values,
        });
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
            let fresh = self.terms.fresh(variable.name.as_str(), sort_of(&variable.ty, variable.span)?);
            env.insert(variable.name.clone(), fresh);
        }
        for stmt in &block.stmts {
            if let StmtKind::Assert(e) = &stmt.kind {
                let placed = Stmt { origin: call.origin.clone(), span: call.span, ..stmt.clone() };
                self.assertion(&placed, e, env, items, CheckKind::Assertion, &call.attributes)?;
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

    /// The invariants of a head: the asserts that lead its block.
    fn invariants(&self, head: usize) -> &'a [Stmt] {
        let stmts = &self.body.blocks[head].stmts;
        let count = stmts.iter().take_while(|s| matches!(s.kind, StmtKind::Assert(_))).count();
        &stmts[..count]
    }

    /// Cuts the loop at `head`: entry checks, havoc, assumptions. Gives the number of statements consumed.
    fn cut(&mut self, head: usize, env: &mut Environment, items: &mut Vec<PassiveItem>) -> Result<usize, Diagnostic> {
        let number = self.loops.len();
        self.loop_numbers.insert(head, number);
        let invariants = self.invariants(head);
        self.check_invariants(invariants, env, items, CheckKind::Entry(number))?;
        let assigned = self.assigned(&self.heads[&head]);
        let entry = env.clone();
        for name in &assigned {
            self.havoc(name, env)?;
        }
        for stmt in invariants {
            if let StmtKind::Assert(e) = &stmt.kind {
                let term = self.translator.expr(&mut self.terms, env, e)?;
                items.push(PassiveItem::Assume { term, candidate: candidate_number(&stmt.attributes), defines: None });
            }
        }
        self.loops.push(CutLoop {
            head: self.body.blocks[head].label.clone(),
            entry,
            at_head: env.clone(),
            at_end: Vec::new(),
            assigned,
        });
        Ok(invariants.len())
    }

    fn check_invariants(
        &mut self,
        invariants: &[Stmt],
        env: &Environment,
        items: &mut Vec<PassiveItem>,
        kind: CheckKind,
    ) -> Result<(), Diagnostic> {
        for stmt in invariants {
            if let StmtKind::Assert(e) = &stmt.kind {
                self.assertion(stmt, e, env, items, kind.clone(), &[])?;
            }
        }
        Ok(())
    }

    /// Variables that the blocks assign, through calls too.
    fn assigned(&self, blocks: &BTreeSet<usize>) -> BTreeSet<Name> {
        let mut names = BTreeSet::new();
        for &b in blocks {
            self.assigned_by(&self.body.blocks[b], &mut names);
        }
        names
    }

    fn assigned_by(&self, block: &Block, names: &mut BTreeSet<Name>) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Assign(list) => names.extend(list.iter().map(|(n, _)| n.clone())),
                StmtKind::Havoc(list) => names.extend(list.iter().cloned()),
                StmtKind::Call { procedure, results, .. } => {
                    names.extend(results.iter().cloned());
                    let callee = self.program.procedures.iter().find(|p| p.name == *procedure);
                    for inner in callee.and_then(|p| p.body.as_ref()).iter().flat_map(|b| &b.blocks) {
                        let mut assigned = BTreeSet::new();
                        self.assigned_by(inner, &mut assigned);
                        names.extend(assigned.into_iter().filter(|n| self.types.contains_key(n)));
                    }
                }
                _ => {}
            }
        }
    }

    /// The head that a block goes back to.
    fn back_edge(&self, b: usize) -> Option<usize> {
        let mut targets = self.graph.neighbors(NodeIndex::new(b)).map(NodeIndex::index);
        targets.find(|target| self.heads.get(target).is_some_and(|blocks| blocks.contains(&b)))
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
        let targets: BTreeSet<usize> = self.graph.neighbors(NodeIndex::new(b)).map(NodeIndex::index).collect();
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
