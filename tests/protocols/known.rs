//! Protocols whose defects are known: the oracle itself is tried.
//!
//! Many are the counterexamples by which an independent review refuted rules of proof, beside correct twins.

use super::oracle::{Answer, Defect, explore};
use super::protocol::{Fenced, Operation as Op, Protocol, Range, SLOT, Space};
use Defect::{BarrierError, Deadlock, Race};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;

/// A protocol and what can happen in it.
struct Known {
    name: &'static str,
    /// Expected arrivals; 0: not initialised.
    objects: Vec<u32>,
    threads: Vec<Vec<Op>>,
    defects: Vec<Defect>,
    is_cluster: bool,
}

/// One trial a protocol.
pub fn trials() -> Vec<Trial> {
    let all = [
        named(),
        groups(),
        objects(),
        phases(),
        arrivals_of_copies(),
        bulk_loads(),
        bulk_stores(),
        fences(),
        tries(),
        clusters(),
    ];
    let trial = |known: Known| Trial::test(format!("known/{}", known.name), move || check(&known));
    all.into_iter().flatten().map(trial).collect()
}

fn check(known: &Known) -> Result<(), Failed> {
    let objects = known.objects.iter().map(|count| (*count > 0).then_some(*count)).collect();
    let of = if known.is_cluster { Protocol::of_cluster } else { Protocol::new };
    let protocol = of(known.threads.clone(), objects);
    let expected = Answer::Defects(known.defects.iter().copied().collect::<BTreeSet<_>>());
    match explore(&protocol, 100_000) {
        answer if answer == expected => Ok(()),
        answer => Err(format!("{answer:?}, not {expected:?}").into()),
    }
}

fn known<const N: usize, const M: usize>(
    name: &'static str,
    objects: &[u32],
    threads: [&[Op]; N],
    defects: [Defect; M],
) -> Known {
    let threads = threads.iter().map(|operations| operations.to_vec()).collect();
    Known { name, objects: objects.to_vec(), threads, defects: defects.to_vec(), is_cluster: false }
}

const WORD: Range = Range { space: Space::Shared, at: 0, bytes: 4 };
const BYTE: Range = Range { space: Space::Shared, at: 3, bytes: 1 };
const OTHER: Range = Range { space: Space::Shared, at: 32, bytes: 4 };
const SOURCE: Range = Range { space: Space::Global, at: 0, bytes: 4 };
const WRITE: Op = Op::Access { range: WORD, writes: true };
const READ: Op = Op::Access { range: WORD, writes: false };
const COPY: Op = Op::Copy { to: 0, from: 0, bytes: 4 };
const COMPLETE: Op = Op::WaitGroup { pending: Some(0) };
const LOAD: Op = Op::BulkLoad { to: 0, from: 0, bytes: SLOT, object: 0 };
const STORE: Op = Op::BulkStore { to: 0, from: 0, bytes: SLOT };
const STORED: Op = Op::BulkWait { pending: 0, read: false };
const STORE_READ: Op = Op::BulkWait { pending: 0, read: true };
const FENCE: Op = Op::Fence(Fenced::All);
const RELAXED_ARRIVAL: Op = Op::ArriveOn { object: 0, release: false, expected: None };
const RELAXED_WAIT: Op = Op::WaitParity { object: 0, parity: 0, acquire: false, test: false };
const TOKEN: Op = Op::WaitToken { object: 0, acquire: true };

fn sync(id: usize, warps: u32) -> Op {
    Op::Sync { id, warps }
}

fn arrive(id: usize, warps: u32) -> Op {
    Op::Arrive { id, warps }
}

fn on(object: usize) -> Op {
    Op::arrive_on(object)
}

fn wait(object: usize, parity: u32) -> Op {
    Op::wait(object, parity)
}

