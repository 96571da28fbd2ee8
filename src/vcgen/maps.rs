//! Builders for maps, declared sorts and quantifiers.
//!
//! Nothing is simplified but a read of what was just written: these terms go to the solver as they stand.
//! Reference: Boogie 2, maps (not extensional) and quantifiers with triggers.

use super::term::{Node, OtherSort, Quantifier, Sort, Term, Terms};
use std::collections::BTreeSet;

impl Quantifier {
    /// The same with other operands, in the order of [`Terms::operands`].
    pub(super) fn with_operands(&self, operands: &[Term]) -> Quantifier {
        let mut rest = operands.iter().copied();
        let mut take = |count: usize| rest.by_ref().take(count).collect::<Vec<Term>>();
        let variables = take(self.variables.len());
        let triggers = self.triggers.iter().map(|trigger| take(trigger.len())).collect();
        let excluded = take(self.excluded.len());
        let body = rest.next().unwrap_or(self.body);
        Quantifier { universal: self.universal, variables, triggers, excluded, weight: self.weight, body }
    }
}

impl Terms {
    /// The sort, which is made at first use.
    pub(crate) fn other_sort(&mut self, sort: OtherSort) -> Sort {
        let known = self.other_sorts.iter().position(|other| *other == sort);
        let index = known.unwrap_or_else(|| {
            self.other_sorts.push(sort);
            self.other_sorts.len() - 1
        });
        Sort::Other(index as u32)
    }

    /// What stands behind a sort that is none of the basic ones.
    pub(crate) fn other(&self, sort: Sort) -> Option<&OtherSort> {
        match sort {
            Sort::Other(index) => self.other_sorts.get(index as usize),
            _ => None,
        }
    }

    /// A sort as the IVL writes its type.
    pub(crate) fn sort_text(&self, sort: Sort) -> String {
        match (sort, self.other(sort)) {
            (Sort::Bool, _) => "bool".to_string(),
            (Sort::Int, _) => "int".to_string(),
            (Sort::Bv(width), _) => format!("bv{width}"),
            (_, Some(OtherSort::Named(name))) => name.clone(),
            (_, Some(OtherSort::Map(domain, element))) => {
                let domain: Vec<String> = domain.iter().map(|&sort| self.sort_text(sort)).collect();
                format!("[{}]{}", domain.join(","), self.sort_text(*element))
            }
            (_, None) => panic!("vcgen: a sort without a declaration"),
        }
    }

    /// The sorts of the maps that are updated below terms.
    pub(crate) fn updated_maps(&self, roots: &[Term]) -> BTreeSet<Sort> {
        let below = roots.iter().flat_map(|&root| self.postorder(root, &|_| false));
        below.filter(|&t| matches!(self.node(t), Node::Store(_))).map(|t| self.sort(t)).collect()
    }

    /// `m[i, ...]`: a map, then its indices.
    pub(crate) fn select(&mut self, list: Vec<Term>) -> Term {
        if let Node::Store(stored) = self.node(list[0])
            && stored[1..stored.len() - 1] == list[1..]
        {
            return stored[stored.len() - 1];
        }
        let Some(OtherSort::Map(_, element)) = self.other(self.sort(list[0])) else {
            panic!("vcgen: a select of what is no map");
        };
        let element = *element;
        self.intern(Node::Select(list.into()), element)
    }

    /// `m[i, ... := v]`: a map, then indices, then the element.
    pub(crate) fn store(&mut self, list: Vec<Term>) -> Term {
        let sort = self.sort(list[0]);
        self.intern(Node::Store(list.into()), sort)
    }

    /// A quantifier; its variables are symbols made for it alone.
    pub(crate) fn quantifier(&mut self, quantifier: Quantifier) -> Term {
        if quantifier.variables.is_empty() || self.truth(quantifier.body).is_some() {
            // No sort is empty.
            return quantifier.body;
        }
        self.intern(Node::Quantifier(Box::new(quantifier)), Sort::Bool)
    }

    /// Whether a term is of a basic sort, and no map, map access or quantifier.
    pub(crate) fn is_basic_node(&self, t: Term) -> bool {
        !matches!(self.sort(t), Sort::Other(_))
            && !matches!(self.node(t), Node::Select(_) | Node::Store(_) | Node::Quantifier(_))
    }
}
