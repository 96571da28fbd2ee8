//! Where values come from.
//!
//! Input: plain data. Output: [`Taint`], that of a value, and [`Byte`], that of a byte in memory. Establishes: a value
//! without [`Taint::is_open`] is the same in every execution of the launch with these scalars, but for where arrays and
//! variables are placed: [`Taint::place`] says that it is such an address, or bits of one, plus a number that is the same. Relies on: nothing.
//! Reference: Denning and Denning, "Certification of Programs for Secure Information Flow" (the lattice).

use crate::exec::decode::Place;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint {
    /// Why another execution may have another value.
    pub(crate) open: Option<Open>,
    /// It is that much of an address, plus a number that is not open.
    pub(crate) place: Option<Placed>,
    /// Scalars that the tool chose and on which it depends, one bit a parameter.
    pub(crate) chosen: u64,
    /// How it differs in other blocks. Nothing is said where it is open.
    pub(crate) by_block: ByBlock,
}

/// How a value differs in blocks of equal behaviour: an entry of [`Differences`](super::alike::differences::Differences).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ByBlock(pub(crate) u16);

impl ByBlock {
    /// It is the same in all of them.
    pub(crate) const SAME: ByBlock = ByBlock(0);
    /// A function of values that differ: to be computed, or unknown.
    pub(crate) const PENDING: ByBlock = ByBlock(u16::MAX - 1);
    /// Nobody knows how it differs.
    pub(crate) const UNKNOWN: ByBlock = ByBlock(u16::MAX);

    /// Whether nobody knows how it differs.
    pub(super) fn is_lost(self) -> bool {
        matches!(self, ByBlock::PENDING | ByBlock::UNKNOWN)
    }

    /// That of a part of the value.
    pub(super) fn cut(self) -> ByBlock {
        if self == ByBlock::SAME { ByBlock::SAME } else { ByBlock::UNKNOWN }
    }

    /// That of a function of two values.
    pub(super) fn mixed(self, other: ByBlock) -> ByBlock {
        match (self, other) {
            (ByBlock::SAME, ByBlock::SAME) => ByBlock::SAME,
            (ByBlock::UNKNOWN, _) | (_, ByBlock::UNKNOWN) => ByBlock::UNKNOWN,
            _ => ByBlock::PENDING,
        }
    }
}

/// What a value has of the address of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Placed {
    pub(crate) place: Place,
    pub(crate) part: Part,
}

/// How much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// All of it, shifted right by so many bits, which are zeros.
    Whole(i8),
    /// Of the address of a shared variable the low [`FIELD_BITS`], shifted likewise.
    Field(i8),
}

/// Bits in which an address of the shared memory of one block fits ("the `matrix-descriptor`": 18).
pub(crate) const FIELD_BITS: u32 = 18;

/// Why a value may be another one in another execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// What is not fixed.
    pub(crate) cause: Cause,
    /// The instruction that brought it in; `u32::MAX` where none did.
    pub(crate) code: u32,
}

/// What a launch does not fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// What memory holds that no barrier makes certain: before the launch, before it is written, or while others write.
    Memory,
    /// A register that was not written.
    Register,
    /// The result of an atomic operation.
    Atomic,
    /// What lanes of a warp give each other.
    Warp,
    /// What the ISA leaves open, or what is not computed here.
    Unspecified,
    /// Floating-point arithmetic.
    Float,
    /// Where an array or a variable is placed.
    Placement,
    /// A size of the launch, or a cluster, that is not given.
    Size,
    /// How often a wait is asked before it says `true`.
    Spin,
}

impl Cause {
    /// A noun for it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Cause::Memory => "what memory holds there",
            Cause::Register => "a register that was not written",
            Cause::Atomic => "the result of an atomic operation",
            Cause::Warp => "what another lane gives",
            Cause::Unspecified => "a value that the ISA leaves open",
            Cause::Float => "floating-point arithmetic",
            Cause::Placement => "the place of an array or a variable",
            Cause::Size => "a size or a cluster that the launch does not give here",
            Cause::Spin => "how often a wait is asked",
        }
    }
}

impl Taint {
    /// Fixed by the launch.
    pub(crate) const FIXED: Taint = Taint { open: None, place: None, chosen: 0, by_block: ByBlock::SAME };

    /// A value that is open, brought in by an instruction.
    pub(crate) fn open(cause: Cause, code: u32) -> Taint {
        Taint { open: Some(Open { cause, code }), ..Taint::FIXED }
    }

    /// An address of a place.
    pub(crate) fn address(place: Place) -> Taint {
        Taint { place: Some(Placed { place, part: Part::Whole(0) }), ..Taint::FIXED }
    }

    /// The place of which it is a whole address.
    pub(crate) fn pointee(self) -> Option<Place> {
        self.place.filter(|placed| placed.part == Part::Whole(0)).map(|placed| placed.place)
    }

    /// Whether another execution may have another value.
    pub(crate) fn is_open(self) -> bool {
        self.open.is_some()
    }

    /// The value of a function of which nothing is known: it depends on all of each operand.
    pub(crate) fn mixed(self, other: Taint, code: u32) -> Taint {
        let placed = |taint: Taint| taint.place.map(|_| Open { cause: Cause::Placement, code });
        let open = self.open.or(other.open).or_else(|| placed(self)).or_else(|| placed(other));
        let by_block = self.by_block.mixed(other.by_block);
        Taint { open, place: None, chosen: self.chosen | other.chosen, by_block }
    }

