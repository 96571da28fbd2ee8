//! More information never gives a worse answer.
//!
//! A kernel is asked about with nothing said; then what its host does is said bit by bit: the block, the grid, that scalars
//! are positive, each scalar. All that is said is true of the program (its header has it), so no answer may be worth less
//! to its author than the one before. What answers are worth, from the best on:
//!
//! | worth | a correct program | a twin with a bug |
//! |---|---|---|
//! | `Best` | `verified` | a defect that an execution shows, at the marked lines |
//! | `Good` | `verified-when`, under conditions that its launch and scalars meet | |
//! | `Open` | no answer, one that is possible, or about other launches | the same |
//! | `Useless` | a defect: of a launch that its host does not start | a defect at other lines |
//!
//! A twin that is verified under conditions which its own launch meets is no answer at all: that fails by itself. The
//! information may also be the tool's own: with the launch and the scalars of the first confirmed finding, said with
//! `--block`, `--grid` and `--param`, the answer is a defect of that kind again.
//!
//! What is not as it should be stands in `GAPS`; one that is closed is an error, too. The sample is of kernels that are
//! answered soon.

use crate::support::cases::{Case, cases};
use crate::support::conditions::Values;
use crate::support::places::within_marks;
use crate::support::run::{summary, verify};
use gpuvcc::driver::input::{self, Input};
use gpuvcc::finding::{KernelReport, Verdict};
use gpuvcc::geometry::Geometry;
use gpuvcc::report::source::SourceText;
use libtest_mimic::{Failed, Trial};
use std::time::Duration;

const PROGRAMS: [&str; 10] = [
    "cipher_key_fill",
    "convolution_row_tiles_broken",
    "floyd_step_broken",
    "heat_2d_broken",
    "integrate_particles",
    "monte_carlo_states",
    "pair_sums",
    "pair_sums_broken",
    "quantize_table",
    "quantize_table_broken",
];

/// Kernels with free parameters, whose headers have the launch.
const PLAUSIBLE: [&str; 2] = ["covered_columns_broken", "rows_of_grid_broken"];

/// Kernel, what was said last, and why the answer is worse then.
const GAPS: [(&str, &str, &str); 0] = [];

/// Parameters of the sample that are floating-point numbers.
const FLOATS: [&str; 2] = ["heat_2d_broken_param_3", "quantize_table_broken_param_3"];

/// More effort says more of slow kernels only.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Useless,
    Open,
    Good,
    Best,
}

