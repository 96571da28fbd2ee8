//! Loops of which any one round stands for all (`gpuvcc::prove::summaries`), executed.
//!
//! Two threads are executed in a random kernel, and every round is written down. Where they race in some byte, the summarised
//! program fails there as well, with each thread in the rounds of the accesses in question; what it assumes of a round holds in all.

use crate::predicate::alone::alone;
use crate::predicate::evaluate::Store;
use crate::predicate::random::{Source, access, barrier, block, kernel, operand, program, statement, stmt};
use crate::twothread::execution::{Loads, store_of};
use crate::twothread::program::{Arbitrary, Run, Watched, unfold};
use gpuvcc::effort::{Budget, Effort};
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv::{self, BvOp};
use gpuvcc::ivl::visit::{map_stmt, substitute};
use gpuvcc::predicate::{self, LoopInfo};
use gpuvcc::prove::summaries::summarise;
use gpuvcc::twothread::prelude::{WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair, TwoThread};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Random kernels that are looked at; `GPUVCC_CASES` asks for more, and `GPUVCC_SEED` for others.
const CASES: u32 = 80;
/// Of those at least so many are summarised, so many with registers that move evenly, and so many bytes are raced for.
const LEAST: [usize; 3] = [40, 20, 40];

/// How the variables are called from which the registers of a round have their values, and how often it came around.
const ANY: &str = ".any";
const ROUNDS: &str = ".rounds";

static SUMMARISED: AtomicUsize = AtomicUsize::new(0);
static EVENLY: AtomicUsize = AtomicUsize::new(0);
static RACES: AtomicUsize = AtomicUsize::new(0);

/// What happens in an execution, in the order of time.
enum Happens {
    Block(Name, Store),
    Havoc(Name, u128),
    Access { thread: usize, offset: u128 },
}

#[derive(Default)]
struct Recorder {
    loads: Loads,
    happens: Vec<Happens>,
}

impl Arbitrary for &mut Recorder {
    fn block(&mut self, label: &Name, store: &Store) {
        self.happens.push(Happens::Block(label.clone(), store.clone()));
    }

    fn access(&mut self, thread: usize, active: bool, offset: u128) {
        self.loads.access(thread, active, offset);
        if active {
            self.happens.push(Happens::Access { thread, offset });
        }
    }

    fn value(&mut self, thread: usize, name: &Name, block: &Name, store: &Store) -> u128 {
        let value = self.loads.value(thread, name, block, store);
        self.happens.push(Happens::Havoc(name.of(Thread::BOTH[thread]), value));
        value
    }
}

/// A loop of the kernel.
struct Loop {
    head: Name,
    exit: Name,
    inner: Vec<Loop>,
}

/// The loops at the places `from..to` of the blocks.
fn loops(all: &[LoopInfo], blocks: &[Block], (from, to): (usize, usize)) -> Vec<Loop> {
    let place = |label: &Name| blocks.iter().position(|block| block.label == *label).expect("a block");
    let (mut found, mut at) = (Vec::new(), from);
    while at < to {
        if let Some(info) = all.iter().find(|info| place(&info.head) == at) {
            let back = place(&info.back);
            found.push(Loop {
                head: info.head.clone(),
                exit: info.exit.clone(),
                inner: loops(all, blocks, (at + 1, back)),
            });
            at = back;
        }
        at += 1;
    }
    found
}

/// The rounds that a summarised program has, in its order: any one, or the last.
fn rounds<'a>(of: &'a [Loop], with_any: bool, around: Option<usize>, order: &mut Vec<Begin<'a>>) {
    for one in of {
        for is_last in [false, true] {
            if with_any || is_last {
                let this = order.len();
                order.push(Begin { of: one, is_last, around });
                rounds(&one.inner, with_any && !is_last, Some(this), order);
            }
        }
    }
}

/// The beginning of a round: its loop, and the beginning of the one around it.
struct Begin<'a> {
    of: &'a Loop,
    is_last: bool,
    around: Option<usize>,
}

/// Which rounds the threads are in, by what happened: those of the moments at which they access what is looked at.
struct Replay<'a> {
    happens: &'a [Happens],
    order: &'a [Begin<'a>],
    types: &'a BTreeMap<Name, Type>,
    moments: [usize; 2],
    /// From when to when the rounds begun were, for each thread.
    begun: Vec<[(usize, usize); 2]>,
    now: [usize; 2],
}

