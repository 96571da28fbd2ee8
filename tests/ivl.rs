//! Tests of the IVL as text: every file of `tests/ivl` is a test.
//!
//! A file says in its header what comes of it:
//!
//! ```text
//! //@ error LINE:COLUMN CODE: part of the message     one line for each diagnostic, in order
//! //@ snapshot                                        what it prints as is kept in snapshots/ivl
//! ```
//!
//! The column may be left out. Files that end in `.bpl` are in the dialect of Boogie.
//! Without `error` lines it must parse, and print to text that parses to the same program. Files of
//! `figures` are all kept as snapshots. Where `boogie` is installed (or named by the variable
//! `GPUVCC_BOOGIE`), it has to accept what programs without kernel statements print as, and to find
//! errors on the same lines of its own files that have some, except for [`OUTSIDE_BOOGIE`].

use crate::support::boogie::error_line;
use gpuvcc::diagnostic::Diagnostic;
use gpuvcc::ivl;
use gpuvcc::ivl::ast::Program;
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

mod generate;

/// Files about what we refuse and Boogie reads.
const OUTSIDE_BOOGIE: [&str; 4] = ["errors_newer", "errors_newest", "errors_subset", "errors_subset_lines"];

pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = vec![
        Trial::test("round trip of generated programs", generate::round_trip),
        Trial::test("hostile nesting", hostile_nesting),
    ];
    let boogie = boogie();
    let asked = boogie.clone();
    trials.push(
        Trial::test("boogie accepts generated programs", move || match &asked {
            Some(command) => accepted_by_boogie(command, &generate::plain_program(40)),
            None => {
                println!("skipped: no boogie is installed");
                Ok(())
            }
        })
        .with_ignored_flag(boogie.is_none()),
    );
    for (folder, figures) in [("tests/ivl", false), ("book/figures", true)] {
        for path in programs(&root.join(folder)) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap_or_default();
            let boogie_file = path.extension().is_some_and(|e| e == "bpl");
            let dialect = if boogie_file { ivl::Dialect::Boogie } else { ivl::Dialect::Ivl };
            trials.push(file_trial(&name, &text, dialect, figures));
            trials.push(boogie_trial(&name, &text, dialect, boogie.clone()));
            if boogie_file && !expected_errors(&text).is_empty() && !OUTSIDE_BOOGIE.contains(&name.as_str()) {
                trials.push(boogie_lines_trial(&name, &text, boogie.clone()));
            }
        }
    }
    trials
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "ivl" || e == "bpl")).collect();
    paths.sort();
    paths
}

fn file_trial(name: &str, text: &str, dialect: ivl::Dialect, figure: bool) -> Trial {
    let (name, text) = (name.to_string(), text.to_string());
    let title = if figure { format!("figure {name}") } else { name.clone() };
    Trial::test(title, move || {
        let expected = expected_errors(&text);
        match ivl::parse_dialect(&text, dialect) {
            Err(errors) if !expected.is_empty() => expect_errors(&text, &errors, &expected),
            Err(errors) => Err(format!("does not parse: {errors:#?}").into()),
            Ok(_) if !expected.is_empty() => Err("parses, but errors are expected".into()),
            Ok(program) => {
                generate::same_after_printing(&program).map_err(Failed::from)?;
                if figure || text.lines().any(|line| line == "//@ snapshot") {
                    snapshot(&name, &ivl::print(&program));
                }
                Ok(())
            }
        }
    })
}

/// The `error` lines of a header.
fn expected_errors(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("//@ error ")).collect()
}

fn expect_errors(text: &str, errors: &[Diagnostic], expected: &[&str]) -> Result<(), Failed> {
    let found: Vec<String> = errors
        .iter()
        .map(|error| {
            let start = error.labels.first().map_or(0, |(span, _)| span.range().start);
            let line = text[..start].matches('\n').count() + 1;
            let column = start - text[..start].rfind('\n').map_or(0, |newline| newline + 1) + 1;
            let label = error.labels.first().map_or("", |(_, label)| label.as_str());
            format!("{line}:{column} {}: {} ({label}) {}", error.code, error.message, error.notes.join(" "))
        })
        .collect();
    let matches = |found: &String, expected: &str| {
        let (place, rest) = expected.split_once(' ').unwrap_or((expected, ""));
        let (found_place, found_rest) = found.split_once(' ').unwrap_or((found, ""));
        let (code, message) = rest.split_once(": ").unwrap_or((rest, ""));
        let same_place = found_place == place || found_place.starts_with(&format!("{place}:"));
        same_place && found_rest.starts_with(&format!("{code}:")) && found_rest.contains(message)
    };
    if found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| matches(f, e)) {
        return Ok(());
    }
    Err(format!("expected:\n  {}\nfound:\n  {}", expected.join("\n  "), found.join("\n  ")).into())
}

