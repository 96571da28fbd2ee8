//! A kernel to look at, and what is known of its launch.
//!
//! Input: the files of a run, options. Output: [`Task`]s; the options with the launch that is known of one, and sentences about
//! it. Establishes: what the user gives goes before what lies beside the input. Relies on: `launches`, `container`. Reference: none.

use super::input::{Input, LaunchFile};
use super::launches::{self, KnownLaunch};
use super::options::Options;
use super::pipeline::Program;
use crate::finding::Launched;
use crate::stats::Cost;
use std::borrow::Cow;

/// A kernel to look at.
pub(super) struct Task<'a> {
    pub(super) input: &'a Input,
    pub(super) program: &'a Program,
    pub(super) entry: String,
    /// The launch to look at, if it is known from a file.
    pub(super) launch: Option<&'a KnownLaunch>,
    /// What the report says of annotations from another file.
    pub(super) annotated: Option<&'a str>,
    /// What it cost to read the input.
    pub(super) reading: Vec<(&'static str, Cost)>,
}

impl Task<'_> {
    /// Where its launch is from.
    pub(super) fn launched(&self, options: &Options) -> Option<Launched> {
        self.launch.map(|launch| launches::in_report(launch, options, self.program, &self.entry))
    }
}

/// The options with the launch that is known of a task, and sentences about it.
pub(super) fn with_known_launch<'a>(task: &Task<'_>, options: &'a Options) -> (Cow<'a, Options>, Vec<String>) {
    let Some(launch) = task.launch else { return with_launch_file(task, options) };
    let (options, mut told) = launches::with(options, launch, task.program, &task.entry);
    if task.input.launches.iter().any(|of_source| std::ptr::eq(of_source, launch)) {
        told.extend(launches_of_no_kernel(task));
    }
    (Cow::Owned(options), told)
}

/// What the source launches that is no kernel by its name: it may be this one.
fn launches_of_no_kernel(task: &Task<'_>) -> Option<String> {
    let Program::Ptx(module) = task.program else { return None };
    let entries: Vec<&str> = module.functions.iter().filter(|f| f.is_entry).map(|f| &*f.name).collect();
    let is_known = |launch: &KnownLaunch| entries.iter().any(|entry| launch.is_for(task.program, entry));
    let mut others = task.input.launches.iter().filter(|launch| !is_known(launch));
    let first = others.next()?;
    let more = match others.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    Some(format!(
        "{} launches `{}`, which is no kernel here by name and number of arguments{more}: that was not looked at",
        first.origin, first.kernel
    ))
}

/// The options with the launch that lies beside the input, where they do not say otherwise, and sentences about it.
fn with_launch_file<'a>(task: &Task<'_>, options: &'a Options) -> (Cow<'a, Options>, Vec<String>) {
    let file = task.input.launch.as_ref().filter(|file| file.launch.is_for(&task.entry));
    let Some(LaunchFile { name, launch }) = file else { return (Cow::Borrowed(options), Vec::new()) };
    let mut options = Options { dynamic_shared: launch.shared_bytes, ..options.clone() };
    let mut told = Vec::new();
    if !options.block_is_given {
        options.geometry.block = launch.block().map(Some);
        told.push(format!("blocks have {} threads, for `{name}` says num_warps {}", launch.block()[0], launch.warps));
    }
    if let [x, y, z] = launch.cluster
        && launch.has_clusters()
        && options.cluster.is_none()
    {
        options.cluster = Some(launch.cluster);
        told.push(format!("clusters have {x},{y},{z} blocks, for `{name}` says so"));
    }
    (Cow::Owned(options), told)
}
