//! What was shown, for people: `--emit phases`.
//!
//! Input: what the threads do. Output: text. Establishes: nothing. Relies on: nothing. Reference: none.

use super::classes::{Counts, Shown};
use super::event::{Action, Event};
use super::thread::Scale;
use crate::exec::decode::Program;
use std::collections::BTreeMap;
use std::fmt::Write;

/// All of it: classes of trip counts, barrier objects, and what threads do that do it at the same instructions.
pub(super) fn text(program: &Program, count: Option<&str>, block: [u32; 3], shown: &Shown) -> String {
    let mut text = String::new();
    let [x, y, z] = block;
    let _ = writeln!(text, "blocks of {x} x {y} x {z} threads, any grid");
    let class = &shown.class;
    match count {
        None => text += "all trip counts are given\n",
        Some(count) if class.is_one() => {
            let _ = writeln!(text, "{count} decides nothing");
        }
        Some(parameter) => {
            let (start, period) = (class.start, class.period);
            let Scale { unit, rounds_up } = class.scale;
            let count = match rounds_up {
                _ if unit == 1 => parameter.to_string(),
                true => format!("({parameter} + {}) / {unit}", unit - 1),
                false => format!("{parameter} / {unit}"),
            };
            let _ = writeln!(text, "{count} = {start} + {period} * rounds + rest, for each rest below {period}");
            let _ = writeln!(text, "{count} < {start}: each by itself");
            let _ = match shown.counts {
                Counts::All => writeln!(text, "all of them, as numbers without a sign"),
                Counts::UpTo(largest) => writeln!(text, "{parameter} > {largest}: not shown"),
            };
        }
    }
    objects(&mut text, program, shown);
    for (first, threads) in alike(shown) {
        let role = &shown.roles[first];
        let like = if threads.len() > 1 { format!(", as thread {first}") } else { String::new() };
        let _ = writeln!(text, "\n{}{like}:", ranges(&threads));
        let round = role.round.as_deref().unwrap_or_default();
        let ahead = copies(role.before.rchunks(round.len().max(1)), round);
        let more = copies(role.behind.chunks(round.len().max(1)), round);
        events(&mut text, program, "first", &role.before[..role.before.len() - ahead * round.len()]);
        let turns = if ahead + more > 0 { format!(" (and in {} more)", ahead + more) } else { String::new() };
        events(&mut text, program, &format!("in each round{turns}"), round);
        events(&mut text, program, "last", &role.behind[more * round.len()..]);
    }
    text
}

/// How many of the parts at the start are rounds.
fn copies<'e>(parts: impl Iterator<Item = &'e [Event]>, round: &[Event]) -> usize {
    if round.is_empty() { 0 } else { parts.take_while(|part| *part == round).count() }
}

/// Barrier objects, and who does what to them.
fn objects(text: &mut String, program: &Program, shown: &Shown) {
    let mut found: BTreeMap<u32, [Vec<usize>; 3]> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for (thread, role) in shown.roles.iter().enumerate() {
        for event in role.before.iter().chain(role.round.iter().flatten()).chain(&role.behind) {
            let (at, kind) = match event.action {
                Action::Initialise { at, count } => {
                    counts.insert(at, count);
                    continue;
                }
                Action::Arrive { at, .. } => (at, 0),
                Action::Wait { at, .. } => (at, 1),
                Action::Copy { object, .. } => (object, 2),
                _ => continue,
            };
            let threads = &mut found.entry(at).or_default()[kind];
            if threads.last() != Some(&thread) {
                threads.push(thread);
            }
        }
    }
    for (at, [arrive, wait, copy]) in found {
        let count = counts.get(&at).copied().unwrap_or(0);
        let _ = write!(text, "object {}: {} a phase", place(program, at), arrivals(count));
        for (who, what) in [(arrive, "arrivals"), (copy, "copies"), (wait, "waits")] {
            if !who.is_empty() {
                let _ = write!(text, "; {what} by {}", ranges(&who));
            }
        }
        text.push('\n');
    }
}

fn arrivals(count: u32) -> String {
    format!("{count} arrival{}", if count == 1 { "" } else { "s" })
}

/// Threads that act at the same instructions, by the first one of them.
fn alike(shown: &Shown) -> Vec<(usize, Vec<usize>)> {
    let codes = |events: &[Event]| events.iter().map(|event| event.code).collect::<Vec<u32>>();
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (thread, role) in shown.roles.iter().enumerate() {
        let key = (codes(&role.before), role.round.as_deref().map(codes), codes(&role.behind));
        groups.entry(key).or_default().push(thread);
    }
    let mut groups: Vec<(usize, Vec<usize>)> = groups.into_values().map(|threads| (threads[0], threads)).collect();
    groups.sort();
    groups
}

fn ranges(threads: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for thread in threads {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == *thread => *last = *thread,
            _ => parts.push((*thread, *thread)),
        }
    }
    let part = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let word = if threads.len() == 1 { "thread" } else { "threads" };
    format!("{word} {}", parts.iter().map(part).collect::<Vec<String>>().join(", "))
}

fn events(text: &mut String, program: &Program, title: &str, events: &[Event]) {
    if events.is_empty() {
        return;
    }
    let _ = writeln!(text, "  {title}:");
    for event in events {
        let line = program.origins.get(event.code as usize).map_or(0, |origin| origin.line);
        let _ = writeln!(text, "    line {line}: {}", action(program, event.action));
    }
}

fn action(program: &Program, action: Action) -> String {
    let place = |at: u32| place(program, at);
    match action {
        Action::Access { at, bytes, writes } => {
            format!("{} {bytes} bytes at {}", if writes { "write" } else { "read" }, place(at))
        }
        Action::Barrier { id, count, arrives, .. } => {
            let count = count.map_or(String::new(), |count| format!(", {count} threads"));
            format!("{} barrier {id}{count}", if arrives { "arrive at" } else { "meet at" })
        }
        Action::Warp { members, orders } => {
            format!("{} of lanes {members:#x}", if orders { "barrier" } else { "operation" })
        }
        Action::Initialise { at, count } => format!("initialise {}, {}", place(at), arrivals(count)),
        Action::Arrive { at, count, bytes } => {
            let bytes = if bytes > 0 { format!(", {bytes} bytes expected") } else { String::new() };
            let times = if count == 1 { String::new() } else { format!(" {count} times") };
            format!("arrive at {}{times}{bytes}", place(at))
        }
        Action::Wait { at, parity } => format!("wait for parity {parity} of {}", place(at)),
        Action::Copy { to, bytes, object } => format!("copy {bytes} bytes to {}, told to {}", place(to), place(object)),
        Action::ProxyFence => "fence for the asynchronous proxy".to_string(),
        Action::Product { a, b } => {
            let places: Vec<String> = a.iter().chain([&b]).map(|tile| place(tile.start())).collect();
            format!("product of matrices at {}", places.join(" and "))
        }
        Action::ProductCommit => "products so far are a group".to_string(),
        Action::ProductWait { pending: 0 } => "wait for all products".to_string(),
        Action::ProductWait { pending } => format!("wait for all groups of products but {pending}"),
        Action::Together => "together with the warp group".to_string(),
    }
}

/// A place in shared memory, by the variable that has it.
fn place(program: &Program, at: u32) -> String {
    let has =
        |variable: &&crate::exec::decode::SharedVariable| variable.offset <= at && at - variable.offset < variable.size;
    match program.shared.iter().find(has) {
        Some(variable) => format!("{}+{}", variable.name, at - variable.offset),
        None => format!("shared+{at}"),
    }
}