impl Replay<'_> {
    /// When control came to a head within a span of time with the thread there, and when its next round or the way out began.
    fn visits(&self, of: &Loop, thread: usize, (from, to): (usize, usize)) -> Vec<(usize, usize)> {
        let copy = Thread::BOTH[thread];
        let counter = Name::from(format!("k.{}", of.head));
        let mut found: Vec<(usize, usize)> = Vec::new();
        for at in from..to {
            let Happens::Block(label, store) = &self.happens[at] else { continue };
            let is_head = *label == of.head;
            if let Some(last) = found.last_mut().filter(|last| last.1 == usize::MAX && (is_head || *label == of.exit)) {
                last.1 = at;
            }
            if is_head && store[&counter] == store[&counter.of(copy)] {
                found.push((at, usize::MAX));
            }
        }
        found
    }

    fn begin(&mut self) {
        let Begin { of, is_last, around } = self.order[self.begun.len()];
        let spans = [0, 1].map(|thread| {
            let within = around.map_or((0, self.happens.len()), |around| self.begun[around][thread]);
            let visits = self.visits(of, thread, within);
            let moment = self.moments[thread];
            let is_there = |(from, to): &&(usize, usize)| *from <= moment && moment < *to;
            let chosen = if is_last { visits.last() } else { visits.iter().find(is_there).or(visits.first()) };
            // Who does not come to the loop does nothing in it.
            chosen.copied().unwrap_or((within.0, within.0))
        });
        self.begun.push(spans);
        self.now = spans.map(|span| span.0);
    }

    /// What a thread loaded with a statement of its round, or behind it.
    fn loaded(&self, thread: usize, name: &Name) -> u128 {
        let wanted = name.of(Thread::BOTH[thread]);
        let value = self.happens[self.now[thread]..].iter().find_map(|one| match one {
            Happens::Havoc(name, value) if *name == wanted => Some(*value),
            _ => None,
        });
        value.unwrap_or_default()
    }
}

impl Arbitrary for Replay<'_> {
    fn havocs(&mut self, names: &[Name]) {
        if names.iter().any(|name| name.shared().as_str().ends_with(ANY)) {
            self.begin();
        }
    }

    fn value(&mut self, thread: usize, name: &Name, _: &Name, _: &Store) -> u128 {
        let copy = Thread::BOTH[thread];
        let register = [ANY, ROUNDS].iter().find_map(|suffix| name.as_str().strip_suffix(suffix));
        let Some(register) = register.map(|name| Name::from(name).of(copy)) else { return self.loaded(thread, name) };
        let Some(Happens::Block(_, store)) = self.happens.get(self.now[thread]) else { return 0 };
        let value = store[&register];
        if let Type::Bv(width) = self.types[&name.of(copy)] {
            assert!(value >> width == 0, "{name} is {value}: more than {width} bits");
        }
        value
    }
}

fn register(number: usize) -> ExprRef {
    bv::var(format!("x{number}").as_str(), Type::Bv(32))
}

fn literal(value: usize) -> ExprRef {
    bv::literal(value as u128, 32)
}

/// `x := value`
fn set(number: usize, value: ExprRef) -> Stmt {
    stmt(StmtKind::Assign(vec![(Name::from(format!("x{number}")), value)]))
}

/// `x := x + step`
fn add(number: usize, step: ExprRef) -> Stmt {
    set(number, bv::add(register(number), step))
}

fn label(kind: &str, number: usize) -> Name {
    Name::from(format!("{kind}{number}"))
}

/// Up to two accesses at registers that move.
fn accesses(source: &mut Source) -> Vec<Stmt> {
    let one = |source: &mut Source| {
        let access = access(register(1 + source.below(2)));
        match source.below(3) {
            0 => stmt(StmtKind::Load { dst: Name::from("x3"), access }),
            _ => stmt(StmtKind::Store { value: operand(source), access }),
        }
    };
    (0..source.below(3)).map(|_| one(source)).collect()
}

/// A block, with the edges to one of two others.
fn branch(from: Name, stmts: Vec<Stmt>, condition: ExprRef, [then, otherwise]: [Name; 2]) -> [Block; 3] {
    let [yes, no] = ["yes", "no"].map(|suffix| Name::from(format!("{from}.{suffix}")));
    let assume = |condition| vec![stmt(StmtKind::assume(condition))];
    [
        block(from, stmts, vec![yes.clone(), no.clone()]),
        block(yes, assume(condition.clone()), vec![then]),
        block(no, assume(bv::not(condition)), vec![otherwise]),
    ]
}

