//! JSON reports for [`super::merge`]: reading and printing.
//!
//! Input: a text. Output: its parts, whose texts are kept as they stand; the merged text. Establishes: what is no report of
//! this schema is refused. Relies on: the form of [`super::json`]. Reference: docs/report.schema.json.

use super::causes::{Cause, counted};
use super::json::SCHEMA;
use super::merge::{Entry, Part, Whole};
use super::run::Shard;
use crate::ptx::mangled;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// The report as far as it matters here; kernels and errors stay texts.
#[derive(Deserialize)]
struct Read {
    version: String,
    exit: Option<u8>,
    shard: Option<Shard>,
    kernels: Vec<Box<RawValue>>,
    errors: Vec<Box<RawValue>>,
}

/// The same as it is written: the fields of `json::Report`, in their order.
#[derive(Serialize)]
struct Written<'a> {
    tool: &'static str,
    version: &'a str,
    schema: u32,
    exit: u8,
    kernels: Vec<&'a RawValue>,
    unsupported: Vec<Cause<'a>>,
    errors: Vec<&'a RawValue>,
}

/// A kernel or an error: its text, and for the counts of the run the codes and messages of what has no model.
pub(super) struct Json {
    text: Box<RawValue>,
    unsupported: Vec<(String, String)>,
}

/// `value` is the same text, read.
pub(super) fn read(file: &str, text: &str, value: &Value) -> Result<Part<Json>, String> {
    if value["schema"] != SCHEMA {
        let schema = &value["schema"];
        return Err(format!("`{file}` is a report of schema {schema}; this version reads schema {SCHEMA}"));
    }
    let read: Read = serde_json::from_str(text).map_err(|error| format!("`{file}` is no report of gpuvcc: {error}"))?;
    let no_exit = || format!("`{file}` does not tell the exit code of its run: an older gpuvcc has written it");
    let exit = read.exit.ok_or_else(no_exit)?;
    // Codes of `reasons` that are counted in `unsupported`; other reasons are limits.
    let causes = value["unsupported"].as_array().into_iter().flatten();
    let causes: BTreeSet<&str> = causes.filter_map(|cause| cause["code"].as_str()).collect();
    let values = |name: &str| value[name].as_array().into_iter().flatten();
    let kernels = read.kernels.into_iter().zip(values("kernels"));
    let kernels = kernels.map(|(text, value)| kernel(text, value, &causes)).collect();
    let errors = read.errors.into_iter().zip(values("errors"));
    let errors = errors.map(|(text, value)| error(text, value)).collect();
    Ok(Part { file: file.to_string(), version: read.version, exit, shard: read.shard, kernels, errors })
}

fn kernel(text: Box<RawValue>, value: &Value, causes: &BTreeSet<&str>) -> Entry<Json> {
    let key = ["file", "entry", "target", "launch", "launched"].map(|field| value[field].to_string()).join("\n");
    let mut answer = value.clone();
    if let Some(fields) = answer.as_object_mut() {
        // What each run measures anew.
        fields.remove("time_ms");
        fields.remove("stats");
    }
    let string = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_string();
    let reasons = value["reasons"].as_array().into_iter().flatten();
    let unsupported = reasons.map(|reason| (string(reason, "code"), string(reason, "message")));
    let unsupported = unsupported.filter(|(code, _)| causes.contains(code.as_str())).collect();
    let name = format!("`{}` of `{}`", mangled::shown(&string(value, "entry")), string(value, "file"));
    Entry { key, name, answer: answer.to_string(), payload: Json { text, unsupported } }
}

fn error(text: Box<RawValue>, value: &Value) -> Entry<Json> {
    let name = format!("`{}`", value["file"].as_str().unwrap_or_default());
    let key = value.to_string();
    Entry { key: key.clone(), name, answer: key, payload: Json { text, unsupported: Vec::new() } }
}

/// The merged report as indented JSON text with a line end.
pub(super) fn print(whole: &Whole<Json>) -> Result<String, String> {
    let unsupported = counted(whole.kernels.iter().map(pairs));
    let written = Written {
        tool: "gpuvcc",
        version: &whole.version,
        schema: SCHEMA,
        exit: whole.exit,
        kernels: raw(&whole.kernels),
        unsupported,
        errors: raw(&whole.errors),
    };
    serde_json::to_string_pretty(&written).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn pairs(json: &Json) -> Vec<(&str, &str)> {
    json.unsupported.iter().map(|(code, message)| (code.as_str(), message.as_str())).collect()
}

fn raw(entries: &[Json]) -> Vec<&RawValue> {
    entries.iter().map(|entry| &*entry.text).collect()
}
