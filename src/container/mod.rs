//! PTX inside of other files: programs, libraries, objects, archives, fat binaries, cubins.
//!
//! Input: the bytes of a file. Output: [`Contents`], the images of device code in it; the text of an image is
//! unpacked when asked for ([`Contents::text`]). `None`: no container, so the bytes are PTX or IVL text.
//! Establishes: every range lies inside of the file, names of PTX modules are unique, the text of an image
//! has the size that its header says, at most [`LARGEST_IMAGE`]. Relies on: nothing; the bytes are hostile.
//! Reference: the format is not documented; the fields are those that `fatbinary` of CUDA 13 writes.
//!
//! [`archive`] finds the members, [`elf`] and [`windows`] the [`sections`], [`fatbin`] reads what they hold, [`unpack`]
//! decompresses, [`target`] names architectures, [`choice`] picks modules. [`triton`] reads the launch that lies beside
//! a Triton kernel.

mod archive;
pub mod choice;
mod elf;
mod fatbin;
mod fields;
mod sections;
pub mod target;
pub(crate) mod triton;
pub(crate) mod ttir;
mod unpack;
mod windows;

pub(crate) use archive::THIN_MAGIC;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use target::Target;

/// Images that unpack to more than this are refused, in bytes.
pub const LARGEST_IMAGE: u64 = 256 << 20;

/// What is wrong with a container, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte offset in the file.
    pub offset: usize,
    /// What is wrong there: one sentence, lower case, no full stop.
    pub message: String,
}

impl Fault {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Fault { offset, message: message.into() }
    }
}

/// The device code of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// What the file is, with its article: `an ELF file`.
    pub(crate) what: &'static str,
    /// One for each translation unit (or device link), in the order of the file.
    pub(crate) units: Vec<Unit>,
    /// Damaged members of an archive; nothing of them is in `units`.
    pub faults: Vec<Fault>,
}

/// The images of one translation unit: the same code for several architectures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The member of an archive that it lies in, of characters that need no quoting in a shell.
    pub(crate) member: Option<String>,
    /// Images in the order of the file.
    pub(crate) images: Vec<Image>,
}

/// What an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// PTX text.
    Ptx,
    /// PTX text as a cubin with debug information keeps it: each line ends with a NUL byte.
    DebugPtx,
    /// Machine code.
    MachineCode,
    /// Something else by its number, such as 8: intermediate code for link-time optimisation.
    Other(u16),
}

impl Kind {
    /// Whether it is PTX.
    pub(crate) fn is_ptx(self) -> bool {
        matches!(self, Kind::Ptx | Kind::DebugPtx)
    }

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Ptx | Kind::DebugPtx => "PTX",
            Kind::MachineCode => "machine code",
            Kind::Other(8) => "intermediate code for link-time optimisation",
            Kind::Other(_) => "code of an unknown kind",
        }
    }
}

/// How an image is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Lz4,
    Zstd,
}

/// One image: code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What it holds.
    pub(crate) kind: Kind,
    /// The architecture; `None` where the file does not say.
    pub target: Option<Target>,
    /// Name of a module, unique in its file: `saxpy.sm_90.ptx`, in an archive `saxpy.o:saxpy.sm_90.ptx`; empty unless
    /// it is PTX.
    pub name: String,
    /// The source file as the compiler noted it; may be empty.
    ident: String,
    /// Where it lies in the file.
    payload: Range<usize>,
    packing: Packing,
    /// Size of the payload after decompression, in bytes.
    unpacked_bytes: u64,
    /// The part of what was decompressed that belongs to it; all when `None`.
    part: Option<Range<usize>>,
}

impl Image {
    /// Its size, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.part.as_ref().map_or(self.unpacked_bytes, |part| part.len() as u64)
    }

    /// What has to be unpacked for it, in bytes.
    pub(crate) fn cost(&self) -> u64 {
        self.unpacked_bytes
    }
}

/// Finds device code in a file, by content. `None`: the file is no container.
///
/// # Errors
/// The container is damaged, at the offset given.
pub fn open(bytes: &[u8]) -> Result<Option<Contents>, Fault> {
    let contents = if bytes.starts_with(archive::MAGIC) { Some(archive::contents(bytes)?) } else { file(bytes)? };
    Ok(contents.map(Contents::with_names))
}

