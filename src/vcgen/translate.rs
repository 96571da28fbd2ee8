//! IVL expressions to terms.
//!
//! Input: a typed IVL expression and the current value of each variable. Output: a term.
//! Establishes: bit-vector builtins have their SMT-LIB meaning; functions with bodies are expanded, others
//! are uninterpreted; bound variables are symbols of their own. Relies on: `ivl::check` has accepted the program.
//! Reference: Boogie 2, expressions.

use super::term::{BvBinary, BvCompare, OtherSort, Quantifier, Sort, Term, Terms};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Attribute, BinaryOp, Expr, ExprKind, ExprRef, Function, Name, Type, UnaryOp};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::BvOp;
use crate::ivl::bv_names::{Builtin, parse_builtin};
use crate::ivl::{print_type, visit};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The current values of variables.
pub(crate) type Environment = BTreeMap<Name, Term>;

/// Which programs are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Two-thread programs: Booleans, integers and bit-vectors only, which executions can be found of.
    Kernel,
    /// All of Boogie's core.
    Full,
}

/// Translates expressions of one program.
pub(crate) struct Translator<'a> {
    /// Declared functions by name.
    pub(crate) functions: BTreeMap<&'a Name, &'a Function>,
    /// Functions with bodies that are told by an axiom, since triggers name them or they need themselves.
    pub(crate) by_axiom: BTreeSet<Name>,
    /// What may occur.
    pub(crate) language: Language,
}

/// The values of the variables of an expression.
#[derive(Clone)]
pub(crate) struct Scope<'e> {
    /// Bound variables, parameters of functions and of callees: the last of a name counts.
    pub(crate) bound: Vec<(Name, Term)>,
    /// Values of the other variables.
    pub(crate) now: &'e Environment,
    /// What `old` gives global variables; `None` where nothing is earlier.
    pub(crate) before: Option<&'e Environment>,
    /// True below `old`.
    in_old: bool,
}

impl<'e> Scope<'e> {
    /// Variables with their values now, and before.
    pub(crate) fn new(now: &'e Environment, before: Option<&'e Environment>) -> Self {
        Scope { bound: Vec::new(), now, before, in_old: false }
    }

    /// The same with names for values.
    pub(crate) fn with(self, bound: Vec<(Name, Term)>) -> Self {
        Scope { bound, ..self }
    }

    /// The value of a variable.
    pub(crate) fn value(&self, name: &Name) -> Option<Term> {
        let bound = self.bound.iter().rev().find(|(other, _)| other == name).map(|(_, term)| *term);
        // Earlier values are told of global variables only.
        let before = self.before.filter(|_| self.in_old).and_then(|before| before.get(name));
        bound.or(before.copied()).or_else(|| self.now.get(name).copied())
    }
}

/// The attribute of a function whose applications are no triggers unless the author writes them.
const NEVER_PATTERN: &str = "never_pattern";

/// What stands in front of the body of a quantifier.
struct Guides<'e> {
    triggers: &'e [Vec<ExprRef>],
    attributes: &'e [Attribute],
}

