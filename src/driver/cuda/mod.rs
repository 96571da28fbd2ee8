//! CUDA source: a compiler turns it into PTX, and its launches are read.
//!
//! Input: the name and the text of a `.cu` file. Output: the PTX as a module of it (`kernel.cu:kernel.ptx`) with the launches
//! whose sizes are constants, or the command to type where there is no compiler. Establishes: nothing but a compiler reads the
//! device code. Relies on: nvcc or clang on the PATH. Reference: NVCC, "Command Option Description"; clang, "Compiling CUDA".

mod changes;
mod constants;
mod directives;
mod expressions;
pub(super) mod facts;
mod host;
mod lexer;

pub(crate) use host::launches;

use super::input::{Input, Language, Reading, error_text, unreadable};
use crate::container::target::Target;
use crate::diagnostic::Diagnostic;
use crate::report::source::SourceText;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Lines of a compiler's messages that are shown.
const MOST_LINES: usize = 12;

/// The module that a compiler makes of a file.
pub(super) fn module_name(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    format!("{}.ptx", stem.unwrap_or_default())
}

/// The PTX among the files that is taken for what a compiler made of a `.cu` file: that of its name.
pub(super) fn ptx_of<'f>(file: &str, files: &'f [String]) -> Option<&'f str> {
    let has = |name: &str, extension: &str| Path::new(name).extension().is_some_and(|found| found == extension);
    let stem = Path::new(file).file_stem().filter(|_| has(file, "cu"))?;
    files.iter().map(String::as_str).find(|other| has(other, "ptx") && Path::new(other).file_stem() == Some(stem))
}

/// Compiles a file.
///
/// # Errors
/// There is no compiler, or it refuses the file.
pub(super) fn compiled(file: &str, source: &str, target: Option<Target>) -> Result<Reading, Diagnostic> {
    if !Path::new(file).is_file() {
        let reason = "it is CUDA source, which a compiler reads from a file; give the file, or its PTX";
        return Err(unreadable(file, reason));
    }
    let folder = tempfile::tempdir().map_err(|error| unreadable(file, &error_text(&error)))?;
    let ptx = folder.path().join("kernel.ptx");
    for compiler in [Compiler::Nvcc, Compiler::Clang] {
        let arguments = compiler.arguments(target);
        let run = Command::new(compiler.name()).args(&arguments).arg("-o").arg(&ptx).arg(file).output();
        let output = match run {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(file, &format!("{}: {}", compiler.name(), error_text(&error)))),
            Ok(output) => output,
        };
        if !output.status.success() {
            let command = format!("{} {} {file}", compiler.name(), arguments.join(" "));
            let refused = Diagnostic::unplaced("compiler", format!("`{file}` was not compiled: `{command}` failed"));
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(messages.lines().take(MOST_LINES).fold(refused, Diagnostic::note));
        }
        let text = std::fs::read_to_string(&ptx).map_err(|error| {
            unreadable(file, &format!("{} made no PTX of it: {}", compiler.name(), error_text(&error)))
        })?;
        let source_text = SourceText::new(format!("{file}:{}", module_name(file)), text);
        let mut input = Input::new(source_text, Language::Ptx);
        input.given = file.to_string();
        input.launches = launches(file, source);
        input.facts = facts::facts(file, source);
        return Ok(Reading { inputs: vec![input], ..Reading::default() });
    }
    Err(no_compiler(file))
}

fn no_compiler(file: &str) -> Diagnostic {
    let ptx = Path::new(file).with_extension("ptx");
    let command =
        format!("{} {} {file} -o {}", Compiler::Nvcc.name(), Compiler::Nvcc.arguments(None).join(" "), ptx.display());
    let missing =
        Diagnostic::unplaced("compiler", format!("`{file}` is CUDA source, and neither nvcc nor clang is on the PATH"));
    missing
        .note(format!("where there is one, type: {command}"))
        .note(format!("and then: gpuvcc {file} {}", ptx.display()))
}

#[derive(Clone, Copy, Debug)]
enum Compiler {
    Nvcc,
    Clang,
}

impl Compiler {
    fn name(self) -> &'static str {
        match self {
            Compiler::Nvcc => "nvcc",
            Compiler::Clang => "clang",
        }
    }

    /// What makes PTX with lines.
    fn arguments(self, target: Option<Target>) -> Vec<String> {
        let (fixed, architecture): (&[&str], _) = match self {
            Compiler::Nvcc => (&["-ptx", "-lineinfo"], "-arch="),
            Compiler::Clang => {
                (&["-x", "cuda", "--cuda-device-only", "-S", "-O2", "-gline-tables-only"], "--cuda-gpu-arch=")
            }
        };
        let target = target.map(|target| format!("{architecture}{target}"));
        fixed.iter().copied().map(String::from).chain(target).collect()
    }
}
