//! What a run prints: reports and stage texts to standard output, input errors to standard error.
//!
//! Text is printed as soon as a kernel is done; JSON and SARIF are one object at the end, and so is a file (`--output`).

use super::options::{Color, Format, Options};
use super::output_file;
use crate::diagnostic::Diagnostic;
use crate::finding::{KernelReport, Subject, Verdict};
use crate::report::json::InputError;
use crate::report::run::{INTERRUPTED, RANKED_EXIT_CODES, RunFacts, Shard};
use crate::report::snippet::{Level, Message, Style, printable, render};
use crate::report::source::SourceText;
use crate::report::{html, json, junit, sarif, short, text};
use std::collections::BTreeSet;
use std::io::{ErrorKind, IsTerminal, Write};

/// The exit code of a run. Nothing looked at is no success.
fn exit_code(of_kernels: &BTreeSet<u8>) -> u8 {
    RANKED_EXIT_CODES.into_iter().find(|code| of_kernels.contains(code)).unwrap_or(2)
}

/// Collects and prints.
pub(crate) struct Output<'a> {
    options: &'a Options,
    stdout_style: Style,
    stderr_style: Style,
    /// Reports, for JSON and SARIF, each with its input.
    reports: Vec<KernelReport>,
    sources: Vec<&'a SourceText>,
    /// What an HTML report has of each, packed.
    details: Vec<Option<String>>,
    errors: Vec<InputError>,
    verdicts: Vec<Verdict>,
    subjects: BTreeSet<Subject>,
    exit_codes: BTreeSet<u8>,
    /// Where what comes next belongs in the whole run, if it is about one kernel.
    position: Option<usize>,
    /// Of a run that is a shard, with the positions so far.
    shard: Option<Shard>,
    interrupted: bool,
    /// What the file of the output will hold, if there is one.
    written: Vec<u8>,
}

impl<'a> Output<'a> {
    /// Nothing printed yet.
    pub(crate) fn new(options: &'a Options) -> Self {
        Output {
            options,
            stdout_style: match options.output {
                Some(_) => style_of(options.color, false),
                None => style(options.color, &std::io::stdout()),
            },
            stderr_style: style(options.color, &std::io::stderr()),
            reports: Vec::new(),
            sources: Vec::new(),
            details: Vec::new(),
            errors: Vec::new(),
            verdicts: Vec::new(),
            subjects: BTreeSet::new(),
            exit_codes: BTreeSet::new(),
            position: None,
            shard: None,
            interrupted: false,
            written: Vec::new(),
        }
    }

    /// What comes next is about the kernel with this number in the whole run, or about none.
    pub(crate) fn at(&mut self, position: Option<usize>) {
        self.position = position;
    }

    /// The run is a part of another one. It may have no kernel of it.
    pub(crate) fn is_shard(&mut self, mut shard: Shard) {
        if shard.total > 0 {
            self.exit_codes.insert(0);
        }
        // What came so far is about files as a whole.
        shard.positions = vec![None; self.reports.len()];
        shard.error_positions = vec![None; self.errors.len()];
        self.shard = Some(shard);
    }

    /// The run ends before its time.
    pub(crate) fn is_interrupted(&mut self) {
        self.interrupted = true;
    }

    /// A kernel's report.
    pub(crate) fn report(&mut self, report: KernelReport, source: &'a SourceText) {
        self.report_with(report, None, source);
    }

    /// A kernel's report, with what an HTML report shows beside it.
    pub(crate) fn report_with(&mut self, report: KernelReport, detail: Option<String>, source: &'a SourceText) {
        self.exit_codes.insert(report.exit_code(self.options.fail_on.as_ref()));
        self.verdicts.push(report.verdict);
        self.subjects.insert(report.subject);
        if self.options.emit.is_some() {
            let text = text::refusal(&report, source, self.stderr_style);
            self.print_error(&text);
        } else if self.options.format == Format::Text {
            let text = text::kernel(&report, source, self.stdout_style, self.options.quiet);
            self.print_out(&text);
        } else if self.options.format == Format::Short {
            self.print_out(&short::kernel(&report, source));
        } else {
            self.reports.push(report);
            self.shard.iter_mut().for_each(|shard| shard.positions.push(self.position));
            self.sources.push(source);
            self.details.push(detail);
        }
    }

