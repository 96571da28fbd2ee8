//! The launch sizes that a kernel is written for, as far as it tells.
//!
//! Input: the lowered kernel. Output: sizes of blocks, the likely ones first, each with lengths of rows. Establishes:
//! nothing; the sizes are proposals. Relies on: nothing. Reference: none; the signs are those by which a person
//! reads the block size off a kernel:
//!
//! - what multiplies `ctaid`, in units of what multiplies `tid`: `blockIdx.x * 256 + threadIdx.x`;
//! - lengths and rows of shared arrays: `tile[16][17]` at `[threadIdx.y][threadIdx.x]`;
//! - the distance of accesses that are the same but for a constant, and the step of a loop from `tid`: threads that do
//!   the work of several stand as far apart;
//! - indices that run down (`127 - threadIdx.x`), and constants with which `tid` is compared;
//! - lanes and warps by the thread's number (`threadIdx.x % 32` and `/ 32`), which tell that blocks have whole warps.

use super::linear::{Form, Forms, Term};
use super::votes::{Group, MOST_HALO, MOST_THREADS, Sign, Votes, greatest_common_divisor, is_behind};
use crate::geometry::{Axis, BLOCK_THREADS};
use crate::ivl::ast::{
    Access, ArraySpace, BinaryOp, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Transfer,
};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use crate::ivl::visit;
use crate::kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};

/// Threads of a row, at least: a factor smaller than this is no length.
const LEAST_ROW: u32 = 8;

/// Half of the threads of a block along one axis, at least, where only a comparison tells of them.
const LEAST_HALF: i64 = 16;

/// A launch that the kernel suggests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Natural {
    /// Whether about as much speaks for it as for the first: it may be the one that is meant.
    pub(crate) is_rival: bool,
    /// Whether a size multiplies `ctaid`, so that it hardly is another one.
    pub(crate) is_fixed: bool,
    /// Whether blocks of another size are none that the kernel is written for.
    pub(crate) is_meant: bool,
    /// Threads a block, on the axes of which the kernel says anything.
    pub(crate) block: [Option<u32>; 3],
    /// Threads of a row of blocks along an axis, where blocks of the next row write behind them.
    pub(crate) rows: Vec<(Axis, u32)>,
    /// Whether it tells warps and lanes apart by the threads' ids: a block with a part of a warp is none that it is for.
    pub(crate) has_warps: bool,
    /// Whether blocks or threads have several elements, so that indices wrap around in the largest launches, or for the
    /// largest sizes.
    pub(crate) wraps: bool,
}

/// The launches that a kernel suggests, the likely ones first; none if it says nothing. `any_block`: blocks of any size
/// are one of them.
pub(crate) fn launches(kernel: &Kernel, any_block: bool) -> Vec<Natural> {
    let signs = Signs::of(kernel);
    let votes = signs.votes(kernel);
    let blocks = votes.blocks(kernel);
    let first = blocks.first().copied().unwrap_or_default();
    let launch = |block: [Option<u32>; 3]| {
        let threads = |axis: Axis| i64::from(block[axis.index()].or(kernel.geometry.block[axis.index()]).unwrap_or(1));
        // A block of a size that other signs tell is no guess about warps.
        let has_warps = signs.has_warps(kernel) && block[Axis::X.index()].is_none();
        let wraps = signs.reads_grid
            || signs.goes_on
            || has_warps
            || signs.sums.iter().any(|(axis, apart)| *apart > threads(*axis));
        let is_apart =
            |axis: Axis| block[axis.index()].is_some_and(|size| signs.sums.contains(&(axis, i64::from(size))));
        // A block with another number of threads than rows or loops tell of only hides what the first one shows.
        let is_total =
            |block: [Option<u32>; 3]| votes.totals.contains(&block.map(|size| size.unwrap_or(1)).iter().product());
        let is_rival = (is_total(block) || !is_total(first))
            && Axis::ALL.into_iter().all(|axis| match (first[axis.index()], block[axis.index()]) {
                (Some(likely), Some(size)) => 5 * votes.of(axis, size) >= 2 * votes.of(axis, likely),
                _ => true,
            });
        let fills = |axis: Axis| {
            block[axis.index()].is_some_and(|size| votes.fills_tile(axis, size) || signs.is_stride(axis, size))
        };
        let is_fixed = Axis::ALL.into_iter().any(is_apart);
        let launch = Natural {
            is_rival,
            is_fixed,
            is_meant: is_fixed || Axis::ALL.into_iter().any(fills) || has_warps,
            block,
            rows: signs.rows(kernel, block),
            has_warps,
            wraps,
        };
        log::debug!("suggested: {launch:?}");
        launch
    };
    let mut launches: Vec<Natural> = blocks.iter().copied().map(launch).collect();
    // Rows of blocks of any size: proofs are sooner found for one.
    let usual = signs.usual_block(kernel);
    if blocks[..] == [[None; 3]]
        && let Some(rows) = launches.first().map(|launch| launch.rows.clone())
        && (!rows.is_empty() || any_block && usual.iter().flatten().count() > 1)
    {
        launches.push(Natural { is_rival: true, block: usual, rows, ..Natural::default() });
    }
    // Strides are proved where they do not wrap, whatever the block is.
    let any_block = any_block || signs.reads_grid || signs.goes_on;
    let says_something = |launch: &Natural| {
        any_block || launch.has_warps || launch.block.iter().any(Option::is_some) || !launch.rows.is_empty()
    };
    launches.retain(says_something);
    launches
}

