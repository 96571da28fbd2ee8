//! The closed vocabularies of PTX: types, special registers, number literals.
//!
//! Reference: PTX ISA, chapters "State Spaces, Types, and Variables", "Special Registers" and
//! section "Constants".

use super::ast::{Operand, OtherRegister, ScalarType, SpecialRegister};
use crate::geometry::Axis;

/// Packed and alternate formats by name, with their widths in bits.
const PACKED: &[(&str, u32)] = &[
    ("bf16", 16),
    ("bf16x2", 32),
    ("e2m1x2", 8),
    ("e2m1x4", 16),
    ("e2m3x2", 16),
    ("e2m3x4", 32),
    ("e3m2x2", 16),
    ("e3m2x4", 32),
    ("e4m3", 8),
    ("e4m3x2", 16),
    ("e4m3x4", 32),
    ("e5m2", 8),
    ("e5m2x2", 16),
    ("e5m2x4", 32),
    ("f16x2", 32),
    ("f32x2", 64),
    ("s16x2", 32),
    ("s2f6x2", 16),
    ("s8x4", 32),
    ("tf32", 32),
    ("u16x2", 32),
    ("u8x4", 32),
    ("ue8m0x2", 16),
];

/// A packed or alternate format: where it stands in [`PACKED`]. Types are in every instruction, so they are small.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedFormat(u8);

impl PackedFormat {
    fn named(name: &str) -> Option<PackedFormat> {
        let index = PACKED.binary_search_by_key(&name, |(packed, _)| packed).ok()?;
        Some(PackedFormat(index as u8))
    }

    /// Name as written, without the dot.
    pub(crate) fn name(self) -> &'static str {
        PACKED[usize::from(self.0)].0
    }

    /// Width of the whole value in bits.
    pub(crate) fn bits(self) -> u32 {
        PACKED[usize::from(self.0)].1
    }
}

impl std::fmt::Debug for PackedFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of that name (without the dot).
pub(crate) fn scalar_type(name: &str) -> Option<ScalarType> {
    use ScalarType::{B, F, Packed, Pred, S, U};
    Some(match name {
        "pred" => Pred,
        "b8" => B(8),
        "b16" => B(16),
        "b32" => B(32),
        "b64" => B(64),
        "b128" => B(128),
        "u8" => U(8),
        "u16" => U(16),
        "u32" => U(32),
        "u64" => U(64),
        "s8" => S(8),
        "s16" => S(16),
        "s32" => S(32),
        "s64" => S(64),
        "f16" => F(16),
        "f32" => F(32),
        "f64" => F(64),
        // Handles of textures: opaque, only texture instructions and `mov` take them.
        "texref" | "samplerref" | "surfref" => B(64),
        _ => Packed(PackedFormat::named(name)?),
    })
}

/// The name of a type, without the dot.
pub(crate) fn type_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Pred => "pred".to_string(),
        ScalarType::B(bits) => format!("b{bits}"),
        ScalarType::U(bits) => format!("u{bits}"),
        ScalarType::S(bits) => format!("s{bits}"),
        ScalarType::F(bits) => format!("f{bits}"),
        ScalarType::Packed(format) => format.name().to_string(),
    }
}

/// Special registers whose value is arbitrary at each read, with their widths in bits.
static OTHER_SPECIAL: &[OtherRegister] = &[
    other("%nwarpid", 32),
    other("%smid", 32),
    other("%nsmid", 32),
    other("%gridid", 64),
    other("%is_explicit_cluster", 1),
    other("%clusterid.x", 32),
    other("%clusterid.y", 32),
    other("%clusterid.z", 32),
    other("%clusterid.w", 32),
    other("%nclusterid.x", 32),
    other("%nclusterid.y", 32),
    other("%nclusterid.z", 32),
    other("%nclusterid.w", 32),
    other("%cluster_ctaid.x", 32),
    other("%cluster_ctaid.y", 32),
    other("%cluster_ctaid.z", 32),
    other("%cluster_ctaid.w", 32),
    other("%cluster_nctaid.x", 32),
    other("%cluster_nctaid.y", 32),
    other("%cluster_nctaid.z", 32),
    other("%cluster_nctaid.w", 32),
    other("%cluster_ctarank", 32),
    other("%cluster_nctarank", 32),
    other("%lanemask_eq", 32),
    other("%lanemask_le", 32),
    other("%lanemask_lt", 32),
    other("%lanemask_ge", 32),
    other("%lanemask_gt", 32),
    other("%clock", 32),
    other("%clock_hi", 32),
    other("%clock64", 64),
    other("%globaltimer", 64),
    other("%globaltimer_lo", 32),
    other("%globaltimer_hi", 32),
    other("%reserved_smem_offset_begin", 32),
    other("%reserved_smem_offset_end", 32),
    other("%reserved_smem_offset_cap", 32),
    other("%reserved_smem_offset_0", 32),
    other("%reserved_smem_offset_1", 32),
    other("%total_smem_size", 32),
    other("%aggr_smem_size", 32),
    other("%dynamic_smem_size", 32),
    other("%current_graph_exec", 64),
    other("%pm0", 32),
    other("%pm1", 32),
    other("%pm2", 32),
    other("%pm3", 32),
    other("%pm4", 32),
    other("%pm5", 32),
    other("%pm6", 32),
    other("%pm7", 32),
    other("%pm0_64", 64),
    other("%pm1_64", 64),
    other("%pm2_64", 64),
    other("%pm3_64", 64),
    other("%pm4_64", 64),
    other("%pm5_64", 64),
    other("%pm6_64", 64),
    other("%pm7_64", 64),
    other("%envreg0", 32),
    other("%envreg1", 32),
    other("%envreg2", 32),
    other("%envreg3", 32),
    other("%envreg4", 32),
    other("%envreg5", 32),
    other("%envreg6", 32),
    other("%envreg7", 32),
    other("%envreg8", 32),
    other("%envreg9", 32),
    other("%envreg10", 32),
    other("%envreg11", 32),
    other("%envreg12", 32),
    other("%envreg13", 32),
    other("%envreg14", 32),
    other("%envreg15", 32),
    other("%envreg16", 32),
    other("%envreg17", 32),
    other("%envreg18", 32),
    other("%envreg19", 32),
    other("%envreg20", 32),
    other("%envreg21", 32),
    other("%envreg22", 32),
    other("%envreg23", 32),
    other("%envreg24", 32),
    other("%envreg25", 32),
    other("%envreg26", 32),
    other("%envreg27", 32),
    other("%envreg28", 32),
    other("%envreg29", 32),
    other("%envreg30", 32),
    other("%envreg31", 32),
];

