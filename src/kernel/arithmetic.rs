//! Integer arithmetic, exact over bit-vectors.
//!
//! Input: an [`IntOp`] with its type and operands. Output: an expression, with temporaries for what is
//! used more than once. Establishes: results that PTX leaves unspecified (division by zero, overflow
//! of signed division, fields of 64 bits beyond 255) are fresh arbitrary values; shift amounts clamp to the width.
//! Reference: PTX "Integer Arithmetic Instructions", "Logic and Shift Instructions".

use super::lowering::Lowering;
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{IntOp, Operand, ScalarType};

impl Lowering<'_> {
    /// The value of an integer operation, as wide as its result.
    pub(crate) fn integer(&mut self, op: IntOp, ty: ScalarType, saturate: bool, sources: &[Operand]) -> ExprRef {
        if ty == ScalarType::Pred {
            return self.logic(op, sources);
        }
        if ty.is_float() {
            // Packed integers: a function of operation and operands.
            let name = format!("{op:?}.{}{}", type_name(ty), if saturate { ".sat" } else { "" }).to_lowercase();
            return self.uninterpreted(&name, ty.bits(), ty.bits(), sources);
        }
        let (width, signed) = (ty.bits(), ty.is_signed());
        let Some(operands) = self.operands(op, width, sources) else {
            panic!("kernel: {op:?} with {} operands", sources.len());
        };
        match operands.as_slice() {
            [a] => self.unary(op, a.clone(), width, signed),
            [a, b] => self.binary(op, a.clone(), b.clone(), width, signed, saturate),
            [a, b, c] => self.ternary(op, [a.clone(), b.clone(), c.clone()], width, signed, saturate),
            [a, b, c, d] if op == IntOp::Bfi => self.bit_field([c.clone(), d.clone()], width, |this, [c, d]| {
                this.bit_field_insert(a.clone(), b.clone(), c, d, width)
            }),
            _ => panic!("kernel: {op:?} with {} operands", sources.len()),
        }
    }

    /// Reads the operands at the widths that an operation gives them.
    fn operands(&mut self, op: IntOp, width: u32, sources: &[Operand]) -> Option<Vec<ExprRef>> {
        let widths: &[u32] = match op {
            IntOp::Abs | IntOp::Neg | IntOp::Not | IntOp::Cnot => &[width],
            IntOp::Brev | IntOp::Popc | IntOp::Clz | IntOp::Bfind(_) => &[width],
            IntOp::Shl | IntOp::Shr => &[width, 32],
            IntOp::MadWide => &[width, width, width * 2],
            IntOp::FunnelLeft(_) | IntOp::FunnelRight(_) | IntOp::Bfe => &[width, width, 32],
            IntOp::Prmt | IntOp::Slct => &[width, width, 32],
            IntOp::Lop3(_) | IntOp::Sad | IntOp::MadLo | IntOp::MadHi | IntOp::Mad24Lo => &[width; 3],
            IntOp::Bfi => &[width, width, 32, 32],
            _ => &[width, width],
        };
        // The position and length of a bit field are 32 bits wide whatever the type.
        let bfe = [width, 32, 32];
        let widths = if op == IntOp::Bfe { &bfe[..] } else { widths };
        (widths.len() == sources.len())
            .then(|| sources.iter().zip(widths).map(|(source, width)| self.read(source, *width)).collect())
    }

    fn logic(&mut self, op: IntOp, sources: &[Operand]) -> ExprRef {
        let values: Vec<_> = sources.iter().map(|s| self.read_predicate(s)).collect();
        match (op, values.as_slice()) {
            (IntOp::Not, [a]) => bv::not(a.clone()),
            (IntOp::And, [a, b]) => bv::and(a.clone(), b.clone()),
            (IntOp::Or, [a, b]) => bv::or(a.clone(), b.clone()),
            (IntOp::Xor, [a, b]) => bv::ne(a.clone(), b.clone()),
            (IntOp::Lop3(table), [a, b, c]) => {
                let minterm = |k: u8| {
                    let literal = |bit: u8, v: &ExprRef| if k & bit != 0 { v.clone() } else { bv::not(v.clone()) };
                    bv::and(bv::and(literal(4, a), literal(2, b)), literal(1, c))
                };
                (0..8u8).filter(|k| table >> k & 1 != 0).fold(bv::boolean(false), |e, k| bv::or(e, minterm(k)))
            }
            _ => self.arbitrary(Type::Bool),
        }
    }

    fn unary(&mut self, op: IntOp, a: ExprRef, width: u32, signed: bool) -> ExprRef {
        let zero = bv::literal(0, width);
        match op {
            IntOp::Abs => {
                let a = self.shared(a);
                bv::ite(bv::binary(BvOp::Slt, a.clone(), zero), bv::unary(BvOp::Neg, a.clone()), a)
            }
            IntOp::Neg => bv::unary(BvOp::Neg, a),
            IntOp::Not => bv::unary(BvOp::Not, a),
            IntOp::Cnot => bv::ite(bv::eq(a, zero), bv::literal(1, width), bv::literal(0, width)),
            IntOp::Brev => self.bit_reverse(a, width),
            IntOp::Popc => self.population_count(a, width),
            IntOp::Clz => self.leading_zeros(a, width),
            IntOp::Bfind(shift_amount) => self.find_leading(a, width, signed, shift_amount),
            _ => panic!("kernel: {op:?} is not unary"),
        }
    }

    fn binary(&mut self, op: IntOp, a: ExprRef, b: ExprRef, width: u32, signed: bool, saturate: bool) -> ExprRef {
        let pick = |unsigned: BvOp, of_signed: BvOp| if signed { of_signed } else { unsigned };
        match op {
            IntOp::Add | IntOp::Sub if saturate => {
                let wide = |e| extend(e, width * 2, signed);
                let exact = bv::binary(if op == IntOp::Add { BvOp::Add } else { BvOp::Sub }, wide(a), wide(b));
                self.clamp(exact, width, signed)
            }
            IntOp::Add => bv::add(a, b),
            IntOp::Sub => bv::sub(a, b),
            IntOp::MulLo => bv::mul(a, b),
            IntOp::MulWide => bv::mul(extend(a, width * 2, signed), extend(b, width * 2, signed)),
            IntOp::MulHi => high_product(a, b, width, signed),
            IntOp::Mul24Lo => product24(a, b, width, signed),
            IntOp::Div => self.divide(pick(BvOp::Udiv, BvOp::Sdiv), a, b, width, signed),
            IntOp::Rem => self.divide(pick(BvOp::Urem, BvOp::Srem), a, b, width, signed),
            IntOp::Min | IntOp::Max => {
                let (a, b) = (self.shared(a), self.shared(b));
                let less = bv::binary(pick(BvOp::Ult, BvOp::Slt), a.clone(), b.clone());
                if op == IntOp::Min { bv::ite(less, a, b) } else { bv::ite(less, b, a) }
            }
            IntOp::And => bv::binary(BvOp::And, a, b),
            IntOp::Or => bv::binary(BvOp::Or, a, b),
            IntOp::Xor => bv::binary(BvOp::Xor, a, b),
            IntOp::Shl => shift(BvOp::Shl, a, b, width),
            IntOp::Shr => shift(pick(BvOp::Lshr, BvOp::Ashr), a, b, width),
            _ => panic!("kernel: {op:?} is not binary"),
        }
    }

    fn ternary(&mut self, op: IntOp, operands: [ExprRef; 3], width: u32, signed: bool, saturate: bool) -> ExprRef {
        let [a, b, c] = operands;
        match op {
            IntOp::MadLo => bv::add(bv::mul(a, b), c),
            IntOp::MadWide => bv::add(bv::mul(extend(a, width * 2, signed), extend(b, width * 2, signed)), c),
            IntOp::MadHi if saturate => {
                let high = extend(high_product(a, b, width, signed), width * 2, signed);
                let exact = bv::add(high, extend(c, width * 2, signed));
                self.clamp(exact, width, signed)
            }
            IntOp::MadHi => bv::add(high_product(a, b, width, signed), c),
            IntOp::Mad24Lo => bv::add(product24(a, b, width, signed), c),
            IntOp::Sad => {
                let (a, b) = (self.shared(a), self.shared(b));
                let less = bv::binary(if signed { BvOp::Slt } else { BvOp::Ult }, a.clone(), b.clone());
                bv::add(bv::ite(less, bv::sub(b.clone(), a.clone()), bv::sub(a, b)), c)
            }
            IntOp::Slct => bv::ite(bv::binary(BvOp::Sge, c, bv::literal(0, 32)), a, b),
            IntOp::FunnelLeft(wrap) => funnel(BvOp::Shl, a, b, c, width, wrap),
            IntOp::FunnelRight(wrap) => funnel(BvOp::Lshr, a, b, c, width, wrap),
            IntOp::Bfe => self.bit_field([b, c], width, |this, [b, c]| this.bit_field_extract(a, b, c, width, signed)),
            IntOp::Prmt => self.permute_bytes(a, b, c),
            IntOp::Lop3(table) => self.lop3([a, b, c], table, width),
            _ => panic!("kernel: {op:?} is not ternary"),
        }
    }

    /// Division and remainder: by zero the result is unspecified, and so is the smallest number by -1.
    fn divide(&mut self, op: BvOp, a: ExprRef, b: ExprRef, width: u32, signed: bool) -> ExprRef {
        let minus_one = bv::literal(u128::MAX, width);
        let unspecified_divisor = match b.kind {
            ExprKind::Bv(0) => true,
            ExprKind::Bv(_) => signed && b == minus_one,
            _ => true,
        };
        if !unspecified_divisor {
            return bv::binary(op, a, b);
        }
        let (a, b) = (self.shared(a), self.shared(b));
        let mut unspecified = bv::eq(b.clone(), bv::literal(0, width));
        if signed {
            let smallest = bv::eq(a.clone(), bv::literal(1 << (width - 1), width));
            unspecified = bv::or(unspecified, bv::and(smallest, bv::eq(b.clone(), minus_one)));
        }
        let arbitrary = self.arbitrary(Type::Bv(width));
        bv::ite(unspecified, arbitrary, bv::binary(op, a, b))
    }

    /// Saturates a value of twice the width.
    pub(crate) fn clamp(&mut self, exact: ExprRef, width: u32, signed: bool) -> ExprRef {
        let wide = bv::width(&exact);
        let exact = self.shared(exact);
        let (low, high) = if signed {
            (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
        } else {
            (0, if width >= 127 { i128::MAX } else { (1i128 << width) - 1 })
        };
        let limit = |value: i128| bv::literal(value as u128, wide);
        let below = bv::binary(BvOp::Slt, exact.clone(), limit(low));
        let above = bv::binary(BvOp::Sgt, exact.clone(), limit(high));
        let bounded = bv::ite(above, limit(high), exact);
        bv::extract(self.shared_expression(bv::ite(below, limit(low), bounded)), width, 0)
    }

    fn shared_expression(&mut self, value: ExprRef) -> ExprRef {
        self.shared(value)
    }

    fn lop3(&mut self, operands: [ExprRef; 3], table: u8, width: u32) -> ExprRef {
        let [a, b, c] = operands.map(|e| self.shared(e));
        let minterm = |k: u8| {
            let literal = |bit: u8, v: &ExprRef| if k & bit != 0 { v.clone() } else { bv::unary(BvOp::Not, v.clone()) };
            bv::binary(BvOp::And, bv::binary(BvOp::And, literal(4, &a), literal(2, &b)), literal(1, &c))
        };
        let terms = (0..8u8).filter(|k| table >> k & 1 != 0).map(minterm);
        terms.reduce(|x, y| bv::binary(BvOp::Or, x, y)).unwrap_or_else(|| bv::literal(0, width))
    }
}

