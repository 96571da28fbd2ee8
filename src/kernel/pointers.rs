//! The pointer analysis: a forward data-flow over registers that finds the regions of each address.
//!
//! Input: a [`Cfg`] and its [`Regions`]. Output: [`Pointers`]: for every program point what each
//! register may hold ([`Points`]), and over the whole kernel which regions' address bits are used for
//! anything but addressing ([`Facts::escaping`]). Establishes: an access whose base has no unknown
//! alternative stays in the listed regions, if accesses stay inside the array their pointer came from.
//! Reference: DESIGN section 3; zero-based offsets are sound only if pointer bits never reach other
//! arithmetic, and a 64-bit scalar is not a pointer because it is added to one.
//!
//! A parameter becomes a pointer by evidence: `.ptr`, a `cvta`, or an access whose address is that
//! parameter plus integers. The fixpoint is computed again until no new evidence turns up.

use super::exposed::Exposed;
use super::points::{Number, Points, Summand};
use super::regions::{HeldPlace, ParameterPlace, RegionId, Regions, Space};
use super::transfer;
use crate::cfg::graph::{Cfg, EdgeCondition, Statement};
use crate::flow::Worklist;
use crate::ptx::ast::{Function, Instruction, Operand, RegisterId, StateSpace};
use crate::ptx::roles::registers_of;
use foldhash::HashMap;
use petgraph::graph::NodeIndex;
use std::collections::{BTreeMap, BTreeSet};

/// An interned [`Points`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueId(u32);

/// What holds over the whole kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Regions whose address bits reach more than address arithmetic: they get a symbolic base.
    pub(crate) escaping: BTreeSet<RegionId>,
    /// Registers that may point into several regions somewhere: they get a region tag.
    pub(crate) ambiguous: BTreeSet<RegisterId>,
    /// Places in the parameters used as pointers, with the spaces of those uses.
    pub(crate) evidence: BTreeMap<ParameterPlace, BTreeSet<StateSpace>>,
    /// Places in memory whose values are used as pointers, with the spaces of those uses.
    pub(crate) held: BTreeMap<HeldPlace, BTreeSet<StateSpace>>,
    /// Regions that stores and atomics write.
    pub(crate) written: BTreeSet<RegionId>,
    /// There are stores or atomics through pointers that may point anywhere.
    pub(crate) writes_anywhere: bool,
    /// A tainted integer exists.
    pub(crate) taint: bool,
    /// A tainted integer is written to memory.
    pub(crate) taint_stored: bool,
}

/// The values of all registers at one program point.
pub(crate) type State = Vec<ValueId>;

/// The analysis and its result.
pub(crate) struct Pointers<'a> {
    pub(crate) entry: &'a Function,
    cfg: &'a Cfg,
    exposed: &'a Exposed,
    /// The regions, with those that the analysis added.
    pub(crate) regions: Regions,
    /// Facts about the whole kernel.
    pub(crate) facts: Facts,
    /// Values loaded from memory may be tainted.
    pub(crate) memory_is_tainted: bool,
    /// Values of operations that the analysis does not follow may be tainted.
    pub(crate) others_are_tainted: bool,
    values: Vec<Points>,
    ids: HashMap<Points, ValueId>,
    joins: HashMap<(ValueId, ValueId), ValueId>,
    entries: Vec<Option<Vec<ValueId>>>,
}

/// The value of a register that nothing has written.
const UNDEFINED: ValueId = ValueId(0);

