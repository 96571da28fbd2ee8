//! Walking over the IVL: one visitor for reading, one rewriter for expressions.
//!
//! Input: any part of a program. Output: what the visitor collects, or the rewritten part.
//! Establishes: rewriting shares every node it leaves alone. Relies on: nothing; works on programs
//! that do not type-check. Only [`substitute`] renames bound variables, where they would capture.

use super::ast::*;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Reads parts of a program. Each method walks on by default; an override calls the `walk_` function
/// of the same name where it wants the parts below.
pub trait Visitor {
    /// An expression.
    fn expr(&mut self, expr: &ExprRef) {
        walk_expr(self, expr);
    }
    /// A statement.
    fn stmt(&mut self, stmt: &Stmt) {
        walk_stmt(self, stmt);
    }
    fn block(&mut self, block: &Block) {
        walk_block(self, block);
    }
    fn procedure(&mut self, procedure: &Procedure) {
        walk_procedure(self, procedure);
    }
    fn attribute(&mut self, attribute: &Attribute) {
        walk_attribute(self, attribute);
    }
}

/// Visits the operands of an expression, triggers included.
pub(crate) fn walk_expr<V: Visitor + ?Sized>(visitor: &mut V, expr: &ExprRef) {
    children(expr).into_iter().for_each(|child| visitor.expr(child));
}

/// Visits the expressions of a statement, then its attributes.
pub(crate) fn walk_stmt<V: Visitor + ?Sized>(visitor: &mut V, stmt: &Stmt) {
    for_each_stmt_expr(stmt, &mut |e| visitor.expr(e));
    stmt.attributes.iter().for_each(|a| visitor.attribute(a));
}

/// Visits the statements of a block.
pub(crate) fn walk_block<V: Visitor + ?Sized>(visitor: &mut V, block: &Block) {
    block.stmts.iter().for_each(|s| visitor.stmt(s));
}

/// Visits attributes, formals, conditions and blocks of a procedure.
pub(crate) fn walk_procedure<V: Visitor + ?Sized>(visitor: &mut V, procedure: &Procedure) {
    procedure.attributes.iter().for_each(|a| visitor.attribute(a));
    procedure.params.iter().chain(&procedure.results).for_each(|v| walk_variable(visitor, v));
    for condition in procedure.requires.iter().chain(&procedure.ensures) {
        condition.attributes.iter().for_each(|a| visitor.attribute(a));
        visitor.expr(&condition.expr);
    }
    procedure.body.iter().for_each(|body| walk_body(visitor, body));
}

/// Visits locals and blocks.
pub(crate) fn walk_body<V: Visitor + ?Sized>(visitor: &mut V, body: &Implementation) {
    body.locals.iter().for_each(|v| walk_variable(visitor, v));
    body.blocks.iter().for_each(|b| visitor.block(b));
}

/// Visits the attributes and the where clause of a variable.
pub(crate) fn walk_variable<V: Visitor + ?Sized>(visitor: &mut V, variable: &Variable) {
    variable.attributes.iter().for_each(|a| visitor.attribute(a));
    variable.where_clause.iter().for_each(|e| visitor.expr(e));
}

/// Visits the expressions among an attribute's arguments.
pub(crate) fn walk_attribute<V: Visitor + ?Sized>(visitor: &mut V, attribute: &Attribute) {
    for arg in &attribute.args {
        if let AttributeArg::Expr(e) = arg {
            visitor.expr(e);
        }
    }
}

/// Visits everything that has expressions.
pub fn walk_program<V: Visitor + ?Sized>(visitor: &mut V, program: &Program) {
    program.types.iter().flat_map(|t| &t.attributes).for_each(|a| visitor.attribute(a));
    program.constants.iter().for_each(|c| walk_variable(visitor, &c.variable));
    for function in &program.functions {
        function.attributes.iter().for_each(|a| visitor.attribute(a));
        function.body.iter().for_each(|e| visitor.expr(e));
    }
    for axiom in &program.axioms {
        axiom.attributes.iter().for_each(|a| visitor.attribute(a));
        visitor.expr(&axiom.expr);
    }
    program.globals.iter().for_each(|v| walk_variable(visitor, v));
    program.procedures.iter().for_each(|p| visitor.procedure(p));
    for implementation in &program.implementations {
        implementation.attributes.iter().for_each(|a| visitor.attribute(a));
        implementation.params.iter().chain(&implementation.results).for_each(|v| walk_variable(visitor, v));
        walk_body(visitor, &implementation.body);
    }
}