fn small_number(e: &ExprRef) -> Option<u32> {
    match e.kind {
        ExprKind::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

fn unsupported(what: &str, span: Span) -> Diagnostic {
    Diagnostic::unsupported("unsupported-ivl", format!("{what} is not supported in verification conditions"), span)
}

impl Translator<'_> {
    /// The sort of a type.
    ///
    /// # Errors
    /// `unsupported-ivl` for types that the language does not have.
    pub(crate) fn sort_of(&self, terms: &mut Terms, ty: &Type, span: Span) -> Result<Sort, Diagnostic> {
        match ty {
            Type::Bool => Ok(Sort::Bool),
            Type::Int => Ok(Sort::Int),
            Type::Bv(width) if (1..=128).contains(width) => Ok(Sort::Bv(*width)),
            Type::Map(domain, element) if self.language == Language::Full => {
                let domain =
                    domain.iter().map(|ty| self.sort_of(terms, ty, span)).collect::<Result<Vec<Sort>, Diagnostic>>()?;
                let element = self.sort_of(terms, element, span)?;
                Ok(terms.other_sort(OtherSort::Map(domain, element)))
            }
            Type::Named(..) if self.language == Language::Full => {
                Ok(terms.other_sort(OtherSort::Named(print_type(ty))))
            }
            _ => Err(unsupported(&format!("the type {}", print_type(ty)), span)),
        }
    }

    /// The term of an expression under an environment, where nothing is earlier.
    pub(crate) fn expr(&self, terms: &mut Terms, env: &Environment, e: &Expr) -> Result<Term, Diagnostic> {
        self.in_scope(terms, &mut Scope::new(env, None), e)
    }

    /// The term of an expression.
    pub(crate) fn in_scope(&self, terms: &mut Terms, scope: &mut Scope, e: &Expr) -> Result<Term, Diagnostic> {
        Ok(match &e.kind {
            ExprKind::Bool(value) => terms.boolean(*value),
            ExprKind::Int(value) => terms.int(*value),
            ExprKind::Bv(value) => {
                self.sort_of(terms, &e.ty, e.span)?;
                terms.bv(*value, crate::ivl::bv::width(e))
            }
            ExprKind::Var(name) => match scope.value(name) {
                Some(term) => term,
                None => return Err(unsupported(&format!("the undeclared variable `{name}`"), e.span)),
            },
            ExprKind::Unary(op, a) => {
                let a = self.in_scope(terms, scope, a)?;
                match op {
                    UnaryOp::Not => terms.not(a),
                    UnaryOp::Neg => terms.int_sum(0, vec![(a, -1)]),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.in_scope(terms, scope, a)?, self.in_scope(terms, scope, b)?);
                binary(terms, *op, a, b)
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.in_scope(terms, scope, c)?;
                let (a, b) = (self.in_scope(terms, scope, a)?, self.in_scope(terms, scope, b)?);
                terms.ite(c, a, b)
            }
            ExprKind::Call(name, args) => {
                let args = self.all(terms, scope, args)?;
                self.call(terms, scope.now, name, args, e)?
            }
            ExprKind::Extract { value, high, low } => {
                let value = self.in_scope(terms, scope, value)?;
                terms.extract(high - 1, *low, value)
            }
            ExprKind::Concat(a, b) => {
                let (a, b) = (self.in_scope(terms, scope, a)?, self.in_scope(terms, scope, b)?);
                terms.concat(a, b)
            }
            ExprKind::Select(map, indices) => {
                self.only_full("a map", e)?;
                let list = self.all(terms, scope, std::iter::once(map).chain(indices))?;
                terms.select(list)
            }
            ExprKind::Store(map, indices, value) => {
                self.only_full("a map", e)?;
                let list = self.all(terms, scope, std::iter::once(map).chain(indices).chain([value]))?;
                terms.store(list)
            }
            ExprKind::Old(a) => {
                self.only_full("`old`", e)?;
                let outside = std::mem::replace(&mut scope.in_old, true);
                let term = self.in_scope(terms, scope, a);
                scope.in_old = outside;
                term?
            }
            ExprKind::Quantifier { universal, variables, triggers, attributes, body } => {
                self.only_full("a quantifier", e)?;
                let guides = Guides { triggers, attributes };
                self.quantifier(terms, scope, (*universal, variables), (guides, body), e.span)?
            }
        })
    }

    fn only_full(&self, what: &str, e: &Expr) -> Result<(), Diagnostic> {
        match self.language {
            Language::Full => Ok(()),
            Language::Kernel => Err(unsupported(what, e.span)),
        }
    }

    fn all<'x>(
        &self,
        terms: &mut Terms,
        scope: &mut Scope,
        list: impl IntoIterator<Item = &'x ExprRef>,
    ) -> Result<Vec<Term>, Diagnostic> {
        list.into_iter().map(|e| self.in_scope(terms, scope, e)).collect()
    }

    fn quantifier(
        &self,
        terms: &mut Terms,
        scope: &mut Scope,
        (universal, variables): (bool, &[(Name, Type)]),
        (guides, body): (Guides, &ExprRef),
        span: Span,
    ) -> Result<Term, Diagnostic> {
        let outside = scope.bound.len();
        let mut symbols = Vec::new();
        for (name, ty) in variables {
            let sort = self.sort_of(terms, ty, span)?;
            // No identifier has an `@`: nothing else is called so.
            let symbol = terms.fresh(&format!("{name}@bound"), sort);
            symbols.push(symbol);
            scope.bound.push((name.clone(), symbol));
        }
        let excluded = self.all(terms, scope, self.excluded(&guides, body));
        let body = self.in_scope(terms, scope, body);
        let triggers: Result<Vec<Vec<Term>>, Diagnostic> =
            guides.triggers.iter().map(|trigger| self.all(terms, scope, trigger)).collect();
        scope.bound.truncate(outside);
        let weight = guides.attributes.first_of("weight").and_then(small_number).unwrap_or(1);
        let (triggers, excluded, body) = (triggers?, excluded?, body?);
        Ok(terms.quantifier(Quantifier { universal, variables: symbols, triggers, excluded, weight, body }))
    }

    /// What must not become a trigger: the terms of `{:nopats e}`, and applications of functions that are
    /// `{:never_pattern}`. Triggers of the author stand as they are.
    fn excluded<'x>(&self, guides: &Guides<'x>, body: &'x ExprRef) -> Vec<&'x ExprRef> {
        if !guides.triggers.is_empty() {
            return Vec::new();
        }
        let named = guides.attributes.iter().filter(|attribute| attribute.name.as_str() == "nopats");
        let mut excluded: Vec<&ExprRef> = named.filter_map(Attribute::condition).collect();
        if self.functions.values().any(|function| function.attributes.is_on(NEVER_PATTERN)) {
            self.never_patterns(body, &mut excluded);
        }
        excluded
    }

    fn never_patterns<'x>(&self, e: &'x ExprRef, found: &mut Vec<&'x ExprRef>) {
        match &e.kind {
            // Its variables mean nothing outside.
            ExprKind::Quantifier { .. } => return,
            ExprKind::Call(name, _) if self.functions.get(name).is_some_and(|f| f.attributes.is_on(NEVER_PATTERN)) => {
                found.push(e)
            }
            _ => {}
        }
        visit::children(e).into_iter().for_each(|child| self.never_patterns(child, found));
    }

    fn call(
        &self,
        terms: &mut Terms,
        constants: &Environment,
        name: &Name,
        args: Vec<Term>,
        e: &Expr,
    ) -> Result<Term, Diagnostic> {
        if let Some(builtin) = parse_builtin(name.as_str()) {
            return Ok(apply_builtin(terms, builtin, &args));
        }
        if let Some(function) = self.functions.get(name)
            && let Some(body) = function.body.as_ref().filter(|_| !self.by_axiom.contains(name))
        {
            let bound = function.params.iter().map(|p| p.0.clone()).zip(args).collect();
            let mut scope = Scope::new(constants, None).with(bound);
            return self.in_scope(terms, &mut scope, body);
        }
        let result = self.sort_of(terms, &e.ty, e.span)?;
        Ok(terms.apply(name.as_str(), args, result))
    }
}

