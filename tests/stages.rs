//! What `--emit` prints for shipped kernels: the first stages of one kernel as snapshots, and of
//! several kernels that each stage prints the same text twice and that IVL texts parse again.

#[allow(dead_code)]
mod support;

use gpuvcc::driver::cli::Stage;
use gpuvcc::driver::{input, pipeline};
use support::cases::{Case, cases};
use support::run::on_large_stack;

/// Straight-line code, a loop with barriers, calls with shared memory.
const KERNELS: [&str; 3] = ["saxpy", "reduce_sequential", "device_shared"];

const STAGES: [Stage; 9] = [
    Stage::Cfg,
    Stage::Order,
    Stage::Kernel,
    Stage::Predicated,
    Stage::Ivl,
    Stage::Candidates,
    Stage::Passive,
    Stage::Vc,
    Stage::Smt2,
];

fn case(name: &str) -> Case {
    let cases = cases("tests/kernels").expect("the shipped kernels");
    cases.into_iter().find(|case| case.name == name).expect("a shipped kernel")
}

/// The text of a stage.
fn emitted(case: &Case, stage: Stage) -> String {
    on_large_stack(|| {
        let input = input::read(&case.input.to_string_lossy()).expect("a readable file");
        let program = pipeline::parse(&input).expect("a file that parses");
        let entry = program.kernels().remove(0);
        pipeline::emit(&input, &program, &entry, stage, &case.options).expect("a stage that prints")
    })
    .expect("no panic")
}

#[test]
fn first_stages_of_saxpy() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/stages");
    settings.set_prepend_module_to_snapshot(false);
    let case = case("saxpy");
    settings.bind(|| {
        for (name, stage) in [
            ("saxpy.cfg", Stage::Cfg),
            ("saxpy.order", Stage::Order),
            ("saxpy.kernel", Stage::Kernel),
            ("saxpy.predicated", Stage::Predicated),
        ] {
            insta::assert_snapshot!(name, emitted(&case, stage));
        }
    });
}

#[test]
fn stages_print_the_same_text_twice() {
    for name in KERNELS {
        let case = case(name);
        for stage in STAGES {
            let text = emitted(&case, stage);
            assert!(!text.trim().is_empty(), "{name} {stage:?}");
            assert!(text == emitted(&case, stage), "{name} {stage:?} differs from run to run");
        }
    }
}

#[test]
fn printed_programs_parse_again() {
    for name in KERNELS {
        let case = case(name);
        for stage in [Stage::Kernel, Stage::Predicated] {
            let text = emitted(&case, stage);
            let again = gpuvcc::ivl::parse(&text).map(|program| gpuvcc::ivl::print(&program));
            assert!(again.is_ok(), "{name} {stage:?}: {again:?}");
        }
    }
}
