//! From proposed launch conditions to the weakest that a proof needs.
//!
//! Input: the lowered kernel, proposals, executions that show a defect, and a way to prove the kernel under conditions.
//! Output: conditions with the report of their proof. Establishes: the kernel is verified under these conditions, and
//! under none of the sets that lack one of them and were tried. Relies on: nothing; a bad proposal costs time only.
//! Reference: DESIGN section 3 (`verified-when`).

use super::condition::Condition;
use super::conditions::flat;
use super::plausible;
use crate::finding::{Finding, KernelReport};
use crate::geometry::{BLOCK_THREADS, volume};
use crate::ivl::ast::{ArraySpace, StmtKind};
use crate::kernel::Kernel;
use std::collections::VecDeque;

/// What an attempt to prove the kernel under conditions came to: the report of a proof, or what refutes it.
pub(crate) type Attempt = Result<KernelReport, Vec<Finding>>;

/// Finds conditions among proposals. `attempt` proves the kernel under some. `findings` are those in flat launches.
///
/// Proposals that an execution with a defect meets are in vain. Those that the model of another failed proof meets are
/// put off: most such models are no mistake.
pub(crate) fn find(
    kernel: &Kernel,
    proposals: Vec<Vec<Condition>>,
    findings: &[Finding],
    attempt: &mut dyn FnMut(&[Condition]) -> Attempt,
) -> Option<(Vec<Condition>, KernelReport)> {
    let meets = |conditions: &[Condition], finding: &Finding| conditions.iter().all(|c| c.holds(finding));
    let (executions, mut models): (Vec<Finding>, Vec<Finding>) = findings.iter().cloned().partition(|f| f.confirmed);
    let mut put_off = Vec::new();
    let mut proposals: VecDeque<Vec<Condition>> = proposals.into();
    proposals.retain(|proposal| !executions.iter().any(|finding| meets(proposal, finding)));
    while let Some(proposal) = proposals.pop_front() {
        if models.iter().any(|model| meets(&proposal, model)) {
            put_off.push(proposal);
        } else {
            match attempt(&proposal) {
                Ok(report) => return Some(weaken(kernel, proposal, report, attempt)),
                Err(findings) => models.extend(findings),
            }
        }
        if proposals.is_empty() {
            models.clear();
            proposals.extend(std::mem::take(&mut put_off));
        }
    }
    None
}

/// Sizes of launches that meet conditions: as they are, with the longest rows where the conditions bound their length.
pub(crate) fn longest(conditions: &[Condition]) -> Vec<Condition> {
    let block = blocks_of(conditions);
    let size = |condition: &Condition| match *condition {
        Condition::Span(axis, most) => {
            Condition::Grid(axis, (most / block[axis.index()].unwrap_or(most).max(1)).max(1))
        }
        ref other => other.clone(),
    };
    conditions.iter().map(size).collect()
}

/// Sizes of launches that meet the conditions in `fewer` and break another one of `all`.
pub(crate) fn breaking(all: &[Condition], fewer: &[Condition]) -> Vec<Vec<Condition>> {
    let block = blocks_of(all);
    let broken = all.iter().filter(|condition| !fewer.contains(condition)).map(|condition| {
        let others = all.iter().filter(move |other| *other != condition).cloned().collect::<Vec<_>>();
        condition.broken(block).into_iter().map(move |sizes| [longest(&others), vec![sizes]].concat())
    });
    let are_allowed = |sizes: &[Condition]| {
        let block = blocks_of(sizes);
        can_be_launched(sizes) && fewer.iter().all(|condition| condition.allows(block))
    };
    broken.flatten().filter(|sizes| are_allowed(sizes)).collect()
}

fn blocks_of(conditions: &[Condition]) -> [Option<u32>; 3] {
    let mut block = [None; 3];
    for condition in conditions {
        if let Condition::Block(axis, size) = condition {
            block[axis.index()] = Some(*size);
        }
    }
    block
}

fn can_be_launched(conditions: &[Condition]) -> bool {
    volume(blocks_of(conditions).map(|size| size.unwrap_or(1))) <= u128::from(BLOCK_THREADS)
}

