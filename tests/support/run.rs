//! One kernel through the pipeline, in process.

use super::cases::Case;
use gpuvcc::diagnostic::{Diagnostic, Severity};
use gpuvcc::driver::input::{self, Input};
use gpuvcc::driver::options::Options;
use gpuvcc::driver::pipeline;
use gpuvcc::finding::{Finding, KernelReport};
use gpuvcc::jobs::Jobs;
use gpuvcc::limits::{self, Token};
use std::fmt::Write;

/// Stack of the thread that verifies, in bytes: that of the driver's workers.
const STACK: usize = 256 << 20;

/// Runs a task as the driver would: on a large stack, with a panic turned into a message.
pub fn on_large_stack<T: Send>(task: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, task);
        let result = thread.map_err(|error| error.to_string())?.join();
        result.map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            format!("internal error: {text}")
        })
    })
}

/// Verifies the kernel of a case. `Err`: the input is wrong, or a stage panicked.
pub fn verify_case(case: &Case) -> Result<KernelReport, String> {
    let input = input::read(&case.input.to_string_lossy()).map_err(|diagnostic| diagnostic.message)?;
    verify(&input, case.entry.as_deref(), &case.options)
}

/// Verifies one kernel of an input: the named one, or the only one.
pub fn verify(input: &Input, entry: Option<&str>, options: &Options) -> Result<KernelReport, String> {
    on_large_stack(|| {
        let program = pipeline::parse(input).map_err(|diagnostics| listing(input, &diagnostics))?;
        let kernels = program.kernels();
        let entry = match (entry, &kernels[..]) {
            (Some(entry), _) => entry.to_string(),
            (None, [only]) => only.clone(),
            (None, _) => return Err(format!("the file has {} kernels and the header names none", kernels.len())),
        };
        let helpers = Jobs::new(options.jobs.get() - 1);
        let launch = || pipeline::launch_of(&program, &entry, options);
        let task = || limits::within(|| pipeline::verify(input, &program, &entry, options, &helpers));
        // Far more time than the effort takes: the net for what is not counted.
        let answer = limits::during(Some(Token::new(Some(options.timeout * 4))), task);
        let stopped = |exceeded| Ok(KernelReport::new(input.source.name(), entry.as_str(), launch()).stopped(exceeded));
        match answer.unwrap_or_else(stopped) {
            Ok(report) => Ok(report),
            Err(diagnostics) if diagnostics.iter().any(|one| one.severity == Severity::Error) => {
                Err(listing(input, &diagnostics))
            }
            Err(diagnostics) => {
                Ok(KernelReport::new(input.source.name(), entry.as_str(), launch()).unsupported(diagnostics))
            }
        }
    })?
}

/// Diagnostics, one line each.
fn listing(input: &Input, diagnostics: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| {
        let line = input.source.place_of(diagnostic).map_or(String::new(), |(line, _)| format!(":{line}"));
        format!("{}{line}: {} [{}]", input.source.name(), diagnostic.message, diagnostic.code)
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a report says beside its verdict, one line each.
pub fn summary(report: &KernelReport) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "  {}", finding_line(finding));
    }
    for reason in &report.reasons {
        let line = reason.origin.as_ref().map_or(String::new(), |origin| format!(" at line {}", origin.line));
        let _ = writeln!(text, "  {}: {}{line}", reason.code, reason.message);
    }
    for diagnostic in &report.diagnostics {
        let _ = writeln!(text, "  {}: {}", diagnostic.code, diagnostic.message);
    }
    for condition in &report.conditions {
        let _ = writeln!(text, "  when {condition}");
    }
    text
}

/// A finding in one line.
fn finding_line(finding: &Finding) -> String {
    let mut text = format!("{} {}", finding.code(), finding.kind);
    if let Some(array) = &finding.array {
        let _ = write!(text, " on {array}");
    }
    for access in &finding.accesses {
        let source = access.origin.position.as_ref().map_or(String::new(), |at| format!("{}:{} ", at.file, at.line));
        let (op, thread, block) = (access.op.name(), access.thread, access.block);
        let (line, text_of) = (access.origin.line, &access.origin.text);
        let _ = write!(text, "; {op} {source}ptx {line} `{text_of}` thread {thread:?} block {block:?}");
    }
    if let Some(barrier) = &finding.barrier {
        let _ = write!(text, "; barrier at ptx {}", barrier.line);
    }
    if !finding.message.is_empty() {
        let _ = write!(text, "; {}", finding.message);
    }
    text
}
