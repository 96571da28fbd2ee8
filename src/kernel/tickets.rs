//! Counters: arrays that only additions of one sign change, apart from plain stores. What such additions return are
//! tickets, no two of which are alike.
//!
//! Input: the blocks of the kernel, in which additions of constants are marked (`{:adds c}`). Output: `{:ticket}` on the
//! additions of counters whose result is used; the marks are gone. `{:ticket n}` says what all additions change the counter
//! by at most, which is known where none is in a loop. With `{:each_interval}` it is what they change it by between two
//! barriers of the block (or from the start to the first one), which is known of shared counters where each way from an addition
//! back to itself passes a barrier: a thread executes each once there. `{:step g}` says that all additions are of multiples of g, if
//! g is not 1; it has the sign of the additions. Establishes: an array with a ticket is accessed by loads, weak
//! stores, additions of 0, which change nothing, and additions of other constants of one sign and one width, by single threads through
//! known pointers, and by nothing else; all additions of a launch (for shared memory: of a block), each executed once by each thread, change a
//! counter by less than it has values; with `{:each_interval}` those of each interval. Other additions in loops may be executed more often: that they do not wrap a counter is an
//! assumption, which is printed. Relies on: accesses through pointers of unknown origin stand in the program as accesses of
//! every array; a launch has fewer threads than `max_threads`. Reference: PTX ISA, `atom`; what follows from tickets is in
//! `twothread::tickets`.

use super::launch::most_threads;
use super::lowering::{Lowering, flag};
use super::regions::Space;
use crate::ivl::ast::{Attribute, AttributeArg, Block, ExprKind, Name, Stmt, StmtKind, Transfer};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::order::Scope;
use crate::ptx::ast::{Operand, ScalarType};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of an atomic whose result is a ticket.
pub(crate) const TICKET: &str = "ticket";
/// Beside [`TICKET`]: its number is about each interval between barriers of the block.
pub(crate) const EACH_INTERVAL: &str = "each_interval";
/// Beside [`TICKET`]: what all additions are multiples of.
pub(crate) const STEP: &str = "step";
/// The mark of an atomic that adds a constant.
pub(super) const ADDS: &str = "adds";

/// What is known of an array so far.
#[derive(Default)]
struct Counter {
    /// Something else than additions, weak loads and weak stores accesses it.
    spoiled: bool,
    /// Width of the additions in bytes.
    bytes: Option<u32>,
    /// Whether they subtract.
    is_down: Option<bool>,
    /// What one thread adds at most where each addition is executed once.
    sum: u128,
    /// What divides all that is added.
    step: u128,
    in_loop: bool,
    /// Whether a thread may execute an addition twice without a barrier between.
    is_unstepped: bool,
    /// Whether plain stores change it, too.
    is_stored: bool,
    has_tickets: bool,
}

/// The constant that an atomic adds, as a signed number. `inc` adds 1 to what is below its bound, and all is below this one.
pub(super) fn addend(operation: &str, ty: ScalarType, sources: &[Operand]) -> Option<i128> {
    let is_integer = matches!(ty, ScalarType::U(32 | 64) | ScalarType::S(32 | 64));
    match sources {
        [Operand::Integer(value)] if operation == "add" && is_integer => {
            let value = *value as i64;
            Some(if ty.bits() == 32 { i128::from(value as i32) } else { i128::from(value) })
        }
        // At the bound itself it gives 0, as an addition does.
        [Operand::Integer(value)] if operation == "inc" && ty == ScalarType::U(32) => {
            (*value as u32 == u32::MAX).then_some(1)
        }
        _ => None,
    }
}

impl Counter {
    /// What divides all that is added, negative where it is subtracted.
    fn signed_step(&self) -> i128 {
        if self.is_down == Some(true) { -(self.step as i128) } else { self.step as i128 }
    }
}

/// The mark of an atomic that adds a constant.
pub(super) fn adds(addend: i128) -> Attribute {
    number(ADDS, addend)
}

/// Whether an atomic adds 0.
pub(super) fn adds_nothing(stmt: &Stmt) -> bool {
    signed(stmt, ADDS) == Some(0)
}

