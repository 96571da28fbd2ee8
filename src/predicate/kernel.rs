//! Reads a kernel program: finds its kernel procedure and numbers its blocks.
//!
//! Input: a kernel IVL program. Output: [`Kernel`]: blocks by number with successor lists; block 0 is
//! the start and has no predecessor. Establishes: every label resolves, every block is reachable, a
//! two-way branch on complementary conditions is a [`Exit::Branch`] and its `assume`s are gone, so the
//! condition stands where the branch is. Relies on: the program type-checks. Reference: the lock-step
//! paper, section 3.1.

use super::complement::are_complementary;
use crate::diagnostic::Diagnostic;
use crate::flow::Graph;
use crate::ivl::ast::{Block, ExprKind, ExprRef, Name, Procedure, Program, Stmt, StmtKind, Transfer, UnaryOp};
use crate::ivl::attributes::Attributes;
use crate::span::{Origin, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A kernel procedure with numbered blocks.
pub struct Kernel<'a> {
    pub(crate) procedure: &'a Procedure,
    /// Blocks in the order of the text, unreachable ones left out.
    pub(crate) blocks: Vec<NumberedBlock>,
    /// Their graph.
    pub graph: Graph,
}

/// A block of a kernel.
pub(crate) struct NumberedBlock {
    pub(crate) label: Name,
    /// Its statements, without the `assume`s that a branch took over.
    pub(crate) stmts: Vec<Stmt>,
    /// How a thread leaves it.
    pub(crate) exit: Exit,
    /// Where it stands.
    pub(crate) span: Span,
}

/// How a thread leaves a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exit {
    /// The thread ends.
    End,
    /// To one block.
    Jump(usize),
    /// To the first block if the condition holds, else to the second.
    Branch {
        /// The condition, a Boolean over private variables.
        condition: ExprRef,
        /// Target when it holds.
        then: usize,
        /// Target when it does not.
        otherwise: usize,
        /// The instruction that branches.
        origin: Option<Arc<Origin>>,
    },
    /// To any of these; their own `assume`s rule out the wrong ones.
    Choice(Vec<usize>),
}

impl Exit {
    /// The blocks it may lead to, without repetition.
    fn targets(&self) -> Vec<usize> {
        match self {
            Exit::End => Vec::new(),
            Exit::Jump(target) => vec![*target],
            Exit::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Exit::Choice(targets) => targets.clone(),
        }
    }
}

impl<'a> Kernel<'a> {
    /// Reads the one procedure attributed `{:kernel}`.
    ///
    /// # Errors
    /// No kernel or several, a kernel without a body, unknown or repeated labels, `goto` without a target.
    pub fn read(program: &'a Program) -> Result<Kernel<'a>, Vec<Diagnostic>> {
        let procedure = find_kernel(program).map_err(|error| vec![error])?;
        let Some(body) = &procedure.body else {
            return Err(vec![Diagnostic::error("kernel-shape", "the kernel has no body", procedure.span)]);
        };
        let exits = resolve(&body.blocks)?;
        let (mut blocks, graph) = number(&body.blocks, exits);
        take_over_branch_conditions(&mut blocks, &graph);
        Ok(Kernel { procedure, blocks, graph })
    }
}

fn find_kernel(program: &Program) -> Result<&Procedure, Diagnostic> {
    let is_kernel = |p: &&Procedure| p.attributes.has("kernel");
    let mut kernels = program.procedures.iter().filter(is_kernel);
    let first = kernels.next();
    match (first, kernels.next()) {
        (None, _) => Err(Diagnostic::error(
            "kernel-shape",
            "the program has no procedure with the attribute `{:kernel}`",
            Span::NONE,
        )),
        (Some(first), Some(second)) => {
            Err(Diagnostic::error("kernel-shape", "the program has more than one kernel", second.span)
                .also(first.span, "the first one"))
        }
        (Some(kernel), None) => Ok(kernel),
    }
}

/// The exits of all blocks, as numbers in the order of the text.
fn resolve(blocks: &[Block]) -> Result<Vec<Exit>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut numbers: BTreeMap<&Name, usize> = BTreeMap::new();
    for (number, block) in blocks.iter().enumerate() {
        if let Some(first) = numbers.insert(&block.label, number) {
            let message = format!("label `{}` is defined twice", block.label);
            errors.push(Diagnostic::error("kernel-shape", message, block.span).also(blocks[first].span, "first here"));
        }
    }
    let mut exits = Vec::with_capacity(blocks.len());
    for block in blocks {
        let Transfer::Goto(labels) = &block.transfer else {
            exits.push(Exit::End);
            continue;
        };
        let mut targets = Vec::new();
        for label in labels {
            match numbers.get(label) {
                Some(&target) if targets.contains(&target) => {}
                Some(&target) => targets.push(target),
                None => {
                    let message = format!("`goto` to the unknown label `{label}`");
                    errors.push(Diagnostic::error("unknown-label", message, block.span));
                }
            }
        }
        match targets[..] {
            [] if labels.is_empty() => {
                errors.push(Diagnostic::error("kernel-shape", "`goto` without a target", block.span));
            }
            [target] => exits.push(Exit::Jump(target)),
            _ => exits.push(Exit::Choice(targets)),
        }
    }
    if blocks.is_empty() {
        errors.push(Diagnostic::error("kernel-shape", "the kernel has no blocks", Span::NONE));
    }
    if errors.is_empty() { Ok(exits) } else { Err(errors) }
}