    /// The text of a stage.
    pub(crate) fn text(&mut self, text: &str) {
        self.exit_codes.insert(0);
        self.print_out(text);
    }

    /// There is no answer to a part of what was asked.
    pub(crate) fn is_undecided(&mut self) {
        self.exit_codes.insert(3);
    }

    /// An input is right, but not answered, for this reason.
    pub(crate) fn too_large(&mut self, diagnostics: &[Diagnostic], source: &SourceText) {
        self.is_undecided();
        let text = text::diagnostics(diagnostics, source, self.stderr_style);
        self.print_error(&text);
    }

    /// Something worth knowing about the inputs.
    pub(crate) fn note(&mut self, text: &str) {
        if !self.options.quiet {
            self.print_error(&format!("note: {}\n", printable(text)));
        }
    }

    /// A program in Boogie may be nothing but declarations, which are right.
    pub(crate) fn nothing_to_prove(&mut self, file: &str) {
        self.exit_codes.insert(0);
        self.note(&format!("`{file}` has no body to prove: only its declarations were checked"));
    }

    /// Errors with places in an input, or in a kernel of it.
    pub(crate) fn wrong_input(&mut self, diagnostics: &[Diagnostic], source: &SourceText, entry: Option<&str>) {
        self.exit_codes.insert(2);
        let errors = diagnostics.iter().map(|diagnostic| InputError::new(diagnostic, source, entry));
        self.errors.extend(errors);
        let count = self.errors.len();
        self.shard.iter_mut().for_each(|shard| shard.error_positions.resize(count, self.position));
        let text = match self.options.format {
            Format::Short => short::diagnostics(diagnostics, source),
            _ => text::diagnostics(diagnostics, source, self.stderr_style),
        };
        self.print_error(&text);
    }

    /// An error without a place.
    pub(crate) fn unplaced(&mut self, diagnostic: &Diagnostic, file: &str) {
        self.wrong_input(std::slice::from_ref(diagnostic), &SourceText::new(file, ""), None);
    }

    /// A bug of this program.
    pub(crate) fn internal_error(&mut self, message: &str, file: &str, entry: &str) {
        self.exit_codes.insert(4);
        let title = format!("{file}: {entry}: {message}");
        let notes = vec!["this is a bug of gpuvcc; nothing was proved about this kernel".to_string()];
        let error =
            Message { level: Level::Error, code: "internal-error", title, labels: Vec::new(), notes, replay: None };
        self.errors.push(InputError {
            file: file.to_string(),
            entry: Some(entry.to_string()),
            code: error.code,
            message: printable(message),
            line: None,
            column: None,
            end: None,
            notes: Vec::new(),
        });
        self.shard.iter_mut().for_each(|shard| shard.error_positions.push(self.position));
        let text = render(&error, self.stderr_style);
        self.print_error(&text);
    }

    /// Whether the output can be written where it goes; tells if not.
    pub(crate) fn is_writable(&mut self) -> bool {
        let Some(name) = &self.options.output else { return true };
        let checked = output_file::check(name);
        checked.as_ref().err().into_iter().for_each(|diagnostic| self.unplaced(diagnostic, name));
        checked.is_ok()
    }

    /// The exit code where there is nowhere to print to.
    pub(crate) fn abandon(self) -> u8 {
        exit_code(&self.exit_codes)
    }

    /// Prints what waits for the end and answers the exit code.
    pub(crate) fn finish(mut self) -> u8 {
        self.end()
    }

    /// The same, where the process ends in the middle of a run.
    pub(crate) fn end(&mut self) -> u8 {
        if self.options.emit.is_none() && !self.options.list {
            let reports = std::mem::take(&mut self.reports);
            let exit = if self.interrupted { INTERRUPTED } else { exit_code(&self.exit_codes) };
            let facts = RunFacts { exit: Some(exit), shard: self.shard.take() };
            let source = |report: &KernelReport| self.source_of(report, &reports);
            let text = match self.options.format {
                Format::Text | Format::Dot => text::summary(&self.verdicts, &self.subjects),
                Format::Json => json::print_run(&reports, &self.errors, &facts, source),
                Format::Sarif => sarif::print_run(&reports, &self.errors, &facts, source),
                Format::Junit => junit::print(&reports, &self.errors, self.options.fail_on.as_ref(), source),
                Format::Html => self.page(&reports),
                Format::Short => String::new(),
            };
            self.print_out(&text);
        }
        self.write_file();
        exit_code(&self.exit_codes)
    }

