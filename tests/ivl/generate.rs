//! Random well-typed programs, and the round trip through text.

use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::claim::{Claim, Premise};
use gpuvcc::ivl::visit::{self, Visitor};
use gpuvcc::ivl::{self, bv};
use gpuvcc::order::{Fence, Scope};
use gpuvcc::span::Span;
use libtest_mimic::Failed;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;

/// True when Boogie knows every statement of the program.
pub fn is_plain(program: &Program) -> bool {
    struct Kernel(bool);
    impl Visitor for Kernel {
        fn stmt(&mut self, stmt: &Stmt) {
            use StmtKind::*;
            let trailing = matches!(stmt.kind, Assign(_) | Havoc(_)) && !stmt.attributes.is_empty();
            self.0 |= trailing
                || matches!(
                    stmt.kind,
                    Load { .. } | Store { .. } | Atomic { .. } | Barrier(_) | WarpBarrier(_) | Fence(_)
                );
        }
    }
    let mut kernel = Kernel(!program.arrays.is_empty());
    visit::walk_program(&mut kernel, program);
    !kernel.0
}

fn is_plain_statement(stmt: &Stmt) -> bool {
    use StmtKind::*;
    match stmt.kind {
        // Boogie has no attributes there.
        Assign(_) | Havoc(_) => stmt.attributes.is_empty(),
        Load { .. } | Store { .. } | Atomic { .. } | Barrier(_) | WarpBarrier(_) | Fence(_) | Trap => false,
        Assume(..) | Assert(..) | Call { .. } | Log { .. } | Check(_) | Order { .. } => true,
    }
}

/// Random procedures without what Boogie does not know, over the declarations of the first of them.
pub fn plain_program(count: usize) -> Program {
    let mut runner = TestRunner::deterministic();
    let generated = std::iter::repeat_with(|| program().new_tree(&mut runner));
    let mut programs: Vec<Program> = generated.flatten().map(|tree| tree.current()).take(count).collect();
    for program in &mut programs {
        program.arrays.clear();
        for body in program.procedures.iter_mut().flat_map(|p| &mut p.body) {
            body.blocks.iter_mut().for_each(|block| block.stmts.retain(is_plain_statement));
        }
    }
    let mut whole = programs.pop().unwrap_or_default();
    for (index, program) in programs.into_iter().enumerate() {
        let mains = program.procedures.into_iter().filter(|p| p.name.as_str() == "main");
        whole.procedures.extend(mains.map(|main| Procedure { name: format!("main{index}").into(), ..main }));
    }
    whole
}

/// Printing and parsing gives the program back, and printing is stable.
pub fn same_after_printing(program: &Program) -> Result<(), String> {
    ivl::check(program).map_err(|errors| format!("does not check: {errors:?}\n{}", ivl::print(program)))?;
    let text = ivl::print(program);
    let mut again = ivl::parse(&text).map_err(|errors| format!("printed text does not parse: {errors:?}\n{text}"))?;
    let mut program = program.clone();
    visit::erase_places(&mut program);
    visit::erase_places(&mut again);
    if program != again {
        let (before, after) = (format!("{program:#?}"), format!("{again:#?}"));
        let differences = before.lines().zip(after.lines()).filter(|(a, b)| a != b).take(5);
        let differences: Vec<String> = differences.map(|(a, b)| format!("{a} became {b}")).collect();
        return Err(format!("another program after printing:\n{text}\n{}", differences.join("\n")));
    }
    if ivl::print(&again) != text {
        return Err(format!("prints another text:\n{text}\n{}", ivl::print(&again)));
    }
    Ok(())
}

/// A program that a failing property shows as text.
struct Shown(Program);

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&ivl::print(&self.0))
    }
}

/// The property, over random programs.
pub fn round_trip() -> Result<(), Failed> {
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&program().prop_map(Shown), |Shown(program)| {
        same_after_printing(&program).map_err(TestCaseError::fail)?;
        Ok(())
    });
    outcome.map_err(|error| error.to_string().into())
}

/// Types of the variables in scope everywhere; each type has one global, one local, one constant.
const TYPES: usize = 8;

fn ty(index: usize) -> Type {
    match index {
        0 => Type::Bool,
        1 => Type::Int,
        2 => Type::Bv(8),
        3 => Type::Bv(32),
        4 => Type::Bv(64),
        6 => element(),
        7 => Type::Named("Pair".into(), vec![Type::Map(vec![Type::Int], Box::new(element())), element()]),
        _ => Type::Map(vec![Type::Bv(32), Type::Int], Box::new(Type::Bool)),
    }
}

