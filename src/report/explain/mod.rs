//! What each code and each opcode means: `gpuvcc explain CODE`, and the rules of SARIF.
//!
//! The texts stand in tables, one file a kind of code. Every code that a stage can give must be
//! here; `tests/cli.rs` compares the tables with the sources.

mod ivl;
mod launch;
mod litmus;
pub(crate) mod opcode;
mod ptx;
mod run;
mod unsupported;
mod verdicts;

use crate::ptx::table;
use crate::report::near_names::near_names;
use std::fmt::Write;

/// A code and its explanation.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// The code, as messages show it.
    pub code: &'static str,
    /// One line, lower case, no full stop.
    pub(crate) title: &'static str,
    /// A paragraph.
    pub(crate) text: &'static str,
    /// An input that gives it, or what to do; several lines.
    pub(crate) example: &'static str,
}

/// The tables, with the heading that the list shows.
const TABLES: [(&str, &[Code]); 7] = [
    ("verdicts", verdicts::CODES),
    ("command line and launch", launch::CODES),
    ("emulation", run::CODES),
    ("PTX input", ptx::CODES),
    ("IVL input", ivl::CODES),
    ("litmus tests", litmus::CODES),
    ("without a sound model", unsupported::CODES),
];

/// All codes, in the order of the list.
pub fn all() -> impl Iterator<Item = &'static Code> {
    TABLES.iter().flat_map(|(_, codes)| codes.iter())
}

/// The explanation of a code.
pub fn find(code: &str) -> Option<&'static Code> {
    all().find(|entry| entry.code == code)
}

/// Whether a code says that something in the kernel has no sound model.
pub(crate) fn has_no_model(code: &str) -> bool {
    code == "unsupported" || unsupported::CODES.iter().any(|entry| entry.code == code)
}

/// The page for a code or an opcode; for an unknown one, a message that names near ones. `trap` is
/// both.
pub fn page(code: &str) -> Result<String, String> {
    match (find(code), opcode::page(code)) {
        (Some(entry), Some(Ok(opcode))) => Ok(format!("{}\n{opcode}", code_page(entry))),
        (Some(entry), _) => Ok(code_page(entry)),
        (None, Some(opcode)) => opcode,
        (None, None) => Err(unknown(code)),
    }
}

/// What a code means, for a terminal.
pub(crate) fn code_page(entry: &Code) -> String {
    let mut page = format!("{}: {}\n\n", entry.code, entry.title);
    page.push_str(&wrap(entry.text, 80));
    if !entry.example.is_empty() {
        page.push_str("\nExample:\n\n");
        for line in entry.example.lines() {
            let _ = writeln!(page, "{}", format!("    {line}").trim_end());
        }
    }
    page
}

/// The same in Markdown.
pub(crate) fn markdown(entry: &Code) -> String {
    let mut page = format!("# {}\n\n{}.\n\n{}\n", entry.code, entry.title, entry.text);
    if !entry.example.is_empty() {
        let _ = write!(page, "\nExample:\n\n```\n{}\n```\n", entry.example);
    }
    page
}

fn unknown(code: &str) -> String {
    // Opcodes are found by their first word, codes by all of them.
    let opcode = code.split('.').next().unwrap_or_default();
    let mut near = near_names(code, all().map(|entry| entry.code));
    if near.is_empty() || opcode != code {
        near = near_names(opcode, table::rows().map(|row| row.form.opcode));
    }
    let hint = match near.is_empty() {
        true => "`gpuvcc explain` lists all codes".to_string(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    format!("no code or opcode `{code}`; {hint}")
}

/// All codes with their titles.
pub fn list() -> String {
    let widest = all().map(|entry| entry.code.len()).max().unwrap_or(0);
    let mut output = String::new();
    for (heading, codes) in TABLES {
        let _ = writeln!(output, "{heading}:");
        for entry in codes {
            let _ = writeln!(output, "  {:widest$}  {}", entry.code, entry.title);
        }
    }
    let _ = writeln!(output, "instructions: `gpuvcc explain OPCODE`, with or without modifiers");
    output
}

fn wrap(text: &str, width: usize) -> String {
    let mut output = String::new();
    for paragraph in text.split("\n\n") {
        if !output.is_empty() {
            output.push('\n');
        }
        let mut column = 0;
        for word in paragraph.split_whitespace() {
            let length = word.chars().count();
            if column > 0 && column + 1 + length > width {
                output.push('\n');
                column = 0;
            } else if column > 0 {
                output.push(' ');
                column += 1;
            }
            output.push_str(word);
            column += length;
        }
        output.push('\n');
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_explained() {
        let mut seen = std::collections::BTreeSet::new();
        for entry in all() {
            assert!(seen.insert(entry.code), "{} stands twice", entry.code);
            assert!(entry.code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
            assert!(!entry.title.is_empty() && entry.text.len() > 40, "{} is not explained", entry.code);
        }
    }

    #[test]
    fn unknown_codes_name_near_ones() {
        assert!(page("mbarier.arrive").unwrap_err().contains("mbarrier"));
        assert!(page("atom.ad").unwrap_err().contains(".add"));
        assert!(page("possible-rase").unwrap_err().contains("possible-race"));
        assert!(page("zzzzzz").unwrap_err().contains("lists all codes"));
    }
}
