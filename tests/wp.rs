//! Passive programs and weakest preconditions against execution.
//!
//! Random programs over three 2-bit variables have 64 states, so all executions can be followed as
//! sets of states. Without loops a program is proved exactly when no execution fails an assertion;
//! with loops whatever is proved, under given invariants or those that Houdini keeps, never fails.

use gpuvcc::effort::{Budget, Effort};
use gpuvcc::infer::houdini;
use gpuvcc::ivl;
use gpuvcc::ivl::ast::{Attribute, Program, StmtKind};
use gpuvcc::ivl::attributes::Attributes;
use gpuvcc::ivl::claim::{Claim, Inferred};
use gpuvcc::solver::{self, Answer, Encoding};
use gpuvcc::twothread::log::Log;
use gpuvcc::vcgen::passify;
use gpuvcc::vcgen::passive::Passive;
use gpuvcc::vcgen::wp::{self, Role};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::Cell;
use std::fmt::Write;

/// A set of states; state `s` has `x = s & 3`, `y = s >> 2 & 3`, `z = s >> 4`.
type States = u64;

#[derive(Clone, Debug)]
enum Number {
    Constant(u8),
    Variable(u8),
    Add(Box<Number>, Box<Number>),
    Sub(Box<Number>, Box<Number>),
    And(Box<Number>, Box<Number>),
    If(Box<Truth>, Box<Number>, Box<Number>),
}

#[derive(Clone, Debug)]
enum Truth {
    Equal(Number, Number),
    Below(Number, Number),
    Not(Box<Truth>),
    Or(Box<Truth>, Box<Truth>),
}

#[derive(Clone, Debug)]
enum Code {
    Assign(u8, Number),
    Swap(u8, u8),
    Havoc(u8),
    Assume(Truth),
    Assert(Truth),
    Call(u8, Number),
    If(Truth, Vec<Code>, Vec<Code>),
    While(Truth, Vec<Truth>, Vec<Code>),
}

fn variable(state: u64, index: u8) -> u64 {
    state >> (2 * (index % 3)) & 3
}

fn with(state: u64, index: u8, value: u64) -> u64 {
    let shift = 2 * (index % 3);
    state & !(3 << shift) | (value & 3) << shift
}

impl Number {
    fn value(&self, s: u64) -> u64 {
        3 & match self {
            Number::Constant(c) => u64::from(*c),
            Number::Variable(v) => variable(s, *v),
            Number::Add(a, b) => a.value(s) + b.value(s),
            Number::Sub(a, b) => a.value(s).wrapping_sub(b.value(s)),
            Number::And(a, b) => a.value(s) & b.value(s),
            Number::If(c, a, b) => {
                if c.holds(s) {
                    a.value(s)
                } else {
                    b.value(s)
                }
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Number::Constant(c) => format!("{}bv2", c & 3),
            Number::Variable(v) => name(*v).to_string(),
            Number::Add(a, b) => format!("BV2_ADD({}, {})", a.text(), b.text()),
            Number::Sub(a, b) => format!("BV2_SUB({}, {})", a.text(), b.text()),
            Number::And(a, b) => format!("BV2_AND({}, {})", a.text(), b.text()),
            Number::If(c, a, b) => format!("(if {} then {} else {})", c.text(), a.text(), b.text()),
        }
    }
}

impl Truth {
    fn holds(&self, s: u64) -> bool {
        match self {
            Truth::Equal(a, b) => a.value(s) == b.value(s),
            Truth::Below(a, b) => a.value(s) < b.value(s),
            Truth::Not(a) => !a.holds(s),
            Truth::Or(a, b) => a.holds(s) || b.holds(s),
        }
    }

    fn text(&self) -> String {
        match self {
            Truth::Equal(a, b) => format!("({} == {})", a.text(), b.text()),
            Truth::Below(a, b) => format!("BV2_ULT({}, {})", a.text(), b.text()),
            Truth::Not(a) => format!("!{}", a.text()),
            Truth::Or(a, b) => format!("({} || {})", a.text(), b.text()),
        }
    }
}

fn name(index: u8) -> &'static str {
    ["x", "y", "z"][usize::from(index % 3)]
}

/// What some execution violates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Failed {
    assertion: bool,
    invariant: bool,
}

impl Failed {
    fn any(self) -> bool {
        self.assertion || self.invariant
    }
}