fn element() -> Type {
    Type::Named("Element".into(), vec![])
}

fn variable_of(ty: &Type) -> impl Strategy<Value = ExprRef> + use<> {
    let index = (0..TYPES).find(|i| self::ty(*i) == *ty).unwrap_or(0);
    let ty = ty.clone();
    (0..3usize).prop_map(move |scope| bv::var(format!("{}{index}", ["g", "l", "c"][scope]), ty.clone()))
}

fn leaf(ty: Type) -> BoxedStrategy<ExprRef> {
    let literal = match ty {
        Type::Bool => any::<bool>().prop_map(bv::boolean).boxed(),
        Type::Int => any::<i64>().prop_map(|v| bv::int(v.into())).boxed(),
        Type::Bv(width) => any::<u128>().prop_map(move |v| bv::literal(v, width)).boxed(),
        Type::Map(..) | Type::Named(..) => variable_of(&ty).boxed(),
    };
    prop_oneof![variable_of(&ty), literal].boxed()
}

fn node(kind: ExprKind, ty: Type) -> ExprRef {
    Arc::new(Expr { kind, ty, span: Span::NONE })
}

/// Expressions of a type; nodes are made bare, so that no builder folds them away.
fn expr(ty: Type, depth: u32) -> BoxedStrategy<ExprRef> {
    if depth == 0 {
        return leaf(ty);
    }
    let same = expr(ty.clone(), depth - 1);
    let of = |ty: Type| expr(ty, depth - 1);
    let result = ty.clone();
    let ite = (of(Type::Bool), same.clone(), same.clone())
        .prop_map(move |(c, a, b)| node(ExprKind::Ite(c, a, b), result.clone()));
    let result = ty.clone();
    let old = same.clone().prop_map(move |a| node(ExprKind::Old(a), result.clone()));
    let particular = match ty.clone() {
        Type::Bool => booleans(depth),
        Type::Int => integers(depth),
        Type::Bv(width) => bit_vectors(width, depth),
        Type::Named(..) => variable_of(&ty).boxed(),
        Type::Map(..) => {
            let map = ty.clone();
            (same, of(Type::Bv(32)), of(Type::Int), of(Type::Bool))
                .prop_map(move |(m, i, j, v)| node(ExprKind::Store(m, vec![i, j], v), map.clone()))
                .boxed()
        }
    };
    prop_oneof![2 => leaf(ty), 1 => ite, 1 => old, 6 => particular].boxed()
}

fn binary(ops: &'static [BinaryOp], operand: Type, result: Type, depth: u32) -> BoxedStrategy<ExprRef> {
    (prop::sample::select(ops), expr(operand.clone(), depth - 1), expr(operand, depth - 1))
        .prop_map(move |(op, a, b)| node(ExprKind::Binary(op, a, b), result.clone()))
        .boxed()
}

fn booleans(depth: u32) -> BoxedStrategy<ExprRef> {
    use BinaryOp::*;
    let not = expr(Type::Bool, depth - 1).prop_map(|a| node(ExprKind::Unary(UnaryOp::Not, a), Type::Bool));
    let compare = prop::sample::select(&[bv::BvOp::Ult, bv::BvOp::Sge][..]);
    let compare = (compare, expr(Type::Bv(32), depth - 1), expr(Type::Bv(32), depth - 1))
        .prop_map(|(op, a, b)| node(ExprKind::Call(op.function(32), vec![a, b]), Type::Bool));
    let map = (expr(ty(5), depth - 1), expr(Type::Bv(32), depth - 1), expr(Type::Int, depth - 1))
        .prop_map(|(m, i, j)| node(ExprKind::Select(m, vec![i, j]), Type::Bool));
    let quantifier = (any::<bool>(), expr(Type::Bool, depth - 1), expr(Type::Int, depth - 1), any::<bool>()).prop_map(
        move |(universal, body, term, trigger)| {
            // One name a depth, so that nested binders do not hide one another.
            let bound = (Name::from(format!("x{depth}")), Type::Int);
            let equal = node(ExprKind::Binary(Eq, bv::var(bound.0.clone(), Type::Int), term.clone()), Type::Bool);
            let body = node(ExprKind::Binary(Implies, equal, body), Type::Bool);
            let twice = |e| bv::call("twice", vec![e], Type::Int);
            let x = || bv::var(bound.0.clone(), Type::Int);
            let triggers = if trigger { vec![vec![twice(x()), twice(twice(x()))], vec![twice(x())]] } else { vec![] };
            let guide = |name: &str, e| Attribute { name: name.into(), args: vec![AttributeArg::Expr(e)] };
            let attributes =
                if trigger { vec![] } else { vec![guide("nopats", twice(x())), guide("weight", bv::int(3))] };
            node(ExprKind::Quantifier { universal, variables: vec![bound], triggers, attributes, body }, Type::Bool)
        },
    );
    prop_oneof![
        3 => binary(&[And, Or, Implies, Iff, Eq, Ne], Type::Bool, Type::Bool, depth),
        1 => binary(&[Eq, Ne, Lt, Le, Gt, Ge], Type::Int, Type::Bool, depth),
        1 => binary(&[Eq, Ne], Type::Bv(8), Type::Bool, depth),
        1 => binary(&[Eq, Ne], ty(7), Type::Bool, depth),
        1 => not, 1 => compare, 1 => map, 1 => quantifier,
    ]
    .boxed()
}

