//! The launch: thread and block ids, sizes, and what is known about them.
//!
//! Input: the options and the entry's `.reqntid` and `.maxntid`. Output: [`Launch`] with the value of
//! each special register, and preconditions. Establishes: fixed sizes are literals, the id on an axis
//! of size 1 is the literal 0; free sizes are at least 1, what a GPU can launch, and their product is below the
//! thread bound.
//! Reference: PTX `%tid`, `%ntid`, `%ctaid`, `%nctaid`, `%laneid`, `.reqntid`, `.maxntid`.

use super::LowerOptions;
use super::declarations::Declarations;
use super::lowering::{flag, text};
use super::names::Names;
use crate::diagnostic::Diagnostic;
use crate::geometry::{Axis, BLOCK_THREADS, Geometry, LARGEST, unlaunchable_block};
use crate::ivl::ast::{BinaryOp, ExprRef, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{Function, SpecialRegister};

/// Values of the special registers that tell a thread where it is.
pub(crate) struct Launch {
    /// Sizes where fixed.
    pub(crate) geometry: Geometry,
    tid: [ExprRef; 3],
    ntid: [ExprRef; 3],
    ctaid: [ExprRef; 3],
    nctaid: [ExprRef; 3],
}

impl Launch {
    /// Declares the launch constants and states what is known of them.
    ///
    /// # Errors
    /// Sizes that contradict `.reqntid`, `.maxntid` or the thread bound.
    pub(crate) fn new(
        entry: &Function,
        options: &LowerOptions,
        names: &mut Names,
        declarations: &mut Declarations,
    ) -> Result<Launch, Diagnostic> {
        let block = block_size(entry, options)?;
        for prefix in ["tid", "ntid", "ctaid", "nctaid"] {
            Axis::ALL.iter().for_each(|axis| names.reserve(&format!("{prefix}.{axis}")));
        }
        let ntid = sizes("ntid", block, declarations);
        let grid = options.geometry.grid;
        let nctaid = sizes("nctaid", grid, declarations);
        let tid = ids("tid", "thread", &ntid, block, declarations);
        let ctaid = ids("ctaid", "block", &nctaid, grid, declarations);
        let launch = Launch { geometry: Geometry { block, grid }, tid, ntid, ctaid, nctaid };
        launch.bound(entry, options, declarations)?;
        Ok(launch)
    }

    /// The value of a special register; `None` if it is arbitrary at each read.
    pub(crate) fn special(&self, register: SpecialRegister) -> Option<ExprRef> {
        let axis = |values: &[ExprRef; 3], axis: Axis| Some(values[axis.index()].clone());
        match register {
            SpecialRegister::Tid(a) => axis(&self.tid, a),
            SpecialRegister::Ntid(a) => axis(&self.ntid, a),
            SpecialRegister::Ctaid(a) => axis(&self.ctaid, a),
            SpecialRegister::Nctaid(a) => axis(&self.nctaid, a),
            SpecialRegister::WarpSize => Some(bv::literal(32, 32)),
            SpecialRegister::LaneId => Some(self.lane()),
            SpecialRegister::WarpId | SpecialRegister::Other(_) => None,
        }
    }

    /// How many blocks a launch has along an axis.
    pub(super) fn blocks(&self, axis: usize) -> ExprRef {
        self.nctaid[axis].clone()
    }

    /// The ids of a thread in its block.
    pub(super) fn thread(&self) -> [ExprRef; 3] {
        self.tid.clone()
    }

    /// The ids of a thread in its block and of its block in the grid, with the sizes that are fixed.
    pub(super) fn ids(&self) -> Vec<(ExprRef, Option<u32>)> {
        let Geometry { block, grid } = self.geometry;
        let threads = self.tid.iter().cloned().zip(block);
        threads.chain(self.ctaid.iter().cloned().zip(grid)).collect()
    }

    /// The linear thread id, where the sizes of the block are fixed.
    pub(crate) fn fixed_linear(&self) -> Option<ExprRef> {
        self.geometry.block.iter().all(Option::is_some).then(|| self.linear())
    }

    /// The linear thread id modulo the warp size.
    fn lane(&self) -> ExprRef {
        bv::binary(BvOp::And, self.linear(), bv::literal(31, 32))
    }

    /// The linear thread id.
    pub(crate) fn linear(&self) -> ExprRef {
        let [x, y, z] = &self.tid;
        let [width, height, _] = &self.ntid;
        let has_one = |axis: Axis| self.geometry.block[axis.index()] == Some(1);
        let row = if has_one(Axis::Z) { y.clone() } else { bv::add(y.clone(), product(z, height)) };
        if has_one(Axis::Y) && has_one(Axis::Z) { x.clone() } else { bv::add(x.clone(), product(&row, width)) }
    }

    fn bound(
        &self,
        entry: &Function,
        options: &LowerOptions,
        declarations: &mut Declarations,
    ) -> Result<(), Diagnostic> {
        let threads: Vec<_> = self.geometry.block.into_iter().zip(&self.ntid).collect();
        let all: Vec<_> = threads.iter().cloned().chain(self.geometry.grid.into_iter().zip(&self.nctaid)).collect();
        if let Some(product) = maximum(entry) {
            limit(&threads, product + 1, entry, "`.maxntid`", declarations)?;
        }
        limit(&all, options.max_threads, entry, "`--max-threads`", declarations)?;
        if free(&threads) > 1 {
            limit(&threads, u64::from(BLOCK_THREADS) + 1, entry, "a GPU", declarations)?;
        }
        for (block, grid) in all.iter().zip(&all[3..]).filter(|(block, grid)| block.0.is_none() && grid.0.is_none()) {
            if free(&all) > 2 {
                limit(&[*block, *grid], options.max_threads, entry, "`--max-threads`", declarations)?;
            }
        }
        // Consequences that spare the solver the products: each size alone, and each id.
        let fixed = self.geometry.or_one().block_threads();
        let beside = |most: u32| u128::from(most).min(u128::from(BLOCK_THREADS) / fixed.max(1));
        let largest = LARGEST.block.map(beside).into_iter().chain(LARGEST.grid.map(u128::from));
        let ids = self.tid.iter().chain(&self.ctaid);
        for (((size, register), id), most) in all.iter().zip(ids).zip(largest) {
            if size.is_some() {
                continue;
            }
            let most = bv::literal(most.min(u128::from(options.max_threads.saturating_sub(1))), 32);
            declarations.require("launch", bv::binary(BvOp::Ule, (*register).clone(), most.clone()));
            declarations.require("launch", bv::binary(BvOp::Ult, id.clone(), most));
        }
        Ok(())
    }
}

/// Threads that a block has at most by `.maxntid`.
fn maximum(entry: &Function) -> Option<u64> {
    Some(entry.maximum_block?.iter().map(|size| u64::from((*size).max(1))).product())
}

/// Threads that a block of the entry has at most.
pub(super) fn most_threads(entry: &Function) -> u32 {
    maximum(entry).and_then(|most| u32::try_from(most).ok()).map_or(BLOCK_THREADS, |most| most.min(BLOCK_THREADS))
}

/// How many sizes are not fixed.
fn free(sizes: &[(Option<u32>, &ExprRef)]) -> usize {
    sizes.iter().filter(|size| size.0.is_none()).count()
}

/// The product of a thread id and a block size.
fn product(value: &ExprRef, size: &ExprRef) -> ExprRef {
    if *size == bv::literal(1, 32) { value.clone() } else { bv::mul(value.clone(), size.clone()) }
}

/// States that the product of some sizes is below a bound.
fn limit(
    sizes: &[(Option<u32>, &ExprRef)],
    bound: u64,
    entry: &Function,
    origin: &str,
    declarations: &mut Declarations,
) -> Result<(), Diagnostic> {
    let fixed: u128 = sizes.iter().filter_map(|s| s.0).map(u128::from).product();
    if fixed >= u128::from(bound) {
        let message = format!("the fixed launch sizes multiply to {fixed}, which {origin} does not allow");
        return Err(Diagnostic::error("launch-size", message, entry.span));
    }
    let free = sizes.iter().filter(|s| s.0.is_none()).map(|s| bv::to_int(s.1.clone()));
    if let Some(product) = free.reduce(|a, b| bv::op(BinaryOp::Mul, a, b)) {
        let product = if fixed == 1 { product } else { bv::op(BinaryOp::Mul, bv::int(fixed as i128), product) };
        declarations.require("launch", bv::op(BinaryOp::Lt, product, bv::int(i128::from(bound))));
    }
    Ok(())
}

fn block_size(entry: &Function, options: &LowerOptions) -> Result<[Option<u32>; 3], Diagnostic> {
    let given = options.geometry.block;
    if options.geometry.sizes().any(|size| size == Some(0)) {
        return Err(Diagnostic::error("launch-size", "a launch size of 0", entry.span));
    }
    let Some(required) = entry.required_block else {
        // `.maxntid 1` fixes the size; no block has a pair of threads then.
        let single = entry.maximum_block.is_some_and(|maximum| maximum.iter().all(|size| *size <= 1));
        return Ok(if single { given.map(|size| size.or(Some(1))) } else { given });
    };
    if let Some(message) = unlaunchable_block(required.map(Some)) {
        return Err(Diagnostic::error("launch-size", format!("`.reqntid` asks for {message}"), entry.span));
    }
    let mut block = given;
    for ((size, required), axis) in block.iter_mut().zip(required).zip(Axis::ALL) {
        let required = required.max(1);
        if size.is_some_and(|s| s != required) {
            let message = format!("the block size given contradicts `.reqntid`, which is {required} on axis {axis}");
            return Err(Diagnostic::error("launch-size", message, entry.span));
        }
        *size = Some(required);
    }
    Ok(block)
}

fn sizes(prefix: &str, fixed: [Option<u32>; 3], declarations: &mut Declarations) -> [ExprRef; 3] {
    Axis::ALL.map(|axis| match fixed[axis.index()] {
        Some(size) => bv::literal(u128::from(size), 32),
        None => {
            let name = format!("{prefix}.{axis}");
            let size = declarations.constant(name.as_str().into(), Type::Bv(32), vec![flag("launch")]);
            declarations.require("launch", bv::binary(BvOp::Uge, size.clone(), bv::literal(1, 32)));
            size
        }
    })
}

fn ids(
    prefix: &str,
    attribute: &str,
    sizes: &[ExprRef; 3],
    fixed: [Option<u32>; 3],
    declarations: &mut Declarations,
) -> [ExprRef; 3] {
    Axis::ALL.map(|axis| {
        if fixed[axis.index()] == Some(1) {
            return bv::literal(0, 32);
        }
        let name = format!("{prefix}.{axis}");
        let id = declarations.constant(name.as_str().into(), Type::Bv(32), vec![flag(attribute)]);
        declarations.require("launch", bv::binary(BvOp::Ult, id.clone(), sizes[axis.index()].clone()));
        id
    })
}

/// The sentence for the report about sizes that are not fixed.
pub(crate) fn assumption(launch: &Launch, max_threads: u64) -> Option<String> {
    launch.geometry.has_free().then(|| {
        format!(
            "launch sizes that are not given are arbitrary, with at most {BLOCK_THREADS} threads a block and fewer \
             than {max_threads} in all"
        )
    })
}

/// The attribute `{:param "name"}`.
pub(crate) fn parameter_attribute(name: &str) -> crate::ivl::ast::Attribute {
    text("param", name)
}
