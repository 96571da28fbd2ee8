//! Programs at random: instruction by instruction, or a pattern of synchronisation with up to two changes.

use super::patterns::{PATTERNS, Patterns};
use super::program::{Instruction, Manner, Program, Scope, Semantics, Space, Thread, Update, Value, one};
use super::random::{Random, hash};
use Instruction::{Atomic, Fence, If, Load, Store, Take, Wait, Warp};

/// The program with this number.
pub fn generate(seed: u64, number: u64) -> Program {
    let mut random = Random::new(hash(seed, number));
    let mut program = match random.below(4) {
        0 => free(&mut random),
        _ => {
            let (kind, pattern) = one(&mut random, PATTERNS);
            let mut program = pattern(&mut Patterns::new(&mut random));
            program.kind = kind;
            for _ in 0..one(&mut random, &[0, 1, 1, 2, 2]) {
                change(&mut random, &mut program);
            }
            program
        }
    };
    program.keeps = random.below(2) == 0;
    program.one_array = random.below(3) == 0;
    program.own_warps = random.below(3) == 0;
    let has_warps = |code: &Vec<Instruction>| code.iter().any(|one| matches!(one, Warp { .. }));
    if program.threads.iter().any(|thread| thread.phases.iter().any(has_warps)) {
        program.own_warps = false;
    }
    program
}

fn scope(random: &mut Random) -> Scope {
    one(random, &[Scope::Block, Scope::Block, Scope::Gpu, Scope::Gpu, Scope::Gpu, Scope::System, Scope::Cluster])
}

fn manner(random: &mut Random, of: &[Semantics]) -> Manner {
    match one(random, of) {
        Semantics::Weak => Manner::WEAK,
        Semantics::Volatile => Manner { semantics: Semantics::Volatile, scope: Scope::System },
        semantics => Manner { semantics, scope: scope(random) },
    }
}

fn load_manner(random: &mut Random) -> Manner {
    use Semantics::{Acquire, Relaxed, Volatile, Weak};
    manner(random, &[Weak, Weak, Weak, Relaxed, Relaxed, Acquire, Acquire, Volatile])
}

fn store_manner(random: &mut Random) -> Manner {
    use Semantics::{Relaxed, Release, Volatile, Weak};
    manner(random, &[Weak, Weak, Weak, Relaxed, Relaxed, Release, Release, Volatile])
}

/// A `red` never acquires.
fn atomic_manner(random: &mut Random, has_result: bool) -> Manner {
    use Semantics::{Acquire, AcquireRelease, Relaxed, Release};
    let all: &[Semantics] = &[Relaxed, Release, Relaxed, Acquire, AcquireRelease];
    manner(random, if has_result { all } else { &all[..2] })
}

fn fence_manner(random: &mut Random) -> Manner {
    use Semantics::{Acquire, AcquireRelease, Release, SequentiallyConsistent};
    manner(random, &[AcquireRelease, AcquireRelease, SequentiallyConsistent, SequentiallyConsistent, Acquire, Release])
}

fn fence(random: &mut Random) -> Instruction {
    if random.below(4) > 0 {
        return Fence { manner: fence_manner(random), is_membar: false };
    }
    let scope = one(random, &[Scope::Block, Scope::Gpu, Scope::System]);
    Fence { manner: Manner { semantics: Semantics::SequentiallyConsistent, scope }, is_membar: true }
}

/// What a thread of random code is about to be given.
struct Coder<'r> {
    random: &'r mut Random,
    /// Variables that the thread may use.
    places: Vec<usize>,
    registers: usize,
}

