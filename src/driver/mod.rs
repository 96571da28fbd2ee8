//! The driver: composes the stages and nothing else.
//!
//! [`cli`] reads arguments, `documents` makes completions and manual pages of them, [`input`] files, `folder` folders and `annotations` files of annotations, `entries` chooses kernels and `parameter_names` names parameters as the source does; [`pipeline`] is one kernel's way through the stages, `stated` what options take for granted,
//! [`lsp`] serves editors, `litmus` judges litmus tests. [`schedule`] runs kernels side by side, `cache` keeps their answers, `shard` chooses those of one machine and [`merge`] puts reports together, and [`crate::jobs`] counts the threads; [`output`] prints what they gave (`output_file`: into a file; `detail`: what a page has of a kernel), and `progress` how far they are.

mod annotations;
mod array_fact;
mod barriers;
mod baseline;
mod baseline_file;
mod blindness;
mod cache;
pub mod cli;
mod cuda;
mod detail;
mod documents;
mod emit;
pub mod emulate;
mod entries;
mod exact;
mod folder;
pub mod input;
mod ivl_kernel;
mod launches;
mod litmus;
pub mod lsp;
mod mend;
pub mod merge;
mod notes;
mod objects;
pub mod options;
mod output;
mod output_file;
mod parameter_names;
mod phases;
pub mod pipeline;
mod preludes;
mod procedures;
mod progress;
pub mod record;
mod redundant;
pub(crate) mod run_options;
mod same_value;
pub(crate) mod schedule;
mod shard;
mod specialised;
mod stated;
mod task;
mod values;

use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::KernelReport;
use crate::ivl::Dialect;
use crate::jobs::{self, Jobs};
use crate::limits;
use crate::pages;
use crate::ptx;
use crate::ptx::mangled;
use crate::stats::Cost;
use annotations::Parsed;
use baseline::Baseline;
use baseline_file::BaselineFile;
use cache::Cache;
use input::{Input, Language};
use launches::{Known, KnownLaunch};
use options::{Format, Options, Stage};
use output::Output;
use pipeline::Program;
use progress::Progress;
use schedule::{Failure, INTERRUPTED_EXIT, Limits, Sink};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use task::{Task, with_known_launch};

/// What came of one kernel.
enum Outcome {
    /// With what an HTML report shows beside it, packed.
    Report(Box<KernelReport>, Option<String>),
    /// The text of a stage.
    Text(String),
    /// The input is wrong for this kernel.
    Wrong(Vec<Diagnostic>),
}

/// Verifies (or prints) the kernels of all files and answers the exit code of the process.
pub fn run(options: &Options) -> u8 {
    jobs::quiet_panics();
    pages::small();
    schedule::listen_for_interrupts();
    let limits = limits_of(options);
    if let Some(tests) = litmus::files(options) {
        return litmus::run(tests, options);
    }
    let mut output = Output::new(options);
    if options.list {
        return list(options, output);
    }
    if !output.is_writable() {
        return output.abandon();
    }
    let inputs = read_inputs(options, &mut output);
    if options.emit == Some(Stage::Tokens) {
        for input in &inputs.inputs {
            output.text(&pipeline::tokens(input));
        }
        return output.finish();
    }
    let (programs, reading) = parse_inputs(&inputs.inputs, options, &mut output);
    let programs = annotations::add(programs, options, &mut output);
    let Some(known) = launches::load(options, &mut output) else { return output.finish() };
    let mut programs = known.require(programs, &mut output);
    specialised::require(&mut programs);
    if options.emit == Some(Stage::Ast) {
        for parsed in &programs {
            output.text(&pipeline::ast(&parsed.program));
        }
        return output.finish();
    }
    let Some(options) = preludes::load(options, &mut output) else { return output.finish() };
    let options = &*options;
    let mut tasks = select_kernels(&inputs, &programs, &known, options, &mut output);
    for task in &mut tasks {
        task.reading = reading.get(task.input.source.name()).cloned().unwrap_or_default();
    }
    let tasks = part_of(tasks, options, &mut output);
    let Some(file) = BaselineFile::read(options, &mut output) else { return output.finish() };
    let jobs = Jobs::new(options.jobs.get());
    let baseline = Baseline::new(&known);
    let cache = Cache::open(options, &tasks, &mut output);
    let progress = Progress::new(options, tasks.len());
    let (file, output) = (Some(file), Some(output));
    let mut answers =
        Answers { tasks: &tasks, options, answered: 0, cache: cache.as_ref(), baseline, file, output, progress };
    let look = |task: &Task| match &cache {
        Some(cache) => cache.answer(task, || look_at(task, options, &jobs)),
        None => look_at(task, options, &jobs),
    };
    schedule::in_order(&jobs, tasks.len(), limits, |index| look(&tasks[index].1), &mut answers);
    let Answers { baseline, file, output, progress, .. } = answers;
    progress.end();
    output.map_or(0, |mut output| {
        output.at(None);
        cache.iter().for_each(|cache| cache.tell(&mut output));
        // A shard does not see all that could be found.
        if options.shard.is_some() {
            return output.finish();
        }
        file.into_iter().for_each(|file| file.finish(&mut output));
        baseline.stale().iter().for_each(|line| output.note(line));
        output.finish()
    })
}

