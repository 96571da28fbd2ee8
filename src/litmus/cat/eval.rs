//! What a model means for the events of a test.
//!
//! Input: a [`Model`], the sets and relations that it begins with. Output: [`Meaning`]: when an execution is consistent, which
//! flags it raises, what is drawn. Establishes: sets and relations are used as what they are; the least fixed points of `let rec`
//! are reached. Relies on: [`Builder`] is exact. Reference: herd7's manual, "The language of memory models".

use super::ast::{Definition, Expr, ExprKind, Model, Name, Operator, Property, Statement, Suffix, Test};
use crate::diagnostic::Diagnostic;
use crate::litmus::relation::{Builder, Relation, Set};
use crate::vcgen::term::Term;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Rounds in which a recursive definition has to settle, where it may grow for longer.
const MOST_ROUNDS: usize = 64;
/// How deep functions may call each other.
const DEEPEST_CALL: usize = 50;

/// What a name stands for.
#[derive(Clone)]
pub(crate) enum Value {
    Set(Set),
    Relation(Relation),
    /// With the names that were known where it was defined.
    Function(Rc<Definition>, Names),
}

/// What names stand for. Later definitions hide earlier ones.
pub(crate) type Names = BTreeMap<String, Value>;

/// What a model says.
pub(crate) struct Meaning {
    /// Whether an execution is consistent.
    pub(crate) consistent: Term,
    /// Flags with the conditions under which they are raised.
    pub(crate) flags: Vec<(String, Term)>,
    /// Relations that are drawn.
    pub(crate) shown: Vec<(String, Relation)>,
    /// What is known at the end.
    pub(crate) names: Names,
}

/// Whether a model has an order of its own in place of that name.
pub(crate) fn chooses(model: &Model, wanted: &str) -> bool {
    model.statements.iter().any(|one| matches!(one, Statement::With { name, .. } if name.text == wanted))
}

