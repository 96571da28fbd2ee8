//! Stage 5: two threads as one sequential program.
//!
//! Input: [`Predicated`], a [`Prelude`], a [`Pair`]. Output: [`TwoThread`]: plain Boogie without kernel
//! statements. Establishes: if no assertion of the program for any pair fails, then no two threads that
//! form such a pair race, diverge at a barrier, or fail an assertion. Relies on: both threads reach barriers
//! in the lock-step order (stage 4); nothing ranks the two threads, so thread 1 logging and thread 2
//! checking covers both orders. Reference: the lock-step paper, section 4.2, Table 3; the tutorial
//! paper (two-thread reduction, LOG and CHECK).
//!
//! Each private variable `x` becomes `x$1` and `x$2`. Shared arrays are abstracted: stores leave only
//! their log and check, loads yield arbitrary values, except where [`contents`] says what an array holds.

pub(crate) mod accesses;
mod array_facts;
pub mod barrier_invariants;
mod barriers;
mod completion;
pub mod contents;
mod contract;
pub(crate) mod copies;
mod held;
mod launch;
pub mod log;
mod messages;
mod narrow;
pub mod prelude;
mod proxies;
mod statements;
mod tickets;
pub(crate) mod underway;
mod warps;
mod winners;

pub(crate) use accesses::{AccessKind, Site};
pub(crate) use prelude::Prelude;
pub(crate) use warps::SameWarp;

use crate::diagnostic::Diagnostic;
use crate::geometry::Geometry;
use crate::ivl;
use crate::ivl::ast::{
    Attribute, Condition, Function, Implementation, Name, Procedure, Program, Thread, Type, Variable,
};
use crate::ivl::bv;
use crate::predicate::rewrite::BLOCK_ID_WIDTH;
use crate::predicate::{LoopInfo, Predicated};
use crate::rules::Rules;
use crate::span::Span;
use accesses::Accesses;
use barriers::Barriers;
use contents::Contents;
use copies::Copies;
use launch::Launch;
use log::Log;
use prelude::Setting;
use statements::Translator;
use std::collections::BTreeSet;
use tickets::Tickets;
use underway::Underway;
use warps::Warps;

/// How the two threads stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pair {
    /// Two threads of one block.
    SameBlock,
    /// Two threads of two blocks.
    DifferentBlocks,
    /// One thread twice: checks assertions where a launch may have a single thread.
    OneThread,
}

impl Pair {
    /// As it stands in the name of the procedure.
    pub fn suffix(self) -> &'static str {
        match self {
            Pair::SameBlock => "same_block",
            Pair::DifferentBlocks => "different_blocks",
            Pair::OneThread => "one_thread",
        }
    }
}

/// The launch, as far as it is fixed, and command-line options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Sizes of launches.
    pub geometry: Geometry,
    /// What counts as a defect.
    pub rules: Rules,
    /// Arrays that are written have contents where that can matter ([`contents`]).
    pub contents: bool,
}

impl Options {
    /// Threads a block, where all three sizes are fixed.
    fn threads_per_block(&self) -> Option<u128> {
        self.geometry.block.iter().try_fold(1u128, |product, size| size.map(|size| product * u128::from(size)))
    }

    /// Whether the launch has a pair of this kind, whatever the sizes that are not fixed.
    pub(crate) fn has_pair(&self, pair: Pair) -> bool {
        let has_several = |sizes: [Option<u32>; 3]| sizes.into_iter().flatten().any(|size| size > 1);
        match pair {
            Pair::SameBlock => has_several(self.geometry.block),
            Pair::DifferentBlocks => has_several(self.geometry.grid),
            Pair::OneThread => false,
        }
    }

    /// Whether the launch may have a pair of this kind.
    pub fn pair_exists(&self, pair: Pair) -> bool {
        match pair {
            Pair::SameBlock => self.geometry.block != [Some(1); 3],
            Pair::DifferentBlocks => self.geometry.grid != [Some(1); 3],
            Pair::OneThread => true,
        }
    }
}

/// The two-thread program of a kernel, and the tables that later stages need.
#[derive(Clone, Debug)]
pub struct TwoThread {
    /// The program: prelude instances and one procedure without `{:inline}`.
    pub program: Program,
    /// Name of that procedure: `KERNEL$same_block` and so on.
    pub procedure: Name,
    pub pair: Pair,
    /// `v_active` without suffix.
    pub(crate) active: Name,
    /// Loops under the labels of stage 4; `activity_facts` holds the copies of both threads.
    pub(crate) loops: Vec<LoopInfo>,
    /// All accesses, by number.
    pub sites: Vec<Site>,
    /// Arrays whose accesses are checked.
    pub checked_arrays: Vec<Name>,
    /// The state in which accesses are remembered.
    pub(crate) log: Log,
    /// What is known of their warps, if barriers of warps order anything, or lanes wait for each other.
    pub(crate) same_warp: Option<SameWarp>,
}

