//! Which bytes the matrix instructions of a warp access.
//!
//! Input: the modifiers of `ldmatrix`, `stmatrix`, `wmma.load` or `wmma.store`. Output: [`MatrixRows`].
//! Relies on: the rows of `table_matrix` for modifiers that go together.
//! Reference: PTX ISA, `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`; section "Matrix Data-types" for
//! the storage of a fragment.

use super::ast::MatrixRows;
use super::fragment::{element, shape};
use super::table::Selected;

/// The memory that an instruction with a selected form accesses.
pub(crate) fn rows(selected: &Selected) -> MatrixRows {
    match selected.row.form.opcode {
        "wmma" => fragment(selected),
        _ => one_row_a_lane(selected),
    }
}

/// `ldmatrix`, `stmatrix`: a lane gives the address of each row of 16 bytes, eight lanes for a matrix of 8 by 8 halves.
/// In the shapes of smaller elements rows have at most 16 bytes, and how many lanes give one is not relied on: all may.
fn one_row_a_lane(selected: &Selected) -> MatrixRows {
    let matrices = [("x1", 1), ("x2", 2)].iter().find(|(word, _)| selected.has(word)).map_or(4, |m| m.1);
    let lanes = if selected.has("m8n8") { 8 * matrices } else { 32 };
    MatrixRows { lanes, rows: 1, bytes: 16, stride_bits: 0 }
}

/// `wmma`: all lanes give one address, and the fragment lies behind it in rows or columns.
fn fragment(selected: &Selected) -> MatrixRows {
    let Some([m, n, k]) = selected.modifiers.iter().find_map(|word| shape(word)) else {
        panic!("ptx: the instruction table has a wmma without a shape")
    };
    let (height, width) = match ["a", "b", "c", "d"].into_iter().find(|word| selected.has(word)) {
        Some("a") => (m, k),
        Some("b") => (k, n),
        _ => (m, n),
    };
    let (rows, length) = if selected.has("col") { (width, height) } else { (height, width) };
    let Some((_, bits)) = selected.modifiers.iter().find_map(|word| element(word)) else {
        panic!("ptx: the instruction table has a wmma access without a type")
    };
    MatrixRows { lanes: 1, rows, bytes: length * bits / 8, stride_bits: bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::table::select;

    /// Lanes, rows, bytes of a row, bits of an element.
    fn of(instruction: &str) -> [u32; 4] {
        let mut words = instruction.split('.');
        let opcode = words.next().unwrap();
        let modifiers: Vec<&str> = words.collect();
        let MatrixRows { lanes, rows, bytes, stride_bits } = rows(&select(opcode, &modifiers).unwrap());
        [lanes, rows, bytes, stride_bits]
    }

    #[test]
    fn lanes_give_rows_of_16_bytes() {
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x1.shared.b16"), [8, 1, 16, 0]);
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), [32, 1, 16, 0]);
        assert_eq!(of("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8"), [32, 1, 16, 0]);
        assert_eq!(of("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64"), [32, 1, 16, 0]);
        assert_eq!(of("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8"), [32, 1, 16, 0]);
    }

    #[test]
    fn a_fragment_lies_in_rows_or_columns() {
        assert_eq!(of("wmma.load.a.sync.aligned.row.m16n16k16.global.f16"), [1, 16, 32, 16]);
        assert_eq!(of("wmma.load.a.sync.aligned.col.m32n8k16.shared.u8"), [1, 16, 32, 8]);
        assert_eq!(of("wmma.load.b.sync.aligned.row.m32n8k16.shared.bf16"), [1, 16, 16, 16]);
        assert_eq!(of("wmma.load.b.sync.aligned.col.m16n16k8.tf32"), [1, 16, 32, 32]);
        assert_eq!(of("wmma.load.a.sync.aligned.row.m8n8k128.b1"), [1, 8, 16, 1]);
        assert_eq!(of("wmma.load.c.sync.aligned.col.m8n32k16.f32"), [1, 32, 32, 32]);
        assert_eq!(of("wmma.store.d.sync.aligned.row.m8n8k4.global.f64"), [1, 8, 64, 64]);
    }
}
