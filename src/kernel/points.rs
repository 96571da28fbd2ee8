//! What a register may hold, as far as addresses are concerned: the lattice of the pointer analysis.
//!
//! A value is a set of alternatives; joining is union. The kinds of alternatives:
//! *regions* (an address of that region, at any offset); a *number* that no pointer is part of ([`Number`]); *opaque* (a
//! sum of 64-bit parameters or loaded values, one of which may be an address); a *field* (bits of a shared address, as matrix
//! descriptors have them); *tainted* (made from pointer bits by other arithmetic); *unknown* (a pointer that may point anywhere). A number that is added to a pointer is an index.

use super::regions::{HeldPlace, ParameterPlace, RegionId};
use std::collections::BTreeSet;

/// A value that may be an address by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Summand {
    /// A 64-bit value of the kernel's parameters that is not known to be a pointer.
    Parameter(ParameterPlace),
    /// A 64-bit value in memory that holds pointers, perhaps.
    Held(HeldPlace),
    /// Loaded from memory, or made by an operation that the analysis does not follow.
    Loaded,
}

/// What a number may be when it is used as an address by itself. Each kind may be what those before it are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Number {
    /// There is no such alternative.
    #[default]
    None,
    /// A small constant: null at most.
    Constant,
    /// Thread ids, parameters and arithmetic of 32 bits.
    Word,
    /// A sum of words, each multiplied once: taken for an index of arrays and no address, which is an assumption.
    Index,
    /// All other arithmetic of 64 bits: perhaps an address that the host gave in two halves.
    Wide,
    /// It depends on what memory holds.
    Data,
}

impl Number {
    /// The sum of two numbers.
    fn add(self, other: Number) -> Number {
        match (self, other) {
            (Number::None, _) | (_, Number::None) => Number::None,
            (Number::Constant, Number::Constant) => Number::Constant,
            _ => self.max(other).max(Number::Index),
        }
    }
}

/// The low 18 bits of an address of shared memory, shifted right by 0 or 4, and numbers: what is made of them changes like the field where the
/// array starts a multiple of 1024 bytes further behind, and nothing is lost above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Field {
    pub(crate) region: RegionId,
    /// The address counts in units of 16 bytes.
    pub(crate) in_units: bool,
}

/// More opaque alternatives than this become one loaded value.
const MAX_OPAQUE: usize = 16;

/// The alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Points {
    /// Regions it may point into.
    pub(crate) regions: BTreeSet<RegionId>,
    /// Sums of values that may be addresses.
    pub(crate) opaque: BTreeSet<BTreeSet<Summand>>,
    /// Parts of addresses it may be.
    pub(crate) fields: BTreeSet<Field>,
    /// There were too many opaque alternatives to tell apart.
    pub(crate) opaque_top: bool,
    /// What it is if it is no address.
    pub(crate) number: Number,
    /// See the module.
    pub(crate) tainted: bool,
    /// See the module.
    pub(crate) unknown: bool,
    /// Went through 32 bits: right modulo 2^32 only.
    pub(crate) narrowed: bool,
    /// May be in the form that `cvta` gives.
    pub(crate) generic: bool,
}

impl Points {
    /// A number of this kind.
    pub(crate) fn number(number: Number) -> Points {
        Points { number, ..Points::default() }
    }

    /// A number that depends on data.
    pub(crate) fn data() -> Points {
        Points::number(Number::Data)
    }

    /// A tainted integer.
    pub(crate) fn tainted() -> Points {
        Points { tainted: true, ..Points::default() }
    }

    /// A pointer to anywhere.
    pub(crate) fn unknown() -> Points {
        Points { unknown: true, ..Points::default() }
    }

    /// A value that may be an address, of unknown origin.
    pub(crate) fn loaded() -> Points {
        Points::opaque(Summand::Loaded)
    }

    /// One opaque value.
    pub(crate) fn opaque(summand: Summand) -> Points {
        Points { opaque: BTreeSet::from([BTreeSet::from([summand])]), ..Points::default() }
    }

    /// An address in a region.
    pub(crate) fn region(region: RegionId) -> Points {
        Points { regions: BTreeSet::from([region]), ..Points::default() }
    }

