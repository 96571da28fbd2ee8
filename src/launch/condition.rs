//! What a proof may require of a launch: conditions on sizes and parameters.
//!
//! Input: a kernel, a launch with parameters. Output: what a condition requires of the kernel's constants, whether it holds
//! in a launch, and its text. Establishes: the three say the same. Relies on: nothing. Reference: DESIGN section 3
//! (`verified-when`).

use super::columns::Columns;
use super::product::Product;
use crate::finding::{Finding, ParameterValue};
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Type};
use crate::ivl::bv::{self, BvOp};
use crate::kernel::{Kernel, LowerOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Bounds for kernels in which values of 32 bits wrap in huge launches: no sum of a parameter and few times the number
/// of threads leaves 31 bits.
const LARGEST_PARAMETER: u32 = 1 << 30;
/// The same for what is used of shared memory: no block has more bytes than this, by far.
const LARGEST_SHARED: u32 = 1 << 18;
const LARGEST_LAUNCH: u32 = 1 << 24;
const LARGEST_AREA: u32 = i32::MAX as u32;

/// The same for parameters of 64 bits and products with one, as a power of two: more than any memory has bytes, and
/// offsets of elements with 128 bytes have a bit to spare.
const LARGEST_SIZE: u32 = 56;

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

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
    /// The same, at most [`LARGEST_SHARED`]: it counts what lies in shared memory.
    FitsShared(String),
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
    /// A product has 31 bits.
    Extent(Product),
    /// The same of a product below which numbers are that have a digit for each factor; where it is said, at most
    /// [`LARGEST_PARAMETER`], so that all threads of the launch may be added.
    Number(Product, Steps),
    /// A parameter, without sign, is at most the elements that the launch has threads or blocks for.
    Covered(String, Product),
    /// A 32-bit parameter is less than another one, both without sign.
    Below(String, String),
    /// A parameter, without sign, is at least so many columns.
    Wide(String, Columns),
    /// A 32-bit parameter is a power of two.
    Power(String),
}

/// Whether threads go on with what lies a block or a grid further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Steps {
    /// Each thread has one index.
    None,
    /// At most the number of all threads is added to an index.
    OfLaunch,
}

impl Steps {
    /// What a product is at most below which indices are.
    fn most(self) -> u32 {
        match self {
            Steps::None => LARGEST_AREA,
            Steps::OfLaunch => LARGEST_PARAMETER,
        }
    }
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
            Condition::FitsShared(name) => write!(f, "{name} <= {LARGEST_SHARED}"),
            Condition::Area(width, height) => write!(f, "{width} * {height} <= {LARGEST_AREA}"),
            Condition::ThreadsBounded => write!(f, "threads in all <= {LARGEST_LAUNCH}"),
            // Said so that it is as strong for a reader of numbers without sign.
            Condition::Positive(name) => write!(f, "1 <= {name} <= {}", i32::MAX),
            Condition::AtLeast(pitch, width) => write!(f, "{pitch} >= {width}"),
            Condition::Size(name) => write!(f, "1 <= {name} <= {}", 1u64 << LARGEST_SIZE),
            // In annotations, `^` is another operator.
            Condition::Volume(width, height) => write!(f, "{width} * {height} <= {}", 1u64 << LARGEST_SIZE),
            Condition::Extent(product) => write!(f, "{product} <= {LARGEST_AREA}"),
            Condition::Number(product, steps) => write!(f, "{product} <= {}", steps.most()),
            Condition::Covered(name, elements) => write!(f, "{name} <= {elements}"),
            Condition::Below(index, count) => write!(f, "{index} < {count}"),
            Condition::Wide(pitch, columns) => write!(f, "{pitch} >= {columns}"),
            Condition::Power(name) => write!(f, "{name} is a power of two"),
        }
    }
}

