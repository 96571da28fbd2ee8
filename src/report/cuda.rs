//! Parameters of kernels as CUDA source names them.
//!
//! Input: the text of a source file, the name of a kernel and a line of it. Output: the parameters of the `__global__`
//! function of that name around the line. Establishes: nothing is guessed; where the text has no such function or
//! several, or a parameter is not understood, there is no answer.
//! Relies on: braces that are balanced. Reference: CUDA C++ Programming Guide, "__global__".

use std::iter::Peekable;
use std::ops::RangeInclusive;
use std::str::CharIndices;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Its size in bytes, where the type says it by itself.
    pub(crate) bytes: Option<u64>,
}

/// The parameters of the kernel of that name whose definition covers the line.
pub(crate) fn parameters(text: &str, kernel: &str, line: u32) -> Option<Vec<Parameter>> {
    let tokens = tokens(text);
    let starts = tokens.iter().enumerate().filter(|(_, token)| token.text == "__global__").map(|(at, _)| at);
    let mut found = starts.filter_map(|at| definition(&tokens[at..], kernel)).filter(|one| one.lines.contains(&line));
    match (found.next(), found.next()) {
        (Some(only), None) => parameters_of(only.parameters),
        _ => None,
    }
}

/// A word, a number or a character of punctuation; a whole directive of the preprocessor is one `#`.
#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    text: &'t str,
    line: u32,
}

struct Definition<'s, 't> {
    lines: RangeInclusive<u32>,
    /// What stands between the parentheses.
    parameters: &'s [Token<'t>],
}

