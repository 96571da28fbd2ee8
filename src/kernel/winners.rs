//! Words that one thread wins: places that only exchanges, or only atomic `or`s, or only `and`s change, apart from plain stores.
//!
//! Input: the blocks of the kernel, in which such atomics are marked with what they write. Output: `{:winner "exchange", values}`,
//! `{:winner "compare", old, values}`, `{:winner "set", mask}`, `{:winner "clear", mask}` on those whose result is used; the marks
//! are gone. The values are all that exchanges and compare-and-swaps of the array write, over constants of the launch.
//! Establishes: an array with a winner is accessed by loads, weak stores, additions of 0 and atomics of one of these three
//! kinds, of one width, not at the scope of the system, by single threads through known pointers, and by nothing else; what
//! exchanges and compare-and-swaps write is the same for all threads, each time. Relies on: accesses through pointers of unknown
//! origin stand in the program as accesses of every array; a register that is assigned once and read has that value (reads that
//! may come before have arbitrary values of their own). Reference: PTX ISA, `atom`; what follows is in `twothread::winners`.

use super::lowering::Lowering;
use super::tickets::adds_nothing;
use crate::ivl::ast::{Attribute, AttributeArg, Block, ExprKind, ExprRef, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::visit::{assigned, map_children};
use crate::order::Scope;
use crate::ptx::ast::{Operand, ScalarType};
use crate::twothread::copies::Variation;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of an atomic that at most one thread wins.
pub(crate) const WINNER: &str = "winner";
/// The mark of an exchange: what it writes.
pub(super) const EXCHANGES: &str = "exchanges";
/// The mark of a compare-and-swap: what it compares with, and what it writes.
pub(super) const COMPARES: &str = "compares";
/// The mark of an `or`: its mask.
pub(super) const SETS: &str = "sets";
/// The mark of an `and`: its mask.
const CLEARS: &str = "clears";

/// Expressions with more nodes than this are not looked at.
const MOST_NODES: usize = 50;

/// Different values that exchanges may write.
const MOST_VALUES: usize = 8;

/// Kinds of changes that an array may have, one only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Exchange,
    Set,
    Clear,
}

/// What is known of an array so far.
#[derive(Default)]
struct Word {
    spoiled: bool,
    /// Width of the atomics in bytes.
    bytes: Option<u32>,
    kind: Option<Kind>,
    /// What exchanges write, over constants of the launch.
    values: Vec<ExprRef>,
}

impl Lowering<'_> {
    /// The mark of an atomic that is no addition.
    pub(super) fn mark_of_change(&mut self, operation: &str, ty: ScalarType, sources: &[Operand]) -> Option<Attribute> {
        let bits = ty.bits();
        if bits > 64 || ty.atomic_parts() != 1 {
            return None;
        }
        let (name, operands) = match (operation, sources) {
            ("exch", [_]) => (EXCHANGES, sources),
            ("cas", [_, _]) => (COMPARES, sources),
            ("or", [_]) => (SETS, sources),
            ("and", [_]) => (CLEARS, sources),
            _ => return None,
        };
        let args = operands.iter().map(|operand| AttributeArg::Expr(self.read(operand, bits))).collect();
        Some(Attribute { name: Name::from(name), args })
    }

    /// Marks the atomic that was emitted last.
    pub(super) fn mark_atomic(&mut self, mark: Attribute) {
        if let Some(Stmt { kind: StmtKind::Atomic { .. }, attributes, .. }) = self.statements.last_mut() {
            attributes.push(mark);
        }
    }

    /// Marks the store that was emitted last.
    pub(super) fn mark_store(&mut self, mark: Attribute) {
        if let Some(Stmt { kind: StmtKind::Store { .. }, attributes, .. }) = self.statements.last_mut() {
            attributes.push(mark);
        }
    }

    /// Marks the loads that were emitted behind the first statements.
    pub(super) fn mark_loads(&mut self, behind: usize, marks: &[Attribute]) {
        for stmt in self.statements.iter_mut().skip(behind) {
            if matches!(stmt.kind, StmtKind::Load { .. }) {
                stmt.attributes.extend_from_slice(marks);
            }
        }
    }

    /// What registers are, of those that are assigned once.
    pub(super) fn once(&self, blocks: &[Block]) -> Once {
        let constants = self.declarations.constants.iter().map(|constant| &constant.variable);
        let of_launch = constants.filter(|constant| Variation::of(constant) == Variation::Launch);
        Once { constants: of_launch.map(|constant| constant.name.clone()).collect(), values: once(blocks) }
    }

    /// Finds the words with winners.
    pub(super) fn mark_winners(&mut self, blocks: &mut [Block]) {
        let once = self.once(blocks);
        let mut words: BTreeMap<Name, Word> = BTreeMap::new();
        blocks.iter().flat_map(|block| &block.stmts).for_each(|stmt| look(stmt, &once, &mut words));
        words.retain(|_, word| !word.spoiled);
        for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
            let StmtKind::Atomic { dst, access } = &stmt.kind else { continue };
            let mark = stmt.attributes.iter().position(|a| kind_of(a).is_some()).map(|at| stmt.attributes.remove(at));
            if let (Some(mark), Some(word), Some(_)) = (mark, words.get(&access.array), dst) {
                stmt.attributes.push(winner(mark, word));
            }
        }
    }
}

