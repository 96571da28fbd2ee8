//! `gpuvcc run`: one kernel, one launch, one execution.

use super::input::{Language, LaunchFile};
use super::launches::Known;
use super::options::Format;
use super::output::Output;
use super::pipeline::Program;
use super::run_options::RunOptions;
use super::task::Task;
use super::{annotations, barriers, parse_inputs, read_inputs, schedule, select_kernels, stated};
use crate::confirm::{execution, waiting};
use crate::diagnostic::{Diagnostic, Severity};
use crate::exec::{self, binding, launch::Contents, launch::Launch, launch::check_sizes};
use crate::finding::KernelReport;
use crate::geometry::Geometry;
use crate::jobs::{self, Jobs};
use crate::ptx::ast::{Function, Module};
use std::borrow::Cow;
use std::time::Instant;

/// An execution of so many instructions runs once more for each finding whose steps are told.
pub(super) const TOLD_STEPS: u64 = 20_000_000;

/// Findings whose steps are told.
const TOLD_FINDINGS: usize = 5;

/// Emulates a kernel and answers the exit code of the process.
pub fn run(options: &RunOptions) -> u8 {
    jobs::quiet_panics();
    let mut output = Output::new(&options.common);
    let inputs = read_inputs(&options.common, &mut output);
    let (parsed, _) = parse_inputs(&inputs.inputs, &options.common, &mut output);
    let programs = annotations::add(parsed, &options.common, &mut output);
    let known = Known::default();
    let tasks = select_kernels(&inputs, &programs, &known, &options.common, &mut output);
    let [task] = &tasks[..] else {
        if let [first, ..] = &tasks[..] {
            let same_input = tasks.iter().all(|task| std::ptr::eq(task.input, first.input));
            let name = |task: &Task| match same_input {
                true => task.entry.clone(),
                false => format!("{} in {}", task.entry, task.input.source.name()),
            };
            let names: Vec<String> = tasks.iter().map(name).collect();
            let message = format!("the file has {} kernels; choose one with --entry", tasks.len());
            let diagnostic =
                Diagnostic::unplaced("no-such-entry", message).note(format!("there are: {}", names.join(", ")));
            output.unplaced(&diagnostic, first.input.source.name());
        }
        return output.finish();
    };
    let (file, source) = (task.input.source.name(), &task.input.source);
    let Program::Ptx(module) = task.program else {
        let diagnostic = Diagnostic::unplaced("not-emulated", format!("`{file}` is no PTX; only PTX is emulated"));
        output.unplaced(&diagnostic, file);
        return output.finish();
    };
    debug_assert_eq!(task.input.language, Language::Ptx);
    let options = with_launch_file(task, options);
    task.annotated.into_iter().for_each(|note| output.note(note));
    if options.common.format == Format::Dot {
        draw(task, module, &options, &mut output);
        return output.finish();
    }
    // On a worker, because a panic there is caught.
    let work = |_| emulate(file, module, &task.entry, &options);
    schedule::all(&Jobs::new(1), 1, work, |_, result| match result {
        Ok(Ok((mut report, seconds))) => {
            report.target = task.input.target.map(|target| target.to_string());
            report.assumptions = stated::by_rules(options.common.rules).collect();
            if options.stats {
                print_stats(&report, seconds);
            }
            output.report(report, source);
        }
        Ok(Err(diagnostic)) if diagnostic.severity == Severity::Error => {
            output.wrong_input(&[*diagnostic], source, Some(&task.entry));
        }
        Ok(Err(diagnostic)) => {
            let report = KernelReport::new(file, &task.entry, Default::default()).unsupported(vec![*diagnostic]);
            output.report(report, source);
        }
        Err(message) => output.internal_error(&message, file, &task.entry),
    });
    output.finish()
}

/// The options with the launch that lies beside the input, where they do not say otherwise.
fn with_launch_file<'a>(task: &Task<'_>, options: &'a RunOptions) -> Cow<'a, RunOptions> {
    let file = task.input.launch.as_ref().filter(|file| file.launch.is_for(&task.entry));
    let Some(LaunchFile { launch, .. }) = file else { return Cow::Borrowed(options) };
    let options = RunOptions {
        block: options.block.or(Some(launch.block())),
        dynamic_shared: options.dynamic_shared.or(launch.shared_bytes),
        cluster: options.cluster.or(launch.has_clusters().then_some(launch.cluster)),
        ..options.clone()
    };
    Cow::Owned(options)
}

