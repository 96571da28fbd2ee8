//! Every encoding on every shipped kernel at the launch of its header.
//!
//! The proofs run again with the other prelude (`--prelude logging-sets`), with integers only and with bit-vectors only
//! (`--arith`). What one encoding proves of a kernel that has a defect is a failure of this test, whatever the others say.
//! A correct kernel that an encoding does not prove within its time is counted and named, and there may be few of them.
//! `GPUVCC_CORPUS=n` looks at every n-th kernel (1: all). The default of each encoding stands beside it in `ENCODINGS`.

use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use gpuvcc::diagnostic::Severity;
use gpuvcc::driver::options::{Arithmetic, Options, PreludeChoice};
use gpuvcc::driver::{input, pipeline};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time for one kernel in one encoding.
const TIME: Duration = Duration::from_secs(10);

const GAPS: &str = include_str!("kernels/known_gaps.txt");

/// An encoding: its name, how the options ask for it, every how many-th kernel is looked at, and how many correct
/// kernels in a hundred may stay unproved.
struct Encoding {
    name: &'static str,
    choose: fn(&mut Options),
    step: usize,
    unproved_percent: usize,
}

const ENCODINGS: [Encoding; 3] = [
    Encoding {
        name: "logging-sets",
        choose: |options| options.prelude = PreludeChoice::LoggingSets,
        step: 32,
        unproved_percent: 20,
    },
    Encoding { name: "int", choose: |options| options.arith = Arithmetic::Int, step: 96, unproved_percent: 30 },
    Encoding { name: "bv", choose: |options| options.arith = Arithmetic::Bv, step: 96, unproved_percent: 40 },
];

/// Correct kernels that an encoding was tried on, and those of them that it did not prove.
#[derive(Default)]
struct Tally {
    correct: usize,
    broken: usize,
    unproved: Vec<String>,
}

/// One for each encoding.
static TALLIES: Mutex<BTreeMap<&str, Tally>> = Mutex::new(BTreeMap::new());

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/kernels").unwrap_or_else(|error| panic!("tests/kernels: {error}"));
    let wanted: Option<usize> = std::env::var("GPUVCC_CORPUS").ok().and_then(|text| text.parse().ok());
    let mut trials = Vec::new();
    for encoding in &ENCODINGS {
        for case in cases.iter().step_by(wanted.unwrap_or(encoding.step).max(1)).cloned() {
            let name = format!("{}/{}", encoding.name, case.name);
            trials.push(Trial::test(name, move || trial(&case, encoding)));
        }
    }
    trials
}

/// What all of them say together, once they are over: whether enough correct kernels were proved.
pub fn conclude() -> bool {
    let mut too_many = false;
    for (name, tally) in TALLIES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let (proved, unproved) = (tally.correct - tally.unproved.len(), tally.unproved.len());
        let list = tally.unproved.join(", ");
        println!("corpus, {name}: {} broken kernels refused, {proved} proved, {unproved} not ({list})", tally.broken);
        let encoding = ENCODINGS.iter().find(|encoding| encoding.name == *name);
        let percent = encoding.map_or(0, |encoding| encoding.unproved_percent);
        // A few kernels by themselves say nothing about a share.
        too_many |= tally.correct > 20 && unproved * 100 > tally.correct * percent;
    }
    if too_many {
        println!("corpus: failed, too many correct kernels are not proved");
    }
    !too_many
}

fn trial(case: &Case, encoding: &Encoding) -> Result<(), Failed> {
    let gap = GAPS.lines().any(|line| line.split_whitespace().next() == Some(&case.name));
    if gap || matches!(case.verdict.as_str(), "unknown" | "unsupported") {
        return Ok(());
    }
    let mut options = Options { timeout: TIME, ..case.options.clone() };
    (encoding.choose)(&mut options);
    let proved = is_proved(case, &options)?;
    let mut tallies = TALLIES.lock().unwrap_or_else(PoisonError::into_inner);
    let tally = tallies.entry(encoding.name).or_default();
    match (case.verdict.as_str(), proved) {
        ("verified", _) => {
            tally.correct += 1;
            if !proved {
                tally.unproved.push(case.name.clone());
            }
            Ok(())
        }
        (_, false) => {
            tally.broken += 1;
            Ok(())
        }
        (verdict, true) => Err(format!("FALSE PROOF: {} proves a kernel with `{verdict}`", encoding.name).into()),
    }
}

/// Whether all assertions of all pairs of threads are proved.
fn is_proved(case: &Case, options: &Options) -> Result<bool, String> {
    on_large_stack(|| {
        let input = input::read(&case.input.to_string_lossy()).map_err(|error| error.message)?;
        let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
        let entry = case.entry.clone().unwrap_or_else(|| program.kernels().remove(0));
        let mut proved = true;
        let mut visit = |_: &_, outcome: gpuvcc::prove::PairOutcome| {
            proved &= outcome.is_proved();
            Ok(proved)
        };
        match pipeline::prove(&input, &program, &entry, options, &mut visit) {
            Ok(()) => Ok(proved),
            // Some defects are seen in executions only: barriers that have no model.
            Err(errors) if errors.iter().all(|error| error.severity == Severity::Unsupported) => Ok(false),
            Err(errors) => Err(format!("{errors:?}")),
        }
    })?
}