const fn other(name: &'static str, bits: u32) -> OtherRegister {
    OtherRegister { name, bits }
}

/// The special register `name` + `selector` (`%tid` and `.x`); the unused fourth element `.w` of
/// the four id vectors is always zero.
pub(crate) fn special_register(name: &str, selector: &str) -> Option<Operand> {
    use SpecialRegister::{Ctaid, LaneId, Nctaid, Ntid, Other, Tid, WarpId, WarpSize};
    let axis: Option<fn(Axis) -> SpecialRegister> = match name {
        "%tid" => Some(Tid),
        "%ntid" => Some(Ntid),
        "%ctaid" => Some(Ctaid),
        "%nctaid" => Some(Nctaid),
        _ => None,
    };
    if let Some(axis) = axis {
        return match selector {
            ".w" => Some(Operand::Integer(0)),
            _ => Axis::named(selector.strip_prefix('.')?).map(|of| Operand::Special(axis(of))),
        };
    }
    let register = match (name, selector) {
        ("%laneid", "") => LaneId,
        ("%warpid", "") => WarpId,
        ("WARP_SZ", "") => WarpSize,
        _ => {
            let is_it = |other: &&OtherRegister| other.name.strip_prefix(name).is_some_and(|rest| rest == selector);
            Other(OTHER_SPECIAL.iter().find(is_it)?)
        }
    };
    Some(Operand::Special(register))
}

/// Width in bits of a special register.
pub(crate) fn special_bits(register: SpecialRegister) -> u32 {
    match register {
        SpecialRegister::Other(register) => register.bits,
        _ => 32,
    }
}

/// The value of an integer literal: decimal, octal (`017`), hexadecimal or binary, with or without
/// a final `U`. `None` if it does not fit 64 bits or has a wrong digit.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (digits, 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

/// A float literal: bits and width. Decimal literals are 64 bits wide.
pub(crate) fn float(text: &str) -> Option<(u64, u32)> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => Some((u64::from_str_radix(&text[2..], 16).ok()?, 32)),
        [b'0', b'd' | b'D', ..] => Some((u64::from_str_radix(&text[2..], 16).ok()?, 64)),
        _ => Some((text.parse::<f64>().ok()?.to_bits(), 64)),
    }
}

/// The same value in the other width (round to nearest), as float constants take the width of the
/// instruction's type.
pub(crate) fn convert_float(bits: u64, from: u32, to: u32) -> u64 {
    match (from, to) {
        // Lossless, and hexadecimal constants are kept bit for bit when the width agrees.
        (32, 64) => f64::from(f32::from_bits(bits as u32)).to_bits(),
        (64, 32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        _ => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        assert_eq!(integer("0x1FU"), Some(31));
        assert_eq!(integer("017"), Some(15));
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("0b101"), Some(5));
        assert_eq!(integer("18446744073709551616"), None);
        assert_eq!(integer("089"), None);
        assert_eq!(float("0f3F800000"), Some((0x3F80_0000, 32)));
        assert_eq!(float("1.5"), Some((1.5f64.to_bits(), 64)));
        assert_eq!(convert_float(1.5f64.to_bits(), 64, 32), u64::from(1.5f32.to_bits()));
    }

    #[test]
    fn packed_formats() {
        assert!(PACKED.is_sorted());
        for (name, bits) in PACKED {
            let ty = scalar_type(name);
            assert_eq!((ty.and_then(ScalarType::packed), ty.map(ScalarType::bits)), (Some(*name), Some(*bits)));
        }
    }

    #[test]
    fn specials() {
        assert_eq!(special_register("%tid", ".y"), Some(Operand::Special(SpecialRegister::Tid(Axis::Y))));
        assert_eq!(special_register("%ctaid", ".w"), Some(Operand::Integer(0)));
        let cluster = SpecialRegister::Other(&OtherRegister { name: "%clusterid.x", bits: 32 });
        assert_eq!(special_register("%clusterid", ".x"), Some(Operand::Special(cluster)));
        assert_eq!(special_register("%tid", ""), None);
    }
}
