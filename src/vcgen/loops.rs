//! Loops of a body: found, cut at their heads, and closed at their back edges.
//!
//! Establishes: at a head its invariants, the asserts that lead the block, are checked on entry and after each round; all
//! that the loop assigns is arbitrary, and the invariants are assumed. Relies on: reducible control flow, which is
//! checked; edges between two loops are split ([`super::edges`]).
//! Reference: Barnett and Leino, weakest precondition of unstructured programs, section 2.

use super::passify::Generator;
use super::passive::{CheckKind, CutLoop, PassiveItem};
use super::selective;
use super::translate::{Environment, Language};
use crate::diagnostic::Diagnostic;
use crate::flow::{LoopForest, Order};
use crate::ivl::ast::{Block, Name, Stmt, StmtKind};
use crate::ivl::event::as_call;
use std::collections::BTreeSet;

impl<'a> Generator<'a> {
    /// Natural loops and a topological order of the blocks without back edges.
    pub(super) fn find_loops(&mut self) -> Result<Vec<usize>, Diagnostic> {
        let forest = LoopForest::of(&self.graph, &self.graph.dominators()).map_err(|_| {
            let message = "this procedure has irreducible control flow";
            Diagnostic::unsupported("irreducible", message, self.target.procedure.span)
        })?;
        self.heads = forest.loops.into_iter().map(|own| (own.header, own.blocks)).collect();
        Ok(Order::of(&self.graph).nodes)
    }

    /// The invariants of a head: the asserts that lead its block, and free ones among them.
    pub(super) fn invariants(&self, head: usize) -> &'a [Stmt] {
        let stmts = &self.body.blocks[head].stmts;
        let leads = |s: &&Stmt| match s.kind {
            StmtKind::Assert(..) => true,
            StmtKind::Assume(..) => self.translator.language == Language::Full,
            _ => false,
        };
        let count = stmts.iter().take_while(leads).count();
        &stmts[..count]
    }

    /// Cuts the loop at `head`: entry checks, havoc, assumptions. Gives the number of statements consumed.
    pub(super) fn cut(
        &mut self,
        head: usize,
        env: &mut Environment,
        items: &mut Vec<PassiveItem>,
    ) -> Result<usize, Diagnostic> {
        let number = self.loops.len();
        self.loop_numbers.insert(head, number);
        let invariants = self.invariants(head);
        self.check_invariants(invariants, env, items, CheckKind::Entry(number))?;
        let assigned = self.assigned(&self.heads[&head]);
        let entry = env.clone();
        for name in &assigned {
            self.havoc(name, env)?;
        }
        let names: Vec<Name> = assigned.iter().cloned().collect();
        self.where_clauses(&names, env, items)?;
        for stmt in invariants {
            let (candidate, e) = match &stmt.kind {
                StmtKind::Assert(claim, e) => (claim.candidate(), e),
                StmtKind::Assume(premise, e) => (premise.candidate(), e),
                _ => continue,
            };
            self.checks_here |= selective::is_mark(&stmt.attributes);
            let term = self.value(env, e)?;
            items.push(PassiveItem::Assume { term, candidate, defines: None, origin: stmt.origin.clone() });
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

    pub(super) fn check_invariants(
        &mut self,
        invariants: &[Stmt],
        env: &Environment,
        items: &mut Vec<PassiveItem>,
        kind: CheckKind,
    ) -> Result<(), Diagnostic> {
        for stmt in invariants {
            if let StmtKind::Assert(claim, e) = &stmt.kind {
                self.assertion(stmt, (claim, e), env, items, kind.clone(), &[])?;
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
            match &*as_call(&stmt.kind, &[]).0 {
                StmtKind::Assign(list) => names.extend(list.iter().map(|(n, _)| n.clone())),
                StmtKind::Havoc(list) => names.extend(list.iter().cloned()),
                StmtKind::Call { procedure, results, .. } => {
                    names.extend(results.iter().cloned());
                    let callee = self.program.procedures.iter().find(|p| p.name == *procedure);
                    if self.translator.language == Language::Full {
                        names.extend(callee.iter().flat_map(|p| p.modifies.iter().cloned()));
                        continue;
                    }
                    for inner in callee.and_then(|p| p.body.as_ref()).iter().flat_map(|b| &b.blocks) {
                        let mut assigned = BTreeSet::new();
                        self.assigned_by(inner, &mut assigned);
                        names.extend(assigned.into_iter().filter(|n| self.variables.contains_key(n)));
                    }
                }
                _ => {}
            }
        }
    }

    /// The head that a block goes back to.
    pub(super) fn back_edge(&self, b: usize) -> Option<usize> {
        let mut targets = self.graph.successors[b].iter().copied();
        targets.find(|target| self.heads.get(target).is_some_and(|blocks| blocks.contains(&b)))
    }
}
