//! Types of expressions.

use super::super::ast::*;
use super::super::bv_names::{MAX_WIDTH, parse_builtin};
use super::super::print_expr::print_type;
use super::super::scope::with_suggestion;
use super::super::subset;
use super::super::surface::{ASCRIPTION, BOUNDS, NO_PATTERNS};
use super::super::visit;
use super::{Checker, Context, Entry, EntryKind, Mode, Signature, launch_constant};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::sync::Arc;

impl Checker<'_> {
    /// The expression with its type, `None` after an error. Nodes that are right already are shared.
    pub(super) fn expr(&mut self, e: &ExprRef) -> Option<ExprRef> {
        // What holds under a binder need not hold elsewhere.
        let reusable = self.mode == Mode::Verify && self.bound.is_empty();
        if reusable && self.visited.contains(&Arc::as_ptr(e)) {
            return Some(e.clone());
        }
        let (kind, ty) = self.kind(e)?;
        if ty == e.ty && kind == e.kind {
            if reusable {
                self.visited.insert(Arc::as_ptr(e));
            }
            return Some(e.clone());
        }
        if self.mode == Mode::Verify && ty != e.ty {
            let message = format!("an expression is recorded as {}, but is {}", print_type(&e.ty), print_type(&ty));
            let shown = super::super::print_expr(e);
            self.report_type(Diagnostic::error("ivl-type", message, e.span).note(format!("the expression: {shown}")));
            return None;
        }
        Some(Arc::new(Expr { kind, ty, span: e.span }))
    }

    /// The expression, whose type has to be `ty`.
    pub(super) fn expr_of(&mut self, e: &ExprRef, ty: &Type, what: &str) -> Option<ExprRef> {
        let typed = self.expr(e)?;
        self.same_type(&typed, ty, what)?;
        Some(typed)
    }

    /// Reports when the expression has another type; `what` says whose operand it is.
    fn same_type(&mut self, e: &ExprRef, ty: &Type, what: &str) -> Option<()> {
        self.same_type_as_declared(e, ty, what, Span::NONE)
    }

    fn same_type_as_declared(&mut self, e: &ExprRef, ty: &Type, what: &str, declared: Span) -> Option<()> {
        if e.ty == *ty {
            return Some(());
        }
        let message = format!("{what} is {}, not {}", print_type(ty), print_type(&e.ty));
        self.report_type(declared_at(declared, Diagnostic::error("ivl-type", message, e.span)));
        None
    }

    /// Operands that must all be typed before any is used, so that each one's errors are reported.
    pub(super) fn exprs(&mut self, list: &[ExprRef]) -> Option<Vec<ExprRef>> {
        let typed: Vec<Option<ExprRef>> = list.iter().map(|e| self.expr(e)).collect();
        typed.into_iter().collect()
    }

    fn kind(&mut self, e: &Expr) -> Option<(ExprKind, Type)> {
        Some(match &e.kind {
            ExprKind::Bool(_) => (e.kind.clone(), Type::Bool),
            ExprKind::Int(_) => (e.kind.clone(), Type::Int),
            ExprKind::Bv(value) => (e.kind.clone(), self.literal(*value, &e.ty, e.span)?),
            ExprKind::Var(name) => {
                let (name, ty) = self.read(name, e.span)?;
                (ExprKind::Var(name), ty)
            }
            ExprKind::Unary(op, a) => {
                let (ty, what) = match op {
                    // The condition of an `if` or `while`, negated for the other way.
                    UnaryOp::Not if a.span == e.span && self.mode == Mode::Elaborate => (Type::Bool, "a formula"),
                    UnaryOp::Not => (Type::Bool, "the operand of `!`"),
                    UnaryOp::Neg => (Type::Int, "the operand of `-`"),
                };
                (ExprKind::Unary(*op, self.expr_of(a, &ty, what)?), ty)
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span)?,
            ExprKind::Ite(c, a, b) => {
                let c = self.expr_of(c, &Type::Bool, "a condition");
                let branches = self.exprs(&[a.clone(), b.clone()])?;
                let ty = branches[0].ty.clone();
                self.same_type(&branches[1], &ty, "the other branch")?;
                (ExprKind::Ite(c?, branches[0].clone(), branches[1].clone()), ty)
            }
            ExprKind::Call(name, args) if name.as_str() == ASCRIPTION && self.mode == Mode::Elaborate => {
                let mut ty = e.ty.clone();
                self.resolve(&mut ty, e.span);
                let typed = self.expr_of(args.first()?, &ty, "the type of this expression")?;
                (typed.kind.clone(), ty)
            }
            ExprKind::Call(name, _) if name.as_str() == BOUNDS && self.mode == Mode::Elaborate => {
                self.error("ivl-syntax", "the places of bits stand only in `e[high:low]`", e.span);
                return None;
            }
            ExprKind::Call(name, args) => self.call(name, args, e.span)?,
            ExprKind::Extract { value, high, low } => self.extract(value, *high, *low, e.span)?,
            ExprKind::Concat(a, b) => {
                let parts = self.exprs(&[a.clone(), b.clone()])?;
                let width = self.bv_width(&parts[0], "`++`")?.checked_add(self.bv_width(&parts[1], "`++`")?)?;
                if width > MAX_WIDTH {
                    self.type_error(format!("a bit-vector of {width} bits; {MAX_WIDTH} is the most"), e.span);
                    return None;
                }
                (ExprKind::Concat(parts[0].clone(), parts[1].clone()), Type::Bv(width))
            }
            ExprKind::Select(map, indices) => {
                let (map, indices, element) = self.map_access(map, indices)?;
                (ExprKind::Select(map, indices), element)
            }
            ExprKind::Store(map, indices, value) => {
                let value = self.expr(value);
                let (map, indices, element) = self.map_access(map, indices)?;
                let value = value?;
                self.same_type(&value, &element, "an element of this map")?;
                let ty = map.ty.clone();
                (ExprKind::Store(map, indices, value), ty)
            }
            ExprKind::Old(a) => {
                if self.context != Context::TwoState {
                    self.error("ivl-type", "`old` stands only in postconditions and procedure bodies", e.span);
                    return None;
                }
                let a = self.expr(a)?;
                let ty = a.ty.clone();
                (ExprKind::Old(a), ty)
            }
            ExprKind::Quantifier { universal, variables, triggers, attributes, body } => {
                self.quantifier(*universal, variables, (triggers, attributes), body, e.span)?
            }
        })
    }

    fn literal(&mut self, value: u128, ty: &Type, span: Span) -> Option<Type> {
        match ty {
            Type::Bv(width) if (1..=MAX_WIDTH).contains(width) && (*width == 128 || value >> width == 0) => {
                Some(ty.clone())
            }
            _ => {
                let message = format!("the bit-vector literal {value} is recorded as {}", print_type(ty));
                self.type_error(message, span);
                None
            }
        }
    }

    fn read(&mut self, name: &Name, span: Span) -> Option<(Name, Type)> {
        let entry = self.variable(name, span)?;
        match entry.kind {
            EntryKind::Array { .. } => {
                let message = format!("the array `{name}` is read only by a load `x := {name}[i];`");
                self.report(Diagnostic::error("ivl-kernel", message, span).also(entry.span, "declared here"));
                None
            }
            EntryKind::Global if self.context == Context::Pure => {
                let message = format!("an axiom or function body cannot read the variable `{name}`");
                self.report(Diagnostic::error("ivl-type", message, span).also(entry.span, "declared here"));
                None
            }
            _ => Some((entry.name, entry.ty)),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &ExprRef, b: &ExprRef, span: Span) -> Option<(ExprKind, Type)> {
        use BinaryOp::*;
        let operands = self.exprs(&[a.clone(), b.clone()])?;
        let [a, b] = operands.as_slice() else { return None };
        let (operand, result) = match op {
            And | Or | Implies | Iff => (Type::Bool, Type::Bool),
            Eq | Ne => (a.ty.clone(), Type::Bool),
            Lt | Le | Gt | Ge => (Type::Int, Type::Bool),
            Add | Sub | Mul | Div | Mod => (Type::Int, Type::Int),
        };
        if let (Type::Int, Type::Bv(width)) = (&operand, &a.ty) {
            let message = format!("`{}` works on int, not bv{width}", op.text());
            let error = Diagnostic::error("ivl-type", message, span);
            self.report_type(error.note(bit_vector_hint(op, *width)));
            return None;
        }
        let (left, right) = (format!("the left side of `{}`", op.text()), format!("the right side of `{}`", op.text()));
        let left = self.same_type(a, &operand, &left);
        self.same_type(b, &operand, &right)?;
        left?;
        Some((ExprKind::Binary(op, a.clone(), b.clone()), result))
    }

    fn call(&mut self, name: &Name, args: &[ExprRef], span: Span) -> Option<(ExprKind, Type)> {
        let signature = match self.functions.get(name) {
            Some(signature) => signature.clone(),
            None => match parse_builtin(name.as_str()) {
                Some(builtin) => {
                    let (params, result) = builtin.signature();
                    Signature { params, result, standard: None, span: Span::NONE }
                }
                None if name.as_str() == "real" => {
                    self.report(subset::error("the conversion `real`", self.word(span, name)));
                    return None;
                }
                None => {
                    let word = self.word(span, name);
                    let error = Diagnostic::error("ivl-name", format!("no function is called `{name}`"), word);
                    let error = with_suggestion(error, name, self.functions.keys());
                    let error = match self.procedures.contains_key(name) {
                        true => error.note("it is a procedure: `call` it in a statement"),
                        false => error,
                    };
                    self.report(error);
                    self.exprs(args);
                    return None;
                }
            },
        };
        let args = self.exprs(args)?;
        self.arguments("function", name, &args, &signature.params, (span, signature.span))?;
        let name = match (self.mode, signature.standard) {
            (Mode::Elaborate, Some(standard)) => standard,
            _ => name.clone(),
        };
        Some((ExprKind::Call(name, args), signature.result))
    }

    /// Number and types of arguments of a call, which stands at the first place; the second is that of the declaration.
    pub(super) fn arguments(
        &mut self,
        kind: &str,
        name: &Name,
        args: &[ExprRef],
        params: &[Type],
        (span, declared): (Span, Span),
    ) -> Option<()> {
        if args.len() != params.len() {
            let arguments = if params.len() == 1 { "argument" } else { "arguments" };
            let message = format!("{kind} `{name}` takes {} {arguments}, not {}", params.len(), args.len());
            let error = declared_at(declared, Diagnostic::error("ivl-type", message, span));
            // Boogie counts the arguments of a procedure together with the names, those of a function with the types.
            if kind == "procedure" {
                self.report(error)
            } else {
                self.report_type(error)
            }
            return None;
        }
        let mut good = Some(());
        for (index, (arg, param)) in args.iter().zip(params).enumerate() {
            let what = format!("argument {} of `{name}`", index + 1);
            good = self.same_type_as_declared(arg, param, &what, declared).and(good);
        }
        good
    }

    fn extract(&mut self, value: &ExprRef, high: u32, low: u32, span: Span) -> Option<(ExprKind, Type)> {
        let value = self.expr(value)?;
        let width = self.bv_width(&value, "an extraction")?;
        if low >= high || high > width {
            let message = format!("[{high}:{low}] takes no bits of a bv{width}: it needs {width} >= high > low >= 0");
            self.type_error(message, span);
            return None;
        }
        Some((ExprKind::Extract { value, high, low }, Type::Bv(high - low)))
    }

    fn bv_width(&mut self, e: &ExprRef, what: &str) -> Option<u32> {
        match e.ty {
            Type::Bv(width) => Some(width),
            _ => {
                self.type_error(format!("{what} works on bit-vectors, not {}", print_type(&e.ty)), e.span);
                None
            }
        }
    }

    fn map_access(&mut self, map: &ExprRef, indices: &[ExprRef]) -> Option<(ExprRef, Vec<ExprRef>, Type)> {
        let map = self.expr(map);
        let indices = self.exprs(indices);
        let (map, indices) = (map?, indices?);
        let Type::Map(domain, element) = map.ty.clone() else {
            self.type_error(format!("only maps have elements, not {}", print_type(&map.ty)), map.span);
            return None;
        };
        if indices.len() != domain.len() {
            let message = format!("this map takes {} indices, not {}", domain.len(), indices.len());
            self.type_error(message, map.span);
            return None;
        }
        for (index, ty) in indices.iter().zip(&domain) {
            self.same_type(index, ty, "an index of this map")?;
        }
        Some((map, indices, *element))
    }

    fn quantifier(
        &mut self,
        universal: bool,
        variables: &[(Name, Type)],
        (triggers, attributes): (&[Vec<ExprRef>], &[Attribute]),
        body: &ExprRef,
        span: Span,
    ) -> Option<(ExprKind, Type)> {
        let outer = self.bound.len();
        let mut unique = Vec::new();
        for (name, ty) in variables {
            let mut ty = ty.clone();
            self.identifier(name, span);
            self.resolve(&mut ty, span);
            let place = self.word(span, name);
            let entry = self.bound.iter().rev().find(|(bound, _)| bound == name).map(|(_, entry)| entry);
            if let Some(first) = entry.or_else(|| self.local.get(name)).map(|entry| entry.span) {
                let message = format!("the bound variable `{name}` hides another variable");
                self.report(Diagnostic::error("ivl-duplicate", message, place).also(first, "declared here"));
            }
            let hides = self.top_level.contains_key(name) || (self.kernel && launch_constant(name.as_str()).is_some());
            let own = if hides { self.unhidden("bound variable", name, place) } else { name.clone() };
            unique.push((own.clone(), ty.clone()));
            self.bound.push((name.clone(), Entry::new(own, ty, EntryKind::Bound, place)));
        }
        if self.mode == Mode::Elaborate {
            self.guides(triggers, attributes);
        }
        let mut attributes = attributes.to_vec();
        self.attributes_here(&mut attributes, span);
        let triggers: Option<Vec<_>> = triggers.iter().map(|t| self.exprs(t)).collect();
        let body = self.expr_of(body, &Type::Bool, "the body of a quantifier");
        self.bound.truncate(outer);
        let triggers = triggers?;
        if self.mode == Mode::Elaborate {
            triggers.iter().for_each(|trigger| self.trigger(trigger, variables, &unique, span));
        }
        let body = body?;
        Some((ExprKind::Quantifier { universal, variables: unique, triggers, attributes, body }, Type::Bool))
    }

    /// What the terms of triggers and of `{:nopats}` are made of.
    fn guides(&mut self, triggers: &[Vec<ExprRef>], attributes: &[Attribute]) {
        let excluded = attributes.iter().filter(|attribute| attribute.name.as_str() == NO_PATTERNS);
        for term in triggers.iter().flatten().chain(excluded.filter_map(Attribute::condition)) {
            if let ExprKind::Var(_) = &term.kind {
                self.error("ivl-type", "a trigger is more than a variable", term.span);
            }
            self.no_formula_in(term);
        }
    }

    /// Triggers have no connectives, equalities, comparisons or quantifiers; Boogie lets `!=` pass, of which solvers make
    /// nothing.
    fn no_formula_in(&mut self, term: &ExprRef) {
        use BinaryOp::*;
        let (what, place) = match &term.kind {
            ExprKind::Unary(UnaryOp::Not, _) => ("`!`", term.span),
            ExprKind::Binary(And | Or | Implies | Iff, ..) => ("a connective", term.span),
            ExprKind::Binary(Eq, ..) => ("`==`", term.span),
            ExprKind::Binary(Lt | Le | Gt | Ge, ..) => ("a comparison", term.span),
            ExprKind::Quantifier { .. } => ("a quantifier", term.span),
            _ => {
                visit::children(term).into_iter().for_each(|child| self.no_formula_in(child));
                return;
            }
        };
        self.error("ivl-type", format!("{what} cannot stand in a trigger"), place);
    }

    /// A trigger tells the values of all bound variables.
    fn trigger(&mut self, terms: &[ExprRef], written: &[(Name, Type)], unique: &[(Name, Type)], span: Span) {
        if terms.iter().any(|term| matches!(term.kind, ExprKind::Var(_))) {
            return;
        }
        let place = terms.iter().map(|term| term.span).reduce(Span::to).unwrap_or(span);
        for ((written, _), (bound, _)) in written.iter().zip(unique) {
            if !terms.iter().any(|term| visit::mentions(term, bound)) {
                let message = format!("this trigger does not mention the bound variable `{written}`");
                self.error("ivl-type", message, place);
            }
        }
    }
}

