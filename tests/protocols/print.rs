//! A protocol as PTX, with the line of each operation.

use crate::protocol::{BYTES, Fenced, OBJECTS, Operation, Place, Protocol, Range, Space};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A protocol that can be run.
#[derive(Clone, Debug)]
pub struct Printed {
    /// PTX; the entry is `kernel`.
    pub text: String,
    /// The line of each operation, from 1. Those of a loop share it.
    pub lines: BTreeMap<Place, u32>,
    /// Threads a block.
    pub block: u32,
}

const HEAD: &str = "\
.version 8.6
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 memory)
{
    .shared .align 128 .b8 data[64];
    .shared .align 8 .b64 objects[4];
    .reg .pred %p<4>;
    .reg .b16 %h<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .b64 %token<4>;
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, %tid.x;
";

/// The other lanes exit.
const LANES: &str =
    "    and.b32 %r2, %r1, 31;\n    setp.ne.u32 %p1, %r2, 0;\n    @%p1 ret;\n    shr.u32 %r2, %r1, 5;\n";

/// The barrier behind which they have: a warp comes to a barrier when each of its lanes has, or has exited.
const FIRST_BARRIER: u32 = 15;

/// Prints a protocol.
pub fn print(protocol: &Protocol) -> Printed {
    let mut printer = Printer { text: HEAD.to_string(), lines: BTreeMap::new(), labels: 0, protocol };
    if protocol.threads.iter().flatten().any(|operation| operation.object().is_some()) {
        printer.initialise();
    }
    printer.text += LANES;
    let block = 32 * protocol.threads.len() as u32;
    printer.line(&format!("barrier.sync {FIRST_BARRIER}, {block};"));
    for thread in 1..protocol.threads.len() {
        printer.line(&format!("setp.eq.u32 %p1, %r2, {thread};"));
        printer.line(&format!("@%p1 bra THREAD{thread};"));
    }
    for (thread, operations) in protocol.threads.iter().enumerate() {
        if thread > 0 {
            let _ = writeln!(printer.text, "THREAD{thread}:");
        }
        printer.thread(thread, operations);
    }
    printer.text += "}\n";
    Printed { text: printer.text, lines: printer.lines, block }
}

struct Printer<'p> {
    text: String,
    lines: BTreeMap<Place, u32>,
    labels: u32,
    protocol: &'p Protocol,
}

