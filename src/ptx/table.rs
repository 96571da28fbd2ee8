//! The instruction table: which modifiers and operands each opcode takes, and what it means.
//!
//! Input: an opcode with its modifiers, as written.
//! Output: the [`Selected`] form, or what was wrong with it and what is allowed.
//! Establishes: nothing outside the table is ever accepted.
//! Relies on: the rows in `table_arithmetic`, `table_memory` and `table_control`.
//! Reference: PTX ISA, chapter "Instruction Set", section "Instructions"; rows are cited by opcode.
//!
//! A row is written in a small pattern language. *Modifiers* are slots separated by blanks; a slot
//! is alternatives `a|b|c`, `$group` (see `GROUPS`) or `#shape` (`m16n8k16`), with `?` if it may
//! be missing and `*` if it may occur any number of times; a final `**` takes whatever follows.
//! As in ptxas, the order of modifiers is free (only types among themselves keep theirs), except in
//! rows with `*` or `**`. *Operands* are described in [`OperandSlot`].

use super::ast::{IntOp, ScalarType};
use super::words::scalar_type;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What an instruction means; [`super::build`] makes the typed operation of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // named after the variants of `ast::Op`
pub enum Meaning {
    Int(IntOp),
    Lop3,
    Float,
    Setp,
    Set,
    Selp,
    Mov,
    Cvt,
    Cvta,
    Load,
    Store,
    Atomic,
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
    Nothing,
    /// No sound model; the reason.
    Unsupported(&'static str),
}

/// A row as written in the table files.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// First word of the opcode.
    pub opcode: &'static str,
    /// Modifier pattern.
    pub modifiers: &'static str,
    /// Operand pattern.
    pub operands: &'static str,
    /// Meaning.
    pub meaning: Meaning,
}

/// Shorthand for a row.
pub const fn form(opcode: &'static str, modifiers: &'static str, operands: &'static str, meaning: Meaning) -> Form {
    Form { opcode, modifiers, operands, meaning }
}

/// Names for sets of alternatives that occur often.
const GROUPS: &[(&str, &str)] = &[
    ("int", "u16|u32|u64|s16|s32|s64"),
    ("int32", "u32|u64|s32|s64"),
    ("bits", "b16|b32|b64"),
    ("select", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("move", "pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("memory", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("round", "rn|rz|rm|rp"),
    ("comparison", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("bool", "and|or|xor"),
    ("scope", "cta|cluster|gpu|sys"),
    ("space", "global|shared|shared::cta|shared::cluster|local|param|param::entry|param::func|const"),
    (
        "convert",
        "u8|u16|u32|u64|s8|s16|s32|s64|f16|f32|f64|bf16|f16x2|bf16x2|tf32|e4m3x2|e5m2x2|e2m1x2|e2m3x2|e3m2x2|\
         ue8m0x2|s2f6x2|e4m3x4|e5m2x4|e2m1x4|e2m3x4|e3m2x4",
    ),
    ("evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"),
    ("evict2", "L2::evict_normal|L2::evict_first|L2::evict_last"),
    (
        "mma",
        "sync|aligned|#shape|row|col|satfinite|xor|and|popc|rn|rz|rm|rp|kind::f8f6f4|kind::mxf8f6f4|kind::mxf4|\
         kind::mxf4nvf4|block_scale|scale_vec::1X|scale_vec::2X|scale_vec::4X|f16|bf16|tf32|f32|f64|s32|u8|s8|u4|s4|\
         b1|e4m3|e5m2|e3m2|e2m3|e2m1|ue8m0|ue4m3",
    ),
    ("video", "u32|s32|u64|s64|sat|min|max|add|po|shr7|shr15|wrap|clamp|eq|ne|lt|le|gt|ge"),
    (
        "query",
        "width|height|depth|channel_data_type|channel_order|normalized_coords|force_unnormalized_coords|\
         filter_mode|addr_mode_0|addr_mode_1|addr_mode_2|array_size|num_mipmap_levels|num_samples|memory_layout|level",
    ),
];

/// How an operand is checked. Patterns: `t` and `u` are the first and second type among the
/// modifiers, `w` is twice as wide as `t`; other words are types.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandSlot {
    /// `=t`: a destination; `=~t`: a register at least as wide; `=t|p`: with an optional second one.
    Destination(Width, Option<Width>),
    /// `t`: a source; `~t`: a register at least as wide. Predicates may be negated.
    Source(Width),
    /// `=v`: as many destinations as `.v2`, `.v4`, `.v8` says, at least as wide as `t`.
    VectorDestination,
    /// `v`: as many sources.
    VectorSource,
    /// `={}`: registers of any width, one or a vector.
    AnyDestination,
    /// `[]`
    Address,
    /// `imm`: an integer constant; `imm8`: from 0 to 255.
    Immediate {
        /// Largest value.
        maximum: u64,
    },
    /// `a`: an address as a value (register or variable).
    AddressValue,
    /// `=mov` and `mov`, checked together.
    MoveDestination,
    /// See [`OperandSlot::MoveDestination`].
    MoveSource,
    /// `label`
    Label,
    /// `table`: the name of a `.branchtargets` list.
    Table,
    /// `call`: all operands of a call.
    Call,
    /// `*`: any further operands; not checked.
    Rest,
}

/// A type that an operand slot refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// Which type.
    pub of: TypeRef,
    /// Wider registers are allowed too.
    pub relaxed: bool,
}

/// Where a type comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeRef {
    /// The n-th type among the modifiers.
    Modifier(usize),
    /// Twice as wide as the first type.
    Double,
    /// Always this type.
    Fixed(ScalarType),
}

