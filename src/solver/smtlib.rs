//! The same formulas as SMT-LIB 2, for replay with the z3 or cvc5 binary.
//!
//! Input: encoded assertions. Output: a complete script ending in `(check-sat)`; shared terms are
//! `define-fun`s, so the text is linear in the size of the DAG.

use super::{Encoded, Encoding};
use crate::vcgen::term::{BvBinary, BvCompare, Node, OtherSort, Quantifier, Sort, Term, Terms};
use foldhash::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The script of one query.
pub fn script(terms: &Terms, encoding: Encoding, encoded: &Encoded, comment: &str) -> String {
    let mut printer = Printer::new(terms);
    for line in comment.lines() {
        let _ = writeln!(printer.out, "; {line}");
    }
    let logic = match encoding {
        Encoding::Integers => "QF_UFNIA",
        Encoding::BitVectors => "QF_UFBV",
        Encoding::Exact => "ALL",
    };
    let _ = writeln!(printer.out, "(set-logic {logic})");
    printer.declare(&encoded.assertions);
    for &assertion in &encoded.assertions {
        printer.define(assertion);
        let text = printer.reference(assertion);
        let _ = writeln!(printer.out, "(assert {text})");
    }
    printer.out.push_str("(check-sat)\n");
    printer.out
}

struct Printer<'t> {
    terms: &'t Terms,
    out: String,
    names: HashMap<Term, String>,
    /// Terms over bound variables, with these: they stand where they are used.
    open: HashMap<Term, BTreeSet<Term>>,
    /// Comments behind definitions.
    notes: BTreeMap<Term, String>,
}

fn sort_name(terms: &Terms, sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".into(),
        Sort::Int => "Int".into(),
        Sort::Bv(width) => format!("(_ BitVec {width})"),
        Sort::Other(_) => format!("|{}|", terms.sort_text(sort)),
    }
}

