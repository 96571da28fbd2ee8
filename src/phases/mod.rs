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
//! *One 32-bit scalar is open*; sizes of blocks and other scalars that decide are given. It is the trip count, `n`, or `n` is the scalar divided by
//! a unit (`(k + 63) / 64`, or what a loop with `i += 64` does up to `k`): then it stands for all scalars of the same `n`. Values of `n` fall into
//! finitely many classes: small ones, each for itself; `start + period * rounds` for each rest modulo the period; and scalars above `i32::MAX`, which are negative.
//!
//! *What each thread does is fixed, by class* ([`thread`]): instructions are executed on linear functions of the number of rounds that are over
//! and to come ([`value`]). Loaded values, `%ctaid` and sizes of the grid are unknown; where they decide more than which of two ways it goes that
//! meet again ([`ways`]), there is no proof. Which lane `elect.sync` elects is shown for each. Hence for each number
//! of rounds a thread does `before, round, round, ..., behind`, and in each round it does the same to the same bytes and barriers.
//!
//! *The order is fixed* ([`block`]): the theorem of [`crate::sync`] for one launch and one execution holds for each number of rounds; its conditions are
//! the same here, or stricter (no knowledge by order in time).
//!
//! *One schedule for each number of rounds* ([`rounds`]): rounds are executed one after the other until a state recurs.
//!
//! Blocks do not share shared memory, and do the same. What the threads do to global memory, another proof decides, for all grids.

mod block;
mod compute;
mod effects;
mod event;
mod objects;
mod products;
mod rounds;
mod thread;
mod value;
mod view;
mod warps;
mod ways;

use crate::diagnostic::Diagnostic;
use crate::effort::{self, Effort};
use crate::exec::arguments::{Argument, Value as Given};
use crate::exec::command::Command;
use crate::exec::decode::{self, Code, Program, Slot, SpecialValue, WarpKind};
use crate::exec::launch::Schedule;
use crate::exec::tensor::TensorMap;
use crate::exec::tensor_argument::{TensorArgument, TensorData};
use crate::finding::{Checked, Reason};
use crate::geometry::{Geometry, index_of};
use crate::limits;
use crate::ptx::ast::{Function, Module, ScalarType, StateSpace};
use crate::rules::Rules;
use crate::sync::placement::Placements;
use crate::sync::tell;
use event::{Action, Refusal, Why};
use rounds::Role;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use thread::{Arrays, Class, Follower, Kernel, Map, Scale, Who};
use value::Value;

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
    /// Position of the parameter that is the trip count, if there is one.
    pub(crate) count: Option<usize>,
    pub(crate) counts: Counts,
    /// What it rests on, one sentence each.
    pub(crate) assumptions: Vec<String>,
    /// What there was to prove, global memory included.
    pub(crate) checked: Checked,
    /// What threads do, for people.
    pub(crate) text: String,
}

/// For which trip counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    All,
    UpTo(i128),
}

/// Periods that are tried, and the threads that a block may have.
const PERIODS: [i128; 9] = [2, 4, 6, 8, 10, 12, 14, 16, 1];
const THREADS: u32 = 512;

/// Units of trip counts that are tried, rounded up and down.
const UNITS: [i128; 9] = [512, 256, 128, 64, 32, 16, 8, 4, 2];

/// Rounds that come before others, in periods.
const BEFORE: i128 = 3;

/// Trip counts with which it is looked for defects first.
const FIRST: i128 = 6;

/// The largest trip counts that are tried: larger ones may wrap around in a loop, or where it is asked whether some rounds are left.
const LARGEST: [i128; 3] = [u32::MAX as i128, i32::MAX as i128, 1 << 30];

/// What it costs to follow a thread.
const THREAD: Effort = Effort::nanoseconds(100_000);

/// What the decoder takes for sizes of grids: no number of a program, one hopes; one that is so is unknown. With the most threads a
/// block, they are fewer than the decoder takes for too many.
const GRID: [u32; 3] = [71, 79, 83];

