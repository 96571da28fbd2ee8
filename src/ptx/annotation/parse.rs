//! The text of an annotation to a typed expression.
//!
//! Input: text, and what names mean. Output: a [`Value`] of type `Bool`, or a [`Mistake`] at a place in the text.
//! Establishes: operands of an operator have one type. Grammar, from what binds least: `==>` (to the right),
//! `||`, `&&`, `|`, `^`, `&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`, `* / %`, prefix `! - ~`; then numbers, `true`,
//! `false`, registers, `%tid.x` (or `threadIdx.x`) and the like, `[parameter]`, parentheses. In barrier invariants also `array.s32[offset]`
//! and `[pointer].s32[offset]`, and behind the expression `at` with the numbers of threads.
//! Reference: book/src/annotating.md (the operators of C, with its precedence).

use super::typing::{Meaning, Operand, Width, combine, literal};
use super::{AnnotationKind, ArrayFact, ArrayRef, Operator, Value, ValueKind, ValueType};
use crate::geometry::Axis;
use crate::ptx::ast::{RegisterId, ScalarType, SpecialRegister};
use std::ops::Range;

/// Operators and operands; more are refused, as later stages go down the tree.
const MOST_NODES: usize = 1000;

/// Parentheses and prefixes inside each other.
const MOST_DEPTH: usize = 60;

