//! Table rows: moving data; loads, stores and atomics; cache control.
//!
//! The pattern language is explained in [`super::pattern`]. The rows of `ld` and `st` differ in what
//! may stand together: cache operators are for weak accesses and exclude eviction priorities,
//! `.volatile` takes neither, and 32 bytes at once are for global memory.
//! Reference: PTX ISA, sections on data movement and conversion, `atom` and `red`.

use super::table::{Form, Meaning, form};
use Meaning::{Arbitrary, Atomic, Cvta, Load, Mov, Nothing, Store, Unsupported, VectorMove};

const STACK: &str = "dynamic stack memory is not modelled";

/// The rows.
#[rustfmt::skip]
pub(crate) const FORMS: &[Form] = &[
    form("mov", "$move", "=mov mov", Mov),
    form("mov", "v2|v4 $select", "={v}t {v}t", VectorMove),
    form("cvta", "to? global|shared|shared::cta|shared::cluster|local|param|param::entry|const u32|u64", "=t a", Cvta),
    form("isspacep", "global|shared|shared::cta|shared::cluster|local|param|param::entry|const", "=p a", Arbitrary),
    form("istypep", "texref|samplerref|surfref", "=p b64", Arbitrary),
    form("mapa", "shared::cluster? u32|u64", "=t a b32", Arbitrary),
    form("getctarank", "shared::cluster? u32|u64", "=u32 a", Arbitrary),
    form("createpolicy", "fractional L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged L2::evict_first|L2::evict_unchanged? b64", "=b64 f32?", Arbitrary),
    form("createpolicy", "range global? L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged L2::evict_first|L2::evict_unchanged? b64", "=b64 [] b32 b32", Arbitrary),
    form("createpolicy", "cvt L2 b64", "=b64 b64", Arbitrary),

    // Loads and stores
    form("ld", "weak? $space? ca|cg|cs|lu|cv? L2::cache_hint? L2::64B|L2::128B|L2::256B? v2|v4? $memory", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? $space? ca|cg|cs|lu|cv? L2::cache_hint? L2::64B|L2::128B|L2::256B? b128", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? $space? $evict? L2::cache_hint? L2::64B|L2::128B|L2::256B? v2|v4? $memory", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? $space? $evict? L2::cache_hint? L2::64B|L2::128B|L2::256B? b128", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global? $evict? $evict2? L2::cache_hint? L2::64B|L2::128B|L2::256B? v8 b32|u32|s32|f32", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global? $evict? $evict2 L2::cache_hint? L2::64B|L2::128B|L2::256B? v4 b64|u64|s64|f64", "=v [] b64@L2::cache_hint", Load),
    form("ld", "volatile $space? L2::64B|L2::128B|L2::256B? v2|v4? $memory", "=v []", Load),
    form("ld", "volatile $space? L2::64B|L2::128B|L2::256B? b128", "=v []", Load),
    form("ld", "volatile global? L2::64B|L2::128B|L2::256B? v8 b32|u32|s32|f32", "=v []", Load),
    form("ld", "relaxed|acquire $scope $space? $evict? L2::cache_hint? L2::64B|L2::128B|L2::256B? v2|v4? $memory", "=v [] b64@L2::cache_hint", Load),
    form("ld", "relaxed|acquire $scope $space? $evict? L2::cache_hint? L2::64B|L2::128B|L2::256B? b128", "=v [] b64@L2::cache_hint", Load),
    form("ld", "relaxed|acquire $scope global? $evict? $evict2? L2::cache_hint? L2::64B|L2::128B|L2::256B? v8 b32|u32|s32|f32", "=v [] b64@L2::cache_hint", Load),
    form("ld", "relaxed|acquire $scope global? $evict? $evict2 L2::cache_hint? L2::64B|L2::128B|L2::256B? v4 b64|u64|s64|f64", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global nc ca|cg|cs? L2::cache_hint? L2::64B|L2::128B|L2::256B? v2|v4? $memory", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global nc ca|cg|cs? L2::cache_hint? L2::64B|L2::128B|L2::256B? b128", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global nc $evict? L2::cache_hint? L2::64B|L2::128B|L2::256B? v2|v4? $memory", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global nc $evict? L2::cache_hint? L2::64B|L2::128B|L2::256B? b128", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global nc $evict? $evict2? L2::cache_hint? L2::64B|L2::128B|L2::256B? v8 b32|u32|s32|f32", "=v [] b64@L2::cache_hint", Load),
    form("ld", "weak? global nc $evict? $evict2 L2::cache_hint? L2::64B|L2::128B|L2::256B? v4 b64|u64|s64|f64", "=v [] b64@L2::cache_hint", Load),
    form("ld", "mmio relaxed|acquire sys global? $memory", "=v []", Load),
    form("ldu", "global? v2|v4? $memory", "=v []", Load),
    form("ldu", "global? b128", "=v []", Load),
    form("st", "weak? $written? wb|cg|cs|wt? L2::cache_hint? v2|v4? $memory", "[] v b64@L2::cache_hint", Store),
    form("st", "weak? $written? wb|cg|cs|wt? L2::cache_hint? b128", "[] v b64@L2::cache_hint", Store),
    form("st", "weak? $written? $evict? L2::cache_hint? v2|v4? $memory", "[] v b64@L2::cache_hint", Store),
    form("st", "weak? $written? $evict? L2::cache_hint? b128", "[] v b64@L2::cache_hint", Store),
    form("st", "weak? global? $evict? $evict2? L2::cache_hint? v8 b32|u32|s32|f32", "[] v b64@L2::cache_hint", Store),
    form("st", "weak? global? $evict? $evict2 L2::cache_hint? v4 b64|u64|s64|f64", "[] v b64@L2::cache_hint", Store),
    form("st", "volatile $written? v2|v4? $memory", "[] v", Store),
    form("st", "volatile $written? b128", "[] v", Store),
    form("st", "volatile global? v8 b32|u32|s32|f32", "[] v", Store),
    form("st", "relaxed|release $scope $written? $evict? L2::cache_hint? v2|v4? $memory", "[] v b64@L2::cache_hint", Store),
    form("st", "relaxed|release $scope $written? $evict? L2::cache_hint? b128", "[] v b64@L2::cache_hint", Store),
    form("st", "relaxed|release $scope global? $evict? $evict2? L2::cache_hint? v8 b32|u32|s32|f32", "[] v b64@L2::cache_hint", Store),
    form("st", "relaxed|release $scope global? $evict? $evict2 L2::cache_hint? v4 b64|u64|s64|f64", "[] v b64@L2::cache_hint", Store),
    form("st", "mmio relaxed|release sys global? $memory", "[] v", Store),

    // Atomics
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? cas b16|b32|b64|b128", "={v}t [] t t", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? exch L2::cache_hint? b32|b64|b128", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? and|or|xor L2::cache_hint? b32|b64", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? inc|dec L2::cache_hint? u32", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? min|max L2::cache_hint? $int32", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? add L2::cache_hint? u32|s32|u64|f64", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? add L2::cache_hint? f32", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? $window? add noftz L2::cache_hint? f16|f16x2|bf16|bf16x2", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global? add L2::cache_hint? v2|v4 f32", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global? add|min|max noftz L2::cache_hint? v2|v4|v8 f16|bf16", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("atom", "relaxed|acquire|release|acq_rel? $scope? global? add|min|max noftz L2::cache_hint? v2|v4 f16x2|bf16x2", "={v}t [] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? $window? and|or|xor L2::cache_hint? b32|b64", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? $window? inc|dec L2::cache_hint? u32", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? $window? min|max L2::cache_hint? $int32", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? $window? add L2::cache_hint? u32|s32|u64|f64", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? $window? add L2::cache_hint? f32", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? $window? add noftz L2::cache_hint? f16|f16x2|bf16|bf16x2", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? global? add L2::cache_hint? v2|v4 f32", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? global? add|min|max noftz L2::cache_hint? v2|v4|v8 f16|bf16", "[] {v}t b64@L2::cache_hint", Atomic),
    form("red", "relaxed|release? $scope? global? add|min|max noftz L2::cache_hint? v2|v4 f16x2|bf16x2", "[] {v}t b64@L2::cache_hint", Atomic),

    // Cache control: prefetching changes no value.
    form("prefetch", "global|local? L1|L2", "[]", Nothing),
    form("prefetch", "global L2::evict_last|L2::evict_normal", "[]", Nothing),
    form("prefetch", "const|param? tensormap", "[]", Nothing),
    form("prefetchu", "L1", "[]", Nothing),
    form("applypriority", "global? L2::evict_normal", "[] imm", Nothing),
    form("discard", "global? L2", "[] imm", Unsupported("it makes the contents of memory undefined")),

    // Stack
    form("alloca", "u32|u64", "=t t imm?", Unsupported(STACK)),
    form("stacksave", "u32|u64", "=t", Unsupported(STACK)),
    form("stackrestore", "u32|u64", "t", Unsupported(STACK)),
];