impl Printer<'_> {
    fn line(&mut self, instruction: &str) {
        let _ = writeln!(self.text, "    {instruction}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("LABEL{}", self.labels)
    }

    fn put_label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    /// Thread 0 initialises the objects before a barrier of the block.
    fn initialise(&mut self) {
        self.line("setp.ne.u32 %p1, %r1, 0;");
        self.line("@%p1 bra READY;");
        for (object, count) in self.protocol.objects.iter().enumerate() {
            if let Some(count) = count {
                self.line(&format!("mbarrier.init.shared::cta.b64 [objects+{}], {count};", 8 * object));
            }
        }
        self.put_label("READY");
        self.line("bar.sync 0;");
    }

    /// The operations of a thread; what it repeats is a loop.
    fn thread(&mut self, thread: usize, operations: &[Operation]) {
        let mut at = 0;
        while at < operations.len() {
            let (length, times) = repeated(&operations[at..]);
            if times > 1 {
                let label = self.label();
                self.line("mov.u32 %r3, 0;");
                self.put_label(&label);
                self.operations(thread, at, &operations[at..at + length]);
                for round in 1..times {
                    for offset in 0..length {
                        let line = self.lines[&(thread, at + offset)];
                        self.lines.insert((thread, at + round * length + offset), line);
                    }
                }
                self.line("add.u32 %r3, %r3, 1;");
                self.line(&format!("setp.lt.u32 %p3, %r3, {times};"));
                self.line(&format!("@%p3 bra {label};"));
            } else {
                self.operations(thread, at, &operations[at..at + length]);
            }
            at += length * times;
        }
        self.line("ret;");
    }

    fn operations(&mut self, thread: usize, first: usize, operations: &[Operation]) {
        for (number, operation) in operations.iter().enumerate() {
            let label = self.label();
            let [before, text, after] = self.instruction((thread, first + number), operation, &label);
            self.text += &before;
            self.line(&text);
            let line = self.text.lines().count() as u32;
            self.lines.insert((thread, first + number), line);
            self.text += &after;
        }
    }

    /// What stands before the instruction of an operation, the instruction, and what stands behind it.
    fn instruction(&self, (thread, number): Place, operation: &Operation, label: &str) -> [String; 3] {
        let object = operation.object().map_or(0, |object| object.min(OBJECTS - 1));
        let address = format!("[objects+{}]", 8 * object);
        let ordered = |strong: bool, name: &'static str| if strong { name } else { "relaxed" };
        let repeat = |text: String| [format!("{label}:\n"), text, format!("    @!%p2 bra {label};\n")];
        let alone = |text: String| [String::new(), text, String::new()];
        // The count of a barrier of all warps makes an aligned one a barrier of the block.
        let aligned = |warps: u32| if warps as usize == self.protocol.threads.len() { "barrier" } else { "bar" };
        match *operation {
            Operation::Access { range, writes } => access(range, writes, 16 * thread + number),
            Operation::Touch { writes: false, .. } => alone(format!("ld.shared.u32 %r4, {address};")),
            Operation::Touch { writes: true, .. } => alone(format!("st.shared.u32 {address}, %r1;")),
            Operation::Sync { id, warps } => alone(format!("{}.sync {id}, {};", aligned(warps), 32 * warps)),
            Operation::Arrive { id, warps } => alone(format!("{}.arrive {id}, {};", aligned(warps), 32 * warps)),
            Operation::Init { count, .. } => alone(format!("mbarrier.init.shared::cta.b64 {address}, {count};")),
            Operation::ArriveOn { release, expected, .. } => {
                let order = ordered(release, "release");
                alone(match expected {
                    None => format!("mbarrier.arrive.{order}.cta.shared::cta.b64 %token{object}, {address};"),
                    Some(bytes) => format!(
                        "mbarrier.arrive.expect_tx.{order}.cta.shared::cta.b64 %token{object}, {address}, {bytes};"
                    ),
                })
            }
            Operation::Drop { .. } => {
                alone(format!("mbarrier.arrive_drop.release.cta.shared::cta.b64 %rd2, {address};"))
            }
            Operation::Expect { bytes, .. } => {
                alone(format!("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {address}, {bytes};"))
            }
            Operation::WaitParity { parity, acquire, test, .. } => {
                let (kind, order) = (if test { "test" } else { "try" }, ordered(acquire, "acquire"));
                repeat(format!("mbarrier.{kind}_wait.parity.{order}.cta.shared::cta.b64 %p2, {address}, {parity};"))
            }
            Operation::WaitToken { acquire, .. } => {
                let order = ordered(acquire, "acquire");
                repeat(format!("mbarrier.try_wait.{order}.cta.shared::cta.b64 %p2, {address}, %token{object};"))
            }
            Operation::Copy { to, from, bytes } => {
                alone(format!("cp.async.ca.shared.global [data+{to}], [%rd1+{from}], {bytes};"))
            }
            Operation::Commit => alone("cp.async.commit_group;".to_string()),
            Operation::WaitGroup { pending: None } => alone("cp.async.wait_all;".to_string()),
            Operation::WaitGroup { pending: Some(pending) } => alone(format!("cp.async.wait_group {pending};")),
            Operation::CopyArrive { noinc, .. } => {
                let noinc = if noinc { ".noinc" } else { "" };
                alone(format!("cp.async.mbarrier.arrive{noinc}.shared::cta.b64 {address};"))
            }
            Operation::BulkLoad { to, from, bytes, .. } => {
                let kind = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
                alone(format!("{kind} [data+{to}], [%rd1+{from}], {bytes}, {address};"))
            }
            Operation::BulkStore { to, from, bytes } => {
                alone(format!("cp.async.bulk.global.shared::cta.bulk_group [%rd1+{to}], [data+{from}], {bytes};"))
            }
            Operation::BulkCommit => alone("cp.async.bulk.commit_group;".to_string()),
            Operation::BulkWait { pending, read } => {
                let read = if read { ".read" } else { "" };
                alone(format!("cp.async.bulk.wait_group{read} {pending};"))
            }
            Operation::Fence(Fenced::All) => alone("fence.proxy.async;".to_string()),
            Operation::Fence(Fenced::Only(Space::Shared)) => alone("fence.proxy.async.shared::cta;".to_string()),
            Operation::Fence(Fenced::Only(Space::Global)) => alone("fence.proxy.async.global;".to_string()),
        }
    }
}

/// A load, or a store of a value of its own.
fn access(range: Range, writes: bool, value: usize) -> [String; 3] {
    debug_assert!(range.at + range.bytes <= BYTES);
    let (space, base) = match range.space {
        Space::Shared => ("shared", "data"),
        Space::Global => ("global", "%rd1"),
    };
    let (ty, register) = if range.bytes == 1 { ("u8", "%h1") } else { ("u32", "%r4") };
    let address = format!("[{base}+{}]", range.at);
    let wide = if range.bytes == 1 { "b16" } else { "b32" };
    match writes {
        false => [String::new(), format!("ld.{space}.{ty} {register}, {address};"), String::new()],
        true => {
            let before = format!("    mov.{wide} {register}, {};\n", value + 1);
            [before, format!("st.{space}.{ty} {address}, {register};"), String::new()]
        }
    }
}

/// The part at the front that is repeated, and how often it stands there; all up to the next repetition where nothing is.
fn repeated(operations: &[Operation]) -> (usize, usize) {
    let times = |from: usize, length: usize| {
        let first = &operations[from..from + length];
        operations[from..].chunks_exact(length).take_while(|part| *part == first).count()
    };
    let at = |from: usize| {
        let lengths = 2..=(operations.len() - from) / 2;
        lengths.map(|length| (length, times(from, length))).filter(|(_, times)| *times > 1).max_by_key(|(l, t)| l * t)
    };
    match (0..operations.len()).find_map(|from| at(from).map(|found| (from, found))) {
        Some((0, found)) => found,
        Some((from, _)) => (from, 1),
        None => (operations.len().max(1), 1),
    }
}
