//! Folders of PTX, the launches that Triton writes beside PTX, and plain PTX where a target is asked for.

use super::{check, expected, fixture, ptx};
use crate::support::program::gpuvcc;
use serde_json::Value;
use std::path::PathBuf;

#[test]
fn a_triton_cache_tells_the_launch() {
    let folder = fixture("triton");
    let file = fixture("triton/2QK/shift.ptx");
    let real = fixture("triton/DDT/add.ptx");
    let of_folder = [expected(&file, "shift", None), expected(&real, "add", None)];
    for (given, wanted) in [(&folder, &of_folder[..]), (&file, &of_folder[..1]), (&real, &of_folder[1..])] {
        let ran = check(&[given, "--grid", "1"], b"", wanted);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        for (kernel, wanted) in json["kernels"].as_array().unwrap().iter().zip(wanted) {
            assert_eq!(kernel["launch"]["block"], serde_json::json!([128, 1, 1]));
            let told = format!("blocks have 128 threads, for `{}.json` says num_warps 4", wanted.entry);
            assert!(kernel["assumptions"].as_array().unwrap().iter().any(|one| *one == told), "{kernel}");
        }
    }
    // One thread has nobody to race with.
    for (block, verdict, exit) in [("1", "verified", 0), ("64", "race", 1)] {
        let ran = gpuvcc(&[&file, "--block", block, "--grid", "1"], b"");
        assert_eq!(ran.exit, exit, "{}", ran.stdout);
        assert!(ran.stdout.contains(verdict) && !ran.stdout.contains("num_warps"), "{}", ran.stdout);
    }
    let free = gpuvcc(&[&file, "--block", "*", "--format", "json"], b"");
    let json: Value = serde_json::from_str(&free.stdout).unwrap();
    assert_eq!(json["kernels"][0]["launch"]["block"], serde_json::json!([null, null, null]));
    let ran = gpuvcc(&["run", &file, "--arg", "zeros:1024", "--format", "json"], b"");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["kernels"][0]["execution"]["threads"], 128, "{}", ran.stderr);
}

