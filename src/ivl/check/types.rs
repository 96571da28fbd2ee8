//! Types: what a program declares, and synonyms, which are replaced by what they stand for.

use super::super::ast::*;
use super::super::bv_names::MAX_WIDTH;
use super::super::scope::with_suggestion;
use super::super::subset;
use super::super::surface::{Synonym, named_type};
use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::collections::BTreeMap;

/// How many words a type may have once its synonyms are replaced: they can double at each step.
const MAX_TYPE_SIZE: usize = 1000;

/// How deep synonyms may rest on synonyms that are declared behind them.
const MAX_SYNONYM_DEPTH: usize = 200;

/// The types a program knows.
#[derive(Debug, Default)]
pub(super) struct Types {
    /// How many arguments each declared type takes.
    arities: BTreeMap<Name, usize>,
    synonyms: BTreeMap<Name, Definition>,
    /// The arguments of the synonym at hand.
    params: Vec<Name>,
    /// The synonyms that are being replaced, innermost last.
    path: Vec<Name>,
}

#[derive(Clone, Debug)]
struct Definition {
    synonym: Synonym,
    /// No synonym is left in the body.
    done: bool,
}

impl Checker<'_> {
    pub(super) fn declare_types(&mut self, declared: &mut [TypeDeclaration], synonyms: Vec<Synonym>) {
        let mut first = BTreeMap::new();
        let mut names: Vec<(Name, Span)> = declared.iter().map(|t| (t.name.clone(), t.span)).collect();
        names.extend(synonyms.iter().map(|s| (s.name.clone(), s.span)));
        names.sort_by_key(|(_, span)| *span);
        for (name, span) in names {
            self.identifier(&name, span);
            if matches!(named_type(name.as_str(), Vec::new()), Type::Bv(_)) {
                self.error("ivl-duplicate", format!("`{name}` is built in and cannot be declared"), span);
            }
            match first.get(&name) {
                Some(first) => self.duplicate("type", &name, span, *first),
                None => {
                    first.insert(name, span);
                }
            }
        }
        for constructor in declared.iter() {
            self.types.arities.insert(constructor.name.clone(), constructor.arity);
        }
        let order: Vec<Name> = synonyms.iter().map(|s| s.name.clone()).collect();
        for synonym in synonyms.into_iter().rev() {
            if !self.types.arities.contains_key(&synonym.name) {
                self.types.synonyms.insert(synonym.name.clone(), Definition { synonym, done: false });
            }
        }
        for name in order {
            self.define(&name);
        }
    }

    /// Replaces the synonyms in the body of one; on a cycle the body becomes `bool` and the search goes on.
    fn define(&mut self, name: &Name) {
        let Some(Definition { synonym, done: false }) = self.types.synonyms.get(name).cloned() else { return };
        if self.types.path.contains(name) || self.types.path.len() == MAX_SYNONYM_DEPTH {
            let message = match self.types.path.contains(name) {
                true => format!("the type `{name}` is defined by itself"),
                false => format!("synonyms nest more than {MAX_SYNONYM_DEPTH} deep"),
            };
            self.error("ivl-type", message, synonym.span);
            self.finish_definition(synonym, Type::Bool);
            return;
        }
        self.types.path.push(name.clone());
        let params = synonym.params.iter().map(|p| p.name.clone()).collect();
        let outer = std::mem::replace(&mut self.types.params, params);
        let mut body = synonym.body.clone();
        self.resolve(&mut body, synonym.span);
        self.types.params = outer;
        self.types.path.pop();
        // A cycle through this one has given it a body already.
        if self.types.synonyms.get(name).is_some_and(|definition| !definition.done) {
            self.finish_definition(synonym, body);
        }
    }

    fn finish_definition(&mut self, synonym: Synonym, body: Type) {
        let definition = Definition { synonym: Synonym { body, ..synonym }, done: true };
        self.types.synonyms.insert(definition.synonym.name.clone(), definition);
    }

    /// Replaces synonyms; reports what is no type. `span` is where a search for the type's words begins.
    pub(super) fn resolve(&mut self, ty: &mut Type, span: Span) {
        match ty {
            Type::Bool | Type::Int => {}
            Type::Bv(width) if (1..=MAX_WIDTH).contains(width) => {}
            Type::Bv(width) => {
                let message = format!("bv{width}: widths are 1 to {MAX_WIDTH}");
                self.error("ivl-type", message, span);
            }
            Type::Map(domain, element) => {
                domain.iter_mut().for_each(|ty| self.resolve(ty, span));
                self.resolve(element, span);
            }
            Type::Named(name, arguments) => {
                arguments.iter_mut().for_each(|ty| self.resolve(ty, span));
                let (name, arguments) = (name.clone(), arguments.clone());
                if let Some(replaced) = self.named(&name, arguments, span) {
                    *ty = replaced;
                }
            }
        }
    }

    /// What a type's name stands for, where it is not itself.
    fn named(&mut self, name: &Name, arguments: Vec<Type>, span: Span) -> Option<Type> {
        if self.types.params.contains(name) {
            self.arity(name, 0, arguments.len(), span);
            return None;
        }
        if let Some(arity) = self.types.arities.get(name) {
            self.arity(name, *arity, arguments.len(), span);
            return None;
        }
        self.define(name);
        let Some(Definition { synonym, done: true }) = self.types.synonyms.get(name).cloned() else {
            self.unknown_type(name, span);
            return None;
        };
        if !self.arity(name, synonym.params.len(), arguments.len(), span) {
            return None;
        }
        let map: BTreeMap<&Name, &Type> = synonym.params.iter().map(|p| &p.name).zip(&arguments).collect();
        let mut budget = MAX_TYPE_SIZE;
        let replaced = substitute(&synonym.body, &map, &mut budget);
        if replaced.is_none() {
            let message = format!("`{name}` stands for a type of more than {MAX_TYPE_SIZE} words");
            self.error("ivl-type", message, self.word(span, name));
        }
        Some(replaced.unwrap_or(Type::Bool))
    }

    fn arity(&mut self, name: &Name, expected: usize, found: usize, span: Span) -> bool {
        if expected != found {
            let arguments = if expected == 1 { "argument" } else { "arguments" };
            let message = format!("the type `{name}` takes {expected} {arguments}, not {found}");
            self.error("ivl-type", message, self.word(span, name));
        }
        expected == found
    }

    fn unknown_type(&mut self, name: &Name, span: Span) {
        // A synonym that is being defined is on a cycle, which is reported there.
        if self.types.path.contains(name) {
            return;
        }
        let word = self.word(span, name);
        let text = name.as_str();
        let digits =
            text.strip_prefix("bv").filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
        let foreign = match text {
            "real" | "rmode" | "string" | "regex" => Some(format!("the type `{text}`")),
            _ if is_float(text) => Some(format!("the floating-point type `{text}`")),
            _ => digits.map(|_| format!("`{text}`, a bit-vector type that is not of 1 to {MAX_WIDTH} bits")),
        };
        let error = match foreign {
            Some(feature) => subset::error(feature, word),
            None => {
                let error = Diagnostic::error("ivl-name", format!("no type is called `{name}`"), word);
                with_suggestion(error, name, self.types.arities.keys().chain(self.types.synonyms.keys()))
            }
        };
        self.report(error);
    }
}

/// `float24e8`
fn is_float(text: &str) -> bool {
    let parts = text.strip_prefix("float").and_then(|rest| rest.split_once('e'));
    parts.is_some_and(|(a, b)| [a, b].iter().all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit())))
}

/// The type with arguments for parameters; `None` where it outgrows the budget.
fn substitute(ty: &Type, map: &BTreeMap<&Name, &Type>, budget: &mut usize) -> Option<Type> {
    *budget = budget.checked_sub(1)?;
    Some(match ty {
        Type::Bool | Type::Int | Type::Bv(_) => ty.clone(),
        Type::Map(domain, element) => {
            let domain = domain.iter().map(|ty| substitute(ty, map, budget)).collect::<Option<_>>()?;
            Type::Map(domain, Box::new(substitute(element, map, budget)?))
        }
        Type::Named(name, arguments) => match map.get(name) {
            Some(argument) => substitute(argument, &BTreeMap::new(), budget)?,
            None => {
                let arguments = arguments.iter().map(|ty| substitute(ty, map, budget)).collect::<Option<_>>()?;
                Type::Named(name.clone(), arguments)
            }
        },
    })
}
