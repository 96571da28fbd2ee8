//! An evaluator for terms, straight from the meaning of each node.

use super::arithmetic::{binary, compare, hash, mask, signed};
use gpuvcc::vcgen::term::{Node, Sort, Term, Terms};
use std::collections::HashMap;

/// A value of any sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A Boolean.
    Bool(bool),
    /// A bit-vector, as its unsigned value.
    Bits(u128),
    /// An integer.
    Int(i128),
}

impl Value {
    /// The truth value.
    pub fn truth(self) -> bool {
        match self {
            Value::Bool(b) => b,
            other => panic!("{other:?} is no Boolean"),
        }
    }

    /// The bits.
    pub fn bits(self) -> u128 {
        match self {
            Value::Bits(b) => b,
            other => panic!("{other:?} is no bit-vector"),
        }
    }

    /// The integer.
    pub fn int(self) -> i128 {
        match self {
            Value::Int(i) => i,
            other => panic!("{other:?} is no integer"),
        }
    }

    fn number(self) -> u128 {
        match self {
            Value::Bool(b) => u128::from(b),
            Value::Bits(b) => b,
            Value::Int(i) => i as u128,
        }
    }
}

/// The value of `root`; `None` when an integer leaves 128 bits. `values` gives the symbols and
/// keeps what was computed; `function` interprets uninterpreted functions.
pub fn evaluate(
    terms: &Terms,
    root: Term,
    values: &mut HashMap<Term, Value>,
    function: &dyn Fn(&str, &[Value], Sort) -> Value,
) -> Option<Value> {
    if let Some(&known) = values.get(&root) {
        return Some(known);
    }
    let operands = terms.operands(root);
    let args = operands.iter().map(|&o| evaluate(terms, o, values, function)).collect::<Option<Vec<_>>>()?;
    let width = terms.width(root);
    let bits = |value: u128| Value::Bits(value & mask(width.max(1)));
    let value = match terms.node(root) {
        Node::Bool(b) => Value::Bool(*b),
        Node::Not(_) => Value::Bool(!args[0].truth()),
        Node::And(_) => Value::Bool(args.iter().all(|a| a.truth())),
        Node::Or(_) => Value::Bool(args.iter().any(|a| a.truth())),
        Node::Eq(..) => Value::Bool(args[0] == args[1]),
        Node::Ite(..) => args[if args[0].truth() { 1 } else { 2 }],
        Node::Symbol(_) => panic!("the symbol {:?} has no value", terms.symbol_of(root)),
        Node::Apply(id, _) => function(&terms.functions[*id as usize].name, &args, terms.sort(root)),
        Node::BvConst { value, .. } => bits(*value),
        Node::BvSum { constant, members, .. } => {
            let add = |sum: u128, (a, m): (&Value, &(Term, u128))| sum.wrapping_add(a.bits().wrapping_mul(m.1));
            bits(args.iter().zip(members.iter()).fold(*constant, add))
        }
        Node::BvBinary(op, ..) => bits(binary(*op, args[0].bits(), args[1].bits(), width)),
        Node::BvCompare(op, a, _) => Value::Bool(compare(*op, args[0].bits(), args[1].bits(), terms.width(*a))),
        Node::Extract { high, low, .. } => {
            assert_eq!(width, high - low + 1, "width of an extract");
            bits(args[0].bits() >> low)
        }
        Node::Concat(_, b) => bits(args[0].bits() << terms.width(*b) | args[1].bits()),
        Node::ZeroExtend(..) => args[0],
        Node::SignExtend(_, a) => bits(signed(args[0].bits(), terms.width(*a)) as u128),
        Node::IntConst(value) => Value::Int(*value),
        Node::IntSum { constant, members } => {
            let mut sum = *constant;
            for (a, m) in args.iter().zip(members.iter()) {
                sum = sum.checked_add(a.int().checked_mul(m.1)?)?;
            }
            Value::Int(sum)
        }
        Node::IntMul(..) => Value::Int(args[0].int().checked_mul(args[1].int())?),
        Node::IntDiv(..) if args[1].int() == 0 => Value::Int(hash("div by zero", &[args[0].number()]) as i128 >> 64),
        Node::IntMod(..) if args[1].int() == 0 => Value::Int(hash("mod by zero", &[args[0].number()]) as i128 >> 64),
        Node::IntDiv(..) => Value::Int(args[0].int().checked_div_euclid(args[1].int())?),
        Node::IntMod(..) => Value::Int(args[0].int().checked_rem_euclid(args[1].int())?),
        Node::IntLe(..) => Value::Bool(args[0].int() <= args[1].int()),
        Node::ToInt(_) => Value::Int(i128::try_from(args[0].bits()).ok()?),
        Node::ToSignedInt(a) => Value::Int(signed(args[0].bits(), terms.width(*a))),
        Node::FromInt(..) => bits(args[0].int() as u128),
        Node::Select(_) | Node::Store(_) | Node::Quantifier(_) => {
            panic!("random formulas have no maps and quantifiers")
        }
    };
    values.insert(root, value);
    Some(value)
}

/// The interpretation that the recipes compute with.
pub fn hashed(name: &str, args: &[Value], result: Sort) -> Value {
    let numbers: Vec<u128> = args.iter().map(|a| a.number()).collect();
    match result {
        Sort::Bool => Value::Bool(hash(name, &numbers) & 1 == 1),
        Sort::Bv(width) => Value::Bits(hash(name, &numbers) & mask(width)),
        Sort::Int => Value::Int(hash(name, &numbers) as i128 >> 64),
        Sort::Other(_) => panic!("random formulas have basic sorts only"),
    }
}