/// The function that starts with these tokens, if it has that name and a body.
fn definition<'s, 't>(tokens: &'s [Token<'t>], kernel: &str) -> Option<Definition<'s, 't>> {
    let first = tokens.first()?.line;
    let mut at = 1;
    loop {
        let token = tokens.get(at)?;
        match token.text {
            ";" | "{" | "}" | "__global__" => return None,
            "(" => at = closing(tokens, at)? + 1,
            name if name == kernel => {
                let open = match tokens.get(at + 1)?.text {
                    // Arguments of a specialised template.
                    "<" => closing(tokens, at + 1)? + 1,
                    _ => at + 1,
                };
                if tokens.get(open)?.text == "(" {
                    let close = closing(tokens, open)?;
                    let body = close + 1;
                    if tokens.get(body)?.text != "{" {
                        return None;
                    }
                    let last = tokens[closing(tokens, body)?].line;
                    return Some(Definition { lines: first..=last, parameters: &tokens[open + 1..close] });
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// The index of the bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let (opening, closing) = match tokens.get(open)?.text {
        "(" => ("(", ")"),
        "{" => ("{", "}"),
        "[" => ("[", "]"),
        _ => ("<", ">"),
    };
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.text == opening {
            depth += 1;
        } else if token.text == closing {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

fn parameters_of(tokens: &[Token]) -> Option<Vec<Parameter>> {
    let mut texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    // Which branch of a condition was compiled is not known.
    if texts.contains(&"#") {
        return None;
    }
    if texts == ["void"] {
        texts.clear();
    }
    let mut parameters = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for at in 0..=texts.len() {
        match texts.get(at).copied() {
            Some("(" | "[" | "{" | "<") => depth += 1,
            Some(")" | "]" | "}" | ">") => depth -= 1,
            Some(",") | None if depth == 0 && !texts.is_empty() => {
                parameters.push(parameter(&texts[start..at])?);
                start = at + 1;
            }
            _ => {}
        }
    }
    let mut names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    names.sort_unstable();
    let are_different = names.windows(2).all(|pair| pair[0] != pair[1]);
    are_different.then_some(parameters)
}

/// Words that say nothing about the size of a parameter, and are not its name.
const QUALIFIERS: [&str; 8] =
    ["const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__", "typename", "struct"];

/// Types that are no names.
const TYPES: [&str; 12] =
    ["int", "unsigned", "signed", "long", "short", "char", "float", "double", "bool", "void", "size_t", "auto"];

/// `const float* __restrict__ x` and the like.
fn parameter(texts: &[&str]) -> Option<Parameter> {
    let end = texts.iter().position(|text| *text == "=").unwrap_or(texts.len());
    let words: Vec<&str> = texts[..end].iter().copied().filter(|text| !QUALIFIERS.contains(text)).collect();
    // `float x[4]` is a pointer; a pointer to a function has its name in parentheses.
    let array = words.iter().position(|word| *word == "[").unwrap_or(words.len());
    let (name, ty) = words[..array].split_last()?;
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !TYPES.contains(name);
    if !is_name || ty.is_empty() || ty.ends_with(&[":"]) || ty.ends_with(&["."]) || words.contains(&"(") {
        return None;
    }
    let is_pointer = array < words.len() || ty.last() == Some(&"*");
    let bytes = match ty {
        _ if is_pointer => Some(8),
        ["int" | "unsigned" | "float"] | ["unsigned", "int"] => Some(4),
        ["double" | "size_t"] | ["long", "long"] | ["unsigned", "long", "long"] => Some(8),
        ["char" | "bool"] | ["unsigned", "char"] => Some(1),
        ["short"] | ["unsigned", "short"] => Some(2),
        _ => None,
    };
    Some(Parameter { name: name.to_string(), bytes })
}

/// The tokens of C++, without comments, strings and characters.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut characters = text.char_indices().peekable();
    let mut starts_line = true;
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        match character {
            '\n' => {
                line += 1;
                starts_line = true;
                continue;
            }
            _ if character.is_whitespace() => continue,
            '/' if next == Some('/') => skip_line(&mut characters, &mut line),
            '/' if next == Some('*') => skip_comment(&mut characters, &mut line),
            '"' | '\'' => skip_literal(&mut characters, character, &mut line),
            '#' if starts_line => {
                tokens.push(Token { text: &text[at..at + 1], line });
                skip_line(&mut characters, &mut line);
            }
            _ if is_word(character) => {
                let mut end = at + character.len_utf8();
                while let Some((at, next)) = characters.next_if(|&(_, next)| is_word(next)) {
                    end = at + next.len_utf8();
                }
                tokens.push(Token { text: &text[at..end], line });
            }
            _ => tokens.push(Token { text: &text[at..at + character.len_utf8()], line }),
        }
        starts_line = false;
    }
    tokens
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Up to the end of the line, which a backslash continues.
fn skip_line(characters: &mut Peekable<CharIndices>, line: &mut u32) {
    let mut before = ' ';
    while let Some((_, character)) = characters.next_if(|&(_, next)| next != '\n' || before == '\\') {
        *line += u32::from(character == '\n');
        // `\` may stand in front of `\r\n`.
        before = if character == '\r' { before } else { character };
    }
}

fn skip_comment(characters: &mut Peekable<CharIndices>, line: &mut u32) {
    characters.next();
    let mut before = ' ';
    for (_, character) in characters.by_ref() {
        if before == '*' && character == '/' {
            return;
        }
        *line += u32::from(character == '\n');
        before = character;
    }
}

/// A string or a character, up to its end or that of the line: `1'000` is none.
fn skip_literal(characters: &mut Peekable<CharIndices>, quote: char, line: &mut u32) {
    let mut is_escaped = false;
    while let Some((_, character)) = characters.next_if(|&(_, next)| next != '\n' || is_escaped) {
        *line += u32::from(character == '\n');
        if character == quote && !is_escaped {
            return;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, kernel: &str, line: u32) -> Option<Vec<String>> {
        Some(parameters(text, kernel, line)?.into_iter().map(|parameter| parameter.name).collect())
    }

    #[test]
    fn parameters_have_the_names_of_the_source() {
        let text = "// __global__ void scale(int wrong) {}\n\
                    template <typename T, int N = 4>\n\
                    __global__ void __launch_bounds__(256, 2)\n\
                    scale(const T* __restrict__ in, float out[], int n /* (rows, */, unsigned int pitch = 3,\n\
                          Pair<int, float> pair)\n{\n  char c = '{';\n  out[0] = in[n];\n}\n";
        assert_eq!(
            names(text, "scale", 8).as_deref(),
            Some(&["in", "out", "n", "pitch", "pair"].map(String::from)[..])
        );
        let bytes: Option<Vec<_>> = parameters(text, "scale", 8).map(|all| all.iter().map(|one| one.bytes).collect());
        assert_eq!(bytes, Some(vec![Some(8), Some(8), Some(4), Some(4), None]));
        assert_eq!(names(text, "scale", 10), None, "the line is behind the body");
        assert_eq!(names(text, "scal", 8), None);
    }

    #[test]
    fn what_is_not_understood_has_no_answer() {
        for list in
            ["int, float x", "const Pair", "void (*f)(int)", "\n#ifdef A\nint a\n#else\nint b\n#endif\n", "T... rest"]
        {
            let text = format!("__global__ void k({list}) {{ }}");
            let line = text.lines().count() as u32;
            assert_eq!(names(&text, "k", line), None, "{list}");
        }
        assert_eq!(names("__global__ void k(int n);", "k", 1), None, "a declaration");
        assert_eq!(names("__global__ void k(int a, int a) { }", "k", 1), None);
    }

    #[test]
    fn the_line_tells_overloads_apart() {
        let text =
            "__global__ void k(int a) { }\n__global__ void k(float b) { }\nextern \"C\" __global__ void e(void) { }";
        assert_eq!(names(text, "k", 2), Some(vec!["b".to_string()]));
        assert_eq!(names(text, "e", 3), Some(Vec::new()));
        let one_line = text.replace('\n', " ");
        assert_eq!(names(&one_line, "k", 1), None);
    }
}
