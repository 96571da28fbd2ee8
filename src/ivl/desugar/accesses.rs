//! Assignments, and accesses of arrays, which move out of expressions.
//!
//! Input: statements as parsed. Output: assignments to whole variables; loads, stores, atomics and barriers.
//! Establishes: no expression reads an array. Relies on: the names of arrays that nothing hides.
//! Reference: Boogie 2 (map assignment); lock-step paper, section 3.1.

use super::super::access;
use super::super::ast::*;
use super::super::scope::with_suggestion;
use super::super::surface::*;
use super::super::visit;
use super::Arrays;
use super::flatten::Flattener;
use crate::diagnostic::Diagnostic;
use crate::order::Fence;
use crate::span::Span;
use std::sync::Arc;

impl Flattener<'_> {
    pub(super) fn assign(
        &mut self,
        targets: Vec<Target>,
        values: Vec<ExprRef>,
        attributes: Vec<Attribute>,
        span: Span,
    ) {
        if targets.len() != values.len() {
            let message = format!("{} targets take {} values", targets.len(), values.len());
            self.errors.push(Diagnostic::error("ivl-type", message, span));
            return;
        }
        if let ([target], [value]) = (&targets[..], &values[..]) {
            if self.arrays.contains_key(&target.variable.name) {
                let value = self.hoist(value);
                if let Some((access, attributes)) = self.access(target, attributes) {
                    self.push(StmtKind::Store { value, access }, attributes, span);
                }
                return;
            }
            if let Some(source) = array_element(value, self.arrays).filter(|_| target.indices.is_empty()) {
                if let Some((access, attributes)) = self.access(&source, attributes) {
                    self.push(StmtKind::Load { dst: target.variable.name.clone(), access }, attributes, span);
                }
                return;
            }
        }
        let mut pairs = Vec::new();
        for (target, value) in targets.iter().zip(&values) {
            if self.arrays.contains_key(&target.variable.name) {
                let message = "an array element cannot stand among the targets of a parallel assignment";
                self.errors.push(Diagnostic::error("ivl-kernel", message, target.variable.span));
            }
            let value = self.hoist(value);
            pairs.push((target.variable.name.clone(), self.updated(target, value)));
        }
        self.push(StmtKind::Assign(pairs), attributes, span);
    }

    /// The new value of the whole variable when the target's element becomes `value`.
    fn updated(&mut self, target: &Target, value: ExprRef) -> ExprRef {
        let span = target.variable.span;
        let untyped = |kind| Arc::new(Expr { kind, ty: Type::Bool, span });
        let indices: Vec<Vec<ExprRef>> =
            target.indices.iter().map(|group| group.iter().map(|i| self.hoist(i)).collect()).collect();
        // The maps that the indices go through, outermost first.
        let mut maps = vec![untyped(ExprKind::Var(target.variable.name.clone()))];
        for group in indices.iter().take(indices.len().saturating_sub(1)) {
            let inner = untyped(ExprKind::Select(maps[maps.len() - 1].clone(), group.clone()));
            maps.push(inner);
        }
        indices
            .into_iter()
            .zip(maps)
            .rev()
            .fold(value, |value, (group, map)| untyped(ExprKind::Store(map, group, value)))
    }

    /// Loads of array elements inside an expression move to statements before it.
    fn hoist(&mut self, expr: &ExprRef) -> ExprRef {
        let arrays = self.arrays;
        visit::map_expr(expr, &mut |e| {
            if let ExprKind::Quantifier { .. } = e.kind {
                // An index may be bound here; the checker refuses arrays in formulas.
                return Some(e.clone());
            }
            let source = array_element(e, arrays)?;
            let name = self.fresh_variable("load");
            let ty = Type::Bv(8 * arrays[&source.variable.name]);
            self.locals.push(Variable {
                name: name.clone(),
                ty: ty.clone(),
                where_clause: None,
                attributes: Vec::new(),
                span: e.span,
            });
            let (access, _) = self.access(&source, Vec::new())?;
            self.push(StmtKind::Load { dst: name.clone(), access }, Vec::new(), e.span);
            Some(Arc::new(Expr { kind: ExprKind::Var(name), ty, span: e.span }))
        })
    }

    fn access(&mut self, target: &Target, attributes: Vec<Attribute>) -> Option<(Access, Vec<Attribute>)> {
        let array = &target.variable;
        let Some(element_bytes) = self.arrays.get(&array.name) else {
            let error = Diagnostic::error("ivl-name", format!("no array is called `{}`", array.name), array.span);
            self.errors.push(with_suggestion(error, &array.name, self.arrays.keys()));
            return None;
        };
        let [index] = target.indices.as_slice() else {
            return self.kernel_error("an array takes one index in brackets", array.span);
        };
        let [offset] = index.as_slice() else {
            return self.kernel_error("an array takes one index", array.span);
        };
        let offset = self.hoist(offset);
        match access::from_attributes(array, offset, *element_bytes, attributes) {
            Ok(result) => Some(result),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn kernel_error<T>(&mut self, message: &str, span: Span) -> Option<T> {
        self.errors.push(Diagnostic::error("ivl-kernel", message, span));
        None
    }

    pub(super) fn atomic(&mut self, dst: Option<Name>, target: Target, attributes: Vec<Attribute>, span: Span) {
        if let Some((access, attributes)) = self.access(&target, attributes) {
            self.push(StmtKind::Atomic { dst, access }, attributes, span);
        }
    }

    pub(super) fn barrier(&mut self, result: Option<Target>, attributes: Vec<Attribute>, span: Span) {
        let result = match result {
            Some(target) if !target.indices.is_empty() => {
                let message = "a barrier's result goes to a variable";
                self.errors.push(Diagnostic::error("ivl-kernel", message, target.variable.span));
                return;
            }
            result => result.map(|target| target.variable.name),
        };
        match access::barrier_from_attributes(result, attributes, span) {
            Ok((barrier, attributes)) => self.push(StmtKind::Barrier(barrier), attributes, span),
            Err(error) => self.errors.push(error),
        }
    }

    pub(super) fn warp_barrier(&mut self, attributes: Vec<Attribute>, span: Span) {
        match access::warp_barrier_from_attributes(&attributes, span) {
            Ok(Some((barrier, attributes))) => self.push(StmtKind::WarpBarrier(barrier), attributes, span),
            Ok(None) => self.push(StmtKind::Fence(Fence::warp()), attributes, span),
            Err(error) => self.errors.push(error),
        }
    }
}

/// `A[i]` of a declared array, as a target.
fn array_element(expr: &ExprRef, arrays: &Arrays) -> Option<Target> {
    let ExprKind::Select(map, index) = &expr.kind else { return None };
    match &map.kind {
        ExprKind::Var(name) if arrays.contains_key(name) => {
            Some(Target { variable: Identifier { name: name.clone(), span: map.span }, indices: vec![index.clone()] })
        }
        _ => None,
    }
}
