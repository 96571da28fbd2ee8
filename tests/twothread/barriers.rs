//! Barriers: what clears, what is divergence, what is refused.

use gpuvcc::geometry::Geometry;
use gpuvcc::ivl::{self, ast::*};
use gpuvcc::rules::Rules;
use gpuvcc::twothread::prelude::{WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair, TwoThread};

/// The kernel `A[0] := 1; BARRIER A[1] := 2;` for a pair.
fn translate(barrier: &str, pair: Pair, options: &Options) -> Result<TwoThread, String> {
    let text = format!(
        "shared S: []bv32; global A: []bv32;\n\
         procedure {{:kernel}} k() {{ var r: bool; var n: bv32; A[0bv32] := 1bv32; S[tid.x] := 1bv32;\n{barrier}\nA[1bv32] := 2bv32; }}"
    );
    let program = ivl::parse(&text).expect("parses");
    let predicated = gpuvcc::predicate::run(&program).expect("a kernel");
    let two = twothread::run(&predicated, &load(WATCHED_BYTE).expect("ships"), pair, options);
    let two = two.map_err(|errors| format!("{}: {}", errors[0].code, errors[0].message))?;
    ivl::check(&two.program).expect("well typed");
    Ok(two)
}

/// Statements from the barrier on that speak of it, printed: asserts, BARRIER_CLEAR calls (but for the
/// first ones, which initialise) and what sets `r`.
fn lines(two: &TwoThread) -> Vec<String> {
    let text = ivl::print(&two.program);
    let main = text.split(two.procedure.as_str()).last().unwrap_or_default().to_string();
    let wanted = |line: &&str| line.contains("{:barrier") || line.contains("BARRIER_CLEAR") || line.contains(" r$");
    let lines = main.lines().map(str::trim).filter(wanted).filter(|line| !line.contains("(true)"));
    lines.filter(|line| !line.starts_with("var")).map(str::to_string).collect()
}

fn of_block(block: [Option<u32>; 3]) -> Options {
    Options { geometry: Geometry { block, ..Geometry::FREE }, ..Options::default() }
}

#[test]
fn clears_only_if_both_are_active() {
    let two = translate("barrier;", Pair::SameBlock, &Options::default()).unwrap();
    assert_eq!(
        lines(&two),
        [
            "assert {:barrier_divergence} p.Start$1 == p.Start$2;",
            "call BARRIER_CLEAR_A(p.Start$1 && p.Start$2);",
            "call BARRIER_CLEAR_S(p.Start$1 && p.Start$2);",
        ]
    );
}

#[test]
fn exited_threads_are_no_divergence_but_clear_nothing() {
    let two = translate(
        "barrier;",
        Pair::SameBlock,
        &Options { rules: Rules { exited_threads_ok: true, ..Rules::default() }, ..Options::default() },
    )
    .unwrap();
    assert_eq!(
        lines(&two)[..2],
        [
            "assert {:barrier_divergence} p.Start$1 == p.Start$2 || v_active$1 == 1bv16 || v_active$2 == 1bv16;",
            "call BARRIER_CLEAR_A(p.Start$1 && p.Start$2);",
        ]
    );
}

#[test]
fn barriers_of_the_grid_clear_global_arrays_between_blocks() {
    let barrier = "barrier {:all_blocks \"W\"};";
    let two = translate(barrier, Pair::DifferentBlocks, &Options::default()).unwrap();
    let clears = [
        "assert {:barrier_divergence_unaligned} p.Start$1 == p.Start$2;",
        "call BARRIER_CLEAR_A(p.Start$1 && p.Start$2);",
    ];
    assert_eq!(lines(&two), clears);
    // But for the arrays of the words themselves, and those loaded past the coherent caches.
    for beside in ["barrier {:all_blocks \"A\"};", "barrier {:all_blocks \"W\"}; n := A[2bv32] {:non_coherent};"] {
        let two = translate(beside, Pair::DifferentBlocks, &Options::default()).unwrap();
        assert!(lines(&two).iter().all(|line| !line.contains("CLEAR")), "{:?}", lines(&two));
    }
    assert!(lines(&translate(barrier, Pair::OneThread, &Options::default()).unwrap()).is_empty());
}

