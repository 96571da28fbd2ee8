//! Random reducible graphs and random kernels over them.

use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv::{self, BvOp};
use gpuvcc::predicate::flow::{FlowGraph, LoopForest};
use gpuvcc::span::Span;

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
pub fn reducible_graph(source: &mut Source, start_may_be_header: bool) -> FlowGraph {
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
        let graph = FlowGraph::new(successors);
        if graph.reachable().iter().all(|&seen| seen) && LoopForest::of(&graph, &graph.dominators()).is_ok() {
            return graph;
        }
    }
}

const VARIABLES: usize = 4;

fn variable(source: &mut Source) -> ExprRef {
    bv::var(format!("x{}", source.below(VARIABLES)).as_str(), Type::Bv(32))
}

fn operand(source: &mut Source) -> ExprRef {
    match source.below(4) {
        0 => bv::literal(source.below(5) as u128, 32),
        1 => bv::var("tid.x", Type::Bv(32)),
        _ => variable(source),
    }
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}

fn access(offset: ExprRef) -> Access {
    Access { array: Name::from("A"), guard: None, offset: bv::zext(offset, 64), scale: 4, bytes: 4, strong: None }
}

fn statement(source: &mut Source) -> Stmt {
    let target = Name::from(format!("x{}", source.below(VARIABLES)));
    match source.below(6) {
        0 | 1 => stmt(StmtKind::Store { value: operand(source), access: access(operand(source)) }),
        2 => stmt(StmtKind::Load { dst: target, access: access(operand(source)) }),
        _ => stmt(StmtKind::Assign(vec![(target, bv::add(operand(source), operand(source)))])),
    }
}

/// A kernel over a random graph: straight-line code, stores to be observed, branches on variables.
pub fn kernel(source: &mut Source) -> Program {
    let graph = reducible_graph(source, true);
    let block = |label: String, stmts, transfer| Block { label: Name::from(label), stmts, transfer, span: Span::NONE };
    let label = |node: usize| Name::from(format!("B{node}"));
    let mut blocks = Vec::new();
    for node in 0..graph.len() {
        let mut stmts: Vec<Stmt> = (0..source.below(4)).map(|_| statement(source)).collect();
        let transfer = match graph.successors[node][..] {
            [] => Transfer::Return,
            [target] => Transfer::Goto(vec![label(target)]),
            _ => Transfer::Goto(vec![format!("B{node}.yes").into(), format!("B{node}.no").into()]),
        };
        let at = blocks.len();
        if let [yes, no] = graph.successors[node][..] {
            // Mostly a value just loaded, which differs each time: most kernels then terminate.
            let tested = variable(source);
            if let (ExprKind::Var(dst), true) = (&tested.kind, source.below(4) > 0) {
                stmts.push(stmt(StmtKind::Load { dst: dst.clone(), access: access(operand(source)) }));
            }
            let bit = bv::binary(BvOp::And, tested, bv::literal(1 << source.below(2), 32));
            let condition = bv::eq(bit, bv::literal(0, 32));
            let negation = bv::not(condition.clone());
            for (suffix, condition, target) in [("yes", condition, yes), ("no", negation, no)] {
                let assume = stmt(StmtKind::Assume(condition));
                blocks.push(block(format!("B{node}.{suffix}"), vec![assume], Transfer::Goto(vec![label(target)])));
            }
        }
        blocks.insert(at, block(format!("B{node}"), stmts, transfer));
    }
    program(blocks)
}

/// A kernel program with the given blocks, variables `x0` to `x3`, the constant `tid.x` and an array `A`.
pub fn program(blocks: Vec<Block>) -> Program {
    let private = |name: String, ty| Variable { name: name.into(), ty, attributes: Vec::new(), span: Span::NONE };
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
