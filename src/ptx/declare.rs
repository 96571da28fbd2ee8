//! Declarations: types, sizes, alignments of variables and parameters.
//!
//! Input: a [`VariableDeclaration`] in a state space other than `.reg`.
//! Output: a [`Variable`] for each declared name.
//! Establishes: sizes in bytes are exact and do not overflow; alignments are powers of two.
//! Reference: PTX ISA, chapter "State Spaces, Types, and Variables"; kernel parameter attributes `.ptr`.

use super::ast::{Linkage, ScalarType, StateSpace, Variable};
use super::initialiser::initial_values;
use super::syntax::{Attribute, Declarator, Initialiser, Name, VariableDeclaration};
use super::values::integer_literal;
use super::words::scalar_type;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::borrow::Cow;

type Result<T> = std::result::Result<T, Diagnostic>;

/// A family `name<n>` of variables has at most as many; one of registers is not counted out.
const LARGEST_FAMILY: u64 = 1 << 16;

/// A name that a declaration introduces: as written, or a member of a family.
#[derive(Clone, Debug)]
pub(crate) struct Declared<'a> {
    /// The name.
    pub(crate) text: Cow<'a, str>,
    /// Where its declarator stands.
    pub(crate) span: Span,
}

impl Declared<'_> {
    /// The same, borrowed.
    pub(crate) fn name(&self) -> Name<'_> {
        Name { text: &self.text, span: self.span }
    }
}

/// The attributes of a declaration, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes {
    /// Element type.
    pub(crate) ty: ScalarType,
    /// Elements of a vector type (`.v2`, `.v4`), else 1.
    pub(crate) vector: u32,
    /// `.align`
    pub(crate) align: Option<u32>,
    /// `.ptr` with its space.
    pub(crate) pointer: Option<StateSpace>,
}

/// The state space of that word (with the dot).
fn space_of(word: &str) -> Option<StateSpace> {
    Some(match word {
        ".global" => StateSpace::Global,
        ".shared" | ".shared::cta" => StateSpace::Shared,
        ".local" => StateSpace::Local,
        ".param" => StateSpace::Param,
        ".const" => StateSpace::Const,
        _ => return None,
    })
}

/// Reads type, vector width, alignment and pointer attributes.
pub(crate) fn attributes(declaration: &VariableDeclaration<'_>) -> Result<Attributes> {
    let (mut ty, mut vector, mut align, mut pointer) = (None, 1, None, None);
    for attribute in &declaration.attributes {
        match attribute {
            Attribute::Hint => {}
            // Behind `.ptr` the alignment is that of the pointee, which nothing here uses.
            Attribute::Align(_) if pointer.is_some() => {}
            Attribute::Align(value) => align = Some(alignment(*value)?),
            Attribute::Word(word) => match (word.text, scalar_type(&word.text[1..]), space_of(word.text)) {
                (".v2", ..) => vector = 2,
                (".v4", ..) => vector = 4,
                (".ptr", ..) => pointer = Some(StateSpace::Generic),
                (_, Some(found), _) if ty.is_none() => ty = Some(found),
                (_, _, Some(space)) if pointer == Some(StateSpace::Generic) => pointer = Some(space),
                _ => return Err(unknown_word(*word)),
            },
        }
    }
    match ty {
        Some(ty) => Ok(Attributes { ty, vector, align, pointer }),
        None => Err(Diagnostic::error("ptx-syntax", "this declaration has no type", declaration.span)),
    }
}

fn unknown_word(word: Name<'_>) -> Diagnostic {
    let message = format!("`{}` is no type or attribute of a declaration", word.text);
    Diagnostic::error("unknown-modifier", message, word.span)
}

fn alignment(value: Name<'_>) -> Result<u32> {
    match u32::try_from(integer_literal(value.text, value.span)?) {
        Ok(align) if align.is_power_of_two() => Ok(align),
        _ => Err(Diagnostic::error("ptx-syntax", "an alignment is a power of two", value.span)),
    }
}

