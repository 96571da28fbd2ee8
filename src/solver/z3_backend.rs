//! Formulas to Z3 and back.

use super::meter::{Limit, Rate};
use super::{Answer, Encoded, Encoding, Value, context, refine};
use crate::effort::Effort;
use crate::limits;
use crate::vcgen::term::{BvBinary, BvCompare, Node, OtherSort, Quantifier, Sort, Term, Terms};
use std::collections::BTreeSet;
use z3::ast::{Ast, BV, Bool, Dynamic, Int};
use z3::{FuncDecl, Model, Pattern, SatResult, Solver, Tactic};

/// Z3's older simplex, several times as fast on linear formulas of this kind as the default (6), and
/// slower where products have a meaning.
pub(super) const LINEAR_SOLVER: u32 = 2;

/// What a query in a shared context may cost: about as much as it costs to begin a fresh one twice.
const LITTLE: Effort = Effort::milliseconds(15);
/// Terms of a query that is not asked in a shared context: it keeps the memory that a query took.
const LARGE: usize = 20_000;

/// The function that reads a map, without its sort.
const SELECT: &str = "select";
/// The function that updates a map, without its sort.
const STORE: &str = "store";

/// What products of unknowns are to the solver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// Products.
    Exact,
    /// Anything.
    Opaque,
    /// Anything of which the facts about every pair are true.
    Related,
}

/// Checks satisfiability of the assertions; unsatisfiable is `Proved`.
///
/// Z3's own reasoning about products of unknowns finds models soon or hardly at all, and proofs
/// unsteadily. So it gets a short try, and none where counters of rounds are multiplied; then products are opaque
/// terms with the facts about them ([`super::products`]) that most proofs need. Only if that has a model, which may
/// multiply wrongly, facts are looked for that are about this very formula.
pub(crate) fn check(terms: &Terms, encoded: &Encoded, encoding: Encoding, effort: Effort) -> Answer {
    let run = |rate, view| ask(terms, encoded, Limit { effort, rate }, view);
    if !encoded.has_products() {
        return run(Rate::of(encoding), View::Exact);
    }
    if !encoded.multiplies {
        match run(Rate::PRODUCTS, View::Exact) {
            Answer::Unknown(_) => {}
            answer => return answer,
        }
        match run(Rate::of(encoding), View::Related) {
            Answer::Refuted(_) => {}
            answer => return answer,
        }
    }
    context::in_fresh(|| refine::check(terms, encoded, Limit { effort, rate: Rate::of(encoding) }))
}

/// Checks satisfiability where products of unknowns are opaque. A model may multiply wrongly.
pub(crate) fn check_opaque(terms: &Terms, encoded: &Encoded, encoding: Encoding, effort: Effort) -> Answer {
    ask(terms, encoded, Limit { effort, rate: Rate::of(encoding) }, View::Related)
}

/// Asks shortly in the context that the queries of this thread share; what needs more is asked again in a fresh one.
fn ask(terms: &Terms, encoded: &Encoded, limit: Limit, view: View) -> Answer {
    if context::is_shared() && terms.size(&encoded.assertions, LARGE) <= LARGE {
        let answer = context::in_shared(|| check_with(terms, encoded, limit.at_most(LITTLE), view));
        if !matches!(answer, Answer::Unknown(_)) || limit.effort <= LITTLE {
            return answer;
        }
    }
    context::in_fresh(|| check_with(terms, encoded, limit, view))
}

/// Unsatisfiable where the literals hold? Then the places of literals that are enough for it.
pub(crate) fn core(
    terms: &Terms,
    encoded: &Encoded,
    literals: &[Term],
    encoding: Encoding,
    effort: Effort,
) -> Option<Vec<usize>> {
    let run = |rate, view| context::in_fresh(|| core_with(terms, encoded, literals, Limit { effort, rate }, view));
    let linear = Rate::of(encoding);
    let plain = run(if encoded.has_products() { Rate::PRODUCTS } else { linear }, View::Exact);
    if plain.is_some() || encoded.lemmas.is_empty() { plain } else { run(linear, View::Related) }
}

