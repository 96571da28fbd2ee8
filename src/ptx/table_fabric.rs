//! Table rows: operations on the memory of other GPUs through the fabric that connects them.
//!
//! They are asynchronous, name memory by a logical endpoint and an offset in it, and report through mbarriers; none
//! of this has a model, so they are refused. The pattern language is explained in [`super::pattern`].
//! Reference: PTX ISA, `fabric`.

use super::table::{Form, Meaning, form};
use Meaning::Unsupported;

const FABRIC: &str = "operations on memory behind the fabric are not modelled";

/// The rows.
#[rustfmt::skip]
pub(crate) const FORMS: &[Form] = &[
    form("fabric", "submit op_restrict::fetching?", "", Unsupported(FABRIC)),
    form("fabric", "submit commit_group", "", Unsupported(FABRIC)),
    form("fabric", "wait sync_restrict::reads", "", Unsupported(FABRIC)),
    form("fabric", "wait sync_restrict::read", "imm", Unsupported(FABRIC)),

    // Copies; addresses are an endpoint, an offset and, when counted, that of a counter
    form("fabric", "try_get async shared::cta $mbar $report L2::cache_hint? relaxed? +sys b128", "[] [b32,b64] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_put async multimem? shared::cta $mbar16 $report L2::cache_hint? cp_mask? relaxed? +sys b128", "[b32,b64] [] b32 [] b16@cp_mask b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_put async multimem? shared::cta $mbar16 $report counted::bytes L2::cache_hint? relaxed? +sys b128", "[b32,b64,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),

    // Reductions
    form("fabric", "try_red async multimem? shared::cta $mbar16 $report L2::cache_hint? relaxed? +sys add u32|u64|f16|bf16|f32|f64", "[b32,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async multimem? shared::cta $mbar16 $report L2::cache_hint? relaxed? +sys min|max u32|u64|s32|s64|f16|bf16", "[b32,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async multimem? shared::cta $mbar16 $report L2::cache_hint? relaxed? +sys and|or|xor b32|b64", "[b32,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async multimem? shared::cta $mbar16 $report counted::bytes L2::cache_hint? relaxed? +sys add u32|u64|f16|bf16|f32|f64", "[b32,b64,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async multimem? shared::cta $mbar16 $report counted::bytes L2::cache_hint? relaxed? +sys min|max u32|u64|s32|s64|f16|bf16", "[b32,b64,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async multimem? shared::cta $mbar16 $report counted::bytes L2::cache_hint? relaxed? +sys and|or|xor b32|b64", "[b32,b64,b64] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_pullred async multimem shared::cta $mbar $report relaxed? +sys add u32|u64|f32 sync", "[] [b32,b64] b32 [] imm", Unsupported(FABRIC)),
    form("fabric", "try_pullred async multimem shared::cta $mbar $report relaxed? +sys add acc::f32? f16|bf16 sync", "[] [b32,b64] b32 [] imm", Unsupported(FABRIC)),
    form("fabric", "try_pullred async multimem shared::cta $mbar $report relaxed? +sys min|max u32|u64|s32|s64|f16|bf16 sync", "[] [b32,b64] b32 [] imm", Unsupported(FABRIC)),
    form("fabric", "try_pullred async multimem shared::cta $mbar $report relaxed? +sys and|or|xor b32|b64 sync", "[] [b32,b64] b32 [] imm", Unsupported(FABRIC)),
    form("fabric", "try_atom async shared::cta $mbar16 $report L2::cache_hint? relaxed sys add u32|u64|f16x2|bf16x2|f32|f64", "[b32,b64] [] [] [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_atom async shared::cta $mbar16 $report L2::cache_hint? relaxed sys min|max u32|u64|s32|s64|f16x2|bf16x2", "[b32,b64] [] [] [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_atom async shared::cta $mbar16 $report L2::cache_hint? relaxed sys and|or|xor b32|b64", "[b32,b64] [] [] [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_atom async shared::cta $mbar16 $report L2::cache_hint? relaxed sys exch|cas b32|b64|b128", "[b32,b64] [] [] [] b64@L2::cache_hint", Unsupported(FABRIC)),

    // Tensors
    form("fabric", "try_get async tensor $dim shared::cta tile? $mbar $report L2::cache_hint? override::global_address relaxed? +sys b128", "[] [,] [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_get async tensor 1d shared::cta tile? $mbar $report L2::cache_hint? override::global_address override::global_dim relaxed? +sys b128", "[] [,] [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_get async tensor 2d|3d|4d|5d shared::cta tile? $mbar $report L2::cache_hint? override::global_address override::global_dim_stride relaxed? +sys b128", "[] [,] [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_put async tensor multimem? $dim shared::cta tile? $mbar16 $report counted::bytes? L2::cache_hint? override::global_address relaxed? +sys b128", "[,] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_put async tensor multimem? 1d shared::cta tile? $mbar16 $report counted::bytes? L2::cache_hint? override::global_address override::global_dim relaxed? +sys b128", "[,] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_put async tensor multimem? 2d|3d|4d|5d shared::cta tile? $mbar16 $report counted::bytes? L2::cache_hint? override::global_address override::global_dim_stride relaxed? +sys b128", "[,] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async tensor multimem? $dim shared::cta tile? $mbar16 $report counted::bytes? L2::cache_hint? override::global_address relaxed? +sys add|min|max|and|or|xor", "[,] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async tensor multimem? 1d shared::cta tile? $mbar16 $report counted::bytes? L2::cache_hint? override::global_address override::global_dim relaxed? +sys add|min|max|and|or|xor", "[,] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
    form("fabric", "try_red async tensor multimem? 2d|3d|4d|5d shared::cta tile? $mbar16 $report counted::bytes? L2::cache_hint? override::global_address override::global_dim_stride relaxed? +sys add|min|max|and|or|xor", "[,] [] b32 [] b64@L2::cache_hint", Unsupported(FABRIC)),
];