/// The linkage written in front of a declaration.
pub(crate) fn linkage(words: &[Name<'_>]) -> Linkage {
    match words.first().map(|word| word.text) {
        Some(".visible") => Linkage::Visible,
        Some(".extern") => Linkage::Extern,
        Some(".weak") => Linkage::Weak,
        Some(".common") => Linkage::Common,
        _ => Linkage::Internal,
    }
}

/// The variables of a declaration, each with its name.
pub(crate) fn variables<'a>(declaration: &VariableDeclaration<'a>) -> Result<Vec<(Declared<'a>, Variable)>> {
    let attributes = attributes(declaration)?;
    let Some(space) = space_of(declaration.space.text) else {
        let message = format!("`{}` is no state space of a variable", declaration.space.text);
        return Err(Diagnostic::error("ptx-syntax", message, declaration.space.span));
    };
    if attributes.ty == ScalarType::Pred {
        let message = "predicates exist only in registers";
        return Err(Diagnostic::error("type-mismatch", message, declaration.span));
    }
    let mut list = Vec::new();
    for declarator in &declaration.declarators {
        expand(declaration, declarator, attributes, space, &mut list)?;
    }
    Ok(list)
}

fn expand<'a>(
    declaration: &VariableDeclaration<'a>,
    declarator: &Declarator<'a>,
    attributes: Attributes,
    space: StateSpace,
    list: &mut Vec<(Declared<'a>, Variable)>,
) -> Result<()> {
    let element = attributes.ty.bytes() * attributes.vector;
    let size = size(declarator, element)?;
    let symbols = declarator.initialiser.iter().flat_map(Initialiser::symbols);
    if declarator.initialiser.is_some() && !matches!(space, StateSpace::Global | StateSpace::Const) {
        let message = "only variables in `.global` and `.const` have an initial value";
        return Err(Diagnostic::error("ptx-syntax", message, declarator.name.span));
    }
    let initial_values = match &declarator.initialiser {
        Some(initialiser) => initial_values(initialiser, declarator, attributes)?,
        None => Vec::new(),
    };
    let variable = Variable {
        name: declarator.name.text.into(),
        spelling: None,
        space,
        ty: attributes.ty,
        size,
        align: attributes.align.unwrap_or(element),
        linkage: linkage(&declaration.linkage),
        pointer: attributes.pointer,
        initialised: declarator.initialiser.is_some(),
        initial_values,
        initialiser_symbols: symbols.map(|symbol| symbol.text.into()).collect(),
        span: declarator.name.span,
    };
    let Some(count) = declarator.count else {
        list.push((Declared { text: declarator.name.text.into(), span: declarator.name.span }, variable));
        return Ok(());
    };
    for number in 0..family_size(declarator, count)? {
        let text = format!("{}{number}", declarator.name.text);
        let member = Variable { name: text.as_str().into(), ..variable.clone() };
        list.push((Declared { text: text.into(), span: declarator.name.span }, member));
    }
    Ok(())
}

/// `n` of `name<n>`.
fn family_size(declarator: &Declarator<'_>, count: Name<'_>) -> Result<u64> {
    if !declarator.dimensions.is_empty() || declarator.initialiser.is_some() {
        let message = "a family `name<n>` has neither dimensions nor initial values";
        return Err(Diagnostic::error("ptx-syntax", message, declarator.name.span));
    }
    match integer_literal(count.text, count.span)? {
        size @ ..=LARGEST_FAMILY => Ok(size),
        _ => {
            let message = format!("a family of variables has at most {LARGEST_FAMILY} members");
            Err(Diagnostic::error("ptx-syntax", message, count.span))
        }
    }
}

/// Bytes of the whole variable; an outermost `[]` takes its length from the initialiser.
fn size(declarator: &Declarator<'_>, element: u32) -> Result<Option<u64>> {
    let mut size = u64::from(element);
    for (position, dimension) in declarator.dimensions.iter().enumerate() {
        let length = match (dimension, &declarator.initialiser) {
            (Some(length), _) => integer_literal(length.text, length.span)?,
            (None, Some(initialiser)) if position == 0 => initialiser.elements(),
            (None, None) if position == 0 => return Ok(None),
            (None, _) => {
                let message = "only the first dimension may be left out";
                return Err(Diagnostic::error("ptx-syntax", message, declarator.name.span));
            }
        };
        size = match size.checked_mul(length).filter(|&size| size <= i64::MAX as u64) {
            Some(size) => size,
            None => return Err(Diagnostic::error("ptx-syntax", "this array is too large", declarator.name.span)),
        };
    }
    Ok(Some(size))
}
