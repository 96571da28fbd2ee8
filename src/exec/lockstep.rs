//! Warps in lock-step: the threads of a warp execute each instruction together.
//!
//! A stack of groups, as in hardware before Volta: a branch whose threads disagree pushes a group for
//! each target, and the groups meet again at the branch's immediate post-dominator. Where the groups on
//! top all wait, those below go on, as hardware since Volta guarantees.
//! With `warp_lockstep`, an access is ordered after what its group did before (the paper's `endi`).
//! Reference: the BARRACUDA paper, rules IF, ELSEENDIF and ENDINSN.

use super::block::{BlockState, join};
use super::decode::{Code, Program};
use super::launch::{Launch, Schedule};
use super::machine::settle;
use super::thread::{Status, Thread};
use super::world::World;

/// Threads that execute together.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Lanes.
    lanes: u32,
    /// Where they meet those of the group below.
    meet: u32,
}

/// The groups of each warp of a block, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Warps {
    groups: Vec<Vec<Group>>,
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

impl Warps {
    /// All warps before their first instruction.
    pub(crate) fn start(&mut self, size: u32) {
        self.groups.clear();
        for warp in 0..size.div_ceil(32) {
            let count = (size - warp * 32).min(32);
            let lanes = (1u64 << count) - 1;
            self.groups.push(vec![Group { lanes: lanes as u32, meet: u32::MAX }]);
        }
    }

    /// Runs a warp for its turn; whether it could go on.
    pub(crate) fn turn(
        &mut self,
        program: &Program,
        world: &mut World,
        (state, threads): (&mut BlockState, &mut [Thread]),
        warp: usize,
        most: u64,
        launch: &Launch,
    ) -> bool {
        for _ in 0..most {
            let groups = &mut self.groups[warp];
            let Some((position, active)) = choose(groups, threads, warp * 32) else { return false };
            let at = threads[warp * 32 + active.trailing_zeros() as usize].next;
            if launch.rules.warp_lockstep && world.races && is_access(program, at) {
                order(world, threads, warp, active);
            }
            for lane in lanes(active) {
                let index = warp * 32 + lane;
                world.outcome.instructions += threads[index].run(program, world, state, 1);
                let status = threads[index].status;
                settle(program, world, state, threads, index, status);
                if world.halted {
                    return false;
                }
            }
            let taken_first = launch.schedule == Schedule::LockstepTaken;
            let parted = split(
                groups,
                position,
                active,
                threads,
                warp * 32,
                (at, program.reconvergence[at as usize]),
                taken_first,
            );
            if parted && launch.rules.warp_lockstep && world.races {
                order(world, threads, warp, active);
            }
        }
        true
    }
}

fn is_access(program: &Program, at: u32) -> bool {
    let is = |code: Code| {
        matches!(
            code,
            Code::Load(_)
                | Code::Store(_)
                | Code::Atomic(_)
                | Code::AsyncRead(_)
                | Code::AsyncWrite(_)
                | Code::BulkWrite(_)
                | Code::Map(_)
                | Code::Product(_)
                | Code::TensorRead(_)
                | Code::Tensor(_)
        )
    };
    match program.code[at as usize] {
        Code::Skip { .. } => is(program.code[at as usize + 1]),
        code => is(code),
    }
}

/// What the threads of a group did is before what they do next.
fn order(world: &World, threads: &mut [Thread], warp: usize, active: u32) {
    let members: Vec<u32> = lanes(active).map(|lane| (warp * 32 + lane) as u32).collect();
    join(world, threads, &members);
}

/// The innermost group with threads that can go on, and those of them at one instruction.
fn choose(groups: &mut Vec<Group>, threads: &[Thread], first: usize) -> Option<(usize, u32)> {
    let status = |lane: usize| threads[first + lane].status;
    let mut inner = 0;
    let mut position = groups.len();
    while position > 0 {
        position -= 1;
        let Group { lanes: all, meet } = groups[position];
        let live = lanes(all).filter(|lane| status(*lane) != Status::Exited).fold(0u32, |all, lane| all | 1 << lane);
        // Those that have met the group below belong to it again.
        let away =
            lanes(live).filter(|lane| threads[first + lane].next != meet).fold(0u32, |all, lane| all | 1 << lane);
        groups[position].lanes = away;
        if away == 0 && position > 0 {
            groups.remove(position);
            continue;
        }
        let free = away & !inner;
        let running: Vec<usize> = lanes(free).filter(|lane| status(*lane) == Status::Running).collect();
        if let Some(next) = running.iter().map(|lane| threads[first + lane].next).min() {
            let here = running.iter().filter(|lane| threads[first + **lane].next == next);
            return Some((position, here.fold(0u32, |all, lane| all | 1 << lane)));
        }
        inner |= away;
    }
    None
}

/// Groups for the targets of a branch; whether its threads disagree.
fn split(
    groups: &mut Vec<Group>,
    position: usize,
    active: u32,
    threads: &[Thread],
    first: usize,
    (at, meet): (u32, u32),
    taken_first: bool,
) -> bool {
    let mut targets: Vec<(u32, u32)> = Vec::new();
    for lane in lanes(active).filter(|lane| threads[first + lane].status == Status::Running) {
        let next = threads[first + lane].next;
        match targets.iter_mut().find(|(target, _)| *target == next) {
            Some((_, lanes)) => *lanes |= 1 << lane,
            None => targets.push((next, 1 << lane)),
        }
    }
    if targets.len() < 2 {
        return false;
    }
    // The last group runs first.
    targets.sort_by_key(|(target, _)| (*target == at + 1) != taken_first);
    let fresh = targets.into_iter().filter(|(target, _)| *target != meet).map(|(_, lanes)| Group { lanes, meet });
    groups.splice(position + 1..position + 1, fresh.collect::<Vec<_>>());
    true
}
