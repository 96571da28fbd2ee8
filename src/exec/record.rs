//! The steps of watched threads with the registers that they change.
//!
//! Input: a launch that shows a defect, the threads of it. Output: a [`Recording`]. Establishes: threads run in the order in
//! which they run without a recording, and get the same values; the steps of a thread begin at its last barrier before the
//! defect, or so many steps before it, and what its registers held there is known. Relies on: as [`super::trace`].
//! Reference: none.

use super::decode::{Code, NamedSlot, Program, Written};
use super::thread::{Status, Thread};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Steps of a thread that are remembered while it runs, and that are shown.
const REMEMBERED: usize = 1 << 15;
const SHOWN: usize = 1000;

/// Values of registers, by their numbers among the names.
pub(crate) type Registers = BTreeMap<usize, u64>;

/// An instruction that a watched thread executed.
#[derive(Clone, Debug)]
pub(crate) struct Executed {
    /// In the order of the execution, over all threads.
    pub(crate) time: u64,
    pub(crate) code: u32,
    /// What changed until the thread's next step: a barrier or an operation of the warp hands over results later.
    pub(crate) changed: Registers,
    /// What others see of it: indices into the events of the watch.
    pub(crate) events: Range<usize>,
    /// It was not executed, for its guard was false.
    pub(crate) skipped: bool,
}

/// A watched thread.
#[derive(Debug, Default)]
pub(crate) struct Track {
    /// What its registers held before the first step that is remembered.
    pub(crate) before: Registers,
    pub(crate) steps: VecDeque<Executed>,
    /// What they hold now.
    now: Vec<u64>,
    /// Behind the last instruction, in the program.
    next: u32,
    /// Whether the guard of the instruction at hand is false.
    skips: bool,
}

/// Where a thread of the block is at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Number in the launch.
    pub(crate) thread: u32,
    /// The instruction at which it waits or that it executed last.
    pub(crate) code: u32,
    pub(crate) state: State,
}

/// What such a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waits,
    Exited,
    /// It could go on.
    Runs,
}

/// What watched threads do.
#[derive(Debug)]
pub(crate) struct Recording {
    threads: Vec<u32>,
    pub(crate) names: Vec<NamedSlot>,
    written: Written,
    /// One a thread.
    pub(crate) tracks: Vec<Track>,
    time: u64,
    /// The block of the first thread when the run ended.
    pub(crate) standing: Vec<Standing>,
}

impl Recording {
    /// Before the first step.
    pub(crate) fn new(threads: Vec<u32>, names: Vec<NamedSlot>, written: Written) -> Recording {
        let tracks = threads.iter().map(|_| Track::default()).collect();
        Recording { threads, names, written, tracks, time: 0, standing: Vec::new() }
    }

    /// Which of the watched threads this is.
    pub(crate) fn index(&self, thread: u32) -> Option<usize> {
        self.threads.iter().position(|watched| *watched == thread)
    }

    /// A watched thread is about to execute the instruction at `code`.
    pub(crate) fn before(&mut self, index: usize, (program, code): (&Program, u32), registers: &[u64]) {
        let Recording { names, tracks, .. } = self;
        let track = &mut tracks[index];
        if track.now.is_empty() {
            // What registers hold at first is nothing to tell.
            track.now = names.iter().map(|name| registers[usize::from(name.slot)]).collect();
        }
        let changed = track.changes(names, registers);
        if let Some(last) = track.steps.back_mut() {
            last.changed.extend(changed);
        }
        let is_branch = || program.origins[code as usize].text.starts_with("bra");
        track.skips = match program.code[code as usize] {
            Code::Skip { p, when } => (registers[usize::from(p)] & 1 == 1) == when,
            Code::JumpIf { p, when, .. } if !is_branch() => (registers[usize::from(p)] & 1 == 1) == when,
            _ => false,
        };
    }

    /// It has executed the instruction at `code`, and is behind it now.
    pub(crate) fn after(
        &mut self,
        index: usize,
        (program, code, next): (&Program, u32, u32),
        registers: &[u64],
        events: Range<usize>,
    ) {
        let Recording { names, written, tracks, time, .. } = self;
        let track = &mut tracks[index];
        let mut changed = track.changes(names, registers);
        // What is written is shown, also where the value was the same before. A call has its results when it returns.
        if !track.skips && !matches!(program.code[code as usize], Code::Call { .. }) {
            let targets = written.get(&program.origins[code as usize].span.start).into_iter().flatten();
            changed.extend(targets.filter_map(|target| Some((*target, *track.now.get(*target)?))));
        }
        // An instruction of the PTX may take several here.
        let origin = |code: u32| &program.origins[code as usize];
        let is_same =
            |last: &Executed| code == track.next && code > last.code && Arc::ptr_eq(origin(last.code), origin(code));
        if track.steps.back().is_some_and(is_same) {
            if let Some(last) = track.steps.back_mut() {
                last.changed.extend(changed);
                last.events = if last.events.is_empty() { events } else { last.events.start..events.end };
            }
        } else {
            *time += 1;
            track.steps.push_back(Executed { time: *time, code, changed, events, skipped: track.skips });
        }
        track.next = next;
        if track.steps.len() > REMEMBERED {
            track.forget_first();
        }
    }

    /// The run has ended, and these are the threads of a block.
    pub(crate) fn ended(&mut self, threads: &[Thread]) {
        let is_watched = |thread: &Thread| self.threads.first() == Some(&thread.number);
        if !self.standing.is_empty() || !threads.iter().any(is_watched) {
            return;
        }
        let standing = |thread: &Thread| Standing {
            thread: thread.number,
            code: thread.last(),
            state: match thread.status {
                Status::Running => State::Runs,
                Status::Barrier { .. }
                | Status::Warp { .. }
                | Status::Object { .. }
                | Status::Products { .. }
                | Status::Cluster => State::Waits,
                Status::Exited => State::Exited,
            },
        };
        self.standing = threads.iter().map(standing).collect();
    }
}

impl Track {
    /// What differs from before.
    fn changes(&mut self, names: &[NamedSlot], registers: &[u64]) -> Registers {
        let mut changed = Registers::new();
        for (number, name) in names.iter().enumerate() {
            let value = registers[usize::from(name.slot)];
            if self.now[number] != value {
                self.now[number] = value;
                changed.insert(number, value);
            }
        }
        changed
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.steps.pop_front() {
            self.before.extend(first.changed);
        }
    }

    /// Leaves what is shown: up to the step with this event (the last one without), from the last barrier before it on.
    /// `None` if that step is forgotten.
    pub(crate) fn cut(mut self, program: &Program, end: Option<usize>) -> Option<Track> {
        let last = match end {
            Some(event) => self.steps.iter().rposition(|step| step.events.contains(&event))?,
            None => self.steps.len().checked_sub(1)?,
        };
        self.steps.truncate(last + 1);
        let is_barrier = |step: &Executed| {
            let mut codes = program.code[step.code as usize..].iter();
            let code = codes.next();
            let code = if matches!(code, Some(Code::Skip { .. })) { codes.next() } else { code };
            !step.skipped && matches!(code, Some(Code::Barrier(_)))
        };
        let barrier = self.steps.iter().take(last).rposition(is_barrier).unwrap_or(0);
        for _ in 0..barrier.max((last + 1).saturating_sub(SHOWN)) {
            self.forget_first();
        }
        Some(self)
    }
}