    /// A value that is one or the other, or both where they are alike.
    pub(crate) fn joined(self, other: Taint, code: u32) -> Taint {
        match self.place == other.place {
            true => {
                let by_block = if self.by_block == other.by_block { self.by_block } else { ByBlock::UNKNOWN };
                Taint { open: self.open.or(other.open), chosen: self.chosen | other.chosen, by_block, ..self }
            }
            false => self.mixed(other, code),
        }
    }

    /// The sum of two values, modulo 2 to the power of so many bits.
    pub(crate) fn sum(self, other: Taint, (bits, address_bits): (u32, u32), code: u32) -> Taint {
        let place = match (self.place, other.place) {
            (Some(place), None) | (None, Some(place)) if keeps(place, bits, address_bits) => Some(place),
            _ => return self.mixed(other, code),
        };
        let by_block = self.by_block.mixed(other.by_block);
        Taint { open: self.open.or(other.open), place, chosen: self.chosen | other.chosen, by_block }
    }

    /// What a function of it makes that keeps its place.
    pub(super) fn through(self) -> Taint {
        Taint { by_block: self.by_block.mixed(ByBlock::SAME), ..self }
    }

    /// This value, one of two, where it differs by block which of them it is.
    pub(super) fn either(self, a: Taint, b: Taint) -> Taint {
        let is_alike = !a.is_open() && !b.is_open() && a.place == b.place;
        let by_block = if is_alike { ByBlock::PENDING } else { ByBlock::UNKNOWN };
        Taint { chosen: self.chosen | a.chosen | b.chosen, by_block, ..self }
    }

    /// The low 32 bits.
    pub(crate) fn low(self, address_bits: u32, code: u32) -> Taint {
        match self.place {
            Some(place) if keeps(place, 32, address_bits) => self.through(),
            _ => self.mixed(Taint::FIXED, code),
        }
    }
}

/// Whether so many bits are all of an address. Those of shared memory and of parameters have 32; what stands above is not looked
/// at.
fn keeps(placed: Placed, bits: u32, address_bits: u32) -> bool {
    match placed {
        Placed { part: Part::Whole(shift) | Part::Field(shift), .. } if shift != 0 => {
            i64::from(bits) >= 32 - i64::from(shift.min(0))
        }
        Placed { place: Place::Shared(_) | Place::Param | Place::Tensor(_), .. } => bits >= 32,
        Placed { place: Place::State, .. } => false,
        _ => bits >= address_bits,
    }
}

/// A byte in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Byte {
    /// Of the value that it is a part of.
    pub(crate) taint: Taint,
    /// Which byte of it.
    part: u8,
    /// How many it has.
    of: u8,
}

impl Byte {
    /// The bytes of a value.
    pub(crate) fn all(taint: Taint, count: u32) -> impl Iterator<Item = Byte> {
        (0..count).map(move |part| Byte { taint, part: part as u8, of: count as u8 })
    }

    /// A byte of which another execution may have another value.
    pub(crate) fn open(cause: Cause) -> Byte {
        Byte { taint: Taint::open(cause, u32::MAX), part: 0, of: 1 }
    }

    /// The value that these bytes are; an instruction reads them.
    pub(crate) fn value(bytes: &[Byte], code: u32) -> Taint {
        let mut taint = bytes.first().map_or(Taint::FIXED, |byte| byte.taint);
        let count = bytes.len();
        let is_whole = |(at, byte): (usize, &Byte)| {
            usize::from(byte.part) == at && usize::from(byte.of) == count && byte.taint.place == taint.place
        };
        let is_one = bytes.iter().enumerate().all(is_whole);
        let place = taint.place.filter(|_| count >= 4 && is_one);
        let is_alike = is_one && bytes.iter().all(|byte| byte.taint.by_block == taint.by_block);
        let by_block = taint.by_block;
        for byte in bytes {
            taint = match place {
                Some(_) => {
                    let by_block = taint.by_block.mixed(byte.taint.by_block);
                    let (open, chosen) = (taint.open.or(byte.taint.open), taint.chosen | byte.taint.chosen);
                    Taint { open, place, chosen, by_block }
                }
                None => taint.mixed(byte.taint, code),
            };
        }
        if is_alike {
            taint.by_block = by_block;
        }
        // What memory holds is told by who reads it.
        let named = |open: Open| if open.code == u32::MAX { Open { code, ..open } } else { open };
        Taint { open: taint.open.map(named), ..taint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTER: Taint = Taint { place: Some(Placed { place: Place::Global, part: Part::Whole(0) }), ..Taint::FIXED };

    #[test]
    fn an_address_plus_a_number_is_an_address_and_nothing_else_is() {
        assert_eq!(POINTER.sum(Taint::FIXED, (64, 64), 1), POINTER);
        assert!(POINTER.sum(POINTER, (64, 64), 1).is_open());
        assert!(POINTER.sum(Taint::FIXED, (32, 64), 1).is_open());
        assert!(POINTER.mixed(Taint::FIXED, 1).is_open());
        assert!(POINTER.low(64, 1).is_open());
        let shared = Taint::address(Place::Shared(0));
        assert_eq!(shared.low(64, 1), shared);
        assert!(shared.sum(Taint::FIXED, (16, 64), 1).is_open());
    }

    #[test]
    fn an_address_in_memory_is_read_back_whole() {
        let bytes: Vec<Byte> = Byte::all(POINTER, 8).collect();
        assert_eq!(Byte::value(&bytes, 1), POINTER);
        assert!(Byte::value(&bytes[..4], 1).is_open());
        let swapped: Vec<Byte> = bytes[4..].iter().chain(&bytes[..4]).copied().collect();
        assert!(Byte::value(&swapped, 1).is_open());
        assert!(!Byte::value(&Byte::all(Taint::FIXED, 8).collect::<Vec<_>>()[2..4], 1).is_open());
    }
}