/// The kernels of this machine, with their places in the whole run.
fn part_of<'a>(tasks: Vec<Task<'a>>, options: &Options, output: &mut Output) -> Vec<(usize, Task<'a>)> {
    let Some(shard) = options.shard else { return tasks.into_iter().enumerate().collect() };
    let total = tasks.len();
    let (tasks, facts) = shard::of_run(tasks, shard, options);
    output.note(&format!("shard {}/{}: {} of {total} kernels", shard.number, shard.of, tasks.len()));
    output.is_shard(facts);
    tasks
}

/// What tasks are given: some more time than proofs plan with, so that they answer for themselves.
fn limits_of(options: &Options) -> Limits {
    let memory = options.memory.unwrap_or_else(limits::usual_memory);
    // Z3 counts by itself, and ends what it does; the rest is ours.
    crate::solver::limit_memory(memory / 10 * 8);
    // The stages of an HTML report are another proof.
    let times = if options.format == Format::Html { 2 } else { 1 };
    Limits { time: Some(time_of_verdict(options) * times), memory: Some(memory / 10 * 9) }
}

/// How long after its beginning a task has its verdict, in every format.
fn time_of_verdict(options: &Options) -> Duration {
    // With --redundant as much effort again, and executions.
    let times = if options.redundant { 3 } else { 1 };
    (options.timeout + options.timeout / 10) * times
}

/// Prints the answers of the tasks.
struct Answers<'a> {
    /// With their places in the whole run.
    tasks: &'a [(usize, Task<'a>)],
    options: &'a Options,
    answered: usize,
    /// Tells at the end what it had.
    cache: Option<&'a Cache>,
    /// Findings that the project knows of.
    baseline: Baseline<'a>,
    /// Those of an earlier run; until the end.
    file: Option<BaselineFile<'a>>,
    /// Until the end.
    output: Option<Output<'a>>,
    progress: Progress,
}

impl Answers<'_> {
    /// Prints one.
    fn answer(&mut self, index: usize, outcome: Result<Outcome, Failure>) {
        let Some(output) = &mut self.output else { return };
        let (position, task) = &self.tasks[index];
        output.at(Some(*position));
        let Task { input, entry, program, .. } = task;
        self.answered += 1;
        match outcome {
            Ok(Outcome::Report(mut report, detail)) => {
                self.baseline.mark(input, &mut report);
                self.file.iter_mut().for_each(|file| file.mark(&mut report, &input.source));
                output.report_with(*report, detail, &input.source);
            }
            Ok(Outcome::Text(text)) => output.text(&text),
            Ok(Outcome::Wrong(diagnostics)) => output.wrong_input(&diagnostics, &input.source, Some(entry)),
            Err(Failure::Limit(exceeded)) => {
                let (options, _) = with_known_launch(task, self.options);
                let launch = pipeline::launch_of(program, entry, &options);
                let mut report = KernelReport::new(input.source.name(), entry, launch).stopped(exceeded);
                report.launched = task.launched(&options);
                report.subject = program.subject(entry);
                self.baseline.mark(input, &mut report);
                self.file.iter_mut().for_each(|file| file.mark(&mut report, &input.source));
                output.report_with(report, detail::stopped(&options), &input.source);
            }
            Err(Failure::Panic(message)) => output.internal_error(&message, input.source.name(), entry),
        }
    }
}

impl Sink<Outcome> for Answers<'_> {
    fn done(&mut self, index: usize, outcome: Result<Outcome, Failure>) {
        self.progress.clone().aside(|| self.answer(index, outcome));
    }

    fn progress(&mut self, done: usize, longest: Option<(usize, Duration)>) {
        let longest = longest.map(|(index, time)| (mangled::shown(&self.tasks[index].1.entry), time));
        self.progress.tell(done, longest);
    }

    fn leave(&mut self, interrupted: bool) -> ! {
        self.progress.end();
        let Some(mut output) = self.output.take() else { std::process::exit(INTERRUPTED_EXIT) };
        self.cache.iter().for_each(|cache| cache.tell(&mut output));
        if interrupted {
            output.is_interrupted();
            output.note(&format!("interrupted; {} of {} kernels have an answer", self.answered, self.tasks.len()));
        }
        let code = i32::from(output.finish());
        std::process::exit(if interrupted { INTERRUPTED_EXIT } else { code })
    }
}

