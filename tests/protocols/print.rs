//! A protocol as PTX, with the line of each operation.

use super::protocol::{BLOCKS, BYTES, Fenced, OBJECTS_OF_BLOCK, Operation, Place, Protocol, Range};
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
    /// Blocks.
    pub blocks: u32,
}

const HEAD: &str = "\
.version 8.6
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 memory)
";

/// Behind the sizes of the cluster.
const DECLARATIONS: &str = "\
{
    .shared .align 128 .b8 data[64];
    .shared .align 8 .b64 objects[4];
    .reg .pred %p<4>;
    .reg .pred %lane, %seen;
    .reg .b16 %h<2>;
    .reg .b32 %r<8>;
    .reg .b32 %data<2>, %objects<2>;
    .reg .b64 %rd<4>;
    .reg .b64 %token<4>;
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %seen, 0, 0;
";

/// Where the shared memory of both blocks is, whether this is not the first lane, and the number of the thread.
const CLUSTER: &str = "\
    mov.u32 %r4, data;
    mapa.shared::cluster.u32 %data0, %r4, 0;
    mapa.shared::cluster.u32 %data1, %r4, 1;
    mov.u32 %r4, objects;
    mapa.shared::cluster.u32 %objects0, %r4, 0;
    mapa.shared::cluster.u32 %objects1, %r4, 1;
    mov.u32 %r4, %cluster_ctarank;
    and.b32 %r2, %r1, 31;
    setp.ne.u32 %lane, %r2, 0;
    shr.u32 %r2, %r1, 5;
";

/// The other lanes exit.
const LANES: &str =
    "    and.b32 %r2, %r1, 31;\n    setp.ne.u32 %p1, %r2, 0;\n    @%p1 ret;\n    shr.u32 %r2, %r1, 5;\n";