/// Drops unreachable blocks, and puts a start block in front when the first block has predecessors:
/// `v_active` is set there once, not in every iteration of a loop.
fn number(blocks: &[Block], exits: Vec<Exit>) -> (Vec<NumberedBlock>, Graph) {
    let whole = Graph::new(exits.iter().map(Exit::targets).collect());
    let reachable = whole.reachable();
    let needs_start = whole.predecessors[0].iter().any(|&from| reachable[from]);
    let mut result: Vec<NumberedBlock> = Vec::new();
    if needs_start {
        let label = fresh_label(blocks, "start");
        result.push(NumberedBlock { label, stmts: Vec::new(), exit: Exit::Jump(1), span: Span::NONE });
    }
    let mut numbers = vec![usize::MAX; blocks.len()];
    let mut next = result.len();
    for (old, number) in numbers.iter_mut().enumerate() {
        if reachable[old] {
            *number = next;
            next += 1;
        }
    }
    for ((old, block), exit) in blocks.iter().enumerate().zip(exits) {
        if reachable[old] {
            let exit = match exit {
                Exit::Jump(target) => Exit::Jump(numbers[target]),
                Exit::Choice(targets) => Exit::Choice(targets.into_iter().map(|target| numbers[target]).collect()),
                other => other,
            };
            let stmts = block.stmts.clone();
            result.push(NumberedBlock { label: block.label.clone(), stmts, exit, span: block.span });
        }
    }
    let graph = Graph::new(result.iter().map(|block| block.exit.targets()).collect());
    (result, graph)
}

fn fresh_label(blocks: &[Block], stem: &str) -> Name {
    let taken: BTreeSet<&str> = blocks.iter().map(|block| block.label.as_str()).collect();
    let mut label = stem.to_string();
    while taken.contains(label.as_str()) {
        label.push('\'');
    }
    Name::from(label)
}

/// Refinement 1: `goto B1, B2` is a branch when both blocks start with complementary `assume`s and have
/// no other predecessors than blocks that end in this same choice. The next block is then a function of
/// the thread's state, and the `assume`s, which hold by construction, disappear.
fn take_over_branch_conditions(blocks: &mut [NumberedBlock], graph: &Graph) {
    for from in 0..blocks.len() {
        let Exit::Choice(targets) = &blocks[from].exit else { continue };
        let &[first, second] = &targets[..] else { continue };
        let same_choice = |&block: &usize| {
            graph.successors[block].len() == 2 && {
                let targets = &graph.successors[block];
                targets.contains(&first) && targets.contains(&second)
            }
        };
        let sources = graph.predecessors[first].clone();
        if sources != graph.predecessors[second] || !sources.iter().all(same_choice) {
            continue;
        }
        let (Some((condition, origin)), Some((negation, _))) =
            (leading_assume(&blocks[first]), leading_assume(&blocks[second]))
        else {
            continue;
        };
        if !are_complementary(&condition, &negation) {
            continue;
        }
        blocks[first].stmts.remove(0);
        blocks[second].stmts.remove(0);
        let branch = match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => {
                Exit::Branch { condition: inner.clone(), then: second, otherwise: first, origin }
            }
            _ => Exit::Branch { condition, then: first, otherwise: second, origin },
        };
        for source in sources {
            blocks[source].exit = branch.clone();
        }
    }
}

fn leading_assume(block: &NumberedBlock) -> Option<(ExprRef, Option<Arc<Origin>>)> {
    match block.stmts.first() {
        Some(Stmt { kind: StmtKind::Assume(_, condition), origin, .. }) => Some((condition.clone(), origin.clone())),
        _ => None,
    }
}
