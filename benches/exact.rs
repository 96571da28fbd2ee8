//! How the exact engine scales, beside the numbers of the WEFT paper: `cargo bench --bench exact`, or `... -- ring` for the
//! kernels with that in their names. Prints markdown; docs/stages/sync.md holds and explains it.
//!
//! A command is one thread at a barrier or at an access of shared memory, as the paper counts them. Times are CPU time of the
//! process. Memory is the peak of the process; that of earlier kernels which the allocator keeps counts too, so one name alone
//! is exact. `... -- --write FOLDER` writes the kernels for other measurements.

#[path = "../tests/reader/cpu_time.rs"]
mod cpu_time;
#[path = "../tests/reader/peak_memory.rs"]
mod peak_memory;

use cpu_time::cpu_time;
use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::{input, pipeline};
use gpuvcc::jobs::Jobs;
use peak_memory::{forget_peak, peak_megabytes};
use std::path::Path;
use std::time::Duration;

/// What the paper says of its largest kernels: dynamic barriers, commands in millions, seconds, megabytes.
const PAPER: [(&str, &str, f64, f64, u64); 2] =
    [("paper, most barriers", "8,192", 3.7, 8.4, 3600), ("paper, most commands", "", 14.2, 68.0, 2100)];

/// Barriers of a block.
const BARRIERS: u32 = 16;

/// A kernel with producers and consumers, half of the warps each, in a ring of buffers with two barriers each; or with all
/// threads at one barrier.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    threads: u32,
    /// Buffers that are filled, or barriers that all threads meet at.
    rounds: u32,
    /// Accesses of each thread to a buffer, a round.
    accesses: u32,
    /// All threads, at one barrier.
    together: bool,
}

const SHAPES: [Shape; 4] = [
    Shape { name: "ring_most_barriers", threads: 128, rounds: 4096, accesses: 5, together: false },
    Shape { name: "ring_most_commands", threads: 1024, rounds: 3467, accesses: 2, together: false },
    Shape { name: "ring_largest", threads: 1024, rounds: 5000, accesses: 1, together: false },
    Shape { name: "together", threads: 1024, rounds: 10_000, accesses: 1, together: true },
];

impl Shape {
    /// Generations of barriers.
    fn generations(self) -> u32 {
        // The buffers that are filled last are not freed.
        if self.together { self.rounds } else { 2 * self.rounds - BARRIERS / 2 }
    }

    /// Commands, in millions.
    fn commands(self) -> f64 {
        let barriers = if self.together { 1 } else { 2 };
        f64::from(self.threads) * f64::from(self.rounds) * f64::from(self.accesses + barriers) / 1e6
    }