/// Ends what Z3 does when it has so many bytes, in all contexts of the process together.
pub(crate) fn limit_memory(bytes: u64) {
    z3::set_global_param("memory_max_size", &(bytes / 1_000_000).max(1).to_string());
}

fn core_with(terms: &Terms, encoded: &Encoded, literals: &[Term], limit: Limit, view: View) -> Option<Vec<usize>> {
    let (solver, mut emitter) = load(terms, encoded, limit, view, true);
    let assumed: Vec<Bool> = literals.iter().map(|&literal| emitter.boolean(literal)).collect();
    if limit.charged(&solver, |solver| solver.check_assumptions(&assumed)) != SatResult::Unsat {
        return None;
    }
    let core = solver.get_unsat_core();
    Some((0..assumed.len()).filter(|&place| core.contains(&assumed[place])).collect())
}

/// A solver with its limits and all assertions; without `cores` it does not remember what a proof used.
pub(super) fn load<'t>(
    terms: &'t Terms,
    encoded: &Encoded,
    limit: Limit,
    view: View,
    cores: bool,
) -> (Solver, Emitter<'t>) {
    let opaque = view != View::Exact;
    let mut emitter = Emitter::new(terms, opaque);
    // Where values are propagated, cores name every literal; here they need not be found fast.
    let solver = if cores {
        smt_solver()
    } else if view == View::Opaque && encoded.multiplies {
        // Asked again and again, with a few facts more: it remembers what it learned.
        Solver::new()
    } else {
        simplifying_solver()
    };
    let mut params = limit.parameters();
    if opaque || !encoded.has_products() {
        params.set_u32("smt.arith.solver", LINEAR_SOLVER);
    }
    if cores {
        params.set_bool("unsat_core", true);
    }
    solver.set_params(&params);
    let facts: &[Term] = match view {
        View::Exact => &[],
        View::Opaque => &encoded.bounds,
        View::Related => &encoded.lemmas,
    };
    for &assertion in encoded.assertions.iter().chain(facts) {
        solver.assert(emitter.boolean(assertion));
    }
    (solver, emitter)
}

fn check_with(terms: &Terms, encoded: &Encoded, limit: Limit, view: View) -> Answer {
    let (solver, mut emitter) = load(terms, encoded, limit, view, false);
    match limit.charged(&solver, Solver::check) {
        SatResult::Unsat => Answer::Proved,
        SatResult::Unknown => Answer::Unknown(solver.get_reason_unknown().unwrap_or_default()),
        SatResult::Sat => match solver.get_model() {
            Some(model) => read_model(&model, &mut emitter, encoded),
            None => {
                // For want of memory, as far as is known.
                limits::cut();
                Answer::Unknown("no model".into())
            }
        },
    }
}

/// The values of the wanted terms.
pub(super) fn read_model(model: &Model, emitter: &mut Emitter, encoded: &Encoded) -> Answer {
    let mut read = |t: Term| read_value(&model.eval(&emitter.emit(t), true)?);
    Answer::Refuted(encoded.wanted.iter().map(|t| t.and_then(&mut read)).collect())
}

/// Z3's SMT core behind its simplifier only: on large formulas of few theories `solve-eqs` takes quadratic time.
pub(super) fn smt_solver() -> Solver {
    Tactic::new("simplify").and_then(&Tactic::new("smt")).solver()
}

/// Z3's SMT core behind its cheap simplifications; four times as fast here as the default solver,
/// which chooses among portfolios.
pub(super) fn simplifying_solver() -> Solver {
    let steps = ["propagate-values", "solve-eqs", "elim-uncnstr", "smt"];
    let chain = steps.iter().fold(Tactic::new("simplify"), |chain, step| chain.and_then(&Tactic::new(step)));
    chain.solver()
}

