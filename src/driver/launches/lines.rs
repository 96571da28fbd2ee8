//! `--launches FILE`: launches as a program that records them writes them, a JSON object a line.
//!
//! Input: the text of the file. Output: a [`KnownLaunch`] for each line. Establishes: each names its kernel, its block and
//! its grid. Relies on: nothing. Reference: book/src/known.md.

use super::KnownLaunch;
use super::fields::Fields;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// Errors beyond this are not told.
const MOST_ERRORS: usize = 20;

/// Reads the file; empty lines say nothing.
///
/// # Errors
/// Lines that are no launches; spans are those of `text`.
pub(super) fn read(file: &str, text: &str, max_threads: u64) -> Result<Vec<KnownLaunch>, Vec<Diagnostic>> {
    let (mut launches, mut errors) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        if !line.trim().is_empty() {
            match launch(line, format!("{file}:{number}"), max_threads) {
                Ok(launch) => launches.push(launch),
                Err((message, at)) => {
                    let end = start + line.trim_end().len();
                    errors.push(Diagnostic::error("launches", message, Span::new((start + at).min(end), end)));
                }
            }
        }
        start += line.len() + 1;
    }
    errors.truncate(MOST_ERRORS);
    if errors.is_empty() { Ok(launches) } else { Err(errors) }
}

/// A line; an error has the byte of the line where it is.
fn launch(line: &str, origin: String, max_threads: u64) -> Result<KnownLaunch, (String, usize)> {
    let mut fields: Fields = serde_json::from_str(line).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text).to_string();
        (message, error.column().saturating_sub(1))
    })?;
    let whole = |message: String| (message, 0);
    let kernel = fields.kernel.take().ok_or_else(|| whole("the launch names no `kernel`".to_string()))?;
    for (name, is_there) in [("block", fields.block.is_some()), ("grid", fields.grid.is_some())] {
        if !is_there {
            return Err(whole(format!("the launch has no `{name}`")));
        }
    }
    fields.launch(kernel, origin, max_threads).map_err(whole)
}
