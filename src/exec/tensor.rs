//! Tensor maps: what tensor copies know of a tensor in global memory.
//!
//! Input: the 128 bytes of a map, which only this file reads and writes (the ISA keeps them opaque). Output: a [`TensorMap`], its
//! bytes; the parts of a box ([`TensorMap::parts`]). Its text as an argument is in [`super::tensor_argument`].
//! Establishes: a map keeps the rules of the driver (ranks, multiples of 16 bytes, sizes of boxes); a box has all its elements
//! exactly once, each at its place in shared memory, and no place in global memory if it lies outside of the tensor.
//! Relies on: nothing. Reference: PTX ISA, "Tensors", `cp.async.bulk.tensor`; CUDA driver, `cuTensorMapEncodeTiled`.

use super::memory::UNBOUNDED;
use crate::ptx::ast::{MapField, ScalarType};
use crate::ptx::words::{scalar_type, type_name};

/// Bytes of a map.
pub(crate) const BYTES: usize = 128;

/// What the bytes of a map start with here.
const MARK: &[u8; 8] = b"tensor\x00\x01";

/// Dimensions at most.
pub(super) const RANKS: usize = 5;

/// Element types of tensors.
pub(super) const TYPES: [&str; 11] = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "tf32"];

/// Elements of a box along a dimension at most.
pub(super) const LONGEST: u64 = 256;

/// Steps between elements at most.
pub(super) const LARGEST_STEP: u64 = 8;

/// Rows, strides and addresses are multiples of so many bytes.
const UNIT: u64 = 16;

/// A box in shared memory starts at a multiple of so many bytes.
pub(super) const BOX_UNIT: u64 = 128;

/// Sizes and strides in bytes are below these.
pub(super) const LARGEST_SIZE: u64 = 1 << 32;
pub(super) const LARGEST_STRIDE: u64 = 1 << 40;

/// A tensor in global memory and the box that copies move; dimensions are counted from the innermost on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorMap {
    /// Address of the first element.
    pub(crate) address: u64,
    pub(crate) ty: ScalarType,
    /// Elements, by dimension.
    pub(super) sizes: Vec<u64>,
    /// Bytes between neighbours, by dimension; those of the first one follow each other.
    pub(super) strides: Vec<u64>,
    /// Elements that a box spans, by dimension.
    pub(super) span: Vec<u64>,
    /// Of these, one in so many is moved, by dimension; the first one moves all.
    pub(super) steps: Vec<u64>,
    /// Bytes of a row among which pieces of 16 change places; 0: they stay.
    pub(super) swizzle: u64,
    /// Elements outside of the tensor are no numbers, not zeros.
    pub(super) fills_with_nan: bool,
}