pub(super) fn read_value(value: &Dynamic) -> Option<Value> {
    if let Some(b) = value.as_bool() {
        return b.as_bool().map(Value::Bool);
    }
    if let Some(i) = value.as_int() {
        return i.as_i128().map(Value::Int);
    }
    let bits = value.as_bv()?;
    let text = format!("{bits}");
    let digits = text.strip_prefix("#x").map(|d| (d, 16)).or_else(|| text.strip_prefix("#b").map(|d| (d, 2)))?;
    u128::from_str_radix(digits.0, digits.1).ok().map(Value::Bits)
}

/// Terms to Z3 syntax, each once.
pub(super) struct Emitter<'t> {
    pub(super) terms: &'t Terms,
    done: Vec<Option<Dynamic>>,
    /// Whether products, quotients and remainders of unknowns are arbitrary functions.
    opaque: bool,
}

impl<'t> Emitter<'t> {
    /// Nothing is emitted yet.
    pub(super) fn new(terms: &'t Terms, opaque: bool) -> Self {
        Emitter { terms, done: vec![None; terms.len()], opaque }
    }

    pub(super) fn emit(&mut self, t: Term) -> Dynamic {
        if let Some(known) = &self.done[t.0 as usize] {
            return known.clone();
        }
        // Operands first: `build` finds them done, however deep the formula is.
        for below in self.terms.postorder(t, &|t| self.done[t.0 as usize].is_some()) {
            limits::check();
            let result = self.build(below);
            self.done[below.0 as usize] = Some(result);
        }
        match &self.done[t.0 as usize] {
            Some(result) => result.clone(),
            None => panic!("solver: a term was not built"),
        }
    }

    pub(super) fn boolean(&mut self, t: Term) -> Bool {
        match self.emit(t).as_bool() {
            Some(b) => b,
            None => panic!("solver: a Boolean was expected"),
        }
    }

    pub(super) fn int(&mut self, t: Term) -> Int {
        match self.emit(t).as_int() {
            Some(i) => i,
            None => panic!("solver: an integer was expected"),
        }
    }

    fn bv(&mut self, t: Term) -> BV {
        match self.emit(t).as_bv() {
            Some(b) => b,
            None => panic!("solver: a bit-vector was expected"),
        }
    }

    fn build(&mut self, t: Term) -> Dynamic {
        let terms = self.terms;
        match terms.node(t) {
            Node::Bool(value) => Bool::from_bool(*value).into(),
            Node::Not(a) => self.boolean(*a).not().into(),
            Node::And(list) => {
                let list: Vec<Bool> = list.iter().map(|&a| self.boolean(a)).collect();
                Bool::and(&list).into()
            }
            Node::Or(list) => {
                let list: Vec<Bool> = list.iter().map(|&a| self.boolean(a)).collect();
                Bool::or(&list).into()
            }
            Node::Eq(a, b) => {
                let (a, b) = (self.emit(*a), self.emit(*b));
                a.eq(b).into()
            }
            Node::Ite(c, a, b) => {
                let (c, a, b) = (self.boolean(*c), self.emit(*a), self.emit(*b));
                c.ite(&a, &b)
            }
            Node::Symbol(id) => self.symbol(*id),
            Node::Apply(id, args) => {
                let args: Vec<Dynamic> = args.iter().map(|&a| self.emit(a)).collect();
                let args: Vec<&dyn Ast> = args.iter().map(|a| a as &dyn Ast).collect();
                self.function(*id).apply(&args)
            }
            Node::IntConst(value) => number(*value).into(),
            Node::IntSum { constant, members } => self.int_sum(*constant, members).into(),
            Node::IntMul(a, b) => self.nonlinear("product@int", *a, *b, |a, b| Int::mul(&[a, b])),
            Node::IntDiv(a, b) => self.nonlinear("quotient@int", *a, *b, |a, b| a.div(b)),
            Node::IntMod(a, b) => self.nonlinear("remainder@int", *a, *b, |a, b| a.modulo(b)),
            Node::IntLe(a, b) => self.int(*a).le(self.int(*b)).into(),
            Node::BvCompare(op, a, b) => {
                let (a, b) = (self.bv(*a), self.bv(*b));
                match op {
                    BvCompare::Ult => a.bvult(b).into(),
                    BvCompare::Ule => a.bvule(b).into(),
                    BvCompare::Slt => a.bvslt(b).into(),
                    BvCompare::Sle => a.bvsle(b).into(),
                }
            }
            Node::ToInt(a) => self.bv(*a).to_int(false).into(),
            Node::ToSignedInt(a) => self.bv(*a).to_int(true).into(),
            Node::Select(list) => self.access(SELECT, list),
            Node::Store(list) => self.access(STORE, list),
            Node::Quantifier(quantifier) => self.quantifier(quantifier),
            _ => self.bit_vector(t).into(),
        }
    }