fn named() -> Vec<Known> {
    let differ = [BarrierError((1, 0)), Deadlock];
    // The arrival that is left over completes the barrier for one of the two others.
    let left_over = [Race((1, 1), (2, 2)), Deadlock];
    let third: &[Op] = &[sync(2, 3), sync(1, 2), READ];
    vec![
        known("arrive_sync", &[], [&[WRITE, arrive(1, 2)], &[sync(1, 2), READ]], []),
        known("arrive_sync_early", &[], [&[WRITE, arrive(1, 2)], &[READ, sync(1, 2)]], [Race((0, 0), (1, 0))]),
        known("arrive_acquires_nothing", &[], [&[WRITE, sync(1, 2)], &[arrive(1, 2), READ]], [Race((0, 0), (1, 1))]),
        known("bytes_meet", &[], [&[WRITE], &[Op::read(BYTE)]], [Race((0, 0), (1, 0))]),
        known("bytes_apart", &[], [&[WRITE], &[Op::write(OTHER)]], []),
        known("arrives_twice", &[], [&[arrive(1, 2), arrive(1, 2)], &[sync(1, 2)]], [BarrierError((0, 1))]),
        known("counts_differ", &[], [&[sync(1, 2)], &[sync(1, 1)]], differ),
        known("opposite_orders", &[], [&[sync(1, 2), sync(2, 2)], &[sync(2, 2), sync(1, 2)]], [Deadlock]),
        known("left_over", &[], [&[arrive(1, 2), sync(2, 3)], &[sync(2, 3), WRITE, sync(1, 2)], third], left_over),
        known("phases_apart", &[], [&[WRITE, arrive(1, 2)], &[sync(1, 2), sync(2, 2)], &[sync(2, 2), READ]], []),
    ]
}

fn groups() -> Vec<Known> {
    let late: &[Op] = &[COPY, Op::Commit, Op::WaitGroup { pending: Some(1) }, READ];
    let told: &[Op] = &[COPY, Op::Commit, COMPLETE, arrive(1, 2)];
    let not_told: &[Op] = &[COPY, Op::Commit, arrive(1, 2), COMPLETE];
    let reader: &[Op] = &[sync(1, 2), READ];
    vec![
        known("copy", &[], [&[WRITE, COPY, Op::Commit, COMPLETE, READ]], []),
        known("copy_pending", &[], [late], [Race((0, 0), (0, 3))]),
        known("copy_uncommitted", &[], [&[COPY, COMPLETE, READ]], [Race((0, 0), (0, 2))]),
        known("copy_wait_all", &[], [&[COPY, Op::WaitGroup { pending: None }, READ]], []),
        known("copy_told", &[], [told, reader], []),
        known("copy_not_told", &[], [not_told, reader], [Race((0, 0), (1, 1))]),
        known("copy_source", &[], [&[COPY, Op::write(SOURCE)]], [Race((0, 0), (0, 1))]),
        known("copy_twice", &[], [&[COPY, Op::Commit, COPY]], [Race((0, 0), (0, 2))]),
    ]
}

fn objects() -> Vec<Known> {
    let writer: &[Op] = &[WRITE, on(0)];
    let reader: &[Op] = &[wait(0, 0), READ];
    let middle: &[Op] = &[wait(0, 0), Op::ArriveOn { object: 1, release: false, expected: None }];
    let last: &[Op] = &[wait(1, 0), READ];
    // The wait passes before the arrival, and never behind it.
    let other_parity = [Race((0, 0), (1, 1)), Deadlock];
    vec![
        known("object", &[1], [writer, reader], []),
        known("object_parity", &[1], [writer, &[wait(0, 1), READ]], other_parity),
        known("relaxed_arrival", &[1], [&[WRITE, RELAXED_ARRIVAL], reader], [Race((0, 0), (1, 1))]),
        known("relaxed_wait", &[1], [writer, &[RELAXED_WAIT, READ]], [Race((0, 0), (1, 1))]),
        known("through_a_third", &[1, 1], [writer, &[wait(0, 0), on(1)], last], []),
        known("relaxed_middle", &[1, 1], [writer, middle, last], [Race((0, 0), (2, 1))]),
        known("behind_the_arrival", &[2], [&[on(0), WRITE], &[on(0), TOKEN, READ]], [Race((0, 1), (1, 2))]),
        known("token", &[2], [writer, &[on(0), TOKEN, READ]], []),
    ]
}

