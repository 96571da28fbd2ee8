//! How a defect came about: the steps of the two threads, the barriers that do not order them, or who waits for whom.
//!
//! Input: a finding, with a launch that shows it. Output: the finding, with that. Establishes: all that is said is of this one
//! execution, but for who *would* come to a barrier, which is read from the code ahead of a thread. Relies on: a launch runs
//! again in the same way. Reference: none.

use super::execution::{Reporter, say};
use crate::exec::decode::{Code, Program};
use crate::exec::history::{self, Deed, Object};
use crate::exec::launch::Launch;
use crate::exec::outcome::{ObjectState, Place};
use crate::exec::races::Location;
use crate::exec::trace::{self, Met};
use crate::exec::waiting::{Awaited, Chain, End, Link};
use crate::finding::{AccessKind, Defect, Finding, Wait};
use crate::ptx::ast::Module;

/// Tells of a finding how it came about.
pub(crate) fn explain(module: &Module, entry: usize, launch: &Launch, finding: &mut Finding) {
    match finding.defect {
        Defect::Race | Defect::Divergence => steps(module, entry, launch, finding),
        Defect::Deadlock => waits(module, entry, launch, finding),
        Defect::BarrierError | Defect::Assertion => {}
    }
}

/// The steps around a race or a divergence.
fn steps(module: &Module, entry: usize, launch: &Launch, finding: &mut Finding) {
    let [first, second] = &finding.accesses[..] else { return };
    let lines = match finding.defect {
        Defect::Race => Some(([first.origin.line, second.origin.line], finding.same_value)),
        _ => None,
    };
    let threads = [first, second].map(|access| launch.geometry.thread_number(access.block, access.thread));
    let Some(met) = trace::watch(module, entry, launch, threads, lines) else { return };
    let reporter = Reporter::new(module, &module.functions[entry], launch, &met.run);
    finding.interleaving = met.shown.iter().map(|(event, at_fault)| reporter.step(event, *at_fault)).collect();
    if lines.is_some()
        && has_parts(&met.run.program)
        && let Some(sentence) = reporter.not_ordered(&met, threads)
    {
        say(finding, &sentence);
    }
}

/// Whether a kernel has more than barriers of the whole block.
fn has_parts(program: &Program) -> bool {
    let is_part = |code: &Code| match code {
        Code::Barrier(index) => {
            let barrier = &program.barriers[*index as usize];
            barrier.count.is_some() || barrier.arrive
        }
        Code::Object(_) | Code::ClusterWait => true,
        _ => false,
    };
    program.code.iter().any(is_part)
}

/// Who waits for whom.
fn waits(module: &Module, entry: usize, launch: &Launch, finding: &mut Finding) {
    let Some((run, history)) = history::record(module, entry, launch, Vec::new()) else { return };
    let Some(chain) = history.stuck else { return };
    let reporter = Reporter::new(module, &module.functions[entry], launch, &run);
    finding.is_cycle = chain.end == End::Cycle;
    finding.waits = (0..chain.links.len()).map(|index| reporter.wait(&chain, index)).collect();
}

