//! Evaluates one thread alone.
//!
//! Input: a compiled kernel, values of its constants. Output: [`Trace`]: the accesses and barriers of
//! the thread, in order. Establishes: the thread does all of these, at these offsets, in every
//! terminating execution with these constants, whatever memory holds. Relies on: loops terminate.
//! Reference: the lock-step paper, section 3.2 (semantics of a single thread).
//!
//! A value is known only if the constants decide it: what a `havoc`, a load, an atomic or an
//! uninterpreted function gives is not, so no access of the trace depends on them.

use super::bits::mask;
use super::compiled::{AccessSite, Compiled, Instruction};
use super::evaluate::{ExprId, Value};
use crate::ivl::ast::{Array, ArraySpace};
use crate::limits;
use std::collections::BTreeMap;

/// Bytes that no global array exceeds: the virtual address space of a GPU.
const LARGEST_GLOBAL_ARRAY: i64 = 1 << 47;

/// Bytes that no shared array exceeds: more shared memory than any GPU gives a block.
const LARGEST_SHARED_ARRAY: i64 = 256 << 10;

/// Values tried for variables that a `havoc` made arbitrary, to see that an assumption about them
/// leaves any.
const SAMPLES: [u128; 4] = [0, 1, 2, 31];

/// An access that a thread surely does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Number in [`Compiled::accesses`].
    pub site: u32,
    /// Byte offset from the start of the array.
    pub offset: i64,
    /// Barriers of the block before it, as a node of [`Histories`].
    pub history: u32,
    /// Barriers of the warp before it, likewise.
    pub warp_history: u32,
    /// The value stored, if known.
    pub value: Option<u128>,
}

/// How the evaluation of a thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The thread ended.
    Exited,
    /// The launch failed there.
    Trapped,
    /// A branch on a value that is not known, at the end of this block.
    UnknownBranch(usize),
    /// An assumption that may exclude the execution, in this block.
    UnknownAssumption(usize),
    /// An assumption does not hold: there is no such execution.
    Infeasible,
    /// A barrier for some threads of the block, or nobody knows which; by its site.
    PartialBarrier(u32),
    /// An access outside of its array, by its site.
    OutOfBounds(u32),
    /// A statement without evaluation, in this block.
    Opaque(usize),
    /// Too many statements.
    StepLimit,
}

/// What one thread does.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Accesses, in order.
    pub events: Vec<Event>,
    /// Barriers of the block it passed, as a node of [`Histories`].
    pub history: u32,
    /// Assertions that surely fail, by number.
    pub failed_assertions: Vec<u32>,
    /// Why there is no more.
    pub end: End,
    /// Statements evaluated.
    pub steps: u64,
}

/// Sequences of barriers as a tree: a node is a sequence, equal sequences are one node.
#[derive(Default)]
pub struct Histories {
    /// Parent and barrier of node n+1; node 0 is the empty sequence.
    nodes: Vec<(u32, u32)>,
    children: BTreeMap<(u32, u32), u32>,
}

impl Histories {
    /// The sequence longer by one barrier.
    pub fn extend(&mut self, history: u32, barrier: u32) -> u32 {
        let next = self.nodes.len() as u32 + 1;
        *self.children.entry((history, barrier)).or_insert_with(|| {
            self.nodes.push((history, barrier));
            next
        })
    }

    /// The sequence longer by one barrier, if some thread passed it.
    pub fn child(&self, history: u32, barrier: u32) -> Option<u32> {
        self.children.get(&(history, barrier)).copied()
    }

    /// The sequence without its last barrier, and that barrier; `None` for the empty one.
    pub fn split(&self, history: u32) -> Option<(u32, u32)> {
        (history as usize).checked_sub(1).map(|index| self.nodes[index])
    }

    /// Number of barriers.
    pub fn length(&self, history: u32) -> u32 {
        std::iter::successors(self.split(history), |(parent, _)| self.split(*parent)).count() as u32
    }
}

