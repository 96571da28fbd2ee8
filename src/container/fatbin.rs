//! Fat binaries: a header and the images of a translation unit, one fat binary after another.
//!
//! Input: a range of a file. Output: a [`Unit`] for each fat binary. Establishes: ranges of images lie inside of
//! the given one. Relies on: nothing.
//!
//! ```text
//! header       magic u32, version u16 (1), bytes of the header u16 (16), bytes of all images u64
//! image   0    kind u16, version u16, bytes of the header u32, bytes of the payload u64 (padded to 8)
//!        16    bytes of the compressed payload u32 (0: not compressed), offset of the options u32 (0: none)
//!        24    version of the code u16 u16, architecture u32, offset and length of the name u32 u32
//!        40    flags u64, u64, bytes when decompressed u64 (0: not compressed)
//!        64    the name, the options (offset u32, length u32, text), each padded to 8
//! ```
//!
//! A group (kind 256) holds several images, compressed as one: its header goes on at 64 with their number u32, the
//! bytes of this table u32, and the headers of the images without sizes of their own headers.

use super::fields::{Fields, range, round_up};
use super::target::{Target, Variant};
use super::{Fault, Image, Kind, Packing, Unit};
use std::ops::Range;

/// How a fat binary starts, little-endian.
pub(crate) const MAGIC: u32 = 0xba55_ed50;

/// The fields of an image's header that are always there, in bytes.
const IMAGE_HEADER: usize = 64;

/// Images of all fat binaries in a file are at most so many.
const MOST_IMAGES: usize = 1 << 20;

const KIND_GROUP: u16 = 256;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_SPECIFIC: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;

/// The fat binaries of a range; zeros between them are padding.
pub(crate) fn units(bytes: &[u8], place: Range<usize>) -> Result<Vec<Unit>, Fault> {
    // What lies behind the range must not be read.
    let fields = Fields(bytes).cut(place.end);
    let mut units = Vec::new();
    let mut at = place.start;
    let mut images = 0;
    while let Some(skipped) = bytes[at..place.end].iter().position(|&byte| byte != 0) {
        // The magic has no zero byte, so padding ends where it starts.
        at += skipped;
        let (unit, end) = unit(fields, at)?;
        images += unit.images.len();
        if images > MOST_IMAGES {
            return Err(Fault::new(at, format!("more than {MOST_IMAGES} images")));
        }
        units.push(unit);
        at = end;
    }
    Ok(units)
}

/// The fat binary that starts at an offset, and where it ends.
fn unit(fields: Fields<'_>, start: usize) -> Result<(Unit, usize), Fault> {
    if fields.u32(start)? != MAGIC {
        return Err(Fault::new(start, "no fat binary starts here"));
    }
    let version = fields.u16(start + 4)?;
    if version != 1 {
        return Err(Fault::new(start + 4, format!("version {version} of fat binaries; only version 1 is known")));
    }
    let header = u64::from(fields.u16(start + 6)?);
    if header < 16 {
        return Err(Fault::new(start + 6, format!("a header of {header} bytes, fewer than 16")));
    }
    let size = fields.u64(start + 8)?;
    let file_end = fields.0.len();
    let body = range(start, header, file_end).and_then(|header| range(header.end, size, file_end));
    let body = body.ok_or_else(|| {
        let left = file_end - start;
        Fault::new(start + 8, format!("a fat binary of {header} and {size} bytes, but {left} are left"))
    })?;
    let mut unit = Unit { member: None, images: Vec::new() };
    let mut at = body.start;
    while at < body.end {
        let entry = Entry::read(fields.cut(body.end), at)?;
        at = entry.end;
        if entry.description.kind == KIND_GROUP {
            unit.images.extend(group(fields, &entry)?);
        } else {
            unit.images.push(entry.image(&entry.description, None));
        }
    }
    Ok((unit, body.end))
}

/// An image or a group with its header.
struct Entry {
    description: Description,
    header: Range<usize>,
    payload: Range<usize>,
    packing: Packing,
    /// Bytes of the payload after decompression.
    unpacked_bytes: u64,
    /// Where the next one starts.
    end: usize,
}

impl Entry {
    fn read(fields: Fields<'_>, start: usize) -> Result<Entry, Fault> {
        let end = fields.0.len();
        let header_bytes = fields.u32(start + 4)?;
        let header = range(start, u64::from(header_bytes), end).filter(|header| header.len() >= IMAGE_HEADER);
        let header = header.ok_or_else(|| {
            let left = end - start;
            Fault::new(
                start + 4,
                format!("an image's header of {header_bytes} bytes; it needs 64, and {left} are left"),
            )
        })?;
        let padded_bytes = fields.u64(start + 8)?;
        let mut payload = range(header.end, padded_bytes, end).ok_or_else(|| {
            let left = end - header.end;
            Fault::new(start + 8, format!("an image of {padded_bytes} bytes, but {left} are left"))
        })?;
        let end = payload.end;
        let description = Description::read(fields.cut(header.end), start)?;
        let packing = packing(description.flags);
        let mut unpacked_bytes = padded_bytes;
        if packing != Packing::None {
            let packed_bytes = fields.u32(start + 16)?;
            payload = range(payload.start, u64::from(packed_bytes), end).ok_or_else(|| {
                Fault::new(start + 16, format!("{packed_bytes} compressed bytes in an image of {padded_bytes}"))
            })?;
            unpacked_bytes = fields.u64(start + 56)?;
        }
        Ok(Entry { description, header, payload, packing, unpacked_bytes, end })
    }

