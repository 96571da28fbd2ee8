//! Attributes by name, and what they carry.

use super::ast::{Attribute, AttributeArg, ExprKind, ExprRef};

/// `assert {:verified_under u} e;`
pub const VERIFIED_UNDER: &str = "verified_under";

/// Attributes of a declaration or statement.
pub trait Attributes {
    /// The first of that name.
    fn named(&self, name: &str) -> Option<&Attribute>;

    /// Whether there is one of that name.
    fn has(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    /// Whether there is `{:name true}`, or `{:name false}`.
    fn is_set_to(&self, name: &str, value: bool) -> bool {
        let is_value = |e: &ExprRef| e.kind == ExprKind::Bool(value);
        self.named(name)
            .is_some_and(|attribute| matches!(attribute.args.as_slice(), [AttributeArg::Expr(e)] if is_value(e)))
    }
}

impl Attributes for [Attribute] {
    fn named(&self, name: &str) -> Option<&Attribute> {
        self.iter().find(|attribute| attribute.name.as_str() == name)
    }
}

impl Attribute {
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
    pub fn text(&self) -> Option<&str> {
        self.args.iter().find_map(|arg| match arg {
            AttributeArg::Text(text) => Some(text.as_str()),
            AttributeArg::Expr(_) => None,
        })
    }
}
