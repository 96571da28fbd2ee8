//! The suites whose tests are files, or rows of a table: adding a case is adding a file.
//!
//! They are one program, since each program is linked with all of gpuvcc. A test is named
//! `[suite] file`: `cargo test --test files '[kernels] ptx/'` runs some of a suite.

mod agreement;
mod attack;
mod book;
mod cli;
mod consistency;
mod corpus;
mod exec;
mod figures;
mod hardware;
mod information;
mod isa;
mod ivl;
mod kernels;
mod launches;
mod limits;
mod litmus;
mod lower;
mod plausible;
mod preludes;
mod procedures;
mod programs;
mod protocols;
mod ptx;
mod races;
#[allow(dead_code)]
mod reader;
mod redundant;
mod replay;
mod same_value;
#[allow(dead_code)]
mod support;
mod sync;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

/// A suite: its name, and what gives its tests.
type Suite = (&'static str, fn() -> Vec<Trial>);

/// The suites in the order in which they run: long tests first, so that no processor waits at the end.
const SUITES: [Suite; 28] = [
    ("attack", attack::trials),
    ("kernels", kernels::trials),
    ("agreement", agreement::trials),
    ("launches", launches::trials),
    ("replay", replay::trials),
    ("corpus", corpus::trials),
    ("plausible", plausible::trials),
    ("limits", limits::trials),
    ("sync", sync::trials),
    ("races", races::trials),
    ("procedures", procedures::trials),
    ("programs", programs::trials),
    ("protocols", protocols::trials),
    ("same_value", same_value::trials),
    ("book", book::trials),
    ("cli", cli::trials),
    ("information", information::trials),
    ("consistency", consistency::trials),
    ("preludes", preludes::trials),
    ("ivl", ivl::trials),
    ("redundant", redundant::trials),
    ("litmus", litmus::trials),
    ("figures", figures::trials),
    ("hardware", hardware::trials),
    ("lower", lower::trials),
    ("isa", isa::trials),
    ("exec", exec::trials),
    ("ptx", ptx::trials),
];

/// What suites say that judge their tests together.
const CONCLUSIONS: [fn() -> bool; 2] = [agreement::conclude, corpus::conclude];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let wanted = arguments.filter.clone().unwrap_or_default();
    let is_wanted = |suite: &str| !wanted.starts_with('[') || wanted.starts_with(&format!("[{suite}]"));
    let mut tests = Vec::new();
    for (suite, trials) in SUITES.into_iter().filter(|(suite, _)| is_wanted(suite)) {
        tests.extend(trials().into_iter().map(|trial| trial.with_kind(suite)));
    }
    let outcome = libtest_mimic::run(&arguments, tests);
    let failed = CONCLUSIONS.into_iter().filter(|conclude| !conclude()).count();
    if failed == 0 { outcome.exit_code() } else { ExitCode::from(101) }
}
