//! A litmus test as it is written: what the grammar builds.

use crate::span::Span;

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// An integer as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) text: String,
    pub(crate) span: Span,
}

impl Number {
    /// `1` of `1:r0`, which is the thread `P1`.
    pub(crate) fn as_thread(&self) -> Word {
        Word { text: format!("P{}", self.text), span: self.span }
    }
}

/// The first member of a list and the others as one list.
pub(crate) fn joined<T>(first: T, rest: Vec<T>) -> Vec<T> {
    std::iter::once(first).chain(rest).collect()
}

/// All but the first line.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    pub(crate) init: Vec<InitialItem>,
    pub(crate) threads: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// `locations [x; 0:r0]`: what herd7 prints of final states.
    pub(crate) listed: Vec<Place>,
    pub(crate) filter: Option<Condition>,
    pub(crate) question: Question,
}

/// An item of the initial state.
#[derive(Clone, Debug)]
pub(crate) enum InitialItem {
    /// `x = 1`
    Value(Place, Number),
    /// `t @ texture aliases x`
    Alias { name: Word, proxy: Option<Word>, of: Word },
}

/// `P0@cta 0,gpu 0`
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Word,
    pub(crate) places: Vec<(Word, Number)>,
}

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// Its `;`.
    pub(crate) end: Span,
}

/// What a thread has in a line.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) labels: Vec<Word>,
    pub(crate) statement: Option<Statement>,
}

/// An instruction as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) guard: Option<Guard>,
    pub(crate) opcode: Word,
    pub(crate) operands: Vec<Operand>,
    pub(crate) span: Span,
}

/// `@p` or `@!p`
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) register: Word,
    pub(crate) negated: bool,
}

/// An operand as it is written.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Word(Word),
    Integer(Number),
    /// `[x]`
    Memory(Word),
}

impl Operand {
    pub(crate) fn span(&self) -> Span {
        match self {
            Operand::Word(word) | Operand::Memory(word) => word.span,
            Operand::Integer(number) => number.span,
        }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) quantifier: Quantifier,
    pub(crate) condition: Condition,
}

/// How the final states are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantifier {
    Exists,
    NotExists,
    Forall,
}

/// A condition on final states.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Not(Box<Condition>),
    All(Vec<Condition>),
    Or(Vec<Condition>),
    Compare(Side, Comparison, Side),
}

impl Condition {
    pub(crate) fn all(first: Condition, rest: Vec<Condition>) -> Condition {
        if rest.is_empty() { first } else { Condition::All(joined(first, rest)) }
    }

    pub(crate) fn any(first: Condition, rest: Vec<Condition>) -> Condition {
        if rest.is_empty() { first } else { Condition::Or(joined(first, rest)) }
    }
}

/// Of signed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    Place(Place),
    Integer(Number),
}

/// What a final state gives a value to.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// `x` or `[x]`
    Memory(Word),
    /// `P0:r0` or `0:r0`
    Register { thread: Word, register: Word },
}
