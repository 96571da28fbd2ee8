//! A litmus test with its names resolved.
//!
//! Input: the tree. Output: a [`Litmus`], or diagnostics. Establishes: each variable has a location and an address, each thread a
//! place in the machine, each jump a label, each name of the question a meaning. Relies on: `parse`.
//! Reference: PTX ISA, "Memory consistency model" (aliases, proxies, scopes).

use super::ast::{Column, Condition, InitialItem, Number, Place, Quantifier, Question, Side, Test, Word};
use super::instruction::{self, Action, Instruction, Proxy, proxy};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// What a name for memory stands for.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The memory that it stands for; aliases have the same.
    pub(crate) location: usize,
    /// The virtual address; another generic alias has another one.
    pub(crate) address: usize,
    pub(crate) proxy: Proxy,
}

/// Memory.
#[derive(Clone, Debug)]
pub(crate) struct Location {
    pub(crate) name: String,
    pub(crate) initial: u32,
}

/// What words of a test stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) variables: Vec<Variable>,
    pub(crate) locations: Vec<Location>,
    by_name: BTreeMap<String, usize>,
    addresses: usize,
}

impl Names {
    /// The variable of that name. As in herd7, memory that nobody initialises is zero.
    pub(crate) fn memory(&mut self, word: &Word) -> Result<usize, Diagnostic> {
        if let Some(&known) = self.by_name.get(&word.text) {
            return Ok(known);
        }
        if word.text.contains(['.', ':', '%']) {
            return Err(Diagnostic::error("litmus-name", format!("`{}` is no variable", word.text), word.span));
        }
        Ok(self.declare(&word.text, None, Proxy::Generic))
    }

    /// A register is any word that is no variable.
    pub(crate) fn register(&self, word: &Word) -> Result<String, Diagnostic> {
        let name = word.text.trim_start_matches('%').to_string();
        if self.by_name.contains_key(&word.text) || name.is_empty() || name.contains(['.', ':']) {
            let message = format!("`{}` is no register", word.text);
            return Err(Diagnostic::error("litmus-name", message, word.span).note("addresses are no values here"));
        }
        Ok(name)
    }

    /// Declares a variable with memory of its own, or with that of another one.
    fn declare(&mut self, name: &str, of: Option<usize>, proxy: Proxy) -> usize {
        let location = of.map_or(self.locations.len(), |of| self.variables[of].location);
        // Another way to the same address, or another address.
        let address = match of {
            Some(of) if proxy != Proxy::Generic => self.variables[of].address,
            _ => self.addresses,
        };
        self.addresses = self.addresses.max(address + 1);
        if of.is_none() {
            self.locations.push(Location { name: name.to_string(), initial: 0 });
        }
        self.variables.push(Variable { location, address, proxy });
        self.by_name.insert(name.to_string(), self.variables.len() - 1);
        self.variables.len() - 1
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) gpu: u32,
    /// `None`: a cluster of this block alone.
    pub(crate) cluster: Option<u32>,
    pub(crate) block: u32,
    pub(crate) code: Vec<Item>,
    /// Values of registers in the beginning.
    pub(crate) registers: BTreeMap<String, u32>,
}

impl Thread {
    pub(crate) fn same_gpu(&self, other: &Thread) -> bool {
        self.gpu == other.gpu
    }

    pub(crate) fn same_cluster(&self, other: &Thread) -> bool {
        let is_one_block = self.block == other.block && self.cluster == other.cluster;
        self.same_gpu(other) && if self.cluster.is_some() { self.cluster == other.cluster } else { is_one_block }
    }

    pub(crate) fn same_block(&self, other: &Thread) -> bool {
        self.same_cluster(other) && self.block == other.block
    }
}

/// What the code of a thread consists of.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Label(String),
    Step(Instruction),
}

/// A resolved test.
#[derive(Clone, Debug)]
pub(crate) struct Litmus {
    pub(crate) name: String,
    pub(crate) names: Names,
    pub(crate) threads: Vec<Thread>,
    pub(crate) filter: Option<State>,
    pub(crate) quantifier: Quantifier,
    pub(crate) state: State,
}

/// A condition on final states.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Not(Box<State>),
    All(Vec<State>),
    Any(Vec<State>),
    Compare(Reading, super::ast::Comparison, Reading),
}

/// What a final state has.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    Constant(u32),
    Location(usize),
    Register(usize, String),
}

