//! Findings that `gpuvcc.toml` knows of.

use super::support::{Entry, Ran, check, folder, gpuvcc_in, write};
use super::{ptx, with_host};
use tempfile::TempDir;

const LAUNCH: [&str; 7] = ["k.ptx", "--block", "16,16", "--grid", "7,7", "--param", "0=100"];

fn race() -> Entry {
    Entry::new("race", ("16,16,1", "7,7,1", ""))
}

fn known(at: &str) -> String {
    format!("[[kernel]]\nname = \"matmul_*\"\n\n[[kernel.known]]\nkind = \"race\"\nat = [{at}]\nreason = \"issue 7\"\n")
}

fn project(folder: &TempDir, at: &str) -> Ran {
    write(folder, "gpuvcc.toml", &known(at));
    gpuvcc_in(folder, &LAUNCH)
}

/// It is listed, and the run fails for no new one: its kernel is not proved either.
#[test]
fn a_known_race_is_listed_and_does_not_fail_the_run() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive_broken"));
    check(&gpuvcc_in(&folder, &LAUNCH), 1, &[race().at(14)]);
    // By the text of the instruction, whatever its registers are called, or by the place.
    for at in ["\"st.global.f32 [%rd7], %f8\"", "\"matmul_naive_broken.cu:14\""] {
        let ran = project(&folder, at);
        check(&ran, 3, &[race().at(14)]);
        let finding = &ran.json["kernels"][0]["findings"][0];
        assert_eq!(finding["known"], "gpuvcc.toml:4: issue 7", "{finding:#}");
        assert!(!ran.stderr.contains("no such finding"), "{}", ran.stderr);
    }
}

/// The text of a line tells it where the source is at hand: lines that come before it change nothing.
#[test]
fn lines_are_told_by_their_text() {
    let folder = folder();
    let moved = ptx("matmul_naive_broken").replace(".loc\t1 14 ", ".loc\t1 15 ");
    write(&folder, "k.ptx", &moved);
    write(&folder, "matmul_naive_broken.cu", &format!("// One more line.\n{}", with_host("matmul_naive_broken", "")));
    check(&project(&folder, "\"c[row * n + col] = acc;\""), 3, &[race().at(15)]);
}

/// Another finding than the known one is new, and the entry is told to be stale.
#[test]
fn a_new_race_fails_the_run() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive_broken"));
    for at in ["\"matmul_naive_broken.cu:13\"", "\"matmul_naive_broken.cu:13\", \"matmul_naive_broken.cu:14\""] {
        let ran = project(&folder, at);
        check(&ran, 1, &[race().at(14)]);
        assert_eq!(ran.json["kernels"][0]["findings"][0]["known"], serde_json::Value::Null);
        assert!(ran.stderr.contains("gpuvcc.toml:4: `matmul_naive` has no such finding any more"), "{}", ran.stderr);
    }
    // What is known is no longer there.
    write(&folder, "k.ptx", &ptx("matmul_naive"));
    let ran = project(&folder, "\"matmul_naive.cu:14\"");
    check(&ran, 0, &[Entry::new("verified", ("16,16,1", "7,7,1", ""))]);
    assert!(ran.stderr.contains("has no such finding any more"), "{}", ran.stderr);
}

#[test]
fn mistakes_are_errors_at_their_place() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive"));
    let table = "[[kernel]]\nname = \"*\"\n[[kernel.known]]\n";
    for (text, message) in [
        ("kind = \"slow\"\nat = [\"x\"]", "`slow` is none of race, divergence"),
        ("kind = \"race\"\nat = [\" \"]", "names the lines"),
        ("kind = \"race\"", "missing field `at`"),
    ] {
        write(&folder, "gpuvcc.toml", &format!("{table}{text}\n"));
        let ran = gpuvcc_in(&folder, &LAUNCH);
        assert_eq!(ran.exit, Some(2), "{text}: {}", ran.json);
        assert!(ran.stderr.contains(message) && ran.stderr.contains("gpuvcc.toml:3:"), "{}", ran.stderr);
    }
}
