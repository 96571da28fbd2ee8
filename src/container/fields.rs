//! Little-endian numbers at offsets that may lie outside of the bytes.

use super::Fault;
use std::ops::Range;

/// The bytes of a file from which numbers are read.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// Without what lies behind an offset.
    pub(crate) fn cut(self, end: usize) -> Fields<'a> {
        Fields(self.0.get(..end).unwrap_or(self.0))
    }

    fn array<const N: usize>(self, offset: usize) -> Result<[u8; N], Fault> {
        let bytes = offset.checked_add(N).and_then(|end| self.0.get(offset..end));
        let array = bytes.and_then(|bytes| bytes.try_into().ok());
        array.ok_or_else(|| Fault::new(offset, "a header is cut off here"))
    }

    /// 16 bits.
    pub(crate) fn u16(self, offset: usize) -> Result<u16, Fault> {
        self.array(offset).map(u16::from_le_bytes)
    }

    /// 32 bits.
    pub(crate) fn u32(self, offset: usize) -> Result<u32, Fault> {
        self.array(offset).map(u32::from_le_bytes)
    }

    /// 64 bits.
    pub(crate) fn u64(self, offset: usize) -> Result<u64, Fault> {
        self.array(offset).map(u64::from_le_bytes)
    }
}

/// The range of `length` bytes from `start`, if it ends at `end` or before.
pub(crate) fn range(start: usize, length: u64, end: usize) -> Option<Range<usize>> {
    let length = usize::try_from(length).ok()?;
    let stop = start.checked_add(length)?;
    (stop <= end).then_some(start..stop)
}

/// The next multiple of 8.
pub(crate) fn round_up(length: usize) -> Option<usize> {
    length.checked_next_multiple_of(8)
}