fn phases() -> Vec<Known> {
    let over = [BarrierError((0, 0)), BarrierError((1, 0))];
    let dropper: &[Op] = &[Op::Drop { object: 0 }, WRITE];
    let stays: &[Op] = &[on(0), wait(0, 0), on(0), wait(0, 1), READ];
    let next: &[Op] = &[wait(0, 0), on(0)];
    let early: &[Op] = &[Op::Drop { object: 0 }];
    vec![
        known("arrivals_too_many", &[1], [&[on(0)], &[on(0)]], over),
        known("arrival_behind_a_wait", &[1], [&[on(0)], next], []),
        known("overtaken", &[1], [&[on(0)], next, &[wait(0, 0)]], [Deadlock]),
        known("old_token", &[1], [&[on(0), TOKEN], next], [BarrierError((0, 1))]),
        known("missing_arrival", &[2], [&[on(0)], &[wait(0, 0)]], [Deadlock]),
        known("dropped_thread_orders_nothing", &[2], [dropper, stays], [Race((0, 1), (1, 4))]),
        known("dropped_thread_is_not_awaited", &[2], [early, stays], []),
        known("not_initialised", &[0], [&[on(0)]], [BarrierError((0, 0))]),
        known("initialised_twice", &[1], [&[Op::Init { object: 0, count: 1 }]], [BarrierError((0, 0))]),
        known("touched", &[1], [&[Op::Touch { object: 0, writes: false }]], [BarrierError((0, 0))]),
        known("bytes_out_of_range", &[1], [&[Op::arrive_expecting(0, 1 << 20)]], [BarrierError((0, 0))]),
    ]
}

fn arrivals_of_copies() -> Vec<Known> {
    let noinc = Op::CopyArrive { object: 0, noinc: true };
    let inc = Op::CopyArrive { object: 0, noinc: false };
    let both: &[Op] = &[Op::write(OTHER), COPY, noinc];
    let too_late = [Race((0, 0), (1, 2)), BarrierError((0, 1))];
    vec![
        known("copy_arrives", &[1], [both, &[wait(0, 0), READ]], []),
        known("only_copies_arrive", &[1], [both, &[wait(0, 0), Op::read(OTHER)]], [Race((0, 0), (1, 1))]),
        known("copy_and_thread_arrive", &[1], [&[COPY, inc, on(0)], &[wait(0, 0), READ]], []),
        known("copy_arrives_anywhere", &[1], [&[COPY, inc], &[on(0), wait(0, 0), READ]], too_late),
        known("copy_uncounted", &[1], [&[COPY, noinc, on(0)]], [BarrierError((0, 1)), BarrierError((0, 2))]),
    ]
}

fn bulk_loads() -> Vec<Known> {
    let expecting = |bytes| Op::arrive_expecting(0, bytes);
    let reader: &[Op] = &[wait(0, 0), READ];
    let not_expected = [Race((0, 1), (1, 1)), BarrierError((0, 1))];
    let issuer: &[Op] = &[Op::write(OTHER), LOAD];
    vec![
        known("load", &[1], [&[expecting(SLOT), LOAD], reader], []),
        known("load_expected_late", &[1], [&[LOAD, expecting(SLOT)], reader], []),
        known("load_expected_apart", &[1], [&[Op::Expect { object: 0, bytes: SLOT }, LOAD, on(0)], reader], []),
        known("load_too_small", &[1], [&[expecting(2 * SLOT), LOAD], reader], [Deadlock]),
        known("load_not_expected", &[1], [&[on(0), LOAD], reader], not_expected),
        known(
            "load_orders_nothing_else",
            &[1],
            [issuer, &[expecting(SLOT), wait(0, 0), Op::read(OTHER)]],
            [Race((0, 0), (1, 2))],
        ),
        known("load_not_awaited", &[1], [&[expecting(SLOT), LOAD, READ]], [Race((0, 1), (0, 2)), BarrierError((0, 1))]),
        known(
            "load_twice",
            &[1],
            [&[expecting(2 * SLOT), LOAD, LOAD]],
            [Race((0, 1), (0, 2)), BarrierError((0, 1)), BarrierError((0, 2))],
        ),
    ]
}

