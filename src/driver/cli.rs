//! The command line.
//!
//! Input: arguments. Output: a [`Command`] with [`Options`] as plain data, or a usage error that
//! clap prints (exit code 2). Establishes: sizes are at least 1, fixed sizes fit `--max-threads` and a
//! block that GPUs can launch, no name of a parameter is given twice, `--format` fits what is printed.
//! Reference: CUDA C++ Programming Guide, technical specifications by compute capability.

use super::documents;
use super::lsp::LspOptions;
use super::options::{Arithmetic, Assumption, Color, Engine, Format, Options, PreludeChoice, Stage, UNROLL};
use super::record::RecordOptions;
use super::run_options::{self, RunArguments, RunOptions};
use super::shard::ShardOf;
use super::values::{ParameterSetting, Sizes, parse_family, parse_parameter, parse_sizes, parse_tensor};
use crate::aliases::Aliases;
use crate::container::target::Target;
use crate::exec::command::quoted;
use crate::exec::tensor_argument::TensorArgument;
use crate::finding::FailOn;
use crate::geometry::{Geometry, unlaunchable_block};
use crate::report::explain;
use crate::rules::Rules;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::time::Duration;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Verify, or print a stage.
    Verify(Box<Options>),
    /// Emulate.
    Run(Box<RunOptions>),
    /// Run a program and write down its launches.
    Record(RecordOptions),
    /// Make one report of those in these files.
    Merge(Vec<String>),
    /// Explain a code, or list all.
    Explain(Option<String>),
    /// Serve an editor.
    Lsp(LspOptions),
    /// A text that is made from the command line: completions, a manual page.
    Print(Vec<u8>),
}

fn parse_prelude(text: &str) -> Result<PreludeChoice, std::convert::Infallible> {
    Ok(match text {
        "watched-byte" => PreludeChoice::WatchedByte,
        "logging-sets" => PreludeChoice::LoggingSets,
        file => PreludeChoice::File(file.to_string()),
    })
}

