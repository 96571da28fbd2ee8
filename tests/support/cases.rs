//! Test inputs and what their headers say (tests/kernels/README.md).

use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::options::Options;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An input with its expectation.
#[derive(Clone, Debug)]
pub struct Case {
    /// Path below the folder of the cases, without extension: `saxpy_broken`, `ptx/relaxed_scope`.
    pub name: String,
    /// The file that goes through the pipeline.
    pub input: PathBuf,
    /// The CUDA source that carries the marks; `None` when the marks stand in the input itself.
    pub source: Option<PathBuf>,
    /// The verdict by its name.
    pub verdict: String,
    /// The kernel, where the file has several.
    pub entry: Option<String>,
    /// Launch, parameters and a time limit of 60 s.
    pub options: Options,
    /// Lines marked `// RACE`, from 1.
    pub race_lines: BTreeSet<u32>,
    /// Lines marked `// DIVERGENCE`, from 1.
    pub divergence_lines: BTreeSet<u32>,
    /// Lines marked `// ASSERTION`, from 1.
    pub assertion_lines: BTreeSet<u32>,
    /// Lines marked `// OUTSIDE`, from 1.
    pub outside_lines: BTreeSet<u32>,
    /// Positions of parameters that stand for one row, and so may be 0.
    pub rows: Vec<String>,
    /// Conditions of `verified-when`.
    pub conditions: Vec<String>,
    /// Answers that fall short, for each way to ask (tests/programs/README.md).
    pub gaps: Vec<Gap>,
    /// `//@ slow: yes`: only benchmarks look at it.
    pub is_slow: bool,
    /// Names of the CUDA kernel's parameters, in order.
    pub parameters: Vec<String>,
}

/// `//@ gap: WAY VERDICT: REASON`: an answer that is not wrong, but less than an author wants.
#[derive(Clone, Debug)]
pub struct Gap {
    /// `free`, `launch` or `known`.
    pub way: String,
    pub verdict: String,
    pub reason: String,
}

/// What was read, by folder: many suites ask for the same ones.
static READ: Mutex<BTreeMap<String, Vec<Case>>> = Mutex::new(BTreeMap::new());

/// All cases below a folder, by name: `.cu` files (with the PTX beside them), and `.ptx` and `.ivl`
/// files that have a header of their own.
pub fn cases(folder: &str) -> Result<Vec<Case>, String> {
    let mut known = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cases) = known.get(folder) {
        return Ok(cases.clone());
    }
    let cases = read(folder)?;
    known.insert(folder.to_string(), cases.clone());
    Ok(cases)
}

fn read(folder: &str) -> Result<Vec<Case>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut cases = Vec::new();
    for path in files(&folder)? {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if let Some(case) = case(&folder, &path, &text).map_err(|error| format!("{}: {error}", path.display()))? {
            cases.push(case);
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// The case of a file; `None` for files that are no case.
fn case(folder: &Path, path: &Path, text: &str) -> Result<Option<Case>, String> {
    let header: Vec<(&str, &str)> = text
        .lines()
        .map_while(|line| line.strip_prefix("//@ "))
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key, value.trim()))
        .collect();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let source = match extension {
        "cu" => Some(path.to_path_buf()),
        "ptx" | "ivl" if !header.is_empty() => None,
        _ => return Ok(None),
    };
    let input = if source.is_some() { path.with_extension("ptx") } else { path.to_path_buf() };
    let name = path.with_extension("").strip_prefix(folder).map_err(|error| error.to_string())?.to_path_buf();
    let value = |wanted: &str| header.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
    let options = options(&input, &header, source.is_some().then_some(text))?;
    Ok(Some(Case {
        name: name.to_string_lossy().into_owned(),
        input,
        source,
        verdict: value("verdict").ok_or("the header has no verdict")?.to_string(),
        entry: value("entry").map(str::to_string),
        options,
        race_lines: marked(text, "// RACE"),
        divergence_lines: marked(text, "// DIVERGENCE"),
        assertion_lines: marked(text, "// ASSERTION"),
        outside_lines: marked(text, "// OUTSIDE"),
        rows: header.iter().filter(|(key, _)| *key == "row").map(|(_, position)| position.to_string()).collect(),
        conditions: header.iter().filter(|(key, _)| *key == "condition").map(|(_, text)| text.to_string()).collect(),
        gaps: header.iter().filter(|(key, _)| *key == "gap").map(|(_, text)| gap(text)).collect::<Result<_, _>>()?,
        is_slow: value("slow").is_some(),
        parameters: if extension == "cu" { parameters(text)? } else { Vec::new() },
    }))
}

