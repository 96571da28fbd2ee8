//! The pattern language in which the rows of the instruction table are written.
//!
//! Input: a [`Form`], two strings.
//! Output: its modifier slots and operand slots.
//! Establishes: every row is well formed; a wrong one panics at the first look-up.
//! Relies on: nothing.
//! Reference: PTX ISA, chapter "Instruction Set": the syntax blocks of the instructions.
//!
//! *Modifiers* are slots separated by blanks; a slot is alternatives `a|b|c` or `$group` (see
//! `GROUPS`). A slot with `?` may be missing; one with `+` in front is written exactly if the slot
//! before it is; one with `-` in front may be written only if the slot before it is not. *Operands*
//! are described in [`OperandSlot`]; `?` again marks what may be missing, `b64@hint` is there exactly
//! if the modifier `.hint` is, and `a/b` is the one or the other.

use super::ast::ScalarType;
use super::table::Form;
use super::words::scalar_type;

/// `m64n8k16|m64n16k16|...|m64n256k16`
macro_rules! wgmma {
    ($k:literal: $($n:literal)*) => { concat!("m64n8k", $k $(, "|m64n", $n, "k", $k)*) };
    ($k:literal) => {
        wgmma!($k: 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224
            232 240 248 256)
    };
    ($k:literal, int) => { wgmma!($k: 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256) };
}

/// Names for sets of alternatives that occur often.
const GROUPS: &[(&str, &str)] = &[
    ("int", "u16|u32|u64|s16|s32|s64"),
    ("int32", "u32|u64|s32|s64"),
    ("bits", "b16|b32|b64"),
    ("select", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("move", "pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64"),
    ("memory", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("converted", "u8|u16|u32|u64|s8|s16|s32|s64"),
    ("round", "rn|rz|rm|rp"),
    ("signed", "eq|ne|lt|le|gt|ge"),
    ("unsigned", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"),
    ("ordered", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("bool", "and|or|xor"),
    ("scope", "cta|cluster|gpu|sys"),
    ("space", "global|shared|shared::cta|shared::cluster|local|param|param::entry|param::func|const"),
    ("shared", "shared|shared::cta"),
    ("written", "global|shared|shared::cta|shared::cluster|local|param|param::func"),
    ("cluster", "shared|shared::cta|shared::cluster"),
    ("window", "global|shared|shared::cta|shared::cluster"),
    ("evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"),
    ("evict2", "L2::evict_normal|L2::evict_first|L2::evict_last"),
    ("mbar", "mbarrier::complete_tx::bytes"),
    ("mbar16", "mbarrier::complete_tx::16B"),
    ("report", "mbarrier::report::fabric"),
    ("dim", "1d|2d|3d|4d|5d"),
    ("fp8", "e4m3|e5m2"),
    ("fp864", "e4m3|e5m2|e3m2|e2m3|e2m1"),
    ("video", "u32|s32"),
    ("relation", "eq|ne|lt|le|gt|ge"),
    ("times", "x1|x2|x4|x8|x16|x32|x64|x128"),
    ("wgmma_k8", wgmma!(8)),
    ("wgmma_k16", wgmma!(16)),
    ("wgmma_k32", wgmma!(32)),
    ("wgmma_k64", wgmma!(64)),
    ("wgmma_k32_int", wgmma!(32, int)),
    ("wgmma_k64_int", wgmma!(64, int)),
    ("wgmma_k256_int", wgmma!(256, int)),
    (
        "collector",
        "collector::b0::fill|collector::b0::use|collector::b0::lastuse|collector::b0::discard|collector::b1::fill|\
         collector::b1::use|collector::b1::lastuse|collector::b1::discard|collector::b2::fill|collector::b2::use|\
         collector::b2::lastuse|collector::b2::discard|collector::b3::fill|collector::b3::use|\
         collector::b3::lastuse|collector::b3::discard",
    ),
];

/// How an operand is checked. Patterns: `t` and `u` are the first and second type among the
/// modifiers, `w` is twice as wide as `t`; other words are types.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OperandSlot {
    /// `=t`: a destination; `=~t`: a register at least as wide; `=t|p`: with an optional second one.
    Destination(Width, Option<Width>),
    /// `=t&p`: two destinations.
    DestinationPair(Width, Width),
    /// `_`: no destination, but its place.
    Sink,
    /// `t`: a source; `~t`: a register at least as wide. Predicates may be negated.
    Source(Width),
    /// `=v`: as many destinations as `.v2`, `.v4`, `.v8` says, at least as wide as `t`.
    VectorDestination,
    /// `v`: as many sources.
    VectorSource,
    /// `={4}b32`, `{}b32`, `={x}b32|p`: registers in braces.
    Registers {
        /// How many.
        count: Count,
        /// Their type; `None` takes it from the fragment.
        ty: Option<Width>,
        /// Whether they are written.
        written: bool,
        /// Whether `|p` with a predicate may follow.
        predicate: bool,
    },
    /// `part`, `=part`: a 32-bit register, of which `.b0`, `.h1`, `.b3210` or the like selects parts.
    Part {
        /// Whether it is written.
        written: bool,
        /// `-part`: a minus may stand before it.
        negated: bool,
    },
    /// `[]`
    Address,
    /// `[,]`: an address and further components: coordinates, a sampler.
    Coordinates,
    /// `[b32,b64]`: values of these types in brackets.
    Components(Vec<Width>),
    /// `imm`: an integer constant; `imm8`: from 0 to 255.
    Immediate {
        /// Largest value.
        maximum: u64,
    },
    /// `barrier`, `threads`, `some`, `registers`: a `.b32` source whose constants are limited.
    Limited(Limit),
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
    /// `a/b`: the first alternative that fits.
    OneOf(Vec<OperandSlot>),
}

/// Which constants an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The number of a barrier: 0 to 15.
    Barrier,
    /// How many threads a barrier waits for: a multiple of the warp size.
    Threads,
    /// The same, and not 0.
    SomeThreads,
    /// How many registers a thread has: a constant.
    Registers,
}

impl Limit {
    /// Whether a constant may stand there.
    pub(crate) fn allows(self, value: u64) -> bool {
        let value = value as u32;
        match self {
            Limit::Barrier => value < 16,
            Limit::Threads => value.is_multiple_of(32),
            Limit::SomeThreads => value != 0 && value.is_multiple_of(32),
            Limit::Registers => value.is_multiple_of(8) && (24..=256).contains(&value),
        }
    }

    /// In words, behind what it limits.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Limit::Barrier => "from 0 to 15",
            Limit::Threads => "that is a multiple of 32",
            Limit::SomeThreads => "that is a multiple of 32 and not 0",
            Limit::Registers => "that is a constant multiple of 8 from 24 to 256",
        }
    }
}

