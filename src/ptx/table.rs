//! The instruction table: which modifiers and operands each opcode takes, and what it means.
//!
//! Input: an opcode with its modifiers, as written.
//! Output: the [`Selected`] form, or what was wrong with it and what is allowed.
//! Establishes: nothing outside the table is ever accepted.
//! Relies on: the rows in the `table_*` files.
//! Reference: PTX ISA, chapter "Instruction Set", section "Instructions"; rows are cited by opcode.
//!
//! The pattern language of the rows is explained in [`super::pattern`]. As in ptxas, the order of
//! modifiers is free; only types among themselves and state spaces among themselves keep theirs.

use super::ast::{IntOp, ScalarType};
use super::pattern::{self, ModifierSlot, OperandPattern, SlotPresence};
use super::words::scalar_type;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// Why there are no proofs about asynchronous copies.
pub(crate) const ASYNC: &str = "asynchronous copies are not modelled";
pub(crate) const TENSORMAP: &str = "tensor maps are not modelled";

/// Why there are no proofs about barrier objects.
pub(crate) const MBARRIER: &str = "mbarrier objects are not modelled";

/// Why there are no proofs about barriers of clusters.
pub(crate) const CLUSTER: &str = "clusters are not modelled";

/// Why there are no proofs about `tcgen05`.
pub(crate) const TENSOR_MEMORY: &str = "tensor memory is not modelled";

/// Why there are no proofs about kernels that change how many registers their threads have.
pub(crate) const REGISTERS: &str = "it may block a warp group until registers are free";

