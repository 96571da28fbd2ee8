//! Correct patterns of synchronisation, as people write them.

use super::generate::zero_shared;
use super::program::{Instruction, Manner, Program, Scope, Semantics, Space, Thread, Update, Value, one};
use super::random::Random;
use Instruction::{Atomic, Fence, If, Load, Store, Take, Wait, Warp};
use Semantics::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

type Pattern = fn(&mut Patterns<'_>) -> Program;

/// All of them.
pub const PATTERNS: &[(&str, Pattern)] = &[
    ("message, tested", |p| p.message(false, false)),
    ("message, waited for", |p| p.message(true, false)),
    ("message, waited for, read twice", |p| p.message(true, true)),
    ("message by an atomic", |p| p.message_by_atomic()),
    ("message by a counter", |p| p.message_by_counter()),
    ("message through a third", |p| p.message_through_third()),
    ("message and answer", |p| p.message_and_answer()),
    ("lock", |p| p.lock()),
    ("lock, tried", |p| p.lock_tried()),
    ("ticket", |p| p.ticket()),
    ("one winner", |p| p.winner()),
    ("last one", |p| p.last()),
    ("barrier of the block", |p| p.barrier()),
    ("barrier of the warp", |p| p.warp()),
    ("atomics only", |p| p.atomics()),
    ("one that writes all", |p| p.apart()),
    ("store buffer", |p| p.store_buffer()),
];

/// Makes patterns.
pub struct Patterns<'r> {
    random: &'r mut Random,
    /// The scope that they need.
    scope: Scope,
}

fn store(place: usize, value: u32) -> Instruction {
    Store { place, value: Value::Constant(value), manner: Manner::WEAK }
}

fn load(to: usize, place: usize) -> Instruction {
    Load { to, place, manner: Manner::WEAK }
}