/// A number of 32 bits, with a sign or without.
pub(crate) fn constant(number: &Number) -> Result<u32, Diagnostic> {
    let (negative, digits) = match number.text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.text.as_str()),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let value = hexadecimal.map_or_else(|| digits.parse::<i64>(), |digits| i64::from_str_radix(digits, 16));
    let value = value.map(|value| if negative { -value } else { value });
    match value {
        // The cast keeps the bits, which is what two's complement means.
        Ok(value) if (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&value) => Ok(value as u32),
        _ => Err(Diagnostic::error("litmus-name", "the number does not fit 32 bits", number.span)),
    }
}

/// Resolves names.
///
/// # Errors
/// What is wrong, each at its place.
pub(crate) fn resolve(name: String, test: Test) -> Result<Litmus, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut names = Names::default();
    let mut threads = threads(&test.threads, &mut errors);
    let mut registers = Vec::new();
    for item in &test.init {
        initial(item, &mut names, &mut registers).unwrap_or_else(|error| errors.push(error));
    }
    for row in &test.rows {
        if row.cells.len() != threads.len() {
            let message = format!("the line has {} columns, but there are {} threads", row.cells.len(), threads.len());
            errors.push(Diagnostic::error("litmus-syntax", message, row.end));
            continue;
        }
        for (thread, cell) in threads.iter_mut().zip(&row.cells) {
            thread.code.extend(cell.labels.iter().map(|label| Item::Label(label.text.clone())));
            match cell.statement.as_ref().map(|statement| instruction::read(statement, &mut names)) {
                Some(Ok(instruction)) => thread.code.push(Item::Step(instruction)),
                Some(Err(error)) => errors.push(error),
                None => {}
            }
        }
    }
    for (place, value) in registers {
        match register(place, &names, &threads) {
            Ok((thread, register)) => _ = threads[thread].registers.insert(register, value),
            Err(error) => errors.push(error),
        }
    }
    threads.iter().for_each(|thread| check_labels(thread, &mut errors));
    let reader = Questions { names: &names, threads: &threads };
    let places = test.listed.iter().filter_map(|place| reader.place(place).err());
    errors.extend(places);
    let filter = test.filter.as_ref().map(|filter| reader.state(filter)).transpose();
    let Question { quantifier, condition } = &test.question;
    match (filter, reader.state(condition)) {
        (Ok(filter), Ok(state)) if errors.is_empty() => {
            Ok(Litmus { name, names, threads, filter, quantifier: *quantifier, state })
        }
        (filter, state) => {
            errors.extend(filter.err());
            errors.extend(state.err());
            errors.sort_by_key(|error| error.labels.first().map(|(span, _)| span.start));
            Err(errors)
        }
    }
}

fn threads(columns: &[Column], errors: &mut Vec<Diagnostic>) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for Column { name, places } in columns {
        let mut levels = BTreeMap::new();
        for (level, number) in places {
            let known = ["cta", "cluster", "gpu", "sys"].contains(&level.text.as_str());
            match number.text.parse::<u32>() {
                Ok(value) if known && levels.insert(level.text.as_str(), value).is_none() => {}
                _ => errors.push(Diagnostic::error(
                    "litmus-name",
                    "expected cta, cluster and gpu, each once with a number",
                    level.span,
                )),
            }
        }
        if threads.iter().any(|thread| thread.name == name.text) {
            errors.push(Diagnostic::error("litmus-name", format!("there are two threads `{}`", name.text), name.span));
        }
        let block = levels.get("cta").copied().unwrap_or_else(|| {
            let message = format!("the block of `{}` is missing", name.text);
            errors.push(Diagnostic::error("litmus-name", message, name.span).note("such as `P0@cta 0,gpu 0`"));
            0
        });
        threads.push(Thread {
            name: name.text.clone(),
            gpu: levels.get("gpu").copied().unwrap_or(0),
            cluster: levels.get("cluster").copied(),
            block,
            code: Vec::new(),
            registers: BTreeMap::new(),
        });
    }
    threads
}

/// A register of a thread, as it is written.
type OfThread<'a> = (&'a Word, &'a Word);

