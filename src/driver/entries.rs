//! The kernels that `--entry` asks for.
//!
//! Input: the programs and the options. Output: names as the programs spell them. Establishes: a name that no kernel has,
//! or that several have, is an error. Relies on: `ptx::mangled` for what authors call their kernels.

use super::annotations::Parsed;
use super::options::Options;
use super::output::Output;
use crate::diagnostic::Diagnostic;
use crate::ptx::mangled;
use crate::report::near_names::near_names;
use std::collections::BTreeSet;

/// Names that a message lists.
const MOST_NAMES: usize = 5;

/// The kernels that options name. `complete`: every input was read, so that a name without a kernel is wrong.
pub(crate) fn wanted(programs: &[Parsed], options: &Options, complete: bool, output: &mut Output) -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    if options.entries.is_empty() {
        return wanted;
    }
    let mut names: Vec<String> = programs.iter().flat_map(|parsed| parsed.program.kernels()).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    for entry in &options.entries {
        match &meant(entry, &names)[..] {
            [name] => {
                wanted.insert((*name).clone());
            }
            // Unreadable files may hold the name; their own errors say enough.
            [] if !complete => {}
            [] => output.unplaced(&unknown(entry, &names), &options.files.join(" ")),
            several => output.unplaced(&ambiguous(entry, several), &options.files.join(" ")),
        }
    }
    wanted
}

/// The kernels that a name may mean: a kernel with exactly this name is the only one.
fn meant<'a>(entry: &str, names: &'a [String]) -> Vec<&'a String> {
    match names.iter().find(|name| *name == entry) {
        Some(exact) => vec![exact],
        None => names.iter().filter(|name| mangled::is_called(name, entry)).collect(),
    }
}

fn ambiguous(entry: &str, names: &[&String]) -> Diagnostic {
    let diagnostic = Diagnostic::unplaced("no-such-entry", format!("`{entry}` may be {} kernels", names.len()));
    let listed = names.iter().take(MOST_NAMES).map(|name| described(name));
    let diagnostic = listed.fold(diagnostic, |diagnostic, name| diagnostic.note(format!("give one: {name}")));
    match names.len().saturating_sub(MOST_NAMES) {
        0 => diagnostic,
        more => diagnostic.note(format!("and {more} more")),
    }
}

/// The name, and what its author calls it.
fn described(name: &str) -> String {
    mangled::demangled(name).map_or_else(|| name.to_string(), |shown| format!("{name}, which is {shown}"))
}

fn unknown(entry: &str, names: &[String]) -> Diagnostic {
    let diagnostic = Diagnostic::unplaced("no-such-entry", format!("no kernel is named `{entry}`"));
    let words: Vec<String> = names.iter().map(|name| mangled::human(name)).collect();
    let known = names.iter().map(String::as_str).chain(words.iter().map(String::as_str));
    let near = near_names(entry, known);
    if !near.is_empty() {
        return diagnostic.note(format!("did you mean {}?", near.join(", ")));
    }
    let some: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more = match names.len() - some.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    diagnostic.note(format!("there are: {}{more}", some.join(", ")))
}
