//! Bit manipulation: `bfe`, `bfi`, `brev`, `popc`, `clz`, `bfind`, `prmt`.
//!
//! Output: expressions, exact but for `prmt` with a selector that is not constant, which is an
//! uninterpreted function. Constant positions give extractions, which the solver handles best.
//! Reference: the PTX instructions of these names.

use super::lowering::Lowering;
use crate::ivl::ast::{ExprKind, ExprRef, Type};
use crate::ivl::bv::{self, BvOp};

/// The low byte of a position or length operand, where constant.
fn constant_byte(e: &ExprRef) -> Option<u32> {
    match e.kind {
        ExprKind::Bv(value) => Some((value & 0xff) as u32),
        _ => None,
    }
}

/// The low byte of an operand, `width` bits wide.
fn low_byte(e: ExprRef, width: u32) -> ExprRef {
    bv::zext(bv::extract(e, 8, 0), width)
}

impl Lowering<'_> {
    /// The result of `bfe` or `bfi` for a position and a length.
    ///
    /// Both are "restricted to 0..255". Of larger ones the manual takes the low byte, and so does hardware for 32 bits; for 64 bits
    /// hardware (an H100, tests/hardware) takes all bits, so that `bfe.u64 %d, %a, 256, 8` is 0 and not the low byte of `%a`.
    /// Then the result is any value.
    pub(crate) fn bit_field(
        &mut self,
        place: [ExprRef; 2],
        width: u32,
        result: impl FnOnce(&mut Self, [ExprRef; 2]) -> ExprRef,
    ) -> ExprRef {
        if width < 64 {
            return result(self, place);
        }
        let place = place.map(|part| self.shared(part));
        let open = place.iter().filter_map(|part| match part.kind {
            ExprKind::Bv(value) => (value > 255).then(|| bv::boolean(true)),
            _ => Some(bv::binary(BvOp::Ugt, part.clone(), bv::literal(255, 32))),
        });
        let open = open.reduce(bv::or);
        let exact = result(self, place);
        match open {
            None => exact,
            Some(open) => {
                let arbitrary = self.arbitrary(Type::Bv(width));
                bv::ite(open, arbitrary, exact)
            }
        }
    }

    /// `bfe`: bits beyond the top are the sign (signed) or zero.
    pub(crate) fn bit_field_extract(
        &mut self,
        a: ExprRef,
        position: ExprRef,
        length: ExprRef,
        width: u32,
        signed: bool,
    ) -> ExprRef {
        let zero = bv::literal(0, width);
        if let (Some(position), Some(length)) = (constant_byte(&position), constant_byte(&length)) {
            let top = (position + length).min(width);
            return match (length, position < width) {
                (0, _) => zero,
                (_, true) if signed => bv::sext(bv::extract(a, top, position), width),
                (_, true) => bv::zext(bv::extract(a, top, position), width),
                (_, false) if signed => bv::sext(bv::extract(a, width, width - 1), width),
                (_, false) => zero,
            };
        }
        let a = self.shared(a);
        let position = self.shared(low_byte(position, width));
        let length = self.shared(low_byte(length, width));
        let size = bv::literal(u128::from(width), width);
        if !signed {
            // A shift by the width or more gives 0, so long fields get a mask of ones.
            let one = bv::literal(1, width);
            let mask = bv::sub(bv::binary(BvOp::Shl, one.clone(), length), one);
            return bv::binary(BvOp::And, bv::binary(BvOp::Lshr, a, position), mask);
        }
        let end = self.shared(bv::add(position.clone(), length.clone()));
        let beyond = bv::binary(BvOp::Uge, end.clone(), size.clone());
        let to_top = bv::binary(BvOp::Shl, a.clone(), bv::sub(size.clone(), end));
        let inside = bv::binary(BvOp::Ashr, to_top, bv::sub(size, length.clone()));
        let field = bv::ite(beyond, bv::binary(BvOp::Ashr, a, position), inside);
        bv::ite(bv::eq(length, zero.clone()), zero, field)
    }

    /// `bfi`: the low bits of `field` replace bits of `base`.
    pub(crate) fn bit_field_insert(
        &mut self,
        field: ExprRef,
        base: ExprRef,
        position: ExprRef,
        length: ExprRef,
        width: u32,
    ) -> ExprRef {
        if let (Some(position), Some(length)) = (constant_byte(&position), constant_byte(&length)) {
            let top = (position + length).min(width);
            if length == 0 || position >= width {
                return base;
            }
            let base = self.shared(base);
            let mut value = bv::extract(field, top - position, 0);
            if position > 0 {
                value = bv::concat(value, bv::extract(base.clone(), position, 0));
            }
            if top < width {
                value = bv::concat(bv::extract(base, width, top), value);
            }
            return value;
        }
        let one = bv::literal(1, width);
        let position = self.shared(low_byte(position, width));
        let ones = bv::sub(bv::binary(BvOp::Shl, one.clone(), low_byte(length, width)), one);
        let mask = self.shared(bv::binary(BvOp::Shl, ones, position.clone()));
        let kept = bv::binary(BvOp::And, base, bv::unary(BvOp::Not, mask.clone()));
        bv::binary(BvOp::Or, kept, bv::binary(BvOp::And, bv::binary(BvOp::Shl, field, position), mask))
    }

    /// `brev`
    pub(crate) fn bit_reverse(&mut self, a: ExprRef, width: u32) -> ExprRef {
        let a = self.shared(a);
        let bits = (0..width).map(|k| bv::extract(a.clone(), k + 1, k));
        bits.reduce(bv::concat).unwrap_or(a)
    }

    /// `popc`: sums of neighbouring fields of doubling width; the result is 32 bits.
    pub(crate) fn population_count(&mut self, a: ExprRef, width: u32) -> ExprRef {
        let mut sums = a;
        let mut field = 1;
        while field < width {
            let pattern: u128 = (0..width / (2 * field)).map(|k| ((1u128 << field) - 1) << (2 * field * k)).sum();
            let mask = bv::literal(pattern, width);
            let shared = self.shared(sums);
            let odd = bv::binary(BvOp::Lshr, shared.clone(), bv::literal(u128::from(field), width));
            sums = bv::add(bv::binary(BvOp::And, shared, mask.clone()), bv::binary(BvOp::And, odd, mask));
            field *= 2;
        }
        bv::zext(sums, 32)
    }

    /// `clz`: halves the width where the high half is zero; the result is 32 bits.
    pub(crate) fn leading_zeros(&mut self, a: ExprRef, width: u32) -> ExprRef {
        let zero = bv::literal(0, width);
        let mut rest = self.shared(a.clone());
        let is_zero = bv::eq(rest.clone(), zero.clone());
        let mut count = bv::literal(0, 32);
        let mut half = width / 2;
        while half > 0 {
            let high = bv::extract(rest.clone(), width, width - half);
            let empty = self.shared(bv::eq(high, bv::literal(0, half)));
            count =
                self.shared(bv::ite(empty.clone(), bv::add(count.clone(), bv::literal(u128::from(half), 32)), count));
            let moved = bv::binary(BvOp::Shl, rest.clone(), bv::literal(u128::from(half), width));
            rest = self.shared(bv::ite(empty, moved, rest));
            half /= 2;
        }
        bv::ite(is_zero, bv::literal(u128::from(width), 32), count)
    }

    /// `bfind`: position of the highest bit that differs from the sign, or all ones if there is none.
    pub(crate) fn find_leading(&mut self, a: ExprRef, width: u32, signed: bool, shift_amount: bool) -> ExprRef {
        let a = self.shared(a);
        let magnitude = if signed {
            let negative = bv::binary(BvOp::Slt, a.clone(), bv::literal(0, width));
            self.shared(bv::ite(negative, bv::unary(BvOp::Not, a.clone()), a))
        } else {
            a
        };
        let none = bv::eq(magnitude.clone(), bv::literal(0, width));
        let zeros = self.leading_zeros(magnitude, width);
        let found = if shift_amount { zeros } else { bv::sub(bv::literal(u128::from(width - 1), 32), zeros) };
        bv::ite(none, bv::literal(u128::MAX, 32), found)
    }

    /// `prmt` in its default mode: four bytes picked from eight, each as it is or its sign repeated.
    pub(crate) fn permute_bytes(&mut self, a: ExprRef, b: ExprRef, selector: ExprRef) -> ExprRef {
        let ExprKind::Bv(selector) = selector.kind else {
            let types = vec![Type::Bv(32); 3];
            let function = self.declarations.function(&mut self.names, "prmt.b32", types, Type::Bv(32));
            return bv::call(function, vec![a, b, selector], Type::Bv(32));
        };
        let (a, b) = (self.shared(a), self.shared(b));
        let byte = |k: u32| {
            let nibble = (selector >> (4 * k)) as u32 & 0xf;
            let (source, index) = if nibble & 4 == 0 { (&a, nibble & 3) } else { (&b, nibble & 3) };
            let value = bv::extract(source.clone(), 8 * index + 8, 8 * index);
            if nibble & 8 == 0 { value } else { bv::sext(bv::extract(value, 8, 7), 8) }
        };
        bv::concat(bv::concat(byte(3), byte(2)), bv::concat(byte(1), byte(0)))
    }
}
