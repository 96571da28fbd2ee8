//! The command line of `gpuvcc run`.
//!
//! Input: arguments. Output: [`RunOptions`] as plain data. Establishes: sizes are fixed and at least 1, a
//! launch has fewer than 2^32 threads, a block at most 1024.

use super::options::{Assumption, Color, Format, Options};
use crate::container::target::Target;
use crate::exec::arguments::{self, Argument};
use crate::exec::launch::{Completion, Schedule, check_sizes};
use crate::geometry::Geometry;
use crate::rules::Rules;
use clap::{Args, ValueEnum};

/// Options of an emulation, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// File, entry, format and the like, as for a verification.
    pub common: Options,
    /// Threads a block; `.reqntid`, else 32 when not given.
    pub block: Option<[u32; 3]>,
    /// Blocks.
    pub grid: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Only these blocks run (by linear number); all when `None`.
    pub(crate) only_blocks: Option<Vec<u32>>,
    /// Arguments.
    pub(crate) arguments: Vec<Argument>,
    /// Bytes of dynamic shared memory; those of a launch file, else none, when not given.
    pub dynamic_shared: Option<u32>,
    /// The order of threads.
    pub(crate) schedule: Schedule,
    /// When the bytes of asynchronous copies arrive, where the schedule does not say.
    pub(crate) completion: Option<Completion>,
    /// Seed of the schedule and of what the ISA leaves open.
    pub(crate) seed: u64,
    /// Instructions of a thread.
    pub(crate) steps: u64,
    /// Whether data races are looked for.
    pub(crate) races: bool,
    /// Whether to print the rate.
    pub(crate) stats: bool,
}

/// Arguments of `gpuvcc run`.
#[derive(Args)]
#[command(after_help = ARGUMENTS, override_usage = "gpuvcc run [OPTIONS] FILE")]
pub(crate) struct RunArguments {
    /// .ptx, .cu, or a binary with PTX in it; - is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Only PTX for sm_90 or the like  [default: of a binary the highest]
    #[arg(long, value_name = "TARGET")]
    target: Option<Target>,
    /// This kernel, where the file has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Threads a block  [default: .reqntid, else 32]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = sizes)]
    block: Option<Sizes>,
    /// Blocks  [default: 1, or one cluster]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = sizes)]
    grid: Option<Sizes>,
    /// Blocks of a cluster  [default: 1,1,1]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = sizes)]
    cluster: Option<Sizes>,
    /// Run only these blocks of the grid, by linear number (x first)
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',')]
    only_blocks: Option<Vec<u32>>,
    /// Argument of the next parameter, or of the named one (repeatable); see below
    #[arg(long = "arg", value_name = "[NAME=]VALUE", value_parser = arguments::parse, allow_hyphen_values = true)]
    arguments: Vec<Argument>,
    /// Annotations kept apart from the PTX  [default: FILE.gpuvcc]
    #[arg(long, value_name = "FILE")]
    annotations: Option<String>,
    /// Bytes of dynamic shared memory  [default: 0]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=1 << 20))]
    dynamic_shared: Option<u32>,
    /// round-robin, random, adversarial (a switch at every access), lockstep or lockstep-taken (warps
    /// execute together; at a branch those that fall through, or those that take it, come first)
    #[arg(long, value_name = "NAME", default_value = "round-robin", hide_possible_values = true)]
    schedule: ScheduleName,
    /// When asynchronous copies arrive: eager (at once), lazy (when their thread waits) or random  [default: lazy;
    /// random with random and adversarial, eager with lockstep]
    #[arg(long, value_name = "WHEN", hide_possible_values = true)]
    completion: Option<CompletionName>,
    /// Seed of the schedule and of what the ISA leaves open
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Instructions that a thread may execute
    #[arg(long, value_name = "N", default_value = "10000000")]
    steps: u64,
    /// Do not look for races
    #[arg(long)]
    no_races: bool,
    /// Two writes of the same value do not race
    #[arg(long)]
    allow_same_value: bool,
    /// Volatile accesses race as plain ones do
    #[arg(long)]
    volatile_races: bool,
    /// A warp's instruction orders its threads (the model before Volta); needs a lockstep schedule
    #[arg(long)]
    warp_lockstep: bool,
    /// tensor-order: tensor memory needs no `tcgen05.fence`
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    assume: Vec<Assumption>,
    /// "ok": barriers do not wait for threads that have exited
    #[arg(long, value_name = "ok", hide_possible_values = true)]
    exited_threads: Option<ExitedThreads>,
    /// Print the instructions a second
    #[arg(long)]
    stats: bool,
    /// text, short, json, sarif, junit; dot: the graph of barriers
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    format: Format,
    /// The verdict line only
    #[arg(long)]
    quiet: bool,
    /// auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: Color,
}

