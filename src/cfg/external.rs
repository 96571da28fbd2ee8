//! Calls of functions that the file declares and does not define.
//!
//! Input: such a call. Output: what [`known`] says of the function, else a refusal. Establishes: no call
//! is skipped silently. Reference: `functions.txt` beside this file, which says what is known and why.

use super::annotations::marker_kind;
use super::graph::Statement;
use super::inline::{Inliner, LineKind};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Function, Instruction, Op, Operand, Register, RegisterId};
use crate::span::Origin;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// What is known of a function of the CUDA runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It touches no memory that other threads see, and gives arbitrary results.
    Value,
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
            (Some(name), Some("value"), Some(_)) => (name, Effect::Value),
            (Some(name), Some("assertion"), Some(_)) => (name, Effect::Assertion),
            (Some(name), Some("unsupported"), Some(why)) => (name, Effect::Unsupported(why)),
            _ => panic!("cfg: functions.txt: `{line}` is not NAME CLASS REASON"),
        }
    });
    entries.collect()
});

/// What is known of a function without a body.
pub fn known(name: &str) -> Option<Effect> {
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
            Some(Effect::Value) if returns.len() == function.returns.len() => {
                return self.arbitrary_results(function, returns, origin);
            }
            Some(Effect::Assertion) => {
                self.flat.assumptions.insert("no assertion of the source fails, which would abort the launch");
                return;
            }
            Some(Effect::Unsupported(why)) => format!("call of `{name}`: {why}"),
            _ => format!("call of `{name}`, which this file does not define"),
        };
        let refusal = Diagnostic::unsupported("undefined-function", message, origin.span);
        self.push(LineKind::Refuse(refusal), origin);
    }

    /// Results of a function that is known to give some.
    fn arbitrary_results(&mut self, function: &Function, returns: &[Operand], origin: &Arc<Origin>) {
        let places = self.bind(&function.returns, returns);
        for (((place, fresh), result), formal) in places.into_iter().zip(returns).zip(&function.returns) {
            self.flat.registers.push(Register { name: Arc::from("%result"), ty: formal.ty });
            let value = Operand::Register(RegisterId(self.flat.registers.len() as u32 - 1));
            let dst = if fresh { result.clone() } else { value.clone() };
            let op = Op::Arbitrary { name: function.name.clone(), dst: vec![dst], sources: Vec::new() };
            let statement = Statement::Instruction(Instruction { guard: None, op, origin: origin.clone() });
            self.push(LineKind::Statement(statement), origin);
            if !fresh {
                self.pass(formal, place, Some(&value), None, origin);
            }
        }
    }
}
