//! Launch conditions under which a kernel is verified, where it is not for all launches.
//!
//! Input: the lowered kernel. Output: sets of conditions to try. Establishes: nothing;
//! a bad proposal costs time only. Relies on: nothing. Reference: DESIGN section 3 (`verified-when`).
//!
//! Proposed is what people rely on: axes that the kernel does not look at have size 1; the block is a multiple of the
//! warp, or a power of two; a parameter is the number of threads, or at least the block; the block has a size that the
//! kernel's own constants suggest.

use super::condition::{Condition, WARP};
use super::in_shared;
use super::natural;
use super::seen::Seen;
use crate::geometry::{Axis, BLOCK_THREADS};
use crate::ivl;
use crate::ivl::ast::{ExprRef, Name, Procedure};
use crate::ivl::attributes::Attributes;
use crate::kernel::Kernel;
use crate::span::Span;
use std::collections::BTreeSet;

/// Lengths of rows, and blocks with which they are tried.
const LENGTHS: usize = 4;

/// Threads of a block on one axis, and on each of two, where the kernel says nothing.
const USUAL_BLOCK: u32 = 256;
const USUAL_TILE: u32 = 16;

/// Requires conditions of a kernel that was lowered with the sizes that they fix.
pub(crate) fn require(kernel: &mut Kernel, conditions: &[Condition]) {
    let required: Vec<ExprRef> = conditions.iter().filter_map(|condition| condition.requires(kernel)).collect();
    let is_kernel = |procedure: &&mut Procedure| procedure.attributes.has("kernel");
    if let Some(procedure) = kernel.program.procedures.iter_mut().find(is_kernel) {
        procedure.requires.extend(required.into_iter().map(|expr| ivl::ast::Condition {
            free: false,
            expr,
            attributes: Vec::new(),
            span: Span::NONE,
        }));
    }
}

/// The conditions that axes which the kernel does not look at have size 1: without them, threads that do the same
/// race in launches that nobody means.
pub(crate) fn flat(kernel: &Kernel) -> Vec<Condition> {
    let seen = Seen::of(kernel);
    let unused = |sizes: [Option<u32>; 3], id: &'static str, condition: fn(Axis, u32) -> Condition| {
        let free = free_axes(sizes).filter(|axis| !seen.looks_at(id, *axis));
        free.map(|axis| condition(axis, 1)).collect::<Vec<_>>()
    };
    let mut grid = unused(kernel.geometry.grid, "ctaid", Condition::Grid);
    // Whoever adds up without a barrier adds up what many blocks have.
    if seen.adds_up() {
        grid.retain(|condition| *condition != Condition::Grid(Axis::X, 1));
    }
    [unused(kernel.geometry.block, "tid", Condition::Block), grid].concat()
}

/// A launch that the kernel suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub(crate) conditions: Vec<Condition>,
    /// Whether about as many signs speak for it as for the first: it may be the one that is meant.
    pub(crate) is_rival: bool,
    /// Whether the proof hardly succeeds for blocks of other sizes.
    pub(crate) is_fixed: bool,
    /// Whether blocks of another size are none that the kernel is written for.
    pub(crate) is_meant: bool,
    /// Whether it requires the values that a host is likely to pass.
    pub(crate) is_table: bool,
}

/// Conditions that keep rows apart, if the kernel has rows: what is likely of all parameters, first without what proofs
/// seldom need, then all of it.
pub(crate) fn tables(plausible: &[Condition]) -> Vec<Vec<Condition>> {
    if !plausible.iter().any(Condition::keeps_rows) {
        return Vec::new();
    }
    let usual: Vec<Condition> = plausible.iter().filter(|condition| !condition.is_seldom_needed()).cloned().collect();
    // Without what keeps rows apart it says no more than that sizes are positive.
    let is_worth_it = usual.len() < plausible.len() && usual.iter().any(Condition::keeps_rows);
    if is_worth_it { vec![usual, plausible.to_vec()] } else { vec![plausible.to_vec()] }
}

