//! What instructions compute, on the bits of their operands.
//!
//! Registers are 64 bits wide here; a narrower value stands in the low bits, zero-extended. Everything
//! is exact as the PTX ISA defines it, except the approximate instructions, which [`approximate`]
//! lists.

pub(crate) mod approximate;
pub(crate) mod atomic;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod packed;

/// The lowest `bits` bits set.
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The lowest `bits` bits read as a two's complement number.
pub(crate) const fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - if bits > 64 { 64 } else { bits };
    ((value << unused) as i64) >> unused
}

/// A number that looks random and depends on both arguments only.
pub const fn hash(seed: u64, value: u64) -> u64 {
    let mut bits = seed ^ value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