impl Patterns<'_> {
    pub fn new(random: &mut Random) -> Patterns<'_> {
        let scope = one(random, &[Scope::Gpu, Scope::Gpu, Scope::System, Scope::Block]);
        Patterns { random, scope }
    }

    fn manner(&self, semantics: Semantics) -> Manner {
        Manner { semantics, scope: self.scope }
    }

    fn fence(&mut self) -> Instruction {
        let semantics = one(self.random, &[AcquireRelease, AcquireRelease, SequentiallyConsistent]);
        let is_membar = self.random.below(3) == 0 && self.scope != Scope::Cluster;
        let semantics = if is_membar { SequentiallyConsistent } else { semantics };
        Fence { manner: self.manner(semantics), is_membar }
    }

    /// A program whose threads have one phase; in one block, or each in its own where the scope is wide.
    fn program(&mut self, codes: Vec<Vec<Instruction>>) -> Program {
        self.phases(codes.into_iter().map(|code| vec![code]).collect())
    }

    fn phases(&mut self, codes: Vec<Vec<Vec<Instruction>>>) -> Program {
        let together = self.scope == Scope::Block || self.random.below(2) == 0;
        let block = |number: usize| if together { 0 } else { number as u32 };
        let threads: Vec<Thread> =
            codes.into_iter().enumerate().map(|(number, phases)| Thread { block: block(number), phases }).collect();
        let is_shared = together && self.random.below(2) == 0;
        let places = vec![if is_shared { Space::Shared(0) } else { Space::Global }; 3];
        let mut program = Program { kind: "", places, threads, own_warps: false, keeps: false, one_array: false };
        zero_shared(&mut program);
        program
    }

    /// Stores that publish what is before.
    fn publish(&mut self, place: usize, value: u32) -> Vec<Instruction> {
        let value = Value::Constant(value);
        match self.random.below(3) {
            0 => vec![Store { place, value, manner: self.manner(Release) }],
            1 => vec![self.fence(), Store { place, value, manner: self.manner(Relaxed) }],
            _ => {
                let manner = Manner { semantics: Semantics::Volatile, scope: Scope::System };
                vec![self.fence(), Store { place, value, manner }]
            }
        }
    }

    /// Loads that observe; with `waits` until the value is there.
    fn observe(
        &mut self,
        to: usize,
        place: usize,
        value: u32,
        waits: bool,
        then: Vec<Instruction>,
    ) -> Vec<Instruction> {
        let is_acquire = self.random.below(2) == 0;
        let manner = match (is_acquire, self.random.below(3)) {
            (true, _) => self.manner(Acquire),
            (false, 0) => Manner { semantics: Semantics::Volatile, scope: Scope::System },
            (false, _) => self.manner(Relaxed),
        };
        let mut rest = then;
        if !is_acquire && (waits || self.random.below(2) == 0) {
            rest.insert(0, self.fence());
        } else if !is_acquire {
            let fence = self.fence();
            return vec![Load { to, place, manner }, fence, If { register: to, is_equal: true, value, then: rest }];
        }
        if waits {
            let mut code = vec![Wait { to, place, value, manner }];
            code.extend(rest);
            return code;
        }
        vec![Load { to, place, manner }, If { register: to, is_equal: true, value, then: rest }]
    }

    fn message(&mut self, waits: bool, twice: bool) -> Program {
        let mut writer = vec![store(0, 1)];
        if self.random.below(3) == 0 {
            writer.push(store(1, 1));
        }
        writer.extend(self.publish(2, 1));
        let reader = |patterns: &mut Self| {
            let then = match patterns.random.below(3) {
                0 => vec![load(1, 0), load(2, 1)],
                1 => vec![load(1, 0), store(0, 2)],
                _ => vec![load(1, 0)],
            };
            patterns.observe(0, 2, 1, waits, then)
        };
        let mut codes = vec![writer, reader(self)];
        if twice {
            let code = self.observe(0, 2, 1, waits, vec![load(1, 0)]);
            codes.push(code);
            codes[1].retain(|one| !matches!(one, Store { .. }));
        }
        self.program(codes)
    }

    fn message_by_atomic(&mut self) -> Program {
        let update = one(self.random, &[Update::Exchange, Update::Add, Update::Or, Update::Swap(0), Update::Maximum]);
        let with_fence = self.random.below(2) == 0;
        let has_result = matches!(update, Update::Exchange | Update::Swap(_));
        let releasing = if has_result { one(self.random, &[Release, AcquireRelease]) } else { Release };
        let manner = self.manner(if with_fence { Relaxed } else { releasing });
        let to = has_result.then_some(0);
        let mut writer = vec![store(0, 1)];
        if with_fence {
            let fence = self.fence();
            writer.push(fence);
        }
        writer.push(Atomic { to, place: 2, update, value: Value::Constant(1), manner });
        let waits = self.random.below(2) == 0;
        let reader = if self.random.below(3) == 0 {
            let manner = self.manner(Acquire);
            let read = Atomic { to: Some(0), place: 2, update: Update::Add, value: Value::Constant(0), manner };
            vec![read, If { register: 0, is_equal: true, value: 1, then: vec![load(1, 0)] }]
        } else {
            self.observe(0, 2, 1, waits, vec![load(1, 0)])
        };
        self.program(vec![writer, reader])
    }

    /// Two add to a counter, the third waits for both.
    fn message_by_counter(&mut self) -> Program {
        let writer = |patterns: &mut Self, place: usize| {
            let with_fence = patterns.random.below(2) == 0;
            let semantics = if with_fence { Relaxed } else { Release };
            let manner = patterns.manner(semantics);
            let mut code = vec![store(place, 1)];
            if with_fence {
                let fence = patterns.fence();
                code.push(fence);
            }
            code.push(Atomic { to: None, place: 2, update: Update::Add, value: Value::Constant(1), manner });
            code
        };
        let waits = self.random.below(2) == 0;
        let codes = vec![writer(self, 0), writer(self, 1), self.observe(0, 2, 2, waits, vec![load(1, 0), load(2, 1)])];
        self.program(codes)
    }

    fn message_through_third(&mut self) -> Program {
        let mut first = vec![store(0, 1)];
        first.extend(self.publish(1, 1));
        let waits = self.random.below(2) == 0;
        let middle = self.publish(2, 1);
        let second = self.observe(0, 1, 1, waits, middle);
        let third = self.observe(0, 2, 1, waits, vec![load(1, 0)]);
        self.program(vec![first, second, third])
    }

    fn message_and_answer(&mut self) -> Program {
        let waits = self.random.below(2) == 0;
        let mut first = vec![store(0, 1)];
        first.extend(self.publish(1, 1));
        first.extend(self.observe(0, 2, 1, waits, vec![load(1, 0)]));
        let mut answer = vec![load(1, 0), store(0, 2)];
        answer.extend(self.publish(2, 1));
        let second = self.observe(0, 1, 1, waits, answer);
        self.program(vec![first, second])
    }

    fn unlock(&mut self) -> Vec<Instruction> {
        let value = Value::Constant(0);
        match self.random.below(4) {
            0 => vec![Store { place: 2, value, manner: self.manner(Release) }],
            1 => vec![self.fence(), Store { place: 2, value, manner: self.manner(Relaxed) }],
            2 => {
                let manner = self.manner(Release);
                vec![Atomic { to: Some(7), place: 2, update: Update::Exchange, value, manner }]
            }
            _ => {
                let manner = self.manner(Relaxed);
                vec![self.fence(), Atomic { to: Some(7), place: 2, update: Update::Exchange, value, manner }]
            }
        }
    }

    fn locked(&mut self) -> Vec<Instruction> {
        let mut code = vec![load(1, 0), store(0, 1 + self.random.below(2) as u32)];
        code.extend(self.unlock());
        code
    }

    fn lock(&mut self) -> Program {
        let code = |patterns: &mut Self| {
            let with_fence = patterns.random.below(2) == 0;
            let semantics = if with_fence { Relaxed } else { one(patterns.random, &[Acquire, AcquireRelease]) };
            let manner = patterns.manner(semantics);
            let mut code = vec![Take { to: 0, place: 2, manner }];
            if with_fence {
                let fence = patterns.fence();
                code.push(fence);
            }
            code.extend(patterns.locked());
            code
        };
        let codes = vec![code(self), code(self)];
        self.program(codes)
    }

    fn lock_tried(&mut self) -> Program {
        let code = |patterns: &mut Self| {
            let with_fence = patterns.random.below(2) == 0;
            let semantics = if with_fence { Relaxed } else { one(patterns.random, &[Acquire, AcquireRelease]) };
            let manner = patterns.manner(semantics);
            let update = one(patterns.random, &[Update::Swap(0), Update::Exchange]);
            let mut then = patterns.locked();
            if with_fence {
                let fence = patterns.fence();
                then.insert(0, fence);
            }
            let attempt = Atomic { to: Some(0), place: 2, update, value: Value::Constant(1), manner };
            vec![attempt, If { register: 0, is_equal: true, value: 0, then }]
        };
        let codes = vec![code(self), code(self)];
        self.program(codes)
    }

    /// Who gets which number decides who writes what.
    fn ticket(&mut self) -> Program {
        let update = one(self.random, &[Update::Add, Update::Add, Update::Increment]);
        let count = one(self.random, &[2, 3]);
        let value = Value::Constant(if update == Update::Increment { 7 } else { 1 });
        let code = |patterns: &mut Self| {
            let manner = patterns.manner(Relaxed);
            let number =
                |value: u32, place: usize| If { register: 0, is_equal: true, value, then: vec![store(place, 1)] };
            vec![Atomic { to: Some(0), place: 2, update, value, manner }, number(0, 0), number(1, 1)]
        };
        let codes = (0..count).map(|_| code(self)).collect();
        self.program(codes)
    }

    fn winner(&mut self) -> Program {
        let update = one(self.random, &[Update::Swap(0), Update::Exchange, Update::Or, Update::Maximum]);
        let count = one(self.random, &[2, 3]);
        let code = |patterns: &mut Self| {
            let manner = patterns.manner(Relaxed);
            let then = vec![store(0, 1)];
            let attempt = Atomic { to: Some(0), place: 2, update, value: Value::Constant(1), manner };
            vec![attempt, If { register: 0, is_equal: true, value: 0, then }]
        };
        let codes = (0..count).map(|_| code(self)).collect();
        self.program(codes)
    }

    fn last(&mut self) -> Program {
        let with_fence = self.random.below(2) == 0;
        let code = |patterns: &mut Self, place: usize| {
            let semantics = if with_fence { Relaxed } else { AcquireRelease };
            let manner = patterns.manner(semantics);
            let mut then = vec![load(1, 1 - place)];
            let mut code = vec![store(place, 1)];
            if with_fence {
                let fences = [patterns.fence(), patterns.fence()];
                let [first, second] = fences;
                code.push(first);
                then.insert(0, second);
            }
            code.push(Atomic { to: Some(0), place: 2, update: Update::Add, value: Value::Constant(1), manner });
            code.push(If { register: 0, is_equal: true, value: 1, then });
            code
        };
        let codes = vec![code(self, 0), code(self, 1)];
        self.program(codes)
    }

    fn barrier(&mut self) -> Program {
        self.scope = Scope::Block;
        let mut codes = vec![vec![vec![store(0, 1)], vec![load(0, 1), store(1, 2)]]];
        codes.push(vec![vec![store(1, 1)], vec![load(0, 0)]]);
        codes[0][1].pop();
        if self.random.below(2) == 0 {
            codes[0].push(vec![store(0, 2)]);
            codes[1].push(vec![]);
        }
        self.phases(codes)
    }

    fn warp(&mut self) -> Program {
        self.scope = Scope::Block;
        let barrier = || Warp { mask: 3 };
        let mut codes = vec![vec![store(0, 1), barrier(), load(0, 1)], vec![store(1, 1), barrier(), load(0, 0)]];
        if self.random.below(2) == 0 {
            codes[0].extend([barrier(), store(0, 2)]);
            codes[1].push(barrier());
        }
        self.program(codes)
    }

    fn atomics(&mut self) -> Program {
        let update = one(self.random, &[Update::Add, Update::Maximum, Update::Or]);
        let code = |patterns: &mut Self| {
            let manner = patterns.manner(Relaxed);
            vec![
                Atomic { to: None, place: 0, update, value: Value::Constant(1), manner },
                Load { to: 0, place: 0, manner },
            ]
        };
        let codes = vec![code(self), code(self)];
        self.program(codes)
    }

    /// Each has variables of its own.
    fn apart(&mut self) -> Program {
        let codes = vec![vec![store(0, 1), load(0, 0), load(1, 2)], vec![store(1, 1), load(0, 1), load(1, 2)]];
        self.program(codes)
    }

    /// At most one of them finds the other one's flag down.
    fn store_buffer(&mut self) -> Program {
        let code = |patterns: &mut Self, own: usize| {
            let (manner, value) = (patterns.manner(Relaxed), Value::Constant(1));
            let fence = Fence { manner: patterns.manner(SequentiallyConsistent), is_membar: false };
            let then = vec![store(2, 1)];
            vec![
                Store { place: own, value, manner },
                fence,
                Load { to: 0, place: 1 - own, manner },
                If { register: 0, is_equal: true, value: 0, then },
            ]
        };
        let codes = vec![code(self, 0), code(self, 1)];
        self.program(codes)
    }
}