pub fn trials() -> Vec<Trial> {
    let of = |folder: &str, names: &[&str]| {
        let mut cases = cases(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
        cases.retain(|case| names.contains(&case.name.as_str()));
        assert_eq!(cases.len(), names.len(), "{folder} has not all kernels of the sample");
        cases
    };
    let all = [of("tests/programs", &PROGRAMS), of("tests/plausible", &PLAUSIBLE)].concat();
    let trial = |case: &Case| {
        let (case, own) = (case.clone(), case.clone());
        let step = Trial::test(format!("{}/host", case.name), move || host(&case));
        [step, Trial::test(format!("{}/own", own.name), move || own_values(&own))]
    };
    all.iter().flat_map(trial).collect()
}

/// What is said of a kernel.
struct Said {
    what: String,
    case: Case,
    /// Facts in front of its first instruction.
    requires: Vec<String>,
}

/// Nothing, then a bit more each time.
fn steps(case: &Case) -> Vec<Said> {
    let given = case.options.clone();
    let mut free = case.clone();
    free.options.timeout = TIMEOUT;
    free.options.params.clear();
    free.options.dynamic_shared = None;
    free.options.geometry = Geometry::FREE;
    (free.options.block_is_given, free.options.grid_is_given) = (false, false);
    let said = |what: &str, case: &Case, requires: &[String]| Said {
        what: what.to_string(),
        case: case.clone(),
        requires: requires.to_vec(),
    };
    let mut steps = vec![said("nothing", &free, &[])];
    free.options.geometry.block = given.geometry.block;
    free.options.block_is_given = true;
    steps.push(said("block", &free, &[]));
    free.options.geometry.grid = given.geometry.grid;
    free.options.grid_is_given = true;
    free.options.dynamic_shared = given.dynamic_shared;
    steps.push(said("grid", &free, &[]));
    let positive = given.params.iter().filter(|setting| setting.value > 0);
    let positive: Vec<String> = positive.map(|setting| format!("[{{{}}}] >= 1", setting.name)).collect();
    if !positive.is_empty() {
        steps.push(said("requires", &free, &positive));
    }
    for setting in given.params {
        free.options.params.push(setting.clone());
        steps.push(said(&format!("param {}", setting.name), &free, &positive));
    }
    steps
}

fn ask(said: &Said) -> Result<KernelReport, String> {
    let path = said.case.input.to_string_lossy().into_owned();
    let input = input::read(&path).map_err(|diagnostic| diagnostic.message)?;
    let text = with_requires(input.source.text(), &said.requires)?;
    let input = Input::new(SourceText::new(path, text), input::Language::Ptx);
    verify(&input, said.case.entry.as_deref(), &said.case.options)
}

/// The text with facts about the only kernel, in which `{2}` is the third parameter.
fn with_requires(text: &str, facts: &[String]) -> Result<String, String> {
    if facts.is_empty() {
        return Ok(text.to_string());
    }
    let (head, body) = text.split_once("\n{").ok_or("no body")?;
    let (declared, list) = head.split_once(".entry ").ok_or("no kernel")?;
    let names: Vec<&str> = list
        .lines()
        .filter(|line| line.contains(".param"))
        .filter_map(|line| line.trim_end_matches(',').split_whitespace().last())
        .collect();
    let mut lines = String::new();
    for fact in facts {
        let (before, rest) = fact.split_once('{').ok_or("no parameter")?;
        let (number, after) = rest.split_once('}').ok_or("no parameter")?;
        let name = number.parse().ok().and_then(|index: usize| names.get(index)).ok_or("no such parameter")?;
        lines.push_str(&format!("\t//@ requires {before}{name}{after};\n"));
    }
    let first = body.find("\tld.param").or_else(|| body.find("\tmov.")).ok_or("no instruction")?;
    Ok(format!("{declared}.entry {list}\n{{{}{lines}{}", &body[..first], &body[first..]))
}

fn host(case: &Case) -> Result<(), Failed> {
    let mut before: Option<(Worth, String)> = None;
    let mut worse = Vec::new();
    for said in steps(case) {
        let report = ask(&said)?;
        let answer = format!("{}: {}\n{}", said.what, report.verdict.name(), summary(&report));
        let worth = worth(case, &report).map_err(|what| format!("{what}\n{answer}"))?;
        if let Some((earlier, text)) = before.filter(|(earlier, _)| worth < *earlier) {
            worse.push((said.what.clone(), format!("{earlier:?}, then {worth:?}\n{text}\n{answer}")));
        }
        before = Some((worth, answer));
    }
    let gaps: Vec<&str> = GAPS.iter().filter(|(name, ..)| *name == case.name).map(|(_, what, _)| *what).collect();
    let is_gap = |what: &str| gaps.contains(&what);
    if let Some((what, text)) = worse.iter().find(|(what, _)| !is_gap(what)) {
        return Err(format!("worse with `{what}`: {text}").into());
    }
    match gaps.iter().find(|gap| !worse.iter().any(|(what, _)| what == *gap)) {
        Some(closed) => Err(format!("the gap `{closed}` is closed").into()),
        None => Ok(()),
    }
}

fn worth(case: &Case, report: &KernelReport) -> Result<Worth, String> {
    let values = Values::of(case, &report.entry);
    let is_met = report.conditions.iter().all(|condition| values.meet(condition));
    let is_twin = case.name.ends_with("_broken");
    match report.verdict {
        Verdict::Verified | Verdict::VerifiedWhen if is_twin && is_met => Err("the bug is hidden".to_string()),
        Verdict::Verified => Ok(Worth::Best),
        Verdict::VerifiedWhen if is_met => Ok(Worth::Good),
        Verdict::Defect(_) if is_twin && report.findings.iter().any(|finding| within_marks(case, finding)) => {
            Ok(Worth::Best)
        }
        Verdict::Defect(_) => Ok(Worth::Useless),
        _ => Ok(Worth::Open),
    }
}

/// What the first answer chose is said, and the answer is the same.
fn own_values(case: &Case) -> Result<(), Failed> {
    let Some(mut said) = steps(case).into_iter().next() else { return Ok(()) };
    let report = ask(&said)?;
    let Some(finding) = report.findings.iter().find(|finding| finding.confirmed) else { return Ok(()) };
    let Some(launch) = finding.launch else { return Err("a finding without a launch".into()) };
    let options = &mut said.case.options;
    options.geometry = launch;
    (options.block_is_given, options.grid_is_given) = (true, true);
    // Options fix integers only.
    let is_integer = |name: &String| !FLOATS.contains(&name.as_str());
    let params = finding.params.iter().filter(|(name, _)| is_integer(name));
    let settings = params.map(|(name, value)| format!("--param={name}={}", value.unsigned()));
    let arguments = ["gpuvcc".to_string(), "k.ptx".to_string()].into_iter().chain(settings);
    match gpuvcc::driver::cli::parse(arguments) {
        Ok(gpuvcc::driver::cli::Command::Verify(parsed)) => options.params = parsed.params,
        _ => return Err("the values of the finding are no options".into()),
    }
    let again = ask(&said)?;
    if again.verdict == report.verdict {
        return Ok(());
    }
    Err(format!("{} with its own values: {}\n{}", report.verdict.name(), again.verdict.name(), summary(&again)).into())
}