/// How many registers stand in braces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Count {
    /// `{}`: any number.
    Any,
    /// `{4}`
    Exactly(u32),
    /// `{v}`: as `.v2`, `.v4`, `.v8` says, or one alone.
    Vector,
    /// `{x}`: as `.x1` to `.x128` and the shape say.
    Times,
    /// `{A}`, `{B}`, `{C}`, `{D}`: what a thread holds of that matrix.
    Fragment(char),
}

/// A type that an operand slot refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Width {
    /// Which type.
    pub(crate) of: TypeRef,
    /// Wider registers are allowed too.
    pub(crate) relaxed: bool,
}

/// Where a type comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TypeRef {
    /// The n-th type among the modifiers.
    Modifier(usize),
    /// Twice as wide as the first type.
    Double,
    /// Always this type.
    Fixed(ScalarType),
}

/// A slot of the modifier pattern.
#[derive(Clone, Debug)]
pub(crate) struct ModifierSlot {
    /// Its spellings.
    pub(crate) alternatives: Vec<&'static str>,
    /// When it is written.
    pub(crate) presence: SlotPresence,
}

/// When a modifier slot is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SlotPresence {
    /// Always.
    Always,
    /// `a?`
    Optional,
    /// `+a`: exactly if the slot before it is.
    WithPrevious,
    /// `-a?`: at most if the slot before it is not.
    WithoutPrevious,
}

/// An operand slot, and when there is such an operand.
#[derive(Clone, Debug)]
pub(crate) struct OperandPattern {
    /// How it is checked.
    pub(crate) slot: OperandSlot,
    /// When it is there.
    pub(crate) presence: Presence,
}

/// When there is an operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Presence {
    /// Always.
    Always,
    /// `t?`
    Optional,
    /// `t@a|b`: exactly if one of these modifiers is written.
    With(Vec<&'static str>),
    /// `t!`: exactly if the second operand is no list of registers but describes a matrix in memory.
    WithDescriptor,
}