/// Prints a protocol.
pub fn print(protocol: &Protocol) -> Printed {
    let mut printer = Printer { text: HEAD.to_string(), lines: BTreeMap::new(), labels: 0, protocol };
    let is_cluster = protocol.blocks > 1;
    if is_cluster {
        let _ = writeln!(printer.text, ".reqnctapercluster {}, 1, 1", protocol.blocks);
    }
    printer.text += DECLARATIONS;
    if is_cluster {
        printer.text += CLUSTER;
    }
    if protocol.threads.iter().flatten().any(|operation| operation.object().is_some()) {
        printer.initialise();
    }
    if is_cluster {
        printer.line("barrier.cluster.arrive.release;");
        printer.line("barrier.cluster.wait.acquire;");
        printer.line(&format!("mad.lo.u32 %r2, %r4, {}, %r2;", protocol.threads_of_block()));
    } else {
        printer.text += LANES;
    }
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
    let (block, blocks) = (32 * protocol.threads_of_block() as u32, protocol.blocks as u32);
    Printed { text: printer.text, lines: printer.lines, block, blocks }
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

    /// Thread 0 of each block initialises its objects, before a barrier of the block if no barrier of the cluster follows.
    fn initialise(&mut self) {
        self.line("setp.ne.u32 %p1, %r1, 0;");
        self.line("@%p1 bra READY;");
        if self.protocol.blocks > 1 {
            self.line("setp.ne.u32 %p1, %r4, 0;");
            self.line("@%p1 bra SECOND;");
        }
        for (object, count) in self.protocol.objects.iter().enumerate() {
            if self.protocol.blocks > 1 && object == OBJECTS_OF_BLOCK {
                self.line("bra READY;");
                self.put_label("SECOND");
            }
            if let Some(count) = count {
                self.line(&format!("mbarrier.init.shared::cta.b64 [{}], {count};", self.own_object(object)));
            }
        }
        if self.protocol.blocks > 1 && self.protocol.objects.len() <= OBJECTS_OF_BLOCK {
            self.put_label("SECOND");
        }
        self.put_label("READY");
        if self.protocol.blocks == 1 {
            self.line("bar.sync 0;");
        }
    }

    /// The address of an object in its own block.
    fn own_object(&self, object: usize) -> String {
        let number = if self.protocol.blocks > 1 { object % OBJECTS_OF_BLOCK } else { object };
        format!("objects+{}", 8 * number)
    }

    /// The address of an object for a thread, and whether that is in another block.
    fn object(&self, thread: usize, object: usize) -> (String, bool) {
        let block = self.protocol.block_of_object(object);
        match block == self.protocol.block_of(thread) {
            true => (self.own_object(object), false),
            false => (format!("%objects{block}+{}", 8 * (object % OBJECTS_OF_BLOCK)), true),
        }
    }

    /// The address of a byte in the array of a block, for a thread.
    fn data(&self, thread: usize, block: usize, at: u32) -> (String, bool) {
        match block == self.protocol.block_of(thread) {
            true => (format!("data+{at}"), false),
            false => (format!("%data{block}+{at}"), true),
        }
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
        if self.protocol.blocks > 1 {
            self.line("bar.warp.sync 0xffffffff;");
        }
        self.line("ret;");
    }

    fn operations(&mut self, thread: usize, first: usize, operations: &[Operation]) {
        for (number, operation) in operations.iter().enumerate() {
            let label = self.label();
            let [before, text, after] = self.instruction((thread, first + number), operation, &label);
            let is_common = matches!(
                operation,
                Operation::Sync { .. }
                    | Operation::Arrive { .. }
                    | Operation::ClusterArrive { .. }
                    | Operation::ClusterWait
            );
            let is_alone = self.protocol.blocks > 1 && !is_common;
            if self.protocol.blocks > 1 && is_common {
                self.line("bar.warp.sync 0xffffffff;");
            }
            if is_alone {
                self.line(&format!("@%lane bra OTHERS_{label};"));
            }
            self.text += &before;
            self.line(&text);
            let line = self.text.lines().count() as u32;
            self.lines.insert((thread, first + number), line);
            self.text += &after;
            if is_alone {
                self.put_label(&format!("OTHERS_{label}"));
            }
        }
    }

    /// What stands before the instruction of an operation, the instruction, and what stands behind it.
    fn instruction(&self, (thread, number): Place, operation: &Operation, label: &str) -> [String; 3] {
        let object = operation.object().unwrap_or(0);
        let (address, is_remote) = self.object(thread, object);
        let address = format!("[{address}]");
        let scope = if self.protocol.blocks > 1 { "cluster" } else { "cta" };
        let (space, token) = match is_remote {
            true => ("shared::cluster", "_".to_string()),
            false => ("shared::cta", format!("%token{object}")),
        };
        let ordered = |strong: bool, name: &'static str| if strong { name } else { "relaxed" };
        let repeat = |text: String| [format!("{label}:\n"), text, format!("    @!%p2 bra {label};\n")];
        let alone = |text: String| [String::new(), text, String::new()];
        // The count of a barrier of all warps makes an aligned one a barrier of the block.
        let all = self.protocol.threads_of_block();
        let aligned = |warps: u32| if warps as usize == all { "barrier" } else { "bar" };
        let own = self.protocol.block_of(thread);
        let bulk = |to: String, from: String, bytes: u32| {
            let kind = "mbarrier::complete_tx::bytes";
            alone(format!(
                "cp.async.bulk.shared::cluster.{from_space}.{kind} [{to}], [{from}], {bytes}, {address};",
                from_space = if from.starts_with("data") { "shared::cta" } else { "global" }
            ))
        };
        match *operation {
            Operation::Access { range, writes } => self.access(thread, range, writes, 16 * thread + number, ""),
            Operation::AccessIf { range, writes } => {
                self.access(thread, range, writes, 16 * thread + number, "@%seen ")
            }
            Operation::ClusterArrive { release } => {
                alone(format!("barrier.cluster.arrive.{};", ordered(release, "release")))
            }
            Operation::ClusterWait => alone("barrier.cluster.wait.acquire;".to_string()),
            Operation::Touch { writes: false, .. } => alone(format!("ld.shared.u32 %r4, {address};")),
            Operation::Touch { writes: true, .. } => alone(format!("st.shared.u32 {address}, %r1;")),
            Operation::Sync { id, warps } => alone(format!("{}.sync {id}, {};", aligned(warps), 32 * warps)),
            Operation::Arrive { id, warps } => alone(format!("{}.arrive {id}, {};", aligned(warps), 32 * warps)),
            Operation::Init { count, .. } => alone(format!("mbarrier.init.shared::cta.b64 {address}, {count};")),
            Operation::Inval { .. } => alone(format!("mbarrier.inval.shared::cta.b64 {address};")),
            Operation::ArriveOn { release, expected, .. } => {
                let order = ordered(release, "release");
                alone(match expected {
                    None => format!("mbarrier.arrive.{order}.{scope}.{space}.b64 {token}, {address};"),
                    Some(bytes) => {
                        format!("mbarrier.arrive.expect_tx.{order}.{scope}.{space}.b64 {token}, {address}, {bytes};")
                    }
                })
            }
            Operation::Drop { .. } => {
                alone(format!("mbarrier.arrive_drop.release.{scope}.shared::cta.b64 %rd2, {address};"))
            }
            Operation::Expect { bytes, .. } => {
                alone(format!("mbarrier.expect_tx.relaxed.{scope}.{space}.b64 {address}, {bytes};"))
            }
            Operation::WaitParity { parity, acquire, test, .. } => {
                let (kind, order) = (if test { "test" } else { "try" }, ordered(acquire, "acquire"));
                repeat(format!("mbarrier.{kind}_wait.parity.{order}.{scope}.shared::cta.b64 %p2, {address}, {parity};"))
            }
            Operation::Peek { parity, acquire, .. } => {
                let order = ordered(acquire, "acquire");
                alone(format!("mbarrier.try_wait.parity.{order}.{scope}.shared::cta.b64 %seen, {address}, {parity};"))
            }
            Operation::WaitUnless { parity, acquire, .. } => {
                let order = ordered(acquire, "acquire");
                [
                    format!("    @%seen bra SEEN_{label};\n{label}:\n"),
                    format!("mbarrier.try_wait.parity.{order}.{scope}.shared::cta.b64 %p2, {address}, {parity};"),
                    format!("    @!%p2 bra {label};\nSEEN_{label}:\n"),
                ]
            }
            Operation::WaitToken { acquire, .. } => {
                let order = ordered(acquire, "acquire");
                repeat(format!("mbarrier.try_wait.{order}.{scope}.shared::cta.b64 %p2, {address}, %token{object};"))
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
                bulk(self.data(thread, self.protocol.block_of_object(object), to).0, format!("%rd1+{from}"), bytes)
            }
            Operation::Send { to, from, bytes, .. } => {
                let to = self.data(thread, self.protocol.block_of_object(object), to).0;
                bulk(to, self.data(thread, own, from).0, bytes)
            }
            Operation::Multicast { to, from, bytes, .. } => {
                let kind = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
                let (mask, object) = ((1 << BLOCKS) - 1, self.own_object(object));
                let text = format!("{kind} [data+{to}], [%rd1+{from}], {bytes}, [{object}], %h1;");
                [format!("    mov.b16 %h1, {mask};\n"), text, String::new()]
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
            Operation::Fence(Fenced::Shared) => alone("fence.proxy.async.shared::cta;".to_string()),
            Operation::Fence(Fenced::Global) => alone("fence.proxy.async.global;".to_string()),
        }
    }

    /// A load, or a store of a value of its own.
    fn access(&self, thread: usize, range: Range, writes: bool, value: usize, guard: &str) -> [String; 3] {
        debug_assert!(range.at + range.bytes <= BYTES);
        let (address, space) = match range.space.block().map(|block| self.data(thread, block, range.at)) {
            Some((address, false)) => (address, "shared"),
            Some((address, true)) => (address, "shared::cluster"),
            None => (format!("%rd1+{}", range.at), "global"),
        };
        let (ty, register) = if range.bytes == 1 { ("u8", "%h1") } else { ("u32", "%r4") };
        let wide = if range.bytes == 1 { "b16" } else { "b32" };
        match writes {
            false => [String::new(), format!("{guard}ld.{space}.{ty} {register}, [{address}];"), String::new()],
            true => {
                let before = format!("    mov.{wide} {register}, {};\n", value + 1);
                [before, format!("{guard}st.{space}.{ty} [{address}], {register};"), String::new()]
            }
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
