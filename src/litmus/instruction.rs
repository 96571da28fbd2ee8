//! Instructions of litmus tests: what an opcode and its operands mean.
//!
//! Input: a [`Statement`]. Output: an [`Instruction`], or a diagnostic that names what is not known. Establishes: scopes and
//! semantics stand where PTX has them; operands fit. Relies on: which words are memory. Reference: PTX ISA, `ld`, `st`, `atom`,
//! `red`, `fence`, `barrier`, `barrier.cluster`; opcodes have no type suffix, or that of 32 bits.

use super::ast::{Comparison, Guard, Operand, Statement, Word};
use super::test::Names;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::vcgen::term::BvBinary;

/// How strong an operation is, and what it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Semantics {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// Scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Block,
    Cluster,
    Gpu,
    System,
}

/// Ways into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Proxy {
    Generic,
    Texture,
    Surface,
    Constant,
    Asynchronous,
}

/// What a proxy fence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxyFence {
    Alias,
    Of(Proxy),
}

/// How an access goes to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) semantics: Semantics,
    pub(crate) scope: Scope,
    /// The proxy of the opcode, if it has one of its own.
    pub(crate) proxy: Option<Proxy>,
}

/// A value that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Register(String),
    Constant(u32),
}

/// What an atomic operation writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    Increment,
    Decrement,
    Minimum {
        signed: bool,
    },
    Maximum {
        signed: bool,
    },
    /// Writes only where memory has this value.
    CompareAndSwap(Value),
}

/// Arithmetic in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Minimum,
    Maximum,
    Bits(BvBinary),
    Compare(Comparison),
}

/// How a thread takes part in a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meeting {
    /// What is before it is seen by those who wait.
    pub(crate) publishes: bool,
    /// It waits, and sees what they published.
    pub(crate) waits: bool,
    /// Of a cluster, where arriving and waiting are two instructions.
    pub(crate) of_cluster: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Load {
        to: String,
        from: usize,
        access: Access,
    },
    Store {
        to: usize,
        value: Value,
        access: Access,
    },
    /// `to` is `None` for `red`.
    Atomic {
        to: Option<String>,
        at: usize,
        update: Update,
        value: Value,
        access: Access,
    },
    Fence {
        semantics: Semantics,
        scope: Scope,
    },
    ProxyFence(ProxyFence),
    Barrier {
        meeting: Meeting,
        number: Value,
    },
    Move {
        to: String,
        value: Value,
    },
    Arithmetic {
        to: String,
        operation: Arithmetic,
        a: Value,
        b: Value,
    },
    Select {
        to: String,
        condition: String,
        a: Value,
        b: Value,
    },
    /// With a comparison, or always.
    Branch {
        comparison: Option<(Comparison, Value, Value)>,
        label: String,
    },
    Exit,
    Nothing,
}

/// An instruction with its guard and its place.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// The register that must be zero (`true`), or must not.
    pub(crate) guard: Option<(String, bool)>,
    pub(crate) action: Action,
    pub(crate) span: Span,
}

/// Reads an instruction.
///
/// # Errors
/// What is not known, or does not fit.
pub(crate) fn read(statement: &Statement, names: &mut Names) -> Result<Instruction, Diagnostic> {
    let guard = statement
        .guard
        .as_ref()
        .map(|Guard { register, negated }| names.register(register).map(|register| (register, *negated)));
    let mut reader = Reader::new(statement, names);
    let action = reader.action()?;
    reader.end()?;
    Ok(Instruction { guard: guard.transpose()?, action, span: statement.span })
}

/// Takes modifiers and operands from a statement.
struct Reader<'a> {
    statement: &'a Statement,
    names: &'a mut Names,
    base: &'a str,
    modifiers: Vec<&'a str>,
    operands: std::slice::Iter<'a, Operand>,
}

/// Suffixes that say nothing more: all values have 32 bits, and sides of `bra` and `bar` are as they are.
const SILENT: [&str; 10] = ["b32", "u32", "s32", "global", "uni", "aligned", "pred", "cta", "lo", "async"];

