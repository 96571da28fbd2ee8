//! Several reports as one: shards of a run, or runs over different files.
//!
//! Input: texts of JSON reports, or of SARIF logs. Output: one of the same form, and the exit code. Establishes: the text is
//! the one that one run over all would print (but for times), in its order; the exit code is the one of that run; all shards of a run are
//! there, each kernel of the run has an answer, and no kernel has two that differ: otherwise there is a message instead.
//! Relies on: what [`super::run`] says of each run. Reference: book/src/many.md.

use super::run::{INTERRUPTED, RANKED_EXIT_CODES, Shard};
use super::{merge_json, merge_sarif};
use serde_json::Value;
use std::collections::BTreeMap;

/// Missing shards that a message lists.
const LISTED: usize = 10;

/// A file of one run.
pub(super) struct Part<P> {
    /// Its name.
    pub(super) file: String,
    /// The version of the program that wrote it.
    pub(super) version: String,
    /// The exit code of the run.
    pub(super) exit: u8,
    pub(super) shard: Option<Shard>,
    /// Answers for kernels, in order.
    pub(super) kernels: Vec<Entry<P>>,
    /// Errors of inputs, in order.
    pub(super) errors: Vec<Entry<P>>,
}

/// An answer for a kernel, or an error.
pub(super) struct Entry<P> {
    /// What it is about: the same in two files if both are about one kernel in one launch.
    pub(super) key: String,
    /// The kernel as people read it.
    pub(super) name: String,
    /// All that is said of it, without what differs between two runs: its times.
    pub(super) answer: String,
    pub(super) payload: P,
}

/// What is written.
pub(super) struct Whole<P> {
    pub(super) version: String,
    pub(super) exit: u8,
    pub(super) kernels: Vec<P>,
    pub(super) errors: Vec<P>,
}

/// The merged report with its exit code. `files`: names and texts, all JSON reports or all SARIF logs.
///
/// # Errors
/// A message with the name of the file that does not fit.
pub(crate) fn merge(files: &[(String, String)]) -> Result<(String, u8), String> {
    let mut logs = Vec::new();
    let mut reports = Vec::new();
    for (name, text) in files {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("`{name}` is no JSON report and no SARIF log: {error}"))?;
        if value["tool"] == "gpuvcc" {
            reports.push(merge_json::read(name, text, &value)?);
        } else if value["runs"].is_array() {
            logs.push(merge_sarif::read(name, &value)?);
        } else {
            return Err(format!("`{name}` is no report of gpuvcc (--format json) and no SARIF log (--format sarif)"));
        }
    }
    match (reports.first(), logs.first()) {
        (Some(report), Some(log)) => {
            Err(format!("`{}` is a JSON report and `{}` a SARIF log: both forms cannot be one", report.file, log.file))
        }
        (_, None) => whole(reports).and_then(|whole| Ok((merge_json::print(&whole)?, whole.exit))),
        (None, _) => whole(logs).map(|whole| (merge_sarif::print(&whole), whole.exit)),
    }
}

/// Entries of one run: all shards of it, or what a run without them gave.
struct Unit<P> {
    /// A file of it, for messages.
    file: String,
    kernels: Vec<Entry<P>>,
    errors: Vec<Entry<P>>,
}

fn whole<P>(parts: Vec<Part<P>>) -> Result<Whole<P>, String> {
    let version = parts.first().map(|part| part.version.clone()).unwrap_or_default();
    for part in &parts {
        if part.exit == INTERRUPTED {
            return Err(format!("`{}` is of a run that was interrupted: it lacks kernels", part.file));
        }
        if part.version != version {
            let (first, other) = (&parts[0].file, &part.version);
            return Err(format!("`{}` is of gpuvcc {other}, but `{first}` of gpuvcc {version}", part.file));
        }
    }
    let codes: Vec<u8> = parts.iter().map(|part| part.exit).collect();
    let exit = RANKED_EXIT_CODES.into_iter().find(|code| codes.contains(code)).unwrap_or(2);
    // Shards of one run come where the first of them stands.
    let mut runs: Vec<Vec<Part<P>>> = Vec::new();
    for part in parts {
        let is_of = |run: &&mut Vec<Part<P>>| match (&run[0].shard, &part.shard) {
            (Some(first), Some(shard)) => first.run == shard.run,
            _ => false,
        };
        match runs.iter_mut().find(is_of) {
            Some(run) => run.push(part),
            None => runs.push(vec![part]),
        }
    }
    let units: Vec<Unit<P>> = runs.into_iter().map(unit).collect::<Result<_, _>>()?;
    let mut seen: BTreeMap<String, (String, usize, String)> = BTreeMap::new();
    let mut whole = Whole { version, exit, kernels: Vec::new(), errors: Vec::new() };
    for (index, Unit { file, kernels, errors }) in units.into_iter().enumerate() {
        add(kernels, index, &file, &mut seen, &mut whole.kernels)?;
        add(errors, index, &file, &mut seen, &mut whole.errors)?;
    }
    Ok(whole)
}

