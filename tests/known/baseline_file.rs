//! Findings that `--baseline` knows of, and what `--write-baseline` writes.

use super::support::{Entry, Ran, check, folder, gpuvcc_in, write};
use super::{ptx, with_host};
use serde_json::Value;
use tempfile::TempDir;

const LAUNCH: [&str; 7] = ["k.ptx", "--block", "16,16", "--grid", "7,7", "--param", "0=100"];

fn race() -> Entry {
    Entry::new("race", ("16,16,1", "7,7,1", ""))
}

fn run(folder: &TempDir, further: &[&str]) -> Ran {
    gpuvcc_in(folder, &[&LAUNCH, further].concat())
}

fn baseline(folder: &TempDir, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.path().join(name)).expect("the baseline");
    serde_json::from_str(&text).expect("JSON")
}

/// A folder with a broken kernel and its baseline.
fn with_baseline() -> TempDir {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive_broken"));
    // What is written is known from then on.
    check(&run(&folder, &["--write-baseline", "known.json"]), 3, &[race().at(14)]);
    folder
}

#[test]
fn what_is_known_does_not_fail_the_run() {
    let folder = with_baseline();
    let ran = run(&folder, &["--baseline", "known.json"]);
    check(&ran, 3, &[race().at(14)]);
    let finding = &ran.json["kernels"][0]["findings"][0];
    assert_eq!(finding["known"], "known.json", "{finding:#}");
    let written = &baseline(&folder, "known.json")["findings"][0];
    assert_eq!(written["fingerprint"], finding["fingerprint"]);
    assert_eq!(written["kernel"], "matmul_naive");
    assert_eq!(ran.stderr, "");
    // Not proved, but nothing new.
    check(&run(&folder, &["--baseline", "known.json", "--fail-on", "any"]), 0, &[race()]);
    check(&run(&folder, &["--fail-on", "any"]), 1, &[race()]);
}

/// PTX of a source with one more line at its beginning.
fn one_line_down(ptx: &str) -> String {
    let line = |line: &str| {
        let place = line.trim_start().strip_prefix(".loc\t1 ").and_then(|rest| rest.split_once(' '));
        let moved =
            place.and_then(|(number, rest)| Some(format!(".loc\t1 {} {rest}", number.parse::<u32>().ok()? + 1)));
        moved.unwrap_or_else(|| line.to_string()) + "\n"
    };
    ptx.lines().map(line).collect()
}

/// Lines that come before it, other registers and another launch make no other finding of it; another line does.
#[test]
fn a_finding_is_told_by_its_lines() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive_broken"));
    write(&folder, "matmul_naive_broken.cu", &with_host("matmul_naive_broken", ""));
    check(&run(&folder, &["--write-baseline", "known.json"]), 3, &[race().at(14)]);
    assert_eq!(baseline(&folder, "known.json")["findings"][0]["lines"][0], "c[row * n + col] = acc;");
    let moved = one_line_down(&ptx("matmul_naive_broken")).replace("%rd", "%rw");
    write(&folder, "k.ptx", &format!("// One more line.\n{moved}"));
    let source = with_host("matmul_naive_broken", "");
    write(&folder, "matmul_naive_broken.cu", &format!("// One more line.\n{source}"));
    check(&run(&folder, &["--baseline", "known.json"]), 3, &[race().at(15)]);
    let other = ["k.ptx", "--block", "8,8", "--grid", "3,3", "--param", "0=20", "--baseline", "known.json"];
    check(&gpuvcc_in(&folder, &other), 3, &[Entry::new("race", ("8,8,1", "3,3,1", "")).at(15)]);
    let changed = source.replace("c[row * n + col] = acc;", "c[row * n + col] = acc + 1;");
    assert_ne!(changed, source);
    write(&folder, "matmul_naive_broken.cu", &format!("// One more line.\n{changed}"));
    let ran = run(&folder, &["--baseline", "known.json"]);
    check(&ran, 1, &[race().at(15)]);
    assert!(ran.stderr.contains("known.json: `matmul_naive` has no `race` on"));
}

/// What no longer occurs is named, and leaves the file where it is written again; what people wrote stays.
#[test]
fn entries_of_mended_kernels_are_named() {
    let folder = with_baseline();
    let mut known = baseline(&folder, "known.json");
    known["findings"][0]["reason"] = "issue 7".into();
    write(&folder, "known.json", &known.to_string());
    let ran = run(&folder, &["--baseline", "known.json", "--write-baseline", "new.json"]);
    check(&ran, 3, &[race()]);
    assert_eq!(ran.json["kernels"][0]["findings"][0]["known"], "known.json: issue 7");
    assert_eq!(baseline(&folder, "new.json")["findings"], known["findings"]);
    write(&folder, "k.ptx", &ptx("matmul_naive"));
    let ran = run(&folder, &["--baseline", "known.json", "--write-baseline", "new.json"]);
    check(&ran, 0, &[Entry::new("verified", ("16,16,1", "7,7,1", ""))]);
    assert!(ran.stderr.contains("any more"), "{}", ran.stderr);
    assert_eq!(baseline(&folder, "new.json")["findings"], Value::Array(Vec::new()));
    // A run of another kernel says nothing of it.
    write(&folder, "k.ptx", &ptx("saxpy"));
    let saxpy = ["k.ptx", "--block", "64", "--grid", "4", "--baseline", "known.json", "--write-baseline", "new.json"];
    let ran = gpuvcc_in(&folder, &saxpy);
    check(&ran, 0, &[Entry::new("verified", ("64,1,1", "4,1,1", ""))]);
    assert!(ran.stderr.contains("1 of its findings are in kernels that were not looked at"), "{}", ran.stderr);
    assert_eq!(baseline(&folder, "new.json")["findings"], known["findings"]);
}

/// Conditions under which a kernel is verified can be known; other conditions are new.
#[test]
fn conditions_are_known_as_they_are() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("saxpy"));
    let arguments = |grid: &'static str| ["k.ptx", "--block", "64", "--grid", grid, "--fail-on", "any"];
    let when = || Entry::new("verified-when", ("64,1,1", "*,*,*", ""));
    check(&gpuvcc_in(&folder, &arguments("*")), 1, &[when()]);
    check(&gpuvcc_in(&folder, &[&arguments("*")[..], &["--write-baseline", "b.json"]].concat()), 0, &[when()]);
    let ran = gpuvcc_in(&folder, &[&arguments("*")[..], &["--baseline", "b.json"]].concat());
    check(&ran, 0, &[when()]);
    assert_eq!(ran.json["kernels"][0]["known"], "b.json");
    let mut other = baseline(&folder, "b.json");
    other["findings"][0]["fingerprint"] = "0000000000000000".into();
    write(&folder, "b.json", &other.to_string());
    check(&gpuvcc_in(&folder, &[&arguments("*")[..], &["--baseline", "b.json"]].concat()), 1, &[when()]);
}

#[test]
fn other_files_are_refused() {
    let folder = with_baseline();
    for (text, message) in [
        ("{", "is no baseline"),
        ("{\"tool\": \"gpuvcc\", \"baseline\": 2, \"findings\": []}", "of form 2"),
        ("{\"tool\": \"gpuvcc\", \"baseline\": 1, \"findings\": [{}]}", "missing field `fingerprint`"),
    ] {
        write(&folder, "wrong.json", text);
        let ran = run(&folder, &["--baseline", "wrong.json"]);
        assert_eq!(ran.exit, Some(2), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let ran = run(&folder, &["--write-baseline", "no/such/folder/b.json"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
}
