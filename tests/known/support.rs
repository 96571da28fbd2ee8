//! The program in a folder of its own, and what is expected of its entries.

use crate::support::schema;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What a run of the program gave.
pub struct Ran {
    pub exit: Option<i32>,
    pub json: Value,
    pub stderr: String,
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub fn write(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

/// Runs the program in a folder, where no compiler is to be found.
pub fn gpuvcc_in(folder: &TempDir, arguments: &[&str]) -> Ran {
    with_path(folder, Path::new("/nonexistent"), arguments)
}

/// The same with this `PATH`.
pub fn with_path(folder: &TempDir, path: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
    command.args(arguments).args(["--format", "json"]).current_dir(folder.path()).env("PATH", path);
    let output = command.output().expect("the program runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    // Every report of these tests is one of the published schema.
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong = if text.is_empty() { Vec::new() } else { schema::wrong_in_json(&text) };
    assert_eq!(wrong, [""; 0], "{stderr}");
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ran { exit: output.status.code(), json, stderr }
}

/// What is expected of one entry.
pub struct Entry {
    verdict: &'static str,
    /// Block, grid and parameters.
    launch: (&'static str, &'static str, &'static str),
    from: Option<Option<&'static str>>,
    line: Option<u64>,
}

impl Entry {
    pub fn new(verdict: &'static str, launch: (&'static str, &'static str, &'static str)) -> Self {
        Entry { verdict, launch, from: None, line: None }
    }

    /// Where the launch is known from.
    pub fn from(self, from: &'static str) -> Self {
        Entry { from: Some(Some(from)), ..self }
    }

    /// The launch is known from no file.
    pub fn of_no_file(self) -> Self {
        Entry { from: Some(None), ..self }
    }

    /// The line of an access of its first finding.
    pub fn at(self, line: u64) -> Self {
        Entry { line: Some(line), ..self }
    }
}

/// Compares the entries of a run.
pub fn check(ran: &Ran, exit: i32, expected: &[Entry]) {
    let kernels = ran.json["kernels"].as_array().unwrap_or_else(|| panic!("{}", ran.stderr));
    assert_eq!(kernels.len(), expected.len(), "{}\n{}", ran.json, ran.stderr);
    for (kernel, wanted) in kernels.iter().zip(expected) {
        assert_eq!(kernel["verdict"], wanted.verdict, "{kernel:#}");
        let (block, grid, params) = wanted.launch;
        assert_eq!(sizes(&kernel["launch"]["block"]), block, "{kernel:#}");
        assert_eq!(sizes(&kernel["launch"]["grid"]), grid, "{kernel:#}");
        let given = kernel["launched"]["params"].as_object();
        let given = given.map(|given| given.iter().map(|(name, value)| format!("{name}={value}")));
        assert_eq!(given.map(|given| given.collect::<Vec<_>>().join(" ")).unwrap_or_default(), params, "{kernel:#}");
        if let Some(from) = wanted.from {
            assert_eq!(kernel["launched"]["from"].as_str(), from, "{kernel:#}");
        }
        if let Some(line) = wanted.line {
            let accesses = kernel["findings"][0]["accesses"].as_array().expect("accesses");
            assert!(accesses.iter().any(|access| access["line"] == line), "{kernel:#}");
        }
    }
    assert_eq!(ran.exit, Some(exit), "{}", ran.stderr);
}

/// `16,16,1`; a free size is `*`.
fn sizes(sizes: &Value) -> String {
    let sizes = sizes.as_array().expect("sizes").iter();
    sizes.map(|size| size.as_u64().map_or("*".to_string(), |size| size.to_string())).collect::<Vec<_>>().join(",")
}
