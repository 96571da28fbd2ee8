//! Free variables and substitution on IVL expressions and statements.

use crate::ivl::ast::{Expr, ExprKind, ExprRef, Name, Stmt, StmtKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Adds the variables of an expression.
pub fn free_variables(e: &ExprRef, out: &mut BTreeSet<Name>) {
    if let ExprKind::Var(name) = &e.kind {
        out.insert(name.clone());
    }
    for child in children(e) {
        free_variables(child, out);
    }
}

fn children(e: &Expr) -> Vec<&ExprRef> {
    match &e.kind {
        ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Bv(_) | ExprKind::Var(_) => vec![],
        ExprKind::Unary(_, a) | ExprKind::Extract { value: a, .. } | ExprKind::Old(a) => vec![a],
        ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => vec![a, b],
        ExprKind::Ite(a, b, c) => vec![a, b, c],
        ExprKind::Call(_, args) => args.iter().collect(),
        ExprKind::Select(m, indices) => std::iter::once(m).chain(indices).collect(),
        ExprKind::Store(m, indices, v) => std::iter::once(m).chain(indices).chain([v]).collect(),
        ExprKind::Quantifier { body, .. } => vec![body],
    }
}

/// Replaces variables by expressions. Programs that reach this stage have no quantifiers, so no
/// capture can happen.
pub fn substitute(e: &ExprRef, map: &BTreeMap<Name, ExprRef>) -> ExprRef {
    let go = |e: &ExprRef| substitute(e, map);
    let kind = match &e.kind {
        ExprKind::Var(name) => return map.get(name).cloned().unwrap_or_else(|| e.clone()),
        ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Bv(_) => return e.clone(),
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, go(a)),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, go(a), go(b)),
        ExprKind::Ite(a, b, c) => ExprKind::Ite(go(a), go(b), go(c)),
        ExprKind::Call(f, args) => ExprKind::Call(f.clone(), args.iter().map(go).collect()),
        ExprKind::Extract { value, high, low } => ExprKind::Extract { value: go(value), high: *high, low: *low },
        ExprKind::Concat(a, b) => ExprKind::Concat(go(a), go(b)),
        ExprKind::Select(m, i) => ExprKind::Select(go(m), i.iter().map(go).collect()),
        ExprKind::Store(m, i, v) => ExprKind::Store(go(m), i.iter().map(go).collect(), go(v)),
        ExprKind::Old(a) => ExprKind::Old(go(a)),
        ExprKind::Quantifier { universal, variables, triggers, attributes, body } => ExprKind::Quantifier {
            universal: *universal,
            variables: variables.clone(),
            triggers: triggers.clone(),
            attributes: attributes.clone(),
            body: go(body),
        },
    };
    Arc::new(Expr { kind, ty: e.ty.clone(), span: e.span })
}

/// The variables that a statement assigns itself (not through the procedures it calls).
pub fn assigned(stmt: &Stmt, out: &mut BTreeSet<Name>) {
    match &stmt.kind {
        StmtKind::Assign(list) => out.extend(list.iter().map(|(n, _)| n.clone())),
        StmtKind::Havoc(names) => out.extend(names.iter().cloned()),
        StmtKind::Call { results, .. } => out.extend(results.iter().cloned()),
        _ => {}
    }
}
