//! Classes of trip counts, and of blocks.
//!
//! Input: a kernel, and the word of its parameters that says the trip count. Output: [`Shown`]. Establishes: what [`super`] says, for each value of that
//! word and each block. Relies on: [`super::thread`] and [`super::rounds`] decide one class. Reference: phases-notes.

use super::event::{Action, Refusal, Why};
use super::rounds::{self, Role};
use super::terms::{Term, Terms};
use super::thread::{Arrays, Class, Follower, Kernel, Scale, Who};
use super::value::Value;
use crate::effort::{self, Effort};
use crate::exec::decode::{Slot, SpecialValue, WarpKind};
use crate::geometry::index_of;
use crate::limits;
use crate::sync::tell;
use std::cell::{Cell, OnceCell, RefCell};
use std::iter;

/// For which trip counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    All,
    UpTo(i128),
}

/// Periods that are tried.
const PERIODS: [i128; 9] = [2, 4, 6, 8, 10, 12, 14, 16, 1];

/// Units of trip counts that are tried, rounded up and down.
const UNITS: [i128; 9] = [512, 256, 128, 64, 32, 16, 8, 4, 2];

/// Rounds that come before others, in periods.
const BEFORE: i128 = 3;

/// Trip counts with which it is looked for defects first.
const FIRST: i128 = 6;

/// The largest trip counts that are tried: larger ones may wrap around in a loop, or where it is asked whether some rounds are left.
const LARGEST: [i128; 3] = [u32::MAX as i128, i32::MAX as i128, 1 << 30];

/// Conditions that are the same for all threads of a block, at once.
const CONDITIONS: usize = 6;

/// What it costs to follow a thread.
const THREAD: Effort = Effort::nanoseconds(100_000);

/// What was shown.
pub(super) struct Shown {
    pub(super) counts: Counts,
    /// One of the classes that it was shown for.
    pub(super) class: Class,
    /// What the threads do in that class.
    pub(super) roles: Vec<Role>,
    pub(super) assumptions: Vec<String>,
}

/// The threads of all blocks.
pub(super) struct All<'a> {
    block: [u32; 3],
    kernel: &'a Kernel<'a>,
    /// What says the trip count, a [`super::terms::Term`].
    count: Option<u32>,
    /// Arrays that blocks write or copy.
    arrays: RefCell<Arrays>,
    /// Whether it is shown where the word of the trip count is negative.
    has_negative: OnceCell<bool>,
    /// Whether lanes are elected.
    elects: Cell<bool>,
    /// Whether something rests on order in time.
    in_time: Cell<bool>,
}

/// What a thread does; and what it does where it is elected, if that was asked.
type Roles = (Role, Option<Role>);

impl<'a> All<'a> {
    pub(super) fn new(block: [u32; 3], kernel: &'a Kernel<'a>, count: Option<u32>) -> All<'a> {
        let (elects, in_time) = (Cell::new(false), Cell::new(false));
        All { block, kernel, count, arrays: RefCell::default(), has_negative: OnceCell::new(), elects, in_time }
    }

    /// All trip counts.
    pub(super) fn for_every(&self) -> Result<Shown, Refusal> {
        let shown = self.scales()?;
        Ok(Shown { assumptions: self.assumptions(), ..shown })
    }

    fn scales(&self) -> Result<Shown, Refusal> {
        // If that is not shown, something else decides.
        let class = self.one(0, Scale::ONE);
        let roles = self.class(class)?;
        if self.count.is_none() {
            return Ok(Shown { counts: Counts::All, class, roles, assumptions: Vec::new() });
        }
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
        Class { count: self.count, scale, start, period: 1, most: 0 }
    }

    /// All trip counts that a parameter says in a way.
    fn scaled(&self, scale: Scale) -> Result<Shown, Refusal> {
        (0..FIRST).try_for_each(|number| self.class(self.one(number, scale)).map(drop))?;
        // Where it is a number with a sign, the larger half of them is negative.
        let start = LARGEST[1] + 1;
        let negative = Class { count: self.count, scale: Scale::ONE, start, period: 1, most: LARGEST[1] };
        let has_negative = *self.has_negative.get_or_init(|| self.class(negative).is_ok());
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
                Class { count: self.count, scale, start, period, most: (largest - start) / period }
            };
            let roles = match self.class(class(0)) {
                Ok(roles) => roles,
                Err(refusal) => {
                    let why = super::reason(self.kernel.program, &refusal);
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

    /// Shows it for a class of trip counts: what the threads do. Where a condition decides that is the same for all threads of a block,
    /// it is shown for blocks where it holds, and for those where it does not.
    fn class(&self, class: Class) -> Result<Vec<Role>, Refusal> {
        let terms = &self.kernel.terms;
        match self.supposing(class) {
            Err(Refusal { code, why: Why::Condition(_) }) if terms.borrow().suppositions() >= CONDITIONS => {
                Err(Refusal { code, why: Why::Control })
            }
            Err(Refusal { why: Why::Condition(condition), .. }) => {
                let under = |holds: bool| {
                    terms.borrow_mut().suppose(condition, holds);
                    let shown = self.class(class);
                    terms.borrow_mut().no_longer_suppose(condition);
                    shown
                };
                let holds = under(true);
                if self.count.is_some() && holds.is_err() {
                    return holds;
                }
                // Without a trip count both are looked at, for the words that loops ask for.
                let does_not = under(false);
                // What is done with rounds is told.
                let (holds, does_not) = (holds?, does_not?);
                let has_rounds = |roles: &[Role]| roles.iter().any(|role| role.round.is_some());
                Ok(if has_rounds(&holds) { holds } else { does_not })
            }
            shown => shown,
        }
    }

    /// The same for what is supposed, and each lane that may be elected.
    fn supposing(&self, class: Class) -> Result<Vec<Role>, Refusal> {
        let block = self.block;
        let threads = block.iter().product::<u32>();
        let mut arrays = self.arrays.borrow_mut();
        let mut roles = Vec::new();
        for thread in 0..threads {
            limits::check();
            effort::spend(THREAD);
            let id = index_of(thread, block);
            let specials = self.kernel.program.specials.iter();
            let specials: Vec<(Slot, Value)> =
                specials.map(|one| (one.slot, special(one.value, &self.kernel.terms, (thread, id)))).collect();
            let mut follow = |is_elected: bool| {
                let who = Who { specials: &specials, is_elected };
                let (parts, elects) = Follower::follow(self.kernel, class, who, &mut arrays)?;
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

/// The value of a special register: of the number of the block nothing is known, but that it is one.
fn special(value: SpecialValue, terms: &RefCell<Terms>, (thread, id): (u32, [u32; 3])) -> Value {
    match value {
        SpecialValue::Thread(_) | SpecialValue::Lane | SpecialValue::LaneMask(_) => {
            Value::constant(value.of(thread, id, [0; 3]))
        }
        SpecialValue::Block(axis) => Value::Term(terms.borrow_mut().number(Term::Block(axis))),
        _ => Value::Unknown,
    }
}
