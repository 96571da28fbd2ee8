//! Evaluates IVL expressions on values of which some are not known.
//!
//! Input: expressions, and a value or nothing for each variable. Output: the value, where the known
//! variables alone decide it. Establishes: a value that is returned is the expression's value
//! whatever the unknown variables are and whatever uninterpreted functions mean. Relies on: the
//! expressions type-check. Reference: SMT-LIB theory FixedSizeBitVectors; Kleene's three-valued logic.
//!
//! Expressions become nodes of a table in which equal ones are one node; comparisons are kept in one
//! direction, so that complementary conditions are a node and its negation.

use crate::ivl::ast::{BinaryOp, Expr, ExprKind, ExprRef, Function, Name, Type, UnaryOp};
use crate::ivl::bv_names::{Builtin, parse_builtin};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bits::{self, mask};
use crate::ivl::bv::BvOp;

/// A value, if known: a Boolean as 0 or 1, an integer in two's complement, a bit-vector zero-extended.
pub type Value = Option<u128>;

/// Number of a node in [`Expressions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(u32);

/// Where a name stands: a local of the procedure does not hide a constant inside a function's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// In the procedure itself.
    Procedure,
    /// In the body of a function.
    Function,
}

/// How deep calls of defined functions are unfolded; deeper ones count as unknown.
const MAX_UNFOLDING: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Constant(u128),
    Variable(u32),
    /// An uninterpreted function, a map or a quantifier: never known. The number tells terms apart.
    Opaque(u32),
    Not(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Equal(ExprId, ExprId),
    Ite(ExprId, ExprId, ExprId),
    /// Integer arithmetic and `Lt`; the other orders are written with it.
    Int(BinaryOp, ExprId, ExprId),
    /// Unary operators repeat the operand. Of the orders only `Ult` and `Slt` occur.
    Bv(BvOp, u32, ExprId, ExprId),
    SignExtend {
        from: u32,
        to: u32,
        value: ExprId,
    },
    Extract {
        high: u32,
        low: u32,
        value: ExprId,
    },
    Concat {
        high: ExprId,
        low: ExprId,
        low_width: u32,
    },
    /// The unsigned integer of a bit-vector.
    ToInt(ExprId),
}

/// A table of expressions, built once a program.
pub struct Expressions<'a> {
    nodes: Vec<Node>,
    numbers: HashMap<Node, ExprId>,
    functions: BTreeMap<&'a Name, &'a Function>,
    /// Applications of uninterpreted functions seen so far.
    applications: BTreeMap<(Name, Vec<ExprId>), u32>,
    opaque: u32,
}

impl<'a> Expressions<'a> {
    /// An empty table over the functions of a program.
    pub fn new(functions: &'a [Function]) -> Self {
        Expressions {
            nodes: Vec::new(),
            numbers: HashMap::new(),
            functions: functions.iter().map(|function| (&function.name, function)).collect(),
            applications: BTreeMap::new(),
            opaque: 0,
        }
    }

    /// Enters an expression of a procedure; `variable` numbers a variable as it is named at a place,
    /// `None` for one that is never known.
    pub fn enter(&mut self, expr: &Expr, variable: &dyn Fn(&Name, Position) -> Option<u32>) -> ExprId {
        Entry { table: self, variable, unfolding: 0 }.enter(expr, &BTreeMap::new())
    }