/// Proves that GPU kernels in PTX have no data race and no barrier divergence.
#[derive(Parser)]
#[command(name = "gpuvcc", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
#[command(disable_help_subcommand = true, subcommand_negates_reqs = true, after_help = EXIT_CODES)]
#[command(override_usage = USAGE, disable_version_flag = true, disable_help_flag = true)]
struct Arguments {
    /// .ptx, .cu, .ivl, .bpl or .litmus, a binary with PTX in it, or a folder; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Only PTX for sm_90 or the like  [default: of a binary the highest]
    #[arg(long, value_name = "TARGET")]
    target: Option<Target>,
    /// Print which modules the files hold
    #[arg(long, conflicts_with_all = ["emit", "entries"])]
    list: bool,
    /// Only this kernel (repeatable)
    #[arg(long = "entry", value_name = "NAME")]
    entries: Vec<String>,
    /// Threads a block; axes left out are 1  [default: .reqntid, else *]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parse_sizes)]
    block: Option<Sizes>,
    /// Blocks; a lone * frees all three axes  [default: *]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = parse_sizes)]
    grid: Option<Sizes>,
    /// Blocks of a cluster  [default: .reqnctapercluster]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = run_options::sizes)]
    cluster: Option<run_options::Sizes>,
    /// Launches have fewer threads than this  [default: 2^31]
    #[arg(long, value_name = "N", default_value = "2147483648", hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=1 << 62))]
    max_threads: u64,
    /// Fix a scalar parameter, by name or position from 0 (repeatable)
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parse_parameter)]
    params: Vec<ParameterSetting>,
    /// A tensor map, as an argument of `gpuvcc run` is one (repeatable)
    #[arg(long = "tensor", value_name = "NAME=SPEC", value_parser = parse_tensor)]
    tensors: Vec<(String, TensorArgument)>,
    /// Launches with their scalars, a JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["block", "grid"])]
    launches: Option<String>,
    /// Launches and requirements of kernels  [default: gpuvcc.toml]
    #[arg(long, value_name = "FILE")]
    project: Option<String>,
    /// Annotations kept apart from the PTX  [default: FILE.gpuvcc]
    #[arg(long, value_name = "FILE")]
    annotations: Option<String>,
    /// Findings of an earlier run, which fail no run
    #[arg(long, value_name = "FILE")]
    baseline: Option<String>,
    /// Write the findings of this run, for --baseline
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<String>,
    /// These exit with 1, all others with 0: race, possible, unknown, any
    #[arg(long, value_name = "VERDICT,...")]
    fail_on: Option<FailOn>,
    /// Folder of answers that are kept  [default: $GPUVCC_CACHE]
    #[arg(long, value_name = "FOLDER")]
    cache: Option<String>,
    /// Only this part of the kernels, such as 3/16; see merge
    #[arg(long, value_name = "I/N")]
    shard: Option<ShardOf>,
    /// Print instead of verify: tokens ast cfg kernel slice order predicated twothread ivl ivl=full candidates passive vc smt2
    #[arg(long, value_name = "STAGE", hide_possible_values = true)]
    emit: Option<Stage>,
    /// Of the invariants of --emit ivl only those that the proof uses
    #[arg(long)]
    minimal: bool,
    /// text (default) short json sarif junit html; dot: barriers, cfg
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    #[arg(hide_possible_values = true)]
    format: Format,
    /// Where the output goes  [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Time for a kernel
    #[arg(long, value_name = "SECS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
    timeout: u32,
    /// 10^6 bytes for the process  [default: 3/4 of the machine's]
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(100..=1 << 30))]
    memory: Option<u64>,
    /// Threads for kernels and their parts  [default: one a core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Which barriers and fences of a verified kernel can go: tries each
    #[arg(long)]
    redundant: bool,
    /// What holds whenever a thread is at the head of a loop
    #[arg(long)]
    invariants: bool,
    /// Verdict lines only
    #[arg(long)]
    quiet: bool,
    /// What each stage cost: time, effort, queries, contexts, candidates
    #[arg(long)]
    stats: bool,
    /// auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: Color,
    /// Tell defects with unlikely parameters, too: n = 0, pitch < width
    #[arg(long)]
    any_values: bool,
    /// Two writes of the same value do not race
    #[arg(long)]
    allow_same_value: bool,
    /// Volatile accesses race as plain ones do
    #[arg(long)]
    volatile_races: bool,
    /// Pointers may refer to the same array
    #[arg(long)]
    may_alias: bool,
    /// Known, so that it is refused by name: no stage has the old hardware model.
    #[arg(long, hide = true)]
    warp_lockstep: bool,
    /// "ok": threads that have exited count as arrived at barriers
    #[arg(long, value_name = "ok", hide_possible_values = true)]
    exited_threads: Option<ExitedThreads>,
    /// "arbitrary": functions without a body give anything, and no more
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    unknown_functions: Option<UnknownFunctions>,
    /// tensor-order: tensor memory needs no `tcgen05.fence`
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    assume: Vec<Assumption>,
    /// Prove that accesses stay inside arrays of known size
    #[arg(long)]
    check_bounds: bool,
    /// Let procedures in Boogie leave out `modifies`
    #[arg(long)]
    infer_modifies: bool,
    /// What a race is: watched-byte (default), logging-sets or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "watched-byte", value_parser = parse_prelude)]
    #[arg(hide_default_value = true)]
    prelude: PreludeChoice,
    /// auto, int or bv: arithmetic of the formulas
    #[arg(long, value_name = "KIND", default_value = "auto", hide_possible_values = true)]
    arith: Arithmetic,
    /// auto (default), symbolic or exact: one execution decides for all
    #[arg(long, value_name = "NAME", default_value = "auto", hide_possible_values = true)]
    #[arg(hide_default_value = true)]
    engine: Engine,
    /// Try no invariants of this family (repeatable)
    #[arg(long = "omit-family", value_name = "NAME", value_parser = parse_family)]
    omit_families: Vec<&'static str>,
    /// Memory model of litmus tests, in the .cat language  [default: PTX]
    #[arg(long, value_name = "FILE")]
    model: Option<String>,
    /// Copies of loops in litmus tests  [default: 3]
    #[arg(long, value_name = "N")]
    unroll: Option<NonZeroUsize>,
    /// Everybody knows both, and the help has to fit a screen; commands have `--help`, too.
    #[arg(short = 'V', long, action = clap::ArgAction::Version, hide = true)]
    version: Option<bool>,
    #[arg(short, long, global = true, action = clap::ArgAction::Help, hide = true)]
    help: Option<bool>,
    #[command(subcommand)]
    command: Option<OtherCommand>,
}

/// The folder of `--cache`, where the command line names none.
const CACHE_VARIABLE: &str = "GPUVCC_CACHE";

