//! Annotation expressions: `//@ requires %r1 < 5 && !%p2;`
//!
//! Input: the text of an annotation and the registers that it names. Output: an `assume` or `assert`.
//! Grammar: `||`, `&&`, `!`, comparisons, parentheses, registers, launch registers such as `%ntid.x`,
//! integers, `true`, `false`. A plain register means "is not 0". A comparison is unsigned if an operand
//! has an unsigned type, else signed, as wide as its widest operand.
//! Reference: DESIGN section 3, "Annotations".

use super::lowering::{Lowering, flag, text};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{ExprRef, StmtKind, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{Annotation, RegisterId, ScalarType, SpecialRegister};
use std::sync::Arc;

/// Nesting deeper than this is refused.
const MAX_DEPTH: usize = 100;

/// A parsed operand.
enum Term {
    Bool(ExprRef),
    /// A value with the signedness of its type.
    Value(ExprRef, bool),
    Integer(i128),
}

impl Lowering<'_> {
    /// Translates an annotation.
    pub fn annotation(&mut self, annotation: &Annotation, registers: &[(Arc<str>, RegisterId)]) {
        self.origin = Some(annotation.origin.clone());
        (self.guard, self.guard_value) = (None, None);
        if annotation.kind == "barrier_invariant" {
            return self.unsupported("annotation", "`barrier_invariant` has no meaning yet");
        }
        let tokens = match tokens(&annotation.expression) {
            Ok(tokens) => tokens,
            Err(message) => return self.bad_annotation(annotation, message),
        };
        let mut parser = Parser { lowering: self, registers, tokens: &tokens, next: 0, depth: 0 };
        let parsed = parser.whole();
        let formula = match parsed {
            Ok(formula) => formula,
            Err(message) => return self.bad_annotation(annotation, message),
        };
        let expression = annotation.expression.trim();
        match annotation.kind.as_str() {
            "requires" => self.emit_with(StmtKind::Assume(formula), vec![flag("requires")]),
            "assume" => self.emit_with(StmtKind::Assume(formula), vec![flag("assume")]),
            "assert" => self.emit_with(StmtKind::Assert(formula), vec![text("user_assert", expression)]),
            "invariant" => self.emit_with(StmtKind::Assert(formula), vec![flag("invariant")]),
            other => self.bad_annotation(annotation, format!("`{other}` is no kind of annotation")),
        }
    }

    fn bad_annotation(&mut self, annotation: &Annotation, message: String) {
        self.diagnostics.push(
            Diagnostic::error("annotation", message, annotation.origin.span)
                .note("an annotation is `//@ requires|assume|assert|invariant EXPRESSION;` over registers"),
        );
    }
}

const SYMBOLS: [&str; 11] = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")"];

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s)).map(|s| s.len());
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$' | '.');
        let negative = first == '-' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let length = match symbol {
            Some(length) => length,
            None if word(first) || negative => {
                let skip = usize::from(negative);
                skip + rest[skip..].find(|c| !word(c)).unwrap_or(rest.len() - skip)
            }
            None => return Err(format!("unexpected `{first}`")),
        };
        found.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

struct Parser<'p, 'a> {
    lowering: &'p mut Lowering<'a>,
    registers: &'p [(Arc<str>, RegisterId)],
    tokens: &'p [&'p str],
    next: usize,
    depth: usize,
}

impl Parser<'_, '_> {
    fn accept(&mut self, token: &str) -> bool {
        let found = self.tokens.get(self.next) == Some(&token);
        self.next += usize::from(found);
        found
    }

    fn whole(&mut self) -> Result<ExprRef, String> {
        let term = self.disjunction()?;
        match self.tokens.get(self.next) {
            None => Ok(formula(term)),
            Some(token) => Err(format!("unexpected `{token}`")),
        }
    }

