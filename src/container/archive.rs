//! Archives of `ar` and of `lib.exe`: static libraries.
//!
//! Input: the bytes of a file. Output: [`Contents`], the units of all members in order. Establishes: ranges of images
//! lie inside of their members. Members without device code, such as the imports of a DLL, hold nothing; PTX text is
//! a unit; a damaged member does not keep the others from being read. Relies on: nothing. Reference: ar(5),
//! Microsoft's PE format.

use super::fields::range;
use super::target::{Target, is_ptx};
use super::{Contents, Fault, Image, Kind, Packing, Unit, last_part, plain};
use object::read::archive::ArchiveFile;
use std::ops::Range;

/// How an archive starts.
pub(crate) const MAGIC: &[u8] = b"!<arch>\n";

/// How an archive starts that names files instead of holding them.
pub(crate) const THIN_MAGIC: &[u8] = b"!<thin>\n";

/// The device code of all members.
pub(crate) fn contents(bytes: &[u8]) -> Result<Contents, Fault> {
    let damaged = |at: usize, error| Fault::new(at, format!("a damaged archive: {error}"));
    let archive = ArchiveFile::parse(bytes).map_err(|error| damaged(0, error))?;
    let mut contents = Contents::new("an archive", Vec::new());
    let mut end = 0;
    for member in archive.members() {
        let member = member.map_err(|error| damaged(end, error))?;
        let name = String::from_utf8_lossy(member.name());
        let plain_name = plain(last_part(&name));
        let (start, size) = member.file_range();
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let place = range(start, size, bytes.len()).ok_or_else(|| {
            let message = format!("member {plain_name} of {size} bytes, but the archive has {}", bytes.len());
            Fault::new(start, message)
        })?;
        end = place.end;
        match member_units(bytes, place, plain_name) {
            Ok(units) => contents.units.extend(units),
            Err(fault) => contents.faults.push(fault),
        }
    }
    Ok(contents)
}

/// The units of a member, which is read as a file would be.
fn member_units(bytes: &[u8], place: Range<usize>, member: String) -> Result<Vec<Unit>, Fault> {
    let in_member = |Fault { offset, message }: Fault| {
        Fault::new(place.start.saturating_add(offset), format!("member {member}: {message}"))
    };
    let inside = &bytes[place.clone()];
    if [MAGIC, THIN_MAGIC].iter().any(|magic| inside.starts_with(magic)) {
        return Err(in_member(Fault::new(0, "an archive in an archive")));
    }
    let mut units = match super::file(inside).map_err(in_member)? {
        Some(contents) => contents.units,
        None => ptx_text(inside, &member).into_iter().collect(),
    };
    for unit in &mut units {
        unit.member = Some(member.clone());
        for image in &mut unit.images {
            image.payload = image.payload.start + place.start..image.payload.end + place.start;
        }
    }
    Ok(units)
}

/// A member that is PTX text.
fn ptx_text(inside: &[u8], name: &str) -> Option<Unit> {
    let text = std::str::from_utf8(inside).ok().filter(|text| is_ptx(text))?;
    let image = Image {
        kind: Kind::Ptx,
        target: Target::of_ptx(text),
        name: String::new(),
        ident: name.to_string(),
        payload: 0..inside.len(),
        packing: Packing::None,
        unpacked_bytes: inside.len() as u64,
        part: None,
    };
    Some(Unit { member: None, images: vec![image] })
}
