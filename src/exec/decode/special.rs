//! Special registers as slots that are filled when a thread starts.
//!
//! Reference: PTX ISA, chapter "Special Registers".

use super::Slot;
use crate::exec::launch::Launch;
use crate::geometry::Axis;
use crate::ptx::ast::SpecialRegister;

/// Bytes in which shared memory is handed out.
const SHARED_UNIT: u32 = 128;

/// A slot that depends on the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpecialSlot {
    pub(crate) slot: Slot,
    pub(crate) value: SpecialValue,
}

/// What a special register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecialValue {
    /// `%tid` of an axis.
    Thread(Axis),
    /// `%ctaid` of an axis.
    Block(Axis),
    /// `%clusterid` of an axis, with the blocks of a cluster on it.
    Cluster(Axis, u32),
    /// `%cluster_ctaid` of an axis, with the blocks of a cluster on it.
    InCluster(Axis, u32),
    /// `%cluster_ctarank`, with the blocks of a cluster.
    Rank([u32; 3]),
    /// `%laneid`
    Lane,
    /// `%warpid`
    Warp,
    /// A mask of lanes compared with the own one: equal, up to, below, from, above.
    LaneMask(LaneOrder),
}

/// Which lanes a mask has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum LaneOrder {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

impl SpecialValue {
    /// Whether it is the same in all executions of a launch: "%warpid is volatile" (PTX, `%warpid`), and a launch may have
    /// clusters that nobody told of.
    pub(crate) fn is_fixed(self, knows_cluster: bool) -> bool {
        match self {
            SpecialValue::Warp => false,
            SpecialValue::Cluster(..) | SpecialValue::InCluster(..) | SpecialValue::Rank(_) => knows_cluster,
            _ => true,
        }
    }

    /// The value for a thread with this number in its block.
    pub(crate) fn of(self, linear: u32, thread: [u32; 3], block: [u32; 3]) -> u64 {
        let lane = linear % 32;
        let bit = 1u32 << lane;
        let value = match self {
            SpecialValue::Thread(axis) => thread[axis.index()],
            SpecialValue::Block(axis) => block[axis.index()],
            SpecialValue::Cluster(axis, size) => block[axis.index()] / size,
            SpecialValue::InCluster(axis, size) => block[axis.index()] % size,
            SpecialValue::Rank([x, y, z]) => block[0] % x + x * (block[1] % y + y * (block[2] % z)),
            SpecialValue::Lane => lane,
            SpecialValue::Warp => linear / 32,
            SpecialValue::LaneMask(order) => match order {
                LaneOrder::Equal => bit,
                LaneOrder::Less => bit - 1,
                LaneOrder::LessEqual => bit | (bit - 1),
                LaneOrder::GreaterEqual => !(bit - 1),
                LaneOrder::Greater => !(bit | (bit - 1)),
            },
        };
        u64::from(value)
    }
}

/// How a special register is known.
pub(crate) enum Known {
    /// The same for all threads.
    Constant(u64),
    /// The same, of the grid.
    OfGrid(Axis, u64),
    /// The same, of a size that another launch of this kernel may have otherwise.
    Chosen(u64),
    /// The same, of the clusters of the launch.
    OfCluster(u64),
    /// By thread.
    Slot(SpecialValue),
    /// A clock: right shift and width.
    Clock(u8, u8),
    /// Not at all; its width.
    Arbitrary(u8),
}

/// What is known about a special register in a launch.
pub(crate) fn known(register: SpecialRegister, launch: &Launch, shared_size: u32) -> Known {
    use SpecialRegister::{Ctaid, LaneId, Nctaid, Ntid, Other, Tid, WarpId, WarpSize};
    let cluster = launch.cluster;
    let constant = |value: u32| Known::Constant(u64::from(value));
    let chosen = |value: u32| Known::Chosen(u64::from(value));
    let of_cluster = |value: u32| Known::OfCluster(u64::from(value));
    match register {
        Tid(axis) => Known::Slot(SpecialValue::Thread(axis)),
        Ctaid(axis) => Known::Slot(SpecialValue::Block(axis)),
        Ntid(axis) => constant(launch.geometry.block[axis.index()]),
        Nctaid(axis) => Known::OfGrid(axis, u64::from(launch.geometry.grid[axis.index()])),
        LaneId => Known::Slot(SpecialValue::Lane),
        WarpId => Known::Slot(SpecialValue::Warp),
        WarpSize => constant(32),
        Other(register) => match register.name() {
            "%lanemask_eq" => Known::Slot(SpecialValue::LaneMask(LaneOrder::Equal)),
            "%lanemask_le" => Known::Slot(SpecialValue::LaneMask(LaneOrder::LessEqual)),
            "%lanemask_lt" => Known::Slot(SpecialValue::LaneMask(LaneOrder::Less)),
            "%lanemask_ge" => Known::Slot(SpecialValue::LaneMask(LaneOrder::GreaterEqual)),
            "%lanemask_gt" => Known::Slot(SpecialValue::LaneMask(LaneOrder::Greater)),
            "%clusterid.x" => Known::Slot(SpecialValue::Cluster(Axis::X, cluster[0])),
            "%clusterid.y" => Known::Slot(SpecialValue::Cluster(Axis::Y, cluster[1])),
            "%clusterid.z" => Known::Slot(SpecialValue::Cluster(Axis::Z, cluster[2])),
            "%nclusterid.x" => of_cluster(launch.geometry.grid[0] / cluster[0]),
            "%nclusterid.y" => of_cluster(launch.geometry.grid[1] / cluster[1]),
            "%nclusterid.z" => of_cluster(launch.geometry.grid[2] / cluster[2]),
            "%cluster_nctaid.x" => of_cluster(cluster[0]),
            "%cluster_nctaid.y" => of_cluster(cluster[1]),
            "%cluster_nctaid.z" => of_cluster(cluster[2]),
            "%cluster_nctarank" => of_cluster(cluster.iter().product()),
            "%cluster_ctaid.x" => Known::Slot(SpecialValue::InCluster(Axis::X, cluster[0])),
            "%cluster_ctaid.y" => Known::Slot(SpecialValue::InCluster(Axis::Y, cluster[1])),
            "%cluster_ctaid.z" => Known::Slot(SpecialValue::InCluster(Axis::Z, cluster[2])),
            "%cluster_ctarank" => Known::Slot(SpecialValue::Rank(cluster)),
            "%is_explicit_cluster" => chosen(u32::from(cluster != [1; 3])),
            "%dynamic_smem_size" => {
                let buffers = launch.shared_buffers.iter().map(|buffer| buffer.size.next_multiple_of(16));
                chosen(buffers.fold(launch.dynamic_shared, u32::saturating_add))
            }
            // In units in which GPUs hand it out; those since sm_80 have 128 bytes.
            "%total_smem_size" => chosen(shared_size.next_multiple_of(SHARED_UNIT)),
            "%clock" | "%globaltimer_lo" => Known::Clock(0, 32),
            "%clock_hi" | "%globaltimer_hi" => Known::Clock(32, 32),
            "%clock64" | "%globaltimer" => Known::Clock(0, 64),
            _ => Known::Arbitrary(register.bits() as u8),
        },
    }
}
