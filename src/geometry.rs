//! The sizes of launches: axes, block and grid, and what a GPU can launch.
//!
//! Reference: CUDA C++ Programming Guide, technical specifications by compute capability; PTX `%ntid`, `%nctaid`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Threads of a block at most, in all.
pub(crate) const BLOCK_THREADS: u32 = 1024;

/// Threads of a block at most on each axis.
const LARGEST_BLOCK: [u32; 3] = [1024, 1024, 64];

/// Blocks of a grid at most on each axis.
const LARGEST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// Threads of a warp of every CUDA GPU.
pub(crate) const WARP_THREADS: u32 = 32;

/// What a GPU can launch at most.
pub(crate) const LARGEST: Geometry<u32> = Geometry { block: LARGEST_BLOCK, grid: LARGEST_GRID };

/// An axis of blocks and grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// The first, along which threads of a warp are neighbours.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All, in the order of sizes.
    pub(crate) const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// Its place in an array of sizes.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Its name in PTX and CUDA C++.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        }
    }

    /// The axis of that name.
    pub(crate) fn named(name: &str) -> Option<Axis> {
        Axis::ALL.into_iter().find(|axis| axis.name() == name)
    }

    /// The axis of a register such as `tid.x`, if it is one of that vector (`tid`).
    pub(crate) fn of(register: &str, vector: &str) -> Option<Axis> {
        Axis::named(register.strip_prefix(vector)?.strip_prefix('.')?)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The registers with the sizes.
const REGISTERS: Geometry<&str> =
    Geometry { block: ["ntid.x", "ntid.y", "ntid.z"], grid: ["nctaid.x", "nctaid.y", "nctaid.z"] };

/// Sizes of a launch, `[x, y, z]`. Of [`Geometry`] alone each is known or free (`None`), of `Geometry<u32>` all are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Geometry<Size = Option<u32>> {
    /// Threads a block.
    pub block: [Size; 3],
    /// Blocks.
    pub grid: [Size; 3],
}

impl<Size: Copy> Geometry<Size> {
    /// The sizes, those of the block first.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = Size> + use<Size> {
        self.block.into_iter().chain(self.grid)
    }

    /// The sizes with the registers that hold them (`ntid.x`).
    pub(crate) fn registers(&self) -> impl Iterator<Item = (&'static str, Size)> + use<Size> {
        REGISTERS.sizes().zip(self.sizes())
    }

    /// Each size replaced by what a function makes of it.
    pub(crate) fn map<To>(self, mut of: impl FnMut(Size) -> To) -> Geometry<To> {
        Geometry { block: self.block.map(&mut of), grid: self.grid.map(of) }
    }

    /// Each size replaced by what a function makes of its register and it.
    pub(crate) fn map_registers<To>(self, mut of: impl FnMut(&'static str, Size) -> To) -> Geometry<To> {
        let mut axes = |registers: [&'static str; 3], sizes: [Size; 3]| {
            let [x, y, z] = sizes;
            [of(registers[0], x), of(registers[1], y), of(registers[2], z)]
        };
        Geometry { block: axes(REGISTERS.block, self.block), grid: axes(REGISTERS.grid, self.grid) }
    }
}

impl Geometry {
    /// Launches of all sizes.
    pub const FREE: Geometry = Geometry { block: [None; 3], grid: [None; 3] };

    /// Whether a size is free.
    pub(crate) fn has_free(&self) -> bool {
        self.sizes().any(|size| size.is_none())
    }

    /// Whether it has a single thread.
    pub(crate) fn is_one_thread(&self) -> bool {
        self.sizes().all(|size| size == Some(1))
    }

    /// The sizes, if all are known.
    pub(crate) fn known(self) -> Option<Geometry<u32>> {
        let all = |[x, y, z]: [Option<u32>; 3]| Some([x?, y?, z?]);
        Some(Geometry { block: all(self.block)?, grid: all(self.grid)? })
    }

    /// With size 1 where it is free.
    pub fn or_one(self) -> Geometry<u32> {
        self.map(|size| size.unwrap_or(1))
    }
}

impl Geometry<u32> {
    /// Threads of a block.
    pub(crate) fn block_threads(&self) -> u128 {
        volume(self.block)
    }

    /// Blocks of the grid.
    pub(crate) fn blocks(&self) -> u128 {
        volume(self.grid)
    }

    /// The number of a thread among all threads.
    pub(crate) fn thread_number(&self, block: [u32; 3], thread: [u32; 3]) -> u32 {
        let before = linear(block, self.grid).wrapping_mul(self.block_threads() as u32);
        before.wrapping_add(linear(thread, self.block))
    }

    /// All threads.
    pub(crate) fn threads(&self) -> u128 {
        self.block_threads().saturating_mul(self.blocks())
    }
}

impl From<Geometry<u32>> for Geometry {
    fn from(known: Geometry<u32>) -> Geometry {
        known.map(Some)
    }
}

/// The product of sizes.
pub(crate) fn volume(sizes: [u32; 3]) -> u128 {
    sizes.into_iter().map(u128::from).product()
}

/// The number of what stands at an index, x first.
pub(crate) fn linear([x, y, z]: [u32; 3], [width, height, _]: [u32; 3]) -> u32 {
    x.wrapping_add(width.wrapping_mul(y.wrapping_add(height.wrapping_mul(z))))
}

/// Where the one with this number stands, x first.
pub(crate) fn index_of(number: u32, [width, height, _]: [u32; 3]) -> [u32; 3] {
    [number % width, number / width % height, number / width / height]
}

/// Why no GPU can launch such a block: `2048 threads a block, ...`; sizes that are `None` are free.
pub(crate) fn unlaunchable_block(block: [Option<u32>; 3]) -> Option<String> {
    for axis in Axis::ALL {
        let largest = LARGEST_BLOCK[axis.index()];
        if let Some(size) = block[axis.index()].filter(|size| *size > largest) {
            return Some(format!("{size} threads on axis {axis} of a block, but GPUs allow at most {largest}"));
        }
    }
    let threads = volume(block.map(|size| size.unwrap_or(1)));
    let is_too_large = threads > u128::from(BLOCK_THREADS);
    is_too_large.then(|| format!("{threads} threads a block, but GPUs allow at most {BLOCK_THREADS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_indices_are_each_others_inverse() {
        let sizes = [3, 4, 2];
        let numbers = 0..24;
        assert!(numbers.into_iter().all(|number| linear(index_of(number, sizes), sizes) == number));
        assert_eq!(index_of(17, sizes), [2, 1, 1]);
    }

    #[test]
    fn a_register_names_its_axis() {
        assert_eq!(Axis::of("ctaid.y", "ctaid"), Some(Axis::Y));
        for other in ["tid.y", "ctaid.w", "ctaid", "ctaidx"] {
            assert_eq!(Axis::of(other, "ctaid"), None, "{other}");
        }
    }

    #[test]
    fn products_do_not_wrap() {
        assert_eq!(volume([u32::MAX; 3]), u128::from(u32::MAX).pow(3));
        assert_eq!(Geometry { block: [u32::MAX; 3], grid: [u32::MAX; 3] }.threads(), u128::MAX);
        assert_eq!(Geometry { block: [2, 3, 1], grid: [5, 1, 1] }.threads(), 30);
    }
}
