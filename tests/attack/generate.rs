//! Random small kernels: shared and global arrays, indices near the thread's own, loops, branches and
//! barriers. Many race, many do not, and few do so plainly.

use super::random::Random;
use std::fmt::Write;

/// A kernel with the launch it is made for.
#[derive(Clone, Debug)]
pub struct Generated {
    /// PTX.
    pub text: String,
    /// Threads a block, on one axis.
    pub block: u32,
    /// Blocks, on one axis.
    pub grid: u32,
}

/// Statements of a kernel, at most.
const STATEMENTS: usize = 14;

/// Depth of branches and loops.
const DEPTH: usize = 3;

/// A kernel while it is written.
pub struct Writer<'r> {
    pub random: &'r mut Random,
    body: String,
    registers: u32,
    pub wide_registers: u32,
    predicates: u32,
    labels: u32,
    statements: usize,
    pub block: u32,
    /// Whether there are local arrays.
    pub has_local: bool,
    /// Whether there are statements of [`super::oddities`].
    odd: bool,
    /// Registers that hold loop counters in scope.
    counters: Vec<u32>,
    /// Registers that hold loaded values.
    pub loaded: Vec<u32>,
    /// Whether all threads of a block are here together, as far as the writer knows.
    uniform: bool,
}

/// Registers with fixed meanings.
pub const TID: u32 = 1;
pub const CTAID: u32 = 2;
const NTID: u32 = 3;
const GLOBAL_ID: u32 = 4;
pub const N: u32 = 5;
const M: u32 = 6;

/// Makes a kernel.
pub fn generate(random: &mut Random) -> Generated {
    let block = [4, 8, 16, 32, 48, 64][random.below(6)];
    let grid = 1 + random.below(4) as u32;
    let odd = random.below(3) == 0;
    let mut writer = Writer {
        random,
        body: String::new(),
        registers: 7,
        wide_registers: 3,
        predicates: 1,
        labels: 0,
        statements: 0,
        block,
        has_local: false,
        odd,
        counters: Vec::new(),
        loaded: Vec::new(),
        uniform: true,
    };
    if writer.random.below(3) == 0 {
        writer.table();
    } else {
        writer.statements(0);
        writer.statements(0);
    }
    let Writer { body, registers, wide_registers, predicates, has_local, .. } = writer;
    let local = if has_local { "\t.local .align 4 .b8 d1[16];\n\t.local .align 4 .b8 d2[16];\n" } else { "" };
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n\n");
    let _ = write!(
        text,
        ".visible .entry generated(\n\t.param .u64 a,\n\t.param .u64 b,\n\t.param .u32 n,\n\t.param .u32 m\n)\n{{\n\
         \t.reg .pred %p<{predicates}>;\n\t.reg .b32 %r<{registers}>;\n\t.reg .b64 %rd<{wide_registers}>;\n\
         \t.shared .align 4 .b8 s[1024];\n{local}\
         \tld.param.u64 %rd1, [a];\n\tld.param.u64 %rd2, [b];\n\
         \tcvta.to.global.u64 %rd1, %rd1;\n\tcvta.to.global.u64 %rd2, %rd2;\n\
         \tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\
         \tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tld.param.u32 %r5, [n];\n\tld.param.u32 %r6, [m];\n{body}\tret;\n}}\n"
    );
    Generated { text, block, grid }
}

