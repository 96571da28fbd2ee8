//! Table rows: asynchronous copies, mbarriers, tensor maps, multimem, clusters.
//!
//! Their accesses are asynchronous or go through another proxy. Where there is no model at all, they are refused. The pattern language is explained in [`super::pattern`].
//! Reference: PTX ISA, sections on asynchronous copies, `mbarrier`, `tensormap.replace`, `multimem`
//! and cluster launch control.

use super::table::{ASYNC, Form, MBARRIER, Meaning, form};
use Meaning::{
    Arbitrary, AsyncArrive, AsyncCommit, AsyncCopy, AsyncWait, Bulk, BulkCommit, BulkWait, Map, Nothing, Object,
    Remote, Tensor, Unsupported,
};

const MULTIMEM: &str = "multimem addresses are not modelled";
const IM2COL: &str = "tensor copies by pixels and their neighbours are not modelled";
const ROWS: &str = "tensor copies of rows by their numbers are not modelled";
const CANCEL: &str = "cancelling blocks of a cluster launch is not modelled";

/// The rows.
#[rustfmt::skip]
pub(crate) const FORMS: &[Form] = &[
    // Copies of 4 to 16 bytes
    form("cp", "async ca|cg $shared global L2::cache_hint? L2::64B|L2::128B|L2::256B?", "[] [] imm b32/p? b64@L2::cache_hint", AsyncCopy),
    form("cp", "async commit_group", "", AsyncCommit),
    form("cp", "async wait_group", "imm", AsyncWait),
    form("cp", "async wait_all", "", AsyncWait),
    form("cp", "async mbarrier arrive noinc? $shared? b64", "[]", AsyncArrive),

    // Bulk copies
    form("cp", "async bulk shared::cluster global $mbar multicast::cluster? L2::cache_hint?", "[] [] b32 [] b16@multicast::cluster b64@L2::cache_hint", Bulk),
    form("cp", "async bulk shared::cta global $mbar L2::cache_hint?", "[] [] b32 [] b64@L2::cache_hint", Bulk),
    form("cp", "async bulk shared::cta global $mbar L2::cache_hint? ignore_oob", "[] [] b32 b32 b32 [] b64@L2::cache_hint", Unsupported(ASYNC)),
    form("cp", "async bulk shared::cluster shared::cta $mbar", "[] [] b32 []", Bulk),
    form("cp", "async bulk global shared::cta bulk_group L2::cache_hint? cp_mask?", "[] [] b32 b64@L2::cache_hint b16@cp_mask", Bulk),
    form("cp", "async bulk prefetch L2 global L2::cache_hint?", "[] b32 b64@L2::cache_hint", Nothing),
    form("cp", "async bulk commit_group", "", BulkCommit),
    form("cp", "async bulk wait_group read?", "imm", BulkWait),
    form("cp", "reduce async bulk shared::cluster shared::cta $mbar and|or|xor b32", "[] [] b32 []", Bulk),
    form("cp", "reduce async bulk shared::cluster shared::cta $mbar add u32|s32|u64", "[] [] b32 []", Bulk),
    form("cp", "reduce async bulk shared::cluster shared::cta $mbar min|max u32|s32", "[] [] b32 []", Bulk),
    form("cp", "reduce async bulk shared::cluster shared::cta $mbar inc|dec u32", "[] [] b32 []", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? and|or|xor b32|b64", "[] [] b32 b64@L2::cache_hint", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? add u32|s32|u64", "[] [] b32 b64@L2::cache_hint", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? min|max $int32", "[] [] b32 b64@L2::cache_hint", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? inc|dec u32", "[] [] b32 b64@L2::cache_hint", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? add f32|f64", "[] [] b32 b64@L2::cache_hint", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? add noftz f16|bf16", "[] [] b32 b64@L2::cache_hint", Bulk),
    form("cp", "reduce async bulk global shared::cta bulk_group L2::cache_hint? min|max f16|bf16", "[] [] b32 b64@L2::cache_hint", Bulk),

    // Tensor copies
    form("cp", "async bulk tensor $dim shared::cluster|shared::cta global tile? $mbar multicast::cluster? cta_group::1|cta_group::2? L2::cache_hint?", "[] [,] [] b16@multicast::cluster b64@L2::cache_hint", Tensor),
    form("cp", "async bulk tensor 2d shared::cluster|shared::cta global tile::gather4 $mbar multicast::cluster? cta_group::1|cta_group::2? L2::cache_hint?", "[] [,] [] b16@multicast::cluster b64@L2::cache_hint", Unsupported(ROWS)),
    form("cp", "async bulk tensor 3d|4d|5d shared::cluster|shared::cta global im2col|im2col::w|im2col::w::128 $mbar multicast::cluster? cta_group::1|cta_group::2? L2::cache_hint?", "[] [,] [] {}b16 b16@multicast::cluster b64@L2::cache_hint", Unsupported(IM2COL)),
    form("cp", "async bulk tensor $dim global shared::cta tile? bulk_group L2::cache_hint?", "[,] [] b64@L2::cache_hint", Tensor),
    form("cp", "async bulk tensor 2d global shared::cta tile::scatter4 bulk_group L2::cache_hint?", "[,] [] b64@L2::cache_hint", Unsupported(ROWS)),
    form("cp", "async bulk tensor 3d|4d|5d global shared::cta im2col_no_offs bulk_group L2::cache_hint?", "[,] [] b64@L2::cache_hint", Unsupported(IM2COL)),
    form("cp", "reduce async bulk tensor $dim global shared::cta add|min|max|inc|dec|and|or|xor tile? bulk_group L2::cache_hint?", "[,] [] b64@L2::cache_hint", Tensor),
    form("cp", "reduce async bulk tensor 3d|4d|5d global shared::cta add|min|max|inc|dec|and|or|xor im2col_no_offs bulk_group L2::cache_hint?", "[,] [] b64@L2::cache_hint", Unsupported(IM2COL)),
    form("cp", "async bulk prefetch tensor $dim L2 global tile? L2::cache_hint?", "[,] b64@L2::cache_hint", Nothing),
    form("cp", "async bulk prefetch tensor 2d L2 global tile::gather4 L2::cache_hint?", "[,] b64@L2::cache_hint", Nothing),
    form("cp", "async bulk prefetch tensor 3d|4d|5d L2 global im2col|im2col::w|im2col::w::128 L2::cache_hint?", "[,] {}b16 b64@L2::cache_hint", Nothing),

    // Asynchronous stores and reductions
    form("st", "async weak? shared::cluster? $mbar v2|v4? b32|b64|u32|u64|s32|s64|f32|f64", "[] {v}t []", Remote),
    form("st", "async mmio? release sys global? b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "[] ~t", Unsupported(ASYNC)),
    form("st", "async release gpu global? b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "[] ~t", Unsupported(ASYNC)),
    form("st", "bulk weak? shared::cta?", "[] b64/b32 imm", Unsupported(ASYNC)),
    form("red", "async relaxed cluster shared::cluster? $mbar inc|dec u32", "[] t []", Remote),
    form("red", "async relaxed cluster shared::cluster? $mbar min|max u32|s32", "[] t []", Remote),
    form("red", "async relaxed cluster shared::cluster? $mbar add u32|s32|u64", "[] t []", Remote),
    form("red", "async relaxed cluster shared::cluster? $mbar and|or|xor b32", "[] t []", Remote),
    form("red", "async mmio? release sys global? add u32|s32|u64|s64", "[] t", Unsupported(ASYNC)),
    form("red", "async release gpu global? add u32|s32|u64|s64", "[] t", Unsupported(ASYNC)),

    // mbarrier
    form("mbarrier", "init layout::v0|layout::v1? $shared? b64", "[] b32", Object),
    form("mbarrier", "inval $shared? b64", "[]", Object),
    form("mbarrier", "expect_tx|complete_tx relaxed? +cta|cluster $cluster? b64", "[] b32", Object),
    form("mbarrier", "arrive|arrive_drop release|relaxed? +cta|cluster $shared? b64", "=b64 [] b32?", Object),
    form("mbarrier", "arrive|arrive_drop release|relaxed? +cta|cluster shared::cluster b64", "_ [] b32?", Object),
    form("mbarrier", "arrive|arrive_drop expect_tx release|relaxed? +cta|cluster $shared? b64", "=b64 [] b32", Object),
    form("mbarrier", "arrive|arrive_drop expect_tx release|relaxed? +cta|cluster shared::cluster b64", "_ [] b32", Object),
    form("mbarrier", "arrive|arrive_drop noComplete release? +cta $shared? b64", "=b64 [] b32", Object),
    form("mbarrier", "test_wait acquire|relaxed? +cta|cluster $shared? b64", "=p [] b64", Object),
    form("mbarrier", "test_wait parity acquire|relaxed? +cta|cluster $shared? b64", "=p [] b32", Object),
    form("mbarrier", "try_wait acquire|relaxed? +cta|cluster $shared? b64", "=p [] b64 b32?", Object),
    form("mbarrier", "try_wait parity acquire|relaxed? +cta|cluster $shared? b64", "=p [] b32 b32?", Object),
    form("mbarrier", "check_layout layout::v0|layout::v1 $shared? b64", "=p []", Unsupported(MBARRIER)),
    form("mbarrier", "pending_count b64", "=b32 b64", Arbitrary),

    // Tensor maps
    form("tensormap", "replace tile global_address global|shared::cta? b1024 b64", "[] b64", Map),
    form("tensormap", "replace tile rank global|shared::cta? b1024 b32", "[] b32", Map),
    form("tensormap", "replace tile box_dim|global_dim|element_stride global|shared::cta? b1024 b32", "[] imm b32", Map),
    form("tensormap", "replace tile global_stride global|shared::cta? b1024 b64", "[] imm b64", Map),
    form("tensormap", "replace tile elemtype|interleave_layout|swizzle_mode|swizzle_atomicity|fill_mode global|shared::cta? b1024 b32", "[] imm", Map),
    form("tensormap", "cp_fenceproxy global shared::cta tensormap::generic release $scope sync aligned", "[] [] imm", Map),

    // multimem
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? min|max u32|s32|u64|s64", "=t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? add u32|s32|u64", "=t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? and|or|xor b32|b64", "=t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? add v2|v4? f32", "={v}t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? add f64", "=t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? add acc::f32? v2|v4|v8 f16|bf16", "={v}t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? add acc::f32? v2|v4? f16x2|bf16x2", "={v}t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? min|max v2|v4|v8 f16|bf16", "={v}t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? min|max v2|v4? f16x2|bf16x2", "={v}t []", Unsupported(MULTIMEM)),
    form("multimem", "ld_reduce weak? -relaxed|acquire? +$scope global? add|min|max acc::f16? v2|v4? e5m2x4|e4m3x4", "={v}t []", Unsupported(MULTIMEM)),
    form("multimem", "st weak? -relaxed|release? +$scope global? b32|b64|u32|u64|s32|s64|f64", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "st weak? -relaxed|release? +$scope global? v2|v4? f32", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "st weak? -relaxed|release? +$scope global? v2|v4|v8 f16|bf16", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "st weak? -relaxed|release? +$scope global? v2|v4? f16x2|bf16x2", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? min|max u32|s32|u64|s64", "[] t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? add u32|s32|u64", "[] t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? and|or|xor b32|b64", "[] t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? add v2|v4? f32", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? add f64", "[] t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? add|min|max v2|v4|v8 f16|bf16", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? add|min|max v2|v4 f16x2|bf16x2", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "red relaxed|release? +$scope global? add f16x2|bf16x2", "[] {v}t", Unsupported(MULTIMEM)),
    form("multimem", "st async release gpu|sys global? b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64", "[] ~t", Unsupported(MULTIMEM)),
    form("multimem", "red async release gpu|sys global? add u32|s32|u64", "[] t", Unsupported(MULTIMEM)),
    form("multimem", "cp async bulk global shared::cta bulk_group cp_mask?", "[] [] b32 b16@cp_mask", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group and|or|xor b32|b64", "[] [] b32", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group add u32|s32|u64", "[] [] b32", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group min|max $int32", "[] [] b32", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group inc|dec u32", "[] [] b32", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group add f32|f64", "[] [] b32", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group add noftz f16|bf16", "[] [] b32", Unsupported(MULTIMEM)),
    form("multimem", "cp reduce async bulk global shared::cta bulk_group min|max f16|bf16", "[] [] b32", Unsupported(MULTIMEM)),

    // Cluster launch control
    form("clusterlaunchcontrol", "try_cancel async shared::cta? $mbar multicast::cluster::all? b128", "[] []", Unsupported(CANCEL)),
    form("clusterlaunchcontrol", "query_cancel is_canceled pred b128", "=p b128", Unsupported(CANCEL)),
    form("clusterlaunchcontrol", "query_cancel get_first_ctaid v4 b32 b128", "={4}b32 b128", Unsupported(CANCEL)),
    form("clusterlaunchcontrol", "query_cancel get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z b32 b128", "=b32 b128", Unsupported(CANCEL)),
];
