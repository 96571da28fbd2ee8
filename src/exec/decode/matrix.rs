//! Instructions by which a warp moves and multiplies matrices.
//!
//! Input: `ldmatrix`, `stmatrix`, `wmma`, `mma`, `movmatrix`. Output: codes. `ldmatrix` and `stmatrix` of 8 by 8 halves
//! are exact: a lane gets the address of its part from the lane that gives the row, and accesses it. How a `wmma`
//! fragment lies in registers is not specified: the first lane makes its accesses. Products and `wmma` fragments are not
//! computed: their values are opaque ([`crate::exec::outcome::Outcome::opaque`]).
//! Reference: PTX ISA, the instructions of these names.

use super::function::Decoder;
use super::{Access, Code, Slot, Space, Strength, WarpKind, WarpOperation};
use crate::exec::values::mask;
use crate::ptx::ast::{Address, MatrixRows, Operand, SpecialRegister, StateSpace};

/// The operands of a matrix that lies in memory.
pub(crate) struct Matrix<'a> {
    /// Full opcode.
    pub(crate) name: &'a str,
    /// State space.
    pub(crate) space: StateSpace,
    /// Registers loaded.
    pub(crate) dst: &'a [Operand],
    /// Registers stored.
    pub(crate) src: &'a [Operand],
    pub(crate) address: &'a Address,
    /// The bytes.
    pub(crate) rows: MatrixRows,
    /// Distance of rows.
    pub(crate) stride: Option<&'a Operand>,
}

/// Weak.
const WEAK: Strength = Strength { scope: None, acquire: false, release: false };

/// A part of a row that one lane accesses.
struct Part {
    /// The lane that gives the address, for a lane and the number of the matrix.
    giver: fn(u64, u64) -> u64,
    /// The address, for that of the row, the lane's own, and the lane. Shuffles move 32 bits; the rest is the same for
    /// all addresses of shared memory.
    address: fn(u64, u64, u64) -> u64,
    /// Width.
    bytes: u32,
}

const WHOLE: Part = Part {
    giver: |lane, matrix| 8 * matrix + lane / 4,
    address: |row, own, lane| (own & !mask(32) | row) + 4 * (lane % 4),
    bytes: 4,
};

const TRANSPOSED: [Part; 2] = [
    Part { giver: |lane, matrix| 8 * matrix + 2 * (lane % 4), address: COLUMN, bytes: 2 },
    Part { giver: |lane, matrix| 8 * matrix + 2 * (lane % 4) + 1, address: COLUMN, bytes: 2 },
];

const COLUMN: fn(u64, u64, u64) -> u64 = |row, own, lane| (own & !mask(32) | row) + 2 * (lane / 4);

