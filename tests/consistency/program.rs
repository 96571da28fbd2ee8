//! Small programs of several threads, of which litmus tests and kernels can be made.

use super::random::Random;

/// Semantics of accesses and fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Semantics {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// Scopes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    Block,
    Cluster,
    Gpu,
    System,
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Scope::Block => "cta",
            Scope::Cluster => "cluster",
            Scope::Gpu => "gpu",
            Scope::System => "sys",
        }
    }
}

/// How an access is made: `.acquire.gpu`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Manner {
    pub semantics: Semantics,
    pub scope: Scope,
}

impl Manner {
    pub const WEAK: Manner = Manner { semantics: Semantics::Weak, scope: Scope::Block };

    /// Its modifiers.
    pub fn words(self) -> String {
        let word = match self.semantics {
            Semantics::Weak => return String::new(),
            Semantics::Volatile => return ".volatile".to_string(),
            Semantics::Relaxed => "relaxed",
            Semantics::Acquire => "acquire",
            Semantics::Release => "release",
            Semantics::AcquireRelease => "acq_rel",
            Semantics::SequentiallyConsistent => "sc",
        };
        format!(".{word}.{}", self.scope.word())
    }
}

/// A value that is stored or added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Constant(u32),
    /// A register of the thread.
    Register(usize),
}

/// What an atomic operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    Add,
    Exchange,
    Increment,
    Minimum,
    Maximum,
    Or,
    And,
    /// With what it expects.
    Swap(u32),
}

/// Instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    Load {
        to: usize,
        place: usize,
        manner: Manner,
    },
    Store {
        place: usize,
        value: Value,
        manner: Manner,
    },
    /// Without a register it is a `red`.
    Atomic {
        to: Option<usize>,
        place: usize,
        update: Update,
        value: Value,
        manner: Manner,
    },
    Fence {
        manner: Manner,
        is_membar: bool,
    },
    /// Loads until there is this value.
    Wait {
        to: usize,
        place: usize,
        value: u32,
        manner: Manner,
    },
    /// Swaps 0 for 1 until it succeeds.
    Take {
        to: usize,
        place: usize,
        manner: Manner,
    },
    If {
        register: usize,
        is_equal: bool,
        value: u32,
        then: Vec<Instruction>,
    },
    /// `bar.warp.sync` with this mask of the block's threads.
    Warp {
        mask: u32,
    },
}

impl Instruction {
    /// The register that it gives a value to.
    pub fn result(&self) -> Option<usize> {
        match self {
            Instruction::Load { to, .. } | Instruction::Wait { to, .. } | Instruction::Take { to, .. } => Some(*to),
            Instruction::Atomic { to, .. } => *to,
            _ => None,
        }
    }

    pub fn waits(&self) -> bool {
        matches!(self, Instruction::Wait { .. } | Instruction::Take { .. })
    }
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    Global,
    /// In the shared memory of this block; only its threads use it.
    Shared(u32),
}

/// A thread: its block, and its code between the barriers of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    pub block: u32,
    pub phases: Vec<Vec<Instruction>>,
}

/// A program. All threads have the same number of phases; all variables hold 0 when it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub kind: &'static str,
    pub places: Vec<Space>,
    pub threads: Vec<Thread>,
    /// Threads of a block are 32 apart, each in a warp of its own.
    pub own_warps: bool,
    /// What is loaded is stored in memory of its own at the end.
    pub keeps: bool,
    /// Variables are words of one array.
    pub one_array: bool,
}

pub const PLACES: [&str; 4] = ["x", "y", "z", "w"];

impl Program {
    pub fn blocks(&self) -> u32 {
        self.threads.iter().map(|thread| thread.block + 1).max().unwrap_or(1)
    }

    /// The number of a thread among those of its block.
    pub fn rank(&self, thread: usize) -> u32 {
        self.threads[..thread].iter().filter(|other| other.block == self.threads[thread].block).count() as u32
    }

    pub fn phases(&self) -> usize {
        self.threads.first().map_or(1, |thread| thread.phases.len())
    }

    /// Whether a thread waits in a loop.
    pub fn waits(&self) -> bool {
        let mut all = self.threads.iter().flat_map(|thread| thread.phases.iter().flatten());
        all.any(Instruction::waits)
    }

    /// Programs that lack one instruction.
    pub fn smaller(&self) -> Vec<Program> {
        let mut all = Vec::new();
        for (thread, Thread { phases, .. }) in self.threads.iter().enumerate() {
            for (phase, code) in phases.iter().enumerate() {
                for at in 0..code.len() {
                    let mut without = self.clone();
                    let gone = without.threads[thread].phases[phase].remove(at);
                    all.push(without.clone());
                    if let Instruction::If { then, .. } = gone {
                        let mut always = without;
                        always.threads[thread].phases[phase].splice(at..at, then);
                        all.push(always);
                    }
                }
            }
        }
        for phase in 0..self.phases().saturating_sub(1) {
            let mut merged = self.clone();
            for thread in &mut merged.threads {
                let next = thread.phases.remove(phase + 1);
                thread.phases[phase].extend(next);
            }
            all.push(merged);
        }
        all
    }
}

/// One of a list.
pub fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len())]
}
