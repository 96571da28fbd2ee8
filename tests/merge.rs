//! `--shard` and `gpuvcc merge`: shards together say what one run says, and what does not fit together is refused.

use crate::support::formats;
use crate::support::program::{Ran, gpuvcc};
use crate::support::schema;
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// Answers of all kinds: proofs, conditions, defects, no model, errors with and without a kernel, a file given twice.
const FILES: [&str; 10] = [
    "tests/cli/input/nothing_to_check.ptx",
    "tests/cli/input/mangled_names.ptx",
    "tests/cli/input/answers_soon.ptx",
    "tests/cli/input/large_required_block.ptx",
    "tests/cli/input/unknown_function_refused.ptx",
    "tests/cli/input/inferred_modifies.bpl",
    "tests/cli/input/aligned_rule.ptx",
    "tests/cli/input/format_short.ptx",
    "no/such/file.ptx",
    "tests/cli/input/nothing_to_check.ptx",
];

/// The same without errors.
const RIGHT: [&str; 3] =
    ["tests/cli/input/mangled_names.ptx", "tests/cli/input/aligned_rule.ptx", "tests/cli/input/answers_soon.ptx"];

fn run(arguments: &[&[&str]]) -> Ran {
    gpuvcc(&arguments.concat(), b"")
}

/// The reports of all shards in files.
fn shards(folder: &Path, files: &[&str], of: usize, options: &[&str]) -> Vec<String> {
    let shard = |number: usize| {
        let ran = run(&[files, options, &["--shard", &format!("{number}/{of}")]]);
        write(folder, &format!("{number}.json"), &ran.stdout)
    };
    (1..=of).map(shard).collect()
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the file is written");
    path.to_string_lossy().into_owned()
}

fn merge(files: &[String]) -> Ran {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(&[&["merge"], &files])
}

/// The text without what each run measures anew.
fn untimed(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("\"time_ms\"")).collect::<Vec<_>>().join("\n")
}

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

fn expect_refused(files: &[String], message: &str) {
    let ran = merge(files);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains(message), "`{}` lacks `{message}`", ran.stderr);
}

/// The text of a file with something else in it.
fn altered(file: &str, name: &str, alter: impl Fn(&mut Value)) -> String {
    let mut value = serde_json::from_str(&std::fs::read_to_string(file).expect("a file")).expect("JSON");
    alter(&mut value);
    write(Path::new(file).parent().expect("a folder"), name, &format!("{value:#}"))
}

#[test]
fn shards_are_the_whole_run() {
    for (format, of) in [("json", 3), ("json", 40), ("sarif", 3)] {
        let folder = folder();
        let options = ["--format", format];
        let whole = run(&[&FILES, &options]);
        let files = shards(folder.path(), &FILES, of, &options);
        // In whatever order they come.
        let files: Vec<String> = files.into_iter().rev().collect();
        let merged = merge(&files);
        assert_eq!(untimed(&merged.stdout), untimed(&whole.stdout), "{format} {of}");
        assert_eq!(merged.exit, whole.exit);
        let wrong = match format {
            "json" => schema::wrong_in_json,
            _ => formats::wrong_in_sarif,
        };
        for text in files.iter().map(|file| std::fs::read_to_string(file).expect("a file")).chain([merged.stdout]) {
            assert_eq!(wrong(&text), [""; 0]);
        }
    }
}

