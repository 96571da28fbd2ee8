//! Folders of PTX and of programs of the IVL, and the launches that Triton writes beside PTX.
//!
//! Input: a folder, or the path of a PTX file. Output: its files as inputs; the launch. Establishes: the order of
//! file names; each file of the folder is read, left out with a note, or an error. A Triton cache has a folder for each
//! compilation, so folders below are read, too.

use super::input::{self, LaunchFile, NO_SUCH_TARGET, Reading, error_text, unreadable};
use crate::container::choice::some_of;
use crate::container::target::Target;
use crate::container::triton;
use crate::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Folders are read down to this depth.
const DEEPEST: usize = 16;

/// Of the files of a folder that are verified.
const EXTENSIONS: [&str; 3] = ["ptx", "ivl", "bpl"];

/// A launch file larger than this is none, in bytes.
const LARGEST_LAUNCH: u64 = 1 << 20;

/// Reads all files of a folder with PTX or programs of the IVL and of those below it. What cannot be read, or is not for the target, does not keep
/// the others from being read.
///
/// # Errors
/// There is no such file, or none for the target.
pub(crate) fn read(folder: &Path, name: &str, target: Option<Target>) -> Result<Reading, Diagnostic> {
    let mut reading = Reading::default();
    let mut files = Vec::new();
    collect(folder, DEEPEST, &EXTENSIONS, &mut files, &mut reading.unread);
    files.sort();
    if files.is_empty() && reading.unread.is_empty() {
        return Err(unreadable(name, "a directory without .ptx, .ivl or .bpl files"));
    }
    let mut others = Vec::new();
    for file in files {
        let file = file.to_string_lossy().into_owned();
        match input::read_all(&file, target) {
            Ok(mut of_file) => {
                of_file.inputs.iter_mut().for_each(|input| input.given = name.to_string());
                reading.inputs.extend(of_file.inputs);
                reading.notes.extend(of_file.notes);
                reading.unread.extend(of_file.unread);
            }
            Err(diagnostic) if diagnostic.code == NO_SUCH_TARGET => others.push(file),
            Err(diagnostic) => reading.unread.push((file, diagnostic)),
        }
    }
    if let (Some(target), false) = (target, others.is_empty()) {
        let others = some_of(&others.iter().map(String::as_str).collect::<Vec<_>>());
        if reading.inputs.is_empty() && reading.unread.is_empty() {
            let none = Diagnostic::unplaced(NO_SUCH_TARGET, format!("`{name}` has no PTX for {target}"));
            return Err(none.note(format!("there are: {others}")));
        }
        reading.notes.push(format!("not for {target}, so not looked at: {others}"));
    }
    Ok(reading)
}

/// Whether a folder's file is one of those.
fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

/// The files of a folder, and of those below it, with this extension.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<String> {
    let mut files = Vec::new();
    collect(folder, DEEPEST, &[extension], &mut files, &mut Vec::new());
    files.sort();
    files.into_iter().map(|file| file.to_string_lossy().into_owned()).collect()
}

/// Whether a folder has files to verify.
pub(crate) fn has_kernels(folder: &Path) -> bool {
    EXTENSIONS.iter().any(|extension| !files(folder, extension).is_empty())
}

/// Links to folders are not followed, so that cycles end.
fn collect(
    folder: &Path,
    depth: usize,
    extensions: &[&str],
    files: &mut Vec<PathBuf>,
    unread: &mut Vec<(String, Diagnostic)>,
) {
    let entries = match std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(error) => {
            let folder = folder.to_string_lossy().into_owned();
            let diagnostic = unreadable(&folder, &error_text(&error));
            return unread.push((folder, diagnostic));
        }
    };
    // In order, so that what cannot be read is told in order.
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        // Of a link it is that of the link itself.
        let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if is_folder && depth > 0 {
            collect(&path, depth - 1, extensions, files, unread);
        } else if !is_folder && has_extension(&path, extensions) && path.is_file() {
            files.push(path);
        }
    }
}

/// The launch in the `.json` file with the name of a `.ptx` file, if it is one of Triton.
pub(crate) fn launch_beside(path: &Path) -> Result<Option<LaunchFile>, Diagnostic> {
    if path.extension().is_none_or(|extension| extension != "ptx") {
        return Ok(None);
    }
    let path = path.with_extension("json");
    let small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST_LAUNCH);
    let Some(text) = small.then(|| std::fs::read_to_string(&path).ok()).flatten() else { return Ok(None) };
    let launch = triton::launch(&text)
        .map_err(|message| Diagnostic::unplaced("launch-file", format!("`{}`: {message}", path.display())))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(launch.map(|launch| LaunchFile { name, launch }))
}
