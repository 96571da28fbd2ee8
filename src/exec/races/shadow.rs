//! What each location remembers: the accesses that a later one may race with.
//!
//! Locations are words of four bytes; an entry has a mask of the bytes. Threads whose numbers have one
//! distance and that did the same at the same time share an entry, so that a word read by a million
//! threads has a short list. Reads need no look at other reads, so they have a list of their own.

use foldhash::HashMap;
use std::iter::StepBy;
use std::ops::Range;

/// Words of a page.
const PAGE: usize = 128;

/// Arrays up to this size have a flat table of pages.
const FLAT: u64 = 1 << 32;

/// Entries of a word and kind; more are forgotten.
const MOST: usize = 256;

/// Newest entries that a new one is compared with, to share one of them.
const NEWEST: usize = 4;

/// Accesses of one instruction by some threads at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    first: u32,
    last: u32,
    /// Distance of neighbours; 0 in an empty entry.
    stride: u32,
    /// Time of the threads.
    pub(crate) clock: u32,
    /// Instruction and bytes.
    code_mask: u32,
}

impl Entry {
    /// An access by one thread.
    pub(crate) fn new(thread: u32, clock: u32, code: u32, mask: u32) -> Self {
        Entry { first: thread, last: thread, stride: 1, clock, code_mask: code << 4 | mask }
    }

    pub(crate) fn threads(&self) -> StepBy<Range<u32>> {
        self.span().step_by(self.stride as usize)
    }

    /// From the first thread to the last.
    pub(crate) fn span(&self) -> Range<u32> {
        self.first..self.last + 1
    }

    /// The instruction.
    pub(crate) fn code(&self) -> u32 {
        self.code_mask >> 4
    }

    /// The bytes of the word.
    pub(crate) fn mask(&self) -> u32 {
        self.code_mask & 15
    }

    fn is_empty(&self) -> bool {
        self.stride == 0
    }

    /// Takes the access of another thread in, if it is alike.
    fn absorb(&mut self, other: &Entry) -> bool {
        if self.clock != other.clock || self.code_mask != other.code_mask {
            return false;
        }
        let thread = other.first;
        if self.first == self.last && thread > self.last {
            self.stride = thread - self.last;
        } else if thread <= self.last {
            return thread >= self.first && (thread - self.first).is_multiple_of(self.stride);
        }
        let follows = thread - self.last == self.stride;
        if follows {
            self.last = thread;
        }
        follows
    }
}

/// The entries of a word of one kind; most have one.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    one: Entry,
    /// Boxed, because there are many cells and few have more.
    #[allow(clippy::box_collection)]
    more: Option<Box<Vec<Entry>>>,
}

impl List {
    /// How many there are.
    fn len(&self) -> usize {
        usize::from(!self.one.is_empty()) + self.more.as_ref().map_or(0, |more| more.len())
    }

    /// The entry with this number.
    pub(crate) fn get(&self, index: usize) -> Option<Entry> {
        match index {
            0 => Some(self.one).filter(|entry| !entry.is_empty()),
            _ => self.more.as_ref()?.get(index - 1).copied(),
        }
    }

    /// Removes an entry; the last one takes its place.
    pub(crate) fn remove(&mut self, index: usize) {
        match (index, self.more.as_mut().filter(|more| !more.is_empty())) {
            (0, Some(more)) => self.one = more.pop().unwrap_or_default(),
            (0, None) => self.one = Entry::default(),
            (_, Some(more)) => {
                more.swap_remove(index - 1);
            }
            (_, None) => {}
        }
    }

    /// Adds an entry; false if there is no room.
    pub(crate) fn insert(&mut self, entry: Entry) -> bool {
        if self.one.is_empty() {
            self.one = entry;
            return true;
        }
        if self.one.absorb(&entry) {
            return true;
        }
        let more = self.more.get_or_insert_default();
        if more.iter_mut().rev().take(NEWEST).any(|place| place.absorb(&entry)) {
            return true;
        }
        let room = more.len() < MOST;
        if room {
            more.push(entry);
        }
        room
    }

    /// From which number on the newest entries stand.
    pub(crate) fn newest(&self) -> usize {
        self.len().saturating_sub(NEWEST)
    }
}

/// The entries of a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// Writes and atomics.
    pub(crate) writes: List,
    /// Reads.
    pub(crate) reads: List,
}

/// The cells of a global array.
#[derive(Debug)]
pub(crate) enum Pages {
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
    pub(crate) fn new(size: u64) -> Self {
        match size {
            0..=FLAT => Pages::Flat(vec![None; size.div_ceil(4 * PAGE as u64) as usize]),
            _ => Pages::Sparse(HashMap::default()),
        }
    }

    /// The cell of a word.
    pub(crate) fn cell(&mut self, word: u64) -> &mut Cell {
        let (number, index) = (word / PAGE as u64, word as usize % PAGE);
        let page = match self {
            Pages::Flat(pages) => pages[number as usize].get_or_insert_with(page),
            Pages::Sparse(pages) => pages.entry(number).or_insert_with(page),
        };
        &mut page[index]
    }
}
