//! Launch conditions under which a kernel is verified, where it is not for all launches.
//!
//! Input: the lowered kernel, the launch that was asked for, the executions that show a defect, and a way to verify
//! the kernel under conditions. Output: the weakest conditions found, with the report of their proof. Establishes: the
//! kernel is verified under these conditions, and under none of the sets that lack one of them and were tried.
//! Relies on: nothing; a bad proposal costs time only.
//! Reference: DESIGN section 3 (`verified-when`).
//!
//! Proposed is what people rely on: axes that the kernel does not look at have size 1; the block is a multiple of the
//! warp, or a power of two; a parameter is the number of threads, or at least the block; the block has a size that the
//! kernel's own constants suggest.

use super::finding::{Finding, KernelReport};
use crate::ivl;
use crate::ivl::ast::{ArraySpace, ExprKind, ExprRef, Name, Procedure, StmtKind, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::visit::{self, Visitor};
use crate::kernel::{Kernel, LowerOptions};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Sizes that constants suggest; more are not tried.
const SUGGESTIONS: usize = 6;

/// Sizes and lengths of rows that are tried together.
const LENGTHS: usize = 3;

/// Bounds for kernels in which values of 32 bits wrap in huge launches: no sum of a parameter and few times the number
/// of threads leaves 31 bits.
const LARGEST_PARAMETER: u32 = 1 << 30;
const LARGEST_LAUNCH: u32 = 1 << 27;

const AXES: [&str; 3] = ["x", "y", "z"];

/// A condition on the launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// Threads a block on an axis.
    Block(usize, u32),
    /// Blocks on an axis.
    Grid(usize, u32),
    /// Blocks on an axis, at most.
    GridAtMost(usize, u32),
    /// Threads a block on an axis are a multiple of this power of two.
    MultipleOf(usize, u32),
    /// Threads a block on an axis are a power of two.
    PowerOfTwo(usize),
    /// A 32-bit parameter is the number of threads on the first axis.
    IsThreads(String),
    /// A 32-bit parameter is at least the number of threads of a block on the first axis.
    CoversBlock(String),
    /// A 32-bit parameter, without sign, is at most [`LARGEST_PARAMETER`]: sums of indices then do not wrap.
    ParameterBounded(String),
    /// All threads of the launch are at most [`LARGEST_LAUNCH`].
    ThreadsBounded,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Block(axis, size) => write!(f, "blockDim.{} == {size}", AXES[*axis]),
            Condition::Grid(axis, size) => write!(f, "gridDim.{} == {size}", AXES[*axis]),
            Condition::GridAtMost(axis, size) => write!(f, "gridDim.{} <= {size}", AXES[*axis]),
            Condition::MultipleOf(axis, factor) => write!(f, "blockDim.{} % {factor} == 0", AXES[*axis]),
            Condition::PowerOfTwo(axis) => write!(f, "blockDim.{} is a power of two", AXES[*axis]),
            Condition::IsThreads(name) => write!(f, "{name} == gridDim.x * blockDim.x"),
            Condition::CoversBlock(name) => write!(f, "{name} >= blockDim.x"),
            Condition::ParameterBounded(name) => write!(f, "{name} <= {LARGEST_PARAMETER}"),
            Condition::ThreadsBounded => write!(f, "threads in all <= {LARGEST_LAUNCH}"),
        }
    }
}