/// A part of a row of a box: in shared memory its bytes lie one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The place in global memory; `None` outside of the tensor.
    pub(super) address: Option<u64>,
    /// Bytes behind the start of the box in shared memory.
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl TensorMap {
    /// Number of dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Bytes in global memory, from the first element to the last.
    pub(crate) fn extent(&self) -> u64 {
        let last = self.sizes.iter().zip(&self.strides).map(|(size, stride)| (size - 1).saturating_mul(*stride));
        last.fold(u64::from(self.ty.bytes()), u64::saturating_add)
    }

    /// Elements of a box, by dimension.
    fn counts(&self) -> Vec<u64> {
        self.span.iter().zip(&self.steps).map(|(span, step)| span.div_ceil(*step)).collect()
    }

    /// Bytes of a box in shared memory, parts outside of the tensor included.
    pub(super) fn box_bytes(&self) -> u64 {
        self.counts().iter().product::<u64>() * u64::from(self.ty.bytes())
    }

    /// The same, if it has all bytes behind its start, wherever that is.
    pub(crate) fn whole_box(&self) -> Option<u32> {
        self.check().ok()?;
        let bytes = self.box_bytes();
        let is_whole = |start: u64| {
            let mut parts = self.parts(&vec![0; self.rank()], start);
            parts.sort_by_key(|part| part.offset);
            parts.iter().try_fold(0, |end, part| (part.offset == end).then_some(end + part.bytes)) == Some(bytes)
        };
        let repeats = 8 * self.swizzle.max(UNIT);
        let starts = (0..repeats).step_by(BOX_UNIT as usize);
        if starts.into_iter().all(is_whole) { u32::try_from(bytes).ok() } else { None }
    }

    /// What stands for an element outside of the tensor: eight bytes of them.
    pub(super) fn filler(&self) -> u64 {
        let width = self.ty.bits();
        let one = match (self.fills_with_nan, width) {
            (false, _) => 0,
            (true, 16) => 0x7fff,
            (true, 32) => 0x7fff_ffff,
            (true, _) => 0x7fff_ffff_ffff_ffff,
        };
        (0..64 / width).fold(0, |all, index| all | one << (index * width))
    }

    /// The parts of the box at these coordinates. `start`: the low bits of the address of the box in shared memory, which say
    /// how its 16-byte pieces change places.
    pub(super) fn parts(&self, at: &[i64], start: u64) -> Vec<Part> {
        let width = u64::from(self.ty.bytes());
        let counts = self.counts();
        let row = counts[0] * width;
        let rows: u64 = counts[1..].iter().product();
        let mut parts = Vec::new();
        for number in 0..rows {
            let address = self.row(at, &counts, number);
            let piece = if self.swizzle == 0 { row } else { UNIT };
            for first in (0..row).step_by(piece as usize) {
                let linear = number * row + first;
                let offset = self.swizzled(start + linear) - start;
                self.split(at[0], address, (first, piece), offset, &mut parts);
            }
        }
        parts
    }

    /// The address of the element 0 of a row of a box; `None` outside of the tensor.
    fn row(&self, at: &[i64], counts: &[u64], number: u64) -> Option<u64> {
        let mut left = number;
        let mut address = self.address;
        for dimension in 1..self.rank() {
            let index = at[dimension] + (left % counts[dimension] * self.steps[dimension]) as i64;
            left /= counts[dimension];
            let index = u64::try_from(index).ok().filter(|index| *index < self.sizes[dimension])?;
            address = address.wrapping_add(index * self.strides[dimension]);
        }
        Some(address)
    }

    /// A piece of a row, in and outside of the tensor.
    fn split(&self, at: i64, address: Option<u64>, (first, bytes): (u64, u64), offset: u64, parts: &mut Vec<Part>) {
        let width = i64::from(self.ty.bytes());
        let (first, bytes) = (first as i64, bytes as i64);
        // Bytes of the row of the tensor, from the start of this piece on.
        let behind = at * width + first;
        let inside = match address {
            Some(_) => (-behind).clamp(0, bytes)..(self.sizes[0] as i64 * width - behind).clamp(0, bytes),
            None => 0..0,
        };
        let inside = if inside.is_empty() { 0..0 } else { inside };
        for (range, is_inside) in [(0..inside.start, false), (inside.clone(), true), (inside.end..bytes, false)] {
            if !range.is_empty() {
                let address = address.filter(|_| is_inside).map(|row| row.wrapping_add_signed(behind + range.start));
                parts.push(Part {
                    address,
                    offset: offset + range.start as u64,
                    bytes: (range.end - range.start) as u64,
                });
            }
        }
    }

    /// Where the byte of an address of shared memory goes.
    fn swizzled(&self, address: u64) -> u64 {
        let rows = match self.swizzle {
            0 => return address,
            swizzle => swizzle / UNIT,
        };
        // The number of the row of 128 bytes, as far as there are pieces.
        address ^ (address >> 7 & (rows - 1)) << 4
    }
}

/// Where the address of a tensor is in the bytes of its map.
pub(crate) const ADDRESS: usize = 8;

/// Where the dimensions of a map start in its bytes, and how many bytes each has.
const DIMENSIONS: u32 = 20;
const DIMENSION: u32 = 14;

/// What the type of the elements and the rank are marked with, so that other bytes are no map.
const TYPE_MARK: u8 = 0xa0;
const RANK_MARK: u8 = 0x50;

/// Where a field is in the bytes of a map, and how many bytes it has.
pub(super) fn field(field: MapField) -> (u32, u32) {
    let of_dimension = |dimension: u8, at: u32| DIMENSIONS + DIMENSION * u32::from(dimension) + at;
    match field {
        MapField::Address => (ADDRESS as u32, 8),
        MapField::Type => (16, 1),
        MapField::Rank => (17, 1),
        MapField::Swizzle => (18, 1),
        MapField::Fill => (19, 1),
        MapField::Box(dimension) => (of_dimension(dimension, 0), 2),
        MapField::Step(dimension) => (of_dimension(dimension, 2), 1),
        MapField::Size(dimension) => (of_dimension(dimension, 3), 5),
        MapField::Stride(dimension) => (of_dimension(dimension + 1, 8), 6),
        // Of these only one value is emulated, and nothing says it.
        MapField::Interleave | MapField::Atomicity => (BYTES as u32 - 1, 1),
    }
}