impl Reporter<'_> {
    /// A link of a chain.
    fn wait(&self, chain: &Chain, index: usize) -> Wait {
        let link = &chain.links[index];
        let access = self.access(AccessKind::Arrive, link.place, 0);
        let (object, generation, state) = self.awaited_by(link);
        let of = generation.map_or(String::new(), |number| format!("generation {number} of "));
        let text = format!(
            "{} waits at {} for {of}{object}{state}; {}",
            self.who(link),
            access.origin.told(),
            self.lack(chain, index)
        );
        Wait { thread: access.thread, block: access.block, object, generation, text, origin: access.origin }
    }

    /// What threads wait for: its name, number and state.
    pub(super) fn awaited_by(&self, link: &Link) -> (String, Option<u64>, String) {
        match link.awaited {
            Awaited::Barrier { id, generation, came, count } => {
                (format!("barrier {id}"), Some(generation), format!(", to which {came} of {count} threads have come"))
            }
            Awaited::Object(state) => {
                let ObjectState { offset, phase, pending, bytes, .. } = state;
                let mut lacking = Vec::new();
                if pending > 0 {
                    lacking.push(counted(u64::from(pending), "arrival"));
                }
                if bytes != 0 {
                    lacking.push(counted(bytes.unsigned_abs(), "byte"));
                }
                let state = match (pending, bytes) {
                    (0, ..0) => format!(", which got {} more than it expects", lacking.concat()),
                    _ => format!(", which lacks {}", lacking.join(" and ")),
                };
                (self.object_name(Object::Shared { offset }), Some(u64::from(phase)), state)
            }
            Awaited::Warp { lacking } => {
                let noun = if lacking.count_ones() == 1 { "lane" } else { "lanes" };
                let lanes = numbers(lacking);
                (format!("{noun} {lanes} of its warp"), None, String::new())
            }
            Awaited::WarpGroup => ("`wgmma` of all its warp group".to_string(), None, String::new()),
            Awaited::Cluster { generation } => (self.object_name(Object::Cluster), Some(generation), String::new()),
        }
    }

    /// Whom a link lacks.
    fn lack(&self, chain: &Chain, index: usize) -> String {
        let link = &chain.links[index];
        let origin = |code: u32| self.run.program.origins[code as usize].told();
        let is_last = index + 1 == chain.links.len();
        if !is_last || chain.end == End::Cycle {
            let next = &chain.links[if is_last { 0 } else { index + 1 }];
            let (who, own) = (self.who(next), next == link);
            return match link.ahead {
                None => format!("it lacks {who}"),
                Some((code, _)) if own => format!("what may come there is behind this wait, at {}", origin(code)),
                Some((code, true)) => format!("it lacks {who}, which has an arrival there ahead, at {}", origin(code)),
                Some((code, false)) => format!("{who} may come there, at {}", origin(code)),
            };
        }
        match chain.end {
            End::Exited { thread, code, generation } => format!(
                "it lacks {}, which has exited; it came last to generation {generation}, at {}",
                self.warp_name((thread, code), true),
                origin(code)
            ),
            End::Nobody { exited: 0 } | End::Cycle => "no thread has an arrival there ahead".to_string(),
            End::Nobody { exited } => {
                let have = if exited == 1 { "has" } else { "have" };
                format!(
                    "no thread that is left has an arrival there ahead ({} of the block {have} exited)",
                    counted(u64::from(exited), "thread")
                )
            }
        }
    }

    /// `warp 1`, or a thread of it.
    pub(super) fn who(&self, link: &Link) -> String {
        let whole = self.launch.geometry.block_threads().min(32) as u32;
        self.warp_name(link.place, link.threads >= whole)
    }

    fn warp_name(&self, place: Place, is_whole: bool) -> String {
        let access = self.access(AccessKind::Arrive, place, 0);
        let size = self.launch.geometry.block_threads() as u32;
        let warp = place.0 % size / 32;
        let [x, y, z] = access.thread;
        let [a, b, c] = access.block;
        let block = if self.run.program.ranks > 1 { format!(" of block ({a},{b},{c})") } else { String::new() };
        match is_whole {
            true => format!("warp {warp}{block}"),
            false => format!("thread ({x},{y},{z}) of warp {warp}{block}"),
        }
    }

    /// `barrier 1`, or where an mbarrier object is.
    pub(super) fn object_name(&self, object: Object) -> String {
        match object {
            Object::Barrier { id, .. } => format!("barrier {id}"),
            Object::Cluster => "the barrier of the cluster".to_string(),
            Object::Shared { offset } => {
                let (name, _, at) = self.place(Location::Shared(offset));
                let name = name.map_or(String::new(), |name| format!("`{name}`, byte "));
                format!("the mbarrier object at {name}{}", at.unwrap_or_else(|| i128::from(offset)))
            }
        }
    }

    /// Why no barrier orders two accesses: what each thread did at barriers between them.
    fn not_ordered(&self, met: &Met, threads: [u32; 2]) -> Option<String> {
        let [first, second] = if met.ends[0].0 < met.ends[1].0 { [0, 1] } else { [1, 0] };
        let ((start, started), (end, ended)) = (met.ends[first], met.ends[second]);
        let origin = |code: u32| met.run.program.origins[code as usize].told();
        let (from, to) = (origin(started), origin(ended));
        let of = |index: usize| met.deeds.iter().filter(move |(_, deed)| deed.place.0 == threads[index]);
        let after: Vec<&Deed> = of(first).filter(|(time, _)| *time > start).map(|(_, deed)| deed).collect();
        let before: Vec<&Deed> =
            of(second).filter(|(time, deed)| *time <= end && deed.part.waits()).map(|(_, deed)| deed).collect();
        let is_same = |a: &Deed, b: &Deed| (a.object, a.generation) == (b.object, b.generation);
        let names = [first, second].map(|index| self.thread_name(threads[index]));
        let [earlier, later] = names;
        let told = |deed: &Deed| {
            format!("generation {} of {} ({})", deed.generation, self.object_name(deed.object), origin(deed.place.1))
        };
        let arrived: Vec<&&Deed> = after.iter().filter(|deed| deed.part.is_arrival()).collect();
        if let Some(both) = arrived.iter().find(|deed| before.iter().any(|other| is_same(deed, other))) {
            let is_copy = matches!(
                met.run.program.code[started as usize],
                Code::AsyncRead(_) | Code::AsyncWrite(_) | Code::BulkRead(_) | Code::BulkWrite(_)
            );
            let both = told(both);
            return is_copy.then(|| {
                format!("{both} orders the threads, but not the copy started at {from}: nothing waits for it before")
            });
        }
        let mut sentence = match arrived.first() {
            None => format!("after {from} {earlier} comes to no barrier before {later} is at {to}"),
            Some(deed) => {
                format!("after {from} {earlier} comes to {}, for which {later} does not wait before {to}", told(deed))
            }
        };
        match before.last() {
            None => sentence += &format!("; {later} waits for no barrier before that"),
            Some(deed) => {
                let came = of(first).rfind(|(_, own)| is_same(own, deed) && own.part.is_arrival());
                let how = match came {
                    Some((time, own)) if *time <= start => {
                        format!("to which {earlier} came before {from}, at {}", self.line(own))
                    }
                    Some((_, own)) => format!("to which {earlier} comes at {}", self.line(own)),
                    None => format!("to which {earlier} does not come"),
                };
                sentence += &format!("; the last that {later} waits for is {}, {how}", told(deed));
            }
        }
        Some(sentence)
    }

    fn line(&self, deed: &Deed) -> String {
        self.run.program.origins[deed.place.1 as usize].told()
    }

    fn thread_name(&self, number: u32) -> String {
        let access = self.access(AccessKind::Arrive, (number, 0), 0);
        let [x, y, z] = access.thread;
        format!("thread ({x},{y},{z})")
    }
}

/// `0 to 3, 5`: which bits are set.
pub(super) fn numbers(bits: u32) -> String {
    let numbers: Vec<u32> = (0..u32::BITS).filter(|bit| bits >> bit & 1 == 1).collect();
    let runs = numbers.chunk_by(|one, next| one + 1 == *next).map(|run| match run {
        [one] => one.to_string(),
        [one, next] => format!("{one}, {next}"),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// `2 arrivals`
fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
