//! The threads of a block together, for every number of rounds.
//!
//! Input: the [`Part`]s of what each thread does, and the most rounds. Output: what fails. Establishes: for each number of rounds the obligations of
//! [`super::block`] hold in one schedule, and so in all.
//! How: a schedule in which no thread begins a round before all others have come as far in the one before as they can. Then stands a *cut*: each
//! thread has ended its rounds so far, or waits in one of them for what others do in the next (where a loop was peeled). What the
//! threads know at two cuts that follow each other is compared: each number either has grown by as much as its unit has
//! counted in the round (it is *recent*), or has not grown at all (it is *old*). If each recent number is above all old ones of its
//! unit, and objects have had an even number of phases, all that the next round compares are numbers of one unit,
//! with the same answers: two recent or two old ones as before, a recent one and an old one because recent ones only grow. So the
//! next round does what this one did, comes to a cut that differs in the same way, and so on. At each cut up to the first one of these, the threads are
//! also run to their ends, without further rounds. Threads that have no rounds run as far as they can.
//! Relies on: [`super::block`] decides by comparisons within one unit, by the parity of phases, and by what is equal at both cuts.

use super::block::{Block, Clock, Status};
use super::event::{Action, Event, Part, Refusal, Why};
use std::collections::BTreeSet;

/// Cuts at which states are compared.
const CUTS: usize = 8;

/// What one thread does: before its rounds, in one of them, and behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) before: Vec<Event>,
    pub(super) round: Option<Vec<Event>>,
    pub(super) behind: Vec<Event>,
}

impl Role {
    /// Loops without events do not matter. Where as many rounds of the same follow each other twice, there are as many of twice that: what is between is
    /// turns, too, or parts of one, and stands behind them then.
    pub(super) fn new(parts: Vec<Part>) -> Result<Role, Refusal> {
        let mut role = Role { before: Vec::new(), round: None, behind: Vec::new() };
        let mut turn: Vec<Event> = Vec::new();
        for part in parts {
            match (part, &mut role.round) {
                (Part::Rounds(events), _) if events.is_empty() => {}
                (Part::Rounds(events), None) => {
                    turn.clone_from(&events);
                    role.round = Some(events);
                }
                (Part::Rounds(events), Some(round)) => {
                    let all = role.behind.iter().chain(&events);
                    let is_more =
                        events.len() == turn.len() && all.eq(turn.iter().cycle().take(role.behind.len() + turn.len()));
                    if !is_more {
                        let code = events.first().map_or(0, |event| event.code);
                        return Err(Refusal { code, why: Why::Loops });
                    }
                    round.extend_from_slice(&turn);
                }
                (Part::Once(events), None) => role.before.extend(events),
                (Part::Once(events), Some(_)) => role.behind.extend(events),
            }
        }
        Ok(role)
    }

    /// What is done before the thread goes beyond so many rounds; all of it if it has none.
    fn up_to(&self, rounds: usize) -> Vec<Event> {
        match &self.round {
            Some(round) => [self.before.clone(), round.repeat(rounds)].concat(),
            None => self.before.clone(),
        }
    }

    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.before.iter().chain(self.round.iter().flatten()).chain(&self.behind)
    }
}

/// A number of a state, and its unit.
type Item = (u32, u32);

/// What is known at a cut: what has to be equal, numbers, and how much each unit has counted.
struct Cut {
    equal: Vec<u64>,
    numbers: Vec<Item>,
    counts: Clock,
}

/// Shows the obligations for every number of rounds up to one; whether that rests on order in time.
pub(super) fn check(roles: &[Role], most: i128) -> Result<bool, Refusal> {
    let initialised = |event: &Event| match event.action {
        Action::Initialise { at, .. } => Some(at),
        _ => None,
    };
    let objects: BTreeSet<u32> = roles.iter().flat_map(Role::events).filter_map(initialised).collect();
    let is_together = |event: &Event| {
        use Action::{Product, ProductCommit, ProductWait, Together};
        matches!(event.action, Product { .. } | ProductCommit | ProductWait { .. } | Together)
    };
    let has_products = roles.iter().flat_map(Role::events).any(is_together);
    let start = Block::new(roles.len() as u32, objects.into_iter(), has_products);
    every(&start, roles, most)?;
    Ok(start.in_time.get())
}

fn every(start: &Block, roles: &[Role], most: i128) -> Result<(), Refusal> {
    let mut block = start.clone();
    let mut before: Option<Cut> = None;
    for cut in 0..CUTS {
        let most_so_far: Vec<Vec<Event>> = roles.iter().map(|role| role.up_to(cut)).collect();
        block.run(|thread| &most_so_far[thread as usize], |thread| roles[thread as usize].round.is_none())?;
        run_to_the_end(block.clone(), roles, &most_so_far)?;
        let now = state(&block, &most_so_far);
        let has_rounds = roles.iter().any(|role| role.round.is_some());
        if !has_rounds || cut as i128 >= most || before.is_some_and(|before| is_repeated(&block, &before, &now)) {
            return Ok(());
        }
        before = Some(now);
    }
    let code = roles.iter().find_map(|role| role.round.as_ref()?.first()).map_or(0, |event| event.code);
    Err(Refusal { code, why: Why::Drift })
}

