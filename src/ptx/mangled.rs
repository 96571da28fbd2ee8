//! Names as people write them: C++ and Numba mangle those of kernels and variables.
//!
//! Input: a name of PTX. Output: the name that its author reads, and the names that mean it on the command line.
//! Establishes: a name that is not mangled stays as it is. Relies on: nothing.
//! Reference: Itanium C++ ABI, "External Names (a.k.a. Mangling)".

use cpp_demangle::{DemangleOptions, Symbol};

/// Names longer than this stay mangled: nobody reads them, and types may expand without bounds.
const LONGEST: usize = 4096;

/// A mangled name as its author reads it: `_Z5saxpyifPf` is `saxpy(int, float, float*)`, and Numba's
/// `_ZN6cudapy8__main__3add...` is `__main__.add`. `None` for a name that is not mangled.
pub(crate) fn demangled(name: &str) -> Option<String> {
    if is_of_numba(name) {
        return of_numba(name);
    }
    demangle(name, DemangleOptions::new().no_return_type())
}

/// The name with its parameter types where it is mangled, and otherwise as it stands.
pub(crate) fn shown(name: &str) -> String {
    demangled(name).unwrap_or_else(|| name.to_string())
}

/// The word that the source declares: `sum` of `_ZZ4scanE3sum`, `saxpy` of `_Z5saxpyifPf`.
pub(crate) fn human(name: &str) -> String {
    let name = name.trim_start_matches('%');
    let written = if is_of_numba(name) { of_numba(name) } else { without_types(name) };
    written.map_or_else(|| name.to_string(), |written| last_word(&written).to_string())
}

/// Whether a name on the command line means the kernel: its name, or what its author calls it.
pub(crate) fn is_called(kernel: &str, wanted: &str) -> bool {
    let wanted = without_spaces(wanted);
    spellings(kernel).any(|spelling| without_spaces(&spelling) == wanted)
}

/// The kernel's name, and what its author calls it, with or without parameters, arguments of templates and namespaces.
pub(crate) fn spellings(kernel: &str) -> impl Iterator<Item = String> {
    let qualified = if is_of_numba(kernel) { of_numba(kernel) } else { without_types(kernel) };
    let last = qualified.as_deref().map(|name| last_component(name).to_string());
    [Some(kernel.to_string()), demangled(kernel), qualified, last, Some(human(kernel))].into_iter().flatten()
}

fn without_spaces(name: &str) -> String {
    name.split_whitespace().collect()
}

/// The qualified name, without types of parameters.
fn without_types(name: &str) -> Option<String> {
    demangle(name, DemangleOptions::new().no_return_type().no_params())
}

fn demangle(name: &str, options: DemangleOptions) -> Option<String> {
    // Without its prefix every short name would be the code of a type: `f` is `float`.
    if !name.starts_with("_Z") || name.len() > LONGEST {
        return None;
    }
    // A copy of a name in a nested scope has a suffix, which the demangler leaves over.
    let (symbol, rest) = Symbol::with_tail(name.as_bytes()).ok()?;
    let is_suffix = rest.is_empty() || rest.starts_with(b"$") || rest.starts_with(b"_");
    let text = symbol.demangle_with_options(&options).ok().filter(|_| is_suffix)?;
    (text.len() <= LONGEST).then_some(text)
}

/// Numba marks its names with a namespace of its own, or with two tags: `B3v16B106cw...`, the number of the compilation and
/// its options.
fn is_of_numba(name: &str) -> bool {
    let is_version = |tag: &str| {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (length, rest) = tag.split_at(digits(tag));
        let rest = rest.strip_prefix('v').filter(|rest| digits(rest) > 0);
        let tail = rest.map(|rest| &rest[digits(rest)..]);
        length.parse() == Ok(1 + rest.map_or(0, digits)) && tail.is_some_and(|tail| tail.starts_with('B'))
    };
    let has_version = || name.match_indices('B').any(|(at, _)| is_version(&name[at + 1..]));
    name.starts_with("_ZN6cudapy") || name.starts_with("_ZN") && has_version()
}

