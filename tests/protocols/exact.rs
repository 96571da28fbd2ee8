//! The exact engine against the oracle: what it calls verified has no defect in any schedule.

use super::generate::{Features, generate};
use super::judge::STATES;
use super::oracle::{Answer, explore};
use super::print::print;
use super::protocol::Protocol;
use gpuvcc::driver::input::{Input, Language};
use gpuvcc::driver::options::{Engine, Options};
use gpuvcc::driver::pipeline;
use gpuvcc::finding::Verdict;
use gpuvcc::geometry::Geometry;
use gpuvcc::jobs::Jobs;
use gpuvcc::report::source::SourceText;
use libtest_mimic::Failed;
use std::collections::BTreeMap;

/// What the engine knows: all of it.
const FEATURES: Features = Features { objects: true, bulk: true, clusters: true };

/// What the engine says of a protocol.
pub fn verdict(protocol: &Protocol) -> Result<Verdict, Failed> {
    let printed = print(protocol);
    let input = Input::new(SourceText::new("kernel.ptx", printed.text), Language::Ptx);
    let geometry = Geometry { block: [printed.block, 1, 1], grid: [printed.blocks, 1, 1] }.into();
    let options = Options { geometry, engine: Engine::Exact, ..Options::default() };
    let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
    let answer = pipeline::verify(&input, &program, "kernel", &options, &Jobs::default());
    Ok(answer.map_or(Verdict::Unsupported, |report| report.verdict))
}

/// Asks the engine about so many protocols of a seed.
pub fn protocols(seed: u64, count: u64) -> Result<(), Failed> {
    let mut tally: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for number in 0..count {
        let protocol = generate(seed, number, FEATURES).protocol;
        let Answer::Defects(can) = explore(&protocol, STATES) else { continue };
        let verdict = verdict(&protocol)?;
        if matches!(verdict, Verdict::Verified | Verdict::VerifiedWhen) && !can.is_empty() {
            return Err(format!("number {number} is {}, and can have {can:?}: {protocol:?}", verdict.name()).into());
        }
        *tally.entry((if can.is_empty() { "clean" } else { "a defect" }, verdict.name())).or_default() += 1;
    }
    for ((known, verdict), count) in &tally {
        eprintln!("{known:10} {verdict:20} {count:7}");
    }
    // An engine that never answers is not tried.
    match tally.get(&("clean", Verdict::Verified.name())) {
        Some(_) => Ok(()),
        None => Err("the exact engine verifies no protocol".into()),
    }
}
