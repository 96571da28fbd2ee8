//! Descriptors of matrices in shared memory, which `wgmma` and `tcgen05.mma` read.
//!
//! Input: the 64 bits of a descriptor. Output: which bytes a product reads. Establishes: exactly those ([`Matrix::along_k`],
//! [`Matrix::along_mn`]), or some that contain them and need no `xor` ([`Matrix::extent`]).
//! Reference: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Shared Memory Matrix Layout", "Matrix Descriptor"; the
//! canonical layouts are those of CUTLASS (`cute/atom/mma_traits_sm90_gmma.hpp`).

/// Bytes of a row of eight that a core matrix has; descriptors count in them.
pub(crate) const UNIT: u64 = 16;

/// Rows of a core matrix.
const ROWS: u64 = 8;

/// Bits of a descriptor of `wgmma` that say what its matrix looks like: its two offsets, base offset and swizzle.
pub(crate) const LAYOUT: u64 = 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 3 << 62;

/// Bits of an address that a descriptor has.
pub(crate) const ADDRESS: u64 = (1 << 18) - 1;

/// A matrix in shared memory, from its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub(crate) start: u64,
    /// "Leading dimension byte offset".
    leading: u64,
    /// "Stride dimension byte offset".
    stride: u64,
    /// Pieces of 16 bytes that change places: 1, 2, 4 or 8.
    pieces: u64,
}

/// Bytes that a product may read: runs of pieces of 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The start, or what is `reach` bytes behind it, is rounded down to a multiple of so many bytes, a power of two.
    pub(crate) row: u64,
    pub(crate) reach: u64,
    /// From there runs start at each sum of multiples: how many there are, one of so many bytes.
    pub(crate) steps: Vec<(u64, u64)>,
    /// Pieces of a run.
    pub(crate) run: u64,
}

impl Matrix {
    /// What a descriptor says; `None` if its matrix has a base offset.
    pub(crate) fn of(descriptor: u64) -> Option<Matrix> {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) * UNIT;
        let pieces = [1, 8, 4, 2][(descriptor >> 62) as usize];
        let has_offset = descriptor >> 49 & 7 != 0;
        (!has_offset).then(|| Matrix { start: field(0), leading: field(16), stride: field(32), pieces })
    }

    /// Where it starts, and after how many bytes its swizzle repeats.
    pub(crate) fn place(self) -> (u64, u64) {
        (self.start, if self.pieces == 1 { UNIT } else { self.pieces * ROWS * UNIT })
    }

    /// The same of a descriptor of `tcgen05`; `None` if there is another layout than those of `wgmma`.
    pub(crate) fn of_tensor(descriptor: u64) -> Option<Matrix> {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) * UNIT;
        let pieces = match descriptor >> 61 {
            0 => 1,
            2 => 8,
            4 => 4,
            6 => 2,
            // 128 bytes of which pieces of 32 change places.
            _ => return None,
        };
        // The version is 1; a base offset, and offsets from the start of shared memory, are others.
        let is_known = descriptor >> 46 & 0x7fff == 1;
        is_known.then(|| Matrix { start: field(0), leading: field(16), stride: field(32), pieces })
    }

    /// Where the pieces of 16 bytes are that a product reads, behind the start: `rows` along M or N, 32 bytes along K.
    pub(crate) fn along_k(&self, rows: u64) -> Vec<u64> {
        self.rows(rows, 2 * UNIT)
    }

    /// The same of so many bytes along K: 16 or 32.
    pub(crate) fn rows(&self, rows: u64, bytes: u64) -> Vec<u64> {
        let step = if self.pieces == 1 { self.leading } else { UNIT };
        let place = |row: u64, half: u64| row % ROWS * self.pieces * UNIT + row / ROWS * self.stride + half * step;
        let all = (0..rows).flat_map(|row| (0..bytes / UNIT).map(move |half| (row, half)));
        all.map(|(row, half)| self.swizzled(place(row, half))).collect()
    }

    /// The same of a matrix that lies along M or N: `rows` elements of two bytes there, 16 along K.
    pub(crate) fn along_mn(&self, rows: u64) -> Vec<u64> {
        self.columns(rows, 2)
    }

    /// The same with elements of so many bytes: 32 bytes of them along K.
    pub(crate) fn columns(&self, rows: u64, element: u64) -> Vec<u64> {
        let place = |column: u64, k: u64| match self.pieces {
            1 => column * self.stride + k % ROWS * UNIT + k / ROWS * self.leading,
            pieces => {
                column % pieces * UNIT
                    + column / pieces * self.leading
                    + k % ROWS * pieces * UNIT
                    + k / ROWS * self.stride
            }
        };
        let depth = 2 * UNIT / element;
        let all = (0..rows * element / UNIT).flat_map(|column| (0..depth).map(move |k| (column, k)));
        all.map(|(column, k)| self.swizzled(place(column, k))).collect()
    }

    /// Some bytes that contain those that a product reads, which no `xor` tells: whole rows of those of which pieces change places.
    /// `None` if such rows would not be aligned.
    pub(crate) fn extent(&self, rows: u64, is_transposed: bool) -> Option<Extent> {
        let row = self.pieces * UNIT;
        let columns = rows.div_ceil(ROWS);
        let (reach, steps) = match (self.pieces, is_transposed) {
            (1, _) => (0, [(columns, self.stride), (2, self.leading)]),
            (_, false) => (UNIT, [(columns, self.stride), (1, 0)]),
            (pieces, true) => {
                let reach = UNIT * (columns.min(pieces) - 1);
                (reach, [(columns.div_ceil(pieces), self.leading), (2, self.stride)])
            }
        };
        let mut steps: Vec<(u64, u64)> = steps.into_iter().filter(|(count, _)| *count > 1).collect();
        if steps.iter().any(|(_, bytes)| bytes % row != 0) {
            return None;
        }
        let mut run = ROWS * self.pieces;
        while let Some(next) = steps.iter().position(|(_, bytes)| *bytes == run * UNIT) {
            run *= steps.remove(next).0;
        }
        Some(Extent { row, reach, steps, run })
    }

    /// Where a piece goes, behind the start.
    fn swizzled(&self, behind: u64) -> u64 {
        let address = self.start + behind;
        (address ^ (address >> 7 & (self.pieces - 1)) << 4).wrapping_sub(self.start)
    }
}

