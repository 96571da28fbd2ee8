//! A launch as the command that runs it.
//!
//! Input: the parts of a `gpuvcc run` command. Output: the [`Launch`] that it stands for, and its text.
//! Establishes: the text, run by hand, goes through the same execution; where this launch stops for its
//! total of instructions, the command goes on.

use super::arguments::Argument;
use super::binding;
use super::launch::{Contents, Launch, Schedule};
use crate::diagnostic::Diagnostic;
use crate::geometry::Geometry;
use crate::ptx::ast::{Function, Module};
use crate::rules::Rules;
use std::fmt::Write;

/// A `gpuvcc run` command.
#[derive(Clone, Debug)]
pub struct Command {
    /// Sizes of the launch.
    pub geometry: Geometry<u32>,
    /// Blocks of a cluster on each axis.
    pub cluster: [u32; 3],
    /// Only these blocks run (by linear number); all when `None`.
    pub only_blocks: Option<Vec<u32>>,
    /// One argument for each parameter.
    pub arguments: Vec<Argument>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The order in which threads run.
    pub schedule: Schedule,
    /// Seed of the schedule and of what the ISA leaves open.
    pub seed: u64,
    /// Instructions that one thread may execute, where the default is too many.
    pub steps: Option<u64>,
    /// What counts as a defect.
    pub rules: Rules,
}

/// The option by which two writes of one value are no race.
pub(crate) const ALLOW_SAME_VALUE: &str = "--allow-same-value";

/// Instructions of a thread when the command does not say.
pub(crate) const DEFAULT_STEPS: u64 = 10_000_000;

impl Command {
    /// The launch, with a limit on the instructions of all threads.
    pub fn launch(&self, module: &Module, entry: &Function, total_steps: u64) -> Result<Launch, Diagnostic> {
        let bound = binding::bind(module, entry, &self.arguments)?;
        Ok(Launch {
            geometry: self.geometry,
            cluster: self.cluster,
            parameters: bound.parameters,
            arrays: bound.arrays,
            dynamic_shared: self.dynamic_shared,
            shared_buffers: bound.shared_buffers,
            contents: Contents::Any { seed: self.seed },
            schedule: self.schedule,
            completion: self.schedule.completion(),
            seed: self.seed,
            thread_steps: self.steps.unwrap_or(DEFAULT_STEPS),
            total_steps,
            blocks: self.only_blocks.clone(),
            races: true,
            rules: self.rules,
        })
    }

    /// The text for a shell.
    pub(crate) fn text(&self, file: &str, entry: &str) -> String {
        let mut text = format!("gpuvcc run {} --entry {}", quoted(file), quoted(entry));
        let _ = write!(text, " --block {} --grid {}", sizes(self.geometry.block), sizes(self.geometry.grid));
        if self.cluster != [1; 3] {
            let _ = write!(text, " --cluster {}", sizes(self.cluster));
        }
        if let Some(only) = &self.only_blocks {
            let numbers: Vec<String> = only.iter().map(u32::to_string).collect();
            let _ = write!(text, " --only-blocks {}", numbers.join(","));
        }
        for argument in &self.arguments {
            let _ = write!(text, " --arg {}", quoted(&argument.to_string()));
        }
        if self.dynamic_shared > 0 {
            let _ = write!(text, " --dynamic-shared {}", self.dynamic_shared);
        }
        if self.schedule != Schedule::RoundRobin {
            let _ = write!(text, " --schedule {}", self.schedule.name());
        }
        if self.seed != 1 {
            let _ = write!(text, " --seed {}", self.seed);
        }
        if let Some(steps) = self.steps {
            let _ = write!(text, " --steps {steps}");
        }
        if self.rules.allow_same_value {
            text += " ";
            text += ALLOW_SAME_VALUE;
        }
        if self.rules.volatile_races {
            text += " --volatile-races";
        }
        if self.rules.tensor_order {
            text += " --assume tensor-order";
        }
        if self.rules.exited_threads_ok {
            text += " --exited-threads ok";
        }
        text
    }
}

/// `256` or `16,16`
fn sizes([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x},{y}"),
        _ => format!("{x},{y},{z}"),
    }
}

/// A word as a POSIX shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,=:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("n=-3"), "n=-3");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("a=zeros:*"), "'a=zeros:*'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$f"), "'$f'");
    }
}
