//! The exact engine: launches for which one execution decides.
//!
//! Files in `tests/sync` say in their first lines what they expect: `//@ verdict: NAME`, `//@ verify: ARGUMENTS` of `gpuvcc`,
//! and, where it matters, `//@ reason: CODE`, `//@ condition: TEXT`, `//@ assumption: TEXT`, `//@ no-assumption: TEXT`, `//@ says: TEXT` of a finding. Lines that end with `// HERE` must
//! be those that findings and reasons name; of PTX from CUDA (tests/sync/cuda) `//@ at: LINE ...` has the lines of the source.
//!
//! `//@ symbolic: ARGUMENTS` says of which programs the symbolic proofs (of barrier objects in lock-step, `phases`) have to agree: they prove those that
//! are `verified`, for any scalars, and no other (`//@ symbolic-when: ARGUMENTS`: under a condition); `//@ assumption: TEXT` is for all of them. Programs of `tests/races` may say so, too.
//!
//! Of each program: the engine's answer; the same with the engine chosen by default, where the program has barriers for a part
//! of the block and the answer is one; and, where it is `verified`, that no schedule of the emulator shows a defect
//! with arrays that hold anything.

use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::options::Options;
use gpuvcc::driver::{emulate, input, pipeline};
use gpuvcc::finding::{Finding, KernelReport};
use gpuvcc::jobs::Jobs;
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

/// Contents of arrays with which a verified program is executed.
const CONTENTS: [&str; 2] = ["zeros:*", "random:4096xu32:7"];

pub fn trials() -> Vec<Trial> {
    let programs = |folder: &str| {
        let entries = std::fs::read_dir(folder).expect("the folder of programs");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "ptx")).collect::<Vec<PathBuf>>()
    };
    let is_symbolic =
        |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains("\n//@ symbolic: "));
    let mut paths = programs("tests/sync");
    paths.extend(programs("tests/races").into_iter().filter(is_symbolic));
    paths.sort();
    let trials = paths.into_iter().map(|path| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Trial::test(name, move || check(&path))
    });
    trials.collect()
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let header: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("//@ ")).filter_map(|line| line.split_once(": ")).collect();
    let all = |key: &'static str| header.iter().filter(move |(name, _)| *name == key).map(|(_, value)| *value);
    let verdict = all("verdict").next().ok_or("the header has no verdict")?;
    let marked = (1..).zip(text.lines()).filter(|(_, line)| line.ends_with("// HERE"));
    let mut marks: BTreeSet<u32> = marked.map(|(number, _)| number).collect();
    marks.extend(all("at").flat_map(str::split_whitespace).filter_map(|line| line.parse::<u32>().ok()));
    // Of these the symbolic proof knows nothing.
    let has_parts = ["barrier.arrive", "bar.arrive", "mbarrier", "cluster"].iter().any(|word| text.contains(word));
    let is_correct = matches!(verdict, "verified" | "no-defect");
    for (key, expected) in [("symbolic", "verified"), ("symbolic-when", "verified-when")] {
        for arguments in all(key) {
            let report = verify(path, &format!("{arguments} --engine symbolic"));
            let report = report.ok().filter(|report| report.verdict.name() == expected);
            if report.is_some() != is_correct {
                return Err(format!("{arguments}: the symbolic proof does not agree to {verdict}").into());
            }
            let said = report.map_or(Vec::new(), |report| report.assumptions);
            if let Some(missing) = all("assumption").find(|text| !said.iter().any(|line| line.contains(text))) {
                return Err(format!("{arguments}: no assumption says `{missing}`: {said:?}").into());
            }
        }
    }
    for arguments in all("verify") {
        let report = verify(path, &format!("{arguments} --engine exact"))?;
        expect(&report, verdict, &marks)?;
        for code in all("reason") {
            if !report.reasons.iter().any(|reason| reason.code == code) {
                return Err(format!("no reason is {code}: {:?}", report.reasons).into());
            }
        }
        let said: String = report.findings.iter().map(words).collect();
        if let Some(text) = all("says").find(|text| !said.contains(text)) {
            return Err(format!("no finding says `{text}`: {said}").into());
        }
        let has = |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text));
        for (what, lines, key) in
            [("condition", &report.conditions, "condition"), ("assumption", &report.assumptions, "assumption")]
        {
            if let Some(missing) = all(key).find(|text| !has(lines, text)) {
                return Err(format!("no {what} says `{missing}`: {lines:?}").into());
            }
        }
        if let Some(said) = all("no-assumption").find(|text| has(&report.assumptions, text)) {
            return Err(format!("an assumption says `{said}`").into());
        }
        let is_asked = has_parts && !matches!(verdict, "unknown" | "verified-when");
        if is_asked {
            let got = verify(path, arguments)?.verdict.name();
            if got != verdict {
                return Err(format!("{arguments}: {got} by default, not {verdict}").into());
            }
        }
        if verdict == "verified" {
            execute(path, arguments)?;
        }
    }
    Ok(())
}

