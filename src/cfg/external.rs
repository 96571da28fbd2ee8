//! Calls of functions that the file declares and does not define.
//!
//! Input: such a call. Output: what [`known`] says of the function, what `unknown` does by request, else a refusal.
//! Establishes: no call is skipped silently. Reference: `functions.txt` beside this file, which says what is known and why.

use super::annotations::marker_kind;
use super::graph::Statement;
use super::inline::{Inliner, LineKind};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Address, AddressBase, Function, Instruction, Op, Operand, Register, RegisterId, ScalarType};
use crate::span::Origin;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// What is known of a function of the CUDA runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads memory that nothing writes meanwhile, and gives arbitrary results.
    Prints,
    /// It gives memory of the thread.
    Allocates,
    /// It takes memory back.
    Frees,
    /// An assertion failed: it aborts the launch.
    Assertion,
    /// It has no model; the reason.
    Unsupported(&'static str),
}

static KNOWN: LazyLock<BTreeMap<&'static str, Effect>> = LazyLock::new(|| {
    let lines = include_str!("functions.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries = lines.map(|line| {
        let mut words = line.splitn(3, ' ').map(str::trim);
        match (words.next(), words.next(), words.next()) {
            (Some(name), Some("prints"), Some(_)) => (name, Effect::Prints),
            (Some(name), Some("allocates"), Some(_)) => (name, Effect::Allocates),
            (Some(name), Some("frees"), Some(_)) => (name, Effect::Frees),
            (Some(name), Some("assertion"), Some(_)) => (name, Effect::Assertion),
            (Some(name), Some("unsupported"), Some(why)) => (name, Effect::Unsupported(why)),
            _ => panic!("cfg: functions.txt: `{line}` is not NAME CLASS REASON"),
        }
    });
    entries.collect()
});

/// Whether a function is declared and called with one argument.
fn has_one(arguments: &[Operand], function: &Function) -> bool {
    arguments.len() == 1 && function.params.len() == 1
}

/// What is known of a function without a body.
pub(crate) fn known(name: &str) -> Option<Effect> {
    KNOWN.get(name).copied()
}

impl Inliner<'_> {
    /// A call of a function without a body.
    pub(super) fn call_undefined(
        &mut self,
        function: &Function,
        returns: &[Operand],
        arguments: &[Operand],
        origin: &Arc<Origin>,
    ) {
        if let Some(kind) = marker_kind(function) {
            return self.call_marker(function, kind, arguments, origin);
        }
        let name = &function.name;
        let message = match known(name) {
            Some(Effect::Prints) if returns.len() == function.returns.len() => {
                self.flat.assumptions.insert("nothing writes what `vprintf` prints while it prints".into());
                return self.results(function, returns, origin, |dst| Op::Arbitrary {
                    name: function.name.clone(),
                    dst: vec![dst],
                    sources: Vec::new(),
                });
            }
            Some(Effect::Allocates) if has_one(arguments, function) && returns.len() == function.returns.len() => {
                let size = Operand::Register(self.argument(function, arguments, "%size", origin));
                return self.results(function, returns, origin, |dst| Op::Allocate { dst, size: size.clone() });
            }
            Some(Effect::Frees) if has_one(arguments, function) => {
                self.flat.assumptions.insert("no thread uses memory that it has given back by `free`".into());
                let pointer = self.argument(function, arguments, "%freed", origin);
                let address = Address { base: AddressBase::Register(pointer), offset: 0 };
                return self.instruction(Op::Free { address }, origin);
            }
            Some(Effect::Assertion) => {
                self.flat.assumptions.insert("no assertion of the source fails, which would abort the launch".into());
                return;
            }
            Some(Effect::Unsupported(why)) => format!("call of `{name}`: {why}"),
            None if self.rules.unknown_functions_arbitrary => {
                return self.call_unknown(function, returns, arguments, origin);
            }
            _ => format!("call of `{name}`, which this file does not define"),
        };
        let mut refusal = Diagnostic::unsupported("undefined-function", message, origin.span);
        if known(name).is_none() {
            refusal = refusal.note(
                "with --unknown-functions=arbitrary it is taken to give arbitrary results, and to touch no memory that \
                 other threads see",
            );
        }
        self.push(LineKind::Refuse(refusal), origin);
    }

    /// Results of a function that is known to give some, each by an operation.
    fn results(
        &mut self,
        function: &Function,
        returns: &[Operand],
        origin: &Arc<Origin>,
        operation: impl Fn(Operand) -> Op,
    ) {
        let places = self.bind(&function.returns, returns);
        for (((place, fresh), result), formal) in places.into_iter().zip(returns).zip(&function.returns) {
            let value = Operand::Register(self.push_register("%result", formal.ty));
            let dst = if fresh { result.clone() } else { value.clone() };
            self.instruction(operation(dst), origin);
            if !fresh {
                self.pass(formal, place, Some(&value), None, origin);
            }
        }
    }

    /// A register with the only argument of a call.
    fn argument(&mut self, function: &Function, arguments: &[Operand], name: &str, origin: &Arc<Origin>) -> RegisterId {
        let register = self.push_register(name, function.params[0].ty);
        for ((place, fresh), argument) in self.bind(&function.params, arguments).into_iter().zip(arguments) {
            if fresh {
                self.pass(&function.params[0], place, Some(argument), None, origin);
            }
            self.pass(&function.params[0], place, None, Some(&Operand::Register(register)), origin);
        }
        register
    }

    pub(super) fn push_register(&mut self, name: &str, ty: ScalarType) -> RegisterId {
        self.flat.registers.push(Register { name: Arc::from(name), ty });
        RegisterId(self.flat.registers.len() as u32 - 1)
    }

    pub(super) fn instruction(&mut self, op: Op, origin: &Arc<Origin>) {
        let statement = Statement::Instruction(Instruction { guard: None, op, origin: origin.clone() });
        self.push(LineKind::Statement(statement), origin);
    }
}