fn integers(depth: u32) -> BoxedStrategy<ExprRef> {
    use BinaryOp::*;
    let neg = expr(Type::Int, depth - 1).prop_map(|a| node(ExprKind::Unary(UnaryOp::Neg, a), Type::Int));
    let values = expr(Type::Bv(8), depth - 1).prop_map(bv::to_int);
    let signed = expr(Type::Bv(32), depth - 1).prop_map(bv::to_sint);
    let user = expr(Type::Int, depth - 1).prop_map(|a| bv::call("twice", vec![a], Type::Int));
    prop_oneof![4 => binary(&[Add, Sub, Mul, Div, Mod], Type::Int, Type::Int, depth), 1 => neg, 1 => values, 1 => signed, 1 => user]
        .boxed()
}

fn bit_vectors(width: u32, depth: u32) -> BoxedStrategy<ExprRef> {
    let of = |width: u32| expr(Type::Bv(width), depth - 1);
    let ops = prop::sample::select(&[bv::BvOp::Add, bv::BvOp::Xor, bv::BvOp::Lshr][..]);
    let op = (ops, of(width), of(width))
        .prop_map(move |(op, a, b)| node(ExprKind::Call(op.function(width), vec![a, b]), Type::Bv(width)));
    let from = expr(Type::Int, depth - 1).prop_map(move |e| bv::from_int(e, width));
    let reshaped = match width {
        8 => of(32).prop_map(|e| node(ExprKind::Extract { value: e, high: 16, low: 8 }, Type::Bv(8))).boxed(),
        32 => {
            (of(8), of(8), of(8), of(8)).prop_map(|(a, b, c, d)| bv::concat(bv::concat(a, b), bv::concat(c, d))).boxed()
        }
        _ => (of(32), any::<bool>())
            .prop_map(|(e, signed)| if signed { bv::sext(e, 64) } else { bv::zext(e, 64) })
            .boxed(),
    };
    prop_oneof![3 => op, 1 => from, 1 => reshaped].boxed()
}

fn attributes() -> BoxedStrategy<Vec<Attribute>> {
    let text = "[ -~\n]{0,8}".prop_map(AttributeArg::Text);
    let arg = prop_oneof![text, leaf(Type::Int).prop_map(AttributeArg::Expr)];
    let name = prop::sample::select(&["invariant", "race", "a.b"][..]);
    let attribute = (name, prop::collection::vec(arg, 0..3)).prop_map(|(n, args)| Attribute { name: n.into(), args });
    prop::collection::vec(attribute, 0..2).boxed()
}

fn access(bytes: u32) -> BoxedStrategy<Access> {
    let guard = prop::option::of(expr(Type::Bool, 1));
    let strong = prop::option::of(prop::sample::select(&[Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys][..]));
    let scale = prop::sample::select(&[1u32, 4][..]);
    (
        prop::sample::select(&["A", "B"][..]),
        expr(Type::Bv(64), 2),
        guard,
        strong,
        scale,
        prop::option::of(expr(Type::Bool, 1)),
    )
        .prop_map(move |(array, offset, guard, strong, scale, collective)| Access {
            array: array.into(),
            guard,
            offset,
            scale,
            bytes,
            strong,
            collective,
        })
        .boxed()
}

