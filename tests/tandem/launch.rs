//! Random small launches of a kernel, and what the constants of its IVL are in one of them.

use super::emulator::{Run, moves_matrices};
use super::evaluate::{Store, Value};
use gpuvcc::aliases::Aliases;
use gpuvcc::confirm::emulate::Emulator;
use gpuvcc::exec::command::Command;
use gpuvcc::exec::launch::{Contents, Launch, Schedule};
use gpuvcc::exec::values::hash;
use gpuvcc::finding::{Defect, Finding};
use gpuvcc::geometry::Geometry;
use gpuvcc::ivl::ast::*;
use gpuvcc::kernel::{Kernel, KernelParameter};
use gpuvcc::ptx::ast::{Function, Module};
use gpuvcc::rules::Rules;
use std::collections::BTreeSet;

/// Differences between an address and a pointer that is counted from the start of its array.
pub struct Bases(BTreeSet<u64>);

impl Bases {
    pub fn of(run: &Run) -> Bases {
        let windows = run.program.windows;
        let mut bases: BTreeSet<u64> = run.world.global.arrays.iter().map(|array| array.address).collect();
        for number in 1..=run.program.shared.len() as u64 {
            let address = number << gpuvcc::exec::decode::SHARED_BITS;
            bases.extend([address, windows.shared + address]);
        }
        bases.extend([windows.shared, windows.param, windows.local]);
        Bases(bases)
    }

    /// Whether a base explains a difference between two values of a width; halves of pointers count.
    pub fn explain(&self, difference: u128, width: u32) -> bool {
        let is_it = |base: u64| u128::from(base) == difference;
        match width {
            64 => self.0.iter().any(|&base| is_it(base)),
            32 => self.0.iter().any(|&base| is_it(base & 0xffff_ffff) || is_it(base >> 32)),
            _ => false,
        }
    }
}

/// A launch of a kernel, by a seed.
pub fn random(module: &Module, number: usize, file: &str, kernel: &Kernel, seed: u64) -> Result<Launch, String> {
    let emulator = Emulator {
        aliases: &Aliases::default(),
        annotations: None,
        module,
        number,
        file,
        dynamic_shared: None,
        rules: Rules::default(),
    };
    let random = |salt: u64| hash(seed, salt);
    let sizes = |fixed: [Option<u32>; 3], choices: [[u32; 3]; 4], salt: u64| {
        let chosen = choices[(random(salt) % 4) as usize];
        [0, 1, 2].map(|axis| fixed[axis].unwrap_or(chosen[axis]))
    };
    let blocks = match moves_matrices(&module.functions[number]) {
        true => [[32, 1, 1], [64, 1, 1], [16, 4, 1], [8, 4, 1]],
        false => [[4, 1, 1], [6, 1, 1], [3, 2, 1], [32, 1, 1]],
    };
    let block = sizes(kernel.geometry.block, blocks, 1);
    let grid = sizes(kernel.geometry.grid, [[1, 1, 1], [2, 1, 1], [2, 2, 1], [3, 1, 1]], 2);
    let entry = &module.functions[number];
    let value = |parameter: &KernelParameter| {
        let salt = parameter.name.bytes().fold(parameter.offset as u64, |salt, byte| hash(salt, u64::from(byte)));
        let float = entry.params.iter().any(|declared| *declared.name == *parameter.name && declared.ty.is_float());
        let usual = [block[0], block[0] * grid[0], 1, 0, 7, 16, 33, 64].map(u64::from);
        match (float, parameter.bits) {
            (true, 32) => u64::from([0.0f32, 1.0, -1.0, 0.5, f32::NAN][(random(salt) % 5) as usize].to_bits()),
            (true, _) => [0.0f64, 1.0, -1.0, 0.5, f64::NAN][(random(salt) % 5) as usize].to_bits(),
            _ if random(salt ^ 1).is_multiple_of(16) => random(salt),
            _ => usual[(random(salt) % 8) as usize],
        }
    };
    let small = |bound: u32| Contents::Small { bound, seed: 1 };
    let contents = match random(3) % 4 {
        0 => small(16),
        1 => Contents::Zero,
        2 => Contents::Any { seed: 1 },
        _ => small(2),
    };
    let command = Command {
        geometry: Geometry { block, grid },
        cluster: [1; 3],
        only_blocks: None,
        arguments: emulator.arguments(kernel, &value, &contents, false)?,
        dynamic_shared: emulator.dynamic_shared(&Finding::new(Defect::Race, false)),
        schedule: Schedule::RoundRobin,
        seed: seed | 1,
        steps: None,
        rules: emulator.rules,
    };
    let launch = command.launch(module, entry, u64::MAX).map_err(|diagnostic| diagnostic.message)?;
    Ok(Launch { races: false, ..launch })
}