/// Whether threads go on from an element to another one: indices wrap around for the largest sizes.
pub(crate) fn goes_on(kernel: &Kernel) -> bool {
    Signs::of(kernel).goes_on
}

/// Whether some block leads to itself or to one in front of it.
fn has_loop(body: &Implementation) -> bool {
    let numbers: BTreeMap<&Name, usize> = body.blocks.iter().enumerate().map(|(n, block)| (&block.label, n)).collect();
    body.blocks.iter().enumerate().any(|(number, block)| match &block.transfer {
        Transfer::Goto(targets) => targets.iter().any(|target| numbers.get(target).is_some_and(|at| *at <= number)),
        Transfer::Return => false,
    })
}

/// What the statements of a kernel say about sizes.
#[derive(Default)]
struct Signs {
    forms: Forms,
    accesses: BTreeMap<(Name, BTreeMap<Term, i64>), Group>,
    /// Axis, and what `ctaid` has as factor in units of that of `tid`.
    sums: BTreeSet<(Axis, i64)>,
    /// Forms of variables to which loops add a constant.
    steps: BTreeSet<(Form, i64)>,
    /// Axis and bound of the comparisons of one `tid`.
    compared: BTreeSet<(Axis, i64)>,
    /// The same where the bound is a literal: it would serve nothing in a smaller block.
    guarded: BTreeSet<(Axis, i64)>,
    /// Whether the statements read the size of the grid.
    reads_grid: bool,
    /// Whether threads go on from an element to another one.
    goes_on: bool,
    /// Whether the lane of a thread is told by its id, and the warp.
    lanes: bool,
    warps: bool,
}

impl Signs {
    fn of(kernel: &Kernel) -> Signs {
        let bodies = || kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let statements = || bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut assigned = BTreeSet::new();
        let again = statements().flat_map(visit::assigned).filter(|variable| !assigned.insert(*variable));
        let forms = Forms::new(again.cloned().collect());
        let mut signs = Signs { forms, ..Signs::default() };
        statements().for_each(|statement| signs.statement(statement));
        // Registers are used again in code without loops, too.
        signs.goes_on &= bodies().any(has_loop);
        signs
    }

    fn statement(&mut self, statement: &Stmt) {
        visit::for_each_stmt_expr(statement, &mut |e| self.expression(e));
        match &statement.kind {
            StmtKind::Assign(pairs) => {
                for (variable, value) in pairs {
                    let next = self.forms.of(value);
                    let is_again = self.forms.is_assigned(variable);
                    let (form, step) = self.forms.assign(variable, value);
                    let is_other = next.is_some_and(|next| next != form);
                    self.goes_on |= is_other && is_again && self.forms.is_of_threads(variable);
                    self.sums.extend(Axis::ALL.into_iter().filter_map(|axis| Some((axis, blocks_apart(&form, axis)?))));
                    let step = step.filter(|step| *step > 0 && !form.terms.is_empty());
                    self.steps.extend(step.map(|step| (form, step)));
                }
            }
            StmtKind::Load { access, .. } | StmtKind::Atomic { access, .. } => self.access(access, false),
            StmtKind::Store { access, .. } => self.access(access, true),
            _ => {}
        }
    }

