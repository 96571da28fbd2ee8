//! Statements that few kernels have, and that were once overlooked: addresses wider than their space, barriers whose
//! number or count is computed, masks of warp operations, local arrays, addresses put together from halves.

use super::generate::{CTAID, N, TID, Writer};

impl Writer<'_> {
    /// One of them.
    pub fn oddity(&mut self) {
        match self.random.below(8) {
            0 | 1 => self.wide_address(),
            2 | 3 => self.computed_barrier(),
            4 | 5 => self.masked_operation(),
            6 => self.local_arrays(),
            _ => self.halves(),
        }
    }

    /// A shared access through 64 bits, of which the space takes 32.
    fn wide_address(&mut self) {
        let index = self.near();
        let shift = self.one_of([2, 3, 30, 31, 32, 33, 40]);
        let [far, near, base] = self.wide();
        self.line(&format!("cvt.u64.u32 %rd{far}, %r{index};"));
        self.line(&format!("shl.b64 %rd{far}, %rd{far}, {shift};"));
        self.line(&format!("mov.u64 %rd{base}, s;"));
        self.line(&format!("add.s64 %rd{far}, %rd{far}, %rd{base};"));
        if self.random.below(2) == 0 {
            self.line(&format!("mul.wide.u32 %rd{near}, %r{TID}, 4;"));
            self.line(&format!("add.s64 %rd{far}, %rd{far}, %rd{near};"));
        }
        let offset = self.one_of(["", "+4", "+4294967296", "+8589934596"]);
        match self.random.below(4) {
            0 => {
                let value = self.compute("ld.shared.u32", &format!("[%rd{far}{offset}]"));
                self.loaded.push(value);
            }
            1 => self.line(&format!("red.shared.add.u32 [%rd{far}{offset}], 1;")),
            _ => self.line(&format!("st.shared.u32 [%rd{far}{offset}], %r{TID};")),
        }
    }

    /// A barrier whose number, or count, is a register.
    fn computed_barrier(&mut self) {
        let number = match self.random.below(6) {
            0 => CTAID,
            1 => TID,
            2 => self.scalar(),
            3 => {
                let constant = self.one_of(["1", "15", "16"]);
                self.compute("mov.u32", constant)
            }
            4 => {
                let most = self.one_of([7, 15, 31]);
                self.compute("and.b32", &format!("%r{N}, {most}"))
            }
            _ => self.loaded.last().copied().unwrap_or(N),
        };
        let opcode = self.one_of(["bar.sync", "barrier.sync", "barrier.sync.aligned"]);
        match self.random.below(4) {
            0 => {
                let whole = self.block.next_multiple_of(32);
                let count = self.one_of([whole, whole + 32, whole + 1]);
                let count = self.compute("mov.u32", &count.to_string());
                self.line(&format!("{opcode} %r{number}, %r{count};"));
            }
            1 => self.line(&format!("{opcode} 0, {};", self.block.next_multiple_of(32))),
            _ => self.line(&format!("{opcode} %r{number};")),
        }
    }

    /// A warp operation with a mask: of all lanes, of some, or computed.
    fn masked_operation(&mut self) {
        let mask = match self.random.below(6) {
            0 => self.compute("mov.u32", "0x0000ffff"),
            1 => self.compute("mov.u32", "0xfffffffe"),
            2 => self.compute("shl.b32", &format!("%r{N}, 1")),
            3 => {
                let (lane, one) = (self.compute("mov.u32", "%laneid"), self.compute("mov.u32", "1"));
                self.compute("shl.b32", &format!("%r{one}, %r{lane}"))
            }
            _ => self.compute("mov.u32", "0xffffffff"),
        };
        match self.random.below(3) {
            0 => self.line(&format!("bar.warp.sync %r{mask};")),
            1 => {
                let value = self.compute("shfl.sync.bfly.b32", &format!("%r{TID}, 1, 31, %r{mask}"));
                self.loaded.push(value);
            }
            _ => {
                let predicate = self.condition().0;
                let votes = self.compute("vote.sync.ballot.b32", &format!("%p{predicate}, %r{mask}"));
                self.loaded.push(votes);
            }
        }
    }

    /// A local array beside another one, indexed by what may be outside of it.
    fn local_arrays(&mut self) {
        self.has_local = true;
        let mask = self.one_of([3, 3, 3, 7]);
        let index = self.near();
        let place = self.compute("and.b32", &format!("%r{index}, {mask}"));
        let [offset, base, _] = self.wide();
        self.line(&format!("mul.wide.u32 %rd{offset}, %r{place}, 4;"));
        let (array, read) = (self.one_of(["d1", "d2"]), self.one_of(["[d1]", "[d2+4]"]));
        self.line(&format!("mov.u64 %rd{base}, {array};"));
        self.line(&format!("add.s64 %rd{offset}, %rd{offset}, %rd{base};"));
        self.line(&format!("st.local.u32 [%rd{offset}], %r{TID};"));
        self.line("st.local.u32 [d1], 3;");
        let value = self.compute("ld.local.u32", read);
        self.loaded.push(value);
    }

    /// A global store to an address that went through two halves.
    fn halves(&mut self) {
        let address = self.global_address();
        let (low, high) = (self.register(), self.register());
        self.line(&format!("mov.b64 {{%r{low}, %r{high}}}, %rd{address};"));
        let [joined, shifted, _] = self.wide();
        if self.random.below(2) == 0 {
            self.line(&format!("mov.b64 %rd{joined}, {{%r{low}, %r{high}}};"));
        } else {
            self.line(&format!("cvt.u64.u32 %rd{shifted}, %r{high};"));
            self.line(&format!("shl.b64 %rd{shifted}, %rd{shifted}, 32;"));
            self.line(&format!("cvt.u64.u32 %rd{joined}, %r{low};"));
            self.line(&format!("or.b64 %rd{joined}, %rd{joined}, %rd{shifted};"));
        }
        self.line(&format!("st.global.u32 [%rd{joined}], %r{TID};"));
    }

    fn one_of<T: Copy, const COUNT: usize>(&mut self, choices: [T; COUNT]) -> T {
        choices[self.random.below(COUNT)]
    }

    /// Three new registers of 64 bits.
    fn wide(&mut self) -> [u32; 3] {
        let first = self.wide_registers;
        self.wide_registers += 3;
        [first, first + 1, first + 2]
    }
}