/// `--list`: what the files hold.
fn list(options: &Options, mut output: Output) -> u8 {
    for file in &options.files {
        match input::list(file) {
            Ok((text, unread)) => {
                output.text(&text);
                unread.iter().for_each(|(file, diagnostic)| output.unplaced(diagnostic, file));
            }
            Err(diagnostic) => output.unplaced(&diagnostic, file),
        }
    }
    output.finish()
}

/// The texts of all files.
struct Inputs {
    inputs: Vec<Input>,
    /// Whether every file could be read.
    complete: bool,
}

fn read_inputs(options: &Options, output: &mut Output) -> Inputs {
    let mut all = Inputs { inputs: Vec::new(), complete: true };
    for file in &options.files {
        // The source of PTX that is given, too, is read for its launches only.
        let reading = match cuda::ptx_of(file, &options.files) {
            Some(_) => continue,
            None => input::read_all(file, options.target),
        };
        match reading {
            Ok(reading) => {
                all.inputs.extend(reading.inputs);
                reading.notes.iter().for_each(|note| output.note(note));
                all.complete &= reading.unread.is_empty();
                reading.unread.iter().for_each(|(file, diagnostic)| output.unplaced(diagnostic, file));
            }
            Err(diagnostic) => {
                all.complete = false;
                output.unplaced(&diagnostic, file);
            }
        }
    }
    for file in &options.files {
        let Some(ptx) = cuda::ptx_of(file, &options.files) else { continue };
        match input::from_source(file) {
            Ok((launches, facts)) => {
                for input in all.inputs.iter_mut().filter(|input| input.given == ptx) {
                    input.launches.extend(launches.clone());
                    input.facts.extend(facts.clone());
                }
            }
            Err(diagnostic) => {
                all.complete = false;
                output.unplaced(&diagnostic, file);
            }
        }
    }
    all
}

/// What the stages cost that read an input, by its name.
type Reading = BTreeMap<String, Vec<(&'static str, Cost)>>;

fn parse_inputs<'a>(
    inputs: &'a [Input],
    options: &Options,
    output: &mut Output<'a>,
) -> (Vec<(&'a Input, Program)>, Reading) {
    let mut parsed = Parsing { inputs, options, programs: Vec::new(), reading: Reading::new(), output };
    // On a worker, because its stack is large and a panic there is caught.
    let parse = |index: usize| {
        let _stage = limits::stage("ptx");
        let program = pipeline::parse_with(&inputs[index], options.infer_modifies);
        (program, limits::costs().into_iter().filter(|(stage, _)| *stage != "driver").collect())
    };
    schedule::in_order(&Jobs::new(1), inputs.len(), limits_of(options), parse, &mut parsed);
    (parsed.programs, parsed.reading)
}

/// Takes the inputs that parse.
struct Parsing<'a, 'o> {
    inputs: &'a [Input],
    options: &'o Options,
    programs: Vec<(&'a Input, Program)>,
    reading: Reading,
    output: &'o mut Output<'a>,
}

/// A program, and what it cost to read it.
type Read = (Result<Program, Vec<Diagnostic>>, Vec<(&'static str, Cost)>);

impl Sink<Read> for Parsing<'_, '_> {
    fn done(&mut self, index: usize, result: Result<Read, Failure>) {
        let input = &self.inputs[index];
        match result {
            Ok((Ok(mut program), costs)) => {
                self.reading.insert(input.source.name().to_string(), costs);
                if let Program::Ptx(module) = &mut program {
                    parameter_names::use_source(module, input.source.name());
                    if self.options.rules.volatile_races {
                        ptx::weaken_volatile(module);
                    }
                    if let Err(diagnostics) = cuda::facts::require(&input.facts, module) {
                        return diagnostics.iter().for_each(|one| self.output.unplaced(one, &input.given));
                    }
                }
                self.programs.push((input, program));
            }
            Ok((Err(diagnostics), _)) => self.output.wrong_input(&diagnostics, &input.source, None),
            Err(Failure::Limit(exceeded)) => {
                let report = KernelReport::new(input.source.name(), "(all kernels)", Default::default());
                self.output.report(report.stopped(exceeded), &input.source);
            }
            Err(Failure::Panic(message)) => self.output.internal_error(&message, input.source.name(), "(parser)"),
        }
    }

    fn leave(&mut self, interrupted: bool) -> ! {
        if interrupted {
            self.output.is_interrupted();
        }
        let code = i32::from(self.output.end());
        std::process::exit(if interrupted { INTERRUPTED_EXIT } else { code })
    }
}

/// The kernels in the order of the files and of their texts; a name that no file has is an error.
fn select_kernels<'a>(
    inputs: &Inputs,
    programs: &'a [Parsed],
    known: &'a Known,
    options: &Options,
    output: &mut Output,
) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    let mut all_names: Vec<(&Program, String)> = Vec::new();
    let with_kernels = programs.iter().filter(|parsed| !parsed.program.kernels().is_empty());
    let with_kernels: BTreeSet<&str> = with_kernels.map(|parsed| parsed.input.given.as_str()).collect();
    let wanted = entries::wanted(programs, options, inputs.complete && programs.len() == inputs.inputs.len(), output);
    for Parsed { input, program, annotated } in programs {
        let names = program.kernels();
        // A module of a file or folder may hold device functions only, if others have kernels.
        if names.is_empty() && !with_kernels.contains(input.given.as_str()) {
            let file = input.source.name();
            if input.language == Language::Ivl(Dialect::Boogie) {
                output.nothing_to_prove(file);
                continue;
            }
            output.unplaced(
                &Diagnostic::unplaced("no-kernel", format!("`{file}` has no kernel (no `.entry` with a body)")),
                file,
            );
        }
        for name in names {
            if options.entries.is_empty() || wanted.contains(&name) {
                let launches = known_launches(known, input, program, &name, options);
                tasks.extend(launches.into_iter().map(|launch| Task {
                    input,
                    program,
                    entry: name.clone(),
                    launch,
                    annotated: annotated.as_deref(),
                    reading: Vec::new(),
                }));
            }
            all_names.push((program, name));
        }
    }
    // Unreadable files may hold the kernel; their own errors say enough.
    if inputs.complete && programs.len() == inputs.inputs.len() {
        known.tell_unused(options, &all_names, output);
    }
    tasks
}

/// The launches of a kernel that are looked at, each by itself; `None`: the one of the options.
fn known_launches<'a>(
    known: &'a Known,
    input: &'a Input,
    program: &Program,
    entry: &str,
    options: &Options,
) -> Vec<Option<&'a KnownLaunch>> {
    if options.block_is_given || options.grid_is_given {
        return vec![None];
    }
    let known = known.of_kernel(input, program, entry);
    if known.is_empty() { vec![None] } else { known.into_iter().map(Some).collect() }
}