/// The graph of barriers, instead of a report.
fn draw<'a>(task: &Task<'a>, module: &Module, options: &RunOptions, output: &mut Output<'a>) {
    let (file, source) = (task.input.source.name(), &task.input.source);
    let work = |_| barriers::of_run(file, module, &task.entry, options);
    schedule::all(&Jobs::new(1), 1, work, |_, result| match result {
        Ok(Ok(text)) => output.text(&text),
        Ok(Err(diagnostic)) => output.wrong_input(&[*diagnostic], source, Some(&task.entry)),
        Err(message) => output.internal_error(&message, file, &task.entry),
    });
}

fn print_stats(report: &KernelReport, seconds: f64) {
    if let Some(execution) = report.execution {
        let rate = execution.instructions as f64 / seconds.max(1e-9) / 1e6;
        eprintln!("{} thread-instructions in {seconds:.3} s: {rate:.1} million a second", execution.instructions);
    }
}

/// Emulates one kernel of a module: the report, and the seconds that it took.
pub fn emulate(
    file: &str,
    module: &Module,
    name: &str,
    options: &RunOptions,
) -> Result<(KernelReport, f64), Box<Diagnostic>> {
    let number = module.functions.iter().position(|function| function.is_entry && *function.name == *name);
    let number = number.unwrap_or_else(|| panic!("driver: the kernel {name} is lost"));
    let entry = &module.functions[number];
    let launch = launch(module, entry, options, u64::MAX)?;
    let started = Instant::now();
    let run = exec::run(module, number, &launch)?;
    let seconds = started.elapsed().as_secs_f64();
    let mut report = execution::report(file, module, entry, &launch, &run);
    if run.outcome.instructions <= TOLD_STEPS {
        for finding in report.findings.iter_mut().take(TOLD_FINDINGS) {
            waiting::explain(module, number, &launch, finding);
        }
    }
    report.time_ms = (seconds * 1000.0) as u64;
    Ok((report, seconds))
}

/// Blocks of a cluster at most.
const LARGEST_CLUSTER: u32 = 16;

/// Whether there is such a cluster.
pub(super) fn check_cluster(geometry: Geometry<u32>, cluster: [u32; 3]) -> Result<(), String> {
    let Geometry { grid, .. } = geometry;
    let blocks = cluster.iter().try_fold(1u32, |all, size| all.checked_mul(*size)).unwrap_or(u32::MAX);
    match () {
        () if blocks == 1 => Ok(()),
        () if !(2..=LARGEST_CLUSTER).contains(&blocks) => Err("a cluster has 1 to 16 blocks".to_string()),
        () if grid.iter().zip(cluster).any(|(grid, cluster)| !grid.is_multiple_of(cluster)) => {
            Err("the sizes of the grid are no multiples of those of the cluster".to_string())
        }
        () if !geometry.block_threads().is_multiple_of(32) => {
            Err("blocks of clusters with a part of a warp are not emulated".to_string())
        }
        () => Ok(()),
    }
}

/// The launch that options ask for, with a limit on the instructions of all threads.
///
/// # Errors
/// Sizes or arguments that do not fit.
pub(super) fn launch(
    module: &Module,
    entry: &Function,
    options: &RunOptions,
    total_steps: u64,
) -> Result<Launch, Box<Diagnostic>> {
    let block = options.block.or(entry.required_block).unwrap_or([32, 1, 1]);
    let cluster = options.cluster.or(entry.required_cluster).unwrap_or([1; 3]);
    // One cluster, where no grid is given.
    let geometry = Geometry { block, grid: if options.grid == [1; 3] { cluster } else { options.grid } };
    check_sizes(geometry).map_err(|message| Diagnostic::error("argument", message, entry.span))?;
    check_cluster(geometry, cluster)
        .and_then(|()| match options.only_blocks {
            Some(_) if cluster != [1; 3] => Err("`--only-blocks` and `--cluster` exclude each other".to_string()),
            _ => Ok(()),
        })
        .map_err(|message| Diagnostic::error("argument", message, entry.span))?;
    let bound = binding::bind(module, entry, &options.arguments)?;
    Ok(Launch {
        geometry,
        cluster,
        parameters: bound.parameters,
        arrays: bound.arrays,
        dynamic_shared: options.dynamic_shared.unwrap_or(0),
        shared_buffers: bound.shared_buffers,
        contents: Contents::Any { seed: options.seed },
        schedule: options.schedule,
        completion: options.completion.unwrap_or(options.schedule.completion()),
        seed: options.seed,
        thread_steps: options.steps,
        total_steps,
        blocks: options.only_blocks.clone(),
        races: options.races,
        rules: options.common.rules,
    })
}
