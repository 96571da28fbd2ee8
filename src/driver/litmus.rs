//! Litmus tests instead of kernels.
//!
//! Input: files that end in `.litmus`, folders of them. Output: a line for each test, or JSON, or pictures; the exit code.
//! Establishes: tests are answered in the order of their names, for any number of jobs. Relies on: [`crate::litmus`].
//! Reference: book/src/litmus.md.

use super::input::{self, unreadable};
use super::options::{Format, Options};
use super::output::Output;
use super::schedule::{self, Failure, INTERRUPTED_EXIT, Sink};
use super::{folder, limits_of};
use crate::diagnostic::{Diagnostic, Severity};
use crate::jobs::Jobs;
use crate::litmus::cat::{self, Model};
use crate::litmus::{self, Answer, Limits, Trouble};
use crate::report::source::SourceText;
use serde::Serialize;
use std::path::Path;

/// What the name of a test ends in.
const EXTENSION: &str = "litmus";

/// The name that messages have for the model that is built in.
const BUILT_IN: &str = "ptx.cat";

/// The tests, if that is what is asked for: any file is one, or a folder has them and no kernels.
pub(super) fn files(options: &Options) -> Option<Result<Vec<String>, Diagnostic>> {
    let (mut tests, mut others) = (Vec::new(), Vec::new());
    for name in &options.files {
        let path = Path::new(name);
        let is_test = path.extension().is_some_and(|extension| extension == EXTENSION);
        match path.is_dir().then(|| folder::files(path, EXTENSION)) {
            Some(found) if !found.is_empty() && !folder::has_kernels(path) => tests.extend(found),
            None if is_test => tests.push(name.clone()),
            _ => others.push(name.as_str()),
        }
    }
    match others.first() {
        _ if tests.is_empty() => None,
        None => Some(Ok(tests)),
        Some(other) => {
            let message = format!("`{other}` is no litmus test, and they are judged apart from all else");
            Some(Err(Diagnostic::unplaced("unknown-kind", message)))
        }
    }
}

/// Judges tests and answers the exit code of the process.
pub(super) fn run(tests: Result<Vec<String>, Diagnostic>, options: &Options) -> u8 {
    // Errors are text, whatever the answers are.
    let of_output = Options { format: Format::Text, ..options.clone() };
    let mut output = Output::new(&of_output);
    if !output.is_writable() {
        return output.abandon();
    }
    let tests = match tests {
        Ok(tests) => tests,
        Err(diagnostic) => {
            output.unplaced(&diagnostic, "");
            return output.finish();
        }
    };
    let Some((source, model)) = model(options, &mut output) else { return output.finish() };
    let jobs = Jobs::new(options.jobs.get());
    let limits = Limits { unroll: options.unroll.get(), draws: options.format == Format::Dot };
    let sources: Vec<Result<SourceText, Diagnostic>> = tests.iter().map(|name| read(name)).collect();
    let work = |number: usize| match &sources[number] {
        Ok(source) => judge(source, &model, limits),
        Err(diagnostic) => Judged::Unread(diagnostic.clone()),
    };
    let mut answers =
        Answers { tests: &tests, sources: &sources, model: &source, options, output: Some(output), is_wrong: false };
    schedule::in_order(&jobs, tests.len(), limits_of(options), work, &mut answers);
    answers.output.map_or(0, Output::finish)
}

/// The model that is asked for, with its text.
fn model(options: &Options, output: &mut Output<'_>) -> Option<(SourceText, Model)> {
    let source = match &options.model {
        Some(name) => read(name),
        None => Ok(SourceText::new(BUILT_IN, cat::PTX)),
    };
    let source = match source {
        Ok(source) => source,
        Err(diagnostic) => {
            output.unplaced(&diagnostic, options.model.as_deref().unwrap_or(BUILT_IN));
            return None;
        }
    };
    match cat::parse(source.text()) {
        Ok(model) => Some((source, model)),
        Err(diagnostic) => {
            output.wrong_input(&[diagnostic], &source, None);
            None
        }
    }
}

fn read(name: &str) -> Result<SourceText, Diagnostic> {
    let bytes = input::read_file(name)?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(name, "it is no UTF-8 text"))?;
    // Places are of 32 bits.
    match u32::try_from(text.len()) {
        Ok(_) => Ok(SourceText::new(name, text)),
        Err(_) => Err(unreadable(name, "it is too long")),
    }
}

