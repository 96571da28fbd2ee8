//! A prelude of the user's that sees no race.
//!
//! Input: a prelude that keeps the contract. Output: an error for each log that no check reacts to. Establishes: kernels
//! of two racing statements, one for each pair of an access that is logged and one that is checked, are not `verified`
//! with it; if it compares modulo 2^32 where an array is narrow, neither are those whose addresses are equal only so. This finds what was forgotten, not every mistake: the rest of a prelude's meaning is trusted.
//! Relies on: the pipeline. Reference: prelude/README.md, what is trusted.

use super::input::{Input, Language};
use super::options::{Options, PreludeChoice};
use super::{pipeline, schedule};
use crate::diagnostic::Diagnostic;
use crate::finding::Verdict;
use crate::geometry::Geometry;
use crate::ivl::Dialect;
use crate::jobs::Jobs;
use crate::report::source::SourceText;
use crate::twothread::Prelude;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Accesses: how the prelude names them, and the statement at a byte.
const ACCESSES: [(&str, &str); 4] = [
    ("READ", "x := A[OFFSET] {:bytes 4};"),
    ("WRITE", "A[OFFSET] := tid.x {:bytes 4};"),
    ("STRONG_READ", "x := A[OFFSET] {:bytes 4} {:strong \"gpu\"};"),
    ("STRONG_WRITE", "A[OFFSET] := tid.x {:bytes 4} {:strong \"gpu\"};"),
];

/// Where a thread's two accesses are: an element of its own, and that of its neighbour.
const EXACT: [&str; 2] = ["BV32_MUL(tid.x, 4bv32)", "BV32_MUL(BV32_ADD(tid.x, 1bv32), 4bv32)"];

/// The same modulo 2^32; 2^33 * `tid.x` further on.
const NARROW: [&str; 2] = [
    "BV64_MUL(BV32_ZEXT64(tid.x), 8589934596bv64)[32:0]",
    "BV64_ADD(BV64_MUL(BV32_ZEXT64(tid.x), 8589934596bv64), 4bv64)[32:0]",
];

/// Errors for the pairs of procedures that show no race.
pub(crate) fn errors(file: &str, prelude: &Prelude) -> Vec<Diagnostic> {
    let kinds: &[[&str; 2]] = if prelude.knows_narrow() { &[EXACT, NARROW] } else { &[EXACT] };
    let pairs: Vec<(usize, usize, [&str; 2])> = (0..4)
        .flat_map(|log| (0..4).map(move |check| (log, check)))
        .filter(|&(log, check)| races(log, check))
        .flat_map(|(log, check)| kinds.iter().map(move |&offsets| (log, check, offsets)))
        .collect();
    let options = Options {
        geometry: Geometry { block: [Some(32), Some(1), Some(1)], grid: [Some(1); 3] },
        jobs: NonZeroUsize::MIN,
        prelude: PreludeChoice::Loaded { file: file.to_string(), prelude: Arc::new(prelude.clone()) },
        ..Options::default()
    };
    let mut errors = Vec::new();
    // On a worker, because its stack is large.
    let sees = |index: usize| sees(pairs[index], &options);
    schedule::all(&Jobs::new(1), pairs.len(), sees, |index, seen| {
        let (log, check, offsets) = pairs[index];
        let (log, check) = (format!("LOG_{}_$ARRAY", ACCESSES[log].0), format!("CHECK_{}_$ARRAY", ACCESSES[check].0));
        let message = match seen {
            Ok(true) => return,
            Ok(false) if offsets == NARROW => {
                format!(
                    "`{log}` and `{check}` find no race of addresses that are equal modulo 2^32 only, as `_NARROW_$ARRAY` says"
                )
            }
            Ok(false) => format!("`{log}` and `{check}` find no race where there is one"),
            Err(panic) => format!("`{log}` and `{check}` cannot be used: {panic}"),
        };
        let error = Diagnostic::error("prelude-contract", message, prelude.place_of(&log)).label("this is forgotten");
        errors.push(error.also(prelude.place_of(&check), "or this does not ask for it"));
    });
    errors
}

/// At least one writes, and they are not both strong: neither orders the other.
fn races(log: usize, check: usize) -> bool {
    let writes = |access: usize| access % 2 == 1;
    (writes(log) || writes(check)) && !(log >= 2 && check >= 2)
}

/// Whether a thread's second access is seen to race with the first access of its neighbour.
fn sees((log, check, offsets): (usize, usize, [&str; 2]), options: &Options) -> bool {
    let first = ACCESSES[log].1.replace("OFFSET", offsets[0]);
    let second = ACCESSES[check].1.replace("OFFSET", offsets[1]);
    let text = format!("shared A: []bv8;\nprocedure {{:kernel}} k() {{ var x: bv32; {first} {second} }}\n");
    let input = Input::new(SourceText::new("probe.ivl", text), Language::Ivl(Dialect::Ivl));
    let verdict = pipeline::parse(&input)
        .and_then(|program| pipeline::verify(&input, &program, "k", options, &Jobs::default()))
        .map(|report| report.verdict);
    // What is refused is not verified.
    !matches!(verdict, Ok(Verdict::Verified | Verdict::VerifiedWhen))
}