impl Writer<'_> {
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "\t{text}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    pub fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn predicate(&mut self) -> u32 {
        self.predicates += 1;
        self.predicates - 1
    }

    /// Writes `opcode dst, operands` to a new register.
    pub fn compute(&mut self, opcode: &str, operands: &str) -> u32 {
        let register = self.register();
        self.line(&format!("{opcode} %r{register}, {operands};"));
        register
    }

    fn statements(&mut self, depth: usize) {
        let count = 1 + self.random.below(4);
        for _ in 0..count {
            if self.statements >= STATEMENTS {
                return;
            }
            self.statements += 1;
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        if self.odd && self.random.below(2) == 0 {
            return self.oddity();
        }
        match self.random.below(16) {
            0..=2 => self.shared_store(),
            3..=5 => self.shared_load(),
            6 | 7 => self.global_access(),
            8..=10 if self.uniform || self.random.below(8) == 0 => self.line("bar.sync 0;"),
            11 | 12 if depth < DEPTH => self.branch(depth),
            13 | 14 if depth < DEPTH => self.counted_loop(depth),
            15 => self.atomic(),
            _ => self.shared_store(),
        }
    }

    /// An index that is mostly the thread's own, or a neighbour's.
    fn index(&mut self, own: u32) -> u32 {
        let constant = [1, 2, 3, 4, 8, 32][self.random.below(6)];
        let mask = self.block.next_power_of_two() - 1;
        match self.random.below(16) {
            0..=4 => own,
            5 => self.compute("add.s32", &format!("%r{own}, {constant}")),
            6 => self.compute("xor.b32", &format!("%r{own}, {constant}")),
            7 => {
                let last = self.compute("add.s32", &format!("%r{NTID}, -1"));
                self.compute("sub.s32", &format!("%r{last}, %r{own}"))
            }
            8 => {
                let next = self.compute("add.s32", &format!("%r{own}, {constant}"));
                self.compute("and.b32", &format!("%r{next}, {mask}"))
            }
            9 => self.compute("shl.b32", &format!("%r{own}, 1")),
            10 => self.compute("shr.u32", &format!("%r{own}, 1")),
            11 => {
                let counter = self.scalar();
                self.compute("mad.lo.s32", &format!("%r{counter}, %r{NTID}, %r{own}"))
            }
            12 => {
                let scalar = self.scalar();
                self.compute("add.s32", &format!("%r{own}, %r{scalar}"))
            }
            13 => {
                let scalar = self.scalar();
                self.compute("mad.lo.s32", &format!("%r{own}, %r{scalar}, {constant}"))
            }
            14 => {
                let divisor = [2, 3, 4, 8][self.random.below(4)];
                let opcode = ["rem.u32", "div.u32"][self.random.below(2)];
                self.compute(opcode, &format!("%r{own}, {divisor}"))
            }
            _ => match self.loaded.last() {
                Some(loaded) if self.random.below(3) == 0 => *loaded,
                _ => self.scalar(),
            },
        }
    }

    /// A value that does not name the thread, mostly.
    pub fn scalar(&mut self) -> u32 {
        let mut choices = vec![N, M, CTAID, NTID];
        choices.extend(self.counters.iter().flat_map(|counter| [*counter; 3]));
        choices[self.random.below(choices.len())]
    }

    fn shared_address(&mut self) -> u32 {
        let index = self.index(TID);
        let offset = self.compute("shl.b32", &format!("%r{index}, 2"));
        let base = self.compute("mov.u32", "s");
        self.compute("add.s32", &format!("%r{base}, %r{offset}"))
    }

    fn shared_store(&mut self) {
        let address = self.shared_address();
        let value = self.loaded.last().copied().unwrap_or(TID);
        let offset = if self.random.below(6) == 0 { "+4" } else { "" };
        self.line(&format!("st.shared.u32 [%r{address}{offset}], %r{value};"));
    }

    fn shared_load(&mut self) {
        let address = self.shared_address();
        let value = self.compute("ld.shared.u32", &format!("[%r{address}]"));
        self.loaded.push(value);
    }

    /// A number near the thread's own, inside the shared array.
    pub fn near(&mut self) -> u32 {
        let constant = [1, 2, 3, 4, 8][self.random.below(5)];
        match self.random.below(9) {
            0..=3 => TID,
            4 => self.compute("add.s32", &format!("%r{TID}, {constant}")),
            5 => self.compute("xor.b32", &format!("%r{TID}, {constant}")),
            6 => {
                let last = self.compute("add.s32", &format!("%r{NTID}, -1"));
                self.compute("sub.s32", &format!("%r{last}, %r{TID}"))
            }
            7 => {
                let next = self.compute("add.s32", &format!("%r{TID}, {constant}"));
                let mask = self.block.next_power_of_two() - 1;
                self.compute("and.b32", &format!("%r{next}, {mask}"))
            }
            _ => self.compute("shr.u32", &format!("%r{TID}, 1")),
        }
    }

    fn word(&mut self, index: u32) -> u32 {
        let offset = self.compute("shl.b32", &format!("%r{index}, 2"));
        let base = self.compute("mov.u32", "s");
        self.compute("add.s32", &format!("%r{base}, %r{offset}"))
    }

    /// One store of places or numbers by all threads, now and then by some, or of some bytes.
    fn fill(&mut self, own: bool) {
        let place = if own { TID } else { self.near() };
        let address = self.word(place);
        let value = self.near();
        let guard = if self.random.below(6) == 0 { format!("@%p{} ", self.condition().0) } else { String::new() };
        match self.random.below(12) {
            0 => {
                let half = self.registers;
                self.registers += 1;
                self.line(&format!("mov.u32 %r{half}, 0;"));
                self.line(&format!("{guard}st.shared.u8 [%r{address}+{}], %r{half};", self.block % 4));
            }
            1 => self.line(&format!("{guard}st.volatile.shared.u32 [%r{address}], %r{value};")),
            2 => self.line(&format!("{guard}red.shared.add.u32 [%r{address}], %r{value};")),
            _ => self.line(&format!("{guard}st.shared.u32 [%r{address}], %r{value};")),
        }
    }

    fn likely_barrier(&mut self) {
        if self.random.below(8) > 0 {
            self.line("bar.sync 0;");
        }
    }

    /// A table in shared memory, read behind a barrier, whose words say where threads write.
    fn table(&mut self) {
        let own = self.random.below(3) > 0;
        self.fill(own);
        if self.random.below(4) == 0 {
            self.fill(own);
        }
        let rounds = self.random.below(4) == 0;
        let (counter, head, predicate) = (self.register(), self.label(), self.predicate());
        self.line(&format!("mov.u32 %r{counter}, 0;"));
        if rounds {
            let _ = writeln!(self.body, "{head}:");
        }
        self.likely_barrier();
        let index = self.near();
        let address = self.word(index);
        let value = self.compute("ld.shared.u32", &format!("[%r{address}]"));
        self.loaded.push(value);
        let first = self.compute("mad.lo.s32", &format!("%r{CTAID}, 256, %r{value}"));
        let (offset, place) = (self.wide_registers, self.wide_registers + 1);
        self.wide_registers += 2;
        self.line(&format!("and.b32 %r{first}, %r{first}, 4095;"));
        self.line(&format!("mul.wide.u32 %rd{offset}, %r{first}, 4;"));
        self.line(&format!("add.s64 %rd{place}, %rd1, %rd{offset};"));
        self.line(&format!("st.global.u32 [%rd{place}], %r{TID};"));
        match self.random.below(6) {
            0 => self.fill(own),
            1 => {
                self.likely_barrier();
                self.fill(own);
            }
            2 => self.statements(1),
            _ => {}
        }
        if rounds {
            self.likely_barrier();
            self.line(&format!("add.s32 %r{counter}, %r{counter}, 1;"));
            self.line(&format!("setp.lt.s32 %p{predicate}, %r{counter}, 3;"));
            self.line(&format!("@%p{predicate} bra {head};"));
        }
    }

    pub fn global_address(&mut self) -> u32 {
        let index = self.index(GLOBAL_ID);
        let array = 1 + self.random.below(2);
        let (offset, address) = (self.wide_registers, self.wide_registers + 1);
        self.wide_registers += 2;
        let opcode = if self.random.below(2) == 0 { "mul.wide.u32" } else { "mul.wide.s32" };
        self.line(&format!("{opcode} %rd{offset}, %r{index}, 4;"));
        self.line(&format!("add.s64 %rd{address}, %rd{array}, %rd{offset};"));
        address
    }

    fn global_access(&mut self) {
        let address = self.global_address();
        if self.random.below(2) == 0 {
            self.line(&format!("st.global.u32 [%rd{address}], %r{TID};"));
        } else {
            let value = self.compute("ld.global.u32", &format!("[%rd{address}]"));
            self.loaded.push(value);
        }
    }

    fn atomic(&mut self) {
        if self.random.below(2) == 0 {
            let address = self.shared_address();
            self.line(&format!("red.shared.add.u32 [%r{address}], 1;"));
        } else {
            let address = self.global_address();
            let scope = ["", ".cta", ".gpu"][self.random.below(3)];
            self.line(&format!(
                "red.relaxed{}.global.add.u32 [%rd{address}], 1;",
                if scope.is_empty() { ".gpu" } else { scope }
            ));
        }
    }

    /// A condition; the second part tells whether it is alike for all threads of a block.
    pub fn condition(&mut self) -> (u32, bool) {
        let comparison = ["lt.s32", "ge.s32", "eq.s32", "ne.s32", "lt.u32", "gt.u32"][self.random.below(6)];
        let predicate = self.predicate();
        let constant = [0, 1, 2, 4, 8, 16, 31, 32][self.random.below(8)];
        let (left, uniform) = match self.random.below(8) {
            0..=2 => (TID, false),
            3 => (self.compute("and.b32", &format!("%r{TID}, 1")), false),
            4 => (GLOBAL_ID, false),
            _ => {
                let scalar = self.scalar();
                (scalar, self.counters.iter().all(|counter| *counter != scalar))
            }
        };
        let right = if self.random.below(3) == 0 { format!("%r{}", self.scalar()) } else { constant.to_string() };
        self.line(&format!("setp.{comparison} %p{predicate}, %r{left}, {right};"));
        (predicate, uniform)
    }

    fn branch(&mut self, depth: usize) {
        let (predicate, uniform) = self.condition();
        let before = self.uniform;
        self.uniform = before && uniform;
        let (other, end) = (self.label(), self.label());
        self.line(&format!("@!%p{predicate} bra {other};"));
        self.statements(depth + 1);
        let exits = depth == 0 && self.random.below(8) == 0;
        self.line(&if exits { "ret;".to_string() } else { format!("bra {end};") });
        let _ = writeln!(self.body, "{other}:");
        if self.random.below(2) == 0 {
            self.statements(depth + 1);
        }
        let _ = writeln!(self.body, "{end}:");
        self.uniform = before && !exits;
    }

    /// A loop with its test at the head or, as compilers like it, at the end.
    fn counted_loop(&mut self, depth: usize) {
        let counter = self.register();
        let (start, by_thread) = match self.random.below(6) {
            0 => (format!("%r{TID}"), true),
            1 => (format!("%r{CTAID}"), false),
            _ => ([0, 1, 8][self.random.below(3)].to_string(), false),
        };
        let halves = self.random.below(5) == 0;
        let start = if halves { self.block.to_string() } else { start };
        self.line(&format!("mov.u32 %r{counter}, {start};"));
        let (head, end) = (self.label(), self.label());
        let predicate = self.predicate();
        let bound = match self.random.below(5) {
            0 => format!("%r{N}"),
            1 => format!("%r{NTID}"),
            2 => format!("%r{TID}"),
            _ => [2, 3, 8, 16][self.random.below(4)].to_string(),
        };
        let leave = if halves {
            format!("setp.eq.s32 %p{predicate}, %r{counter}, 0;")
        } else {
            format!("setp.ge.s32 %p{predicate}, %r{counter}, {bound};")
        };
        let before = self.uniform;
        self.uniform = before && (halves || !by_thread && bound != format!("%r{TID}"));
        let _ = writeln!(self.body, "{head}:");
        let at_head = self.random.below(2) == 0;
        if at_head {
            self.line(&leave);
            self.line(&format!("@%p{predicate} bra {end};"));
        }
        self.counters.push(counter);
        self.statements(depth + 1);
        self.counters.pop();
        let step = match self.random.below(4) {
            _ if halves => format!("shr.u32 %r{counter}, %r{counter}, 1;"),
            0 => format!("add.s32 %r{counter}, %r{counter}, %r{NTID};"),
            1 => format!("add.s32 %r{counter}, %r{counter}, 2;"),
            _ => format!("add.s32 %r{counter}, %r{counter}, 1;"),
        };
        self.line(&step);
        if at_head {
            self.line(&format!("bra {head};"));
        } else {
            self.line(&leave);
            self.line(&format!("@!%p{predicate} bra {head};"));
        }
        let _ = writeln!(self.body, "{end}:");
        self.uniform = before;
    }
}
