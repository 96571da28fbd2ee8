//! One emulated thread: its call frames, registers and private memory.

use super::barriers::Arrival;
use super::memory::{Contents, Memory, PARAM_WINDOW};
use super::random::hash;
use super::values::mask;
use super::{World, variable_address};
use gpuvcc::ptx::ast::{Body, Function, Guard, Module, Operand, RegisterId, SpecialRegister, StateSpace, VariableRef};
use std::collections::BTreeMap;

/// What a thread is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Execute its next instruction.
    Running,
    /// Wait at a barrier.
    Waiting(Arrival),
    /// Nothing any more.
    Exited,
    /// Something without a model here.
    Stopped(String),
}

/// A call.
#[derive(Debug)]
pub struct Frame<'m> {
    /// Index of the function.
    pub function: usize,
    /// Its body.
    pub body: &'m Body,
    /// Index of the next item.
    pub next: usize,
    /// Values of registers; `None` before the first write.
    pub registers: Vec<Option<u64>>,
    /// Bytes of `.param` variables: the parameters, results and those of the body.
    pub slots: BTreeMap<VariableRef, Vec<u8>>,
    /// Where the caller wants the results.
    pub results: &'m [Operand],
}

/// A thread.
#[derive(Debug)]
pub struct Thread<'m> {
    /// Calls, innermost last.
    pub frames: Vec<Frame<'m>>,
    /// Number within the block.
    pub linear: u32,
    /// `%tid`
    pub id: [u32; 3],
    /// What it is about to do.
    pub status: Status,
    /// Private memory.
    pub local: Memory,
    /// Instructions executed.
    pub steps: u32,
}

impl<'m> Frame<'m> {
    /// A call of a function; `None` without a body.
    pub fn new(module: &'m Module, function: usize, results: &'m [Operand]) -> Option<Self> {
        let body = module.functions.get(function)?.body.as_ref()?;
        let registers = vec![None; body.registers.len()];
        Some(Frame { function, body, next: 0, registers, slots: BTreeMap::new(), results })
    }

    /// The bytes of a `.param` variable.
    pub fn slot(&mut self, module: &Module, variable: VariableRef) -> Option<&mut Vec<u8>> {
        let function: &Function = &module.functions[self.function];
        let declared = match variable {
            VariableRef::Body(index) => self.body.variables.get(index as usize),
            VariableRef::Param(index) => function.params.get(index as usize),
            VariableRef::Return(index) => function.returns.get(index as usize),
            VariableRef::Module(_) => None,
        }?;
        let size = usize::try_from(declared.size?).ok()?;
        Some(self.slots.entry(variable).or_insert_with(|| vec![0; size]))
    }
}

impl<'m> Thread<'m> {
    /// A thread before its first instruction.
    pub fn new(module: &'m Module, entry: usize, linear: u32, id: [u32; 3]) -> Self {
        let frame = Frame::new(module, entry, &[]);
        let status = if frame.is_some() { Status::Running } else { Status::Exited };
        let local = Memory::new(Contents::Any, u64::from(linear));
        Thread { frames: frame.into_iter().collect(), linear, id, status, local, steps: 0 }
    }

    /// The barrier at which it waits.
    pub fn arrival(&self) -> Option<Arrival> {
        if let Status::Waiting(arrival) = &self.status { Some(arrival.clone()) } else { None }
    }

    /// The innermost call.
    pub fn frame(&mut self) -> &mut Frame<'m> {
        self.frames.last_mut().unwrap_or_else(|| panic!("emulator: a running thread without a frame"))
    }

    /// Ends the thread's run.
    pub fn stop(&mut self, reason: &str) {
        self.status = Status::Stopped(reason.to_string());
    }

    /// Goes on after a barrier where `votes` of `all` threads had a true predicate.
    pub fn pass_barrier(&mut self, votes: usize, all: usize) {
        let Status::Waiting(Arrival { reduction, .. }) = &self.status else { return };
        if let Some((operation, destination)) = reduction.clone() {
            let value = match &*operation {
                "popc" => votes as u64,
                "and" => u64::from(votes == all),
                _ => u64::from(votes > 0),
            };
            self.write(&destination, value);
        }
        self.status = Status::Running;
    }

    /// A value that nothing determines.
    pub fn arbitrary(&self, world: &mut World<'_>) -> u64 {
        world.outcome.arbitrary = true;
        let thread = u64::from(world.block_number) << 32 | u64::from(self.linear);
        let bits = hash(hash(world.launch.seed, thread), u64::from(self.steps));
        // Small values meet more corners than large ones.
        if bits >> 63 == 0 { bits & 3 } else { bits }
    }

    /// Whether the guard lets the instruction execute.
    pub fn guard(&mut self, guard: Option<Guard>, world: &mut World<'_>) -> bool {
        let Some(Guard { register, negated }) = guard else { return true };
        (self.register(register, world) & 1 == 1) != negated
    }

    fn register(&mut self, register: RegisterId, world: &mut World<'_>) -> u64 {
        match self.frame().registers[register.0 as usize] {
            Some(value) => value,
            None => self.arbitrary(world),
        }
    }

    /// The value of an operand; `None` without a model.
    pub fn value(&mut self, operand: &Operand, world: &mut World<'_>) -> Option<u64> {
        Some(match operand {
            Operand::Register(register) => self.register(*register, world),
            Operand::NotPredicate(register) => self.register(*register, world) & 1 ^ 1,
            Operand::Integer(value) => *value,
            Operand::Float { bits, .. } => *bits,
            Operand::Variable(variable, offset) => {
                self.address_of(*variable, world)?.wrapping_add(offset.cast_unsigned())
            }
            Operand::Special(register) => self.special(*register, world),
            Operand::Function(_) | Operand::Vector(_) | Operand::Sink => return None,
        })
    }

    /// The address of a variable in its own space, except that of parameters.
    pub fn address_of(&mut self, variable: VariableRef, world: &World<'_>) -> Option<u64> {
        let depth = self.frames.len() as u64;
        let frame = self.frame();
        match variable {
            VariableRef::Param(index) if depth == 1 => Some(PARAM_WINDOW | u64::from(index) << 20),
            VariableRef::Body(index) => match frame.body.variables.get(index as usize)?.space {
                StateSpace::Local => Some(depth << 40 | u64::from(index + 1) << 20),
                StateSpace::Param => None,
                _ => variable_address(world, frame.function, variable),
            },
            _ => variable_address(world, frame.function, variable),
        }
    }

    fn special(&self, register: SpecialRegister, world: &mut World<'_>) -> u64 {
        let axis = |sizes: [u32; 3], axis: u8| u64::from(sizes[usize::from(axis)]);
        match register {
            SpecialRegister::Tid(index) => axis(self.id, index),
            SpecialRegister::Ntid(index) => axis(world.launch.block, index),
            SpecialRegister::Ctaid(index) => axis(world.block_id, index),
            SpecialRegister::Nctaid(index) => axis(world.launch.grid, index),
            SpecialRegister::LaneId => u64::from(self.linear % 32),
            SpecialRegister::WarpSize => 32,
            SpecialRegister::WarpId => self.arbitrary(world) & mask(32),
            SpecialRegister::Other { bits, .. } => self.arbitrary(world) & mask(bits),
        }
    }

    /// Writes a register, cut to its width.
    pub fn write(&mut self, destination: &Operand, value: u64) {
        if let Operand::Register(register) = destination {
            let frame = self.frame();
            let bits = frame.body.registers[register.0 as usize].ty.bits();
            frame.registers[register.0 as usize] = Some(value & mask(bits));
        }
    }
}
