//! Stage 4: predication of a single thread.
//!
//! Input: a kernel IVL program (one procedure `{:kernel}`). Output: [`Predicated`]: the same kernel with
//! the loop back edges as its only jumps, every statement guarded by "this block is active". Establishes:
//! for every terminating execution of the kernel the predicated kernel has one with the same accesses,
//! barriers and assertions, and the reverse. Relies on: well-formed kernels (Definition 5.1) and a reducible graph. Reference:
//! the lock-step paper, section 4, Tables 1 and 2.
//!
//! Invariants of the user come to the heads of their loops first ([`invariants`]).
//!
//! Three refinements of the paper, each argued in its file: branches without a choice
//! ([`kernel`]), unpredicated variables ([`single_definition`]), activity as a
//! Boolean that equivalent blocks share ([`activity`]).

pub(crate) mod activity;
mod blocks;
mod complement;
mod invariants;
pub mod kernel;
mod live;
pub mod order;
pub(crate) mod rewrite;
pub mod single_definition;

use crate::diagnostic::Diagnostic;
use crate::flow::LoopForest;
use crate::ivl::ast::{ExprRef, Name, Program};
use crate::span::{Origin, Span};
use kernel::Kernel;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// A predicated kernel, with the tables that later stages need.
#[derive(Clone, Debug)]
pub struct Predicated {
    /// The program; its kernel procedure is predicated, all else is unchanged.
    pub program: Program,
    /// Name of the kernel procedure.
    pub(crate) kernel: Name,
    /// The private variable that holds the id of the block a thread executes next.
    pub active: Name,
    /// Blocks of the kernel in sort order; block k has id k.
    pub order: Vec<OrderedBlock>,
    /// Its loops in the order of their heads, so outer ones come before inner ones.
    pub loops: Vec<LoopInfo>,
    /// The id of `End`: the number of blocks.
    pub end_id: u32,
    /// Ids of the blocks from which every way leads to `End`, through no loop and past nothing at which threads wait; with that of `End`.
    pub(crate) leaving: BTreeSet<u32>,
}

/// A block of the kernel.
#[derive(Clone, Debug)]
pub struct OrderedBlock {
    pub label: Name,
    /// The private Boolean that tells whether the thread executes the block in this sweep.
    pub activity: Name,
    /// Innermost loop, an index into [`Predicated::loops`].
    pub(crate) in_loop: Option<usize>,
}

/// A loop of the predicated kernel: blocks `entry`, then the blocks of the loop from `head` on, then
/// `back` (returns to `head`) and `exit`.
#[derive(Clone, Debug)]
pub struct LoopInfo {
    /// Label of the header.
    pub head: Name,
    /// Label of the block in front of the header; it copies `v_active` to `active_at_entry`.
    pub(crate) entry: Name,
    /// Label of the block that takes the back edge: `assume v_active == head`.
    pub back: Name,
    /// Label of the block that leaves the loop: `assume v_active != head`.
    pub exit: Name,
    /// Labels of the kernel's blocks in the loop, in sort order.
    pub(crate) blocks: Vec<Name>,
    /// Id of the header, the smallest of the loop.
    pub head_id: u32,
    /// The greatest id of the loop. The ids of the loop are `head_id..=last_id`.
    pub(crate) last_id: u32,
    /// The loop around it, an index into [`Predicated::loops`].
    pub(crate) parent: Option<usize>,
    /// Ids of the blocks to which an edge leaves the loop, ascending; empty when none leaves.
    pub(crate) exit_ids: Vec<u32>,
    /// Whether each way around it passes a barrier of the block, at which every thread waits.
    pub(crate) is_stepped: bool,
    /// Private variables that the loop assigns and nobody reads before they are assigned anew ([`live`]).
    pub(crate) dead: BTreeSet<Name>,
    /// Whether invariants say nothing about those.
    pub(crate) leaves_out_dead: bool,
    /// Private variable: `v_active` when control last came to the loop from outside.
    pub(crate) active_at_entry: Name,
    /// What holds for `v_active` of each thread whenever control is at the header, by construction:
    /// the thread is at the header, or at a block sorted after the loop, or returns to the
    /// header of an outer loop; a thread that did not enter has not moved; one that entered is at the
    /// header or at an exit.
    pub activity_facts: Vec<ExprRef>,
    /// First instruction of the header that is known.
    pub(crate) origin: Option<Arc<Origin>>,
}

