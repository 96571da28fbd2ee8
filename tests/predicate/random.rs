//! Random reducible graphs and random kernels over them.

use gpuvcc::flow::{Graph, LoopForest};
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv::{self, BvOp};
use gpuvcc::span::Span;
use std::collections::BTreeMap;

/// A small generator of numbers; the seed comes from proptest.
pub struct Source(u64);

impl Source {
    pub fn new(seed: u64) -> Source {
        Source(seed | 1)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % bound as u64) as usize
    }
}

/// A graph whose nodes are all reachable from node 0 and whose cycles are natural loops. Drawn as a
/// whole and thrown away when it is not reducible, so that no shape is left out.
pub fn reducible_graph(source: &mut Source, start_may_be_header: bool) -> Graph {
    loop {
        let nodes = 2 + source.below(8);
        let mut successors = Vec::new();
        for _ in 0..nodes {
            let low = usize::from(!start_may_be_header);
            let mut targets: Vec<usize> =
                (0..[0, 1, 1, 2, 2, 2, 2][source.below(7)]).map(|_| low + source.below(nodes - low)).collect();
            targets.sort_unstable();
            targets.dedup();
            successors.push(targets);
        }
        let graph = Graph::new(successors);
        if graph.reachable().iter().all(|&seen| seen) && LoopForest::of(&graph, &graph.dominators()).is_ok() {
            return graph;
        }
    }
}

const VARIABLES: usize = 4;

fn variable(source: &mut Source) -> ExprRef {
    bv::var(format!("x{}", source.below(VARIABLES)).as_str(), Type::Bv(32))
}

pub fn operand(source: &mut Source) -> ExprRef {
    match source.below(4) {
        0 => bv::literal(source.below(5) as u128, 32),
        1 => bv::var("tid.x", Type::Bv(32)),
        _ => variable(source),
    }
}

/// A statement without a place.
pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}

pub fn access(offset: ExprRef) -> Access {
    Access {
        array: Name::from("A"),
        guard: None,
        offset: bv::zext(offset, 64),
        scale: 4,
        bytes: 4,
        strong: None,
        collective: None,
    }
}

pub fn statement(source: &mut Source) -> Stmt {
    let target = Name::from(format!("x{}", source.below(VARIABLES)));
    match source.below(6) {
        0 | 1 => stmt(StmtKind::Store { value: operand(source), access: access(operand(source)) }),
        2 => stmt(StmtKind::Load { dst: target, access: access(operand(source)) }),
        _ => stmt(StmtKind::Assign(vec![(target, bv::add(operand(source), operand(source)))])),
    }
}

/// A kernel over a random graph: straight-line code, stores to be observed, branches on variables.
/// Conditions stand as `assume`s in blocks on the edges, or, where all predecessors of two blocks
/// choose between just these two, in the blocks themselves.
pub fn kernel(source: &mut Source, with_barriers: bool) -> Program {
    let graph = reducible_graph(source, true);
    let label = |node: usize| Name::from(format!("B{node}"));
    let mut barriers = 0;
    let mut tests = BTreeMap::new();
    let mut leading: BTreeMap<usize, Stmt> = BTreeMap::new();
    let mut blocks: Vec<Block> = Vec::new();
    for node in 0..graph.len() {
        let mut stmts: Vec<Stmt> = Vec::new();
        for _ in 0..source.below(4) {
            stmts.push(statement(source));
            if with_barriers && source.below(4) == 0 {
                barriers += 1;
                stmts.push(barrier(barriers));
            }
        }
        let mut edges = Vec::new();
        let targets = match graph.successors[node][..] {
            [] => Vec::new(),
            [target] => vec![label(target)],
            [yes, no] => {
                let in_targets = yes > 0
                    && graph.predecessors[yes] == graph.predecessors[no]
                    && graph.predecessors[yes].iter().all(|&from| graph.successors[from] == [yes, no]);
                let (tested, condition) = match tests.get(&(yes, no)) {
                    Some(known) if in_targets => Clone::clone(known),
                    _ => condition(source),
                };
                tests.insert((yes, no), (tested.clone(), condition.clone()));
                // Mostly a value just loaded, which differs each time: most kernels then terminate.
                if let (ExprKind::Var(dst), true) = (&tested.kind, source.below(4) > 0) {
                    stmts.push(stmt(StmtKind::Load { dst: dst.clone(), access: access(operand(source)) }));
                }
                let mut targets = Vec::new();
                for (suffix, condition, target) in [("yes", condition.clone(), yes), ("no", bv::not(condition), no)] {
                    let assume = stmt(StmtKind::assume(condition));
                    if in_targets {
                        leading.insert(target, assume);
                        targets.push(label(target));
                    } else {
                        let edge = Name::from(format!("B{node}.{suffix}"));
                        targets.push(edge.clone());
                        edges.push(block(edge, vec![assume], vec![label(target)]));
                    }
                }
                targets
            }
            _ => unreachable!("at most two successors are drawn"),
        };
        blocks.push(block(label(node), stmts, targets));
        blocks.extend(edges);
    }
    for (node, assume) in leading {
        let name = label(node);
        blocks.iter_mut().filter(|block| block.label == name).for_each(|block| block.stmts.insert(0, assume.clone()));
    }
    program(blocks)
}

/// A barrier; its span is its name.
pub fn barrier(number: usize) -> Stmt {
    let kind = StmtKind::Barrier(Barrier { guard: None, id: None, count: None, aligned: true, result: None });
    Stmt { span: Span::new(number, number), ..stmt(kind) }
}

/// A variable and a condition on it.
fn condition(source: &mut Source) -> (ExprRef, ExprRef) {
    let tested = variable(source);
    let bit = bv::binary(BvOp::And, tested.clone(), bv::literal(1 << source.below(2), 32));
    (tested, bv::eq(bit, bv::literal(0, 32)))
}

pub fn block(label: Name, stmts: Vec<Stmt>, targets: Vec<Name>) -> Block {
    let transfer = if targets.is_empty() { Transfer::Return } else { Transfer::Goto(targets) };
    Block { label, stmts, transfer, span: Span::NONE, end: Span::NONE }
}

/// A kernel program with the given blocks, variables `x0` to `x3`, the constant `tid.x` and an array `A`.
pub fn program(blocks: Vec<Block>) -> Program {
    let private = |name: String, ty| Variable::new(name.into(), ty);
    let attribute = |name: &str| Attribute { name: name.into(), args: Vec::new() };
    let mut thread = private("tid.x".into(), Type::Bv(32));
    thread.attributes.push(attribute("thread"));
    let locals = (0..VARIABLES).map(|number| private(format!("x{number}"), Type::Bv(32))).collect();
    let procedure = Procedure {
        name: "k".into(),
        params: Vec::new(),
        results: Vec::new(),
        modifies: Vec::new(),
        requires: Vec::new(),
        ensures: Vec::new(),
        body: Some(Implementation { locals, blocks }),
        attributes: vec![attribute("kernel")],
        span: Span::NONE,
    };
    let array = Array { name: "A".into(), space: ArraySpace::Global, element_bytes: 4, size: None, span: Span::NONE };
    Program {
        constants: vec![Constant { variable: thread, unique: false }],
        arrays: vec![array],
        procedures: vec![procedure],
        ..Program::default()
    }
}
