//! The formula DAG: hash-consed terms over Booleans, bit-vectors, integers, maps and declared types.
//!
//! Every term is built once; structurally equal terms have equal [`Term`] ids, so sums cancel,
//! both threads' copies of a uniform value coincide, and formulas stay linear in program size.
//! The builders (here and in `boolean.rs`, `bitvector.rs`, `integer.rs`) keep terms in normal form.

use crate::ivl::bv::BvOp;
use crate::limits;
use foldhash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// A term: an index into [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub u32);

/// Sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// Booleans.
    Bool,
    /// Mathematical integers.
    Int,
    /// Bit-vectors, width in bits (1 to 128).
    Bv(u32),
    /// Another sort: an index into [`Terms::other_sorts`].
    Other(u32),
}

/// A sort that is made of others, or of which nothing is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OtherSort {
    /// Maps from tuples of indices to elements, not extensional.
    Map(Vec<Sort>, Sort),
    /// A declared type, by its text.
    Named(String),
}

/// Binary bit-vector operators without a normal form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum BvBinary {
    Mul,
    Udiv,
    Urem,
    Sdiv,
    Srem,
    And,
    Or,
    Xor,
    Shl,
    Lshr,
    Ashr,
}

impl BvBinary {
    /// The operator of the IVL.
    pub(crate) fn operator(self) -> BvOp {
        match self {
            BvBinary::Mul => BvOp::Mul,
            BvBinary::Udiv => BvOp::Udiv,
            BvBinary::Urem => BvOp::Urem,
            BvBinary::Sdiv => BvOp::Sdiv,
            BvBinary::Srem => BvOp::Srem,
            BvBinary::And => BvOp::And,
            BvBinary::Or => BvOp::Or,
            BvBinary::Xor => BvOp::Xor,
            BvBinary::Shl => BvOp::Shl,
            BvBinary::Lshr => BvOp::Lshr,
            BvBinary::Ashr => BvOp::Ashr,
        }
    }
}

/// Bit-vector comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum BvCompare {
    Ult,
    Ule,
    Slt,
    Sle,
}

impl BvCompare {
    /// The operator of the IVL.
    pub(crate) fn operator(self) -> BvOp {
        match self {
            BvCompare::Ult => BvOp::Ult,
            BvCompare::Ule => BvOp::Ule,
            BvCompare::Slt => BvOp::Slt,
            BvCompare::Sle => BvOp::Sle,
        }
    }
}

/// A node of the DAG.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true` or `false`.
    Bool(bool),
    /// Negation of a term that is not itself a negation or a constant.
    Not(Term),
    /// Conjunction: flat, sorted, at least two members.
    And(Box<[Term]>),
    /// Disjunction: flat, sorted, at least two members.
    Or(Box<[Term]>),
    /// Equality, operands in order of their ids.
    Eq(Term, Term),
    /// If-then-else; the condition is never a negation.
    Ite(Term, Term, Term),
    /// A symbol: an index into [`Terms::symbols`].
    Symbol(u32),
    /// An uninterpreted function: an index into [`Terms::functions`].
    Apply(u32, Box<[Term]>),
    /// A bit-vector constant.
    BvConst {
        /// Width in bits.
        width: u32,
        /// Value below 2^width.
        value: u128,
    },
    /// `constant + sum of coefficient * term` modulo 2^width; terms sorted, no member is itself a sum.
    BvSum {
        /// Width in bits.
        width: u32,
        constant: u128,
        /// Members with non-zero coefficients.
        members: Box<[(Term, u128)]>,
    },
    /// Another binary operator.
    BvBinary(BvBinary, Term, Term),
    /// A comparison.
    BvCompare(BvCompare, Term, Term),
    /// Bits `low ..= high`.
    Extract {
        /// Highest bit.
        high: u32,
        /// Lowest bit.
        low: u32,
        /// The bit-vector.
        of: Term,
    },
    /// First operand in the high bits.
    Concat(Term, Term),
    /// Zero extension to the given width.
    ZeroExtend(u32, Term),
    /// Sign extension to the given width.
    SignExtend(u32, Term),
    /// An integer constant.
    IntConst(i128),
    /// `constant + sum of coefficient * term` over the integers.
    IntSum {
        constant: i128,
        /// Members with non-zero coefficients, sorted.
        members: Box<[(Term, i128)]>,
    },
    /// Product of two integer terms that are not constants.
    IntMul(Term, Term),
    /// Euclidean quotient.
    IntDiv(Term, Term),
    /// Euclidean remainder.
    IntMod(Term, Term),
    /// `a <= b`
    IntLe(Term, Term),
    /// Unsigned value of a bit-vector.
    ToInt(Term),
    /// Signed value of a bit-vector.
    ToSignedInt(Term),
    /// The bit-vector of the given width congruent to an integer.
    FromInt(u32, Term),
    /// A map, then the indices.
    Select(Box<[Term]>),
    /// A map, then the indices, then the new element there.
    Store(Box<[Term]>),
    /// A quantifier over symbols that occur nowhere else.
    Quantifier(Box<Quantifier>),
}