/// Follows all executions from a set of states.
fn execute(code: &[Code], mut states: States, failed: &mut Failed) -> States {
    let each = |states: States, f: &dyn Fn(u64) -> States| {
        (0..64).filter(|s| states >> s & 1 == 1).map(f).fold(0, |all, next| all | next)
    };
    for item in code {
        states = match item {
            Code::Assign(v, e) => each(states, &|s| 1 << with(s, *v, e.value(s))),
            Code::Swap(a, b) => each(states, &|s| 1 << with(with(s, *a, variable(s, *b)), *b, variable(s, *a))),
            Code::Havoc(v) => each(states, &|s| (0..4).fold(0, |all, value| all | 1 << with(s, *v, value))),
            Code::Assume(c) => each(states, &|s| States::from(c.holds(s)) << s),
            Code::Assert(c) => {
                failed.assertion |= each(states, &|s| States::from(!c.holds(s)) << s) != 0;
                states
            }
            Code::Call(v, e) => {
                // havoc t; assume t <= a; r := t + z; z := a; assert r != 0 || a != 0;
                let outcome = |s: u64, t: u64| ((t + variable(s, 2)) & 3, e.value(s));
                let bad = |s: u64| States::from((0..=e.value(s)).any(|t| outcome(s, t) == (0, 0)));
                failed.assertion |= each(states, &bad) != 0;
                let after = |s: u64, t: u64| with(with(s, 2, outcome(s, t).1), *v, outcome(s, t).0);
                each(states, &|s| (0..=e.value(s)).fold(0, |all, t| all | 1 << after(s, t)))
            }
            Code::If(c, yes, no) => {
                let (left, right) = split(c, states);
                execute(yes, left, failed) | execute(no, right, failed)
            }
            Code::While(c, invariants, body) => {
                let mut head = states;
                loop {
                    let next = head | execute(body, split(c, head).0, &mut Failed::default());
                    if next == head {
                        break;
                    }
                    head = next;
                }
                execute(body, split(c, head).0, failed);
                failed.invariant |= invariants.iter().any(|i| split(i, head).1 != 0);
                split(c, head).1
            }
        };
    }
    states
}

fn split(c: &Truth, states: States) -> (States, States) {
    let yes = (0..64).filter(|s| states >> s & 1 == 1 && c.holds(*s)).fold(0, |all, s| all | 1 << s);
    (yes, states & !yes)
}

/// Writes labelled blocks.
struct Writer {
    text: String,
    labels: usize,
    /// Number of candidates; `None` writes invariants as plain asserts.
    candidates: Option<usize>,
}

impl Writer {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn code(&mut self, code: &[Code]) {
        for item in code {
            match item {
                Code::Assign(v, e) => self.line(&format!("{} := {};", name(*v), e.text())),
                Code::Swap(a, b) if a % 3 != b % 3 => {
                    self.line(&format!("{}, {} := {}, {};", name(*a), name(*b), name(*b), name(*a)));
                }
                Code::Swap(..) => {}
                Code::Havoc(v) => self.line(&format!("havoc {};", name(*v))),
                Code::Assume(c) => self.line(&format!("assume {};", c.text())),
                Code::Assert(c) => self.line(&format!("assert {};", c.text())),
                Code::Call(v, e) => self.line(&format!("call {} := twist({});", name(*v), e.text())),
                Code::If(c, yes, no) => self.choice(c, yes, no),
                Code::While(c, invariants, body) => self.repetition(c, invariants, body),
            }
        }
    }

    fn choice(&mut self, c: &Truth, yes: &[Code], no: &[Code]) {
        let (then, other, join) = (self.label(), self.label(), self.label());
        self.line(&format!("goto {then}, {other};\n{then}:\n  assume {};", c.text()));
        self.code(yes);
        self.line(&format!("goto {join};\n{other}:\n  assume !{};", c.text()));
        self.code(no);
        self.line(&format!("goto {join};\n{join}:"));
    }

    fn repetition(&mut self, c: &Truth, invariants: &[Truth], body: &[Code]) {
        let (head, inside, exit) = (self.label(), self.label(), self.label());
        self.line(&format!("goto {head};\n{head}:"));
        for invariant in invariants {
            let mark = self.candidates.as_mut().map(|count| {
                *count += 1;
                format!("{{:candidate \"random\", {}}} ", *count - 1)
            });
            self.line(&format!("assert {}{};", mark.unwrap_or_default(), invariant.text()));
        }
        self.line(&format!("goto {inside}, {exit};\n{inside}:\n  assume {};", c.text()));
        self.code(body);
        self.line(&format!("goto {head};\n{exit}:\n  assume !{};", c.text()));
    }
}

#[derive(Clone, Debug)]
struct Random {
    requires: Vec<Truth>,
    code: Vec<Code>,
}

