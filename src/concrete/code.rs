//! Terms as flat code.
//!
//! Input: terms of the formula DAG. Output: [`Code`]: an instruction for each term below them, with operands by index.
//! Establishes: no instruction needs a name, a sort or the DAG. Maps, quantifiers and what depends on them have no code.
//! Relies on: terms have smaller numbers than what is built of them. Reference: none.

use crate::vcgen::term::{BvBinary, BvCompare, Node, Sort, Term, Terms, Value, mask};
use std::ops::Range;

/// Where the value of a term stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub(super) u32);

/// Part of [`Code::lists`] or of [`Code::products`].
#[derive(Clone, Copy)]
pub(super) struct List {
    start: u32,
    end: u32,
}

impl List {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How the value of a slot comes from others. Booleans are 0 or 1, integers stand in two's complement.
#[derive(Clone, Copy)]
pub(super) enum Instruction {
    /// A constant, or a symbol, whose value is set from outside.
    Given,
    Not(Slot),
    All(List),
    Any(List),
    Equal(Slot, Slot),
    Choice(Slot, Slot, Slot),
    Application {
        function: u32,
        arguments: List,
    },
    /// `constant + sum of factor * member`, the low bits of it.
    Sum {
        constant: u128,
        members: List,
        width: u32,
    },
    /// The same of integers.
    Total {
        constant: i128,
        members: List,
    },
    BitVector {
        op: BvBinary,
        operands: [Slot; 2],
        width: u32,
    },
    Comparison {
        op: BvCompare,
        operands: [Slot; 2],
        width: u32,
    },
    Extract {
        of: Slot,
        low: u32,
        width: u32,
    },
    Concat {
        high: Slot,
        low: Slot,
        low_width: u32,
    },
    /// Sign extension from a width to another.
    Extend {
        of: Slot,
        from: u32,
        to: u32,
    },
    Product(Slot, Slot),
    Quotient(Slot, Slot),
    Remainder(Slot, Slot),
    AtMost(Slot, Slot),
}

/// Width of values that are cut nowhere.
const WHOLE: u32 = 128;

/// The code of some terms.
pub struct Code {
    pub(super) instructions: Vec<Instruction>,
    pub(super) sorts: Vec<Sort>,
    /// What the values of constants are; zero for other slots.
    pub(super) initial: Vec<u128>,
    pub(super) lists: Vec<Slot>,
    pub(super) products: Vec<(Slot, u128)>,
    /// For each slot, the highest rank of the symbols below it.
    pub(super) ranks: Vec<u32>,
    /// Number of ranks.
    pub(super) most: u32,
    /// All symbols.
    pub(super) symbols: Vec<Slot>,
    slots: Vec<Option<Slot>>,
}

impl Code {
    /// The code of what is below `roots`. Symbols that change together have one `rank`, and a higher one than those that
    /// change before them: a change invalidates what has its rank or a higher one.
    pub fn new(terms: &Terms, roots: impl IntoIterator<Item = Term>, rank: &dyn Fn(Term) -> u32) -> Code {
        let mut code = Code {
            instructions: Vec::new(),
            sorts: Vec::new(),
            initial: Vec::new(),
            lists: Vec::new(),
            products: Vec::new(),
            ranks: Vec::new(),
            most: 0,
            symbols: Vec::new(),
            slots: vec![None; terms.len()],
        };
        let needed = needed(terms, roots);
        for t in (0..terms.len()).filter(|&t| needed[t]) {
            code.add(terms, Term(t as u32), rank);
        }
        code.most = code.ranks.iter().copied().max().unwrap_or(0);
        code
    }

    /// Where the value of a term stands.
    pub(super) fn slot(&self, t: Term) -> Slot {
        self.find(t).unwrap_or_else(|| panic!("concrete: a term without code"))
    }

    /// The same; `None` for terms that have no code.
    pub(super) fn find(&self, t: Term) -> Option<Slot> {
        self.slots.get(t.0 as usize).copied().flatten()
    }

    pub(super) fn instruction(&self, slot: Slot) -> Instruction {
        self.instructions[slot.0 as usize]
    }

    /// How a value of the sort of a slot is stored there. The encodings for solvers change sorts: bit-vectors to integers,
    /// ghost integers to 64 bits.
    pub(super) fn stored(&self, slot: Slot, value: Value) -> u128 {
        match (self.sorts[slot.0 as usize], value) {
            (_, Value::Bool(value)) => u128::from(value),
            (Sort::Int, Value::Bits(bits)) => i128::from(bits as u64 as i64) as u128,
            (Sort::Bv(width), Value::Int(value)) => value as u128 & mask(width),
            (_, Value::Bits(value)) => value,
            (_, Value::Int(value)) => value as u128,
        }
    }

