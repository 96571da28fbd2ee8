//! SARIF logs for [`super::merge`]: reading and printing.
//!
//! Input: a log. Output: its verdicts with their results, and its errors; the merged log. Establishes: what is no log of one
//! run of gpuvcc is refused. Relies on: the form of [`super::sarif`]. Reference: OASIS SARIF 2.1.0, "run object".

use super::merge::{Entry, Part, Whole};
use super::run::Shard;
use super::sarif;
use crate::ptx::mangled;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A verdict with its results, or the result of an error.
pub(super) struct Sarif {
    /// The element of `properties.kernels`; of an error none.
    verdict: Option<Value>,
    results: Vec<Value>,
    /// Rules of the results, by their identifiers.
    rules: BTreeMap<String, Value>,
}

/// Reads a log.
pub(super) fn read(file: &str, log: &Value) -> Result<Part<Sarif>, String> {
    let runs = log["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [run] = runs else { return Err(format!("`{file}` has {} runs, not one of gpuvcc", runs.len())) };
    let driver = &run["tool"]["driver"];
    if log["version"] != "2.1.0" || driver["name"] != "gpuvcc" {
        return Err(format!("`{file}` is no SARIF 2.1.0 log of gpuvcc"));
    }
    let damaged = |what: &str| format!("`{file}` is damaged: {what}");
    let exit = run["invocations"][0]["exitCode"].as_u64().and_then(|code| u8::try_from(code).ok());
    let exit =
        exit.ok_or_else(|| format!("`{file}` does not tell the exit code of its run: an older gpuvcc has written it"))?;
    let list = |value: &Value, what: &str| value.as_array().cloned().ok_or_else(|| damaged(&format!("no {what}")));
    let properties = &run["properties"];
    let results = list(&run["results"], "results")?;
    let verdicts = list(&properties["kernels"], "kernels")?;
    let kernel_of: Vec<Option<usize>> = serde_json::from_value(properties["kernelOfResult"].clone())
        .map_err(|error| damaged(&format!("kernelOfResult: {error}")))?;
    let shard: Option<Shard> =
        serde_json::from_value(properties["shard"].clone()).map_err(|error| damaged(&format!("shard: {error}")))?;
    if kernel_of.len() != results.len() || kernel_of.iter().flatten().any(|index| *index >= verdicts.len()) {
        return Err(damaged("kernelOfResult does not fit"));
    }
    let rules = list(&driver["rules"], "rules")?;
    let mut kernels: Vec<Sarif> = verdicts.into_iter().map(|verdict| fresh(Some(verdict))).collect();
    let mut errors: Vec<Sarif> = Vec::new();
    for (result, kernel) in results.into_iter().zip(kernel_of) {
        let rule = rules.iter().find(|rule| rule["id"] == result["ruleId"]);
        let rule = rule.cloned().ok_or_else(|| damaged("a result without a rule"))?;
        let index = kernel.unwrap_or_else(|| {
            errors.push(fresh(None));
            errors.len() - 1
        });
        let of = if kernel.is_some() { &mut kernels[index] } else { &mut errors[index] };
        of.add(result, rule);
    }
    let version = driver["version"].as_str().unwrap_or_default().to_string();
    let (kernels, errors) = (kernels.into_iter().map(entry).collect(), errors.into_iter().map(entry).collect());
    Ok(Part { file: file.to_string(), version, exit, shard, kernels, errors })
}

fn fresh(verdict: Option<Value>) -> Sarif {
    Sarif { verdict, results: Vec::new(), rules: BTreeMap::new() }
}

impl Sarif {
    fn add(&mut self, mut result: Value, rule: Value) {
        // It has another place among the rules of the merged log.
        if let Some(fields) = result.as_object_mut() {
            fields.remove("ruleIndex");
        }
        self.results.push(result);
        self.rules.insert(rule["id"].as_str().unwrap_or_default().to_string(), rule);
    }
}

fn entry(sarif: Sarif) -> Entry<Sarif> {
    let results = json!(sarif.results).to_string();
    let Some(verdict) = &sarif.verdict else {
        let place = &sarif.results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let name = format!("`{}`", place.as_str().unwrap_or_default());
        return Entry { key: results.clone(), name, answer: results, payload: sarif };
    };
    let string = |field: &str| verdict[field].as_str().unwrap_or_default();
    let key = ["file", "entry", "launch", "launchedFrom"].map(|field| verdict[field].to_string()).join("\n");
    let name = format!("`{}` of `{}`", mangled::shown(string("entry")), string("file"));
    let answer = format!("{verdict}\n{results}");
    Entry { key, name, answer, payload: sarif }
}

/// The merged log as indented JSON text with a line end.
pub(super) fn print(whole: &Whole<Sarif>) -> String {
    let all = || whole.errors.iter().chain(&whole.kernels);
    let rules: BTreeMap<&String, &Value> = all().flat_map(|one| &one.rules).collect();
    let results: Vec<Value> = all().flat_map(|one| one.results.iter().cloned()).collect();
    let of_kernels = whole.kernels.iter().enumerate();
    let of_kernels = of_kernels.flat_map(|(index, one)| one.results.iter().map(move |_| Some(index)));
    let of_errors = whole.errors.iter().flat_map(|one| &one.results).map(|_| None);
    let kernel_of: Vec<Option<usize>> = of_errors.chain(of_kernels).collect();
    let verdicts: Vec<&Value> = whole.kernels.iter().filter_map(|one| one.verdict.as_ref()).collect();
    let properties = json!({ "kernels": verdicts, "kernelOfResult": kernel_of });
    let rules = rules.into_values().cloned().collect();
    sarif::log(&whole.version, rules, results, whole.errors.is_empty(), Some(whole.exit), properties)
}