impl Random {
    /// The program in the IVL, and the number of candidates.
    fn write(&self, with_candidates: bool) -> (String, usize) {
        let mut text = String::from(
            "var x: bv2;\nvar y: bv2;\nvar z: bv2;\n\n\
             procedure {:inline 1} twist(a: bv2) returns (r: bv2)\n  modifies z;\n{\n  var t: bv2;\nS:\n  havoc t;\n  \
             assume BV2_ULE(t, a);\n  r := BV2_ADD(t, z);\n  z := a;\n  assert r != 0bv2 || a != 0bv2;\n  return;\n}\n\n\
             procedure main()\n  modifies x, y, z;\n",
        );
        for condition in &self.requires {
            let _ = writeln!(text, "  requires {};", condition.text());
        }
        text.push_str("{\nStart:\n");
        let mut writer = Writer { text, labels: 0, candidates: with_candidates.then_some(0) };
        writer.code(&self.code);
        writer.text.push_str("  return;\n}\n");
        (writer.text, writer.candidates.unwrap_or(0))
    }

    /// What some execution violates.
    fn failed(&self) -> Failed {
        let start = (0..64).filter(|s| self.requires.iter().all(|c| c.holds(*s))).fold(0, |all, s| all | 1 << s);
        let mut failed = Failed::default();
        execute(&self.code, start, &mut failed);
        failed
    }
}

fn numbers() -> BoxedStrategy<Number> {
    let leaf = prop_oneof![(0u8..4).prop_map(Number::Constant), (0u8..3).prop_map(Number::Variable)];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let pair = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        let condition = (inner.clone(), inner.clone()).prop_map(|(a, b)| Box::new(Truth::Below(a, b)));
        prop_oneof![
            pair.clone().prop_map(|(a, b)| Number::Add(a, b)),
            pair.clone().prop_map(|(a, b)| Number::Sub(a, b)),
            pair.clone().prop_map(|(a, b)| Number::And(a, b)),
            (condition, pair).prop_map(|(c, (a, b))| Number::If(c, a, b)),
        ]
    })
    .boxed()
}

fn truths() -> BoxedStrategy<Truth> {
    let leaf = prop_oneof![
        (numbers(), numbers()).prop_map(|(a, b)| Truth::Equal(a, b)),
        (numbers(), numbers()).prop_map(|(a, b)| Truth::Below(a, b)),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Truth::Not(Box::new(a))),
            (inner.clone(), inner).prop_map(|(a, b)| Truth::Or(Box::new(a), Box::new(b))),
        ]
    })
    .boxed()
}

/// Conditions that hold often, so that something is left to prove.
fn weak_truths() -> BoxedStrategy<Truth> {
    prop_oneof![
        (0u8..3, 0u8..4)
            .prop_map(|(v, c)| Truth::Not(Box::new(Truth::Equal(Number::Variable(v), Number::Constant(c))))),
        (truths(), truths()).prop_map(|(a, b)| Truth::Or(Box::new(a), Box::new(b))),
        truths(),
    ]
    .boxed()
}

fn codes(loops: bool) -> BoxedStrategy<Vec<Code>> {
    let leaf = prop_oneof![
        4 => (0u8..3, numbers()).prop_map(|(v, e)| Code::Assign(v, e)),
        1 => (0u8..3, 0u8..3).prop_map(|(a, b)| Code::Swap(a, b)),
        1 => (0u8..3).prop_map(Code::Havoc),
        1 => truths().prop_map(Code::Assume),
        2 => weak_truths().prop_map(Code::Assert),
        1 => (0u8..3, numbers()).prop_map(|(v, e)| Code::Call(v, e)),
    ];
    let block = leaf.prop_recursive(3, 14, 4, move |inner| {
        let body = prop::collection::vec(inner, 0..4);
        let choice = (truths(), body.clone(), body.clone()).prop_map(|(c, a, b)| Code::If(c, a, b));
        let invariants = prop::collection::vec(weak_truths(), 0..4);
        let repetition = (truths(), invariants, body).prop_map(|(c, i, b)| Code::While(c, i, b));
        if loops { prop_oneof![choice, repetition].boxed() } else { choice.boxed() }
    });
    prop::collection::vec(block, 1..6).boxed()
}

fn programs(loops: bool) -> impl Strategy<Value = Random> {
    (prop::collection::vec(weak_truths(), 0..3), codes(loops)).prop_map(|(requires, code)| Random { requires, code })
}

/// No text has candidates, but for that of tests.
fn mark_candidates(program: &mut Program) {
    let blocks = program.procedures.iter_mut().flat_map(|p| &mut p.body).flat_map(|body| &mut body.blocks);
    for stmt in blocks.flat_map(|block| &mut block.stmts) {
        let number = stmt.attributes.named("candidate").and_then(Attribute::number);
        if let (Some(number), StmtKind::Assert(claim, _)) = (number, &mut stmt.kind) {
            *claim = Claim::Inferred(Inferred::Candidate("random", number as usize));
        }
    }
}