    /// The image of a part of the payload; of all of it with `None`.
    fn image(&self, description: &Description, part: Option<Range<usize>>) -> Image {
        let kind = match description.kind {
            1 => Kind::Ptx,
            2 => Kind::MachineCode,
            other => Kind::Other(other),
        };
        Image {
            kind,
            target: Some(description.target),
            name: String::new(),
            ident: description.ident.clone(),
            payload: self.payload.clone(),
            packing: self.packing,
            unpacked_bytes: self.unpacked_bytes,
            part,
        }
    }
}

fn packing(flags: u64) -> Packing {
    if flags & FLAG_ZSTD != 0 {
        Packing::Zstd
    } else if flags & FLAG_LZ4 != 0 {
        Packing::Lz4
    } else {
        Packing::None
    }
}

/// What a header says about an image beside its size.
struct Description {
    kind: u16,
    flags: u64,
    target: Target,
    ident: String,
}

impl Description {
    /// `fields` end where the header ends.
    fn read(fields: Fields<'_>, start: usize) -> Result<Description, Fault> {
        let kind = fields.u16(start)?;
        let flags = fields.u64(start + 40)?;
        let variant = match flags {
            _ if flags & FLAG_SPECIFIC != 0 => Variant::Specific,
            _ if flags & FLAG_FAMILY != 0 => Variant::Family,
            _ => Variant::Portable,
        };
        let target = Target { number: fields.u32(start + 28)?, variant };
        let (offset, length) = (fields.u32(start + 32)? as usize, fields.u32(start + 36)?);
        let end = fields.0.len();
        let place = start.checked_add(offset).and_then(|name| range(name, u64::from(length), end));
        let place = place.ok_or_else(|| Fault::new(start + 32, "the name of an image is not in its header"))?;
        let ident = String::from_utf8_lossy(&fields.0[place]).into_owned();
        Ok(Description { kind, flags, target, ident })
    }
}

/// The images of a group.
fn group(fields: Fields<'_>, group: &Entry) -> Result<Vec<Image>, Fault> {
    let table = group.header.start + IMAGE_HEADER;
    let fields = fields.cut(group.header.end);
    let (count, table_bytes) = (fields.u32(table)?, fields.u32(table + 4)?);
    let table_end = range(table, u64::from(table_bytes), group.header.end).map(|table| table.end);
    let table_end = table_end.ok_or_else(|| Fault::new(table + 4, "the table of a group is not in its header"))?;
    let fields = fields.cut(table_end);
    let mut images = Vec::new();
    let (mut at, mut part_start) = (table + 8, 0usize);
    for _ in 0..count {
        let description = Description::read(fields, at)?;
        let bytes = fields.u64(at + 8)?;
        let unpacked_end = usize::try_from(group.unpacked_bytes).unwrap_or(usize::MAX);
        let part = range(part_start, bytes, unpacked_end).ok_or_else(|| {
            let left = unpacked_end - part_start;
            Fault::new(at + 8, format!("an image of {bytes} bytes, but its group has {left} left"))
        })?;
        if packing(description.flags) != Packing::None || description.kind == KIND_GROUP {
            return Err(Fault::new(at, "an image of a group that is compressed by itself, or a group"));
        }
        part_start = part.end;
        images.push(group.image(&description, Some(part)));
        at = description_end(fields, at)?;
    }
    Ok(images)
}

/// Where the header of an image in a group ends: behind its options or, without any, behind its name.
fn description_end(fields: Fields<'_>, start: usize) -> Result<usize, Fault> {
    let options = fields.u32(start + 20)? as usize;
    let name_length = fields.u32(start + 36)? as usize;
    let length = match (options, name_length) {
        (0, 0) => Some(IMAGE_HEADER),
        (0, name) => round_up(name + 1).and_then(|name| name.checked_add(IMAGE_HEADER)),
        // At least as far as the fields, so that each image takes some of the table.
        (options, _) => {
            let options = options.max(IMAGE_HEADER);
            let length = fields.u32(start.saturating_add(options).saturating_add(4))? as usize;
            round_up(length + 1).and_then(|text| text.checked_add(options + 8))
        }
    };
    let header = length.and_then(|length| range(start, length as u64, fields.0.len()));
    header.map(|header| header.end).ok_or_else(|| Fault::new(start, "a header that leaves the table of its group"))
}
