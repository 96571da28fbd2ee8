//! Which program this is, to the byte.
//!
//! Input: the files that the process runs. Output: a hash of them. Establishes: another build of gpuvcc or of libz3 has
//! another hash, whatever its version says; a library that was replaced while the program ran has none (Linux calls it
//! deleted). Relies on: `/proc` of Linux, which tells what is mapped into the process; elsewhere there is no hash, and so no
//! cache. Reference: proc(5).

use super::key::Fields;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The program that runs, also where its file was replaced meanwhile.
const PROGRAM: &str = "/proc/self/exe";

/// What is mapped into the process.
const MAPS: &str = "/proc/self/maps";

/// In the names of files of libz3. Where there is none, it is a part of the program.
const LIBRARY: &str = "libz3";

/// The hash of the program and of libz3.
///
/// # Errors
/// One of them cannot be read.
pub(super) fn identity() -> Result<String, String> {
    let unreadable = |path: &str, error: std::io::Error| format!("cannot read `{path}`: {error}");
    let mut fields = Fields::new();
    fields.bytes("version", env!("CARGO_PKG_VERSION").as_bytes());
    fields.bytes("program", &fs::read(PROGRAM).map_err(|error| unreadable(PROGRAM, error))?);
    let maps = fs::read_to_string(MAPS).map_err(|error| unreadable(MAPS, error))?;
    for path in libraries(&maps) {
        fields.bytes("library", &fs::read(path).map_err(|error| unreadable(path, error))?);
    }
    Ok(fields.digits())
}

/// The files of libz3 in a table of what is mapped.
fn libraries(maps: &str) -> BTreeSet<&str> {
    let is_library =
        |path: &&str| Path::new(path).file_name().is_some_and(|name| name.to_string_lossy().contains(LIBRARY));
    maps.lines().filter_map(path_of).filter(is_library).collect()
}

/// Behind addresses, permissions, offset, device and inode: a path, which may have spaces.
fn path_of(line: &str) -> Option<&str> {
    let mut rest = line;
    for _ in 0..5 {
        rest = rest.split_once(' ')?.1.trim_start();
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found() {
        let maps = "7f00-7f01 r--p 00000000 08:01 12                         /lib/a b/libz3.so.5.3\n\
                    7f01-7f02 r-xp 00001000 08:01 12                         /lib/a b/libz3.so.5.3\n\
                    7f02-7f03 r-xp 00000000 08:01 13                         /lib/libm.so.6\n\
                    7f03-7f04 rw-p 00000000 00:00 0 \n\
                    7f04-7f05 r-xp 00000000 00:00 0                          [vdso]\n";
        assert_eq!(libraries(maps), ["/lib/a b/libz3.so.5.3"].into());
    }

    #[test]
    fn this_program_has_a_hash() {
        let maps = fs::read_to_string(MAPS).expect("a table");
        assert_eq!(libraries(&maps).len(), 1, "{maps}");
        assert_eq!(identity(), identity());
        assert!(identity().is_ok());
    }
}