/// A name for a type in function names.
pub(crate) fn type_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Pred => "pred".to_string(),
        ScalarType::B(n) => format!("b{n}"),
        ScalarType::U(n) => format!("u{n}"),
        ScalarType::S(n) => format!("s{n}"),
        ScalarType::F(n) => format!("f{n}"),
        ScalarType::Packed(format) => format.name().to_string(),
    }
}

/// Extends by the sign of the type.
pub(crate) fn extend(e: ExprRef, to: u32, signed: bool) -> ExprRef {
    let from = bv::width(&e);
    match e.kind {
        // Sign extension of a literal is a literal.
        ExprKind::Bv(value) if signed && from < to && value >> (from - 1) & 1 == 1 => {
            bv::literal(value | (u128::MAX << from), to)
        }
        _ if signed && !matches!(e.kind, ExprKind::Bv(_)) => bv::sext(e, to),
        _ => bv::zext(e, to),
    }
}

/// The high half of a product.
fn high_product(a: ExprRef, b: ExprRef, width: u32, signed: bool) -> ExprRef {
    let product = bv::mul(extend(a, width * 2, signed), extend(b, width * 2, signed));
    bv::extract(product, width * 2, width)
}

/// The low half of the 48-bit product of the low 24 bits.
fn product24(a: ExprRef, b: ExprRef, width: u32, signed: bool) -> ExprRef {
    let low = |e| extend(bv::extract(e, 24, 0), width, signed);
    bv::mul(low(a), low(b))
}

