//! Table rows: moving data, and everything that touches memory.
//!
//! Instructions whose accesses are asynchronous, go through another proxy or are collective over
//! several threads have no model of their accesses and are refused. The pattern language is
//! explained in [`super::table`].
//! Reference: PTX ISA, sections on data movement and conversion, texture, surface, parallel
//! synchronization (`atom`, `red`, `mbarrier`) and matrix instructions.

use super::table::{Form, Meaning, form};
use Meaning::{Arbitrary, Atomic, Cvta, Load, Mov, Nothing, Store, Unsupported};

const ASYNC: &str = "asynchronous copies are not modelled";
const MBARRIER: &str = "mbarrier objects are not modelled";
const MATRIX_MEMORY: &str = "its accesses are collective over the warp and not modelled";
const SURFACE: &str = "surface memory is not modelled";
const CLUSTER: &str = "shared memory of other blocks of a cluster is not modelled";
const MULTIMEM: &str = "multimem addresses are not modelled";
const TENSORMAP: &str = "tensor maps are not modelled";
const TCGEN05: &str = "tensor memory is not modelled";
const WGMMA: &str = "asynchronous matrix operations are not modelled";
const STACK: &str = "dynamic stack memory is not modelled";

/// The rows.
#[rustfmt::skip]
pub const FORMS: &[Form] = &[
    form("mov", "$move", "=mov mov", Mov),
    form("cvta", "to? $space u32|u64", "=t a", Cvta),
    form("isspacep", "$space", "=p a", Arbitrary),
    form("istypep", "texref|samplerref|surfref", "=p *", Arbitrary),
    form("mapa", "**", "*", Unsupported(CLUSTER)),
    form("getctarank", "shared::cluster? u32|u64", "=u32 *", Arbitrary),
    form("createpolicy", "fractional|range global? $evict2|L2::evict_unchanged L2::evict_first|L2::evict_unchanged? b64", "=b64 *", Arbitrary),
    form("createpolicy", "cvt L2 b64", "=b64 *", Arbitrary),
    form("movmatrix", "sync aligned #shape trans b16", "=b32 b32", Arbitrary),

    // Loads and stores
    form("ld", "weak|volatile|relaxed|acquire? mmio? $scope? $space? nc? ca|cg|cs|lu|cv? $evict? $evict2? L2::cache_hint? L2::64B|L2::128B|L2::256B? v2|v4|v8? $memory", "=v [] b64?", Load),
    form("ldu", "global? v2|v4? $memory", "=v []", Load),
    form("st", "weak|volatile|relaxed|release? mmio? $scope? $space? wb|cg|cs|wt? $evict? $evict2? L2::cache_hint? v2|v4|v8? $memory", "[] v b64?", Store),
    form("st", "async|bulk **", "*", Unsupported(ASYNC)),

    // Atomics
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? cas L2::cache_hint? b16|b32|b64|b128", "=v [] t t b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? exch L2::cache_hint? b32|b64|b128", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? and|or|xor L2::cache_hint? b32|b64", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? inc|dec L2::cache_hint? u32", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? min|max L2::cache_hint? $int32", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? add L2::cache_hint? u32|s32|u64|f64", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? add L2::cache_hint? v2|v4? f32", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global|shared|shared::cta|shared::cluster? add noftz? L2::cache_hint? f16|f16x2|bf16|bf16x2", "=v [] v b64?", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global? add|min|max noftz? L2::cache_hint? v2|v4|v8 f16|f16x2|bf16|bf16x2", "=v [] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global|shared|shared::cta|shared::cluster? and|or|xor L2::cache_hint? b32|b64", "[] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global|shared|shared::cta|shared::cluster? inc|dec L2::cache_hint? u32", "[] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global|shared|shared::cta|shared::cluster? min|max L2::cache_hint? $int32", "[] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global|shared|shared::cta|shared::cluster? add L2::cache_hint? u32|s32|u64|f64", "[] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global|shared|shared::cta|shared::cluster? add L2::cache_hint? v2|v4? f32", "[] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global|shared|shared::cta|shared::cluster? add noftz? L2::cache_hint? f16|f16x2|bf16|bf16x2", "[] v b64?", Atomic),
    form("red", "relaxed|release? $scope? global? add|min|max noftz? L2::cache_hint? v2|v4|v8 f16|f16x2|bf16|bf16x2", "[] v b64?", Atomic),
    form("red", "async **", "*", Unsupported(ASYNC)),

    // Cache control: prefetching changes no value.
    form("prefetch", "global|local|param|const? L1|L2|L2::evict_last|L2::evict_normal|tensormap", "[]", Nothing),
    form("prefetchu", "L1", "[]", Nothing),
    form("applypriority", "global? L2::evict_normal", "[] imm", Nothing),
    form("discard", "global? L2", "[] imm", Unsupported("it makes the contents of memory undefined")),

    // Asynchronous and collective accesses
    form("cp", "async|reduce **", "*", Unsupported(ASYNC)),
    form("mbarrier", "init|inval|arrive|arrive_drop|expect_tx|complete_tx|test_wait|try_wait|pending_count **", "*", Unsupported(MBARRIER)),
    form("ldmatrix", "sync aligned **", "*", Unsupported(MATRIX_MEMORY)),
    form("stmatrix", "sync aligned **", "*", Unsupported(MATRIX_MEMORY)),
    form("wmma", "load|store **", "*", Unsupported(MATRIX_MEMORY)),
    form("multimem", "ld_reduce|st|red|cp **", "*", Unsupported(MULTIMEM)),
    form("tensormap", "replace|cp_fenceproxy **", "*", Unsupported(TENSORMAP)),
    form("wgmma", "fence|mma_async|commit_group|wait_group **", "*", Unsupported(WGMMA)),
    form("tcgen05", "alloc|dealloc|relinquish_alloc_permit|ld|st|wait::ld|wait::st|cp|shift|mma|commit|fence::before_thread_sync|fence::after_thread_sync **", "*", Unsupported(TCGEN05)),
    form("alloca", "**", "*", Unsupported(STACK)),
    form("stacksave", "u32|u64", "*", Unsupported(STACK)),
    form("stackrestore", "u32|u64", "*", Unsupported(STACK)),

    // Textures and surfaces; queries give attributes of the descriptor. That nothing writes the memory behind
    // textures is an assumption, which `kernel` states.
    form("tex", "**", "={} *", Arbitrary),
    form("tld4", "**", "={} *", Arbitrary),
    form("suld", "**", "*", Unsupported(SURFACE)),
    form("sust", "**", "*", Unsupported(SURFACE)),
    form("sured", "**", "*", Unsupported(SURFACE)),
    form("txq", "level? $query b32", "=b32 *", Arbitrary),
    form("suq", "$query b32", "=b32 *", Arbitrary),

    // Matrix operations on registers
    form("mma", "sp|sp::ordered_metadata? sync aligned $mma*", "={} *", Arbitrary),
    form("wmma", "mma $mma*", "={} *", Arbitrary),
];
