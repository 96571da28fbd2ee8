//! Launch conditions under which a kernel is verified, where it is not for all launches.
//!
//! Input: the lowered kernel. Output: sets of conditions to try, and what each of them requires. Establishes: nothing;
//! a bad proposal costs time only. Relies on: nothing. Reference: DESIGN section 3 (`verified-when`).
//!
//! Proposed is what people rely on: axes that the kernel does not look at have size 1; the block is a multiple of the
//! warp, or a power of two; a parameter is the number of threads, or at least the block; the block has a size that the
//! kernel's own constants suggest.

use super::natural;
use super::seen::Seen;
use crate::finding::{Finding, ParameterValue};
use crate::geometry::{Axis, BLOCK_THREADS, Geometry};
use crate::ivl;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Procedure, Type};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::kernel::{Kernel, LowerOptions};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Lengths of rows, and blocks with which they are tried.
const LENGTHS: usize = 4;

/// Threads of a block on one axis, and on each of two, where the kernel says nothing.
const USUAL_BLOCK: u32 = 256;
const USUAL_TILE: u32 = 16;

/// Bounds for kernels in which values of 32 bits wrap in huge launches: no sum of a parameter and few times the number
/// of threads leaves 31 bits.
const LARGEST_PARAMETER: u32 = 1 << 30;
const LARGEST_LAUNCH: u32 = 1 << 24;
const LARGEST_AREA: u32 = i32::MAX as u32;

/// The same for parameters of 64 bits and products with one, as a power of two: more than any memory has bytes, and
/// offsets of elements with 128 bytes have a bit to spare.
const LARGEST_SIZE: u32 = 56;

/// A condition on the launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Condition {
    /// Threads a block on an axis.
    Block(Axis, u32),
    /// Blocks on an axis.
    Grid(Axis, u32),
    /// Threads on an axis of all blocks together, at most.
    Span(Axis, u32),
    /// Threads a block on an axis are a multiple of this power of two.
    MultipleOf(Axis, u32),
    /// Threads a block on an axis are a power of two.
    PowerOfTwo(Axis),
    /// A 32-bit parameter is the number of threads on the first axis.
    IsThreads(String),
    /// A 32-bit parameter is at least the number of threads of a block on the first axis.
    CoversBlock(String),
    /// A 32-bit parameter, without sign, is at most [`LARGEST_PARAMETER`]: sums of indices then do not wrap.
    ParameterBounded(String),
    /// The product of two 32-bit parameters, without sign, has 31 bits.
    Area(String, String),
    /// All threads of the launch are at most [`LARGEST_LAUNCH`].
    ThreadsBounded,
    /// A 32-bit parameter, with sign, is positive.
    Positive(String),
    /// A parameter is at least another one, both without sign.
    AtLeast(String, String),
    /// A 64-bit parameter is positive and at most two to the [`LARGEST_SIZE`].
    Size(String),
    /// The product of two parameters, one of them with 64 bits, is at most two to the [`LARGEST_SIZE`].
    Volume(String, String),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Block(axis, size) => write!(f, "blockDim.{axis} == {size}"),
            Condition::Grid(axis, size) => write!(f, "gridDim.{axis} == {size}"),
            Condition::Span(axis, most) => write!(f, "gridDim.{axis} * blockDim.{axis} <= {most}"),
            Condition::MultipleOf(axis, factor) => write!(f, "blockDim.{axis} % {factor} == 0"),
            Condition::PowerOfTwo(axis) => write!(f, "blockDim.{axis} is a power of two"),
            Condition::IsThreads(name) => write!(f, "{name} == gridDim.x * blockDim.x"),
            Condition::CoversBlock(name) => write!(f, "{name} >= blockDim.x"),
            Condition::ParameterBounded(name) => write!(f, "{name} <= {LARGEST_PARAMETER}"),
            Condition::Area(width, height) => write!(f, "{width} * {height} <= {LARGEST_AREA}"),
            Condition::ThreadsBounded => write!(f, "threads in all <= {LARGEST_LAUNCH}"),
            // Said so that it is as strong for a reader of numbers without sign.
            Condition::Positive(name) => write!(f, "1 <= {name} <= {}", i32::MAX),
            Condition::AtLeast(pitch, width) => write!(f, "{pitch} >= {width}"),
            Condition::Size(name) => write!(f, "1 <= {name} <= {}", 1u64 << LARGEST_SIZE),
            // In annotations, `^` is another operator.
            Condition::Volume(width, height) => write!(f, "{width} * {height} <= {}", 1u64 << LARGEST_SIZE),
        }
    }
}

