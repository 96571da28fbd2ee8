//! Kernel programs of the IVL enter the pipeline behind `kernel`.
//!
//! Input: an IVL program and the name of one of its kernels. Output: a [`Kernel`] with the launch
//! stated as preconditions. Reference: DESIGN section 2 (a kernel program is an input in its own right).

use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Condition, Constant, ExprRef, Name, Program, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::kernel::{Kernel, LowerOptions};
use crate::span::{Origin, Span};
use std::sync::Arc;

/// The kernel of that name as the only procedure, with the launch constants it may use.
///
/// # Errors
/// No kernel of that name.
pub fn enter(text: &str, program: &Program, entry: &str, options: &LowerOptions) -> Result<Kernel, Vec<Diagnostic>> {
    let mut program = program.clone();
    program.procedures.retain(|p| p.name.as_str() == entry);
    if program.procedures.is_empty() {
        let message = format!("no kernel is named `{entry}`");
        return Err(vec![Diagnostic::error("no-such-entry", message, Span::NONE)]);
    }
    let mut requires = Vec::new();
    for (id, size, sizes) in [("tid", "ntid", options.block), ("ctaid", "nctaid", options.grid)] {
        for (axis, fixed) in ["x", "y", "z"].into_iter().zip(sizes) {
            constrain(&mut program, &format!("{id}.{axis}"), &format!("{size}.{axis}"), fixed, &mut requires);
        }
    }
    if let Some(procedure) = program.procedures.first_mut() {
        procedure.requires.splice(0..0, requires);
    }
    let blocks = program.procedures.iter_mut().flat_map(|p| &mut p.body).flat_map(|b| &mut b.blocks);
    for stmt in blocks.flat_map(|b| &mut b.stmts).filter(|s| s.origin.is_none() && s.span != Span::NONE) {
        stmt.origin = Some(Arc::new(origin(text, stmt.span)));
    }
    let array_names = program.arrays.iter().map(|a| (a.name.clone(), a.name.to_string())).collect();
    Ok(Kernel {
        program,
        assumptions: Vec::new(),
        array_names,
        params: Vec::new(),
        block: options.block,
        grid: options.grid,
    })
}

/// The statement as it stands in the text.
fn origin(text: &str, span: Span) -> Origin {
    let line = text.as_bytes().iter().take(span.start as usize).filter(|b| **b == b'\n').count() as u32 + 1;
    let words: Vec<&str> = text.get(span.range()).unwrap_or_default().split_whitespace().collect();
    Origin { span, line, position: None, text: Arc::from(words.join(" ")) }
}

/// `id < size`, `1 <= size`, and the size where it is fixed.
fn constrain(program: &mut Program, id: &str, size: &str, fixed: Option<u32>, requires: &mut Vec<Condition>) {
    let id = declared(program, id);
    let bound = match fixed {
        Some(value) => bv::literal(u128::from(value), 32),
        None => declared(program, size),
    };
    if let (Some(value), true) = (fixed, is_declared(program, size)) {
        requires.push(condition(bv::eq(declared(program, size), bv::literal(u128::from(value), 32))));
    }
    if fixed.is_none() {
        requires.push(condition(bv::binary(BvOp::Ule, bv::literal(1, 32), bound.clone())));
    }
    requires.push(condition(bv::binary(BvOp::Ult, id, bound)));
}

fn is_declared(program: &Program, name: &str) -> bool {
    program.constants.iter().any(|c| c.variable.name.as_str() == name)
}

/// The constant of that name, declared if it is not.
fn declared(program: &mut Program, name: &str) -> ExprRef {
    if !is_declared(program, name) {
        let kind = match name.split('.').next() {
            Some("tid") => "thread",
            Some("ctaid") => "block",
            _ => "launch",
        };
        let attributes = vec![crate::ivl::ast::Attribute { name: Name::from(kind), args: Vec::new() }];
        let variable = Variable { name: Name::from(name), ty: Type::Bv(32), attributes, span: Span::NONE };
        program.constants.push(Constant { variable, unique: false });
    }
    bv::var(name, Type::Bv(32))
}

fn condition(expr: ExprRef) -> Condition {
    Condition { free: false, expr, attributes: Vec::new(), span: Span::NONE }
}
