//! Writes fat binaries and ELF files, as nvcc would or with any field wrong.

/// Kind of an image with PTX.
pub const PTX: u16 = 1;
/// Kind of an image with machine code.
pub const MACHINE_CODE: u16 = 2;
/// Flag of architecture-specific code, such as that for sm_90a.
pub const SPECIFIC: u64 = 0x10_0000;
/// Flag of code for a family, such as sm_100f.
pub const FAMILY: u64 = 0x20_0000;

/// How a payload is compressed.
#[derive(Clone, Copy, Debug)]
pub enum Packing {
    None,
    Lz4,
    Zstd,
}

/// An image to write.
#[derive(Clone, Debug)]
pub struct Image {
    pub kind: u16,
    pub arch: u32,
    pub flags: u64,
    pub name: String,
    /// As it stands in the file.
    pub payload: Vec<u8>,
    pub unpacked_bytes: u64,
}

/// PTX for an architecture, or anything else.
pub fn image(kind: u16, arch: u32, content: &[u8], packing: Packing) -> Image {
    let (flags, payload) = match packing {
        Packing::None => (0x11, content.to_vec()),
        Packing::Lz4 => (0x2011, lz4_flex::block::compress(content)),
        Packing::Zstd => {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            (0x8011, ruzstd::encoding::compress_to_vec(content, level))
        }
    };
    Image { kind, arch, flags, name: String::new(), payload, unpacked_bytes: content.len() as u64 }
}

impl Image {
    pub fn named(mut self, name: &str) -> Image {
        self.name = name.to_string();
        self
    }

    pub fn flagged(mut self, flags: u64) -> Image {
        self.flags |= flags;
        self
    }

    fn write(&self) -> Vec<u8> {
        let compressed = self.flags & 0xa000 != 0;
        let packed_bytes = if compressed { self.payload.len() as u32 } else { 0 };
        let unpacked_bytes = if compressed { self.unpacked_bytes } else { 0 };
        let mut name = self.name.clone().into_bytes();
        pad(&mut name);
        let mut payload = self.payload.clone();
        pad(&mut payload);
        let mut bytes = Vec::new();
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(0x101u16.to_le_bytes());
        bytes.extend((64 + name.len() as u32).to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(packed_bytes.to_le_bytes());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(0x9_0005u32.to_le_bytes());
        bytes.extend(self.arch.to_le_bytes());
        bytes.extend(if self.name.is_empty() { 0u32 } else { 64 }.to_le_bytes());
        bytes.extend((self.name.len() as u32).to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend(unpacked_bytes.to_le_bytes());
        bytes.extend(name);
        bytes.extend(payload);
        bytes
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// A fat binary.
pub fn fat_binary(images: &[Image]) -> Vec<u8> {
    let body: Vec<u8> = images.iter().flat_map(Image::write).collect();
    let mut bytes = 0xba55_ed50u32.to_le_bytes().to_vec();
    bytes.extend(1u16.to_le_bytes());
    bytes.extend(16u16.to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A little-endian ELF file for x86-64 (or 32 bits: i386) with these sections.
pub fn elf(bits: u8, sections: &[(&str, &[u8])]) -> Vec<u8> {
    let wide = bits == 64;
    let header_bytes: u64 = if wide { 64 } else { 52 };
    let word = |number: u64| if wide { number.to_le_bytes().to_vec() } else { (number as u32).to_le_bytes().to_vec() };
    // The null section, those given, and the names of all.
    let mut names = vec![0u8];
    let mut all: Vec<(u32, u32, Vec<u8>)> = Vec::new();
    for (name, contents) in sections.iter().copied().chain([(".shstrtab", &[][..])]) {
        let kind = if name == ".shstrtab" { 3 } else { 1 };
        all.push((names.len() as u32, kind, contents.to_vec()));
        names.extend(name.bytes().chain([0]));
    }
    all.last_mut().expect("the names").2 = names;

    let mut body = Vec::new();
    let mut table = vec![0; if wide { 64 } else { 40 }];
    for (name, kind, mut contents) in all {
        let offset = header_bytes + body.len() as u64;
        let size = contents.len() as u64;
        pad(&mut contents);
        body.extend(contents);
        table.extend(name.to_le_bytes());
        table.extend(kind.to_le_bytes());
        table.extend([word(0), word(0), word(offset), word(size)].concat());
        table.extend([0u8; 8]);
        table.extend([word(1), word(0)].concat());
    }
    let count = sections.len() as u16 + 2;
    let mut bytes = vec![0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(2u16.to_le_bytes());
    bytes.extend(if wide { 62u16 } else { 3 }.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend([word(0), word(0), word(header_bytes + body.len() as u64)].concat());
    bytes.extend(0u32.to_le_bytes());
    let table_entry: u16 = if wide { 64 } else { 40 };
    for number in [header_bytes as u16, 0, 0, table_entry, count, count - 1] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(body);
    bytes.extend(table);
    bytes
}
