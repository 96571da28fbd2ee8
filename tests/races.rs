//! Small programs with known races, under every schedule.
//!
//! Files in `tests/races` say in their first lines what they expect: `//@ verdict: NAME`, `//@ run: ARGUMENTS` of
//! `gpuvcc run` (repeatable), `//@ warning: CODE`, `//@ reason: WORDS` of why a run was given up, `//@ says: TEXT` of the message
//! or the waits of a finding (repeatable). Lines that end with `// RACE` or `// HERE` must be those that the findings (or the
//! warning, or the reason) name (of PTX from CUDA, tests/sync/cuda, `//@ at: LINE ...` has the lines of the source): none else in
//! any run, and all of them in some run. A run without
//! `--schedule` is repeated with all schedules and some seeds.
//!
//! The trials `verify/...` ask the verifier about the correct programs: it may refuse to prove one, but never
//! confirms a defect. The trials `exact/...` ask the exact engine about programs with barrier objects, bulk copies and clusters: it
//! proves the correct ones, but for those that say `//@ exact: TEXT OF THE REASON`, and none of the others. Programs that say
//! `//@ only: run` are too large for both.

use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::options::Options;
use gpuvcc::driver::{emulate, input, pipeline};
use gpuvcc::finding::{AccessKind, Finding, KernelReport, Verdict};
use gpuvcc::jobs::Jobs;
use gpuvcc::ptx;
use gpuvcc::span::Origin;
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SCHEDULES: [&str; 8] = [
    "--schedule=round-robin",
    "--schedule=lockstep",
    "--schedule=lockstep-taken",
    "--schedule=random --seed=1",
    "--schedule=random --seed=2",
    "--schedule=adversarial --seed=1",
    "--schedule=adversarial --seed=2",
    "--schedule=adversarial --seed=3",
];

pub fn trials() -> Vec<Trial> {
    let entries = std::fs::read_dir("tests/races").expect("the folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let trials = paths.into_iter().flat_map(|path| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let verified = path.clone();
        let verify = Trial::test(format!("verify/{name}"), move || check_verifier(&verified));
        let executed = path.clone();
        let exact = Trial::test(format!("exact/{name}"), move || check_exact(&executed));
        [Trial::test(name, move || check(&path)), verify, exact]
    });
    trials.collect()
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let header: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("//@ ")).filter_map(|line| line.split_once(": ")).collect();
    let all = |key: &'static str| header.iter().filter(move |(name, _)| *name == key).map(|(_, value)| *value);
    let verdict = all("verdict").next().ok_or("the header has no verdict")?;
    let mut marks: BTreeSet<u32> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.ends_with("// RACE") || line.ends_with("// HERE"))
        .map(|(number, _)| number)
        .collect();
    marks.extend(all("at").flat_map(str::split_whitespace).filter_map(|line| line.parse::<u32>().ok()));
    let (mut found, mut said) = (BTreeSet::new(), String::new());
    for run in all("run") {
        let schedules = if run.contains("--schedule") { &[""][..] } else { &SCHEDULES[..] };
        for schedule in schedules {
            let report = emulated(path, &format!("{run} {schedule}"))?;
            let mut lines = lines(&report, all("warning").next(), &text);
            if let Some(words) = all("reason").next() {
                let given = report.reasons.iter().filter(|reason| reason.message.contains(words));
                lines.extend(given.filter_map(|reason| reason.origin.as_ref()).map(|origin| origin.line));
            }
            let got = report.verdict.name();
            if got != verdict || !lines.is_subset(&marks) {
                let reasons: Vec<&str> = report.reasons.iter().map(|reason| reason.message.as_str()).collect();
                let findings: Vec<String> =
                    report.findings.iter().map(|f| format!("{} {}", f.kind, f.message)).collect();
                let what = format!("{reasons:?} {findings:?}");
                return Err(format!("{run} {schedule}: {got} at {lines:?}, not {verdict} at {marks:?}; {what}").into());
            }
            found.extend(lines);
            said.extend(report.findings.iter().map(words));
        }
    }
    if found != marks {
        return Err(format!("no run names the lines {:?}", marks.difference(&found).collect::<Vec<_>>()).into());
    }
    if let Some(text) = all("says").find(|text| !said.contains(text)) {
        return Err(format!("no finding says `{text}`: {said}").into());
    }
    Ok(())
}

/// What a finding says of how it came about.
fn words(finding: &Finding) -> String {
    let waits = finding.waits.iter().map(|wait| format!("\n{}", wait.text));
    let cycle = if finding.is_cycle { "\na cycle of " } else { "\na chain of " };
    let count = if finding.waits.is_empty() { String::new() } else { format!("{cycle}{}", finding.waits.len()) };
    format!("\n{}{count}{}", finding.message, waits.collect::<String>())
}

