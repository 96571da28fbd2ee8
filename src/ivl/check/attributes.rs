//! Attributes: names and types in them, and those that take one argument; `{:assumption}` variables.
//!
//! Reference: Boogie 2.4. It resolves the attributes of declarations and statements, but not those of conditions of
//! contracts, of assignments and of bound variables.

use super::super::ast::*;
use super::super::attributes::{ASSUMPTION, Attributes, VERIFIED_UNDER};
use super::super::print_expr::print_type;
use super::super::token::Token;
use super::{Checker, Context, Entry, EntryKind, Mode};
use crate::span::Span;

/// What an attribute takes that has to have one argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Formula,
    Number,
}

fn single_argument(attribute: &Attribute) -> Option<Argument> {
    match attribute.name.as_str() {
        VERIFIED_UNDER => Some(Argument::Formula),
        "minimize" | "maximize" => Some(Argument::Number),
        _ => None,
    }
}

impl Checker<'_> {
    /// Attributes of what stands at `place`, in one state.
    pub(super) fn attributes(&mut self, attributes: &mut [Attribute], place: Span) {
        let outer = std::mem::replace(&mut self.context, Context::State);
        self.attributes_here(attributes, place);
        self.context = outer;
    }

    /// The same in the state at hand.
    pub(super) fn attributes_here(&mut self, attributes: &mut [Attribute], place: Span) {
        attributes.iter_mut().for_each(|attribute| self.attribute(attribute, place));
    }

    fn attribute(&mut self, attribute: &mut Attribute, place: Span) {
        let expected = single_argument(attribute).filter(|_| self.mode == Mode::Elaborate);
        if expected.is_some() && attribute.args.len() != 1 {
            let message = format!("the attribute {{:{}}} takes one argument", attribute.name);
            return self.error("ivl-attribute", message, self.attribute_place(&attribute.name, place));
        }
        for arg in &mut attribute.args {
            match arg {
                AttributeArg::Text(_) => {
                    if let Some(expected) = expected {
                        self.wrong_argument(&attribute.name, expected, "a text", place);
                    }
                }
                AttributeArg::Expr(e) => {
                    let Some(typed) = self.expr(e) else { continue };
                    let is_right = match expected {
                        Some(Argument::Formula) => typed.ty == Type::Bool,
                        Some(Argument::Number) => matches!(typed.ty, Type::Int | Type::Bv(_)),
                        None => true,
                    };
                    if let Some(expected) = expected.filter(|_| !is_right) {
                        self.wrong_argument(&attribute.name, expected, &print_type(&typed.ty), place);
                    }
                    *e = typed;
                }
            }
        }
    }

    fn wrong_argument(&mut self, name: &Name, expected: Argument, found: &str, place: Span) {
        let expected = match expected {
            Argument::Formula => "bool",
            Argument::Number => "int or a bit-vector",
        };
        let message = format!("the attribute {{:{name}}} takes {expected}, not {found}");
        self.type_error(message, self.attribute_place(name, place));
    }

    /// Attributes that Boogie does not look into: those with errors mean nothing.
    pub(super) fn loose_attributes(&mut self, attributes: &mut Vec<Attribute>, place: Span) {
        if self.mode == Mode::Verify {
            return self.attributes_here(attributes, place);
        }
        let outer = std::mem::replace(&mut self.context, Context::TwoState);
        attributes.retain_mut(|attribute| {
            let errors = (self.errors.len(), self.type_errors.len());
            self.attribute(attribute, place);
            let is_good = errors == (self.errors.len(), self.type_errors.len());
            self.errors.truncate(errors.0);
            self.type_errors.truncate(errors.1);
            is_good
        });
        self.context = outer;
    }

    /// The `{:name` of what stands at `whole`: in it, or, where that is the name of a variable or type, before it.
    fn attribute_place(&self, name: &Name, whole: Span) -> Span {
        let is_wanted = |token: &Token<'_>| matches!(token, Token::Attribute(text) if *text == name.as_str());
        let first = self.tokens.partition_point(|(start, ..)| *start < whole.start as usize);
        let end = self.tokens.partition_point(|(start, ..)| *start < whole.end as usize);
        let inside = (first..end).find(|&at| is_wanted(&self.tokens[at].1));
        let found = inside.or_else(|| (0..first).rev().find(|&at| is_wanted(&self.tokens[at].1)));
        found.map_or(whole, |at| Span::new(self.tokens[at].0, self.tokens[at].2))
    }

    /// An `{:assumption}` variable is a Boolean without a where clause.
    pub(super) fn assumption_variable(&mut self, variable: &Variable) {
        if self.mode == Mode::Verify || !variable.attributes.is_on(ASSUMPTION) {
            return;
        }
        if variable.where_clause.is_some() {
            self.error("ivl-attribute", "an {:assumption} variable has no where clause", variable.span);
        }
        if variable.ty != Type::Bool {
            let message = format!("an {{:assumption}} variable is bool, not {}", print_type(&variable.ty));
            self.type_error(message, variable.span);
        }
    }

    /// It is assigned once in a body, as in `a := a && e;`. `written` is the name in the text.
    pub(super) fn assumed(&mut self, written: &Name, value: &Expr, span: Span) {
        let entry = self.local.get(written).or_else(|| self.top_level.get(written));
        let is_variable =
            |entry: &&Entry| entry.is_assumption && matches!(entry.kind, EntryKind::Global | EntryKind::Local);
        // An element that is assigned is an update of the map.
        let is_update = matches!(value.kind, ExprKind::Store(..));
        if self.mode == Mode::Verify || is_update || entry.filter(is_variable).is_none() {
            return;
        }
        let is_conjunction = match &value.kind {
            ExprKind::Binary(BinaryOp::And, first, _) => matches!(&first.kind, ExprKind::Var(name) if name == written),
            _ => false,
        };
        let message = match is_conjunction {
            false => {
                format!("the {{:assumption}} variable `{written}` is assigned as in `{written} := {written} && e`")
            }
            true if !self.assumed.insert(written.clone()) => {
                format!("the {{:assumption}} variable `{written}` is assigned a second time")
            }
            true => return,
        };
        self.error("ivl-attribute", message, self.word(span, written));
    }
}
