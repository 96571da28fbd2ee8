//! What orders accesses of different threads: the one table.
//!
//! Input: the full name of a PTX instruction. Output: [`Order`]. Establishes: whoever has to know what an instruction
//! orders matches on all orders, so that a new one fails to compile where nobody has thought of it. Readers: `twothread`
//! (what clears the log), `infer` (loops whose rounds are apart), `exec` (what synchronises), `confirm` (whether
//! threads can wait for each other).
//! Reference: PTX ISA, memory consistency model (scopes, morally strong, causality order, proxies).

use std::fmt;
use std::sync::Arc;

/// Scopes of the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu` (and `.gl`)
    Gpu,
    /// `.sys`
    Sys,
}

/// How a memory operation takes part in the memory model (8.4 of the ISA: weak and strong).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// `.weak` or nothing written.
    Weak,
    /// `.volatile`: relaxed at `.sys`.
    Volatile,
    /// `.relaxed` (also `.mmio`)
    Relaxed(Scope),
    /// `.acquire`
    Acquire(Scope),
    /// `.release`
    Release(Scope),
    /// `.acq_rel`
    AcquireRelease(Scope),
}

impl Ordering {
    /// The scope of a strong operation; `None` when weak.
    pub(crate) fn strong_scope(self) -> Option<Scope> {
        match self {
            Ordering::Weak => None,
            Ordering::Volatile => Some(Scope::Sys),
            Ordering::Relaxed(s) | Ordering::Acquire(s) | Ordering::Release(s) | Ordering::AcquireRelease(s) => Some(s),
        }
    }
}

/// What an instruction that is no access orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// A barrier for which all threads of the block wait: what was before it comes before what is behind it.
    Block,
    /// A barrier for which a number of threads wait.
    Counted,
    /// `bar.warp.sync`: the threads of its mask.
    Warp,
    /// A barrier of a block behind which all blocks of the grid have come to it, by way of a counter.
    Grid,
    /// `membar`, `fence`: orders nothing alone, but with strong accesses on both sides (the ISA's patterns).
    Fence {
        /// The threads between which it works.
        scope: Scope,
        /// Takes part in the order of all `.sc` fences.
        sequential: bool,
        /// Publishes what was before it.
        release: bool,
        /// Observes what others published.
        acquire: bool,
    },
    /// `fence.mbarrier_init`, `fence.*.sync_restrict`: a fence for barrier objects only.
    BarrierObjects,
    /// Between accesses through the generic proxy and the asynchronous one (or, with neither space, another one).
    Proxy {
        /// To shared memory.
        shared: bool,
        /// Of that, to the memory of the own block only.
        own: bool,
        /// To global memory.
        global: bool,
    },
    /// A thread knows that copies which it started are complete.
    Completion,
}

/// An instruction that orders and is neither an access nor a block's barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    name: Arc<str>,
    order: Order,
}

/// The name of the barrier of a warp.
const WARP_BARRIER: &str = "bar.warp.sync";

impl Fence {
    /// The barrier of a warp.
    pub(crate) fn warp() -> Fence {
        Fence { name: WARP_BARRIER.into(), order: Order::Warp }
    }

    /// The fence of a full opcode; `None` where it is none.
    pub fn named(name: &str) -> Option<Fence> {
        Some(Fence { name: name.into(), order: order_of(name)? })
    }

    /// Whether it orders accesses through the generic proxy and those through the asynchronous one, both ways and whoever else takes
    /// part: of shared memory, and of global memory.
    pub(crate) fn proxies(&self) -> [bool; 2] {
        match self.order {
            Order::Proxy { shared, global, .. } if !self.name.contains("sync_restrict") => [shared, global],
            _ => [false; 2],
        }
    }

    /// What it orders; never [`Order::Block`] or [`Order::Counted`].
    pub(crate) fn order(&self) -> Order {
        self.order
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn order_of(name: &str) -> Option<Order> {
    if name == WARP_BARRIER {
        return Some(Order::Warp);
    }
    let mut words = name.split('.');
    let is_old = match words.next()? {
        "membar" => true,
        "fence" => false,
        _ => return None,
    };
    let words: Vec<&str> = words.collect();
    let has = |word: &str| words.contains(&word);
    if has("proxy") {
        let is_async = words.iter().any(|word| word.starts_with("async"));
        let in_shared = words.iter().any(|word| word.starts_with("shared"));
        let (shared, own) = (is_async && !has("global"), has("shared::cta"));
        return Some(Order::Proxy { shared, own, global: is_async && !in_shared });
    }
    if words.iter().any(|word| word.starts_with("sync_restrict") || *word == "mbarrier_init") {
        return Some(Order::BarrierObjects);
    }
    let known = ["sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "gl", "sys"];
    if !words.iter().all(|word| known.contains(word)) {
        return None;
    }
    let scope = match () {
        () if has("cta") => Scope::Cta,
        () if has("cluster") => Scope::Cluster,
        () if has("sys") => Scope::Sys,
        () => Scope::Gpu,
    };
    // `membar` is `fence.sc`; a plain `fence` is `.acq_rel`.
    let sequential = is_old || has("sc");
    Some(Order::Fence { scope, sequential, release: !has("acquire"), acquire: !has("release") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_by_name() {
        let order = |name: &str| Fence::named(name).map(|fence| fence.order());
        let fence = |scope, sequential, release, acquire| Some(Order::Fence { scope, sequential, release, acquire });
        assert_eq!(order("membar.gl"), fence(Scope::Gpu, true, true, true));
        assert_eq!(order("membar.cta"), fence(Scope::Cta, true, true, true));
        assert_eq!(order("fence.sc.sys"), fence(Scope::Sys, true, true, true));
        assert_eq!(order("fence.acq_rel.cluster"), fence(Scope::Cluster, false, true, true));
        assert_eq!(order("fence.acquire.gpu"), fence(Scope::Gpu, false, false, true));
        assert_eq!(order("fence.release.gpu"), fence(Scope::Gpu, false, true, false));
        assert_eq!(order("fence.mbarrier_init.release.cluster"), Some(Order::BarrierObjects));
        assert_eq!(order("fence.acquire.sync_restrict::shared::cluster.cluster"), Some(Order::BarrierObjects));
        assert_eq!(
            order("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster"),
            Some(Order::Proxy { shared: true, own: false, global: true })
        );
        assert_eq!(order("membar.proxy.alias"), Some(Order::Proxy { shared: false, own: false, global: false }));
        assert_eq!(order("bar.warp.sync"), Some(Order::Warp));
        for unknown in ["bar.sync", "fence.everything", "membar.gpus", "trap", ""] {
            assert_eq!(order(unknown), None, "{unknown}");
        }
    }
}
