//! `gpuvcc merge`: the reports of several runs as one.
//!
//! Input: names of files. Output: the merged report on standard output, and the exit code of the run that it stands for.
//! Establishes: where files do not fit together nothing is printed but an error (exit code 2).
//! Relies on: [`crate::report::merge`]. Reference: book/src/many.md.

use super::input::error_text;
use crate::report::merge::merge;
use crate::report::snippet::printable;
use std::io::{ErrorKind, Write};

/// Prints the merged report and answers the exit code of the process.
pub fn run(files: &[String]) -> u8 {
    match read(files).and_then(|files| merge(&files)) {
        Ok((text, code)) => {
            let mut out = std::io::stdout().lock();
            match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                // A reader that stopped listening is no error; a full disk is.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => 4,
                _ => code,
            }
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {}", printable(&message));
            2
        }
    }
}

/// Names with texts.
fn read(files: &[String]) -> Result<Vec<(String, String)>, String> {
    let text = |file: &String| {
        std::fs::read_to_string(file).map_err(|error| format!("cannot read `{file}`: {}", error_text(&error)))
    };
    files.iter().map(|file| Ok((file.clone(), text(file)?))).collect()
}
