//! Programs as files: the papers' tutorial example as a snapshot for each pair; what comes out of this stage
//! is well typed, prints to text that parses, and is accepted by Boogie where that is installed.

use gpuvcc::geometry::Geometry;
use gpuvcc::ivl::{self, ast::Program};
use gpuvcc::predicate;
use gpuvcc::twothread::prelude::{LOGGING_SETS, WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair};
use std::path::{Path, PathBuf};
use std::process::Command;

const PAIRS: [Pair; 3] = [Pair::SameBlock, Pair::DifferentBlocks, Pair::OneThread];

/// Blocks of 64 threads, and any number of them.
fn options() -> Options {
    Options { geometry: Geometry { block: [Some(64), Some(1), Some(1)], grid: [None; 3] }, ..Options::default() }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn programs() -> Vec<(String, Program)> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in ["book/figures", "tests/predicate", "tests/twothread"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of tests");
        paths.extend(entries.flatten().map(|entry| entry.path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ivl"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name.clone(), ivl::parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:#?}")))
    };
    paths.into_iter().map(read).collect()
}

fn boogie_accepts(text: &str) -> bool {
    let command = std::env::var("GPUVCC_BOOGIE").unwrap_or_else(|_| "boogie".to_string());
    let file = tempfile::Builder::new().suffix(".bpl").tempfile().expect("a temporary file");
    std::fs::write(file.path(), text).expect("writable");
    match Command::new(command).arg("/noVerify").arg(file.path()).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            text.contains("0 errors") || (output.status.success() && !text.contains("error"))
        }
        Err(_) => true,
    }
}

#[test]
fn plain_boogie_comes_out() {
    for prelude in [WATCHED_BYTE, LOGGING_SETS].map(|text| load(text).expect("ships")) {
        for (name, program) in programs() {
            let Ok(predicated) = predicate::run(&program) else { continue };
            for pair in PAIRS {
                let two = twothread::run(&predicated, &prelude, pair, &options())
                    .unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
                ivl::check(&two.program).unwrap_or_else(|errors| panic!("{name}: ill-typed: {errors:#?}"));
                let text = ivl::print(&two.program);
                let again = ivl::parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}"));
                assert_eq!(ivl::print(&again), text, "{name}");
                assert!(boogie_accepts(&text), "{name}:\n{text}");
            }
        }
    }
}

#[test]
fn snapshots() {
    let prelude = load(WATCHED_BYTE).expect("ships");
    for (name, program) in programs().into_iter().filter(|(name, _)| name == "add_neighbour" || name == "accesses") {
        let predicated = predicate::run(&program).expect("a kernel");
        for pair in PAIRS {
            let two = twothread::run(&predicated, &prelude, pair, &options()).expect("translates");
            // The prelude's part is in prelude/.
            let main = two.program.procedures.into_iter().filter(|procedure| procedure.name == two.procedure);
            let main = Program {
                procedures: main.collect(),
                constants: two.program.constants,
                functions: two.program.functions,
                ..Program::default()
            };
            let mut settings = insta::Settings::new();
            settings.set_snapshot_path(root().join("snapshots/twothread"));
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            let name = format!("{name}.{}", pair.suffix());
            settings.bind(|| insta::assert_snapshot!(name, ivl::print(&main)));
        }
    }
}
