//! Which names exist twice, and the two copies of expressions.
//!
//! Input: the predicated program and the pair. Output: [`Copies`]. Establishes: private variables and
//! per-thread constants become `x$1` and `x$2`; what all threads of the pair share stays one. Relies
//! on: no name of the kernel is a thread's copy already. Reference: the lock-step paper, section 4.2 (the map
//! over expressions that replaces each private variable by the thread's own).

use super::Pair;
use crate::ivl::ast::{Constant, ExprKind, ExprRef, Name, Program, Thread, Type, Variable};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::ivl::visit::{free_vars, map_children};
use std::collections::BTreeMap;

/// How a constant of the kernel varies over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variation {
    /// The same for all threads of the launch: parameters, launch sizes.
    Launch,
    /// The same for all threads of a block: `ctaid`.
    Block,
    /// Each thread has its own: `tid`.
    Thread,
}

impl Variation {
    /// From the attributes `{:thread}` and `{:block}`; the names `tid.` and `ctaid.` count even without.
    pub(crate) fn of(constant: &Variable) -> Variation {
        let has = |name: &str| constant.attributes.has(name);
        let named = |prefix: &str| constant.name.as_str().starts_with(prefix);
        if has("thread") || named("tid.") {
            Variation::Thread
        } else if has("block") || named("ctaid.") {
            Variation::Block
        } else {
            Variation::Launch
        }
    }

    /// Whether the threads of the pair may differ in such a constant.
    pub(crate) fn differs(self, pair: Pair) -> bool {
        match self {
            Variation::Launch => false,
            Variation::Block => pair == Pair::DifferentBlocks,
            Variation::Thread => true,
        }
    }
}

/// The names of which each thread has its own copy.
#[derive(Clone, Debug)]
pub(crate) struct Copies {
    /// The names, without suffix, and their types.
    pub(crate) doubled: BTreeMap<Name, Type>,
}

impl Copies {
    /// All private variables, and the constants in which threads of the pair differ.
    pub(crate) fn new(program: &Program, locals: &[Variable], pair: Pair) -> Copies {
        let constants = program.constants.iter().map(|constant| &constant.variable);
        let differing = constants.filter(|constant| Variation::of(constant).differs(pair));
        let doubled = differing.chain(locals).map(|variable| (variable.name.clone(), variable.ty.clone()));
        Copies { doubled: doubled.collect() }
    }

    /// Whether the expression may have different values for the two threads.
    pub(crate) fn differ_on(&self, expr: &ExprRef) -> bool {
        free_vars(expr).iter().any(|name| self.doubled.contains_key(name))
    }

    /// The expression as the thread sees it.
    pub(crate) fn expr(&self, expr: &ExprRef, thread: Thread) -> ExprRef {
        self.expr_under(expr, thread, &mut Vec::new())
    }

    fn expr_under(&self, expr: &ExprRef, thread: Thread, bound: &mut Vec<Name>) -> ExprRef {
        match &expr.kind {
            ExprKind::Var(name) if self.doubled.contains_key(name) && !bound.contains(name) => {
                bv::var(name.of(thread), expr.ty.clone())
            }
            ExprKind::Quantifier { variables, .. } => {
                let outer = bound.len();
                bound.extend(variables.iter().map(|(name, _)| name.clone()));
                let copy = map_children(expr, &mut |child| self.expr_under(child, thread, bound));
                bound.truncate(outer);
                copy
            }
            _ => map_children(expr, &mut |child| self.expr_under(child, thread, bound)),
        }
    }

    /// A declaration, once or twice.
    pub(crate) fn variables<'a>(&self, variables: impl IntoIterator<Item = &'a Variable>) -> Vec<Variable> {
        let mut result = Vec::new();
        for variable in variables {
            if self.doubled.contains_key(&variable.name) {
                result
                    .extend(Thread::BOTH.map(|thread| Variable { name: variable.name.of(thread), ..variable.clone() }));
            } else {
                result.push(variable.clone());
            }
        }
        result
    }

    /// A constant, once or twice. Copies are never `unique`: threads may agree.
    pub(crate) fn constants(&self, constant: &Constant) -> Vec<Constant> {
        let unique = constant.unique && !self.doubled.contains_key(&constant.variable.name);
        self.variables([&constant.variable]).into_iter().map(|variable| Constant { variable, unique }).collect()
    }

    /// The copies of a formula: one for both threads if they cannot differ on it.
    pub(crate) fn formulas(&self, expr: &ExprRef) -> Vec<ExprRef> {
        if self.differ_on(expr) {
            Thread::BOTH.map(|thread| self.expr(expr, thread)).to_vec()
        } else {
            vec![expr.clone()]
        }
    }
}