/// What a finding says of how it came about.
fn words(finding: &Finding) -> String {
    let waits = finding.waits.iter().map(|wait| format!("\n{}", wait.text));
    format!("\n{}{}", finding.message, waits.collect::<String>())
}

fn expect(report: &KernelReport, verdict: &str, marks: &BTreeSet<u32>) -> Result<(), Failed> {
    let mut lines: BTreeSet<u32> = BTreeSet::new();
    for finding in &report.findings {
        lines.extend(finding.barrier.iter().map(|origin| line(origin)));
        lines.extend(finding.accesses.iter().map(|access| line(&access.origin)));
    }
    lines.extend(report.reasons.iter().filter_map(|reason| reason.origin.as_ref()).map(|origin| line(origin)));
    let got = report.verdict.name();
    if got == verdict && lines == *marks {
        return Ok(());
    }
    let reasons: Vec<&str> = report.reasons.iter().map(|reason| reason.message.as_str()).collect();
    let findings: Vec<String> = report.findings.iter().map(|f| format!("{} {}", f.kind, f.message)).collect();
    Err(format!("{got} at {lines:?}, not {verdict} at {marks:?}; {reasons:?} {findings:?}").into())
}

/// The line of the source, where the PTX names it.
fn line(origin: &Origin) -> u32 {
    origin.position.as_ref().map_or(origin.line, |position| position.own().line)
}

fn verify(path: &Path, arguments: &str) -> Result<KernelReport, Failed> {
    let file = path.to_string_lossy();
    let options: Options = match cli::parse(["gpuvcc", &file].into_iter().chain(arguments.split_whitespace())) {
        Ok(Command::Verify(options)) => *options,
        Ok(_) => return Err("the header verifies nothing".into()),
        Err(error) => return Err(error.to_string().into()),
    };
    let input = input::read(&file).map_err(|diagnostic| diagnostic.message)?;
    let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
    pipeline::verify(&input, &program, "kernel", &options, &Jobs::default())
        .map_err(|diagnostics| format!("{diagnostics:?}").into())
}

/// Every schedule, with arrays that hold one thing and another.
fn execute(path: &Path, arguments: &str) -> Result<(), Failed> {
    let file = path.to_string_lossy();
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let value = |key: &str| words.windows(2).find(|pair| pair[0] == key).map(|pair| pair[1]);
    let number = value("--param").and_then(|setting| setting.split_once('=')).map_or("1", |(_, value)| value);
    let (block, grid) = (value("--block").unwrap_or("32"), value("--grid").unwrap_or("1"));
    let cluster = value("--cluster").map_or(String::new(), |cluster| format!("--cluster {cluster}"));
    let same = if words.contains(&"--allow-same-value") { "--allow-same-value" } else { "" };
    // A tensor map is the first parameter.
    let tensor = value("--tensor").and_then(|setting| setting.split_once('='));
    for schedule in SCHEDULES {
        for contents in CONTENTS {
            let first = tensor.map_or(contents.to_string(), |(_, tensor)| format!("tensor:{tensor}"));
            let run = format!(
                "--block {block} --grid {grid} {cluster} {same} {schedule} --arg {first} --arg {contents} --arg {number}"
            );
            let words = ["gpuvcc", "run", &file].into_iter().chain(run.split_whitespace());
            let Ok(Command::Run(options)) = cli::parse(words) else { return Err(format!("no run: {run}").into()) };
            let input = input::read(&file).map_err(|diagnostic| diagnostic.message)?;
            let module = gpuvcc::ptx::parse(input.source.text()).map_err(|errors| format!("{errors:?}"))?;
            let (report, _) =
                emulate::emulate(&file, &module, "kernel", &options).map_err(|diagnostic| diagnostic.message)?;
            if report.verdict.name() != "no-defect" {
                return Err(
                    format!("verified, but {run} shows {}: {:?}", report.verdict.name(), report.findings).into()
                );
            }
        }
    }
    Ok(())
}
