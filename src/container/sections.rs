//! Where sections of host files and cubins lie.
//!
//! Input: the bytes of a file that `object` reads, names of sections. Output: ranges. Establishes: they lie inside of
//! the file and do not overlap. Relies on: section headers, which linkers and `strip` keep.

use super::Fault;
use super::fields::range;
use object::{File, Object, ObjectSection};
use std::ops::Range;

/// A file with sections.
pub(crate) struct Sections<'a> {
    /// As `object` reads it.
    pub(crate) file: File<'a>,
    /// Its format without an article, for messages: `ELF file`.
    format: &'static str,
    bytes: &'a [u8],
}

impl<'a> Sections<'a> {
    /// Reads the headers of a file.
    pub(crate) fn of(bytes: &'a [u8], format: &'static str) -> Result<Self, Fault> {
        let file = File::parse(bytes).map_err(|error| Fault::new(0, format!("a damaged {format}: {error}")))?;
        Ok(Sections { file, format, bytes })
    }

    /// Where the sections lie whose names are asked for, in the order of the file. They do not overlap, so that a
    /// small file cannot say the same many times.
    pub(crate) fn named(&self, wanted: impl Fn(&[u8]) -> bool) -> Result<Vec<Range<usize>>, Fault> {
        let Sections { file, format, bytes } = self;
        let mut ranges = Vec::new();
        for section in file.sections() {
            let name = section.name_bytes();
            let name =
                name.map_err(|error| Fault::new(0, format!("a section of the {format} has no name: {error}")))?;
            // Sections without contents in the file hold nothing.
            let Some((start, size)) = section.file_range().filter(|_| wanted(name)) else { continue };
            let offset = usize::try_from(start).unwrap_or(usize::MAX);
            let range = range(offset, size, bytes.len()).ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                let message = format!("section {name} of {size} bytes, but the file has {}", bytes.len());
                Fault::new(offset, message)
            })?;
            ranges.push(range);
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        match ranges.windows(2).find(|pair| pair[0].end > pair[1].start) {
            Some(pair) => Err(Fault::new(pair[1].start, format!("two sections of the {format} overlap"))),
            None => Ok(ranges),
        }
    }
}