    fn ptx(self) -> String {
        let body = if self.together { self.meeting() } else { self.ring() };
        let bytes = self.threads * self.accesses * 4 * (BARRIERS / 2);
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel()\n{{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n\
             .shared .align 16 .b8 s[{bytes}];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r9, s;\n{body}ret;\n}}\n"
        )
    }

    /// In one round each thread writes its own word, in the next one it reads that of its neighbour.
    fn meeting(self) -> String {
        let Shape { threads, rounds, .. } = self;
        format!(
            "add.u32 %r3, %r1, 1;\nand.b32 %r3, %r3, {};\nmad.lo.u32 %r4, %r1, 4, %r9;\nmad.lo.u32 %r5, %r3, 4, %r9;\nLOOP:\n\
             and.b32 %r6, %r2, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 st.shared.u32 [%r4], %r2;\n@!%p1 ld.shared.u32 %r7, [%r5];\n\
             bar.sync 0;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, {rounds};\n@%p2 bra LOOP;\n",
            threads - 1
        )
    }

    /// `full` of a buffer is barrier 0 to 7, `free` is 8 to 15.
    fn ring(self) -> String {
        let Shape { threads, rounds, accesses, .. } = self;
        let (half, buffers) = (threads / 2, BARRIERS / 2);
        let access = |write: bool| -> String {
            let one = |number: u32| {
                let at = format!("[%r6+{}]", number * half * 4);
                if write { format!("st.shared.u32 {at}, %r2;\n") } else { format!("ld.shared.u32 %r7, {at};\n") }
            };
            (0..accesses).map(one).collect()
        };
        let start = format!(
            "and.b32 %r3, %r2, {};\nadd.u32 %r4, %r3, {buffers};\nmad.lo.u32 %r6, %r3, {}, %r8;\n",
            buffers - 1,
            half * accesses * 4
        );
        let next = |label: &str| format!("add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, {rounds};\n@%p2 bra {label};\n");
        format!(
            "setp.ge.u32 %p1, %r1, {half};\nand.b32 %r5, %r1, {};\nmad.lo.u32 %r8, %r5, 4, %r9;\n@%p1 bra CONSUMER;\n\
             PRODUCER:\n{start}setp.lt.u32 %p3, %r2, {buffers};\n@%p3 bra FREE;\nbar.sync %r4, {threads};\nFREE:\n{}\
             bar.arrive %r3, {threads};\n{}ret;\n\
             CONSUMER:\n{start}bar.sync %r3, {threads};\n{}add.u32 %r10, %r2, {buffers};\nsetp.ge.u32 %p3, %r10, {rounds};\n\
             @%p3 bra LAST;\nbar.arrive %r4, {threads};\nLAST:\n{}",
            half - 1,
            access(true),
            next("PRODUCER"),
            access(false),
            next("CONSUMER")
        )
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--write") {
        let Some(folder) = arguments.get(at + 1) else { return eprintln!("--write takes a folder") };
        for shape in SHAPES {
            let path = Path::new(folder).join(format!("{}.ptx", shape.name));
            if let Err(error) = std::fs::write(&path, shape.ptx()) {
                eprintln!("{}: {error}", path.display());
            }
        }
        return;
    }
    // Cargo adds flags such as --bench.
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    println!("| kernel | threads | generations | million commands | CPU seconds | peak MB | verdict |");
    println!("|---|---:|---:|---:|---:|---:|---|");
    for (name, barriers, commands, seconds, megabytes) in PAPER {
        println!("| {name} | | {barriers} | {commands} | {seconds} | {megabytes} | |");
    }
    let is_asked =
        |shape: &Shape| filters.is_empty() || filters.iter().any(|filter| shape.name.contains(filter.as_str()));
    for shape in SHAPES.into_iter().filter(is_asked) {
        if let Err(message) = measure(shape) {
            eprintln!("{}: {message}", shape.name);
        }
    }
}

/// Asks the engine, and prints a line.
fn measure(shape: Shape) -> Result<(), String> {
    let file = tempfile::Builder::new().suffix(".ptx").tempfile().map_err(|error| error.to_string())?;
    std::fs::write(file.path(), shape.ptx()).map_err(|error| error.to_string())?;
    let path = file.path().to_string_lossy().into_owned();
    let words = format!("--engine exact --block {} --grid 1 --timeout 600", shape.threads);
    let options = match cli::parse(["gpuvcc", &path].into_iter().chain(words.split_whitespace())) {
        Ok(Command::Verify(options)) => options,
        _ => return Err("these options are none".to_string()),
    };
    let input = input::read(&path).map_err(|diagnostic| diagnostic.message)?;
    let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
    forget_peak();
    let start = cpu_time();
    let report = pipeline::verify(&input, &program, "kernel", &options, &Jobs::default());
    let seconds: Duration = cpu_time() - start;
    let report = report.map_err(|diagnostics| format!("{diagnostics:?}"))?;
    let Shape { name, threads, .. } = shape;
    let (generations, commands) = (shape.generations(), shape.commands());
    let (seconds, peak, verdict) = (seconds.as_secs_f64(), peak_megabytes(), report.verdict.name());
    println!("| `{name}` | {threads} | {generations} | {commands:.1} | {seconds:.2} | {peak} | {verdict} |");
    Ok(())
}