fn bulk_stores() -> Vec<Known> {
    let target = Op::read(SOURCE);
    let late = Op::BulkWait { pending: 1, read: true };
    vec![
        known("store", &[], [&[WRITE, FENCE, STORE, Op::BulkCommit, STORED, target, WRITE]], []),
        known("store_read", &[], [&[STORE, Op::BulkCommit, STORE_READ, WRITE]], []),
        known("store_only_read", &[], [&[STORE, Op::BulkCommit, STORE_READ, target]], [Race((0, 0), (0, 3))]),
        known(
            "store_pending",
            &[],
            [&[STORE, Op::BulkCommit, late, WRITE]],
            [Race((0, 0), (0, 3)), BarrierError((0, 0))],
        ),
        known("store_uncommitted", &[], [&[STORE, STORED, WRITE]], [Race((0, 0), (0, 2)), BarrierError((0, 0))]),
        known(
            "groups_are_apart",
            &[],
            [&[STORE, Op::Commit, COMPLETE, WRITE]],
            [Race((0, 0), (0, 3)), BarrierError((0, 0))],
        ),
    ]
}

fn fences() -> Vec<Known> {
    let acquirer: &[Op] = &[sync(1, 2), FENCE, STORE, Op::BulkCommit, STORE_READ];
    let too_soon: &[Op] = &[COPY, Op::Commit, FENCE, COMPLETE, STORE];
    let reused = |fence: Option<Op>| [vec![READ], fence.into_iter().collect(), vec![on(0)]].concat();
    let load = Op::BulkLoad { to: 0, from: 0, bytes: SLOT, object: 1 };
    let refill: &[Op] = &[wait(0, 0), load];
    vec![
        known("no_fence", &[], [&[WRITE, STORE]], [Race((0, 0), (0, 1)), BarrierError((0, 1))]),
        known(
            "fence_of_another_space",
            &[],
            [&[WRITE, Op::Fence(Fenced::Global), STORE]],
            [Race((0, 0), (0, 2)), BarrierError((0, 2))],
        ),
        known("fence_of_the_space", &[], [&[WRITE, Op::Fence(Fenced::Shared), STORE, Op::BulkCommit, STORE_READ]], []),
        known("fence_behind_the_barrier", &[], [&[WRITE, arrive(1, 2)], acquirer], []),
        known(
            "no_fence_anywhere",
            &[],
            [&[WRITE, arrive(1, 2)], &[sync(1, 2), STORE]],
            [Race((0, 0), (1, 1)), BarrierError((1, 1))],
        ),
        known("fence_before_the_access", &[], [&[FENCE, WRITE, STORE]], [Race((0, 1), (0, 2)), BarrierError((0, 2))]),
        known("fence_before_the_wait", &[], [too_soon], [Race((0, 0), (0, 4)), BarrierError((0, 4))]),
        known("refill_fenced", &[1, 1], [&reused(Some(FENCE)), refill], [BarrierError((1, 1))]),
        known("refill_not_fenced", &[1, 1], [&reused(None), refill], [Race((0, 0), (1, 1)), BarrierError((1, 1))]),
    ]
}

