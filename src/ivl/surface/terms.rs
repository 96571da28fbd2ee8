//! Expressions under construction: operators, literals, quantifiers.

use super::{ASCRIPTION, BOUNDS, MAX_DEPTH, NO_PATTERNS, ParseError, action_error};
use crate::ivl::ast::*;
use crate::ivl::bv_names::MAX_WIDTH;
use crate::span::Span;
use std::sync::Arc;

/// An expression under construction.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// The expression; its type is a placeholder.
    pub(crate) expr: ExprRef,
    depth: u32,
    /// True when it stands in parentheses.
    enclosed: bool,
}

impl Term {
    pub(crate) fn leaf(kind: ExprKind, ty: Type, span: Span) -> Term {
        Term { expr: Arc::new(Expr { kind, ty, span }), depth: 1, enclosed: false }
    }

    /// A node over `children`, which `kind` already holds.
    pub(crate) fn node<'input>(kind: ExprKind, depth: u32, span: Span) -> Result<Term, ParseError<'input>> {
        if depth >= MAX_DEPTH {
            return action_error(span, format!("this expression nests more than {MAX_DEPTH} deep"));
        }
        // The placeholder type; the checker puts the right one.
        Ok(Term { expr: Arc::new(Expr { kind, ty: Type::Bool, span }), depth: depth + 1, enclosed: false })
    }

    /// The same expression in parentheses.
    pub(crate) fn enclose<'input>(mut self, span: Span) -> Result<Term, ParseError<'input>> {
        if self.bounds().is_some() {
            return action_error(span, "the places of bits stand in no parentheses");
        }
        self.enclosed = true;
        Ok(self)
    }

    /// A unary operator; a minus before a bare literal belongs to the literal.
    pub(crate) fn unary<'input>(op: UnaryOp, a: Term, span: Span) -> Result<Term, ParseError<'input>> {
        match (op, &a.expr.kind) {
            (UnaryOp::Neg, ExprKind::Int(value)) if *value >= 0 && !a.enclosed => {
                Ok(Term::leaf(ExprKind::Int(-value), Type::Int, span))
            }
            _ => Term::node(ExprKind::Unary(op, a.expr), a.depth, span),
        }
    }

    /// A binary operator.
    pub(crate) fn binary<'input>(op: BinaryOp, a: Term, b: Term) -> Result<Term, ParseError<'input>> {
        let (span, depth) = (a.expr.span.to(b.expr.span), a.depth.max(b.depth));
        Term::node(ExprKind::Binary(op, a.expr, b.expr), depth, span)
    }

    /// `a ++ b`
    pub(crate) fn concat<'input>(a: Term, b: Term) -> Result<Term, ParseError<'input>> {
        let (span, depth) = (a.expr.span.to(b.expr.span), a.depth.max(b.depth));
        Term::node(ExprKind::Concat(a.expr, b.expr), depth, span)
    }

    /// `if c then a else b`
    pub(crate) fn ite<'input>(c: Term, a: Term, b: Term, span: Span) -> Result<Term, ParseError<'input>> {
        let depth = c.depth.max(a.depth).max(b.depth);
        Term::node(ExprKind::Ite(c.expr, a.expr, b.expr), depth, span)
    }

    /// `f(args)`
    pub(crate) fn call<'input>(function: Name, args: Vec<Term>, span: Span) -> Result<Term, ParseError<'input>> {
        let depth = deepest(&args);
        Term::node(ExprKind::Call(function, expressions(args)), depth, span)
    }

    /// `m[i, ...]`, or `e[high:low]`
    pub(crate) fn select<'input>(map: Term, indices: Vec<Term>, span: Span) -> Result<Term, ParseError<'input>> {
        if let [index] = indices.as_slice()
            && let Some((high, low)) = index.bounds()
        {
            return Term::node(ExprKind::Extract { value: map.expr, high, low }, map.depth, span);
        }
        let depth = deepest(&indices).max(map.depth);
        Term::node(ExprKind::Select(map.expr, expressions(indices)), depth, span)
    }

