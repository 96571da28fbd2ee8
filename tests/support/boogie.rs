//! Boogie, where it is installed, on programs that `--emit ivl` prints.
//!
//! - `/typeEncoding:m` there are no polymorphic types, so types need no encoding in the formula
//! - `/useArrayTheory` maps are Z3's arrays, as in our own encodings
//! - `/noinfer` no abstract interpretation: it would only add facts to those that are printed
//! - `/proverOpt:OPTIMIZE_FOR_BV=true` Z3 without quantifier settings: the formula is bit-vectors
//! - `/z3opt:smt.relevancy=0` the same reason: all literals count
//! - `/timeLimit` seconds for each procedure, one for each pair of threads
//! - `/errorLimit` errors for each procedure, so that the one of the right kind is among them

use std::process::Command;

/// How Boogie is called for two-thread programs.
pub const OPTIONS: [&str; 8] = [
    "/nologo",
    "/noinfer",
    "/typeEncoding:m",
    "/useArrayTheory",
    "/proverOpt:OPTIMIZE_FOR_BV=true",
    "/z3opt:smt.relevancy=0",
    "/timeLimit:10",
    "/errorLimit:20",
];

/// What Boogie's summary has when it has not decided all.
pub const UNDECIDED: [&str; 4] = ["time out", "inconclusive", "out of memory", "out of resource"];

/// Whether it can be called.
pub fn is_installed() -> bool {
    Command::new("boogie").arg("/version").output().is_ok()
}

/// The line with which it ends; none where it refused the text.
pub fn summary(output: &str) -> Option<&str> {
    output.lines().find(|line| line.starts_with("Boogie program verifier finished with"))
}

/// The line of the program at which an error is reported: `FILE(12,3): Error BP5001: ...`, or `error:` for one of syntax.
pub fn error_line(told: &str) -> Option<usize> {
    let (place, _) = told.split_once("): Error").or_else(|| told.split_once("): error"))?;
    let (number, _) = place.rsplit_once('(')?.1.split_once(',')?;
    // Line 0 is code that Boogie has made itself.
    number.parse().ok().filter(|line| *line > 0)
}