/// A loop of some rounds in which registers move evenly, perhaps with one in it.
fn counted_loop(source: &mut Source, number: usize, next: &Name) -> Vec<Block> {
    let (step, rounds, start) = (1 + source.below(3), 1 + source.below(4), source.below(3));
    let end = literal(start + step * rounds);
    let stays = match source.below(2) {
        0 => bv::ne(register(0), end),
        _ => bv::binary(BvOp::Ult, register(0), end),
    };
    let [enter, head] = ["enter", "L"].map(|kind| label(kind, number));
    let mut blocks = Vec::new();
    let mut stmts = vec![set(0, literal(start))];
    stmts.extend(accesses(source));
    if source.below(3) == 0 {
        stmts.push(barrier(number + 1));
    }
    // Some threads may not come to the loop.
    if source.below(3) == 0 {
        let comes = bv::eq(bv::binary(BvOp::And, operand(source), literal(1)), literal(0));
        blocks.extend(branch(enter, stmts, comes, [head.clone(), next.clone()]));
    } else {
        blocks.push(block(enter, stmts, vec![head.clone()]));
    }
    let (mut at, mut body) = (head.clone(), accesses(source));
    if source.below(3) == 0 {
        let [inner, behind] = ["I", "T"].map(|kind| label(kind, number));
        body.push(set(3, literal(0)));
        blocks.push(block(at, std::mem::take(&mut body), vec![inner.clone()]));
        let mut stmts = vec![stmt(StmtKind::Store { value: operand(source), access: access(register(2)) })];
        stmts.extend([add(3, literal(1)), add(2, literal(source.below(3)))]);
        let stays = bv::binary(BvOp::Ult, register(3), literal(1 + source.below(3)));
        blocks.extend(branch(inner.clone(), stmts, stays, [inner, behind.clone()]));
        at = behind;
    }
    body.extend(accesses(source));
    body.extend([add(1 + source.below(2), operand(source)), add(1, literal(source.below(4)))]);
    body.extend(accesses(source));
    body.push(add(0, literal(step)));
    blocks.extend(branch(at, body, stays, [head, next.clone()]));
    blocks
}

/// A kernel with one or two such loops.
fn counted(source: &mut Source) -> Program {
    let starts = vec![set(1, operand(source)), add(1, operand(source)), set(2, operand(source))];
    let mut blocks = vec![block(Name::from("start"), starts, vec![label("enter", 0)])];
    let count = 1 + source.below(2);
    for number in 0..count {
        let next = if number + 1 < count { label("enter", number + 1) } else { Name::from("end") };
        blocks.extend(counted_loop(source, number, &next));
    }
    let mut stmts = accesses(source);
    stmts.push(statement(source));
    blocks.push(block(Name::from("end"), stmts, Vec::new()));
    program(blocks)
}

/// Gives each statement that loads a variable of its own: in a round that only one of the threads is in, the other one loads as well.
fn tell_loads_apart(implementation: &mut Implementation) {
    let locals = implementation.locals.iter();
    let types: BTreeMap<Name, Type> = locals.map(|local| (local.name.clone(), local.ty.clone())).collect();
    let mut statements = 0;
    for block in &mut implementation.blocks {
        let mut renamed = BTreeMap::new();
        for stmt in &mut block.stmts {
            if let StmtKind::Havoc(names) = &mut stmt.kind {
                statements += 1;
                for name in names.iter_mut().filter(|name| name.as_str().starts_with("v_havoc.")) {
                    let ty = types[name].clone();
                    let own = Name::from(format!("{}.{statements}", name.shared()));
                    let own = own.of(name.thread().expect("of one thread"));
                    renamed.insert(name.clone(), bv::var(own.clone(), ty.clone()));
                    implementation.locals.push(Variable::new(own.clone(), ty));
                    *name = own;
                }
            }
            *stmt = map_stmt(stmt, &mut |expr| substitute(expr, &renamed));
        }
    }
}

/// A kernel for two threads, as it is and summarised.
struct Both {
    kernel: Program,
    two: TwoThread,
    summarised: TwoThread,
    loops: Vec<Loop>,
    types: BTreeMap<Name, Type>,
}

impl Both {
    /// `None` where its loops are not summarised.
    fn of(kernel: Program) -> Option<Both> {
        let predicated = predicate::run(&kernel).expect("a kernel");
        let prelude = load(WATCHED_BYTE).expect("ships");
        let mut two = twothread::run(&predicated, &prelude, Pair::SameBlock, &Options::default()).expect("translates");
        let is_kernel = |procedure: &&mut Procedure| procedure.name == two.procedure;
        let procedure = two.program.procedures.iter_mut().find(is_kernel).expect("the kernel");
        tell_loads_apart(procedure.body.as_mut().expect("a body"));
        let summarised = summarise(&two, false, &[], Budget::new(Effort::seconds(1))).expect("translates")?;
        two.program = summarised.counted.clone();
        let mut summarised = summarised.program;
        unfold(&mut two.program);
        unfold(&mut summarised.program);
        let blocks = &two.implementation().blocks;
        let loops = loops(&predicated.loops, blocks, (0, blocks.len()));
        let locals = &summarised.implementation().locals;
        let types = locals.iter().map(|local| (local.name.clone(), local.ty.clone())).collect();
        Some(Both { kernel, two, summarised, loops, types })
    }

