//! Random well-formed kernels that work on real memory: many race or diverge, many do not.
//!
//! `x0` and `x1` are the same in all threads as long as nothing goes wrong; `x2` and `x3` are each
//! thread's own, like `y0`, `y1` and so on, each of which has one definition; `rN` counts how often block N
//! was left, so that most loops end. Where a block has two successors, a thread takes the one whose assumption holds, or any.

use super::random::{Source, program, reducible_graph, stmt};
use gpuvcc::flow::Graph;
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv::{self, BvOp};
use gpuvcc::ivl::claim::{Claim, Premise};
use gpuvcc::span::Span;

/// What the kernels of one family are made of.
#[derive(Clone, Copy)]
pub struct Shape {
    /// `havoc` and free choices of the next block.
    pub arbitrary: bool,
    /// Assertions.
    pub assertions: bool,
    /// The assertions are invariants of the user.
    pub invariants: bool,
    /// Branches depend on how often they were met and on the thread, so that no load decides when a loop ends.
    pub counted: bool,
    /// Barriers have barrier invariants, of which some do not hold.
    pub barrier_invariants: bool,
}

struct Writer<'s> {
    source: &'s mut Source,
    shape: Shape,
    /// Statements with a name (their span) so far.
    named: usize,
    /// Private variables so far, beside `x0` to `x3`.
    locals: Vec<Name>,
    /// How likely indices, and values that are alike in all threads, go wrong, of 16.
    disorder: usize,
    /// How likely a branch depends on the thread, of 16.
    divergence: usize,
}

/// A kernel.
pub fn kernel(source: &mut Source, shape: Shape) -> Program {
    let graph = std::iter::repeat_with(|| reducible_graph(source, true)).find(ends).expect("a graph");
    let (disorder, divergence) = ([0, 0, 1, 2, 6][source.below(5)], [0, 4, 12][source.below(3)]);
    let mut writer = Writer { source, shape, named: 0, locals: Vec::new(), disorder, divergence };
    let label = |node: usize| Name::from(format!("B{node}"));
    let mut blocks = Vec::new();
    for node in 0..graph.len() {
        let mut stmts = Vec::new();
        if node == 0 {
            // The two-thread program leaves arrays that are never written alone.
            stmts.push(writer.store());
        }
        for _ in 0..writer.source.below(4) {
            let stmt = writer.statement();
            stmts.push(stmt);
        }
        if writer.source.below(5) == 0 {
            writer.exchange(&mut stmts);
        }
        let is_head = graph.successors[node..].iter().any(|targets| targets.contains(&node));
        if shape.counted && is_head && writer.source.below(2) == 0 {
            writer.tally(&mut stmts);
        }
        if shape.barrier_invariants {
            stmts = writer.with_barrier_invariants(stmts);
        }
        let targets = &graph.successors[node][..];
        let mut edges = Vec::new();
        let transfer = match *targets {
            [] => Transfer::Return,
            [target] => Transfer::Goto(vec![label(target)]),
            [yes, no] => {
                let conditions = writer.branch(node, &mut stmts);
                let mut to = Vec::new();
                for (suffix, condition, target) in [("yes", &conditions[0], yes), ("no", &conditions[1], no)] {
                    let Some(condition) = condition else {
                        to.push(label(target));
                        continue;
                    };
                    let edge = Name::from(format!("B{node}.{suffix}"));
                    let assume = vec![stmt(StmtKind::assume(condition.clone()))];
                    edges.push(block(edge.clone(), assume, Transfer::Goto(vec![label(target)])));
                    to.push(edge);
                }
                Transfer::Goto(to)
            }
            _ => unreachable!("at most two successors are drawn"),
        };
        blocks.push(block(label(node), stmts, transfer));
        blocks.extend(edges);
    }
    let mut program = program(blocks);
    let declared =
        |name| Variable { name, ty: Type::Bv(32), where_clause: None, attributes: Vec::new(), span: Span::NONE };
    let body = program.procedures[0].body.as_mut().expect("a kernel has a body");
    body.locals.extend(writer.locals.into_iter().map(declared));
    program
}

