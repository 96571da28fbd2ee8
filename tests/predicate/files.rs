//! Every `.ivl` file of this folder, and figures of the papers: sort order and predicated program as
//! snapshots, or the errors that the header names (`//@ error LINE CODE: part of the message`).

use gpuvcc::diagnostic::Diagnostic;
use gpuvcc::ivl::{self, ast::Program};
use gpuvcc::predicate;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn snapshot(stage: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(root().join("snapshots").join(stage));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn line_of(text: &str, error: &Diagnostic) -> String {
    let start = error.labels.first().map_or(0, |(span, _)| span.range().start);
    format!("{} {}: {}", text[..start].matches('\n').count() + 1, error.code, error.message)
}

fn run(path: &Path) {
    let text = std::fs::read_to_string(path).expect("readable");
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = ivl::parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
    let expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//@ error ")).collect();
    match predicate::run(&program) {
        Ok(predicated) => {
            assert!(expected.is_empty(), "{name}: errors are expected");
            ivl::check(&predicated.program).unwrap_or_else(|errors| panic!("{name}: ill-typed: {errors:#?}"));
            snapshot("order", &name, &predicate::order_text(&predicated));
            let kernel = Program { procedures: predicated.program.procedures.clone(), ..Program::default() };
            snapshot("predicated", &name, &ivl::print(&kernel));
        }
        Err(errors) => {
            let found: Vec<String> = errors.iter().map(|error| line_of(&text, error)).collect();
            let matches = |(found, expected): (&String, &&str)| match expected.split_once(": ") {
                Some((head, message)) => found.starts_with(&format!("{head}:")) && found.contains(message),
                None => found == expected,
            };
            let all = found.len() == expected.len() && found.iter().zip(&expected).all(matches);
            assert!(all, "{name}: expected {expected:#?}, found {found:#?}");
        }
    }
}

#[test]
fn files() {
    let entries = std::fs::read_dir(root().join("tests/predicate")).expect("the folder of this file");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ivl"));
    paths.sort();
    paths.push(root().join("book/figures/cfg_fig3.ivl"));
    paths.iter().for_each(|path| run(path));
}
