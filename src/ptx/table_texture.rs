//! Table rows: textures and surfaces.
//!
//! Fetches give arbitrary values: that nothing writes the memory behind textures is an assumption, which `kernel`
//! states. Surfaces, which kernels write, have no model; queries give attributes of the descriptor. The pattern
//! language is explained in [`super::pattern`].
//! Reference: PTX ISA, sections "Texture Instructions" and "Surface Instructions".

use super::table::{Form, Meaning, form};
use Meaning::{Arbitrary, Unsupported};

const SURFACE: &str = "surface memory is not modelled";

/// The rows.
#[rustfmt::skip]
pub(crate) const FORMS: &[Form] = &[
    form("tex", "base? 1d|2d|3d|a1d|a2d v4 u32|s32|f32 s32|f32", "={4}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("tex", "base? cube|acube v4 u32|s32|f32 f32", "={4}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("tex", "base? 2dms|a2dms v4 u32|s32|f32 s32", "={4}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("tex", "level 1d|2d|3d|a1d|a2d v4 u32|s32|f32 s32|f32", "={4}t|p [,] f32/b32 {}s32/f32? f32?", Arbitrary),
    form("tex", "level cube|acube v4 u32|s32|f32 f32", "={4}t|p [,] f32 {}s32/f32? f32?", Arbitrary),
    form("tex", "grad 1d|2d|3d|a1d|a2d|cube|acube v4 u32|s32|f32 f32", "={4}t|p [,] {}f32 {}f32 {}s32/f32? f32?", Arbitrary),
    form("tex", "base? 1d|2d|3d|a1d|a2d v2 f16x2 s32|f32", "={2}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("tex", "base? cube|acube v2 f16x2 f32", "={2}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("tex", "base? 2dms|a2dms v2 f16x2 s32", "={2}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("tex", "level 1d|2d|3d|a1d|a2d v2 f16x2 s32|f32", "={2}t|p [,] f32/b32 {}s32/f32? f32?", Arbitrary),
    form("tex", "level cube|acube v2 f16x2 f32", "={2}t|p [,] f32 {}s32/f32? f32?", Arbitrary),
    form("tex", "grad 1d|2d|3d|a1d|a2d|cube|acube v2 f16x2 f32", "={2}t|p [,] {}f32 {}f32 {}s32/f32? f32?", Arbitrary),
    form("tld4", "r|g|b|a 2d|a2d|cube|acube v4 u32|s32|f32 f32", "={4}t|p [,] {}s32/f32? f32?", Arbitrary),
    form("suld", "b 1d|2d|3d|a1d|a2d v2|v4? b8|b16|b32|b64 trap|clamp|zero", "=v [,]", Unsupported(SURFACE)),
    form("sust", "b 1d|2d|3d|a1d|a2d wb|cg|cs|wt? v2|v4? b8|b16|b32|b64 trap|clamp|zero", "[,] v", Unsupported(SURFACE)),
    form("sust", "p 1d|2d|3d|a1d|a2d v2|v4? b32 trap|clamp|zero", "[,] v", Unsupported(SURFACE)),
    form("sured", "b add 1d|2d|3d u32|u64|s32 trap|clamp|zero", "[,] t", Unsupported(SURFACE)),
    form("sured", "b min|max 1d|2d|3d u32|u64|s32|s64 trap|clamp|zero", "[,] t", Unsupported(SURFACE)),
    form("sured", "b and|or 1d|2d|3d b32 trap|clamp|zero", "[,] t", Unsupported(SURFACE)),
    form("sured", "p add 1d|2d|3d b32 trap|clamp|zero", "[,] t", Unsupported(SURFACE)),
    form("sured", "p min|max 1d|2d|3d b32|b64 trap|clamp|zero", "[,] t", Unsupported(SURFACE)),
    form("sured", "p and|or 1d|2d|3d b32 trap|clamp|zero", "[,] t", Unsupported(SURFACE)),
    form("txq", "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|num_samples b32", "=b32 []", Arbitrary),
    form("txq", "force_unnormalized_coords|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2 b32", "=b32 []", Arbitrary),
    form("txq", "level width|height|depth b32", "=b32 [] b32", Arbitrary),
    form("suq", "width|height|depth|channel_data_type|channel_order|array_size|memory_layout b32", "=b32 []", Arbitrary),
];
