//! Table rows: matrix instructions.
//!
//! Those on registers give arbitrary values. The accesses of those by which a warp moves matrices are found in
//! [`super::matrix`]. Asynchronous ones have no model of their accesses, and are refused. The pattern language is
//! explained in [`super::pattern`].
//! Reference: PTX ISA, sections "Warp Level Matrix Instructions", "Asynchronous Warpgroup Level
//! Matrix Instructions" and "TensorCore 5th Generation Family Instructions".

use super::table::{Form, Meaning, form};
use Meaning::{Arbitrary, Matrix, Product, TensorMemory, Unsupported};

const TCGEN05: &str = "this operation on tensor memory is not modelled";
const WGMMA: &str = "products of sparse matrices are not modelled";

/// The rows.
#[rustfmt::skip]
pub(crate) const FORMS: &[Form] = &[
    form("movmatrix", "sync aligned m8n8 trans b16", "=b32 b32", Arbitrary),
    form("ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? $shared? b16", "={x}b32 []", Matrix),
    form("ldmatrix", "sync aligned m16n16 x1|x2 trans $shared? b8", "={x}b32 []", Matrix),
    form("ldmatrix", "sync aligned m16n16 x1|x2 trans $shared? b8x16 b6x16_p32|b4x16_p64", "={x}b32 []", Matrix),
    form("ldmatrix", "sync aligned m8n16 x1|x2|x4 $shared? b8x16 b6x16_p32|b4x16_p64", "={x}b32 []", Matrix),
    form("stmatrix", "sync aligned m8n8 x1|x2|x4 trans? $shared? b16", "[] {x}b32", Matrix),
    form("stmatrix", "sync aligned m16n8 x1|x2|x4 trans $shared? b8", "[] {x}b32", Matrix),

    // wmma
    form("wmma", "load a|b sync aligned row|col m16n16k16|m8n32k16|m32n8k16 global|$shared? f16|bf16|u8|s8", "={A} [] b32?", Matrix),
    form("wmma", "load a|b sync aligned row|col m16n16k8 global|$shared? tf32", "={A} [] b32?", Matrix),
    form("wmma", "load a|b sync aligned row|col m8n8k4 global|$shared? f64", "={A} [] b32?", Matrix),
    form("wmma", "load a sync aligned row m8n8k32 global|$shared? u4|s4", "={A} [] b32?", Matrix),
    form("wmma", "load b sync aligned col m8n8k32 global|$shared? u4|s4", "={A} [] b32?", Matrix),
    form("wmma", "load a sync aligned row m8n8k128 global|$shared? b1", "={A} [] b32?", Matrix),
    form("wmma", "load b sync aligned col m8n8k128 global|$shared? b1", "={A} [] b32?", Matrix),
    form("wmma", "load c sync aligned row|col m16n16k16|m8n32k16|m32n8k16 global|$shared? f16|f32|s32", "={C} [] b32?", Matrix),
    form("wmma", "load c sync aligned row|col m16n16k8 global|$shared? f32", "={C} [] b32?", Matrix),
    form("wmma", "load c sync aligned row|col m8n8k4 global|$shared? f64", "={C} [] b32?", Matrix),
    form("wmma", "load c sync aligned row|col m8n8k32|m8n8k128 global|$shared? s32", "={C} [] b32?", Matrix),
    form("wmma", "store d sync aligned row|col m16n16k16|m8n32k16|m32n8k16 global|$shared? f16|f32|s32", "[] {D} b32?", Matrix),
    form("wmma", "store d sync aligned row|col m16n16k8 global|$shared? f32", "[] {D} b32?", Matrix),
    form("wmma", "store d sync aligned row|col m8n8k4 global|$shared? f64", "[] {D} b32?", Matrix),
    form("wmma", "store d sync aligned row|col m8n8k32|m8n8k128 global|$shared? s32", "[] {D} b32?", Matrix),
    form("wmma", "mma sync aligned row|col row|col m16n16k16|m8n32k16|m32n8k16 f16|f32 f16|f32 satfinite?", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row|col row|col m16n16k16|m8n32k16|m32n8k16 s32 u8 u8 s32 satfinite?", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row|col row|col m16n16k16|m8n32k16|m32n8k16 s32 s8 s8 s32 satfinite?", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row|col row|col m16n16k16|m8n32k16|m32n8k16 f32 bf16 bf16 f32", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row|col row|col m16n16k8 f32 tf32 tf32 f32", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row|col row|col m8n8k4 $round? f64 f64 f64 f64", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row col m8n8k32 s32 u4 u4 s32 satfinite?", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma sync aligned row col m8n8k32 s32 s4 s4 s32 satfinite?", "={D} {A} {B} {C}", Arbitrary),
    form("wmma", "mma xor|and popc sync aligned row col m8n8k128 s32 b1 b1 s32", "={D} {A} {B} {C}", Arbitrary),

    // mma
    form("mma", "sync aligned m8n8k4 row|col row|col f16 f16 f16 f16", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m8n8k4 row|col row|col f32 f16 f16 f16|f32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k8|m16n8k16 row col f16 f16 f16 f16", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k8|m16n8k16 row col f32 f16 f16 f32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k8|m16n8k16 row col f32 bf16 bf16 f32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col $round? f64 f64 f64 f64", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m8n8k16|m16n8k16|m16n8k32 row col satfinite? s32 u8|s8 u8|s8 s32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m8n8k32|m16n8k32|m16n8k64 row col satfinite? s32 u4|s4 u4|s4 s32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m8n8k128|m16n8k128|m16n8k256 row col s32 b1 b1 s32 xor|and popc", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k16|m16n8k32 row col f16 $fp8 $fp8 f16", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k16|m16n8k32 row col f32 $fp8 $fp8 f32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k32 row col kind::f8f6f4 f16 $fp864 $fp864 f16", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k32 row col kind::f8f6f4 f32 $fp864 $fp864 f32", "={D} {A} {B} {C}", Arbitrary),
    form("mma", "sync aligned m16n8k32 row col kind::mxf8f6f4 block_scale scale_vec::1X? f32 $fp864 $fp864 f32 ue8m0", "={D} {A} {B} {C} b32 {2}u16 b32 {2}u16", Arbitrary),
    form("mma", "sync aligned m16n8k64 row col kind::mxf4 block_scale scale_vec::2X? f32 e2m1 e2m1 f32 ue8m0", "={D} {A} {B} {C} b32 {2}u16 b32 {2}u16", Arbitrary),
    form("mma", "sync aligned m16n8k64 row col kind::mxf4nvf4 block_scale scale_vec::2X f32 e2m1 e2m1 f32 ue8m0", "={D} {A} {B} {C} b32 {2}u16 b32 {2}u16", Arbitrary),
    form("mma", "sync aligned m16n8k64 row col kind::mxf4nvf4 block_scale scale_vec::4X f32 e2m1 e2m1 f32 ue8m0|ue4m3", "={D} {A} {B} {C} b32 {2}u16 b32 {2}u16", Arbitrary),

    // Sparse mma
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k16|m16n8k32 row col f16 f16 f16 f16", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k16|m16n8k32 row col f32 f16 f16 f32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k16|m16n8k32 row col f32 bf16 bf16 f32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k8|m16n8k16 row col f32 tf32 tf32 f32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k32|m16n8k64 row col satfinite? s32 u8|s8 u8|s8 s32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k64|m16n8k128 row col satfinite? s32 u4|s4 u4|s4 s32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp|sp::ordered_metadata sync aligned m16n8k64 row col f32 $fp8 $fp8 f32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k64 row col f16 $fp8 $fp8 f16", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k64 row col kind::f8f6f4 f16 $fp864 $fp864 f16", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k64 row col kind::f8f6f4 f32 $fp864 $fp864 f32", "={D} {A} {B} {C} b32 imm", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k64 row col kind::mxf8f6f4 block_scale scale_vec::1X? f32 $fp864 $fp864 f32 ue8m0", "={D} {A} {B} {C} b32 imm b32 {2}u16 b32 {2}u16", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k128 row col kind::mxf4 block_scale scale_vec::2X? f32 e2m1 e2m1 f32 ue8m0", "={D} {A} {B} {C} b32 imm b32 {2}u16 b32 {2}u16", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k128 row col kind::mxf4nvf4 block_scale scale_vec::2X f32 e2m1 e2m1 f32 ue8m0", "={D} {A} {B} {C} b32 imm b32 {2}u16 b32 {2}u16", Arbitrary),
    form("mma", "sp::ordered_metadata sync aligned m16n8k128 row col kind::mxf4nvf4 block_scale scale_vec::4X f32 e2m1 e2m1 f32 ue8m0|ue4m3", "={D} {A} {B} {C} b32 imm b32 {2}u16 b32 {2}u16", Arbitrary),

    // wgmma
    form("wgmma", "fence sync aligned", "", Product),
    form("wgmma", "commit_group sync aligned", "", Product),
    form("wgmma", "wait_group sync aligned", "imm", Product),
    form("wgmma", "mma_async sync aligned $wgmma_k16 f16|f32 f16 f16", "={D} b64/{4}b32 b64 p imm imm imm imm!", Product),
    form("wgmma", "mma_async sync aligned $wgmma_k16 f32 bf16 bf16", "={D} b64/{4}b32 b64 p imm imm imm imm!", Product),
    form("wgmma", "mma_async sync aligned $wgmma_k8 f32 tf32 tf32", "={D} b64/{4}b32 b64 p imm imm", Product),
    form("wgmma", "mma_async sync aligned $wgmma_k32 f16|f32 $fp8 $fp8", "={D} b64/{4}b32 b64 p imm imm", Product),
    form("wgmma", "mma_async sync aligned $wgmma_k32_int satfinite? s32 u8|s8 u8|s8", "={D} b64/{4}b32 b64 p", Product),
    form("wgmma", "mma_async sync aligned $wgmma_k256_int s32 b1 b1 and popc", "={D} b64/{4}b32 b64 p", Product),
    form("wgmma", "mma_async sp sync aligned $wgmma_k32 f16|f32 f16 f16", "={D} b64/{4}b32 b64 b32 imm p imm imm imm imm!", Unsupported(WGMMA)),
    form("wgmma", "mma_async sp sync aligned $wgmma_k32 f32 bf16 bf16", "={D} b64/{4}b32 b64 b32 imm p imm imm imm imm!", Unsupported(WGMMA)),
    form("wgmma", "mma_async sp sync aligned $wgmma_k16 f32 tf32 tf32", "={D} b64/{4}b32 b64 b32 imm p imm imm", Unsupported(WGMMA)),
    form("wgmma", "mma_async sp sync aligned $wgmma_k64 f16|f32 $fp8 $fp8", "={D} b64/{4}b32 b64 b32 imm p imm imm", Unsupported(WGMMA)),
    form("wgmma", "mma_async sp sync aligned $wgmma_k64_int satfinite? s32 u8|s8 u8|s8", "={D} b64/{4}b32 b64 b32 imm p", Unsupported(WGMMA)),

    // tcgen05
    form("tcgen05", "alloc cta_group::1|cta_group::2 sync aligned shared::cta? b32", "[] b32", TensorMemory),
    form("tcgen05", "dealloc cta_group::1|cta_group::2 sync aligned b32", "b32 b32", TensorMemory),
    form("tcgen05", "relinquish_alloc_permit cta_group::1|cta_group::2 sync aligned", "", TensorMemory),
    form("tcgen05", "fence::before_thread_sync|fence::after_thread_sync", "", TensorMemory),
    form("tcgen05", "commit cta_group::1|cta_group::2 mbarrier::arrive::one shared::cluster? multicast::cluster? b64", "[] b16@multicast::cluster", TensorMemory),
    form("tcgen05", "wait::ld|wait::st sync aligned", "", TensorMemory),
    form("tcgen05", "ld sync aligned 32x32b|16x64b $times pack::16b? b32", "={x}b32 []", TensorMemory),
    form("tcgen05", "ld sync aligned 16x128b x1|x2|x4|x8|x16|x32|x64 pack::16b? b32", "={x}b32 []", TensorMemory),
    form("tcgen05", "ld sync aligned 16x256b x1|x2|x4|x8|x16|x32 pack::16b? b32", "={x}b32 []", TensorMemory),
    form("tcgen05", "ld sync aligned 16x32bx2 $times pack::16b? b32", "={x}b32 [] imm", TensorMemory),
    form("tcgen05", "ld red sync aligned 32x32b x2|x4|x8|x16|x32|x64|x128 min|max abs? NaN? f32|u32|s32", "={x}t =t []", TensorMemory),
    form("tcgen05", "ld red sync aligned 16x32bx2 x2|x4|x8|x16|x32|x64|x128 min|max abs? NaN? f32|u32|s32", "={x}t =t [] imm", TensorMemory),
    form("tcgen05", "ld spcompress sync aligned 32x32b x4|x8|x16|x32 min|max sp::2:4 abs? f32 b2", "={1}b32 ={x}t []", Unsupported(TCGEN05)),
    form("tcgen05", "ld spcompress sync aligned 32x32b x64 min|max sp::2:4 abs? f32 b2", "={2}b32 ={x}t []", Unsupported(TCGEN05)),
    form("tcgen05", "ld spcompress sync aligned 32x32b x128 min|max sp::2:4 abs? f32 b2", "={4}b32 ={x}t []", Unsupported(TCGEN05)),
    form("tcgen05", "ld red spcompress sync aligned 32x32b x4|x8|x16|x32 min|max sp::2:4 abs? f32 b2", "={1}b32 ={x}t =t []", Unsupported(TCGEN05)),
    form("tcgen05", "ld red spcompress sync aligned 32x32b x64 min|max sp::2:4 abs? f32 b2", "={2}b32 ={x}t =t []", Unsupported(TCGEN05)),
    form("tcgen05", "ld red spcompress sync aligned 32x32b x128 min|max sp::2:4 abs? f32 b2", "={4}b32 ={x}t =t []", Unsupported(TCGEN05)),
    form("tcgen05", "st sync aligned 32x32b|16x64b $times unpack::16b? b32", "[] {x}b32", TensorMemory),
    form("tcgen05", "st sync aligned 16x128b x1|x2|x4|x8|x16|x32|x64 unpack::16b? b32", "[] {x}b32", TensorMemory),
    form("tcgen05", "st sync aligned 16x256b x1|x2|x4|x8|x16|x32 unpack::16b? b32", "[] {x}b32", TensorMemory),
    form("tcgen05", "st sync aligned 16x32bx2 $times unpack::16b? b32", "[] imm {x}b32", TensorMemory),
    form("tcgen05", "cp cta_group::1|cta_group::2 128x256b|4x256b|128x128b b8x16? +b6x16_p32|b4x16_p64", "[] b64", TensorMemory),
    form("tcgen05", "cp cta_group::1|cta_group::2 64x128b warpx2::02_13|warpx2::01_23 b8x16? +b6x16_p32|b4x16_p64", "[] b64", TensorMemory),
    form("tcgen05", "cp cta_group::1|cta_group::2 32x128b warpx4 b8x16? +b6x16_p32|b4x16_p64", "[] b64", TensorMemory),
    form("tcgen05", "shift cta_group::1|cta_group::2 down", "[]", Unsupported(TCGEN05)),
    form("tcgen05", "mma cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 b32 {}b32/p p/imm? imm?", TensorMemory),
    form("tcgen05", "mma cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 collector::a::lastuse|collector::a::discard? ashift", "[] [] b64 b32 {}b32/p p/imm? imm?", Unsupported(TCGEN05)),
    form("tcgen05", "mma sp cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 [] b32 {}b32/p p/imm? imm?", Unsupported(TCGEN05)),
    form("tcgen05", "mma sp cta_group::1|cta_group::2 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 collector::a::lastuse|collector::a::discard? ashift", "[] [] b64 [] b32 {}b32/p p/imm? imm?", Unsupported(TCGEN05)),
    form("tcgen05", "mma cta_group::1|cta_group::2 kind::mxf8f6f4 block_scale scale_vec::1X|block32? collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 b32 [] [] p", TensorMemory),
    form("tcgen05", "mma cta_group::1|cta_group::2 kind::mxf4 block_scale scale_vec::2X|block32? collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 b32 [] [] p", TensorMemory),
    form("tcgen05", "mma cta_group::1|cta_group::2 kind::mxf4nvf4 block_scale scale_vec::2X|scale_vec::4X|block16|block32 collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 b32 [] [] p", TensorMemory),
    form("tcgen05", "mma sp cta_group::1|cta_group::2 kind::mxf8f6f4 block_scale scale_vec::1X|block32? collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 [] b32 [] [] p", Unsupported(TCGEN05)),
    form("tcgen05", "mma sp cta_group::1|cta_group::2 kind::mxf4 block_scale scale_vec::2X|block32? collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 [] b32 [] [] p", Unsupported(TCGEN05)),
    form("tcgen05", "mma sp cta_group::1|cta_group::2 kind::mxf4nvf4 block_scale scale_vec::2X|scale_vec::4X|block16|block32 collector::a::fill|collector::a::use|collector::a::lastuse|collector::a::discard?", "[] b64/[] b64 [] b32 [] [] p", Unsupported(TCGEN05)),
    form("tcgen05", "mma ws cta_group::1 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 $collector?", "[] b64/[] b64 b32 p b64?", TensorMemory),
    form("tcgen05", "mma ws sp cta_group::1 kind::f16|kind::tf32|kind::f8f6f4|kind::i8 $collector?", "[] b64/[] b64 [] b32 p b64?", Unsupported(TCGEN05)),
];