const USAGE: &str = "\
gpuvcc [OPTIONS] FILE...      Verify the kernels, or print a stage
       gpuvcc run [OPTIONS] FILE     Emulate one launch and look for races while it runs
       gpuvcc record -- PROGRAM...   Run a program and write down its launches, for --launches
       gpuvcc merge FILE...          Make one report of JSON reports (or SARIF logs), of shards or others
       gpuvcc explain [CODE|OPCODE]  What a code or an instruction means; lists all codes without one
       gpuvcc lsp [OPTIONS]          Serve an editor; gpuvcc man: the manual page; completions SHELL";

const EXIT_CODES: &str = "\
Exit:  0 verified or printed; 1 a confirmed defect; 2 bad usage or input; 3 other; 4 internal error";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExitedThreads {
    Ok,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnknownFunctions {
    Arbitrary,
}

#[derive(Subcommand)]
enum OtherCommand {
    /// What a code or an instruction means; lists all codes without one
    #[command(override_usage = "gpuvcc explain [CODE|OPCODE]", hide = true)]
    Explain {
        /// A code of a message, such as race, or an instruction, such as ld.global
        code: Option<String>,
    },
    /// Emulate one launch and look for races while it runs
    #[command(hide = true)]
    Run(Box<RunArguments>),
    /// Run a program on a machine with a GPU, and write down each different launch of its kernels
    #[command(override_usage = "gpuvcc record [-o FILE] -- PROGRAM [ARGUMENTS]...", hide = true)]
    Record {
        /// Where launches are written, a JSON object a line
        #[arg(short, long, value_name = "FILE", default_value = "launches.jsonl")]
        output: String,
        /// The program with its arguments; its exit code is that of gpuvcc
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
        command: Vec<OsString>,
    },
    /// Make one report of several, on standard output: JSON of JSON, or SARIF of SARIF; no other format can be merged
    #[command(override_usage = "gpuvcc merge FILE...", hide = true)]
    Merge {
        /// Reports of --format json, or logs of --format sarif: all shards of a run (--shard), or of different files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Serve an editor over standard input and output (Language Server Protocol)
    #[command(override_usage = "gpuvcc lsp [OPTIONS]", hide = true)]
    Lsp {
        /// Time for a kernel
        #[arg(long, value_name = "SECS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
        timeout: u32,
        /// Threads of a verification  [default: one a core]
        #[arg(long, value_name = "N")]
        jobs: Option<NonZeroUsize>,
        /// What editors pass who can talk over sockets, too: there is no other way
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Print the completions for a shell
    #[command(hide = true)]
    Completions {
        /// bash, elvish, fish, powershell or zsh
        #[arg(value_name = "SHELL", hide_possible_values = true)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page: gpuvcc man | man -l -
    #[command(hide = true)]
    Man {
        /// The page of another command: run, record, merge, explain, lsp, completions or man
        command: Option<String>,
    },
}

/// Reads the arguments of the process. Errors and `--help` are clap's, ready to print.
pub fn parse<I, T>(arguments: I) -> Result<Command, clap::Error>
where
    I: IntoIterator<Item = T>,
    T: Into<std::ffi::OsString> + Clone,
{
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let command = command_text(&arguments);
    let arguments = Arguments::try_parse_from(arguments)?;
    match arguments.command {
        Some(OtherCommand::Explain { code: Some(code) }) => match explain::page(&code) {
            Ok(_) => Ok(Command::Explain(Some(code))),
            Err(message) => Err(usage_error(ErrorKind::InvalidValue, message)),
        },
        Some(OtherCommand::Explain { code: None }) => Ok(Command::Explain(None)),
        Some(OtherCommand::Record { output: file, command }) => Ok(Command::Record(RecordOptions { file, command })),
        Some(OtherCommand::Merge { files }) => Ok(Command::Merge(files)),
        Some(OtherCommand::Lsp { timeout, jobs, stdio: _ }) => {
            Ok(Command::Lsp(LspOptions { timeout: Duration::from_secs(u64::from(timeout)), jobs }))
        }
        Some(OtherCommand::Completions { shell }) => {
            Ok(Command::Print(documents::completions(Arguments::command(), shell)))
        }
        Some(OtherCommand::Man { command }) => match documents::manual(Arguments::command(), command.as_deref()) {
            Ok(page) => Ok(Command::Print(page)),
            Err(message) => Err(usage_error(ErrorKind::InvalidValue, message)),
        },
        Some(OtherCommand::Run(arguments)) => match run_options::options(*arguments) {
            Ok(options) => Ok(Command::Run(Box::new(options))),
            Err(message) => Err(usage_error(ErrorKind::ArgumentConflict, message)),
        },
        None => options(arguments).map(|options| Command::Verify(Box::new(Options { command, ..options }))),
    }
}

/// The command as a shell takes it, without the file that the output goes to.
fn command_text(arguments: &[OsString]) -> String {
    let mut words = vec!["gpuvcc".to_string()];
    let mut is_file = false;
    for argument in arguments.iter().skip(1).map(|argument| argument.to_string_lossy()) {
        let is_output = argument == "-o" || argument == "--output";
        let has_file = argument.starts_with("--output=") || argument.starts_with("-o") && !argument.starts_with("--");
        if !is_file && !is_output && !has_file {
            words.push(quoted(&argument));
        }
        is_file = is_output && !is_file;
    }
    words.join(" ")
}

fn options(arguments: Arguments) -> Result<Options, clap::Error> {
    if arguments.warp_lockstep {
        return Err(usage_error(ErrorKind::UnknownArgument, "`--warp-lockstep` is not in this version"));
    }
    let all_cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let options = Options {
        files: arguments.files,
        target: arguments.target,
        list: arguments.list,
        entries: arguments.entries,
        dynamic_shared: None,
        block_is_given: arguments.block.is_some(),
        grid_is_given: arguments.grid.is_some(),
        cluster: arguments.cluster.map(|sizes| sizes.0),
        tensors: arguments.tensors,
        geometry: Geometry {
            block: arguments.block.map_or([None; 3], |sizes| sizes.0),
            grid: arguments.grid.map_or([None; 3], |sizes| sizes.0),
        },
        max_threads: arguments.max_threads,
        params: arguments.params,
        known_params: Vec::new(),
        known_words: Vec::new(),
        known_aliases: Aliases::default(),
        launches: arguments.launches,
        project: arguments.project,
        annotations: arguments.annotations,
        baseline: arguments.baseline,
        write_baseline: arguments.write_baseline,
        fail_on: arguments.fail_on,
        cache: arguments.cache.or_else(|| std::env::var(CACHE_VARIABLE).ok()).filter(|folder| !folder.is_empty()),
        shard: arguments.shard,
        emit: arguments.emit,
        minimal: arguments.minimal,
        format: arguments.format,
        output: arguments.output,
        command: String::new(),
        timeout: Duration::from_secs(u64::from(arguments.timeout)),
        memory: arguments.memory.map(|megabytes| megabytes * 1_000_000),
        jobs: arguments.jobs.unwrap_or_else(all_cores),
        quiet: arguments.quiet,
        redundant: arguments.redundant,
        invariants: arguments.invariants,
        stats: arguments.stats,
        color: arguments.color,
        rules: Rules {
            allow_same_value: arguments.allow_same_value,
            volatile_races: arguments.volatile_races,
            may_alias: arguments.may_alias,
            exited_threads_ok: arguments.exited_threads.is_some(),
            unknown_functions_arbitrary: arguments.unknown_functions.is_some(),
            check_bounds: arguments.check_bounds,
            warp_lockstep: false,
            tensor_order: arguments.assume.contains(&Assumption::TensorOrder),
            warps_meet: false,
            objects_in_step: false,
            global_only: false,
        },
        infer_modifies: arguments.infer_modifies,
        any_values: arguments.any_values,
        prelude: arguments.prelude,
        arith: arguments.arith,
        engine: arguments.engine,
        omit_families: arguments.omit_families,
        model: arguments.model,
        unroll: arguments.unroll.unwrap_or(UNROLL),
    };
    check(&options).map_err(|message| usage_error(ErrorKind::ArgumentConflict, message))?;
    Ok(options)
}

/// What single arguments cannot see.
fn check(options: &Options) -> Result<(), String> {
    match (options.format, options.emit) {
        (Format::Dot, Some(stage)) if stage != Stage::Cfg => {
            return Err("--format dot is for --emit cfg, and for the graph of barriers without --emit".to_string());
        }
        (Format::Dot | Format::Json | Format::Sarif | Format::Junit | Format::Short | Format::Html, None)
            if options.list =>
        {
            return Err("--list prints text; other formats are for verdicts".to_string());
        }
        (Format::Json | Format::Sarif | Format::Junit | Format::Short | Format::Html, Some(_)) => {
            return Err("--emit prints text; --format json, sarif, junit, short and html are for verdicts".to_string());
        }
        _ => {}
    }
    let is_picture = options.format == Format::Dot || options.emit.is_some();
    let about_verdicts = options.baseline.is_some() || options.write_baseline.is_some() || options.fail_on.is_some();
    if about_verdicts && (options.list || is_picture) {
        return Err("--baseline, --write-baseline and --fail-on are for verdicts".to_string());
    }
    if options.shard.is_some() && (options.list || is_picture) {
        return Err("--shard is for verdicts".to_string());
    }
    if options.shard.is_some() && options.write_baseline.is_some() {
        return Err("a shard has a part of the findings: --write-baseline is for all of them".to_string());
    }
    if options.redundant && (options.quiet || options.list || is_picture) {
        return Err("--redundant is for reports".to_string());
    }
    if options.invariants && (options.quiet || options.list || is_picture) {
        return Err("--invariants is for reports; --emit candidates and --emit ivl have all of them".to_string());
    }
    if options.stats && (options.quiet || is_picture) {
        return Err("--stats is for reports".to_string());
    }
    if options.minimal && !matches!(options.emit, Some(Stage::Ivl | Stage::IvlFull)) {
        return Err("--minimal is for --emit ivl".to_string());
    }
    // Nothing may be proved of launches that do not exist.
    if let Some(message) = unlaunchable_block(options.geometry.block) {
        return Err(format!("--block gives {message}"));
    }
    let threads = options.geometry.or_one().threads();
    if threads >= u128::from(options.max_threads) {
        let limit = options.max_threads;
        return Err(format!("--block and --grid give {threads} threads, but --max-threads allows fewer than {limit}"));
    }
    for (index, setting) in options.params.iter().enumerate() {
        if options.params[..index].iter().any(|earlier| earlier.name == setting.name) {
            return Err(format!("--param {} is given twice", setting.name));
        }
    }
    Ok(())
}

fn usage_error(kind: ErrorKind, message: impl std::fmt::Display) -> clap::Error {
    Arguments::command().error(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verify(arguments: &[&str]) -> Options {
        match parse([&["gpuvcc"], arguments].concat()) {
            Ok(Command::Verify(options)) => *options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_are_read() {
        let options = verify(&["a.ptx", "-", "--block", "8,8", "--param", "n=-1", "--exited-threads=ok", "--arith=bv"]);
        assert_eq!(options.files, ["a.ptx", "-"]);
        assert_eq!(options.geometry, Geometry { block: [Some(8), Some(8), Some(1)], grid: [None; 3] });
        assert!(options.rules.exited_threads_ok);
        assert_eq!(options.arith, Arithmetic::Bv);
        assert_eq!(options.params, [ParameterSetting { name: "n".to_string(), value: -1 }]);
    }

    #[test]
    fn arguments_of_a_recorded_program_are_its_own() {
        let Ok(Command::Record(options)) = parse(["gpuvcc", "record", "./program", "-o", "--help"]) else {
            panic!("no command");
        };
        assert_eq!((options.file.as_str(), options.command.len()), ("launches.jsonl", 3));
    }

    #[test]
    fn contradictory_options_are_refused() {
        for wrong in [
            &["a.ptx", "--format", "table"][..],
            &["a.ptx", "--emit", "ivl", "--format", "json"],
            &["a.ptx", "--minimal", "--emit", "candidates"],
            &["a.ptx", "--stats", "--emit", "ivl"],
            &["a.ptx", "--fail-on", "any", "--emit", "ivl"],
            &["a.ptx", "--fail-on", "verified"],
            &["a.ptx", "--baseline", "b.json", "--list"],
            &["a.ptx", "--shard", "1/2", "--list"],
            &["a.ptx", "--shard", "1/2", "--emit", "ivl"],
            &["a.ptx", "--shard", "1/2", "--write-baseline", "b.json"],
            &["a.ptx", "--shard", "3/2"],
            &["merge"],
            &["a.ptx", "--block", "1024", "--grid", "2097152"],
            &["a.ptx", "--block", "1025"],
            &["a.ptx", "--block", "32,32,2"],
            &["a.ptx", "--block", "64,*,32"],
            &["a.ptx", "--block", "1,1,65"],
            &["a.ptx", "--param", "n=1", "--param", "n=2"],
            &["a.ptx", "--max-threads", "1"],
            &["a.ptx", "--warp-lockstep"],
            &["a.ptx", "--omit-family", "affin"],
            &["run", "a.ptx", "--warp-lockstep"],
            &["run", "a.ptx", "--block", "1025"],
            &["explain", "no-such-code"],
            &["record", "-o", "launches.jsonl"],
            &[],
        ] {
            assert!(parse([&["gpuvcc"], wrong].concat()).is_err(), "{wrong:?}");
        }
    }
}
