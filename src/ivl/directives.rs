//! `#if`, `#elsif`, `#else`, `#endif`: which lines of a text count.
//!
//! Input: text in the dialect of Boogie. Output: the same with blanks for directives and for the lines of branches that
//! are not taken, so that places stay what they are. Establishes: no directive is left. Relies on: nothing; as for Boogie
//! a directive is a line of its own, also inside a comment.
//! Reference: Boogie 2.4, its reader: a condition is a name, or `!` and a name, and `FILE_0` is the only one defined.

use super::subset;
use super::token::Spanned;
use super::token::Token;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::borrow::Cow;

/// What Boogie defines of the first file.
const DEFINED: &str = "FILE_0";

/// A directive around a line, innermost last.
struct Region {
    /// Where its `#if` stands.
    opened: Span,
    /// Whether the lines around it count.
    outer: bool,
    /// Whether a branch was taken already, the one at hand included.
    taken: bool,
    /// Whether the lines of the branch at hand count.
    counts: bool,
    has_else: bool,
}

enum Directive<'t> {
    If(&'t str),
    Elsif(&'t str),
    Else,
    Endif,
}

fn directive(line: &str) -> Option<Directive<'_>> {
    let line = line.trim();
    match line {
        "#else" => Some(Directive::Else),
        "#endif" => Some(Directive::Endif),
        _ => {
            let condition = line.strip_prefix("#if").map(Directive::If);
            condition.or_else(|| line.strip_prefix("#elsif").map(Directive::Elsif))
        }
    }
}

fn is_true(condition: &str) -> bool {
    let mut name = condition.trim();
    let mut negated = false;
    while let Some(rest) = name.strip_prefix('!') {
        (name, negated) = (rest.trim_start(), !negated);
    }
    (name == DEFINED) != negated
}

/// Blanks what does not count.
pub(crate) fn run(text: &str) -> Result<Cow<'_, str>, Vec<Diagnostic>> {
    if !text.lines().any(|line| directive(line).is_some()) {
        return Ok(Cow::Borrowed(text));
    }
    let mut regions: Vec<Region> = Vec::new();
    let mut errors = Vec::new();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let span = Span::new(out.len(), out.len() + line.trim_end().len());
        let found = directive(line);
        let counts = found.is_none() && regions.last().is_none_or(|region| region.counts);
        if let Some(found) = found
            && let Err(misplaced) = enter(found, &mut regions, span)
        {
            errors.push(Diagnostic::error("ivl-syntax", format!("this {misplaced} belongs to no `#if`"), span));
        }
        if counts {
            out.push_str(line);
        } else {
            out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        }
    }
    errors.extend(
        regions.iter().map(|region| Diagnostic::error("ivl-syntax", "this `#if` has no `#endif`", region.opened)),
    );
    if errors.is_empty() { Ok(Cow::Owned(out)) } else { Err(errors) }
}

/// Goes on behind a directive; `Err` is one that has no place here.
fn enter(directive: Directive, regions: &mut Vec<Region>, opened: Span) -> Result<(), &'static str> {
    if let Directive::If(condition) = directive {
        let outer = regions.last().is_none_or(|region| region.counts);
        let counts = outer && is_true(condition);
        regions.push(Region { opened, outer, taken: counts, counts, has_else: false });
        return Ok(());
    }
    let open = regions.last_mut();
    match (directive, open) {
        (Directive::Elsif(condition), Some(region)) if !region.has_else => {
            region.counts = region.outer && !region.taken && is_true(condition);
            region.taken |= region.counts;
        }
        (Directive::Else, Some(region)) if !region.has_else => {
            region.counts = region.outer && !region.taken;
            region.has_else = true;
        }
        (Directive::Endif, Some(_)) => {
            regions.pop();
        }
        (Directive::Elsif(_), _) => return Err("`#elsif`"),
        (Directive::Else, _) => return Err("`#else`"),
        (_, _) => return Err("`#endif`"),
    }
    Ok(())
}

/// What is wrong with a word that begins with `#` where a line begins: for Boogie that line is a pragma.
pub(crate) fn pragma(text: &str, (start, token, end): Spanned<'_>) -> Option<Diagnostic> {
    let Token::Identifier(word) = token else { return None };
    let begins_line = start == 0 || text[..start].ends_with('\n');
    if !word.starts_with('#') || !begins_line {
        return None;
    }
    let span = Span::new(start, end);
    Some(match word {
        "#line" => subset::error("the pragma `#line`", span),
        _ => Diagnostic::error("ivl-syntax", format!("`{word}` at the beginning of a line is no known pragma"), span),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        run(text).unwrap_or_else(|errors| panic!("{errors:?}")).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_branch_is_taken() {
        assert_eq!(kept("a\n#if X\nb\n#elsif !Y\nc\n#elsif !Z\nd\n#else\ne\n#endif\nf"), "a c f");
        assert_eq!(kept("#if FILE_0\na\n#else\nb\n#endif"), "a");
        assert_eq!(kept(" #if !!FILE_0 \na\n #endif "), "a");
        assert_eq!(kept("#if X\n#if !Y\na\n#else\nb\n#endif\nc\n#else\nd\n#endif"), "d");
        // A condition is one name, whatever stands in it.
        assert_eq!(kept("#if !X && Y\na\n#endif"), "a");
    }

    #[test]
    fn places_stay() {
        let text = "var é: int;\r\n#if X\n é\n#endif\nvar x: int;";
        let blanked = run(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(blanked.len(), text.len());
        assert_eq!(blanked.find("var x"), text.find("var x"));
    }

    #[test]
    fn misplaced_directives_are_errors() {
        for wrong in ["#if X", "#endif", "#else", "#elsif X", "#if X\n#else\n#else\n#endif", "#if X\n#endif x"] {
            assert!(run(wrong).is_err(), "{wrong}");
        }
    }
}
