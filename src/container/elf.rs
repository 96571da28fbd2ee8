//! ELF files: host programs, libraries and objects with fat binaries in them, and cubins.
//!
//! Input: the bytes of a file. Output: [`Contents`]. Establishes: ranges of images lie inside of the file.
//! Reference: System V ABI; the sections are those that nvcc and clang write.

use super::sections::Sections;
use super::target::{Target, Variant};
use super::{Contents, Fault, Image, Kind, Packing, Unit, fatbin};
use object::{FileFlags, Object, ObjectSection};
use std::ops::Range;

/// How an ELF file starts.
pub(crate) const MAGIC: &[u8] = b"\x7fELF";

/// In messages.
const FORMAT: &str = "ELF file";

/// Machine number of GPU code.
const EM_CUDA: u16 = 190;

/// Sections with fat binaries: those of whole programs, and those of relocatable device code.
pub(crate) const FAT_BINARIES: [&[u8]; 2] = [b".nv_fatbin", b"__nv_relfatbin"];

/// Where a cubin with debug information keeps its PTX.
const DEBUG_PTX: &[u8] = b".nv_debug_ptx_txt";

/// Machine code of a function; its name follows.
const CODE: &[u8] = b".text.";

/// The device code of a host file or of a cubin.
pub(crate) fn contents(bytes: &[u8]) -> Result<Contents, Fault> {
    let sections = Sections::of(bytes, FORMAT)?;
    if is_cubin(bytes) {
        return Ok(Contents::new("a cubin", vec![cubin(&sections, bytes)?]));
    }
    let mut units = Vec::new();
    for section in sections.named(|name| FAT_BINARIES.contains(&name))? {
        units.extend(fatbin::units(bytes, section)?);
    }
    Ok(Contents::new("an ELF file", units))
}

/// Names of the functions in a cubin.
pub(crate) fn functions(cubin: &[u8]) -> Result<Vec<String>, Fault> {
    let file = Sections::of(cubin, FORMAT)?.file;
    let names = file.sections().filter_map(|section| section.name_bytes().ok()?.strip_prefix(CODE));
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

fn is_cubin(bytes: &[u8]) -> bool {
    let machine = bytes.get(18..20).and_then(|bytes| bytes.try_into().ok());
    machine.is_some_and(|machine| u16::from_le_bytes(machine) == EM_CUDA)
}

/// The machine code, and the PTX that debug information has of it.
fn cubin(sections: &Sections<'_>, bytes: &[u8]) -> Result<Unit, Fault> {
    let target = match sections.file.flags() {
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
    for section in sections.named(|name| name == DEBUG_PTX)? {
        let target = Target::of_ptx(&String::from_utf8_lossy(&bytes[section.clone()]));
        images.push(image(Kind::DebugPtx, target, section));
    }
    Ok(Unit { member: None, images })
}