    /// A constant: small ones are no addresses.
    pub(crate) fn constant(value: u64) -> Points {
        let is_small = (value as i64).unsigned_abs() < 1 << 32;
        Points::number(if is_small { Number::Constant } else { Number::Wide })
    }

    /// Union of alternatives.
    pub(crate) fn join(&self, other: &Points) -> Points {
        let mut opaque: BTreeSet<_> = self.opaque.union(&other.opaque).cloned().collect();
        let opaque_top = self.opaque_top || other.opaque_top || opaque.len() > MAX_OPAQUE;
        if opaque_top {
            opaque = BTreeSet::from([BTreeSet::from([Summand::Loaded])]);
        }
        Points {
            regions: self.regions.union(&other.regions).copied().collect(),
            fields: self.fields.union(&other.fields).copied().collect(),
            opaque,
            opaque_top,
            number: self.number.max(other.number),
            tainted: self.tainted || other.tainted,
            unknown: self.unknown || other.unknown,
            narrowed: self.narrowed || other.narrowed,
            generic: self.generic || other.generic,
        }
    }

    /// The same as the value of a register: a number of 32 bits is a word.
    pub(crate) fn of_width(mut self, bits: u32) -> Points {
        if bits <= 32 && matches!(self.number, Number::Index | Number::Wide) {
            self.number = Number::Word;
        }
        self
    }

    /// Whether it may be a number.
    pub(crate) fn is_number(&self) -> bool {
        self.number != Number::None
    }

    /// Whether it may hold (part of) an address whose region the analysis knew, or did not know.
    pub(crate) fn has_pointer_bits(&self) -> bool {
        !self.regions.is_empty() || !self.fields.is_empty() || self.unknown || self.tainted
    }

    /// The region, if the value is an address of exactly one region.
    pub(crate) fn exact_region(&self) -> Option<RegionId> {
        let other = self.is_number() || self.tainted || self.unknown || !self.opaque.is_empty();
        let other = other || !self.fields.is_empty();
        match (self.regions.len(), other) {
            (1, false) => self.regions.first().copied(),
            _ => None,
        }
    }

    /// Whether it is nothing but parts of addresses.
    pub(crate) fn is_field(&self) -> bool {
        *self == Points { fields: self.fields.clone(), narrowed: self.narrowed, ..Points::default() }
            && !self.fields.is_empty()
    }

    /// Whether it is a number, and certainly no address.
    pub(crate) fn is_plain_number(&self) -> bool {
        self.is_number() && *self == Points { narrowed: self.narrowed, ..Points::number(self.number) }
    }

    /// The region of which it is the address in units of 16 bytes.
    pub(crate) fn exact_unit(&self) -> Option<RegionId> {
        let mut fields = self.fields.iter().filter(|_| self.is_field());
        match (fields.next(), fields.next()) {
            (Some(field), None) if field.in_units => Some(field.region),
            _ => None,
        }
    }

    /// The sum of two values.
    pub(crate) fn add(&self, other: &Points) -> Points {
        if !self.regions.is_empty() && !other.regions.is_empty() {
            return Points::unknown();
        }
        if !self.fields.is_empty() || !other.fields.is_empty() {
            return Points::tainted();
        }
        let both = |f: fn(&Points) -> bool, g: fn(&Points) -> bool| (f(self) && g(other)) || (f(other) && g(self));
        let opaque = |p: &Points| !p.opaque.is_empty();
        let regions = |p: &Points| !p.regions.is_empty();
        let mut sum = Points {
            number: self.number.add(other.number),
            tainted: both(|p| p.tainted, |p| p.is_number() || p.tainted || !p.opaque.is_empty()),
            unknown: both(|p| p.unknown, |_| true) || both(|p| p.tainted, |p| !p.regions.is_empty()),
            narrowed: self.narrowed || other.narrowed,
            generic: self.generic || other.generic,
            opaque_top: self.opaque_top || other.opaque_top,
            ..Points::default()
        };
        for (pointer, index) in [(self, other), (other, self)] {
            if regions(pointer) && (index.is_number() || opaque(index)) {
                sum.regions.extend(&pointer.regions);
            }
            if index.is_number() {
                sum.opaque.extend(pointer.opaque.iter().cloned());
            }
        }
        for a in &self.opaque {
            sum.opaque.extend(other.opaque.iter().map(|b| a.union(b).copied().collect::<BTreeSet<_>>()));
        }
        // Normalises the opaque part.
        sum.join(&Points::default())
    }

