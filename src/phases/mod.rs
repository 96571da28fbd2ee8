//! Beside the line, `phases`: pipelines with barriers, for every trip count.
//!
//! Input: a kernel in PTX, sizes of its blocks, scalars. Output: [`Answer`]. Establishes: [`Answer::Proved`] only if in no execution, for any
//! grid, any trip count and any contents of arrays, shared memory has a race, a barrier is misused, or a thread waits for ever. Races of
//! global memory are proved elsewhere, by the symbolic proof of the same kernel without its barriers and its shared memory
//! ([`crate::rules::Rules::global_only`]); both together are a proof of the kernel. Relies on: the symbolic proof for global memory.
//! Reference: phases-notes, phases-review; [`crate::sync`] for one execution.
//!
//! # The argument
//!
//! *One 32-bit word of the parameters is open*; sizes of blocks are given. It is the trip count, `n`, or `n` is the word divided by
//! a unit (`(k + 63) / 64`, or what a loop with `i += 64` does up to `k`): then it stands for all words of the same `n`. Values of `n` fall into
//! finitely many classes: small ones, each for itself; `start + period * rounds` for each rest modulo the period; and words above `i32::MAX`, which are negative.
//!
//! *Other scalars, the number of the block and the size of the grid* are terms ([`terms`]), the same in all threads of a block. Where a condition of them decides, it
//! is shown for blocks where the condition holds, and for those where it does not ([`classes`]).
//!
//! *What each thread does is fixed, by class* ([`thread`]): instructions are executed on linear functions of the number of rounds that are over
//! and to come ([`value`]). Loaded values are unknown; where they decide more than which of two ways it goes that
//! meet again ([`ways`]), there is no proof. Which lane `elect.sync` elects is shown for each. Hence for each number
//! of rounds a thread does `before, round, round, ..., behind`, and in each round it does the same to the same bytes and barriers.
//!
//! *The order is fixed* ([`block`]): the theorem of [`crate::sync`] for one launch and one execution holds for each number of rounds; its conditions are
//! the same here, or stricter (no knowledge by order in time).
//!
//! *One schedule for each number of rounds* ([`rounds`]): rounds are executed one after the other until a state recurs.
//!
//! Blocks do not share shared memory. What the threads do to global memory, another proof decides, for all grids.

mod block;
mod classes;
mod compute;
mod effects;
mod event;
mod objects;
mod products;
mod rounds;
mod terms;
mod thread;
mod value;
mod view;
mod warps;
mod ways;

use crate::diagnostic::Diagnostic;
use crate::exec::arguments::{Argument, Value as Given};
use crate::exec::command::Command;
use crate::exec::decode::{self, Code, Program};
use crate::exec::launch::Schedule;
use crate::exec::tensor::TensorMap;
use crate::exec::tensor_argument::{TensorArgument, TensorData};
use crate::finding::{Checked, Reason};
use crate::geometry::Geometry;
use crate::ptx::ast::{Function, Module, ScalarType, StateSpace};
use crate::rules::Rules;
use crate::sync::tell;
use classes::{All, Counts, Shown};
use event::{Refusal, Why};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use terms::Terms;
use thread::{Kernel, Map};

/// What is asked.
pub(crate) struct Question<'a> {
    pub(crate) module: &'a Module,
    /// Index of the kernel among its functions.
    pub(crate) number: usize,
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Scalars that the user fixed, by position.
    pub(crate) given: &'a BTreeMap<usize, i128>,
    /// Tensor maps, likewise.
    pub(crate) tensors: &'a BTreeMap<usize, TensorArgument>,
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_shared: u32,
}

/// What is said.
pub(crate) enum Answer {
    Proved(Box<Proved>),
    Open(Vec<Reason>),
}

/// A proof.
pub(crate) struct Proved {
    /// Which trip counts it is for, if not for all.
    pub(crate) condition: Option<String>,
    /// What it rests on, one sentence each.
    pub(crate) assumptions: Vec<String>,
    /// What there was to prove, global memory included.
    pub(crate) checked: Checked,
    /// What threads do, for people.
    pub(crate) text: String,
}

/// Threads that a block may have.
const THREADS: u32 = 512;

/// A grid for the decoder; what it says of its size is not used.
const GRID: [u32; 3] = [2; 3];

/// What it takes for a word of the parameters: bytes that are another number where a sign is extended.
const SAMPLE: [u8; 4] = [0xb5, 0xa9, 0xc3, 0xeb];

/// Decides a kernel for all trip counts.
///
/// # Errors
/// What the decoder lacks.
pub(crate) fn decide(question: &Question<'_>) -> Result<Answer, Diagnostic> {
    let entry = &question.module.functions[question.number];
    let (program, maps) = match program(question, entry)? {
        Ok(program) => program,
        Err(reason) => return Ok(Answer::Open(vec![reason])),
    };
    let name = |count: Option<Word>| {
        let (index, offset) = count?;
        let parameter = entry.params.get(index)?;
        Some(if parameter.size == Some(4) {
            parameter.name.to_string()
        } else {
            format!("{}.{offset}", parameter.name)
        })
    };
    match for_every(question, entry, (&program, maps)) {
        Ok((count, shown)) => {
            let name = name(count);
            let condition = match (&name, shown.counts) {
                (Some(name), Counts::UpTo(largest)) => Some(format!("0 <= {name} <= {largest}")),
                _ => None,
            };
            let text = view::text(&program, name.as_deref(), question.block, &shown);
            let (assumptions, checked) = (shown.assumptions, tell::checked(&program));
            Ok(Answer::Proved(Box::new(Proved { condition, assumptions, checked, text })))
        }
        Err(refusals) => Ok(Answer::Open(refusals.iter().map(|refusal| reason(&program, refusal)).collect())),
    }
}

