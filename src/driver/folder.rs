//! Folders of PTX, and the launches that Triton writes beside PTX.
//!
//! Input: a folder, or the path of a PTX file. Output: its files as inputs; the launch. Establishes: the order of
//! file names. A Triton cache has a folder for each compilation, so folders below are read, too.

use super::input::{self, LaunchFile, Reading, error_text, unreadable};
use super::unplaced;
use crate::container::triton;
use crate::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Folders are read down to this depth.
const DEEPEST: usize = 16;

/// A launch file larger than this is none, in bytes.
const LARGEST_LAUNCH: u64 = 1 << 20;

/// Reads all PTX files of a folder and of those below it.
pub fn read(folder: &Path, name: &str) -> Result<Reading, Diagnostic> {
    let mut files = Vec::new();
    collect(folder, DEEPEST, &mut files)?;
    files.sort();
    if files.is_empty() {
        return Err(unreadable(name, "a directory without .ptx files"));
    }
    let mut reading = Reading::default();
    for file in files {
        let mut of_file = input::read_all(&file.to_string_lossy(), None)?;
        of_file.inputs.iter_mut().for_each(|input| input.given = name.to_string());
        reading.inputs.extend(of_file.inputs);
        reading.notes.extend(of_file.notes);
    }
    Ok(reading)
}

/// Links to folders are not followed, so that cycles end.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), Diagnostic> {
    let failed = |error: &std::io::Error| unreadable(&folder.to_string_lossy(), &error_text(error));
    for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        let path = entry.path();
        if entry.file_type().map_err(|error| failed(&error))?.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "ptx") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The launch in the `.json` file with the name of a `.ptx` file, if it is one of Triton.
pub fn launch_beside(path: &Path) -> Result<Option<LaunchFile>, Diagnostic> {
    if path.extension().is_none_or(|extension| extension != "ptx") {
        return Ok(None);
    }
    let path = path.with_extension("json");
    let small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST_LAUNCH);
    let Some(text) = small.then(|| std::fs::read_to_string(&path).ok()).flatten() else { return Ok(None) };
    let launch =
        triton::launch(&text).map_err(|message| unplaced("launch-file", format!("`{}`: {message}", path.display())))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(launch.map(|launch| LaunchFile { name, launch }))
}