/// The union of shards is the run, each kernel is in one of them, and none is empty for all.
#[test]
fn shards_are_disjoint() {
    let kernels = |arguments: &[&str]| -> Vec<String> {
        let ran = run(&[&RIGHT, arguments, &["--format", "json"]]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let name = |kernel: &Value| format!("{} {}", kernel["file"], kernel["entry"]);
        report["kernels"].as_array().expect("kernels").iter().map(name).collect()
    };
    let mut whole = kernels(&[]);
    let parts: Vec<Vec<String>> = (1..=2).map(|number| kernels(&["--shard", &format!("{number}/2")])).collect();
    assert!(parts.iter().all(|part| !part.is_empty()), "{parts:?}");
    let mut all = parts.concat();
    whole.sort_unstable();
    all.sort_unstable();
    assert_eq!(all, whole);
}

#[test]
fn the_exit_code_is_that_of_one_run() {
    let folder = folder();
    for options in [&[][..], &["--fail-on", "possible"], &["--fail-on", "verified-when"]] {
        let options = [options, &["--format", "json"]].concat();
        let whole = run(&[&RIGHT, &options]);
        assert_eq!(merge(&shards(folder.path(), &RIGHT, 5, &options)).exit, whole.exit, "{options:?}");
    }
    // A shard without a kernel of a run is no failure.
    let empty = "tests/cli/input/nothing_to_check.ptx";
    let codes = [1, 2].map(|number| run(&[&[empty, "--shard", &format!("{number}/2")]]).exit);
    assert_eq!(codes, [0, 0]);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let folder = folder();
    let files = shards(folder.path(), &RIGHT, 2, &["--format", "json"]);
    let [first, second] = &files[..] else { panic!("two shards") };
    let with = |other: String| [files.clone(), vec![other]].concat();

    expect_refused(std::slice::from_ref(first), "these are missing: 2");
    // One shard twice is one.
    assert_eq!(merge(&with(second.clone())).stdout, merge(&files).stdout);

    let kernel = |report: &mut Value| report["kernels"][0]["verdict"] = "verified".into();
    let with_other_answer = altered(first, "answer.json", |report| {
        assert_eq!(report["shard"]["number"], 1);
        let differs = report["kernels"][0]["verdict"] != "verified";
        kernel(report);
        report["kernels"][0]["conditions"] = if differs { serde_json::json!([]) } else { serde_json::json!(["n > 0"]) };
    });
    expect_refused(&with(with_other_answer), "different answers for `");
    let lacking = altered(first, "lacking.json", |report| {
        report["kernels"].as_array_mut().expect("kernels").pop();
        report["shard"]["positions"].as_array_mut().expect("positions").pop();
    });
    expect_refused(&[lacking, second.clone()], "have answers for");
    let damaged = altered(first, "damaged.json", |report| report["shard"]["total"] = 70.into());
    expect_refused(&with(damaged), "damaged.json` is damaged");
    let numbered = altered(first, "numbered.json", |report| report["shard"]["number"] = 3.into());
    expect_refused(&with(numbered), "numbered.json` is damaged");
    let interrupted = altered(first, "interrupted.json", |report| report["exit"] = 130.into());
    expect_refused(&[interrupted, second.clone()], "interrupted.json` is of a run that was interrupted");
    let of_schema = altered(first, "schema.json", |report| report["schema"] = 2.into());
    expect_refused(&with(of_schema), "schema.json` is a report of schema 2");
    let of_version = altered(first, "version.json", |report| report["version"] = "0.0.1".into());
    expect_refused(&with(of_version), "version.json` is of gpuvcc 0.0.1");
    let without_exit = altered(first, "exit.json", |report| report["exit"] = Value::Null);
    expect_refused(&with(without_exit), "exit.json` does not tell the exit code");
    let no_report = write(folder.path(), "other.json", "{\"tool\": \"other\"}");
    expect_refused(&with(no_report), "other.json` is no report");
    let no_json = write(folder.path(), "text.json", "kernel: verified\n");
    expect_refused(&with(no_json), "text.json` is no JSON");
    expect_refused(&with("no/such/report.json".to_string()), "cannot read `no/such/report.json`");
    let log = write(folder.path(), "log.sarif", &run(&[&RIGHT, &["--format", "sarif"]]).stdout);
    expect_refused(&with(log), "both forms cannot be one");
    let foreign = write(folder.path(), "foreign.sarif", "{\"version\": \"2.1.0\", \"runs\": []}");
    expect_refused(&[foreign], "foreign.sarif` has 0 runs");

    // Shards of runs with other options are of other runs, of which the rest is missing.
    let other = run(&[&RIGHT, &["--format", "json", "--may-alias", "--shard", "2/2"]]);
    let other = write(folder.path(), "other_options.json", &other.stdout);
    expect_refused(&[first.clone(), other], "these are missing: 2");
}

/// Reports of different files, in the order in which they are given; a kernel that two have is told once.
#[test]
fn reports_of_different_files_are_merged() {
    for format in ["json", "sarif"] {
        let folder = folder();
        let report =
            |name: &str, files: &[&str]| write(folder.path(), name, &run(&[files, &["--format", format]]).stdout);
        let parts = [report("a", &RIGHT[..2]), report("b", &RIGHT[1..])];
        let merged = merge(&parts);
        let whole = run(&[&RIGHT, &["--format", format]]);
        assert_eq!(untimed(&merged.stdout), untimed(&whole.stdout));
        assert_eq!(merged.exit, whole.exit);
        // A merged report is one like others.
        assert_eq!(merge(&[write(folder.path(), "c", &merged.stdout)]).stdout, merged.stdout);
        let differs = run(&[&RIGHT[1..2], &["--format", format]]);
        let differs = write(folder.path(), "d", &differs.stdout.replace("\"verified-when\"", "\"verified\""));
        expect_refused(&[parts[0].clone(), differs], "different answers for `");
    }
}
