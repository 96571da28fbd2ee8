//! Lowering, checked by execution: PTX runs in the emulator, and each thread's kernel IVL runs along it.
//! Both have the same accesses (memory, offset, width, kind, strength, value written), take the same branches and
//! compute the same registers; what the IVL leaves open may be anything.
//!
//! Kernels are those of `tests/` and random ones; launches are small and drawn by a seed.
//! GPUVCC_TANDEM_LAUNCHES multiplies how many, GPUVCC_TANDEM_ONLY is part of a kernel's name.

mod emulator;
mod evaluate;
#[path = "../attack/expressions.rs"]
mod expressions;
mod follow;
#[path = "../attack/generate.rs"]
mod generate;
mod joint;
mod launch;
#[path = "../attack/oddities.rs"]
mod oddities;
#[path = "../attack/emulator/random.rs"]
#[allow(dead_code)]
mod random;

use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use crate::support::table::{self, Group};
use evaluate::Evaluator;
use follow::{Bindings, Compared, Follower, Stop};
use generate::Generated;
use gpuvcc::geometry::Geometry;
use gpuvcc::ivl::ast::Condition;
use gpuvcc::kernel::{Kernel, LowerOptions, lower};
use gpuvcc::ptx::ast::{Item, Module, Op};
use joint::Joints;
use launch::Bases;
use random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Codes that a thread executes at most.
const STEPS: u64 = 600;

/// Blocks of a launch that run.
const BLOCKS: u32 = 2;

/// How much was compared, and why threads were not followed.
#[derive(Default)]
struct Tally {
    compared: Compared,
    threads: u64,
    followed: u64,
    other: BTreeMap<String, u64>,
    failures: Vec<String>,
}

impl Tally {
    fn count(&mut self, what: impl Into<String>) {
        *self.other.entry(what.into()).or_default() += 1;
    }

