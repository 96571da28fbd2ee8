//! Parameters by the names that their author gave them.
//!
//! Input: a module of PTX, whose compiler calls parameters `kernel_param_0`. Output: the same module with the names of
//! the source, where `.loc` leads to a source file at hand that has the kernel, and otherwise `param_0` in kernels whose
//! own name is mangled. Establishes: nothing is guessed: names come from a parameter list that has as many parameters, of
//! the sizes that their types say. Relies on: `Variable::spelling` keeps the name of the PTX, which goes on meaning the
//! parameter. Reference: none.

use crate::ptx::ast::{Function, Item, Module, Variable};
use crate::ptx::mangled;
use crate::report::cuda;
use crate::report::source::SourceFiles;
use crate::span::SourcePosition;

/// Renames the parameters of all kernels of an input file.
pub(crate) fn use_source(module: &mut Module, input: &str) {
    let mut files = SourceFiles::beside(input);
    for entry in module.functions.iter_mut().filter(|function| function.is_entry) {
        let Some(numbered) = numbered(entry) else { continue };
        let names = of_source(entry, &mut files);
        let names = names.or_else(|| mangled::demangled(&entry.name).map(|_| numbered));
        for (parameter, name) in entry.params.iter_mut().zip(names.into_iter().flatten()) {
            let spelling = std::mem::replace(&mut parameter.name, name.as_str().into());
            parameter.spelling = Some(spelling);
        }
    }
}

/// `param_0` and so on, if the compiler made the names of all parameters up; a person may have written others.
fn numbered(entry: &Function) -> Option<Vec<String>> {
    let is_made_up = |(number, parameter): (usize, &Variable)| {
        parameter.name.strip_prefix(&*entry.name) == Some(&*format!("_param_{number}"))
    };
    let all = entry.params.iter().enumerate().all(is_made_up);
    all.then(|| (0..entry.params.len()).map(|number| format!("param_{number}")).collect())
}

fn of_source(entry: &Function, files: &mut SourceFiles) -> Option<Vec<String>> {
    let position = first_position(entry)?;
    let source = files.file(&position.file)?;
    let parameters = cuda::parameters(source.text(), &mangled::human(&entry.name), position.line)?;
    let fits = |(parameter, declared): (&cuda::Parameter, &Variable)| {
        parameter.bytes.is_none() || declared.size.is_none() || parameter.bytes == declared.size
    };
    let all_fit = parameters.len() == entry.params.len() && parameters.iter().zip(&entry.params).all(fits);
    all_fit.then(|| parameters.into_iter().map(|parameter| parameter.name).collect())
}

/// Where the kernel's code begins, at the place of the kernel itself.
fn first_position(entry: &Function) -> Option<&SourcePosition> {
    let mut instructions = entry.body.iter().flat_map(|body| &body.items).filter_map(|item| match item {
        Item::Instruction(instruction) => instruction.origin.position.as_ref(),
        _ => None,
    });
    instructions.next().map(|position| position.outermost())
}
