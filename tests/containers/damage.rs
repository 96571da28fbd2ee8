//! Damaged containers are errors with a place, never a panic and never more memory than the bound.

use super::hosts::{ar, coff, lib, pe};
use super::reading::read;
use super::writer::{Image, PTX, Packing, elf, fat_binary, image};
use super::{FOLDER, ptx};
use gpuvcc::container::LARGEST_IMAGE;

/// The files of the folder, and some that are written here.
fn samples() -> Vec<(String, Vec<u8>)> {
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if matches!(extension, "fatbin" | "cubin" | "so" | "o") {
            samples.push((path.display().to_string(), std::fs::read(path).unwrap()));
        }
    }
    assert_eq!(samples.len(), 9, "the files that README.md lists");
    let text = ptx("shift", "sm_90");
    for packing in [Packing::None, Packing::Lz4, Packing::Zstd] {
        let unit = fat_binary(&[image(PTX, 90, &text, packing).named("k.cu")]);
        let section = [(".nv_fatbin", &unit[..])];
        let object = elf(32, &section);
        samples.push((format!("archive, {packing:?}"), ar(&[("a.o", &object), ("long name of an object.o", &object)])));
        samples.push((format!("32-bit ELF, {packing:?}"), object));
        samples.push((format!("program of Windows, {packing:?}"), pe(64, &section)));
        samples.push((format!("COFF object, {packing:?}"), coff(false, &section)));
        samples.push((format!("archive of Windows, {packing:?}"), lib(&[("k.obj", &coff(true, &section))])));
        samples.push((format!("fat binary, {packing:?}"), unit));
    }
    samples.sort();
    samples
}

#[test]
fn cut_off_anywhere() {
    for (name, bytes) in samples() {
        let whole = read(&bytes).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        for length in 0..bytes.len() {
            // Padding at the end may be missing; no text may be shorter.
            match read(&bytes[..length]) {
                // Members at the end of an archive may be missing.
                Ok(texts) if name.starts_with("archive") => {
                    assert!(whole.starts_with(&texts), "{name}, {length} bytes")
                }
                Ok(texts) => assert!(texts.is_empty() || texts == whole, "{name}, {length} bytes"),
                Err(fault) => assert!(fault.offset <= bytes.len(), "{name}, {length} bytes: {fault:?}"),
            }
        }
    }
}

/// Each byte is changed in turn, in its lowest and in its highest bit.
#[test]
fn bytes_changed_anywhere() {
    for (_, mut bytes) in samples() {
        for at in 0..bytes.len() {
            let old = bytes[at];
            for new in [old ^ 1, old ^ 0x80] {
                bytes[at] = new;
                // Whatever it says, it says it.
                let _ = read(&bytes);
            }
            bytes[at] = old;
        }
    }
}

/// Several bytes at once, by a linear congruential generator: GPUVCC_FUZZ_TEXTS (4000) in all, each sample
/// in turn, from GPUVCC_FUZZ_SEED (1) on.
#[test]
fn bytes_changed_together() {
    let setting =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default);
    let (mut state, texts) = (setting("GPUVCC_FUZZ_SEED", 1), setting("GPUVCC_FUZZ_TEXTS", 4000));
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let samples = samples();
    let (tried, mut readable) = (texts as usize, 0u64);
    for (_, bytes) in samples.iter().cycle().take(tried) {
        let mut changed = bytes.clone();
        for _ in 0..=below(6) {
            // The headers are at the front more often than not.
            let at = if below(2) == 0 { below(changed.len().min(256)) } else { below(changed.len()) };
            changed[at] = below(256) as u8;
        }
        readable += u64::from(read(&changed).is_ok_and(|texts| !texts.is_empty()));
    }
    println!("{tried} files: {readable} have PTX that can be read");
    assert!(readable > 0, "no damaged file can be read: the damage is too great");
}

