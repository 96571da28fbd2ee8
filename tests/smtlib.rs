//! Printed scripts through other programs: the `z3` and `cvc5` binaries, where they are installed,
//! answer what the library answers. GPUVCC_CASES asks for more cases than `cargo test` runs, and
//! GPUVCC_SMT2_STEP=n looks at the conditions of every n-th shipped kernel.

use crate::formula::{Recipe, Shape, build, recipes};
use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use gpuvcc::driver::options::{Options, Stage};
use gpuvcc::driver::{input, pipeline};
use gpuvcc::effort::Effort;
use gpuvcc::solver::{self, Answer, Encoding};
use gpuvcc::vcgen::term::{BvCompare, Sort, Terms};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

const SHAPE: Shape =
    Shape { widths: &[1, 4, 8, 32], widest: 40, steps: 14, integers: true, functions: true, complete: 64 };
const EFFORT: Effort = Effort::milliseconds(600);
const SOLVERS: [&[&str]; 2] = [&["z3", "-in", "-T:4"], &["cvc5", "--lang=smt2", "--tlimit=4000"]];

/// The first line of a solver's answer to a script; `None` when the solver is not installed.
fn answer(solver: &[&str], script: &str) -> Option<String> {
    let mut command = Command::new(solver[0]);
    let child = command.args(&solver[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.ok()?;
    if let Some(mut input) = child.stdin.take() {
        // A solver that is done early closes its input.
        let _ = input.write_all(script.as_bytes());
    }
    let output = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string())
}

fn installed() -> Vec<&'static [&'static str]> {
    let works = |solver: &&&[&str]| {
        let found = answer(solver, "(set-logic QF_BV)\n(check-sat)\n").as_deref() == Some("sat");
        if !found {
            println!("skipped: no `{}` on the path", solver[0]);
        }
        found
    };
    SOLVERS.iter().filter(works).copied().collect()
}

fn agrees(solvers: &[&[&str]], recipe: &Recipe) -> Result<(), TestCaseError> {
    let mut built = build(recipe);
    let Some(last) = built.bits.last().cloned() else { return Ok(()) };
    let width = built.terms.width(last.term);
    let end = built.terms.bv(last.values.iter().max().copied().unwrap_or(0), width);
    let bound = built.terms.bv_compare(BvCompare::Ule, last.term, end);
    let goal = match built.bools.last() {
        Some(other) if recipe.seed.is_multiple_of(2) => built.terms.and2(bound, other.term),
        _ => bound,
    };
    for encoding in [Encoding::Integers, Encoding::BitVectors] {
        let Some(encoded) = solver::encode(&mut built.terms, encoding, goal, &[]) else { continue };
        let script = solver::smtlib::script(&built.terms, encoding, &encoded, "a random query");
        let expected = match solver::prove(&mut built.terms, encoding, goal, &[], EFFORT) {
            Answer::Proved => "unsat",
            Answer::Refuted(_) => "sat",
            Answer::Unknown(_) => continue,
        };
        for solver in solvers {
            let found = answer(solver, &script).unwrap_or_default();
            let decided = found == "sat" || found == "unsat";
            let gave_up = found == "unknown" || found == "timeout" || found.contains("interrupted by timeout");
            prop_assert!(decided || gave_up, "{} says `{found}` to\n{script}", solver[0]);
            prop_assert!(gave_up || found == expected, "{} says {found}, the library {expected}:\n{script}", solver[0]);
        }
    }
    Ok(())
}

#[test]
fn printed_scripts_have_the_same_answers() {
    let solvers = installed();
    if solvers.is_empty() {
        return;
    }
    let cases = std::env::var("GPUVCC_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(60);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(error) = runner.run(&recipes(SHAPE), |recipe| agrees(&solvers, &recipe)) {
        panic!("{error}");
    }
}

