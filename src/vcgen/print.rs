//! Terms in the syntax of the IVL, for people.
//!
//! Input: the terms of a passive program or of a condition.
//! Output: text in which what occurs more than once has a name of its own, so that it grows with the DAG and not with the
//! tree; long formulas are broken where their operators are.
//! Establishes: a name is defined before it is used. No name of the IVL has an exclamation mark, so `t!3` is none of the
//! program's.
//! Relies on: nothing. What Z3 is asked is printed by [`crate::solver::smtlib`].
//! Reference: the grammar of the IVL (`grammar/ivl.lalrpop`); widths of lines by P. Wadler, "A prettier printer".

use super::term::{BvCompare, Node, Quantifier, Term, Terms, mask};
use crate::ivl::bv::BvOp;
use crate::ivl::bv_names::Builtin;
use foldhash::{HashMap, HashSet};
use pretty::RcDoc;
use std::fmt::Write;

type Doc = RcDoc<'static>;

/// Longer lines are broken.
const WIDTH: usize = 110;

/// Shared terms of fewer nodes are repeated rather than named.
const REPEATED: usize = 6;

/// Deeper formulas get names for their parts: what is printed in one piece can be read, and recursion has an end.
const DEEPEST: usize = 12;

/// Which terms have names, and what has been defined so far.
pub(crate) struct Names<'t> {
    terms: &'t Terms,
    named: HashSet<Term>,
    names: HashMap<Term, String>,
}

