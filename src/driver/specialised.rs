//! Facts about arguments for which Triton specialised a kernel.
//!
//! Input: programs of PTX, and the `.ttir` file beside each. Output: the same with `requires` in front of their first
//! instruction. Establishes: each fact stands among the assumptions, with its file and line. Relies on: the signature fits
//! the parameters of the PTX one by one; where it does not, nothing is taken from it. Reference: book/src/input.md.

use super::annotations::Parsed;
use super::pipeline::Program;
use crate::container::ttir::{self, Kind, Signature};
use crate::ptx::annotation::sidecar;
use crate::ptx::ast::{Function, Module, Variable};
use std::path::Path;

/// A file larger than this is not read, in bytes.
const LARGEST: u64 = 16 << 20;

/// Adds what Triton took for granted of integer arguments.
pub(crate) fn require(programs: &mut [Parsed]) {
    for parsed in programs {
        let Program::Ptx(module) = &mut parsed.program else { continue };
        let path = Path::new(parsed.input.source.name()).with_extension("ttir");
        if parsed.input.launch.is_none() {
            continue;
        }
        let is_small = std::fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
        if let Some(text) = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            require_of(module, &name, &text);
        }
    }
}

fn require_of(module: &mut Module, file: &str, text: &str) {
    for index in 0..module.functions.len() {
        let function = &module.functions[index];
        let signature = ttir::signature(text, &function.name).filter(|_| function.is_entry);
        let Some(signature) = signature.filter(|signature| fits(signature, function)) else { continue };
        let facts = signature.arguments.iter().zip(&function.params).filter_map(|(kind, parameter)| match kind {
            Kind::Integer { multiple_of: Some(number), .. } => Some(format!("[{}] % {number} == 0", parameter.name)),
            _ => None,
        });
        for fact in facts.collect::<Vec<_>>().into_iter().rev() {
            // A parameter that cannot be named, as one of 8 bits, has no fact.
            let _ = sidecar::require(file, signature.line, &fact, module, index);
        }
    }
}

/// Whether the parameters are those arguments, perhaps with others of Triton's own behind them.
fn fits(signature: &Signature, function: &Function) -> bool {
    let is_one = |(kind, parameter): (&Kind, &Variable)| {
        let bits = match kind {
            Kind::Pointer => 64,
            Kind::Integer { bits, .. } | Kind::Float { bits } => *bits,
        };
        let is_float = matches!(kind, Kind::Float { .. });
        let is_scalar = parameter.size == Some(u64::from(parameter.ty.bytes()));
        is_scalar && parameter.ty.bits() == bits && (is_float || !parameter.ty.is_float())
    };
    signature.arguments.len() <= function.params.len() && signature.arguments.iter().zip(&function.params).all(is_one)
}
