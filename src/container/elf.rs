//! ELF files: host programs, libraries and objects with fat binaries in them, and cubins.
//!
//! Input: the bytes of a file. Output: [`Contents`]. Establishes: ranges of images lie inside of the file.
//! Relies on: section headers, which linkers and `strip` keep. Reference: System V ABI; the sections are those
//! that nvcc and clang write.

use super::target::{Target, Variant};
use super::{Contents, Fault, Image, Kind, Packing, Unit, fatbin};
use object::{File, FileFlags, Object, ObjectSection};
use std::ops::Range;

/// How an ELF file starts.
pub const MAGIC: &[u8] = b"\x7fELF";

/// Machine number of GPU code.
const EM_CUDA: u16 = 190;

/// Sections with fat binaries: those of whole programs, and those of relocatable device code.
const FAT_BINARIES: [&[u8]; 2] = [b".nv_fatbin", b"__nv_relfatbin"];

/// Where a cubin with debug information keeps its PTX.
const DEBUG_PTX: &[u8] = b".nv_debug_ptx_txt";

/// Machine code of a function; its name follows.
const CODE: &[u8] = b".text.";

/// The device code of a host file or of a cubin.
pub fn contents(bytes: &[u8]) -> Result<Contents, Fault> {
    let file = parse(bytes)?;
    if is_cubin(bytes) {
        return Ok(Contents { what: "a cubin", units: vec![cubin(&file, bytes)?] });
    }
    let mut units = Vec::new();
    for section in sections(&file, bytes, |name| FAT_BINARIES.contains(&name))? {
        units.extend(fatbin::units(bytes, section)?);
    }
    Ok(Contents { what: "an ELF file", units })
}

/// Names of the functions in a cubin.
pub fn functions(cubin: &[u8]) -> Result<Vec<String>, Fault> {
    let file = parse(cubin)?;
    let names = file.sections().filter_map(|section| section.name_bytes().ok()?.strip_prefix(CODE));
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

fn parse(bytes: &[u8]) -> Result<File<'_>, Fault> {
    File::parse(bytes).map_err(|error| Fault::new(0, format!("a damaged ELF file: {error}")))
}

/// Where the sections lie whose names are asked for, in the order of the file. They do not overlap, so that a
/// small file cannot say the same many times.
fn sections(file: &File<'_>, bytes: &[u8], wanted: impl Fn(&[u8]) -> bool) -> Result<Vec<Range<usize>>, Fault> {
    let mut ranges = Vec::new();
    for section in file.sections() {
        let name = section.name_bytes();
        let name = name.map_err(|error| Fault::new(0, format!("a section of the ELF file has no name: {error}")))?;
        // Sections without contents in the file hold nothing.
        let Some((start, size)) = section.file_range().filter(|_| wanted(name)) else { continue };
        let offset = usize::try_from(start).unwrap_or(usize::MAX);
        let range = super::fields::range(offset, size, bytes.len()).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            let message = format!("section {name} of {size} bytes, but the file has {}", bytes.len());
            Fault::new(offset, message)
        })?;
        ranges.push(range);
    }
    ranges.sort_by_key(|range| (range.start, range.end));
    match ranges.windows(2).find(|pair| pair[0].end > pair[1].start) {
        Some(pair) => Err(Fault::new(pair[1].start, "two sections of the ELF file overlap")),
        None => Ok(ranges),
    }
}

fn is_cubin(bytes: &[u8]) -> bool {
    let machine = bytes.get(18..20).and_then(|bytes| bytes.try_into().ok());
    machine.is_some_and(|machine| u16::from_le_bytes(machine) == EM_CUDA)
}

/// The machine code, and the PTX that debug information has of it.
fn cubin(file: &File<'_>, bytes: &[u8]) -> Result<Unit, Fault> {
    let target = match file.flags() {
        FileFlags::Elf { abi_version, e_flags, .. } => {
            // CUDA 13 moved the number of the architecture.
            let number = if abi_version >= 8 { e_flags.0 >> 8 & 0xff } else { e_flags.0 & 0xff };
            (number != 0).then_some(Target { number, variant: Variant::Portable })
        }
        _ => None,
    };
    let image = |kind, target, payload: Range<usize>| Image {
        kind,
        target,
        name: String::new(),
        ident: String::new(),
        unpacked_bytes: payload.len() as u64,
        payload,
        packing: Packing::None,
        part: None,
    };
    let mut images = vec![image(Kind::MachineCode, target, 0..bytes.len())];
    for section in sections(file, bytes, |name| name == DEBUG_PTX)? {
        let target = Target::of_ptx(&String::from_utf8_lossy(&bytes[section.clone()]));
        images.push(image(Kind::DebugPtx, target, section));
    }
    Ok(Unit { images })
}