const ARGUMENTS: &str = "\
Values: 17, -3, 0xff, 1.5     a scalar of the parameter's type
        zeros:COUNT[xTYPE]    a new global array; TYPE is u32 unless given
        ramp:COUNT[xTYPE]     with 0, 1, 2, ...
        random:COUNT[xTYPE][:SEED]  with random bits; floats lie between 0 and 1
        zeros:*, random:*[:SEED], below:*:BOUND[:SEED]
                              without bounds; zeros, random words, or words below BOUND
        shared:COUNT[xTYPE]   a new buffer in shared memory, for a pointer to it (`.ptr .shared`)
        cells:*:HEX@OFFSET,...  without bounds; zeros, but for these bytes at byte offsets
        each:*:HEX            without bounds; elements with these 1, 2, 4 or 8 bytes
        file:PATH             with the bytes of a file
        same:NAME, same:NAME+4 the array of an earlier parameter, by name or position; bytes behind its start
        bytes:HEX             a structure passed by value
        tensor:TYPE:SIZES:box=SIZES[,KEY=VALUE...]  a tensor map, the innermost size first; keys: strides
                              (bytes), steps, swizzle, fill=nan, data=ramp or of=NAME (the array of NAME)
        parts:A+B+...         a structure of bytes:HEX and arrays (their pointers)
Exit:   0 no defect in this execution (which proves nothing about others)
        1 a defect   2 bad usage or input   3 it did not reach its end";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExitedThreads {
    Ok,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScheduleName {
    RoundRobin,
    Random,
    Adversarial,
    Lockstep,
    LockstepTaken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompletionName {
    Eager,
    Lazy,
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes(pub(super) [u32; 3]);

pub(super) fn sizes(text: &str) -> Result<Sizes, String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err("at most three sizes: X,Y,Z".to_string());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = match part.parse() {
            Ok(number @ 1u32..) => number,
            _ => return Err(format!("`{part}` is no size from 1 to {}", u32::MAX)),
        };
    }
    Ok(Sizes(sizes))
}

/// The options that the arguments say.
pub(crate) fn options(arguments: RunArguments) -> Result<RunOptions, String> {
    let schedule = match arguments.schedule {
        ScheduleName::RoundRobin => Schedule::RoundRobin,
        ScheduleName::Random => Schedule::Random,
        ScheduleName::Adversarial => Schedule::Adversarial,
        ScheduleName::Lockstep => Schedule::Lockstep,
        ScheduleName::LockstepTaken => Schedule::LockstepTaken,
    };
    let completion = arguments.completion.map(|completion| match completion {
        CompletionName::Eager => Completion::Eager,
        CompletionName::Lazy => Completion::Lazy,
        CompletionName::Random => Completion::Random,
    });
    if arguments.warp_lockstep && !schedule.is_lockstep() {
        return Err("--warp-lockstep needs --schedule lockstep or lockstep-taken".to_string());
    }
    if arguments.format == Format::Html {
        return Err("--format html is for verdicts: it shows how they came about".to_string());
    }
    let common = Options {
        files: vec![arguments.file],
        target: arguments.target,
        entries: arguments.entry.into_iter().collect(),
        annotations: arguments.annotations,
        // One launch runs, whatever others are known.
        block_is_given: true,
        format: arguments.format,
        quiet: arguments.quiet,
        color: arguments.color,
        rules: Rules {
            allow_same_value: arguments.allow_same_value,
            volatile_races: arguments.volatile_races,
            warp_lockstep: arguments.warp_lockstep,
            exited_threads_ok: arguments.exited_threads.is_some(),
            tensor_order: arguments.assume.contains(&Assumption::TensorOrder),
            ..Rules::default()
        },
        ..Options::default()
    };
    let block = arguments.block.map(|sizes| sizes.0);
    let grid = arguments.grid.map_or([1; 3], |sizes| sizes.0);
    check_sizes(Geometry { block: block.unwrap_or([1; 3]), grid })?;
    // The product fits, because the launch has fewer than 2^32 threads.
    let blocks: u32 = grid.iter().product();
    let mut only_blocks = arguments.only_blocks;
    if let Some(only) = &mut only_blocks {
        only.sort_unstable();
        only.dedup();
        if let Some(number) = only.iter().find(|number| **number >= blocks) {
            return Err(format!("--only-blocks: there is no block {number} in a grid of {blocks}"));
        }
    }
    Ok(RunOptions {
        common,
        block,
        grid,
        cluster: arguments.cluster.map(|sizes| sizes.0),
        only_blocks,
        arguments: arguments.arguments,
        dynamic_shared: arguments.dynamic_shared,
        schedule,
        completion,
        seed: arguments.seed,
        steps: arguments.steps,
        races: !arguments.no_races,
        stats: arguments.stats,
    })
}
