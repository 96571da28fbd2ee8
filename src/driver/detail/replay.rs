//! The execution that has a defect, step by step, and where the threads of its block wait.
//!
//! Input: a report, with the command that shows its first finding. Output: a [`Replay`] and, for barriers, [`Barriers`].
//! Establishes: the execution is that of the command. Relies on: the command is one that this program wrote. Reference: none.

use super::super::cli::{self, Command};
use super::super::emulate;
use super::super::pipeline::Program;
use super::super::run_options::RunOptions;
use super::super::task::Task;
use super::instructions::Instructions;
use crate::confirm::execution::{self, Replayed};
use crate::exec::record::State;
use crate::finding::{Defect, Finding, KernelReport};
use crate::report::finding::headline;
use crate::report::html::detail::{BarrierPlace, Barriers, Group, Replay, ReplayStep, ReplayThread};

/// What is shown of the first defect that an execution has; `None` where no execution has one.
pub(super) fn of(
    task: &Task<'_>,
    report: &KernelReport,
    found: &Instructions,
) -> Option<(Option<Replay>, Option<Barriers>)> {
    let Program::Ptx(module) = task.program else { return None };
    let finding = report.findings.iter().find(|finding| finding.replay.is_some())?;
    let command = finding.replay.clone()?;
    let options = options_of(&command)?;
    let number = module.functions.iter().position(|function| function.is_entry && *function.name == *task.entry)?;
    let launch = emulate::launch(module, &module.functions[number], &options, emulate::TOLD_STEPS).ok()?;
    let replayed = execution::replayed(module, number, &launch, finding)?;
    let barriers = barriers(finding, &replayed, launch.geometry.block, found);
    Some((replay(finding, command, &replayed, found), barriers))
}

/// The options of a command as a shell would hand them over.
fn options_of(command: &str) -> Option<RunOptions> {
    match cli::parse(words(command)) {
        Ok(Command::Run(options)) => Some(*options),
        _ => None,
    }
}

/// The words of a command in which [`crate::exec::command`] put quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut in_quotes, mut characters) = (false, command.chars());
    while let Some(character) = characters.next() {
        match (character, in_quotes) {
            ('\'', _) => in_quotes = !in_quotes,
            (' ', false) => words.push(String::new()),
            ('\\', false) => words.iter_mut().last().into_iter().for_each(|word| word.extend(characters.next())),
            _ => words.iter_mut().last().into_iter().for_each(|word| word.push(character)),
        }
    }
    words
}

/// `thread (3,0,0) of block (0,0,0)`
fn thread_name([x, y, z]: [u32; 3], [a, b, c]: [u32; 3]) -> String {
    format!("thread ({x},{y},{z}) of block ({a},{b},{c})")
}

fn replay(finding: &Finding, command: String, replayed: &Replayed, found: &Instructions) -> Option<Replay> {
    let names: Vec<String> = replayed.threads.iter().map(|(thread, block, _)| thread_name(*thread, *block)).collect();
    let threads = replayed.threads.iter().zip(&names);
    let threads = threads.map(|((_, _, registers), name)| ReplayThread {
        name: name.clone(),
        registers: registers.iter().cloned().collect(),
    });
    let steps = replayed.steps.iter().map(|step| {
        Some(ReplayStep {
            thread: step.thread,
            instruction: found.number(step.origin.span)?,
            registers: step.registers.iter().cloned().collect(),
            note: step.note.clone(),
            defect: step.at_fault,
        })
    });
    let steps = steps.collect::<Option<Vec<ReplayStep>>>()?;
    let title = format!("{}: {}", headline(finding), names.join(" and "));
    Some(Replay { title, command, threads: threads.collect(), steps })
}

/// The threads of the block, where they do not come together.
fn barriers(finding: &Finding, replayed: &Replayed, sizes: [u32; 3], found: &Instructions) -> Option<Barriers> {
    if !matches!(finding.defect, Defect::Divergence | Defect::Deadlock) {
        return None;
    }
    let (mut places, mut groups): (Vec<BarrierPlace>, Vec<(Group, u32, u32)>) = Default::default();
    let size: u32 = sizes.iter().product();
    for (standing, origin) in &replayed.standing {
        let number = standing.thread % size;
        let waits = match standing.state {
            State::Waits => {
                let instruction = found.number(origin.span)?;
                let place = BarrierPlace { instruction, line: found.line(instruction) };
                let known = places.iter().position(|other| *other == place);
                Some(known.unwrap_or_else(|| {
                    places.push(place);
                    places.len() - 1
                }))
            }
            State::Exited | State::Runs => None,
        };
        let exited = standing.state == State::Exited;
        match groups.last_mut() {
            Some((group, _, last)) if group.waits == waits && group.exited == exited => *last = number,
            _ => groups.push((Group { name: String::new(), waits, exited }, number, number)),
        }
    }
    let (_, block, _) = replayed.threads.first()?;
    let [a, b, c] = block;
    let named = |(group, first, last): (Group, u32, u32)| {
        let index = |number: u32| {
            let [x, y, z] = crate::geometry::index_of(number, sizes);
            if sizes[1..] == [1, 1] { x.to_string() } else { format!("({x},{y},{z})") }
        };
        let name = match first == last {
            true => format!("thread {}", index(first)),
            false => format!("threads {} to {}", index(first), index(last)),
        };
        Group { name, ..group }
    };
    let title = format!("The threads of block ({a},{b},{c}) when no one can go on");
    Some(Barriers { title, places, threads: groups.into_iter().map(named).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::command::quoted;

    #[test]
    fn words_are_those_that_were_quoted() {
        let all = ["gpuvcc", "a b", "it's", "x=zeros:*", "a\\b", "$f"];
        let command = all.map(quoted).join(" ");
        assert_eq!(words(&command), all);
    }
}
