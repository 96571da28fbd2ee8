//! What each location remembers: the accesses that a later one may race with.
//!
//! Locations are words of four bytes; an entry has a mask of the bytes. Threads with neighbouring
//! numbers that did the same at the same time share an entry, so that a word read by a million
//! threads has a short list.

use std::collections::HashMap;
use std::ops::Range;

/// Words of a page.
const PAGE: usize = 128;

/// Arrays up to this size have a flat table of pages.
const FLAT: u64 = 1 << 32;

/// Entries of a word; more are forgotten.
const MOST: usize = 4096;

/// Accesses of one instruction by threads with neighbouring numbers, at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    first: u32,
    /// One past the last; an empty entry has `end == first`.
    end: u32,
    /// Time of the threads.
    pub clock: u32,
    /// Instruction and bytes.
    code_mask: u32,
}

impl Entry {
    /// An access by one thread.
    pub fn new(thread: u32, clock: u32, code: u32, mask: u32) -> Self {
        Entry { first: thread, end: thread + 1, clock, code_mask: code << 4 | mask }
    }

    /// The threads.
    pub fn threads(&self) -> Range<u32> {
        self.first..self.end
    }

    /// The instruction.
    pub fn code(&self) -> u32 {
        self.code_mask >> 4
    }

    /// The bytes of the word.
    pub fn mask(&self) -> u32 {
        self.code_mask & 15
    }

    fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// Takes another access in, if it is alike.
    fn absorb(&mut self, other: &Entry) -> bool {
        if self.clock != other.clock || self.code_mask != other.code_mask {
            return false;
        }
        if other.first == self.end {
            self.end = other.end;
        } else if other.end == self.first {
            self.first = other.first;
        } else {
            return self.first <= other.first && other.end <= self.end;
        }
        true
    }
}

/// The entries of a word; most have up to two.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    few: [Entry; 2],
    /// Boxed, because there are many cells and few have more.
    #[allow(clippy::box_collection)]
    more: Option<Box<Vec<Entry>>>,
}

impl Cell {
    /// The entry with this number.
    pub fn get(&self, index: usize) -> Option<Entry> {
        match index {
            0 | 1 => Some(self.few[index]).filter(|entry| !entry.is_empty()),
            _ => self.more.as_ref()?.get(index - 2).copied(),
        }
    }

    /// Removes an entry; the last one takes its place.
    pub fn remove(&mut self, index: usize) {
        match (index, self.more.as_mut().filter(|more| !more.is_empty())) {
            (0 | 1, Some(more)) => self.few[index] = more.pop().unwrap_or_default(),
            (_, Some(more)) => {
                more.swap_remove(index - 2);
            }
            (0, None) => self.few = [self.few[1], Entry::default()],
            (_, None) => self.few[1] = Entry::default(),
        }
    }

    /// Adds an entry; false if there is no room.
    pub fn insert(&mut self, entry: Entry) -> bool {
        for place in &mut self.few {
            if place.is_empty() {
                *place = entry;
                return true;
            }
            if place.absorb(&entry) {
                return true;
            }
        }
        let more = self.more.get_or_insert_default();
        // The newest are the likeliest to match.
        if more.iter_mut().rev().any(|place| place.absorb(&entry)) {
            return true;
        }
        if more.len() < MOST {
            more.push(entry);
        }
        more.len() < MOST
    }
}

/// The cells of a global array.
#[derive(Debug)]
pub enum Pages {
    /// By number of the page.
    Flat(Vec<Option<Box<[Cell]>>>),
    /// For arrays that are larger than memory.
    Sparse(HashMap<u64, Box<[Cell]>>),
}

impl Default for Pages {
    fn default() -> Self {
        Pages::Flat(Vec::new())
    }
}

fn page() -> Box<[Cell]> {
    vec![Cell::default(); PAGE].into_boxed_slice()
}

impl Pages {
    /// Cells of an array of this many bytes.
    pub fn new(size: u64) -> Self {
        match size {
            0..=FLAT => Pages::Flat(vec![None; size.div_ceil(4 * PAGE as u64) as usize]),
            _ => Pages::Sparse(HashMap::new()),
        }
    }

    /// The cell of a word.
    pub fn cell(&mut self, word: u64) -> &mut Cell {
        let (number, index) = (word / PAGE as u64, word as usize % PAGE);
        let page = match self {
            Pages::Flat(pages) => pages[number as usize].get_or_insert_with(page),
            Pages::Sparse(pages) => pages.entry(number).or_insert_with(page),
        };
        &mut page[index]
    }
}
