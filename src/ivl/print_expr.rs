//! Expressions, types and names as text, with no more parentheses than Boogie's grammar asks for.

use super::ast::*;
use super::token;
use std::fmt::{self, Write};

/// Prints an expression.
pub(crate) fn print_expr(expr: &Expr) -> String {
    Operand(expr, Level::Any).to_string()
}

/// Prints a type.
pub(crate) fn print_type(ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_string(),
        Type::Int => "int".to_string(),
        Type::Bv(width) => format!("bv{width}"),
        Type::Map(domain, element) => {
            let domain: Vec<String> = domain.iter().map(print_type).collect();
            format!("[{}]{}", domain.join(", "), print_type(element))
        }
        Type::Named(name, arguments) => {
            let argument = |ty: &Type| match ty {
                Type::Bool | Type::Int | Type::Bv(_) => print_type(ty),
                Type::Named(_, arguments) if arguments.is_empty() => print_type(ty),
                Type::Map(..) | Type::Named(..) => format!("({})", print_type(ty)),
            };
            let words = std::iter::once(identifier(name).to_string()).chain(arguments.iter().map(argument));
            words.collect::<Vec<String>>().join(" ")
        }
    }
}

/// A name, with a backslash where it would be a keyword.
pub(super) fn identifier(name: &Name) -> impl fmt::Display {
    let escape = if token::is_keyword(name.as_str()) { "\\" } else { "" };
    format!("{escape}{name}")
}

/// Names with commas between.
pub(super) fn identifiers(names: &[Name]) -> String {
    let names: Vec<String> = names.iter().map(|n| identifier(n).to_string()).collect();
    names.join(", ")
}

/// Expressions with commas between.
pub(super) struct Expressions<'a>(pub(crate) &'a [ExprRef]);

impl fmt::Display for Expressions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, e) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, Operand(e, Level::Any))?;
        }
        Ok(())
    }
}

impl BinaryOp {
    /// The operator as written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Implies => "==>",
            BinaryOp::Iff => "<==>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "div",
            BinaryOp::Mod => "mod",
        }
    }

    /// Its own level, and the levels its left and right operands need.
    fn levels(self) -> (Level, Level, Level) {
        use BinaryOp::*;
        match self {
            Iff => (Level::Iff, Level::Iff, Level::Implies),
            Implies => (Level::Implies, Level::Logical, Level::Implies),
            // The left operand may be the same operator, not the other one: see `Operand`.
            And | Or => (Level::Logical, Level::Relation, Level::Relation),
            Eq | Ne | Lt | Le | Gt | Ge => (Level::Relation, Level::Concat, Level::Concat),
            Add | Sub => (Level::Sum, Level::Sum, Level::Product),
            Mul | Div | Mod => (Level::Product, Level::Product, Level::Prefix),
        }
    }
}

/// How tightly an expression binds, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Any,
    Iff,
    Implies,
    Logical,
    Relation,
    Concat,
    Sum,
    Product,
    Prefix,
    Postfix,
}

/// An expression where at least the given level is needed.
struct Operand<'a>(&'a Expr, Level);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Operand(e, needed) = self;
        if level(e) < *needed { write!(f, "({})", Operand(e, Level::Any)) } else { bare(e, f) }
    }
}

fn level(e: &Expr) -> Level {
    match &e.kind {
        ExprKind::Ite(..) => Level::Any,
        ExprKind::Binary(op, ..) => op.levels().0,
        ExprKind::Concat(..) => Level::Concat,
        ExprKind::Unary(..) => Level::Prefix,
        ExprKind::Int(value) if *value < 0 => Level::Prefix,
        _ => Level::Postfix,
    }
}

fn bare(e: &Expr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let any = |e| Operand(e, Level::Any);
    match &e.kind {
        ExprKind::Bool(value) => write!(f, "{value}"),
        ExprKind::Int(value) => write!(f, "{value}"),
        ExprKind::Bv(value) => write!(f, "{value}{}", print_type(&e.ty)),
        ExprKind::Var(name) => write!(f, "{}", identifier(name)),
        ExprKind::Unary(UnaryOp::Not, a) => write!(f, "!{}", Operand(a, Level::Prefix)),
        ExprKind::Unary(UnaryOp::Neg, a) => match a.kind {
            // Without parentheses the minus would belong to the literal.
            ExprKind::Int(value) if value >= 0 => write!(f, "-({value})"),
            _ => write!(f, "-{}", Operand(a, Level::Prefix)),
        },
        ExprKind::Binary(op, a, b) => {
            let (own, mut left, right) = op.levels();
            if own == Level::Logical && matches!(&a.kind, ExprKind::Binary(inner, ..) if inner == op) {
                left = Level::Logical;
            }
            write!(f, "{} {} {}", Operand(a, left), op.text(), Operand(b, right))
        }
        ExprKind::Ite(c, a, b) => write!(f, "if {} then {} else {}", any(c), any(a), any(b)),
        ExprKind::Call(name, args) => write!(f, "{}({})", identifier(name), Expressions(args)),
        ExprKind::Extract { value, high, low } => write!(f, "{}[{high}:{low}]", Operand(value, Level::Postfix)),
        ExprKind::Concat(a, b) => write!(f, "{} ++ {}", Operand(a, Level::Concat), Operand(b, Level::Sum)),
        ExprKind::Select(map, indices) => write!(f, "{}[{}]", Operand(map, Level::Postfix), Expressions(indices)),
        ExprKind::Store(map, indices, value) => {
            write!(f, "{}[{} := {}]", Operand(map, Level::Postfix), Expressions(indices), any(value))
        }
        ExprKind::Old(a) => write!(f, "old({})", any(a)),
        ExprKind::Quantifier { universal, variables, triggers, attributes, body } => {
            let variables: Vec<String> =
                variables.iter().map(|(name, ty)| format!("{}: {}", identifier(name), print_type(ty))).collect();
            write!(f, "({} {} ::", if *universal { "forall" } else { "exists" }, variables.join(", "))?;
            for trigger in triggers {
                write!(f, " {{ {} }}", Expressions(trigger))?;
            }
            attributes.iter().try_for_each(|attribute| write!(f, " {}", Written(attribute)))?;
            write!(f, " {})", any(body))
        }
    }
}

/// An attribute as written.
pub(super) struct Written<'a>(pub(crate) &'a Attribute);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attribute { name, args } = self.0;
        let escape = if token::is_boogie_keyword(name.as_str()) { "\\" } else { "" };
        write!(f, "{{:{escape}{name}")?;
        for (index, arg) in args.iter().enumerate() {
            f.write_str(if index == 0 { " " } else { ", " })?;
            match arg {
                AttributeArg::Text(text) => write!(f, "{}", Quoted(text))?,
                AttributeArg::Expr(e) => f.write_str(&print_expr(e))?,
            }
        }
        f.write_char('}')
    }
}

/// A string literal.
pub(super) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                c => f.write_char(c)?,
            }
        }
        // For Boogie a quote behind a backslash ends a text only where no other quote follows on the line.
        f.write_str(if self.0.ends_with('\\') { "\"\n" } else { "\"" })
    }
}