/// Evaluates a model.
///
/// # Errors
/// A name that stands for nothing, a set where a relation belongs, and the like.
pub(crate) fn evaluate(model: &Model, names: Names, builder: &mut Builder<'_>) -> Result<Meaning, Diagnostic> {
    let mut evaluation = Evaluation { builder, names, calls: 0 };
    let (mut axioms, mut flags, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for statement in &model.statements {
        match statement {
            Statement::Let { recursive: false, definitions } => {
                let values = definitions.iter().map(|one| evaluation.definition(one)).collect::<Result<Vec<_>, _>>()?;
                let named = definitions.iter().map(|one| one.name.text.clone()).zip(values);
                evaluation.names.extend(named.collect::<Vec<_>>());
            }
            Statement::Let { definitions, .. } => evaluation.recursive(definitions)?,
            Statement::With { name, from } => {
                let subset = evaluation.subset(name, from)?;
                evaluation.names.insert(name.text.clone(), Value::Relation(subset));
            }
            Statement::Check { is_flag, test, expr, name, span } => {
                let holds = evaluation.test(*test, expr)?;
                let Some(name) = name.as_ref().filter(|_| *is_flag) else {
                    if *is_flag {
                        return Err(wrong("a flag needs a name: `as NAME`", *span));
                    }
                    axioms.push(holds);
                    continue;
                };
                flags.push((name.text.clone(), holds));
            }
            Statement::Show(wanted) => {
                for name in wanted {
                    let expr = Expr { kind: ExprKind::Name(name.clone()), span: name.span };
                    shown.push((name.text.clone(), evaluation.relation(&expr)?));
                }
            }
        }
    }
    let consistent = evaluation.builder.terms.and(axioms);
    Ok(Meaning { consistent, flags, shown, names: evaluation.names })
}

fn wrong(message: impl Into<String>, span: crate::span::Span) -> Diagnostic {
    Diagnostic::error("model-meaning", message, span)
}

struct Evaluation<'e, 't> {
    builder: &'e mut Builder<'t>,
    names: Names,
    calls: usize,
}

impl Evaluation<'_, '_> {
    fn definition(&mut self, definition: &Definition) -> Result<Value, Diagnostic> {
        match &definition.parameters {
            Some(_) => Ok(Value::Function(Rc::new(definition.clone()), self.names.clone())),
            None => self.value(&definition.body),
        }
    }

    /// Iterates from nothing on. A definition can only grow (names that are being defined stand under no complement), so it
    /// settles at the least fixed point.
    fn recursive(&mut self, definitions: &[Definition]) -> Result<(), Diagnostic> {
        let own: BTreeSet<&str> = definitions.iter().map(|one| one.name.text.as_str()).collect();
        for one in definitions {
            if one.parameters.is_some() {
                return Err(wrong("functions are not defined by themselves here", one.name.span));
            }
            grows(&one.body, &own, false)?;
            self.names.insert(one.name.text.clone(), Value::Relation(Relation::new()));
        }
        for round in 0.. {
            let mut values = Vec::new();
            for one in definitions {
                values.push(self.relation(&one.body)?);
            }
            let is_known = |(one, value): (&Definition, &Relation)| matches!(self.names.get(&one.name.text), Some(Value::Relation(known)) if known == value);
            if definitions.iter().zip(&values).all(is_known) {
                return Ok(());
            }
            // Each round adds a pair, until there is none to add.
            let pairs: usize = values.iter().map(BTreeMap::len).sum();
            for (one, value) in definitions.iter().zip(values) {
                self.names.insert(one.name.text.clone(), Value::Relation(value));
            }
            if round > pairs {
                return Ok(());
            }
            if round > MOST_ROUNDS {
                let span = definitions[0].name.span;
                return Err(Diagnostic::unsupported(
                    "litmus-loop",
                    "this definition takes too many rounds to settle",
                    span,
                ));
            }
        }
        Ok(())
    }

    /// Any subset of a relation.
    fn subset(&mut self, name: &Name, from: &Expr) -> Result<Relation, Diagnostic> {
        let ExprKind::Apply(function, arguments) = &from.kind else {
            return Err(wrong("expected `subsets(RELATION)`", from.span));
        };
        let [of] = &arguments[..] else { return Err(wrong("`subsets` takes one relation", from.span)) };
        if function.text != "subsets" {
            return Err(wrong("what can be chosen from is `subsets(RELATION)`", function.span));
        }
        let of = self.relation(of)?;
        let mut chosen = Relation::new();
        for (pair, condition) in of {
            let free = self.builder.free(&format!("{}.{}.{}", name.text, pair.0, pair.1));
            chosen.insert(pair, self.builder.terms.and2(free, condition));
        }
        Ok(chosen)
    }

    fn test(&mut self, test: Test, expr: &Expr) -> Result<Term, Diagnostic> {
        let holds = match (test.property, self.value(expr)?) {
            (Property::Empty, Value::Set(set)) => self.builder.is_empty(&set),
            (Property::Empty, Value::Relation(relation)) => self.builder.is_empty(&relation),
            (Property::Irreflexive, Value::Relation(relation)) => self.builder.is_irreflexive(&relation),
            (Property::Acyclic, Value::Relation(relation)) => self.builder.is_acyclic(&relation),
            _ => return Err(wrong("expected a relation", expr.span)),
        };
        Ok(if test.negated { self.builder.terms.not(holds) } else { holds })
    }

    fn relation(&mut self, expr: &Expr) -> Result<Relation, Diagnostic> {
        match self.value(expr)? {
            Value::Relation(relation) => Ok(relation),
            // `0` is both.
            Value::Set(set) if set.is_empty() => Ok(Relation::new()),
            _ => Err(wrong("expected a relation", expr.span)),
        }
    }

    fn set(&mut self, expr: &Expr) -> Result<Set, Diagnostic> {
        match self.value(expr)? {
            Value::Set(set) => Ok(set),
            Value::Relation(relation) if relation.is_empty() => Ok(Set::new()),
            _ => Err(wrong("expected a set", expr.span)),
        }
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Diagnostic> {
        match &expr.kind {
            ExprKind::Nothing => Ok(Value::Relation(Relation::new())),
            ExprKind::Name(name) => match self.names.get(&name.text) {
                Some(Value::Function(..)) => Err(wrong("a function needs its arguments", name.span)),
                Some(value) => Ok(value.clone()),
                // As herd7 has it, unless the model has another.
                None if name.text == "fr" => self.reads_before(name),
                None => Err(unknown(name, self.names.keys())),
            },
            ExprKind::Apply(function, arguments) => self.apply(function, arguments, expr),
            ExprKind::Unary(suffix, of) => self.unary(*suffix, of),
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b, expr),
        }
    }

    /// From a read to the writes behind the one that it reads.
    fn reads_before(&mut self, name: &Name) -> Result<Value, Diagnostic> {
        match (self.names.get("rf").cloned(), self.names.get("co").cloned()) {
            (Some(Value::Relation(rf)), Some(Value::Relation(co))) => {
                let read = Builder::inverse(&rf);
                Ok(Value::Relation(self.builder.sequence(&read, &co)))
            }
            _ => Err(wrong("`fr` needs the relations `rf` and `co`", name.span)),
        }
    }

    fn apply(&mut self, function: &Name, arguments: &[Expr], expr: &Expr) -> Result<Value, Diagnostic> {
        if let Some(Value::Function(definition, known)) = self.names.get(&function.text).cloned() {
            return self.call(&definition, known, arguments, expr);
        }
        match (function.text.as_str(), arguments) {
            ("domain", [of]) => {
                let of = self.relation(of)?;
                Ok(Value::Set(self.builder.side(&of, false)))
            }
            ("range", [of]) => {
                let of = self.relation(of)?;
                Ok(Value::Set(self.builder.side(&of, true)))
            }
            // What has such a fence between.
            ("fencerel", [of]) => {
                let fences = Builder::identity(&self.set(of)?);
                let Some(Value::Relation(po)) = self.names.get("po").cloned() else {
                    return Err(wrong("`fencerel` needs the relation `po`", expr.span));
                };
                let before = self.builder.sequence(&po, &fences);
                Ok(Value::Relation(self.builder.sequence(&before, &po)))
            }
            ("domain" | "range" | "fencerel", _) => {
                Err(wrong(format!("`{}` takes one argument", function.text), expr.span))
            }
            ("subsets", _) => Err(wrong("`subsets` stands behind `with NAME from`", expr.span)),
            _ => Err(unknown(function, self.names.keys())),
        }
    }

    fn call(
        &mut self,
        definition: &Definition,
        mut known: Names,
        arguments: &[Expr],
        expr: &Expr,
    ) -> Result<Value, Diagnostic> {
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        if parameters.len() != arguments.len() {
            let message = format!("`{}` takes {} arguments", definition.name.text, parameters.len());
            return Err(wrong(message, expr.span));
        }
        if self.calls == DEEPEST_CALL {
            return Err(wrong("functions call each other too deeply", expr.span));
        }
        for (parameter, argument) in parameters.iter().zip(arguments) {
            known.insert(parameter.text.clone(), self.value(argument)?);
        }
        let outer = std::mem::replace(&mut self.names, known);
        self.calls += 1;
        let result = self.value(&definition.body);
        self.calls -= 1;
        self.names = outer;
        result
    }

    fn unary(&mut self, suffix: Suffix, of: &Expr) -> Result<Value, Diagnostic> {
        if suffix == Suffix::Identity {
            return Ok(Value::Relation(Builder::identity(&self.set(of)?)));
        }
        if suffix == Suffix::Complement {
            let events = self.events();
            return match self.value(of)? {
                Value::Set(set) => Ok(Value::Set(self.builder.difference(&events, &set))),
                Value::Relation(relation) => {
                    let all = self.builder.product(&events, &events);
                    Ok(Value::Relation(self.builder.difference(&all, &relation)))
                }
                Value::Function(..) => Err(wrong("a function has no complement", of.span)),
            };
        }
        let relation = self.relation(of)?;
        let relation = match suffix {
            Suffix::Inverse => Builder::inverse(&relation),
            Suffix::Reflexive => self.reflexive(&relation),
            Suffix::Transitive => self.builder.transitive(&relation),
            _ => {
                let closed = self.builder.transitive(&relation);
                self.reflexive(&closed)
            }
        };
        Ok(Value::Relation(relation))
    }

    fn reflexive(&mut self, relation: &Relation) -> Relation {
        let identity = Builder::identity(&self.events());
        self.builder.union(relation, &identity)
    }

    /// All events that happen.
    fn events(&self) -> Set {
        match self.names.get("_") {
            Some(Value::Set(all)) => all.clone(),
            _ => Set::new(),
        }
    }

    fn binary(&mut self, operator: Operator, a: &Expr, b: &Expr, expr: &Expr) -> Result<Value, Diagnostic> {
        match operator {
            Operator::Product => {
                let (a, b) = (self.set(a)?, self.set(b)?);
                return Ok(Value::Relation(self.builder.product(&a, &b)));
            }
            Operator::Sequence => {
                let (a, b) = (self.relation(a)?, self.relation(b)?);
                return Ok(Value::Relation(self.builder.sequence(&a, &b)));
            }
            _ => {}
        }
        match (self.value(a)?, self.value(b)?) {
            (Value::Set(a), Value::Set(b)) => Ok(Value::Set(match operator {
                Operator::Union => self.builder.union(&a, &b),
                Operator::Intersection => self.builder.intersection(&a, &b),
                _ => self.builder.difference(&a, &b),
            })),
            (Value::Relation(a), Value::Relation(b)) => Ok(Value::Relation(match operator {
                Operator::Union => self.builder.union(&a, &b),
                Operator::Intersection => self.builder.intersection(&a, &b),
                _ => self.builder.difference(&a, &b),
            })),
            // `0` beside a set.
            (Value::Set(a), Value::Relation(b)) if b.is_empty() => Ok(Value::Set(match operator {
                Operator::Intersection => Set::new(),
                _ => a,
            })),
            (Value::Relation(a), Value::Set(b)) if a.is_empty() => Ok(Value::Set(match operator {
                Operator::Union => b,
                _ => Set::new(),
            })),
            _ => Err(wrong("a set and a relation do not fit together", expr.span)),
        }
    }
}

/// Refuses names that are being defined where growing makes the whole shrink.
fn grows(expr: &Expr, own: &BTreeSet<&str>, under_complement: bool) -> Result<(), Diagnostic> {
    match &expr.kind {
        ExprKind::Nothing => Ok(()),
        ExprKind::Name(name) if under_complement && own.contains(name.text.as_str()) => {
            Err(wrong(format!("`{}` is defined by its own complement", name.text), name.span))
        }
        ExprKind::Name(_) => Ok(()),
        // What a function does with it is not looked at.
        ExprKind::Apply(function, arguments) => {
            let is_plain = ["domain", "range", "fencerel"].contains(&function.text.as_str());
            arguments.iter().try_for_each(|one| grows(one, own, under_complement || !is_plain))
        }
        ExprKind::Unary(suffix, of) => grows(of, own, under_complement || *suffix == Suffix::Complement),
        ExprKind::Binary(operator, a, b) => {
            grows(a, own, under_complement)?;
            grows(b, own, under_complement || *operator == Operator::Difference)
        }
    }
}

/// A name that stands for nothing.
fn unknown<'a>(name: &Name, known: impl Iterator<Item = &'a String>) -> Diagnostic {
    let known: Vec<&str> = known.map(String::as_str).collect();
    let wrong = wrong(format!("`{}` stands for nothing", name.text), name.span);
    match crate::report::near_names::near_names(&name.text, known) {
        near if near.is_empty() => wrong,
        near => wrong.note(format!("there is: {}", near.join(", "))),
    }
}