#[test]
fn barriers_mean_nothing_between_blocks_or_for_one_thread() {
    for pair in [Pair::DifferentBlocks, Pair::OneThread] {
        assert!(lines(&translate("barrier;", pair, &Options::default()).unwrap()).is_empty());
    }
    let two = translate("barrier;", Pair::DifferentBlocks, &Options::default()).unwrap();
    // The `.shared` array of another block is another array.
    assert_eq!(two.checked_arrays, [Name::from("A")]);
    assert_eq!(two.sites.iter().map(|site| site.checked).collect::<Vec<_>>(), [true, false, true]);
    assert!(translate("", Pair::OneThread, &Options::default()).unwrap().checked_arrays.is_empty());
}

#[test]
fn unaligned_barriers_say_so() {
    let two = translate("barrier {:unaligned};", Pair::SameBlock, &Options::default()).unwrap();
    assert_eq!(lines(&two)[0], "assert {:barrier_divergence_unaligned} p.Start$1 == p.Start$2;");
}

#[test]
fn a_reduction_is_one_value_a_block() {
    let two = translate("r := barrier;", Pair::SameBlock, &Options::default()).unwrap();
    assert_eq!(lines(&two)[3..], ["havoc r$1;", "r$2 := r$1;"]);
    let two = translate("r := barrier;", Pair::DifferentBlocks, &Options::default()).unwrap();
    assert_eq!(lines(&two), ["havoc r$1, r$2;"]);
}

#[test]
fn only_whole_block_barriers() {
    let fixed = of_block([Some(64), Some(2), Some(1)]);
    assert_eq!(lines(&translate("barrier {:count 128bv32};", Pair::SameBlock, &fixed).unwrap()).len(), 3);
    let refused = |barrier: &str, options: &Options| translate(barrier, Pair::SameBlock, options).unwrap_err();
    assert_eq!(
        refused("barrier {:count 64bv32};", &fixed),
        "barrier-count: this barrier waits for 64 threads, but a block has 128"
    );
    assert!(refused("barrier {:count 128bv32};", &Options::default()).starts_with("barrier-count"));
    assert!(refused("barrier {:count ntid.x};", &fixed).starts_with("barrier-count"));
    assert!(translate("barrier {:id 1bv32};", Pair::SameBlock, &Options::default()).is_ok());
    let numbered = translate("barrier {:id tid.x};", Pair::SameBlock, &fixed).unwrap();
    assert!(
        lines(&numbered)[0].ends_with("(p.Start$1 && p.Start$2 ==> tid.x$1 == tid.x$2);"),
        "{:?}",
        lines(&numbered)
    );
}

#[test]
fn distinct_threads() {
    let requires = |block, pair| {
        let two = translate("", pair, &of_block(block)).unwrap();
        let text = ivl::print(&two.program);
        text.lines().filter_map(|line| line.trim().strip_prefix("requires {:")).map(str::to_string).collect::<Vec<_>>()
    };
    // A coordinate that the kernel never reads still tells threads apart.
    assert_eq!(
        requires([Some(32), Some(4), Some(1)], Pair::SameBlock),
        [
            "coordinate} BV32_ULT(tid.y$1, 4bv32);",
            "coordinate} BV32_ULT(tid.y$2, 4bv32);",
            "distinct} tid.x$1 != tid.x$2 || tid.y$1 != tid.y$2;"
        ]
    );
    assert_eq!(requires([Some(32), Some(1), Some(1)], Pair::SameBlock), ["distinct} tid.x$1 != tid.x$2;"]);
    assert_eq!(requires([Some(1); 3], Pair::SameBlock), ["distinct} false;"]);
    assert!(!of_block([Some(1); 3]).pair_exists(Pair::SameBlock));
    assert_eq!(
        requires([None; 3], Pair::DifferentBlocks),
        ["distinct} ctaid.x$1 != ctaid.x$2 || ctaid.y$1 != ctaid.y$2 || ctaid.z$1 != ctaid.z$2;"]
    );
    assert_eq!(requires([None; 3], Pair::OneThread), ["one_thread} tid.x$1 == tid.x$2;"]);
}
