//! What `--emit` prints: each stage of a small kernel as snapshots, and of several shipped kernels that
//! each stage prints the same text twice and that IVL texts parse again.

use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use gpuvcc::driver::options::Stage;
use gpuvcc::driver::{input, pipeline};

/// Straight-line code, a loop with barriers, calls with shared memory.
const KERNELS: [&str; 3] = ["saxpy", "reduce_sequential", "device_shared"];

const STAGES: [Stage; 11] = [
    Stage::Cfg,
    Stage::Order,
    Stage::Kernel,
    Stage::Slice,
    Stage::Predicated,
    Stage::Twothread,
    Stage::Ivl,
    Stage::Candidates,
    Stage::Passive,
    Stage::Vc,
    Stage::Smt2,
];

fn case(name: &str) -> Case {
    case_in("tests/kernels", name)
}

fn case_in(folder: &str, name: &str) -> Case {
    let cases = cases(folder).expect("the cases of the folder");
    cases.into_iter().find(|case| case.name == name).expect("a case of that name")
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

/// Compares with `snapshots/stages/KERNEL.STAGE.snap`.
fn assert_stages(case: &Case, stages: &[(&str, Stage)]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/stages");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for (name, stage) in stages {
            insta::assert_snapshot!(format!("{}.{name}", case.name), emitted(case, *stage));
        }
    });
}

#[test]
fn first_stages_of_saxpy() {
    let stages =
        [("cfg", Stage::Cfg), ("order", Stage::Order), ("kernel", Stage::Kernel), ("predicated", Stage::Predicated)];
    assert_stages(&case("saxpy"), &stages);
}

/// The loop of a product only reads, so it goes; what is stored does not matter.
#[test]
fn slice_of_a_product_with_a_vector() {
    assert_stages(&case("matvec"), &[("slice", Stage::Slice)]);
}

#[test]
fn last_stages_of_add_neighbour() {
    let stages = [("ivl", Stage::Ivl), ("passive", Stage::Passive), ("vc", Stage::Vc), ("smt2", Stage::Smt2)];
    assert_stages(&case_in("book/figures", "add_neighbour"), &stages);
}

/// The only snapshot that depends on what inference invents.
#[test]
fn inference_for_a_loop() {
    let stages = [("twothread", Stage::Twothread), ("candidates", Stage::Candidates), ("ivl", Stage::Ivl)];
    assert_stages(&case_in("tests/stages", "counted_loop"), &stages);
}

/// What is before a message, what is behind one, and where all blocks have come.
const MARKS: [&str; 3] = ["{:tells", "{:told", "{:all_blocks"];

/// What is said of accesses before and behind messages. That not too much is said, few executions show.
#[test]
fn parts_in_messages() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/stages");
    settings.set_prepend_module_to_snapshot(false);
    let names = [
        "message_block",
        "message_chain",
        "message_states",
        "message_third",
        "trap_message_third_fence",
        "trap_message_third_nobody",
        "grid_barrier",
        "trap_grid_barrier_warps",
        "trap_grid_barrier_some",
        "trap_grid_barrier_sites",
        "grid_sync",
        "grid_barrier_flip",
        "grid_barrier_rounds",
        "grid_barrier_inc",
        "grid_barrier_goal",
        "grid_barrier_goal_least",
        "trap_grid_goal_less",
        "trap_grid_goal_more",
        "trap_grid_goal_some",
        "trap_grid_goal_start",
        "trap_grid_flip_amount",
        "trap_grid_flip_bit",
        "trap_grid_rounds_acquire",
        "trap_grid_rounds_between",
        "trap_grid_rounds_bound",
        "trap_grid_rounds_last",
        "trap_grid_rounds_other",
        "trap_grid_rounds_pass",
        "trap_grid_rounds_release",
        "trap_grid_rounds_reset",
        "trap_grid_rounds_two",
    ];
    let marks = names.map(|name| {
        let text = emitted(&case(name), Stage::Kernel);
        let marked = text.lines().filter(|line| MARKS.iter().any(|mark| line.contains(mark)));
        format!("{name}\n{}\n", marked.collect::<Vec<_>>().join("\n"))
    });
    settings.bind(|| insta::assert_snapshot!("messages.marks", marks.concat()));
}

/// A case with only the used invariants.
fn minimal(mut case: Case) -> Case {
    case.options.minimal = true;
    case
}

/// Those that the proofs need, of up to 120: a loop without barriers, a tree reduction, a tiled product.
#[test]
fn used_invariants() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/stages");
    settings.set_prepend_module_to_snapshot(false);
    let cases = [case_in("tests/stages", "counted_loop"), case("reduce_sequential"), case("matmul_tiled")];
    settings.bind(|| {
        for case in cases.map(minimal) {
            let text = emitted(&case, Stage::Ivl);
            let is_body = |line: &str| line.starts_with("procedure ") && !line.contains("{:inline");
            let is_shown = |line: &&str| is_body(line) || line.contains("assert {:\\invariant");
            let shown: Vec<&str> = text.lines().filter(is_shown).collect();
            insta::assert_snapshot!(format!("{}.minimal", case.name), shown.join("\n"));
        }
    });
}

/// Nothing is said to be used where the proof fails.
#[test]
fn no_invariant_is_used_where_the_proof_fails() {
    for case in [case("reduce_sequential_broken"), minimal(case("reduce_sequential_broken"))] {
        let text = emitted(&case, Stage::Ivl);
        assert!(text.contains("// all kept invariants"), "{text}");
        assert!(text.contains("{:\\invariant \"round\"}") && !text.contains("{:used}"), "{text}");
    }
}

#[test]
fn minimal_invariants_are_the_used_ones() {
    let all = emitted(&case("reduce_sequential"), Stage::Ivl);
    let few = emitted(&minimal(case("reduce_sequential")), Stage::Ivl);
    let invariants = |text: &str, mark: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("{:\\invariant") && line.contains(mark));
        lines.map(|line| line.replace(" {:used}", "")).collect()
    };
    assert!(!invariants(&few, "").is_empty());
    assert_eq!(invariants(&all, "{:used}"), invariants(&few, ""));
    assert!(invariants(&all, "").len() > invariants(&few, "").len());
}

#[test]
fn tokens_of_both_languages() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/stages");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for (name, file) in [
            ("trap_race_behind_divergence.tokens", "tests/kernels/ptx/trap_race_behind_divergence.ptx"),
            ("counted_loop.tokens", "tests/stages/counted_loop.ivl"),
        ] {
            let input = input::read(file).expect("a readable file");
            insta::assert_snapshot!(name, pipeline::tokens(&input));
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

/// The lines that are code.
fn without_comments(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.map(|line| format!("{line}\n")).collect()
}

#[test]
fn printed_programs_parse_again() {
    for name in KERNELS {
        let case = case(name);
        for stage in [Stage::Kernel, Stage::Slice, Stage::Predicated, Stage::Twothread, Stage::Ivl] {
            for case in [case.clone(), minimal(case.clone())] {
                let text = emitted(&case, stage);
                let again = gpuvcc::ivl::parse(&text).map(|program| gpuvcc::ivl::print(&program));
                assert_eq!(again.as_deref(), Ok(&*without_comments(&text)), "{name} {stage:?}");
            }
        }
    }
}
