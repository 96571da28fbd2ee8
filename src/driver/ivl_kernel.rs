//! Kernel programs of the IVL enter the pipeline behind `kernel`.
//!
//! Input: an IVL program and the name of one of its kernels. Output: a [`Kernel`] with the launch
//! and fixed parameters stated as preconditions. Establishes: no name is one that invariant inference
//! gives to its own variables; marks about two threads have the arguments that `twothread` reads, and none states what
//! threads agree on. Reference: DESIGN section 2 (a kernel program is an input in its own right).

use crate::diagnostic::Diagnostic;
use crate::geometry::{Axis, BLOCK_THREADS, Geometry};
use crate::ivl::ast::{AttributeArg, Condition, Constant, ExprRef, Name, Procedure, Program, Type, Variable};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::print_type;
use crate::kernel::{AGREE, ENTRIES, Kernel, LANES, LowerOptions, MATES};
use crate::span::{Origin, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kernel of that name as the only procedure, with the launch constants it may use.
///
/// # Errors
/// No kernel of that name; names that are taken; `--param` values that fit no parameter.
pub(crate) fn enter(
    text: &str,
    program: &Program,
    entry: &str,
    options: &LowerOptions,
) -> Result<Kernel, Vec<Diagnostic>> {
    let mut program = program.clone();
    program.procedures.retain(|p| p.name.as_str() == entry);
    if program.procedures.is_empty() {
        let message = format!("no kernel is named `{entry}`");
        return Err(vec![Diagnostic::error("no-such-entry", message, Span::NONE)]);
    }
    let kernel = &program.procedures[0];
    let errors: Vec<Diagnostic> =
        [taken_names(&program), wrong_settings(kernel, options), wrong_marks(kernel)].concat();
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut requires = fixed_parameters(kernel, options);
    let Geometry { block, grid } = options.geometry;
    for (id, size, sizes) in [("tid", "ntid", block), ("ctaid", "nctaid", grid)] {
        for (axis, fixed) in Axis::ALL.into_iter().zip(sizes) {
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
    // Only what a PTX kernel `requires` is listed among the assumptions.
    let blocks = program.procedures.iter_mut().flat_map(|p| &mut p.body).flat_map(|b| &mut b.blocks);
    for block in blocks {
        // The lowering of PTX knows why threads agree; who only says so is not believed.
        block.stmts.retain(|stmt| !stmt.attributes.has(AGREE));
        for stmt in &mut block.stmts {
            stmt.attributes.retain(|attribute| attribute.name.as_str() != ENTRIES);
        }
    }
    let array_names = program.arrays.iter().map(|a| (a.name.clone(), a.name.to_string())).collect();
    Ok(Kernel {
        register_names: BTreeMap::new(),
        program,
        assumptions: Vec::new(),
        warnings: Vec::new(),
        array_names,
        params: Vec::new(),
        geometry: options.geometry,
        waits: false,
        most_threads: BLOCK_THREADS,
    })
}

/// Variables that have names of the variables that `infer` adds for loops: one variable
/// would silently be two.
fn taken_names(program: &Program) -> Vec<Diagnostic> {
    let is_taken = |name: &str| {
        let of_loop = |prefix: &str| {
            let label = name.strip_prefix(prefix);
            label.is_some_and(|label| !label.starts_with(|first: char| first.is_ascii_digit()))
        };
        // `start.REGISTER.LABEL`: what several loops move by one stride.
        let of_walk = |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.contains('.'));
        ["k.", "round.", "witnessed."].into_iter().any(of_loop)
            || ["start.", "steps.", "offset.of"].into_iter().any(of_walk)
            || [".entry.", ".earlier."].into_iter().any(|part| name.contains(part))
            || name.ends_with(".inlined")
    };
    let constants = program.constants.iter().map(|constant| &constant.variable).chain(&program.globals);
    let of_kernel = program.procedures.iter().flat_map(|kernel| kernel.params.iter().chain(&kernel.results));
    let locals = program.procedures.iter().flat_map(|kernel| &kernel.body).flat_map(|body| &body.locals);
    let taken = constants.chain(of_kernel).chain(locals).filter(|variable| is_taken(variable.name.as_str()));
    let refuse = |variable: &Variable| {
        let message = format!("the name `{}` is taken by the race-checking code", variable.name);
        Diagnostic::error("name-clash", message, variable.span)
            .note("`k.*`, `round.*`, `witnessed.*`, `start.*.*`, `steps.*.*`, `offset.of.*`, `*.entry.*`, `*.earlier.*` and `*.inlined` are reserved")
    };
    taken.map(refuse).collect()
}

/// Marks about two threads of which the arguments are not those that the lowering of PTX writes.
fn wrong_marks(kernel: &Procedure) -> Vec<Diagnostic> {
    let word = || Type::Bv(32);
    let marks = [(LANES, vec![word(), word()]), (MATES, vec![Type::Bool, Type::Int, Type::Int])];
    let stmts = kernel.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
    let wrong = stmts.flat_map(|stmt| {
        let is_wrong = |(mark, wanted): &&(&str, Vec<Type>)| {
            let of =
                |argument: &AttributeArg| if let AttributeArg::Expr(e) = argument { Some(e.ty.clone()) } else { None };
            let found = stmt.attributes.named(mark).map(|mark| mark.args.iter().map(of).collect::<Option<Vec<Type>>>());
            found.is_some_and(|found| found.as_ref() != Some(wanted))
        };
        marks.iter().filter(is_wrong).map(|(mark, wanted)| {
            let wanted = wanted.iter().map(print_type).collect::<Vec<_>>().join(", ");
            Diagnostic::error("ivl-type", format!("`{{:{mark}}}` takes {wanted}"), stmt.span)
        })
    });
    wrong.collect()
}

/// The parameter that a `--param` names.
fn parameter<'p>(kernel: &'p Procedure, key: &str) -> Option<&'p Variable> {
    let named = kernel.params.iter().find(|parameter| parameter.name.as_str() == key);
    named.or_else(|| kernel.params.get(key.parse::<usize>().ok()?))
}

