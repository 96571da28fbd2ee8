//! IVL names for PTX names.
//!
//! Establishes: every name is a Boogie identifier without `$` (the two-thread stage appends `$1` and
//! `$2`), is no keyword, and is given once.

use crate::ivl::ast::Name;
use std::collections::{BTreeMap, BTreeSet};

/// Words of the IVL that no variable may be called.
const KEYWORDS: [&str; 48] = [
    "assert",
    "assume",
    "atomic",
    "axiom",
    "barrier",
    "bool",
    "break",
    "call",
    "const",
    "div",
    "else",
    "ensures",
    "exists",
    "extends",
    "false",
    "fence",
    "finite",
    "forall",
    "free",
    "function",
    "global",
    "goto",
    "havoc",
    "if",
    "implementation",
    "int",
    "invariant",
    "lambda",
    "mod",
    "modifies",
    "old",
    "par",
    "procedure",
    "real",
    "requires",
    "return",
    "returns",
    "shared",
    "then",
    "true",
    "type",
    "unique",
    "var",
    "where",
    "while",
    "yield",
    "complete",
    "async",
];

/// Hands out unique names.
#[derive(Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
    /// The last number tried for each base, so that thousands of one kind stay cheap.
    last: BTreeMap<String, u32>,
}

impl Names {
    /// A fresh name that looks like the PTX name.
    pub(crate) fn fresh(&mut self, text: &str) -> Name {
        let base = sanitise(text);
        if self.taken.insert(base.clone()) { Name::from(base) } else { self.numbered(&base) }
    }

    /// The next of `base.2`, `base.3`, ... that is free.
    pub(crate) fn numbered(&mut self, base: &str) -> Name {
        let last = self.last.entry(base.to_string()).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{base}.{last}");
            if self.taken.insert(name.clone()) {
                return Name::from(name);
            }
        }
    }

    /// Keeps a fixed name of the pipeline (`tid.x`) from being given to anything else.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_string());
    }
}

/// The nearest identifier: `%r7` is `r7`, `$L__BB0_2` is `L__BB0_2`, other odd characters become `_`.
fn sanitise(text: &str) -> String {
    let text = text.trim_start_matches(['%', '$']);
    let letter = |c: char| match c {
        '$' => '.',
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') => c,
        _ => '_',
    };
    let mut name: String = text.chars().map(letter).collect();
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_bit_vector_name = name.starts_with("BV") || name.starts_with("INT_TO_BV");
    let is_type = name.strip_prefix("bv").is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    if !starts_well || is_type || is_bit_vector_name || KEYWORDS.contains(&name.as_str()) {
        name.insert_str(0, "x.");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_unique() {
        let mut names = Names::default();
        assert_eq!(names.fresh("%r7").as_str(), "r7");
        assert_eq!(names.fresh("%r7").as_str(), "r7.2");
        assert_eq!(names.fresh("%r7$call1").as_str(), "r7.call1");
        assert_eq!(names.fresh("$L__BB0_2").as_str(), "L__BB0_2");
        assert_eq!(names.fresh("%assert").as_str(), "x.assert");
        assert_eq!(names.fresh("%bv32").as_str(), "x.bv32");
        assert_eq!(names.fresh("add.rn.f32::ftz").as_str(), "add.rn.f32__ftz");
    }
}