/// The operands of a node, triggers and the arguments of attributes included.
pub fn children(expr: &Expr) -> Vec<&ExprRef> {
    match &expr.kind {
        ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Bv(_) | ExprKind::Var(_) => vec![],
        ExprKind::Unary(_, a) | ExprKind::Old(a) | ExprKind::Extract { value: a, .. } => vec![a],
        ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => vec![a, b],
        ExprKind::Ite(c, a, b) => vec![c, a, b],
        ExprKind::Call(_, args) => args.iter().collect(),
        ExprKind::Select(map, indices) => std::iter::once(map).chain(indices).collect(),
        ExprKind::Store(map, indices, value) => std::iter::once(map).chain(indices).chain([value]).collect(),
        ExprKind::Quantifier { triggers, attributes, body, .. } => {
            triggers.iter().flatten().chain(arguments(attributes)).chain([body]).collect()
        }
    }
}

/// The expressions in attributes.
fn arguments(attributes: &[Attribute]) -> impl Iterator<Item = &ExprRef> {
    attributes.iter().flat_map(|attribute| &attribute.args).filter_map(|arg| match arg {
        AttributeArg::Expr(e) => Some(e),
        AttributeArg::Text(_) => None,
    })
}

/// Calls `f` on each expression of a statement, attributes excluded.
pub(crate) fn for_each_stmt_expr(stmt: &Stmt, f: &mut dyn FnMut(&ExprRef)) {
    let access = |access: &Access, f: &mut dyn FnMut(&ExprRef)| {
        access.guard.iter().chain(&access.collective).for_each(&mut *f);
        f(&access.offset);
    };
    match &stmt.kind {
        StmtKind::Assign(pairs) => pairs.iter().for_each(|(_, e)| f(e)),
        StmtKind::Havoc(_) | StmtKind::Fence(_) | StmtKind::Trap => {}
        StmtKind::Log { event, .. } | StmtKind::Check(event) => event.expressions().for_each(f),
        StmtKind::Order { both, .. } => f(both),
        StmtKind::Assume(_, e) | StmtKind::Assert(_, e) => f(e),
        StmtKind::Call { args, .. } => args.iter().for_each(f),
        StmtKind::Load { access: a, .. } | StmtKind::Atomic { access: a, .. } => access(a, f),
        StmtKind::Store { value, access: a } => {
            access(a, f);
            f(value);
        }
        StmtKind::Barrier(b) => b.guard.iter().chain(&b.id).chain(&b.count).for_each(f),
        StmtKind::WarpBarrier(b) => b.guard.iter().chain([&b.mask, &b.thread]).for_each(f),
    }
}

/// Rewrites an expression from the top: where `f` answers, its answer stands for the whole node and
/// is not looked into; elsewhere the operands are rewritten. Types and spans of rebuilt nodes stay,
/// so `f` has to keep types.
pub fn map_expr(expr: &ExprRef, f: &mut dyn FnMut(&ExprRef) -> Option<ExprRef>) -> ExprRef {
    match f(expr) {
        Some(new) => new,
        None => map_children(expr, &mut |child| map_expr(child, f)),
    }
}