fn snapshot(name: &str, printed: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/ivl"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, printed));
}

/// The Boogie to ask, if there is one.
fn boogie() -> Option<String> {
    let command = env::var("GPUVCC_BOOGIE").unwrap_or_else(|_| "boogie".to_string());
    Command::new(&command).arg("/version").output().is_ok().then_some(command)
}

fn boogie_trial(name: &str, text: &str, dialect: ivl::Dialect, boogie: Option<String>) -> Trial {
    let plain = ivl::parse_dialect(text, dialect).ok().filter(generate::is_plain);
    let ignored = plain.is_none() || boogie.is_none();
    Trial::test(format!("boogie accepts {name}"), move || match (&plain, &boogie) {
        (Some(program), Some(command)) => accepted_by_boogie(command, program),
        _ => Ok(()),
    })
    .with_ignored_flag(ignored)
}

/// For a file with errors that Boogie can read.
fn boogie_lines_trial(name: &str, text: &str, boogie: Option<String>) -> Trial {
    let (text, ignored) = (text.to_string(), boogie.is_none());
    Trial::test(format!("boogie finds the lines of {name}"), move || match &boogie {
        Some(command) => same_lines_as_boogie(command, &text),
        None => Ok(()),
    })
    .with_ignored_flag(ignored)
}

fn same_lines_as_boogie(command: &str, text: &str) -> Result<(), Failed> {
    let file = tempfile::Builder::new().suffix(".bpl").tempfile()?;
    fs::write(file.path(), text)?;
    let output = Command::new(command).args(["/nologo", "/noVerify"]).arg(file.path()).output()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let theirs: BTreeSet<usize> = told.lines().filter_map(error_line).collect();
    let ours: BTreeSet<usize> = expected_errors(text).iter().filter_map(|error| line_of(error)).collect();
    if ours == theirs { Ok(()) } else { Err(format!("ours {ours:?}, Boogie's {theirs:?}:\n{told}").into()) }
}

/// `12:3 CODE: ...`
fn line_of(expected: &str) -> Option<usize> {
    expected.split([':', ' ']).next()?.parse().ok()
}

fn accepted_by_boogie(command: &str, program: &Program) -> Result<(), Failed> {
    let text = ivl::print(program);
    let file = tempfile::Builder::new().suffix(".bpl").tempfile()?;
    fs::write(file.path(), &text)?;
    let output = Command::new(command).arg("/noVerify").arg(file.path()).output()?;
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && answer.contains(" 0 errors") {
        return Ok(());
    }
    Err(format!("{answer}\n{text}").into())
}

/// Input made to exhaust the stack gets an error, whichever way it nests; what nests less deep passes
/// every part of the language.
fn hostile_nesting() -> Result<(), Failed> {
    let nested = |deep: usize| {
        let chain = |operator: &str| format!("axiom true{};", operator.repeat(deep));
        [
            format!("axiom {}true;", "!".repeat(deep)),
            format!("axiom 0 == {}n;", "-".repeat(deep)),
            chain(" && true"),
            chain(" ==> true"),
            format!("axiom {}true;", "if true then true else ".repeat(deep)),
        ]
        .map(|axiom| format!("const n: int; {axiom}"))
    };
    let brackets = |deep: usize| {
        [
            format!("axiom {}true{};", "(".repeat(deep), ")".repeat(deep)),
            format!("procedure p() {{ {}{} }}", "while (*) {".repeat(deep), "}".repeat(deep)),
        ]
    };
    let deep = 100_000;
    let others = [format!("const m: {}int;", "[int]".repeat(deep)), format!("axiom m{};", "[0]".repeat(deep))];
    for input in nested(deep).iter().chain(&brackets(deep)).chain(&others) {
        if ivl::parse(input).is_ok() {
            return Err(format!("accepted: {}...", &input[..40]).into());
        }
    }
    // A flat list of branches is no nesting.
    let flat = format!("procedure p() {{ if (*) {{ }}{} }}", " else if (*) { }".repeat(2000));
    for input in nested(990).iter().chain(&brackets(190)).chain([&flat]) {
        let program = ivl::parse(input).map_err(|errors| format!("{errors:?}"))?;
        generate::same_after_printing(&program)?;
    }
    Ok(())
}
