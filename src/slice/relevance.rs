//! Which variables and branches matter to accesses that can race, to barriers and to assertions.
//!
//! Input: a kernel, and arrays whose loads yield arbitrary values. Output: [`Relevance`]. Establishes: a relevant variable is computed from relevant ones alone; a branch that is
//! left out has nothing that is kept between it and the block where its ways meet, and no loop is left out that may tell of a
//! parameter that matters, by its end. Relies on: an array that no store or
//! atomic names keeps its values. Reference: Weiser, "Program Slicing" (1981); Ferrante, Ottenstein, Warren, "The Program
//! Dependence Graph and Its Use in Optimization" (1987), for control dependence.

use crate::flow::Graph;
use crate::ivl::ast::{Access, ExprRef, Name, Program, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::visit::{self, Visitor};
use crate::predicate::kernel::{Exit, Kernel};
use crate::rules::Rules;
use crate::twothread::barrier_invariants::is_of_annotation;
use std::collections::{BTreeMap, BTreeSet};

/// What matters.
pub(super) struct Relevance<'a> {
    kernel: &'a Kernel<'a>,
    rules: Rules,
    /// Arrays whose loads yield arbitrary values, whatever is stored.
    unread: &'a BTreeSet<Name>,
    /// Those of which it would matter otherwise what is stored.
    left_open: BTreeSet<Name>,
    /// Private variables.
    locals: BTreeSet<Name>,
    /// Constants that stand for parameters of any value.
    parameters: BTreeSet<Name>,
    /// Arrays that are declared, and whether some store or atomic names them.
    arrays: BTreeMap<Name, bool>,
    /// The blocks with a branch, with where its ways meet.
    branches: BTreeMap<usize, Branch>,
    variables: BTreeSet<Name>,
    /// Branches that matter.
    kept: BTreeSet<usize>,
}

/// A branch.
struct Branch {
    /// The first block that is on all ways; `None` is the end of the thread.
    meeting: Option<usize>,
    /// The blocks before it; the branch's own among them if a way returns to it.
    between: BTreeSet<usize>,
}