    #[track_caller]
    fn finish(self, what: &str) {
        let Tally { compared, threads, followed, other, failures } = self;
        eprintln!("{what}: {threads} threads, {followed} followed as far as they ran; {compared:?}; {other:?}");
        assert!(failures.is_empty(), "{} kernels disagree:\n{}", failures.len(), failures.join("\n"));
        let few = |part: u64, whole: u64| part * 10 < whole * 7;
        assert!(threads > 0 && !few(followed, threads), "too few threads were followed");
        assert!(!few(compared.exact, compared.accesses), "too few accesses were compared exactly");
    }
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn launches(usual: u64) -> u64 {
    let factor = setting("GPUVCC_TANDEM_LAUNCHES").and_then(|text| text.parse::<f64>().ok());
    (usual as f64 * factor.unwrap_or(1.0)).ceil() as u64
}

/// Follows some launches of a kernel; its first disagreement.
fn check(
    module: &Module,
    number: usize,
    file: &str,
    options: &LowerOptions,
    seeds: &[u64],
    tally: &mut Tally,
) -> Result<(), String> {
    let entry = &module.functions[number];
    if copies_asynchronously(module) {
        tally.count("asynchronous copies");
        return Ok(());
    }
    let Ok(cfg) = gpuvcc::cfg::build(module, entry, Default::default()) else {
        tally.count("refused");
        return Ok(());
    };
    let Ok(kernel) = lower(module, entry, &cfg, options) else {
        tally.count("refused");
        return Ok(());
    };
    for &seed in seeds {
        let launch = match launch::random(module, number, file, &kernel, seed) {
            Ok(launch) => launch,
            Err(_) => {
                tally.count("no launch");
                continue;
            }
        };
        let run = match emulator::run(module, number, &launch, STEPS, BLOCKS) {
            Ok(run) => run,
            Err(_) => {
                tally.count("not emulated");
                continue;
            }
        };
        for fault in &run.world.outcome.faults {
            tally.count(format!("{:?} fault", fault.kind));
        }
        follow(&kernel, module, number, &launch, &run, tally).map_err(|reason| format!("seed {seed}: {reason}"))?;
    }
    Ok(())
}

/// Whether a module has `cp.async`: the emulator moves its bytes at a time that the IVL does not have, so its accesses
/// are in no order that a thread's code could be followed in. `tests/races` judges these kernels instead.
fn copies_asynchronously(module: &Module) -> bool {
    let items = module.functions.iter().filter_map(|function| function.body.as_ref()).flat_map(|body| &body.items);
    let mut instructions = items.filter_map(|item| match item {
        Item::Instruction(instruction) => Some(&instruction.op),
        Item::Annotation(_) | Item::Label(_) => None,
    });
    instructions.any(|op| matches!(op, Op::Async { .. }))
}

/// Whether an assumption of the user does not hold in an execution.
fn is_excluded(run: &emulator::Run) -> bool {
    run.world.outcome.is_excluded()
}

fn follow(
    kernel: &Kernel,
    module: &Module,
    number: usize,
    launch: &gpuvcc::exec::launch::Launch,
    run: &emulator::Run,
    tally: &mut Tally,
) -> Result<(), String> {
    let entry = &module.functions[number];
    let bases = Bases::of(run);
    let registers = entry.body.as_ref().map_or(&[][..], |body| &body.registers);
    let follower = Follower::new(kernel, registers, &bases, launch.geometry.block);
    let evaluator = Evaluator::new(&kernel.program);
    let (mut bindings, mut joints) = (Bindings::new(), Joints::new());
    for log in &run.logs {
        let constants = launch::constants(kernel, entry, launch, run, log.thread, log.block);
        let fails = |condition: &&Condition| evaluator.truth(&condition.expr, &constants) == Some(false);
        if let Some(condition) = kernel.program.procedures[0].requires.iter().find(fails) {
            let of_user = condition.attributes.iter().any(|attribute| attribute.name.as_str() == "param");
            if of_user {
                tally.count("parameter fixed otherwise");
                return Ok(());
            }
            // What an annotation requires of the launch stands in front of the program, too: the emulator excludes it there.
            let is_stated = condition.attributes.iter().any(|attribute| attribute.name.as_str() == "stated");
            if is_stated && is_excluded(run) {
                tally.count("required otherwise");
                return Ok(());
            }
            return Err(format!("the IVL excludes this launch: {:?}", condition.expr));
        }
        tally.threads += 1;
        match follower.follow(log, &constants, (&mut bindings, &mut joints), &mut tally.compared) {
            Ok(()) => tally.followed += 1,
            Err(Stop::Disagreement(reason)) => return Err(reason),
            Err(other) => tally.count(format!("{other:?}")),
        }
    }
    tally.compared.joint += joint::compare(&joints, &bindings)?;
    Ok(())
}

/// The kernel of a case, by its place in the module.
fn kernel_of(case: &Case, module: &Module) -> Option<usize> {
    let wanted = |name: &str| case.entry.as_deref().is_none_or(|entry| entry == name);
    module.functions.iter().position(|function| function.is_entry && function.body.is_some() && wanted(&function.name))
}

#[test]
fn shipped_kernels() {
    let only = setting("GPUVCC_TANDEM_ONLY").unwrap_or_default();
    let mut tally = Tally::default();
    for case in cases("tests/kernels").expect("cases").into_iter().filter(|case| case.name.contains(&only)) {
        if case.input.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let text = std::fs::read_to_string(&case.input).expect("readable");
        let Ok(Ok(module)) = on_large_stack(|| gpuvcc::ptx::parse(&text)) else { continue };
        let Some(number) = kernel_of(&case, &module) else { continue };
        let fixed = LowerOptions { geometry: case.options.geometry, ..LowerOptions::default() };
        let file = case.input.to_string_lossy();
        for options in [fixed, LowerOptions::default()] {
            let seeds: Vec<u64> = (0..launches(1)).collect();
            if let Err(reason) = check(&module, number, &file, &options, &seeds, &mut tally) {
                tally.failures.push(format!("{}: {reason}", case.name));
                break;
            }
        }
    }
    tally.finish("shipped kernels");
}

/// Kernels with generic addresses of shared memory as parameters: where their arrays start no binding says.
const WITHOUT_BASES: [&str; 1] = ["parameter_and_array"];

/// Every kernel of the inputs of other tests.
#[test]
fn kernels_of_other_tests() {
    let only = setting("GPUVCC_TANDEM_ONLY").unwrap_or_default();
    let mut tally = Tally::default();
    for folder in ["cfg", "cli/input", "lower", "ptx", "races"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("a folder").flatten().map(|one| one.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
        paths.retain(|path| path.to_string_lossy().contains(&only));
        paths.sort();
        for path in paths {
            let text = std::fs::read(&path).expect("readable");
            let Ok(module) = gpuvcc::ptx::parse(&String::from_utf8_lossy(&text)) else { continue };
            let kernels = module
                .functions
                .iter()
                .enumerate()
                .filter(|(_, function)| function.is_entry && function.body.is_some())
                .filter(|(_, function)| !WITHOUT_BASES.contains(&&*function.name));
            for (number, entry) in kernels {
                let seeds: Vec<u64> = (0..launches(4)).collect();
                let file = path.to_string_lossy();
                if let Err(reason) = check(&module, number, &file, &LowerOptions::default(), &seeds, &mut tally) {
                    tally.failures.push(format!("{file}, `{}`: {reason}", entry.name));
                }
            }
        }
    }
    tally.finish("kernels of other tests");
}

/// Kernels from a generator, in launches with their own sizes and with any.
#[track_caller]
fn generated(what: &str, number: u64, generate: impl Fn(&mut Random) -> Generated) {
    let mut tally = Tally::default();
    for case in 0..launches(number) {
        let generated = generate(&mut Random::new(case));
        let module = gpuvcc::ptx::parse(&generated.text).expect("a generated kernel parses");
        let options = match case % 2 {
            0 => LowerOptions::default(),
            _ => LowerOptions {
                geometry: Geometry { block: [generated.block, 1, 1], grid: [generated.grid, 1, 1] }.into(),
                ..LowerOptions::default()
            },
        };
        if let Err(reason) = check(&module, 0, "generated.ptx", &options, &[case, case + 1], &mut tally) {
            tally.failures.push(format!("kernel {case}: {reason}\n{}", generated.text));
        }
    }
    tally.failures.truncate(3);
    tally.finish(what);
}

#[test]
fn random_kernels() {
    generated("random kernels", 300, generate::generate);
}

#[test]
fn random_expressions() {
    generated("random expressions", 300, expressions::generate);
}

/// The instructions of the tables of `tests/exec`, of which some are what hardware gave.
#[test]
fn recorded_instructions() {
    let only = setting("GPUVCC_TANDEM_ONLY").unwrap_or_default();
    let mut tally = Tally::default();
    for group in table::all().into_iter().filter(|group| group.text.contains(&only)) {
        let module = gpuvcc::ptx::parse(&table::kernel(&group)).expect("a kernel of a table parses");
        let cfg = gpuvcc::cfg::build(&module, &module.functions[0], Default::default()).expect("a graph");
        let Ok(kernel) = lower(&module, &module.functions[0], &cfg, &LowerOptions::default()) else {
            tally.count("refused");
            continue;
        };
        // All threads of a launch are watched. Those of a warp may have to do with each other.
        let few = if group.cases.iter().all(|(operands, _)| operands.is_empty()) { 1 } else { emulator::WATCHED };
        for cases in group.cases.chunks(few).take(launches(6) as usize) {
            let part = Group { cases: cases.to_vec(), ..group.clone() };
            let launch = table::launch(&part);
            let Ok(run) = emulator::run(&module, 0, &launch, STEPS, 1) else {
                tally.count("not emulated");
                break;
            };
            if let Err(reason) = follow(&kernel, &module, 0, &launch, &run, &mut tally) {
                tally.failures.push(format!("{}: {reason}", group.text));
                break;
            }
        }
    }
    tally.finish("recorded instructions");
}
