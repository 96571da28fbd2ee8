//! What an answer is the answer to, as a hash.
//!
//! Input: a kernel with all that its report is made from. Output: a [`Key`]. Establishes: whatever changes a report changes
//! the key: the program itself with libz3, the name and the text of the input, what was read of it and added to it
//! (annotations, requirements of the project, facts of Triton and of the host), the source files that it names, the kernel, its
//! launch, and the options. Options are taken apart without a rest, so that a new one is either in the key or said not to matter. Relies on: `Debug` of
//! syntax trees shows all of them. Reference: FIPS 180-4 (SHA-256).

use super::super::options::Options;
use super::super::pipeline::Program;
use super::super::task::Task;
use crate::driver::input::Input;
use crate::report::source::SourceFiles;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write};
use std::ptr;
use std::sync::Arc;

/// Of another kind of entries, or of keys that are made otherwise.
const VERSION: u32 = 1;

/// The hash of a question, as 64 hexadecimal digits.
pub(super) struct Key(pub(super) String);

/// A hash of fields, each with its name and its length.
#[derive(Clone)]
pub(super) struct Fields {
    hash: Sha256,
    bytes: u64,
}

impl Write for Fields {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.hash.update(text);
        self.bytes += text.len() as u64;
        Ok(())
    }
}

impl Fields {
    pub(super) fn new() -> Fields {
        Fields { hash: Sha256::new(), bytes: 0 }
    }

    /// Adds bytes.
    pub(super) fn bytes(&mut self, name: &str, bytes: &[u8]) {
        for part in [name.as_bytes(), bytes] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
    }

    /// Adds what a value is.
    pub(super) fn value(&mut self, name: &str, value: &dyn Debug) {
        self.bytes(name, b"");
        let before = self.bytes;
        // Hashing does not fail.
        let _ = write!(self, "{value:?}");
        self.hash.update((self.bytes - before).to_le_bytes());
    }

    pub(super) fn digits(self) -> String {
        self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What the keys of a run have in common.
pub(super) struct Keys {
    /// By the place of its program in memory, the hash of a module.
    modules: BTreeMap<usize, String>,
    common: Fields,
}

impl Keys {
    /// Of a run on these tasks by this program.
    pub(super) fn new<'t>(program: &str, options: &Options, tasks: impl Iterator<Item = &'t Task<'t>>) -> Keys {
        let mut common = Fields::new();
        common.value("version", &VERSION);
        common.bytes("program", program.as_bytes());
        add_options(&mut common, options);
        let mut modules = BTreeMap::new();
        for task in tasks {
            let place = ptr::from_ref(task.program).addr();
            modules.entry(place).or_insert_with(|| module(task.input, task.program));
        }
        Keys { modules, common }
    }

    /// That of a kernel; `None` for what is not kept.
    pub(super) fn of(&self, task: &Task<'_>) -> Option<Key> {
        let Task { input: _, program, entry, launch, annotated, reading: _ } = task;
        let module =
            self.modules.get(&ptr::from_ref(*program).addr()).filter(|_| matches!(program, Program::Ptx(_)))?;
        let mut key = self.common.clone();
        key.bytes("module", module.as_bytes());
        key.bytes("kernel", entry.as_bytes());
        key.value("launch", launch);
        key.value("annotated", annotated);
        Some(Key(key.digits()))
    }
}

/// All that is known of a module. The program is what the parser made of the text and what was added to it.
fn module(input: &Input, program: &Program) -> String {
    let Program::Ptx(parsed) = program else { return String::new() };
    // Where the user named a folder, or the file itself, is the same.
    let Input { source, language, given: _, target, launch, launches, facts } = input;
    let mut fields = Fields::new();
    fields.bytes("file", source.name().as_bytes());
    fields.bytes("text", source.text().as_bytes());
    fields.value("language", language);
    fields.value("target", target);
    fields.value("launch beside it", launch);
    fields.value("launches of the host", launches);
    fields.value("facts of the host", facts);
    fields.value("module", parsed);
    let mut files = SourceFiles::beside(source.name());
    for name in named_files(source.text()) {
        let text = files.file(&Arc::from(name));
        fields.bytes("source file", name.as_bytes());
        fields.value("its text", &text.as_ref().map(|text| text.text()));
    }
    fields.digits()
}

/// The paths of `.file` directives.
fn named_files(text: &str) -> impl Iterator<Item = &str> {
    let directives = text.lines().filter_map(|line| line.trim_start().strip_prefix(".file"));
    directives.filter_map(|rest| rest.split_once('"')?.1.split_once('"').map(|(path, _)| path))
}

/// The options, but for those that change only what is looked at, how fast, or what is printed.
fn add_options(fields: &mut Fields, options: &Options) {
    let Options {
        // What is looked at. What files of launches, projects and annotations say is in the launch and in the program.
        files: _,
        list: _,
        entries: _,
        shard: _,
        launches: _,
        project: _,
        // How fast.
        jobs: _,
        cache: _,
        // How it is printed, and how the run ends.
        baseline: _,
        write_baseline: _,
        fail_on: _,
        emit: _,
        minimal: _,
        format: _,
        quiet: _,
        stats: _,
        color: _,
        output: _,
        command: _,
        target,
        geometry,
        block_is_given,
        grid_is_given,
        cluster,
        tensors,
        dynamic_shared,
        max_threads,
        params,
        known_params,
        known_words,
        known_aliases,
        annotations,
        timeout,
        memory,
        redundant,
        invariants,
        rules,
        infer_modifies,
        any_values,
        prelude,
        arith,
        engine,
        omit_families,
        // Of litmus tests, which are no kernels.
        model: _,
        unroll: _,
    } = options;
    let values: [(&str, &dyn Debug); 24] = [
        ("target", target),
        ("geometry", geometry),
        ("block is given", block_is_given),
        ("grid is given", grid_is_given),
        ("cluster", cluster),
        ("tensors", tensors),
        ("dynamic shared", dynamic_shared),
        ("max threads", max_threads),
        ("params", params),
        ("known params", known_params),
        ("known words", known_words),
        ("known aliases", known_aliases),
        ("annotations", annotations),
        ("timeout", timeout),
        ("memory", memory),
        ("redundant", redundant),
        ("invariants", invariants),
        ("rules", rules),
        ("infer modifies", infer_modifies),
        ("any values", any_values),
        ("prelude", prelude),
        ("arith", arith),
        ("engine", engine),
        ("omit families", omit_families),
    ];
    values.iter().for_each(|(name, value)| fields.value(name, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(fields: &[(&str, &str)]) -> String {
        let mut hash = Fields::new();
        fields.iter().for_each(|(name, value)| hash.bytes(name, value.as_bytes()));
        hash.digits()
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        assert_eq!(digits(&[("a", "bc")]), digits(&[("a", "bc")]));
        assert_ne!(digits(&[("a", "bc")]), digits(&[("ab", "c")]));
        assert_ne!(digits(&[("a", "bc")]), digits(&[("a", "b"), ("", "c")]));
        let (mut one, mut two) = (Fields::new(), Fields::new());
        one.value("x", &("ab", "c"));
        two.value("x", &("a", "bc"));
        assert_ne!(one.digits(), two.digits());
    }

    #[test]
    fn files_are_named_in_directives() {
        let text = ".file\t1 \"/a b/k.cu\"\n  .file 2 \"k.h\", 170, 4\n// no \".file\"\n.visible .entry k() {}\n";
        assert_eq!(named_files(text).collect::<Vec<_>>(), ["/a b/k.cu", "k.h"]);
    }
}