/// The attribute for a mark.
fn winner(mark: Attribute, word: &Word) -> Attribute {
    let what = match mark.name.as_str() {
        EXCHANGES => "exchange",
        COMPARES => "compare",
        SETS => "set",
        _ => "clear",
    };
    // What is written stands among the values.
    let own = match what {
        "exchange" => 0,
        _ => 1,
    };
    let values = word.values.iter().cloned().map(AttributeArg::Expr);
    let args = [AttributeArg::Text(what.to_string())].into_iter().chain(mark.args.into_iter().take(own)).chain(values);
    Attribute { name: Name::from(WINNER), args: args.collect() }
}

pub(super) fn kind_of(mark: &Attribute) -> Option<Kind> {
    match mark.name.as_str() {
        EXCHANGES | COMPARES => Some(Kind::Exchange),
        SETS => Some(Kind::Set),
        CLEARS => Some(Kind::Clear),
        _ => None,
    }
}

fn look(stmt: &Stmt, once: &Once, words: &mut BTreeMap<Name, Word>) {
    let access = match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => access,
        _ => return,
    };
    let word = words.entry(access.array.clone()).or_default();
    word.spoiled |= stmt.attributes.has("unknown_pointer") || access.collective.is_some();
    if !matches!(stmt.kind, StmtKind::Atomic { .. }) {
        // A strong store does not race with atomics, so it may come between two.
        word.spoiled |= matches!(stmt.kind, StmtKind::Store { .. }) && access.strong.is_some();
        return;
    }
    if adds_nothing(stmt) {
        return;
    }
    let Some((mark, kind)) = stmt.attributes.iter().find_map(|mark| Some((mark, kind_of(mark)?))) else {
        word.spoiled = true;
        return;
    };
    // The host may write, too, where an atomic is meant to be seen there.
    word.spoiled |= access.strong == Some(Scope::Sys);
    word.spoiled |= *word.bytes.get_or_insert(access.bytes) != access.bytes;
    word.spoiled |= *word.kind.get_or_insert(kind) != kind;
    let Some(AttributeArg::Expr(written)) = mark.args.last().filter(|_| kind == Kind::Exchange) else { return };
    match once.resolved(written) {
        Some(value) if !word.values.contains(&value) => word.values.push(value),
        Some(_) => {}
        None => word.spoiled = true,
    }
    word.spoiled |= word.values.len() > MOST_VALUES;
}

/// Values of registers that are assigned once, and the constants of the launch.
pub(super) struct Once {
    constants: BTreeSet<Name>,
    values: BTreeMap<Name, ExprRef>,
}

impl Once {
    /// The expression over constants of the launch alone; `None` if it depends on anything else, or is large.
    pub(super) fn resolved(&self, e: &ExprRef) -> Option<ExprRef> {
        let mut nodes = MOST_NODES;
        self.resolve(e, &mut nodes)
    }

    /// What a register has of itself uses up the nodes.
    fn resolve(&self, e: &ExprRef, nodes: &mut usize) -> Option<ExprRef> {
        *nodes = nodes.checked_sub(1)?;
        match &e.kind {
            ExprKind::Var(name) if self.constants.contains(name) => Some(e.clone()),
            ExprKind::Var(name) => self.resolve(self.values.get(name)?, nodes),
            ExprKind::Quantifier { .. } | ExprKind::Old(_) | ExprKind::Select(..) | ExprKind::Store(..) => None,
            _ => {
                let mut failed = false;
                let result = map_children(e, &mut |child| match self.resolve(child, nodes) {
                    Some(resolved) if !failed => resolved,
                    _ => {
                        failed = true;
                        child.clone()
                    }
                });
                (!failed).then_some(result)
            }
        }
    }
}

/// The values of variables that one assignment gives, and nothing else.
fn once(blocks: &[Block]) -> BTreeMap<Name, ExprRef> {
    let mut times: BTreeMap<&Name, u32> = BTreeMap::new();
    let mut values = BTreeMap::new();
    for stmt in blocks.iter().flat_map(|block| &block.stmts) {
        assigned(stmt).into_iter().for_each(|name| *times.entry(name).or_default() += 1);
        if let StmtKind::Assign(pairs) = &stmt.kind {
            values.extend(pairs.iter().cloned());
        }
    }
    values.retain(|name, _| times.get(name) == Some(&1));
    values
}
