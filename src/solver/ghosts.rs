//! The bit-vector encoding of ghost integers.
//!
//! Input: a formula over Booleans, bit-vectors and integers. Output: the same over Booleans and
//! bit-vectors: integers become signed 64-bit numbers. That is sound because integers only occur in
//! ghost code and invariants: the program whose ghost counters wrap has the same races, and its
//! invariants are checked with the wrapping they are used with. (A loop would have to run 2^63
//! rounds for the numbers to differ.)

use crate::vcgen::term::{BvBinary, BvCompare, Node, Sort, Term, Terms};
use foldhash::HashMap;

const WIDTH: u32 = 64;

/// The translation, memoised over the DAG.
pub(crate) struct Ghosts<'t> {
    terms: &'t mut Terms,
    done: HashMap<Term, Term>,
}

impl<'t> Ghosts<'t> {
    /// Starts a translation.
    pub(crate) fn new(terms: &'t mut Terms) -> Self {
        Ghosts { terms, done: HashMap::default() }
    }

    /// The bit-vector form; `None` when an integer operator has none.
    pub(crate) fn translate(&mut self, root: Term) -> Option<Term> {
        for t in self.terms.postorder(root, &|t| self.done.contains_key(&t)) {
            let result = self.translate_node(t)?;
            self.done.insert(t, result);
        }
        self.done.get(&root).copied()
    }

    /// The form of a term whose operands are translated.
    fn translate_node(&mut self, t: Term) -> Option<Term> {
        let operands = self.terms.operands(t);
        let new: Vec<Term> = operands.iter().map(|o| self.done[o]).collect();
        let result = match self.terms.node(t).clone() {
            Node::IntConst(value) => self.terms.bv(value as u128, WIDTH),
            Node::Symbol(_) if self.terms.sort(t) == Sort::Int => {
                let symbol = self.terms.symbol_of(t)?.clone();
                self.terms.symbol(&translated(&symbol.name), Sort::Bv(WIDTH), symbol.range)
            }
            Node::IntSum { constant, members } => {
                let list = new.iter().zip(members.iter()).map(|(&n, m)| (n, m.1 as u128)).collect();
                self.terms.bv_sum(WIDTH, constant as u128, list)
            }
            // Multiplied bit by bit, a counter of rounds is beyond the solver.
            Node::IntMul(..) if self.terms.is_multiplied(t) => return None,
            Node::IntMul(..) => self.terms.bv_binary(BvBinary::Mul, new[0], new[1]),
            Node::IntLe(..) => self.terms.bv_compare(BvCompare::Sle, new[0], new[1]),
            Node::ToInt(a) if self.terms.width(a) <= WIDTH => self.terms.zero_extend(new[0], WIDTH),
            Node::ToSignedInt(a) if self.terms.width(a) <= WIDTH => self.terms.sign_extend(new[0], WIDTH),
            Node::FromInt(width, _) if width <= WIDTH => self.terms.extract(width - 1, 0, new[0]),
            Node::FromInt(width, _) => self.terms.sign_extend(new[0], width),
            Node::IntMod(_, divisor) => {
                let divisor = self.terms.int_value(divisor).filter(|divisor| (1..=1 << 62).contains(divisor))?;
                self.remainder(new[0], divisor as u128)
            }
            Node::IntDiv(..) | Node::ToInt(_) | Node::ToSignedInt(_) => return None,
            Node::Apply(id, _) if new != operands || self.terms.sort(t) == Sort::Int => {
                let name = translated(&self.terms.functions[id as usize].name);
                let sort = match self.terms.sort(t) {
                    Sort::Int => Sort::Bv(WIDTH),
                    other => other,
                };
                self.terms.apply(&name, new, sort)
            }
            Node::And(_) => self.terms.chain(true, new),
            Node::Or(_) => self.terms.chain(false, new),
            _ if new == operands => t,
            _ => self.terms.rebuild(t, &new),
        };
        Some(result)
    }

    /// The remainder from 0 up. Of two's complement the low bits are the one by a power of two, also of a number below 0.
    fn remainder(&mut self, number: Term, divisor: u128) -> Term {
        if divisor.is_power_of_two() {
            let mask = self.terms.bv(divisor - 1, WIDTH);
            return self.terms.bv_binary(BvBinary::And, number, mask);
        }
        let (by, zero) = (self.terms.bv(divisor, WIDTH), self.terms.bv(0, WIDTH));
        let rest = self.terms.bv_binary(BvBinary::Srem, number, by);
        let is_below = self.terms.bv_compare(BvCompare::Slt, rest, zero);
        let lifted = self.terms.bv_add(rest, by);
        self.terms.ite(is_below, lifted, rest)
    }
}

/// The bit-vector symbol or function for one over integers. `@` is in no identifier of the IVL.
fn translated(name: &str) -> String {
    format!("{name}@bv{WIDTH}")
}