fn look_at(task: &Task<'_>, options: &Options, jobs: &Jobs) -> Outcome {
    let Task { input, program, entry, annotated, reading, .. } = task;
    let (options, mut told) = with_known_launch(task, options);
    told.extend(annotated.map(str::to_string));
    told.extend(preludes::trusted(&options));
    let result = match options.emit {
        Some(stage) => pipeline::emit(input, program, entry, stage, &options).map(Outcome::Text),
        None if options.format == Format::Dot => {
            barriers::of_kernel(input, program, entry, &options).map(Outcome::Text)
        }
        None => {
            let verify = || pipeline::verify_and(input, program, entry, &options, jobs);
            limits::until(time_of_verdict(&options), verify).map(|(report, conditions)| {
                let detail = detail::packed(task, &options, &report, &conditions, jobs);
                Outcome::Report(Box::new(report), detail)
            })
        }
    };
    let mut outcome = result.unwrap_or_else(|diagnostics| refused(diagnostics, task, &options));
    match &mut outcome {
        Outcome::Report(report, _) => {
            report.target = input.target.map(|target| target.to_string());
            report.assumptions.extend(told);
            report.launched = task.launched(&options);
            if options.stats {
                report.costs = reading.iter().copied().chain(limits::costs()).collect();
            }
        }
        Outcome::Wrong(diagnostics) => {
            let is_about_launch = |code: &str| ["launch-size", "parameter"].contains(&code);
            for diagnostic in diagnostics.iter_mut().filter(|diagnostic| is_about_launch(diagnostic.code)) {
                diagnostic.notes.extend(told.clone());
            }
        }
        Outcome::Text(_) => {}
    }
    outcome
}

/// Stages answer errors and what they cannot model alike; only the former is a wrong input.
fn refused(diagnostics: Vec<Diagnostic>, task: &Task<'_>, options: &Options) -> Outcome {
    let Task { input, program, entry, .. } = task;
    if diagnostics.is_empty() {
        panic!("driver: a stage refused {entry} without saying why");
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Outcome::Wrong(diagnostics);
    }
    let launch = pipeline::launch_of(program, entry, options);
    let report = KernelReport::new(input.source.name(), entry, launch).unsupported(diagnostics);
    let detail = detail::packed(task, options, &report, &[], &Jobs::new(0));
    Outcome::Report(Box::new(report), detail)
}