    fn access(&mut self, access: &Access, writes: bool) {
        if let Some(Form { terms, constant }) = self.forms.of(&access.offset) {
            let group = self.accesses.entry((access.array.clone(), terms)).or_default();
            group.constants.insert(constant);
            group.writes |= writes;
        }
    }

    fn expression(&mut self, e: &ExprRef) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                self.comparison(a, b, None);
                self.comparison(b, a, None);
            }
            ExprKind::Call(name, args) => {
                if let (Some(Builtin::Op(op, _)), [a, b]) = (parse_builtin(name.as_str()), &args[..])
                    && op.is_comparison()
                {
                    let is_less = matches!(op, BvOp::Slt | BvOp::Ult | BvOp::Sge | BvOp::Uge);
                    self.comparison(a, b, Some(i64::from(!is_less)));
                    self.comparison(b, a, Some(i64::from(is_less)));
                } else if let (Some(Builtin::Op(op, _)), [id, number]) = (parse_builtin(name.as_str()), &args[..]) {
                    self.warp(op, id, number);
                }
            }
            ExprKind::Var(name) => self.reads_grid |= name.as_str().starts_with("nctaid."),
            _ => {}
        }
        visit::children(e).into_iter().for_each(|operand| self.expression(operand));
    }

    /// The lane of a thread, or its warp.
    fn warp(&mut self, op: BvOp, id: &ExprRef, number: &ExprRef) {
        let (Some(id), Some(number)) = (self.forms.of(id), self.forms.of(number).and_then(|form| form.value())) else {
            return;
        };
        let is_id = id.factor(&Term::Thread(Axis::X)) == 1;
        self.lanes |= is_id && matches!((op, number), (BvOp::And, 31) | (BvOp::Urem, 32));
        self.warps |= is_id && matches!((op, number), (BvOp::Lshr | BvOp::Ashr, 5) | (BvOp::Udiv | BvOp::Sdiv, 32));
    }

    /// Whether the block is to have whole warps, and is of any size.
    fn has_warps(&self, kernel: &Kernel) -> bool {
        self.lanes && self.warps && kernel.geometry.block[Axis::X.index()].is_none()
    }

    /// `more`: what is to be added to the bound so that it parts the ids below from the others; `None` if it parts one.
    fn comparison(&mut self, id: &ExprRef, bound: &ExprRef, more: Option<i64>) {
        let (Some(form), Some(limit)) = (self.forms.of(id), self.forms.of(bound)) else { return };
        if let (Some((axis, 1)), Some(value)) = (single_axis(&form), self.forms.first_value(&limit)) {
            self.compared.insert((axis, value - form.constant));
            let is_loop = matches!(&id.kind, ExprKind::Var(name) if self.forms.is_reassigned(name));
            if let (Some(more), false, 0, Some(value)) = (more, is_loop, form.constant, limit.value()) {
                self.guarded.insert((axis, value + more));
            }
        }
    }

    fn votes(&self, kernel: &Kernel) -> Votes {
        let loops = self.steps.iter().filter_map(|(form, step)| Some((form.variable()?.clone(), *step)));
        let strides = self.strides();
        // The guard of a loop from `tid` on, which compilers put before it, serves smaller blocks, too.
        let is_of_loop = |axis: Axis, bound: i64| {
            let along = strides.iter().filter_map(|(form, step)| Some((single_axis(form)?, *step)));
            along.into_iter().any(|((of, own), step)| {
                let rows = own * bound;
                of == axis && own > 0 && step % own == 0 && step < rows && 2 * step >= rows
            })
        };
        let guarded = Axis::ALL.map(|axis| {
            let bounds = self.guarded.iter().filter(|(of, bound)| *of == axis && !is_of_loop(axis, *bound));
            bounds.map(|(_, bound)| *bound).max()
        });
        let mut votes = Votes::new(guarded, loops.collect());
        for ((array, terms), group) in &self.accesses {
            let declared = kernel.program.arrays.iter().find(|declared| declared.name == *array);
            let shared = declared.filter(|array| array.space == ArraySpace::Shared);
            votes.accesses(terms, group, shared.map(|array| array.size));
        }
        for (form, step) in &strides {
            votes.step(form, *step);
        }
        for &(axis, apart) in &self.sums {
            votes.vote(axis, apart, Sign::Sum);
        }
        if kernel.most_threads < BLOCK_THREADS {
            // Who bounds the block launches it as large.
            votes.totals.insert(kernel.most_threads);
        }
        let used = self.accesses.keys().flat_map(|(_, terms)| terms.keys());
        let is_flat = !used.into_iter().any(|term| matches!(term, Term::Thread(Axis::Y | Axis::Z)));
        for axis in Axis::ALL {
            // A reduction starts with half of the threads. A small number is a distance that grows, or one lane.
            let bounds = self.compared.iter().filter(|(of, _)| *of == axis).map(|(_, bound)| *bound);
            if let Some(largest) = bounds.max().filter(|largest| !is_flat || *largest >= LEAST_HALF) {
                votes.vote(axis, largest, Sign::Hint);
                votes.vote(axis, 2 * largest.min(MOST_THREADS), Sign::Hint);
                votes.vote(axis, largest + 1, Sign::Hint);
            }
        }
        votes
    }

    /// What loops add to a sum. Where a copied body adds multiples of it, too, that is their divisor.
    fn strides(&self) -> BTreeMap<&Form, i64> {
        let mut strides = BTreeMap::new();
        for (form, step) in &self.steps {
            let stride = strides.entry(form).or_insert(0);
            *stride = greatest_common_divisor(*stride, *step);
        }
        strides
    }

    /// Whether loops along an axis go on by that many threads: more would do the work of others again.
    fn is_stride(&self, axis: Axis, size: u32) -> bool {
        let strides = self.steps.iter().filter(|(form, _)| single_axis(form).is_some_and(|(of, _)| of == axis));
        let mut strides = strides.map(|(form, step)| (form.factor(&Term::Thread(axis)), *step));
        strides.any(|(own, step)| own > 0 && step == own * i64::from(size))
    }

    /// A block that is usual for as many axes as the kernel accesses arrays by.
    fn usual_block(&self, kernel: &Kernel) -> [Option<u32>; 3] {
        let is_used = |axis: Axis| self.accesses.keys().any(|(_, terms)| terms.contains_key(&Term::Thread(axis)));
        let used: Vec<Axis> = Axis::ALL
            .into_iter()
            .filter(|axis| kernel.geometry.block[axis.index()].is_none() && is_used(*axis))
            .collect();
        let sizes: &[u32] = match used.len() {
            1 => &[256],
            2 => &[16, 16],
            _ => &[8, 8, 4],
        };
        let mut block = [None; 3];
        used.iter().zip(sizes).for_each(|(axis, size)| block[axis.index()] = Some(*size));
        block
    }

    /// Columns of a row that threads only look at from beside it, where rows have that length.
    fn halo(&self, kernel: &Kernel, axis: Axis, length: i64) -> i64 {
        let global = self.accesses.iter().filter(|((array, _), _)| is_global(kernel, array));
        let columns = global.flat_map(|((_, terms), group)| {
            let own = terms.get(&Term::Thread(axis)).copied().filter(|own| *own > 0);
            own.into_iter().flat_map(|own| group.constants.iter().map(move |address| column(*address, own, length)))
        });
        let (least, most) = columns.fold((0, 0), |(least, most), column| (column.min(least), column.max(most)));
        (most - least).min(MOST_HALO)
    }

    /// Threads of a row of blocks: how far the next larger step goes in an address, in units of what a step to the next
    /// block adds. Arrays that are written count, and those that are read where they have rows of a power of two: a halo
    /// makes rows longer, and a row that is written with another length is a slip.
    fn rows(&self, kernel: &Kernel, block: [Option<u32>; 3]) -> Vec<(Axis, u32)> {
        let global = || self.accesses.iter().filter(|((array, _), _)| is_global(kernel, array));
        let all: Vec<&BTreeMap<Term, i64>> = global().map(|((_, terms), _)| terms).collect();
        let written: Vec<_> = global().filter(|(_, group)| group.writes).map(|((_, terms), _)| terms).collect();
        let row = |axis: Axis| {
            let block = block[axis.index()].or(kernel.geometry.block[axis.index()]);
            let in_addresses = written.iter().filter_map(|terms| row_of(terms, None, axis, block)).min();
            let even = all.iter().filter_map(|terms| row_of(terms, None, axis, block));
            let even = even.filter(|row| row.covered.count_ones() == 1).max();
            let steps =
                self.steps.iter().filter(|(form, _)| written.iter().any(|terms| is_multiple(terms, &form.terms)));
            let in_loops = steps.filter_map(|(form, step)| row_of(&form.terms, Some(*step), axis, block)).min();
            let row = match in_addresses {
                Some(row) if row.covered.count_ones() > 1 => even.unwrap_or(row),
                in_addresses => in_addresses.or(in_loops)?,
            };
            // A grid covers whole rows: one that ends before the last columns would hide what is wrong with them.
            let usual = i64::from(self.usual_block(kernel)[axis.index()].unwrap_or(1));
            let rest = if block.is_some() { row.columns - row.covered } else { row.columns % usual.min(row.columns) };
            let is_covered = row.columns.count_ones() == 1 || rest <= self.halo(kernel, axis, row.columns);
            let length = u32::try_from(row.covered).ok().filter(|length| *length >= LEAST_ROW && is_covered)?;
            Some((axis, length))
        };
        Axis::ALL.into_iter().filter(|axis| kernel.geometry.grid[axis.index()].is_none()).filter_map(row).collect()
    }
}