/// The verifier on a correct program, in the launch of its first run.
fn check_verifier(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
    let run = value("run: ").unwrap_or_default();
    if value("verdict: ") != Some("no-defect") || run.contains("--warp-lockstep") || value("only: ").is_some() {
        return Ok(());
    }
    // Refusals are no defects.
    let Ok(report) = verify(path, run, "auto") else { return Ok(()) };
    match report.findings.iter().find(|finding| finding.confirmed) {
        Some(finding) => Err(format!("a confirmed defect in a correct program: {finding:#?}").into()),
        None => Ok(()),
    }
}

/// The verifier at the launch of a run, with its scalars and tensor maps: a correct program need not be so with others.
fn verify(path: &Path, run: &str, engine: &str) -> Result<KernelReport, String> {
    let file = path.to_string_lossy();
    let words = ["gpuvcc", "run", &file].into_iter().chain(run.split_whitespace());
    let Ok(Command::Run(launch)) = cli::parse(words) else { return Err("the header is no run".to_string()) };
    let sizes = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
    let (block, grid) = (sizes(launch.block.unwrap_or([32, 1, 1])), sizes(launch.grid));
    let mut words: Vec<String> =
        ["gpuvcc", &file, "--block", &block, "--grid", &grid, "--timeout", "5", "--engine", engine]
            .map(str::to_string)
            .into();
    let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
    launch.cluster.into_iter().for_each(|cluster| option("--cluster", sizes(cluster)));
    let all: Vec<&str> = run.split_whitespace().collect();
    for (position, pair) in all.windows(2).filter(|pair| pair[0] == "--arg").enumerate() {
        let (name, value) = pair[1].split_once('=').filter(|(name, _)| !name.contains(':')).unwrap_or(("", pair[1]));
        let name = if name.is_empty() { position.to_string() } else { name.to_string() };
        match value.strip_prefix("tensor:") {
            Some(tensor) => option("--tensor", format!("{name}={tensor}")),
            None if value.parse::<i128>().is_ok() => option("--param", format!("{name}={value}")),
            None => {}
        }
    }
    let options: Options = match cli::parse(words) {
        Ok(Command::Verify(options)) => {
            Options { rules: launch.common.rules, dynamic_shared: launch.dynamic_shared, ..*options }
        }
        _ => return Err("the header is no launch".to_string()),
    };
    let input = input::read(&file).map_err(|diagnostic| diagnostic.message)?;
    let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
    pipeline::verify(&input, &program, "kernel", &options, &Jobs::default()).map_err(|errors| format!("{errors:?}"))
}

/// The exact engine, in the launch of the first run.
fn check_exact(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
    let run = value("run: ").unwrap_or_default();
    if !["mbarrier", "cluster", "cp.async.bulk"].iter().any(|word| text.contains(word)) || value("only: ").is_some() {
        return Ok(());
    }
    let report = verify(path, run, "exact")?;
    let is_verified = report.verdict == Verdict::Verified;
    let reasons: Vec<&str> = report.reasons.iter().map(|reason| reason.message.as_str()).collect();
    let is_expected = match (value("verdict: "), value("exact: ")) {
        (Some("no-defect"), None) => is_verified,
        // It does not prove bounds.
        (Some("assertion"), _) => true,
        (Some("no-defect"), Some(wanted)) => reasons.iter().any(|reason| reason.contains(wanted)),
        _ => !is_verified && report.verdict != Verdict::VerifiedWhen,
    };
    if is_expected {
        return Ok(());
    }
    let findings: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    Err(format!("{}: {reasons:?} {findings:?}", report.verdict.name()).into())
}

/// The report of one run.
fn emulated(path: &Path, arguments: &str) -> Result<KernelReport, Failed> {
    let file = path.to_string_lossy();
    let words = ["gpuvcc", "run", &file].into_iter().chain(arguments.split_whitespace());
    let options = match cli::parse(words) {
        Ok(Command::Run(options)) => options,
        Ok(_) => return Err("the header is no run".into()),
        Err(error) => return Err(error.to_string().into()),
    };
    let input = input::read(&file).map_err(|diagnostic| diagnostic.message)?;
    let module = ptx::parse(input.source.text()).map_err(|errors| format!("{errors:?}"))?;
    let (report, _) = emulate::emulate(&file, &module, "kernel", &options).map_err(|diagnostic| diagnostic.message)?;
    Ok(report)
}

/// The line of the source, where the PTX names it.
fn line(origin: &Origin) -> u32 {
    origin.position.as_ref().map_or(origin.line, |position| position.own().line)
}

/// The lines that findings and the expected warning name; where an absent thread stands is not its fault.
fn lines(report: &KernelReport, warning: Option<&str>, text: &str) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for finding in &report.findings {
        lines.extend(finding.barrier.iter().map(|origin| line(origin)));
        let accesses = finding.accesses.iter().filter(|access| access.op != AccessKind::Absent);
        lines.extend(accesses.map(|access| line(&access.origin)));
    }
    for diagnostic in report.diagnostics.iter().filter(|diagnostic| Some(diagnostic.code) == warning) {
        let starts = diagnostic.labels.iter().map(|(span, _)| span.start as usize);
        lines.extend(starts.map(|start| text[..start].lines().count() as u32));
    }
    lines
}