impl<'a> Reader<'a> {
    fn new(statement: &'a Statement, names: &'a mut Names) -> Reader<'a> {
        let mut words = statement.opcode.text.split('.');
        let base = words.next().unwrap_or("");
        Reader { statement, names, base, modifiers: words.collect(), operands: statement.operands.iter() }
    }

    fn action(&mut self) -> Result<Action, Diagnostic> {
        match self.base {
            "ld" | "tex" | "tld" | "suld" | "cld" => self.load(),
            "st" | "sust" => self.store(),
            "atom" => self.atomic(true),
            "red" => self.atomic(false),
            "fence" | "membar" => self.fence(),
            "bar" | "barrier" => self.barrier(),
            "bra" | "goto" | "jmp" => Ok(Action::Branch { comparison: None, label: self.label()? }),
            "beq" | "bne" | "blt" | "ble" | "bgt" | "bge" => {
                let comparison = comparison(&self.base[1..]);
                let (a, b) = (self.value()?, self.value()?);
                Ok(Action::Branch { comparison: comparison.map(|comparison| (comparison, a, b)), label: self.label()? })
            }
            "exit" | "ret" => Ok(Action::Exit),
            "nop" => Ok(Action::Nothing),
            "mov" => Ok(Action::Move { to: self.register()?, value: self.value()? }),
            "not" | "neg" => {
                let to = self.register()?;
                let (operation, zero) = match self.base {
                    "not" => (Arithmetic::Bits(BvBinary::Xor), u32::MAX),
                    _ => (Arithmetic::Subtract, 0),
                };
                Ok(Action::Arithmetic { to, operation, a: Value::Constant(zero), b: self.value()? })
            }
            "selp" => {
                let (to, a, b) = (self.register()?, self.value()?, self.value()?);
                Ok(Action::Select { to, condition: self.register()?, a, b })
            }
            "setp" | "set" => {
                let found = self.modifiers.iter().find_map(|word| comparison(word).map(|found| (*word, found)));
                let Some((word, comparison)) = found else {
                    return self.refuse("a comparison such as `.eq` is missing");
                };
                self.take(word);
                self.arithmetic(Arithmetic::Compare(comparison))
            }
            _ => match arithmetic(self.base) {
                Some(operation) => self.arithmetic(operation),
                None => self.refuse(&format!("`{}` is no instruction of litmus tests", self.statement.opcode.text)),
            },
        }
    }

    fn arithmetic(&mut self, operation: Arithmetic) -> Result<Action, Diagnostic> {
        Ok(Action::Arithmetic { to: self.register()?, operation, a: self.value()?, b: self.value()? })
    }

    fn load(&mut self) -> Result<Action, Diagnostic> {
        let is_constant = self.take("const");
        let proxy = match self.base {
            "tex" | "tld" => Some(Proxy::Texture),
            "suld" => Some(Proxy::Surface),
            "cld" => Some(Proxy::Constant),
            _ => is_constant.then_some(Proxy::Constant),
        };
        let access = Access { proxy, ..self.access(&[Semantics::Weak, Semantics::Relaxed, Semantics::Acquire])? };
        Ok(Action::Load { to: self.register()?, from: self.memory(proxy)?, access })
    }

    fn store(&mut self) -> Result<Action, Diagnostic> {
        let proxy = (self.base == "sust").then_some(Proxy::Surface);
        let access = Access { proxy, ..self.access(&[Semantics::Weak, Semantics::Relaxed, Semantics::Release])? };
        Ok(Action::Store { to: self.memory(proxy)?, value: self.value()?, access })
    }

    fn atomic(&mut self, has_result: bool) -> Result<Action, Diagnostic> {
        let signed = !self.modifiers.contains(&"u32");
        let operation = self.modifiers.iter().find_map(|word| update(word, signed).map(|update| (*word, update)));
        let is_swap = self.take("cas");
        let update = match operation {
            Some((word, update)) if !is_swap => {
                self.take(word);
                Some(update)
            }
            None if is_swap && has_result => None,
            _ => return self.refuse("one operation is needed: add exch cas inc dec min max and or xor"),
        };
        use Semantics::*;
        let access = self.access(&[Relaxed, Acquire, Release, AcquireRelease])?;
        let to = if has_result { Some(self.register()?) } else { None };
        // A result that nobody gets is a reduction.
        let to = to.filter(|to| to != "_");
        let at = self.memory(None)?;
        let update = match update {
            Some(update) => update,
            None => Update::CompareAndSwap(self.value()?),
        };
        Ok(Action::Atomic { to, at, update, value: self.value()?, access })
    }

    /// Semantics and scope of an access to memory.
    fn access(&mut self, allowed: &[Semantics]) -> Result<Access, Diagnostic> {
        use Semantics::*;
        let is_atomic = !allowed.contains(&Weak);
        let is_volatile = !is_atomic && self.take("volatile");
        // Memory of devices; `.relaxed` may stand beside it.
        let is_mmio = !is_atomic && self.take("mmio");
        let words = [
            ("weak", Weak),
            ("relaxed", Relaxed),
            ("acquire", Acquire),
            ("release", Release),
            ("acq_rel", AcquireRelease),
        ];
        let mut given = None;
        for (word, semantics) in words {
            if allowed.contains(&semantics) && self.take(word) {
                if given.is_some() {
                    return self.refuse("it has more than one semantics");
                }
                given = Some(semantics);
            }
        }
        let scope = self.scope();
        let access = |semantics, scope| Ok(Access { semantics, scope, proxy: None });
        match (given, scope) {
            (None, None) if is_volatile => access(Relaxed, Scope::System),
            _ if is_volatile => self.refuse("`.volatile` has neither semantics nor scope"),
            (None | Some(Relaxed), None | Some(Scope::System)) if is_mmio => access(Relaxed, Scope::System),
            _ if is_mmio => self.refuse("`.mmio` is `.relaxed.sys`"),
            (given, scope) if is_atomic => access(given.unwrap_or(Relaxed), scope.unwrap_or(Scope::Gpu)),
            (None | Some(Weak), None) => access(Weak, Scope::Block),
            (None | Some(Weak), Some(_)) => self.refuse("a weak access has no scope"),
            (Some(_), None) => self.refuse("a scope is missing: .cta .cluster .gpu .sys"),
            (Some(semantics), Some(scope)) => access(semantics, scope),
        }
    }

    fn fence(&mut self) -> Result<Action, Diagnostic> {
        use Semantics::*;
        if self.take("proxy") {
            return self.proxy_fence();
        }
        let words =
            [("sc", SequentiallyConsistent), ("acq_rel", AcquireRelease), ("acquire", Acquire), ("release", Release)];
        let given = words.into_iter().find(|(word, _)| self.base == "fence" && self.modifiers.contains(word));
        given.into_iter().for_each(|(word, _)| _ = self.take(word));
        let usual = if self.base == "membar" { SequentiallyConsistent } else { AcquireRelease };
        match self.scope() {
            Some(scope) => Ok(Action::Fence { semantics: given.map_or(usual, |(_, semantics)| semantics), scope }),
            None => self.refuse("a scope is missing: .cta .cluster .gpu .sys"),
        }
    }

    fn proxy_fence(&mut self) -> Result<Action, Diagnostic> {
        // `.async.global`, `.async.shared::cta`: memory of one kind, which all of the test's may be.
        let kinds = self.modifiers.iter().filter(|word| !word.starts_with("shared::") && **word != "global");
        let kinds: Vec<&str> = kinds.copied().collect();
        let [kind] = kinds[..] else {
            return self.refuse("one proxy is needed: .alias .texture .surface .constant .async");
        };
        let fence = match proxy(kind) {
            _ if kind == "alias" => ProxyFence::Alias,
            Some(proxy) if proxy != Proxy::Generic => ProxyFence::Of(proxy),
            _ => return self.refuse("the proxies of fences are .alias .texture .surface .constant .async"),
        };
        self.modifiers.clear();
        Ok(Action::ProxyFence(fence))
    }

    fn barrier(&mut self) -> Result<Action, Diagnostic> {
        let of_cluster = self.base == "barrier" && self.take("cluster");
        let ways = [("sync", true, true), ("red", true, true), ("arrive", true, false), ("wait", false, true)];
        let Some((word, publishes, waits)) = ways.into_iter().find(|(word, ..)| self.modifiers.contains(word)) else {
            return self.refuse("a barrier needs .sync, .red or .arrive");
        };
        self.take(word);
        if of_cluster && matches!(word, "sync" | "red") || !of_cluster && word == "wait" {
            return self.refuse("a barrier of a block has .sync, .red and .arrive, one of a cluster .arrive and .wait");
        }
        let meeting = Meeting { publishes: publishes && !(of_cluster && self.take("relaxed")), waits, of_cluster };
        if of_cluster {
            self.take(if publishes { "release" } else { "acquire" });
            return Ok(Action::Barrier { meeting, number: Value::Constant(0) });
        }
        let number = self.value()?;
        // How many threads take part says nothing more here.
        if self.operands.len() > 0 {
            self.value()?;
        }
        Ok(Action::Barrier { meeting, number })
    }

    /// Takes a modifier, if it is there.
    fn take(&mut self, word: &str) -> bool {
        let place = self.modifiers.iter().position(|modifier| *modifier == word);
        place.is_some_and(|place| self.modifiers.remove(place) == word)
    }

    fn scope(&mut self) -> Option<Scope> {
        let scopes = [
            ("cta", Scope::Block),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Gpu),
            ("gl", Scope::Gpu),
            ("sys", Scope::System),
        ];
        scopes.into_iter().find(|(word, _)| self.take(word)).map(|(_, scope)| scope)
    }

    fn operand(&mut self) -> Result<&'a Operand, Diagnostic> {
        self.operands.next().ok_or_else(|| self.error("an operand is missing"))
    }

    fn word(&mut self, what: &str) -> Result<&'a Word, Diagnostic> {
        match self.operand()? {
            Operand::Word(word) => Ok(word),
            other => Err(Diagnostic::error("litmus-instruction", format!("expected {what}"), other.span())),
        }
    }

    fn register(&mut self) -> Result<String, Diagnostic> {
        let word = self.word("a register")?;
        self.names.register(word)
    }

    fn label(&mut self) -> Result<String, Diagnostic> {
        Ok(self.word("a label")?.text.clone())
    }

    fn value(&mut self) -> Result<Value, Diagnostic> {
        match self.operand()? {
            Operand::Word(word) => self.names.register(word).map(Value::Register),
            Operand::Integer(number) => super::test::constant(number).map(Value::Constant),
            Operand::Memory(word) => {
                Err(Diagnostic::error("litmus-instruction", "expected a register or a number", word.span))
            }
        }
    }

    /// The variable that is accessed; its proxy may be that of the opcode, or the generic one.
    fn memory(&mut self, proxy: Option<Proxy>) -> Result<usize, Diagnostic> {
        let word = match self.operand()? {
            Operand::Word(word) | Operand::Memory(word) => word,
            Operand::Integer(number) => {
                return Err(Diagnostic::error("litmus-instruction", "expected a variable in memory", number.span));
            }
        };
        let number = self.names.memory(word)?;
        let own = self.names.variables[number].proxy;
        if proxy.is_some_and(|proxy| own != Proxy::Generic && own != proxy) {
            let message = format!("`{}` belongs to another proxy than `{}`", word.text, self.statement.opcode.text);
            return Err(Diagnostic::error("litmus-instruction", message, word.span));
        }
        Ok(number)
    }

    /// Nothing is left over.
    fn end(mut self) -> Result<(), Diagnostic> {
        if let Some(operand) = self.operands.next() {
            return Err(Diagnostic::error("litmus-instruction", "one operand too many", operand.span()));
        }
        let is_register =
            matches!(self.base, "mov" | "not" | "neg" | "selp" | "setp" | "set") || arithmetic(self.base).is_some();
        let is_plain = is_register || matches!(self.base, "bra" | "bar" | "barrier");
        // Scopes and `async` mean something elsewhere.
        let is_silent = |word: &str| {
            SILENT.contains(&word) && (is_plain || !matches!(word, "uni" | "aligned" | "pred" | "cta" | "lo" | "async"))
        };
        match self.modifiers.iter().find(|word| !is_silent(word)) {
            Some(word) => self.refuse(&format!("`.{word}` is not known of `{}`", self.base)),
            None => Ok(()),
        }
    }

    fn error(&self, message: &str) -> Diagnostic {
        Diagnostic::error("litmus-instruction", message, self.statement.opcode.span)
    }

    fn refuse<T>(&self, message: &str) -> Result<T, Diagnostic> {
        Err(self.error(message))
    }
}

