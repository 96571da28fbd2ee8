//! The threads of a block together, for every number of rounds.
//!
//! Input: the [`Part`]s of what each thread does, and the most rounds. Output: what fails. Establishes: for each number of rounds the obligations of
//! [`super::block`] hold in one schedule, and so in all.
//! How: a schedule in which no thread begins a round before all others have ended the one before. Between two rounds stands a *cut*. What the
//! threads know at two cuts that follow each other is compared: each number either has grown by as much as its unit has
//! counted in the round (it is *recent*), or has not grown at all (it is *old*). If each recent number is above all old ones of its
//! unit, and objects have had an even number of phases, all that the next round compares are numbers of one unit,
//! with the same answers: two recent or two old ones as before, a recent one and an old one because recent ones only grow. So the
//! next round does what this one did, comes to a cut that differs in the same way, and so on. At each cut up to the first one of these, the threads are
//! also run to their ends. Threads that have no rounds run as far as they can. Where threads are some rounds ahead of others (a loop that was
//! peeled), the cut is where each has done its rounds that are ahead; fewer rounds than those are run as they are.
//! Relies on: [`super::block`] decides by comparisons within one unit, by the parity of phases, and by what is equal at both cuts.

use super::block::{Block, Clock, Status};
use super::event::{Action, Event, Part, Refusal, Why};
use std::collections::BTreeSet;

/// Cuts, and rounds that a thread may be ahead of another one.
const CUTS: usize = 8;
const AHEAD: usize = 4;

/// What one thread does: before its rounds, in one of them, and behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) before: Vec<Event>,
    pub(super) round: Option<Vec<Event>>,
    pub(super) behind: Vec<Event>,
}

impl Role {
    /// Loops without events do not matter.
    pub(super) fn new(parts: Vec<Part>) -> Result<Role, Refusal> {
        let mut role = Role { before: Vec::new(), round: None, behind: Vec::new() };
        for part in parts {
            match part {
                Part::Rounds(events) if events.is_empty() => {}
                Part::Rounds(events) => {
                    let code = events.first().map_or(0, |event| event.code);
                    if role.round.replace(events).is_some() {
                        return Err(Refusal { code, why: Why::Loops });
                    }
                }
                Part::Once(events) if role.round.is_none() => role.before.extend(events),
                Part::Once(events) => role.behind.extend(events),
            }
        }
        Ok(role)
    }

    /// All events, with so many rounds.
    fn whole(&self, rounds: usize) -> Vec<Event> {
        [self.before.clone(), self.rest(rounds)].concat()
    }