impl<'a> Pointers<'a> {
    /// Runs the analysis.
    pub(crate) fn of(entry: &'a Function, cfg: &'a Cfg, exposed: &'a Exposed, regions: Regions) -> Pointers<'a> {
        let mut this = Pointers {
            entry,
            cfg,
            exposed,
            regions,
            facts: Facts::default(),
            memory_is_tainted: false,
            others_are_tainted: false,
            values: Vec::new(),
            ids: HashMap::default(),
            joins: HashMap::default(),
            entries: Vec::new(),
        };
        this.intern(Points::loaded());
        let mut conflicting = BTreeSet::new();
        loop {
            this.solve();
            this.collect_facts();
            let taint = (this.facts.taint_stored, this.facts.taint);
            let old = (this.memory_is_tainted, this.others_are_tainted);
            (this.memory_is_tainted, this.others_are_tainted) = (old.0 || taint.0, old.1 || taint.1);
            let learnt = this.learn(&mut conflicting) || this.learn_held();
            if !learnt && old == (this.memory_is_tainted, this.others_are_tainted) {
                return this;
            }
        }
    }

    /// Turns evidence into regions; true if there is a new one.
    fn learn(&mut self, conflicting: &mut BTreeSet<ParameterPlace>) -> bool {
        let mut learnt = false;
        for (place, spaces) in self.facts.evidence.clone() {
            let specific: BTreeSet<_> = spaces.iter().copied().filter(|s| *s != StateSpace::Generic).collect();
            if specific.len() > 1 || conflicting.contains(&place) {
                conflicting.insert(place);
                continue;
            }
            let space = specific.first().copied().unwrap_or(StateSpace::Generic);
            learnt |= self.regions.add_pointee(self.entry, place, space);
        }
        learnt
    }

    /// The same for pointers in memory, once those among the parameters are known. A holder that turns out to be
    /// written is none.
    fn learn_held(&mut self) -> bool {
        let mut learnt = false;
        for (place, spaces) in self.facts.held.clone() {
            let is_global = spaces.iter().all(|space| matches!(space, StateSpace::Global | StateSpace::Generic));
            learnt |= if is_global { self.regions.add_held(place) } else { self.regions.forget(place.holder) };
        }
        if learnt {
            return true;
        }
        for holder in self.regions.holders() {
            let writable = self.regions.get(holder).space != Space::Const;
            if writable && (self.facts.writes_anywhere || self.facts.written.contains(&holder)) {
                learnt |= self.regions.forget(holder);
            }
        }
        learnt
    }

    fn solve(&mut self) {
        let cfg = self.cfg;
        self.entries = vec![None; cfg.graph.node_count()];
        self.entries[cfg.start.index()] = Some(vec![UNDEFINED; self.exposed.registers.len()]);
        let exposed = self.exposed;
        let mut work = Worklist::new(&exposed.order);
        let mut state = self.new_state();
        while let Some(node) = work.pop().map(NodeIndex::new) {
            self.enter(&mut state, node);
            for statement in &cfg.graph[node].statements {
                self.step(&mut state, statement);
            }
            let out: Vec<_> = self.exposed.registers.iter().map(|r| state[r.0 as usize]).collect();
            for target in cfg.graph.neighbors(node) {
                let joined = match self.entries[target.index()].take() {
                    None => out.clone(),
                    Some(old) => {
                        let joined: Vec<_> = old.iter().zip(&out).map(|(a, b)| self.join(*a, *b)).collect();
                        if joined == old {
                            self.entries[target.index()] = Some(old);
                            continue;
                        }
                        joined
                    }
                };
                self.entries[target.index()] = Some(joined);
                work.push(target.index());
            }
        }
    }

    /// One pass over the fixpoint; the facts met on the way to it may have been preliminary.
    fn collect_facts(&mut self) {
        self.facts = Facts::default();
        let mut state = self.new_state();
        for node in self.cfg.graph.node_indices() {
            self.enter(&mut state, node);
            for register in &self.exposed.registers {
                self.note_ambiguous(*register, state[register.0 as usize]);
            }
            for statement in &self.cfg.graph[node].statements {
                self.step(&mut state, statement);
            }
            for edge in self.cfg.graph.edges(node) {
                if let EdgeCondition::Index(operand, _) = edge.weight() {
                    let value = self.operand(&state, operand);
                    self.escape(&value);
                }
            }
        }
    }

    fn note_ambiguous(&mut self, register: RegisterId, value: ValueId) {
        if self.values[value.0 as usize].regions.len() > 1 {
            self.facts.ambiguous.insert(register);
        }
    }

    /// A state to [`enter`](Self::enter) blocks with.
    pub(crate) fn new_state(&self) -> State {
        vec![UNDEFINED; self.cfg.registers.len()]
    }

    /// Makes a state that of the start of a block. Registers that are not exposed may keep what another
    /// block left: this one writes them before it reads them.
    pub(crate) fn enter(&self, state: &mut State, node: NodeIndex) {
        if let Some(entry) = &self.entries[node.index()] {
            for (register, value) in self.exposed.registers.iter().zip(entry) {
                state[register.0 as usize] = *value;
            }
        }
    }

    /// Moves a state past a statement.
    pub(crate) fn step(&mut self, state: &mut State, statement: &Statement) {
        match statement {
            Statement::Instruction(instruction) => self.step_instruction(state, instruction),
            Statement::Annotation(annotation) => {
                for register in annotation.registers() {
                    let value = self.points(state, register).clone();
                    self.escape(&value);
                }
            }
            Statement::Undefine { registers, .. } => {
                registers.iter().for_each(|r| state[r.0 as usize] = UNDEFINED);
            }
        }
    }

    fn step_instruction(&mut self, state: &mut State, instruction: &Instruction) {
        for (register, points) in transfer::results(self, state, &instruction.op) {
            self.facts.taint |= points.tainted;
            let mut value = self.intern(points);
            if instruction.guard.is_some() {
                value = self.join(state[register.0 as usize], value);
            }
            state[register.0 as usize] = value;
            self.note_ambiguous(register, value);
        }
    }

    /// What a register may hold.
    pub(crate) fn points(&self, state: &State, register: RegisterId) -> &Points {
        &self.values[state[register.0 as usize].0 as usize]
    }

    /// What an operand may hold.
    pub(crate) fn operand(&self, state: &State, operand: &Operand) -> Points {
        match operand {
            Operand::Register(register) => self.points(state, *register).clone(),
            Operand::Integer(value) => Points::constant(*value),
            Operand::Variable(variable, _) => Points::region(self.regions.of_variable(*variable)),
            Operand::Function(_) => Points::loaded(),
            Operand::Special(crate::ptx::ast::SpecialRegister::Other(register)) if register.bits() == 64 => {
                Points::data()
            }
            Operand::Vector(elements) => {
                let parts = elements.iter().map(|e| self.operand(state, e));
                parts.reduce(|a, b| a.mix(&b)).unwrap_or_default()
            }
            Operand::Double(_) => Points::number(Number::Wide),
            Operand::NotPredicate(_) | Operand::Single(_) | Operand::Special(_) | Operand::Sink => {
                Points::number(Number::Word)
            }
        }
    }

    /// Records that address bits are used as a number.
    pub(crate) fn escape(&mut self, value: &Points) {
        self.facts.escaping.extend(&value.regions);
        self.facts.escaping.extend(value.fields.iter().map(|field| field.region));
    }

    /// Records that a value may come to other threads: memory of the thread's own is theirs, too, then.
    pub(crate) fn leave(&mut self, value: &Points) {
        let owned = value.regions.iter().filter(|r| self.regions.get(**r).space == Space::Heap);
        self.facts.escaping.extend(owned);
    }

    /// Records that a value is used as an address in a space.
    pub(crate) fn used_as_address(&mut self, value: &Points, space: StateSpace) {
        if matches!(space, StateSpace::Local | StateSpace::Param) {
            return;
        }
        for sum in &value.opaque {
            let space = if space == StateSpace::SharedCluster { StateSpace::Shared } else { space };
            match (sum.len(), sum.first()) {
                (1, Some(Summand::Parameter(place))) => {
                    self.facts.evidence.entry(*place).or_default().insert(space);
                }
                (1, Some(Summand::Held(place))) => {
                    self.facts.held.entry(*place).or_default().insert(space);
                }
                _ => {}
            }
        }
    }

    /// Records a write through an address.
    pub(crate) fn writes(&mut self, value: &Points) {
        self.facts.written.extend(&value.regions);
        // A value that memory holds becomes an address of a region, or its holder is none.
        let is_held = |sum: &BTreeSet<Summand>| sum.len() == 1 && matches!(sum.first(), Some(Summand::Held(_)));
        let resolved = value.opaque.iter().all(is_held);
        self.facts.writes_anywhere |= value.unknown || value.tainted || value.number >= Number::Wide || !resolved;
    }

    fn intern(&mut self, points: Points) -> ValueId {
        if let Some(id) = self.ids.get(&points) {
            return *id;
        }
        let id = ValueId(self.values.len() as u32);
        self.values.push(points.clone());
        self.ids.insert(points, id);
        id
    }

    fn join(&mut self, a: ValueId, b: ValueId) -> ValueId {
        if a == b {
            return a;
        }
        if let Some(known) = self.joins.get(&(a, b)) {
            return *known;
        }
        let joined = self.values[a.0 as usize].join(&self.values[b.0 as usize]);
        let id = self.intern(joined);
        self.joins.insert((a, b), id);
        id
    }

    /// Whether two values are addresses of one region in one form, right in all bits compared: then
    /// their difference and equality do not depend on where the region starts.
    pub(crate) fn same_base(&self, a: &Points, b: &Points, bits: u32) -> bool {
        let (Some(region), Some(other)) = (a.exact_region(), b.exact_region()) else { return false };
        let space = self.regions.get(region).space;
        let one_form = space == Space::Global || !(a.generic || b.generic);
        // A call of `malloc` in a loop gives many bases. What parameters say of private memory has none.
        let one_base = !matches!(space, Space::Private | Space::Heap);
        region == other && one_form && one_base && (bits == 32 || !(a.narrowed || b.narrowed))
    }

    /// Whether a value holds nothing but addresses of a space.
    pub(crate) fn is_pure(&self, value: &Points, space: StateSpace) -> bool {
        let numbers = value.is_number() || value.tainted || value.unknown || !value.opaque.is_empty();
        let numbers = numbers || !value.fields.is_empty();
        let inside = |r: &RegionId| in_space(space, self.regions.get(*r).space);
        !numbers && value.regions.iter().all(inside)
    }

    /// Whether a value holds only addresses of the block's shared memory in the form of that space.
    pub(crate) fn is_plain_shared(&self, value: &Points) -> bool {
        !value.generic && value.regions.iter().all(|r| self.regions.get(*r).space == Space::Shared)
    }
}

/// Whether an access to a state space may reach regions that live in a space.
pub(crate) fn in_space(access: StateSpace, region: Space) -> bool {
    match access {
        StateSpace::Generic => true,
        StateSpace::Global => matches!(region, Space::Global | Space::Heap),
        StateSpace::Const => region == Space::Const,
        StateSpace::Shared | StateSpace::SharedCluster => region == Space::Shared,
        StateSpace::Local => region == Space::Private,
        StateSpace::Param => matches!(region, Space::Private | Space::Parameters),
    }
}

/// Registers of the operands that an instruction writes, in order.
pub(crate) fn destinations(operands: &[Operand]) -> Vec<RegisterId> {
    operands.iter().flat_map(registers_of).collect()
}