/// Tries, and objects that are ended.
fn tries() -> Vec<Known> {
    let (peek, wait) =
        (|acquire| Op::Peek { object: 0, parity: 0, acquire }, Op::WaitUnless { object: 0, parity: 0, acquire: true });
    let waits = Op::wait(0, 0);
    let read_if = Op::AccessIf { range: WORD, writes: false };
    let (inval, init) = (Op::Inval { object: 0 }, Op::Init { object: 0, count: 1 });
    let fill: [Op; 2] = [WRITE, on(0)];
    vec![
        known("try", &[1], [&fill, &[peek(true), read_if, wait, READ]], []),
        known("try_of_no_account", &[1], [&fill, &[peek(true), READ, wait]], [Race((0, 0), (1, 1))]),
        known("try_relaxed", &[1], [&fill, &[peek(false), wait, READ]], [Race((0, 0), (1, 2))]),
        known("anew", &[1], [&[on(0), waits, inval, init, on(0), waits]], []),
        known("anew_too_early", &[1], [&[inval], &[on(0)]], [Race((0, 0), (1, 0)), BarrierError((1, 0))]),
        known("ended_under_a_copy", &[1], [&[Op::arrive_expecting(0, SLOT), LOAD, inval]], [BarrierError((0, 1))]),
    ]
}

/// The barrier of a cluster, and objects and memory of another block.
fn clusters() -> Vec<Known> {
    const PEER: Range = Range { space: Space::Peer, at: 0, bytes: 4 };
    const READ_PEER: Op = Op::Access { range: PEER, writes: false };
    const WRITE_PEER: Op = Op::Access { range: PEER, writes: true };
    const COME: Op = Op::ClusterArrive { release: true };
    const LEAVE: Op = Op::ClusterWait;
    const BYTES: Op = Op::ArriveOn { object: 2, release: true, expected: Some(SLOT) };
    const SEND: Op = Op::Send { to: 0, from: 0, bytes: SLOT, object: 2 };
    const ALL: Op = Op::Multicast { to: 0, from: 0, bytes: SLOT, object: 0 };
    let other: [Op; 6] = [WRITE_PEER, COME, LEAVE, READ, COME, LEAVE];
    let reader: [Op; 5] = [READ_PEER, on(0), BYTES, wait(2, 0), on(0)];
    let cast: [Op; 4] = [Op::arrive_expecting(0, SLOT), ALL, wait(0, 0), READ];
    let objects = [1; 4];
    let all = vec![
        known("exchange", &[], [&[WRITE, COME, LEAVE, READ_PEER, COME, LEAVE], &other], []),
        known(
            "exchange_not_awaited",
            &[],
            [&[WRITE, COME, READ_PEER, LEAVE, COME, LEAVE], &other],
            [Race((0, 2), (1, 0))],
        ),
        known(
            "exchange_relaxed",
            &[],
            [&[WRITE, Op::ClusterArrive { release: false }, LEAVE, READ_PEER, COME, LEAVE], &other],
            [Race((0, 0), (1, 3))],
        ),
        known("other_block_has_exited", &[], [&[], &[READ]], [BarrierError((1, 0))]),
        known("cluster_twice", &[], [&[COME, COME], &[]], [BarrierError((0, 1))]),
        known("cluster_not_come", &[], [&[LEAVE], &[]], [BarrierError((0, 0))]),
        known("cluster_who_came_has_exited", &[], [&[COME], &[COME, LEAVE]], []),
        known("remote_arrival", &objects, [&[WRITE_PEER, on(2)], &[wait(2, 0), READ_PEER]], []),
        known("multicast", &objects, [&cast, &[BYTES, wait(2, 0), READ_PEER]], []),
        known("multicast_not_awaited", &objects, [&cast, &[BYTES, READ_PEER, wait(2, 0)]], [Race((0, 1), (1, 1))]),
        known("send", &objects, [&[WRITE, FENCE, wait(0, 0), FENCE, SEND, wait(0, 1)], &reader], []),
        known(
            "send_not_fenced",
            &objects,
            [&[WRITE, wait(0, 0), SEND, wait(0, 1)], &reader],
            [Race((0, 0), (0, 2)), Race((0, 2), (1, 0))],
        ),
        known(
            "fence_of_another_block",
            &objects,
            [&[wait(0, 0), Op::Fence(Fenced::Shared), SEND, wait(0, 1)], &reader],
            [Race((0, 2), (1, 0))],
        ),
    ];
    all.into_iter().map(|known| Known { is_cluster: true, ..known }).collect()
}