fn is_global(kernel: &Kernel, name: &Name) -> bool {
    kernel.program.arrays.iter().any(|array| array.name == *name && array.space == ArraySpace::Global)
}

/// The column, or the row of a plane, in which the place with this address lies that has no ids in it; before the first
/// one it is negative.
fn column(address: i64, own: i64, length: i64) -> i64 {
    let within = address.rem_euclid(own * length).div_euclid(own);
    if 2 * within > length { within - length } else { within }
}

/// A row of blocks along an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    /// Threads of whole blocks in it.
    covered: i64,
    columns: i64,
}

/// The row for which the factors of an axis stay below the next larger one.
fn row_of(terms: &BTreeMap<Term, i64>, step: Option<i64>, axis: Axis, block: Option<u32>) -> Option<Row> {
    let factor = |term: Term| terms.get(&term).copied().filter(|factor| *factor > 0);
    let (own, threads) = match factor(Term::Block(axis)) {
        Some(own) => (own, i64::from(block?)),
        None => (factor(Term::BlockStart(axis))?, 1),
    };
    let larger = terms.values().copied().filter(|other| *other > own).min();
    let pitch = match step {
        // A loop takes the longest way of all.
        Some(step) => larger.is_none().then_some(step).filter(|step| *step > own)?,
        None => larger?,
    };
    Some(Row { covered: pitch / own * threads, columns: pitch * threads / own })
}