fn binary(terms: &mut Terms, op: BinaryOp, a: Term, b: Term) -> Term {
    match op {
        BinaryOp::And => terms.and2(a, b),
        BinaryOp::Or => terms.or2(a, b),
        BinaryOp::Implies => terms.implies(a, b),
        BinaryOp::Iff | BinaryOp::Eq => terms.eq(a, b),
        BinaryOp::Ne => {
            let equal = terms.eq(a, b);
            terms.not(equal)
        }
        BinaryOp::Lt => terms.int_lt(a, b),
        BinaryOp::Le => terms.int_le(a, b),
        BinaryOp::Gt => terms.int_lt(b, a),
        BinaryOp::Ge => terms.int_le(b, a),
        BinaryOp::Add => terms.int_add(a, b),
        BinaryOp::Sub => terms.int_sub(a, b),
        BinaryOp::Mul => terms.int_mul(a, b),
        BinaryOp::Div => terms.int_div(a, b),
        BinaryOp::Mod => terms.int_mod(a, b),
    }
}

fn apply_builtin(terms: &mut Terms, builtin: Builtin, args: &[Term]) -> Term {
    match builtin {
        Builtin::Op(op, _) => apply_operator(terms, op, args),
        Builtin::ZeroExtend { to, .. } => terms.zero_extend(args[0], to),
        Builtin::SignExtend { to, .. } => terms.sign_extend(args[0], to),
        Builtin::ToInt(_) => terms.to_int(args[0]),
        Builtin::ToSignedInt(_) => terms.to_signed_int(args[0]),
        Builtin::FromInt(width) => terms.from_int(args[0], width),
    }
}

fn apply_operator(terms: &mut Terms, op: BvOp, args: &[Term]) -> Term {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    let operator = match op {
        BvOp::Neg => return terms.bv_neg(a),
        BvOp::Not => return terms.bv_not(a),
        BvOp::Add => return terms.bv_add(a, b),
        BvOp::Sub => return terms.bv_sub(a, b),
        BvOp::Ult => return terms.bv_compare(BvCompare::Ult, a, b),
        BvOp::Ule => return terms.bv_compare(BvCompare::Ule, a, b),
        BvOp::Ugt => return terms.bv_compare(BvCompare::Ult, b, a),
        BvOp::Uge => return terms.bv_compare(BvCompare::Ule, b, a),
        BvOp::Slt => return terms.bv_compare(BvCompare::Slt, a, b),
        BvOp::Sle => return terms.bv_compare(BvCompare::Sle, a, b),
        BvOp::Sgt => return terms.bv_compare(BvCompare::Slt, b, a),
        BvOp::Sge => return terms.bv_compare(BvCompare::Sle, b, a),
        BvOp::Mul => BvBinary::Mul,
        BvOp::Udiv => BvBinary::Udiv,
        BvOp::Urem => BvBinary::Urem,
        BvOp::Sdiv => BvBinary::Sdiv,
        BvOp::Srem => BvBinary::Srem,
        BvOp::And => BvBinary::And,
        BvOp::Or => BvBinary::Or,
        BvOp::Xor => BvBinary::Xor,
        BvOp::Shl => BvBinary::Shl,
        BvOp::Lshr => BvBinary::Lshr,
        BvOp::Ashr => BvBinary::Ashr,
    };
    terms.bv_binary(operator, a, b)
}