/// A slot of the modifier pattern.
#[derive(Clone, Debug)]
struct ModifierSlot {
    alternatives: Vec<&'static str>,
    optional: bool,
    repeated: bool,
}

/// A parsed row.
#[derive(Debug)]
pub struct Row {
    any_order: bool,
    slots: Vec<ModifierSlot>,
    open_ended: bool,
    /// Operands with "may be missing".
    pub operands: Vec<(OperandSlot, bool)>,
    /// What it means.
    pub meaning: Meaning,
}

/// A row with the modifiers that matched it.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The row.
    pub row: &'static Row,
    /// The modifiers, as the table spells them; those taken by `**` and `#shape` are left out.
    pub modifiers: Vec<&'static str>,
    /// The types among them, in order.
    pub types: Vec<ScalarType>,
}

impl Selected {
    /// Whether a modifier was written.
    pub fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The number of elements of `.v2`, `.v4` or `.v8`; otherwise 1.
    pub fn elements(&self) -> u32 {
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

static TABLE: LazyLock<BTreeMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut table: BTreeMap<&'static str, Vec<Row>> = BTreeMap::new();
    let files = [super::table_arithmetic::FORMS, super::table_memory::FORMS, super::table_control::FORMS];
    for form in files.into_iter().flatten() {
        table.entry(form.opcode).or_default().push(parse_row(form));
    }
    for opcode in super::table_control::VIDEO_OPCODES {
        let row = form(opcode, "$video*", "={} *", Meaning::Arbitrary);
        table.entry(opcode).or_default().push(parse_row(&row));
    }
    table
});

fn parse_row(form: &Form) -> Row {
    let mut slots = Vec::new();
    let mut open_ended = false;
    for word in form.modifiers.split_whitespace() {
        if word == "**" {
            open_ended = true;
            continue;
        }
        let (word, optional, repeated) = match (word.strip_suffix('?'), word.strip_suffix('*')) {
            (Some(rest), _) => (rest, true, false),
            (_, Some(rest)) => (rest, true, true),
            _ => (word, false, false),
        };
        let alternatives = word.split('|').flat_map(group).collect();
        slots.push(ModifierSlot { alternatives, optional, repeated });
    }
    let operands = form.operands.split_whitespace().map(|word| parse_operand(form, word)).collect();
    let any_order = !open_ended && slots.iter().all(|slot: &ModifierSlot| !slot.repeated);
    Row { any_order, slots, open_ended, operands, meaning: form.meaning }
}

fn group(word: &'static str) -> Vec<&'static str> {
    match word.strip_prefix('$') {
        None => vec![word],
        Some(name) => match GROUPS.iter().find(|(group, _)| *group == name) {
            Some((_, alternatives)) => alternatives.split('|').collect(),
            None => panic!("ptx: the instruction table uses an unknown group ${name}"),
        },
    }
}

fn parse_operand(form: &Form, word: &'static str) -> (OperandSlot, bool) {
    let (word, optional) = match word.strip_suffix('?') {
        Some(rest) => (rest, true),
        None => (word, false),
    };
    let slot = match word {
        "=v" => OperandSlot::VectorDestination,
        "v" => OperandSlot::VectorSource,
        "={}" => OperandSlot::AnyDestination,
        "[]" => OperandSlot::Address,
        "imm" => OperandSlot::Immediate { maximum: u64::MAX },
        "imm8" => OperandSlot::Immediate { maximum: 255 },
        "a" => OperandSlot::AddressValue,
        "=mov" => OperandSlot::MoveDestination,
        "mov" => OperandSlot::MoveSource,
        "label" => OperandSlot::Label,
        "table" => OperandSlot::Table,
        "call" => OperandSlot::Call,
        "*" => return (OperandSlot::Rest, true),
        _ => match word.strip_prefix('=') {
            Some(rest) => match rest.split_once('|') {
                Some((first, second)) => OperandSlot::Destination(width(form, first), Some(width(form, second))),
                None => OperandSlot::Destination(width(form, rest), None),
            },
            None => OperandSlot::Source(width(form, word)),
        },
    };
    (slot, optional)
}

fn width(form: &Form, word: &str) -> Width {
    let (name, relaxed) = match word.strip_prefix('~') {
        Some(rest) => (rest, true),
        None => (word, false),
    };
    let of = match name {
        "t" => TypeRef::Modifier(0),
        "u" => TypeRef::Modifier(1),
        "w" => TypeRef::Double,
        "p" => TypeRef::Fixed(ScalarType::Pred),
        _ => match scalar_type(name) {
            Some(ty) => TypeRef::Fixed(ty),
            None => panic!("ptx: the instruction table uses an unknown type {word} for {}", form.opcode),
        },
    };
    Width { of, relaxed }
}

impl ModifierSlot {
    /// The table's spelling of a modifier that this slot takes; empty for a shape.
    fn find(&self, modifier: &str) -> Option<&'static str> {
        self.alternatives.iter().copied().find_map(|alternative| match alternative {
            "#shape" => is_shape(modifier).then_some(""),
            _ => (alternative == modifier).then_some(alternative),
        })
    }
}

