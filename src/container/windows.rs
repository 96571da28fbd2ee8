//! PE and COFF files: programs, libraries and objects of Windows with fat binaries in them.
//!
//! Input: the bytes of a file. Output: [`Contents`]. Establishes: ranges of images lie inside of the file. Reference:
//! Microsoft's PE format; the sections are those of `fatbinary_section.h` of CUDA.

use super::sections::Sections;
use super::{Contents, Fault, elf, fatbin};
use object::FileKind;

/// How a program or library starts.
const PE_MAGIC: &[u8] = b"MZ";

/// Characters that linkers keep of a section's name; in objects it is whole.
const SHORT_NAME: usize = 8;

/// The device code of a program, library or object; `None`: it is none of them.
pub(crate) fn contents(bytes: &[u8]) -> Result<Option<Contents>, Fault> {
    // Of text, no header has a NUL byte.
    let (what, format) = if bytes.starts_with(PE_MAGIC) && bytes.contains(&0) {
        ("a PE file", "PE file")
    } else if matches!(FileKind::parse(bytes), Ok(FileKind::Coff | FileKind::CoffBig)) {
        ("a COFF object", "COFF object")
    } else {
        return Ok(None);
    };
    let mut units = Vec::new();
    for section in Sections::of(bytes, format)?.named(has_fat_binaries)? {
        units.extend(fatbin::units(bytes, section)?);
    }
    Ok(Some(Contents::new(what, units)))
}

fn has_fat_binaries(name: &[u8]) -> bool {
    elf::FAT_BINARIES.iter().any(|whole| name == *whole || name == &whole[..SHORT_NAME])
}