    /// The conjunction.
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.intern(Node::And(a, b))
    }

    /// `true`
    pub fn truth(&mut self) -> ExprId {
        self.intern(Node::Constant(1))
    }

    /// The negation.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        match self.nodes[a.0 as usize] {
            Node::Not(inner) => inner,
            Node::Constant(value) => self.intern(Node::Constant(value ^ 1)),
            _ => self.intern(Node::Not(a)),
        }
    }

    /// The variable and its value, if the condition says just that a variable equals a literal.
    pub fn fixed_variable(&self, condition: ExprId) -> Option<(u32, u128)> {
        let Node::Equal(a, b) = self.nodes[condition.0 as usize] else { return None };
        match (self.nodes[a.0 as usize], self.nodes[b.0 as usize]) {
            (Node::Variable(number), Node::Constant(value)) | (Node::Constant(value), Node::Variable(number)) => {
                Some((number, value))
            }
            _ => None,
        }
    }

    /// The variables that the expressions entered so far mention.
    pub fn variables(&self) -> BTreeSet<u32> {
        let variable = |node: &Node| match node {
            Node::Variable(number) => Some(*number),
            _ => None,
        };
        self.nodes.iter().filter_map(variable).collect()
    }

    fn intern(&mut self, node: Node) -> ExprId {
        let next = ExprId(self.nodes.len() as u32);
        *self.numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    fn fresh_opaque(&mut self) -> ExprId {
        self.opaque += 1;
        self.intern(Node::Opaque(self.opaque))
    }

    fn equal(&mut self, a: ExprId, b: ExprId) -> ExprId {
        // One node is one value at one time, known or not.
        if a == b { self.truth() } else { self.intern(Node::Equal(a.min(b), a.max(b))) }
    }

    /// The value of an expression; `values` has one entry for each variable number.
    pub fn value(&self, id: ExprId, values: &[Value]) -> Value {
        let eval = |id: ExprId| self.value(id, values);
        match self.nodes[id.0 as usize] {
            Node::Constant(value) => Some(value),
            Node::Variable(number) => values[number as usize],
            Node::Opaque(_) => None,
            Node::Not(a) => eval(a).map(|a| a ^ 1),
            Node::And(a, b) => match (eval(a), b) {
                (Some(0), _) => Some(0),
                (Some(_), b) => eval(b),
                (None, b) => eval(b).filter(|&b| b == 0),
            },
            Node::Or(a, b) => match (eval(a), b) {
                (Some(0), b) => eval(b),
                (Some(_), _) => Some(1),
                (None, b) => eval(b).filter(|&b| b == 1),
            },
            Node::Equal(a, b) => Some(u128::from(eval(a)? == eval(b)?)),
            Node::Ite(c, a, b) => match eval(c) {
                Some(0) => eval(b),
                Some(_) => eval(a),
                None => eval(a).filter(|&a| eval(b) == Some(a)),
            },
            Node::Int(op, a, b) => bits::integer(op, eval(a), eval(b)),
            Node::Bv(op, width, a, b) => {
                let left = eval(a);
                let right = if op.arity() == 1 { left } else { eval(b) };
                bits::bit_vector(op, width, left, right)
            }
            Node::SignExtend { from, to, value } => Some(bits::sign_extend(eval(value)?, from) & mask(to)),
            Node::Extract { high, low, value } => Some((eval(value)? >> low) & mask(high - low)),
            Node::Concat { high, low, low_width } => Some((eval(high)? << low_width) | eval(low)?),
            Node::ToInt(a) => eval(a).filter(|&a| a <= i128::MAX as u128),
        }
    }

    /// Whether it is known to hold, known not to hold, or not known.
    pub fn truth_value(&self, id: ExprId, values: &[Value]) -> Option<bool> {
        self.value(id, values).map(|value| value != 0)
    }
}

/// One expression on its way into the table.
struct Entry<'t, 'a, 'v> {
    table: &'t mut Expressions<'a>,
    variable: &'v dyn Fn(&Name, Position) -> Option<u32>,
    /// How many bodies of functions we are in.
    unfolding: u32,
}

/// Arguments of the defined function that is unfolded.
type Arguments = BTreeMap<Name, ExprId>;