/// Conditions as the report lists them. Those that bound parameters are about numbers without a sign; a reader may take
/// them for signed ones, so that they are not negative stands beside. Powers of two are signed; a reader may take them for
/// numbers without a sign, so what they are below stands beside.
pub(crate) fn lines(conditions: &[Condition]) -> Vec<String> {
    let is_unsigned = |c: &&Condition| {
        use Condition::{Area, AtLeast, Below, Covered, Extent, FitsShared, Number, ParameterBounded, Volume, Wide};
        let is_of_products = matches!(c, Area(..) | Volume(..) | Extent(_) | Number(..) | Wide(..));
        is_of_products || matches!(c, ParameterBounded(_) | FitsShared(_) | AtLeast(..) | Covered(..) | Below(..))
    };
    let unsigned: BTreeSet<&String> = conditions.iter().filter(is_unsigned).flat_map(Condition::parameters).collect();
    let is_said = |name: &String| {
        [Condition::Positive, Condition::Size].map(|said| said(name.clone())).iter().any(|c| conditions.contains(c))
    };
    let powers: BTreeSet<&String> =
        conditions.iter().filter_map(|c| if let Condition::Power(name) = c { Some(name) } else { None }).collect();
    let signs = unsigned.difference(&powers).filter(|name| !is_said(name)).map(|name| format!("0 <= {name}"));
    // 2^31 is a power of two, too.
    let positive =
        powers.iter().filter(|name| !is_said(name)).map(|name| Condition::Positive(name.to_string()).to_string());
    conditions.iter().map(ToString::to_string).chain(signs).chain(positive).collect()
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

    /// What is less than a size: whole warps, a power of two.
    pub(super) fn looser(&self) -> Vec<Condition> {
        match *self {
            Condition::Block(axis, size) if size > 1 => {
                let warps = (size % WARP == 0).then_some(Condition::MultipleOf(axis, WARP));
                let power = size.is_power_of_two().then_some(Condition::PowerOfTwo(axis));
                warps.into_iter().chain(power).collect()
            }
            Condition::FitsShared(ref name) => vec![Condition::ParameterBounded(name.clone())],
            _ => Vec::new(),
        }
    }

    /// Whether it says nothing against a block of these sizes, as far as they are known.
    pub(super) fn allows(&self, block: [Option<u32>; 3]) -> bool {
        match *self {
            Condition::MultipleOf(axis, factor) => block[axis.index()].is_none_or(|size| size % factor == 0),
            Condition::PowerOfTwo(axis) => block[axis.index()].is_none_or(u32::is_power_of_two),
            _ => true,
        }
    }

    /// The parameters that it is about.
    pub(crate) fn parameters(&self) -> Vec<&String> {
        match self {
            Condition::IsThreads(name)
            | Condition::CoversBlock(name)
            | Condition::ParameterBounded(name)
            | Condition::FitsShared(name)
            | Condition::Positive(name)
            | Condition::Power(name)
            | Condition::Size(name) => vec![name],
            Condition::Area(a, b) | Condition::AtLeast(a, b) | Condition::Volume(a, b) | Condition::Below(a, b) => {
                vec![a, b]
            }
            Condition::Extent(product) | Condition::Number(product, _) => product.parameters.iter().collect(),
            Condition::Covered(name, elements) => [name].into_iter().chain(&elements.parameters).collect(),
            Condition::Wide(pitch, columns) => [pitch].into_iter().chain(columns.parameters()).collect(),
            Condition::Block(..)
            | Condition::Grid(..)
            | Condition::Span(..)
            | Condition::MultipleOf(..)
            | Condition::PowerOfTwo(_)
            | Condition::ThreadsBounded => Vec::new(),
        }
    }

    /// Whether few proofs need it among what is plausible: those without it are sooner found, and say more.
    pub(super) fn is_seldom_needed(&self) -> bool {
        match self {
            // Planes of rows.
            Condition::Extent(product) => product.parameters.len() < 2 || product.number > 1,
            Condition::Covered(..) => true,
            Condition::Wide(_, columns) => columns.are_of_launch(),
            _ => false,
        }
    }

    /// Whether it is about rows that are as long as a parameter says: for all values of it there is hardly a proof.
    pub(super) fn keeps_rows(&self) -> bool {
        use Condition::{Area, AtLeast, Below, CoversBlock, Extent, Number, Size, Volume, Wide};
        matches!(
            self,
            Area(..)
                | AtLeast(..)
                | Below(..)
                | CoversBlock(_)
                | Extent(_)
                | Number(..)
                | Size(_)
                | Volume(..)
                | Wide(..)
        )
    }

    /// Whether it says of a product, on which proofs often depend, what another condition says of two of its factors.
    pub(super) fn implies_area(&self, other: &Condition) -> bool {
        let (Condition::Extent(product), Condition::Area(a, b)) = (self, other) else { return false };
        let area = Product { number: 1, grid: Vec::new(), block: Vec::new(), parameters: vec![a.clone(), b.clone()] };
        !self.is_seldom_needed() && product.covers(&area)
    }

    /// Whether it says of the rows of all blocks what another condition says of one of them.
    pub(super) fn implies_number(&self, other: &Condition, grid: [Option<u32>; 3]) -> bool {
        let (Condition::Extent(rows), Condition::Number(row, steps)) = (self, other) else { return false };
        let blocks = rows.grid.iter().map(|axis| u128::from(grid[axis.index()].unwrap_or(1)));
        let is_same = rows.parameters.len() == row.parameters.len();
        is_same && rows.covers(row) && u128::from(LARGEST_AREA) <= blocks.product::<u128>() * u128::from(steps.most())
    }

    /// Whether ranges of parameters, without sign, say as much.
    pub(super) fn is_stated(&self, range: &dyn Fn(&String) -> Option<(u128, u128)>, launch: Geometry) -> bool {
        let is_at_most = |name, most: u128| range(name).is_some_and(|(_, high)| high <= most);
        let is_within = |name, most: u128| range(name).is_some_and(|(low, high)| low >= 1 && high <= most);
        let product = |a, b, most: u128| {
            let product = range(a).zip(range(b)).and_then(|((_, a), (_, b))| a.checked_mul(b));
            product.is_some_and(|product| product <= most)
        };
        let extent =
            |product: &Product, most: u32| product.most(range, launch).is_some_and(|all| all <= u128::from(most));
        match self {
            Condition::Positive(name) => is_within(name, i32::MAX as u128),
            Condition::Size(name) => is_within(name, 1 << LARGEST_SIZE),
            Condition::ParameterBounded(name) => is_at_most(name, LARGEST_PARAMETER.into()),
            Condition::FitsShared(name) => is_at_most(name, LARGEST_SHARED.into()),
            Condition::Area(a, b) => product(a, b, LARGEST_AREA.into()),
            Condition::Volume(a, b) => product(a, b, 1 << LARGEST_SIZE),
            Condition::Extent(product) => extent(product, LARGEST_AREA),
            Condition::Number(product, steps) => extent(product, steps.most()),
            _ => false,
        }
    }

    /// Whether it only says that a parameter is positive.
    pub(super) fn is_positive(&self) -> bool {
        matches!(self, Condition::Positive(_))
    }

    /// Where it is about the product of sizes by which a number is divided: itself, and that the sizes are positive.
    pub(super) fn of_digits(&self) -> Vec<Condition> {
        let Condition::Number(product, _) = self else { return Vec::new() };
        let positive = product.parameters.iter().cloned().map(Condition::Positive);
        positive.chain([self.clone()]).collect()
    }

    /// Whether it only keeps sums from wrapping.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(self, Condition::ParameterBounded(_) | Condition::FitsShared(_) | Condition::ThreadsBounded)
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
            Condition::ParameterBounded(name) => parameter_at_most(kernel, name, LARGEST_PARAMETER),
            Condition::FitsShared(name) => parameter_at_most(kernel, name, LARGEST_SHARED),
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
            Condition::Extent(product) => product_is_at_most(kernel, product, LARGEST_AREA),
            Condition::Number(product, steps) => product_is_at_most(kernel, product, steps.most()),
            Condition::Covered(name, elements) => {
                let count = bv::to_int(any_parameter(kernel, name)?);
                Some(bv::op(BinaryOp::Le, count, elements.expression(kernel)?))
            }
            Condition::Below(index, count) => {
                let (index, count) = (parameter(kernel, index)?, parameter(kernel, count)?);
                Some(bv::binary(BvOp::Ult, index, count))
            }
            Condition::Wide(pitch, columns) => {
                let pitch = bv::to_int(any_parameter(kernel, pitch)?);
                Some(bv::op(BinaryOp::Le, columns.expression(kernel)?, pitch))
            }
            Condition::Power(name) => {
                let power = parameter(kernel, name)?;
                let is_some = bv::binary(BvOp::Sge, power.clone(), bv::literal(1, 32));
                let below = bv::sub(power.clone(), bv::literal(1, 32));
                Some(bv::op(BinaryOp::And, is_some, without_bits(power, below)))
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
            Condition::FitsShared(name) => value(name).is_some_and(|value| value <= u64::from(LARGEST_SHARED)),
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
            Condition::Extent(product) => {
                product.value(launch, params).is_some_and(|value| value <= u128::from(LARGEST_AREA))
            }
            Condition::Number(product, steps) => {
                product.value(launch, params).is_some_and(|value| value <= u128::from(steps.most()))
            }
            Condition::Covered(name, elements) => {
                let elements = elements.value(launch, params);
                value(name).zip(elements).is_some_and(|(count, elements)| u128::from(count) <= elements)
            }
            Condition::Below(index, count) => {
                value(index).zip(value(count)).is_some_and(|(index, count)| index < count)
            }
            Condition::Wide(pitch, columns) => {
                let columns = columns.value(launch, params);
                value(pitch).zip(columns).is_some_and(|(pitch, columns)| i128::from(pitch) >= columns)
            }
            Condition::Power(name) => {
                params.get(name).is_some_and(|value| value.signed() >= 1 && value.unsigned().is_power_of_two())
            }
        }
    }
}