    /// `m[i, ... := v]`
    pub(crate) fn store<'input>(
        map: Term,
        indices: Vec<Term>,
        value: Term,
        span: Span,
    ) -> Result<Term, ParseError<'input>> {
        let depth = deepest(&indices).max(map.depth).max(value.depth);
        Term::node(ExprKind::Store(map.expr, expressions(indices), value.expr), depth, span)
    }

    /// `e: T`
    pub(crate) fn ascription<'input>(a: Term, ty: Type, span: Span) -> Result<Term, ParseError<'input>> {
        let mut term = Term::node(ExprKind::Call(Name::new(ASCRIPTION), vec![a.expr.clone()]), a.depth, span)?;
        term.expr = Arc::new(Expr { ty, ..(*term.expr).clone() });
        Ok(term)
    }

    /// `high:low`
    pub(crate) fn bounds_of<'input>(high: Term, low: &str, span: Span) -> Result<Term, ParseError<'input>> {
        let high = match high.expr.kind {
            ExprKind::Int(high) if !high.is_negative() => high,
            _ => return action_error(span, "the places of bits are numbers"),
        };
        let (Ok(high), Ok(low)) = (u32::try_from(high), low.parse::<u32>()) else {
            return action_error(span, format!("bit positions go up to {MAX_WIDTH}"));
        };
        let place = |at: u32| Term::leaf(ExprKind::Int(at.into()), Type::Int, span).expr;
        Term::node(ExprKind::Call(Name::new(BOUNDS), vec![place(high), place(low)]), 1, span)
    }

    /// The numbers of `high:low`.
    fn bounds(&self) -> Option<(u32, u32)> {
        match &self.expr.kind {
            ExprKind::Call(name, args) if name.as_str() == BOUNDS => match args.as_slice() {
                [high, low] => Some((position(high)?, position(low)?)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `old(e)`
    pub(crate) fn old<'input>(a: Term, span: Span) -> Result<Term, ParseError<'input>> {
        Term::node(ExprKind::Old(a.expr), a.depth, span)
    }

    /// `(forall x: T :: {:a} {t} body)`
    pub(crate) fn quantifier<'input>(
        universal: bool,
        variables: Vec<(Name, Type)>,
        guides: Vec<TriggerOrAttribute>,
        body: Term,
        span: Span,
    ) -> Result<Term, ParseError<'input>> {
        let (mut triggers, mut attributes, mut depth) = (Vec::new(), Vec::new(), body.depth);
        for guide in guides {
            match guide {
                TriggerOrAttribute::Trigger(terms) => {
                    depth = depth.max(deepest(&terms));
                    triggers.push(expressions(terms));
                }
                TriggerOrAttribute::Attribute(attribute) => attributes.push(attribute),
            }
        }
        Term::node(ExprKind::Quantifier { universal, variables, triggers, attributes, body: body.expr }, depth, span)
    }
}

fn position(e: &Expr) -> Option<u32> {
    match e.kind {
        ExprKind::Int(at) => u32::try_from(at).ok(),
        _ => None,
    }
}

/// What stands between `::` and the body of a quantifier.
#[derive(Clone, Debug)]
pub(crate) enum TriggerOrAttribute {
    /// `{t, ...}`
    Trigger(Vec<Term>),
    /// `{:name ...}`
    Attribute(Attribute),
}

/// An attribute of a quantifier.
pub(crate) fn quantifier_attribute<'input>(
    attribute: Attribute,
    span: Span,
) -> Result<TriggerOrAttribute, ParseError<'input>> {
    let is_term = matches!(attribute.args.as_slice(), [AttributeArg::Expr(_)]);
    if attribute.name.as_str() == NO_PATTERNS && !is_term {
        return action_error(span, "it is written {:nopats e}, with one term");
    }
    Ok(TriggerOrAttribute::Attribute(attribute))
}
fn deepest(terms: &[Term]) -> u32 {
    terms.iter().map(|t| t.depth).max().unwrap_or(0)
}

/// The expressions of terms.
pub(crate) fn expressions(terms: Vec<Term>) -> Vec<ExprRef> {
    terms.into_iter().map(|t| t.expr).collect()
}

/// A non-negative integer literal.
pub(crate) fn integer<'input>(text: &str, span: Span) -> Result<Term, ParseError<'input>> {
    match text.parse() {
        Ok(value) => Ok(Term::leaf(ExprKind::Int(value), Type::Int, span)),
        Err(_) => action_error(span, "integer literals go up to 2^127 - 1"),
    }
}

/// `VALUEbvWIDTH`
pub(crate) fn bit_vector<'input>(text: &str, span: Span) -> Result<Term, ParseError<'input>> {
    let (value, width) = text.split_once("bv").unwrap_or((text, ""));
    let width = match width.parse() {
        Ok(width) if (1..=MAX_WIDTH).contains(&width) => width,
        _ => return action_error(span, format!("bit-vectors are 1 to {MAX_WIDTH} bits wide")),
    };
    match value.parse::<u128>() {
        Ok(value) if width == 128 || value >> width == 0 => Ok(Term::leaf(ExprKind::Bv(value), Type::Bv(width), span)),
        _ => action_error(span, format!("{value} does not fit in {width} bits")),
    }
}