    fn page(&self, reports: &[KernelReport]) -> String {
        // Of a kernel that a limit ended, or that is no kernel, nothing was shown.
        let nothing = html::pack(&html::detail::Detail::default());
        let details = self.details.iter().map(|detail| detail.as_deref().unwrap_or(&nothing));
        let parts = reports.iter().zip(&self.sources).zip(details);
        let parts: Vec<_> = parts.map(|((report, source), detail)| (report, *source, detail)).collect();
        html::print(&parts, &self.errors, &self.options.command)
    }

    /// Writes the file of the output, as a whole or not at all.
    fn write_file(&mut self) {
        let Some(name) = &self.options.output else { return };
        if let Err(diagnostic) = output_file::write(name, &self.written) {
            self.unplaced(&diagnostic, name);
        }
    }

    fn source_of(&self, report: &KernelReport, reports: &[KernelReport]) -> &'a SourceText {
        let index = reports.iter().position(|other| std::ptr::eq(other, report));
        index.map_or_else(|| panic!("driver: a report without its input"), |index| self.sources[index])
    }

    fn print_out(&mut self, text: &str) {
        if self.options.output.is_some() {
            self.written.extend_from_slice(text.as_bytes());
            return;
        }
        let result = std::io::stdout().lock().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush());
        self.note_failure(result);
    }

    fn print_error(&mut self, text: &str) {
        let result = std::io::stderr().lock().write_all(text.as_bytes());
        self.note_failure(result);
    }

    /// A reader that stopped listening (`gpuvcc ... | head`) is no error; a full disk is.
    fn note_failure(&mut self, result: std::io::Result<()>) {
        if result.is_err_and(|error| error.kind() != ErrorKind::BrokenPipe) {
            self.exit_codes.insert(4);
        }
    }
}

/// What the stream wants. `NO_COLOR` wins over `FORCE_COLOR`, and the command line over both.
fn style(color: Color, stream: &impl IsTerminal) -> Style {
    style_of(color, stream.is_terminal())
}

/// The same of a terminal, or of a stream that is none.
fn style_of(color: Color, is_terminal: bool) -> Style {
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    Style {
        color: has_colors(color, is_terminal, |name| std::env::var(name).ok()),
        width: width.filter(|_| is_terminal),
    }
}

/// `variable` gives one of the environment.
fn has_colors(color: Color, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_forced =
        set("FORCE_COLOR") && !variable("FORCE_COLOR").is_some_and(|value| ["0", "false"].contains(&&*value));
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto => is_forced || is_terminal && variable("TERM").is_none_or(|terminal| terminal != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Color, exit_code, has_colors};

    #[test]
    fn several_kernels_give_the_gravest_code() {
        for (codes, expected) in
            [(&[0, 3][..], 3), (&[3, 1, 0], 1), (&[1, 2, 3], 2), (&[2, 4, 1], 4), (&[0], 0), (&[], 2)]
        {
            assert_eq!(exit_code(&codes.iter().copied().collect()), expected, "{codes:?}");
        }
    }
    #[test]
    fn colours_are_wanted_or_not() {
        let has = |color: Color, is_terminal: bool, variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().find(|(one, _)| *one == name).map(|(_, value)| value.to_string());
            has_colors(color, is_terminal, find)
        };
        let auto = |is_terminal, variables: &[_]| has(Color::Auto, is_terminal, variables);
        assert!(auto(true, &[]) && !auto(false, &[]) && !auto(true, &[("TERM", "dumb")]));
        assert!(auto(false, &[("FORCE_COLOR", "1")]) && auto(false, &[("FORCE_COLOR", "3"), ("TERM", "dumb")]));
        assert!(!auto(false, &[("FORCE_COLOR", "0")]) && !auto(false, &[("FORCE_COLOR", "")]));
        assert!(auto(true, &[("FORCE_COLOR", "0")]) && auto(true, &[("NO_COLOR", "")]));
        assert!(!auto(true, &[("NO_COLOR", "1")]) && !auto(true, &[("NO_COLOR", "1"), ("FORCE_COLOR", "1")]));
        assert!(has(Color::Always, false, &[("NO_COLOR", "1")]) && !has(Color::Never, true, &[("FORCE_COLOR", "1")]));
    }
}
