//! Procedures of the IVL: what is proved, what fails, and where.
//!
//! Each `tests/procedures/*.bpl` (or `.ivl`) says at the end of a line what is found there: `//! CODE KIND`, several
//! with a comma between. Everything else is proved. Header lines of the form `// option: VALUE`:
//!
//! - `// inferred: b = true, c = false` what Houdini chooses;
//! - `// trace: text` a line of the terminal report, which must occur (repeatable);
//! - `// boogie: REASON` Boogie answers otherwise, for that reason.
//!
//! Where Boogie is installed it must find errors at the same lines.

#[path = "support/program.rs"]
mod program;

use libtest_mimic::{Arguments, Failed, Trial};
use program::{Ran, gpuvcc};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for file in files() {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = file.clone();
        trials.push(Trial::test(format!("{name}/found"), move || found_as_written(&own)));
        trials.push(Trial::test(format!("{name}/boogie"), move || boogie_agrees(&file)));
    }
    libtest_mimic::run(&arguments, trials).exit();
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

/// 1 for a confirmed defect, 3 for a possible one, 0 for none.
fn exit_code(written: &BTreeSet<Finding>) -> i32 {
    let is_confirmed = |(_, told): &Finding| !told.starts_with("possible-");
    match written.iter().any(is_confirmed) {
        true => 1,
        false if written.is_empty() => 0,
        false => 3,
    }
}

fn found_as_written(file: &Path) -> Result<(), Failed> {
    let text = read(file)?;
    let Ran { exit, stdout, stderr } = report(file, "json");
    let json: Value = serde_json::from_str(&stdout).map_err(|error| format!("{error}: {stdout}{stderr}"))?;
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
    let written = written(&text);
    if found != written || !list(&json["errors"]).is_empty() {
        let unexpected: Vec<&Finding> = found.difference(&written).collect();
        let missing: Vec<&Finding> = written.difference(&found).collect();
        return Err(format!("unexpected: {unexpected:?}\nmissing: {missing:?}\n{stderr}").into());
    }
    if exit != exit_code(&written) {
        return Err(format!("the exit code is {exit}, not {}", exit_code(&written)).into());
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
