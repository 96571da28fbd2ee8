//! Procedures of the IVL: what is proved, what fails, and where.
//!
//! Each `tests/procedures/*.bpl` (or `.ivl`) says at the end of a line what is found there: `//! CODE KIND`, several
//! with a comma between. Everything else is proved. Header lines of the form `// option: VALUE`:
//!
//! - `// inferred: b = true, c = false` what Houdini chooses;
//! - `// trace: text` a line of the terminal report, which must occur (repeatable);
//! - `// boogie: REASON` Boogie answers otherwise, for that reason.
//!
//! Where Boogie is installed it must find errors at the same lines; where cvc5 is, it decides the formulas of
//! `--emit smt2` no other way.

use crate::support::program::{Ran, gpuvcc};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for file in files() {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = file.clone();
        trials.push(Trial::test(format!("{name}/found"), move || found_as_written(&own)));
        let own = file.clone();
        trials.push(Trial::test(format!("{name}/boogie"), move || boogie_agrees(&own)));
        trials.push(Trial::test(format!("{name}/cvc5"), move || cvc5_agrees(&file)));
    }
    trials
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/procedures");
    let entries = std::fs::read_dir(folder).expect("the folder of procedures is there");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "bpl" || extension == "ivl"));
    files.sort();
    assert!(!files.is_empty(), "there are no procedures to prove");
    files
}

fn read(file: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// Values of a header line.
fn header<'t>(text: &'t str, option: &str) -> Vec<&'t str> {
    let prefix = format!("// {option}: ");
    text.lines().filter_map(|line| line.strip_prefix(&prefix)).collect()
}

/// A line with the code and the kind of what is found there.
type Finding = (u64, String);