impl Decoder<'_> {
    /// Registers get values that the ISA defines and that are not computed here.
    pub(crate) fn opaque(&mut self, dst: &[Operand]) {
        for (d, bits) in dst.iter().filter_map(|operand| self.destination(operand)).collect::<Vec<_>>() {
            self.emit(Code::Opaque { d, bits });
        }
    }

    /// A load or a store of matrices.
    pub(crate) fn matrix(&mut self, matrix: &Matrix) -> Option<()> {
        let words: Vec<&str> = matrix.name.split('.').collect();
        let has = |word: &str| words.contains(&word);
        match words[0] {
            "wmma" => self.fragment(matrix),
            _ if has("m8n8") => self.by_row_addresses(matrix, has("trans")),
            _ => None,
        }
    }

    /// Lane `l` has elements `2 * (l % 4)` and the next one of row `l / 4`; transposed: of column `l / 4`.
    fn by_row_addresses(&mut self, matrix: &Matrix, transposed: bool) -> Option<()> {
        let (space, base, offset) = self.place(matrix.space, matrix.address)?;
        let registers = if matrix.dst.is_empty() { matrix.src } else { matrix.dst };
        let (all, segment) = (self.constant(mask(32)), self.constant(31));
        // Results are written when all is read: a destination may be the address.
        let mut results = Vec::new();
        for (number, register) in (0..).zip(registers) {
            let parts: &[Part] = if transposed { &TRANSPOSED } else { &[WHOLE] };
            let matrix_number = self.constant(number);
            let mut loaded = Vec::new();
            for (number, part) in (0u64..).zip(parts) {
                let lane = self.special(SpecialRegister::LaneId);
                let (from, row, at) = (self.temporary(), self.temporary(), self.temporary());
                self.emit(Code::Two { f: part.giver, d: from, a: lane, b: matrix_number });
                let (d, s) = ([Some((row, 32)), None], [base, from, segment]);
                self.push_operation(WarpOperation { kind: WarpKind::ShuffleIndex, d, s, mask: Some(all) });
                self.emit(Code::Three { f: part.address, d: at, a: row, b: base, c: lane });
                let slot = self.temporary();
                let access = self.part(space, at, offset, part.bytes, vec![Some((slot, 64))]);
                if matrix.dst.is_empty() {
                    let (value, shift) = (self.source(register, 32)?, self.constant(16 * number));
                    self.emit(Code::Two { f: |value, shift| value >> shift, d: slot, a: value, b: shift });
                    self.push_access(access, Code::Store);
                } else {
                    self.push_access(access, Code::Load);
                    loaded.push(slot);
                }
            }
            results.extend((!matrix.dst.is_empty()).then_some((register, loaded)));
        }
        for (register, loaded) in results {
            let d = self.target(register);
            let high = loaded.get(1).copied();
            let zero = self.constant(0);
            let (a, b) = (loaded[0], high.unwrap_or(zero));
            self.emit(Code::Two { f: |low, high| (high << 16 | low) & mask(32), d, a, b });
        }
        Some(())
    }

    /// The first lane accesses the rows.
    fn fragment(&mut self, matrix: &Matrix) -> Option<()> {
        let (space, base, offset) = self.place(matrix.space, matrix.address)?;
        let MatrixRows { rows, bytes, stride_bits, .. } = matrix.rows;
        let stride = match matrix.stride {
            Some(stride) => self.source(stride, 32)?,
            None => self.constant(u64::from(8 * bytes / stride_bits)),
        };
        let lane = self.special(SpecialRegister::LaneId);
        let is_other = self.temporary();
        self.emit(Code::One { f: |lane| u64::from(lane != 0), d: is_other, a: lane });
        let skip = self.program.code.len();
        self.emit(Code::Nothing);
        for row in 0..rows {
            let (at, bits) = (self.temporary(), self.constant(u64::from(row * stride_bits)));
            let start = |base: u64, stride: u64, bits: u64| base.wrapping_add((stride & mask(32)) * bits / 8);
            self.emit(Code::Three { f: start, d: at, a: base, b: stride, c: bits });
            let slot = self.temporary();
            for word in 0..i64::from(bytes / 8) {
                let access = self.part(space, at, offset + 8 * word, 8, vec![Some((slot, 64))]);
                if matrix.dst.is_empty() {
                    self.emit(Code::Opaque { d: slot, bits: 64 });
                    self.push_access(access, Code::Store);
                } else {
                    self.push_access(access, Code::Load);
                }
            }
        }
        let to = self.program.code.len() as u32;
        self.program.code[skip] = Code::JumpIf { p: is_other, when: true, to };
        self.opaque(matrix.dst);
        self.emit(Code::Nothing);
        Some(())
    }

    fn part(&self, space: Space, base: Slot, offset: i64, bytes: u32, data: Vec<Option<(Slot, u8)>>) -> Access {
        Access {
            space,
            base,
            offset,
            bytes,
            parts: 1,
            is_signed: false,
            elements: data.len() as u32,
            data,
            strength: WEAK,
            constant: false,
            is_reduction: false,
            atomic: None,
        }
    }
}
