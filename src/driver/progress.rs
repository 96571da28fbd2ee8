//! The line that tells a person how far a run is.
//!
//! Input: how many kernels have an answer, and which one runs longest. Output: a line on standard error, which is wiped out before
//! anything else is printed and at the end. Establishes: none where standard error is no terminal, in other formats than
//! text (but where a file takes them), for one kernel, with `--quiet`, or in the first half second. Relies on: nothing. Reference: book/src/many.md.

use super::options::{Format, Options};
use crate::report::snippet::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Shorter runs have no line.
const SHORT: Duration = Duration::from_millis(500);

/// Draws the line.
#[derive(Clone)]
pub(super) struct Progress {
    /// None where nobody reads it.
    bar: Option<ProgressBar>,
    start: Instant,
    total: usize,
}

impl Progress {
    /// Of a run over so many kernels.
    pub(super) fn new(options: &Options, total: usize) -> Self {
        let is_wanted = (options.format == Format::Text || options.output.is_some())
            && options.emit.is_none()
            && !options.quiet
            && total > 1;
        // What is left of a name that is too long for the terminal.
        let style = ProgressStyle::with_template("{wide_msg}").ok().filter(|_| is_wanted);
        // Hidden where it is no terminal: then nothing is drawn, and nothing has to be wiped out.
        let bar =
            style.map(|style| ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style));
        Progress { bar: bar.filter(|bar| !bar.is_hidden()), start: Instant::now(), total }
    }

    /// So many kernels have an answer; `longest` runs for the longest time.
    pub(super) fn tell(&self, done: usize, longest: Option<(String, Duration)>) {
        let Some(bar) = self.bar.as_ref().filter(|_| self.start.elapsed() > SHORT) else { return };
        bar.set_message(line(done, self.total, longest));
    }

    /// Prints something else.
    pub(super) fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Wipes out the line.
    pub(super) fn end(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// `12 of 200 kernels have an answer; scan runs for 34 s`
fn line(done: usize, total: usize, longest: Option<(String, Duration)>) -> String {
    let longest = longest.map(|(name, time)| format!("; {} runs for {} s", printable(&name), time.as_secs()));
    format!("{done} of {total} kernels have an answer{}", longest.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_slowest_kernel() {
        assert_eq!(line(0, 2, None), "0 of 2 kernels have an answer");
        let longest = Some(("a\u{1b}[2J".to_string(), Duration::from_millis(34_900)));
        let line = line(12, 200, longest);
        assert!(line.starts_with("12 of 200 kernels have an answer; a") && line.ends_with(" runs for 34 s"), "{line}");
        // Names are those of the input, and terminals obey what they read.
        assert!(!line.contains('\u{1b}'), "{line}");
    }

    #[test]
    fn other_formats_have_no_line() {
        for options in
            [Options { format: Format::Json, ..Options::default() }, Options { quiet: true, ..Options::default() }]
        {
            assert!(Progress::new(&options, 9).bar.is_none());
        }
        assert!(Progress::new(&Options::default(), 1).bar.is_none());
    }
}
