//! Names of arrays in annotations.
//!
//! Input: a name, and the variables and parameters that there are. Output: the array, or why there is none.
//! Establishes: a variable is in `.shared`, `.global` or `.const`; a parameter of the entry is as wide as a pointer.
//! Reference: book/src/annotating.md.

use super::ArrayRef;
use crate::ptx::ast::{Function, StateSpace, Variable, VariableRef};
use crate::ptx::mangled::human;

/// The array of a variable, by its name in the PTX or by the one that it has in CUDA C++, if that means one only.
///
/// # Errors
/// Why there is none.
pub(crate) fn named(name: &str, of_module: &[Variable], of_body: &[Variable]) -> Result<ArrayRef, String> {
    let of_body = (0u32..).zip(of_body).map(|(index, variable)| (VariableRef::Body(index), variable));
    let of_module = (0u32..).zip(of_module).map(|(index, variable)| (VariableRef::Module(index), variable));
    let all: Vec<(VariableRef, &Variable)> = of_body.chain(of_module).filter(|(_, v)| is_visible(v)).collect();
    if let Some((found, _)) = all.iter().find(|(_, variable)| *variable.name == *name) {
        return Ok(ArrayRef::Variable(*found));
    }
    let meant: Vec<&(VariableRef, &Variable)> = all.iter().filter(|(_, v)| human(&v.name) == name).collect();
    match &meant[..] {
        [(found, _)] => Ok(ArrayRef::Variable(*found)),
        [] => Err(format!("no array in shared or global memory is named `{name}`")),
        several => {
            let names: Vec<String> = several.iter().map(|(_, variable)| format!("`{}`", variable.name)).collect();
            Err(format!("`{name}` may be {}", names.join(" or ")))
        }
    }
}

/// Whether other threads see the variable.
fn is_visible(variable: &Variable) -> bool {
    matches!(variable.space, StateSpace::Shared | StateSpace::Global | StateSpace::Const)
}

/// The array that a parameter of a kernel points to.
///
/// # Errors
/// Why there is none.
pub(crate) fn pointee(entry: Option<&Function>, name: &str) -> Result<ArrayRef, String> {
    let Some(entry) = entry else { return Err("parameters have names in kernels only".to_string()) };
    let Some(index) = entry.parameter(name) else {
        let known: Vec<String> = entry.params.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        return Err(format!("`{}` has no parameter `{name}`; it has {}", entry.name, known.join(", ")));
    };
    let parameter = &entry.params[index];
    if parameter.ty.bytes() != 8 || parameter.size != Some(8) {
        return Err(format!("`{name}` is no pointer"));
    }
    Ok(ArrayRef::Pointee(index as u32))
}