/// `forall variables :: { triggers } body`, or `exists`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantifier {
    /// True for `forall`.
    pub(crate) universal: bool,
    /// The bound variables: symbols.
    pub(crate) variables: Vec<Term>,
    /// Triggers, each a list of terms.
    pub(crate) triggers: Vec<Vec<Term>>,
    /// Terms that the solver must not choose for triggers where there are none.
    pub(crate) excluded: Vec<Term>,
    /// How late instances come: 1 unless the author says so.
    pub(crate) weight: u32,
    /// A Boolean term.
    pub(crate) body: Term,
}

/// A symbol: an arbitrary value of its sort.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Unique readable name.
    pub(crate) name: String,
    /// Sort.
    pub(crate) sort: Sort,
    /// Unsigned bounds (inclusive) that every use may rely on; they are asserted with each query.
    pub(crate) range: Option<(u128, u128)>,
}

/// An uninterpreted function.
#[derive(Clone, Debug)]
pub struct FunctionSymbol {
    /// Unique name.
    pub name: String,
    /// Sorts of the arguments.
    pub(crate) args: Vec<Sort>,
    /// Sort of the result.
    pub result: Sort,
}

/// A value in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A Boolean.
    Bool(bool),
    /// A bit-vector, as its unsigned value.
    Bits(u128),
    /// An integer.
    Int(i128),
}

/// The arena.
#[derive(Clone, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    sorts: Vec<Sort>,
    pub(super) bits: Vec<u128>,
    index: HashMap<Node, Term>,
    /// Sorts beside Booleans, integers and bit-vectors.
    pub(crate) other_sorts: Vec<OtherSort>,
    /// Symbols, in order of creation.
    pub(crate) symbols: Vec<Symbol>,
    symbol_names: HashMap<String, u32>,
    /// Uninterpreted functions, in order of creation.
    pub functions: Vec<FunctionSymbol>,
    function_names: HashMap<String, u32>,
    pub(super) equalities: HashMap<(Term, Term), Term>,
    pub(super) extracts: HashMap<(u32, u32, Term), Term>,
    pub(super) products: HashMap<(Term, Term), Term>,
}

/// 2^width - 1.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1u128 << width) - 1 }
}

/// The signed value of a bit pattern of the given width.
pub(crate) fn signed(value: u128, width: u32) -> i128 {
    let shift = 128 - width;
    ((value << shift) as i128) >> shift
}