    /// So many rounds and what is behind.
    fn rest(&self, rounds: usize) -> Vec<Event> {
        let round = self.round.as_deref().unwrap_or_default();
        [round.repeat(rounds), self.behind.clone()].concat()
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
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

/// Shows the obligations for every number of rounds up to one.
pub(super) fn check(roles: &[Role], most: i128) -> Result<(), Refusal> {
    let initialised = |event: &Event| match event.action {
        Action::Initialise { at, .. } => Some(at),
        _ => None,
    };
    let objects: BTreeSet<u32> = roles.iter().flat_map(Role::events).filter_map(initialised).collect();
    let start = Block::new(roles.len() as u32, objects.into_iter());
    let fewest = |rounds: usize| run_whole(start.clone(), roles, rounds);
    if most == 0 || roles.iter().all(|role| role.round.is_none()) {
        return fewest(0);
    }
    let (mut block, ahead) = match to_first_cut(start.clone(), roles) {
        Ok(found) => found,
        // Why not, a run says best.
        Err(refusal) => return (0..AHEAD).try_for_each(fewest).and(Err(refusal)),
    };
    let furthest = ahead.iter().copied().max().unwrap_or(0);
    (0..furthest).take_while(|rounds| *rounds as i128 <= most).try_for_each(fewest)?;
    if furthest as i128 > most {
        return Ok(());
    }
    let tails: Vec<Vec<Event>> = roles.iter().zip(&ahead).map(|(role, ahead)| role.rest(furthest - ahead)).collect();
    let mut before: Option<Cut> = None;
    for cut in 0..CUTS {
        run_tails(block.clone(), roles, &tails)?;
        let now = state(&block, roles);
        if (furthest + cut) as i128 >= most || before.is_some_and(|before| is_repeated(&block, &before, &now)) {
            return Ok(());
        }
        before = Some(now);
        one_round(&mut block, roles)?;
    }
    let code = roles.iter().find_map(|role| role.round.as_ref()?.first()).map_or(0, |event| event.code);
    Err(Refusal { code, why: Why::Drift })
}

/// Runs all threads to their ends.
fn run_whole(mut block: Block, roles: &[Role], rounds: usize) -> Result<(), Refusal> {
    let all: Vec<Vec<Event>> = roles.iter().map(|role| role.whole(rounds)).collect();
    block.run(|thread| &all[thread as usize], |_| true)?;
    block.finish()
}

/// The same from a cut on.
fn run_tails(mut block: Block, roles: &[Role], tails: &[Vec<Event>]) -> Result<(), Refusal> {
    for thread in threads_with_rounds(roles) {
        block.position[thread] = 0;
    }
    let of = |thread: u32| match &roles[thread as usize] {
        role if role.round.is_none() => &role.before[..],
        _ => &tails[thread as usize][..],
    };
    block.run(of, |_| true)?;
    block.finish()
}

fn threads_with_rounds(roles: &[Role]) -> impl Iterator<Item = usize> + '_ {
    (0..roles.len()).filter(|thread| roles[*thread].round.is_some())
}

/// Whether a thread is at a cut.
fn is_at_end(block: &Block, thread: usize, events: &[Event]) -> bool {
    block.status[thread] == Status::Runs && block.position[thread] == events.len()
}

/// Runs the threads up to their rounds; some have to go rounds ahead, so that others get there: how many.
fn to_first_cut(mut block: Block, roles: &[Role]) -> Result<(Block, Vec<usize>), Refusal> {
    let mut ahead = vec![0; roles.len()];
    loop {
        let of = |thread: u32| {
            let role = &roles[thread as usize];
            match &role.round {
                Some(round) if ahead[thread as usize] > 0 => &round[..],
                _ => &role.before[..],
            }
        };
        block.run(of, |thread| roles[thread as usize].round.is_none())?;
        let at_end: Vec<usize> =
            threads_with_rounds(roles).filter(|thread| is_at_end(&block, *thread, of(*thread as u32))).collect();
        let Some(stuck) = threads_with_rounds(roles).find(|thread| !at_end.contains(thread)) else {
            return Ok((block, ahead));
        };
        // Those that are least ahead go on first.
        let Some(least) = at_end.iter().map(|thread| ahead[*thread]).min().filter(|least| *least < AHEAD) else {
            return Err(stuck_at(&block, stuck));
        };
        for thread in at_end.into_iter().filter(|thread| ahead[*thread] == least).collect::<Vec<_>>() {
            ahead[thread] += 1;
            block.position[thread] = 0;
        }
    }
}

fn stuck_at(block: &Block, thread: usize) -> Refusal {
    Refusal { code: block.at[thread].map_or(0, |event| event.code), why: Why::Stuck }
}

/// From a cut to the next one.
fn one_round(block: &mut Block, roles: &[Role]) -> Result<(), Refusal> {
    for thread in threads_with_rounds(roles) {
        block.position[thread] = 0;
    }
    let of = |thread: u32| {
        let role = &roles[thread as usize];
        role.round.as_deref().unwrap_or(&role.before)
    };
    block.run(of, |thread| roles[thread as usize].round.is_none())?;
    let stuck = threads_with_rounds(roles).find(|thread| !is_at_end(block, *thread, of(*thread as u32)));
    stuck.map_or(Ok(()), |thread| Err(stuck_at(block, thread)))
}

/// All that a block is at a cut.
fn state(block: &Block, roles: &[Role]) -> Cut {
    let (mut equal, mut numbers) = (Vec::new(), Vec::new());
    let all = |numbers: &mut Vec<Item>, clock: &Clock| numbers.extend((0..).zip(clock.iter().copied()));
    for known in &block.known {
        [&known.order, &known.fenced, &known.at_fence].into_iter().for_each(|clock| all(&mut numbers, clock));
    }
    for (thread, status) in block.status.iter().enumerate() {
        let code = block.at[thread].map_or(0, |event| event.code);
        let position = if roles[thread].round.is_some() { 0 } else { block.position[thread] as u64 };
        equal.extend([position, u64::from(code)]);
        equal.extend(match *status {
            Status::Runs => [0, 0],
            Status::Lanes => [1, 0],
            Status::Barrier => [2, 0],
            Status::Object { at, phases } => {
                numbers.push((block.objects.get(&at).map_or(0, |object| object.unit), phases));
                [3, u64::from(at)]
            }
            Status::Exited => [4, 0],
        });
    }
    for (at, object) in &block.objects {
        let (by, time) = object.by;
        equal.extend([*at, object.count, object.pending, by].map(u64::from));
        equal.extend([object.bytes as u64, object.came.len() as u64, object.waited.len() as u64]);
        numbers.extend([(object.unit, object.phase), (by, time)]);
        for (thread, clock) in &object.came {
            equal.push(u64::from(*thread));
            all(&mut numbers, clock);
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
