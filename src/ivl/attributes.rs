//! Attributes by name, and what they carry.

use super::ast::{Attribute, AttributeArg, ExprKind, ExprRef};

/// `assert {:verified_under u} e;`
pub(crate) const VERIFIED_UNDER: &str = "verified_under";

/// `var {:assumption} a: bool;`
pub(crate) const ASSUMPTION: &str = "assumption";

/// `assert {:subsumption 0} e;`
pub(crate) const SUBSUMPTION: &str = "subsumption";

/// Attributes of a declaration or statement. Where one is given twice, Boogie does not always take the same one.
pub trait Attributes {
    /// All of them.
    fn all(&self) -> &[Attribute];

    /// The first of that name.
    fn named(&self, name: &str) -> Option<&Attribute> {
        self.all().iter().find(|attribute| attribute.name.as_str() == name)
    }

    /// Whether there is one of that name.
    fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    /// Whether the first of that name is `{:name}` or `{:name true}`.
    fn is_on(&self, name: &str) -> bool {
        let is_true =
            |a: &Attribute| a.args.is_empty() || a.condition().is_some_and(|e| e.kind == ExprKind::Bool(true));
        self.named(name).is_some_and(is_true)
    }

    /// The expression of the first `{:name e}`, which is the one that counts for a statement.
    fn first_of(&self, name: &str) -> Option<&ExprRef> {
        self.all().iter().filter(|attribute| attribute.name.as_str() == name).find_map(Attribute::condition)
    }

    /// The expression of the last `{:name e}`, which is the one that counts for a declaration.
    fn last_of(&self, name: &str) -> Option<&ExprRef> {
        self.all().iter().rev().filter(|attribute| attribute.name.as_str() == name).find_map(Attribute::condition)
    }

    /// The value that the last `{:name true}` or `{:name false}` gives.
    fn switch(&self, name: &str) -> Option<bool> {
        match self.last_of(name)?.kind {
            ExprKind::Bool(value) => Some(value),
            _ => None,
        }
    }
}

impl Attributes for [Attribute] {
    fn all(&self) -> &[Attribute] {
        self
    }
}

impl Attribute {
    /// Its argument, if it is one expression.
    pub(crate) fn condition(&self) -> Option<&ExprRef> {
        match self.args.as_slice() {
            [AttributeArg::Expr(e)] => Some(e),
            _ => None,
        }
    }

    /// The first argument that is a number, of an integer or of bits.
    pub fn number(&self) -> Option<u128> {
        self.args.iter().find_map(|arg| match arg {
            AttributeArg::Expr(e) => match e.kind {
                ExprKind::Int(value) => u128::try_from(value).ok(),
                ExprKind::Bv(value) => Some(value),
                _ => None,
            },
            AttributeArg::Text(_) => None,
        })
    }

    /// The first argument that is a text.
    pub(crate) fn text(&self) -> Option<&str> {
        self.args.iter().find_map(|arg| match arg {
            AttributeArg::Text(text) => Some(text.as_str()),
            AttributeArg::Expr(_) => None,
        })
    }
}