    /// An operation that is linear only if its second operand is a constant.
    fn nonlinear(&mut self, name: &str, a: Term, b: Term, operation: fn(Int, Int) -> Int) -> Dynamic {
        if self.opaque && self.terms.int_value(b).is_none() {
            return Int::new_const(format!("{name}@{}@{}", a.0, b.0)).into();
        }
        operation(self.int(a), self.int(b)).into()
    }

    /// A quantifier whose triggers Z3 takes.
    fn quantifier(&mut self, quantifier: &Quantifier) -> Dynamic {
        let variables: Vec<Dynamic> = quantifier.variables.iter().map(|&v| self.emit(v)).collect();
        let variables: Vec<&dyn Ast> = variables.iter().map(|v| v as &dyn Ast).collect();
        let mut patterns = Vec::new();
        for trigger in quantifier.triggers.iter().filter(|trigger| is_trigger(self.terms, quantifier, trigger)) {
            let trigger: Vec<Dynamic> = trigger.iter().map(|&t| self.emit(t)).collect();
            let trigger: Vec<&dyn Ast> = trigger.iter().map(|t| t as &dyn Ast).collect();
            patterns.push(Pattern::new(&trigger));
        }
        let patterns: Vec<&Pattern> = patterns.iter().collect();
        // Z3 takes one or the other.
        let excluded = quantifier.excluded.iter().filter(|&&t| patterns.is_empty() && is_application(self.terms, t));
        let excluded: Vec<Dynamic> = excluded.map(|&t| self.emit(t)).collect();
        let excluded: Vec<&dyn Ast> = excluded.iter().map(|t| t as &dyn Ast).collect();
        let body = self.boolean(quantifier.body);
        let (names, weight) = (["quantifier", "skolem"], quantifier.weight);
        let universal = quantifier.universal;
        z3::ast::quantifier_const(universal, weight, names[0], names[1], &variables, &patterns, &excluded, &body).into()
    }

    /// Reads or updates of maps: `select` and `store` are functions of which [`Emitter::map_axioms`] tells.
    fn map_function(&self, name: &str, map: Sort) -> FuncDecl {
        let Some(OtherSort::Map(domain, element)) = self.terms.other(map) else {
            panic!("solver: a map was expected");
        };
        let mut sorts = vec![self.sort(map)];
        sorts.extend(domain.iter().map(|&sort| self.sort(sort)));
        let element = self.sort(*element);
        let result = if name == STORE { sorts[0].clone() } else { element.clone() };
        if name == STORE {
            sorts.push(element);
        }
        let sorts: Vec<&z3::Sort> = sorts.iter().collect();
        FuncDecl::new(format!("{name}@{}", self.terms.sort_text(map)), &sorts, &result)
    }

    fn access(&mut self, name: &str, list: &[Term]) -> Dynamic {
        let arguments: Vec<Dynamic> = list.iter().map(|&t| self.emit(t)).collect();
        let arguments: Vec<&dyn Ast> = arguments.iter().map(|a| a as &dyn Ast).collect();
        self.map_function(name, self.terms.sort(list[0])).apply(&arguments)
    }

    /// What reads of updated maps give, for each sort of maps that is updated. Nothing makes maps equal that have the
    /// same elements. Reference: Boogie 2, maps.
    pub(super) fn map_axioms(&self, updated: &BTreeSet<Sort>) -> Vec<Bool> {
        updated.iter().flat_map(|&map| self.axioms_of(map)).collect()
    }

