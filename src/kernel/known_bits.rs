//! Bits of registers that are constants.
//!
//! Input: a [`Cfg`]. Output: for an operand, bits that are 0 and bits that are 1 whenever it was written. Establishes: whatever
//! instruction wrote the register, on whatever way, has given it those bits. Nothing is said of registers that nothing has written.
//! Used for matrix descriptors, of which all but the address is put in by constants.
//! Reference: PTX instructions `mov`, `cvt`, `and`, `or`, `xor`, `not`, `shl`, `shr`, `bfe`, `add`.

use crate::cfg::graph::{Cfg, Statement};
use crate::ptx::ast::{IntOp, Op, Operand, RegisterId, ScalarType, SpecialRegister, StateSpace};
use crate::ptx::roles::{Slot, registers_of, visit};
use std::collections::{BTreeMap, BTreeSet};

/// Bits that are known, of 64; those that a narrower value does not have are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    zeros: u64,
    ones: u64,
}

fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Bits {
    fn constant(value: u64) -> Bits {
        Bits { zeros: !value, ones: value }
    }

    /// Nothing is known of a value of that width.
    fn any(width: u32) -> Bits {
        Bits { zeros: !mask(width), ones: 0 }
    }

    /// The value, if all of these bits are known.
    pub(super) fn field(self, bits: u64) -> Option<u64> {
        ((self.zeros | self.ones) & bits == bits).then_some(self.ones & bits)
    }

    /// What is known of either.
    fn join(self, other: Bits) -> Bits {
        Bits { zeros: self.zeros & other.zeros, ones: self.ones & other.ones }
    }

    /// The low bits alone.
    fn low(self, width: u32) -> Bits {
        Bits { zeros: self.zeros | !mask(width), ones: self.ones & mask(width) }
    }

    fn and(self, other: Bits) -> Bits {
        Bits { zeros: self.zeros | other.zeros, ones: self.ones & other.ones }
    }

    fn or(self, other: Bits) -> Bits {
        Bits { zeros: self.zeros & other.zeros, ones: self.ones | other.ones }
    }

    fn not(self) -> Bits {
        Bits { zeros: self.ones, ones: self.zeros }
    }

    fn xor(self, other: Bits) -> Bits {
        self.and(other.not()).or(self.not().and(other))
    }

    fn left(self, by: u64) -> Bits {
        if by >= 64 {
            return Bits::constant(0);
        }
        Bits { zeros: self.zeros << by | mask(by as u32), ones: self.ones << by }
    }

    fn right(self, by: u64) -> Bits {
        if by >= 64 {
            return Bits::constant(0);
        }
        Bits { zeros: self.zeros >> by | !(u64::MAX >> by), ones: self.ones >> by }
    }

    /// The sum: a bit is known where those of both and the carry are.
    fn add(self, other: Bits) -> Bits {
        let least = self.ones.wrapping_add(other.ones);
        let most = (!self.zeros).wrapping_add(!other.zeros);
        let carries = [least ^ self.ones ^ other.ones, most ^ !self.zeros ^ !other.zeros];
        let known = (self.zeros | self.ones) & (other.zeros | other.ones) & !(carries[0] ^ carries[1]);
        Bits { zeros: known & !least, ones: known & least }
    }
}

/// The definitions of a graph.
pub(super) struct KnownBits<'c> {
    cfg: &'c Cfg,
    definitions: BTreeMap<RegisterId, Vec<&'c Op>>,
    /// What was found so far: of registers that depend on each other, the most that agrees with all definitions.
    known: BTreeMap<RegisterId, Bits>,
}