fn written(text: &str) -> BTreeSet<Finding> {
    let of_line = |(index, line): (usize, &str)| {
        let told = line.split_once("//! ").map(|(_, told)| told.to_string()).unwrap_or_default();
        let each: Vec<Finding> = told
            .split(',')
            .filter(|one| !one.is_empty())
            .map(|one| (index as u64 + 1, one.trim().to_string()))
            .collect();
        each
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

fn report(file: &Path, format: &str) -> Ran {
    gpuvcc(&[&file.to_string_lossy(), "--format", format, "--color", "never"], b"")
}

fn found_as_written(file: &Path) -> Result<(), Failed> {
    let text = read(file)?;
    let Ran { exit, stdout: json, stderr } = report(file, "json");
    let json: Value = serde_json::from_str(&json).map_err(|error| format!("{error}: {json}{stderr}"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut found = BTreeSet::new();
    for procedure in list(&json["kernels"]) {
        let (entry, verdict) = (procedure["entry"].to_string(), procedure["verdict"].as_str().unwrap_or_default());
        let findings = list(&procedure["findings"]);
        if findings.is_empty() != (verdict == "verified") {
            return Err(format!("{entry} is {verdict} with {} findings: {procedure:#}", findings.len()).into());
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        for finding in findings {
            let line = finding["line"].as_u64().unwrap_or_default();
            found.insert((line, format!("{} {}", text(&finding["code"]), text(&finding["kind"]))));
        }
    }
    let confirmed = found.iter().any(|(_, told)| !told.starts_with("possible"));
    let expected = if found.is_empty() { 0 } else { 3 - 2 * i32::from(confirmed) };
    if exit != expected {
        return Err(format!("exit code {exit}, not {expected}").into());
    }
    let written = written(&text);
    if found != written || !list(&json["errors"]).is_empty() {
        let unexpected: Vec<&Finding> = found.difference(&written).collect();
        let missing: Vec<&Finding> = written.difference(&found).collect();
        return Err(format!("unexpected: {unexpected:?}\nmissing: {missing:?}\n{stderr}").into());
    }
    for inferred in header(&text, "inferred") {
        let told: Vec<String> = list(&json["kernels"])
            .first()
            .and_then(|procedure| procedure["inferred"].as_object().cloned())
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if told.join(", ") != inferred {
            return Err(format!("inferred: {}", told.join(", ")).into());
        }
    }
    let shown = report(file, "text").stdout;
    for trace in header(&text, "trace") {
        if !shown.lines().any(|line| line.trim() == trace) {
            return Err(format!("no line `{trace}` in\n{shown}").into());
        }
    }
    Ok(())
}

fn boogie_agrees(file: &Path) -> Result<(), Failed> {
    let text = read(file)?;
    if let Some(reason) = header(&text, "boogie").first() {
        println!("not compared: {reason}");
        return Ok(());
    }
    let mut command = Command::new("boogie");
    command.args(["/nologo", "/timeLimit:30"]);
    if text.contains(":existential") {
        command.arg("/contractInfer");
    }
    let Ok(output) = command.arg(file).output() else {
        println!("skipped: no `boogie` on the path");
        return Ok(());
    };
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.contains("Boogie program verifier finished with") || output.contains("time out") {
        return Err(format!("Boogie did not finish: {output}").into());
    }
    let line = |told: &str| {
        let (place, _) = told.split_once("): Error")?;
        let (_, place) = place.rsplit_once('(')?;
        place.split(',').next()?.parse::<u64>().ok()
    };
    let theirs: BTreeSet<u64> = output.lines().filter_map(line).filter(|&line| line > 0).collect();
    let ours: BTreeSet<u64> = written(&text).into_iter().map(|(line, _)| line).collect();
    if ours != theirs {
        return Err(format!("we say {ours:?}, Boogie says {theirs:?}:\n{output}").into());
    }
    Ok(())
}

/// What cvc5 says to a script; `None` where it is not installed.
fn cvc5(script: &str) -> Option<String> {
    let mut command = Command::new("cvc5");
    command.args(["--lang=smt2", "--tlimit=1500"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.ok()?;
    if let Some(mut input) = child.stdin.take() {
        // It closes its input where it is done early.
        let _ = input.write_all(script.as_bytes());
    }
    let output = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string())
}

/// The formulas of each procedure are `unsat` where it is verified, and not all of them where an execution fails.
fn cvc5_agrees(file: &Path) -> Result<(), Failed> {
    let text = read(file)?;
    if text.contains(":existential") {
        // The scripts leave the choice of the constants open.
        return Ok(());
    }
    let Ran { stdout: json, stderr, .. } = report(file, "json");
    let json: Value = serde_json::from_str(&json).map_err(|error| format!("{error}: {json}{stderr}"))?;
    let ran = gpuvcc(&[&file.to_string_lossy(), "--emit", "smt2"], b"");
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let logic = "(set-logic ALL)";
    for (place, _) in ran.stdout.match_indices(logic) {
        // The name of the procedure, and a line that says what the answer means.
        let name = ran.stdout[..place].lines().rev().nth(1).and_then(|line| line.strip_prefix("; ")).map(String::from);
        let script = &ran.stdout[place..];
        let script = &script[..script.find("(check-sat)").map_or(script.len(), |end| end + "(check-sat)".len())];
        let Some(answer) = cvc5(&format!("{script}\n")) else {
            println!("skipped: no `cvc5` on the path");
            return Ok(());
        };
        answers.entry(name.unwrap_or_default()).or_default().push(answer);
    }
    for procedure in json["kernels"].as_array().into_iter().flatten() {
        let name = procedure["entry"].as_str().unwrap_or_default();
        let Some(answers) = answers.get(name) else {
            return Err(format!("there is no script of {name}: {}", ran.stderr).into());
        };
        // Where no execution is shown, cvc5 may prove more: it does not keep to triggers.
        let contradicts = match procedure["verdict"].as_str() {
            Some("verified") => answers.iter().any(|answer| answer == "sat"),
            Some("assertion") => answers.iter().all(|answer| answer == "unsat"),
            _ => false,
        };
        if contradicts || answers.iter().any(|answer| answer.contains("error")) {
            return Err(format!("{name} is {}, cvc5 says {answers:?}", procedure["verdict"]).into());
        }
    }
    Ok(())
}