/// What it takes for the trip count: a number that is another one where its sign is extended.
const SENTINEL: u64 = 0xeb43_a9b5;

/// Decides a kernel for all trip counts.
///
/// # Errors
/// What the decoder lacks.
pub(crate) fn decide(question: &Question<'_>) -> Result<Answer, Diagnostic> {
    let entry = &question.module.functions[question.number];
    let is_count = |(position, parameter): &(usize, &crate::ptx::ast::Variable)| {
        let is_number = parameter.size == Some(4) && parameter.ty.bits() == 32 && !parameter.ty.is_float();
        is_number && !question.given.contains_key(position)
    };
    let mut counts: Vec<usize> =
        entry.params.iter().enumerate().filter(is_count).map(|(position, _)| position).collect();
    if counts.is_empty() {
        // All rounds are given.
        counts.push(entry.params.len());
    }
    let mut reasons = Vec::new();
    for count in counts {
        let (program, maps) = match program(question, entry, count)? {
            Ok(program) => program,
            Err(reason) => return Ok(Answer::Open(vec![reason])),
        };
        match for_every(question, entry, (&program, maps), count) {
            Ok(shown) => {
                let name = entry.params.get(count).map(|parameter| &parameter.name[..]);
                let text = view::text(&program, name, question.block, &shown);
                let count = (count < entry.params.len()).then_some(count);
                return Ok(Answer::Proved(Box::new(Proved {
                    count,
                    counts: shown.counts,
                    assumptions: shown.assumptions,
                    checked: tell::checked(&program),
                    text,
                })));
            }
            Err(refusal) => reasons.push(reason(&program, &refusal)),
        }
    }
    Ok(Answer::Open(reasons))
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
fn program(
    question: &Question<'_>,
    entry: &Function,
    count: usize,
) -> Result<Result<(Program, Maps), Reason>, Diagnostic> {
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
            (None, None) if position == count => Given::Integer(i128::from(SENTINEL)),
            (None, None) => Given::Bytes(vec![0; parameter.size.unwrap_or(0) as usize]),
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

/// Shows it for every trip count.
fn for_every(
    question: &Question<'_>,
    entry: &Function,
    (program, maps): (&Program, Maps),
    count: usize,
) -> Result<Shown, Refusal> {
    let threads: u64 = question.block.iter().map(|size| u64::from(*size)).product();
    if threads > u64::from(THREADS) {
        return Err(Refusal { code: 0, why: Why::Steps });
    }
    let is_pointer = |(position, parameter): &(usize, &crate::ptx::ast::Variable)| {
        parameter.size == Some(8) && !matches!(parameter.ty, ScalarType::F(_)) && !question.given.contains_key(position)
    };
    let pointers = entry.params.iter().enumerate().filter(is_pointer).map(|(position, _)| position).collect();
    let kernel = Kernel {
        program,
        template: compute::template(program, &GRID.map(u64::from)),
        pointers,
        given: question.given.keys().copied().collect(),
        heads: heads(program),
        sentinel: SENTINEL,
        maps,
        placements: RefCell::new(Placements::default()),
        tiles: RefCell::default(),
    };
    let all = All { question, kernel, count, elects: Cell::new(false), in_time: Cell::new(false) };
    let shown = all.for_every(count == entry.params.len())?;
    Ok(Shown { assumptions: all.assumptions(), ..shown })
}
/// What was shown.
struct Shown {
    counts: Counts,
    /// One of the classes that it was shown for.
    class: Class,
    /// What the threads do in that class.
    roles: Vec<Role>,
    assumptions: Vec<String>,
}

/// The threads of all blocks.
struct All<'a> {
    question: &'a Question<'a>,
    kernel: Kernel<'a>,
    /// Position of the trip count.
    count: usize,
    /// Whether lanes are elected.
    elects: Cell<bool>,
    /// Whether something rests on order in time.
    in_time: Cell<bool>,
}

/// What a thread does; and what it does where it is elected, if that was asked.
type Roles = (Role, Option<Role>);

impl All<'_> {
    /// All trip counts; `is_given`: there is none that is open.
    fn for_every(&self, is_given: bool) -> Result<Shown, Refusal> {
        if is_given {
            let class = self.one(0, Scale::ONE);
            let roles = self.class(class)?;
            return Ok(Shown { counts: Counts::All, class, roles, assumptions: Vec::new() });
        }
        // Is it something else that decides?
        self.class(self.one(0, Scale::ONE))?;
        let rounded = |rounds_up: bool| move |unit: i128| Scale { unit, rounds_up };
        let scales = iter::once(Scale::ONE).chain(UNITS.map(rounded(true))).chain(UNITS.map(rounded(false)));
        let mut refused = None;
        for scale in scales {
            match self.scaled(scale) {
                Ok(shown) => return Ok(shown),
                // It is another one.
                Err(refusal) if refusal.why == Why::Control => refused = refused.or(Some(refusal)),
                Err(refusal) => return Err(refusal),
            }
        }
        Err(refused.unwrap_or(Refusal { code: 0, why: Why::Control }))
    }

    /// One trip count.
    fn one(&self, start: i128, scale: Scale) -> Class {
        Class { parameter: self.count, scale, start, period: 1, most: 0 }
    }

    /// All trip counts that a parameter says in a way.
    fn scaled(&self, scale: Scale) -> Result<Shown, Refusal> {
        (0..FIRST).try_for_each(|number| self.class(self.one(number, scale)).map(drop))?;
        // Where it is a number with a sign, the larger half of them is negative.
        let start = LARGEST[1] + 1;
        let negative = Class { parameter: self.count, scale: Scale::ONE, start, period: 1, most: LARGEST[1] };
        let has_negative = self.class(negative).is_ok();
        let mut refused = None;
        for largest in LARGEST.into_iter().skip(usize::from(has_negative)) {
            match self.up_to(largest, scale) {
                Ok(Shown { counts: Counts::UpTo(shown_for), class, roles, assumptions }) => {
                    let is_all = shown_for == LARGEST[0] || has_negative && shown_for == LARGEST[1];
                    let counts = if is_all { Counts::All } else { Counts::UpTo(shown_for) };
                    return Ok(Shown { counts, class, roles, assumptions });
                }
                Ok(shown) => return Ok(shown),
                // That has nothing to do with large numbers.
                Err(refusal) if !matches!(refusal.why, Why::Control | Why::Address | Why::Barrier) => {
                    return Err(refusal);
                }
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        Err(refused.unwrap_or(Refusal { code: 0, why: Why::Drift }))
    }

    /// What was taken for granted.
    fn assumptions(&self) -> Vec<String> {
        let program = self.kernel.program;
        let adjusts = program.warp_operations.iter().any(|one| matches!(one.kind, WarpKind::Registers { .. }));
        let assumes_start = self.kernel.placements.borrow().assumes_start;
        tell::taken_for_granted(program, [self.elects.get(), adjusts, assumes_start, self.in_time.get()])
    }

    /// Shows it for all parameters up to one, or not much less.
    fn up_to(&self, largest: i128, scale: Scale) -> Result<Shown, Refusal> {
        let (largest, parameter) = scale.largest(largest);
        let mut refused = None;
        for period in PERIODS {
            let class = |rest: i128| {
                let start = BEFORE * period + rest;
                Class { parameter: self.count, scale, start, period, most: (largest - start) / period }
            };
            let roles = match self.class(class(0)) {
                Ok(roles) => roles,
                Err(refusal) => {
                    let why = reason(self.kernel.program, &refusal);
                    let line = why.origin.as_ref().map_or(0, |origin| origin.line);
                    log::debug!("period {period}: PTX line {line}: {}", why.message);
                    refused = refused.or(Some(refusal));
                    continue;
                }
            };
            (1..period).try_for_each(|number| self.class(class(number)).map(drop))?;
            (FIRST..BEFORE * period).try_for_each(|number| self.class(self.one(number, scale)).map(drop))?;
            let counts = Counts::UpTo(parameter);
            return Ok(Shown { counts, class: class(0), roles, assumptions: Vec::new() });
        }
        Err(refused.unwrap_or(Refusal { code: 0, why: Why::Drift }))
    }

    /// Shows it for a class of trip counts, and each lane that may be elected: what the threads do.
    fn class(&self, class: Class) -> Result<Vec<Role>, Refusal> {
        let block = self.question.block;
        let threads = block.iter().product::<u32>();
        let (mut arrays, mut roles) = (Arrays::default(), Vec::new());
        for thread in 0..threads {
            limits::check();
            effort::spend(THREAD);
            let id = index_of(thread, block);
            let specials = self.kernel.program.specials.iter();
            let specials: Vec<(Slot, Value)> = specials.map(|one| (one.slot, special(one.value, thread, id))).collect();
            let mut follow = |is_elected: bool| {
                let who = Who { specials: &specials, is_elected };
                let (parts, elects) = Follower::follow(&self.kernel, class, who, &mut arrays)?;
                Ok((Role::new(parts)?, elects))
            };
            let (role, elects) = follow(false)?;
            let elected = if elects { Some(follow(true)?.0) } else { None };
            roles.push((role, elected));
        }
        let is_written = |(array, _): &(&u32, &u32)| arrays.any_written || arrays.written.contains(array);
        if let Some((_, code)) = arrays.copied.iter().find(is_written) {
            return Err(Refusal { code: *code, why: Why::Source });
        }
        self.elects.set(self.elects.get() || roles.iter().any(|(_, elected)| elected.is_some()));
        let mut first = None;
        for lane in elected_lanes(&roles) {
            let chosen = roles.iter().zip(0..).map(|((role, elected), thread)| match elected {
                Some(elected) if thread % 32 == lane => elected.clone(),
                _ => role.clone(),
            });
            let chosen: Vec<Role> = chosen.collect();
            self.in_time.set(rounds::check(&chosen, class.most)? || self.in_time.get());
            first.get_or_insert(chosen);
        }
        Ok(first.unwrap_or_default())
    }
}

/// Lanes that may be elected, one of all those that are alike: where two lanes of each warp do the same whether they are elected or not,
/// it does not matter which of them it is, as nothing but masks and products tells lanes of a warp apart.
fn elected_lanes(roles: &[Roles]) -> Vec<usize> {
    if roles.iter().all(|(_, elected)| elected.is_none()) {
        return vec![0];
    }
    let is_part = |action: Action| matches!(action, Action::Warp { members, .. } if members != u32::MAX);
    let has_parts = roles.iter().flat_map(|(role, _)| role.events()).any(|event| is_part(event.action));
    let is_alike = |lane: usize, other: usize| {
        let warps = roles.chunks(32).filter(|warp| warp.iter().any(|(_, elected)| elected.is_some()));
        other > 0 && !has_parts && warps.into_iter().all(|warp| warp.get(lane) == warp.get(other))
    };
    let mut found: Vec<usize> = Vec::new();
    for lane in 0..32 {
        if !found.iter().any(|other| is_alike(lane, *other)) {
            found.push(lane);
        }
    }
    found
}

/// The value of a special register: of blocks nothing is known.
fn special(value: SpecialValue, thread: u32, id: [u32; 3]) -> Value {
    match value {
        SpecialValue::Thread(_) | SpecialValue::Lane | SpecialValue::LaneMask(_) => {
            Value::constant(value.of(thread, id, [0; 3]))
        }
        _ => Value::Unknown,
    }
}

/// Where jumps back lead.
fn heads(program: &Program) -> BTreeSet<u32> {
    let target = |(at, code): (u32, &Code)| match code {
        Code::Jump(to) | Code::JumpIf { to, .. } if *to <= at => Some(*to),
        _ => None,
    };
    (0..).zip(&program.code).filter_map(target).collect()
}