fn wrong_settings(kernel: &Procedure, options: &LowerOptions) -> Vec<Diagnostic> {
    let mut fixed_as: BTreeMap<&str, &str> = BTreeMap::new();
    let mut errors = Vec::new();
    for (key, value) in &options.params {
        let message = match parameter(kernel, key) {
            None => Some(format!("`{}` has no parameter `{key}`", kernel.name)),
            Some(parameter) => {
                let twice = fixed_as.insert(parameter.name.as_str(), key);
                let twice = twice.map(|other| format!("a parameter is fixed twice, as `{other}` and as `{key}`"));
                twice.or_else(|| match parameter.ty {
                    Type::Bv(width @ 1..=64) if fits(*value, width) => None,
                    Type::Bv(width @ 1..=64) => {
                        Some(format!("the value {value} does not fit `{key}`, which has {width} bits"))
                    }
                    _ => Some(format!("`{key}` is not a bit-vector of 1 to 64 bits, so it cannot be fixed")),
                })
            }
        };
        errors.extend(message.map(|message| Diagnostic::error("parameter", message, kernel.span)));
    }
    errors
}

/// Whether the value, read as unsigned or as signed, has so few bits.
fn fits(value: u64, width: u32) -> bool {
    width >= 64 || value >> width == 0 || (value as i64) >> (width - 1) == -1
}

/// `parameter == value` for each `--param`.
fn fixed_parameters(kernel: &Procedure, options: &LowerOptions) -> Vec<Condition> {
    let equation = |(key, value): &(String, u64)| {
        let parameter = parameter(kernel, key)?;
        let Type::Bv(width) = parameter.ty else { return None };
        let value = if width < 64 { u128::from(*value) & ((1 << width) - 1) } else { u128::from(*value) };
        Some(condition(bv::eq(bv::var(parameter.name.clone(), Type::Bv(width)), bv::literal(value, width))))
    };
    options.params.iter().filter_map(equation).collect()
}

/// The statement as it stands in the text.
fn origin(text: &str, span: Span) -> Origin {
    let line = text.as_bytes().iter().take(span.start as usize).filter(|b| **b == b'\n').count() as u32 + 1;
    let words: Vec<&str> = text.get(span.range()).unwrap_or_default().split_whitespace().collect();
    Origin { span, line, position: None, text: words.join(" ").into() }
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
        let variable =
            Variable { name: Name::from(name), ty: Type::Bv(32), where_clause: None, attributes, span: Span::NONE };
        program.constants.push(Constant { variable, unique: false });
    }
    bv::var(name, Type::Bv(32))
}

fn condition(expr: ExprRef) -> Condition {
    Condition { free: false, expr, attributes: Vec::new(), span: Span::NONE }
}
