//! Which bits of a term can be one.
//!
//! Computed once when a term is interned, from the bits of its operands. An over-approximation for
//! every value that the ranges of symbols allow; division by zero has its SMT-LIB value.

use super::term::{BvBinary, BvCompare, Node, Sort, Term, Terms, mask};

/// All bits up to the highest one.
fn below_highest(value: u128) -> u128 {
    mask(128 - value.leading_zeros())
}

impl Terms {
    /// Bits that may be one in some value of the term; 0 for other sorts than bit-vectors.
    pub fn possible_bits(&self, term: Term) -> u128 {
        self.bits[term.0 as usize]
    }

    /// The declared range of a bit-vector symbol as facts. Not through the builders, which rely on
    /// the range and would simplify it away.
    pub(crate) fn range_facts(&mut self, symbol: Term) -> Vec<Term> {
        let range = self.symbol_of(symbol).and_then(|s| s.range);
        let (Some((low, high)), Sort::Bv(width)) = (range, self.sort(symbol)) else { return Vec::new() };
        let mut facts = Vec::new();
        for (bound, is_low) in [(low, true), (high.min(mask(width)), false)] {
            let bound = self.bv(bound, width);
            let (a, b) = if is_low { (bound, symbol) } else { (symbol, bound) };
            facts.push(self.intern(Node::BvCompare(BvCompare::Ule, a, b), Sort::Bool));
        }
        facts
    }

    /// The possible bits of a node whose operands are interned.
    pub(super) fn bits_of(&self, node: &Node, sort: Sort) -> u128 {
        let Sort::Bv(width) = sort else { return 0 };
        let all = mask(width);
        let of = |t: &Term| self.possible_bits(*t);
        all & match node {
            Node::BvConst { value, .. } => *value,
            Node::Symbol(id) => self.symbols[*id as usize].range.map_or(all, |(_, high)| below_highest(high)),
            Node::ZeroExtend(_, a) => of(a),
            Node::SignExtend(_, a) => of(a) | (all & !mask(self.width(*a))),
            Node::Extract { low, of: a, .. } => of(a) >> low,
            Node::Concat(a, b) => of(a).checked_shl(self.width(*b)).unwrap_or(0) | of(b),
            Node::Ite(_, a, b) => of(a) | of(b),
            Node::BvBinary(op, a, b) => self.bits_of_binary(*op, *a, *b, all),
            Node::BvSum { constant, members, .. } => self.bits_of_sum(*constant, members, all),
            _ => all,
        }
    }

    fn bits_of_binary(&self, op: BvBinary, a: Term, b: Term, all: u128) -> u128 {
        let (x, y) = (self.possible_bits(a), self.possible_bits(b));
        match op {
            BvBinary::And => x & y,
            BvBinary::Or | BvBinary::Xor => x | y,
            BvBinary::Lshr => below_highest(x),
            BvBinary::Shl => all & !mask(x.trailing_zeros().min(128)),
            BvBinary::Mul => {
                let zeros = (x.trailing_zeros() + y.trailing_zeros()).min(128);
                let bound = x.checked_mul(y).filter(|p| *p <= all).map_or(all, below_highest);
                bound & !mask(zeros)
            }
            BvBinary::Udiv => match self.bv_value(b) {
                Some(divisor) if divisor > 0 => below_highest(x / divisor),
                _ => all,
            },
            // At most the dividend, which is also the remainder by zero.
            BvBinary::Urem => match self.bv_value(b) {
                Some(divisor) if divisor > 0 => below_highest(x) & below_highest(divisor - 1),
                _ => below_highest(x),
            },
            BvBinary::Sdiv | BvBinary::Srem | BvBinary::Ashr => all,
        }
    }

    fn bits_of_sum(&self, constant: u128, members: &[(Term, u128)], all: u128) -> u128 {
        let mut bound = Some(constant);
        let mut zeros = constant.trailing_zeros();
        for &(term, factor) in members {
            let bits = self.possible_bits(term);
            bound = bound.zip(bits.checked_mul(factor)).and_then(|(sum, product)| sum.checked_add(product));
            zeros = zeros.min(factor.trailing_zeros() + bits.trailing_zeros());
        }
        // Without wrapping the sum stays below its bound; a common power of two divides it anyway.
        let bound = bound.filter(|b| *b <= all).map_or(all, below_highest);
        bound & !mask(zeros.min(128))
    }
}
