//! What is reported does not depend on the number of jobs, or on other kernels of a run, but for times.
//!
//! `cargo bench --bench verify -- --jobs 2` tells what jobs gain.

use crate::support::cases::{Case, cases};
use crate::support::program::gpuvcc;
use crate::support::run::verify_case;
use gpuvcc::driver::input;
use gpuvcc::finding::KernelReport;
use gpuvcc::geometry::Geometry;
use gpuvcc::report::json;
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

/// Kernels of tests/kernels, and why they are here.
const SAMPLE: [(&str, &str); 12] = [
    ("barrier_data", "both pairs of threads are proved"),
    ("trap_one_thread", "there is no pair"),
    ("shift_one_block", "there is one pair"),
    ("trap_blocks_only", "the second pair races"),
    ("reduce_last_warp_broken", "the first pair races, the second is in vain"),
    ("uniform_branch_broken", "the first pair diverges"),
    ("ptx/pointers_in_array_broken", "a race is possible, the second try is needed"),
    ("radix_count", "loops"),
    ("ptx/stated_size", "a loop with products, under conditions"),
    ("ptx/trap_endless_loop", "nothing is decided"),
    ("walsh_step_broken", "loops, and a race"),
    ("annotated_square_broken", "an assertion of the user"),
];

/// These are asked for all launches, too.
const FREE: [&str; 4] = ["saxpy", "trap_blocks_only", "nibble_pack", "copy_then_use"];

#[test]
fn reports_are_the_same_for_any_number_of_jobs() {
    let cases = cases("tests/kernels").unwrap_or_else(|message| panic!("{message}"));
    let case = |name: &str| cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no kernel {name}"));
    let free = |name: &&str| {
        let mut case = case(name).clone();
        case.options.geometry = Geometry::FREE;
        case
    };
    let sample = SAMPLE.iter().map(|(name, _)| case(name).clone()).chain(FREE.iter().map(free));
    for case in sample {
        let alone = report(&case, 1);
        assert_eq!(alone, report(&case, 3), "{}, three jobs", case.name);
    }
}

/// Effort that decides as much of the sample, and sooner gives up what stays open.
const LESS: Duration = Duration::from_secs(8);

/// The report in JSON, without its time.
fn report(case: &Case, jobs: usize) -> String {
    let mut case = case.clone();
    case.options.timeout = LESS;
    case.options.jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
    let report = verify_case(&case).unwrap_or_else(|message| panic!("{}: {message}", case.name));
    let source = input::read(&case.input.to_string_lossy()).unwrap_or_else(|error| panic!("{error:?}")).source;
    json::print(&[KernelReport { time_ms: 0, ..report }], &[], |_| &source)
}

/// Small kernels of tests/kernels, defects among them.
const FOLDER: [&str; 8] = [
    "saxpy",
    "transpose",
    "transpose_broken",
    "reduce_sequential",
    "barrier_data",
    "uniform_branch_broken",
    "radix_count",
    "annotated_square_broken",
];

#[test]
fn a_kernel_is_answered_alike_alone_and_in_a_folder() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    for name in FOLDER {
        let file = format!("{name}.ptx");
        let copied = std::fs::copy(Path::new("tests/kernels").join(&file), folder.path().join(&file));
        copied.unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let answer = |input: &Path, jobs: &str| -> Vec<Value> {
        let input = input.to_string_lossy();
        let launch = ["--block", "64", "--grid", "2", "--format", "json", "--stats", "--jobs", jobs];
        let ran = gpuvcc(&[&[&*input], &launch[..]].concat(), b"");
        assert!(matches!(ran.exit, 0 | 1 | 3), "exit {}: {}", ran.exit, ran.stderr);
        let mut report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
        let mut kernels = report["kernels"].as_array_mut().map(std::mem::take).unwrap_or_default();
        kernels.iter_mut().for_each(forget_times);
        kernels
    };
    let together = answer(folder.path(), "1");
    assert_eq!(together.len(), FOLDER.len());
    for kernel in &together {
        let file = kernel["file"].as_str().unwrap_or_default();
        // What it cost is the same, too.
        assert_eq!(answer(Path::new(file), "1"), std::slice::from_ref(kernel), "{file}");
    }
    // With several jobs, work that nobody takes is in the costs.
    let without_costs = |mut kernels: Vec<Value>| {
        for kernel in &mut kernels {
            assert!(kernel.as_object_mut().and_then(|kernel| kernel.remove("stats")).is_some());
        }
        kernels
    };
    assert_eq!(without_costs(answer(folder.path(), "2")), without_costs(together));
}

/// Leaves out what differs from run to run.
fn forget_times(kernel: &mut Value) {
    let Some(kernel) = kernel.as_object_mut() else { panic!("a kernel is an object") };
    kernel.remove("time_ms");
    for stage in kernel.get_mut("stats").and_then(Value::as_array_mut).into_iter().flatten() {
        assert!(stage.as_object_mut().and_then(|stage| stage.remove("time_us")).is_some());
    }
}
