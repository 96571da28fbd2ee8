//! Table rows: control flow, barriers, fences, warp-wide operations and the rest.
//!
//! Warp-wide operations exchange values and order nothing (the warp is not a scope). The pattern
//! language is explained in [`super::table`].
//! Reference: PTX ISA, sections on control flow, parallel synchronization, video and miscellaneous
//! instructions.

use super::table::{Form, Meaning, form};
use Meaning::*;

const CLUSTER: &str = "barriers of a cluster are not modelled";
const PROXY: &str = "fences between proxies are not modelled";

/// The rows.
#[rustfmt::skip]
pub const FORMS: &[Form] = &[
    form("bra", "uni?", "label", Branch),
    form("brx", "idx uni?", "b32 table", BranchIndexed),
    form("call", "uni?", "call", Call),
    form("ret", "uni?", "", Return),
    form("exit", "", "", Exit),
    form("trap", "", "", Trap),

    // Barriers and fences
    form("bar", "warp sync", "b32", WarpBarrier),
    form("bar", "cta? sync", "b32 b32?", BarrierSync),
    form("bar", "cta? arrive", "b32 b32", BarrierArrive),
    form("bar", "cta? red popc u32", "=u32 b32 b32? p", BarrierReduce),
    form("bar", "cta? red and|or pred", "=p b32 b32? p", BarrierReduce),
    form("barrier", "cta? sync aligned?", "b32 b32?", BarrierSync),
    form("barrier", "cta? arrive aligned?", "b32 b32", BarrierArrive),
    form("barrier", "cta? red popc aligned? u32", "=u32 b32 b32? p", BarrierReduce),
    form("barrier", "cta? red and|or aligned? pred", "=p b32 b32? p", BarrierReduce),
    form("barrier", "cluster arrive|wait **", "*", Unsupported(CLUSTER)),
    form("membar", "cta|gl|sys", "", Fence),
    form("membar", "proxy **", "*", Unsupported(PROXY)),
    form("fence", "sc|acq_rel|acquire|release? $scope", "", Fence),
    form("fence", "acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster **", "*", Unsupported(CLUSTER)),
    form("fence", "mbarrier_init **", "*", Unsupported("mbarrier objects are not modelled")),
    form("fence", "proxy **", "*", Unsupported(PROXY)),

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
    form("elect", "sync", "=b32|p b32", Arbitrary),

    // Other grids, time and debugging: nothing that this kernel's threads could observe in memory.
    // `brkpt` may end the launch, which only removes executions.
    form("griddepcontrol", "launch_dependents|wait", "", Nothing),
    form("nanosleep", "u32", "u32", Nothing),
    form("pmevent", "mask?", "imm", Nothing),
    form("brkpt", "", "", Nothing),
    form("setmaxnreg", "inc|dec sync aligned u32", "imm", Unsupported("it may block a warp group until registers are free")),
    form("clusterlaunchcontrol", "try_cancel|query_cancel **", "*", Unsupported("cancelling blocks of a cluster launch is not modelled")),
];

/// Scalar and SIMD video instructions: arithmetic on bytes and half words of registers.
pub const VIDEO_OPCODES: &[&str] = &[
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vshl",
    "vshr",
    "vmad",
    "vset",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vmin2",
    "vmax2",
    "vset2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vmin4",
    "vmax4",
    "vset4",
];