fn passive_of(text: &str) -> Result<Passive, TestCaseError> {
    let mut program = ivl::parse(text).map_err(|e| TestCaseError::fail(format!("{e:?}\n{text}")))?;
    mark_candidates(&mut program);
    let main = program.procedures.iter().find(|p| p.name.as_str() == "main").expect("main is written");
    passify::run(&program, main).map_err(|e| TestCaseError::fail(format!("{e:?}\n{text}")))
}

fn prove(passive: &mut Passive, encoding: Encoding, keep: &dyn Fn(usize) -> bool) -> Answer {
    let dropped: Vec<bool> = passive.checks.iter().map(|c| c.candidate.is_some()).collect();
    let goal = wp::formula(passive, keep, &|check| if dropped[check] { Role::Ignore } else { Role::Prove });
    solver::prove(&mut passive.terms, encoding, goal, &[], Effort::milliseconds(600))
}

/// Runs a property with a fixed seed, or the one in GPUVCC_SEED; GPUVCC_CASES asks for more cases.
fn check(cases: u32, loops: bool, property: impl Fn(&Random) -> Result<(), TestCaseError>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|c| c.parse::<u32>().ok());
    let cases = number("GPUVCC_CASES").unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 3_000, ..Config::default() };
    let seed = [number("GPUVCC_SEED").unwrap_or(0) as u8; 32];
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    if let Err(error) = runner.run(&programs(loops), |program| property(&program)) {
        panic!("{error}");
    }
}

#[test]
fn without_loops_proved_means_never_fails() {
    check(150, false, |program| {
        let (text, _) = program.write(false);
        let mut passive = passive_of(&text)?;
        let fails = program.failed().any();
        match prove(&mut passive, Encoding::BitVectors, &|_| true) {
            Answer::Proved => prop_assert!(!fails, "proved, but an execution fails:\n{text}"),
            Answer::Refuted(_) => prop_assert!(fails, "refuted, but no execution fails:\n{text}"),
            Answer::Unknown(why) => prop_assert!(false, "{why}"),
        }
        let integers = prove(&mut passive, Encoding::Integers, &|_| true);
        prop_assert!(!(fails && matches!(integers, Answer::Proved)), "proved over integers, but fails:\n{text}");
        Ok(())
    });
}

#[test]
fn with_loops_what_is_proved_never_fails() {
    let (proved, right) = (Cell::new(0), Cell::new(0));
    check(150, true, |program| {
        let fails = program.failed().any();
        right.set(right.get() + u32::from(!fails));
        // The invariants as given.
        let (text, _) = program.write(false);
        let mut passive = passive_of(&text)?;
        if let Answer::Proved = prove(&mut passive, Encoding::BitVectors, &|_| true) {
            prop_assert!(!fails, "proved, but an execution fails:\n{text}");
            proved.set(proved.get() + 1);
        }
        Ok(())
    });
    println!("{} of {} right programs proved", proved.get(), right.get());
}

#[test]
fn what_houdini_keeps_always_holds() {
    let (proved, right) = (Cell::new(0), Cell::new(0));
    check(150, true, |program| {
        let (text, count) = program.write(true);
        let mut passive = passive_of(&text)?;
        let start = houdini::Start {
            known: vec![false; count],
            twins: (0..count).collect(),
            remainders: None,
            relied: &|_| false,
            encodings: &[Encoding::BitVectors],
            budget: Budget::new(Effort::seconds(20)),
            log: &Log::default(),
        };
        let fates = houdini::run(&mut passive, &start).fates;
        let keeps = |candidate: usize| fates[candidate] == houdini::Fate::Kept;
        let mut reduced = program.clone();
        retain(&mut reduced.code, &mut 0, &|candidate| keeps(candidate));
        let failed = reduced.failed();
        prop_assert!(!failed.invariant, "a kept candidate fails:\n{text}");
        let fails = failed.any();
        right.set(right.get() + u32::from(!fails));
        if let Answer::Proved = prove(&mut passive, Encoding::BitVectors, &keeps) {
            prop_assert!(!fails, "proved under kept invariants, but an execution fails:\n{text}");
            proved.set(proved.get() + 1);
        }
        Ok(())
    });
    println!("{} of {} right programs proved", proved.get(), right.get());
}

/// Keeps the invariants that `keep` selects; they are numbered in the order of the text.
fn retain(code: &mut [Code], next: &mut usize, keep: &dyn Fn(usize) -> bool) {
    for item in code {
        match item {
            Code::While(_, invariants, body) => {
                invariants.retain(|_| {
                    *next += 1;
                    keep(*next - 1)
                });
                retain(body, next, keep);
            }
            Code::If(_, yes, no) => {
                retain(yes, next, keep);
                retain(no, next, keep);
            }
            _ => {}
        }
    }
}
