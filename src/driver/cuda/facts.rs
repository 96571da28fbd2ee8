//! What the source states above a kernel: `//@ requires distinct([index].s32);`.
//!
//! Input: the text of a `.cu` file. Output: a [`SourceFact`] for each such line, with the kernel that follows; later, the same as
//! requirements of the kernel in a module. Establishes: a line is about the next `__global__` function, between which and
//! the line nothing else stands. Relies on: the names of the parameters are those of the source. Reference: book/src/annotating.md.

use super::lexer::{Token, tokens, with_remarks};
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
    /// Whether the source defines other kernels of that name.
    has_namesakes: bool,
    fact: String,
}

/// The requirements in the order of the text.
pub(crate) fn facts(file: &str, text: &str) -> Vec<SourceFact> {
    let remarks = with_remarks(text).into_iter().filter_map(|(token, range)| match token {
        Token::Remark(remark) => Some((remark, range)),
        _ => None,
    });
    let stated = remarks.filter_map(|(remark, range)| {
        let line_start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        let is_alone = text[line_start..range.start].trim().is_empty();
        let fact = remark.strip_prefix(MARK).filter(|_| is_alone)?;
        let line = 1 + text[..range.start].matches('\n').count();
        // A remark may follow.
        let fact = fact.find(';').map_or(fact, |end| &fact[..end]).trim().to_string();
        let kernel = kernel_behind(&text[range.end..]);
        let has_namesakes =
            kernel.as_ref().is_some_and(|kernel| defined(text).filter(|name| name == kernel).count() > 1);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        Some(SourceFact { file: file.to_string(), line, kernel, has_namesakes, fact })
    });
    stated.collect()
}

/// The kernel whose declaration a text begins with.
fn kernel_behind(text: &str) -> Option<String> {
    let all = tokens(text);
    // A body, or the end of another declaration, ends what may belong to it.
    let declaration =
        all.iter().take_while(|(token, _)| !matches!(token, Token::Sign('{' | ';') | Token::Directive(_)));
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

/// The names of the kernels that a text defines.
fn defined(text: &str) -> impl Iterator<Item = String> {
    let all = tokens(text);
    let starts = (0..all.len()).filter(|at| all[*at].0 == Token::Word("__global__")).filter(|at| {
        let end = all[*at..].iter().find(|(token, _)| matches!(token, Token::Sign('{' | ';')));
        end.is_some_and(|end| end.0 == Token::Sign('{'))
    });
    let starts: Vec<usize> = starts.map(|at| all[at].1.start).collect();
    starts.into_iter().filter_map(|start| kernel_behind(&text[start..]))
}

/// Adds the requirements to the kernels of a module.
///
/// # Errors
/// A line above no kernel of it, or above one of several with that name; what is no expression about the kernel.
pub(crate) fn require(facts: &[SourceFact], module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    // Each goes in front of those before it.
    for SourceFact { file, line, kernel, has_namesakes, fact } in facts.iter().rev() {
        let mut error =
            |message: String| errors.push(Diagnostic::unplaced("annotation", format!("{file}:{line}: {message}")));
        let Some(kernel) = kernel else {
            error("this line stands above no kernel".to_string());
            continue;
        };
        if *has_namesakes {
            error(format!("the source has several kernels `{kernel}`; state this in the PTX of the one that is meant"));
            continue;
        }
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
        // Not in other remarks, nor in front of what a condition leaves out.
        for other in ["/*\n//@ requires [n] > 0;\n*/", "x(); //@ requires [n] > 0;", "\"\\\n//@ requires [n] > 0;\""] {
            assert_eq!(facts("k.cu", &format!("{other}\n__global__ void f(int n) {{ }}")), []);
        }
        let left_out = facts("k.cu", "#if 0\n//@ requires [n] > 0;\n#endif\n__global__ void f(int n) { }");
        assert_eq!(left_out[0].kernel, None);
        let two = "//@ requires [n] > 0;\n__global__ void f(int n) { }\nnamespace b { __global__ void f(int n) { } }";
        assert!(facts("k.cu", two)[0].has_namesakes);
        let found: Vec<(u32, Option<String>, String)> =
            facts("k.cu", text).into_iter().map(|fact| (fact.line, fact.kernel, fact.fact)).collect();
        let f = || Some("f".to_string());
        assert_eq!(found[0], (1, f(), "distinct([a].s32)".to_string()));
        assert_eq!(found[1], (2, f(), "[n] > 0".to_string()));
        assert_eq!(found[2], (5, None, "[n] > 1".to_string()));
    }
}