/// `m16n8k16`, `m8n8`
fn is_shape(word: &str) -> bool {
    let mut rest = word;
    for (position, letter) in ['m', 'n', 'k'].into_iter().enumerate() {
        let Some(after) = rest.strip_prefix(letter) else { return position == 2 && rest.is_empty() };
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 {
            return false;
        }
        rest = &after[digits..];
    }
    rest.is_empty()
}

impl Row {
    /// Matches all modifiers, or tells how many matched and what could have followed.
    fn matches(&self, modifiers: &[&str]) -> Result<Vec<&'static str>, (usize, Vec<&'static str>)> {
        if self.any_order { self.matches_any_order(modifiers) } else { self.matches_in_order(modifiers) }
    }

    fn matches_in_order(&self, modifiers: &[&str]) -> Result<Vec<&'static str>, (usize, Vec<&'static str>)> {
        let mut taken = Vec::new();
        let mut at = 0;
        let mut expected: Vec<&'static str> = Vec::new();
        for slot in &self.slots {
            let mut matched = false;
            while let Some(found) = modifiers.get(at).and_then(|modifier| slot.find(modifier)) {
                taken.push(found);
                matched = true;
                at += 1;
                expected.clear();
                if !slot.repeated {
                    break;
                }
            }
            if !matched || slot.repeated {
                expected.extend(&slot.alternatives);
            }
            if !matched && !slot.optional {
                return Err((at, expected));
            }
        }
        if at == modifiers.len() || self.open_ended { Ok(taken) } else { Err((at, expected)) }
    }

    fn matches_any_order(&self, modifiers: &[&str]) -> Result<Vec<&'static str>, (usize, Vec<&'static str>)> {
        let mut taken: Vec<Option<&'static str>> = vec![None; self.slots.len()];
        let free = |taken: &[Option<&'static str>]| {
            let slots = self.slots.iter().zip(taken);
            slots.filter(|(_, t)| t.is_none()).flat_map(|(s, _)| s.alternatives.clone()).collect::<Vec<_>>()
        };
        for (at, modifier) in modifiers.iter().enumerate() {
            let mut slots = self.slots.iter().enumerate().filter(|(index, _)| taken[*index].is_none());
            match slots.find_map(|(index, slot)| slot.find(modifier).map(|found| (index, found))) {
                Some((index, found)) => taken[index] = Some(found),
                None => return Err((at, free(&taken))),
            }
        }
        let missing = self.slots.iter().zip(&taken).find(|(slot, taken)| !slot.optional && taken.is_none());
        match missing {
            Some((slot, _)) => Err((modifiers.len(), slot.alternatives.clone())),
            // Slot order, so that types come out as the table lists them.
            None => Ok(taken.into_iter().flatten().collect()),
        }
    }
}

/// Finds the row for an opcode and its modifiers.
pub fn select(opcode: &str, modifiers: &[&str]) -> Result<Selected, Mismatch> {
    let Some(rows) = TABLE.get(opcode) else { return Err(Mismatch::Opcode(nearest(opcode))) };
    let mut best: (usize, Vec<&'static str>) = (0, Vec::new());
    for row in rows {
        match row.matches(modifiers) {
            Ok(modifiers) => {
                let types = modifiers.iter().filter_map(|modifier| scalar_type(modifier)).collect();
                return Ok(Selected { row, modifiers, types });
            }
            Err((at, expected)) if at > best.0 => best = (at, expected),
            Err((at, expected)) if at == best.0 => best.1.extend(expected),
            Err(_) => {}
        }
    }
    best.1.sort_unstable();
    best.1.dedup();
    Err(Mismatch::Modifier(best.0, best.1))
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

    #[test]
    fn shapes() {
        assert!(is_shape("m16n8k16") && is_shape("m8n8"));
        assert!(!is_shape("m16") && !is_shape("m16n8x") && !is_shape("mnk"));
    }
}