/// The values of the constants for a thread; `None` where the emulator has none.
pub fn constants(
    kernel: &Kernel,
    entry: &Function,
    launch: &Launch,
    run: &Run,
    thread: [u32; 3],
    block: [u32; 3],
) -> Store {
    let value = |constant: &Constant| {
        let name = constant.variable.name.as_str();
        let value = position(name, launch, thread, block)
            .or_else(|| base(name, run))
            .or_else(|| parameter(&constant.variable, kernel, entry, launch));
        (constant.variable.name.clone(), value)
    };
    kernel.program.constants.iter().map(value).collect()
}

fn position(name: &str, launch: &Launch, thread: [u32; 3], block: [u32; 3]) -> Value {
    let (stem, axis) = name.split_once('.')?;
    let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
    let values = match stem {
        "tid" => thread,
        "ctaid" => block,
        "ntid" => launch.geometry.block,
        "nctaid" => launch.geometry.grid,
        _ => return None,
    };
    Some(u128::from(values[axis]))
}

/// Addresses at which variables start, and the windows of generic addresses.
fn base(name: &str, run: &Run) -> Value {
    let windows = run.program.windows;
    match name {
        "window.shared" => return Some(windows.shared.into()),
        "window.local" => return Some(windows.local.into()),
        "window.param" => return Some(windows.param.into()),
        "window.const" => return Some(0),
        _ => {}
    }
    let variable = name.strip_prefix("base.")?;
    let plain = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let is_it = |other: &str| plain(other) == plain(variable);
    let shared = run.program.shared.iter().skip(1).position(|shared| is_it(&shared.name)).map(|index| index as u64 + 2);
    let shared = shared.or((variable == "dynamic.shared").then_some(1));
    if let Some(number) = shared {
        return Some(u128::from(number << gpuvcc::exec::decode::SHARED_BITS));
    }
    run.program.globals.iter().find(|global| is_it(&global.name)).map(|global| global.address.into())
}

/// The bytes of a parameter that a constant stands for.
fn parameter(variable: &Variable, kernel: &Kernel, entry: &Function, launch: &Launch) -> Value {
    let known = kernel.params.iter().find(|known| known.constant.as_ref() == Some(&variable.name));
    if let Some(known) = known {
        return bytes(entry, launch, &known.name, known.offset, known.bits / 8);
    }
    // `name.byte3`
    let text = variable.attributes.iter().flat_map(|attribute| &attribute.args).find_map(|arg| match arg {
        AttributeArg::Text(text) => Some(text),
        AttributeArg::Expr(_) => None,
    })?;
    let (name, byte) = text.rsplit_once(".byte")?;
    bytes(entry, launch, name, byte.parse().ok()?, 1)
}

fn bytes(entry: &Function, launch: &Launch, name: &str, offset: i64, count: u32) -> Value {
    let is_it = |declared: &str| name == declared || name == format!("{declared}.{offset}");
    let index = entry.params.iter().position(|parameter| is_it(&parameter.name))?;
    let start = usize::try_from(offset).ok()?;
    let part = launch.parameters[index].get(start..start + count as usize)?;
    Some(part.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte)))
}
