//! Definite assignment: which register reads may see no written value.
//!
//! Input: a [`Cfg`]. Output: [`Definite`], asked statement by statement. Establishes: a read that is
//! not reported here sees a value that the same thread wrote. A guarded write counts for reads under
//! the same guard while the predicate keeps its value, and after a branch on that predicate.
//! Reference: PTX leaves registers undefined at the start; DESIGN section 3 (arbitrary at each read).

use super::exposed::Exposed;
use crate::cfg::graph::{Cfg, EdgeCondition, Statement};
use crate::flow::Worklist;
use crate::ptx::ast::{Guard, RegisterId, ScalarType};
use crate::ptx::roles::registers;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

/// What is known about a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Undefined,
    Defined,
    /// Defined if the predicate has this value.
    If(RegisterId, bool),
}

impl Status {
    fn join(self, other: Status) -> Status {
        match (self, other) {
            (a, b) if a == b => a,
            (Status::Defined, conditional @ Status::If(..)) | (conditional @ Status::If(..), Status::Defined) => {
                conditional
            }
            _ => Status::Undefined,
        }
    }
}

/// The state of all registers at one program point.
#[derive(Clone)]
pub(crate) struct State {
    status: Vec<Status>,
    /// Registers that may have a conditional status.
    conditional: Vec<RegisterId>,
}

impl State {
    /// Whether a read under a guard may see an undefined register.
    pub(crate) fn may_be_undefined(&self, register: RegisterId, guard: Option<Guard>) -> bool {
        match self.status[register.0 as usize] {
            Status::Defined => false,
            Status::Undefined => true,
            Status::If(predicate, value) => !guard.is_some_and(|g| g.register == predicate && g.negated != value),
        }
    }

    fn set(&mut self, register: RegisterId, status: Status) {
        self.status[register.0 as usize] = status;
        if matches!(status, Status::If(..)) {
            self.conditional.push(register);
        }
    }

    fn write(&mut self, register: RegisterId, guard: Option<Guard>) {
        let certain = |g: Guard| self.status[g.register.0 as usize] == Status::Defined;
        let status = match (guard, self.status[register.0 as usize]) {
            // An undefined predicate may differ between this write and a read under it.
            (Some(g), old) if old != Status::Defined && !certain(g) => Status::Undefined,
            (None, _) | (Some(_), Status::Defined) => Status::Defined,
            (Some(g), Status::If(p, value)) if p == g.register && value == g.negated => Status::Defined,
            (Some(g), _) => Status::If(g.register, !g.negated),
        };
        self.set(register, status);
    }

    /// A conditional status says nothing once its predicate has changed.
    fn forget(&mut self, predicate: RegisterId) {
        for register in std::mem::take(&mut self.conditional) {
            match self.status[register.0 as usize] {
                Status::If(p, _) if p == predicate => self.status[register.0 as usize] = Status::Undefined,
                Status::If(..) => self.conditional.push(register),
                _ => {}
            }
        }
    }
}

/// What a branch on a predicate adds to a status.
fn refined(status: Status, condition: &EdgeCondition) -> Status {
    match (status, condition) {
        (Status::If(p, value), EdgeCondition::If(guard)) if p == guard.register && value != guard.negated => {
            Status::Defined
        }
        _ => status,
    }
}

/// The result of the analysis.
pub(crate) struct Definite<'c> {
    cfg: &'c Cfg,
    exposed: &'c Exposed,
    /// Status of the exposed registers at the start of each block.
    entries: Vec<Option<Vec<Status>>>,
}

impl<'c> Definite<'c> {
    /// Runs the analysis.
    pub(crate) fn of(cfg: &'c Cfg, exposed: &'c Exposed) -> Definite<'c> {
        let mut this = Definite { cfg, exposed, entries: vec![None; cfg.graph.node_count()] };
        this.entries[cfg.start.index()] = Some(vec![Status::Undefined; exposed.registers.len()]);
        let mut work = Worklist::new(&exposed.order);
        let mut state = this.new_state();
        while let Some(node) = work.pop().map(NodeIndex::new) {
            this.enter(&mut state, node);
            for statement in &cfg.graph[node].statements {
                this.step(&mut state, statement);
            }
            for edge in cfg.graph.edges(node) {
                let at_end = |r: &RegisterId| refined(state.status[r.0 as usize], edge.weight());
                let out: Vec<_> = exposed.registers.iter().map(at_end).collect();
                let entry = &mut this.entries[edge.target().index()];
                let joined = match entry {
                    None => out,
                    Some(old) => old.iter().zip(out).map(|(a, b)| a.join(b)).collect(),
                };
                if entry.as_ref() != Some(&joined) {
                    *entry = Some(joined);
                    work.push(edge.target().index());
                }
            }
        }
        this
    }

    /// A state to [`enter`](Self::enter) blocks with.
    pub(crate) fn new_state(&self) -> State {
        State { status: vec![Status::Undefined; self.cfg.registers.len()], conditional: Vec::new() }
    }

    /// Makes a state that of the start of a block. Registers that are not exposed may keep what another
    /// block left: this one writes them before it reads them.
    pub(crate) fn enter(&self, state: &mut State, node: NodeIndex) {
        state.conditional.clear();
        if let Some(entry) = &self.entries[node.index()] {
            for (register, status) in self.exposed.registers.iter().zip(entry) {
                state.set(*register, *status);
            }
        }
    }

    /// Moves a state past a statement.
    pub(crate) fn step(&self, state: &mut State, statement: &Statement) {
        match statement {
            Statement::Instruction(instruction) => {
                let (_, written) = registers(instruction);
                written.iter().for_each(|r| state.write(*r, instruction.guard));
                for register in written {
                    if self.cfg.registers[register.0 as usize].ty == ScalarType::Pred {
                        state.forget(register);
                    }
                }
            }
            Statement::Undefine { registers, .. } => {
                for register in registers {
                    state.set(*register, Status::Undefined);
                    state.forget(*register);
                }
            }
            Statement::Annotation(..) => {}
        }
    }
}