/// The slots of a modifier pattern.
pub(crate) fn modifier_slots(form: &Form) -> Vec<ModifierSlot> {
    let slot = |word: &'static str| {
        let (word, presence) = match (word.strip_prefix('+'), word.strip_prefix('-'), word.strip_suffix('?')) {
            (Some(rest), _, _) => (rest, SlotPresence::WithPrevious),
            (_, Some(rest), _) => (rest.trim_end_matches('?'), SlotPresence::WithoutPrevious),
            (_, _, Some(rest)) => (rest, SlotPresence::Optional),
            _ => (word, SlotPresence::Always),
        };
        ModifierSlot { alternatives: word.split('|').flat_map(group).collect(), presence }
    };
    form.modifiers.split_whitespace().map(slot).collect()
}

/// The slots of an operand pattern.
pub(crate) fn operand_slots(form: &Form) -> Vec<OperandPattern> {
    let slot = |word: &'static str| {
        let (word, presence) = match (word.strip_suffix('?'), word.strip_suffix('!'), word.split_once('@')) {
            (Some(rest), ..) => (rest, Presence::Optional),
            (_, Some(rest), _) => (rest, Presence::WithDescriptor),
            (.., Some((rest, modifiers))) => (rest, Presence::With(modifiers.split('|').collect())),
            _ => (word, Presence::Always),
        };
        let mut alternatives: Vec<OperandSlot> = word.split('/').map(|word| operand_slot(form, word)).collect();
        let slot = match alternatives.len() {
            1 => alternatives.remove(0),
            _ => OperandSlot::OneOf(alternatives),
        };
        OperandPattern { slot, presence }
    };
    form.operands.split_whitespace().map(slot).collect()
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

fn operand_slot(form: &Form, word: &str) -> OperandSlot {
    match word {
        "=v" => OperandSlot::VectorDestination,
        "v" => OperandSlot::VectorSource,
        "_" => OperandSlot::Sink,
        "[]" => OperandSlot::Address,
        "[,]" => OperandSlot::Coordinates,
        "imm" => OperandSlot::Immediate { maximum: u64::MAX },
        "imm1" => OperandSlot::Immediate { maximum: 1 },
        "barrier" => OperandSlot::Limited(Limit::Barrier),
        "threads" => OperandSlot::Limited(Limit::Threads),
        "some" => OperandSlot::Limited(Limit::SomeThreads),
        "registers" => OperandSlot::Limited(Limit::Registers),
        "imm8" => OperandSlot::Immediate { maximum: 255 },
        "a" => OperandSlot::AddressValue,
        "=mov" => OperandSlot::MoveDestination,
        "mov" => OperandSlot::MoveSource,
        "part" => OperandSlot::Part { written: false, negated: false },
        "-part" => OperandSlot::Part { written: false, negated: true },
        "=part" => OperandSlot::Part { written: true, negated: false },
        "label" => OperandSlot::Label,
        "table" => OperandSlot::Table,
        "call" => OperandSlot::Call,
        _ if word.starts_with('[') => {
            let list = word.trim_matches(['[', ']']).split(',');
            OperandSlot::Components(list.map(|word| width(form, word)).collect())
        }
        _ => match (word.strip_prefix('='), word.trim_start_matches('=').strip_prefix('{')) {
            (written, Some(registers)) => braces(form, registers, written.is_some()),
            (Some(rest), None) => match (rest.split_once('|'), rest.split_once('&')) {
                (Some((first, second)), _) => OperandSlot::Destination(width(form, first), Some(width(form, second))),
                (_, Some((first, second))) => OperandSlot::DestinationPair(width(form, first), width(form, second)),
                _ => OperandSlot::Destination(width(form, rest), None),
            },
            (None, None) => OperandSlot::Source(width(form, word)),
        },
    }
}

