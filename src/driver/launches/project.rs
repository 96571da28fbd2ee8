//! `gpuvcc.toml`: what a project says about its kernels.
//!
//! Input: the text of the file. Output: a [`Project`] with launches and requirements of kernels, by name or pattern.
//! Establishes: patterns are well formed; requirements are about kernels that have what they name.
//! Relies on: nothing. Reference: book/src/known.md; TOML 1.0.

use super::fields::Fields;
use super::{KnownLaunch, names};
use crate::diagnostic::Diagnostic;
use crate::driver::baseline::KnownFinding;
use crate::driver::pipeline::Program;
use crate::ptx::annotation::sidecar;
use crate::report::source::SourceText;
use crate::span::Span;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The name of the file.
pub(super) const NAME: &str = "gpuvcc.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    #[serde(default)]
    kernel: Vec<KernelTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelTable {
    /// Name or pattern.
    name: Spanned<String>,
    #[serde(default)]
    requires: Vec<Spanned<String>>,
    #[serde(default)]
    launch: Vec<Spanned<Fields>>,
    #[serde(default)]
    known: Vec<Spanned<KnownTable>>,
}

/// A finding that is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownTable {
    kind: String,
    at: Vec<String>,
    reason: Option<String>,
}

/// What a file says.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    pub(super) source: SourceText,
    pub(super) launches: Vec<KnownLaunch>,
    /// The pattern of kernels, the expression, and where it stands.
    requires: Vec<(String, Spanned<String>)>,
    /// Findings that are known, each with the pattern of kernels.
    pub(super) known: Vec<(String, KnownFinding)>,
}

/// Reads the file; `name` is the one that reports show.
///
/// # Errors
/// What is no such file, with places.
pub(super) fn read(name: &str, text: &str, max_threads: u64) -> Result<Project, Vec<Diagnostic>> {
    let error = |message: String, range: std::ops::Range<usize>| {
        vec![Diagnostic::error("project", message, Span::new(range.start, range.end))]
    };
    let tables: Tables = toml::from_str(text)
        .map_err(|mistake| error(mistake.message().to_string(), mistake.span().unwrap_or(0..text.len())))?;
    let source = SourceText::new(name, text);
    let mut project = Project { source, launches: Vec::new(), requires: Vec::new(), known: Vec::new() };
    for table in tables.kernel {
        let pattern = table.name.get_ref();
        if let Err(mistake) = glob::Pattern::new(pattern) {
            return Err(error(format!("the pattern of kernels: {}", mistake.msg), table.name.span()));
        }
        for launch in table.launch {
            let range = launch.span();
            let origin = format!("{name}:{}", project.source.line_column(range.start).0);
            let fields = launch.into_inner();
            if fields.kernel.is_some() {
                return Err(error("the kernel of a launch is that of its table".to_string(), range));
            }
            let known = fields.launch(pattern.clone(), origin, max_threads).map_err(|message| error(message, range))?;
            project.launches.push(KnownLaunch { is_pattern: true, ..known });
        }
        for known in table.known {
            let range = known.span();
            let origin = format!("{name}:{}", project.source.line_column(range.start).0);
            let KnownTable { kind, at, reason } = known.into_inner();
            let known = KnownFinding::new(&kind, &at, reason, origin).map_err(|message| error(message, range))?;
            project.known.push((pattern.clone(), known));
        }
        project.requires.extend(table.requires.into_iter().map(|fact| (pattern.clone(), fact)));
    }
    Ok(project)
}

impl Project {
    /// Adds the requirements to the kernels of a program.
    ///
    /// # Errors
    /// What is no expression, or about another kernel; spans are those of the file.
    pub(super) fn require(&self, program: &mut Program) -> Result<(), Vec<Diagnostic>> {
        let Program::Ptx(module) = program else { return Ok(()) };
        let mut errors = Vec::new();
        // Each goes in front of those before it.
        for (pattern, fact) in self.requires.iter().rev() {
            for index in 0..module.functions.len() {
                let function = &module.functions[index];
                if !function.is_entry || !names::matches(&function.name, pattern) {
                    continue;
                }
                let range = fact.span();
                let line = u32::try_from(self.source.line_column(range.start).0).unwrap_or(u32::MAX);
                if let Err(message) = sidecar::require(self.source.name(), line, fact.get_ref(), module, index) {
                    errors.push(Diagnostic::error("project", message, Span::new(range.start, range.end)));
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// The project file of an input: beside it, or in a folder above, up to that of the repository.
pub(super) fn of_input(input: &str) -> Option<PathBuf> {
    let path = Path::new(input);
    let folder = if path.is_dir() { path } else { path.parent()? };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let whole = std::fs::canonicalize(folder).ok()?;
    // Outside of a repository, folders above belong to others.
    let height = whole.ancestors().position(|above| above.join(".git").exists()).unwrap_or(0);
    let found = whole.ancestors().take(height + 1).position(|above| above.join(NAME).is_file())?;
    let beside = folder.join(NAME);
    // As the user would write it, where it lies beside the input.
    let shown = beside.strip_prefix(".").map(Path::to_path_buf).unwrap_or(beside);
    if found == 0 { Some(shown) } else { whole.ancestors().nth(found).map(|above| above.join(NAME)) }
}