/// The bytes of a map of this rank that say what it is: all fields, but for how far the innermost elements are apart.
pub(super) fn read_bytes(rank: usize) -> Vec<usize> {
    let dimension = |number: u32| {
        let start = DIMENSIONS + DIMENSION * number;
        (start..start + if number == 0 { 8 } else { DIMENSION }).map(|at| at as usize)
    };
    (ADDRESS..DIMENSIONS as usize).chain((0..rank as u32).flat_map(dimension)).collect()
}

/// Whether the bytes of a field are not the number that `tensormap.replace` gives it.
pub(super) fn is_coded(field: MapField) -> bool {
    use MapField::{Atomicity, Fill, Interleave, Rank, Swizzle, Type};
    matches!(field, Type | Rank | Swizzle | Fill | Interleave | Atomicity)
}

/// The bytes of a field, by the number that `tensormap.replace` gives it; `None`: the number itself.
///
/// # Errors
/// What is not emulated.
pub(super) fn coded(field: MapField, value: u64) -> Result<Option<u64>, String> {
    let of_type = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "", "f64", "bf16", "tf32"];
    let refused = |what: &str| Err(format!("of {what} {value}"));
    match field {
        MapField::Type => {
            let name = of_type.get(value as usize).copied().unwrap_or_default();
            match TYPES.iter().position(|other| *other == name) {
                Some(index) => Ok(Some(u64::from(TYPE_MARK | index as u8))),
                None => refused("the type"),
            }
        }
        MapField::Rank if value < RANKS as u64 => Ok(Some(u64::from(RANK_MARK) | (value + 1))),
        MapField::Rank => refused("a rank of more than 5, given as"),
        MapField::Swizzle if value < 4 => Ok(Some([0, 32, 64, 128][value as usize])),
        MapField::Swizzle => refused("the swizzle mode"),
        MapField::Fill if value < 2 => Ok(Some(value)),
        MapField::Fill => refused("the fill mode"),
        MapField::Interleave | MapField::Atomicity if value == 0 => Ok(Some(0)),
        MapField::Interleave => refused("the interleave layout"),
        MapField::Atomicity => refused("the swizzle atomicity"),
        _ => Ok(None),
    }
}

/// Bytes of a map: of the emulator's own, as the ISA keeps them opaque.
impl TensorMap {
    /// The 128 bytes.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let number = |ty: ScalarType| TYPES.iter().position(|name| *name == type_name(ty)).unwrap_or(0) as u8;
        let mut bytes = MARK.to_vec();
        bytes.extend(self.address.to_le_bytes());
        let (ty, rank) = (TYPE_MARK | number(self.ty), RANK_MARK | self.rank() as u8);
        bytes.extend([ty, rank, self.swizzle as u8, u8::from(self.fills_with_nan)]);
        for dimension in 0..self.rank() {
            bytes.extend((self.span[dimension] as u16).to_le_bytes());
            bytes.push(self.steps[dimension] as u8);
            bytes.extend(&self.sizes[dimension].to_le_bytes()[..5]);
            bytes.extend(&self.strides[dimension].to_le_bytes()[..6]);
        }
        bytes.resize(BYTES, 0);
        bytes
    }

    /// The map that these bytes are, if they are one.
    pub(crate) fn decoded(bytes: &[u8]) -> Option<TensorMap> {
        // Maps that the kernel makes start with what was there.
        let (_, rest) = bytes.split_at_checked(MARK.len())?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
        let (head, rest) = rest.split_at_checked(12)?;
        let ty = scalar_type(TYPES.get(usize::from(head[8].checked_sub(TYPE_MARK)?))?)?;
        let [rank, swizzle, nan] = [head[9].checked_sub(RANK_MARK)?, head[10], head[11]];
        let mut map = TensorMap {
            address: number(&head[..8]),
            ty,
            sizes: Vec::new(),
            strides: Vec::new(),
            span: Vec::new(),
            steps: Vec::new(),
            swizzle: u64::from(swizzle),
            fills_with_nan: nan == 1,
        };
        for one in rest.chunks_exact(14).take(usize::from(rank)) {
            map.span.push(number(&one[..2]));
            map.steps.push(number(&one[2..3]));
            map.sizes.push(number(&one[3..8]));
            map.strides.push(number(&one[8..]));
        }
        // No field says how far the innermost elements are apart.
        *map.strides.first_mut()? = u64::from(ty.bytes());
        let is_in = |all: &[u64], most: u64| all.iter().all(|one| (1..=most).contains(one));
        let is_one = is_in(&map.span, LONGEST) && is_in(&map.steps, LARGEST_STEP) && is_in(&map.sizes, LARGEST_SIZE);
        (is_one && map.rank() == usize::from(rank)).then_some(map)
    }
}