/// The proxy of that name.
pub(crate) fn proxy(word: &str) -> Option<Proxy> {
    Some(match word {
        "generic" => Proxy::Generic,
        "texture" | "tex" => Proxy::Texture,
        "surface" | "sur" | "surf" => Proxy::Surface,
        "constant" | "const" => Proxy::Constant,
        "async" | "asynchronous" => Proxy::Asynchronous,
        _ => return None,
    })
}

fn comparison(word: &str) -> Option<Comparison> {
    Some(match word {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::LessEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterEqual,
        _ => return None,
    })
}

fn update(word: &str, signed: bool) -> Option<Update> {
    Some(match word {
        "add" => Update::Add,
        "and" => Update::And,
        "or" => Update::Or,
        "xor" => Update::Xor,
        "exch" => Update::Exchange,
        "inc" => Update::Increment,
        "dec" => Update::Decrement,
        "min" => Update::Minimum { signed },
        "max" => Update::Maximum { signed },
        _ => return None,
    })
}

fn arithmetic(word: &str) -> Option<Arithmetic> {
    Some(match word {
        "add" => Arithmetic::Add,
        "sub" => Arithmetic::Subtract,
        "min" => Arithmetic::Minimum,
        "max" => Arithmetic::Maximum,
        "mul" => Arithmetic::Bits(BvBinary::Mul),
        "and" => Arithmetic::Bits(BvBinary::And),
        "or" => Arithmetic::Bits(BvBinary::Or),
        "xor" => Arithmetic::Bits(BvBinary::Xor),
        "shl" => Arithmetic::Bits(BvBinary::Shl),
        "shr" => Arithmetic::Bits(BvBinary::Lshr),
        _ => return None,
    })
}

