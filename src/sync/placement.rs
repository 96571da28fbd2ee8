//! Where shared variables are placed, and what is made of the bits of their addresses.
//!
//! Input: a function that is computed next, some of whose operands are parts of addresses. Output: what its result is of an
//! address. Establishes: the function was evaluated for every place that the variable may have, and its result is there a
//! number, or a part of the address plus a number, which is the same for all of them. So swizzles by `xor`, rounding up, matrix
//! descriptors and differences of pointers are followed without a rule for each. Relies on: the address of a variable is
//! a multiple of its alignment, and the variable lies in the first 2^18 bytes ("matrix descriptors" have no more; in a cluster
//! the rank of the block stands above bit 24). Where a variable is the only one, that it starts at a multiple of
//! [`START`] is an assumption, printed where it was used. Reference: PTX ISA, "State Spaces", "Matrix Descriptor Format".

use super::follow::{Flow, Refusal, What};
use super::own::Own;
use super::taint::{Cause, FIELD_BITS, Open, Part, Placed, Taint};
use crate::exec::decode::{FLAT_START, Place, Program, SharedVariable, Slot, shared_address};
use crate::exec::thread::Thread;
use crate::exec::values::mask;
use crate::ptx::descriptor;
use foldhash::HashMap;

/// Where shared memory starts: at a multiple of so many bytes.
const START: u64 = 1024;

/// Alignments below it are not looked through.
const LEAST: u64 = 16;

/// Where the rank of a block in its cluster stands in an address of its shared memory, and how many there are.
const RANK: (u32, u64) = (24, 16);

/// Results that are remembered.
const MOST: usize = 1 << 16;

/// What is known of places.
#[derive(Default)]
pub(crate) struct Placements {
    /// What functions made of addresses, by instruction and operands.
    known: HashMap<Asked, Option<Made>>,
    /// It was assumed that shared memory starts at a multiple of [`START`].
    pub(crate) assumes_start: bool,
}

/// An instruction, which of its results, and its operands.
pub(crate) type Asked = (u32, u8, Vec<(u64, Option<Placed>)>);

/// What a function makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    /// The part of the address; `None`: a number.
    part: Option<Part>,
    /// Whether it was looked for only where shared memory starts at a multiple of [`START`].
    assumes_start: bool,
}

/// A place that a variable may have: the bits of a field, and those above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    low: u64,
    high: u64,
}

impl Spot {
    fn of(address: u64) -> Spot {
        let low = address & mask(FIELD_BITS);
        Spot { low, high: address - low }
    }

    fn part(self, part: Part) -> u64 {
        match part {
            Part::Whole(shift) => shifted(self.high + self.low, shift),
            Part::Field(shift) => shifted(self.low, shift),
        }
    }
}

/// Right, or left if it is negative.
fn shifted(value: u64, right: i8) -> u64 {
    if right < 0 { value << -right } else { value >> right }
}

impl Placements {
    /// What a function makes of numbers and parts of the address of a variable: a part of it, plus the number that the result has
    /// where the decoder placed it; or a number alone. `None`: that depends on where it is placed.
    pub(crate) fn made(
        &mut self,
        program: &Program,
        number: u16,
        asked: Asked,
        function: &dyn Fn(&[u64]) -> u64,
    ) -> Option<Option<Part>> {
        let made = match self.known.get(&asked) {
            Some(made) => *made,
            None => {
                let made = make(program, number, &asked.2, function);
                if self.known.len() >= MOST {
                    self.known.clear();
                }
                self.known.insert(asked, made);
                made
            }
        };
        self.assumes_start |= made?.assumes_start;
        Some(made?.part)
    }

    /// Whether a variable starts at a multiple of so many bytes; it may be assumed.
    pub(crate) fn is_aligned(&mut self, program: &Program, number: u16, bytes: u64) -> bool {
        if declared(program, number) >= bytes {
            return true;
        }
        let is_assumed = is_alone(program, number) && bytes <= START;
        self.assumes_start |= is_assumed;
        is_assumed
    }
}