#[test]
fn launch_files_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let ptx = std::fs::read_to_string(fixture("triton/2QK/shift.ptx")).unwrap();
    std::fs::write(path("shift.ptx"), ptx.replace(".param .u64 a)", ".param .u64 a)\n.reqntid 64, 1, 1")).unwrap();
    let given = path("shift.ptx").to_string_lossy().into_owned();
    for (json, exit, message) in [
        (r#"{"num_warps": 4, "name": "shift"}"#, 2, "`shift.json` says num_warps 4"),
        (r#"{"num_warps": 64, "name": "shift"}"#, 2, "num_warps is 64, not 1 to 32"),
        (
            r#"{"num_warps": 2, "name": "shift", "cluster_dims": [2, 1, 1]}"#,
            1,
            "clusters have 2,1,1 blocks, for `shift.json` says so",
        ),
        (r#"{"num_warps": 4, "name": "other"}"#, 1, "block 64"),
        (r#"{"threads": 4}"#, 1, "block 64"),
        ("no JSON", 1, "block 64"),
    ] {
        std::fs::write(path("shift.json"), json).unwrap();
        let ran = gpuvcc(&[&given, "--grid", "1"], b"");
        let text = ran.stdout + &ran.stderr;
        assert!(ran.exit == exit && text.contains(message), "{json}: {text}");
    }
    std::fs::remove_file(path("shift.ptx")).unwrap();
    let ran = gpuvcc(&[&folder.path().to_string_lossy()], b"");
    assert!(ran.exit == 2 && ran.stderr.contains("a directory without .ptx, .ivl or .bpl files"), "{}", ran.stderr);
}

/// Threads read what their neighbours write, 4 KiB into dynamic shared memory.
const SHARED_SHIFT: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 16 .b8 global_smem[];\n\
        .visible .entry k()\n{\n.reg .b32 %r<5>;\nmov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\n\
        mov.u32 %r2, global_smem;\nadd.s32 %r3, %r2, %r1;\nld.shared.u32 %r4, [%r3+4096];\n\
        st.shared.u32 [%r3+4100], %r4;\nret;\n}\n";

/// Findings are confirmed with the shared memory of the launch file, and none beyond it.
#[test]
fn a_triton_launch_tells_the_shared_memory() {
    let ptx = SHARED_SHIFT.as_bytes();
    for (shared, code) in [(8192, "race"), (4096, "possible-race")] {
        let launch = format!(r#"{{"num_warps": 1, "shared": {shared}, "num_ctas": 2}}"#);
        let folder = folder_of(&[("k.ptx", ptx), ("k.json", launch.as_bytes())]);
        let path = folder.path().join("k.ptx").to_string_lossy().into_owned();
        for block in [&[][..], &["--block", "32"]] {
            let ran = gpuvcc(&[&[&path, "--grid", "1", "--format", "json"], block].concat(), b"");
            let json: Value = serde_json::from_str(&ran.stdout).unwrap();
            let kernel = &json["kernels"][0];
            assert_eq!(kernel["findings"][0]["code"], code, "{kernel}");
            let replay = kernel["findings"][0]["replay"].as_str().unwrap_or_default();
            assert_eq!(replay.contains(" --dynamic-shared 8192"), code == "race", "{kernel}");
            let note = "clusters have 2,1,1 blocks, for `k.json` says so";
            assert!(kernel["assumptions"].as_array().unwrap().iter().any(|one| one == note), "{kernel}");
            let ran = gpuvcc(&[&["run", path.as_str()], block].concat(), b"");
            let is_one_cluster = ran.stdout.contains("grid 2");
            assert!(ran.exit == 1 && is_one_cluster && !ran.stderr.contains(note), "{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.stdout.contains("race"), code == "race", "{}", ran.stdout);
        }
    }
}

/// A launch file that does not tell the shared memory leaves it to be chosen.
#[test]
fn a_launch_without_shared_memory() {
    let ptx = SHARED_SHIFT.as_bytes();
    let folder = folder_of(&[("k.ptx", ptx), ("k.json", br#"{"num_warps": 1}"#)]);
    let path = folder.path().join("k.ptx").to_string_lossy().into_owned();
    let ran = gpuvcc(&[&path, "--grid", "1"], b"");
    assert!(ran.exit == 1 && ran.stdout.contains("--dynamic-shared"), "{}{}", ran.stdout, ran.stderr);
}

/// Thread t writes word t and word t xor s % 16.
const SPECIALISED: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
        .visible .entry k(.param .u64 a, .param .u32 s)\n{\n.reg .b32 %r<5>;\n.reg .b64 %rd<4>;\n\
        ld.param.u64 %rd1, [a];\nld.param.u32 %r1, [s];\nmov.u32 %r2, %tid.x;\nand.b32 %r3, %r1, 15;\n\
        xor.b32 %r4, %r2, %r3;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r2;\n\
        mul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";

/// What Triton took for granted of integers is an assumption with its place; nothing is taken from a signature that the
/// parameters do not have.
#[test]
fn a_triton_signature_tells_what_arguments_are_multiples_of() {
    let signature = |arguments: &str| {
        format!("module {{\n  tt.func public @k({arguments} loc(#loc)) attributes {{noinline = false}} {{\n")
    };
    let pointer = "%a: !tt.ptr<i32> {tt.divisibility = 16 : i32} loc(\"a\"(#loc))";
    for (integer, verdict, exit) in [
        ("%s: i32 {tt.divisibility = 16 : i32}", "verified", 0),
        ("%s: i32", "race", 1),
        ("%s: i32 {tt.divisibility = 8 : i32}", "race", 1),
        ("%s: i64 {tt.divisibility = 16 : i32}", "race", 1),
        ("%s: f32", "race", 1),
    ] {
        let text = signature(&format!("{pointer}, {integer}"));
        let files =
            [("k.ptx", SPECIALISED.as_bytes()), ("k.json", br#"{"num_warps": 1}"#), ("k.ttir", text.as_bytes())];
        let folder = folder_of(&files);
        let path = folder.path().join("k.ptx").to_string_lossy().into_owned();
        let ran = gpuvcc(&[&path, "--grid", "1", "--format", "json"], b"");
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(json["kernels"][0]["verdict"], verdict, "{integer}: {}", ran.stdout);
        assert_eq!(ran.exit, exit);
        let assumed = json["kernels"][0]["assumptions"].to_string();
        let is_told = assumed.contains("requires [s] % 16 == 0") && assumed.contains("k.ttir:2");
        assert_eq!(is_told, verdict == "verified", "{assumed}");
    }
}

/// A folder with these files.
fn folder_of(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

/// Files that cannot be read or are wrong are errors with their names; the others are verified.
#[test]
fn a_broken_file_in_a_folder() {
    let folder = folder_of(&[
        ("a/bytes.ptx", b"\x7fELF\0"),
        ("a/copy.ptx", &ptx("copy", "sm_90")),
        ("latin.ptx", b".version 8.0\n// caf\xe9"),
        ("launch.json", br#"{"num_warps": 99}"#),
        ("launch.ptx", &ptx("copy", "sm_90")),
        ("syntax.ptx", b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k( {"),
        ("z.ptx", &ptx("shift", "sm_90")),
    ]);
    let path = folder.path().to_string_lossy().into_owned();
    let ran = gpuvcc(&[&path, "--block", "64", "--grid", "1", "--format", "json"], b"");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let of = |list: &str, field: &str| -> Vec<String> {
        json[list].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap().replace(&path, "")).collect()
    };
    assert_eq!(of("kernels", "file"), ["/a/copy.ptx", "/z.ptx"], "{}", ran.stderr);
    assert_eq!(of("kernels", "verdict"), ["verified", "race"]);
    assert_eq!(of("errors", "file"), ["/a/bytes.ptx", "/latin.ptx", "/launch.ptx", "/syntax.ptx"]);
    assert_eq!(of("errors", "code"), ["container-damaged", "input-unreadable", "launch-file", "ptx-syntax"]);
    assert_eq!(json["errors"][3]["line"], 4);
    assert_eq!(ran.exit, 2, "{}", ran.stderr);
    // A name that no file has may be in those that were not read.
    let ran = gpuvcc(&[&path, "--entry", "other"], b"");
    assert!(ran.exit == 2 && !ran.stderr.contains("no kernel is named"), "{}", ran.stderr);
    let ran = gpuvcc(&[&path, "--list"], b"");
    assert!(ran.exit == 2 && ran.stdout.contains("copy.ptx") && ran.stderr.contains("bytes.ptx"), "{}", ran.stderr);
}

#[test]
fn targets_of_plain_ptx() {
    let folder = folder_of(&[
        ("copy.ptx", &ptx("copy", "sm_80")),
        ("sub/shift.ptx", &[b"// .target sm_80\n", &ptx("shift", "sm_90a, debug")[..]].concat()),
        ("none.txt", b".version 8.0\n"),
    ]);
    let path = folder.path().to_string_lossy().into_owned();
    let file = |name: &str| format!("{path}/{name}");
    let (copy, shift, none) = (file("copy.ptx"), file("sub/shift.ptx"), file("none.txt"));
    let launch = ["--block", "64", "--grid", "1"];
    for (given, target, wanted) in [
        (&copy, "sm_80", expected(&copy, "copy", None)),
        (&shift, "sm_90a", expected(&shift, "shift", None)),
        (&path, "compute_80", expected(&copy, "copy", None)),
        (&path, "sm_90a", expected(&shift, "shift", None)),
    ] {
        let ran = check(&[&[given.as_str(), "--target", target], &launch[..]].concat(), b"", &[wanted]);
        let told = ran.stderr.contains("so not looked at");
        assert_eq!(told, *given == path, "{}", ran.stderr);
    }
    let binary = format!("{}:shift.sm_80.ptx", fixture("plain.fatbin"));
    for (given, target, message) in [
        (&copy, "sm_90", format!("`{copy}` is PTX for sm_80, not for sm_90")),
        (&shift, "sm_90", format!("`{shift}` is PTX for sm_90a, not for sm_90")),
        (&none, "sm_90", format!("`{none}` does not say that it is PTX for sm_90")),
        (&path, "sm_90", format!("`{path}` has no PTX for sm_90")),
        (&binary, "sm_90", format!("`{binary}` is PTX for sm_80, not for sm_90")),
    ] {
        for run in [&[][..], &["run"]] {
            let ran = gpuvcc(&[run, &[given.as_str(), "--target", target]].concat(), b"");
            let (code, text) = ("error[no-such-target]", ran.stderr);
            assert!(ran.exit == 2 && text.contains(&message) && text.contains(code), "{given}: {text}");
        }
    }
    let ran = gpuvcc(&["-", "--target", "sm_90"], &ptx("copy", "sm_80"));
    assert!(ran.exit == 2 && ran.stderr.contains("`<stdin>` is PTX for sm_80"), "{}", ran.stderr);
}