fn reason(program: &Program, refusal: &Refusal) -> Reason {
    let line = |code: u32| program.origins.get(code as usize).map_or(0, |origin| origin.line);
    let mut message = refusal.why.to_string();
    if let Why::Race { other } | Why::Proxy { other } = refusal.why {
        message += &format!(" (PTX line {})", line(other));
    }
    Reason { code: "phases", message, origin: program.origins.get(refusal.code as usize).cloned() }
}

/// Tensor maps by their offsets in the parameters of a kernel.
type Maps = BTreeMap<u64, Map>;

/// The program of blocks of this size.
fn program(question: &Question<'_>, entry: &Function) -> Result<Result<(Program, Maps), Reason>, Diagnostic> {
    let unfit = |message: &str| Reason { code: "phases", message: message.to_string(), origin: None };
    let mut arguments = Vec::new();
    for (position, parameter) in entry.params.iter().enumerate() {
        let in_shared = matches!(parameter.pointer, Some(StateSpace::Shared | StateSpace::SharedCluster));
        if in_shared || parameter.size.is_none() {
            return Ok(Err(unfit("a parameter points to shared memory, or has no size")));
        }
        let value = match (question.given.get(&position), question.tensors.get(&position)) {
            (_, Some(tensor)) => Given::Tensor(Box::new(tensor.clone())),
            (Some(value), None) => Given::Integer(*value),
            (None, None) => {
                let size = parameter.size.unwrap_or(0) as usize;
                Given::Bytes(SAMPLE.into_iter().cycle().take(size).collect())
            }
        };
        arguments.push(Argument::of(&parameter.name, value));
    }
    let command = Command {
        geometry: Geometry { block: question.block, grid: GRID },
        cluster: [1; 3],
        only_blocks: None,
        arguments,
        dynamic_shared: question.dynamic_shared,
        schedule: Schedule::RoundRobin,
        seed: 1,
        steps: None,
        rules: Rules::default(),
    };
    let launch = command.launch(question.module, entry, 1)?;
    let program = decode::decode(question.module, question.number, &launch)?;
    let mut maps = Maps::new();
    let mut offset = 0;
    for (position, parameter) in entry.params.iter().enumerate() {
        offset = u64::next_multiple_of(offset, u64::from(parameter.align.max(1)));
        if let Some(tensor) = question.tensors.get(&position)
            && let Some(map) = launch.parameters.get(position).and_then(|bytes| TensorMap::decoded(bytes))
        {
            let array = match &tensor.data {
                TensorData::New(_) => Some(position),
                TensorData::Of { other, .. } => entry.parameter_or_position(other),
            };
            let bytes = map.whole_box().filter(|_| array.is_some());
            maps.insert(offset, Map { array: array.unwrap_or(position), rank: map.rank(), bytes });
        }
        offset += parameter.size.unwrap_or(0);
    }
    Ok(Ok((program, maps)))
}

/// A word of the parameters: position and offset in bytes.
type Word = (usize, u32);

/// Shows it for every trip count, and says which word of the parameters that is.
fn for_every(
    question: &Question<'_>,
    entry: &Function,
    (program, maps): (&Program, Maps),
) -> Result<(Option<Word>, Shown), Vec<Refusal>> {
    let threads: u64 = question.block.iter().map(|size| u64::from(*size)).product();
    if threads > u64::from(THREADS) {
        return Err(vec![Refusal { code: 0, why: Why::Steps }]);
    }
    let is_pointer = |(position, parameter): &(usize, &crate::ptx::ast::Variable)| {
        parameter.size == Some(8) && !matches!(parameter.ty, ScalarType::F(_)) && !question.given.contains_key(position)
    };
    let pointers = entry.params.iter().enumerate().filter(is_pointer).map(|(position, _)| position).collect();
    let mut terms = Terms::default();
    let kernel = Kernel {
        program,
        template: compute::template(program, &mut terms),
        pointers,
        given: question.given.keys().copied().collect(),
        tensors: question.tensors.keys().copied().collect(),
        heads: loops(program).map(|body| body.start).collect(),
        loops: loops(program).collect(),
        terms: RefCell::new(terms),
        maps,
        placements: RefCell::default(),
        tiles: RefCell::default(),
    };
    let without = match All::new(question.block, &kernel, None).for_every() {
        Ok(shown) => return Ok((None, shown)),
        Err(refusal) => refusal,
    };
    let mut refused = Vec::new();
    let words = kernel.terms.borrow().words(u64::from(u32::from_le_bytes(SAMPLE)));
    for (index, offset, term) in words {
        match All::new(question.block, &kernel, Some(term)).for_every() {
            Ok(shown) => return Ok((Some((index, offset)), shown)),
            Err(refusal) => refused.push(refusal),
        }
    }
    Err(if refused.is_empty() { vec![without] } else { refused })
}

/// From the heads of loops to the jumps back.
fn loops(program: &Program) -> impl Iterator<Item = Range<u32>> {
    (0..).zip(&program.code).filter_map(|(at, code)| match code {
        Code::Jump(to) | Code::JumpIf { to, .. } if *to <= at => Some(*to..at + 1),
        _ => None,
    })
}