/// Conditions as the report lists them. Those that bound parameters are about numbers without a sign; a reader may take
/// them for signed ones, so that they are not negative stands beside.
pub(crate) fn lines(conditions: &[Condition]) -> Vec<String> {
    let is_unsigned = |c: &&Condition| {
        use Condition::{Area, AtLeast, ParameterBounded, Volume};
        matches!(c, ParameterBounded(_) | Area(..) | AtLeast(..) | Volume(..))
    };
    let unsigned: BTreeSet<&String> = conditions.iter().filter(is_unsigned).flat_map(Condition::parameters).collect();
    let is_said = |name: &String| {
        [Condition::Positive, Condition::Size].map(|said| said(name.clone())).iter().any(|c| conditions.contains(c))
    };
    let is_unsaid = |name: &&String| !is_said(name);
    let signs = unsigned.into_iter().filter(is_unsaid).map(|name| format!("0 <= {name}"));
    conditions.iter().map(ToString::to_string).chain(signs).collect()
}

/// Conditions as one line.
pub(crate) fn text(conditions: &[Condition]) -> String {
    conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Condition {
    /// Sizes with which it does not hold, in blocks of that size.
    pub(super) fn broken(&self, block: [Option<u32>; 3]) -> Vec<Condition> {
        match *self {
            Condition::Block(axis, size) => {
                [size.saturating_mul(2), size / 2].map(|other| Condition::Block(axis, other.max(1))).to_vec()
            }
            Condition::Span(axis, most) => {
                let blocks = (u64::from(most) * 2).div_ceil(u64::from(block[axis.index()].unwrap_or(1).max(1)));
                u32::try_from(blocks).map(|blocks| Condition::Grid(axis, blocks)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The parameters that it is about.
    pub(crate) fn parameters(&self) -> Vec<&String> {
        match self {
            Condition::IsThreads(name)
            | Condition::CoversBlock(name)
            | Condition::ParameterBounded(name)
            | Condition::Positive(name)
            | Condition::Size(name) => vec![name],
            Condition::Area(a, b) | Condition::AtLeast(a, b) | Condition::Volume(a, b) => vec![a, b],
            Condition::Block(..)
            | Condition::Grid(..)
            | Condition::Span(..)
            | Condition::MultipleOf(..)
            | Condition::PowerOfTwo(_)
            | Condition::ThreadsBounded => Vec::new(),
        }
    }

    /// Whether it only keeps sums from wrapping.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(self, Condition::ParameterBounded(_) | Condition::ThreadsBounded)
    }

    /// Fixes the size that it is about, or the bound on the number of threads.
    pub(crate) fn fix(&self, options: &mut LowerOptions) {
        match *self {
            Condition::Block(axis, size) => options.geometry.block[axis.index()] = Some(size),
            Condition::Grid(axis, size) => options.geometry.grid[axis.index()] = Some(size),
            Condition::ThreadsBounded => options.max_threads = options.max_threads.min(u64::from(LARGEST_LAUNCH) + 1),
            _ => {}
        }
    }

    /// What it requires of the constants of a kernel, if it fixes no size.
    pub(crate) fn requires(&self, kernel: &Kernel) -> Option<ExprRef> {
        let sizes = kernel.geometry.map_registers(|register, fixed| match fixed {
            Some(size) => bv::literal(u128::from(size), 32),
            None => bv::var(Name::from(register), Type::Bv(32)),
        });
        let block = |axis: Axis| sizes.block[axis.index()].clone();
        let grid = |axis: Axis| sizes.grid[axis.index()].clone();
        let without_bits =
            |value: ExprRef, bits: ExprRef| bv::eq(bv::binary(BvOp::And, value, bits), bv::literal(0, 32));
        match self {
            Condition::Block(..) | Condition::Grid(..) | Condition::ThreadsBounded => None,
            Condition::Span(axis, most) => Some(product_at_most(grid(*axis), block(*axis), u64::from(*most))),
            Condition::MultipleOf(axis, factor) => {
                Some(without_bits(block(*axis), bv::literal(u128::from(factor - 1), 32)))
            }
            Condition::PowerOfTwo(axis) => {
                let size = block(*axis);
                Some(without_bits(size.clone(), bv::sub(size, bv::literal(1, 32))))
            }
            Condition::IsThreads(name) => {
                let threads = bv::mul(grid(Axis::X), block(Axis::X));
                parameter(kernel, name).map(|parameter| bv::eq(parameter, threads))
            }
            Condition::CoversBlock(name) => {
                parameter(kernel, name).map(|parameter| bv::binary(BvOp::Uge, parameter, block(Axis::X)))
            }
            Condition::ParameterBounded(name) => {
                let most = bv::literal(u128::from(LARGEST_PARAMETER), 32);
                parameter(kernel, name).map(|parameter| bv::binary(BvOp::Ule, parameter, most))
            }
            Condition::Area(width, height) => {
                let (width, height) = (parameter(kernel, width)?, parameter(kernel, height)?);
                Some(product_at_most(width, height, u64::from(LARGEST_AREA)))
            }
            Condition::Positive(name) => {
                parameter(kernel, name).map(|parameter| bv::binary(BvOp::Sge, parameter, bv::literal(1, 32)))
            }
            Condition::AtLeast(pitch, width) => {
                let (pitch, width) = (any_parameter(kernel, pitch)?, any_parameter(kernel, width)?);
                if pitch.ty == width.ty {
                    return Some(bv::binary(BvOp::Uge, pitch, width));
                }
                Some(bv::op(BinaryOp::Le, bv::to_int(width), bv::to_int(pitch)))
            }
            Condition::Size(name) => {
                let size = any_parameter(kernel, name)?;
                let is_positive = bv::binary(BvOp::Sge, size.clone(), bv::literal(1, 64));
                let is_small = bv::binary(BvOp::Sle, size, bv::literal(1 << LARGEST_SIZE, 64));
                Some(bv::op(BinaryOp::And, is_positive, is_small))
            }
            Condition::Volume(width, height) => {
                let (width, height) = (any_parameter(kernel, width)?, any_parameter(kernel, height)?);
                Some(product_at_most(width, height, 1 << LARGEST_SIZE))
            }
        }
    }

    /// Whether it holds in an execution.
    pub(crate) fn holds(&self, finding: &Finding) -> bool {
        finding.launch.is_some_and(|launch| self.holds_in(launch.or_one(), &finding.params))
    }

    /// Whether it holds in a launch with these parameters.
    pub(crate) fn holds_in(&self, launch: Geometry<u32>, params: &BTreeMap<String, ParameterValue>) -> bool {
        let block = |axis: Axis| launch.block[axis.index()];
        let span = |axis: Axis| u64::from(block(axis)) * u64::from(launch.grid[axis.index()]);
        let value = |name: &String| params.get(name).map(|value| value.unsigned());
        match self {
            Condition::Block(axis, size) => block(*axis) == *size,
            Condition::Grid(axis, size) => launch.grid[axis.index()] == *size,
            Condition::Span(axis, most) => span(*axis) <= u64::from(*most),
            Condition::MultipleOf(axis, factor) => block(*axis) % factor == 0,
            Condition::PowerOfTwo(axis) => block(*axis).is_power_of_two(),
            Condition::IsThreads(name) => value(name) == Some(span(Axis::X)),
            Condition::CoversBlock(name) => value(name).is_some_and(|value| value >= u64::from(block(Axis::X))),
            Condition::ParameterBounded(name) => value(name).is_some_and(|value| value <= u64::from(LARGEST_PARAMETER)),
            Condition::Area(width, height) => match (value(width), value(height)) {
                (Some(width), Some(height)) => width.checked_mul(height).is_some_and(|a| a <= u64::from(LARGEST_AREA)),
                _ => false,
            },
            Condition::ThreadsBounded => launch.threads() <= u128::from(LARGEST_LAUNCH),
            Condition::Positive(name) => params.get(name).is_some_and(|value| value.signed() >= 1),
            Condition::AtLeast(pitch, width) => {
                value(pitch).zip(value(width)).is_some_and(|(pitch, width)| pitch >= width)
            }
            Condition::Size(name) => value(name).is_some_and(|value| (1..=1 << LARGEST_SIZE).contains(&value)),
            Condition::Volume(width, height) => {
                let product = value(width).zip(value(height)).and_then(|(width, height)| width.checked_mul(height));
                product.is_some_and(|product| product <= 1 << LARGEST_SIZE)
            }
        }
    }
}

/// `a * b <= most`, without wrap-around.
fn product_at_most(a: ExprRef, b: ExprRef, most: u64) -> ExprRef {
    let product = bv::op(BinaryOp::Mul, bv::to_int(a), bv::to_int(b));
    bv::op(BinaryOp::Lt, product, bv::int(i128::from(most) + 1))
}

fn parameter(kernel: &Kernel, name: &str) -> Option<ExprRef> {
    any_parameter(kernel, name).filter(|parameter| parameter.ty == Type::Bv(32))
}

/// A parameter of any width.
fn any_parameter(kernel: &Kernel, name: &str) -> Option<ExprRef> {
    let found = kernel.params.iter().find(|parameter| parameter.name == name)?;
    Some(bv::var(found.constant.clone()?, Type::Bv(found.bits)))
}

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
    [unused(kernel.geometry.block, "tid", Condition::Block), unused(kernel.geometry.grid, "ctaid", Condition::Grid)]
        .concat()
}

/// A launch that the kernel suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    pub(crate) conditions: Vec<Condition>,
    /// Whether about as many signs speak for it as for the first: it may be the one that is meant.
    pub(crate) is_rival: bool,
    /// Whether the proof hardly succeeds for blocks of other sizes.
    pub(crate) is_fixed: bool,
}

/// The launches that the kernel suggests, each without and with the bounds that keep sums from wrapping.
pub(crate) fn natural(kernel: &Kernel) -> Vec<Suggestion> {
    let (flat, widths) = (flat(kernel), widths(kernel));
    let bounded = bounds(kernel);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for launch in natural::launches(kernel, !widths.is_empty()) {
        let sizes = Axis::ALL.into_iter().filter_map(|axis| Some(Condition::Block(axis, launch.block[axis.index()]?)));
        let rows = launch.rows.iter().map(|(axis, threads)| Condition::Span(*axis, *threads));
        let further = sizes.chain(rows).filter(|condition| !flat.contains(condition));
        let plain = [flat.clone(), further.collect()].concat();
        let areas = [plain.clone(), widths.clone()].concat();
        let with_bounds = [areas.clone(), bounded.clone()].concat();
        // Which is proved sooner.
        let (likely, other) = match (launch.wraps, widths.is_empty()) {
            (true, _) => (with_bounds, plain),
            (false, true) => (plain, with_bounds),
            (false, false) => (areas, with_bounds),
        };
        let natural::Natural { is_rival, is_fixed, .. } = launch;
        first.push(Suggestion { conditions: likely, is_rival, is_fixed });
        second.push(Suggestion { conditions: other, is_rival, is_fixed });
    }
    [first, second].concat()
}

/// Sizes of launches, with bounds on what is very large, which are left out again where they are not needed.
pub(crate) fn sizes(kernel: &Kernel) -> Vec<Vec<Condition>> {
    let seen = Seen::of(kernel);
    let used: Vec<Axis> = free_axes(kernel.geometry.block).filter(|axis| seen.looks_at("tid", *axis)).collect();
    let further = [vec![Vec::new()], general_sizes(&seen, &used, kernel.most_threads)].concat();
    complete(kernel, further)
}

/// Sizes that are usual, and parameters that depend on the sizes or on each other. A defect with other values is worth
/// more: such conditions are for kernels where none is found.
pub(crate) fn parameters(kernel: &Kernel) -> Vec<Vec<Condition>> {
    let (scalars, seen) = (scalars(kernel), Seen::of(kernel));
    let used: Vec<Axis> = free_axes(kernel.geometry.block).filter(|axis| seen.looks_at("tid", *axis)).collect();
    let usual = match used[..] {
        [only] => vec![vec![Condition::Block(only, USUAL_BLOCK)]],
        [first, second] => vec![[first, second].map(|axis| Condition::Block(axis, USUAL_TILE)).to_vec()],
        _ => Vec::new(),
    };
    let on = |name: &String| [vec![Condition::IsThreads(name.clone())], vec![Condition::CoversBlock(name.clone())]];
    let related: Vec<_> = scalars.iter().flat_map(on).collect();
    complete(kernel, [vec![areas(&scalars)], usual, related].concat())
}

/// Conditions beside those of a flat launch, with these and the bounds.
fn complete(kernel: &Kernel, further: Vec<Vec<Condition>>) -> Vec<Vec<Condition>> {
    let (flat, bounded) = (flat(kernel), bounds(kernel));
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
    let parameters = scalars(kernel).into_iter().map(Condition::ParameterBounded);
    parameters.chain([Condition::ThreadsBounded]).collect()
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
    further.extend(used.first().map(|&first| vec![Condition::MultipleOf(first, 32)]));
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