impl Entry<'_, '_, '_> {
    fn enter(&mut self, expr: &Expr, arguments: &Arguments) -> ExprId {
        match &expr.kind {
            ExprKind::Bool(value) => self.table.intern(Node::Constant(u128::from(*value))),
            ExprKind::Int(value) => self.table.intern(Node::Constant(*value as u128)),
            ExprKind::Bv(value) => self.table.intern(Node::Constant(*value)),
            ExprKind::Var(name) => self.enter_variable(name, arguments),
            ExprKind::Unary(UnaryOp::Not, a) => {
                let a = self.enter(a, arguments);
                self.table.not(a)
            }
            ExprKind::Unary(UnaryOp::Neg, a) => {
                let (zero, a) = (self.table.intern(Node::Constant(0)), self.enter(a, arguments));
                self.table.intern(Node::Int(BinaryOp::Sub, zero, a))
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.enter(a, arguments), self.enter(b, arguments));
                self.enter_binary(*op, a, b)
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.enter(c, arguments);
                let (a, b) = (self.enter(a, arguments), self.enter(b, arguments));
                if a == b { a } else { self.table.intern(Node::Ite(c, a, b)) }
            }
            ExprKind::Call(function, args) => {
                let args: Vec<ExprId> = args.iter().map(|arg| self.enter(arg, arguments)).collect();
                self.enter_call(function, args)
            }
            ExprKind::Extract { value, high, low } => {
                let value = self.enter(value, arguments);
                self.table.intern(Node::Extract { high: *high, low: *low, value })
            }
            ExprKind::Concat(high, low) => {
                let low_width = crate::ivl::bv::width(low);
                let (high, low) = (self.enter(high, arguments), self.enter(low, arguments));
                self.table.intern(Node::Concat { high, low, low_width })
            }
            ExprKind::Select(..) | ExprKind::Store(..) | ExprKind::Old(_) | ExprKind::Quantifier { .. } => {
                self.table.fresh_opaque()
            }
        }
    }

    fn enter_variable(&mut self, name: &Name, arguments: &Arguments) -> ExprId {
        if let Some(&argument) = arguments.get(name) {
            return argument;
        }
        let place = if self.unfolding == 0 { Position::Procedure } else { Position::Function };
        match (self.variable)(name, place) {
            Some(number) => self.table.intern(Node::Variable(number)),
            None => self.table.fresh_opaque(),
        }
    }

    fn enter_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let table = &mut *self.table;
        match op {
            BinaryOp::And => table.and(a, b),
            BinaryOp::Or => table.intern(Node::Or(a, b)),
            BinaryOp::Implies => {
                let not_a = table.not(a);
                table.intern(Node::Or(not_a, b))
            }
            BinaryOp::Eq | BinaryOp::Iff => table.equal(a, b),
            BinaryOp::Ne => {
                let equal = table.equal(a, b);
                table.not(equal)
            }
            BinaryOp::Gt => table.intern(Node::Int(BinaryOp::Lt, b, a)),
            BinaryOp::Le => {
                let greater = table.intern(Node::Int(BinaryOp::Lt, b, a));
                table.not(greater)
            }
            BinaryOp::Ge => {
                let less = table.intern(Node::Int(BinaryOp::Lt, a, b));
                table.not(less)
            }
            BinaryOp::Lt | BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
                table.intern(Node::Int(op, a, b))
            }
        }
    }

    fn enter_call(&mut self, name: &Name, args: Vec<ExprId>) -> ExprId {
        if let Some(builtin) = parse_builtin(name.as_str()) {
            return self.enter_builtin(builtin, &args);
        }
        let function = self.table.functions.get(name).copied();
        let body: Option<(&Function, ExprRef)> = function.and_then(|f| Some((f, f.body.clone()?)));
        if let Some((function, body)) = body
            && self.unfolding < MAX_UNFOLDING
            && function.params.len() == args.len()
        {
            let arguments = function.params.iter().map(|(name, _)| name.clone()).zip(args).collect();
            self.unfolding += 1;
            let result = self.enter(&body, &arguments);
            self.unfolding -= 1;
            return result;
        }
        let next = self.table.opaque + 1;
        let number = *self.table.applications.entry((name.clone(), args)).or_insert(next);
        self.table.opaque = self.table.opaque.max(number);
        self.table.intern(Node::Opaque(number))
    }

    fn enter_builtin(&mut self, builtin: Builtin, args: &[ExprId]) -> ExprId {
        let (a, b) = (args[0], *args.last().unwrap_or(&args[0]));
        let table = &mut *self.table;
        match builtin {
            Builtin::Op(op, width) => {
                let (less, a, b, negated) = match op {
                    BvOp::Ugt => (BvOp::Ult, b, a, false),
                    BvOp::Ule => (BvOp::Ult, b, a, true),
                    BvOp::Uge => (BvOp::Ult, a, b, true),
                    BvOp::Sgt => (BvOp::Slt, b, a, false),
                    BvOp::Sle => (BvOp::Slt, b, a, true),
                    BvOp::Sge => (BvOp::Slt, a, b, true),
                    _ => (op, a, b, false),
                };
                let node = table.intern(Node::Bv(less, width, a, b));
                if negated { table.not(node) } else { node }
            }
            Builtin::ZeroExtend { .. } => a,
            Builtin::SignExtend { from, to } => table.intern(Node::SignExtend { from, to, value: a }),
            Builtin::ToInt(_) => table.intern(Node::ToInt(a)),
            Builtin::ToSignedInt(from) => table.intern(Node::SignExtend { from, to: 128, value: a }),
            Builtin::FromInt(width) => table.intern(Node::Extract { high: width, low: 0, value: a }),
        }
    }
}