/// Conditions as one line.
pub fn text(conditions: &[Condition]) -> String {
    conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Condition {
    /// Fixes the size that it is about, or the bound on the number of threads.
    pub fn fix(&self, options: &mut LowerOptions) {
        match *self {
            Condition::Block(axis, size) => options.block[axis] = Some(size),
            Condition::Grid(axis, size) => options.grid[axis] = Some(size),
            Condition::ThreadsBounded => options.max_threads = options.max_threads.min(u64::from(LARGEST_LAUNCH) + 1),
            _ => {}
        }
    }

    /// What it requires of the constants of a kernel, if it fixes no size.
    pub fn requires(&self, kernel: &Kernel) -> Option<ExprRef> {
        let size = |id: &str, axis: usize, fixed: Option<u32>| match fixed {
            Some(size) => bv::literal(u128::from(size), 32),
            None => bv::var(Name::from(format!("{id}.{}", AXES[axis])), Type::Bv(32)),
        };
        let block = |axis: usize| size("ntid", axis, kernel.block[axis]);
        let without_bits =
            |value: ExprRef, bits: ExprRef| bv::eq(bv::binary(BvOp::And, value, bits), bv::literal(0, 32));
        match self {
            Condition::Block(..) | Condition::Grid(..) | Condition::ThreadsBounded => None,
            Condition::GridAtMost(axis, most) => {
                let blocks = size("nctaid", *axis, kernel.grid[*axis]);
                Some(bv::binary(BvOp::Ule, blocks, bv::literal(u128::from(*most), 32)))
            }
            Condition::MultipleOf(axis, factor) => {
                Some(without_bits(block(*axis), bv::literal(u128::from(factor - 1), 32)))
            }
            Condition::PowerOfTwo(axis) => {
                let size = block(*axis);
                Some(without_bits(size.clone(), bv::sub(size, bv::literal(1, 32))))
            }
            Condition::IsThreads(name) => {
                let threads = bv::mul(size("nctaid", 0, kernel.grid[0]), block(0));
                parameter(kernel, name).map(|parameter| bv::eq(parameter, threads))
            }
            Condition::CoversBlock(name) => {
                parameter(kernel, name).map(|parameter| bv::binary(BvOp::Uge, parameter, block(0)))
            }
            Condition::ParameterBounded(name) => {
                let most = bv::literal(u128::from(LARGEST_PARAMETER), 32);
                parameter(kernel, name).map(|parameter| bv::binary(BvOp::Ule, parameter, most))
            }
        }
    }

    /// Whether it holds in an execution.
    fn holds(&self, finding: &Finding) -> bool {
        let Some(launch) = finding.launch else { return false };
        let block = |axis: usize| launch.block[axis].unwrap_or(1);
        let value = |name: &String| finding.params.get(name).map(|value| value.unsigned());
        match self {
            Condition::Block(axis, size) => block(*axis) == *size,
            Condition::Grid(axis, size) => launch.grid[*axis].unwrap_or(1) == *size,
            Condition::GridAtMost(axis, most) => launch.grid[*axis].unwrap_or(1) <= *most,
            Condition::MultipleOf(axis, factor) => block(*axis) % factor == 0,
            Condition::PowerOfTwo(axis) => block(*axis).is_power_of_two(),
            Condition::IsThreads(name) => {
                value(name) == Some(u64::from(block(0)) * u64::from(launch.grid[0].unwrap_or(1)))
            }
            Condition::CoversBlock(name) => value(name).is_some_and(|value| value >= u64::from(block(0))),
            Condition::ParameterBounded(name) => value(name).is_some_and(|value| value <= u64::from(LARGEST_PARAMETER)),
            Condition::ThreadsBounded => {
                let sizes = launch.block.iter().chain(&launch.grid);
                sizes.map(|size| u64::from(size.unwrap_or(1))).product::<u64>() <= u64::from(LARGEST_LAUNCH)
            }
        }
    }
}

fn parameter(kernel: &Kernel, name: &str) -> Option<ExprRef> {
    let found = kernel.params.iter().find(|parameter| parameter.name == name && parameter.bits == 32)?;
    Some(bv::var(found.constant.clone()?, Type::Bv(32)))
}

/// Requires conditions of a kernel that was lowered with the sizes that they fix.
pub fn require(kernel: &mut Kernel, conditions: &[Condition]) {
    let required: Vec<ExprRef> = conditions.iter().filter_map(|condition| condition.requires(kernel)).collect();
    let is_kernel = |procedure: &&mut Procedure| procedure.attributes.iter().any(|a| a.name.as_str() == "kernel");
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
pub fn flat(kernel: &Kernel) -> Vec<Condition> {
    let seen = Seen::of(kernel);
    let unused = |sizes: [Option<u32>; 3], id: &'static str, condition: fn(usize, u32) -> Condition| {
        let free = free_axes(sizes).filter(|axis| !seen.looks_at(id, *axis));
        free.map(|axis| condition(axis, 1)).collect::<Vec<_>>()
    };
    [unused(kernel.block, "tid", Condition::Block), unused(kernel.grid, "ctaid", Condition::Grid)].concat()
}

/// What an attempt to prove the kernel under conditions came to: the report of a proof, or what refutes it.
pub type Attempt = Result<KernelReport, Vec<Finding>>;

/// Finds conditions. `attempt` proves the kernel under some. `findings` are those in flat launches.
///
/// Proposals that an execution with a defect meets are in vain. Those that the model of another failed proof meets are
/// put off: most such models are no mistake.
pub fn find(
    kernel: &Kernel,
    findings: &[Finding],
    attempt: &mut dyn FnMut(&[Condition]) -> Attempt,
) -> Option<(Vec<Condition>, KernelReport)> {
    let meets = |conditions: &[Condition], finding: &Finding| conditions.iter().all(|c| c.holds(finding));
    let (executions, mut models): (Vec<Finding>, Vec<Finding>) = findings.iter().cloned().partition(|f| f.confirmed);
    let mut put_off = Vec::new();
    let mut proposals: VecDeque<Vec<Condition>> = proposals(kernel).into();
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

/// Leaves out what the proof does not need, one condition after the other. That an axis which the kernel does not look
/// at has size 1 is needed where it writes: threads that differ on that axis alone write the same places.
pub fn weaken(
    kernel: &Kernel,
    mut conditions: Vec<Condition>,
    mut report: KernelReport,
    attempt: &mut dyn FnMut(&[Condition]) -> Attempt,
) -> (Vec<Condition>, KernelReport) {
    let needed = flat(kernel).into_iter().filter(|condition| match condition {
        Condition::Grid(..) => writes(kernel, ArraySpace::Global),
        _ => writes(kernel, ArraySpace::Global) || writes(kernel, ArraySpace::Shared),
    });
    let needed: Vec<Condition> = needed.collect();
    for condition in conditions.clone().into_iter().filter(|condition| !needed.contains(condition)) {
        let fewer: Vec<Condition> = conditions.iter().filter(|other| **other != condition).cloned().collect();
        if !fewer.is_empty()
            && let Ok(weaker) = attempt(&fewer)
        {
            (conditions, report) = (fewer, weaker);
        }
    }
    (conditions, report)
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

/// Sets of conditions beside those of a flat launch, weak ones first.
fn proposals(kernel: &Kernel) -> Vec<Vec<Condition>> {
    let (seen, flat) = (Seen::of(kernel), flat(kernel));
    let used: Vec<usize> = free_axes(kernel.block).filter(|axis| seen.looks_at("tid", *axis)).collect();
    let mut further: Vec<Vec<Condition>> = Vec::new();
    let scalars = kernel.params.iter().filter(|p| p.bits == 32 && p.constant.is_some() && !p.is_pointer);
    let scalars: Vec<String> = scalars.map(|parameter| parameter.name.clone()).collect();
    let bounded = scalars.iter().cloned().map(Condition::ParameterBounded);
    further.push(bounded.chain([Condition::ThreadsBounded]).collect());
    if let Some(&first) = used.first() {
        further.push(vec![Condition::MultipleOf(first, 32)]);
        further.push(used.iter().map(|axis| Condition::PowerOfTwo(*axis)).collect());
    }
    for name in scalars {
        further.push(vec![Condition::IsThreads(name.clone())]);
        further.push(vec![Condition::CoversBlock(name)]);
    }
    // Blocks of one axis have whole warps; of two they are squares.
    let sizes = if used.len() > 1 { seen.suggestions(8..=32) } else { seen.suggestions(32..=1024) };
    let block = |size: u32| used.iter().map(move |axis| Condition::Block(*axis, size)).collect::<Vec<_>>();
    further.extend(sizes.iter().map(|size| block(*size)));
    // Rows of a constant length have room for some blocks.
    let blocks: Vec<usize> = free_axes(kernel.grid).filter(|axis| seen.looks_at("ctaid", *axis)).collect();
    for (size, length) in seen.lengths(&sizes) {
        let most = blocks.iter().map(|axis| Condition::GridAtMost(*axis, length / size));
        further.push(block(size).into_iter().chain(most).collect());
    }
    let further = further.into_iter().filter(|more| !more.is_empty());
    further.map(|more| [flat.clone(), more].concat()).collect()
}

fn free_axes(sizes: [Option<u32>; 3]) -> impl Iterator<Item = usize> {
    (0..3).filter(move |axis| sizes[*axis].is_none())
}

/// What a kernel mentions.
#[derive(Default)]
struct Seen {
    names: BTreeSet<Name>,
    /// How often each constant occurs.
    constants: BTreeMap<u128, usize>,
    /// Distances of shifts to the left.
    shifts: BTreeMap<u128, usize>,
}

impl Visitor for Seen {
    fn expr(&mut self, e: &ExprRef) {
        match &e.kind {
            ExprKind::Var(name) => {
                self.names.insert(name.clone());
            }
            ExprKind::Call(name, args) if name.as_str().ends_with("_SHL") => {
                if let Some(ExprKind::Bv(distance)) = args.get(1).map(|distance| &distance.kind) {
                    *self.shifts.entry(*distance).or_default() += 1;
                }
            }
            ExprKind::Bv(value) => *self.constants.entry(*value).or_default() += 1,
            _ => {}
        }
        visit::walk_expr(self, e);
    }
}

impl Seen {
    fn of(kernel: &Kernel) -> Seen {
        let mut seen = Seen::default();
        for procedure in &kernel.program.procedures {
            procedure.body.iter().flat_map(|body| &body.blocks).for_each(|block| visit::walk_block(&mut seen, block));
        }
        seen
    }

    /// Whether the kernel's statements read `tid` or `ctaid` of an axis.
    fn looks_at(&self, id: &str, axis: usize) -> bool {
        self.names.contains(&Name::from(format!("{id}.{}", AXES[axis])))
    }

    /// Sizes with the lengths of rows that are multiples of them.
    fn lengths(&self, sizes: &[u32]) -> Vec<(u32, u32)> {
        let lengths = self.suggestions(64..=1 << 16);
        let pairs = sizes.iter().take(LENGTHS).flat_map(|size| lengths.iter().take(LENGTHS).map(|l| (*size, *l)));
        pairs.filter(|(size, length)| length > size).collect()
    }

    /// Sizes that the constants suggest, the likely ones first: numbers as they are, as shifts, and as bytes of words.
    fn suggestions(&self, range: std::ops::RangeInclusive<u32>) -> Vec<u32> {
        let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
        let mut vote = |value: u128, count: usize| {
            if let Ok(size) = u32::try_from(value)
                && range.contains(&size)
                && size.is_power_of_two()
            {
                *votes.entry(size).or_default() += count;
            }
        };
        for (&value, &count) in &self.constants {
            vote(value, 2 * count);
            vote(value / 4, count);
            vote(value + 1, count);
        }
        for (&distance, &count) in &self.shifts {
            if distance <= 16 {
                vote(1 << distance, 2 * count);
            }
        }
        let mut sizes: Vec<(usize, u32)> = votes.into_iter().map(|(size, count)| (count, size)).collect();
        sizes.sort_by_key(|(count, size)| (usize::MAX - count, *size));
        sizes.into_iter().map(|(_, size)| size).take(SUGGESTIONS).collect()
    }
}