/// The header as the command line that it stands for.
fn options(input: &Path, header: &[(&str, &str)], source: Option<&str>) -> Result<Options, String> {
    let mut arguments = vec!["gpuvcc".to_string(), input.to_string_lossy().into_owned(), "--timeout=60".into()];
    // The tests themselves run side by side.
    arguments.push("--jobs=1".into());
    for (key, value) in header {
        match *key {
            "block" => arguments.push(format!("--block={value}")),
            "grid" => arguments.push(format!("--grid={value}")),
            "param" => arguments.push(format!("--param={}", positional(value, source)?)),
            "option" => arguments.push(format!("--{value}")),
            "verdict" | "entry" | "row" | "compiler" | "condition" | "dynamic-shared" | "gap" | "slow" => {}
            _ => return Err(format!("unknown key `{key}` in the header")),
        }
    }
    let dynamic_shared = header.iter().find(|(key, _)| *key == "dynamic-shared").map(|(_, bytes)| bytes.parse());
    let dynamic_shared = dynamic_shared.transpose().map_err(|_| "dynamic-shared is a number of bytes")?;
    match cli::parse(arguments) {
        Ok(Command::Verify(options)) => Ok(Options { dynamic_shared, ..*options }),
        Ok(_) => Err("the header is no verification".to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// `n=9` with the position of `n` in the CUDA kernel's parameter list, as PTX names differ.
fn positional(setting: &str, source: Option<&str>) -> Result<String, String> {
    let Some(source) = source else { return Ok(setting.to_string()) };
    let (name, value) = setting.split_once('=').ok_or("a parameter is NAME=VALUE")?;
    let position = parameters(source)?.iter().position(|parameter| parameter == name);
    position.map(|position| format!("{position}={value}")).ok_or_else(|| format!("no parameter is named `{name}`"))
}

/// The names in the parameter list of the first CUDA kernel.
fn parameters(source: &str) -> Result<Vec<String>, String> {
    let kernel = source.split_once("__global__").ok_or("no __global__ function")?.1;
    let list = kernel.split_once('(').and_then(|(_, rest)| rest.split_once(')')).ok_or("no parameter list")?.0;
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let name = |one: &str| one.trim().rsplit(|c| !is_word(c)).next().unwrap_or_default().to_string();
    Ok(list.split(',').map(name).collect())
}

fn gap(text: &str) -> Result<Gap, String> {
    let parts = text.split_once(": ").and_then(|(answer, reason)| Some((answer.split_once(' ')?, reason)));
    let ((way, verdict), reason) = parts.ok_or_else(|| format!("a gap is `WAY VERDICT: REASON`, not `{text}`"))?;
    if !matches!(way, "free" | "launch" | "known") {
        return Err(format!("`{way}` is none of free, launch, known"));
    }
    Ok(Gap { way: way.to_string(), verdict: verdict.to_string(), reason: reason.to_string() })
}

/// Numbers of the lines that end with a mark.
fn marked(text: &str, mark: &str) -> BTreeSet<u32> {
    (1..).zip(text.lines()).filter(|(_, line)| line.trim_end().ends_with(mark)).map(|(number, _)| number).collect()
}