impl Checker<'_> {
    /// The name that a variable gets which has the name of a top-level one: in a generated program it must not.
    pub(super) fn unhidden(&mut self, what: &str, name: &Name, span: Span) -> Name {
        match self.mode {
            Mode::Elaborate => self.fresh(name),
            Mode::Verify => {
                self.error("ivl-duplicate", format!("the {what} `{name}` hides another variable"), span);
                name.clone()
            }
        }
    }
}

fn bit_vector_hint(op: BinaryOp, width: u32) -> String {
    use BinaryOp::*;
    match op {
        Add => format!("write BV{width}_ADD(a, b)"),
        Sub => format!("write BV{width}_SUB(a, b)"),
        Mul => format!("write BV{width}_MUL(a, b)"),
        Div => format!("write BV{width}_UDIV(a, b) or BV{width}_SDIV(a, b)"),
        Mod => format!("write BV{width}_UREM(a, b) or BV{width}_SREM(a, b)"),
        Lt => format!("write BV{width}_ULT(a, b), or BV{width}_SLT(a, b) for signed numbers"),
        Le => format!("write BV{width}_ULE(a, b), or BV{width}_SLE(a, b) for signed numbers"),
        Gt => format!("write BV{width}_UGT(a, b), or BV{width}_SGT(a, b) for signed numbers"),
        _ => format!("write BV{width}_UGE(a, b), or BV{width}_SGE(a, b) for signed numbers"),
    }
}

/// With the place of a declaration, where the input has one.
pub(super) fn declared_at(declared: Span, error: Diagnostic) -> Diagnostic {
    if declared == Span::NONE { error } else { error.also(declared, "declared here") }
}
