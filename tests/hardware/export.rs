//! Launches of correct kernels whose result does not depend on the order of threads, for a GPU to run.
//!
//! Input: the shipped kernels that are `verified`, and kernels of the attack's generators. Output: `launches.txt`, lines without
//! hashes, and for each line a file `expected/NUMBER` with what the arrays hold afterwards. Establishes: no launch has a defect, and
//! all schedules, and all contents of what nobody wrote, give the same. Relies on: the emulator, which is what is to be compared.

use super::emulator::Launch;
use super::emulator::random::{Random, hash};
use super::recorded::{Part, Recorded, Start};
use super::{expressions, generate, launches};
use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use gpuvcc::exec::launch::{Schedule, array_address};
use gpuvcc::geometry::Geometry;
use gpuvcc::ptx;
use gpuvcc::ptx::ast::{Function, Module, StateSpace};
use std::path::Path;

/// Bytes of each array.
const SIZE: u64 = 32 << 10;
/// Launches tried for a kernel, and kept.
const TRIES: u64 = 40;
const KEPT: usize = 2;
/// Generated kernels, of each generator.
const GENERATED: u64 = 600;

/// Writes the launches.
pub fn write(folder: &Path) {
    std::fs::create_dir_all(folder.join("expected")).expect("a folder");
    let mut lines = Vec::new();
    let mut keep = |recorded: Recorded, arrays: Vec<u8>| {
        std::fs::write(folder.join("expected").join(lines.len().to_string()), arrays).expect("a file");
        lines.push(recorded.line());
    };
    for case in ["tests/kernels", "tests/programs"].iter().flat_map(|folder| cases(folder).expect("the cases")) {
        let is_ptx = case.input.extension().is_some_and(|extension| extension == "ptx");
        if is_ptx && case.verdict == "verified" {
            shipped(&case, &mut keep);
        }
    }
    let mut all = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    let (mut made, mut number) = (Vec::new(), 0);
    while number < GENERATED {
        let mut random = Random::new(hash(20_261_126, number));
        let kernel = if number % 2 == 0 { generate::generate(&mut random) } else { expressions::generate(&mut random) };
        let name = format!("generated_{number}");
        let text = kernel.text.replace(".entry generated(", &format!(".entry {name}("));
        if let Ok(module) = ptx::parse(&text) {
            let sizes = Geometry { block: [kernel.block, 1, 1], grid: [kernel.grid, 1, 1] };
            let entry = &module.functions[0];
            if let Some((recorded, arrays)) = launch(&module, entry, &sizes, &[], hash(number, 5)) {
                made.push((Recorded { file: "tests/hardware/generated.ptx".to_string(), ..recorded }, arrays));
                all += text.split_once(".visible").map_or("", |(_, kernel)| kernel).trim_start();
                let at = all.rfind(&format!(".entry {name}(")).expect("the kernel");
                all.insert_str(at, ".visible ");
            }
        }
        number += 1;
    }
    std::fs::write(folder.join("generated.ptx"), all).expect("a file");
    made.into_iter().for_each(|(recorded, arrays)| keep(recorded, arrays));
    let root = env!("CARGO_MANIFEST_DIR").to_string() + "/";
    std::fs::write(folder.join("launches.txt"), lines.join("\n").replace(&root, "") + "\n").expect("a file");
    println!("{} launches", lines.len());
}

