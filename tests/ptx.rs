//! The `ptx` stage on files.
//!
//! - Every sample of `../shared/ptx-samples` (where that folder exists) and every kernel below
//!   `tests/kernels` parses, and its print gives the same module.
//! - Each `tests/ptx/*.ptx` gives exactly the diagnostics that its leading comments list, one a
//!   line: `// expect CODE LINE:COLUMN TEXT`, with TEXT part of the message, label or notes. A file
//!   without such a line must parse; with a line `// snapshot`, its tree is kept in snapshots/ptx.
//! - Damaged copies of the smaller files (cut off, bytes removed, doubled or replaced) give
//!   diagnostics or parse, and never panic. tests/fuzz.rs does more of this.

use crate::reader::check::{Reading, check};
use gpuvcc::diagnostic::Diagnostic;
use gpuvcc::ptx::{self, lexer::Lines};
use libtest_mimic::{Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};

pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut kernels = Vec::new();
    for folder in
        [root.join("../shared/ptx-samples"), root.join("../../shared/ptx-samples"), root.join("tests/kernels")]
    {
        collect(&folder, &mut kernels);
    }
    let mut cases = Vec::new();
    collect(&root.join("tests/ptx"), &mut cases);
    let damaged: Vec<PathBuf> = kernels.iter().step_by(8).chain(&cases).cloned().collect();
    let kernels = kernels.into_iter().map(|path| trial("parses", path, parses));
    let cases = cases.into_iter().map(|path| trial("diagnostics", path, diagnostics));
    let damaged = damaged.into_iter().map(|path| trial("damaged", path, survives_damage));
    kernels.chain(cases).chain(damaged).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
}

fn trial(kind: &str, path: PathBuf, test: fn(&str, &str) -> Result<(), Failed>) -> Trial {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Trial::test(format!("{kind}::{name}"), move || test(&name, &fs::read_to_string(&path)?))
}

fn parses(_name: &str, text: &str) -> Result<(), Failed> {
    match ptx::parse(text) {
        Ok(module) if module.functions.is_empty() => Err("no function found".into()),
        Ok(_) if check(text)? == Reading::Typed => Ok(()),
        Ok(_) => Err("it is no module".into()),
        Err(errors) => Err(show(text, &errors).join("\n").into()),
    }
}

/// Each diagnostic as `CODE LINE:COLUMN everything it says`.
fn show(text: &str, errors: &[Diagnostic]) -> Vec<String> {
    let lines = Lines::new(text);
    let show = |error: &Diagnostic| {
        let (span, label) = &error.labels[0];
        let column = text[..span.start as usize].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let said = [error.message.clone(), label.clone()].into_iter().chain(error.notes.clone());
        let said: Vec<String> = said.filter(|part| !part.is_empty()).collect();
        format!("{} {}:{column} {}", error.code, lines.line(span.start), said.join("; "))
    };
    errors.iter().map(show).collect()
}

fn diagnostics(name: &str, text: &str) -> Result<(), Failed> {
    let expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("// expect ")).collect();
    let parsed = ptx::parse(text);
    if let Ok(module) = &parsed
        && text.lines().any(|line| line == "// snapshot")
    {
        snapshot(name, &ptx::print_ast(module));
    }
    let errors = parsed.err().unwrap_or_default();
    let found = show(text, &errors);
    let agrees = |(found, expected): (&String, &&str)| {
        let mut parts = expected.splitn(3, ' ');
        let place = format!("{} {} ", parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        found.starts_with(&place) && found.contains(parts.next().unwrap_or_default())
    };
    if found.len() == expected.len() && found.iter().zip(&expected).all(agrees) {
        return Ok(());
    }
    Err(format!("expected\n  {}\nfound\n  {}", expected.join("\n  "), found.join("\n  ")).into())
}

fn snapshot(name: &str, printed: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/ptx"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, printed));
}

/// Tries some damaged copies; the places are pseudo-random but the same at every run.
fn survives_damage(_name: &str, text: &str) -> Result<(), Failed> {
    let text = &text[..text.floor_char_boundary(20_000)];
    let mut state = text.len() as u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound.max(1)
    };
    for _ in 0..40 {
        let start = text.floor_char_boundary(random(text.len()));
        let end = text.floor_char_boundary((start + random(30)).min(text.len()));
        let filler =
            ["", "{", "}", ";", "%r", ".", "[", "(", "9", "-", "\u{e9}", "/*", "//@ assert 1;\n", "\""][random(14)];
        let damaged = match random(3) {
            0 => text[..start].to_string(),
            1 => format!("{}{filler}{}", &text[..start], &text[end..]),
            _ => format!("{}{filler}{}", &text[..end], &text[start..]),
        };
        check(&damaged)?;
    }
    Ok(())
}