/// The launches that the kernel suggests, each without and with the bounds that keep sums from wrapping; first with values
/// that are likely where the kernel has rows.
pub(crate) fn natural(kernel: &Kernel, essence: &Kernel, plausible: &[Condition]) -> Vec<Suggestion> {
    let (flat, widths) = (flat(kernel), widths(essence));
    let bounded = bounds(essence);
    let (tables, offsets) = (tables(plausible), scalars(essence));
    let (mut likely_values, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for launch in natural::launches(kernel, !widths.is_empty() || !tables.is_empty()) {
        let sizes = Axis::ALL.into_iter().filter_map(|axis| Some(Condition::Block(axis, launch.block[axis.index()]?)));
        let rows = launch.rows.iter().map(|(axis, threads)| Condition::Span(*axis, *threads));
        let warps = launch.has_warps.then_some(Condition::MultipleOf(Axis::X, WARP));
        let further = sizes.chain(rows).chain(warps).filter(|condition| !flat.contains(condition));
        let plain = [flat.clone(), further.collect()].concat();
        let areas = [plain.clone(), widths.clone()].concat();
        let with_bounds = [areas.clone(), bounded.clone()].concat();
        // Which is proved sooner.
        let (likely, other) = match (launch.wraps, widths.is_empty()) {
            (true, _) => (with_bounds, plain.clone()),
            (false, true) => (plain.clone(), with_bounds),
            (false, false) => (areas, with_bounds),
        };
        let natural::Natural { is_rival, is_fixed, is_meant, .. } = launch;
        let suggestion = |conditions, is_table| Suggestion { conditions, is_rival, is_fixed, is_meant, is_table };
        for table in &tables {
            // Sums with what the table says nothing of, as an offset, may wrap.
            let is_said = |name: &String| table.iter().any(|condition| condition.parameters().contains(&name));
            let may_wrap = launch.wraps || !offsets.iter().all(is_said);
            let bounds = if may_wrap { &bounded[..] } else { &[] };
            likely_values.push(suggestion([&plain[..], &table[..], bounds].concat(), true));
        }
        first.push(suggestion(likely, false));
        second.push(suggestion(other, false));
    }
    [likely_values, first, second].concat()
}

/// Sizes of launches, with bounds on what is very large, which are left out again where they are not needed.
pub(crate) fn sizes(kernel: &Kernel, essence: &Kernel) -> Vec<Vec<Condition>> {
    let seen = Seen::of(kernel);
    let used: Vec<Axis> = free_axes(kernel.geometry.block).filter(|axis| seen.looks_at("tid", *axis)).collect();
    let further = [vec![Vec::new()], general_sizes(&seen, &used, kernel.most_threads)].concat();
    complete(kernel, essence, further)
}

/// Sizes that are usual, and parameters that depend on the sizes or on each other. A defect with other values is worth
/// more: such conditions are for kernels where none is found.
pub(crate) fn parameters(kernel: &Kernel, essence: &Kernel) -> Vec<Vec<Condition>> {
    let (scalars, seen) = (scalars(essence), Seen::of(kernel));
    let used: Vec<Axis> = free_axes(kernel.geometry.block).filter(|axis| seen.looks_at("tid", *axis)).collect();
    let usual = match used[..] {
        [only] => vec![vec![Condition::Block(only, USUAL_BLOCK)]],
        [first, second] => vec![[first, second].map(|axis| Condition::Block(axis, USUAL_TILE)).to_vec()],
        _ => Vec::new(),
    };
    let on = |name: &String| [vec![Condition::IsThreads(name.clone())], vec![Condition::CoversBlock(name.clone())]];
    let related: Vec<_> = scalars.iter().flat_map(on).collect();
    complete(kernel, essence, [vec![areas(&scalars)], usual, related].concat())
}

/// Conditions beside those of a flat launch, with these and the bounds.
fn complete(kernel: &Kernel, essence: &Kernel, further: Vec<Vec<Condition>>) -> Vec<Vec<Condition>> {
    let (flat, bounded) = (flat(kernel), bounds(essence));
    let mut proposals: Vec<Vec<Condition>> = Vec::new();
    for more in further {
        let proposal = [flat.clone(), more, bounded.clone()].concat();
        if !proposals.contains(&proposal) {
            proposals.push(proposal);
        }
    }
    proposals
}

/// Names of the 32-bit parameters that the kernel counts with.
fn scalars(kernel: &Kernel) -> Vec<String> {
    let seen = Seen::of(kernel);
    scalars_among(kernel, &seen, &seen.operands)
}

/// Names of the 32-bit parameters that are no pointers and that are among these names, or copied to one.
fn scalars_among(kernel: &Kernel, seen: &Seen, names: &BTreeSet<Name>) -> Vec<String> {
    let is_one =
        |constant: &Name| names.contains(constant) || names.iter().any(|name| seen.copies.get(name) == Some(constant));
    let scalars = kernel.params.iter().filter(|p| p.bits == 32 && !p.is_pointer);
    let found = scalars.filter(|parameter| parameter.constant.as_ref().is_some_and(is_one));
    found.map(|parameter| parameter.name.clone()).collect()
}

/// What keeps `row * width + column` from wrapping: products of a parameter that is a factor and another one, which
/// bounds the rows, or itself if there is no other.
fn widths(kernel: &Kernel) -> Vec<Condition> {
    let (seen, scalars) = (Seen::of(kernel), scalars(kernel));
    let widths = scalars_among(kernel, &seen, &seen.factors);
    let is_of_width = |area: &Condition| match area {
        Condition::Area(a, b) => (widths.contains(a) || widths.contains(b)) && (a != b || scalars.len() == 1),
        _ => false,
    };
    areas(&scalars).into_iter().filter(is_of_width).collect()
}

/// What keeps sums of indices from wrapping.
fn bounds(kernel: &Kernel) -> Vec<Condition> {
    let in_shared = in_shared::parameters(kernel);
    let names = scalars_among(kernel, &Seen::of(kernel), &in_shared);
    let bound = |name: String| match names.contains(&name) {
        true => Condition::FitsShared(name),
        false => Condition::ParameterBounded(name),
    };
    let threads = kernel.geometry.has_free().then_some(Condition::ThreadsBounded);
    scalars(kernel).into_iter().map(bound).chain(threads).collect()
}

/// Proposals about the sizes of launches in which threads on some axes are told apart.
fn general_sizes(seen: &Seen, used: &[Axis], most: u32) -> Vec<Vec<Condition>> {
    let mut further: Vec<Vec<Condition>> = Vec::new();
    // Blocks of one axis have whole warps.
    let sizes = if used.len() > 1 { seen.suggestions(8..=32) } else { seen.suggestions(32..=BLOCK_THREADS) };
    let blocks = blocks(used, &sizes, most);
    further.extend(blocks.iter().cloned());
    // Rows of a constant length, with a last axis that is as long as it likes.
    let rows: Vec<Axis> = Axis::ALL.into_iter().filter(|axis| seen.looks_at("ctaid", *axis)).collect();
    let rows = rows.split_last().map_or(&[][..], |(_, rows)| rows);
    let row = |length: u32| rows.iter().map(|axis| Condition::Span(*axis, length)).collect::<Vec<_>>();
    let mut lengths: Vec<u32> = seen.suggestions(32..=1 << 16).into_iter().take(LENGTHS).collect();
    lengths.sort_unstable_by_key(|length| std::cmp::Reverse(*length));
    let spans: Vec<Vec<Condition>> = lengths.into_iter().map(row).filter(|span| !span.is_empty()).collect();
    further.extend(spans.iter().cloned());
    for block in blocks.iter().take(if used.len() > 1 { LENGTHS } else { 0 }) {
        further.extend(spans.iter().map(|span| [block.clone(), span.clone()].concat()));
    }
    let warps = used.first().map(|&first| vec![Condition::MultipleOf(first, 32)]);
    // Who counts lanes means whole warps.
    let position = if seen.constants.contains_key(&31) { 0 } else { further.len() };
    further.splice(position..position, warps);
    further.push(used.iter().map(|axis| Condition::PowerOfTwo(*axis)).collect());
    further
}

/// The products of any two parameters, of kernels with few.
fn areas(scalars: &[String]) -> Vec<Condition> {
    let pairs = scalars.iter().enumerate().flat_map(|(i, a)| scalars[i..].iter().map(move |b| (a, b)));
    let areas = pairs.map(|(a, b)| Condition::Area(a.clone(), b.clone()));
    if scalars.len() <= 3 { areas.collect() } else { Vec::new() }
}

/// Blocks of these sizes with at most `most` threads; on two axes also of two different ones.
fn blocks(used: &[Axis], sizes: &[u32], most: u32) -> Vec<Vec<Condition>> {
    let equal = sizes.iter().map(|size| used.iter().map(|axis| Condition::Block(*axis, *size)).collect());
    let mut blocks: Vec<Vec<Condition>> = equal.collect();
    if let &[first, second] = used {
        let sizes = &sizes[..sizes.len().min(LENGTHS)];
        let pairs = sizes.iter().flat_map(|a| sizes.iter().map(move |b| (*a, *b))).filter(|(a, b)| a != b);
        blocks.extend(pairs.map(|(a, b)| vec![Condition::Block(first, a), Condition::Block(second, b)]));
    }
    let threads = |block: &[Condition]| {
        let size = |condition: &Condition| if let Condition::Block(_, size) = condition { *size } else { 1 };
        block.iter().map(size).map(u64::from).product::<u64>()
    };
    blocks.retain(|block| !block.is_empty() && threads(block) <= u64::from(most));
    blocks
}

fn free_axes(sizes: [Option<u32>; 3]) -> impl Iterator<Item = Axis> {
    Axis::ALL.into_iter().filter(move |axis| sizes[axis.index()].is_none())
}
