//! `gpuvcc record` with a driver that stands in for NVIDIA's (`record/driver.c`), and a host program (`record/host.c`) that
//! finds its functions in the three ways that there are. Both are compiled by `cc`, which links our own programs, too.

use super::ptx;
use super::support::{Entry, check, folder, gpuvcc_in, write};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The lines of the host program: launched twice, with a buffer of arguments, with clusters, with a freed array.
const LINES: [&str; 4] = [
    r#"{"kernel": "matmul_naive", "block": [16, 16, 1], "grid": [7, 7, 1], "dynamic_shared": 64, "params": {"0": 100}, "sizes": {"1": 40000, "2": 40000, "3": 40000}}"#,
    r#"{"kernel": "matmul_naive", "block": [16, 16, 1], "grid": [4, 4, 1], "dynamic_shared": 0, "params": {"0": 64}, "sizes": {"1": 40000, "2": 23616, "3": 40000}, "aliases": [["1", "2", 16384]]}"#,
    r#"{"kernel": "matmul_naive", "block": [16, 16, 1], "grid": [6, 6, 1], "cluster": [2, 1, 1], "dynamic_shared": 0, "params": {"0": 96}, "sizes": {"1": 40000, "2": 40000, "3": 40000}}"#,
    r#"{"kernel": "matmul_naive", "block": [32, 8, 1], "grid": [1, 1, 1], "dynamic_shared": 0, "params": {"0": 32}, "words": {"2": 139637976767552}, "sizes": {"1": 40000, "3": 40000}}"#,
];

fn compile(folder: &TempDir, source: &str, output: &str, arguments: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known/record").join(source);
    let mut command = Command::new("cc");
    command.args(["-w", "-O1", "-o", output]).arg(source).args(arguments).current_dir(folder.path());
    let ran = command.output().expect("cc");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A folder with the driver, the two host programs and a kernel.
fn prepared(driver: &[&str]) -> TempDir {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive"));
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-ldl"];
    compile(&folder, "driver.c", "libcuda.so.1", &[&shared, driver].concat());
    compile(&folder, "host.c", "host", &["-ldl"]);
    compile(&folder, "host.c", "linked", &["-DLINKED", "-L.", "-l:libcuda.so.1", "-ldl"]);
    folder
}

/// Runs a command in the folder, where the driver logs to a file; gives that log, too.
fn run(folder: &TempDir, program: &str, arguments: &[&str]) -> (Output, String) {
    let log = folder.path().join("log");
    let _ = std::fs::remove_file(&log);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path()).env("LD_LIBRARY_PATH", folder.path()).env("STAND_IN_LOG", &log);
    let output = command.output().expect("a program");
    (output, std::fs::read_to_string(log).unwrap_or_default())
}

fn record(folder: &TempDir, arguments: &[&str]) -> (Output, String) {
    run(folder, env!("CARGO_BIN_EXE_gpuvcc"), &[&["record", "-o", "launches.jsonl", "--"], arguments].concat())
}

fn lines(folder: &TempDir) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join("launches.jsonl")).expect("a file of launches");
    text.lines().map(str::to_string).collect()
}

/// The program does what it does without the recorder, and its launches are written down.
#[test]
fn launches_are_recorded_and_nothing_else_changes() {
    let folder = prepared(&[]);
    for (program, how) in [("./host", "dlsym"), ("./host", "address"), ("./linked", "linked")] {
        let (alone, calls) = run(&folder, program, &[how, "k.ptx"]);
        assert_eq!(alone.status.code(), Some(7), "{how}: {alone:?}");
        let (recorded, same_calls) = record(&folder, &[program, how, "k.ptx"]);
        let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
        assert_eq!(recorded.status.code(), Some(7), "{how}: {said}");
        assert_eq!((recorded.stdout, same_calls), (alone.stdout, calls), "{how}: {said}");
        assert_eq!(lines(&folder), LINES, "{how}: {said}");
        assert!(said.contains("4 launches of 1 kernel"), "{said}");
        assert!(said.contains("--launches launches.jsonl"), "{said}");
    }
}

/// The lines are those that `--launches` reads; the twin without a guard races in one of them.
#[test]
fn what_is_recorded_is_verified() {
    let folder = prepared(&[]);
    record(&folder, &["./host", "dlsym", "k.ptx"]);
    write(&folder, "broken.ptx", &ptx("matmul_naive_broken"));
    let launches = lines(&folder);
    write(&folder, "two.jsonl", &[&launches[0], "\n", &launches[2], "\n", &launches[3]].concat());
    let entries = |first: Entry| {
        let whole = Entry::new("verified", ("16,16,1", "6,6,1", "param_0=96")).from("two.jsonl:2");
        let freed = Entry::new("verified", ("32,8,1", "1,1,1", "param_0=32 param_2=139637976767552"));
        [first, whole, freed.from("two.jsonl:3")]
    };
    let ragged = |verdict| Entry::new(verdict, ("16,16,1", "7,7,1", "param_0=100")).from("two.jsonl:1");
    check(&gpuvcc_in(&folder, &["k.ptx", "--launches", "two.jsonl"]), 0, &entries(ragged("verified")));
    check(&gpuvcc_in(&folder, &["broken.ptx", "--launches", "two.jsonl"]), 1, &entries(ragged("race").at(14)));
}

