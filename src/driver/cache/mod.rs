//! `--cache`: answers that are kept from one run to the next, in a folder that machines and processes may share.
//!
//! Input: a kernel and all that is asked about it. Output: the report that an earlier run made of the same, as it was before
//! baselines marked it and before it was printed. Establishes: an answer is only taken for the question that it was given to
//! (`key`), whole and unchanged (`entries`); only answers that each run gives are kept: none that a clock, a limit of
//! memory or a user cut ([`limits::is_repeatable`]), no error of an input, and none of our own. Relies on: a kernel's
//! report is made from a [`Task`] and the options, and from nothing else: after the inputs are read, stages read no file and
//! no variable. Kernels in the IVL are not kept, as procedures of one program share work. Reference: book/src/many.md.

mod entries;
mod key;
mod program;

use super::options::{Format, Options};
use super::output::Output;
use super::{Outcome, Task};
use crate::limits;
use entries::Entries;
use key::{Key, Keys};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The answers that are kept.
pub(super) struct Cache {
    entries: Entries,
    keys: Keys,
    asked: AtomicUsize,
    found: AtomicUsize,
    /// Why the first answer that should have been kept was not.
    unkept: Mutex<Option<String>>,
}

/// Whether the run prints reports of which all is kept: stages, costs and pages are not.
fn is_about_reports(options: &Options) -> bool {
    let format = options.format;
    let is_kept = matches!(format, Format::Text | Format::Short | Format::Json | Format::Sarif | Format::Junit);
    is_kept && options.emit.is_none() && !options.stats && !options.list
}

impl Cache {
    /// The one that the options name; without one, or where it cannot be sure of itself, there is none.
    pub(super) fn open(options: &Options, tasks: &[(usize, Task<'_>)], output: &mut Output) -> Option<Cache> {
        let folder = options.cache.as_ref().filter(|_| is_about_reports(options))?;
        let program = match program::identity() {
            Ok(identity) => identity,
            Err(message) => {
                output.note(&format!("no answer is taken from the cache, and none is kept: {message}"));
                return None;
            }
        };
        let keys = Keys::new(&program, options, tasks.iter().map(|(_, task)| task));
        let (asked, found, unkept) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(None));
        Some(Cache { entries: Entries::new(folder), keys, asked, found, unkept })
    }

    /// The answer to a task: the one that is kept, or a new one, which is kept from now on.
    pub(super) fn answer(&self, task: &Task<'_>, look: impl FnOnce() -> Outcome) -> Outcome {
        let Some(key) = self.keys.of(task) else { return look() };
        self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(report) = self.entries.read(&key, task.input.source.name(), &task.entry) {
            self.found.fetch_add(1, Ordering::Relaxed);
            return Outcome::Report(Box::new(report), None);
        }
        let outcome = look();
        self.keep(&key, &outcome);
        outcome
    }

    fn keep(&self, key: &Key, outcome: &Outcome) {
        let Outcome::Report(report, _) = outcome else { return };
        let is_cut = report.reasons.iter().any(|reason| ["time-limit", "memory-limit"].contains(&reason.code));
        if is_cut || !limits::is_repeatable() {
            return log::debug!("{}: not kept: the clock or the memory ended a part of the work", report.entry);
        }
        if let Err(message) = self.entries.write(key, report) {
            self.unkept.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
        }
    }

    /// Says how many answers were there already.
    pub(super) fn tell(&self, output: &mut Output) {
        let (asked, found) = (self.asked.load(Ordering::Relaxed), self.found.load(Ordering::Relaxed));
        output.note(&format!("{found} of {asked} answers are from the cache"));
        if let Some(message) = &*self.unkept.lock().unwrap_or_else(PoisonError::into_inner) {
            output.note(&format!("the cache does not keep all answers: {message}"));
        }
    }
}
