//! The smallest protocols on which the emulator was wrong, made from disagreements that random ones showed.

use crate::judge::{Judge, Judged};
use crate::protocol::{Operation as Op, Protocol, Range};
use libtest_mimic::{Failed, Trial};

/// One trial a protocol.
pub fn trials() -> Vec<Trial> {
    let trial = |(name, protocol)| Trial::test(format!("regressions/{name}"), move || check(&protocol));
    protocols().into_iter().map(trial).collect()
}

/// Each has a defect, and runs show no other one.
fn check(protocol: &Protocol) -> Result<(), Failed> {
    match Judge::new()?.judge(protocol) {
        Judged::Defective { shown, .. } if !shown.is_empty() => Ok(()),
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
    vec![
        ("access_to_an_object", with_objects(1, touched)),
        ("arrivals_at_the_end", with_objects(2, two_arrivals)),
        ("arrival_before_the_bytes", with_objects(1, one_too_many)),
    ]
}