impl TensorMap {
    /// The rules of the driver.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.span.is_empty() {
            return Err("tensor: box is missing, as in box=64x8".to_string());
        }
        let row = self.span[0] * u64::from(self.ty.bytes());
        if !row.is_multiple_of(UNIT) {
            return Err(format!("tensor: box: its rows have {row} bytes, which is no multiple of {UNIT}"));
        }
        if let Some(stride) = self.strides[1..].iter().find(|stride| !stride.is_multiple_of(UNIT)) {
            return Err(format!("tensor: strides: {stride} bytes are no multiple of {UNIT}"));
        }
        if self.strides[1..].iter().any(|stride| *stride >= LARGEST_STRIDE) {
            return Err(format!("tensor: strides: they are below {LARGEST_STRIDE} bytes"));
        }
        if self.extent() > UNBOUNDED {
            return Err(format!("tensor: strides: it spans more than {UNBOUNDED} bytes"));
        }
        if self.steps[0] != 1 {
            return Err("tensor: steps: the innermost dimension has no steps but 1".to_string());
        }
        match self.swizzle {
            0 => Ok(()),
            swizzle if row == swizzle => Ok(()),
            swizzle => Err(format!(
                "tensor: swizzle: the rows of the box have {row} bytes; only those of {swizzle} bytes are emulated"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::tensor_argument::TensorArgument;
    use std::collections::BTreeMap;

    fn map(text: &str) -> TensorMap {
        match TensorArgument::parse(text) {
            Ok(argument) => argument.map,
            Err(message) => panic!("{text}: {message}"),
        }
    }

    /// Each byte of a box is in one part; against the definition, element by element.
    #[test]
    fn boxes_have_each_element_once() {
        let cases: [(&str, &[i64], u64); 7] = [
            ("u32:8:box=8", &[0], 0),
            ("u32:8:box=8", &[-3], 128),
            ("u32:8:box=8", &[5], 0),
            ("u16:16x6:box=8x4,strides=64", &[9, -2], 256),
            ("f32:32x9:box=32x9,swizzle=128", &[0, 0], 0),
            ("u8:32x9x3:box=32x5x2,strides=48x512,steps=1x2x1,swizzle=32", &[3, 2, 2], 384),
            ("f32:16x40:box=16x20,steps=1x3,swizzle=64,fill=nan", &[-1, 30], 128),
        ];
        for (text, at, start) in cases {
            let map = TensorMap { address: 1 << 20, ..map(text) };
            let mut found: BTreeMap<u64, Option<u64>> = BTreeMap::new();
            for part in map.parts(at, start) {
                for byte in 0..part.bytes {
                    let known = found.insert(part.offset + byte, part.address.map(|address| address + byte));
                    assert_eq!(known, None, "{text}: twice at {}", part.offset + byte);
                }
            }
            assert_eq!(found.len() as u64, map.box_bytes(), "{text}");
            for (offset, address) in expected(&map, at, start) {
                assert_eq!(found.get(&offset), Some(&address), "{text} at {offset}");
            }
        }
    }

    /// The definition: elements in order, each in or outside of the tensor, then the swizzle by its table.
    fn expected(map: &TensorMap, at: &[i64], start: u64) -> Vec<(u64, Option<u64>)> {
        let width = u64::from(map.ty.bytes());
        let counts = map.counts();
        let total: u64 = counts.iter().product();
        let mut all = Vec::new();
        for number in 0..total {
            let (mut left, mut address, mut inside) = (number, map.address, true);
            for dimension in 0..map.rank() {
                let index = at[dimension] + (left % counts[dimension] * map.steps[dimension]) as i64;
                left /= counts[dimension];
                inside &= (0..map.sizes[dimension] as i64).contains(&index);
                address = address.wrapping_add_signed(index * map.strides[dimension] as i64);
            }
            for byte in 0..width {
                let place = start + number * width + byte;
                let piece = place / 16 % 8;
                let row = place / 128 % 8;
                let new = match map.swizzle {
                    128 => piece ^ row,
                    64 => piece ^ (row % 4),
                    32 => piece ^ (row % 2),
                    _ => piece,
                };
                let place = place / 128 * 128 + new * 16 + place % 16;
                all.push((place - start, inside.then(|| address + byte)));
            }
        }
        all
    }
}
