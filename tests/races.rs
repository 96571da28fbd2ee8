//! Small programs with known races, under every schedule.
//!
//! Files in `tests/races` say in their first lines what they expect: `//@ verdict: NAME`, `//@ run: ARGUMENTS` of
//! `gpuvcc run` (repeatable), `//@ warning: CODE`, `//@ reason: WORDS` of why a run was given up. Lines that end with
//! `// RACE` or `// HERE` must be those that the
//! findings (or the warning, or the reason) name: none else in any run, and all of them in some run. A run without
//! `--schedule` is repeated with all schedules and some seeds.
//!
//! The trials `verify/...` ask the verifier about the correct programs: it may refuse to prove one, but never
//! confirms a defect.

use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::options::{Options, ParameterSetting};
use gpuvcc::driver::{emulate, input, pipeline};
use gpuvcc::finding::{AccessKind, KernelReport};
use gpuvcc::geometry::Geometry;
use gpuvcc::jobs::Jobs;
use gpuvcc::ptx;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

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

fn main() {
    let arguments = Arguments::from_args();
    let entries = std::fs::read_dir("tests/races").expect("the folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let trials = paths.into_iter().flat_map(|path| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let verified = path.clone();
        let verify = Trial::test(format!("verify/{name}"), move || check_verifier(&verified));
        [Trial::test(name, move || check(&path)), verify]
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let header: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("//@ ")).filter_map(|line| line.split_once(": ")).collect();
    let all = |key: &'static str| header.iter().filter(move |(name, _)| *name == key).map(|(_, value)| *value);
    let verdict = all("verdict").next().ok_or("the header has no verdict")?;
    let marks: BTreeSet<u32> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.ends_with("// RACE") || line.ends_with("// HERE"))
        .map(|(number, _)| number)
        .collect();
    let mut found = BTreeSet::new();
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
        }
    }
    if found != marks {
        return Err(format!("no run names the lines {:?}", marks.difference(&found).collect::<Vec<_>>()).into());
    }
    Ok(())
}

/// The verifier on a correct program, in the launch of its first run.
fn check_verifier(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
    let run = value("run: ").unwrap_or_default();
    if value("verdict: ") != Some("no-defect") || run.contains("--warp-lockstep") {
        return Ok(());
    }
    let file = path.to_string_lossy();
    let words = ["gpuvcc", "run", &file].into_iter().chain(run.split_whitespace());
    let Ok(Command::Run(launch)) = cli::parse(words) else { return Err("the header is no run".into()) };
    let options = Options {
        geometry: Geometry { block: launch.block.unwrap_or([32, 1, 1]), grid: launch.grid }.into(),
        rules: launch.common.rules,
        timeout: Duration::from_secs(5),
        params: scalars(run),
        ..Options::default()
    };
    let input = input::read(&file).map_err(|diagnostic| diagnostic.message)?;
    let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
    // Refusals are no defects.
    let Ok(report) = pipeline::verify(&input, &program, "kernel", &options, &Jobs::default()) else { return Ok(()) };
    match report.findings.iter().find(|finding| finding.confirmed) {
        Some(finding) => Err(format!("a confirmed defect in a correct program: {finding:#?}").into()),
        None => Ok(()),
    }
}

/// The numbers among the arguments of a run, by position: a correct program need not be so with others.
fn scalars(run: &str) -> Vec<ParameterSetting> {
    let words: Vec<&str> = run.split_whitespace().collect();
    let arguments = words.windows(2).filter(|pair| pair[0] == "--arg").enumerate();
    let scalar = |(position, pair): (usize, &[&str])| {
        let value = pair[1].parse().ok()?;
        Some(ParameterSetting { name: position.to_string(), value })
    };
    arguments.filter_map(scalar).collect()
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

/// The lines that findings and the expected warning name; where an absent thread stands is not its fault.
fn lines(report: &KernelReport, warning: Option<&str>, text: &str) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    for finding in &report.findings {
        lines.extend(finding.barrier.iter().map(|origin| origin.line));
        let accesses = finding.accesses.iter().filter(|access| access.op != AccessKind::Absent);
        lines.extend(accesses.map(|access| access.origin.line));
    }
    for diagnostic in report.diagnostics.iter().filter(|diagnostic| Some(diagnostic.code) == warning) {
        let starts = diagnostic.labels.iter().map(|(span, _)| span.start as usize);
        lines.extend(starts.map(|start| text[..start].lines().count() as u32));
    }
    lines
}