impl Coder<'_> {
    fn place(&mut self) -> usize {
        one(self.random, &self.places)
    }

    fn register(&mut self) -> usize {
        self.registers += 1;
        self.registers - 1
    }

    fn value(&mut self) -> Value {
        if self.registers > 0 && self.random.below(5) == 0 {
            return Value::Register(self.random.below(self.registers));
        }
        Value::Constant(1 + self.random.below(2) as u32)
    }

    fn code(&mut self, length: usize, is_inner: bool) -> Vec<Instruction> {
        let mut code = Vec::new();
        while code.len() < length {
            let next = match self.random.below(if is_inner { 14 } else { 18 }) {
                0..=3 => self.load(),
                4..=8 => {
                    let (place, value) = (self.place(), self.value());
                    Store { place, value, manner: store_manner(self.random) }
                }
                9 | 10 => self.atomic(),
                11..=13 => fence(self.random),
                14 => {
                    let (to, place) = (self.register(), self.place());
                    Wait { to, place, value: 1, manner: load_manner(self.random) }
                }
                _ if self.registers == 0 => self.load(),
                _ => {
                    let (register, is_equal) = (self.random.below(self.registers), self.random.below(3) > 0);
                    let (value, length) = (self.random.below(2) as u32, 1 + self.random.below(2));
                    let then = self.code(length, true);
                    If { register, is_equal, value, then }
                }
            };
            code.push(next);
        }
        code
    }

    fn load(&mut self) -> Instruction {
        let (to, place) = (self.register(), self.place());
        Load { to, place, manner: load_manner(self.random) }
    }

    fn atomic(&mut self) -> Instruction {
        let (place, value) = (self.place(), Value::Constant(1 + self.random.below(2) as u32));
        let update = match self.random.below(12) {
            0..=3 => Update::Add,
            4..=6 => Update::Exchange,
            7 | 8 => Update::Swap(self.random.below(2) as u32),
            9 => Update::Increment,
            10 => one(self.random, &[Update::Minimum, Update::Maximum]),
            _ => one(self.random, &[Update::Or, Update::And]),
        };
        use Update::{Exchange, Swap};
        let has_result = matches!(update, Exchange | Swap(_)) || self.random.below(3) > 0;
        let to = has_result.then(|| self.register());
        Atomic { to, place, update, value, manner: atomic_manner(self.random, has_result) }
    }
}

/// A program of random instructions.
fn free(random: &mut Random) -> Program {
    let count = one(random, &[2, 2, 2, 3, 3, 4]);
    let blocks: Vec<u32> = match random.below(3) {
        0 => vec![0; count],
        1 => (0..count as u32).collect(),
        _ => {
            let mut blocks: Vec<u32> = (0..count).map(|_| random.below(2) as u32).collect();
            blocks.sort_unstable();
            let first = blocks[0];
            blocks.iter_mut().for_each(|block| *block -= first);
            blocks
        }
    };
    let is_shared = random.below(4) == 0;
    let space = if is_shared { Space::Shared(0) } else { Space::Global };
    let mut places = vec![Space::Global; 2 + random.below(2)];
    places[0] = space;
    // Shared memory is zeroed in front of a barrier.
    let phases = one(random, &[1, 1, 2]);
    let warps = random.below(4) == 0;
    let longest = if count == 2 { 5 } else { 3 };
    let threads = blocks.iter().map(|block| {
        let usable = (0..places.len()).filter(|place| match places[*place] {
            Space::Global => true,
            Space::Shared(owner) => owner == *block,
        });
        let mut coder = Coder { random: &mut *random, places: usable.collect(), registers: 0 };
        let code = |coder: &mut Coder<'_>| {
            let length = 1 + coder.random.below(longest);
            let mut code = coder.code(length, false);
            if warps && coder.random.below(2) == 0 {
                let all = (1 << blocks.iter().filter(|other| *other == block).count()) - 1;
                let at = coder.random.below(code.len() + 1);
                code.insert(at, Warp { mask: all });
            }
            code
        };
        Thread { block: *block, phases: (0..phases).map(|_| code(&mut coder)).collect() }
    });
    let threads: Vec<Thread> = threads.collect();
    let mut program = Program { kind: "free", places, threads, own_warps: false, keeps: false, one_array: false };
    match_warps(&mut program);
    zero_shared(&mut program);
    program
}

/// Barriers of warps that not all threads of the mask come to go away: what they wait for never comes.
fn match_warps(program: &mut Program) {
    for block in 0..program.blocks() {
        for phase in 0..program.phases() {
            let is_warp = |one: &Instruction| matches!(one, Warp { .. });
            let members = || program.threads.iter().filter(|thread| thread.block == block);
            let least = members().map(|thread| thread.phases[phase].iter().filter(|one| is_warp(one)).count()).min();
            for thread in program.threads.iter_mut().filter(|thread| thread.block == block) {
                let mut left = least.unwrap_or(0);
                thread.phases[phase].retain(|one| {
                    let keep = !is_warp(one) || left > 0;
                    left -= usize::from(is_warp(one) && keep);
                    keep
                });
            }
        }
    }
}