impl Action {
    /// The register that gets a value.
    pub(crate) fn written(&self) -> Option<&str> {
        match self {
            Action::Load { to, .. }
            | Action::Atomic { to: Some(to), .. }
            | Action::Move { to, .. }
            | Action::Arithmetic { to, .. }
            | Action::Select { to, .. } => Some(to),
            _ => None,
        }
    }

    /// The registers that are read.
    pub(crate) fn read(&self) -> Vec<&str> {
        let mut values: Vec<&Value> = Vec::new();
        match self {
            Action::Store { value, .. } | Action::Move { value, .. } => values.push(value),
            Action::Atomic { update, value, .. } => {
                values.push(value);
                if let Update::CompareAndSwap(expected) = update {
                    values.push(expected);
                }
            }
            Action::Barrier { number, .. } => values.push(number),
            Action::Arithmetic { a, b, .. } | Action::Select { a, b, .. } => values.extend([a, b]),
            Action::Branch { comparison: Some((_, a, b)), .. } => values.extend([a, b]),
            _ => {}
        }
        let condition = if let Action::Select { condition, .. } = self { Some(condition.as_str()) } else { None };
        let registers = values.into_iter().filter_map(|value| match value {
            Value::Register(name) => Some(name.as_str()),
            Value::Constant(_) => None,
        });
        registers.chain(condition).collect()
    }
}