/// `4}b32`, `A}`, `}t|p`
fn braces(form: &Form, word: &str, written: bool) -> OperandSlot {
    let Some((count, rest)) = word.split_once('}') else {
        panic!("ptx: the instruction table leaves a brace open for {}", form.opcode)
    };
    let (rest, predicate) = rest.strip_suffix("|p").map_or((rest, false), |rest| (rest, true));
    let count = match (count, count.parse()) {
        ("", _) => Count::Any,
        ("v", _) => Count::Vector,
        ("x", _) => Count::Times,
        (_, Ok(count)) => Count::Exactly(count),
        _ => Count::Fragment(count.chars().next().unwrap_or_default()),
    };
    let ty = (!rest.is_empty()).then(|| width(form, rest));
    OperandSlot::Registers { count, ty, written, predicate }
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

impl OperandSlot {
    /// What may stand there, for messages and `gpuvcc explain`.
    pub(crate) fn describe(&self) -> String {
        match self {
            OperandSlot::Destination(first, None) => format!("{} register", first.describe()),
            OperandSlot::Destination(first, Some(second)) => {
                format!("{} register[|{} register]", first.describe(), second.describe())
            }
            OperandSlot::DestinationPair(first, second) => {
                format!("{} register|{} register", first.describe(), second.describe())
            }
            OperandSlot::Source(width) => width.describe(),
            OperandSlot::VectorDestination => "register, or as many as the vector has".to_string(),
            OperandSlot::VectorSource => "value, or as many as the vector has".to_string(),
            OperandSlot::Registers { count, ty, predicate, .. } => {
                let ty = ty.map_or_else(|| "element".to_string(), Width::describe);
                let count = match count {
                    Count::Any => String::new(),
                    Count::Exactly(count) => format!("{count} "),
                    Count::Vector => "as many as .v2 to .v8 says ".to_string(),
                    Count::Times => "as many as .x1 to .x128 says ".to_string(),
                    Count::Fragment(matrix) => format!("fragment of {matrix}: "),
                };
                format!("{{{count}{ty} registers}}{}", if *predicate { "[|.pred register]" } else { "" })
            }
            OperandSlot::Part { negated: true, .. } => "[-].b32 register[.parts]".to_string(),
            OperandSlot::Part { .. } => ".b32 register[.parts]".to_string(),
            OperandSlot::Sink => "_".to_string(),
            OperandSlot::Address => "[address]".to_string(),
            OperandSlot::Coordinates => "[address, {coordinates}]".to_string(),
            OperandSlot::Components(widths) => {
                let list: Vec<String> = widths.iter().map(|width| width.describe()).collect();
                format!("[{}]", list.join(", "))
            }
            OperandSlot::Immediate { maximum: u64::MAX } => "constant".to_string(),
            OperandSlot::Immediate { maximum } => format!("constant from 0 to {maximum}"),
            OperandSlot::Limited(limit) => format!(".b32 {}", limit.describe()),
            OperandSlot::AddressValue => "register or variable".to_string(),
            OperandSlot::MoveDestination => "register or {registers}".to_string(),
            OperandSlot::MoveSource => "value, address or {values}".to_string(),
            OperandSlot::Label => "label".to_string(),
            OperandSlot::Table => "`.branchtargets` list".to_string(),
            OperandSlot::Call => "[(results),] function[, (arguments)][, prototype]".to_string(),
            OperandSlot::OneOf(slots) => slots.iter().map(OperandSlot::describe).collect::<Vec<_>>().join(" or "),
        }
    }
}

impl OperandPattern {
    /// As in the manual; in brackets if it may be missing.
    pub(crate) fn describe(&self) -> String {
        let slot = self.slot.describe();
        match &self.presence {
            Presence::Always => slot,
            Presence::Optional => format!("[{slot}]"),
            Presence::With(modifiers) => format!("[{slot}, with .{}]", modifiers.join(" or .")),
            Presence::WithDescriptor => format!("[{slot}, with two descriptors]"),
        }
    }
}

impl Width {
    fn describe(self) -> String {
        let name = match self.of {
            TypeRef::Modifier(0) => ".type".to_string(),
            TypeRef::Modifier(_) => ".second type".to_string(),
            TypeRef::Double => ".type twice as wide".to_string(),
            TypeRef::Fixed(ty) => format!(".{}", super::words::type_name(ty)),
        };
        if self.relaxed { format!("{name} or wider") } else { name }
    }
}

impl ModifierSlot {
    /// As in the manual: `.a`, `.{a, b}`, in brackets if it may be missing.
    pub(crate) fn describe(&self) -> String {
        let list = match self.alternatives.as_slice() {
            [single] => format!(".{single}"),
            several => format!(".{{{}}}", several.join(", ")),
        };
        match self.presence {
            SlotPresence::Always => list,
            _ => format!("[{list}]"),
        }
    }
}
