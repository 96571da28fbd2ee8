//! The smallest protocols on which the emulator was wrong, made from disagreements that random ones showed.

use super::exact::verdict;
use super::judge::{Judge, Judged};
use super::protocol::{Fenced, Operation as Op, Protocol, Range, Space};
use gpuvcc::finding::Verdict;
use libtest_mimic::{Failed, Trial};

/// One trial a protocol.
pub fn trials() -> Vec<Trial> {
    let trial = |(name, protocol)| Trial::test(format!("regressions/{name}"), move || check(&protocol));
    protocols().into_iter().map(trial).collect()
}

/// Runs show a defect of each that has one, and no other one; the exact engine proves none of these.
fn check(protocol: &Protocol) -> Result<(), Failed> {
    match Judge::new()?.judge(protocol) {
        Judged::Clean => Ok(()),
        Judged::Defective { shown, .. } if !shown.is_empty() => match verdict(protocol)? {
            Verdict::Verified | Verdict::VerifiedWhen => Err("the exact engine proves it".into()),
            _ => Ok(()),
        },
        judged => Err(format!("{judged:?}").into()),
    }
}

fn protocols() -> Vec<(&'static str, Protocol)> {
    let write = Op::write(Range::shared(12, 4));
    let touch = Op::Touch { object: 0, writes: true };
    let copy = Op::Copy { to: 0, from: 16, bytes: 16 };
    let arrival = |object| Op::CopyArrive { object, noinc: true };
    let load = Op::BulkLoad { to: 16, from: 16, bytes: 16, object: 0 };
    // The thread went on behind its access to an object, and raced.
    let touched = vec![vec![write], vec![touch, write]];
    // An arrival of copies broke a rule at the end, and who waited for another one was said to wait for ever.
    let two_arrivals = vec![vec![arrival(1), arrival(1)], vec![copy, arrival(0), Op::wait(0, 0)]];
    let one_too_many = vec![vec![Op::arrive_expecting(0, 16), arrival(0), load], vec![Op::wait(0, 0)]];
    let with_objects = |objects: usize, threads| Protocol::new(threads, vec![Some(1); objects]);
    // Lanes of a warp came to a barrier of one warp while another warp came to it with another count.
    let counts = vec![vec![Op::Sync { id: 1, warps: 1 }], vec![Op::Arrive { id: 1, warps: 2 }]];
    // Who had come to the barrier of the cluster and exited counted for one who had not come.
    let meet = [Op::ClusterArrive { release: true }, Op::ClusterWait];
    let twice = [meet, meet].concat();
    let exits = vec![vec![], twice.clone(), twice[..3].to_vec(), twice];
    // Nobody saw that a block of the cluster had exited.
    let cast = Op::Multicast { to: 0, from: 0, bytes: 16, object: 1 };
    let gone = vec![vec![meet[0], meet[1], cast], vec![]];
    // A proxy fence of one block was taken for one of all blocks.
    let (peer, send) =
        (Range { space: Space::Peer, at: 0, bytes: 4 }, Op::Send { to: 0, from: 0, bytes: 16, object: 2 });
    let other_fence = vec![
        vec![Op::wait(0, 0), Op::Fence(Fenced::Shared), send, Op::wait(0, 1)],
        vec![Op::read(peer), Op::arrive_on(0), Op::arrive_expecting(2, 16), Op::wait(2, 0), Op::arrive_on(0)],
    ];
    vec![
        ("counts_of_warps", with_objects(0, counts)),
        ("exit_behind_an_arrival", Protocol::of_cluster(exits, Vec::new())),
        ("multicast_to_who_has_exited", Protocol::of_cluster(gone, vec![Some(1); 4])),
        ("fence_of_another_block", Protocol::of_cluster(other_fence, vec![Some(1); 4])),
        ("access_to_an_object", with_objects(1, touched)),
        ("arrivals_at_the_end", with_objects(2, two_arrivals)),
        ("arrival_before_the_bytes", with_objects(1, one_too_many)),
    ]
}