/// Rewrites the operands of a node; the same node where none changes.
pub(crate) fn map_children(expr: &ExprRef, f: &mut dyn FnMut(&ExprRef) -> ExprRef) -> ExprRef {
    let mut changed = false;
    let mut one = |e: &ExprRef| {
        let new = f(e);
        changed |= !Arc::ptr_eq(&new, e);
        new
    };
    let kind = match &expr.kind {
        ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Bv(_) | ExprKind::Var(_) => return expr.clone(),
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, one(a)),
        ExprKind::Old(a) => ExprKind::Old(one(a)),
        ExprKind::Extract { value, high, low } => ExprKind::Extract { value: one(value), high: *high, low: *low },
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, one(a), one(b)),
        ExprKind::Concat(a, b) => ExprKind::Concat(one(a), one(b)),
        ExprKind::Ite(c, a, b) => ExprKind::Ite(one(c), one(a), one(b)),
        ExprKind::Call(name, args) => ExprKind::Call(name.clone(), args.iter().map(one).collect()),
        ExprKind::Select(map, indices) => ExprKind::Select(one(map), indices.iter().map(one).collect()),
        ExprKind::Store(map, indices, value) => {
            ExprKind::Store(one(map), indices.iter().map(&mut one).collect(), one(value))
        }
        ExprKind::Quantifier { universal, variables, triggers, attributes, body } => ExprKind::Quantifier {
            universal: *universal,
            variables: variables.clone(),
            triggers: triggers.iter().map(|t| t.iter().map(&mut one).collect()).collect(),
            attributes: attributes.iter().map(|a| map_attribute(a, &mut one)).collect(),
            body: one(body),
        },
    };
    if changed { Arc::new(Expr { kind, ty: expr.ty.clone(), span: expr.span }) } else { expr.clone() }
}

/// Rewrites every expression of a statement, attribute arguments included, with `f`.
pub fn map_stmt(stmt: &Stmt, f: &mut dyn FnMut(&ExprRef) -> ExprRef) -> Stmt {
    let access = |a: &Access, f: &mut dyn FnMut(&ExprRef) -> ExprRef| Access {
        guard: a.guard.as_ref().map(&mut *f),
        collective: a.collective.as_ref().map(&mut *f),
        offset: f(&a.offset),
        ..a.clone()
    };
    let kind = match &stmt.kind {
        StmtKind::Assign(pairs) => StmtKind::Assign(pairs.iter().map(|(name, e)| (name.clone(), f(e))).collect()),
        StmtKind::Assume(premise, e) => StmtKind::Assume(premise.clone(), f(e)),
        StmtKind::Assert(claim, e) => StmtKind::Assert(claim.clone(), f(e)),
        StmtKind::Call { procedure, args, results } => StmtKind::Call {
            procedure: procedure.clone(),
            args: args.iter().map(&mut *f).collect(),
            results: results.clone(),
        },
        StmtKind::Load { dst, access: a } => StmtKind::Load { dst: dst.clone(), access: access(a, f) },
        StmtKind::Store { value, access: a } => StmtKind::Store { access: access(a, f), value: f(value) },
        StmtKind::Atomic { dst, access: a } => StmtKind::Atomic { dst: dst.clone(), access: access(a, f) },
        StmtKind::Barrier(b) => StmtKind::Barrier(Barrier {
            guard: b.guard.as_ref().map(&mut *f),
            id: b.id.as_ref().map(&mut *f),
            count: b.count.as_ref().map(&mut *f),
            ..b.clone()
        }),
        StmtKind::WarpBarrier(b) => StmtKind::WarpBarrier(WarpBarrier {
            guard: b.guard.as_ref().map(&mut *f),
            mask: f(&b.mask),
            thread: f(&b.thread),
        }),
        StmtKind::Havoc(_) | StmtKind::Fence(_) | StmtKind::Trap => stmt.kind.clone(),
        StmtKind::Log { event, logged } => StmtKind::Log { event: Box::new(event.map(f)), logged: logged.clone() },
        StmtKind::Check(event) => StmtKind::Check(Box::new(event.map(f))),
        StmtKind::Order { array, both, by } => StmtKind::Order { array: array.clone(), both: f(both), by: *by },
    };
    let attributes = stmt.attributes.iter().map(|a| map_attribute(a, f)).collect();
    Stmt { kind, attributes, span: stmt.span, origin: stmt.origin.clone() }
}

/// Rewrites the expressions among an attribute's arguments with `f`.
pub fn map_attribute(attribute: &Attribute, f: &mut dyn FnMut(&ExprRef) -> ExprRef) -> Attribute {
    let args = attribute.args.iter().map(|arg| match arg {
        AttributeArg::Text(_) => arg.clone(),
        AttributeArg::Expr(e) => AttributeArg::Expr(f(e)),
    });
    Attribute { name: attribute.name.clone(), args: args.collect() }
}

