//! Litmus tests: files with their expected answers, and random programs with a second opinion.
//!
//! Files in `tests/litmus` say in their first lines what they expect: `// expect: allowed, racy` (the line behind the name), or
//! `// error: LINE: TEXT`; further `// unknown: TEXT` of why there is no answer. `random/*` compare the answers to small programs with
//! those of [`enumerate`]; `GPUVCC_LITMUS_SEED` and `GPUVCC_LITMUS_COUNT` ask for others and more.

mod enumerate;
mod program;

use gpuvcc::litmus::cat::{self, Model};
use gpuvcc::litmus::{self, Answer, Limits};
use gpuvcc::report::source::SourceText;
use libtest_mimic::{Failed, Trial};
use program::{Program, Random};
use std::path::{Path, PathBuf};

/// Programs in each run of `random/*`.
const COUNT: u64 = 60;

const LIMITS: Limits = Limits { unroll: 3, draws: false };

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = files()
        .into_iter()
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            Trial::test(format!("file/{name}"), move || check(&path))
        })
        .collect();
    for (name, with_proxies) in [("generic", false), ("proxies", true)] {
        trials.push(Trial::test(format!("random/{name}"), move || compare(with_proxies)));
    }
    trials
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("tests/litmus").expect("the folder of tests");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "litmus"));
    paths.sort();
    paths
}

fn ptx() -> Model {
    cat::parse(cat::PTX).unwrap_or_else(|error| panic!("prelude/ptx.cat: {error:?}"))
}

fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let header = |key: &str| text.lines().find_map(|line| line.strip_prefix(&format!("// {key}: ")));
    let read = match (litmus::read(&text), header("error")) {
        (Ok(read), None) => read,
        (Err(errors), Some(expected)) => {
            let source = SourceText::new("test", text.as_str());
            let place = |error: &gpuvcc::diagnostic::Diagnostic| {
                let start = error.labels.first().map_or(0, |(span, _)| span.start as usize);
                format!("{}: {}", source.line_column(start).0, error.message)
            };
            let told: Vec<String> = errors.iter().map(place).collect();
            return if told == [expected] { Ok(()) } else { Err(format!("expected {expected}, got {told:?}").into()) };
        }
        (Ok(_), Some(expected)) => return Err(format!("no error, expected {expected}").into()),
        (Err(errors), None) => return Err(format!("{errors:?}").into()),
    };
    let answer = litmus::judge(&read, &ptx(), LIMITS).map_err(|trouble| format!("{trouble:?}"))?;
    let line = answer.line();
    let expected = header("expect").ok_or("the header expects nothing")?;
    if line.strip_prefix(answer.name()).and_then(|rest| rest.strip_prefix(": ")) != Some(expected) {
        return Err(format!("expected {expected}, got {line} {:?}", answer.reasons()).into());
    }
    match header("unknown") {
        Some(reason) if answer.reasons().iter().any(|told| told.contains(reason)) => Ok(()),
        None if answer.reasons().is_empty() => Ok(()),
        expected => Err(format!("expected {expected:?}, got {:?}", answer.reasons()).into()),
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Random programs, each asked about an end that one of its candidate executions has.
fn compare(with_proxies: bool) -> Result<(), Failed> {
    let (first, count) = (number("GPUVCC_LITMUS_SEED", 1), number("GPUVCC_LITMUS_COUNT", COUNT));
    let model = ptx();
    let (mut allowed, mut racy) = (0, 0);
    for seed in first..first + count {
        let mut random = Random::new(2 * seed + u64::from(with_proxies));
        let program = Program::random(&mut random, with_proxies);
        let behaviour = enumerate::behaviour(&program);
        let candidates: Vec<_> = behaviour.candidates.iter().collect();
        let forbidden: Vec<_> = candidates.iter().copied().filter(|one| !behaviour.outcomes.contains(*one)).collect();
        // Forbidden ends are rarer.
        let from = if forbidden.is_empty() || random.below(2) == 0 { &candidates } else { &forbidden };
        let outcome = from[random.below(from.len() as u32) as usize];
        let expected = (behaviour.outcomes.contains(outcome), behaviour.racy);
        let text = program.text(&format!("random-{seed}"), outcome);
        let answer = ask(&text, &model)?;
        if (answer.outcome() == "allowed", answer.racy()) != (expected.0, Some(expected.1)) {
            let line = answer.line();
            return Err(format!(
                "seed {seed}: expected allowed {}, racy {}; got {line}\n{text}",
                expected.0, expected.1
            )
            .into());
        }
        allowed += u64::from(expected.0);
        racy += u64::from(expected.1);
    }
    // All four answers are there.
    let is_rare = |part: u64| part * 20 < count || part * 20 > count * 19;
    if count >= COUNT && (is_rare(allowed) || is_rare(racy)) {
        return Err(format!("of {count} programs {allowed} are allowed and {racy} racy: the tests say little").into());
    }
    println!("{count} programs: {allowed} allowed, {racy} racy");
    Ok(())
}

fn ask(text: &str, model: &Model) -> Result<Answer, Failed> {
    let read = litmus::read(text).map_err(|errors| format!("{errors:?}\n{text}"))?;
    litmus::judge(&read, model, LIMITS).map_err(|trouble| format!("{trouble:?}\n{text}").into())
}