/// What names mean.
pub(crate) trait Names<'a> {
    /// The register of that name.
    fn register(&mut self, name: &'a str) -> Option<(RegisterId, ScalarType)>;

    /// The scalar parameter of that name.
    ///
    /// # Errors
    /// Why there is none.
    fn parameter(&mut self, name: &'a str) -> Result<(u32, ScalarType), String>;

    /// The variable of that name that is an array.
    ///
    /// # Errors
    /// Why there is none.
    fn array(&mut self, name: &'a str) -> Result<ArrayRef, String>;

    /// The array that the parameter of that name points to.
    ///
    /// # Errors
    /// Why there is none.
    fn pointer(&mut self, name: &'a str) -> Result<ArrayRef, String>;
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// One sentence, lower case, no full stop.
    pub(crate) message: String,
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
}

/// What an annotation says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement<'a> {
    /// What it asks for.
    pub(crate) kind: AnnotationKind,
    /// Everything between that and the semicolon.
    pub(crate) text: &'a str,
    /// The fact: a value of type [`ValueType::Bool`].
    pub(crate) expression: Value,
    /// The threads behind `at`; `%tid.x` alone where a barrier invariant names none.
    pub(crate) threads: Vec<Value>,
}

/// Parses `kind expression;`, the text behind `//@`.
///
/// # Errors
/// What is no expression, unknown names, operands of the wrong type; an unknown kind; anything but one expression that
/// ends in `;`.
pub(crate) fn statement<'a>(inside: &'a str, names: &mut dyn Names<'a>) -> Result<Statement<'a>, Mistake> {
    // A remark may follow.
    let body = inside.find("//").map_or(inside, |at| &inside[..at]).trim();
    let start = inside.len() - inside.trim_start().len();
    let whole = |message: String| Mistake { message, range: start..start + body.len() };
    let (word, rest) = body.split_once(|c: char| c.is_whitespace()).unwrap_or((body, ""));
    let Some(kind) = AnnotationKind::of(word) else {
        let message = format!("unknown annotation `{word}`; there are {}", AnnotationKind::names());
        return Err(Mistake { message, range: start..start + word.len() });
    };
    let Some(expression) = body.strip_suffix(';').filter(|_| rest.ends_with(';')) else {
        return Err(whole("an annotation ends with `;`".to_string()));
    };
    let expression = expression[word.len()..].trim();
    if expression.is_empty() || expression.contains(';') {
        return Err(whole(format!("`{word}` takes one expression")));
    }
    let offset = expression.as_ptr() as usize - inside.as_ptr() as usize;
    let moved =
        |mistake: Mistake| Mistake { range: offset + mistake.range.start..offset + mistake.range.end, ..mistake };
    let arrays = kind == AnnotationKind::BarrierInvariant;
    // What is said of sizes is meant of numbers; all else speaks of what the kernel computes.
    let width = if kind == AnnotationKind::Requires { Width::WideProducts } else { Width::Wider };
    let mut parser = Parser { text: expression, at: 0, nodes: 0, depth: 0, width, arrays, names };
    let (value, threads) = parser.fact().map_err(moved)?;
    let mut speaks_of_entries = false;
    value.leaves(&mut |leaf| speaks_of_entries |= matches!(leaf, ValueKind::Entries(..)));
    if speaks_of_entries && (kind != AnnotationKind::Requires || !matches!(value.kind, ValueKind::Entries(..))) {
        let message = "`distinct`, `sorted`, `initially` and `initialised` are a whole `requires`, without operators";
        return Err(whole(message.to_string()));
    }
    Ok(Statement { kind, text: expression, expression: value, threads })
}

/// Operators in levels, from what binds least. A text is tried in order, so longer ones stand first.
const LEVELS: [&[(&str, Meaning)]; 11] = [
    &[("==>", Meaning::Logical(Operator::Implies))],
    &[("||", Meaning::Logical(Operator::Or))],
    &[("&&", Meaning::Logical(Operator::And))],
    &[("|", Meaning::Arithmetic(Operator::BitOr))],
    &[("^", Meaning::Arithmetic(Operator::BitXor))],
    &[("&", Meaning::Arithmetic(Operator::BitAnd))],
    &[("==", Meaning::Equality { negated: false }), ("!=", Meaning::Equality { negated: true })],
    &[
        ("<=", Meaning::Order(Operator::LessEqual, false)),
        (">=", Meaning::Order(Operator::LessEqual, true)),
        ("<", Meaning::Order(Operator::Less, false)),
        (">", Meaning::Order(Operator::Less, true)),
    ],
    &[("<<", Meaning::Arithmetic(Operator::ShiftLeft)), (">>", Meaning::Arithmetic(Operator::ShiftRight))],
    &[("+", Meaning::Arithmetic(Operator::Add)), ("-", Meaning::Arithmetic(Operator::Subtract))],
    &[
        ("*", Meaning::Arithmetic(Operator::Multiply)),
        ("/", Meaning::Arithmetic(Operator::Divide)),
        ("%", Meaning::Arithmetic(Operator::Remainder)),
    ],
];

/// From this level on operators make numbers of numbers, without comparing them.
const SUMS: usize = 8;

struct Parser<'a, 'n> {
    text: &'a str,
    at: usize,
    nodes: usize,
    depth: usize,
    /// Bits of products.
    width: Width,
    /// Whether it is a barrier invariant, which may load from arrays and name threads.
    arrays: bool,
    names: &'n mut dyn Names<'a>,
}

impl<'a> Parser<'a, '_> {
    /// An expression, and `at` with threads.
    fn fact(&mut self) -> Result<(Value, Vec<Value>), Mistake> {
        let value = self.binary(0)?.condition();
        let rest = self.skip_blanks();
        let start = self.at;
        if rest.strip_prefix("at").is_none_or(|rest| rest.starts_with(is_word)) {
            self.end()?;
            return Ok((value, if self.arrays { vec![Value::thread()] } else { Vec::new() }));
        }
        self.at += "at".len();
        if !self.arrays {
            return Err(self.mistake("only a barrier invariant is used of threads (`at`)", start));
        }
        let mut threads = Vec::new();
        loop {
            threads.push(self.thread()?);
            if !self.skip_blanks().starts_with(',') {
                break;
            }
            self.at += 1;
        }
        self.end()?;
        Ok((value, threads))
    }

    /// The number of a thread.
    fn thread(&mut self) -> Result<Value, Mistake> {
        self.skip_blanks();
        let start = self.at;
        match self.binary(0)? {
            Operand::Value(value) if value.ty == ValueType::Bool => {
                Err(self.mistake("the number of a thread is no predicate", start))
            }
            operand => self.number(operand, 32, start),
        }
    }

    /// An operand as a value; a plain number has this many bits.
    fn number(&self, operand: Operand, width: u32, start: usize) -> Result<Value, Mistake> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::Number(number) => {
                let bits = literal(number, width, false).map_err(|message| self.mistake(message, start))?;
                Ok(Value { kind: ValueKind::Constant(bits), ty: ValueType::Bits { width, signed: false } })
            }
        }
    }

    /// Nothing follows.
    fn end(&mut self) -> Result<(), Mistake> {
        if self.skip_blanks().is_empty() { Ok(()) } else { Err(self.unexpected()) }
    }

    /// The text from the next character that is no blank.
    fn skip_blanks(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn mistake(&self, message: impl Into<String>, start: usize) -> Mistake {
        Mistake { message: message.into(), range: start..self.at.max(start) }
    }

    fn unexpected(&mut self) -> Mistake {
        let rest = self.skip_blanks();
        let start = self.at;
        let length = match rest.find(|c| !is_word(c)) {
            Some(0) => rest.chars().next().map_or(0, char::len_utf8),
            Some(length) => length,
            None => rest.len(),
        };
        self.at += length;
        match &rest[..length] {
            "" => self.mistake("the expression ends early", start),
            token => self.mistake(format!("unexpected `{token}`"), start),
        }
    }

    /// Counts a node; `deeper` if what follows lies inside of it.
    fn node(&mut self, deeper: bool) -> Result<(), Mistake> {
        self.nodes += 1;
        self.depth += usize::from(deeper);
        if self.nodes > MOST_NODES || self.depth > MOST_DEPTH {
            return Err(self.mistake("the expression is too large", self.at));
        }
        Ok(())
    }

    /// The operator of a level that stands next. What a longer operator begins with is none.
    fn operator(&mut self, level: usize) -> Option<(&'static str, Meaning)> {
        let rest = self.skip_blanks();
        let all = LEVELS.iter().flat_map(|level| level.iter());
        let longest = all.filter(|(text, _)| rest.starts_with(text)).max_by_key(|(text, _)| text.len())?;
        let found = LEVELS[level].iter().find(|(text, _)| *text == longest.0)?;
        self.at += found.0.len();
        Some(*found)
    }

    fn binary(&mut self, level: usize) -> Result<Operand, Mistake> {
        if level == LEVELS.len() {
            return self.prefix();
        }
        self.skip_blanks();
        let start = self.at;
        let mut left = self.binary(level + 1)?;
        while let Some((text, meaning)) = self.operator(level) {
            // `==>` groups to the right.
            let right_first = level == 0;
            self.node(right_first)?;
            let right = self.binary(if right_first { 0 } else { level + 1 })?;
            self.depth -= usize::from(right_first);
            left = combine((text, meaning), self.width, left, right).map_err(|message| self.mistake(message, start))?;
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Operand, Mistake> {
        self.node(true)?;
        let operand = self.prefixed();
        self.depth -= 1;
        operand
    }

    fn prefixed(&mut self) -> Result<Operand, Mistake> {
        let rest = self.skip_blanks();
        let start = self.at;
        let Some(sign) = rest.chars().next().filter(|c| matches!(c, '!' | '-' | '~')) else { return self.atom() };
        self.at += 1;
        let operand = self.prefix()?;
        let wrong = |this: &Self| this.mistake(format!("`{sign}` takes a number, not a predicate"), start);
        match (sign, operand) {
            ('!', operand) => Ok(Operand::Value(operand.condition().negated())),
            ('-', Operand::Number(number)) => Ok(Operand::Number(-number)),
            (_, Operand::Number(number)) => Ok(Operand::Number(!number)),
            (_, Operand::Value(value)) if value.ty == ValueType::Bool => Err(wrong(self)),
            (_, Operand::Value(value)) => {
                // -x is 0 - x, and ~x is x ^ -1.
                let (operator, bits) =
                    if sign == '-' { (Operator::Subtract, 0) } else { (Operator::BitXor, super::mask(value.ty)) };
                let constant = Value { kind: ValueKind::Constant(bits), ty: value.ty };
                Ok(Operand::Value(Value::binary(operator, constant, value)))
            }
        }
    }

    fn atom(&mut self) -> Result<Operand, Mistake> {
        let rest = self.skip_blanks();
        let start = self.at;
        if rest.starts_with('(') {
            self.at += 1;
            let inner = self.binary(0)?;
            return self.closing(')', start).map(|()| inner);
        }
        if let Some(inside) = rest.strip_prefix('[') {
            self.at += 1;
            let name = inside.trim_start();
            let name = &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())];
            self.skip_blanks();
            self.at += name.len();
            self.closing(']', start)?;
            if self.text[self.at..].starts_with('.') {
                let ty = self.word();
                let array = self.names.pointer(name).map_err(|message| self.mistake(message, start))?;
                return self.load(array, ty.trim_start_matches('.'), start);
            }
            let (index, ty) = self.names.parameter(name).map_err(|message| self.mistake(message, start))?;
            return self.leaf(ValueKind::Parameter(index), ty, name, start);
        }
        let body = rest.strip_prefix('%').unwrap_or(rest);
        let prefix = rest.len() - body.len();
        let length = prefix + body.find(|c| !is_word(c)).unwrap_or(body.len());
        let word = &rest[..length];
        if length == prefix {
            return Err(self.unexpected());
        }
        self.at += length;
        if self.text[self.at..].starts_with('(')
            && let "distinct" | "sorted" | "initially" | "initialised" = word
        {
            self.at += 1;
            return self.entries(word, start);
        }
        if let Some((name, ty)) = word.rsplit_once('.')
            && self.text[self.at..].starts_with('[')
        {
            let array = self.names.array(name).map_err(|message| self.mistake(message, start))?;
            return self.load(array, ty, start);
        }
        if let Some((register, ty)) = self.names.register(word) {
            return self.leaf(ValueKind::Register(register), ty, word, start);
        }
        match word {
            "true" | "false" => return Ok(Operand::Value(Value::boolean(word == "true"))),
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {
                let number = number(word).ok_or_else(|| self.mistake(format!("`{word}` is no number"), start))?;
                return Ok(Operand::Number(number));
            }
            _ => {}
        }
        match special(word) {
            Some(register) => self.leaf(ValueKind::Special(register), ScalarType::U(32), word, start),
            None => Err(self.mistake(format!("`{word}` is no register of this function"), start)),
        }
    }

    /// Takes the word that stands next.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// `[param].s32)` or `NAME.s32)` behind `distinct(` or `sorted(`; `[param].s32 == 0)` or `[param].s32[8] == 0)` behind
    /// `initially(`; `NAME)` behind `initialised(`.
    fn entries(&mut self, what: &str, start: usize) -> Result<Operand, Mistake> {
        let rest = self.skip_blanks();
        let is_pointer = rest.starts_with('[');
        self.at += usize::from(is_pointer);
        self.skip_blanks();
        let mut name = self.word();
        let mut ty = "";
        if is_pointer {
            self.closing(']', start)?;
            ty = self.word().trim_start_matches('.');
        } else if let Some((array, element)) = name.rsplit_once('.').filter(|_| what != "initialised") {
            (name, ty) = (array, element);
        }
        if what == "initialised" {
            if is_pointer || self.text[self.at..].starts_with('[') {
                return Err(self.mistake("only a variable has an initialiser: `initialised(table)`", start));
            }
            ty = "u8";
        }
        let Some(element) = element(ty) else {
            return Err(
                self.mistake("elements have one of the types u8 to u64, s8 to s64, b8 to b64: `[index].s32`", start)
            );
        };
        let fact = match what {
            "distinct" => ArrayFact::Distinct,
            "sorted" => ArrayFact::Sorted,
            "initialised" => ArrayFact::Initialised,
            _ => self.initially(element, start)?,
        };
        self.closing(')', start)?;
        let array = if is_pointer { self.names.pointer(name) } else { self.names.array(name) };
        let array = array.map_err(|message| self.mistake(message, start))?;
        Ok(Operand::Value(Value { kind: ValueKind::Entries(fact, array, element), ty: ValueType::Bool }))
    }

    /// `== 0` or `[8] == 0` behind an element.
    fn initially(&mut self, element: ValueType, start: usize) -> Result<ArrayFact, Mistake> {
        let mut at = None;
        if self.skip_blanks().starts_with('[') {
            self.at += 1;
            let offset = self.binary(0)?;
            self.closing(']', start)?;
            let Operand::Number(offset) = offset else {
                return Err(self.mistake("the offset of an element is a number", start));
            };
            let bytes = element.bytes();
            let aligned = u64::try_from(offset).ok().filter(|offset| offset.is_multiple_of(bytes) && *offset < 1 << 40);
            let message = || format!("an element of {bytes} bytes starts at a multiple of {bytes}");
            at = Some(aligned.ok_or_else(|| self.mistake(message(), start))?);
        }
        if !self.skip_blanks().starts_with("==") {
            return Err(self.mistake("what it is initially is missing: `initially([count].s32 == 0)`", start));
        }
        self.at += "==".len();
        let Operand::Number(value) = self.binary(SUMS)? else {
            return Err(self.mistake("what an element is initially is a number", start));
        };
        let ValueType::Bits { width, signed } = element else { return Err(self.unexpected()) };
        let bits = literal(value, width, signed).map_err(|message| self.mistake(message, start))?;
        Ok(ArrayFact::Initially { bits, at })
    }

    /// `[offset]` behind an array and a type.
    fn load(&mut self, array: ArrayRef, ty: &str, start: usize) -> Result<Operand, Mistake> {
        if !self.arrays {
            return Err(self.mistake("only a barrier invariant speaks about what arrays hold", start));
        }
        let Some(ty) = element(ty) else {
            return Err(self.mistake(format!("`{ty}` is none of u8 to u64, s8 to s64, b8 to b64"), start));
        };
        if !self.text[self.at..].starts_with('[') {
            return Err(self.mistake("an array is read as `NAME.s32[OFFSET IN BYTES]`", start));
        }
        self.at += 1;
        let offset = match self.binary(0)? {
            Operand::Value(value) if value.ty == ValueType::Bool => {
                return Err(self.mistake("an offset is a number", start));
            }
            operand => self.number(operand, 64, start)?,
        };
        self.closing(']', start)?;
        Ok(Operand::Value(Value { kind: ValueKind::Load(array, Box::new(offset)), ty }))
    }

    fn closing(&mut self, closing: char, start: usize) -> Result<(), Mistake> {
        if !self.skip_blanks().starts_with(closing) {
            return Err(self.mistake(format!("`{closing}` is missing"), start));
        }
        self.at += 1;
        Ok(())
    }

    /// An operand of a PTX type.
    fn leaf(&self, kind: ValueKind, ty: ScalarType, name: &str, start: usize) -> Result<Operand, Mistake> {
        match ValueType::of(ty) {
            Some(ty) => Ok(Operand::Value(Value { kind, ty })),
            None => {
                let what = if ty.is_float() { "a floating-point number" } else { "more than 64 bits" };
                let message = format!("`{name}` holds {what}, which annotations cannot speak about");
                Err(self.mistake(message, start))
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}

/// The type of an element of an array.
fn element(name: &str) -> Option<ValueType> {
    let signed = match name.as_bytes().first()? {
        b'u' => false,
        b's' | b'b' => true,
        _ => return None,
    };
    let width = [8, 16, 32, 64].into_iter().find(|width| name[1..] == width.to_string())?;
    Some(ValueType::Bits { width, signed })
}

/// `12`, `0x1f`, `7u`
fn number(word: &str) -> Option<i128> {
    let lower = word.to_ascii_lowercase();
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(i128::from(value))
}

/// By its name in PTX or in CUDA C++ (where a `%` is special in inline assembly).
fn special(word: &str) -> Option<SpecialRegister> {
    let (name, axis) = word.split_once('.')?;
    let axis = Axis::named(axis)?;
    match name {
        "%tid" | "threadIdx" => Some(SpecialRegister::Tid(axis)),
        "%ntid" | "blockDim" => Some(SpecialRegister::Ntid(axis)),
        "%ctaid" | "blockIdx" => Some(SpecialRegister::Ctaid(axis)),
        "%nctaid" | "gridDim" => Some(SpecialRegister::Nctaid(axis)),
        _ => None,
    }
}