/// What all threads of an evaluation share.
pub struct Run<'k, 'a> {
    /// The kernel.
    pub kernel: &'k Compiled<'a>,
    /// Threads of a block, if known.
    pub block_size: Option<u64>,
    /// Sequences of barriers of the block and, in one tree with them, of the warp.
    pub histories: Histories,
    /// Statements a thread may take.
    pub step_limit: u64,
}

impl Run<'_, '_> {
    /// Evaluates the thread whose constants are given; other variables start unknown.
    pub fn thread(&mut self, constants: &[Value]) -> Trace {
        let mut values = vec![None; self.kernel.widths.len()];
        values[..constants.len()].copy_from_slice(constants);
        let trace = Trace { events: Vec::new(), history: 0, failed_assertions: Vec::new(), end: End::Exited, steps: 0 };
        let mut thread = Thread { run: self, values, trace, warp_history: 0 };
        thread.trace.end = thread.evaluate();
        thread.trace
    }
}

struct Thread<'r, 'k, 'a> {
    run: &'r mut Run<'k, 'a>,
    values: Vec<Value>,
    trace: Trace,
    warp_history: u32,
}

impl<'k> Thread<'_, 'k, '_> {
    fn evaluate(&mut self) -> End {
        let kernel = self.run.kernel;
        let Some(mut block) = (!kernel.blocks.is_empty()).then_some(0) else { return End::Exited };
        let mut first = 0;
        loop {
            for instruction in &kernel.blocks[block].instructions[first..] {
                self.trace.steps += 1;
                limits::check();
                if let Err(end) = self.instruction(instruction, block) {
                    return end;
                }
            }
            // Also an empty block takes a step, so that every loop meets the limit.
            self.trace.steps += 1;
            if self.trace.steps > self.run.step_limit {
                return End::StepLimit;
            }
            match self.leave(block) {
                Ok((next, start)) => (block, first) = (next, start),
                Err(end) => return end,
            }
        }
    }

    /// The next block, and its first instruction to evaluate.
    fn leave(&mut self, block: usize) -> Result<(usize, usize), End> {
        let kernel: &'k _ = self.run.kernel;
        let body = &kernel.blocks[block];
        match body.successors[..] {
            [] => return Err(End::Exited),
            [next] => return Ok((next, 0)),
            _ => {}
        }
        let mut open = None;
        let mut more = false;
        for &successor in &body.successors {
            let truth = self.truth(kernel.blocks[successor].guard);
            if truth != Some(false) {
                more |= open.is_some();
                open = Some((successor, truth));
            }
        }
        match open {
            None => return Err(End::Infeasible),
            Some((successor, Some(_))) if !more => return Ok((successor, 0)),
            Some(_) => {}
        }
        let skip = body.skip.as_ref().ok_or(End::UnknownBranch(block))?;
        self.forget(&skip.assigned);
        Ok((skip.join, usize::from(kernel.blocks[skip.join].guarded)))
    }

    fn instruction(&mut self, instruction: &Instruction, block: usize) -> Result<(), End> {
        match instruction {
            Instruction::Assign(variable, expr) => self.values[*variable as usize] = self.value(*expr),
            Instruction::AssignAll(list) => {
                let new: Vec<Value> = list.iter().map(|(_, expr)| self.value(*expr)).collect();
                for ((variable, _), value) in list.iter().zip(new) {
                    self.values[*variable as usize] = value;
                }
            }
            Instruction::Havoc(variables) => self.forget(variables),
            Instruction::Assume(condition) => match self.truth(*condition) {
                Some(true) => {}
                Some(false) => return Err(End::Infeasible),
                None => return Err(End::UnknownAssumption(block)),
            },
            Instruction::AssumeOfArbitrary(variables, conditions) => self.assume_of(variables, conditions, block)?,
            Instruction::Assert(number, condition) => {
                if self.truth(*condition) == Some(false) {
                    self.trace.failed_assertions.push(*number);
                }
            }
            Instruction::Access { site, guard, offset, value, result } => {
                self.access(*site, *guard, *offset, *value)?;
                self.forget(result.as_slice());
            }
            Instruction::Barrier { site, guard, id, count, result } => {
                match self.truth(*guard) {
                    Some(true) => self.barrier(*site, *id, *count)?,
                    Some(false) => {}
                    None => return Err(End::PartialBarrier(*site)),
                }
                self.forget(result.as_slice());
            }
            Instruction::WarpBarrier(site) => {
                let instruction = self.run.kernel.barriers[*site as usize].instruction;
                self.warp_history = self.run.histories.extend(self.warp_history, instruction);
            }
            Instruction::Trap => return Err(End::Trapped),
            Instruction::Opaque => return Err(End::Opaque(block)),
        }
        Ok(())
    }