impl<'t> Names<'t> {
    /// Names for what `roots` share; each of `always` has one in any case.
    pub(crate) fn new(terms: &'t Terms, roots: &[Term], always: impl Iterator<Item = Term>) -> Names<'t> {
        let mut named: HashSet<Term> = always.collect();
        let mut seen: HashSet<Term> = HashSet::default();
        let mut uses: HashMap<Term, usize> = HashMap::default();
        let mut depth: HashMap<Term, usize> = HashMap::default();
        for &root in roots {
            *uses.entry(root).or_default() += 1;
            for term in terms.postorder(root, &|t| seen.contains(&t) || is_closed(terms, t)) {
                seen.insert(term);
                let operands = if is_closed(terms, term) { Vec::new() } else { terms.operands(term) };
                operands.iter().for_each(|&operand| *uses.entry(operand).or_default() += 1);
                let below =
                    |operand: &Term| if named.contains(operand) { 0 } else { depth.get(operand).copied().unwrap_or(0) };
                let own = 1 + operands.iter().map(below).max().unwrap_or(0);
                if own > DEEPEST {
                    named.insert(term);
                }
                depth.insert(term, own);
            }
        }
        let shared = uses.iter().filter(|&(_, &count)| count > 1).map(|(&term, _)| term);
        named.extend(shared.filter(|&term| terms.size(&[term], REPEATED) >= REPEATED));
        Names { terms, named, names: HashMap::default() }
    }

    /// The definitions that `term` needs and that were not printed yet, one a line; a note stands in front of its own.
    pub(crate) fn definitions(&mut self, term: Term, note: &dyn Fn(Term) -> Option<String>) -> String {
        let mut out = String::new();
        self.each_definition(term, note, &mut |_, text| out.push_str(text));
        out
    }

    /// The same definitions, handed over one by one with the term that each defines.
    pub(crate) fn each_definition(
        &mut self,
        term: Term,
        note: &dyn Fn(Term) -> Option<String>,
        take: &mut dyn FnMut(Term, &str),
    ) {
        let names = &self.names;
        let order = self.terms.postorder(term, &|t| names.contains_key(&t) || is_closed(self.terms, t));
        for t in order.into_iter().filter(|t| self.named.contains(t)) {
            if self.names.contains_key(&t) || t == term {
                continue;
            }
            let name = format!("t!{}", self.names.len());
            let mut out = String::new();
            if let Some(note) = note(t) {
                let _ = writeln!(out, "  // {note}");
            }
            let _ = writeln!(out, "  {name} := {};", self.text(t, 4));
            self.names.insert(t, name);
            take(t, &out);
        }
    }

    /// A term whose definitions are printed; lines after the first are indented so far, in characters.
    pub(crate) fn text(&self, term: Term, indent: isize) -> String {
        let doc = self.node(term, Level::Lowest).nest(indent);
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = doc.render_fmt(WIDTH, &mut out);
        out
    }

    fn doc(&self, term: Term, level: Level) -> Doc {
        match self.names.get(&term) {
            Some(name) => Doc::text(name.clone()),
            None => self.node(term, level),
        }
    }

    fn node(&self, term: Term, level: Level) -> Doc {
        let terms = self.terms;
        match terms.node(term) {
            Node::Bool(value) => text(value),
            Node::Symbol(id) => Doc::text(terms.symbols[*id as usize].name.clone()),
            Node::BvConst { width, value } => Doc::text(format!("{value}bv{width}")),
            Node::IntConst(value) => text(value),
            Node::Not(inner) => self.negation(*inner, level),
            Node::And(members) => self.chain("&&", members.iter().map(|&m| self.doc(m, Level::And)), level),
            Node::Or(members) => self.disjunction(members, level),
            Node::Eq(a, b) => {
                let operator = if terms.sort(*a) == super::term::Sort::Bool { "<==>" } else { "==" };
                self.infix(operator, *a, *b, level)
            }
            Node::Ite(c, a, b) => {
                let part = |word: &'static str, t: &Term| Doc::text(word).append(self.doc(*t, Level::Comparison));
                let whole = part("if ", c)
                    .append(Doc::line())
                    .append(part("then ", a))
                    .append(Doc::line())
                    .append(part("else ", b));
                parenthesised(whole.nest(2), true)
            }
            Node::Apply(id, arguments) => self.call(&terms.functions[*id as usize].name, arguments),
            Node::BvSum { width, constant, members } => self.bit_vector_sum(*width, *constant, members),
            Node::BvBinary(op, a, b) => self.call(&op.operator().function(terms.width(term)).to_string(), &[*a, *b]),
            Node::BvCompare(op, a, b) => self.comparison(*op, *a, *b),
            Node::Extract { high, low, of } => {
                self.doc(*of, Level::Primary).append(Doc::text(format!("[{}:{low}]", high + 1)))
            }
            Node::Concat(a, b) => self.infix("++", *a, *b, level),
            Node::ZeroExtend(to, a) => self.builtin(Builtin::ZeroExtend { from: terms.width(*a), to: *to }, *a),
            Node::SignExtend(to, a) => self.builtin(Builtin::SignExtend { from: terms.width(*a), to: *to }, *a),
            Node::ToInt(a) => self.builtin(Builtin::ToInt(terms.width(*a)), *a),
            Node::ToSignedInt(a) => self.builtin(Builtin::ToSignedInt(terms.width(*a)), *a),
            Node::FromInt(width, a) => self.builtin(Builtin::FromInt(*width), *a),
            Node::IntSum { constant, members } => self.integer_sum(*constant, members, level),
            Node::IntMul(a, b) => self.infix("*", *a, *b, level),
            Node::IntDiv(a, b) => self.infix("div", *a, *b, level),
            Node::IntMod(a, b) => self.infix("mod", *a, *b, level),
            Node::IntLe(a, b) => self.infix("<=", *a, *b, level),
            Node::Select(list) => self.element(list, None),
            Node::Store(list) => self.element(&list[..list.len() - 1], list.last()),
            Node::Quantifier(quantifier) => self.quantifier(quantifier),
        }
    }

    fn negation(&self, inner: Term, level: Level) -> Doc {
        if !self.names.contains_key(&inner) {
            match self.terms.node(inner) {
                Node::Eq(a, b) if self.terms.sort(*a) != super::term::Sort::Bool => {
                    return self.infix("!=", *a, *b, level);
                }
                Node::IntLe(a, b) => return self.infix("<", *b, *a, level),
                Node::BvCompare(op, a, b) => {
                    let strict = match op {
                        BvCompare::Ult => BvCompare::Ule,
                        BvCompare::Ule => BvCompare::Ult,
                        BvCompare::Slt => BvCompare::Sle,
                        BvCompare::Sle => BvCompare::Slt,
                    };
                    return self.comparison(strict, *b, *a);
                }
                _ => {}
            }
        }
        Doc::text("!").append(self.doc(inner, Level::Primary))
    }

    /// What is negated are the premises of the others; where all is negated, not all of it holds. In front of another
    /// implication all else is a premise, so that a chain of assumptions reads from top to bottom.
    fn disjunction(&self, members: &[Term], level: Level) -> Doc {
        let (negated, others): (Vec<Term>, Vec<Term>) =
            members.iter().partition(|&&member| self.negated(member).is_some());
        let premise = |&member: &Term| match self.negated(member) {
            Some(inner) => self.doc(inner, Level::And),
            None => self.negation(member, Level::And),
        };
        let implication = others.iter().copied().find(|&member| self.is_implication(member));
        let (premises, conclusion) = match (implication, others.as_slice()) {
            (Some(last), _) => {
                let premises: Vec<Term> = members.iter().copied().filter(|&member| member != last).collect();
                (premises, self.doc(last, Level::Lowest))
            }
            (None, []) => {
                let all = self.chain("&&", negated.iter().map(premise), Level::Lowest);
                return Doc::text("!").append(parenthesised(all.nest(1), true));
            }
            (None, [only]) => (negated, self.doc(*only, Level::Implication)),
            (None, _) => {
                let any = self.chain("||", others.iter().map(|&member| self.doc(member, Level::Or)), Level::Lowest);
                (negated, any.nest(4))
            }
        };
        if premises.is_empty() {
            return parenthesised(conclusion, level > Level::Implication);
        }
        let premises = match premises.as_slice() {
            [only] if self.negated(*only).is_some() => {
                self.negated(*only).map_or(Doc::nil(), |t| self.doc(t, Level::Implication))
            }
            _ => self.chain("&&", premises.iter().map(premise), Level::Lowest),
        };
        let whole = premises.append(Doc::line()).append(Doc::text("==> ")).append(conclusion);
        parenthesised(whole.group(), level > Level::Lowest)
    }

    /// What a term without a name negates.
    fn negated(&self, term: Term) -> Option<Term> {
        match self.terms.node(term) {
            Node::Not(inner) if !self.names.contains_key(&term) => Some(*inner),
            _ => None,
        }
    }

    fn is_implication(&self, term: Term) -> bool {
        let Node::Or(members) = self.terms.node(term) else { return false };
        let is_premise = |member: &Term| matches!(self.terms.node(*member), Node::Not(_));
        !self.names.contains_key(&term) && members.iter().any(is_premise) && !members.iter().all(is_premise)
    }

    fn chain(&self, operator: &'static str, members: impl Iterator<Item = Doc>, level: Level) -> Doc {
        let separator = Doc::line().append(Doc::text(operator)).append(Doc::space());
        let whole = Doc::intersperse(members, separator).group();
        parenthesised(whole, level > Level::Implication)
    }

    fn infix(&self, operator: &'static str, a: Term, b: Term, level: Level) -> Doc {
        let own = Level::Comparison;
        let is_constant = |t| matches!(self.terms.node(t), Node::BvConst { .. } | Node::IntConst(_));
        // The order in equalities is that of their age; constants come last.
        let (a, b) = if matches!(operator, "==" | "!=") && is_constant(a) { (b, a) } else { (a, b) };
        let whole = self.doc(a, own).append(Doc::text(format!(" {operator} "))).append(self.doc(b, own));
        parenthesised(whole, level >= own)
    }

    fn call(&self, name: &str, arguments: &[Term]) -> Doc {
        let arguments = arguments.iter().map(|&argument| self.doc(argument, Level::Lowest)).collect();
        call(name.to_string(), arguments)
    }

    fn builtin(&self, builtin: Builtin, argument: Term) -> Doc {
        self.call(&builtin.name().to_string(), &[argument])
    }

    fn comparison(&self, op: BvCompare, a: Term, b: Term) -> Doc {
        self.call(&op.operator().function(self.terms.width(a)).to_string(), &[a, b])
    }

    /// Members with large coefficients are subtracted.
    fn bit_vector_sum(&self, width: u32, constant: u128, members: &[(Term, u128)]) -> Doc {
        let function = |op: BvOp, arguments| call(op.function(width).to_string(), arguments);
        let number = |value: u128| Doc::text(format!("{value}bv{width}"));
        let negative = |value: u128| width > 1 && value >> (width - 1) == 1;
        let opposite = |value: u128| value.wrapping_neg() & mask(width);
        let multiple = |term: Term, factor: u128| match factor {
            1 => self.doc(term, Level::Lowest),
            _ => function(BvOp::Mul, vec![number(factor), self.doc(term, Level::Lowest)]),
        };
        let positive =
            members.iter().filter(|member| !negative(member.1)).map(|&(term, factor)| multiple(term, factor));
        let mut parts: Vec<Doc> = positive.collect();
        if constant != 0 && !negative(constant) || parts.is_empty() {
            parts.push(number(constant));
        }
        let constant_left = negative(constant) && parts.len() > members.iter().filter(|m| !negative(m.1)).count();
        let sum = parts.into_iter().reduce(|a, b| function(BvOp::Add, vec![a, b]));
        let subtracted = members.iter().filter(|member| negative(member.1));
        let mut subtracted: Vec<Doc> = subtracted.map(|&(term, factor)| multiple(term, opposite(factor))).collect();
        if negative(constant) && !constant_left {
            subtracted.push(number(opposite(constant)));
        }
        let start = sum.unwrap_or_else(|| number(0));
        subtracted.into_iter().fold(start, |sum, part| function(BvOp::Sub, vec![sum, part]))
    }

    fn integer_sum(&self, constant: i128, members: &[(Term, i128)], level: Level) -> Doc {
        let mut whole = Doc::nil();
        let sign = |first: bool, negative: bool| match (first, negative) {
            (true, true) => Doc::text("-"),
            (true, false) => Doc::nil(),
            (false, true) => Doc::text(" - "),
            (false, false) => Doc::text(" + "),
        };
        for (i, &(term, factor)) in members.iter().enumerate() {
            whole = whole.append(sign(i == 0, factor < 0));
            if factor.unsigned_abs() != 1 {
                whole = whole.append(Doc::text(format!("{} * ", factor.unsigned_abs())));
            }
            whole = whole.append(self.doc(term, Level::Comparison));
        }
        if constant != 0 {
            whole = whole.append(sign(members.is_empty(), constant < 0)).append(text(&constant.unsigned_abs()));
        }
        parenthesised(whole, level >= Level::Comparison)
    }

    fn element(&self, list: &[Term], stored: Option<&Term>) -> Doc {
        let indices = list[1..].iter().map(|&index| self.doc(index, Level::Lowest));
        let mut inside = Doc::intersperse(indices, Doc::text(", "));
        if let Some(&value) = stored {
            inside = inside.append(Doc::text(" := ")).append(self.doc(value, Level::Lowest));
        }
        self.doc(list[0], Level::Primary).append(Doc::text("[")).append(inside).append(Doc::text("]"))
    }

    fn quantifier(&self, quantifier: &Quantifier) -> Doc {
        let list =
            |terms: &[Term]| Doc::intersperse(terms.iter().map(|&term| self.doc(term, Level::Lowest)), Doc::text(", "));
        let bound = |&variable: &Term| {
            let sort = self.terms.sort_text(self.terms.sort(variable));
            self.doc(variable, Level::Lowest).append(Doc::text(format!(": {sort}")))
        };
        let word = if quantifier.universal { "forall " } else { "exists " };
        let mut whole = Doc::text(word)
            .append(Doc::intersperse(quantifier.variables.iter().map(bound), Doc::text(", ")))
            .append(Doc::text(" :: "));
        for trigger in &quantifier.triggers {
            whole = whole.append(Doc::text("{ ")).append(list(trigger)).append(Doc::text(" } "));
        }
        parenthesised(whole.append(self.doc(quantifier.body, Level::Lowest)), true)
    }
}

/// Where an expression stands: what binds less than that is put into parentheses. `&&` and `||` are not mixed without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Lowest,
    Implication,
    And,
    Or,
    Comparison,
    Primary,
}

/// Names for what is inside are not possible (bound variables) or not needed.
fn is_closed(terms: &Terms, term: Term) -> bool {
    let node = terms.node(term);
    matches!(node, Node::Bool(_) | Node::Symbol(_) | Node::BvConst { .. } | Node::IntConst(_) | Node::Quantifier(_))
}

fn text(value: &impl std::fmt::Display) -> Doc {
    Doc::text(value.to_string())
}

fn call(name: String, arguments: Vec<Doc>) -> Doc {
    if arguments.is_empty() {
        return Doc::text(name);
    }
    let arguments = Doc::intersperse(arguments, Doc::text(",").append(Doc::line()));
    Doc::text(name).append(Doc::text("(")).append(arguments.nest(2)).append(Doc::text(")")).group()
}

fn parenthesised(inner: Doc, needed: bool) -> Doc {
    let inner = inner.group();
    if needed { Doc::text("(").append(inner.nest(1)).append(Doc::text(")")) } else { inner }
}