    fn disjunction(&mut self) -> Result<Term, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the expression is nested too deeply".to_string());
        }
        let mut left = self.conjunction()?;
        while self.accept("||") {
            let right = self.conjunction()?;
            left = Term::Bool(bv::or(formula(left), formula(right)));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Term, String> {
        let mut left = self.comparison()?;
        while self.accept("&&") {
            let right = self.comparison()?;
            left = Term::Bool(bv::and(formula(left), formula(right)));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Term, String> {
        let left = self.negation()?;
        for operator in ["==", "!=", "<=", ">=", "<", ">"] {
            if self.accept(operator) {
                let right = self.negation()?;
                return compare(operator, left, right).map(Term::Bool);
            }
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Term, String> {
        let mut negated = false;
        while self.accept("!") {
            negated = !negated;
        }
        let term = self.atom()?;
        Ok(if negated { Term::Bool(bv::not(formula(term))) } else { term })
    }

    fn atom(&mut self) -> Result<Term, String> {
        if self.accept("(") {
            let inner = self.disjunction()?;
            return if self.accept(")") { Ok(inner) } else { Err("`)` is missing".to_string()) };
        }
        let Some(&token) = self.tokens.get(self.next) else { return Err("the expression ends early".to_string()) };
        self.next += 1;
        if let Some((_, register)) = self.registers.iter().find(|(name, _)| **name == *token) {
            return Ok(self.register(*register));
        }
        if let Some(value) = integer(token) {
            return Ok(Term::Integer(value));
        }
        match token {
            "true" | "false" => Ok(Term::Bool(bv::boolean(token == "true"))),
            _ => match special(token).and_then(|s| self.lowering.launch.special(s)) {
                Some(value) => Ok(Term::Value(value, false)),
                None => Err(format!("`{token}` is no register of this function")),
            },
        }
    }

    fn register(&mut self, register: RegisterId) -> Term {
        let ty = self.lowering.cfg.registers[register.0 as usize].ty;
        let value = self.lowering.value(register);
        match value.ty {
            Type::Bool => Term::Bool(value),
            // `.b` registers count as signed: they are what C's `int` becomes.
            _ => Term::Value(value, !matches!(ty, ScalarType::U(_))),
        }
    }
}

fn integer(token: &str) -> Option<i128> {
    let (negative, digits) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let lower = digits.to_ascii_lowercase();
    let digits = lower.trim_end_matches('u');
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -i128::from(value) } else { i128::from(value) })
}

fn special(token: &str) -> Option<SpecialRegister> {
    let (name, axis) = token.strip_prefix('%')?.split_once('.')?;
    let axis = u8::try_from(["x", "y", "z"].iter().position(|a| *a == axis)?).ok()?;
    match name {
        "tid" => Some(SpecialRegister::Tid(axis)),
        "ntid" => Some(SpecialRegister::Ntid(axis)),
        "ctaid" => Some(SpecialRegister::Ctaid(axis)),
        "nctaid" => Some(SpecialRegister::Nctaid(axis)),
        _ => None,
    }
}

/// A term as a formula: values mean "is not 0".
fn formula(term: Term) -> ExprRef {
    match term {
        Term::Bool(formula) => formula,
        Term::Value(value, _) => {
            let zero = bv::literal(0, bv::width(&value));
            bv::ne(value, zero)
        }
        Term::Integer(value) => bv::boolean(value != 0),
    }
}

fn compare(operator: &str, left: Term, right: Term) -> Result<ExprRef, String> {
    let is_equality = matches!(operator, "==" | "!=");
    let (a, b, signed) = match (left, right) {
        (Term::Value(a, s), Term::Value(b, t)) => {
            let width = bv::width(&a).max(bv::width(&b));
            let widen = |e, signed| if signed { bv::sext(e, width) } else { bv::zext(e, width) };
            (widen(a, s), widen(b, t), s && t)
        }
        (Term::Value(a, s), Term::Integer(n)) => {
            let literal = fitting(n, bv::width(&a), s && !is_equality)?;
            (a, literal, s)
        }
        (Term::Integer(n), Term::Value(b, s)) => (fitting(n, bv::width(&b), s && !is_equality)?, b, s),
        (Term::Integer(a), Term::Integer(b)) => (bv::literal(a as u128, 128), bv::literal(b as u128, 128), true),
        (a, b) => {
            let (a, b) = (formula(a), formula(b));
            return match operator {
                "==" => Ok(super::arithmetic::iff(a, b)),
                "!=" => Ok(bv::ne(a, b)),
                _ => Err(format!("`{operator}` compares numbers, not predicates")),
            };
        }
    };
    let pick = |of_unsigned: BvOp, of_signed: BvOp| if signed { of_signed } else { of_unsigned };
    Ok(match operator {
        "==" => bv::eq(a, b),
        "!=" => bv::ne(a, b),
        "<" => bv::binary(pick(BvOp::Ult, BvOp::Slt), a, b),
        "<=" => bv::binary(pick(BvOp::Ule, BvOp::Sle), a, b),
        ">" => bv::binary(pick(BvOp::Ugt, BvOp::Sgt), a, b),
        _ => bv::binary(pick(BvOp::Uge, BvOp::Sge), a, b),
    })
}

/// A literal of some width; one that does not fit would silently mean another number.
fn fitting(value: i128, width: u32, signed: bool) -> Result<ExprRef, String> {
    let bits = width.min(64) - u32::from(signed);
    if value >= -(1i128 << (width.min(64) - 1)) && value < 1i128 << bits {
        Ok(bv::literal(value as u128, width))
    } else {
        Err(format!("{value} does not fit a {} number of {width} bits", if signed { "signed" } else { "plain" }))
    }
}
