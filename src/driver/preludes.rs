//! The prelude of a run: one that ships, or a file of the user's.
//!
//! Input: `--prelude`. Output: [`Prelude`]. Establishes: a file is read once, and its errors are shown once, with places
//! in it; it keeps the contract and finds the plainest races. Relies on: `twothread::prelude`, `blindness`.
//! Reference: prelude/README.md.

use super::blindness;
use super::input::{error_text, unreadable};
use super::options::{Options, PreludeChoice};
use super::output::Output;
use crate::diagnostic::Diagnostic;
use crate::report::source::SourceText;
use crate::twothread::{Prelude, prelude};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// The options with a file of the user's loaded. `None`: it has errors, which are shown.
pub(crate) fn load<'a>(options: &'a Options, output: &mut Output) -> Option<Cow<'a, Options>> {
    let PreludeChoice::File(file) = &options.prelude else { return Some(Cow::Borrowed(options)) };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let diagnostic = unreadable(file, &error_text(&error));
            output.unplaced(&diagnostic.note("a prelude is watched-byte, logging-sets or a file"), file);
            return None;
        }
    };
    let checked = prelude::load(&text).and_then(|prelude| match blindness::errors(file, &prelude) {
        errors if errors.is_empty() => Ok(prelude),
        errors => Err(errors),
    });
    match checked {
        Ok(prelude) => {
            let prelude = PreludeChoice::Loaded { file: file.clone(), prelude: Arc::new(prelude) };
            Some(Cow::Owned(Options { prelude, ..options.clone() }))
        }
        Err(diagnostics) => {
            output.wrong_input(&diagnostics, &SourceText::new(file.clone(), text), None);
            None
        }
    }
}

/// A prelude that ships, read where it is first asked for: each kernel asks several times.
type Shipped = LazyLock<Result<Prelude, Vec<Diagnostic>>>;

static WATCHED_BYTE: Shipped = LazyLock::new(|| prelude::load(prelude::WATCHED_BYTE));
static LOGGING_SETS: Shipped = LazyLock::new(|| prelude::load(prelude::LOGGING_SETS));

fn shipped(prelude: &'static Shipped) -> Result<Cow<'static, Prelude>, Vec<Diagnostic>> {
    prelude.as_ref().map(Cow::Borrowed).map_err(Clone::clone)
}

/// What a report says of a prelude that does not ship.
pub(crate) fn trusted(options: &Options) -> Option<String> {
    match &options.prelude {
        PreludeChoice::Loaded { file, .. } => Some(format!("what a race is, the prelude `{file}` says")),
        _ => None,
    }
}

/// The declarations of a choice.
///
/// # Errors
/// Those of a file, without places, as they are none of the input's.
pub(crate) fn of(choice: &PreludeChoice) -> Result<Cow<'_, Prelude>, Vec<Diagnostic>> {
    match choice {
        PreludeChoice::WatchedByte => shipped(&WATCHED_BYTE),
        PreludeChoice::LoggingSets => shipped(&LOGGING_SETS),
        PreludeChoice::Loaded { prelude, .. } => Ok(Cow::Borrowed(prelude)),
        PreludeChoice::File(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| vec![unreadable(file, &error_text(&error))])?;
            let unplaced = |diagnostic: Diagnostic| Diagnostic { labels: Vec::new(), ..diagnostic }.note(file.clone());
            prelude::load(&text).map(Cow::Owned).map_err(|diagnostics| diagnostics.into_iter().map(unplaced).collect())
        }
    }
}