/// `a * b <= most`, without wrap-around.
fn product_at_most(a: ExprRef, b: ExprRef, most: u64) -> ExprRef {
    let product = bv::op(BinaryOp::Mul, bv::to_int(a), bv::to_int(b));
    bv::op(BinaryOp::Lt, product, bv::int(i128::from(most) + 1))
}

fn product_is_at_most(kernel: &Kernel, product: &Product, most: u32) -> Option<ExprRef> {
    Some(bv::op(BinaryOp::Lt, product.expression(kernel)?, bv::int(i128::from(most) + 1)))
}

fn parameter_at_most(kernel: &Kernel, name: &str, most: u32) -> Option<ExprRef> {
    let most = bv::literal(u128::from(most), 32);
    parameter(kernel, name).map(|parameter| bv::binary(BvOp::Ule, parameter, most))
}

fn parameter(kernel: &Kernel, name: &str) -> Option<ExprRef> {
    any_parameter(kernel, name).filter(|parameter| parameter.ty == Type::Bv(32))
}

/// A parameter of any width.
pub(super) fn any_parameter(kernel: &Kernel, name: &str) -> Option<ExprRef> {
    let found = kernel.params.iter().find(|parameter| parameter.name == name)?;
    Some(bv::var(found.constant.clone()?, Type::Bv(found.bits)))
}
