//! Three jobs: parsers, the run-time search path of libz3, and the library of `gpuvcc record`.
//!
//! Parsers: every `grammar/*.lalrpop` becomes a Rust module in `OUT_DIR`
//! (`lalrpop_mod!(ptx, "/ptx.rs")` takes it in). They are generated on every
//! build and never committed: the grammar is the only source, so the two cannot
//! drift apart, and a generated parser is too large for anyone to review.
//!
//! libz3: it lies in `.libz3/` (see `tools/fetch-libz3`), where no system loader
//! looks. The binary, tests and benches get an rpath; rustdoc passes no linker
//! arguments on, so doc tests find the library through the search path that cargo
//! sets for folders below `OUT_DIR`.
//!
//! The library of `gpuvcc record`: rustc compiles `record/`, and the program has it inside, so that it is wherever
//! the program is. Where it cannot be compiled, it is empty, and `gpuvcc record` says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The file name that libz3's SONAME asks the loader for.
const LIBZ3: &str = "libz3.so.5.3";

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets this"));
    println!("cargo::rerun-if-changed=build.rs");
    generate_parsers(&root.join("grammar"), &out);
    locate_libz3(&root.join(".libz3/lib"), &out.join("libz3"));
    compile_recorder(&root.join("record/src"), &out.join("libgpuvcc_record.so"));
}

fn generate_parsers(grammars: &Path, out: &Path) {
    // Watched as a folder, so that a new grammar is noticed too; cargo treats a
    // missing path as always changed, which is what an empty checkout needs.
    println!("cargo::rerun-if-changed={}", grammars.display());
    if !grammars.is_dir() {
        return;
    }
    let result =
        lalrpop::Configuration::new().set_in_dir(grammars).set_out_dir(out).emit_rerun_directives(true).process();
    if let Err(error) = result {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn locate_libz3(lib: &Path, link: &Path) {
    println!("cargo::rerun-if-changed={}", lib.display());
    if !lib.join(LIBZ3).exists() {
        // Not an error: checking, linting and documentation need no library.
        println!("cargo::warning=libz3 is missing, so nothing can be linked; run tools/fetch-libz3");
        return;
    }
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());
    let linked = fs::create_dir_all(link).and_then(|()| symlink(&lib.join(LIBZ3), &link.join(LIBZ3)));
    if linked.is_ok() {
        println!("cargo::rustc-link-search=native={}", link.display());
    }
}

fn compile_recorder(source: &Path, library: &Path) {
    println!("cargo::rerun-if-changed={}", source.display());
    let is_for = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    let is_known = is_for("CARGO_CFG_TARGET_ARCH", "x86_64") || is_for("CARGO_CFG_TARGET_ARCH", "aarch64");
    let compiled = is_known && is_for("CARGO_CFG_TARGET_OS", "linux") && is_for("CARGO_CFG_TARGET_ENV", "gnu") && {
        let mut rustc = Command::new(env::var_os("RUSTC").expect("cargo sets this"));
        rustc.args(["--crate-name", "gpuvcc_record", "--crate-type", "cdylib", "--edition", "2024", "-O"]);
        rustc.args(["-C", "strip=symbols", "--target"]).arg(env::var_os("TARGET").expect("cargo sets this"));
        if let Some(linker) = env::var_os("RUSTC_LINKER") {
            let mut option = OsString::from("linker=");
            option.push(linker);
            rustc.arg("-C").arg(option);
        }
        rustc.arg("-o").arg(library).arg(source.join("lib.rs"));
        rustc.status().is_ok_and(|status| status.success())
    };
    if !compiled {
        println!("cargo::warning=the library of `gpuvcc record` was not compiled, so programs cannot be recorded");
        fs::write(library, "").expect("the folder is cargo's");
    }
}

fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|old| old == target) {
        return Ok(());
    }
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(target, link)
}
