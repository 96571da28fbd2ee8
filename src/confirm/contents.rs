//! Arrays that hold what they held before the launch.
//!
//! Input: a two-thread program, in which loads of arrays that the kernel writes yield arbitrary values. Output: the
//! same where weak loads of global arrays read the contents at the launch, as a function of the offset.
//! Establishes: a model of the result names contents with which both threads read the same; that nothing has
//! written them before is not established, so only a replay confirms what the model says. Relies on: a load
//! stands right behind its check. Reference: `twothread::accesses`.

use crate::ivl::ast::{ArraySpace, ExprKind, ExprRef, Function, Name, Program, StmtKind, Type};
use crate::ivl::bv;
use crate::ivl::visit::{map_children, map_stmt};
use crate::kernel::Kernel;
use crate::span::Span;
use crate::twothread::contents::PREFIX;
use crate::twothread::{AccessKind, Site, TwoThread};
use std::collections::BTreeMap;

/// A function of the byte offset that stands for an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) array: Name,
    /// Bytes that it reads.
    pub(crate) bytes: u32,
}

/// Replaces arbitrary values of loads; gives the program, and the functions that read arrays by their names.
pub(crate) fn run(two: &TwoThread, kernel: &Kernel) -> (Program, BTreeMap<Name, Read>) {
    let mut program = two.program.clone();
    let is_global = |name: &Name| {
        kernel.program.arrays.iter().any(|array| array.name == *name && array.space == ArraySpace::Global)
    };
    let mut reads: BTreeMap<Name, Read> =
        program.functions.iter().filter_map(|function| Some((function.name.clone(), declared(function)?))).collect();
    let types: BTreeMap<Name, Type> = {
        let locals = two.implementation().locals.iter();
        locals.map(|local| (local.name.clone(), local.ty.clone())).collect()
    };
    let procedure = program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure);
    let blocks = procedure.and_then(|procedure| procedure.body.as_mut()).map(|body| &mut body.blocks);
    let mut functions = Vec::new();
    for block in blocks.into_iter().flatten() {
        let mut last: Option<(&Site, [Option<ExprRef>; 2])> = None;
        for stmt in &mut block.stmts {
            match &stmt.kind {
                StmtKind::Log { event, .. } | StmtKind::Check(event) => {
                    let Some(site) = two.site(event.site) else { continue };
                    let known = last.take().filter(|(other, _)| other.number == site.number);
                    let mut offsets = known.map(|(_, offsets)| offsets).unwrap_or_default();
                    offsets[event.thread.index()] = Some(event.offset.clone());
                    last = Some((site, offsets));
                }
                StmtKind::Havoc(names) => {
                    let Some((site, [Some(first), Some(second)])) = last.take() else { continue };
                    let [one, other] = &names[..] else { continue };
                    let Some(ty) = types.get(one).filter(|ty| **ty == Type::Bv(8 * site.bytes)) else { continue };
                    let weak_read = site.kind == AccessKind::Read && site.strong.is_none() && is_global(&site.array);
                    if !weak_read || stmt.origin != site.origin {
                        continue;
                    }
                    let name = Name::from(format!("read.{}.{}", site.array, site.bytes));
                    if reads.insert(name.clone(), Read { array: site.array.clone(), bytes: site.bytes }).is_none() {
                        functions.push(function(name.clone(), ty.clone()));
                    }
                    let value = |offset: ExprRef| bv::call(name.clone(), vec![offset], ty.clone());
                    let values = vec![(one.clone(), value(first)), (other.clone(), value(second))];
                    stmt.kind = StmtKind::Assign(values);
                }
                _ => {}
            }
        }
    }
    program.functions.extend(functions);
    at_launch(&mut program, two, &is_global, &mut reads);
    (program, reads)
}

/// Contents of global arrays in an epoch become those at the launch.
fn at_launch(
    program: &mut Program,
    two: &TwoThread,
    is_global: &dyn Fn(&Name) -> bool,
    reads: &mut BTreeMap<Name, Read>,
) {
    let mut instead = BTreeMap::new();
    for declared in &two.program.functions {
        let parts = declared.name.as_str().strip_prefix(PREFIX).and_then(|name| name.rsplit_once('.'));
        let Some((array, bytes)) = parts.and_then(|(array, bytes)| Some((Name::from(array), bytes.parse().ok()?)))
        else {
            continue;
        };
        if is_global(&array) {
            let name = Name::from(format!("read.{array}.{bytes}"));
            if reads.insert(name.clone(), Read { array, bytes }).is_none() {
                program.functions.push(function(name.clone(), declared.result.clone()));
            }
            instead.insert(declared.name.clone(), name);
        }
    }
    let procedure = program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure);
    let blocks = procedure.and_then(|procedure| procedure.body.as_mut()).map(|body| &mut body.blocks);
    for stmt in blocks.into_iter().flatten().flat_map(|block| &mut block.stmts) {
        *stmt = map_stmt(stmt, &mut |e| reading(e, &instead));
    }
}

/// The expression with other functions, which take the last argument only.
fn reading(e: &ExprRef, instead: &BTreeMap<Name, Name>) -> ExprRef {
    let inner = map_children(e, &mut |child| reading(child, instead));
    match &inner.kind {
        ExprKind::Call(function, args) if instead.contains_key(function) => {
            let offset = args.last().cloned().into_iter().collect();
            bv::call(instead[function].clone(), offset, inner.ty.clone())
        }
        _ => inner,
    }
}

fn function(name: Name, result: Type) -> Function {
    let params = vec![(Name::from("offset"), Type::Bv(64))];
    Function { name, params, result, body: None, attributes: Vec::new(), span: Span::NONE }
}

/// The array behind a function `read.A.4` of the two-thread stage, which reads whole values.
fn declared(function: &Function) -> Option<Read> {
    let (array, bytes) = function.name.as_str().strip_prefix("read.")?.trim_end_matches('\'').rsplit_once('.')?;
    let bytes = bytes.parse().ok().filter(|bytes| function.result == Type::Bv(8 * bytes))?;
    (function.body.is_none() && function.params.len() == 1).then(|| Read { array: Name::from(array), bytes })
}