fn stmt() -> BoxedStrategy<Stmt> {
    let name = |prefix: &str, index: usize| Name::from(format!("{prefix}{index}"));
    let assign = (0..TYPES, 0..TYPES).prop_flat_map(move |(i, j)| {
        (expr(ty(i), 3), expr(ty(j), 2)).prop_map(move |(a, b)| {
            let pairs = vec![(name("l", i), a), (name("g", j), b)];
            StmtKind::Assign(pairs)
        })
    });
    let width = prop::sample::select(&[(2usize, 1u32), (3, 4), (4, 8)][..]);
    let memory = width.prop_flat_map(move |(index, bytes)| {
        let load = access(bytes).prop_map(move |access| StmtKind::Load { dst: name("l", index), access });
        let store = (expr(ty(index), 2), access(bytes)).prop_map(|(value, access)| StmtKind::Store { value, access });
        let atomic = (any::<bool>(), access(bytes))
            .prop_map(move |(result, access)| StmtKind::Atomic { dst: result.then(|| name("l", index)), access });
        prop_oneof![load, store, atomic]
    });
    let word = || prop::option::of(expr(Type::Bv(32), 1));
    let barrier = (prop::option::of(expr(Type::Bool, 1)), word(), word(), any::<bool>(), any::<bool>()).prop_map(
        move |(guard, id, count, aligned, result)| {
            let result = result.then(|| name("l", 0));
            StmtKind::Barrier(Barrier { guard, id, count, aligned, result })
        },
    );
    let warp = (prop::option::of(expr(Type::Bool, 1)), expr(Type::Bv(32), 1), expr(Type::Bv(32), 1))
        .prop_map(|(guard, mask, thread)| StmtKind::WarpBarrier(WarpBarrier { guard, mask, thread }));
    let call = (expr(Type::Int, 2), expr(Type::Bv(32), 2)).prop_map(move |(a, b)| StmtKind::Call {
        procedure: "helper".into(),
        args: vec![a, b],
        results: vec![name("l", 0)],
    });
    let kind = prop_oneof![
        4 => assign,
        3 => memory,
        1 => barrier,
        1 => warp,
        1 => call,
        1 => expr(Type::Bool, 4).prop_map(StmtKind::assert),
        1 => expr(Type::Bool, 4).prop_map(StmtKind::assume),
        1 => (0..TYPES).prop_map(move |i| StmtKind::Havoc(vec![name("g", i), name("l", i)])),
        1 => prop::sample::select(&["membar.gl", "fence.acquire.gpu", "fence.proxy.async", "bar.warp.sync"][..])
            .prop_map(|name| StmtKind::Fence(Fence::named(name).expect("a fence"))),
    ];
    (kind, attributes(), any::<bool>())
        .prop_map(|(kind, mut attributes, free)| {
            let kind = match kind {
                StmtKind::Assert(_, e) => StmtKind::Assert(Claim::take(&mut attributes), e),
                StmtKind::Assume(_, e) => StmtKind::Assume(Premise::take(&mut attributes), e),
                kind => kind,
            };
            if free && matches!(kind, StmtKind::Call { .. }) {
                attributes.insert(0, Attribute { name: "free".into(), args: vec![] });
            }
            Stmt { kind, attributes, span: Span::NONE, origin: None }
        })
        .boxed()
}

fn variables(prefix: &str) -> Vec<Variable> {
    (0..TYPES).map(|i| Variable::new(format!("{prefix}{i}").into(), ty(i))).collect()
}

/// A variable with a clause that mentions it and a global one.
fn restricted(name: &str) -> Variable {
    let positive = bv::op(BinaryOp::Lt, bv::var("g1", Type::Int), bv::var(name, Type::Int));
    let bound = bv::op(BinaryOp::Eq, bv::var("e", element()), bv::var("g6", element()));
    let unique = ExprKind::Quantifier {
        universal: false,
        variables: vec![("e".into(), element()), ("f".into(), ty(7))],
        triggers: vec![],
        attributes: vec![],
        body: bound,
    };
    let clause = node(ExprKind::Binary(BinaryOp::And, positive, node(unique, Type::Bool)), Type::Bool);
    Variable { where_clause: Some(clause), ..Variable::new(name.into(), Type::Int) }
}

fn declared_types(attributes: &[Attribute]) -> Vec<TypeDeclaration> {
    let declared = |name: &str, arity| TypeDeclaration {
        name: name.into(),
        arity,
        attributes: attributes.iter().filter(|a| a.args.is_empty()).cloned().collect(),
        span: Span::NONE,
    };
    vec![declared("Element", 0), declared("Pair", 2)]
}