fn integer(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

impl<'t> Printer<'t> {
    fn new(terms: &'t Terms) -> Self {
        Printer {
            terms,
            out: String::new(),
            names: HashMap::default(),
            open: HashMap::default(),
            notes: BTreeMap::new(),
        }
    }

    fn declare(&mut self, roots: &[Term]) {
        let (mut symbols, mut functions) = (BTreeSet::new(), BTreeSet::new());
        let mut bound = HashSet::default();
        let mut seen = HashSet::default();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            match self.terms.node(t) {
                Node::Symbol(id) => {
                    symbols.insert(*id);
                }
                Node::Apply(id, _) => {
                    functions.insert(*id);
                }
                Node::Quantifier(quantifier) => bound.extend(quantifier.variables.iter().copied()),
                _ => {}
            }
            stack.extend(self.terms.operands(t));
        }
        self.declare_sorts();
        let bound_symbols: HashSet<u32> = bound.iter().filter_map(|&t| symbol_number(self.terms, t)).collect();
        for id in symbols.into_iter().filter(|id| !bound_symbols.contains(id)) {
            let symbol = &self.terms.symbols[id as usize];
            let _ = writeln!(self.out, "(declare-const |{}| {})", symbol.name, sort_name(self.terms, symbol.sort));
        }
        self.open = bound.into_iter().map(|t| (t, BTreeSet::from([t]))).collect();
        for id in functions {
            let function = &self.terms.functions[id as usize];
            let args: Vec<String> = function.args.iter().map(|&s| sort_name(self.terms, s)).collect();
            let result = sort_name(self.terms, function.result);
            let _ = writeln!(self.out, "(declare-fun |{}| ({}) {result})", function.name, args.join(" "));
        }
    }

    /// Declared types, and maps with what is known of them: they are not extensional.
    fn declare_sorts(&mut self) {
        let sorts: Vec<Sort> = (0..self.terms.other_sorts.len()).map(|i| Sort::Other(i as u32)).collect();
        for &sort in &sorts {
            let _ = writeln!(self.out, "(declare-sort {} 0)", sort_name(self.terms, sort));
        }
        for &sort in &sorts {
            let Some(OtherSort::Map(domain, element)) = self.terms.other(sort) else { continue };
            let (map, text) = (sort_name(self.terms, sort), self.terms.sort_text(sort));
            let (element, count) = (sort_name(self.terms, *element), domain.len());
            let domain: Vec<String> = domain.iter().map(|&sort| sort_name(self.terms, sort)).collect();
            let (select, store, all) = (format!("|select@{text}|"), format!("|store@{text}|"), domain.join(" "));
            let _ = writeln!(self.out, "(declare-fun {select} ({map} {all}) {element})");
            let _ = writeln!(self.out, "(declare-fun {store} ({map} {all} {element}) {map})");
            let names = |stem: &str| (0..count).map(|i| format!("{stem}{i}")).collect::<Vec<String>>();
            let bind = |names: &[String]| {
                names
                    .iter()
                    .zip(&domain)
                    .map(|(name, sort)| format!("({name} {sort})"))
                    .collect::<Vec<String>>()
                    .join(" ")
            };
            let (here, there) = (names("i"), names("j"));
            let updated = format!("({store} m {} v)", here.join(" "));
            let bound = format!("(m {map}) {} (v {element})", bind(&here));
            let _ = writeln!(self.out, "(assert (forall ({bound}) (= ({select} {updated} {}) v)))", here.join(" "));
            for (a, b) in here.iter().zip(&there) {
                let at = there.join(" ");
                let same = format!("(= ({select} {updated} {at}) ({select} m {at}))");
                let _ = writeln!(self.out, "(assert (forall ({bound} {}) (or (= {a} {b}) {same})))", bind(&there));
            }
        }
    }

    /// Defines every compound term below `root`, operands first.
    fn define(&mut self, root: Term) {
        let mut stack = vec![(root, false)];
        while let Some((t, ready)) = stack.pop() {
            let operands = self.terms.operands(t);
            if operands.is_empty() && !matches!(self.terms.node(t), Node::Apply(..))
                || self.names.contains_key(&t)
                || self.open.contains_key(&t)
            {
                continue;
            }
            if !ready {
                stack.push((t, true));
                stack.extend(operands.iter().map(|&o| (o, false)));
                continue;
            }
            // Behind its operands: so it is known which of them are open.
            let mut free: BTreeSet<Term> =
                operands.iter().filter_map(|o| self.open.get(o)).flatten().copied().collect();
            if let Node::Quantifier(quantifier) = self.terms.node(t) {
                quantifier.variables.iter().for_each(|variable| {
                    free.remove(variable);
                });
            }
            if !free.is_empty() {
                self.open.insert(t, free);
                continue;
            }
            let body = self.body(t);
            // No identifier of the IVL has an exclamation mark. Numbered by place, not by the age of the term:
            // what was asked before does not show.
            let name = format!("t!{}", self.names.len());
            let sort = sort_name(self.terms, self.terms.sort(t));
            let note = self.notes.get(&t).map(|note| format!(" ; {note}")).unwrap_or_default();
            let _ = writeln!(self.out, "(define-fun {name} () {sort} {body}){note}");
            self.names.insert(t, name);
        }
    }

    fn reference(&self, t: Term) -> String {
        if let Some(name) = self.names.get(&t) {
            return name.clone();
        }
        match self.terms.node(t) {
            Node::Bool(value) => value.to_string(),
            Node::Symbol(id) => format!("|{}|", self.terms.symbols[*id as usize].name),
            Node::BvConst { width, value } => format!("(_ bv{value} {width})"),
            Node::IntConst(value) => integer(*value),
            _ if self.open.contains_key(&t) => self.body(t),
            _ => panic!("solver: term used before its definition"),
        }
    }

    fn quantifier(&self, quantifier: &Quantifier) -> String {
        let Quantifier { universal, variables, triggers, excluded, weight, body } = quantifier;
        let bind = |&v: &Term| format!("({} {})", self.reference(v), sort_name(self.terms, self.terms.sort(v)));
        let variables: Vec<String> = variables.iter().map(bind).collect();
        let list = |terms: &Vec<Term>| terms.iter().map(|&t| self.reference(t)).collect::<Vec<String>>().join(" ");
        let patterns: String =
            triggers.iter().filter(|_| *universal).map(|trigger| format!(" :pattern ({})", list(trigger))).collect();
        let weight = if *weight == 1 { String::new() } else { format!(" :weight {weight}") };
        let excluded: String = excluded.iter().map(|&t| format!(" :no-pattern {}", self.reference(t))).collect();
        let patterns = format!("{weight}{patterns}{excluded}");
        let body = self.reference(*body);
        let body = if patterns.is_empty() { body } else { format!("(! {body}{patterns})") };
        format!("({} ({}) {body})", if *universal { "forall" } else { "exists" }, variables.join(" "))
    }

    fn body(&self, t: Term) -> String {
        let operands: Vec<String> = self.terms.operands(t).iter().map(|&o| self.reference(o)).collect();
        let all = operands.join(" ");
        match self.terms.node(t) {
            Node::Not(_) => format!("(not {all})"),
            Node::And(_) => format!("(and {all})"),
            Node::Or(_) => format!("(or {all})"),
            Node::Eq(..) => format!("(= {all})"),
            Node::Ite(..) => format!("(ite {all})"),
            Node::Apply(id, args) if args.is_empty() => format!("|{}|", self.terms.functions[*id as usize].name),
            Node::Apply(id, _) => format!("(|{}| {all})", self.terms.functions[*id as usize].name),
            Node::BvSum { width, constant, members } => {
                let factors = members.iter().map(|m| format!("(_ bv{} {width})", m.1));
                sum("bvadd", "bvmul", &operands, factors, (*constant != 0).then(|| format!("(_ bv{constant} {width})")))
            }
            Node::IntSum { constant, members } => {
                let factors = members.iter().map(|m| integer(m.1));
                sum("+", "*", &operands, factors, (*constant != 0).then(|| integer(*constant)))
            }
            Node::BvBinary(op, ..) => format!("({} {all})", binary_name(*op)),
            Node::BvCompare(op, ..) => {
                let name = match op {
                    BvCompare::Ult => "bvult",
                    BvCompare::Ule => "bvule",
                    BvCompare::Slt => "bvslt",
                    BvCompare::Sle => "bvsle",
                };
                format!("({name} {all})")
            }
            Node::Extract { high, low, .. } => format!("((_ extract {high} {low}) {all})"),
            Node::Concat(..) => format!("(concat {all})"),
            Node::ZeroExtend(width, a) => format!("((_ zero_extend {}) {all})", width - self.terms.width(*a)),
            Node::SignExtend(width, a) => format!("((_ sign_extend {}) {all})", width - self.terms.width(*a)),
            Node::IntMul(..) => format!("(* {all})"),
            Node::IntDiv(..) => format!("(div {all})"),
            Node::IntMod(..) => format!("(mod {all})"),
            Node::IntLe(..) => format!("(<= {all})"),
            Node::ToInt(_) => format!("(bv2nat {all})"),
            Node::ToSignedInt(_) => format!("(sbv2int {all})"),
            Node::FromInt(width, _) => format!("((_ int2bv {width}) {all})"),
            Node::Select(list) => format!("(|select@{}| {all})", self.terms.sort_text(self.terms.sort(list[0]))),
            Node::Store(list) => format!("(|store@{}| {all})", self.terms.sort_text(self.terms.sort(list[0]))),
            Node::Quantifier(quantifier) => self.quantifier(quantifier),
            Node::Bool(_) | Node::Symbol(_) | Node::BvConst { .. } | Node::IntConst(_) => self.reference(t),
        }
    }
}

fn symbol_number(terms: &Terms, t: Term) -> Option<u32> {
    match terms.node(t) {
        Node::Symbol(id) => Some(*id),
        _ => None,
    }
}

fn sum(
    add: &str,
    multiply: &str,
    operands: &[String],
    factors: impl Iterator<Item = String>,
    constant: Option<String>,
) -> String {
    let mut members: Vec<String> = operands.iter().zip(factors).map(|(o, f)| format!("({multiply} {f} {o})")).collect();
    members.extend(constant);
    match members.as_slice() {
        [only] => only.clone(),
        _ => format!("({add} {})", members.join(" ")),
    }
}

fn binary_name(op: BvBinary) -> &'static str {
    match op {
        BvBinary::Mul => "bvmul",
        BvBinary::Udiv => "bvudiv",
        BvBinary::Urem => "bvurem",
        BvBinary::Sdiv => "bvsdiv",
        BvBinary::Srem => "bvsrem",
        BvBinary::And => "bvand",
        BvBinary::Or => "bvor",
        BvBinary::Xor => "bvxor",
        BvBinary::Shl => "bvshl",
        BvBinary::Lshr => "bvlshr",
        BvBinary::Ashr => "bvashr",
    }
}