/// Where the matrix of a descriptor starts in shared memory, and after how many bytes its swizzle repeats; `None` if it has a base
/// offset.
pub(crate) fn place(descriptor: u64) -> Option<(u64, u64)> {
    Matrix::of(descriptor).map(Matrix::place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn descriptor(start: u64, leading: u64, stride: u64, mode: u64) -> u64 {
        start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62
    }

    /// Rows of 8 with a pitch of the swizzle, groups of rows by the stride: a dense tile is read exactly once.
    #[test]
    fn dense_tiles_are_read_once() {
        for (mode, bytes) in [(1, 128), (2, 64), (3, 32)] {
            let matrix = Matrix::of(descriptor(1024, 0, ROWS * bytes, mode)).expect("a matrix");
            // All steps along K of a row together.
            let all: Vec<u64> = (0..bytes / 32)
                .flat_map(|step| {
                    let start = matrix.start + step * 32;
                    let shifted = Matrix { start, ..matrix };
                    shifted.along_k(64).into_iter().map(move |place| place.wrapping_add(start))
                })
                .collect();
            let distinct: BTreeSet<u64> = all.iter().copied().collect();
            assert_eq!(all.len(), distinct.len());
            let expected: BTreeSet<u64> = (0..64 * bytes / UNIT).map(|piece| 1024 + piece * UNIT).collect();
            assert_eq!(distinct, expected, "mode {mode}");
        }
    }

    /// All pieces that an extent has, behind address 0.
    fn pieces(start: u64, extent: &Extent) -> BTreeSet<u64> {
        let starts = [start, start + extent.reach].map(|start| start / extent.row * extent.row);
        let with_steps = extent.steps.iter().fold(starts.to_vec(), |starts, (count, bytes)| {
            starts.iter().flat_map(|start| (0..*count).map(move |n| start + n * bytes)).collect()
        });
        with_steps.iter().flat_map(|start| (0..extent.run).map(move |piece| start + piece * UNIT)).collect()
    }

    #[test]
    fn extents_contain_what_is_read() {
        let mut dense = 0;
        for mode in 0..4 {
            for (leading, stride) in [(128, 256), (1024, 1024), (2048, 1024), (512, 512), (256, 256), (4096, 8192)] {
                for start in [1024, 1040, 1056, 1088, 1136, 2048 + 96] {
                    for rows in [8, 16, 64, 96, 256] {
                        let matrix = Matrix::of(descriptor(start, leading, stride, mode)).expect("a matrix");
                        for (is_transposed, exact) in [(false, matrix.along_k(rows)), (true, matrix.along_mn(rows))] {
                            let Some(extent) = matrix.extent(rows, is_transposed) else {
                                panic!("{matrix:?} has no extent")
                            };
                            let pieces = pieces(start, &extent);
                            let read = exact.iter().map(|behind| start.wrapping_add(*behind));
                            assert!(read.clone().all(|piece| pieces.contains(&piece)), "{matrix:?} {rows} {extent:?}");
                            dense += usize::from(extent.steps.is_empty());
                        }
                    }
                }
            }
        }
        assert!(dense > 100);
        // Rows of 128 bytes, groups of them 1040 bytes apart.
        assert_eq!(Matrix::of(descriptor(0, 0, 1040, 1)).and_then(|matrix| matrix.extent(64, false)), None);
    }

    #[test]
    fn core_matrices_are_where_the_offsets_say() {
        let matrix = Matrix::of(descriptor(0, 128, 256, 0)).expect("a matrix");
        let places: BTreeSet<u64> = matrix.along_k(16).into_iter().collect();
        assert_eq!(places, (0..32).map(|piece| piece * UNIT).collect());
        let places: BTreeSet<u64> = matrix.along_mn(16).into_iter().collect();
        assert_eq!(places, (0..32).map(|piece| piece * UNIT).collect());
        let wide = Matrix::of(descriptor(0, 2048, 1024, 1)).expect("a matrix");
        let places: BTreeSet<u64> = wide.along_mn(128).into_iter().collect();
        assert_eq!(places, (0..256).map(|piece| piece * UNIT).collect());
        assert_eq!(Matrix::of(1 << 49), None);
    }
}