/// Whether an end can be reached from everywhere.
fn ends(graph: &Graph) -> bool {
    let mut good: Vec<bool> = graph.successors.iter().map(Vec::is_empty).collect();
    for _ in 0..graph.len() {
        for node in 0..graph.len() {
            good[node] |= graph.successors[node].iter().any(|&to| good[to]);
        }
    }
    good.into_iter().all(|good| good)
}

fn block(label: Name, stmts: Vec<Stmt>, transfer: Transfer) -> Block {
    Block { label, stmts, transfer, span: Span::NONE, end: Span::NONE }
}

/// A private variable of the programs.
fn variable(number: usize) -> ExprRef {
    bv::var(format!("x{number}").as_str(), Type::Bv(32))
}

fn small(value: usize) -> ExprRef {
    bv::literal(value as u128, 32)
}

fn low_bits(value: ExprRef, bits: usize) -> ExprRef {
    bv::binary(BvOp::And, value, small((1 << bits) - 1))
}

fn mark(name: &str) -> Attribute {
    Attribute { name: Name::from(name), args: Vec::new() }
}

impl Writer<'_> {
    fn chance(&mut self, of_16: usize) -> bool {
        self.source.below(16) < of_16
    }

    /// Whether the next thing may differ between threads without need.
    fn disorder(&mut self) -> bool {
        let disorder = self.disorder;
        self.chance(disorder)
    }

    /// A statement with a name of its own, for reports and traces.
    fn named(&mut self, kind: StmtKind) -> Stmt {
        self.named += 1;
        Stmt { span: Span::new(self.named, self.named), ..stmt(kind) }
    }

    /// The number of a variable: one that is alike in all threads, or one that is not.
    fn number(&mut self, alike: bool) -> usize {
        self.source.below(2) + if alike { 0 } else { 2 }
    }

    fn operand(&mut self, alike: bool) -> ExprRef {
        match self.source.below(4) {
            0 => small(self.source.below(5)),
            1 if !alike => bv::var("tid.x", Type::Bv(32)),
            2 if !alike => match self.locals.iter().filter(|name| name.as_str().starts_with('y')).count() {
                0 => variable(self.number(true)),
                defined => bv::var(format!("y{}", self.source.below(defined)).as_str(), Type::Bv(32)),
            },
            _ => variable(self.number(alike)),
        }
    }

    fn statement(&mut self) -> Stmt {
        match self.source.below(16) {
            0..=3 => self.store(),
            4..=6 => self.load(),
            7..=9 => self.barrier(),
            10 if self.shape.assertions => {
                let (number, value) = (self.source.below(4), self.source.below(8));
                let claim = if self.shape.invariants { Claim::Invariant("".into()) } else { Claim::Formula };
                self.named(StmtKind::Assert(claim, bv::ne(low_bits(variable(number), 3), small(value))))
            }
            11 if self.shape.arbitrary => {
                let number = self.number(false);
                stmt(StmtKind::Havoc(vec![format!("x{number}").into()]))
            }
            _ => self.assignment(),
        }
    }

    /// A variable to define; often one that nothing else defines.
    fn target(&mut self, alike: bool) -> Name {
        if alike || self.source.below(2) == 0 {
            return format!("x{}", self.number(alike)).into();
        }
        self.fresh()
    }

    /// A variable that nothing else defines.
    fn fresh(&mut self) -> Name {
        let name = Name::from(format!("y{}", self.locals.iter().filter(|name| name.as_str().starts_with('y')).count()));
        self.locals.push(name.clone());
        name
    }

    fn assignment(&mut self) -> Stmt {
        let alike = self.source.below(3) == 0;
        let from_alike = alike && !self.disorder();
        let value = bv::add(self.operand(from_alike), self.operand(from_alike));
        let target = self.target(alike);
        stmt(StmtKind::Assign(vec![(target, value)]))
    }

    /// An element: the thread's own, a neighbour's, one for all, or anywhere.
    fn access(&mut self, writes: bool) -> Access {
        let tid = || bv::var("tid.x", Type::Bv(32));
        let index = if self.disorder() {
            let operand = self.operand(false);
            low_bits(operand, 3)
        } else if writes || self.source.below(2) == 0 {
            // Own elements stand 8 apart, so that rounds may go through some.
            let round = variable(self.number(true));
            bv::add(bv::mul(tid(), small(8)), low_bits(round, 2))
        } else {
            let constant = 256 + self.source.below(4);
            match self.source.below(3) {
                0 => small(constant),
                _ => bv::add(
                    bv::mul(low_bits(bv::add(tid(), small(1)), 2), small(8)),
                    low_bits(variable(self.number(true)), 2),
                ),
            }
        };
        // Now and then an access straddles two elements.
        let scale = if self.disorder() && self.source.below(2) == 0 { 2 } else { 4 };
        Access { offset: bv::zext(index, 64), scale, ..self.plain_access() }
    }

    fn store(&mut self) -> Stmt {
        let (access, value) = (self.access(true), self.operand(false));
        self.guarded(access, |access| StmtKind::Store { value, access })
    }

    /// Stores, then loads of what others may have stored, apart unless something goes wrong.
    fn exchange(&mut self, stmts: &mut Vec<Stmt>) {
        for writes in [true, false, true] {
            if !self.disorder() {
                stmts.push(self.barrier());
            }
            stmts.push(if writes { self.store() } else { self.load() });
        }
        stmts.push(self.barrier());
    }

    /// Loads an element of the thread's own and stores another value there: in a loop, a round finds what the one before
    /// stored.
    fn tally(&mut self, stmts: &mut Vec<Stmt>) {
        let own = bv::mul(bv::var("tid.x", Type::Bv(32)), small(8));
        let index = bv::add(own, small(self.source.below(4)));
        let access = Access { guard: None, offset: bv::zext(index, 64), scale: 4, ..self.access(true) };
        let dst = self.fresh();
        let value = bv::add(bv::var(dst.clone(), Type::Bv(32)), small(1));
        stmts.push(self.named(StmtKind::Load { dst, access: access.clone() }));
        stmts.push(self.named(StmtKind::Store { value, access }));
    }

    fn barrier(&mut self) -> Stmt {
        self.named(StmtKind::Barrier(Barrier { guard: None, id: None, count: None, aligned: true, result: None }))
    }

    /// Most barriers get a fact about what one element holds for each thread, which another thread may use behind it.
    fn with_barrier_invariants(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut all = Vec::new();
        for barrier in stmts {
            if !matches!(barrier.kind, StmtKind::Barrier(_)) || !self.chance(10) {
                all.push(barrier);
                continue;
            }
            let tid = || bv::var("tid.x", Type::Bv(32));
            let (place, constant, value) = (self.source.below(4), self.source.below(4), self.source.below(4));
            let element = |thread: ExprRef| match place {
                0 | 1 => bv::add(bv::mul(thread, small(8)), small(constant)),
                2 => bv::add(bv::mul(low_bits(bv::add(thread, small(1)), 2), small(8)), small(constant)),
                _ => small(256 + constant),
            };
            let bits = 2 + self.source.below(2);
            let about_thread = self.source.below(2) == 0;
            let fact = |loaded: ExprRef, thread: ExprRef| {
                let other = if about_thread { low_bits(thread, bits) } else { small(value) };
                bv::ne(low_bits(loaded, bits), other)
            };
            let user = match self.source.below(4) {
                0 => tid(),
                1 => small(self.source.below(3)),
                2 => variable(self.number(false)),
                _ => low_bits(bv::add(tid(), small(1)), 2),
            };
            let stated = self.annotation_load(element(tid()), "barrier_invariant");
            let ghost = self.annotation_load(element(user.clone()), "ghost");
            let loaded = |stmt: &Stmt| match &stmt.kind {
                StmtKind::Load { dst, .. } => bv::var(dst.clone(), Type::Bv(32)),
                other => panic!("no load: {other:?}"),
            };
            let claim = Claim::BarrierInvariant("".into());
            let assertion = self.named(StmtKind::Assert(claim, fact(loaded(&stated), tid())));
            // Every block of the tests has two threads at least.
            let exists = bv::binary(BvOp::Ult, user.clone(), small(2));
            let fact = bv::implies(exists, fact(loaded(&ghost), user));
            let instance = stmt(StmtKind::Assume(Premise::Instance("".into()), fact));
            all.extend([stated, assertion, barrier, ghost, instance]);
        }
        all
    }

    /// A load that an annotation makes, into a variable of its own.
    fn annotation_load(&mut self, index: ExprRef, name: &str) -> Stmt {
        let dst = Name::from(format!("z{}", self.locals.len()));
        self.locals.push(dst.clone());
        let access = Access { offset: bv::zext(index, 64), ..self.plain_access() };
        Stmt { attributes: vec![mark(name)], ..stmt(StmtKind::Load { dst, access }) }
    }

    fn plain_access(&self) -> Access {
        let (array, offset) = (Name::from("A"), bv::literal(0, 64));
        Access { array, guard: None, offset, scale: 4, bytes: 4, strong: None, collective: None }
    }

    fn load(&mut self) -> Stmt {
        let access = self.access(false);
        let alike = self.disorder();
        let dst = self.target(alike);
        self.guarded(access, |access| StmtKind::Load { dst, access })
    }

    fn guarded(&mut self, access: Access, kind: impl FnOnce(Access) -> StmtKind) -> Stmt {
        let guard = self.chance(2).then(|| self.condition(false));
        stmt(kind(Access { guard, ..access }))
    }

    fn condition(&mut self, alike: bool) -> ExprRef {
        let tested = variable(self.number(alike));
        let bits = 1 + self.source.below(2);
        let value = self.source.below(1 << bits);
        bv::eq(low_bits(tested, bits), small(value))
    }

    /// The assumptions of two successors; at least one always holds. `None`: any thread may go there.
    fn branch(&mut self, node: usize, stmts: &mut Vec<Stmt>) -> [Option<ExprRef>; 2] {
        let divergence = self.divergence;
        let alike = !self.chance(divergence);
        let rounds = Name::from(format!("r{node}"));
        let counted = bv::var(rounds.clone(), Type::Bv(32));
        self.locals.push(rounds.clone());
        stmts.push(stmt(StmtKind::Assign(vec![(rounds, bv::add(counted.clone(), small(1)))])));
        // What is tested moves on, so that most loops end.
        let moved = match (self.shape.counted, alike) {
            (false, _) => variable(self.number(alike)),
            (true, true) => small(self.source.below(4)),
            (true, false) => bv::var("tid.x", Type::Bv(32)),
        };
        let tested = bv::add(counted, moved);
        let bits = 1 + self.source.below(2);
        let condition = bv::eq(low_bits(tested.clone(), bits), small(self.source.below(1 << bits)));
        if self.shape.arbitrary && !alike {
            // Not complementary: sometimes both hold.
            let other = bv::binary(BvOp::Ult, low_bits(tested, 2), small(2));
            match self.source.below(4) {
                0 => return [None, None],
                1 => return [None, Some(other)],
                2 => {
                    return [
                        Some(bv::or(condition, other.clone())),
                        Some(bv::or(bv::not(other), self.condition(false))),
                    ];
                }
                _ => {}
            }
        }
        let negation = bv::not(condition.clone());
        if self.source.below(2) == 0 { [Some(condition), Some(negation)] } else { [Some(negation), Some(condition)] }
    }
}