/// An old driver does not tell sizes of parameters; the PTX that it compiles does.
#[test]
fn the_ptx_tells_sizes_of_parameters() {
    let folder = prepared(&["-DOLD"]);
    let (recorded, _) = record(&folder, &["./host", "dlsym", "k.ptx"]);
    assert_eq!(lines(&folder), LINES, "{}", String::from_utf8_lossy(&recorded.stderr));
    // No text: nothing is known of the arguments, and that is said.
    write(&folder, "k.cubin", "\u{7f}ELF");
    let (recorded, _) = record(&folder, &["./host", "dlsym", "k.cubin"]);
    let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(said.contains("the arguments of matmul_naive are not recorded"), "{said}");
    assert!(lines(&folder).iter().all(|line| line.ends_with("\"dynamic_shared\": 0}") || line.ends_with("64}")));
}

/// Pointers in a structure are not told from numbers, but two into one array are noticed.
#[test]
fn pointers_in_structures_are_aliases() {
    for driver in [&[][..], &["-DOLD"]] {
        let folder = prepared(driver);
        let text = ptx("matmul_naive") + "\n.visible .entry structure(.param .align 8 .b8 all[32]) { ret; }\n";
        write(&folder, "k.ptx", &text);
        record(&folder, &["./host", "dlsym", "k.ptx"]);
        let expected = r#"{"kernel": "structure", "block": [32, 1, 1], "grid": [1, 1, 1], "dynamic_shared": 0, "aliases": [["0", "0"]]}"#;
        assert_eq!(lines(&folder)[2], expected);
    }
}

/// Lines as they were written on an H100 (driver 580), of a program that nvcc 13.0 compiled, and of one that calls the driver.
/// Kernels of which there is no PTX are told.
#[test]
fn lines_of_real_launches_are_read() {
    let folder = folder();
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known/record").join(name);
    for name in ["real.ptx", "real.jsonl"] {
        write(&folder, name, &std::fs::read_to_string(file(name)).expect("a file"));
    }
    let ran = gpuvcc_in(&folder, &["real.ptx", "--launches", "real.jsonl"]);
    let scalars = "param_0=1 param_1=-3 param_2=-1 param_3=-294967296 param_4=-5";
    let shift = |verdict, block, grid, n, from| Entry::new(verdict, (block, grid, n)).from(from);
    let expected = [
        Entry::new("verified", ("32,1,1", "2,1,1", scalars)).from("real.jsonl:1"),
        shift("verified", "256,1,1", "4,1,1", "param_2=1024", "real.jsonl:3"),
        shift("verified", "256,1,1", "2,1,1", "param_2=512", "real.jsonl:4"),
        shift("verified", "96,1,1", "3,1,1", "param_2=288", "real.jsonl:9"),
        shift("verified", "64,1,1", "3,1,1", "param_2=192", "real.jsonl:10"),
        shift("verified", "32,1,1", "1,1,1", "param_2=32", "real.jsonl:11"),
        shift("verified", "33,1,1", "1,1,1", "param_2=33", "real.jsonl:12"),
        shift("verified", "256,1,1", "1,1,1", "param_2=256", "real.jsonl:13"),
        Entry::new("verified", ("128,1,1", "8,1,1", "")).from("real.jsonl:5"),
        Entry::new("verified", ("64,1,1", "1,1,1", "")).from("real.jsonl:6"),
    ];
    check(&ran, 0, &expected);
    let said = |text: &str| assert!(ran.stderr.contains(text), "{}", ran.stderr);
    said("no kernel of the input is called `_Z5whole5Whole`");
    let assumed = |number: usize| ran.json["kernels"][number]["assumptions"].to_string();
    assert!(assumed(1).contains("one pointer in that launch"), "{}", assumed(1));
    assert!(assumed(2).contains("2048 bytes apart in that launch"), "{}", assumed(2));
}

#[test]
fn programs_that_launch_nothing_are_told() {
    let folder = folder();
    let (recorded, _) = record(&folder, &["sh", "-c", "exit 3"]);
    let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(recorded.status.code() == Some(3) && said.contains("no launch was seen"), "{said}");
    let (recorded, _) = record(&folder, &["./no-such-program"]);
    let said = String::from_utf8_lossy(&recorded.stderr).into_owned();
    assert!(recorded.status.code() == Some(2) && said.contains("no-such-program"), "{said}");
}
