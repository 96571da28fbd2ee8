//! Loops as copies of their bodies.
//!
//! Input: the code of a thread. Output: the same with jumps forward only. Establishes: a run of the output is a run of the input;
//! a run that would begin one more round than there are copies ends at a [`cut`] instead, and [`Loop`] tells whether rounds that
//! were not made could matter. Relies on: labels are there, once each. Reference: bounded model checking.
//!
//! A round *only waits* where it may be left out of any execution: no register comes into it from the round before, and (which
//! `execution` asks the solver) it writes nothing. What is left when it is taken away is an execution, too: axioms are about edges
//! that must not be there. So two copies of such a round are as good as any number.

use super::instruction::{Action, Instruction, Update};
use super::test::Item;
use crate::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// Code longer than this is refused.
const MOST_ITEMS: usize = 4_000;

/// Copies of a loop that does nothing but wait: one that waits, and one that ends it.
const WAITING_COPIES: usize = 2;

/// A loop that was unrolled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    /// No register carries a value from round to round, or out of a round that is not the last.
    pub(crate) is_stateless: bool,
}

/// An item of unrolled code.
#[derive(Clone, Debug)]
pub(crate) struct Unrolled {
    pub(crate) item: Item,
    /// The loops in whose last copies it stands.
    pub(crate) last_of: Vec<usize>,
}

/// The label that stands for the end of the copies of a loop; no text has a space in a label.
pub(crate) fn cut(number: usize) -> String {
    format!("cut {number}")
}

/// The loop of such a label.
pub(crate) fn is_cut(label: &str) -> Option<usize> {
    label.strip_prefix("cut ")?.parse().ok()
}

/// Unrolls all loops; `loops` gets one more for each.
///
/// # Errors
/// There is too much code.
pub(crate) fn unroll(code: &[Item], copies: usize, loops: &mut Vec<Loop>) -> Result<Vec<Unrolled>, Diagnostic> {
    let mut code: Vec<Unrolled> =
        code.iter().map(|item| Unrolled { item: item.clone(), last_of: Vec::new() }).collect();
    while let Some((start, end)) = innermost(&code) {
        let number = loops.len();
        let body = &code[start..=end];
        let copies = if only_waits(body) { copies.min(WAITING_COPIES) } else { copies };
        loops.push(Loop { is_stateless: is_stateless(body) });
        if code.len() + body.len() * copies > MOST_ITEMS {
            let place = body.iter().find_map(|one| span(&one.item)).unwrap_or(crate::span::Span::NONE);
            let message = format!("{copies} copies of this loop are too much code");
            return Err(Diagnostic::unsupported("litmus-loop", message, place).note("`--unroll` asks for fewer"));
        }
        let unrolled = copies_of(body, copies, number);
        code.splice(start..=end, unrolled);
    }
    Ok(code)
}

fn span(item: &Item) -> Option<crate::span::Span> {
    if let Item::Step(step) = item { Some(step.span) } else { None }
}

fn jump(item: &Item) -> Option<&str> {
    match item {
        Item::Step(Instruction { action: Action::Branch { label, .. }, .. }) => Some(label),
        _ => None,
    }
}

/// The shortest loop: from a label to the last jump back to it.
fn innermost(code: &[Unrolled]) -> Option<(usize, usize)> {
    let labels: BTreeMap<&str, usize> = code
        .iter()
        .enumerate()
        .filter_map(|(at, one)| if let Item::Label(label) = &one.item { Some((label.as_str(), at)) } else { None })
        .collect();
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, one) in code.iter().enumerate() {
        if let Some(&start) = jump(&one.item).and_then(|label| labels.get(label))
            && start <= at
        {
            ends.insert(start, at);
        }
    }
    ends.into_iter().min_by_key(|(start, end)| (end - start, *start))
}

/// The copies of a body, which begins with the label of the loop. Each copy ends with a jump behind the last one.
fn copies_of(body: &[Unrolled], copies: usize, number: usize) -> Vec<Unrolled> {
    let Item::Label(head) = &body[0].item else { panic!("litmus: a loop without its label") };
    let inside: BTreeSet<&str> = body
        .iter()
        .filter_map(|one| if let Item::Label(label) = &one.item { Some(label.as_str()) } else { None })
        .collect();
    let named = |label: &str, copy: usize| match copy {
        0 => label.to_string(),
        _ => format!("{label} {number}.{copy}"),
    };
    let behind = format!("behind {number}");
    let mut code = Vec::new();
    for copy in 0..copies {
        for one in body {
            let mut one = one.clone();
            match &mut one.item {
                Item::Label(label) => *label = named(label, copy),
                Item::Step(Instruction { action: Action::Branch { label, .. }, .. }) => {
                    if label == head {
                        *label = if copy + 1 < copies { named(head, copy + 1) } else { cut(number) };
                    } else if inside.contains(label.as_str()) {
                        *label = named(label, copy);
                    }
                }
                Item::Step(_) => {}
            }
            if copy + 1 == copies {
                one.last_of.push(number);
            }
            code.push(one);
        }
        let action = Action::Branch { comparison: None, label: behind.clone() };
        let place = body.iter().rev().find_map(|one| span(&one.item)).unwrap_or(crate::span::Span::NONE);
        code.push(Unrolled { item: Item::Step(Instruction { guard: None, action, span: place }), last_of: Vec::new() });
    }
    code.push(Unrolled { item: Item::Label(behind), last_of: Vec::new() });
    code
}

/// Whether a round looks as if it could be left out; whether it can, the solver says.
fn only_waits(body: &[Unrolled]) -> bool {
    let writes = |action: &Action| match action {
        Action::Store { .. } | Action::Barrier { .. } => true,
        Action::Atomic { update, .. } => !matches!(update, Update::CompareAndSwap(_)),
        _ => false,
    };
    is_stateless(body) && !body.iter().any(|one| matches!(&one.item, Item::Step(step) if writes(&step.action)))
}

/// Whether a round could be left out as far as registers go: each register that the body writes gets its value in each round,
/// before the round is left or the register is read. Jumps within a round are beyond this.
fn is_stateless(body: &[Unrolled]) -> bool {
    let Item::Label(head) = &body[0].item else { return false };
    let steps = || body.iter().filter_map(|one| if let Item::Step(step) = &one.item { Some(step) } else { None });
    let written: BTreeSet<&str> = steps().filter_map(|step| step.action.written()).collect();
    let labels = || body.iter().filter_map(|one| if let Item::Label(label) = &one.item { Some(label) } else { None });
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for step in steps() {
        let guard = step.guard.as_ref().map(|(register, _)| register.as_str());
        let reads = step.action.read().into_iter().chain(guard);
        if reads.into_iter().any(|register| written.contains(register) && !done.contains(register)) {
            return false;
        }
        let leaves = jump(&Item::Step(step.clone())).is_some() || step.action == Action::Exit;
        if leaves && done.len() < written.len() {
            return false;
        }
        if let Action::Branch { label, .. } = &step.action
            && label != head
            && labels().any(|inside| inside == label)
        {
            return false;
        }
        if let (None, Some(register)) = (guard, step.action.written()) {
            done.insert(register);
        }
    }
    done.len() == written.len()
}