/// Variables and constants that occur free in an expression.
pub(crate) fn free_vars(expr: &ExprRef) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    let _ = each_free_var(expr, &mut Vec::new(), &mut |name| {
        found.insert(name.clone());
        ControlFlow::Continue(())
    });
    found
}

/// True when the variable occurs free in the expression.
pub(crate) fn mentions(expr: &ExprRef, variable: &Name) -> bool {
    let visit = &mut |name: &Name| if name == variable { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    each_free_var(expr, &mut Vec::new(), visit).is_break()
}

fn each_free_var<'a>(
    expr: &'a ExprRef,
    bound: &mut Vec<&'a Name>,
    f: &mut dyn FnMut(&Name) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match &expr.kind {
        ExprKind::Var(name) if !bound.contains(&name) => f(name),
        ExprKind::Quantifier { variables, .. } => {
            let outer = bound.len();
            bound.extend(variables.iter().map(|(name, _)| name));
            let result = children(expr).into_iter().try_for_each(|e| each_free_var(e, bound, f));
            bound.truncate(outer);
            result
        }
        _ => children(expr).into_iter().try_for_each(|child| each_free_var(child, bound, f)),
    }
}

/// Replaces `old(e)` by `e` over the variables of an earlier state.
pub(crate) fn replace_old(expr: &ExprRef, earlier: &BTreeMap<Name, ExprRef>) -> ExprRef {
    map_expr(expr, &mut |e| match &e.kind {
        ExprKind::Old(inner) => Some(substitute(inner, earlier)),
        _ => None,
    })
}

/// Replaces free variables, all at once. A bound variable that a replacement mentions gets another name.
pub fn substitute(expr: &ExprRef, map: &BTreeMap<Name, ExprRef>) -> ExprRef {
    map_expr(expr, &mut |e| match &e.kind {
        ExprKind::Var(name) => Some(map.get(name).unwrap_or(e).clone()),
        ExprKind::Quantifier { variables, .. } => {
            let free = free_vars(e);
            let inner: BTreeMap<Name, ExprRef> =
                map.iter().filter(|(name, _)| free.contains(*name)).map(|(n, e)| (n.clone(), e.clone())).collect();
            if inner.is_empty() {
                return Some(e.clone());
            }
            let captured = |bound: &Name| inner.values().any(|new| mentions(new, bound));
            if variables.iter().any(|(bound, _)| captured(bound)) {
                let renamed = without_capture(e, &inner);
                return Some(map_children(&renamed, &mut |child| substitute(child, &inner)));
            }
            Some(map_children(e, &mut |child| substitute(child, &inner)))
        }
        _ => None,
    })
}

/// A quantifier with other names for those of its variables that the replacements mention.
fn without_capture(quantifier: &ExprRef, map: &BTreeMap<Name, ExprRef>) -> ExprRef {
    let ExprKind::Quantifier { universal, variables, triggers, attributes, body } = &quantifier.kind else {
        return quantifier.clone();
    };
    let mut taken: BTreeSet<Name> = map.values().chain(children(quantifier)).flat_map(free_vars).collect();
    let mut renamed = BTreeMap::new();
    let mut fresh = |name: &Name, ty: &Type| {
        if !map.values().any(|new| mentions(new, name)) {
            return name.clone();
        }
        let mut candidates = (1..).map(|number| Name::from(format!("{name}#{number}")));
        let new = candidates.find(|candidate| !taken.contains(candidate)).unwrap_or_else(|| name.clone());
        taken.insert(new.clone());
        let variable = Expr { kind: ExprKind::Var(new.clone()), ty: ty.clone(), span: quantifier.span };
        renamed.insert(name.clone(), Arc::new(variable));
        new
    };
    let variables = variables.iter().map(|(name, ty)| (fresh(name, ty), ty.clone())).collect();
    let triggers = triggers.iter().map(|t| t.iter().map(|e| substitute(e, &renamed)).collect()).collect();
    let attributes = attributes.iter().map(|a| map_attribute(a, &mut |e| substitute(e, &renamed))).collect();
    let body = substitute(body, &renamed);
    let kind = ExprKind::Quantifier { universal: *universal, variables, triggers, attributes, body };
    Arc::new(Expr { kind, ty: quantifier.ty.clone(), span: quantifier.span })
}

