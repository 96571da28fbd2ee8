//! What Triton's first intermediate file (`.ttir`) says about the arguments that a kernel was specialised for.
//!
//! Input: the text, and a kernel. Output: which integer arguments are multiples of what. Establishes: nothing is said of
//! a signature that is not understood as a whole. Relies on: arguments stand in the order of the PTX's parameters.
//! Reference: Triton's dialect of MLIR, `tt.func`, `tt.divisibility`.

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of 64 bits.
    Pointer,
    Integer {
        bits: u32,
        /// What its values are multiples of, if the file says so.
        multiple_of: Option<u64>,
    },
    Float {
        bits: u32,
    },
}

/// The arguments of a kernel, and the line of their function, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) arguments: Vec<Kind>,
    pub(crate) line: u32,
}

/// The signature of a kernel; `None` where there is none, or one that is not understood.
pub(crate) fn signature(text: &str, kernel: &str) -> Option<Signature> {
    let header = format!("tt.func public @{kernel}(");
    let start = text.find(&header)?;
    let line = 1 + text[..start].matches('\n').count();
    let arguments = list(&text[start + header.len()..])?.into_iter().map(argument).collect::<Option<_>>()?;
    Some(Signature { arguments, line: u32::try_from(line).ok()? })
}

/// The parts of a list, which ends with a parenthesis that it does not open.
fn list(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth, mut is_text) = (Vec::new(), 0, 0usize, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'(' | b'<' | b'{' | b'[' => depth += 1,
            b')' if depth == 0 => {
                parts.push(&text[start..at]);
                return Some(parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect());
            }
            b')' | b'>' | b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// `%n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))`
fn argument(text: &str) -> Option<Kind> {
    let (_, declared) = text.split_once(": ")?;
    let end = declared.find([' ', '{']).unwrap_or(declared.len());
    let (ty, attributes) = declared.split_at(end);
    let bits = |prefix: &str| ty.strip_prefix(prefix)?.parse::<u32>().ok();
    if ty.starts_with("!tt.ptr<") {
        return Some(Kind::Pointer);
    }
    if let Some(bits) = bits("i") {
        return Some(Kind::Integer { bits, multiple_of: multiple(attributes)? });
    }
    bits("bf").or_else(|| bits("f")).map(|bits| Kind::Float { bits })
}

/// What the attributes say; the outer `None` if that is no number.
fn multiple(attributes: &str) -> Option<Option<u64>> {
    let Some((_, value)) = attributes.split_once("tt.divisibility = ") else { return Some(None) };
    let end = value.find(|character: char| !character.is_ascii_digit()).unwrap_or(value.len());
    let number: u64 = value[..end].parse().ok()?;
    Some(Some(number).filter(|number| *number > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"#loc = loc("/tmp/a(dd.py":5:0)
module {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n, (m"(#loc)), %k: i64 loc("k"(#loc)), %s: f32 loc(#loc)) attributes {noinline = false} {
"#;

    #[test]
    fn arguments_with_what_they_are_multiples_of() {
        let integer = |bits, multiple_of| Kind::Integer { bits, multiple_of };
        let arguments = vec![Kind::Pointer, integer(32, Some(16)), integer(64, None), Kind::Float { bits: 32 }];
        assert_eq!(signature(TEXT, "add"), Some(Signature { arguments, line: 3 }));
    }

    #[test]
    fn nothing_is_said_of_what_is_not_understood() {
        for (change, by) in [
            ("@add(", "@other("),
            ("!tt.ptr<f32>", "!tt.tensordesc<tensor<16xf32>>"),
            ("i64", "tensor<4xi32>"),
            ("loc(#loc))", "loc(#loc)"),
            ("= 16 : i32} loc(\"n", "= x : i32} loc(\"n"),
        ] {
            assert_eq!(signature(&TEXT.replace(change, by), "add"), None, "{change}");
        }
    }
}