/// Adds what no earlier unit has. `seen`: by key the answer, the unit and its file.
fn add<P>(
    entries: Vec<Entry<P>>,
    unit: usize,
    file: &str,
    seen: &mut BTreeMap<String, (String, usize, String)>,
    all: &mut Vec<P>,
) -> Result<(), String> {
    for entry in entries {
        match seen.get(&entry.key) {
            // A run may look at one kernel twice, if its file is given twice.
            Some((_, earlier, _)) if *earlier == unit => all.push(entry.payload),
            Some((answer, _, _)) if *answer == entry.answer => {}
            Some((_, _, other)) => return Err(differ(&entry.name, other, file)),
            None => {
                seen.insert(entry.key, (entry.answer, unit, file.to_string()));
                all.push(entry.payload);
            }
        }
    }
    Ok(())
}

fn differ(kernel: &str, first: &str, second: &str) -> String {
    format!("`{first}` and `{second}` have different answers for {kernel}")
}

/// What a kernel of a run was answered with.
struct Answer<P> {
    file: String,
    kernels: Vec<Entry<P>>,
    errors: Vec<Entry<P>>,
}

impl<P> Answer<P> {
    fn is_same(&self, other: &Answer<P>) -> bool {
        let told = |answer: &Answer<P>| -> Vec<(String, String)> {
            let entries = answer.kernels.iter().chain(&answer.errors);
            entries.map(|entry| (entry.key.clone(), entry.answer.clone())).collect()
        };
        told(self) == told(other)
    }

    fn name(&self) -> String {
        self.kernels.iter().chain(&self.errors).map(|entry| entry.name.clone()).next().unwrap_or_default()
    }
}

/// All shards of a run, in the order of the whole.
fn unit<P>(parts: Vec<Part<P>>) -> Result<Unit<P>, String> {
    let first = parts[0].file.clone();
    let Some(of_run) = parts[0].shard.clone() else {
        let part = parts.into_iter().next();
        return part
            .map(|part| Unit { file: part.file, kernels: part.kernels, errors: part.errors })
            .ok_or_else(|| "no file".to_string());
    };
    let mut numbers = Vec::new();
    let mut unit = Unit { file: first, kernels: Vec::new(), errors: Vec::new() };
    let mut answers: BTreeMap<usize, Answer<P>> = BTreeMap::new();
    for part in parts {
        let Part { file, shard: Some(shard), kernels, errors, .. } = part else { continue };
        let is_damaged = shard.positions.len() != kernels.len()
            || shard.error_positions.len() != errors.len()
            || !(1..=shard.of).contains(&shard.number)
            || (shard.of, shard.total) != (of_run.of, of_run.total);
        if is_damaged {
            return Err(format!("`{file}` is damaged: its `shard` does not fit"));
        }
        let is_first = numbers.is_empty();
        numbers.push(shard.number);
        let mut here: BTreeMap<usize, Answer<P>> = BTreeMap::new();
        for (position, entry) in shard.positions.iter().zip(kernels) {
            match position {
                Some(position) => answer_at(&mut here, *position, &file).kernels.push(entry),
                None if is_first => unit.kernels.push(entry),
                None => add_once(&mut unit.kernels, entry, &unit.file, &file)?,
            }
        }
        for (position, entry) in shard.error_positions.iter().zip(errors) {
            match position {
                Some(position) => answer_at(&mut here, *position, &file).errors.push(entry),
                None if is_first => unit.errors.push(entry),
                None => add_once(&mut unit.errors, entry, &unit.file, &file)?,
            }
        }
        for (position, answer) in here {
            match answers.get(&position) {
                Some(other) if other.is_same(&answer) => {}
                Some(other) => return Err(differ(&answer.name(), &other.file, &file)),
                None => _ = answers.insert(position, answer),
            }
        }
    }
    // What a file says of numbers may be anything: they are not counted to the end.
    let mut missing = (1..=of_run.of).filter(|number| !numbers.contains(number)).map(|number| number.to_string());
    let listed: Vec<String> = missing.by_ref().take(LISTED).collect();
    if !listed.is_empty() {
        let more = if missing.next().is_some() { " and others" } else { "" };
        let (file, of, numbers) = (&unit.file, of_run.of, listed.join(", "));
        return Err(format!("the run of `{file}` has {of} shards, of which these are missing: {numbers}{more}"));
    }
    if !answers.keys().copied().eq(0..of_run.total) {
        let (has, total) = (answers.len(), of_run.total);
        return Err(format!("the shards of the run of `{}` have answers for {has} of its {total} kernels", unit.file));
    }
    for answer in answers.into_values() {
        unit.kernels.extend(answer.kernels);
        unit.errors.extend(answer.errors);
    }
    Ok(unit)
}

fn answer_at<'a, P>(answers: &'a mut BTreeMap<usize, Answer<P>>, position: usize, file: &str) -> &'a mut Answer<P> {
    let fresh = || Answer { file: file.to_string(), kernels: Vec::new(), errors: Vec::new() };
    answers.entry(position).or_insert_with(fresh)
}

/// What is about a file as a whole stands in each shard.
fn add_once<P>(all: &mut Vec<Entry<P>>, entry: Entry<P>, first: &str, file: &str) -> Result<(), String> {
    match all.iter().find(|other| other.key == entry.key) {
        Some(other) if other.answer == entry.answer => Ok(()),
        Some(_) => Err(differ(&entry.name, first, file)),
        None => {
            all.push(entry);
            Ok(())
        }
    }
}
