//! A program as a litmus test.

use super::program::{Instruction, PLACES, Program, Update, Value};
use std::fmt::Write;

/// What a final state is: registers of threads, and memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    /// Thread, register and value.
    pub registers: Vec<(usize, usize, u32)>,
    pub memory: Vec<(usize, u32)>,
}

/// How loops that wait are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// As loops: executions in which a thread waits for ever are among those that are looked at.
    All,
    /// A round that fails and one that does not: only executions that end.
    Ending,
}

/// The test, which asks for a state.
pub fn print(program: &Program, loops: Loops, state: Option<&State>) -> String {
    let mut columns: Vec<Vec<String>> = Vec::new();
    let mut ends = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let mut writer = Writer { thread: number, loops, labels: 0, lines: Vec::new(), ends: Vec::new() };
        for (phase, code) in thread.phases.iter().enumerate() {
            if phase > 0 {
                writer.line("bar.sync 0");
            }
            writer.code(code);
        }
        columns.push(writer.lines);
        ends.extend(writer.ends);
    }
    let mut text = "PTX random\n{ ".to_string();
    for name in PLACES.iter().take(program.places.len()) {
        let _ = write!(text, "{name} = 0; ");
    }
    let heads: Vec<String> = program
        .threads
        .iter()
        .enumerate()
        .map(|(number, thread)| format!("P{number}@cta {},gpu 0", thread.block))
        .collect();
    let _ = writeln!(text, "}}\n {} ;", heads.join(" | "));
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..longest {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
        let _ = writeln!(text, " {} ;", cells.join(" | "));
    }
    if !ends.is_empty() {
        let _ = writeln!(text, "filter ({})", ends.join(" /\\ "));
    }
    let asked = state.map(State::text).filter(|text| !text.is_empty());
    let _ = writeln!(text, "exists ({})", asked.unwrap_or("x == 0".to_string()));
    text
}

impl State {
    fn text(&self) -> String {
        let registers =
            self.registers.iter().map(|(thread, register, value)| format!("P{thread}:r{register} == {value}"));
        let memory = self.memory.iter().map(|(place, value)| format!("{} == {value}", PLACES[*place]));
        registers.chain(memory).collect::<Vec<_>>().join(" /\\ ")
    }
}

struct Writer {
    thread: usize,
    loops: Loops,
    labels: u32,
    lines: Vec<String>,
    /// What registers hold when all loops have ended.
    ends: Vec<String>,
}

impl Writer {
    fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}x{}", self.thread, self.labels)
    }

    fn code(&mut self, code: &[Instruction]) {
        code.iter().for_each(|one| self.instruction(one));
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Load { to, place, manner } => {
                self.line(format!("ld{} r{to}, {}", manner.words(), PLACES[*place]))
            }
            Instruction::Store { place, value, manner } => {
                self.line(format!("st{} {}, {}", manner.words(), PLACES[*place], of(*value)));
            }
            Instruction::Atomic { to, place, update, value, manner } => {
                let (word, expected) = word(*update);
                let to = to.map_or(String::new(), |to| format!("r{to}, "));
                let opcode = if to.is_empty() { "red" } else { "atom" };
                self.line(format!(
                    "{opcode}{}.{word} {to}{}, {expected}{}",
                    manner.words(),
                    PLACES[*place],
                    of(*value)
                ));
            }
            Instruction::Fence { manner, is_membar: false } => self.line(format!("fence{}", manner.words())),
            Instruction::Fence { manner, is_membar: true } => self.line(format!("membar.{}", manner.scope.word())),
            Instruction::Wait { to, place, value, manner } => {
                self.round(*to, *value, &format!("ld{} r{to}, {}", manner.words(), PLACES[*place]));
            }
            Instruction::Take { to, place, manner } => {
                self.round(*to, 0, &format!("atom{}.cas r{to}, {}, 0, 1", manner.words(), PLACES[*place]));
            }
            Instruction::If { register, is_equal, value, then } => {
                let (label, opposite) = (self.label(), if *is_equal { "bne" } else { "beq" });
                self.line(format!("{opposite} r{register}, {value}, {label}"));
                self.code(then);
                self.line(format!("{label}: nop"));
            }
            // All threads of the mask come to it, and nobody else.
            Instruction::Warp { .. } => self.line("bar.sync 15"),
        }
    }

    /// A loop around an instruction that ends when a register holds a value.
    fn round(&mut self, to: usize, value: u32, body: &str) {
        let label = self.label();
        match self.loops {
            Loops::All => {
                self.line(format!("{label}: {body}"));
                self.line(format!("bne r{to}, {value}, {label}"));
            }
            Loops::Ending => {
                self.line(body);
                self.line(format!("beq r{to}, {value}, {label}"));
                self.line(body);
                self.line(format!("{label}: nop"));
                self.ends.push(format!("P{}:r{to} == {value}", self.thread));
            }
        }
    }
}

fn of(value: Value) -> String {
    match value {
        Value::Constant(value) => value.to_string(),
        Value::Register(number) => format!("r{number}"),
    }
}

/// The operation, and the operand in front of the value.
fn word(update: Update) -> (&'static str, String) {
    let word = match update {
        Update::Add => "add",
        Update::Exchange => "exch",
        Update::Increment => "inc",
        Update::Minimum => "min",
        Update::Maximum => "max",
        Update::Or => "or",
        Update::And => "and",
        Update::Swap(expected) => return ("cas", format!("{expected}, ")),
    };
    (word, String::new())
}