impl Terms {
    /// The node of a term.
    pub fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize]
    }

    /// The sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.sorts[term.0 as usize]
    }

    /// Width in bits of a bit-vector term; 0 for other sorts.
    pub fn width(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bv(w) => w,
            _ => 0,
        }
    }

    /// Number of terms built.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Interns a node as it stands. Builders normalise before they call this.
    pub(super) fn intern(&mut self, node: Node, sort: Sort) -> Term {
        if let Some(&term) = self.index.get(&node) {
            return term;
        }
        limits::check();
        let term = Term(self.nodes.len() as u32);
        self.bits.push(self.bits_of(&node, sort));
        self.nodes.push(node.clone());
        self.sorts.push(sort);
        self.index.insert(node, term);
        term
    }

    /// A fresh symbol; the name gets a suffix `@N` if it is taken.
    pub(crate) fn fresh(&mut self, name: &str, sort: Sort) -> Term {
        let mut unique = name.to_string();
        let mut number = 0;
        while self.symbol_names.contains_key(&unique) {
            number = number.max(self.symbols.len()) + 1;
            unique = format!("{name}@{number}");
        }
        self.symbol(&unique, sort, None)
    }

    /// The symbol of that name, created at first use.
    pub fn symbol(&mut self, name: &str, sort: Sort, range: Option<(u128, u128)>) -> Term {
        let id = match self.symbol_names.get(name) {
            Some(&id) => id,
            None => {
                let id = self.symbols.len() as u32;
                self.symbols.push(Symbol { name: name.to_string(), sort, range });
                self.symbol_names.insert(name.to_string(), id);
                id
            }
        };
        self.intern(Node::Symbol(id), sort)
    }

    /// The declaration behind a symbol term.
    pub fn symbol_of(&self, term: Term) -> Option<&Symbol> {
        match self.node(term) {
            Node::Symbol(id) => self.symbols.get(*id as usize),
            _ => None,
        }
    }

    /// Applies the uninterpreted function of that name (declared at first use).
    pub fn apply(&mut self, name: &str, args: Vec<Term>, result: Sort) -> Term {
        // Solvers have one name space for constants and functions without arguments.
        let name = &if args.is_empty() { format!("{name}@()") } else { name.to_string() };
        let id = match self.function_names.get(name) {
            Some(&id) => id,
            None => {
                let id = self.functions.len() as u32;
                let args = args.iter().map(|&a| self.sort(a)).collect();
                self.functions.push(FunctionSymbol { name: name.to_string(), args, result });
                self.function_names.insert(name.to_string(), id);
                id
            }
        };
        self.intern(Node::Apply(id, args.into()), result)
    }

    /// The operands of a term, in order.
    pub fn operands(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Bool(_) | Node::Symbol(_) | Node::BvConst { .. } | Node::IntConst(_) => vec![],
            Node::Not(a)
            | Node::Extract { of: a, .. }
            | Node::ZeroExtend(_, a)
            | Node::SignExtend(_, a)
            | Node::ToInt(a)
            | Node::ToSignedInt(a)
            | Node::FromInt(_, a) => vec![*a],
            Node::And(list) | Node::Or(list) | Node::Apply(_, list) => list.to_vec(),
            Node::Eq(a, b)
            | Node::BvBinary(_, a, b)
            | Node::BvCompare(_, a, b)
            | Node::Concat(a, b)
            | Node::IntMul(a, b)
            | Node::IntDiv(a, b)
            | Node::IntMod(a, b)
            | Node::IntLe(a, b) => vec![*a, *b],
            Node::Ite(c, a, b) => vec![*c, *a, *b],
            Node::Select(list) | Node::Store(list) => list.to_vec(),
            Node::Quantifier(quantifier) => {
                let Quantifier { variables, triggers, excluded, body, .. } = quantifier.as_ref();
                variables.iter().chain(triggers.iter().flatten()).chain(excluded).chain([body]).copied().collect()
            }
            Node::BvSum { members, .. } => members.iter().map(|m| m.0).collect(),
            Node::IntSum { members, .. } => members.iter().map(|m| m.0).collect(),
        }
    }

    /// Rebuilds a term with other operands, through the normalising builders.
    pub fn rebuild(&mut self, term: Term, operands: &[Term]) -> Term {
        let node = self.node(term).clone();
        match node {
            Node::Bool(_) | Node::Symbol(_) | Node::BvConst { .. } | Node::IntConst(_) => term,
            Node::Not(_) => self.not(operands[0]),
            Node::And(_) => self.and(operands.to_vec()),
            Node::Or(_) => self.or(operands.to_vec()),
            Node::Eq(..) => self.eq(operands[0], operands[1]),
            Node::Ite(..) => self.ite(operands[0], operands[1], operands[2]),
            Node::Apply(id, _) => {
                let result = self.functions[id as usize].result;
                self.intern(Node::Apply(id, operands.into()), result)
            }
            Node::BvSum { width, constant, members } => {
                let list = operands.iter().zip(members.iter()).map(|(&t, m)| (t, m.1)).collect();
                self.bv_sum(width, constant, list)
            }
            Node::BvBinary(op, ..) => self.bv_binary(op, operands[0], operands[1]),
            Node::BvCompare(op, ..) => self.bv_compare(op, operands[0], operands[1]),
            Node::Extract { high, low, .. } => self.extract(high, low, operands[0]),
            Node::Concat(..) => self.concat(operands[0], operands[1]),
            Node::ZeroExtend(width, _) => self.zero_extend(operands[0], width),
            Node::SignExtend(width, _) => self.sign_extend(operands[0], width),
            Node::IntSum { constant, members } => {
                let list = operands.iter().zip(members.iter()).map(|(&t, m)| (t, m.1)).collect();
                self.int_sum(constant, list)
            }
            Node::IntMul(..) => self.int_mul(operands[0], operands[1]),
            Node::IntDiv(..) => self.int_div(operands[0], operands[1]),
            Node::IntMod(..) => self.int_mod(operands[0], operands[1]),
            Node::IntLe(..) => self.int_le(operands[0], operands[1]),
            Node::ToInt(_) => self.to_int(operands[0]),
            Node::ToSignedInt(_) => self.to_signed_int(operands[0]),
            Node::FromInt(width, _) => self.from_int(operands[0], width),
            Node::Select(_) => self.select(operands.to_vec()),
            Node::Store(_) => self.store(operands.to_vec()),
            Node::Quantifier(old) => self.quantifier(old.with_operands(operands)),
        }
    }

    /// Replaces terms (keys of `map`) inside `term`; `map` also serves as the memo table, so reuse
    /// it for several terms under the same substitution. Iterative: formulas may be deep.
    pub fn substitute(&mut self, term: Term, map: &mut HashMap<Term, Term>) -> Term {
        let mut stack = vec![(term, false)];
        while let Some((t, ready)) = stack.pop() {
            if map.contains_key(&t) {
                continue;
            }
            let operands = self.operands(t);
            if !ready {
                stack.push((t, true));
                stack.extend(operands.iter().filter(|o| !map.contains_key(o)).map(|&o| (o, false)));
                continue;
            }
            let new: Vec<Term> = operands.iter().map(|o| map[o]).collect();
            let result = if new == operands { t } else { self.rebuild(t, &new) };
            map.insert(t, result);
        }
        map[&term]
    }

    /// The terms below `root` and itself, operands first, without those already `known`.
    pub fn postorder(&self, root: Term, known: &dyn Fn(Term) -> bool) -> Vec<Term> {
        let mut order = Vec::new();
        let mut done = HashSet::default();
        let mut stack = vec![(root, false)];
        while let Some((t, ready)) = stack.pop() {
            if done.contains(&t) || known(t) {
                continue;
            }
            if ready {
                done.insert(t);
                order.push(t);
                continue;
            }
            stack.push((t, true));
            stack.extend(self.operands(t).into_iter().filter(|o| !done.contains(o)).map(|o| (o, false)));
        }
        order
    }

    /// How many terms there are below some, these included; counted up to one more than `most`.
    pub(crate) fn size(&self, roots: &[Term], most: usize) -> usize {
        let mut seen = HashSet::default();
        let mut open = roots.to_vec();
        while let Some(term) = open.pop() {
            if seen.len() <= most && seen.insert(term) {
                open.extend(self.operands(term));
            }
        }
        seen.len()
    }

    /// Whether unknowns are multiplied in a term.
    pub(crate) fn is_product(&self, term: Term) -> bool {
        match self.node(term) {
            Node::IntMul(..) => true,
            Node::BvBinary(BvBinary::Mul, a, b) => self.bv_value(*a).or(self.bv_value(*b)).is_none(),
            _ => false,
        }
    }

    /// Whether unknowns are multiplied below some terms.
    pub(crate) fn have_products(&self, roots: impl IntoIterator<Item = Term>) -> bool {
        let mut seen = HashSet::default();
        let mut open: Vec<Term> = roots.into_iter().collect();
        while let Some(term) = open.pop() {
            if self.is_product(term) {
                return true;
            }
            if seen.insert(term) {
                open.extend(self.operands(term));
            }
        }
        false
    }

    /// Whether an integer symbol, as counters of rounds are, is multiplied by an unknown below a term.
    pub(crate) fn multiplies(&self, root: Term) -> bool {
        self.postorder(root, &|_| false).into_iter().any(|t| self.is_multiplied(t))
    }

    /// Whether a term is a product of an integer symbol and an unknown.
    pub(crate) fn is_multiplied(&self, t: Term) -> bool {
        let is_symbol = |t: Term| matches!(self.node(t), Node::Symbol(_));
        matches!(self.node(t), Node::IntMul(a, b) if is_symbol(*a) || is_symbol(*b))
    }

    /// All symbols below a term, through a shared `seen` set.
    pub(crate) fn collect_symbols(&self, term: Term, seen: &mut HashSet<Term>, out: &mut BTreeSet<Term>) {
        let mut stack = vec![term];
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if matches!(self.node(t), Node::Symbol(_)) {
                out.insert(t);
            }
            stack.extend(self.operands(t));
        }
    }
}