impl Lowering<'_> {
    /// Finds the counters, and says what is assumed of them.
    pub(super) fn mark_tickets(&mut self, blocks: &mut [Block]) {
        let looping = in_loops(blocks, false);
        let unstepped = in_loops(blocks, true);
        let mut counters: BTreeMap<Name, Counter> = BTreeMap::new();
        for block in blocks.iter() {
            let loops = [&looping, &unstepped].map(|blocks| blocks.contains(&block.label));
            block.stmts.iter().for_each(|stmt| look(stmt, loops, &mut counters));
        }
        counters.retain(|_, counter| counter.has_tickets && !counter.spoiled);
        // An interval is what a block does; one counter of a launch has one only.
        let by_interval: BTreeSet<Name> = counters
            .iter()
            .filter(|(array, counter)| {
                counter.in_loop && !counter.is_unstepped && counter.is_stored && self.is_shared(array)
            })
            .map(|(array, _)| array.clone())
            .collect();
        let change = |(array, counter): (Name, Counter)| Some((self.change(&array, &counter)?, (array, counter)));
        let counters: BTreeMap<Name, (i128, Counter)> = counters
            .into_iter()
            .filter_map(change)
            .map(|(change, (array, counter))| (array, (change, counter)))
            .collect();
        for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
            let StmtKind::Atomic { dst, access } = &stmt.kind else { continue };
            let takes = dst.is_some() && !adds_nothing(stmt);
            stmt.attributes.retain(|attribute| attribute.name.as_str() != ADDS);
            if let Some((change, counter)) = counters.get(&access.array).filter(|_| takes) {
                let each_interval = by_interval.contains(&access.array);
                let is_known = each_interval || !counter.in_loop;
                stmt.attributes.push(if is_known { number(TICKET, *change) } else { flag(TICKET) });
                stmt.attributes.extend(each_interval.then(|| flag(EACH_INTERVAL)));
                stmt.attributes.extend((counter.step > 1).then(|| number(STEP, counter.signed_step())));
            }
        }
        let is_assumed = |array: &Name, counter: &Counter| counter.in_loop && !by_interval.contains(array);
        let assumed = counters.into_iter().filter(|(array, (_, counter))| is_assumed(array, counter));
        self.declarations.counters = assumed.map(|(array, (_, counter))| (array, counter.bytes.unwrap_or(0))).collect();
    }

    /// How far additions that each thread executes once change a counter; `None` where they may wrap it.
    fn change(&self, array: &Name, counter: &Counter) -> Option<i128> {
        let geometry = &self.launch.geometry;
        let product = |sizes: &[Option<u32>]| {
            sizes.iter().try_fold(1u128, |product, size| size.map(|size| product.saturating_mul(u128::from(size))))
        };
        let threads = match self.is_shared(array) {
            true => product(&geometry.block).unwrap_or(u128::from(most_threads(self.entry))),
            false => product(&geometry.sizes().collect::<Vec<_>>()).unwrap_or(u128::from(self.options.max_threads)),
        };
        let values = 1u128 << (8 * counter.bytes.unwrap_or(0)).min(64);
        let change = counter.sum.checked_mul(threads).filter(|change| *change < values)? as i128;
        Some(if counter.is_down == Some(true) { -change } else { change })
    }

    /// What is assumed of counters that additions in loops change.
    pub(super) fn counters<'s>(&'s self, names: &'s BTreeMap<Name, String>) -> impl Iterator<Item = String> + 's {
        self.declarations.counters.iter().map(|(array, bytes)| {
            let name = names.get(array).map_or(array.as_str(), String::as_str);
            let whole = if self.is_shared(array) { "block" } else { "launch" };
            let bits = 8 * bytes;
            format!("no counter in `{name}` wraps: what one {whole} adds to it atomically is less than 2^{bits}")
        })
    }

    /// Whether an array is in shared memory.
    fn is_shared(&self, array: &Name) -> bool {
        let regions = self.pointers.regions.all.iter().zip(&self.declarations.arrays);
        let mut found = regions.filter(|(_, name)| name.as_ref() == Some(array));
        found.any(|(region, _)| region.space == Space::Shared)
    }
}

fn look(stmt: &Stmt, [in_loop, is_unstepped]: [bool; 2], counters: &mut BTreeMap<Name, Counter>) {
    let access = match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => access,
        _ => return,
    };
    let counter = counters.entry(access.array.clone()).or_default();
    counter.spoiled |= stmt.attributes.has("unknown_pointer") || access.collective.is_some();
    let StmtKind::Atomic { dst, .. } = &stmt.kind else {
        // A strong store does not race with additions, so it may come between two.
        let is_store = matches!(stmt.kind, StmtKind::Store { .. });
        counter.spoiled |= is_store && access.strong.is_some();
        counter.is_stored |= is_store;
        return;
    };
    if adds_nothing(stmt) {
        return;
    }
    let Some(added) = signed(stmt, ADDS).filter(|added| *added != 0) else {
        counter.spoiled = true;
        return;
    };
    // The host may add, too, where an addition is meant to be seen there.
    counter.spoiled |= access.strong == Some(Scope::Sys);
    counter.spoiled |= *counter.bytes.get_or_insert(access.bytes) != access.bytes;
    counter.spoiled |= *counter.is_down.get_or_insert(added < 0) != (added < 0);
    counter.sum += added.unsigned_abs();
    counter.step = gcd(counter.step, added.unsigned_abs());
    counter.in_loop |= in_loop;
    counter.is_unstepped |= is_unstepped;
    counter.has_tickets |= dst.is_some();
}

/// The greatest common divisor; that with 0 is the other number.
fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The number that an attribute of a statement has.
pub(crate) fn signed(stmt: &Stmt, name: &str) -> Option<i128> {
    let found = stmt.attributes.all().iter().find(|attribute| attribute.name.as_str() == name)?;
    match found.condition()?.kind {
        ExprKind::Int(value) => Some(value),
        _ => None,
    }
}

fn number(name: &str, value: i128) -> Attribute {
    Attribute { name: Name::from(name), args: vec![AttributeArg::Expr(bv::int(value))] }
}

/// The blocks that may be executed more than once; `stepping`: without a barrier between. (A barrier that is not of the whole block is
/// refused later.)
fn in_loops(blocks: &[Block], stepping: bool) -> BTreeSet<Name> {
    let is_barrier = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Barrier(_));
    let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
    // Each round of a cycle through a block executes all of it.
    let counted = blocks.iter().filter(|block| !(stepping && block.stmts.iter().any(is_barrier)));
    for block in counted.clone() {
        graph.add_node(block.label.as_str());
    }
    for block in counted {
        if let Transfer::Goto(targets) = &block.transfer {
            for target in targets.iter().filter(|target| graph.contains_node(target.as_str())).collect::<Vec<_>>() {
                graph.add_edge(block.label.as_str(), target.as_str(), ());
            }
        }
    }
    let cycles = tarjan_scc(&graph).into_iter().filter(|part| part.len() > 1 || graph.contains_edge(part[0], part[0]));
    cycles.flatten().map(Name::from).collect()
}
