//! Replays kernel programs, and searches the shipped kernels (`kernels.rs`). The programs are `cases/*.ivl`, whose headers say which threads, and what that gives.
//!
//! ```text
//! //@ constants: n=5 ntid.x=64        optional, for the next case only
//! //@ options: exited-ok              optional: allow-same-value, exited-ok
//! //@ threads: 3@0 4,0,1@0            tid@ctaid of two threads; or
//! //@ search: race block=64 grid=*    goal and launch of a search
//! //@ gives: race A+12: write@9 read@9
//! //@ gives: stopped: Exited, Exited
//! ```
//!
//! Every line of the answer has its `gives`; lines of the text count from 1.

// Only part of the cases is used here.
#[allow(dead_code)]
#[path = "../support/cases.rs"]
mod cases;
mod kernels;

use gpuvcc::ivl::ast::{Name, Program};
use gpuvcc::replay::search::{Goal, SearchSpace, search};
use gpuvcc::replay::{BarrierEvent, Limits, Replay, Scenario, ThreadIds, replay};
use gpuvcc::span::Span;
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/cases");
    let mut paths: Vec<PathBuf> = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) => panic!("{}: {error}", folder.display()),
    };
    paths.sort();
    let name = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut trials: Vec<Trial> =
        paths.into_iter().map(|path| Trial::test(name(&path), move || run_file(&path))).collect();
    trials.extend(kernels::trials().unwrap_or_else(|error| panic!("tests/kernels: {error}")));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A case of a header.
#[derive(Default)]
struct Case {
    constants: BTreeMap<Name, u128>,
    limits: Limits,
    what: String,
    is_search: bool,
    gives: Vec<String>,
}

fn run_file(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let program = gpuvcc::ivl::parse(&text).map_err(|errors| format!("{errors:?}"))?;
    let cases = cases(&text)?;
    if cases.is_empty() {
        return Err("the header has no case".into());
    }
    for case in cases {
        let got =
            if case.is_search { run_search(&program, &case, &text)? } else { run_replay(&program, &case, &text)? };
        if got != case.gives {
            let (got, expected) = (got.join("\n  "), case.gives.join("\n  "));
            return Err(format!("{}\ngives\n  {got}\nbut the header says\n  {expected}", case.what).into());
        }
    }
    Ok(())
}

fn cases(text: &str) -> Result<Vec<Case>, Failed> {
    let mut cases: Vec<Case> = Vec::new();
    let mut next = Case::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("//@ ")) {
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("`{line}` is no header line"))?;
        match key {
            "constants" => {
                for setting in value.split_whitespace() {
                    let (name, value) = setting.split_once('=').ok_or("a constant is NAME=VALUE")?;
                    next.constants.insert(Name::from(name), value.parse()?);
                }
            }
            "options" => {
                next.limits.allow_same_value |= value.contains("allow-same-value");
                next.limits.exited_ok |= value.contains("exited-ok");
            }
            "threads" | "search" => {
                next.what = value.to_string();
                next.is_search = key == "search";
                cases.push(std::mem::take(&mut next));
            }
            "gives" => cases.last_mut().ok_or("`gives` follows `threads` or `search`")?.gives.push(value.to_string()),
            _ => return Err(format!("unknown key `{key}`").into()),
        }
    }
    Ok(cases)
}

fn run_replay(program: &Program, case: &Case, text: &str) -> Result<Vec<String>, Failed> {
    let threads = case.what.split_whitespace().map(thread).collect::<Result<Vec<_>, Failed>>()?;
    let threads = <[ThreadIds; 2]>::try_from(threads).map_err(|_| "a scenario has two threads")?;
    let replay = replay(program, &Scenario { constants: case.constants.clone(), threads }, &case.limits);
    let mut lines = defects(&replay, text);
    let ends: Vec<String> = replay.stopped.iter().map(|stopped| word(&format!("{:?}", stopped.end))).collect();
    lines.push(format!("stopped: {}", if ends.is_empty() { "no execution".to_string() } else { ends.join(", ") }));
    Ok(lines)
}

fn run_search(program: &Program, case: &Case, text: &str) -> Result<Vec<String>, Failed> {
    let mut space = SearchSpace::default();
    space.models.extend((!case.constants.is_empty()).then(|| case.constants.clone()));
    let mut goal = Goal::Race;
    for word in case.what.split_whitespace() {
        match word.split_once('=') {
            Some(("block", sizes)) => space.geometry.block = triple(sizes)?,
            Some(("grid", sizes)) => space.geometry.grid = triple(sizes)?,
            _ if word == "race" => goal = Goal::Race,
            _ if word == "divergence" => goal = Goal::Divergence,
            _ if word == "assertion" => goal = Goal::Assertion,
            _ => return Err(format!("unknown word `{word}`").into()),
        }
    }
    let found = search(program, &space, goal, &case.limits);
    Ok(found.map_or_else(|| vec!["nothing".to_string()], |found| defects(&found.replay, text)))
}

/// `64`, `8,8` or `*`; what is left out after a number is 1.
fn triple(sizes: &str) -> Result<[Option<u32>; 3], Failed> {
    if sizes == "*" {
        return Ok([None; 3]);
    }
    let mut triple = [Some(1); 3];
    for (axis, size) in sizes.split(',').enumerate() {
        triple[axis] = if size == "*" { None } else { Some(size.parse()?) };
    }
    Ok(triple)
}

fn thread(text: &str) -> Result<ThreadIds, Failed> {
    let (tid, ctaid) = text.split_once('@').ok_or("a thread is TID@CTAID")?;
    let indices = |text: &str| -> Result<[u32; 3], Failed> {
        let mut indices = [0; 3];
        for (axis, index) in text.split(',').enumerate() {
            indices[axis] = index.parse()?;
        }
        Ok(indices)
    };
    Ok(ThreadIds { tid: indices(tid)?, ctaid: indices(ctaid)? })
}

fn defects(replay: &Replay, text: &str) -> Vec<String> {
    let line = |span: Span| text[..span.start as usize].matches('\n').count() + 1;
    let mut lines = Vec::new();
    for race in &replay.races {
        let access = |event: &gpuvcc::replay::AccessEvent| format!("{}@{}", event.kind.name(), line(event.span));
        lines.push(format!("race {}{:+}: {} {}", race.array, race.offset, access(&race.first), access(&race.second)));
    }
    if let Some(divergence) = &replay.divergence {
        let at = |barrier: &BarrierEvent| line(barrier.span).to_string();
        let instead = divergence.instead.as_ref().map_or_else(|| "the end".to_string(), at);
        let certain = if divergence.certain { "" } else { " possible" };
        lines.push(format!("divergence{certain} after {}: {}, {instead}", divergence.phase, at(&divergence.barrier)));
    }
    for assertion in &replay.assertions {
        lines.push(format!("assertion@{}", line(assertion.span)));
    }
    lines
}

/// `Exited` of `Exited`, `UnknownBranch` of `UnknownBranch(3)`.
fn word(debug: &str) -> String {
    debug.split('(').next().unwrap_or_default().to_string()
}
