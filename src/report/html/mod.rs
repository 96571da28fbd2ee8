//! The HTML report: one page for all kernels of a run, which needs nothing but itself.
//!
//! Input: [`KernelReport`]s, input errors, and the [`detail`] of each kernel. Output: a page. Establishes: two runs give the
//! same bytes (times are left out); the page loads nothing; no text of the input ends the data. The details are packed one
//! kernel each, so that a page of many kernels is small and quick to open. Relies on: `page.html` has the marks below, and
//! `page.js` reads what [`Page`] and [`detail`] say. Reference: book/src/html-report.md.

pub(crate) mod detail;
pub(crate) mod graph;

use super::json::{self, InputError};
use super::snippet::Style;
use super::source::SourceText;
use super::text::{self, launch_text};
use crate::finding::{KernelReport, Subject};
use crate::ptx::mangled;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use detail::Detail;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::Write;

const HTML: &str = include_str!("page.html");
/// The marks of the page, and what is put there: the styles, and the parts of its script.
const PARTS: [(&str, &str); 6] = [
    ("/*page.css*/", include_str!("page.css")),
    ("/*code.js*/", include_str!("code.js")),
    ("/*finding.js*/", include_str!("finding.js")),
    ("/*panels.js*/", include_str!("panels.js")),
    ("/*steps.js*/", include_str!("steps.js")),
    ("/*page.js*/", include_str!("page.js")),
];
/// Where the data is put.
const DATA_MARK: &str = "<!--data-->";

/// What the page shows.
#[derive(Serialize)]
struct Page<'a> {
    version: &'static str,
    /// The command of the run.
    command: &'a str,
    /// Kernels by verdict.
    counts: BTreeMap<&'static str, usize>,
    kernels: Vec<Kernel<'a>>,
    /// Input errors, a line each.
    errors: Vec<String>,
}

#[derive(Serialize)]
struct Kernel<'a> {
    /// As the source has it.
    name: String,
    mangled: &'a str,
    file: &'a str,
    verdict: &'static str,
    /// The first line of the text.
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<String>,
    /// The report as the terminal shows it.
    text: String,
    /// The object of `--format json`.
    json: Box<RawValue>,
    /// A [`Detail`], see [`pack`].
    detail: &'a str,
}

/// A detail as the page unpacks it: JSON, compressed (zlib), in base64.
pub(crate) fn pack(detail: &Detail) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = serde_json::to_vec(detail).map_err(std::io::Error::from).and_then(|json| {
        encoder.write_all(&json)?;
        encoder.finish()
    });
    match packed {
        Ok(bytes) => STANDARD.encode(bytes),
        // Nothing is written but memory, and maps have strings as keys.
        Err(error) => panic!("report: a detail cannot be packed: {error}"),
    }
}

/// The page. Each report comes with the text of its input and its packed detail.
pub(crate) fn print(reports: &[(&KernelReport, &SourceText, &str)], errors: &[InputError], command: &str) -> String {
    let mut counts = BTreeMap::new();
    for (report, ..) in reports {
        *counts.entry(report.verdict.name()).or_default() += 1;
    }
    let kernels = reports.iter().map(|(report, source, detail)| kernel(report, source, detail)).collect();
    let errors = errors.iter().map(error_text).collect();
    let page = Page { version: env!("CARGO_PKG_VERSION"), command, counts, kernels, errors };
    let data = match serde_json::to_string(&page) {
        // In strings of JSON, where alone it occurs, this is the same; it cannot end the element.
        Ok(data) => data.replace('<', "\\u003c"),
        Err(error) => panic!("report: serde_json refused the page: {error}"),
    };
    let data = format!("<script type=\"application/json\" id=\"data\">{data}</script>");
    // The data comes last: nothing is replaced in it.
    let parts = PARTS.into_iter().chain([(DATA_MARK, data.as_str())]);
    parts.fold(HTML.to_string(), |page, (mark, part)| page.replacen(mark, part, 1))
}

fn kernel<'a>(report: &'a KernelReport, source: &SourceText, detail: &'a str) -> Kernel<'a> {
    // Times differ from run to run.
    let timeless = KernelReport { time_ms: 0, costs: Vec::new(), ..report.clone() };
    let text = without_time(&text::kernel(&timeless, source, Style { color: false, width: None }, false));
    Kernel {
        name: mangled::shown(&report.entry),
        mangled: &report.entry,
        file: &report.file,
        verdict: report.verdict.name(),
        message: text.lines().next().unwrap_or_default().to_string(),
        launch: (report.subject == Subject::Kernel).then(|| launch_text(&report.launch)),
        json: json::kernel_object(&timeless, source),
        text,
        detail,
    }
}

/// The line of the time keeps what else it says.
fn without_time(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("  time: 0.0 s") {
        Some("") => String::new(),
        Some(rest) => format!("  inference: {}\n", rest.trim_start_matches(", ")),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn error_text(error: &InputError) -> String {
    let place = match (error.line, &error.entry) {
        (Some(line), _) => format!("{}:{line}", error.file),
        (None, Some(entry)) => format!("{}: {}", error.file, mangled::shown(entry)),
        (None, None) => error.file.clone(),
    };
    format!("{place}: {} ({})", error.message, error.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_each_mark_once() {
        for mark in PARTS.map(|(mark, _)| mark).into_iter().chain([DATA_MARK]) {
            assert_eq!(HTML.matches(mark).count(), 1, "{mark}");
            // Nothing is replaced in what was put in.
            assert!(PARTS.iter().all(|(_, part)| !part.contains(mark)), "{mark}");
        }
    }

    #[test]
    fn times_are_left_out() {
        assert_eq!(without_time("a\n  time: 0.0 s\nb\n"), "a\nb\n");
        let kept = "  time: 0.0 s, 3 of 5 invariant candidates kept\n";
        assert_eq!(without_time(kept), "  inference: 3 of 5 invariant candidates kept\n");
    }
}
