//! Procedure bodies: statements, blocks, what they modify.

use super::super::ast::*;
use super::super::bv;
use super::super::print_expr::print_type;
use super::super::scope::with_suggestion;
use super::super::token::Token;
use super::super::visit;
use super::expr::declared_at;
use super::{Checker, EntryKind, Mode};
use crate::diagnostic::Diagnostic;
use crate::ivl::event::as_call;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Checker<'_> {
    /// Blocks and their statements; locals are in scope already.
    pub(super) fn blocks(&mut self, procedure: &Name, blocks: &mut [Block], modifies: &[Name], span: Span) {
        if blocks.is_empty() {
            self.error("ivl-label", format!("the body of `{procedure}` has no block"), span);
        }
        let mut labels = BTreeMap::new();
        for block in blocks.iter() {
            self.identifier(&block.label, block.span);
            if let Some(first) = labels.insert(block.label.clone(), block.span) {
                let message = format!("two blocks are labelled `{}`", block.label);
                self.report(Diagnostic::error("ivl-duplicate", message, block.span).also(first, "first here"));
            }
        }
        for block in blocks {
            self.place = format!("procedure `{procedure}`, block `{}`", block.label);
            for stmt in &mut block.stmts {
                self.stmt(stmt);
                self.modified(stmt, modifies);
            }
            if let Transfer::Goto(targets) = &block.transfer {
                self.targets(targets, &labels, block);
            }
        }
    }

    fn targets(&mut self, targets: &[Name], labels: &BTreeMap<Name, Span>, block: &Block) {
        if targets.is_empty() {
            self.error("ivl-label", format!("the goto of block `{}` has no target", block.label), block.span);
        }
        for target in targets.iter().filter(|t| !labels.contains_key(t)) {
            let error = Diagnostic::error("ivl-label", format!("no block is labelled `{target}`"), block.span);
            self.report(with_suggestion(error, target, labels.keys()));
        }
    }

    /// Reports globals that a statement assigns and the procedure does not list.
    fn modified(&mut self, stmt: &Stmt, modifies: &[Name]) {
        let mut changed: Vec<Name> = visit::assigned(stmt).into_iter().cloned().collect();
        if let StmtKind::Call { procedure, .. } = &stmt.kind {
            changed.extend(self.procedures.get(procedure).into_iter().flat_map(|p| p.modifies.iter().cloned()));
        }
        for name in changed {
            let global = self.top_level.get(&name).is_some_and(|entry| entry.kind == EntryKind::Global);
            if global && !modifies.contains(&name) {
                let message = format!("this modifies the global variable `{name}`");
                let place = match &stmt.kind {
                    StmtKind::Call { procedure, results, .. } if !results.contains(&name) => {
                        self.word_before(stmt.span, procedure, |behind| behind == Some(Token::LeftParen))
                    }
                    _ => self.word(stmt.span, &name),
                };
                let error = Diagnostic::error("ivl-modifies", message, place);
                let needed = error.note(format!("the procedure needs `modifies {name};`"));
                self.report_type(needed.note("`gpuvcc --infer-modifies` adds such clauses"));
            }
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        let span = stmt.span;
        match stmt.kind {
            // In Boogie only assignments among these can have attributes.
            StmtKind::Assign(_) | StmtKind::Havoc(_) => self.loose_attributes(&mut stmt.attributes, span),
            _ => self.attributes_here(&mut stmt.attributes, span),
        }
        match &mut stmt.kind {
            StmtKind::Assign(pairs) => self.assign(pairs, span),
            StmtKind::Havoc(names) => {
                names.iter_mut().for_each(|name| {
                    self.assigned(name, span);
                });
            }
            StmtKind::Assume(_, e) | StmtKind::Assert(_, e) => self.formula(e, "a formula"),
            StmtKind::Call { procedure, args, results } => self.call_stmt(procedure, args, results, span),
            StmtKind::Load { dst, access } => {
                let ty = self.assigned(dst, span);
                self.access(access, ty.as_ref(), span);
            }
            StmtKind::Store { value, access } => {
                let typed = self.expr(value);
                self.access(access, typed.as_ref().map(|e| &e.ty), span);
                *value = typed.unwrap_or_else(|| value.clone());
            }
            StmtKind::Atomic { dst, access } => {
                let element = self.element_type(&access.array);
                let bytes = access.bytes;
                let ty = match dst {
                    Some(dst) => self.assigned(dst, span),
                    None if bytes == 0 => element,
                    None => Some(Type::Bv(bytes.saturating_mul(8))),
                };
                self.access(access, ty.as_ref(), span);
            }
            StmtKind::Barrier(barrier) => self.barrier(barrier, span),
            StmtKind::WarpBarrier(barrier) => self.warp_barrier(barrier),
            StmtKind::Fence(_) | StmtKind::Trap => {}
            StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                let (mut call, _) = as_call(&stmt.kind, &[]);
                if let StmtKind::Call { procedure, args, results } = call.to_mut() {
                    self.call_stmt(procedure, args, results, span);
                }
            }
        }
    }

    /// The type of a variable that a statement assigns; the variable gets the name it has once nothing is hidden.
    fn assigned(&mut self, name: &mut Name, span: Span) -> Option<Type> {
        let (unique, ty) = self.assignable(name, span)?;
        *name = unique;
        Some(ty)
    }

    fn formula(&mut self, e: &mut ExprRef, what: &str) {
        if let Some(typed) = self.expr_of(e, &Type::Bool, what) {
            *e = typed;
        }
    }

    fn assign(&mut self, pairs: &mut [(Name, ExprRef)], span: Span) {
        let mut seen = BTreeSet::new();
        for (name, value) in pairs {
            if !seen.insert(name.clone()) {
                let message = format!("`{name}` takes two values in one assignment");
                self.error("ivl-duplicate", message, self.word(span, name));
            }
            self.assumed(name, value, span);
            let typed = self.expr(value);
            let written = name.clone();
            let ty = self.assigned(name, span);
            let (Some(typed), Some(ty)) = (typed, ty) else { continue };
            if typed.ty != ty {
                let message = format!("`{written}` is {}, not {}", print_type(&ty), print_type(&typed.ty));
                let place = if value.span == Span::NONE { span } else { value.span };
                self.type_error(message, place);
            }
            *value = typed;
        }
    }

    fn call_stmt(&mut self, procedure: &Name, args: &mut Vec<ExprRef>, results: &mut [Name], span: Span) {
        let typed = self.exprs(args);
        let written = results.to_vec();
        let types: Vec<Option<Type>> = results.iter_mut().map(|name| self.assigned(name, span)).collect();
        let distinct: BTreeSet<&Name> = results.iter().collect();
        if distinct.len() < results.len() {
            self.error("ivl-duplicate", "two results go to one variable", span);
        }
        let callee = self.word_before(span, procedure, |behind| behind == Some(Token::LeftParen));
        let Some(signature) = self.procedures.get(procedure).cloned() else {
            let error = Diagnostic::error("ivl-name", format!("no procedure is called `{procedure}`"), callee);
            self.report(with_suggestion(error, procedure, self.procedures.keys()));
            return;
        };
        if let Some(typed) = typed {
            self.arguments("procedure", procedure, &typed, &signature.params, (callee, signature.span));
            *args = typed;
        }
        if types.len() != signature.results.len() {
            let message =
                format!("procedure `{procedure}` has {} results, not {}", signature.results.len(), types.len());
            self.report(declared_at(signature.span, Diagnostic::error("ivl-type", message, callee)));
            return;
        }
        for ((name, ty), expected) in written.iter().zip(types).zip(&signature.results) {
            if ty.as_ref().is_some_and(|ty| ty != expected) {
                let message = format!("`{name}` takes a result of type {}", print_type(expected));
                let error = Diagnostic::error("ivl-type", message, self.word(span, name));
                self.report_type(declared_at(signature.span, error));
            }
        }
    }

    fn element_type(&mut self, array: &Name) -> Option<Type> {
        match self.top_level.get(array).map(|entry| entry.kind) {
            Some(EntryKind::Array { element_bytes }) => Some(Type::Bv(8 * element_bytes)),
            _ => None,
        }
    }

    /// An access that moves a value of type `value`, where that is known.
    fn access(&mut self, access: &mut Access, value: Option<&Type>, span: Span) {
        if self.element_type(&access.array).is_none() {
            let error = Diagnostic::error("ivl-name", format!("no array is called `{}`", access.array), span);
            let arrays = self.top_level.iter().filter(|(_, e)| matches!(e.kind, EntryKind::Array { .. }));
            let error = with_suggestion(error, &access.array, arrays.map(|(name, _)| name));
            self.report(error);
        }
        if let Some(givers) = &mut access.collective {
            self.formula(givers, "a condition of threads");
        }
        if let Some(guard) = &mut access.guard {
            self.formula(guard, "a guard");
        }
        if let Some(offset) = self.expr(&access.offset) {
            self.offset(access, offset, span);
        }
        let inferred = access.bytes == 0 && self.mode == Mode::Elaborate;
        match value {
            // The value of a collective access is not modelled.
            Some(_) if access.collective.is_some() && access.bytes > 0 => {}
            Some(Type::Bv(width)) if width % 8 == 0 && (inferred || access.bytes == width / 8) => {
                access.bytes = width / 8;
            }
            Some(ty) => {
                let message = match access.bytes {
                    0 if inferred => format!("memory moves whole bytes: bv8, bv16, ..., not {}", print_type(ty)),
                    bytes => format!("an access of {bytes} bytes moves a bv{}, not {}", 8 * bytes, print_type(ty)),
                };
                self.type_error(message, span);
            }
            None => {}
        }
        if access.scale == 0 {
            self.error("ivl-kernel", "an access has scale 0", span);
        }
    }

    fn offset(&mut self, access: &mut Access, offset: ExprRef, span: Span) {
        match (&offset.ty, self.mode) {
            (Type::Bv(64), _) => access.offset = offset,
            (Type::Bv(width), Mode::Elaborate) if *width < 64 => {
                let place = offset.span;
                let extended = bv::zext(offset, 64);
                access.offset = Arc::new(Expr { span: place, ..(*extended).clone() });
            }
            (ty, _) => {
                let message = format!("an array is indexed by bit-vectors of up to 64 bits, not {}", print_type(ty));
                let place = if offset.span == Span::NONE { span } else { offset.span };
                self.type_error(message, place);
            }
        }
    }

    fn warp_barrier(&mut self, barrier: &mut WarpBarrier) {
        if let Some(guard) = &mut barrier.guard {
            self.formula(guard, "a guard");
        }
        for (e, what) in [(&mut barrier.mask, "a mask of lanes"), (&mut barrier.thread, "the number of a thread")] {
            if let Some(typed) = self.expr_of(e, &Type::Bv(32), what) {
                *e = typed;
            }
        }
    }

    fn barrier(&mut self, barrier: &mut Barrier, span: Span) {
        if let Some(guard) = &mut barrier.guard {
            self.formula(guard, "a guard");
        }
        for (operand, what) in [(&mut barrier.id, "a barrier number"), (&mut barrier.count, "a thread count")] {
            let Some(e) = operand else { continue };
            if let Some(typed) = self.expr_of(e, &Type::Bv(32), what) {
                *e = typed;
            }
        }
        if let Some(result) = &mut barrier.result {
            self.assigned(result, span);
        }
    }
}