impl<'c> KnownBits<'c> {
    pub(super) fn of(cfg: &'c Cfg) -> KnownBits<'c> {
        let mut definitions: BTreeMap<RegisterId, Vec<&'c Op>> = BTreeMap::new();
        for statement in cfg.graph.node_weights().flat_map(|block| &block.statements) {
            let Statement::Instruction(instruction) = statement else { continue };
            visit(&mut instruction.op.clone(), &mut |slot| {
                if let Slot::Destination(dst) = slot {
                    for register in registers_of(dst) {
                        definitions.entry(register).or_default().push(&instruction.op);
                    }
                }
            });
        }
        KnownBits { cfg, definitions, known: BTreeMap::new() }
    }

    fn width(&self, register: RegisterId) -> u32 {
        self.cfg.registers[register.0 as usize].ty.bits()
    }

    /// What is known of an operand that is read with that many bits.
    pub(super) fn of_operand(&mut self, operand: &Operand, width: u32) -> Bits {
        let open =
            registers_of(operand).into_iter().flat_map(|register| self.needed(register)).collect::<BTreeSet<_>>();
        loop {
            let mut is_over = true;
            for register in &open {
                let found = self.found(*register);
                is_over &= found == self.known.get(register).copied();
                self.known.extend(found.map(|bits| (*register, bits)));
            }
            if is_over {
                return self.operand(operand, width).unwrap_or(Bits::any(width));
            }
        }
    }

    /// Whether a thread computes a value by itself, of constants, parameters and its number.
    pub(super) fn is_own(&self, operand: &Operand) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = registers_of(operand);
        while let Some(register) = work.pop() {
            if !seen.insert(register) {
                continue;
            }
            let Some(definitions) = self.definitions.get(&register) else { return false };
            for op in definitions {
                let is_own = match op {
                    Op::Mov { src: Operand::Special(SpecialRegister::Other(_)), .. } => false,
                    Op::Mov { .. } | Op::Int { .. } | Op::Cvt { .. } | Op::Selp { .. } | Op::Setp { .. } => true,
                    Op::Load { space, .. } => *space == StateSpace::Param,
                    _ => false,
                };
                if !is_own {
                    return false;
                }
                visit(&mut (*op).clone(), &mut |slot| {
                    if let Slot::Source(source) = slot {
                        work.extend(registers_of(source));
                    }
                });
            }
        }
        true
    }

    /// Registers on which one depends, with itself, of which nothing was found yet.
    fn needed(&self, register: RegisterId) -> BTreeSet<RegisterId> {
        let mut found = BTreeSet::new();
        let mut work = vec![register];
        while let Some(register) = work.pop() {
            if self.known.contains_key(&register) || !found.insert(register) {
                continue;
            }
            for op in self.definitions.get(&register).into_iter().flatten() {
                visit(&mut (*op).clone(), &mut |slot| {
                    if let Slot::Source(source) = slot {
                        work.extend(registers_of(source));
                    }
                });
            }
        }
        found
    }

    /// What all definitions agree on, but for those of which the operands are not found yet.
    fn found(&self, register: RegisterId) -> Option<Bits> {
        let width = self.width(register);
        let Some(definitions) = self.definitions.get(&register) else { return Some(Bits::any(width)) };
        let results = definitions.iter().filter_map(|op| self.result(op, register));
        results.map(|bits| bits.low(width)).reduce(Bits::join)
    }

    fn operand(&self, operand: &Operand, width: u32) -> Option<Bits> {
        match operand {
            Operand::Register(register) => Some(self.known.get(register)?.low(width)),
            Operand::Integer(value) => Some(Bits::constant(*value).low(width)),
            Operand::Vector(elements) => self.packed(elements).map(|bits| bits.low(width)),
            _ => Some(Bits::any(width)),
        }
    }

    /// Registers side by side, the first one lowest.
    fn packed(&self, elements: &[Operand]) -> Option<Bits> {
        let mut all = Bits::constant(0);
        let mut at = 0;
        for element in elements {
            let (bits, width) = match element {
                Operand::Register(register) => (*self.known.get(register)?, self.width(*register)),
                _ => return Some(Bits::default()),
            };
            all = all.or(bits.left(u64::from(at)));
            at += width;
        }
        Some(all)
    }

    /// What an operation writes to a register; `None`: nothing is found of an operand yet.
    fn result(&self, op: &Op, register: RegisterId) -> Option<Bits> {
        let width = self.width(register);
        let is_whole = |dst: &Operand| matches!(dst, Operand::Register(_));
        match op {
            Op::Mov { ty, dst, src } if is_whole(dst) && ty.bits() == width => self.operand(src, width),
            Op::Mov { ty, dst: Operand::Vector(parts), src } => self.part(parts, register, (src, ty.bits())),
            Op::Cvt { to, from, saturate: false, dst, sources, .. }
                if is_whole(dst) && !to.is_float() && !from.is_float() && to.bits() == width =>
            {
                let [source] = sources.as_slice() else { return Some(Bits::any(width)) };
                Some(extended(self.operand(source, from.bits())?, *from, to.bits()))
            }
            Op::Int { op, ty, saturate: false, dst, sources, .. } if is_whole(dst) && ty.bits() == width => {
                self.integer(*op, *ty, sources)
            }
            _ => Some(Bits::any(width)),
        }
    }