/// Leaves out what the proof does not need: all that is no flat launch, all bounds, all that few proofs need, all that
/// numbers are positive, and then one condition after the other; a size that is needed is replaced by what is less, as
/// whole warps. What preconditions state is no condition. That an axis which the kernel does not look at has size 1 is needed
/// where it writes: threads that differ on that axis alone write the same places.
pub(crate) fn weaken(
    kernel: &Kernel,
    conditions: Vec<Condition>,
    mut report: KernelReport,
    attempt: &mut dyn FnMut(&[Condition]) -> Attempt,
) -> (Vec<Condition>, KernelReport) {
    let ranges = plausible::stated(kernel);
    let range = |name: &String| {
        let parameter = kernel.params.iter().find(|parameter| parameter.name == *name)?;
        ranges.get(parameter.constant.as_ref()?).copied()
    };
    let is_stated = |condition: &Condition| condition.is_stated(&range, kernel.geometry);
    let (stated, mut conditions): (Vec<Condition>, Vec<Condition>) = conditions.into_iter().partition(is_stated);
    let mut attempt = |fewer: &[Condition]| attempt(&[fewer, &stated].concat());
    let flat = flat(kernel);
    let needed: Vec<Condition> = flat.iter().filter(|condition| is_needed(kernel, condition)).cloned().collect();
    // Without what makes quotients digits there is no proof with them, and to see that takes long.
    let digits: Vec<Condition> = conditions.iter().flat_map(Condition::of_digits).collect();
    let needed = [needed, digits.clone()].concat();
    let is_beyond = |condition: &&Condition| !flat.contains(condition) && !digits.contains(condition);
    let beyond: Vec<Condition> = conditions.iter().filter(is_beyond).cloned().collect();
    let bounds: Vec<Condition> = conditions.iter().filter(|condition| condition.is_bound()).cloned().collect();
    let single = conditions.iter().filter(|condition| !needed.contains(condition)).map(|c| vec![c.clone()]);
    let seldom = conditions.iter().filter(|condition| condition.is_seldom_needed()).cloned().collect();
    let is_positive = |condition: &&Condition| condition.is_positive() && !digits.contains(condition);
    let positive = conditions.iter().filter(is_positive).cloned().collect();
    // Beside a product that does not wrap, those of two of its factors and others hardly matter.
    let has_extent = conditions.iter().any(|condition| matches!(condition, Condition::Extent(_)));
    let is_area = |condition: &&Condition| has_extent && matches!(condition, Condition::Area(..));
    let areas = conditions.iter().filter(is_area).cloned().collect();
    let groups = [(beyond, 2), (bounds.clone(), 2), (seldom, 1), (positive, 2), (areas, 2)];
    let groups = groups.into_iter().filter(|(group, least): &(Vec<Condition>, usize)| group.len() >= *least);
    let groups = groups.map(|(group, _)| group);
    for group in groups.chain(single.collect::<Vec<_>>()) {
        let fewer: Vec<Condition> = conditions.iter().filter(|other| !group.contains(other)).cloned().collect();
        if fewer.len() == conditions.len() {
            continue;
        }
        if let Ok(weaker) = attempt(&fewer) {
            (conditions, report) = (fewer, weaker);
        } else if let [size] = &group[..] {
            // In larger blocks more sums wrap.
            let needed: Vec<Condition> = bounds.iter().filter(|bound| !conditions.contains(bound)).cloned().collect();
            let looser = size.looser().into_iter().map(|looser| [&fewer[..], &[looser]].concat());
            let bounded = looser.clone().map(|looser| [looser, needed.clone()].concat());
            let both = looser.chain(bounded.filter(|_| !needed.is_empty()));
            if let Some(found) = both.into_iter().find_map(|other| Some((attempt(&other).ok()?, other))) {
                (report, conditions) = found;
            }
        }
    }
    let implied = |other: &Condition| conditions.iter().any(|c| c.implies_number(other, kernel.geometry.grid));
    let listed = conditions.iter().filter(|condition| !implied(condition)).cloned().collect();
    (listed, report)
}

fn is_needed(kernel: &Kernel, flat: &Condition) -> bool {
    match flat {
        Condition::Grid(..) => writes(kernel, ArraySpace::Global),
        _ => writes(kernel, ArraySpace::Global) || writes(kernel, ArraySpace::Shared),
    }
}

/// Whether the kernel has a store to an array of that space.
fn writes(kernel: &Kernel, space: ArraySpace) -> bool {
    let blocks = kernel.program.procedures.iter().flat_map(|procedure| &procedure.body).flat_map(|body| &body.blocks);
    blocks.flat_map(|block| &block.stmts).any(|statement| match &statement.kind {
        StmtKind::Store { access, .. } => {
            kernel.program.arrays.iter().any(|array| array.name == access.array && array.space == space)
        }
        _ => false,
    })
}