/// The device code of a file that is no archive.
fn file(bytes: &[u8]) -> Result<Option<Contents>, Fault> {
    if bytes.starts_with(&fatbin::MAGIC.to_le_bytes()) {
        let units = fatbin::units(bytes, 0..bytes.len())?;
        Ok(Some(Contents::new("a fat binary", units)))
    } else if bytes.starts_with(elf::MAGIC) {
        elf::contents(bytes).map(Some)
    } else {
        windows::contents(bytes)
    }
}

impl Contents {
    fn new(what: &'static str, units: Vec<Unit>) -> Self {
        Contents { what, units, faults: Vec::new() }
    }

    /// All images with PTX, in the order of the file.
    pub fn modules(&self) -> impl Iterator<Item = &Image> {
        self.units.iter().flat_map(|unit| &unit.images).filter(|image| image.kind.is_ptx())
    }

    /// The PTX of an image; `bytes` are those of the file.
    ///
    /// # Errors
    /// The image is damaged.
    pub fn text(&self, image: &Image, bytes: &[u8]) -> Result<String, Fault> {
        let mut unpacked = unpack::image(image, bytes)?;
        if image.kind == Kind::DebugPtx {
            unpacked.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'\n');
        }
        // The compiler ends the text with a NUL byte, and images are padded with them.
        let length = unpacked.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        unpacked.truncate(length);
        let no_text = || Fault::new(image.payload.start, "an image of PTX that is no text");
        if unpacked.contains(&0) {
            return Err(no_text());
        }
        String::from_utf8(unpacked).map_err(|_| no_text())
    }

    /// Whether a unit without PTX has functions other than these. What the device linker adds to a program holds
    /// those of other units, or none. Code that cannot be looked into counts, too, and so does what takes more than
    /// `budget` bytes to unpack.
    pub(crate) fn hides_functions(&self, unit: &Unit, bytes: &[u8], known: &BTreeSet<&str>, budget: &mut u64) -> bool {
        unit.images.iter().any(|image| match image.kind {
            Kind::MachineCode if image.cost() > *budget => true,
            Kind::MachineCode => {
                *budget -= image.cost();
                let functions = unpack::image(image, bytes).and_then(|code| elf::functions(&code));
                functions.map_or(true, |functions| functions.iter().any(|name| !known.contains(name.as_str())))
            }
            Kind::Other(_) => true,
            Kind::Ptx | Kind::DebugPtx => false,
        })
    }

    /// Modules are named `STEM.TARGET.ptx`, those of an archive `MEMBER:STEM.TARGET.ptx`: the stem is that of the
    /// source file, or the number of the unit.
    fn with_names(mut self) -> Self {
        let mut taken = BTreeSet::new();
        let mut twins = BTreeMap::new();
        let mut numbers = BTreeMap::new();
        for unit in &mut self.units {
            let number = numbers.entry(unit.member.clone()).and_modify(|number| *number += 1).or_insert(1u64);
            let member = unit.member.as_ref().map_or(String::new(), |member| format!("{member}:"));
            for image in unit.images.iter_mut().filter(|image| image.kind.is_ptx()) {
                let stem = stem(&image.ident).unwrap_or_else(|| number.to_string());
                let stem = format!("{member}{stem}");
                let target = image.target.map_or(String::new(), |target| format!(".{target}"));
                let twin = twins.entry((stem.clone(), image.target)).or_insert(0u64);
                // A stem can look like that of a twin.
                while image.name.is_empty() {
                    *twin += 1;
                    let ending = if *twin == 1 { String::new() } else { format!("-{twin}") };
                    let name = format!("{stem}{ending}{target}.ptx");
                    if taken.insert(name.clone()) {
                        image.name = name;
                    }
                }
            }
        }
        self
    }
}

/// The last part of a path without its extension, of characters that need no quoting in a shell.
fn stem(path: &str) -> Option<String> {
    let last = last_part(path);
    let stem = plain(last.rsplit_once('.').map_or(last, |(stem, _)| stem));
    (!stem.is_empty()).then_some(stem)
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// A name of at most 100 characters that need no quoting in a shell.
fn plain(name: &str) -> String {
    let safe = |character: char| match character {
        '.' | '-' | '_' => character,
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '_',
    };
    name.chars().take(100).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_need_no_quoting() {
        assert_eq!(stem("a/b c:$.x.cu").as_deref(), Some("b_c__.x"));
        assert_eq!(stem("C:\\k.cu").as_deref(), Some("k"));
        assert_eq!(stem(""), None);
        assert_eq!(stem(".cu"), None);
    }
}