    /// One of the registers that a value is taken apart into.
    fn part(&self, parts: &[Operand], register: RegisterId, (src, bits): (&Operand, u32)) -> Option<Bits> {
        let own = |part: &Operand| match part {
            Operand::Register(register) => Some(self.width(*register)),
            _ => None,
        };
        let widths: Option<Vec<u32>> = parts.iter().map(own).collect();
        let at = parts.iter().position(|part| *part == Operand::Register(register));
        match (widths, at) {
            (Some(widths), Some(at)) if widths.iter().sum::<u32>() == bits => {
                Some(self.operand(src, bits)?.right(u64::from(widths[..at].iter().sum::<u32>())))
            }
            _ => Some(Bits::any(self.width(register))),
        }
    }

    fn integer(&self, op: IntOp, ty: ScalarType, sources: &[Operand]) -> Option<Bits> {
        let width = ty.bits();
        let of = |operand: &Operand| self.operand(operand, width);
        let value = match (op, sources) {
            (IntOp::And, [a, b]) => of(a)?.and(of(b)?),
            (IntOp::Or, [a, b]) => of(a)?.or(of(b)?),
            (IntOp::Xor, [a, b]) => of(a)?.xor(of(b)?),
            (IntOp::Add, [a, b]) => of(a)?.add(of(b)?),
            (IntOp::Not, [a]) => of(a)?.not(),
            (IntOp::Shl, [a, Operand::Integer(by)]) => of(a)?.left(by & mask(32)),
            (IntOp::Shr, [a, Operand::Integer(by)]) if !ty.is_signed() => of(a)?.right(by & mask(32)),
            (IntOp::Bfe, [a, Operand::Integer(from @ 0..64), Operand::Integer(length @ 0..64)]) if !ty.is_signed() => {
                of(a)?.right(*from).low(*length as u32)
            }
            _ => Bits::any(width),
        };
        Some(value.low(width))
    }
}

/// A value of a type in a wider or narrower one.
fn extended(value: Bits, from: ScalarType, width: u32) -> Bits {
    let sign = 1 << (from.bits() - 1);
    if !from.is_signed() || from.bits() >= width || value.zeros & sign != 0 {
        return value.low(width);
    }
    let copies = mask(width) & !mask(from.bits());
    let ones = if value.ones & sign != 0 { copies } else { 0 };
    Bits { zeros: value.zeros & !copies, ones: value.ones | ones }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values that bits of four allow.
    fn values(bits: Bits) -> Vec<u64> {
        (0..16).filter(|value| value & bits.zeros == 0 && !value & bits.ones == 0).collect()
    }

    fn all() -> Vec<Bits> {
        let of = |n: u64| Bits { zeros: !15 | n & 15 & !(n >> 4), ones: n >> 4 & !(n & 15) };
        (0..256).map(of).collect()
    }

    #[test]
    fn what_is_known_is_so() {
        for (a, b) in all().into_iter().flat_map(|a| all().into_iter().map(move |b| (a, b))) {
            let found = [a.and(b), a.or(b), a.xor(b), a.add(b)];
            for (x, y) in values(a).into_iter().flat_map(|x| values(b).into_iter().map(move |y| (x, y))) {
                let exact = [x & y, x | y, x ^ y, x + y];
                let agrees = |(bits, value): (&Bits, u64)| value & bits.zeros == 0 && !value & bits.ones == 0;
                assert!(found.iter().zip(exact).all(agrees));
            }
        }
    }

    #[test]
    fn carries_end_where_both_have_zeros() {
        // An address in units of 16 bytes, and an offset of a field above it.
        let sum = Bits::any(15).add(Bits::constant(1 << 24 | 128));
        assert_eq!(sum.field(0x3fff << 16), Some(1 << 24));
        assert_eq!(sum.field(0x3fff), None);
    }
}