fn make(
    program: &Program,
    number: u16,
    operands: &[(u64, Option<Placed>)],
    function: &dyn Fn(&[u64]) -> u64,
) -> Option<Made> {
    let declared = declared(program, number);
    let assumes_start = declared < START && is_alone(program, number);
    let align = if assumes_start { START } else { declared };
    let part = if align < LEAST { None } else { made_at(program, number, align, operands, function) };
    Some(Made { part: part?, assumes_start })
}

/// The alignment of a variable.
fn declared(program: &Program, number: u16) -> u64 {
    u64::from(program.shared[usize::from(number)].align)
}

/// Whether there is no other variable in shared memory.
fn is_alone(program: &Program, number: u16) -> bool {
    let others = (0..).zip(&program.shared).filter(|(other, _)| *other != usize::from(number));
    others.into_iter().all(|(_, other)| other.size == 0)
}

/// Where a variable starts, as the decoder placed it.
pub(crate) fn start(program: &Program, number: u16) -> u64 {
    match program.is_flat {
        true => FLAT_START + u64::from(program.shared[usize::from(number)].offset),
        false => shared_address(u64::from(number)),
    }
}

/// What the function makes of the address of a variable that has this alignment.
fn made_at(
    program: &Program,
    number: u16,
    align: u64,
    operands: &[(u64, Option<Placed>)],
    function: &dyn Fn(&[u64]) -> u64,
) -> Option<Option<Part>> {
    let variable = &program.shared[usize::from(number)];
    let size = u64::from(variable.size);
    let here = Spot::of(start(program, number));
    // How far behind the start of the variable the operands are.
    let behind = operands.iter().filter_map(|(value, placed)| {
        let part = placed.as_ref()?.part;
        let added = value.wrapping_sub(here.part(part));
        Some(match part {
            Part::Whole(shift) => shifted(added, -shift),
            Part::Field(shift) => shifted(added, -shift) & mask(FIELD_BITS),
        })
    });
    let last = mask(FIELD_BITS).checked_sub(behind.max()?)? / align * align;
    // Numbers that are added, if nothing overflows for any place.
    let added: Vec<(u64, Option<Part>)> = operands
        .iter()
        .map(|(value, placed)| {
            let Some(Placed { part, .. }) = placed else { return Some((*value, None)) };
            let added = value.checked_sub(here.part(*part))?;
            let greatest = added.checked_add(Spot { low: last, high: 0 }.part(*part))?;
            let fits = match part {
                Part::Whole(0) => added <= size,
                Part::Whole(_) | Part::Field(_) => *value > mask(32) || greatest <= mask(32),
            };
            fits.then_some((added, Some(*part)))
        })
        .collect::<Option<_>>()?;
    let mut values = vec![0; added.len()];
    let mut at = |spot: Spot| {
        for (value, (number, part)) in values.iter_mut().zip(&added) {
            *value = number + part.map_or(0, |part| spot.part(part));
        }
        function(&values)
    };
    let result = at(here);
    let moved = at(Spot { low: align, high: 0 }).wrapping_sub(at(Spot { low: 0, high: 0 }));
    let bits = align.trailing_zeros() as i8;
    let shift = if moved.is_power_of_two() && last >= align { bits - moved.trailing_zeros() as i8 } else { 0 };
    let ranks = if program.ranks > 1 { RANK.1 } else { 1 };
    let spots = || {
        (0..ranks).flat_map(|rank| (0..=last / align).map(move |step| Spot { low: step * align, high: rank << RANK.0 }))
    };
    // What is shifted goes into a field, beside which there may be others.
    let mut candidates = [None, Some(Part::Whole(shift)), Some(Part::Field(shift))];
    if shift != 0 {
        candidates.swap(1, 2);
    }
    let mut is_alike = [true; 3];
    for spot in spots() {
        let other = at(spot).wrapping_sub(result);
        for (is_alike, part) in is_alike.iter_mut().zip(candidates) {
            let moved = part.map_or(0, |part| spot.part(part).wrapping_sub(here.part(part)));
            *is_alike &= other == moved;
        }
        if is_alike == [false; 3] {
            return None;
        }
    }
    candidates.into_iter().zip(is_alike).find_map(|(part, is_alike)| is_alike.then_some(part))
}