    fn axioms_of(&self, map: Sort) -> Vec<Bool> {
        let Some(OtherSort::Map(domain, element)) = self.terms.other(map) else {
            panic!("solver: a map was expected");
        };
        let variable = |name: String, sort: Sort| FuncDecl::new(name, &[], &self.sort(sort)).apply(&[]);
        let places = |name: &str| -> Vec<Dynamic> {
            let each = domain.iter().enumerate();
            each.map(|(i, &sort)| variable(format!("{name}@{i}"), sort)).collect()
        };
        let (whole, value) = (variable("map@".into(), map), variable("value@".into(), *element));
        let (here, there) = (places("here"), places("there"));
        let (select, store) = (self.map_function(SELECT, map), self.map_function(STORE, map));
        let read = |of: &Dynamic, at: &[Dynamic]| {
            let arguments: Vec<&dyn Ast> = std::iter::once(of).chain(at).map(|a| a as &dyn Ast).collect();
            select.apply(&arguments)
        };
        let arguments: Vec<&dyn Ast> =
            std::iter::once(&whole).chain(&here).chain([&value]).map(|a| a as &dyn Ast).collect();
        let updated = store.apply(&arguments);
        let same = read(&updated, &here).eq(&value);
        let trigger = |read: &Dynamic| Pattern::new(&[read]);
        let mut bound = arguments.clone();
        let mut axioms = vec![quantified(true, &bound, &[&trigger(&read(&updated, &here))], &same)];
        bound.extend(there.iter().map(|a| a as &dyn Ast));
        for (a, b) in here.iter().zip(&there) {
            let other = read(&updated, &there).eq(read(&whole, &there));
            let kept = Bool::or(&[a.eq(b), other]);
            axioms.push(quantified(true, &bound, &[&trigger(&read(&updated, &there))], &kept));
        }
        axioms
    }

    fn sort(&self, sort: Sort) -> z3::Sort {
        match sort {
            Sort::Bool => z3::Sort::bool(),
            Sort::Int => z3::Sort::int(),
            Sort::Bv(width) => z3::Sort::bitvector(width),
            Sort::Other(_) => z3::Sort::uninterpreted(z3::Symbol::String(self.terms.sort_text(sort))),
        }
    }

    /// Z3 orders terms by the names of what is in them, and how soon it finds a proof depends on that order. So it is told
    /// numbers: what a kernel and its parameters are called changes no answer.
    fn symbol(&self, id: u32) -> Dynamic {
        let sort = self.terms.symbols[id as usize].sort;
        let name = format!("symbol@{id}");
        match sort {
            Sort::Bool => Bool::new_const(name).into(),
            Sort::Int => Int::new_const(name).into(),
            Sort::Bv(width) => BV::new_const(name, width).into(),
            Sort::Other(_) => FuncDecl::new(name, &[], &self.sort(sort)).apply(&[]),
        }
    }

    fn function(&self, id: u32) -> FuncDecl {
        let function = &self.terms.functions[id as usize];
        let domain: Vec<z3::Sort> = function.args.iter().map(|&s| self.sort(s)).collect();
        let domain: Vec<&z3::Sort> = domain.iter().collect();
        FuncDecl::new(format!("function@{id}"), &domain, &self.sort(function.result))
    }

    pub(super) fn int_sum(&mut self, constant: i128, members: &[(Term, i128)]) -> Int {
        let mut list = Vec::with_capacity(members.len() + 1);
        for &(term, factor) in members {
            let term = self.int(term);
            list.push(if factor == 1 { term } else { Int::mul(&[number(factor), term]) });
        }
        if constant != 0 {
            list.push(number(constant));
        }
        Int::add(&list)
    }