/// The variables a statement assigns, in order. A call assigns its results; the globals it modifies
/// are the callee's to tell.
pub(crate) fn assigned(stmt: &Stmt) -> Vec<&Name> {
    match &stmt.kind {
        StmtKind::Assign(pairs) => pairs.iter().map(|(name, _)| name).collect(),
        StmtKind::Havoc(names) => names.iter().collect(),
        StmtKind::Call { results, .. } => results.iter().collect(),
        StmtKind::Load { dst, .. } => vec![dst],
        StmtKind::Atomic { dst, .. } => dst.iter().collect(),
        StmtKind::Barrier(barrier) => barrier.result.iter().collect(),
        StmtKind::Log { logged, .. } => vec![logged],
        StmtKind::Assume(..)
        | StmtKind::Assert(..)
        | StmtKind::Store { .. }
        | StmtKind::Fence(_)
        | StmtKind::WarpBarrier(_)
        | StmtKind::Trap
        | StmtKind::Check(_)
        | StmtKind::Order { .. } => Vec::new(),
    }
}

/// The same expression with every span unknown: what equality up to places compares.
pub(crate) fn without_spans(expr: &ExprRef) -> ExprRef {
    let inner = map_children(expr, &mut without_spans);
    Arc::new(Expr { kind: inner.kind.clone(), ty: inner.ty.clone(), span: Span::NONE })
}

/// Makes every span unknown and drops origins, for comparison up to places.
pub fn erase_places(program: &mut Program) {
    for ty in &mut program.types {
        ty.span = Span::NONE;
        erase_attributes(&mut ty.attributes);
    }
    program.constants.iter_mut().for_each(|c| erase_variable(&mut c.variable));
    program.globals.iter_mut().for_each(erase_variable);
    program.arrays.iter_mut().for_each(|a| a.span = Span::NONE);
    program.axioms.iter_mut().for_each(erase_condition);
    for function in &mut program.functions {
        function.span = Span::NONE;
        function.body = function.body.as_ref().map(without_spans);
        erase_attributes(&mut function.attributes);
    }
    for procedure in &mut program.procedures {
        procedure.span = Span::NONE;
        erase_attributes(&mut procedure.attributes);
        procedure.params.iter_mut().chain(&mut procedure.results).for_each(erase_variable);
        procedure.requires.iter_mut().chain(&mut procedure.ensures).for_each(erase_condition);
        procedure.body.iter_mut().for_each(erase_body);
    }
    for implementation in &mut program.implementations {
        implementation.span = Span::NONE;
        erase_attributes(&mut implementation.attributes);
        implementation.params.iter_mut().chain(&mut implementation.results).for_each(erase_variable);
        erase_body(&mut implementation.body);
    }
}

fn erase_attributes(attributes: &mut Vec<Attribute>) {
    *attributes = attributes.iter().map(|a| map_attribute(a, &mut without_spans)).collect();
}

fn erase_variable(variable: &mut Variable) {
    variable.span = Span::NONE;
    variable.where_clause = variable.where_clause.as_ref().map(without_spans);
    erase_attributes(&mut variable.attributes);
}

fn erase_condition(condition: &mut Condition) {
    condition.span = Span::NONE;
    condition.expr = without_spans(&condition.expr);
    erase_attributes(&mut condition.attributes);
}

fn erase_body(body: &mut Implementation) {
    body.locals.iter_mut().for_each(erase_variable);
    for block in &mut body.blocks {
        block.span = Span::NONE;
        block.end = Span::NONE;
        for stmt in &mut block.stmts {
            let erased = map_stmt(stmt, &mut without_spans);
            *stmt = Stmt { span: Span::NONE, origin: None, ..erased };
        }
    }
}
