//! Preludes of users: mistakes are shown at their places, once a run; a right one gives the verdicts of the shipped one.
//!
//! The files and their form: tests/cli/preludes/README.md.

use crate::support::program::gpuvcc;
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};

const FOLDER: &str = "tests/cli/preludes";
/// Kernels with the launches at which verdicts are compared.
const KERNELS: [(&str, &str, &str); 8] = [
    ("saxpy", "64", "4"),
    ("saxpy_broken", "64", "4"),
    ("reduce_sequential", "64", "2"),
    ("reduce_sequential_broken", "64", "2"),
    ("ptx/relaxed_scope", "32", "2"),
    ("histogram_global_broken", "64", "2"),
    ("ptx/shared_address_width", "64", "1"),
    ("ptx/shared_address_width_broken", "64", "1"),
];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".change") {
            trials.push(Trial::test(name, move || mistake(&path)));
        } else if name.ends_with(".ivl") {
            let path = path.to_string_lossy().into_owned();
            let trial = |(kernel, block, grid)| {
                let path = path.clone();
                Trial::test(format!("{name}/{kernel}"), move || same_verdict(&path, kernel, block, grid))
            };
            trials.extend(KERNELS.map(trial));
        }
    }
    trials.push(Trial::test("unreadable", unreadable));
    trials
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).expect("the folder of preludes");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// A changed prelude is refused once, at the place that the file tells, though there are two kernels.
fn mistake(path: &Path) -> Result<(), Failed> {
    let change = std::fs::read_to_string(path)?;
    let behind = |mark: &'static str| change.lines().filter_map(move |line| line.strip_prefix(mark));
    let join = |mark| behind(mark).collect::<Vec<_>>().join("\n");
    let (old, new) = (join("- "), join("+ "));
    let shipped = std::fs::read_to_string("prelude/watched_byte.ivl")?;
    if !shipped.contains(&old) {
        return Err(format!("the shipped prelude lacks `{old}`").into());
    }
    let text = if old.is_empty() { format!("{shipped}\n{new}\n") } else { shipped.replacen(&old, &new, 1) };
    let folder = tempfile::tempdir()?;
    let prelude = folder.path().join("user.ivl");
    std::fs::write(&prelude, &text)?;
    let ran = gpuvcc(&["tests/cli/input/one_entry_of_two.ptx", "--prelude", &prelude.to_string_lossy()], b"");
    let shown = || format!("exit {}\n{}", ran.exit, ran.stderr);
    if ran.exit != 2 {
        return Err(format!("expected exit 2\n{}{}", ran.stdout, shown()).into());
    }
    for wanted in behind("// error: ") {
        if ran.stderr.matches(wanted).count() != 1 {
            return Err(format!("expected once on stderr: `{wanted}`\n{}", shown()).into());
        }
    }
    for at in behind("// at: ") {
        let line = text.lines().position(|line| line.contains(at)).ok_or(format!("no line has `{at}`"))? + 1;
        if !ran.stderr.contains(&format!("user.ivl:{line}:")) {
            return Err(format!("expected a place in line {line}\n{}", shown()).into());
        }
    }
    Ok(())
}

fn same_verdict(prelude: &str, kernel: &str, block: &str, grid: &str) -> Result<(), Failed> {
    let input = format!("tests/kernels/{kernel}.ptx");
    let verdict = |prelude: &str| {
        let ran = gpuvcc(&[&input, "--block", block, "--grid", grid, "--quiet", "--prelude", prelude], b"");
        (ran.exit, ran.stdout.lines().next().unwrap_or_default().split(" in ").next().map(str::to_string), ran.stderr)
    };
    let (shipped, own) = (verdict("watched-byte"), verdict(prelude));
    if shipped != own { Err(format!("shipped: {shipped:?}\nown: {own:?}").into()) } else { Ok(()) }
}

fn unreadable() -> Result<(), Failed> {
    let ran = gpuvcc(&["tests/cli/input/one_entry_of_two.ptx", "--prelude", "watched-bit"], b"");
    let right = ran.exit == 2 && ran.stderr.contains("cannot read `watched-bit`");
    if right && ran.stderr.contains("watched-byte, logging-sets or a file") { Ok(()) } else { Err(ran.stderr.into()) }
}
