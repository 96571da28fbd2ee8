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
static OTHER_SPECIAL: &[(&str, u32)] = &[
    ("%nwarpid", 32),
    ("%smid", 32),
    ("%nsmid", 32),
    ("%gridid", 64),
    ("%is_explicit_cluster", 1),
    ("%clusterid.x", 32),
    ("%clusterid.y", 32),
    ("%clusterid.z", 32),
    ("%clusterid.w", 32),
    ("%nclusterid.x", 32),
    ("%nclusterid.y", 32),
    ("%nclusterid.z", 32),
    ("%nclusterid.w", 32),
    ("%cluster_ctaid.x", 32),
    ("%cluster_ctaid.y", 32),
    ("%cluster_ctaid.z", 32),
    ("%cluster_ctaid.w", 32),
    ("%cluster_nctaid.x", 32),
    ("%cluster_nctaid.y", 32),
    ("%cluster_nctaid.z", 32),
    ("%cluster_nctaid.w", 32),
    ("%cluster_ctarank", 32),
    ("%cluster_nctarank", 32),
    ("%lanemask_eq", 32),
    ("%lanemask_le", 32),
    ("%lanemask_lt", 32),
    ("%lanemask_ge", 32),
    ("%lanemask_gt", 32),
    ("%clock", 32),
    ("%clock_hi", 32),
    ("%clock64", 64),
    ("%globaltimer", 64),
    ("%globaltimer_lo", 32),
    ("%globaltimer_hi", 32),
    ("%reserved_smem_offset_begin", 32),
    ("%reserved_smem_offset_end", 32),
    ("%reserved_smem_offset_cap", 32),
    ("%reserved_smem_offset_0", 32),
    ("%reserved_smem_offset_1", 32),
    ("%total_smem_size", 32),
    ("%aggr_smem_size", 32),
    ("%dynamic_smem_size", 32),
    ("%current_graph_exec", 64),
    ("%pm0", 32),
    ("%pm1", 32),
    ("%pm2", 32),
    ("%pm3", 32),
    ("%pm4", 32),
    ("%pm5", 32),
    ("%pm6", 32),
    ("%pm7", 32),
    ("%pm0_64", 64),
    ("%pm1_64", 64),
    ("%pm2_64", 64),
    ("%pm3_64", 64),
    ("%pm4_64", 64),
    ("%pm5_64", 64),
    ("%pm6_64", 64),
    ("%pm7_64", 64),
    ("%envreg0", 32),
    ("%envreg1", 32),
    ("%envreg2", 32),
    ("%envreg3", 32),
    ("%envreg4", 32),
    ("%envreg5", 32),
    ("%envreg6", 32),
    ("%envreg7", 32),
    ("%envreg8", 32),
    ("%envreg9", 32),
    ("%envreg10", 32),
    ("%envreg11", 32),
    ("%envreg12", 32),
    ("%envreg13", 32),
    ("%envreg14", 32),
    ("%envreg15", 32),
    ("%envreg16", 32),
    ("%envreg17", 32),
    ("%envreg18", 32),
    ("%envreg19", 32),
    ("%envreg20", 32),
    ("%envreg21", 32),
    ("%envreg22", 32),
    ("%envreg23", 32),
    ("%envreg24", 32),
    ("%envreg25", 32),
    ("%envreg26", 32),
    ("%envreg27", 32),
    ("%envreg28", 32),
    ("%envreg29", 32),
    ("%envreg30", 32),
    ("%envreg31", 32),
];

impl OtherRegister {
    /// Name with `%`, as written.
    pub(crate) fn name(self) -> &'static str {
        OTHER_SPECIAL[usize::from(self.0)].0
    }

    /// Width in bits.
    pub(crate) fn bits(self) -> u32 {
        OTHER_SPECIAL[usize::from(self.0)].1
    }
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
            let is_it = |(other, _): &(&str, u32)| other.strip_prefix(name).is_some_and(|rest| rest == selector);
            Other(OtherRegister(u16::try_from(OTHER_SPECIAL.iter().position(is_it)?).ok()?))
        }
    };
    Some(Operand::Special(register))
}

/// Width in bits of a special register.
pub(crate) fn special_bits(register: SpecialRegister) -> u32 {
    match register {
        SpecialRegister::Other(register) => register.bits(),
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
        let Some(Operand::Special(SpecialRegister::Other(cluster))) = special_register("%clusterid", ".x") else {
            panic!("no special register")
        };
        assert_eq!((cluster.name(), cluster.bits()), ("%clusterid.x", 32));
        assert_eq!(special_register("%tid", ""), None);
    }
}