/// Names that a user may choose and that the printer or an encoding could choose as well.
#[test]
fn names_do_not_collide() {
    let solvers = installed();
    let mut terms = Terms::default();
    // A term number, the integer form of `x`, and a name that the encoders gave to division.
    let names = ["t1", "t2", "t3", "t4", "t5", "t6", "x", "x#", "x#64", "udiv32", "and32#"];
    let symbols: Vec<_> = names.iter().map(|n| terms.symbol(n, Sort::Bv(32), None)).collect();
    let integer = terms.symbol("y#", Sort::Int, None);
    let y = terms.symbol("y", Sort::Bv(32), None);
    let applied = terms.apply("udiv32", vec![symbols[0], symbols[1]], Sort::Bv(32));
    let divided = terms.bv_binary(gpuvcc::vcgen::term::BvBinary::Udiv, symbols[0], symbols[1]);
    let nullary = terms.apply("x", vec![], Sort::Bv(32));
    let mut equalities: Vec<_> = symbols.windows(2).map(|w| terms.eq(w[0], w[1])).collect();
    equalities.push(terms.eq(applied, divided));
    equalities.push(terms.eq(nullary, symbols[6]));
    let y_value = terms.to_int(y);
    equalities.push(terms.eq(integer, y_value));
    for goal in equalities {
        for encoding in [Encoding::Integers, Encoding::BitVectors] {
            let reply = solver::prove(&mut terms, encoding, goal, &[], EFFORT);
            assert!(matches!(reply, Answer::Refuted(_)), "unrelated names are equal in {encoding:?}: {reply:?}");
            let encoded = solver::encode(&mut terms, encoding, goal, &[]).expect("both encodings apply");
            let script = solver::smtlib::script(&terms, encoding, &encoded, "");
            for solver in &solvers {
                assert_eq!(answer(solver, &script).as_deref(), Some("sat"), "{}:\n{script}", solver[0]);
            }
        }
    }
}

/// Every how many-th kernel is looked at, and how many answers in a hundred may be missing.
const STEP: usize = 48;
const UNDECIDED_PERCENT: usize = 60;

/// Effort for invariants: a script has an answer with any of them.
const INVARIANTS: Duration = Duration::from_secs(4);

/// `--emit smt2` of a kernel, one script for each pair of threads.
fn scripts(case: &Case) -> Vec<String> {
    let text = on_large_stack(|| {
        let input = input::read(&case.input.to_string_lossy()).expect("a readable file");
        let program = pipeline::parse(&input).expect("a file that parses");
        let entry = case.entry.clone().unwrap_or_else(|| program.kernels().remove(0));
        let options = Options { timeout: INVARIANTS, ..case.options.clone() };
        pipeline::emit(&input, &program, &entry, Stage::Smt2, &options)
    });
    // What is unsupported has no conditions.
    let text = text.expect("no panic").unwrap_or_default();
    text.split("(reset)\n").filter(|script| script.contains("(check-sat)")).map(str::to_string).collect()
}

/// No two programs answer `sat` and `unsat` to one script, and none proves a kernel with a defect.
#[test]
fn conditions_of_shipped_kernels_have_the_same_answers() {
    let solvers = installed();
    let step = std::env::var("GPUVCC_SMT2_STEP").ok().and_then(|text| text.parse().ok()).unwrap_or(STEP).max(1);
    let (mut answers, mut undecided) = (0, Vec::new());
    for case in cases("tests/kernels").expect("the shipped kernels").iter().step_by(step) {
        let scripts = scripts(case);
        let mut proofs = vec![0; solvers.len()];
        for script in &scripts {
            let found: Vec<String> = solvers.iter().map(|solver| answer(solver, script).unwrap_or_default()).collect();
            let says = |wanted: &str| found.iter().any(|answer| answer == wanted);
            assert!(!(says("sat") && says("unsat")), "{}: {solvers:?} say {found:?}", case.name);
            for (index, answer) in found.iter().enumerate() {
                assert!(!answer.contains("error"), "{}: {} says {answer}", case.name, solvers[index][0]);
                answers += 1;
                proofs[index] += usize::from(answer == "unsat");
                if answer != "sat" && answer != "unsat" {
                    undecided.push(format!("{} {}", case.name, solvers[index][0]));
                }
            }
        }
        let no_defect = ["verified", "unsupported", "unknown"].contains(&case.verdict.as_str());
        let proved = proofs.contains(&scripts.len());
        assert!(
            no_defect || scripts.is_empty() || !proved,
            "{}: all conditions of a kernel with a defect are proved",
            case.name
        );
    }
    println!("agreement: {} of {answers} answers are missing ({})", undecided.len(), undecided.join(", "));
    assert!(undecided.len() * 100 <= answers * UNDECIDED_PERCENT, "too many answers are missing");
}