fn shipped(case: &Case, keep: &mut impl FnMut(Recorded, Vec<u8>)) {
    let text = std::fs::read_to_string(&case.input).expect("a kernel");
    // Products of matrices are not emulated.
    if text.contains("mma.") {
        return;
    }
    let Ok(Ok(module)) = on_large_stack(|| ptx::parse(&text)) else { return };
    let is_it = |function: &&Function| {
        function.is_entry && function.body.is_some() && case.entry.as_deref().is_none_or(|name| name == &*function.name)
    };
    let Some(entry) = module.functions.iter().find(is_it) else { return };
    let position = |name: &str| {
        let named = || entry.params.iter().position(|parameter| &*parameter.name == name);
        name.parse().ok().or_else(named)
    };
    let settings = case.options.params.iter();
    let fixed: Vec<(usize, u64)> =
        settings.filter_map(|setting| Some((position(&setting.name)?, setting.value as u64))).collect();
    let mut kept = 0;
    for number in 0..TRIES {
        // Few blocks: more show nothing new. With fixed parameters now and then, since they may need the whole grid.
        let all = case.options.geometry;
        let clipped = |sizes: [Option<u32>; 3], most: [u32; 3]| {
            [0, 1, 2].map(|axis| sizes[axis].map(|size| size.min(most[axis])))
        };
        let sizes = Geometry { block: all.block, grid: clipped(all.grid, [4, 2, 2]) }.or_one();
        let sizes = if all.block[0].is_none() { Geometry { block: [64, 1, 1], ..sizes } } else { sizes };
        let fixed = if number % 4 == 3 { &[][..] } else { &fixed };
        if let Some((recorded, arrays)) = launch(&module, entry, &sizes, fixed, hash(number, 11)) {
            keep(Recorded { file: case.input.to_string_lossy().into_owned(), ..recorded }, arrays);
            kept += 1;
            if kept == KEPT {
                return;
            }
        }
    }
    println!("{kept} launches of {}", case.name);
}

/// A launch whose result is clear and that changes memory, with the arrays after it.
fn launch(
    module: &Module,
    entry: &Function,
    sizes: &Geometry<u32>,
    fixed: &[(usize, u64)],
    seed: u64,
) -> Option<(Recorded, Vec<u8>)> {
    let free = Geometry { block: sizes.block.map(Some), grid: sizes.grid.map(Some) };
    let Launch { parameters, .. } = launches::launch(entry, &free, fixed, seed);
    let dynamic = module.variables.iter().any(|one| one.space == StateSpace::Shared && one.size.is_none());
    let mut random = Random::new(seed);
    let bound = [2, 64, 1000][random.below(3)];
    let start = match random.below(6) {
        0 => Start::Zero,
        1 | 2 => Start::Small { bound, seed },
        3 | 4 => Start::Unit { seed },
        _ => Start::Any { seed },
    };
    let recorded = Recorded {
        file: String::new(),
        entry: entry.name.to_string(),
        block: sizes.block,
        grid: sizes.grid,
        dynamic_shared: if dynamic { 16 << 10 } else { 0 },
        size: SIZE,
        start,
        parameters: parameters.iter().map(|bytes| parts(bytes)).collect(),
        after: Vec::new(),
    };
    let schedules =
        [(Schedule::RoundRobin, 1), (Schedule::Random, 2), (Schedule::Adversarial, 3), (Schedule::Lockstep, 4)];
    let mut first: Option<Vec<u8>> = None;
    for (schedule, seed) in schedules {
        let ran = on_large_stack(|| recorded.run(module, schedule, seed)).ok()?.ok()?;
        if !ran.is_clean() {
            return None;
        }
        let after: Vec<u8> = (0..recorded.arrays()).flat_map(|array| ran.bytes(array, SIZE)).collect();
        if first.get_or_insert_with(|| after.clone()) != &after {
            return None;
        }
    }
    Some((recorded, first?))
}

/// Eight bytes that are the address of an array stand for it.
fn parts(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    for chunk in bytes.chunks(8) {
        let address = chunk.try_into().map(u64::from_le_bytes).ok();
        let number = (0..16).find(|number| address == Some(array_address(*number, 64)));
        match (number, parts.last_mut()) {
            (Some(number), _) => parts.push(Part::Address(number)),
            (None, Some(Part::Bytes(before))) => before.extend(chunk),
            (None, _) => parts.push(Part::Bytes(chunk.to_vec())),
        }
    }
    parts
}
