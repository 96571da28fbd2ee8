//! CUDA source, as far as an editor has to find its way in it: where kernels are, and where a compiler finds errors.
//!
//! Input: a text, or lines that a compiler printed. Output: lines. Establishes: nothing: no verdict depends on it. Relies on:
//! nothing. Reference: none.

use crate::report::source::SourceText;

/// The word before a kernel.
const GLOBAL: &str = "__global__";

/// The names of the kernels that are defined or declared in a text, each once.
pub(super) fn kernels(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, name) in declared(text) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    names
}

/// The line, from 1, where a kernel is named in its definition; `name` as a demangler has it: `void n::f<int>(int*)`.
pub(super) fn line_of(source: &SourceText, name: &str) -> usize {
    let text = source.text();
    let name = plain(name);
    // The last one, since declarations come before.
    let at = declared(text).into_iter().filter(|(_, declared)| *declared == name).map(|(at, _)| at).next_back();
    at.map_or(1, |at| source.line_index(at) + 1)
}

/// `f` of `void n::f<int>(int*)`.
fn plain(name: &str) -> &str {
    let head = name.find(['(', '<']).map_or(name, |end| &name[..end]);
    head.rsplit([':', ' ']).next().unwrap_or(head)
}

/// Where kernels are declared, and their names: the word in front of the first parenthesis that no attribute has.
fn declared(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(GLOBAL) {
        let mut from = at + GLOBAL.len();
        while let Some(open) = text[from..].find('(').map(|open| from + open) {
            let head = text[from..open].trim_end();
            let start = head.rfind(|character: char| !character.is_alphanumeric() && character != '_');
            let start = start.map_or(0, |start| start + head[start..].chars().next().map_or(1, char::len_utf8));
            let name = &head[start..];
            if !["__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__"].contains(&name) {
                let is_name = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
                found.extend(is_name.then_some((from + start, name)));
                break;
            }
            let Some(close) = closing(&text[open..]) else { break };
            from = open + close;
        }
    }
    found
}

/// Behind the parenthesis that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// An error in a compiler's words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CompilerError<'a> {
    pub(super) file: &'a str,
    /// From 1.
    pub(super) line: usize,
    /// From 1.
    pub(super) column: Option<usize>,
    pub(super) text: &'a str,
}

/// `k.cu(3): error: ...` of nvcc and `k.cu:3:7: error: ...` of clang.
pub(super) fn compiler_error(line: &str) -> Option<CompilerError<'_>> {
    let (place, text) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
    if let Some((file, number)) = place.strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        return Some(CompilerError { file, line: number.parse().ok()?, column: None, text });
    }
    let (front, last) = place.rsplit_once(':')?;
    let last = last.parse().ok()?;
    Some(match front.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => CompilerError { file, line, column: Some(last), text },
        None => CompilerError { file: front, line: last, column: None, text },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found() {
        let text = "__global__ void late(int*);\ntemplate <int n> __global__ void\n__launch_bounds__(max(1, 2), 3) tiled(float* a) {}\n\
                    static __global__ void late(int* a) {}\n__global__";
        assert_eq!(kernels(text), ["late", "tiled"]);
        let source = SourceText::new("k.cu", text);
        assert_eq!(line_of(&source, "void n::tiled<3>(float*)"), 3);
        assert_eq!(line_of(&source, "late(int*)"), 4);
        assert_eq!(line_of(&source, "gone"), 1);
    }

    #[test]
    fn errors_of_compilers_are_read() {
        let nvcc = compiler_error("/a/k.cu(3): error: expected a \";\"");
        assert_eq!(nvcc, Some(CompilerError { file: "/a/k.cu", line: 3, column: None, text: "expected a \";\"" }));
        let clang = compiler_error("k.cu:3:7: error: expected ';'");
        assert_eq!(clang, Some(CompilerError { file: "k.cu", line: 3, column: Some(7), text: "expected ';'" }));
        assert_eq!(compiler_error("clang: error: no such file"), None);
        assert_eq!(compiler_error("1 error detected"), None);
    }
}