impl TwoThread {
    /// The access of that number.
    pub(crate) fn site(&self, number: u32) -> Option<&Site> {
        self.sites.get(number as usize)
    }

    /// The procedure.
    pub fn implementation(&self) -> &Implementation {
        let procedure = self.program.procedures.iter().find(|procedure| procedure.name == self.procedure);
        match procedure.and_then(|procedure| procedure.body.as_ref()) {
            Some(body) => body,
            None => panic!("twothread: the procedure `{}` is gone", self.procedure),
        }
    }
}

/// Translates a predicated kernel for a pair of threads.
///
/// If the launch has no such pair (see [`Options::pair_exists`]) the preconditions are contradictory.
///
/// # Errors
/// `barrier-count`, `too-many-sites`, `same-value-width`, `thread-function` (unsupported);
/// `unknown-array`, `offset-type`, `name-clash`.
pub fn run(
    predicated: &Predicated,
    prelude: &Prelude,
    pair: Pair,
    options: &Options,
) -> Result<TwoThread, Vec<Diagnostic>> {
    let program = &predicated.program;
    let kernel = kernel_of(predicated);
    let body = body_of(kernel);
    let copies = Copies::new(program, &body.locals, pair);
    refuse_per_thread_functions(program, &copies)?;

    let mut underway = Underway::new(body, &copies, pair);
    let mut accesses = Accesses::new(program, body, &copies, pair, (options, prelude.knows_narrow()), &underway);
    let active = bv::var(predicated.active.clone(), Type::Bv(BLOCK_ID_WIDTH));
    let (end_id, beside_grid) = (predicated.end_id, barriers::beside_grid_barriers(body));
    let leaving = &predicated.leaving;
    let barriers = Barriers { copies: &copies, pair, options, active, end_id, leaving, beside_grid };
    let mut contents = Contents::new(predicated, body, &copies, pair, options);
    barrier_invariants::refuse_without_meaning(program, body, contents.selection(), options)?;
    let mut tickets = Tickets::new(program, body, &copies, pair);
    let warps = Warps::new(predicated, body, &copies, (pair, options));
    let loops = &predicated.loops;
    let mut translator = Translator {
        copies: &copies,
        loops,
        accesses: &mut accesses,
        contents: &mut contents,
        tickets: &mut tickets,
        underway: &mut underway,
        barriers,
        warps: &warps,
    };
    let blocks = translator.blocks(body)?;
    let launch = Launch::new(program, kernel, &copies, pair, options);

    let mut result = Program {
        constants: launch.constants,
        functions: program
            .functions
            .iter()
            .cloned()
            .chain(accesses.declared)
            .chain(contents.declared.into_values())
            .chain(tickets.declared.into_values())
            .collect(),
        axioms: Vec::new(),
        ..Program::default()
    };
    for axiom in &program.axioms {
        let copy = |expr| Condition { expr, ..axiom.clone() };
        result.axioms.extend(copies.formulas(&axiom.expr).into_iter().map(copy));
    }
    let (same_block, allow_same_value) = (pair == Pair::SameBlock, options.rules.allow_same_value);
    let setting = Setting { same_block, allow_same_value, narrow: false, aligned: false };
    if !accesses.checked_arrays.is_empty() {
        append(&mut result, prelude.common(setting));
    }
    let (mut requires, mut log) = (launch.requires, Log::default());
    log.by_bytes = prelude.is_shipped();
    for array in &accesses.checked_arrays {
        let narrow = accesses.narrow_arrays.contains(array);
        let aligned = accesses.aligned_arrays.contains(array);
        let instance = prelude.instantiate(array, Setting { narrow, aligned, ..setting });
        requires.extend(narrow.then(|| watched_in_space(&instance, array)).flatten());
        log.add(array, &instance, narrow);
        append(&mut result, instance);
    }
    log.groups = underway.known();
    let (completion, held, messages) = (&accesses.completion, &accesses.held, &accesses.messages);
    result.constants.extend(completion.constants().into_iter().chain(held.constants()).chain(messages.constants()));
    requires.extend(completion.meanings().into_iter().chain(held.meanings()).chain(messages.meanings()));
    for (constant, meaning) in underway.declared() {
        result.constants.push(constant);
        requires.push(meaning);
    }
    let mut locals = copies.variables(&body.locals);
    locals.extend(underway.introduced());
    locals.extend(accesses.introduced);
    locals.extend(contents.introduced);
    locals.extend(tickets.introduced);
    locals.extend(warps.introduced());
    let procedure = Name::from(format!("{}${}", kernel.name, pair.suffix()));
    result.procedures.push(Procedure {
        name: procedure.clone(),
        params: kernel.params.clone(),
        results: Vec::new(),
        modifies: result.globals.iter().map(|global| global.name.clone()).collect(),
        requires,
        ensures: Vec::new(),
        body: Some(Implementation { locals, blocks }),
        attributes: Vec::new(),
        span: kernel.span,
    });
    refuse_clashes(&result)?;
    ivl::check_stage(&result, "twothread");
    Ok(TwoThread {
        program: result,
        procedure,
        pair,
        active: predicated.active.clone(),
        loops: predicated.loops.iter().map(|this| both_facts(this, &copies)).collect(),
        sites: accesses.sites,
        checked_arrays: accesses.checked_arrays.into_iter().collect(),
        log,
        same_warp: warps.known(),
    })
}