impl Flow<'_> {
    /// Where a variable starts in the shared memory of a block, and its bytes.
    pub(super) fn extent(&self, number: u16) -> (u32, u32) {
        let SharedVariable { offset, size, .. } = self.program.shared[usize::from(number)];
        (offset, size)
    }

    /// Whether a byte of the shared memory of a cluster is one of this variable.
    pub(super) fn is_in(&self, number: u16, offset: u32) -> bool {
        let (start, size) = self.extent(number);
        (offset % self.program.shared_size).checked_sub(start).is_some_and(|within| within < size)
    }

    /// The value of a function of these slots, the result with this number of the instruction.
    pub(super) fn computed(
        &mut self,
        (thread, own): (&Thread, &Own),
        (at, result): (u32, u8),
        slots: &[Slot],
        function: &dyn Fn(&[u64]) -> u64,
    ) -> Taint {
        let mixed = slots.iter().fold(Taint::FIXED, |all, slot| all.mixed(own.get(*slot), at));
        if !matches!(mixed.open, Some(Open { cause: Cause::Placement, code }) if code == at) {
            return mixed;
        }
        let is_open = slots.iter().any(|slot| own.get(*slot).is_open());
        let mut places = slots.iter().filter_map(|slot| own.get(*slot).place);
        let Some(Placed { place: place @ Place::Shared(number), .. }) = places.next().filter(|_| !is_open) else {
            return mixed;
        };
        if places.any(|other| other.place != place) {
            return mixed;
        }
        let operands: Vec<_> = slots.iter().map(|slot| (thread.value(*slot), own.get(*slot).place)).collect();
        let Some(part) = self.placements.made(self.program, number, (at, result, operands), function) else {
            return mixed;
        };
        // It was looked at for the numbers of this block alone.
        let by_block = mixed.by_block.cut();
        Taint { open: None, place: part.map(|part| Placed { place, part }), chosen: mixed.chosen, by_block }
    }

    /// Swizzles of this period look at the address of a place in a variable.
    pub(super) fn need_alignment(&mut self, place: Option<Place>, bytes: u64, at: u32) -> Result<(), Refusal> {
        let Some(Place::Shared(number)) = place else { return Ok(()) };
        if self.placements.is_aligned(self.program, number, bytes) {
            return Ok(());
        }
        let open = Some(Open { cause: Cause::Placement, code: at });
        Err(Refusal { code: at, what: What::Address, open })
    }

    /// A product of matrices reads what its descriptors name.
    pub(super) fn product(&mut self, thread: &Thread, own: &Own, (at, index): (u32, u32)) -> Result<(), Refusal> {
        let product = &self.program.products[index as usize];
        for (slot, ..) in [product.a, Some(product.b)].into_iter().flatten() {
            self.descriptor(own.get(slot), descriptor::place(thread.value(slot)), at)?;
        }
        Ok(())
    }

    /// Where the matrix of a descriptor starts, and the period of its swizzle, is that of a variable. `None`: the emulator refuses it.
    pub(super) fn descriptor(&mut self, taint: Taint, found: Option<(u64, u64)>, at: u32) -> Result<(), Refusal> {
        self.need(Taint { place: None, ..taint }, What::Address, at)?;
        let Some((start, period)) = found else { return Ok(()) };
        let offset = start.wrapping_sub(FLAT_START) as u32;
        match taint.place {
            Some(Placed { place: place @ Place::Shared(number), part: Part::Whole(4) | Part::Field(4) })
                if self.is_in(number, offset) =>
            {
                self.need_alignment(Some(place), period, at)
            }
            _ => Err(Refusal { code: at, what: What::NoVariable, open: None }),
        }
    }
}