/// What an instruction means; [`super::build`] makes the typed operation of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // named after the variants of `ast::Op`
pub(crate) enum Meaning {
    Int(IntOp),
    Lop3,
    Float,
    Setp,
    Set,
    Selp,
    Mov,
    /// Moves of several elements: `Op::Mov` for each.
    VectorMove,
    Cvt,
    Cvta,
    Load,
    Store,
    Atomic,
    Matrix,
    Branch,
    BranchIndexed,
    Return,
    Exit,
    Trap,
    Call,
    BarrierSync,
    BarrierArrive,
    BarrierReduce,
    WarpBarrier,
    Fence,
    Arbitrary,
    AsyncCopy,
    AsyncCommit,
    AsyncWait,
    AsyncArrive,
    /// `st.async`, `red.async`
    Remote,
    Bulk,
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`
    Tensor,
    /// `tensormap`, and the fence for tensor maps
    Map,
    BulkCommit,
    BulkWait,
    /// What is done with a barrier object.
    Object,
    ClusterBarrier,
    /// `wgmma`
    Product,
    /// `tcgen05`
    TensorMemory,
    /// `setmaxnreg`
    Registers,
    Nothing,
    /// No sound model; the reason.
    Unsupported(&'static str),
}

/// What the tool makes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Values and control are modelled exactly.
    Exact,
    /// An uninterpreted value: no effect on memory or control.
    Value,
    /// An access to memory.
    Memory,
    /// Orders threads or accesses.
    Synchronisation,
    /// The emulator executes it, but there is no sound model for proofs yet; the reason.
    Emulated(&'static str),
    /// No sound model; the reason.
    Unsupported(&'static str),
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Class::Exact => f.write_str("exact model"),
            Class::Value => f.write_str("uninterpreted value"),
            Class::Memory => f.write_str("memory access"),
            Class::Synchronisation => f.write_str("synchronisation"),
            Class::Emulated(reason) => write!(f, "emulated only: {reason}"),
            Class::Unsupported(reason) => write!(f, "unsupported: {reason}"),
        }
    }
}

/// A row as written in the table files.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// First word of the opcode.
    pub opcode: &'static str,
    /// Modifier pattern.
    pub modifiers: &'static str,
    /// Operand pattern.
    pub(crate) operands: &'static str,
    /// Meaning.
    pub(crate) meaning: Meaning,
}

/// Shorthand for a row.
pub(crate) const fn form(
    opcode: &'static str,
    modifiers: &'static str,
    operands: &'static str,
    meaning: Meaning,
) -> Form {
    Form { opcode, modifiers, operands, meaning }
}

/// A parsed row.
#[derive(Debug)]
pub struct Row {
    /// The row as written.
    pub form: Form,
    slots: Vec<ModifierSlot>,
    /// The operand slots.
    pub(crate) operands: Vec<OperandPattern>,
    /// What it means.
    pub(crate) meaning: Meaning,
}

/// A row with the modifiers that matched it.
#[derive(Clone, Debug)]
pub struct Selected {
    pub row: &'static Row,
    /// The modifiers, as the table spells them, in the order of the row's slots.
    pub(crate) modifiers: Vec<&'static str>,
    /// The types among them, in order.
    pub(crate) types: Vec<ScalarType>,
}

impl Selected {
    /// Whether a modifier was written.
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The number of elements of `.v2`, `.v4` or `.v8`; otherwise 1.
    pub(crate) fn elements(&self) -> u32 {
        [("v2", 2), ("v4", 4), ("v8", 8)].iter().find(|(name, _)| self.has(name)).map_or(1, |&(_, n)| n)
    }
}

/// Why no row matched.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// No such opcode; the nearest ones.
    Opcode(Vec<&'static str>),
    /// The modifier of this index is wrong, or, if the index is the number of modifiers, one is
    /// missing; what is allowed there.
    Modifier(usize, Vec<&'static str>),
}

/// The rows of an opcode, parsed when a program has it.
#[derive(Default)]
struct Opcode {
    forms: Vec<Form>,
    rows: OnceLock<Vec<Row>>,
}

impl Opcode {
    fn rows(&self) -> &[Row] {
        let row = |&form: &Form| {
            let (slots, operands) = (pattern::modifier_slots(&form), pattern::operand_slots(&form));
            Row { form, slots, operands, meaning: form.meaning }
        };
        self.rows.get_or_init(|| self.forms.iter().map(row).collect())
    }
}

static TABLE: LazyLock<BTreeMap<&'static str, Opcode>> = LazyLock::new(|| {
    let mut table: BTreeMap<&'static str, Opcode> = BTreeMap::new();
    let files = [
        super::table_arithmetic::FORMS,
        super::table_memory::FORMS,
        super::table_async::FORMS,
        super::table_fabric::FORMS,
        super::table_matrix::FORMS,
        super::table_texture::FORMS,
        super::table_control::FORMS,
    ];
    for &form in files.into_iter().flatten() {
        table.entry(form.opcode).or_default().forms.push(form);
    }
    table
});

/// All rows, by opcode.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.values().flat_map(Opcode::rows)
}

/// The rows of an opcode; `None` if PTX has no such opcode.
pub(crate) fn rows_of(opcode: &str) -> Option<&'static [Row]> {
    TABLE.get(opcode).map(Opcode::rows)
}

/// Words that keep their order among themselves.
#[derive(Clone, Copy, PartialEq)]
enum Sequence {
    Types,
    Spaces,
}

fn sequence(word: &str) -> Option<Sequence> {
    match word {
        "shared" | "shared::cta" | "shared::cluster" | "global" => Some(Sequence::Spaces),
        _ => scalar_type(word).map(|_| Sequence::Types),
    }
}

/// State spaces without the caches of global memory.
const ELSEWHERE: [&str; 4] = ["shared", "local", "param", "const"];

/// Why a row does not match.
struct Wrong {
    /// How many modifiers have a place in the row.
    taken: usize,
    /// The index of the wrong modifier; the number of modifiers if one is missing.
    at: usize,
    /// What is allowed there.
    allowed: Vec<&'static str>,
}

impl Row {
    /// For each slot the index and spelling of the modifier it takes.
    fn take(&self, modifiers: &[&str]) -> Result<Vec<Option<(usize, &'static str)>>, Wrong> {
        let mut taken: Vec<Option<(usize, &'static str)>> = vec![None; self.slots.len()];
        for (at, modifier) in modifiers.iter().enumerate() {
            let own = sequence(modifier);
            let after = taken.iter().rposition(|word| own.is_some() && word.and_then(|(_, w)| sequence(w)) == own);
            let free = |index: &usize| taken[*index].is_none() && after.is_none_or(|after| *index > after);
            let find = |index: usize| {
                let found = self.slots[index].alternatives.iter().find(|word| *word == modifier);
                found.map(|found| (index, *found))
            };
            match (0..self.slots.len()).filter(free).find_map(find) {
                Some((index, found)) => taken[index] = Some((at, found)),
                None => {
                    let free = (0..self.slots.len()).filter(|index| taken[*index].is_none());
                    let allowed = free.flat_map(|index| self.slots[index].alternatives.clone()).collect();
                    return Err(Wrong { taken: at, at, allowed });
                }
            }
        }
        Ok(taken)
    }

    /// Matches all modifiers. They come out in slot order, so that types are where the row has them.
    fn matches(&self, modifiers: &[&str]) -> Result<Vec<&'static str>, Wrong> {
        let taken = self.take(modifiers)?;
        let wrong = |at, allowed| Wrong { taken: modifiers.len(), at, allowed };
        if let Some(at) = self.misplaced_hint(modifiers) {
            return Err(wrong(at, Vec::new()));
        }
        for (index, slot) in self.slots.iter().enumerate() {
            let previous = index.checked_sub(1).and_then(|previous| taken[previous]);
            let missing = match slot.presence {
                SlotPresence::Always => true,
                SlotPresence::WithPrevious => previous.is_some(),
                SlotPresence::Optional | SlotPresence::WithoutPrevious => false,
            };
            match (taken[index], slot.presence) {
                (None, _) if missing => return Err(wrong(modifiers.len(), slot.alternatives.clone())),
                (Some((at, _)), SlotPresence::WithPrevious) if previous.is_none() => {
                    return Err(wrong(at, self.slots[index - 1].alternatives.clone()));
                }
                (Some((at, _)), SlotPresence::WithoutPrevious) if previous.is_some() => {
                    return Err(wrong(at, Vec::new()));
                }
                _ => {}
            }
        }
        Ok(taken.into_iter().flatten().map(|(_, word)| word).collect())
    }

    /// Of an access elsewhere than in global memory, a modifier about caches of global memory.
    fn misplaced_hint(&self, modifiers: &[&str]) -> Option<usize> {
        if !matches!(self.meaning, Meaning::Load | Meaning::Store | Meaning::Atomic) {
            return None;
        }
        let elsewhere = |word: &&str| ELSEWHERE.contains(&word.split("::").next().unwrap_or_default());
        modifiers.iter().find(|word| elsewhere(word))?;
        modifiers.iter().position(|word| word.starts_with("L1::") || word.starts_with("L2::"))
    }

    /// Whether the row has all these modifiers, besides others.
    pub(crate) fn has_all(&self, modifiers: &[&str]) -> bool {
        self.take(modifiers).is_ok()
    }

    /// The semantic class.
    pub fn class(&self) -> Class {
        match self.meaning {
            Meaning::Int(_) | Meaning::Lop3 | Meaning::Selp | Meaning::Mov | Meaning::VectorMove => Class::Exact,
            Meaning::Cvta | Meaning::Branch => Class::Exact,
            Meaning::BranchIndexed | Meaning::Return | Meaning::Exit | Meaning::Trap | Meaning::Call => Class::Exact,
            Meaning::Nothing => Class::Exact,
            Meaning::Setp | Meaning::Set | Meaning::Cvt => match self.names_float() {
                true => Class::Value,
                false => Class::Exact,
            },
            Meaning::Float | Meaning::Arbitrary => Class::Value,
            Meaning::Load | Meaning::Store | Meaning::Atomic | Meaning::Matrix => Class::Memory,
            Meaning::BarrierSync | Meaning::BarrierArrive | Meaning::BarrierReduce => Class::Synchronisation,
            Meaning::WarpBarrier | Meaning::Fence => Class::Synchronisation,
            Meaning::AsyncCopy | Meaning::Product => Class::Memory,
            Meaning::AsyncCommit | Meaning::AsyncWait => Class::Synchronisation,
            Meaning::AsyncArrive | Meaning::Remote | Meaning::Tensor => Class::Emulated(ASYNC),
            Meaning::Bulk | Meaning::BulkCommit | Meaning::BulkWait => Class::Emulated(ASYNC),
            Meaning::TensorMemory => Class::Emulated(TENSOR_MEMORY),
            Meaning::Map => Class::Emulated(TENSORMAP),
            Meaning::Registers => Class::Emulated(REGISTERS),
            Meaning::Object => Class::Emulated(MBARRIER),
            Meaning::ClusterBarrier => Class::Emulated(CLUSTER),
            Meaning::Unsupported(reason) => Class::Unsupported(reason),
        }
    }

    /// Whether a type of the row is a floating-point one. Rows have only such types in a slot, or none.
    fn names_float(&self) -> bool {
        let types = self.slots.iter().flat_map(|slot| &slot.alternatives).filter_map(|word| scalar_type(word));
        types.into_iter().any(ScalarType::is_float)
    }

    /// The modifier slots.
    pub(crate) fn modifiers(&self) -> &[ModifierSlot] {
        &self.slots
    }
}

/// Finds the row for an opcode and its modifiers.
pub fn select(opcode: &str, modifiers: &[&str]) -> Result<Selected, Mismatch> {
    let Some(rows) = rows_of(opcode) else { return Err(Mismatch::Opcode(nearest(opcode))) };
    let mut best = Wrong { taken: 0, at: 0, allowed: Vec::new() };
    for row in rows {
        match row.matches(modifiers) {
            Ok(modifiers) => {
                let types = modifiers.iter().filter_map(|modifier| scalar_type(modifier)).collect();
                return Ok(Selected { row, modifiers, types });
            }
            Err(wrong) if wrong.taken > best.taken => best = wrong,
            Err(wrong) if (wrong.taken, wrong.at) == (best.taken, best.at) => best.allowed.extend(wrong.allowed),
            Err(_) => {}
        }
    }
    best.allowed.sort_unstable();
    best.allowed.dedup();
    Err(Mismatch::Modifier(best.at, best.allowed))
}

/// Up to three opcodes that differ little from a misspelt one.
fn nearest(opcode: &str) -> Vec<&'static str> {
    // Longer words are garbage, and the distance costs the product of the lengths.
    if opcode.len() > 32 {
        return Vec::new();
    }
    let allowed = 1 + opcode.len() / 4;
    let mut near: Vec<(usize, &'static str)> =
        TABLE.keys().map(|known| (edit_distance(opcode, known), *known)).filter(|&(d, _)| d <= allowed).collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, known)| known).collect()
}

/// Levenshtein distance in bytes.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substitute = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(full: &str) -> Result<Selected, Mismatch> {
        let mut parts = full.split('.');
        let opcode = parts.next().unwrap_or_default();
        select(opcode, &parts.collect::<Vec<_>>())
    }

    #[test]
    fn every_row_parses() {
        assert!(TABLE.len() > 100);
    }

    #[test]
    fn memory_modifiers_come_in_any_order() {
        for full in ["atom.add.release.gpu.u32", "atom.global.gpu.acq_rel.add.u32", "red.global.gpu.relaxed.add.v4.f32"]
        {
            let selected = pick(full).unwrap();
            assert_eq!(selected.row.meaning, Meaning::Atomic, "{full}");
        }
        assert_eq!(pick("fence.cta.sc").unwrap().row.meaning, Meaning::Fence);
        assert_eq!(pick("ld.global.gpu.acquire.b32").unwrap().types, vec![ScalarType::B(32)]);
    }

    #[test]
    fn mismatches_name_what_is_allowed() {
        assert_eq!(pick("ad.s32").unwrap_err(), Mismatch::Opcode(vec!["add", "and", "ld"]));
        let Err(Mismatch::Modifier(at, expected)) = pick("bra.sometimes") else { panic!() };
        assert_eq!((at, expected), (0, vec!["uni"]));
        let Err(Mismatch::Modifier(at, expected)) = pick("shl") else { panic!() };
        assert_eq!((at, expected), (0, vec!["b16", "b32", "b64"]));
        assert!(pick("add.f32.wide").is_err());
    }
}
