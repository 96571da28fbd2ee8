//! Comparisons, conversions and floating point.
//!
//! Establishes: integer comparisons and conversions are exact; a floating-point result is an
//! uninterpreted function of the full opcode and the operands, to Booleans for comparisons, so that
//! NaN and rounding are never assumed away. Reference: PTX `setp`, `set`, `cvt`.

use super::arithmetic::extend;
use super::lowering::Lowering;
use crate::ivl::ast::{ExprRef, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{BoolOp, Comparison, Operand, ScalarType};

impl Lowering<'_> {
    /// An uninterpreted function of some operands, read at their own width (constants at `bits`).
    pub(crate) fn uninterpreted(&mut self, name: &str, bits: u32, result: u32, sources: &[Operand]) -> ExprRef {
        let args = self.own_width(bits, sources);
        self.apply(name, args, Type::Bv(result))
    }

    fn own_width(&mut self, bits: u32, sources: &[Operand]) -> Vec<ExprRef> {
        let mut args = Vec::new();
        for source in sources {
            args.push(match source {
                Operand::Register(_) | Operand::NotPredicate(_) => {
                    let predicate =
                        |r: &crate::ptx::ast::RegisterId| self.cfg.registers[r.0 as usize].ty == ScalarType::Pred;
                    match source {
                        Operand::Register(r) if !predicate(r) => self.value(*r),
                        _ => self.read_predicate(source),
                    }
                }
                _ => self.read(source, bits),
            });
        }
        args
    }

    fn apply(&mut self, name: &str, args: Vec<ExprRef>, result: Type) -> ExprRef {
        let types = args.iter().map(|a| a.ty.clone()).collect();
        let function = self.declarations.function(&mut self.names, name, types, result.clone());
        bv::call(function, args, result)
    }

    /// Floating-point arithmetic.
    pub(crate) fn float(&mut self, name: &str, ty: ScalarType, dst: &Operand, sources: &[Operand]) {
        let args = self.own_width(ty.bits(), sources);
        let result = if ty == ScalarType::Pred { Type::Bool } else { Type::Bv(ty.bits()) };
        let value = self.apply(name, args, result);
        self.write(dst, value, false);
    }

    /// `a comparison b`
    pub(crate) fn compare(
        &mut self,
        comparison: Comparison,
        ty: ScalarType,
        name: &str,
        a: &Operand,
        b: &Operand,
    ) -> ExprRef {
        if ty == ScalarType::Pred {
            let (a, b) = (self.read_predicate(a), self.read_predicate(b));
            return if comparison == Comparison::Eq { super::arithmetic::iff(a, b) } else { bv::ne(a, b) };
        }
        let (a, b) = (self.read(a, ty.bits()), self.read(b, ty.bits()));
        if ty.is_float() {
            return self.apply(name, vec![a, b], Type::Bool);
        }
        let pick = |unsigned: BvOp, signed: BvOp| if ty.is_signed() { signed } else { unsigned };
        match comparison {
            Comparison::Eq | Comparison::Equ => bv::eq(a, b),
            Comparison::Ne | Comparison::Neu => bv::ne(a, b),
            Comparison::Lt => bv::binary(pick(BvOp::Ult, BvOp::Slt), a, b),
            Comparison::Le => bv::binary(pick(BvOp::Ule, BvOp::Sle), a, b),
            Comparison::Gt => bv::binary(pick(BvOp::Ugt, BvOp::Sgt), a, b),
            Comparison::Ge => bv::binary(pick(BvOp::Uge, BvOp::Sge), a, b),
            // `lo`, `ls`, `hi`, `hs` of unsigned integers.
            Comparison::Ltu => bv::binary(BvOp::Ult, a, b),
            Comparison::Leu => bv::binary(BvOp::Ule, a, b),
            Comparison::Gtu => bv::binary(BvOp::Ugt, a, b),
            Comparison::Geu => bv::binary(BvOp::Uge, a, b),
            Comparison::Num | Comparison::Nan => self.arbitrary(Type::Bool),
        }
    }

    /// The `.and`, `.or`, `.xor` of a comparison with a predicate.
    pub(crate) fn combine(&mut self, holds: ExprRef, combine: Option<&(BoolOp, Operand)>) -> ExprRef {
        let Some((op, operand)) = combine else { return holds };
        let other = self.read_predicate(operand);
        match op {
            BoolOp::And => bv::and(holds, other),
            BoolOp::Or => bv::or(holds, other),
            BoolOp::Xor => bv::ne(holds, other),
        }
    }

    /// `set`: all ones or zero for integers, 1.0 or 0.0 for floats.
    pub(crate) fn truth_value(&mut self, holds: ExprRef, to: ScalarType) -> ExprRef {
        let bits = to.bits();
        let one = match to {
            ScalarType::F(16) => 0x3c00,
            ScalarType::F(32) => 0x3f80_0000,
            ScalarType::F(64) => 0x3ff0_0000_0000_0000,
            ScalarType::F(_) | ScalarType::Packed(_) => return self.arbitrary(Type::Bv(bits)),
            _ => u128::MAX,
        };
        bv::ite(holds, bv::literal(one, bits), bv::literal(0, bits))
    }

    /// `cvt`
    pub(crate) fn convert(
        &mut self,
        to: ScalarType,
        from: ScalarType,
        saturate: bool,
        name: &str,
        sources: &[Operand],
    ) -> ExprRef {
        let [source] = sources else {
            return self.uninterpreted(name, from.bits(), to.bits(), sources);
        };
        if to.is_float() || from.is_float() {
            let value = self.read(source, from.bits());
            return self.apply(name, vec![value], Type::Bv(to.bits()));
        }
        let value = self.read(source, from.bits());
        if !saturate {
            return extend(value, to.bits(), from.is_signed());
        }
        // One bit more than either type holds both ranges; saturation compares there.
        let wide = extend(value, from.bits().max(to.bits()) + 1, from.is_signed());
        self.clamp(wide, to.bits(), to.is_signed())
    }
}
