//! What the source states above a kernel: `//@ requires distinct([index].s32);`.
//!
//! Input: the text of a `.cu` file. Output: a [`SourceFact`] for each such line, with the kernel that follows; later, the same as
//! requirements of the kernel in a module. Establishes: a line is about the next `__global__` function, between which and
//! the line nothing else stands. Relies on: the names of the parameters are those of the source. Reference: book/src/annotating.md.

use super::lexer::{Token, tokens};
use crate::diagnostic::Diagnostic;
use crate::ptx::annotation::sidecar;
use crate::ptx::ast::Module;
use crate::ptx::mangled::is_called;

/// What such a line begins with.
const MARK: &str = "//@ requires ";

/// A requirement in the source of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceFact {
    file: String,
    line: u32,
    /// `None` where no kernel follows.
    kernel: Option<String>,
    fact: String,
}

/// The requirements in the order of the text.
pub(crate) fn facts(file: &str, text: &str) -> Vec<SourceFact> {
    let mut start = 0;
    let mut found = Vec::new();
    for (line, written) in (1u32..).zip(text.split_inclusive('\n')) {
        start += written.len();
        if let Some(fact) = written.trim_start().strip_prefix(MARK) {
            // A remark may follow.
            let fact = fact.find(';').map_or(fact, |end| &fact[..end]).trim().to_string();
            found.push(SourceFact { file: file.to_string(), line, kernel: kernel_behind(&text[start..]), fact });
        }
    }
    found
}

/// The kernel whose declaration a text begins with.
fn kernel_behind(text: &str) -> Option<String> {
    let all = tokens(text);
    // A body, or the end of another declaration, ends what may belong to it.
    let declaration = all.iter().take_while(|(token, _)| !matches!(token, Token::Sign('{' | ';')));
    let words: Vec<(Option<&str>, Token)> = declaration
        .map(|(token, _)| (if let Token::Word(word) = token { Some(*word) } else { None }, *token))
        .collect();
    let global = words.iter().position(|(word, _)| *word == Some("__global__"))?;
    let behind = &words[global..];
    let open = (1..behind.len()).find(|at| {
        let before = behind[at - 1].0;
        behind[*at].1 == Token::Sign('(') && before.is_some_and(|word| word != "__launch_bounds__")
    })?;
    behind[open - 1].0.map(str::to_string)
}

/// Adds the requirements to the kernels of a module.
///
/// # Errors
/// A line above no kernel of it; what is no expression about the kernel.
pub(crate) fn require(facts: &[SourceFact], module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    // Each goes in front of those before it.
    for SourceFact { file, line, kernel, fact } in facts.iter().rev() {
        let mut error =
            |message: String| errors.push(Diagnostic::unplaced("annotation", format!("{file}:{line}: {message}")));
        let Some(kernel) = kernel else {
            error("this line stands above no kernel".to_string());
            continue;
        };
        for index in 0..module.functions.len() {
            let function = &module.functions[index];
            if function.is_entry
                && is_called(&function.name, kernel)
                && let Err(message) = sidecar::require(file, *line, fact, module, index)
            {
                error(message);
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_about_the_kernel_below() {
        let text = "//@ requires distinct([a].s32);\n//@ requires [n] > 0; // so\ntemplate <class T>\n__global__ void \
                    __launch_bounds__(256) f(T *a, int n) { }\n//@ requires [n] > 1;\nint x;\n__global__ void g(int n);";
        let found: Vec<(u32, Option<String>, String)> =
            facts("k.cu", text).into_iter().map(|fact| (fact.line, fact.kernel, fact.fact)).collect();
        let f = || Some("f".to_string());
        assert_eq!(found[0], (1, f(), "distinct([a].s32)".to_string()));
        assert_eq!(found[1], (2, f(), "[n] > 0".to_string()));
        assert_eq!(found[2], (5, None, "[n] > 1".to_string()));
    }
}
