//! `--launches FILE`.

use super::ptx;
use super::support::{Entry, check, folder, gpuvcc_in, write};

/// The report speaks of each launch by itself; equal lines are verified once.
#[test]
fn each_different_line_is_an_entry() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive_broken"));
    let line = |block: &str, grid: &str, n: u32| {
        format!(
            "{{\"kernel\": \"matmul_naive\", \"block\": [{block}], \"grid\": [{grid}], \"params\": {{\"0\": {n}}}}}\n"
        )
    };
    let lines = [line("16,16", "6,6", 96), line("16, 16, 1", "6,6,1", 96), "\n".to_string(), line("16,16", "7,7", 100)];
    write(&folder, "launches.jsonl", &lines.concat());
    let ran = gpuvcc_in(&folder, &["k.ptx", "--launches", "launches.jsonl"]);
    // Whole tiles need no guard; the last column of tiles has threads beside the matrix.
    let whole = Entry::new("verified", ("16,16,1", "6,6,1", "param_0=96")).from("launches.jsonl:1");
    let ragged = Entry::new("race", ("16,16,1", "7,7,1", "param_0=100")).from("launches.jsonl:4").at(14);
    check(&ran, 1, &[whole, ragged]);
    let said = ran.json["kernels"][0]["assumptions"].to_string();
    assert!(said.contains("the launch is that of launches.jsonl:1; no other was looked at"), "{said}");
    assert!(said.contains("`param_0` is 96 in that launch"), "{said}");
}

/// Verdicts of [`SHIFT`] in a launch of 64 threads, with fields of its line, and what is said about its pointers.
fn shifted(cases: &[(&str, &str, &str)]) {
    let folder = folder();
    let line = |(more, ..): &(&str, &str, &str)| {
        format!("{{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], {more}, \"dynamic_shared\": 0}}\n")
    };
    write(&folder, "k.ptx", SHIFT);
    write(&folder, "launches.jsonl", &cases.iter().map(line).collect::<String>());
    let ran = gpuvcc_in(&folder, &["k.ptx", "--launches", "launches.jsonl"]);
    let kernels = ran.json["kernels"].as_array().unwrap_or_else(|| panic!("{}", ran.stderr));
    assert_eq!(kernels.len(), cases.len(), "{}", ran.json);
    for (kernel, (more, verdict, sentence)) in kernels.iter().zip(cases) {
        assert_eq!(kernel["verdict"], *verdict, "{more}: {kernel}");
        assert_eq!(kernel["confirmed"], *verdict == "race", "{more}: {kernel}");
        let said = kernel["assumptions"].to_string();
        assert!(said.contains(sentence), "{more}: {said}");
    }
}

/// Two addresses of which nothing else is known may lie in one array, so many bytes apart.
#[test]
fn words_that_lie_close_are_that_far_apart() {
    shifted(&[
        (
            "\"words\": {\"in\": \"0x7f0000001000\", \"out\": \"0x7f0000001000\"}",
            "race",
            "`in` and `out` are one pointer in that launch",
        ),
        (
            "\"words\": {\"in\": \"0x7f0000001000\", \"out\": \"0x7f0000001004\"}",
            "verified",
            "`in` and `out` are 4 bytes apart in that launch",
        ),
    ]);
}

/// A race of two pointers to one array is no race of disjoint arrays, and none of arrays that are far enough apart.
#[test]
fn aliases_are_believed() {
    shifted(&[
        ("\"sizes\": {\"in\": 512}", "verified", "pointer parameters and global arrays refer to disjoint arrays"),
        ("\"aliases\": [[\"in\", \"out\"]]", "race", "`in` and `out` point into one array in that launch"),
        ("\"aliases\": [[\"in\", \"out\", 0]]", "race", "`in` and `out` are one pointer"),
        ("\"aliases\": [[\"out\", \"in\", -4]]", "verified", "`out` and `in` are 4 bytes apart"),
        ("\"aliases\": [[\"in\", \"out\", -4]]", "race", "4 bytes apart"),
        ("\"aliases\": [[\"in\", \"out\", 256]]", "race", "256 bytes apart"),
        ("\"aliases\": [[\"in\", \"out\", 260]]", "verified", "260 bytes apart"),
        ("\"aliases\": [[\"in\", \"out\", -252]]", "verified", "252 bytes apart"),
        ("\"aliases\": [[\"in\", \"out\", -248]]", "race", "248 bytes apart"),
        // One pointer of a structure may be any: so all may alias.
        ("\"aliases\": [[\"in\", \"in\"]]", "race", "any pointers may alias, since `in` and `in` do"),
    ]);
}

/// Each thread reads what its neighbour would write, if the arrays were one.
const SHIFT: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4+4];
    st.global.u32 [%rd5], %r2;
    ret;
}
";

#[test]
fn bad_lines_are_errors_at_their_line() {
    let folder = folder();
    write(&folder, "k.ptx", SHIFT);
    for (line, message) in [
        ("{\"kernel\": \"k\", \"block\": [64]}", "no `grid`"),
        ("{\"block\": [64], \"grid\": [1]}", "no `kernel`"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [0]}", "at least 1"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [-1]}", "invalid value"),
        ("{\"kernel\": \"k\", \"block\": [2048], \"grid\": [1]}", "1024"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [1, 65536]}", "65535"),
        ("{\"kernel\": \"k\", \"block\": [1024], \"grid\": [2097152]}", "--max-threads"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"blocks\": 1}", "unknown field"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"params\": {\"n\": \"1.5\"}}", "is no number"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"aliases\": [[\"in\", \"out\", 0.5]]}", "two pointers"),
        ("{\"kernel\": \"k\", ", "EOF"),
        ("{\"kernel\": \"another\", \"block\": [64], \"grid\": [1]}", "no kernel of the input is called `another`"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"params\": {\"n\": 1}}", "no parameter `n`"),
        ("{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"params\": {\"in\": 1}}", "not an integer scalar"),
    ] {
        write(&folder, "launches.jsonl", &format!("\n{line}\n"));
        let ran = gpuvcc_in(&folder, &["k.ptx", "--launches", "launches.jsonl"]);
        assert_eq!(ran.exit, Some(2), "{line}: {}", ran.json);
        assert!(ran.stderr.contains(message) && ran.stderr.contains("launches.jsonl:2"), "{line}: {}", ran.stderr);
    }
    let ran = gpuvcc_in(&folder, &["k.ptx", "--launches", "launches.jsonl", "--block", "64"]);
    assert!(ran.exit == Some(2) && ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}
