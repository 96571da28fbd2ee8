//! The command that the report of a confirmed finding prints, run in process.

use super::run::summary;
use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::emulate;
use gpuvcc::finding::{Defect, Finding, KernelReport};
use gpuvcc::ptx::ast::Module;
use std::collections::BTreeSet;

/// PTX lines of a finding's accesses.
pub fn lines(finding: &Finding) -> BTreeSet<u32> {
    finding.accesses.iter().map(|access| access.origin.line).collect()
}

/// Runs the command of a finding: the same lines have to race, or threads to wait there.
///
/// # Errors
/// What the command shows instead.
pub fn shows(command: &str, module: &Module, finding: &Finding) -> Result<(), String> {
    let shown = run(command, module)?;
    let same = |other: &Finding| match finding.defect {
        Defect::Divergence => {
            let waits = matches!(other.defect, Defect::Divergence | Defect::Deadlock);
            waits && finding.barrier.as_ref().is_some_and(|barrier| lines(other).contains(&barrier.line))
        }
        defect => other.defect == defect && lines(other) == lines(finding),
    };
    if shown.findings.iter().any(same) {
        return Ok(());
    }
    Err(format!("`{command}` does not show the finding\nbut {}\n{}", shown.verdict.name(), summary(&shown)))
}

/// The report of a `gpuvcc run` command on a module that is read already.
fn run(command: &str, module: &Module) -> Result<KernelReport, String> {
    // Words in single quotes contain no spaces and no quotes here.
    let words = command.split(' ').map(|word| word.replace('\'', ""));
    let options = match cli::parse(words) {
        Ok(Command::Run(options)) => options,
        Ok(_) => return Err(format!("`{command}` is no run")),
        Err(error) => return Err(error.to_string()),
    };
    let entry = options.common.entries.first().ok_or("the command names no entry")?;
    let file = options.common.files.first().map_or("kernel.ptx", String::as_str);
    let (report, _) = emulate::emulate(file, module, entry, &options).map_err(|diagnostic| diagnostic.message)?;
    Ok(report)
}
