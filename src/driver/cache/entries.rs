//! The files of the cache: one an answer, called by its key.
//!
//! Input: a key, a report. Output: the report that was written under the key. Establishes: what is damaged, cut off, put under
//! another name or not readable is no answer, and is written anew; readers see a file whole or not at all, whoever else
//! writes. Relies on: renaming within a folder is atomic. Reference: none.
//!
//! `ab/cdef...`: a line with the kind of the file, one with the key, one with the SHA-256 of the rest, and the rest: the
//! report in JSON.

use super::key::{Fields, Key};
use crate::driver::input::error_text;
use crate::finding::KernelReport;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::Builder;

/// The first line of each file.
const KIND: &str = "gpuvcc answer 1";

/// A folder of answers. It comes to be with the first one.
pub(super) struct Entries {
    folder: PathBuf,
}

impl Entries {
    /// Those in a folder.
    pub(super) fn new(folder: &str) -> Entries {
        Entries { folder: PathBuf::from(folder) }
    }

    fn path(&self, Key(digits): &Key) -> PathBuf {
        let (first, rest) = digits.split_at(2);
        self.folder.join(first).join(rest)
    }

    /// The answer for a kernel.
    pub(super) fn read(&self, key: &Key, file: &str, entry: &str) -> Option<KernelReport> {
        let path = self.path(key);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    log::debug!("{}: {error}", path.display());
                }
                return None;
            }
        };
        let report = parse(key, &text).filter(|report| report.file == file && report.entry == entry);
        if report.is_none() {
            log::debug!("{}: a damaged entry", path.display());
        }
        report
    }

    /// Keeps an answer.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn write(&self, key: &Key, report: &KernelReport) -> Result<(), String> {
        let text = print(key, report)?;
        // What is read back is what was meant.
        if parse(key, &text).as_ref() != Some(report) {
            return Err(format!("the report of `{}` cannot be written down", report.entry));
        }
        let path = self.path(key);
        write_whole(&path, &text).map_err(|error| format!("`{}`: {}", path.display(), error_text(&error)))
    }
}

fn checksum(body: &str) -> String {
    let mut fields = Fields::new();
    fields.bytes("body", body.as_bytes());
    fields.digits()
}

fn print(key: &Key, report: &KernelReport) -> Result<String, String> {
    let body = serde_json::to_string(report).map_err(|error| error.to_string())?;
    Ok(format!("{KIND}\n{}\n{}\n{body}", key.0, checksum(&body)))
}

fn parse(key: &Key, text: &str) -> Option<KernelReport> {
    let (kind, rest) = text.split_once('\n')?;
    let (of, rest) = rest.split_once('\n')?;
    let (sum, body) = rest.split_once('\n')?;
    let is_whole = kind == KIND && of == key.0 && sum == checksum(body);
    is_whole.then(|| serde_json::from_str(body).ok())?
}

/// Writes a file that nobody sees before it is whole.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let mut new = Builder::new();
    new.prefix(".new-");
    // Others may read it, as far as the user lets them read files.
    #[cfg(unix)]
    new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = new.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;

    fn report() -> KernelReport {
        let mut report = KernelReport::new("k.ptx", "k", Geometry::FREE);
        report.assumptions = vec!["a line\nand \"another\" π".to_string()];
        report
    }

    fn key(digit: char) -> Key {
        Key(digit.to_string().repeat(64))
    }

    #[test]
    fn what_is_kept_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let entries = Entries::new(&folder.path().join("new").to_string_lossy());
        assert!(entries.read(&key('a'), "k.ptx", "k").is_none());
        assert_eq!(entries.write(&key('a'), &report()), Ok(()));
        assert_eq!(entries.read(&key('a'), "k.ptx", "k"), Some(report()));
        assert!(entries.read(&key('b'), "k.ptx", "k").is_none());
        assert!(entries.read(&key('a'), "k.ptx", "other").is_none());
    }

    /// Every cut, and every byte that differs.
    #[test]
    fn what_is_damaged_is_none() {
        let text = print(&key('a'), &report()).expect("JSON");
        assert_eq!(parse(&key('a'), &text), Some(report()));
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            assert!(parse(&key('a'), &text[..at]).is_none(), "cut at {at}");
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let other = String::from_utf8(bytes);
            assert!(other.is_err() || other.is_ok_and(|other| parse(&key('a'), &other).is_none()), "byte {at}");
        }
        assert!(parse(&key('a'), &format!("{text} ")).is_none());
    }
}
