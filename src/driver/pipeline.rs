//! One kernel's way through the stages.

use super::cli::{Options, Stage};
use super::input::Input;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::verdict::finding::KernelReport;

/// A parsed input.
pub enum Program {
    /// PTX.
    Ptx(crate::ptx::ast::Module),
    /// A kernel program in the IVL.
    Ivl(crate::ivl::ast::Program),
}

impl Program {
    /// Names of the kernels, in the order of the text.
    pub fn kernels(&self) -> Vec<String> {
        match self {
            Program::Ptx(module) => {
                let entries = module.functions.iter().filter(|function| function.is_entry && function.body.is_some());
                entries.map(|entry| entry.name.to_string()).collect()
            }
            Program::Ivl(program) => {
                let kernel = |attribute: &crate::ivl::ast::Attribute| attribute.name.as_str() == "kernel";
                let kernels = program.procedures.iter().filter(|procedure| procedure.attributes.iter().any(kernel));
                kernels.map(|procedure| procedure.name.to_string()).collect()
            }
        }
    }
}

/// Parses an input; all errors that can be told apart.
pub fn parse(_input: &Input) -> Result<Program, Vec<Diagnostic>> {
    Err(not_wired())
}

/// `--emit tokens`
pub fn tokens(_input: &Input) -> String {
    String::new()
}

/// `--emit ast`
pub fn ast(_program: &Program) -> String {
    String::new()
}

/// Verifies a kernel. `Err`: errors in the input for this kernel, or what has no sound model.
pub fn verify(
    _input: &Input,
    _program: &Program,
    _entry: &str,
    _options: &Options,
) -> Result<KernelReport, Vec<Diagnostic>> {
    Err(not_wired())
}

/// The text of a stage from `cfg` on. `Err` as for [`verify`].
pub fn emit(
    _input: &Input,
    _program: &Program,
    _entry: &str,
    _stage: Stage,
    _options: &Options,
) -> Result<String, Vec<Diagnostic>> {
    Err(not_wired())
}

fn not_wired() -> Vec<Diagnostic> {
    vec![Diagnostic::error("internal-error", "the stages are not wired yet", Span::NONE)]
}