/// A body that stands apart, with names of its own.
fn implementation(attributes: Vec<Attribute>) -> SeparateImplementation {
    let value = bv::op(BinaryOp::Lt, bv::var("own", Type::Int), bv::var("local", Type::Int));
    let kind = StmtKind::Assign(vec![("out".into(), value)]);
    let stmts = vec![Stmt { kind, attributes: vec![], span: Span::NONE, origin: None }];
    let block = Block { label: "only".into(), stmts, transfer: Transfer::Return, span: Span::NONE, end: Span::NONE };
    SeparateImplementation {
        procedure: "helper".into(),
        params: vec![Variable::new("own".into(), Type::Int), Variable::new("second".into(), Type::Bv(32))],
        results: vec![Variable::new("out".into(), Type::Bool)],
        body: Implementation { locals: vec![restricted("local")], blocks: vec![block] },
        attributes: attributes.into_iter().filter(|a| a.args.is_empty()).collect(),
        span: Span::NONE,
    }
}

fn program() -> impl Strategy<Value = Program> {
    let block = (prop::collection::vec(stmt(), 0..4), prop::collection::vec(0..3usize, 0..3));
    let blocks = prop::collection::vec(block, 3);
    (blocks, expr(Type::Bool, 3), any::<bool>(), attributes()).prop_map(|(blocks, ensures, free, attributes)| {
        let label = |index: usize| Name::from(["while", "L'1", "$exit"][index]);
        let blocks = (blocks.into_iter().enumerate())
            .map(|(index, (stmts, targets))| Block {
                label: label(index),
                stmts,
                transfer: match targets.is_empty() {
                    true => Transfer::Return,
                    false => Transfer::Goto(targets.into_iter().map(label).collect()),
                },
                span: Span::NONE,
                end: Span::NONE,
            })
            .collect();
        let variable = |name: &str, ty| Variable::new(name.into(), ty);
        let helper = Procedure {
            name: "helper".into(),
            params: vec![restricted("a"), variable("b", Type::Bv(32))],
            results: vec![variable("result", Type::Bool)],
            modifies: vec![],
            requires: vec![],
            ensures: vec![],
            body: None,
            attributes: vec![],
            span: Span::NONE,
        };
        let mut globals = variables("g");
        globals.push(restricted("h"));
        let types = declared_types(&attributes);
        let implementations = vec![implementation(attributes.clone()), implementation(vec![])];
        let condition = Condition { free, expr: ensures, attributes, span: Span::NONE };
        let main = Procedure {
            name: "main".into(),
            params: vec![],
            results: vec![],
            modifies: globals.iter().map(|v| v.name.clone()).collect(),
            ensures: vec![without_locals(condition)],
            body: Some(Implementation { locals: [variables("l"), vec![restricted("m")]].concat(), blocks }),
            ..helper.clone()
        };
        let twice = Function {
            name: "twice".into(),
            params: vec![(Name::new("n"), Type::Int)],
            result: Type::Int,
            body: Some(bv::op(BinaryOp::Mul, bv::int(2), bv::var("n", Type::Int))),
            attributes: vec![],
            span: Span::NONE,
        };
        let array = |name: &str, space, element_bytes, size| Array {
            name: name.into(),
            space,
            element_bytes,
            size,
            span: Span::NONE,
        };
        Program {
            types,
            implementations,
            constants: variables("c").into_iter().map(|variable| Constant { variable, unique: free }).collect(),
            functions: vec![twice],
            axioms: vec![],
            globals,
            arrays: vec![
                array("A", ArraySpace::Shared, 1, Some(64)),
                array("B", ArraySpace::Global, 4, if free { None } else { Some(10) }),
            ],
            procedures: vec![helper, main],
        }
    })
}

/// A postcondition cannot see local variables: globals of the same types stand for them.
fn without_locals(condition: Condition) -> Condition {
    let map = (0..TYPES).map(|i| (Name::from(format!("l{i}")), bv::var(format!("g{i}"), ty(i)))).collect();
    let mut replace = |e: &ExprRef| visit::substitute(e, &map);
    let attributes = condition.attributes.iter().map(|a| visit::map_attribute(a, &mut replace)).collect();
    Condition { expr: visit::substitute(&condition.expr, &map), attributes, ..condition }
}
