//! How many registers an operand in braces has.
//!
//! Input: a [`Selected`] form.
//! Output: counts and types of registers.
//! Establishes: nothing.
//! Relies on: the rows of `table_matrix`, whose modifiers name the shape and the element types.
//! Reference: PTX ISA, "Matrix Fragments" of `wmma`, `mma` and `wgmma`; "Data Movement Shape" of
//! `tcgen05.ld`; `ldmatrix`.

use super::ast::ScalarType;
use super::table::Selected;

/// Bits of an element, by the name of its type.
const ELEMENTS: &[(&str, u32)] = &[
    ("f16", 16),
    ("bf16", 16),
    ("tf32", 32),
    ("f32", 32),
    ("f64", 64),
    ("s32", 32),
    ("u8", 8),
    ("s8", 8),
    ("u4", 4),
    ("s4", 4),
    ("b1", 1),
    // The formats of 6 and 4 bits are padded to bytes, except where two of 4 bits share one.
    ("e4m3", 8),
    ("e5m2", 8),
    ("e3m2", 8),
    ("e2m3", 8),
    ("e2m1", 8),
];

/// The registers in which a thread holds its part of matrix `A`, `B`, `C` or `D`.
pub(crate) fn fragment(selected: &Selected, matrix: char) -> (u32, ScalarType) {
    let elements: Vec<(&str, u32)> = selected.modifiers.iter().filter_map(|word| element(word)).collect();
    let Some([m, n, k]) = selected.modifiers.iter().find_map(|word| shape(word)) else {
        panic!("ptx: the instruction table has a matrix operand without a shape")
    };
    let opcode = selected.row.form.opcode;
    // `wmma.load.b` has the row of `wmma.load.a`, and the type of its one matrix.
    let matrix = if opcode == "wmma" && selected.has("b") { 'B' } else { matrix };
    let element = |index: usize| elements.get(index).copied().unwrap_or(("f16", 16));
    let (name, mut bits) = match (matrix, elements.len()) {
        (_, 1) | ('D', _) => element(0),
        // `wmma.mma` of halves names D and C only.
        ('C', 2) => element(1),
        (_, 2) => ("f16", 16),
        ('A', _) => element(1),
        ('B', _) => element(2),
        _ => element(3),
    };
    if selected.has("kind::mxf4") || selected.has("kind::mxf4nvf4") {
        bits = bits.min(if matches!(matrix, 'A' | 'B') { 4 } else { 32 });
    }
    let size = match matrix {
        'A' => m * k,
        'B' => k * n,
        _ => m * n,
    };
    let quads = opcode == "mma" && (m, n, k) == (8, 8, 4) && name != "f64" && element(1).0 == "f16";
    let threads = match opcode {
        "wgmma" => 128,
        // Four products at once, each of eight threads.
        _ if quads => 8,
        _ => 32,
    };
    let sparse = matrix == 'A' && ["sp", "sp::ordered_metadata"].iter().any(|word| selected.has(word));
    let of_a_thread = size / threads / if sparse { 2 } else { 1 };
    match name {
        // Fragments of halves have this size for all shapes.
        "f16" if opcode == "wmma" && matches!(matrix, 'A' | 'B') => (8, ScalarType::U(32)),
        "f64" => (of_a_thread, ScalarType::F(64)),
        "f32" => (of_a_thread, ScalarType::F(32)),
        _ => ((of_a_thread * bits / 32).max(1), ScalarType::U(32)),
    }
}

pub(super) fn element(word: &str) -> Option<(&'static str, u32)> {
    ELEMENTS.iter().copied().find(|(name, _)| *name == word)
}

/// `m16n8k16`, `m8n8`
pub(super) fn shape(word: &str) -> Option<[u32; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "1"));
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The number of registers that `.x1` to `.x128` stands for, given the shape.
pub(crate) fn times(selected: &Selected) -> u32 {
    let number = |word: &&str| word.strip_prefix('x').and_then(|digits| digits.parse::<u32>().ok());
    let times = selected.modifiers.iter().find_map(number).unwrap_or(1);
    let factor = [("16x128b", 2), ("16x256b", 4), ("m16n16", 2)];
    let all = times * factor.iter().find(|(shape, _)| selected.has(shape)).map_or(1, |&(_, factor)| factor);
    // Two of four elements are kept.
    if selected.has("spcompress") { all / 2 } else { all }
}
