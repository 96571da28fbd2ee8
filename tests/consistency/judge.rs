//! What litmus engine, emulator and verifier say of a program, and whether they agree.

use super::litmus_text::{self, Loops, State};
use super::program::{Program, Space};
use super::ptx_text::{self, Printed};
use crate::support::run::{on_large_stack, summary, verify};
use gpuvcc::driver::input::{Input, Language};
use gpuvcc::driver::options::{Engine, Options};
use gpuvcc::exec::launch::{Array, Completion, Contents, Launch, Schedule, array_address};
use gpuvcc::exec::{self, outcome::Outcome};
use gpuvcc::finding::{Defect, KernelReport, Verdict};
use gpuvcc::geometry::Geometry;
use gpuvcc::litmus::cat::{self, Model};
use gpuvcc::litmus::{self, Limits};
use gpuvcc::ptx;
use gpuvcc::report::source::SourceText;
use gpuvcc::rules::Rules;
use std::collections::BTreeSet;
use std::time::Duration;

const LIMITS: Limits = Limits { unroll: 3, draws: false };

/// How each program is run.
const RUNS: &[(Schedule, u64)] = &[
    (Schedule::RoundRobin, 1),
    (Schedule::Random, 1),
    (Schedule::Random, 2),
    (Schedule::Adversarial, 1),
    (Schedule::Adversarial, 2),
    (Schedule::Adversarial, 3),
    (Schedule::Adversarial, 4),
    (Schedule::Lockstep, 1),
    (Schedule::LockstepTaken, 1),
];

/// Instructions of a thread before a run is given up.
const STEPS: u64 = 3_000;

/// States that runs ended in of which the litmus engine is asked.
const STATES: usize = 3;

/// Time for a proof; what counts is effort.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Which of the three are asked beside the litmus engine.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub emulator: bool,
    pub prover: bool,
    pub exact: bool,
}

/// What was said of a program.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Of executions that end.
    pub racy: bool,
    /// Whether a run showed a race.
    pub shown: bool,
    /// The words of the prover, and of the exact engine.
    pub verdicts: Vec<String>,
    /// What cannot be.
    pub disagreements: Vec<String>,
    /// Why the litmus engine has no answer.
    pub unanswered: Option<String>,
}

pub struct Judge {
    model: Model,
    pub asked: Asked,
}

impl Judge {
    pub fn new(asked: Asked) -> Judge {
        let model = cat::parse(cat::PTX).unwrap_or_else(|error| panic!("prelude/ptx.cat: {error:?}"));
        Judge { model, asked }
    }

    /// Whether there is a race, and whether a state can be reached.
    fn ask(&self, program: &Program, loops: Loops, state: Option<&State>) -> Result<(bool, bool), String> {
        let text = litmus_text::print(program, loops, state);
        let read = litmus::read(&text).map_err(|errors| format!("{errors:?}\n{text}"))?;
        let answer = litmus::judge(&read, &self.model, LIMITS).map_err(|trouble| format!("{trouble:?}\n{text}"))?;
        match (answer.racy(), answer.outcome()) {
            (Some(racy), "allowed") => Ok((racy, true)),
            (Some(racy), "forbidden") => Ok((racy, false)),
            _ => Err(answer.reasons().join("; ")),
        }
    }

    /// `None`: only racy programs are wanted, and this is none.
    pub fn judge(&self, program: &Program, only_racy: bool) -> Option<Judged> {
        let mut judged = Judged::default();
        match self.ask(program, Loops::Ending, None) {
            Ok((false, _)) if only_racy => return None,
            Ok((racy, _)) => judged.racy = racy,
            Err(reason) => return Some(Judged { unanswered: Some(reason), ..judged }),
        }
        let printed = ptx_text::print(program);
        if self.asked.emulator
            && let Err(message) = self.run(program, &printed, &mut judged)
        {
            judged.disagreements.push(message);
        }
        let engines = [(self.asked.prover, Engine::Symbolic), (self.asked.exact, Engine::Exact)];
        for (_, engine) in engines.into_iter().filter(|(is_asked, _)| *is_asked) {
            self.verify(program, &printed, engine, &mut judged);
        }
        Some(judged)
    }

    /// Whether any execution has a race, also one in which a thread waits for ever.
    fn is_racy_anyhow(&self, program: &Program, judged: &Judged) -> bool {
        judged.racy || program.waits() && self.ask(program, Loops::All, None).is_ok_and(|(racy, _)| racy)
    }