    fn bit_vector(&mut self, t: Term) -> BV {
        let terms = self.terms;
        match terms.node(t) {
            Node::BvConst { width, value } => constant(*value, *width),
            Node::BvSum { width, constant: c, members } => {
                let mut sum: Option<BV> = (*c != 0).then(|| constant(*c, *width));
                for &(term, factor) in members {
                    let term = self.bv(term);
                    let term = if factor == 1 { term } else { constant(factor, *width).bvmul(term) };
                    sum = Some(match sum {
                        Some(sum) => sum.bvadd(term),
                        None => term,
                    });
                }
                sum.unwrap_or_else(|| constant(0, *width))
            }
            Node::BvBinary(op, a, b) => {
                let (a, b) = (self.bv(*a), self.bv(*b));
                match op {
                    BvBinary::Mul => a.bvmul(b),
                    BvBinary::Udiv => a.bvudiv(b),
                    BvBinary::Urem => a.bvurem(b),
                    BvBinary::Sdiv => a.bvsdiv(b),
                    BvBinary::Srem => a.bvsrem(b),
                    BvBinary::And => a.bvand(b),
                    BvBinary::Or => a.bvor(b),
                    BvBinary::Xor => a.bvxor(b),
                    BvBinary::Shl => a.bvshl(b),
                    BvBinary::Lshr => a.bvlshr(b),
                    BvBinary::Ashr => a.bvashr(b),
                }
            }
            Node::Extract { high, low, of } => self.bv(*of).extract(*high, *low),
            Node::Concat(a, b) => self.bv(*a).concat(self.bv(*b)),
            Node::ZeroExtend(width, a) => self.bv(*a).zero_ext(width - terms.width(*a)),
            Node::SignExtend(width, a) => self.bv(*a).sign_ext(width - terms.width(*a)),
            Node::FromInt(width, a) => BV::from_int(&self.int(*a), *width),
            other => panic!("solver: {other:?} has no bit-vector form"),
        }
    }
}

/// A quantifier of weight 1, as in SMT-LIB. Without weight (which `forall_const` gives), instances of instances would
/// never be put off.
fn quantified(universal: bool, bound: &[&dyn Ast], patterns: &[&Pattern], body: &Bool) -> Bool {
    z3::ast::quantifier_const(universal, 1, "quantifier", "skolem", bound, patterns, &[], body)
}

/// Whether a term may stand as a pattern: it is more than a symbol or a constant, and no connective.
fn is_application(terms: &Terms, t: Term) -> bool {
    matches!(
        terms.node(t),
        Node::Apply(..)
            | Node::Select(_)
            | Node::Store(_)
            | Node::IntSum { .. }
            | Node::IntMul(..)
            | Node::IntDiv(..)
            | Node::IntMod(..)
            | Node::BvSum { .. }
            | Node::BvBinary(..)
            | Node::Extract { .. }
            | Node::Concat(..)
            | Node::ZeroExtend(..)
            | Node::SignExtend(..)
            | Node::ToInt(_)
            | Node::ToSignedInt(_)
            | Node::FromInt(..)
    )
}

/// Whether Z3 takes a trigger: it has all variables, each term is an application, and no connective stands in it.
fn is_trigger(terms: &Terms, quantifier: &Quantifier, trigger: &[Term]) -> bool {
    let below: Vec<Term> = trigger.iter().flat_map(|&t| terms.postorder(t, &|_| false)).collect();
    let connective = |t: &Term| {
        matches!(
            terms.node(*t),
            Node::Not(_)
                | Node::And(_)
                | Node::Or(_)
                | Node::Eq(..)
                | Node::Ite(..)
                | Node::IntLe(..)
                | Node::Quantifier(_)
        )
    };
    let applies = |t: &Term| is_application(terms, *t);
    let has_all = quantifier.variables.iter().all(|variable| below.contains(variable));
    has_all && !trigger.is_empty() && trigger.iter().all(applies) && !below.iter().any(connective)
}

pub(super) fn number(value: i128) -> Int {
    match i64::try_from(value) {
        Ok(small) => Int::from_i64(small),
        Err(_) => Int::from_i128(value),
    }
}

fn constant(value: u128, width: u32) -> BV {
    if let Ok(small) = u64::try_from(value) {
        return BV::from_u64(small, width);
    }
    let high = BV::from_u64((value >> 64) as u64, width - 64);
    high.concat(BV::from_u64(value as u64, 64))
}
