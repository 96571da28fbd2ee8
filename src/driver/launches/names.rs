//! Kernels by the names that people write.
//!
//! Input: a kernel's name in the PTX, and a name from elsewhere. Output: whether the second means the first.
//! Establishes: the name in the PTX always does. Relies on: nothing.
//! Reference: Itanium C++ ABI, "External Names (a.k.a. Mangling)".

use cpp_demangle::{DemangleOptions, Symbol};

/// Whether a name means a kernel: its name in the PTX, or what its author calls it, with or without arguments of templates
/// and namespaces.
pub(crate) fn is_called(kernel: &str, wanted: &str) -> bool {
    if kernel == wanted {
        return true;
    }
    let wanted: String = wanted.split_whitespace().collect();
    written(kernel).is_some_and(|name| {
        let name: String = name.split_whitespace().collect();
        let bare = without_arguments(&name);
        let bare_word = bare.rsplit("::").next().unwrap_or(bare);
        let arguments = &name[bare.len()..];
        [name.as_str(), bare, bare_word].contains(&wanted.as_str()) || format!("{bare_word}{arguments}") == wanted
    })
}

/// The same for a pattern with `*`, `?` and `[...]`, as files have them.
pub(crate) fn matches(kernel: &str, pattern: &str) -> bool {
    let Ok(glob) = glob::Pattern::new(pattern) else { return false };
    let name = written(kernel);
    let spellings = [Some(kernel), name.as_deref(), name.as_deref().map(without_arguments)];
    is_called(kernel, pattern) || spellings.into_iter().flatten().any(|spelling| glob.matches(spelling))
}

/// `ns::scan<float, 256>` of its mangled name.
fn written(kernel: &str) -> Option<String> {
    // Without its prefix every short name would be the code of a type: `f` is `float`.
    let symbol = kernel.starts_with("_Z").then(|| Symbol::new(kernel).ok()).flatten()?;
    symbol.demangle_with_options(&DemangleOptions::new().no_return_type().no_params()).ok()
}

/// The name in front of the arguments of its template.
fn without_arguments(name: &str) -> &str {
    let Some(inside) = name.strip_suffix('>') else { return name };
    let mut depth = 1;
    for (at, character) in inside.char_indices().rev() {
        match character {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &name[..at];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::is_called;

    #[test]
    fn kernels_are_called_as_in_their_source() {
        for name in ["_Z5saxpyifPfS_", "saxpy"] {
            assert!(is_called("_Z5saxpyifPfS_", name), "{name}");
        }
        for name in ["n::k", "k", "n::k<16>", "k<16>", "k< 16 >"] {
            assert!(is_called("_ZN1n1kILi16EEEvPf", name), "{name}");
        }
        for (kernel, name) in [("_Z5saxpyifPfS_", "axpy"), ("f", "float"), ("_ZN1n1kILi16EEEvPf", "k<32>"), ("k", "")] {
            assert!(!is_called(kernel, name), "{kernel} {name}");
        }
    }
}