    fn run(&self, program: &Program, printed: &Printed, judged: &mut Judged) -> Result<(), String> {
        let module = ptx::parse(&printed.text).map_err(|errors| format!("{errors:?}\n{}", printed.text))?;
        let mut states = BTreeSet::new();
        for (schedule, seed) in RUNS {
            let launch = launch(program, printed, *schedule, *seed);
            let run = exec::run(&module, 0, &launch).map_err(|diagnostic| diagnostic.message)?;
            let outcome = &run.outcome;
            if let Some(what) = misuse(outcome) {
                judged.disagreements.push(format!("{schedule:?} {seed}: {what}"));
            }
            if let Some(race) = outcome.races.first() {
                let line = |code: u32| run.program.origins[code as usize].line;
                let lines = (line(race.first.1), line(race.second.1));
                if !judged.shown && !self.is_racy_anyhow(program, judged) {
                    judged.disagreements.push(format!("a false race in a run: {schedule:?} {seed}, lines {lines:?}"));
                }
                judged.shown = true;
            }
            if outcome.is_complete() {
                let read = |(array, offset): (usize, u64)| run.memory.read(array, offset, 4) as u32;
                let results = printed.results.iter().enumerate();
                let registers = results.map(|(word, (thread, register))| {
                    (*thread, *register, read((printed.arrays.len() - 1, 4 * word as u64)))
                });
                let memory = printed.variables.iter().map(|(place, at)| (*place, read(*at)));
                let state = State { registers: registers.collect(), memory: memory.collect() };
                if !state.registers.is_empty() || !state.memory.is_empty() {
                    states.insert(state);
                }
            }
        }
        for state in states.iter().take(STATES) {
            if let Ok((_, false)) = self.ask(program, Loops::Ending, Some(state)) {
                judged.disagreements.push(format!("a run comes to a forbidden state: {state:?}"));
            }
        }
        Ok(())
    }

    fn verify(&self, program: &Program, printed: &Printed, engine: Engine, judged: &mut Judged) {
        let name = if engine == Engine::Exact { "exact" } else { "prover" };
        let report = match self.report(program, printed, engine) {
            Ok(report) => report,
            Err(message) => {
                judged.disagreements.push(format!("{name}: {message}"));
                return;
            }
        };
        let verdict = report.verdict;
        judged.verdicts.push(format!("{name}: {}", verdict.name()));
        match verdict {
            Verdict::Verified | Verdict::VerifiedWhen if judged.racy => {
                judged.disagreements.push(format!("{name}: FALSE VERIFIED ({})\n{}", verdict.name(), summary(&report)));
            }
            Verdict::Defect(Defect::Race) if !self.is_racy_anyhow(program, judged) => {
                judged.disagreements.push(format!("{name}: a false race\n{}", summary(&report)));
            }
            Verdict::Defect(defect) if defect != Defect::Race => {
                judged.disagreements.push(format!("{name}: {defect:?}\n{}", summary(&report)));
            }
            _ => {}
        }
    }

    fn report(&self, program: &Program, printed: &Printed, engine: Engine) -> Result<KernelReport, String> {
        let input = Input::new(SourceText::new("kernel.ptx", printed.text.clone()), Language::Ptx);
        let geometry = Geometry { block: [printed.block, 1, 1], grid: [program.blocks(), 1, 1] }.into();
        let options = Options { geometry, engine, timeout: TIMEOUT, ..Options::default() };
        on_large_stack(|| verify(&input, None, &options))?
    }

    /// The smallest program with a disagreement of the same kind that comes about by leaving things out.
    pub fn shrink(&self, program: &Program) -> Program {
        let kind = |program: &Program| {
            let all = self.judge(program, false)?.disagreements;
            all.first().map(|text| text.split(['(', ',', '\n', '{']).next().unwrap_or_default().to_string())
        };
        let wanted = kind(program);
        let mut smallest = program.clone();
        while let Some(smaller) = smallest.smaller().into_iter().find(|smaller| kind(smaller) == wanted) {
            smallest = smaller;
        }
        smallest
    }
}

/// What no program here does.
fn misuse(outcome: &Outcome) -> Option<String> {
    let any = [
        (!outcome.divergences.is_empty(), "divergence"),
        (!outcome.deadlocks.is_empty(), "deadlock"),
        (!outcome.barrier_errors.is_empty(), "barrier-error"),
        (!outcome.faults.is_empty(), "fault"),
    ];
    let refused = outcome.stopped.iter().find_map(|stop| match stop {
        exec::outcome::Stop::Refused { reason, .. } => Some(reason.to_string()),
        exec::outcome::Stop::Excluded { .. } => Some("excluded".to_string()),
        _ => None,
    });
    any.into_iter().find(|(is_so, _)| *is_so).map(|(_, name)| name.to_string()).or(refused)
}

fn launch(program: &Program, printed: &Printed, schedule: Schedule, seed: u64) -> Launch {
    let array =
        |(number, size): (usize, &u64)| Array { name: format!("a{number}"), size: *size, contents: Contents::Zero };
    debug_assert!(program.places.iter().all(|space| matches!(space, Space::Global | Space::Shared(_))));
    Launch {
        geometry: Geometry { block: [printed.block, 1, 1], grid: [program.blocks(), 1, 1] },
        cluster: [1; 3],
        parameters: (0..printed.arrays.len()).map(|number| array_address(number, 64).to_le_bytes().to_vec()).collect(),
        arrays: printed.arrays.iter().enumerate().map(array).collect(),
        dynamic_shared: 0,
        shared_buffers: Vec::new(),
        contents: Contents::Zero,
        schedule,
        completion: Completion::Eager,
        seed,
        thread_steps: STEPS,
        total_steps: 10 * STEPS,
        blocks: None,
        races: true,
        rules: Rules::default(),
    }
}