/// Predicates the kernel.
///
/// # Errors
/// `kernel-shape`: not one kernel procedure, unknown labels, globals, postconditions.
/// `irreducible` (unsupported): a cycle with two entries. `kernel-call`, `too-many-blocks` (unsupported).
pub fn run(program: &Program) -> Result<Predicated, Vec<Diagnostic>> {
    let mut kernel = Kernel::read(program)?;
    let errors = refused(program, &kernel);
    if !errors.is_empty() {
        return Err(errors);
    }
    let dominators = kernel.graph.dominators();
    let forest = LoopForest::of(&kernel.graph, &dominators).map_err(|block| vec![irreducible(&kernel, block)])?;
    invariants::move_to_heads(&mut kernel, &forest);
    let order = order::sort_order(&kernel.graph, &forest);
    let representatives = activity::representatives(&kernel.graph, &forest);
    let unpredicated = single_definition::unpredicated(&kernel, &dominators, &forest);
    blocks::predicate(program, &kernel, &forest, order, representatives, unpredicated)
}

/// What the kernel language does not have, though the grammar allows it.
fn refused(program: &Program, kernel: &Kernel) -> Vec<Diagnostic> {
    let procedure = kernel.procedure;
    let mut errors = Vec::new();
    let mut refuse = |message: &str, span: Span| errors.push(Diagnostic::error("kernel-shape", message, span));
    if let Some(global) = program.globals.first() {
        refuse("a kernel program has private locals and shared arrays, no global variables", global.span);
    }
    if let Some(result) = procedure.results.first() {
        refuse("a kernel has no results", result.span);
    }
    if let Some(ensures) = procedure.ensures.first() {
        refuse("a kernel has no postconditions", ensures.span);
    }
    // Ids are 0 to the number of blocks, `End` included.
    if kernel.blocks.len() >= 1 << rewrite::BLOCK_ID_WIDTH {
        let message = format!("the kernel has {} blocks; at most 65535 have an id", kernel.blocks.len());
        errors.push(Diagnostic::unsupported("too-many-blocks", message, procedure.span));
    }
    errors
}

fn irreducible(kernel: &Kernel, block: usize) -> Diagnostic {
    let block = &kernel.blocks[block];
    let message = format!("irreducible control flow: a cycle near block `{}` has two entries", block.label);
    let span = block.stmts.first().map_or(block.span, rewrite::place);
    Diagnostic::unsupported("irreducible", message, span)
        .note("the sort order exists only for graphs whose cycles are natural loops")
}

/// Every name in use in a program, so that new ones differ.
fn names_in_use(program: &Program, kernel: &Kernel) -> BTreeSet<Name> {
    let variables = program.globals.iter().chain(program.constants.iter().map(|constant| &constant.variable));
    let body = kernel.procedure.body.iter().flat_map(|body| &body.locals);
    let mut names: BTreeSet<Name> =
        variables.chain(&kernel.procedure.params).chain(body).map(|variable| variable.name.clone()).collect();
    names.extend(program.functions.iter().map(|function| function.name.clone()));
    names.extend(program.arrays.iter().map(|array| array.name.clone()));
    names.extend(program.procedures.iter().map(|procedure| procedure.name.clone()));
    names
}

/// The sort order for people (`--emit order`): a block a line, its id in front, loops indented.
pub fn order_text(predicated: &Predicated) -> String {
    let loops = &predicated.loops;
    let mut text = format!("kernel {}\n", predicated.kernel);
    let width = predicated.end_id.to_string().len();
    for (id, block) in predicated.order.iter().enumerate() {
        let around: Vec<usize> = std::iter::successors(block.in_loop, |&index| loops[index].parent).collect();
        let mut line = format!("{id:>width$}  {}{}", "  ".repeat(around.len()), block.label);
        if let Some(this) = around.first().map(|&index| &loops[index]).filter(|this| this.head == block.label) {
            let exits: Vec<String> = this.exit_ids.iter().map(u32::to_string).collect();
            let exits =
                if exits.is_empty() { "never left".to_string() } else { format!("exits to {}", exits.join(", ")) };
            let _ = write!(line, "  loop {}..{}, {exits}", this.head_id, this.last_id);
        }
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{:>width$}  End", predicated.end_id);
    text
}
