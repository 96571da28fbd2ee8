//! The barrier dependence graph of a kernel as the answer (`--format dot`).
//!
//! Input: a kernel and a launch. Output: a digraph, or why there is no execution to draw. Establishes: nothing about the
//! kernel; what is drawn is one execution, which speaks for others only where the verdict in its title is a proof. Relies on:
//! [`barriers`]. Reference: that of [`barriers`].

use super::exact;
use super::input::Input;
use super::options::{Engine, Options};
use super::pipeline::Program;
use super::run_options::RunOptions;
use crate::confirm::{barriers, execution};
use crate::diagnostic::Diagnostic;
use crate::exec;
use crate::finding::{BarrierGraph, KernelReport, Verdict};
use crate::ptx::ast::Module;
use crate::ptx::mangled;
use crate::report::dot;
use crate::report::text::launch_text;
use crate::sync;

/// The code of a kernel without a graph.
const CODE: &str = "no-barrier-graph";

fn print(graph: &BarrierGraph, report: &KernelReport) -> String {
    let name = mangled::shown(&report.entry);
    let launch = report.findings.first().and_then(|finding| finding.launch).unwrap_or(report.launch);
    let title = format!("{name}: {}, {}", report.verdict.name(), launch_text(&launch));
    dot::print(graph, &name, &title)
}

/// The graph of a kernel that the exact engine looks at.
///
/// # Errors
/// Where the engine is not asked, where it refuses the kernel, and where no thread comes to a barrier.
pub(super) fn of_kernel(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
) -> Result<String, Vec<Diagnostic>> {
    let none = |message: String| Diagnostic::unplaced(CODE, message);
    let is_asked = match (program, options.engine) {
        (Program::Ptx(_), Engine::Exact) => true,
        (Program::Ptx(module), Engine::Auto) => sync::is_for(module),
        _ => false,
    };
    if !is_asked {
        let message =
            format!("`{entry}` is not executed for its verdict, so there are no generations of barriers to draw");
        let notes = "`--engine exact` executes it once, in the launch of --block and --grid; `gpuvcc run --format dot` draws an \
                     execution with arguments";
        return Err(vec![none(message).note(notes.to_string())]);
    }
    let report = exact::verify(input, program, entry, options)?;
    match &report.barriers {
        Some(graph) => Ok(print(graph, &report)),
        None if report.verdict == Verdict::Unsupported => Err(report.diagnostics),
        None => {
            let message = format!("no thread of `{entry}` came to a barrier");
            let reasons = report.reasons.iter().map(|reason| reason.message.clone());
            Err(vec![reasons.fold(none(message), Diagnostic::note)])
        }
    }
}

/// The graph of one execution.
///
/// # Errors
/// Arguments that do not fit, what the emulator lacks, and where no thread comes to a barrier.
pub(super) fn of_run(file: &str, module: &Module, name: &str, options: &RunOptions) -> Result<String, Box<Diagnostic>> {
    let number = module.functions.iter().position(|function| function.is_entry && *function.name == *name);
    let number = number.unwrap_or_else(|| panic!("driver: the kernel {name} is lost"));
    let entry = &module.functions[number];
    let launch = super::emulate::launch(module, entry, options, u64::MAX)?;
    let run = exec::run(module, number, &launch)?;
    let report = execution::report(file, module, entry, &launch, &run);
    let graph = barriers::graph(module, number, &launch, None).ok_or_else(|| {
        Diagnostic::unplaced(CODE, format!("no thread of `{name}` came to a barrier in this execution"))
    })?;
    Ok(print(&graph, &report))
}
