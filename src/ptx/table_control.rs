//! Table rows: control flow, barriers, fences, warp-wide operations and the rest.
//!
//! Warp-wide operations exchange values and order nothing (the warp is not a scope). The pattern
//! language is explained in [`super::pattern`].
//! Reference: PTX ISA, sections on control flow, parallel synchronization, video and miscellaneous
//! instructions.

use super::table::{Form, Meaning, form};
use Meaning::*;

/// The rows.
#[rustfmt::skip]
pub(crate) const FORMS: &[Form] = &[
    form("bra", "uni?", "label", Branch),
    form("brx", "idx uni?", "b32 table", BranchIndexed),
    form("call", "uni?", "call", Call),
    form("ret", "uni?", "", Return),
    form("exit", "", "", Exit),
    form("trap", "", "", Trap),

    // Barriers and fences
    form("bar", "warp sync", "b32", WarpBarrier),
    form("bar", "cta? sync", "barrier threads?", BarrierSync),
    form("bar", "cta? arrive", "barrier some", BarrierArrive),
    form("bar", "cta? red popc u32", "=u32 barrier threads? p", BarrierReduce),
    form("bar", "cta? red and|or pred", "=p barrier threads? p", BarrierReduce),
    form("barrier", "cta? sync aligned?", "barrier threads?", BarrierSync),
    form("barrier", "cta? arrive aligned?", "barrier some", BarrierArrive),
    form("barrier", "cta? red popc aligned? u32", "=u32 barrier threads? p", BarrierReduce),
    form("barrier", "cta? red and|or aligned? pred", "=p barrier threads? p", BarrierReduce),
    form("barrier", "cluster arrive release|relaxed? aligned?", "", ClusterBarrier),
    form("barrier", "cluster wait acquire? aligned?", "", ClusterBarrier),
    form("membar", "cta|gl|sys", "", Fence),
    form("membar", "proxy alias|async", "", Fence),
    form("fence", "sc|acq_rel|acquire|release? $scope", "", Fence),
    form("fence", "acquire sync_restrict::shared::cluster cluster", "", Fence),
    form("fence", "release sync_restrict::shared::cta cluster", "", Fence),
    form("fence", "mbarrier_init release cluster", "", Fence),
    form("fence", "proxy alias", "", Fence),
    form("fence", "proxy async", "", Fence),
    form("fence", "proxy async::generic acquire sync_restrict::shared::cluster cluster", "", Fence),
    form("fence", "proxy async::generic release sync_restrict::shared::cta cluster", "", Fence),
    form("fence", "proxy async global|shared::cta|shared::cluster", "", Fence),
    form("fence", "proxy fabric::fabric|fabric::generic|generic::fabric alias acquire|release sys", "", Fence),
    form("fence", "proxy tensormap::generic release $scope", "", Fence),
    form("fence", "proxy tensormap::generic acquire $scope", "[] imm", Map),

    // Warp-wide operations
    form("shfl", "sync up|down|bfly|idx b32", "=t|p t b32 b32 b32", Arbitrary),
    form("shfl", "up|down|bfly|idx b32", "=t|p t b32 b32", Arbitrary),
    form("vote", "sync all|any|uni pred", "=p p b32", Arbitrary),
    form("vote", "sync ballot b32", "=b32 p b32", Arbitrary),
    form("vote", "all|any|uni pred", "=p p", Arbitrary),
    form("vote", "ballot b32", "=b32 p", Arbitrary),
    form("match", "any sync b32|b64", "=b32 t b32", Arbitrary),
    form("match", "all sync b32|b64", "=b32|p t b32", Arbitrary),
    form("activemask", "b32", "=b32", Arbitrary),
    form("redux", "sync add|min|max u32|s32", "=t t b32", Arbitrary),
    form("redux", "sync and|or|xor b32", "=t t b32", Arbitrary),
    form("redux", "sync min|max abs? NaN? f32", "=t t b32", Arbitrary),
    form("elect", "sync", "=b32&p b32", Arbitrary),

    // Other grids, time and debugging: nothing that this kernel's threads could observe in memory.
    // `brkpt` may end the launch, which only removes executions.
    form("griddepcontrol", "launch_dependents|wait", "", Nothing),
    form("nanosleep", "u32", "u32", Nothing),
    form("pmevent", "mask?", "imm", Nothing),
    form("brkpt", "", "", Nothing),
    form("setmaxnreg", "inc|dec sync aligned u32", "registers", Registers),

    // Video: arithmetic on bytes and half words of registers
    form("vadd", "$video $video $video sat?", "=part part part b32?", Arbitrary),
    form("vadd", "$video $video $video sat? min|max|add", "=part part part b32", Arbitrary),
    form("vsub", "$video $video $video sat?", "=part part part b32?", Arbitrary),
    form("vsub", "$video $video $video sat? min|max|add", "=part part part b32", Arbitrary),
    form("vabsdiff", "$video $video $video sat?", "=part part part b32?", Arbitrary),
    form("vabsdiff", "$video $video $video sat? min|max|add", "=part part part b32", Arbitrary),
    form("vmin", "$video $video $video sat?", "=part part part b32?", Arbitrary),
    form("vmin", "$video $video $video sat? min|max|add", "=part part part b32", Arbitrary),
    form("vmax", "$video $video $video sat?", "=part part part b32?", Arbitrary),
    form("vmax", "$video $video $video sat? min|max|add", "=part part part b32", Arbitrary),
    form("vshl", "$video $video u32 sat? clamp|wrap", "=part part part b32?", Arbitrary),
    form("vshl", "$video $video u32 sat? clamp|wrap min|max|add", "=part part part b32", Arbitrary),
    form("vshr", "$video $video u32 sat? clamp|wrap", "=part part part b32?", Arbitrary),
    form("vshr", "$video $video u32 sat? clamp|wrap min|max|add", "=part part part b32", Arbitrary),
    form("vmad", "$video $video $video po? sat? shr7|shr15?", "=b32 -part -part -part", Arbitrary),
    form("vset", "$video $video $relation", "=part part part b32?", Arbitrary),
    form("vset", "$video $video $relation min|max|add", "=part part part b32", Arbitrary),
    form("vadd2", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vadd4", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vsub2", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vsub4", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vavrg2", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vavrg4", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vabsdiff2", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vabsdiff4", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vmin2", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vmin4", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vmax2", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vmax4", "$video $video $video sat|add?", "=part part part b32", Arbitrary),
    form("vset2", "$video $video $relation add?", "=part part part b32", Arbitrary),
    form("vset4", "$video $video $relation add?", "=part part part b32", Arbitrary),
];
