//! Initialisers of variables: which value stands at which byte.
//!
//! Input: the tree of an initialiser, and the dimensions and element type of its variable.
//! Output: an [`InitialValue`] for each scalar that is written.
//! Establishes: offsets lie within the variable where its size is known.
//! Reference: PTX ISA, section "Initializers".

use super::ast::{InitialConstant, InitialValue, ScalarType};
use super::declare::Attributes;
use super::syntax::{Declarator, InitialTerm, Initialiser, Sign};
use super::values::integer_literal;
use super::words::{convert_float, float};
use crate::diagnostic::Diagnostic;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The scalars of an initialiser.
pub(crate) fn initial_values(
    initialiser: &Initialiser<'_>,
    declarator: &Declarator<'_>,
    attributes: Attributes,
) -> Result<Vec<InitialValue>> {
    let mut lengths: Vec<u64> = Vec::new();
    for dimension in &declarator.dimensions {
        lengths.push(match dimension {
            Some(length) => integer_literal(length.text, length.span)?,
            None => initialiser.elements(),
        });
    }
    if attributes.vector > 1 {
        lengths.push(u64::from(attributes.vector));
    }
    let mut collector = Collector { ty: attributes.ty, lengths, values: Vec::new(), declarator };
    collector.collect(initialiser, 0, 0)?;
    // Tables have hundreds of thousands.
    collector.values.shrink_to_fit();
    Ok(collector.values)
}

struct Collector<'c, 'a> {
    ty: ScalarType,
    /// Elements of each dimension, outermost first.
    lengths: Vec<u64>,
    values: Vec<InitialValue>,
    declarator: &'c Declarator<'a>,
}

impl Collector<'_, '_> {
    /// Bytes of what this dimension and those below it hold.
    fn extent(&self, depth: usize) -> u64 {
        let inner = self.lengths.iter().skip(depth);
        inner.fold(u64::from(self.ty.bytes()), |product, length| product.saturating_mul(*length))
    }

    fn collect(&mut self, initialiser: &Initialiser<'_>, depth: usize, offset: u64) -> Result<()> {
        match initialiser {
            // A flat list may fill nested dimensions in order.
            Initialiser::List(list) => {
                let flat = list.iter().all(|one| matches!(one, Initialiser::Value(_)));
                let stride = if flat { u64::from(self.ty.bytes()) } else { self.extent(depth + 1) };
                self.check_length(depth, stride.saturating_mul(list.len() as u64))?;
                for (index, one) in (0u64..).zip(list) {
                    self.collect(one, depth + 1, offset.saturating_add(index.saturating_mul(stride)))?;
                }
                Ok(())
            }
            // What an escape stands for is not written anywhere.
            Initialiser::Value(InitialTerm::Text(text)) if self.ty.bytes() == 1 && !text.contains('\\') => {
                self.check_length(depth, text.len() as u64)?;
                let values = (0u64..).zip(text.bytes()).map(|(index, byte)| InitialValue {
                    offset: offset.saturating_add(index),
                    bytes: 1,
                    value: InitialConstant::Bits(u64::from(byte)),
                });
                self.values.extend(values);
                Ok(())
            }
            Initialiser::Value(term) => {
                let value = self.constant(term)?;
                self.values.push(InitialValue { offset, bytes: self.ty.bytes(), value });
                Ok(())
            }
        }
    }

    fn check_length(&self, depth: usize, bytes: u64) -> Result<()> {
        if bytes <= self.extent(depth) {
            return Ok(());
        }
        let span = self.declarator.name.span;
        Err(Diagnostic::error("ptx-syntax", "this initialiser is longer than its variable", span))
    }

    fn constant(&self, term: &InitialTerm<'_>) -> Result<InitialConstant> {
        use InitialConstant::{Address, Bits};
        let error = || {
            let span = self.declarator.name.span;
            Diagnostic::error("ptx-syntax", "this initialiser is no constant of a known form", span)
        };
        Ok(match term {
            InitialTerm::Integer(text) => {
                let value = integer_literal(text, self.declarator.name.span)?;
                Bits(if let ScalarType::F(bits) = self.ty { float_of_integer(value, bits) } else { value })
            }
            InitialTerm::Float(text) => {
                let (bits, width) = float(text).ok_or_else(error)?;
                Bits(convert_float(bits, width, self.ty.bits()))
            }
            InitialTerm::Text(_) => return Err(error()),
            InitialTerm::Negative(inner) => match (self.constant(inner)?, self.ty) {
                (Bits(bits), ScalarType::F(width)) => Bits(bits ^ 1 << (width - 1)),
                (Bits(bits), _) => Bits(bits.wrapping_neg()),
                _ => return Err(error()),
            },
            // Arithmetic of floats would work on their bits here.
            InitialTerm::Complement(_) | InitialTerm::Sum(..) if self.ty.is_float() => return Err(error()),
            InitialTerm::Complement(inner) => match self.constant(inner)? {
                Bits(bits) => Bits(!bits),
                Address { .. } => return Err(error()),
            },
            InitialTerm::Sum(first, rest) => {
                let mut sum = self.constant(first)?;
                for (sign, term) in rest {
                    sum = add(sum, *sign, self.constant(term)?).ok_or_else(error)?;
                }
                sum
            }
            InitialTerm::Symbol(name) => Address { symbol: name.text.into(), addend: 0, generic: false, shift: 0 },
            InitialTerm::Generic(word, _) if word.text != "generic" => {
                let message = format!("`{}` is no function of an initialiser", word.text);
                return Err(Diagnostic::error("ptx-syntax", message, word.span).label("expected `generic`"));
            }
            InitialTerm::Generic(_, inner) => match self.constant(inner)? {
                Address { symbol, addend, shift, .. } => Address { symbol, addend, generic: true, shift },
                Bits(_) => return Err(error()),
            },
            InitialTerm::Masked(mask, inner) => match self.constant(inner)? {
                Address { symbol, addend, generic, .. } => {
                    let mask = integer_literal(mask, self.declarator.name.span)?;
                    Address { symbol, addend, generic, shift: mask.trailing_zeros() % 64 }
                }
                Bits(_) => return Err(error()),
            },
        })
    }
}

/// An address plus or minus a constant, or two constants.
fn add(left: InitialConstant, sign: Sign, right: InitialConstant) -> Option<InitialConstant> {
    use InitialConstant::{Address, Bits};
    let signed = |bits: u64| if sign == Sign::Plus { bits } else { bits.wrapping_neg() };
    Some(match (left, right) {
        (Bits(a), Bits(b)) => Bits(a.wrapping_add(signed(b))),
        (Address { symbol, addend, generic, shift }, Bits(bits)) => {
            Address { symbol, addend: addend.wrapping_add(signed(bits).cast_signed()), generic, shift }
        }
        (Bits(bits), Address { symbol, addend, generic, shift }) if sign == Sign::Plus => {
            Address { symbol, addend: addend.wrapping_add(bits.cast_signed()), generic, shift }
        }
        _ => return None,
    })
}

/// Integers in an initialiser of floats are numbers, not bits.
fn float_of_integer(value: u64, bits: u32) -> u64 {
    convert_float((value.cast_signed() as f64).to_bits(), 64, bits)
}
