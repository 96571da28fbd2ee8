//! The file that takes the output (`--output`).
//!
//! Input: its name and the bytes. Output: the file. Establishes: who reads it while it is written sees what was there before;
//! a write that fails leaves that, too. Devices and pipes are written to as they are. Relies on: nothing. Reference: none.

use crate::diagnostic::Diagnostic;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The code of the error that the file cannot be written.
const UNWRITABLE: &str = "output-unwritable";

/// Whether the file could be written now, so that nobody waits for a run in vain.
///
/// # Errors
/// It cannot be.
pub(super) fn check(name: &str) -> Result<(), Diagnostic> {
    let path = target(Path::new(name));
    let result = match fs::metadata(&path) {
        Ok(there) if there.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(there) if !there.is_file() => return Ok(()),
        _ => beside(&path).map(drop),
    };
    result.map_err(|error| unwritable(name, &error))
}

/// Writes it.
///
/// # Errors
/// It cannot be.
pub(super) fn write(name: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
    let path = target(Path::new(name));
    let is_device = fs::metadata(&path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    let write = || {
        if is_device {
            return File::options().write(true).open(&path)?.write_all(bytes);
        }
        let mut file = beside(&path)?;
        file.write_all(bytes)?;
        if let Ok(there) = fs::metadata(&path) {
            file.as_file().set_permissions(there.permissions())?;
        }
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    match write() {
        // Who reads the pipe may have heard enough.
        Err(error) if is_device && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| unwritable(name, &error)),
    }
}

/// Behind symbolic links, which stay.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A new file in the same folder, with the rights that new files have.
fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gpuvcc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn unwritable(name: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::unplaced(UNWRITABLE, format!("`{name}` cannot be written: {error}"))
}
