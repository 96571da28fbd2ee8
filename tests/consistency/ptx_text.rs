//! A program as a kernel.

use super::program::{Instruction, PLACES, Program, Space, Update, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A kernel, with what it stores at the end.
pub struct Printed {
    pub text: String,
    /// Threads of a block.
    pub block: u32,
    /// Pointers to variables, then one to results: bytes of each array.
    pub arrays: Vec<u64>,
    /// Thread and register of each word of the results.
    pub results: Vec<(usize, usize)>,
    /// The array of each variable in global memory, and the offset there.
    pub variables: BTreeMap<usize, (usize, u64)>,
}

/// Prints a kernel. What is known of the start stands there as facts.
pub fn print(program: &Program) -> Printed {
    let stride = if program.own_warps { 32 } else { 1 };
    let ranks: Vec<u32> = (0..program.threads.len()).map(|thread| program.rank(thread) * stride).collect();
    let block = ranks.iter().max().map_or(1, |last| last + 1).next_multiple_of(stride);
    let globals: Vec<usize> = (0..program.places.len()).filter(|at| program.places[*at] == Space::Global).collect();
    let place_of = |(number, place): (usize, &usize)| {
        (*place, if program.one_array { (0, 4 * number as u64) } else { (number, 0) })
    };
    let variables: BTreeMap<usize, (usize, u64)> = globals.iter().enumerate().map(place_of).collect();
    let mut arrays = vec![4; globals.len()];
    if program.one_array && !globals.is_empty() {
        arrays = vec![4 * globals.len() as u64];
    }
    let mut results = Vec::new();
    for (thread, one) in program.threads.iter().enumerate().filter(|_| program.keeps) {
        let mut registers = Vec::new();
        one.phases.iter().for_each(|code| loaded(code, &mut registers));
        registers.sort_unstable();
        registers.dedup();
        results.extend(registers.into_iter().map(|register| (thread, register)));
    }
    let mut writer = Writer { text: String::new(), labels: 0, program, thread: 0, variables: &variables };
    writer.head(&arrays, block);
    for phase in 0..program.phases() {
        if phase > 0 {
            writer.line("bar.sync 0;");
        }
        for (thread, one) in program.threads.iter().enumerate() {
            writer.thread = thread;
            let is_last = phase + 1 == program.phases();
            let mine = || results.iter().enumerate().filter(|(_, (owner, _))| is_last && *owner == thread);
            if one.phases[phase].is_empty() && mine().next().is_none() {
                continue;
            }
            let end = writer.label();
            if program.blocks() > 1 {
                writer.line(&format!("setp.ne.u32 %p1, %cta, {};", one.block));
                writer.line(&format!("@%p1 bra {end};"));
            }
            writer.line(&format!("setp.ne.u32 %p1, %tid, {};", ranks[thread]));
            writer.line(&format!("@%p1 bra {end};"));
            writer.code(&one.phases[phase]);
            for (word, (_, register)) in mine() {
                writer.line(&format!("st.global.u32 [%rout+{}], %t{thread}r{register};", 4 * word));
            }
            let _ = writeln!(writer.text, "{end}:");
        }
    }
    writer.line("ret;");
    let text = writer.text + "}\n";
    arrays.push((4 * results.len().max(1)) as u64);
    Printed { text, block, arrays, results, variables }
}

fn loaded(code: &[Instruction], registers: &mut Vec<usize>) {
    for one in code {
        registers.extend(one.result());
        if let Instruction::If { then, .. } = one {
            loaded(then, registers);
        }
    }
}

/// Registers of a thread.
const REGISTERS: usize = 24;

struct Writer<'p> {
    text: String,
    labels: u32,
    program: &'p Program,
    thread: usize,
    variables: &'p BTreeMap<usize, (usize, u64)>,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "    {text}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn head(&mut self, arrays: &[u64], block: u32) {
        let names: Vec<String> =
            (0..arrays.len()).map(|array| format!("a{array}")).chain(["out".to_string()]).collect();
        let parameters: Vec<String> = names.iter().map(|name| format!("    .param .u64 {name}")).collect();
        self.text = ".version 8.6\n.target sm_90\n.address_size 64\n".to_string();
        let _ =
            writeln!(self.text, ".visible .entry kernel(\n{}\n)\n.reqntid {block}, 1, 1\n{{", parameters.join(",\n"));
        self.line(".reg .pred %p1;");
        self.line(".reg .u32 %tid, %cta;");
        for name in &names {
            self.line(&format!(".reg .u64 %r{name};"));
        }
        for (place, space) in self.program.places.iter().enumerate() {
            if *space != Space::Global {
                self.line(&format!(".shared .align 4 .u32 s{};", PLACES[place]));
            }
        }
        for (thread, _) in self.program.threads.iter().enumerate() {
            self.line(&format!(".reg .u32 %t{thread}r<{REGISTERS}>;"));
        }
        for name in &names[..arrays.len()] {
            self.line(&format!("//@ requires initially([{name}].u32 == 0);"));
        }
        for name in &names {
            self.line(&format!("ld.param.u64 %r{name}, [{name}];"));
            self.line(&format!("cvta.to.global.u64 %r{name}, %r{name};"));
        }
        self.line("mov.u32 %tid, %tid.x;");
        self.line("mov.u32 %cta, %ctaid.x;");
        for thread in 0..self.program.threads.len() {
            let mut registers = Vec::new();
            self.program.threads[thread].phases.iter().for_each(|code| loaded(code, &mut registers));
            registers.sort_unstable();
            registers.dedup();
            registers.iter().for_each(|register| self.line(&format!("mov.u32 %t{thread}r{register}, 0;")));
        }
    }

    /// The space, and the address in brackets.
    fn place(&self, place: usize) -> (&'static str, String) {
        match (self.program.places[place], self.variables.get(&place)) {
            (Space::Global, Some((array, offset))) => (".global", format!("[%ra{array}+{offset}]")),
            _ => (".shared", format!("[s{}]", PLACES[place])),
        }
    }

    fn register(&self, number: usize) -> String {
        format!("%t{}r{number}", self.thread)
    }

    fn value(&self, value: Value) -> String {
        match value {
            Value::Constant(value) => value.to_string(),
            Value::Register(number) => self.register(number),
        }
    }

    fn code(&mut self, code: &[Instruction]) {
        code.iter().for_each(|one| self.instruction(one));
    }

    fn load(&self, to: usize, place: usize, words: &str) -> String {
        let (space, address) = self.place(place);
        format!("ld{words}{space}.u32 {}, {address};", self.register(to))
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Load { to, place, manner } => self.line(&self.load(*to, *place, &manner.words())),
            Instruction::Store { place, value, manner } => {
                let (space, address) = self.place(*place);
                self.line(&format!("st{}{space}.u32 {address}, {};", manner.words(), self.value(*value)));
            }
            Instruction::Atomic { to, place, update, value, manner } => {
                let (space, address) = self.place(*place);
                let (word, expected) = word(*update);
                let value = format!("{expected}{}", self.value(*value));
                let words = manner.words();
                self.line(&match to {
                    Some(to) => format!("atom{words}{space}.{word} {}, {address}, {value};", self.register(*to)),
                    None => format!("red{words}{space}.{word} {address}, {value};"),
                });
            }
            Instruction::Fence { manner, is_membar: false } => self.line(&format!("fence{};", manner.words())),
            Instruction::Fence { manner, is_membar: true } => {
                let scope = if manner.scope.word() == "gpu" { "gl" } else { manner.scope.word() };
                self.line(&format!("membar.{scope};"));
            }
            Instruction::Wait { to, place, value, manner } => {
                let body = self.load(*to, *place, &manner.words());
                self.round(*to, *value, &body);
            }
            Instruction::Take { to, place, manner } => {
                let (space, address) = self.place(*place);
                let body = format!("atom{}{space}.cas.b32 {}, {address}, 0, 1;", manner.words(), self.register(*to));
                self.round(*to, 0, &body);
            }
            Instruction::If { register, is_equal, value, then } => {
                let (label, opposite) = (self.label(), if *is_equal { "ne" } else { "eq" });
                self.line(&format!("setp.{opposite}.u32 %p1, {}, {value};", self.register(*register)));
                self.line(&format!("@%p1 bra {label};"));
                self.code(then);
                let _ = writeln!(self.text, "{label}:");
            }
            Instruction::Warp { mask } => self.line(&format!("bar.warp.sync {mask};")),
        }
    }

    fn round(&mut self, to: usize, value: u32, body: &str) {
        let label = self.label();
        let _ = writeln!(self.text, "{label}:");
        self.line(body);
        self.line(&format!("setp.ne.u32 %p1, {}, {value};", self.register(to)));
        self.line(&format!("@%p1 bra {label};"));
    }
}

/// The operation with its type, and the operand in front of the value.
fn word(update: Update) -> (&'static str, String) {
    let word = match update {
        Update::Add => "add.u32",
        Update::Exchange => "exch.b32",
        Update::Increment => "inc.u32",
        Update::Minimum => "min.s32",
        Update::Maximum => "max.s32",
        Update::Or => "or.b32",
        Update::And => "and.b32",
        Update::Swap(expected) => return ("cas.b32", format!("{expected}, ")),
    };
    (word, String::new())
}