/// `module.function`: types, tags and the number of the compilation say nothing to the author.
fn of_numba(name: &str) -> Option<String> {
    let text = without_types(name)?;
    let text = text.strip_prefix("cudapy::").unwrap_or(&text);
    let mut parts = text.split("::").map(|part| {
        let tagless = part.split("[abi:").next().unwrap_or(part);
        let locals = tagless.replace("$3clocals$3e", "<locals>").replace("_3clocals_3e", "<locals>");
        // `$24` is a dollar, in front of the number of the compilation.
        locals.split("$24").next().unwrap_or_default().to_string()
    });
    let first = parts.next()?;
    Some(parts.fold(first, |name, part| name + "." + &part))
}

/// What stands behind the last `::` that is in no brackets.
fn last_component(name: &str) -> &str {
    let mut depth = 0i32;
    let mut start = 0;
    for (at, character) in name.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ':' | '.' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// The last component without arguments of a template.
fn last_word(name: &str) -> &str {
    let last = last_component(name);
    last.find(['<', '(', '[']).filter(|&at| at > 0).map_or(last, |at| &last[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_body_variables_have_a_human_name() {
        assert_eq!(human("_ZZ16histogram_sharedE4bins"), "bins");
        assert_eq!(human("_ZZN3foo3barEvE4tile_0"), "tile");
        assert_eq!(human("_ZZ6kernelIfEvPT_E4smem$1"), "smem");
        assert_eq!(human("_ZN3lib5arenaE"), "arena");
        assert_eq!(human("global_smem"), "global_smem");
        assert_eq!(human("f"), "f");
    }

    #[test]
    fn kernels_are_shown_as_their_authors_know_them() {
        assert_eq!(demangled("_Z5saxpyifPf").as_deref(), Some("saxpy(int, float, float*)"));
        assert_eq!(demangled("_ZN3lib6reduceIfLi8EEEvPT_i").as_deref(), Some("lib::reduce<float, 8>(float*, int)"));
        assert_eq!(demangled("saxpy"), None);
        assert_eq!(demangled("_Zqq"), None);
        assert_eq!(shown("_Zqq"), "_Zqq");
    }

    #[test]
    fn numba_names_are_short() {
        let old = "_ZN6cudapy8__main__14vector_add$241E5ArrayIfLi1E1C7mutable7alignedE";
        assert_eq!(demangled(old).as_deref(), Some("__main__.vector_add"));
        let new = "_ZN8__main__3addB2v1B5cw51cE5ArrayIfLi1E1C7mutable7alignedE";
        assert_eq!(demangled(new).as_deref(), Some("__main__.add"));
        assert!(is_called(old, "vector_add") && is_called(old, "__main__.vector_add"));
        let later = "_ZN8__main__6matmulB3v47B5cw51cE5ArrayIfLi2E1C7mutable7alignedEf";
        assert_eq!(demangled(later).as_deref(), Some("__main__.matmul"));
        assert_eq!(demangled("_ZN3lib1fB3v4xEi").as_deref(), Some("lib::f[abi:v4x](int)"));
        let local = "_ZN8__main__4make12$3clocals$3e4kernB2v1B3tagE";
        assert_eq!(human(local), "kern");
    }

    #[test]
    fn a_kernel_is_called_by_every_part_of_its_name() {
        let name = "_ZN3lib6reduceIfLi8EEEvPT_i";
        let spellings =
            [name, "reduce", "lib::reduce<float,8>", "reduce<float, 8>", "lib::reduce<float, 8>(float*, int)"];
        for spelling in spellings {
            assert!(is_called(name, spelling), "{spelling}");
        }
        for other in ["lib", "reduc", "reduce<double, 8>", "", "reduce(float*)"] {
            assert!(!is_called(name, other), "{other}");
        }
    }
}
