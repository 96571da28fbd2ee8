//! Three jobs: parsers, the run-time search path of libz3, and the library of `gpuvcc record`.
//!
//! Parsers: every `grammar/*.lalrpop` becomes a Rust module in `OUT_DIR`
//! (`lalrpop_mod!(ptx, "/ptx.rs")` takes it in). They are generated on every
//! build and never committed: the grammar is the only source, so the two cannot
//! drift apart, and a generated parser is too large for anyone to review.
//!
//! libz3: it lies in `.libz3/` (see `tools/fetch-libz3`), where no system loader
//! looks. A link to it is put beside the program, and the program looks there first, so that a folder with
//! both may move; then where the clone was, for what `cargo install` copies. `GPUVCC_RELOCATABLE=1` leaves the
//! second out, as no path of this machine may be in a wheel. rustdoc passes no linker
//! arguments on, so doc tests find the library through the search path that cargo
//! sets for folders below `OUT_DIR`. Where `.libz3/` is missing, `tools/fetch-libz3` is asked for it; where that
//! fails nothing is linked, so that an older libz3 of the system is never taken in silence; checking, linting and
//! documentation need no library.
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
    locate_libz3(&root, &out);
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

fn locate_libz3(root: &Path, out: &Path) {
    let lib = root.join(".libz3/lib");
    println!("cargo::rerun-if-changed={}", lib.display());
    println!("cargo::rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    println!("cargo::rerun-if-env-changed=GPUVCC_RELOCATABLE");
    let is_there = || lib.join(LIBZ3).exists();
    // `cargo install --path .` and `pip install .` come here without `./verify`, which fetches it.
    if !is_there() {
        // Its messages tell why it fails; whether the library is there is what counts.
        let _ = Command::new(root.join("tools/fetch-libz3")).status();
    }
    if !is_there() {
        refuse_to_link("libz3-is-missing:-run-tools/fetch-libz3", "libz3 is missing; run tools/fetch-libz3");
        return;
    }
    if env::var_os("Z3_LIBRARY_PATH_OVERRIDE").is_none() {
        let advice =
            "cargo has not read .cargo/config.toml, which names libz3; build in a clone, or install with --path";
        refuse_to_link("libz3-is-not-named:-build-in-a-clone-of-gpuvcc", advice);
        return;
    }
    // Programs stand in target/PROFILE/, tests and benches one folder deeper; an installed program in bin/ beside lib/.
    let mut places = vec!["$ORIGIN".to_string(), "$ORIGIN/..".to_string(), "$ORIGIN/../lib".to_string()];
    if env::var_os("GPUVCC_RELOCATABLE").is_none() {
        places.push(lib.display().to_string());
    }
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", places.join(":"));
    let link = out.join("libz3");
    if fs::create_dir_all(&link).and_then(|()| symlink(&lib.join(LIBZ3), &link.join(LIBZ3))).is_ok() {
        println!("cargo::rustc-link-search=native={}", link.display());
    }
    // OUT_DIR is target/PROFILE/build/gpuvcc-HASH/out. The folder of programs is not cargo's to tell.
    if let Some(programs) = out.ancestors().nth(3)
        && let Err(error) = link_or_copy(&lib.join(LIBZ3), &programs.join(LIBZ3))
    {
        println!("cargo::warning=no libz3 beside the program, which must not move then: {error}");
    }
}

/// Linking fails on a file that does not exist and whose name says what to do; checking and linting go on.
fn refuse_to_link(file: &str, advice: &str) {
    println!("cargo::warning={advice}");
    println!("cargo::rustc-link-arg={file}");
}

/// One file with two names where the file system can, otherwise a copy.
fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    // Under another name first: a program that runs at the same time always finds a whole library.
    let fresh = to.with_extension(format!("{}.fresh", std::process::id()));
    fs::hard_link(from, &fresh).or_else(|_| fs::copy(from, &fresh).map(|_| ()))?;
    fs::rename(&fresh, to)?;
    // Renaming one name of a file to another of the same file does nothing, and leaves both.
    if fresh.exists() { fs::remove_file(&fresh) } else { Ok(()) }
}

fn compile_recorder(source: &Path, library: &Path) {
    println!("cargo::rerun-if-changed={}", source.display());
    let is_for = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    let is_known = is_for("CARGO_CFG_TARGET_ARCH", "x86_64") || is_for("CARGO_CFG_TARGET_ARCH", "aarch64");
    let compiled = is_known && is_for("CARGO_CFG_TARGET_OS", "linux") && is_for("CARGO_CFG_TARGET_ENV", "gnu") && {
        let mut rustc = Command::new(env::var_os("RUSTC").expect("cargo sets this"));
        rustc.args(["--crate-name", "gpuvcc_record", "--crate-type", "cdylib", "--edition", "2024", "-O"]);
        rustc.args(["-C", "strip=symbols", "--target"]).arg(env::var_os("TARGET").expect("cargo sets this"));
        // Messages of its panics name files of the repository, not of this machine.
        let mut names = OsString::from("--remap-path-prefix=");
        names.push(source);
        names.push("=record/src");
        rustc.arg(names);
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
