//! Global memory of a launch.
//!
//! Establishes: every access lies within one array; arrays are far apart.
//! Arrays of a moderate size are flat; others are kept in pages that exist once they are written.

use super::launch::Contents;
use super::values::{hash, mask};
use foldhash::HashMap;

/// Bytes of a page.
const PAGE: usize = 4096;

/// Larger arrays than this are kept in pages.
const FLAT: u64 = 1 << 28;

/// The size of an array that has no bounds, in both directions.
pub const UNBOUNDED: u64 = 1 << 43;

/// An array in global memory.
#[derive(Debug)]
pub struct GlobalArray {
    /// Name, for findings.
    pub(crate) name: String,
    /// What pointers to it hold.
    pub address: u64,
    /// First address that belongs to it.
    start: u64,
    /// Bytes from there.
    pub size: u64,
    store: Store,
}

#[derive(Debug)]
enum Store {
    Flat(Vec<u8>),
    Pages { pages: HashMap<u64, Box<[u8; PAGE]>>, contents: Contents },
}

impl Contents {
    /// The word of four bytes with this number.
    fn word(&self, index: u64) -> u32 {
        match self {
            Contents::Zero => 0,
            Contents::Small { bound, seed } => hash(*seed, index) as u32 % (*bound).max(1),
            Contents::Any { seed } => hash(*seed, index) as u32,
            Contents::Bytes(bytes) => {
                let at = |offset: u64| {
                    let index = usize::try_from(index * 4 + offset).ok();
                    u32::from(index.and_then(|index| bytes.get(index)).copied().unwrap_or(0))
                };
                at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24
            }
            Contents::Each(bytes) => {
                let at = |offset: u64| u32::from(bytes[((index * 4 + offset) % bytes.len() as u64) as usize]);
                at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24
            }
            Contents::Cells(cells) => {
                let near = cells.range(index * 4..index * 4 + 4);
                near.fold(0, |word, (offset, byte)| word | u32::from(*byte) << (8 * (offset % 4)))
            }
        }
    }

    /// Fills bytes that start at this byte offset, a multiple of 4.
    pub(crate) fn fill(&self, offset: u64, bytes: &mut [u8]) {
        if *self == Contents::Zero {
            return bytes.fill(0);
        }
        for (index, chunk) in (0u64..).zip(bytes.chunks_mut(4)) {
            let word = self.word(offset / 4 + index).to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

impl GlobalArray {
    /// An array with its contents before the launch.
    pub(crate) fn new(name: String, address: u64, size: u64, contents: Contents) -> Self {
        let (start, size) = if size >= UNBOUNDED { (address - UNBOUNDED, 2 * UNBOUNDED) } else { (address, size) };
        let store = match contents {
            Contents::Zero if size <= FLAT => Store::Flat(vec![0; size as usize]),
            Contents::Bytes(mut bytes) if size <= FLAT => {
                bytes.resize(size as usize, 0);
                Store::Flat(bytes)
            }
            contents if size <= FLAT => {
                let mut bytes = vec![0; size as usize];
                contents.fill(0, &mut bytes);
                Store::Flat(bytes)
            }
            contents => Store::Pages { pages: HashMap::default(), contents },
        };
        GlobalArray { name, address, start, size, store }
    }

    /// Whether elements of these bytes fill it from an offset on, before anything is written.
    pub(crate) fn is_filled_with(&self, start: u64, element: &[u8]) -> bool {
        let is_zero = element.iter().all(|byte| *byte == 0);
        match &self.store {
            Store::Flat(all) => {
                let rest = all.get(start as usize..).unwrap_or_default();
                rest.chunks_exact(element.len()).all(|chunk| chunk == element)
            }
            Store::Pages { contents, .. } => match contents {
                Contents::Zero => is_zero,
                Contents::Cells(cells) => is_zero && cells.range(start..).all(|(_, byte)| *byte == 0),
                Contents::Each(bytes) => {
                    let repeated = |all: &[u8]| -> Vec<u8> { all.iter().copied().cycle().take(8).collect() };
                    repeated(bytes) == repeated(element)
                }
                // Nothing but chance would make it so.
                Contents::Small { .. } | Contents::Any { .. } | Contents::Bytes(_) => false,
            },
        }
    }

    /// Reads up to 8 bytes at an offset from the array's first address, lowest first.
    fn read(&self, offset: u64, bytes: u32) -> u64 {
        match &self.store {
            Store::Flat(all) => read(all, offset as usize, bytes),
            Store::Pages { pages, contents } => (0..u64::from(bytes)).fold(0, |value, index| {
                let at = offset + index;
                let byte = match pages.get(&(at / PAGE as u64)) {
                    Some(page) => page[at as usize % PAGE],
                    None => contents.word(at / 4).to_le_bytes()[at as usize % 4],
                };
                value | u64::from(byte) << (8 * index)
            }),
        }
    }

    fn write(&mut self, offset: u64, bytes: u32, value: u64) {
        match &mut self.store {
            Store::Flat(all) => write(all, offset as usize, bytes, value),
            Store::Pages { pages, contents } => {
                for index in 0..u64::from(bytes) {
                    let at = offset + index;
                    let page = pages.entry(at / PAGE as u64).or_insert_with(|| {
                        let mut page = Box::new([0; PAGE]);
                        contents.fill(at - at % PAGE as u64, &mut page[..]);
                        page
                    });
                    page[at as usize % PAGE] = (value >> (8 * index)) as u8;
                }
            }
        }
    }
}

/// Reads up to 8 bytes, lowest first.
pub fn read(all: &[u8], offset: usize, bytes: u32) -> u64 {
    let part = &all[offset..offset + bytes as usize];
    match *part {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => part.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
    }
}

/// Writes up to 8 bytes, lowest first.
pub(crate) fn write(all: &mut [u8], offset: usize, bytes: u32, value: u64) {
    let count = bytes as usize;
    all[offset..offset + count].copy_from_slice(&value.to_le_bytes()[..count]);
}

/// All global arrays.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    pub arrays: Vec<GlobalArray>,
}

impl GlobalMemory {
    /// The array of an address, and the offset from the array's first address.
    pub fn find(&self, address: u64, bytes: u64) -> Option<(usize, u64)> {
        let inside = |array: &GlobalArray| {
            let offset = address.wrapping_sub(array.start);
            offset < array.size && array.size - offset >= bytes
        };
        let index = self.arrays.iter().position(inside)?;
        Some((index, address - self.arrays[index].start))
    }

    /// Reads up to 8 bytes.
    pub fn read(&self, array: usize, offset: u64, bytes: u32) -> u64 {
        self.arrays[array].read(offset, bytes)
    }

    /// Writes up to 8 bytes.
    pub(crate) fn write(&mut self, array: usize, offset: u64, bytes: u32, value: u64) {
        self.arrays[array].write(offset, bytes, value & mask(8 * bytes));
    }

    /// The offset that a pointer with offset 0 has, for arrays without bounds.
    pub fn origin(&self, array: usize) -> u64 {
        self.arrays[array].address - self.arrays[array].start
    }
}