impl<'a> Relevance<'a> {
    pub(super) fn of(program: &Program, kernel: &'a Kernel<'a>, rules: Rules, unread: &'a BTreeSet<Name>) -> Self {
        let statements = kernel.blocks.iter().flat_map(|block| &block.stmts);
        let written: BTreeSet<&Name> = statements
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => Some(&access.array),
                _ => None,
            })
            .collect();
        let arrays = program.arrays.iter().map(|array| (array.name.clone(), written.contains(&array.name))).collect();
        let locals = kernel.procedure.body.iter().flat_map(|body| &body.locals).map(|local| local.name.clone());
        let (locals, branches) = (locals.collect(), branches(kernel));
        let (variables, kept) = (constrained(kernel), BTreeSet::new());
        let parameters = program.constants.iter().filter(|constant| constant.variable.attributes.has("param"));
        let parameters = parameters.map(|constant| constant.variable.name.clone()).collect();
        let mut this = Relevance {
            kernel,
            rules,
            unread,
            left_open: BTreeSet::new(),
            locals,
            parameters,
            arrays,
            branches,
            variables,
            kept,
        };
        while this.grow() {}
        let is_local = |name: &Name| this.locals.contains(name);
        this.variables = this.variables.iter().filter(|name| is_local(name)).cloned().collect();
        this
    }

    pub(super) fn is_relevant(&self, variable: &Name) -> bool {
        self.variables.contains(variable)
    }

    /// Whether it would matter what is stored in an array if loads of it yielded that.
    pub(super) fn is_left_open(&self, array: &Name) -> bool {
        self.left_open.contains(array)
    }

    /// Whether it has a value in the slice: a constant always has.
    pub(super) fn is_known(&self, name: &Name) -> bool {
        self.is_relevant(name) || !self.locals.contains(name)
    }

    /// Where the ways from a branch meet that does not matter; `Some(None)` is the end of the thread.
    pub(super) fn way_past(&self, block: usize) -> Option<Option<usize>> {
        self.branches.get(&block).filter(|_| !self.kept.contains(&block)).map(|branch| branch.meeting)
    }

    /// Whether a statement does more than to give a variable a value.
    pub(super) fn is_effect(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Assign(_) | StmtKind::Havoc(_) => false,
            StmtKind::Load { access, .. } => {
                let Access { array, strong, collective, .. } = access;
                self.arrays.get(array) != Some(&false)
                    || strong.is_some()
                    || collective.is_some()
                    || is_of_annotation(stmt)
            }
            _ => true,
        }
    }

    /// Adds what that depends on which is known to matter; whether there was more.
    fn grow(&mut self) -> bool {
        let before = (self.variables.len(), self.kept.len());
        let mut found = Found(std::mem::take(&mut self.variables));
        let stmts = || self.kernel.blocks.iter().flat_map(|block| &block.stmts);
        let loaded = |stmt: &'a Stmt| match &stmt.kind {
            StmtKind::Load { dst, access } if is_of_annotation(stmt) || found.0.contains(dst) => Some(&access.array),
            _ => None,
        };
        let loaded: BTreeSet<&Name> = stmts().filter_map(loaded).collect();
        for stmt in stmts() {
            let is_value = visit::assigned(stmt).into_iter().any(|name| found.0.contains(name));
            if !is_value && !self.is_effect(stmt) {
                continue;
            }
            match &stmt.kind {
                StmtKind::Store { value, access } => {
                    access.guard.iter().chain(&access.collective).chain([&access.offset]).for_each(|e| found.expr(e));
                    stmt.attributes.iter().for_each(|attribute| found.attribute(attribute));
                    let is_loaded = loaded.contains(&access.array);
                    let is_left_open = is_loaded && self.unread.contains(&access.array);
                    self.left_open.extend(is_left_open.then(|| access.array.clone()));
                    if self.rules.allow_same_value || is_loaded && !is_left_open {
                        found.expr(value);
                    }
                }
                _ => found.stmt(stmt),
            }
        }
        let matters =
            |stmt: &Stmt| self.is_effect(stmt) || visit::assigned(stmt).into_iter().any(|name| found.0.contains(name));
        let matter: BTreeSet<usize> = (0..self.kernel.blocks.len())
            .filter(|block| self.kernel.blocks[*block].stmts.iter().any(matters))
            .collect();
        for (number, block) in self.kernel.blocks.iter().enumerate() {
            let Exit::Branch { condition, .. } = &block.exit else { continue };
            // One whose ways do not meet decides what a thread does for ever.
            let matters = |branch: &Branch| {
                !branch.between.is_disjoint(&matter)
                    || branch.between.contains(&number) && self.tells(condition, &found.0)
            };
            if self.branches.get(&number).is_none_or(matters) {
                self.kept.insert(number);
                found.expr(condition);
            }
        }
        self.variables = found.0;
        before != (self.variables.len(), self.kept.len())
    }

    /// Whether it may tell something of a parameter that matters, that a loop with this condition ends.
    fn tells(&self, condition: &ExprRef, relevant: &BTreeSet<Name>) -> bool {
        let mut found = Found(BTreeSet::new());
        found.expr(condition);
        loop {
            let before = found.0.len();
            for stmt in self.kernel.blocks.iter().flat_map(|block| &block.stmts) {
                if visit::assigned(stmt).into_iter().any(|name| found.0.contains(name)) {
                    found.stmt(stmt);
                }
            }
            if found.0.len() == before {
                break;
            }
        }
        self.parameters.iter().any(|parameter| relevant.contains(parameter) && found.0.contains(parameter))
    }
}

/// The variables with a `where`, which says of each arbitrary value how it stands to others, and those others.
fn constrained(kernel: &Kernel) -> BTreeSet<Name> {
    let locals = kernel.procedure.body.iter().flat_map(|body| &body.locals);
    let named = locals.filter_map(|local| Some((local.name.clone(), visit::free_vars(local.where_clause.as_ref()?))));
    named.flat_map(|(name, others)| others.into_iter().chain([name])).collect()
}

/// The branches whose ways meet. A way that comes to no end meets none.
fn branches(kernel: &Kernel) -> BTreeMap<usize, Branch> {
    let graph = &kernel.graph;
    let end = graph.len();
    let mut successors = graph.successors.clone();
    successors.iter_mut().filter(|targets| targets.is_empty()).for_each(|targets| targets.push(end));
    successors.push(Vec::new());
    let post = Graph::new(successors).post_dominators(end);
    let branch = |block: usize| {
        let meeting = post.immediate(block)?;
        let mut between = BTreeSet::new();
        let mut pending = graph.successors[block].clone();
        while let Some(next) = pending.pop() {
            if next != meeting && between.insert(next) {
                post.immediate(next)?;
                pending.extend(&graph.successors[next]);
            }
        }
        Some(Branch { meeting: (meeting != end).then_some(meeting), between })
    };
    let is_branch = |block: &usize| matches!(kernel.blocks[*block].exit, Exit::Branch { .. });
    (0..graph.len()).filter(is_branch).filter_map(|block| Some((block, branch(block)?))).collect()
}

/// Names in expressions.
struct Found(BTreeSet<Name>);

impl Visitor for Found {
    fn expr(&mut self, expr: &ExprRef) {
        self.0.extend(visit::free_vars(expr));
    }
}