/// A shift by a 32-bit amount that clamps to the width, as SMT-LIB's shifts do at equal widths.
pub(crate) fn shift(op: BvOp, a: ExprRef, amount: ExprRef, width: u32) -> ExprRef {
    if let ExprKind::Bv(amount) = amount.kind {
        return bv::binary(op, a, bv::literal(amount.min(u128::from(width)), width));
    }
    if width >= 32 {
        return bv::binary(op, a, bv::zext(amount, width));
    }
    let large = bv::binary(BvOp::Uge, amount.clone(), bv::literal(u128::from(width), 32));
    let amount = bv::ite(large, bv::literal(u128::from(width), width), bv::extract(amount, width, 0));
    bv::binary(op, a, amount)
}

/// `shf`: a double-width value shifted, of which the high (left) or low (right) half remains.
fn funnel(op: BvOp, low: ExprRef, high: ExprRef, amount: ExprRef, width: u32, wrap: bool) -> ExprRef {
    let limit = bv::literal(u128::from(width), 32);
    let amount = match amount.kind {
        ExprKind::Bv(v) if wrap => bv::literal(v % u128::from(width), 32),
        ExprKind::Bv(v) => bv::literal(v.min(u128::from(width)), 32),
        _ if wrap => bv::binary(BvOp::And, amount, bv::literal(u128::from(width - 1), 32)),
        _ => {
            let large = bv::binary(BvOp::Ugt, amount.clone(), limit.clone());
            bv::ite(large, limit, amount)
        }
    };
    let shifted = bv::binary(op, bv::concat(high, low), bv::zext(amount, 2 * width));
    if op == BvOp::Shl { bv::extract(shifted, 2 * width, width) } else { bv::extract(shifted, width, 0) }
}

/// Equality of Booleans or bit-vectors as an expression; kept here so that callers read alike.
pub(crate) fn iff(a: ExprRef, b: ExprRef) -> ExprRef {
    bv::op(BinaryOp::Iff, a, b)
}
