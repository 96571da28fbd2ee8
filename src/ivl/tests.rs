//! Tests of the pieces that take programs as data, not as text.

use super::ast::*;
use super::{bv, visit};
use crate::span::{Origin, SourcePosition, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

fn variables() -> BTreeMap<Name, Type> {
    [("x", Type::Int), ("y", Type::Int), ("p", Type::Bool), ("%r1", Type::Bv(32))]
        .map(|(name, ty)| (Name::from(name), ty))
        .into()
}

fn expr(text: &str) -> ExprRef {
    super::parse_expr(text, &variables()).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

#[test]
fn expressions_parse_over_given_variables() {
    assert_eq!(expr("BV32_ADD(%r1, 1bv32)").ty, Type::Bv(32));
    for (text, place) in [("x +", 3..3), ("x + p", 4..5), ("z", 0..1), ("x; axiom y", 3..8), ("{:a} p", 0..6)] {
        let errors = super::parse_expr(text, &variables()).err().unwrap_or_default();
        let places: Vec<_> = errors.iter().map(|e| e.labels[0].0.range()).collect();
        assert_eq!(places, [place], "{text}: {errors:?}");
    }
}

#[test]
fn substitution_respects_binders() {
    let e = expr("x < y && (forall z: int :: z < x)");
    assert_eq!(visit::free_vars(&e), ["x", "y"].map(Name::from).into());
    assert!(visit::mentions(&e, &"y".into()) && !visit::mentions(&e, &"z".into()));
    let map = [("x", "y + 1"), ("z", "0")].map(|(name, text)| (Name::from(name), expr(&text.replace('z', "x"))));
    let new = visit::substitute(&e, &map.into());
    assert_eq!(super::print_expr(&new), "y + 1 < y && (forall z: int :: z < y + 1)");
}

#[test]
fn rewriting_shares_what_it_leaves() {
    let e = expr("x < 1 || y < 2");
    let same = visit::map_expr(&e, &mut |_| None);
    assert!(Arc::ptr_eq(&e, &same));
    let new = visit::substitute(&e, &[(Name::from("x"), bv::int(7))].into());
    let (ExprKind::Binary(_, _, old_right), ExprKind::Binary(_, _, new_right)) = (&e.kind, &new.kind) else {
        panic!("{e:?} {new:?}");
    };
    assert!(Arc::ptr_eq(old_right, new_right));
}

fn origin(line: u32, text: &str, position: Option<SourcePosition>) -> Option<Arc<Origin>> {
    Some(Arc::new(Origin { span: Span::NONE, line, position: position.map(Arc::new), text: text.into() }))
}

#[test]
fn comments_show_where_the_instruction_changes() {
    let mut program = super::parse("procedure p() { var a, b: bool; a := b; b := a; havoc a; assume a; }").unwrap();
    let body = program.procedures[0].body.as_mut().unwrap();
    let position = SourcePosition { file: "/home/someone/saxpy.cu".into(), line: 12, column: 3, inlined_at: None };
    let stmts = &mut body.blocks[0].stmts;
    stmts[0].origin = origin(40, "ld.global.f32 \t%f1,\n [%rd4]", Some(position));
    stmts[1].origin = stmts[0].origin.clone();
    stmts[2].origin = origin(41, "bar.sync 0", None);
    let text = super::print(&program);
    let start = text.find("Start:").unwrap();
    assert_eq!(
        &text[start..],
        "Start:\n  // saxpy.cu:12  ld.global.f32 %f1, [%rd4]\n  a := b;\n  b := a;\n  // line 41  bar.sync 0\n  \
         havoc a;\n  assume a;\n  return;\n}\n"
    );
}

#[test]
fn generated_programs_are_checked_as_recorded() {
    let mut program = super::parse("procedure p() { var a: bool; L: a := !a; }").unwrap();
    assert_eq!(super::check(&program), Ok(()));
    let body = program.procedures[0].body.as_mut().unwrap();
    let wrong = bv::node(ExprKind::Unary(UnaryOp::Not, bv::var("a", Type::Bool)), Type::Int);
    body.blocks[0].stmts[0].kind = StmtKind::Assign(vec![("a".into(), wrong)]);
    body.blocks[0].transfer = Transfer::Goto(vec![]);
    let errors = super::check(&program).unwrap_err();
    assert_eq!(errors.len(), 2, "{errors:?}");
    let recorded = errors.iter().find(|e| e.code == "ivl-type").unwrap();
    assert_eq!(recorded.message, "an expression is recorded as int, but is bool");
    assert!(recorded.notes.iter().any(|n| n == "in procedure `p`, block `L`"), "{recorded:?}");
}

#[test]
fn shared_nodes_are_checked_once() {
    // 2^60 nodes as a tree.
    let mut e = bv::var("a", Type::Bool);
    for _ in 0..60 {
        e = bv::node(ExprKind::Binary(BinaryOp::Iff, e.clone(), e), Type::Bool);
    }
    let mut program = super::parse("procedure p() { var a: bool; assume a; }").unwrap();
    program.procedures[0].body.as_mut().unwrap().blocks[0].stmts[0].kind = StmtKind::assume(e);
    assert_eq!(super::check(&program), Ok(()));
}

#[test]
fn declared_builtins_must_be_right() {
    let accepted = [
        "function {:bvbuiltin \"bvadd\"} plus(bv8, bv8) returns (bv8);",
        "function {:bvbuiltin \"bvadd\"} BV8_ADD(bv8, bv8) returns (bv8);",
        "function BV8_TO_SINT(v: bv8): int { if v[8:7] == 1bv1 then -1 - BV8_TO_INT(BV8_NOT(v)) else BV8_TO_INT(v) }",
    ];
    let refused = [
        "function {:bvbuiltin \"bvsub\"} BV8_ADD(bv8, bv8) returns (bv8);",
        "function {:bvbuiltin \"bvadd\"} plus(bv8, bv8) returns (bool);",
        "function BV8_ADD(bv8, bv8) returns (bv8);",
        "function BV8_TO_SINT(v: bv8): int { BV8_TO_INT(v) }",
        "function BV8_ADD(a: bv8, b: bv8) returns (bv8) { a }",
    ];
    for text in accepted {
        assert_eq!(super::parse(text).map(|p| p.functions.len()), Ok(0), "{text}");
    }
    for text in refused {
        assert!(super::parse(text).is_err(), "{text}");
    }
}