fn put(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

/// A fat binary with one image, whose header starts at 16 and has 64 bytes.
fn one(packing: Packing) -> Vec<u8> {
    fat_binary(&[image(PTX, 90, &ptx("shift", "sm_90"), packing)])
}

fn one_packed(flags: u64, payload: Vec<u8>, unpacked_bytes: u64) -> Vec<u8> {
    fat_binary(&[Image { kind: PTX, arch: 90, flags, name: String::new(), payload, unpacked_bytes }])
}

/// A zstd frame of blocks that each repeat a space 128 Ki times.
fn spaces(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for block in 1..=blocks {
        let header = u32::from(block == blocks) | 1 << 1 | (128 << 10) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

#[test]
fn every_wrong_field_is_named_with_its_offset() {
    let group = std::fs::read(format!("{FOLDER}/group.fatbin")).unwrap();
    let in_elf = elf(64, &[(".nv_fatbin", &one(Packing::None))]);
    let unit = one(Packing::None);
    let overlapping = elf(64, &[(".nv_fatbin", &unit), (".nv_fatbin", &unit)]);
    // The second section starts where the first does.
    let second = overlapping.len() - 2 * 64 + 24;
    let overlapping = put(overlapping, second, &64u64.to_le_bytes());
    let section = [(".nv_fatbin", &unit[..])];
    let (in_pe, in_coff) = (pe(64, &section), coff(false, &section));
    let in_archive = ar(&[("odd name.o", &in_elf)]);
    let huge = u64::MAX.to_le_bytes();
    let blocks = (LARGEST_IMAGE >> 17) as usize;
    for (name, bytes, offset, message) in [
        ("version", put(one(Packing::None), 4, &[2]), 4, "version 2 of fat binaries"),
        ("header", put(one(Packing::None), 6, &[8]), 6, "a header of 8 bytes"),
        ("size", put(one(Packing::None), 8, &huge), 8, "a fat binary of 16 and"),
        (
            "garbage behind",
            [one(Packing::None), b"garbage".to_vec()].concat(),
            one(Packing::None).len(),
            "no fat binary",
        ),
        ("image header", put(one(Packing::None), 20, &[8]), 20, "an image's header of 8 bytes"),
        ("image size", put(one(Packing::None), 24, &huge), 24, "an image of 18446744073709551615 bytes"),
        ("name", put(one(Packing::None), 48, &[64, 0, 0, 0, 1]), 48, "the name of an image"),
        ("compressed size", put(one(Packing::Lz4), 32, &[255; 4]), 32, "4294967295 compressed bytes"),
        ("LZ4 data", put(one(Packing::Lz4), 80, &[255; 8]), 80, "LZ4"),
        ("LZ4 size", put(one(Packing::Lz4), 72, &[1, 0]), 80, "LZ4"),
        ("LZ4 bomb", put(one(Packing::Lz4), 72, &(100u64 << 20).to_le_bytes()), 80, "cannot hold"),
        ("too large", put(one(Packing::Lz4), 72, &huge), 80, "more than 256 MiB"),
        ("zstd data", put(one(Packing::Zstd), 80, &[0; 4]), 80, "zstd"),
        ("zstd size", put(one(Packing::Zstd), 72, &[1, 0]), 80, "an image of 2 bytes, whose header says 1"),
        ("zstd bomb", one_packed(0x8011, spaces(blocks), 1000), 80, "an image of 1001 bytes, whose header says 1000"),
        ("zstd, large", one_packed(0x8011, spaces(blocks + 1), LARGEST_IMAGE + 1), 80, "more than 256 MiB"),
        ("no text", one_packed(0x11, b"a\0b".to_vec(), 0), 80, "no text"),
        ("no UTF-8", one_packed(0x11, b"\xff\xfe".to_vec(), 0), 80, "no text"),
        ("group's table", put(group.clone(), 16 + 68, &[255; 4]), 16 + 68, "the table of a group"),
        ("group's count", put(group.clone(), 16 + 64, &[255; 4]), 16 + 264, "a header is cut off here"),
        ("group's part", put(group.clone(), 16 + 72 + 8, &huge), 16 + 72 + 8, "but its group has"),
        ("sections", overlapping, 64, "two sections of the ELF file overlap"),
        ("ELF header", in_elf[..40].to_vec(), 0, "a damaged ELF file"),
        ("ELF sections", in_elf[..in_elf.len() - 8].to_vec(), 0, "a damaged ELF file"),
        ("PE header", in_pe[..80].to_vec(), 0, "a damaged PE file"),
        ("PE sections", put(in_pe.clone(), 64 + 6, &[255]), 0, "a damaged PE file"),
        ("PE data", in_pe[..600].to_vec(), 512, "section .nv_fatb of "),
        ("fat binary in PE", put(in_pe.clone(), 512 + 4, &[2]), 512 + 4, "version 2 of fat binaries"),
        ("COFF sections", in_coff[..24].to_vec(), 0, "a damaged COFF object"),
        ("COFF names", put(in_coff.clone(), 21, b"999"), 0, "a section of the COFF object has no name"),
        ("fat binary in COFF", put(in_coff.clone(), 60 + 4, &[2]), 60 + 4, "version 2 of fat binaries"),
        ("archive's header", in_archive[..60].to_vec(), 0, "a damaged archive"),
        ("archive's size", put(in_archive.clone(), 8 + 48, b"99999999"), 68, "member odd_name.o of 99999999 bytes"),
        ("archive's next member", [&in_archive[..], b"garbage"].concat(), in_archive.len(), "a damaged archive"),
        ("ELF in archive", put(in_archive.clone(), 68 + 4, &[9]), 68, "member odd_name.o: a damaged ELF file"),
        (
            "fat binary in archive",
            put(in_archive.clone(), 68 + 64 + 4, &[2]),
            68 + 64 + 4,
            "member odd_name.o: version 2 of fat binaries",
        ),
        ("fat binary in ELF", put(in_elf.clone(), 64 + 8, &huge), 64 + 8, "a fat binary of 16 and"),
    ] {
        let fault = read(&bytes).expect_err(name);
        assert!(fault.offset == offset && fault.message.contains(message), "{name}: {fault:?}");
    }
    // Large, but not too large.
    let texts = read(&one_packed(0x8011, spaces(8), 1 << 20)).unwrap();
    assert_eq!(texts.iter().map(String::len).collect::<Vec<_>>(), [1 << 20]);
}
