//! `gpuvcc record`: runs a program, and writes down the kernels that it launches.
//!
//! Input: a command. Output: a file as `--launches` reads it, and the exit code of the command. Establishes: each different
//! launch is a line. Relies on: the library of `record/`, which `build.rs` compiled and which is a part of this program.
//! Reference: ld.so(8), `LD_PRELOAD`.

use super::input::{error_text, unreadable};
use crate::diagnostic::Diagnostic;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The library; empty where there is none for the system.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libgpuvcc_record.so"));

/// The variable of the environment with the file, for the library.
const FILE: &str = "GPUVCC_RECORD";

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    /// Where launches are written.
    pub(crate) file: String,
    /// The program with its arguments.
    pub(crate) command: Vec<OsString>,
}

/// Runs the program and answers its exit code; 2 if it cannot be run.
pub fn run(options: &RecordOptions) -> u8 {
    let result = recorded(options).and_then(|status| Ok((status, summary(&options.file)?)));
    match result {
        Ok((status, summary)) => {
            eprintln!("gpuvcc record: {summary}");
            exit_code(status)
        }
        Err(error) => {
            eprintln!("error: {}", error.message);
            2
        }
    }
}

fn recorded(options: &RecordOptions) -> Result<ExitStatus, Diagnostic> {
    let failed = |what: &str, error: &std::io::Error| unreadable(what, &error_text(error));
    if LIBRARY.is_empty() {
        return Err(Diagnostic::unplaced("record", "programs can be recorded on Linux with glibc only".to_string()));
    }
    let folder = tempfile::tempdir().map_err(|error| failed("the folder for temporary files", &error))?;
    let library = folder.path().join("libgpuvcc_record.so");
    std::fs::write(&library, LIBRARY).map_err(|error| failed(&library.to_string_lossy(), &error))?;
    // A file of an earlier run is not added to; the program may run in another folder.
    std::fs::write(&options.file, "").map_err(|error| failed(&options.file, &error))?;
    let file = std::path::absolute(&options.file).map_err(|error| failed(&options.file, &error))?;
    let Some((program, arguments)) = options.command.split_first() else {
        return Err(Diagnostic::unplaced("record", "there is no program to run".to_string()));
    };
    let mut command = Command::new(program);
    command.args(arguments).env("LD_PRELOAD", preloaded(&library)).env(FILE, file);
    command.status().map_err(|error| failed(&program.to_string_lossy(), &error))
}

/// The library, in front of others that the user wants.
fn preloaded(library: &Path) -> OsString {
    let mut all = library.as_os_str().to_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    all
}

/// Leaves each line once, since processes of one program write for themselves, and says what there is.
fn summary(file: &str) -> Result<String, Diagnostic> {
    let unreadable = |error: std::io::Error| unreadable(file, &error_text(&error));
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    let mut seen = BTreeSet::new();
    let lines: Vec<&str> = text.lines().filter(|line| seen.insert(*line)).collect();
    if lines.is_empty() {
        return Ok(
            "no launch was seen; a program that is linked statically, or runs with other rights, is not seen, and \
                   neither are launches of CUDA graphs"
                .to_string(),
        );
    }
    std::fs::write(file, lines.join("\n") + "\n").map_err(unreadable)?;
    let kernel = |line: &&str| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(line["kernel"].as_str()?.to_string())
    };
    let kernels: BTreeSet<String> = lines.iter().filter_map(kernel).collect();
    let many = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let launches = if lines.len() == 1 { "1 launch".to_string() } else { format!("{} launches", lines.len()) };
    let next = format!("gpuvcc kernel.ptx --launches {}", PathBuf::from(file).display());
    Ok(format!("{launches} of {} in {file}\nnext: {next}", many(kernels.len(), "kernel")))
}

/// As shells tell of signals.
fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(2)
}
