//! The syntax tree back to PTX text.
//!
//! Input: the top-level constructs of a file.
//! Output: PTX that parses to the same tree but for its spans, one statement a line.
//! Relies on: a tree without syntax errors.
//! Reference: PTX ISA, chapters "Syntax" and "Directives".
//!
//! Tests use it: what the tree lost of an input shows as a difference between the module that the input
//! gives and the one that its print gives. What has no effect here (pragmas, sections, hints, prototypes)
//! is in the tree only as a mark, and stands for the shortest construct of its kind.

use super::context::MAX_ERRORS;
use super::parse::parse_body;
use super::syntax::*;
use std::fmt::{Display, Formatter, Result};

/// Prints a file.
pub fn unparse(module: &[TopLevel<'_>]) -> String {
    module.iter().map(|construct| format!("{construct}\n")).collect()
}

/// Things separated by commas.
struct Commas<'l, T>(&'l [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (number, one) in self.0.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(out, "{separator}{one}")?;
        }
        Ok(())
    }
}

/// Words, each with a blank behind it.
struct Words<'l, T>(&'l [T]);

impl<T: Display> Display for Words<'_, T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        self.0.iter().try_for_each(|word| write!(out, "{word} "))
    }
}

impl Display for Name<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str(self.text)
    }
}

impl Display for TopLevel<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            TopLevel::Version(number) => write!(out, ".version {number}"),
            TopLevel::Target(words) => write!(out, ".target {}", Commas(words)),
            TopLevel::AddressSize(size) => write!(out, ".address_size {size}"),
            TopLevel::File { index, path } => write!(out, ".file {index} \"{path}\""),
            TopLevel::Alias(name, target) => write!(out, ".alias {name}, {target};"),
            TopLevel::Variables(declaration) => write!(out, "{declaration};"),
            TopLevel::Function(function) => write!(out, "{function}"),
            TopLevel::Annotation(comment) => write!(out, "{comment}"),
            TopLevel::SkippedBody(_) | TopLevel::Skipped => out.write_str(EMPTY_PRAGMA),
        }
    }
}

/// Stands for pragmas and sections.
const EMPTY_PRAGMA: &str = ".pragma \"\";";

impl Display for VariableDeclaration<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let VariableDeclaration { linkage, space, attributes, declarators, span: _ } = self;
        write!(out, "{}{space} {}{}", Words(linkage), Words(attributes), Commas(declarators))
    }
}

impl Display for Attribute<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Attribute::Word(word) => write!(out, "{word}"),
            Attribute::Align(bytes) => write!(out, ".align {bytes}"),
            Attribute::Hint => out.write_str(".attribute(.managed)"),
        }
    }
}

impl Display for Declarator<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, "{}", self.name)?;
        if let Some(count) = self.count {
            write!(out, "<{count}>")?;
        }
        for dimension in &self.dimensions {
            match dimension {
                Some(length) => write!(out, "[{length}]")?,
                None => out.write_str("[]")?,
            }
        }
        self.initialiser.iter().try_for_each(|initialiser| write!(out, " = {initialiser}"))
    }
}

impl Display for Initialiser<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Initialiser::Value(term) => write!(out, "{term}"),
            Initialiser::List(list) => write!(out, "{{{}}}", Commas(list)),
        }
    }
}

impl Display for InitialTerm<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            InitialTerm::Integer(text) | InitialTerm::Float(text) => out.write_str(text),
            InitialTerm::Text(text) => write!(out, "\"{text}\""),
            InitialTerm::Negative(inner) => write!(out, "-{inner}"),
            InitialTerm::Complement(inner) => write!(out, "~{inner}"),
            InitialTerm::Sum(first, rest) => {
                write!(out, "{first}")?;
                rest.iter().try_for_each(|(sign, term)| write!(out, " {} {term}", sign.character()))
            }
            InitialTerm::Symbol(name) => write!(out, "{name}"),
            InitialTerm::Generic(word, inner) => write!(out, "{word}({inner})"),
            InitialTerm::Masked(mask, inner) => write!(out, "{mask}({inner})"),
        }
    }
}

impl Display for Function<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let kind = if self.is_entry { ".entry" } else { ".func" };
        write!(out, "{}{kind} ", Words(&self.linkage))?;
        if !self.returns.is_empty() {
            write!(out, "({}) ", Commas(&self.returns))?;
        }
        write!(out, "{}({})", self.name, Commas(&self.params))?;
        for (directive, numbers) in &self.directives {
            match directive.text {
                ".pragma" => write!(out, " {EMPTY_PRAGMA}")?,
                _ => write!(out, " {directive} {}", Commas(numbers))?,
            }
        }
        match &self.body {
            None => out.write_str(";"),
            Some(body) => write!(out, "\n{}", Scope(&parse_body(*body, MAX_ERRORS).0)),
        }
    }
}

/// Statements in braces.
struct Scope<'l, 'a>(&'l [Statement<'a>]);

impl Display for Scope<'_, '_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str("{\n")?;
        self.0.iter().try_for_each(|statement| writeln!(out, "{statement}"))?;
        out.write_str("}")
    }
}

impl Display for Statement<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Statement::Label(name) => write!(out, "{name}:"),
            Statement::Variables(declaration) => write!(out, "{declaration};"),
            Statement::BranchTargets(name, targets) => write!(out, "{name}: .branchtargets {};", Commas(targets)),
            Statement::CallTargets(name, functions) => write!(out, "{name}: .calltargets {};", Commas(functions)),
            Statement::CallPrototype(name) => write!(out, "{name}: .callprototype _;"),
            Statement::Location(location) => write!(out, "{location}"),
            Statement::Annotation(comment) => write!(out, "{comment}"),
            Statement::Instruction(instruction) => write!(out, "{instruction};"),
            Statement::Scope(statements) => write!(out, "{}", Scope(statements)),
            Statement::Skipped => out.write_str(EMPTY_PRAGMA),
        }
    }
}

impl Display for Location<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write!(out, ".loc {}", Words(&self.place))?;
        let Some(place) = &self.inlined_at else { return Ok(()) };
        write!(out, ", function_name name, inlined_at {}", Words(place))
    }
}

impl Display for Instruction<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if let Some((negated, register)) = self.guard {
            write!(out, "@{}{register} ", if negated { "!" } else { "" })?;
        }
        write!(out, "{} {}", self.opcode, Commas(&self.operands))
    }
}

impl Display for Expression<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ExpressionKind::Name(text) | ExpressionKind::Integer(text) | ExpressionKind::Float(text) => {
                out.write_str(text)
            }
            ExpressionKind::Selected(selected) => write!(out, "{}{}", selected.0, selected.1),
            ExpressionKind::Sink => out.write_str("_"),
            ExpressionKind::Negative(inner) => write!(out, "-{inner}"),
            ExpressionKind::Not(inner) => write!(out, "!{inner}"),
            ExpressionKind::Complement(inner) => write!(out, "~{inner}"),
            ExpressionKind::Chain(chain) => {
                let (first, rest) = &**chain;
                write!(out, "{first}")?;
                rest.iter().try_for_each(|(operator, operand)| write!(out, " {} {operand}", operator.text()))
            }
            ExpressionKind::Vector(list) => write!(out, "{{{}}}", Commas(list)),
            ExpressionKind::Address(list, suffix) => {
                write!(out, "[{}]", Commas(list))?;
                suffix.iter().try_for_each(|suffix| write!(out, "{suffix}"))
            }
            ExpressionKind::Parenthesised(list) => write!(out, "({})", Commas(list)),
        }
    }
}
