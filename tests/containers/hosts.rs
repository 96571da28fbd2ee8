//! Writes host files around fat binaries: programs and objects of Windows, and archives.

/// Machine number of x86-64 in PE and COFF files.
const AMD64: u16 = 0x8664;

/// The class of COFF objects with more than 65,279 sections, as `cl /bigobj` writes it.
const BIG_OBJECT: [u8; 16] =
    [0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b, 0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8];

/// Raw data in PE files is a multiple of this, in bytes.
const FILE_ALIGNMENT: usize = 512;

/// A COFF object, or a big one, with these sections; names of more than 8 characters stand in the string table.
pub fn coff(big: bool, sections: &[(&str, &[u8])]) -> Vec<u8> {
    let header_bytes = if big { 56 } else { 20 };
    let mut data_at = header_bytes + 40 * sections.len();
    let (mut table, mut data, mut strings) = (Vec::new(), Vec::new(), vec![0; 4]);
    for (name, contents) in sections {
        let short = if name.len() <= 8 { name.to_string() } else { format!("/{}", strings.len()) };
        if name.len() > 8 {
            strings.extend(name.bytes().chain([0]));
        }
        table.extend(section(&short, 0, contents.len(), data_at));
        data.extend_from_slice(contents);
        data_at += contents.len();
    }
    let length = (strings.len() as u32).to_le_bytes();
    strings[..4].copy_from_slice(&length);
    let (count, symbols) = (sections.len(), data_at as u32);
    let header = match big {
        false => {
            [&AMD64.to_le_bytes()[..], &(count as u16).to_le_bytes(), &[0; 4], &symbols.to_le_bytes(), &[0; 8]].concat()
        }
        true => [
            &[0, 0, 0xff, 0xff, 2, 0][..],
            &AMD64.to_le_bytes(),
            &[0; 4],
            &BIG_OBJECT,
            &[0; 16],
            &(count as u32).to_le_bytes(),
            &symbols.to_le_bytes(),
            &[0; 4],
        ]
        .concat(),
    };
    [header, table, data, strings].concat()
}

/// A program of Windows, of 32 or 64 bits, with these sections; linkers cut their names.
pub fn pe(bits: u8, sections: &[(&str, &[u8])]) -> Vec<u8> {
    let wide = bits == 64;
    let optional_bytes: u16 = if wide { 112 } else { 96 };
    let mut bytes = vec![0; 64];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[60] = 64;
    bytes.extend(b"PE\0\0");
    bytes.extend(if wide { AMD64 } else { 0x14c }.to_le_bytes());
    bytes.extend((sections.len() as u16).to_le_bytes());
    bytes.extend([0; 12]);
    bytes.extend(optional_bytes.to_le_bytes());
    bytes.extend(0x22u16.to_le_bytes());
    let optional_at = bytes.len();
    bytes.extend(if wide { 0x20bu16 } else { 0x10b }.to_le_bytes());
    bytes.resize(optional_at + usize::from(optional_bytes), 0);
    let mut data_at = (bytes.len() + 40 * sections.len()).next_multiple_of(FILE_ALIGNMENT);
    let mut data = Vec::new();
    for (number, (name, contents)) in (1u32..).zip(sections) {
        let mut raw = contents.to_vec();
        raw.resize(raw.len().next_multiple_of(FILE_ALIGNMENT), 0);
        let short = &name[..name.len().min(8)];
        bytes.extend(section(short, number << 20, raw.len(), data_at));
        // The size in memory is that without padding.
        let size_at = bytes.len() - 32;
        bytes[size_at..size_at + 4].copy_from_slice(&(contents.len() as u32).to_le_bytes());
        data_at += raw.len();
        data.extend(raw);
    }
    bytes.resize(bytes.len().next_multiple_of(FILE_ALIGNMENT), 0);
    bytes.extend(data);
    bytes
}

/// The header of a section of initialised data.
fn section(name: &str, address: u32, size: usize, data_at: usize) -> Vec<u8> {
    let mut header = name.as_bytes().to_vec();
    header.resize(8, 0);
    for number in [0, address, size as u32, data_at as u32, 0, 0, 0, 0x4000_0040] {
        header.extend(number.to_le_bytes());
    }
    header
}

/// An archive of `ar` with these members; names of more than 15 characters stand in a table.
pub fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    archive(b"", members)
}

/// An archive of `lib.exe`, which has two tables of symbols.
pub fn lib(members: &[(&str, &[u8])]) -> Vec<u8> {
    let tables = [member("/", &[0; 4]), member("/", &[0; 8])].concat();
    archive(&tables, members)
}

fn archive(tables: &[u8], members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut names, mut body) = (Vec::new(), Vec::new());
    for (name, contents) in members {
        let short = if name.len() <= 15 { format!("{name}/") } else { format!("/{}", names.len()) };
        if name.len() > 15 {
            names.extend(name.bytes().chain(*b"/\n"));
        }
        body.extend(member(&short, contents));
    }
    let names = if names.is_empty() { Vec::new() } else { member("//", &names) };
    [b"!<arch>\n", tables, &names, &body].concat()
}

fn member(name: &str, contents: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, contents.len()).into_bytes();
    bytes.extend(contents);
    bytes.extend((contents.len() % 2 == 1).then_some(b'\n'));
    bytes
}
