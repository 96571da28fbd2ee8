//! Initialisers of variables: which value stands at which byte.
//!
//! Input: the tree of an initialiser, and the dimensions and element type of its variable.
//! Output: an [`InitialValue`] for each scalar that is written.
//! Establishes: offsets lie within the variable where its size is known.
//! Reference: PTX ISA, section "Initializers".

use super::ast::{InitialConstant, InitialValue, ScalarType};
use super::declare::Attributes;
use super::syntax::{Declarator, InitialTerm, Initialiser};
use super::values::integer_literal;
use super::words::{convert_float, float};
use crate::diagnostic::Diagnostic;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The scalars of an initialiser.
pub fn initial_values(
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
    let bytes = collector.lengths.iter().fold(u64::from(attributes.ty.bytes()), |all, n| all.saturating_mul(*n));
    if collector.values.iter().any(|value| value.offset.saturating_add(u64::from(value.bytes)) > bytes) {
        let message = format!("the initialiser has more values than `{}` has elements", declarator.name.text);
        return Err(Diagnostic::error("ptx-syntax", message, declarator.name.span));
    }
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
    /// Bytes of one element of this dimension.
    fn stride(&self, depth: usize) -> u64 {
        let inner = self.lengths.iter().skip(depth + 1);
        inner.fold(u64::from(self.ty.bytes()), |product, length| product.saturating_mul(*length))
    }

    fn collect(&mut self, initialiser: &Initialiser<'_>, depth: usize, offset: u64) -> Result<()> {
        match initialiser {
            // A flat list may fill nested dimensions in order.
            Initialiser::List(list) => {
                let flat = list.iter().all(|one| matches!(one, Initialiser::Value(_)));
                let stride = if flat { u64::from(self.ty.bytes()) } else { self.stride(depth) };
                for (index, one) in (0u64..).zip(list) {
                    self.collect(one, depth + 1, offset.saturating_add(index.saturating_mul(stride)))?;
                }
                Ok(())
            }
            Initialiser::Value(InitialTerm::Text(text)) => {
                let characters = text.trim_matches('"').bytes();
                let values = (0u64..).zip(characters).map(|(index, byte)| InitialValue {
                    offset: offset + index,
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
            InitialTerm::Complement(inner) => match self.constant(inner)? {
                Bits(bits) => Bits(!bits),
                Address { .. } => return Err(error()),
            },
            InitialTerm::Sum(left, right) => match (self.constant(left)?, self.constant(right)?) {
                (Bits(a), Bits(b)) => Bits(a.wrapping_add(b)),
                (Address { symbol, addend, generic, shift }, Bits(bits))
                | (Bits(bits), Address { symbol, addend, generic, shift }) => {
                    Address { symbol, addend: addend.wrapping_add(bits.cast_signed()), generic, shift }
                }
                _ => return Err(error()),
            },
            InitialTerm::Difference(left, right) => match (self.constant(left)?, self.constant(right)?) {
                (Bits(a), Bits(b)) => Bits(a.wrapping_sub(b)),
                (Address { symbol, addend, generic, shift }, Bits(bits)) => {
                    Address { symbol, addend: addend.wrapping_sub(bits.cast_signed()), generic, shift }
                }
                _ => return Err(error()),
            },
            InitialTerm::Symbol(name) => Address { symbol: name.text.into(), addend: 0, generic: false, shift: 0 },
            InitialTerm::Generic(inner) => match self.constant(inner)? {
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

/// Integers in an initialiser of floats are numbers, not bits.
fn float_of_integer(value: u64, bits: u32) -> u64 {
    convert_float((value.cast_signed() as f64).to_bits(), 64, bits)
}