/// What came of a test.
enum Judged {
    Answer(Answer),
    Unread(Diagnostic),
    Wrong(Vec<Diagnostic>),
    /// The model is wrong.
    Model(Diagnostic),
}

fn judge(source: &SourceText, model: &Model, limits: Limits) -> Judged {
    let _stage = crate::limits::stage("litmus");
    match litmus::read(source.text()).map(|test| litmus::judge(&test, model, limits)) {
        Ok(Ok(answer)) => Judged::Answer(answer),
        Ok(Err(Trouble::Test(diagnostic))) => Judged::Wrong(vec![diagnostic]),
        Ok(Err(Trouble::Model(diagnostic))) => Judged::Model(diagnostic),
        Err(diagnostics) => Judged::Wrong(diagnostics),
    }
}

/// A line of `--format json`.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    outcome: &'a str,
    racy: Option<bool>,
    /// Whether what the question claims is true.
    holds: Option<bool>,
    file: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    flags: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
}

/// Prints the answers.
struct Answers<'a, 'o> {
    tests: &'a [String],
    sources: &'a [Result<SourceText, Diagnostic>],
    model: &'a SourceText,
    options: &'a Options,
    output: Option<Output<'o>>,
    /// The model was told to be wrong: once is enough.
    is_wrong: bool,
}

impl Answers<'_, '_> {
    fn answer(&mut self, number: usize, answer: &Answer) {
        let Some(output) = &mut self.output else { return };
        let file = &self.tests[number];
        let text = self.sources[number].as_ref().map_or("", SourceText::text);
        let line = match self.options.format {
            Format::Json => {
                let (name, outcome, racy, holds) = (answer.name(), answer.outcome(), answer.racy(), answer.holds());
                let line = Line { name, outcome, racy, holds, file, flags: answer.flags(), reasons: answer.reasons() };
                serde_json::to_string(&line).unwrap_or_else(|error| panic!("litmus: no JSON: {error}")) + "\n"
            }
            Format::Dot => match answer.picture(text) {
                Some(picture) => picture,
                None => {
                    output.note(&format!("{}: no consistent execution to draw", answer.name()));
                    String::new()
                }
            },
            _ => {
                let flags = answer.flags().iter().map(|flag| format!("  flag: {flag}\n"));
                let reasons = answer.reasons().into_iter().map(|reason| format!("  unknown: {reason}\n"));
                let more: String = flags.chain(reasons).collect();
                format!("{}\n{}", answer.line(), if self.options.quiet { "" } else { &more })
            }
        };
        output.text(&line);
        if !answer.reasons().is_empty() {
            output.is_undecided();
        }
    }
}

impl Sink<Judged> for Answers<'_, '_> {
    fn done(&mut self, number: usize, result: Result<Judged, Failure>) {
        let result = match result {
            Ok(Judged::Answer(answer)) => return self.answer(number, &answer),
            other => other,
        };
        let Some(output) = &mut self.output else { return };
        let file = &self.tests[number];
        match (result, &self.sources[number]) {
            (Ok(Judged::Unread(diagnostic)), _) => output.unplaced(&diagnostic, file),
            (Ok(Judged::Wrong(diagnostics)), Ok(source)) => {
                let is_error = diagnostics.iter().any(|one| one.severity == Severity::Error);
                if is_error {
                    output.wrong_input(&diagnostics, source, None)
                } else {
                    output.too_large(&diagnostics, source)
                }
            }
            (Ok(Judged::Model(diagnostic)), _) => {
                if !std::mem::replace(&mut self.is_wrong, true) {
                    output.wrong_input(&[diagnostic], self.model, None);
                }
            }
            (Err(Failure::Limit(_)), _) => {
                output.text(&format!("{file}: unknown, unknown\n"));
                output.is_undecided();
            }
            (Err(Failure::Panic(message)), _) => output.internal_error(&message, file, "litmus"),
            (Ok(Judged::Answer(_) | Judged::Wrong(_)), _) => {}
        }
    }

    fn leave(&mut self, interrupted: bool) -> ! {
        let code = self.output.as_mut().map_or(0, |output| i32::from(output.end()));
        std::process::exit(if interrupted { INTERRUPTED_EXIT } else { code })
    }
}