    /// The difference; `same_base` tells that the two are addresses of one region in one form, so that
    /// the base cancels and the result is a plain (data-dependent) integer.
    pub(crate) fn sub(&self, other: &Points, same_base: bool) -> Points {
        if same_base {
            return Points::data();
        }
        if !other.regions.is_empty() || !other.fields.is_empty() || other.unknown {
            return Points::tainted();
        }
        let index = Points {
            number: if other.opaque.is_empty() { other.number } else { Number::Data },
            tainted: other.tainted,
            ..Points::default()
        };
        self.add(&index)
    }

    /// Any other arithmetic.
    pub(crate) fn mix(&self, other: &Points) -> Points {
        if self.has_pointer_bits() || other.has_pointer_bits() {
            return Points::tainted();
        }
        let data = |p: &Points| p.number == Number::Data || !p.opaque.is_empty();
        Points::number(if data(self) || data(other) { Number::Data } else { Number::Wide })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: RegionId = RegionId(0);
    const B: RegionId = RegionId(1);

    fn place(offset: i64) -> Points {
        Points::opaque(Summand::Parameter(ParameterPlace { parameter: 0, offset }))
    }

    #[test]
    fn pointer_plus_index_stays_in_its_region() {
        for index in [Points::number(Number::Word), Points::data(), Points::loaded(), place(0)] {
            assert_eq!(Points::region(A).add(&index).exact_region(), Some(A));
            assert_eq!(index.add(&Points::region(A)).exact_region(), Some(A));
        }
    }

    #[test]
    fn a_difference_of_two_arrays_taints() {
        let difference = Points::region(A).sub(&Points::region(B), false);
        assert!(difference.tainted);
        assert!(Points::region(B).add(&difference).unknown);
        assert!(Points::region(B).add(&difference).regions.is_empty());
    }

    #[test]
    fn a_difference_within_one_array_is_an_index() {
        let difference = Points::region(A).sub(&Points::region(A), true);
        assert_eq!(difference, Points::data());
        assert_eq!(Points::region(B).add(&difference).exact_region(), Some(B));
    }

    #[test]
    fn pointer_plus_pointer_and_scaled_pointers_are_no_known_pointer() {
        assert_eq!(Points::region(A).add(&Points::region(B)), Points::unknown());
        assert_eq!(Points::region(A).mix(&Points::number(Number::Word)), Points::tainted());
    }

    #[test]
    fn two_opaque_summands_stay_ambiguous() {
        let sum = place(0).add(&place(8));
        assert_eq!(sum.opaque.len(), 1);
        assert_eq!(sum.opaque.first().map(BTreeSet::len), Some(2));
        let with_loaded = place(0).add(&Points::loaded());
        assert_eq!(with_loaded.opaque.first().map(BTreeSet::len), Some(2));
    }

    #[test]
    fn sums_of_words_are_indices_and_stay_words_in_32_bits() {
        let word = Points::number(Number::Word);
        let sum = word.add(&Points::constant(4));
        assert_eq!(sum.number, Number::Index);
        assert_eq!(sum.clone().of_width(32).number, Number::Word);
        assert_eq!(sum.mix(&word).of_width(64).number, Number::Wide);
        assert_eq!(Points::constant(8).add(&Points::constant(4)).number, Number::Constant);
    }

    #[test]
    fn joins_keep_every_alternative() {
        let joined = Points::region(A).join(&Points::region(B)).join(&Points::loaded());
        assert_eq!(joined.regions.len(), 2);
        assert!(joined.exact_region().is_none());
        let moved = joined.add(&Points::number(Number::Word));
        assert_eq!(moved.regions.len(), 2);
        assert_eq!(moved.opaque.len(), 1);
    }
}
