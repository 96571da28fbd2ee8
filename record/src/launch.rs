//! The line of a launch.
//!
//! Input: the arguments of a launch that the driver took. Output: a line as `gpuvcc --launches` reads it, parameters by position.
//! Establishes: `params` has what is a number for sure (1, 2 or 4 bytes); a value of 8 bytes in an allocation is a pointer
//! (`sizes`), any other may be one (`words`). Pointers into one allocation are `aliases`.
//! Relies on: the driver for sizes of parameters. Reference: CUDA Driver API, `cuLaunchKernel`, `CUlaunchConfig`.

use crate::{Handle, state, symbols};
use std::ffi::{c_int, c_uint};
use std::fmt::Write;

/// `CUlaunchConfig`
#[repr(C)]
pub struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: Handle,
    attributes: *const Attribute,
    count: c_uint,
}

/// `CUlaunchAttribute`; the value is a union of 64 bytes.
#[repr(C)]
struct Attribute {
    id: c_int,
    padding: u32,
    value: [u32; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
const CLUSTER: c_int = 4;

/// How a kernel is launched.
pub(crate) struct Launch {
    pub(crate) function: Handle,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: [u32; 3],
    pub(crate) shared: u32,
}

impl Launch {
    /// # Safety
    /// The configuration is one that the driver took.
    pub(crate) unsafe fn of_config(function: Handle, config: &Config) -> Self {
        let attributes = match config.attributes.is_null() {
            true => &[][..],
            false => unsafe { std::slice::from_raw_parts(config.attributes, config.count as usize) },
        };
        let cluster = attributes.iter().find(|attribute| attribute.id == CLUSTER);
        let cluster = cluster.map_or([1; 3], |attribute| [attribute.value[0], attribute.value[1], attribute.value[2]]);
        Launch { function, grid: config.grid, block: config.block, cluster, shared: config.shared }
    }
}

/// Writes the line of a launch.
///
/// # Safety
/// `values` and `extra` are those that the driver took.
pub(crate) unsafe fn record(launch: &Launch, values: *mut Handle, extra: *mut Handle) {
    let known = state::function(launch.function);
    let is_kernel = known.as_ref().is_some_and(|function| function.is_kernel);
    let name = known.as_ref().map(|function| function.name.clone());
    let Some(name) = name.or_else(|| symbols::name_of(launch.function, is_kernel)) else {
        return state::complain("a launch has no name: its function is unknown, and the driver does not tell it");
    };
    let parameters = symbols::parameters_of(launch.function, is_kernel);
    let parameters = parameters.or_else(|| state::parameters(known.as_ref()?));
    let Some(parameters) = parameters else {
        state::complain(&format!(
            "the arguments of {name} are not recorded: their sizes are unknown (CUDA 12.4 tells them)"
        ));
        return state::write(line(&name, launch, &[]));
    };
    state::write(line(&name, launch, &unsafe { arguments(&parameters, values, extra) }));
}

/// An argument of 1, 2, 4 or 8 bytes as a signed number, or one of the words of a larger one.
struct Argument {
    /// The position of the parameter.
    index: usize,
    /// Of the whole parameter, in bytes.
    size: usize,
    value: i64,
}

/// The arguments, by position; of structures and arrays, the words where a pointer may stand.
///
/// # Safety
/// As of [`record`].
unsafe fn arguments(parameters: &[(usize, usize)], values: *mut Handle, extra: *mut Handle) -> Vec<Argument> {
    let buffer = if values.is_null() && !extra.is_null() { unsafe { packed(extra) } } else { None };
    let mut found = Vec::new();
    for (index, (offset, size)) in parameters.iter().copied().enumerate() {
        let place = match buffer {
            Some((start, bytes)) if offset + size <= bytes => start.wrapping_byte_add(offset),
            None if !values.is_null() => unsafe { *values.add(index) },
            _ => continue,
        };
        if place.is_null() {
            continue;
        }
        // SAFETY: the driver read as many bytes there.
        let word = |at: usize| unsafe { place.wrapping_byte_add(at).cast::<i64>().read_unaligned() };
        let values = match size {
            1 => vec![i64::from(unsafe { place.cast::<i8>().read_unaligned() })],
            2 => vec![i64::from(unsafe { place.cast::<i16>().read_unaligned() })],
            4 => vec![i64::from(unsafe { place.cast::<i32>().read_unaligned() })],
            _ => (0..size / 8).map(|number| word(8 * number)).collect(),
        };
        found.extend(values.into_iter().map(|value| Argument { index, size, value }));
    }
    found
}

/// The buffer of arguments in `extra`, with its size.
///
/// # Safety
/// As of [`record`].
unsafe fn packed(extra: *mut Handle) -> Option<(Handle, usize)> {
    let (mut start, mut bytes) = (None, None);
    // CU_LAUNCH_PARAM_END, ..._BUFFER_POINTER and ..._BUFFER_SIZE; there are no others.
    for at in (0..8).step_by(2) {
        match unsafe { *extra.add(at) } as usize {
            1 => start = Some(unsafe { *extra.add(at + 1) }),
            2 => bytes = Some(unsafe { (*extra.add(at + 1)).cast::<usize>().read_unaligned() }),
            _ => break,
        }
    }
    start.zip(bytes)
}

fn line(name: &str, launch: &Launch, arguments: &[Argument]) -> String {
    let (mut params, mut words, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut pointers, mut aliases): (Vec<(u64, &Argument)>, Vec<String>) = (Vec::new(), Vec::new());
    for argument @ Argument { index, size, value } in arguments {
        let allocation = if *size < 8 { None } else { state::allocation(value.cast_unsigned()) };
        match allocation {
            Some((start, rest)) => {
                if *size == 8 {
                    sizes.push(format!("\"{index}\": {rest}"));
                }
                let same = pointers.iter().filter(|(other, _)| *other == start);
                for pair in same.map(|(_, other)| pair(other, argument)) {
                    if !aliases.contains(&pair) {
                        aliases.push(pair);
                    }
                }
                pointers.push((start, argument));
            }
            // What else stands in a structure, nobody tells.
            None if *size > 8 => {}
            None if *size == 8 => words.push(format!("\"{index}\": {value}")),
            None => params.push(format!("\"{index}\": {value}")),
        }
    }
    let mut line = format!("{{\"kernel\": {}", quoted(name));
    let triple = |[x, y, z]: [u32; 3]| format!("[{x}, {y}, {z}]");
    let _ = write!(line, ", \"block\": {}, \"grid\": {}", triple(launch.block), triple(launch.grid));
    if launch.cluster != [1; 3] {
        let _ = write!(line, ", \"cluster\": {}", triple(launch.cluster));
    }
    let _ = write!(line, ", \"dynamic_shared\": {}", launch.shared);
    for (field, entries) in [("params", params), ("words", words), ("sizes", sizes)] {
        if !entries.is_empty() {
            let _ = write!(line, ", \"{field}\": {{{}}}", entries.join(", "));
        }
    }
    if !aliases.is_empty() {
        let _ = write!(line, ", \"aliases\": [{}]", aliases.join(", "));
    }
    line + "}"
}

/// Two pointers into one allocation, and how many bytes the second is behind the first. Structures may hold several.
fn pair(one: &Argument, other: &Argument) -> String {
    let distance = other.value.wrapping_sub(one.value);
    let distance = if one.size == 8 && other.size == 8 { format!(", {distance}") } else { String::new() };
    format!("[\"{}\", \"{}\"{distance}]", one.index, other.index)
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}