/// Whether terms are those of another sum, all with the same further factor.
fn is_multiple(terms: &BTreeMap<Term, i64>, of: &BTreeMap<Term, i64>) -> bool {
    let factors = terms
        .iter()
        .zip(of)
        .map(|((term, factor), (other, unit))| (term == other && factor % unit == 0).then(|| factor / unit));
    let factors: Option<BTreeSet<i64>> = factors.collect();
    terms.len() == of.len() && factors.is_some_and(|factors| factors.len() <= 1)
}

/// What the factor of `ctaid` is in units of that of `tid`.
fn blocks_apart(form: &Form, axis: Axis) -> Option<i64> {
    let (own, blocks) = (form.factor(&Term::Thread(axis)), form.factor(&Term::Block(axis)));
    let is_behind = Axis::ALL.into_iter().any(|other| is_behind(blocks, own, form.factor(&Term::Thread(other))));
    (own != 0 && blocks != 0 && blocks % own == 0 && !is_behind).then(|| blocks / own)
}

/// The axis and the factor of a form that has no other term.
fn single_axis(form: &Form) -> Option<(Axis, i64)> {
    let mut terms = form.terms.iter();
    match (terms.next(), terms.next()) {
        (Some((Term::Thread(axis), factor)), None) => Some((*axis, *factor)),
        _ => None,
    }
}
