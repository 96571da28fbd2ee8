//! How fast large PTX modules are read, and with how much memory: `cargo bench --bench parse`, or
//! `... -- Library` for the shapes with that in their names. Prints markdown.
//! Memory that earlier modules took and the allocator keeps counts too; one name alone is exact.
//!
//! `... -- --write FILE` writes the module of 660,000 instructions for other measurements.

#[path = "../tests/reader/cpu_time.rs"]
mod cpu_time;
#[path = "../tests/reader/large_module.rs"]
mod large_module;
#[path = "../tests/reader/peak_memory.rs"]
mod peak_memory;

use cpu_time::cpu_time;
use gpuvcc::{pages, ptx};
use large_module::{Shape, large_module};
use peak_memory::{forget_peak, peak_megabytes};

/// Instructions of the library, which has about 26 MB.
const INSTRUCTIONS: usize = 660_000;

/// What the modules of the other shapes have a lot of.
const OTHERS: usize = 200_000;

fn main() {
    // As the program does.
    pages::small();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--write") {
        let Some(path) = arguments.get(at + 1) else { return eprintln!("--write takes a file name") };
        if let Err(error) = std::fs::write(path, large_module(Shape::Library, INSTRUCTIONS)) {
            eprintln!("{path}: {error}");
        }
        return;
    }
    // Cargo adds flags such as --bench.
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    println!("| module | MB | seconds | MB/s | peak MB |");
    println!("|---|---:|---:|---:|---:|");
    for shape in Shape::ALL {
        let name = format!("{shape:?}");
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let text = large_module(shape, if shape == Shape::Library { INSTRUCTIONS } else { OTHERS });
        forget_peak();
        let start = cpu_time();
        let parsed = ptx::parse(&text);
        let seconds = (cpu_time() - start).as_secs_f64();
        let megabytes = text.len() as f64 / 1e6;
        let (speed, peak) = (megabytes / seconds, peak_megabytes());
        println!("| {name} | {megabytes:.1} | {seconds:.2} | {speed:.0} | {peak} |");
        if parsed.is_ok() != shape.parses() {
            println!("{name}: {:?}", parsed.err());
        }
    }
}