/// The bits of a type's values: 1 for `bool`, 128 for `int`; `None` for maps.
pub fn type_width(ty: &Type) -> Option<u32> {
    match ty {
        Type::Bool => Some(1),
        Type::Int => Some(128),
        Type::Bv(width) => Some(*width),
        Type::Map(..) | Type::Named(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ivl::bv;

    fn evaluate(expr: &ExprRef, x: Value) -> Value {
        let functions = Vec::new();
        let mut table = Expressions::new(&functions);
        let id = table.enter(expr, &|name, _| (name.as_str() == "x").then_some(0));
        table.value(id, &[x])
    }

    #[test]
    fn what_the_known_part_decides_is_known() {
        let x = || bv::var("x", Type::Bv(32));
        let opaque = || bv::call("f", vec![x()], Type::Bv(32));
        let zero = || bv::literal(0, 32);
        assert_eq!(evaluate(&bv::mul(opaque(), zero()), None), Some(0));
        assert_eq!(evaluate(&bv::binary(BvOp::Ult, opaque(), zero()), None), Some(0));
        assert_eq!(evaluate(&bv::binary(BvOp::Uge, opaque(), zero()), None), Some(1));
        assert_eq!(evaluate(&bv::add(opaque(), x()), Some(1)), None);
        let unknown = || bv::eq(opaque(), zero());
        assert_eq!(evaluate(&bv::op(BinaryOp::And, unknown(), bv::ne(x(), x())), None), Some(0));
        assert_eq!(evaluate(&bv::op(BinaryOp::Implies, unknown(), bv::eq(x(), x())), None), Some(1));
        assert_eq!(
            evaluate(&bv::ite(unknown(), bv::add(x(), bv::literal(1, 32)), bv::literal(5, 32)), Some(4)),
            Some(5)
        );
        assert_eq!(evaluate(&bv::ite(unknown(), x(), bv::literal(5, 32)), Some(4)), None);
    }

    #[test]
    fn conversions_and_integers() {
        let x = || bv::var("x", Type::Bv(8));
        assert_eq!(evaluate(&bv::sext(x(), 32), Some(0x80)), Some(0xffff_ff80));
        assert_eq!(evaluate(&bv::concat(x(), bv::literal(1, 4)), Some(0x12)), Some(0x121));
        assert_eq!(evaluate(&bv::extract(x(), 8, 4), Some(0xab)), Some(0xa));
        let minus_one = bv::to_sint(x());
        assert_eq!(evaluate(&bv::op(BinaryOp::Lt, minus_one.clone(), bv::int(0)), Some(0xff)), Some(1));
        let floor = bv::op(BinaryOp::Div, minus_one, bv::int(2));
        assert_eq!(evaluate(&bv::from_int(floor, 16), Some(0xff)), Some(0xffff));
    }

    #[test]
    fn two_uninterpreted_terms_may_differ() {
        let term = |argument| bv::call("f", vec![bv::literal(argument, 32)], Type::Bv(32));
        assert_eq!(evaluate(&bv::eq(term(1), term(2)), None), None);
        assert_eq!(evaluate(&bv::eq(term(1), term(1)), None), Some(1));
        let quantified = |_| bv::node(ExprKind::Old(bv::var("x", Type::Bv(32))), Type::Bv(32));
        assert_eq!(evaluate(&bv::eq(quantified(1), quantified(2)), None), None);
    }
}