    fn access(&mut self, site: u32, guard: ExprId, offset: ExprId, value: Option<ExprId>) -> Result<(), End> {
        let access = &self.run.kernel.accesses[site as usize];
        if self.truth(guard) != Some(true) {
            return Ok(());
        }
        let Some(index) = self.value(offset) else { return Ok(()) };
        let array = &self.run.kernel.arrays[access.array];
        let Some(offset) = byte_offset(access, index, array) else { return Err(End::OutOfBounds(site)) };
        let value = value.and_then(|value| self.value(value));
        let (history, warp_history) = (self.trace.history, self.warp_history);
        self.trace.events.push(Event { site, offset, history, warp_history, value });
        Ok(())
    }

    /// Only a barrier of the whole block is passed by all threads together.
    fn barrier(&mut self, site: u32, id: Option<ExprId>, count: Option<ExprId>) -> Result<(), End> {
        let main = id.is_none_or(|id| self.value(id) == Some(0));
        let whole = count
            .is_none_or(|count| self.run.block_size.is_some_and(|size| self.value(count) == Some(u128::from(size))));
        if !main || !whole {
            return Err(End::PartialBarrier(site));
        }
        let instruction = self.run.kernel.barriers[site as usize].instruction;
        self.trace.history = self.run.histories.extend(self.trace.history, instruction);
        Ok(())
    }

    /// Assumptions on variables just made arbitrary exclude nothing if some value satisfies them; the
    /// variables stay unknown.
    fn assume_of(&mut self, variables: &[u32], conditions: &[ExprId], block: usize) -> Result<(), End> {
        let holds = |thread: &Self| conditions.iter().all(|condition| thread.truth(*condition) == Some(true));
        if conditions.iter().any(|condition| self.truth(*condition) == Some(false)) {
            return Err(End::Infeasible);
        }
        let satisfiable = SAMPLES.iter().any(|sample| {
            for &variable in variables {
                self.values[variable as usize] = Some(sample & mask(self.run.kernel.widths[variable as usize]));
            }
            holds(self)
        });
        self.forget(variables);
        if satisfiable { Ok(()) } else { Err(End::UnknownAssumption(block)) }
    }

    fn value(&self, expr: ExprId) -> Value {
        self.run.kernel.expressions.value(expr, &self.values)
    }

    fn truth(&self, expr: ExprId) -> Option<bool> {
        self.run.kernel.expressions.truth_value(expr, &self.values)
    }

    fn forget(&mut self, variables: &[u32]) {
        for &variable in variables {
            self.values[variable as usize] = None;
        }
    }
}

/// The byte offset of an access that lies inside its array; `None` outside. A pointer parameter may
/// point into the middle of an allocation, so global offsets may be negative.
fn byte_offset(access: &AccessSite, index: u128, array: &Array) -> Option<i64> {
    let offset = if access.integer_index {
        i64::try_from((index as i128).checked_mul(i128::from(access.scale))?).ok()?
    } else {
        // Addresses are computed modulo 2^64.
        (index as u64).wrapping_mul(u64::from(access.scale)) as i64
    };
    let end = offset.checked_add(i64::from(access.bytes))?;
    let inside = match (array.size, array.space) {
        (Some(size), _) => offset >= 0 && end as u64 <= size,
        (None, ArraySpace::Shared) => offset >= 0 && end <= LARGEST_SHARED_ARRAY,
        (None, ArraySpace::Global) => offset > -LARGEST_GLOBAL_ARRAY && end < LARGEST_GLOBAL_ARRAY,
    };
    inside.then_some(offset)
}
