//! The instruction table, line by line: the files of `tests/isa`, whose README explains the format.
//!
//! - Each `ok` line is accepted. Each `bad` line gives a diagnostic at the token that it names, with
//!   the text that it names.
//! - Every row of the table is the one that some `ok` line selects, and every opcode has a `bad` line.
//!
//! What ptxas says of the same lines is asked by `tools/isa-with-ptxas`, not here.

use gpuvcc::diagnostic::Diagnostic;
use gpuvcc::ptx::{self, table};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a line says about the text that it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// An instruction that is accepted.
    Ok,
    /// An instruction that is refused.
    Bad,
    /// Declarations at module level that are accepted.
    Declare,
    /// Declarations that are refused.
    Undeclare,
}

/// A line of the files.
#[derive(Clone, Debug)]
struct Line {
    kind: Kind,
    number: usize,
    target: String,
    version: String,
    /// The instruction or declaration.
    text: String,
    /// The token that the diagnostic points at, and a part of what it says.
    expected: Option<(String, String)>,
}

pub fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa");
    let template: Arc<str> = fs::read_to_string(folder.join("module.ptx")).expect("tests/isa/module.ptx").into();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).expect("tests/isa").flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let mut trials = Vec::new();
    let mut all = Vec::new();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let lines = lines(&name, &fs::read_to_string(&path).expect("a file of tests/isa"));
        all.extend(lines.clone());
        let template = template.clone();
        trials.push(Trial::test(name.clone(), move || file(&name, &lines, &template)));
    }
    let all = Arc::new(all);
    let lines = all.clone();
    trials.push(Trial::test("every_row_has_an_ok_line", move || every_row(&lines)));
    trials.push(Trial::test("every_opcode_has_a_bad_line", move || every_opcode(&all)));
    trials
}

fn lines(name: &str, text: &str) -> Vec<Line> {
    let (mut target, mut version) = (String::new(), String::new());
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let kind = match word {
            "" | "#" => continue,
            "target" => {
                let (first, second) =
                    rest.split_once(' ').unwrap_or_else(|| panic!("{name}:{}: no version", index + 1));
                (target, version) = (first.to_string(), second.to_string());
                continue;
            }
            "ok" => Kind::Ok,
            // `bad!`: ptxas takes it.
            "bad" | "bad!" => Kind::Bad,
            "declare" => Kind::Declare,
            "undeclare" => Kind::Undeclare,
            _ => panic!("{name}:{}: what is `{word}`?", index + 1),
        };
        let rest = expand(rest);
        let mut parts = rest.split(" | ").map(|part| part.trim().to_string());
        let text = parts.next().unwrap_or_default();
        let expected = parts.next().map(|token| (token, parts.next().unwrap_or_default()));
        let number = index + 1;
        let accepted = matches!(kind, Kind::Ok | Kind::Declare);
        assert_eq!(accepted, expected.is_none(), "{name}:{number}: a bad line names a token and a text");
        lines.push(Line { kind, number, target: target.clone(), version: version.clone(), text, expected });
    }
    lines
}

/// `%r0..3` is `%r0, %r1, %r2, %r3`.
fn expand(text: &str) -> String {
    let Some((before, after)) = text.split_once("..") else { return text.to_string() };
    let start = before.rfind('%').unwrap_or_default();
    let name = before[start..].trim_end_matches(|c: char| c.is_ascii_digit());
    let first: u32 = before[start + name.len()..].parse().unwrap_or_else(|_| panic!("no number before `..`: {text}"));
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let last: u32 = after[..digits].parse().unwrap_or_else(|_| panic!("no number behind `..`: {text}"));
    let list: Vec<String> = (first..=last).map(|number| format!("{name}{number}")).collect();
    format!("{}{}{}", &before[..start], list.join(", "), expand(&after[digits..]))
}

fn file(name: &str, lines: &[Line], template: &str) -> Result<(), Failed> {
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| check(line, template).err().map(|why| format!("{name}:{}: {why}", line.number)))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn check(line: &Line, template: &str) -> Result<(), String> {
    let declares = matches!(line.kind, Kind::Declare | Kind::Undeclare);
    let module = template.replace("VERSION", &line.version).replace("TARGET", &line.target);
    let (declaration, instruction) = if declares { (line.text.as_str(), "") } else { ("", line.text.as_str()) };
    let module = module.replace("DECLARATION", declaration).replace("    LINE", instruction);
    let parsed = ptx::parse(&module);
    let Some((token, text)) = &line.expected else {
        return match parsed {
            Ok(_) => Ok(()),
            Err(errors) => Err(format!("{}\n    refused: {}", line.text, said(&errors[0]))),
        };
    };
    let Err(errors) = parsed else { return Err(format!("{}\n    accepted", line.text)) };
    let error = &errors[0];
    let (span, _) = &error.labels[0];
    let start = module.find(&line.text).unwrap_or_default();
    // `x#2` is the second `x`.
    let (token, nth) =
        token.split_once('#').map_or((token.as_str(), 1), |(token, nth)| (token, nth.parse().unwrap_or(1)));
    let wanted = line.text.match_indices(token).nth(nth - 1).map(|(at, _)| at + start);
    let found = &module[span.range()];
    if wanted != Some(span.start as usize) || !found.starts_with(token) {
        return Err(format!("{}\n    points at `{found}`, not at `{token}`: {}", line.text, said(error)));
    }
    if !said(error).contains(text.as_str()) {
        return Err(format!("{}\n    does not say `{text}`: {}", line.text, said(error)));
    }
    Ok(())
}

fn said(error: &Diagnostic) -> String {
    let parts = [error.message.clone(), error.labels[0].1.clone()].into_iter().chain(error.notes.clone());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The opcodes of a line: more than one instruction may stand in it.
fn opcodes(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.split([';', '{', '}']).filter_map(|statement| {
        let opcode = statement.split_whitespace().find(|word| !word.starts_with('@') && !word.ends_with(':'))?;
        (!opcode.starts_with('.')).then(|| opcode.split('.').collect())
    })
}

fn every_row(lines: &[Line]) -> Result<(), Failed> {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for line in lines.iter().filter(|line| line.kind == Kind::Ok) {
        for words in opcodes(&line.text) {
            if let Ok(selected) = table::select(words[0], &words[1..]) {
                seen.insert((selected.row.form.opcode, selected.row.form.modifiers));
            }
        }
    }
    let missing: Vec<String> = table::rows()
        .map(|row| row.form)
        .filter(|form| !seen.contains(&(form.opcode, form.modifiers)))
        .map(|form| format!("{} \"{}\"", form.opcode, form.modifiers))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("rows without an `ok` line:\n{}", missing.join("\n")).into()) }
}

fn every_opcode(lines: &[Line]) -> Result<(), Failed> {
    let bad = lines.iter().filter(|line| line.kind == Kind::Bad);
    let seen: BTreeSet<&str> =
        bad.flat_map(|line| opcodes(&line.text).map(|words| words[0]).collect::<Vec<_>>()).collect();
    let mut missing: Vec<&str> = table::rows().map(|row| row.form.opcode).filter(|name| !seen.contains(name)).collect();
    missing.dedup();
    if missing.is_empty() { Ok(()) } else { Err(format!("opcodes without a `bad` line: {}", missing.join(" ")).into()) }
}
