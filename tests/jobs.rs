//! What is reported does not depend on the number of jobs, but for times.
//!
//! `cargo bench --bench verify -- --jobs 2` tells what jobs gain.

#[allow(dead_code)]
mod support;

use gpuvcc::driver::input;
use gpuvcc::finding::KernelReport;
use gpuvcc::geometry::Geometry;
use gpuvcc::report::json;
use std::num::NonZeroUsize;
use support::cases::{Case, cases};
use support::run::verify_case;

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
    ("ptx/strides_in_a_row", "loops that are asked for one by one"),
    ("ptx/trap_endless_loop", "nothing is decided"),
    ("walsh_step_broken", "loops, and a race"),
    ("annotated_square_broken", "an assertion of the user"),
];

/// These are asked for all launches, too.
const FREE: [&str; 3] = ["saxpy", "trap_blocks_only", "nibble_pack"];

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
        for jobs in [2, 4] {
            assert_eq!(alone, report(&case, jobs), "{}, {jobs} jobs", case.name);
        }
    }
}

/// The report in JSON, without its time.
fn report(case: &Case, jobs: usize) -> String {
    let mut case = case.clone();
    case.options.jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
    let report = verify_case(&case).unwrap_or_else(|message| panic!("{}: {message}", case.name));
    let source = input::read(&case.input.to_string_lossy()).unwrap_or_else(|error| panic!("{error:?}")).source;
    json::print(&[KernelReport { time_ms: 0, ..report }], &[], |_| &source)
}
