//! `gpuvcc kernel.cu` with a compiler that stands in for nvcc or clang, with one that refuses, and without any.

use super::support::{Entry, check, folder, gpuvcc_in, with_path, write};
use super::{HOST, ptx, with_host};
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

/// A compiler by its name, as a shell script.
fn compiler(folder: &TempDir, name: &str, script: &str) {
    write(folder, &format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    let path = folder.path().join("bin").join(name);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a program");
}

/// Writes its arguments to `arguments`, and the prepared PTX to where `-o` says.
const COPY: &str = "echo \"$@\" > arguments
while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done
while IFS= read -r line; do printf '%s\\n' \"$line\"; done < prepared.ptx > \"$out\"";

#[test]
fn a_compiler_makes_the_ptx() {
    for (name, arguments) in [("nvcc", "-ptx -lineinfo -arch=sm_80 -o "), ("clang", "-x cuda --cuda-device-only -S ")] {
        let folder = folder();
        write(&folder, "matmul_naive_broken.cu", &with_host("matmul_naive_broken", HOST));
        write(&folder, "prepared.ptx", &ptx("matmul_naive_broken"));
        compiler(&folder, name, COPY);
        let path = folder.path().join("bin");
        let ran = with_path(&folder, &path, &["matmul_naive_broken.cu", "--target", "sm_80"]);
        let race = Entry::new("race", ("16,16,1", "7,7,1", "n=100")).from("matmul_naive_broken.cu:21").at(14);
        check(&ran, 1, &[race, Entry::new("verified", ("32,8,1", "1,1,1", "n=32"))]);
        let kernel = &ran.json["kernels"][0];
        assert_eq!(kernel["file"], "matmul_naive_broken.cu:matmul_naive_broken.ptx");
        let replay = kernel["findings"][0]["replay"].as_str().expect("a command");
        assert!(replay.contains("matmul_naive_broken.cu:matmul_naive_broken.ptx"), "{replay}");
        let used = std::fs::read_to_string(folder.path().join("arguments")).expect("arguments");
        assert!(used.starts_with(arguments), "{used}");
    }
}

#[test]
fn what_a_compiler_refuses_is_an_error_with_its_words() {
    let folder = folder();
    write(&folder, "k.cu", "__global__ void k() { oops }");
    compiler(&folder, "nvcc", "echo 'k.cu(1): error: identifier \"oops\" is undefined' >&2; exit 2");
    let ran = with_path(&folder, &folder.path().join("bin"), &["k.cu"]);
    assert_eq!(ran.exit, Some(2));
    assert_eq!(ran.json["errors"][0]["code"], "compiler");
    assert!(ran.stderr.contains("k.cu(1): error: identifier"), "{}", ran.stderr);
}

/// Neither by its extension nor by its content is CUDA source taken for a program of the IVL.
#[test]
fn without_a_compiler_the_command_is_told() {
    let folder = folder();
    for name in ["k.cu", "k.cuh", "k.txt"] {
        write(&folder, name, "const int n = 4;\n__global__ void k() {}\n");
        let ran = gpuvcc_in(&folder, &[name]);
        assert_eq!(ran.exit, Some(2));
        assert_eq!(ran.json["errors"][0]["code"], "compiler", "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("nvcc -ptx -lineinfo {name} -o k.ptx")), "{}", ran.stderr);
    }
    for text in ["int main() {}", "", "#include <cuda.h>"] {
        write(&folder, "k.c", text);
        let ran = gpuvcc_in(&folder, &["k.c"]);
        assert_eq!((ran.exit, ran.json["errors"][0]["code"].as_str()), (Some(2), Some("unknown-kind")), "{text}");
    }
}
