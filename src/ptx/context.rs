//! What every part of name resolution and typing shares: the module's names, and the errors.

use super::location::Files;
use crate::diagnostic::Diagnostic;
use foldhash::{HashMap, HashSet};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

/// Errors that are told apart; after more, reading stops. The report shows the first and counts the rest.
pub const MAX_ERRORS: usize = 200;

/// What a name at module level stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleSymbol {
    /// Index into `Module::variables`.
    Variable(u32),
    /// Index into `Module::functions`.
    Function(u32),
}

/// The numbers of return parameters and parameters of a function, for checking calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arity {
    /// Return parameters.
    pub(crate) returns: usize,
    /// Parameters; `None` if the last is an array without a size (a variadic function).
    pub(crate) params: Option<usize>,
}

/// The finished module level, read-only for the bodies.
#[derive(Debug, Default)]
pub(crate) struct ModuleContext<'a> {
    /// Variables, functions and aliases.
    pub(crate) names: HashMap<Cow<'a, str>, ModuleSymbol>,
    /// By function index.
    pub(crate) arities: Vec<Arity>,
    /// The `.file` table.
    pub(crate) files: Files,
}

/// Errors, up to [`MAX_ERRORS`].
#[derive(Debug, Default)]
pub(crate) struct Errors {
    syntax: Vec<Diagnostic>,
    /// Of other kinds.
    list: Vec<Diagnostic>,
    /// Names that nothing declares. Where there are errors of syntax, these are no news: a declaration may be missing
    /// because of them.
    undefined: Vec<Diagnostic>,
}

impl Errors {
    /// Records errors of syntax.
    pub(crate) fn syntax(&mut self, errors: Vec<Diagnostic>) {
        self.syntax.extend(errors);
    }

    /// How many more errors of syntax are looked for.
    pub(crate) fn syntax_left(&self) -> usize {
        MAX_ERRORS.saturating_sub(self.syntax.len())
    }

    /// Whether there is no error of syntax so far.
    pub(crate) fn is_complete(&self) -> bool {
        self.syntax.is_empty()
    }

    /// Records an error.
    pub(crate) fn report(&mut self, error: Diagnostic) {
        let list = if error.code == "undefined-name" { &mut self.undefined } else { &mut self.list };
        if list.len() < MAX_ERRORS {
            list.push(error);
        }
    }

    /// All errors in the order of their places; where there are too many, the first says so.
    pub(crate) fn into_list(self) -> Vec<Diagnostic> {
        let undefined = if self.syntax.is_empty() { self.undefined } else { Vec::new() };
        let mut list: Vec<Diagnostic> = self.syntax.into_iter().chain(self.list).chain(undefined).collect();
        list.sort_by_key(|error| error.labels.first().map_or(0, |label| label.0.start));
        list.truncate(MAX_ERRORS);
        if list.len() >= MAX_ERRORS
            && let Some(first) = list.first_mut()
        {
            first.notes.push(format!("there are {MAX_ERRORS} errors or more; no others are looked for"));
        }
        list
    }
}

/// One shared copy of each text that may occur often: opcodes, names of registers.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    texts: RefCell<HashSet<Arc<str>>>,
}

impl Interner {
    /// The shared copy.
    pub(crate) fn intern(&self, text: &str) -> Arc<str> {
        let mut texts = self.texts.borrow_mut();
        if let Some(shared) = texts.get(text) {
            return shared.clone();
        }
        let shared: Arc<str> = text.into();
        texts.insert(shared.clone());
        shared
    }
}