    fn stores(&self, numbers: [u128; 2]) -> [Store; 2] {
        numbers.map(|number| store_of(&self.kernel, number))
    }

    /// What happens in an execution, and whether it fails at the watched byte.
    fn execute(&self, numbers: [u128; 2], watched: Watched) -> (Vec<Happens>, bool) {
        let mut recorder = Recorder::default();
        let run = Run::new(&self.two, self.stores(numbers), watched, &mut recorder);
        let failed = run.go(20_000).expect("the threads alone end");
        (recorder.happens, failed.contains("race"))
    }

    /// The bytes at which the threads race, in this order.
    fn races(&self, numbers: [u128; 2]) -> BTreeSet<u128> {
        let (happens, _) = self.execute(numbers, Watched { site: u128::MAX, offset: u128::MAX });
        let offsets = happens
            .iter()
            .filter_map(|one| if let Happens::Access { offset, .. } = one { Some(*offset) } else { None });
        let races_at = |offset: u128| {
            let mut sites = 0..self.two.sites.len() as u128;
            sites.any(|site| self.execute(numbers, Watched { site, offset }).1)
        };
        offsets.collect::<BTreeSet<u128>>().into_iter().filter(|offset| races_at(*offset)).collect()
    }

    /// Whether the summarised program fails at a byte, for some rounds in which the threads access it.
    fn fails(&self, numbers: [u128; 2], offset: u128) -> bool {
        let (happens, _) = self.execute(numbers, Watched { site: u128::MAX, offset });
        let mut order = Vec::new();
        rounds(&self.loops, true, None, &mut order);
        let moments = |of: usize| -> Vec<usize> {
            let is_one = |at: &usize| matches!(&happens[*at], Happens::Access { thread, offset: of_one } if *thread == of && *of_one == offset);
            (0..happens.len()).filter(is_one).collect()
        };
        let [first, second] = [0, 1].map(moments);
        first.iter().flat_map(|at| second.iter().map(|to| [*at, *to])).any(|moments| {
            (0..self.two.sites.len() as u128).any(|site| {
                let (happens, order, types) = (&happens[..], &order[..], &self.types);
                let replay = Replay { happens, order, types, moments, begun: Vec::new(), now: [0, 0] };
                let run = Run::new(&self.summarised, self.stores(numbers), Watched { site, offset }, replay);
                run.go(1000).expect("there is no loop").contains("race")
            })
        })
    }
}

/// Where two threads race in a byte, they do so in the summarised program.
fn check(seed: u64) -> Result<(), TestCaseError> {
    let mut source = Source::new(seed);
    let kernel = if seed.is_multiple_of(4) { kernel(&mut source, false) } else { counted(&mut source) };
    let numbers = [seed as u128 % 4, (seed as u128 % 4 + 1 + seed as u128 / 4 % 3) % 4];
    if numbers.iter().any(|number| alone(&kernel, *number).is_none()) {
        return Ok(());
    }
    let Some(both) = Both::of(kernel) else { return Ok(()) };
    SUMMARISED.fetch_add(1, Ordering::Relaxed);
    let is_counted = both.types.keys().any(|name| name.shared().as_str().ends_with(ROUNDS));
    EVENLY.fetch_add(usize::from(is_counted), Ordering::Relaxed);
    let orders = [numbers, [numbers[1], numbers[0]]];
    for offset in orders.iter().flat_map(|numbers| both.races(*numbers)) {
        let is_found = orders.iter().any(|numbers| both.fails(*numbers, offset));
        prop_assert!(is_found, "threads {:?} race at byte {} of {:#?}", numbers, offset, both.kernel);
        RACES.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

#[test]
fn races_of_all_rounds_are_those_of_any_round() {
    let cases = std::env::var("GPUVCC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let seed: u8 = std::env::var("GPUVCC_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    if let Err(error) = runner.run(&any::<u64>(), check) {
        panic!("{error}");
    }
    let looked_at = [&SUMMARISED, &EVENLY, &RACES].map(|count| count.load(Ordering::Relaxed));
    assert!(looked_at.iter().zip(LEAST).all(|(count, least)| *count >= least), "{looked_at:?}");
}