/// Shared memory holds anything when a kernel starts.
pub fn zero_shared(program: &mut Program) {
    let owners: Vec<(usize, u32)> = program
        .places
        .iter()
        .enumerate()
        .filter_map(|(place, space)| if let Space::Shared(owner) = space { Some((place, *owner)) } else { None })
        .collect();
    if owners.is_empty() {
        return;
    }
    program.threads.iter_mut().for_each(|thread| thread.phases.insert(0, Vec::new()));
    for (place, owner) in owners {
        if let Some(first) = program.threads.iter_mut().find(|thread| thread.block == owner) {
            let zero = Store { place, value: Value::Constant(0), manner: Manner::WEAK };
            first.phases[0].push(zero);
        }
    }
}

/// Changes one instruction.
fn change(random: &mut Random, program: &mut Program) {
    let thread = random.below(program.threads.len());
    let phases = program.threads[thread].phases.len();
    let phase = random.below(phases);
    let places = program.places.clone();
    let block = program.threads[thread].block;
    let code = &mut program.threads[thread].phases[phase];
    // The first phase zeroes shared memory.
    if code.is_empty() || phase == 0 && places.iter().any(|space| matches!(space, Space::Shared(_))) {
        return;
    }
    let at = random.below(code.len());
    match random.below(8) {
        0 => {
            if code[at].result().is_none() {
                code.remove(at);
            }
        }
        1 if at + 1 < code.len() && code[at].result().is_none() && code[at + 1].result().is_none() => {
            code.swap(at, at + 1);
        }
        2 => {
            let copy = code[at].clone();
            if copy.result().is_none() && !matches!(copy, Warp { .. }) {
                let to = random.below(code.len() + 1);
                code.insert(to, copy);
            }
        }
        3 => code.insert(at, fence(random)),
        _ => modify(random, &mut code[at], &places, block),
    }
    match_warps(program);
}

fn modify(random: &mut Random, instruction: &mut Instruction, places: &[Space], block: u32) {
    let usable: Vec<usize> = (0..places.len())
        .filter(|at| matches!(places[*at], Space::Global) || places[*at] == Space::Shared(block))
        .collect();
    let narrow = |random: &mut Random, manner: &mut Manner| {
        if !matches!(manner.semantics, Semantics::Weak | Semantics::Volatile) {
            manner.scope = scope(random);
        }
    };
    let which = random.below(4);
    match instruction {
        Load { manner, place, .. } => match which {
            0 => *place = one(random, &usable),
            1 => narrow(random, manner),
            _ => *manner = load_manner(random),
        },
        Wait { manner, value, .. } => match which {
            0 => *value = random.below(3) as u32,
            1 => narrow(random, manner),
            _ => *manner = load_manner(random),
        },
        Store { manner, place, value } => match which {
            0 => *place = one(random, &usable),
            1 => *value = Value::Constant(random.below(3) as u32),
            2 => narrow(random, manner),
            _ => *manner = store_manner(random),
        },
        Atomic { manner, update, value, place, to } => match which {
            0 => *manner = atomic_manner(random, to.is_some()),
            1 => narrow(random, manner),
            2 => match update {
                Update::Swap(expected) => *expected = random.below(3) as u32,
                Update::Exchange => *value = Value::Constant(random.below(3) as u32),
                _ => {
                    *update =
                        one(random, &[Update::Add, Update::Increment, Update::Or, Update::Maximum, Update::Minimum])
                }
            },
            _ if to.is_none() => *place = one(random, &usable),
            _ => *value = Value::Constant(1 + random.below(2) as u32),
        },
        Take { manner, .. } => match which {
            0 => narrow(random, manner),
            _ => *manner = atomic_manner(random, true),
        },
        Fence { manner, is_membar } => match which {
            0 => *instruction = fence(random),
            _ if !*is_membar => manner.scope = scope(random),
            _ => manner.scope = one(random, &[Scope::Block, Scope::Gpu]),
        },
        If { is_equal, value, then, .. } => match which {
            0 => *is_equal = !*is_equal,
            1 => *value = random.below(3) as u32,
            _ if then.is_empty() => {}
            _ => {
                let at = random.below(then.len());
                modify(random, &mut then[at], places, block);
            }
        },
        Warp { .. } => {}
    }
}
