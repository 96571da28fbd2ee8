//! Decompression of images, with bounds on what a hostile header can ask for.
//!
//! Input: an [`Image`] and the bytes of its file. Output: its bytes. Establishes: as many as its header says, at
//! most [`LARGEST_IMAGE`]. Relies on: ranges inside of the file.

use super::{Fault, Image, LARGEST_IMAGE, Packing};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// A byte of LZ4 data stands for at most this many bytes.
const LARGEST_LZ4_RATIO: u64 = 255;

/// The bytes of an image.
pub(crate) fn image(image: &Image, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let start = image.payload.start;
    let Some(packed) = bytes.get(image.payload.clone()) else {
        panic!("container: an image outside of its file");
    };
    if image.unpacked_bytes > LARGEST_IMAGE {
        let message = format!("an image of {} bytes, more than {} MiB", image.unpacked_bytes, LARGEST_IMAGE >> 20);
        return Err(Fault::new(start, message));
    }
    let mut unpacked = match image.packing {
        Packing::None => packed.to_vec(),
        Packing::Lz4 => lz4(packed, image.unpacked_bytes).map_err(|reason| Fault::new(start, reason))?,
        Packing::Zstd => zstd(packed, image.unpacked_bytes).map_err(|reason| Fault::new(start, reason))?,
    };
    if unpacked.len() as u64 != image.unpacked_bytes {
        let (found, said) = (unpacked.len(), image.unpacked_bytes);
        return Err(Fault::new(start, format!("an image of {found} bytes, whose header says {said}")));
    }
    if let Some(part) = &image.part {
        // The parts of a group lie inside of it, which its header was checked for.
        unpacked.truncate(part.end);
        unpacked.drain(..part.start.min(part.end));
    }
    Ok(unpacked)
}

/// One LZ4 block without a frame.
fn lz4(packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
    if size > (packed.len() as u64).saturating_mul(LARGEST_LZ4_RATIO) {
        return Err(format!("{} bytes of LZ4 data cannot hold {size} bytes", packed.len()));
    }
    lz4_flex::block::decompress(packed, size as usize).map_err(|error| format!("damaged LZ4 data: {error}"))
}

/// One zstd frame. Reads one byte more than wanted, so that a longer one is noticed.
fn zstd(packed: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("damaged zstd data: {error}");
    let decoder = StreamingDecoder::new_with_max_window_size(packed, LARGEST_IMAGE);
    let mut unpacked = Vec::new();
    let decoder = decoder.map_err(|error| damaged(&error))?;
    decoder.take(size + 1).read_to_end(&mut unpacked).map_err(|error| damaged(&error))?;
    Ok(unpacked)
}