fn initial<'a>(
    item: &'a InitialItem,
    names: &mut Names,
    registers: &mut Vec<(OfThread<'a>, u32)>,
) -> Result<(), Diagnostic> {
    let twice =
        |word: &Word| Err(Diagnostic::error("litmus-name", format!("`{}` is declared twice", word.text), word.span));
    match item {
        InitialItem::Value(Place::Memory(word), value) => {
            let value = constant(value)?;
            if names.by_name.contains_key(&word.text) {
                return twice(word);
            }
            let variable = names.memory(word)?;
            let location = names.variables[variable].location;
            names.locations[location].initial = value;
        }
        InitialItem::Value(Place::Register { thread, register }, value) => {
            registers.push(((thread, register), constant(value)?));
        }
        InitialItem::Alias { name, proxy: word, of } => {
            let kind = word.as_ref().map_or(Some(Proxy::Generic), |word| proxy(&word.text));
            let Some(kind) = kind else {
                let span = word.as_ref().map_or(name.span, |word| word.span);
                let wrong = Diagnostic::error("litmus-name", "this is no proxy", span);
                return Err(wrong.note("proxies are generic, texture, surface, constant and async"));
            };
            if names.by_name.contains_key(&name.text) {
                return twice(name);
            }
            let of = names.memory(of)?;
            names.declare(&name.text, Some(of), kind);
        }
    }
    Ok(())
}

fn register(
    (thread, register): OfThread<'_>,
    names: &Names,
    threads: &[Thread],
) -> Result<(usize, String), Diagnostic> {
    match threads.iter().position(|known| known.name == thread.text) {
        Some(number) => Ok((number, names.register(register)?)),
        None => Err(Diagnostic::error("litmus-name", format!("there is no thread `{}`", thread.text), thread.span)),
    }
}

fn check_labels(thread: &Thread, errors: &mut Vec<Diagnostic>) {
    let mut labels = BTreeSet::new();
    let first = thread.code.iter().find_map(|item| if let Item::Step(step) = item { Some(step.span) } else { None });
    for item in &thread.code {
        if let Item::Label(label) = item
            && !labels.insert(label)
        {
            let message = format!("`{}` has the label `{label}` twice", thread.name);
            errors.push(Diagnostic::error("litmus-name", message, first.unwrap_or(Span::NONE)));
        }
    }
    for item in &thread.code {
        if let Item::Step(Instruction { action: Action::Branch { label, .. }, span, .. }) = item
            && !labels.contains(label)
        {
            errors.push(Diagnostic::error("litmus-name", format!("`{}` has no label `{label}`", thread.name), *span));
        }
    }
}

/// Resolves conditions.
struct Questions<'a> {
    names: &'a Names,
    threads: &'a [Thread],
}

impl Questions<'_> {
    fn state(&self, condition: &Condition) -> Result<State, Diagnostic> {
        let all = |list: &[Condition]| list.iter().map(|one| self.state(one)).collect::<Result<Vec<_>, _>>();
        Ok(match condition {
            Condition::Not(inner) => State::Not(Box::new(self.state(inner)?)),
            Condition::All(list) => State::All(all(list)?),
            Condition::Or(list) => State::Any(all(list)?),
            Condition::Compare(a, comparison, b) => State::Compare(self.side(a)?, *comparison, self.side(b)?),
        })
    }

    fn side(&self, side: &Side) -> Result<Reading, Diagnostic> {
        match side {
            Side::Integer(number) => constant(number).map(Reading::Constant),
            Side::Place(place) => self.place(place),
        }
    }

    fn place(&self, place: &Place) -> Result<Reading, Diagnostic> {
        match place {
            Place::Memory(word) => match self.names.by_name.get(&word.text) {
                Some(&variable) => Ok(Reading::Location(self.names.variables[variable].location)),
                None => {
                    let wrong = Diagnostic::error("litmus-name", format!("`{}` is no variable", word.text), word.span);
                    Err(wrong.note("a register has its thread before it, such as `P0:r0`"))
                }
            },
            Place::Register { thread, register: word } => {
                let (thread, name) = register((thread, word), self.names, self.threads)?;
                let is_known = self.threads[thread].registers.contains_key(&name)
                    || self.threads[thread].code.iter().any(|item| writes(item, &name));
                match is_known {
                    true => Ok(Reading::Register(thread, name)),
                    false => {
                        let message =
                            format!("nothing gives `{}` of `{}` a value", word.text, self.threads[thread].name);
                        Err(Diagnostic::error("litmus-name", message, word.span))
                    }
                }
            }
        }
    }
}

fn writes(item: &Item, register: &str) -> bool {
    matches!(item, Item::Step(step) if step.action.written() == Some(register))
}