    /// The value that is stored in a slot.
    pub(super) fn shown(&self, slot: Slot, stored: u128) -> Value {
        match self.sorts[slot.0 as usize] {
            Sort::Bool => Value::Bool(stored == 1),
            Sort::Int => Value::Int(stored as i128),
            Sort::Bv(_) | Sort::Other(_) => Value::Bits(stored),
        }
    }

    fn add(&mut self, terms: &Terms, t: Term, rank: &dyn Fn(Term) -> u32) {
        let operands: Option<Vec<Slot>> = terms.operands(t).into_iter().map(|operand| self.find(operand)).collect();
        let Some(operands) = operands.filter(|_| terms.is_basic_node(t)) else { return };
        let slot = Slot(self.instructions.len() as u32);
        let (initial, own_rank) = match terms.node(t) {
            Node::Bool(value) => (u128::from(*value), 0),
            Node::BvConst { value, .. } => (*value, 0),
            Node::IntConst(value) => (*value as u128, 0),
            Node::Symbol(_) => {
                self.symbols.push(slot);
                (0, rank(t))
            }
            _ => (0, operands.iter().map(|operand| self.ranks[operand.0 as usize]).max().unwrap_or(0)),
        };
        let instruction = self.instruction_of(terms, t);
        self.instructions.push(instruction);
        self.sorts.push(terms.sort(t));
        self.initial.push(initial);
        self.ranks.push(own_rank);
        self.slots[t.0 as usize] = Some(slot);
    }

    fn instruction_of(&mut self, terms: &Terms, t: Term) -> Instruction {
        use Instruction as I;
        let width = match terms.sort(t) {
            Sort::Bv(width) => width,
            _ => WHOLE,
        };
        let slot = |t: &Term| self.slot(*t);
        match terms.node(t) {
            Node::Bool(_) | Node::BvConst { .. } | Node::IntConst(_) | Node::Symbol(_) => I::Given,
            Node::Not(a) => I::Not(slot(a)),
            Node::And(members) => I::All(self.list(members)),
            Node::Or(members) => I::Any(self.list(members)),
            Node::Eq(a, b) => I::Equal(slot(a), slot(b)),
            Node::Ite(c, a, b) => I::Choice(slot(c), slot(a), slot(b)),
            Node::Apply(function, arguments) => I::Application { function: *function, arguments: self.list(arguments) },
            Node::BvSum { constant, members, .. } => {
                I::Sum { constant: *constant, members: self.sum(members.iter().copied()), width }
            }
            Node::IntSum { constant, members } => {
                let members = self.sum(members.iter().map(|&(t, factor)| (t, factor as u128)));
                I::Total { constant: *constant, members }
            }
            Node::BvBinary(op, a, b) => I::BitVector { op: *op, operands: [slot(a), slot(b)], width },
            Node::BvCompare(op, a, b) => {
                I::Comparison { op: *op, operands: [slot(a), slot(b)], width: terms.width(*a) }
            }
            Node::Extract { low, of, .. } => I::Extract { of: slot(of), low: *low, width },
            Node::ZeroExtend(_, of) | Node::ToInt(of) | Node::FromInt(_, of) => {
                I::Extract { of: slot(of), low: 0, width }
            }
            Node::Concat(a, b) => I::Concat { high: slot(a), low: slot(b), low_width: terms.width(*b) },
            Node::SignExtend(_, of) | Node::ToSignedInt(of) => {
                I::Extend { of: slot(of), from: terms.width(*of), to: width }
            }
            Node::IntMul(a, b) => I::Product(slot(a), slot(b)),
            Node::IntDiv(a, b) => I::Quotient(slot(a), slot(b)),
            Node::IntMod(a, b) => I::Remainder(slot(a), slot(b)),
            Node::IntLe(a, b) => I::AtMost(slot(a), slot(b)),
            Node::Select(_) | Node::Store(_) | Node::Quantifier(_) => {
                panic!("concrete: maps and quantifiers have no code")
            }
        }
    }

    fn list(&mut self, members: &[Term]) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend(members.iter().filter_map(|t| self.slots[t.0 as usize]));
        List { start, end: self.lists.len() as u32 }
    }

    fn sum(&mut self, members: impl Iterator<Item = (Term, u128)>) -> List {
        let start = self.products.len() as u32;
        self.products.extend(members.filter_map(|(t, factor)| Some((self.slots[t.0 as usize]?, factor))));
        List { start, end: self.products.len() as u32 }
    }
}

/// For each term whether it is below the roots.
fn needed(terms: &Terms, roots: impl IntoIterator<Item = Term>) -> Vec<bool> {
    let mut needed = vec![false; terms.len()];
    roots.into_iter().for_each(|root| needed[root.0 as usize] = true);
    for t in (0..terms.len()).rev() {
        if needed[t] {
            terms.operands(Term(t as u32)).into_iter().for_each(|operand| needed[operand.0 as usize] = true);
        }
    }
    needed
}