/// Arrays whose loads yield arbitrary values, whatever plain stores of the kernel put there.
pub fn unread(predicated: &Predicated) -> BTreeSet<Name> {
    contents::selection::unread(predicated, body_of(kernel_of(predicated)))
}

fn kernel_of(predicated: &Predicated) -> &Procedure {
    let mut procedures = predicated.program.procedures.iter();
    procedures.find(|procedure| procedure.name == predicated.kernel).expect("twothread: the kernel is gone")
}

fn body_of(kernel: &Procedure) -> &Implementation {
    kernel.body.as_ref().expect("twothread: a predicated kernel has a body")
}

/// A function body that reads `tid` would need two versions; no front end makes one.
fn refuse_per_thread_functions(program: &Program, copies: &Copies) -> Result<(), Vec<Diagnostic>> {
    let per_thread = program.functions.iter().filter(|f| f.body.as_ref().is_some_and(|body| copies.differ_on(body)));
    let refuse = |function: &Function| {
        let message = format!("the function `{}` reads a constant that differs between threads", function.name);
        Diagnostic::unsupported("thread-function", message, function.span).note("pass the constant as an argument")
    };
    let errors: Vec<Diagnostic> = per_thread.map(refuse).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The byte that is watched is one of the array's space, if it is a constant.
fn watched_in_space(instance: &Program, array: &Name) -> Option<Condition> {
    let name = Name::from(format!("_WATCHED_OFFSET_{array}"));
    instance.constants.iter().find(|constant| constant.variable.name == name)?;
    let expr = bv::binary(bv::BvOp::Ult, bv::var(name, Type::Bv(64)), bv::literal(1 << 32, 64));
    let attributes = vec![Attribute { name: Name::from("watched"), args: Vec::new() }];
    Some(Condition { free: false, expr, attributes, span: Span::NONE })
}

fn append(program: &mut Program, more: Program) {
    program.constants.extend(more.constants);
    program.functions.extend(more.functions);
    program.axioms.extend(more.axioms);
    program.globals.extend(more.globals);
    program.procedures.extend(more.procedures);
}

/// A kernel name that the prelude or a copy also uses would silently mean another variable.
fn refuse_clashes(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let constants = program.constants.iter().map(|constant| &constant.variable);
    let mut variables: Vec<&Variable> = constants.chain(&program.globals).collect();
    if let Some(procedure) = program.procedures.last() {
        variables.extend(&procedure.params);
        variables.extend(procedure.body.iter().flat_map(|body| &body.locals));
    }
    let functions = program.functions.iter().map(|function| (&function.name, function.span));
    let procedures = program.procedures.iter().map(|procedure| (&procedure.name, procedure.span));
    let errors = clashes(variables.into_iter().map(|variable| (&variable.name, variable.span)))
        .chain(clashes(functions))
        .chain(clashes(procedures))
        .collect::<Vec<_>>();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn clashes<'a>(names: impl Iterator<Item = (&'a Name, Span)>) -> impl Iterator<Item = Diagnostic> {
    let mut seen = BTreeSet::new();
    names.filter(move |(name, _)| !seen.insert(name.to_string())).map(|(name, span)| {
        let message = format!("the name `{name}` is taken by the race-checking code");
        Diagnostic::error("name-clash", message, span)
            .note("names that end in `$1` or `$2` or begin with `_` are reserved")
    })
}

fn both_facts(this: &LoopInfo, copies: &Copies) -> LoopInfo {
    let facts = this.activity_facts.iter().flat_map(|fact| Thread::BOTH.map(|thread| copies.expr(fact, thread)));
    LoopInfo { activity_facts: facts.collect(), ..this.clone() }
}
