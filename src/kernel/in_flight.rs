//! Registers of products that go on: `wgmma`.
//!
//! Input: a [`Cfg`]. Output: instructions that touch a register at a time when a product may, too. Establishes, if there is none: between
//! a product and the wait for its group nobody but products of the same shape touches its accumulators, and nobody writes the registers of
//! its matrix A; between a touch of a register and a product with it stands a `wgmma.fence`, and so does one before the
//! first product. Then the registers hold what the program says, and the model may give them their values where the product starts.
//! Relies on: nothing; guarded fences and waits count for none.
//! Reference: PTX ISA, `wgmma.fence`, `wgmma.mma_async` ("accessing the registers ... is undefined"), `wgmma.wait_group`.

use crate::cfg::graph::{Cfg, Statement};
use crate::flow::{Graph, Order, Worklist};
use crate::ptx::ast::{AsyncOp, Instruction, MatrixProduct, Op, RegisterId};
use crate::ptx::roles::{registers, registers_of};
use crate::span::Span;
use petgraph::graph::NodeIndex;
use std::collections::{BTreeMap, BTreeSet};

/// What is known at a point, on whatever way it was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// Accumulators of products that may go on: how many groups were committed since at least, and the columns of each shape.
    sums: BTreeMap<RegisterId, (u64, BTreeSet<u32>)>,
    /// Registers that they read.
    read: BTreeMap<RegisterId, u64>,
    /// Registers that were touched since the last fence.
    touched: BTreeSet<RegisterId>,
    /// There was no fence.
    is_unfenced: bool,
}

impl State {
    fn start() -> State {
        State { sums: BTreeMap::new(), read: BTreeMap::new(), touched: BTreeSet::new(), is_unfenced: true }
    }

    /// What may be on either way; whether that is more than before.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (register, (groups, shapes)) in &other.sums {
            let (least, all) = self.sums.entry(*register).or_insert_with(|| (*groups, BTreeSet::new()));
            *least = (*least).min(*groups);
            all.extend(shapes);
        }
        for (register, groups) in &other.read {
            let least = self.read.entry(*register).or_insert(*groups);
            *least = (*least).min(*groups);
        }
        self.touched.extend(&other.touched);
        self.is_unfenced |= other.is_unfenced;
        *self != before
    }

    /// Moves past an instruction; the register that it touches too early.
    fn step(&mut self, instruction: &Instruction, of_products: &BTreeSet<RegisterId>) -> Option<RegisterId> {
        let is_certain = instruction.guard.is_none();
        match &instruction.op {
            Op::Async { operation: AsyncOp::Product(product), .. } => return self.product(product),
            Op::Async { operation: AsyncOp::ProductFence, .. } if is_certain => {
                self.touched.clear();
                self.is_unfenced = false;
            }
            Op::Async { operation: AsyncOp::ProductCommit, .. } if is_certain => {
                let of_sums = self.sums.values_mut().map(|(groups, _)| groups);
                of_sums.chain(self.read.values_mut()).for_each(|groups| *groups = groups.saturating_add(1));
            }
            Op::Async { operation: AsyncOp::ProductWait { pending }, .. } if is_certain => {
                self.sums.retain(|_, (groups, _)| *groups <= *pending);
                self.read.retain(|_, groups| *groups <= *pending);
            }
            _ => {
                let (read, written) = registers(instruction);
                let early = read.iter().chain(&written).find(|register| self.sums.contains_key(register));
                let early = early.or_else(|| written.iter().find(|register| self.read.contains_key(register))).copied();
                self.touched.extend(read.into_iter().chain(written).filter(|one| of_products.contains(one)));
                return early;
            }
        }
        None
    }

    fn product(&mut self, product: &MatrixProduct) -> Option<RegisterId> {
        let (fragments, sums) = parts(product);
        let is_early = |register: &&RegisterId| self.is_unfenced || self.touched.contains(*register);
        let of_fragments = fragments.iter().find(|one| is_early(one) || self.sums.contains_key(*one));
        let shape = BTreeSet::from([product.columns]);
        let of_other = |register: &RegisterId| self.sums.get(register).is_some_and(|(_, shapes)| *shapes != shape);
        let of_sums = sums.iter().find(|one| is_early(one) || of_other(one) || self.read.contains_key(*one));
        let early = of_fragments.or(of_sums).copied();
        self.read.extend(fragments.into_iter().map(|register| (register, 0)));
        self.sums.extend(sums.into_iter().map(|register| (register, (0, shape.clone()))));
        early
    }
}

/// The registers of matrix A, if it is in registers, and the accumulators.
fn parts(product: &MatrixProduct) -> (Vec<RegisterId>, Vec<RegisterId>) {
    let fragments = if product.a.len() > 1 { product.a.as_slice() } else { &[] };
    let of = |operands: &[crate::ptx::ast::Operand]| operands.iter().flat_map(registers_of).collect();
    (of(fragments), of(&product.dst))
}

/// The instructions, each with the name of a register that it touches too early.
pub(super) fn early_touches(cfg: &Cfg) -> Vec<(Span, String)> {
    let instructions = |node: NodeIndex| {
        cfg.graph[node].statements.iter().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
    };
    let mut of_products = BTreeSet::new();
    for instruction in cfg.graph.node_indices().flat_map(instructions) {
        if let Op::Async { operation: AsyncOp::Product(product), .. } = &instruction.op {
            let (fragments, sums) = parts(product);
            of_products.extend(fragments.into_iter().chain(sums));
        }
    }
    let mut entries: BTreeMap<NodeIndex, State> = BTreeMap::from([(cfg.start, State::start())]);
    let order = Order::of(&Graph::of(&cfg.graph, cfg.start));
    let mut work = Worklist::new(&order);
    let mut found: BTreeMap<(NodeIndex, usize), (Span, RegisterId)> = BTreeMap::new();
    while let Some(node) = work.pop().map(NodeIndex::new) {
        let Some(mut state) = entries.get(&node).cloned() else { continue };
        for (index, instruction) in instructions(node).enumerate() {
            if let Some(register) = state.step(instruction, &of_products) {
                found.insert((node, index), (instruction.origin.span, register));
            }
        }
        for target in cfg.graph.neighbors(node) {
            let is_new = match entries.get_mut(&target) {
                Some(entry) => entry.join(&state),
                None => entries.insert(target, state.clone()).is_none(),
            };
            if is_new {
                work.push(target.index());
            }
        }
    }
    let name = |register: RegisterId| cfg.registers[register.0 as usize].name.to_string();
    found.into_values().map(|(span, register)| (span, name(register))).collect()
}