/// Runs all threads from a cut to their ends, as if there were no further rounds.
fn run_to_the_end(mut block: Block, roles: &[Role], so_far: &[Vec<Event>]) -> Result<(), Refusal> {
    let whole = |(role, so_far): (&Role, &Vec<Event>)| [&so_far[..], &role.behind[..]].concat();
    let all: Vec<Vec<Event>> = roles.iter().zip(so_far).map(whole).collect();
    block.run(|thread| &all[thread as usize], |_| true)?;
    block.finish()
}

/// All that a block is at a cut.
fn state(block: &Block, so_far: &[Vec<Event>]) -> Cut {
    let (mut equal, mut numbers) = (Vec::new(), Vec::new());
    let all = |numbers: &mut Vec<Item>, clock: &Clock| numbers.extend((0..).zip(clock.iter().copied()));
    for known in &block.known {
        [&known.order, &known.fenced, &known.time, &known.at_fence]
            .into_iter()
            .for_each(|clock| all(&mut numbers, clock));
    }
    for (thread, status) in block.status.iter().enumerate() {
        let code = block.at[thread].map_or(0, |event| event.code);
        let left = (so_far[thread].len() - block.position[thread]) as u64;
        equal.extend([left, u64::from(code)]);
        equal.extend(match *status {
            Status::Runs => [0, 0],
            Status::Lanes => [1, 0],
            Status::Barrier => [2, 0],
            Status::Object { at, phases } => {
                numbers.push((block.objects.get(&at).map_or(0, |object| object.unit), phases));
                [3, u64::from(at)]
            }
            Status::Exited => [4, 0],
            Status::Products { last } => {
                numbers.push((block.groups[thread / 128].unit, last));
                [5, 0]
            }
        });
    }
    for (at, object) in &block.objects {
        let (by, time) = object.by;
        equal.extend([*at, object.count, object.pending, by].map(u64::from));
        equal.extend([object.bytes as u64, object.came.len() as u64, object.waited.len() as u64]);
        numbers.extend([(object.unit, object.phase), (by, time)]);
        for (thread, clocks) in &object.came {
            equal.push(u64::from(*thread));
            clocks.iter().for_each(|clock| all(&mut numbers, clock));
        }
        object.open.iter().chain(&object.complete).for_each(|clock| all(&mut numbers, clock));
        for waited in &object.waited {
            equal.extend([waited.thread, waited.behind].map(u64::from));
            numbers.extend([(waited.thread, waited.time), (object.unit, waited.phases)]);
        }
        equal.push(u64::from(object.brought.is_some()));
        numbers.extend(object.brought.map(|(phase, _)| (object.unit, phase)));
    }
    for (unit, barrier) in (block.threads..).zip(&block.barriers) {
        numbers.push((unit, barrier.generation));
        equal.extend([barrier.warps.len() as u64, barrier.waiting.len() as u64]);
        equal.push(barrier.count.map_or(0, |count| u64::from(count) + 1));
        equal.extend(barrier.warps.iter().chain(&barrier.waiting).map(|one| u64::from(*one)));
        barrier.open.iter().for_each(|clock| all(&mut numbers, clock));
    }
    for group in &block.groups {
        equal.push(group.ahead.len() as u64);
        equal.extend(group.ahead.iter().map(|code| u64::from(*code)));
        for thread in group.threads.clone() {
            let products = &block.products[thread];
            equal.extend([u64::from(products.done - group.done), products.groups.len() as u64]);
            numbers.push((group.unit, products.started));
            numbers.extend(products.groups.iter().map(|number| (group.unit, *number)));
        }
        equal.push(group.times.len() as u64);
        numbers.push((group.unit, group.first));
        for times in &group.times {
            numbers.extend(group.threads.clone().zip(times).map(|(thread, time)| (thread as u32, *time)));
        }
    }
    for (number, cell) in &block.cells {
        equal.extend([u64::from(*number), u64::from(cell.write.is_some()), cell.reads.len() as u64]);
        for stamp in cell.write.iter().chain(&cell.reads) {
            equal.extend([u64::from(stamp.unit), u64::from(stamp.is_async)]);
            numbers.push((stamp.unit, stamp.time));
        }
    }
    Cut { equal, numbers, counts: block.counts() }
}

/// Whether all further rounds do what the one between two cuts did.
fn is_repeated(block: &Block, before: &Cut, now: &Cut) -> bool {
    if before.equal != now.equal || before.numbers.len() != now.numbers.len() {
        return false;
    }
    let grown: Vec<u32> = before.counts.iter().zip(&now.counts).map(|(before, now)| now - before).collect();
    if block.object_units().any(|unit| !grown[unit as usize].is_multiple_of(2)) {
        return false;
    }
    // Of each unit the least recent number and the greatest old one, at the first cut.
    let mut least_recent = vec![u32::MAX; grown.len()];
    let mut greatest_old = vec![0; grown.len()];
    for ((unit, before), (same, now)) in before.numbers.iter().zip(&now.numbers) {
        let unit = *unit as usize;
        if unit != *same as usize {
            return false;
        }
        match now.checked_sub(*before) {
            Some(0) => greatest_old[unit] = greatest_old[unit].max(*before),
            Some(by) if by == grown[unit] => least_recent[unit] = least_recent[unit].min(*before),
            _ => return false,
        }
    }
    (0..grown.len()).all(|unit| grown[unit] == 0 || least_recent[unit] > greatest_old[unit])
}
