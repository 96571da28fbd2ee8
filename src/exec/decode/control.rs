//! Branches, calls, barriers, fences, warp operations, and what has a name but no type of its own.

use super::function::Decoder;
use super::{Barrier, Code, Copy, Fact, Note, RANK_SHIFT, Reduction, ReductionKind, WarpKind, WarpOperation};
use crate::exec::objects::MOST as MOST_ARRIVALS;
use crate::exec::values::atomic::AtomicOperation;
use crate::exec::values::integer::{
    Direct, bit_mask, direct, dot_product, find_nth_set, integer, multiply24_high, permute_mode, sign_or_zero_extend,
};
use crate::order::{Fence, Order};
use crate::ptx::annotation::Value;
use crate::ptx::ast::{AnnotationKind, BarrierKind, IntOp, Op, Operand, RegisterId, ScalarType, VariableRef};
use crate::ptx::words::special_register;

impl Decoder<'_> {
    /// Everything that is no computation, move or access.
    pub(crate) fn control(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::Branch { target } => {
                self.fixes.push((self.program.code.len(), target.0));
                self.emit(Code::Jump(0));
            }
            Op::BranchIndexed { index, targets } => {
                let a = self.source(index, 32)?;
                let table = self.program.tables.len() as u32;
                self.program.tables.push(targets.iter().map(|label| label.0).collect());
                self.fixes.push((self.program.code.len(), 0));
                self.emit(Code::JumpTable { a, table });
            }
            Op::Return => self.emit(Code::Return),
            Op::Exit => self.emit(Code::Exit),
            Op::Trap => self.emit(Code::Trap),
            Op::Call { function, returns, arguments } => return self.call(*function as usize, returns, arguments),
            Op::CallIndirect { function, targets, returns, arguments } => {
                return self.call_indirect((function, targets.as_deref()), returns, arguments);
            }
            Op::Barrier { kind, aligned, id, count } => return self.barrier(kind, *aligned, id, count.as_ref()),
            Op::WarpBarrier { mask } => {
                let mask = self.source(mask, 32)?;
                self.push_warp(WarpKind::Barrier, &[], [0; 3], Some(mask));
            }
            Op::Fence(fence) => return self.fence(fence),
            Op::Arbitrary { dst, .. } if op.is_texture_fetch() => self.fetch(dst),
            Op::Arbitrary { name, dst, sources } => return self.named(name, dst, sources),
            Op::Async { operation, .. } => return self.asynchronous(operation),
            Op::Object { usage, .. } => return self.object(usage),
            Op::ClusterBarrier { arrives: true, releases, .. } => {
                self.emit(Code::ClusterArrive { releases: *releases })
            }
            Op::ClusterBarrier { .. } => self.emit(Code::ClusterWait),
            Op::Registers { name, count } => {
                let all = self.constant(0xffff_ffff);
                let kind = WarpKind::Registers { more: name.contains(".inc"), count: *count as u32 };
                self.push_warp(kind, &[], [0; 3], Some(all));
            }
            Op::Nothing { .. } => self.emit(Code::Nothing),
            Op::Unsupported { name, reason } => {
                let reason = format!("`{name}` is not emulated: {reason}");
                self.refuse(reason);
            }
            _ => return None,
        }
        Some(())
    }

    /// `cp.async` and its groups.
    /// A texture of zeros, which are the same in every format and however coordinates are taken.
    fn fetch(&mut self, dst: &[Operand]) {
        for operand in dst {
            let Some((d, bits)) = self.destination(operand) else { continue };
            // The predicate says that the texture is resident.
            let a = self.constant(u64::from(bits == 1));
            self.note(Note::Unknown);
            self.emit(Code::Move { d, a });
        }
    }

    fn fence(&mut self, fence: &Fence) -> Option<()> {
        match fence.order() {
            Order::Fence { scope, sequential, release, acquire } => {
                self.emit(Code::Fence { scope, sequential, release, acquire })
            }
            // The other proxies have no accesses here.
            Order::Proxy { shared: false, global: false, .. } => self.emit(Code::Nothing),
            Order::Proxy { shared, own, global } => self.emit(Code::ProxyFence { shared, own, global }),
            Order::BarrierObjects => self.emit(Code::ObjectFence),
            Order::Block | Order::Counted | Order::Warp | Order::Grid | Order::Completion => {
                panic!("exec: `{fence}` has an operation of its own")
            }
        }
        Some(())
    }

    pub(crate) fn call(&mut self, function: usize, returns: &[Operand], arguments: &[Operand]) -> Option<()> {
        let callee = &self.module.functions[function];
        if self.recursive.contains(&(self.current, function)) {
            self.refuse(format!("a call by which `{}` may call itself", callee.name));
            return Some(());
        }
        if callee.body.is_none() {
            return self.external_call(&callee.name.clone(), arguments);
        }
        let mut copies = Vec::new();
        for ((index, argument), parameter) in (0..).zip(arguments).zip(&callee.params) {
            let to = self.layout.address(function, VariableRef::Param(index)) as u32;
            let bytes = u32::try_from(parameter.size?).ok()?;
            copies.push(match argument {
                Operand::Variable(variable, offset) => {
                    let from = self.layout.address(self.current, *variable).wrapping_add_signed(*offset) as u32;
                    Copy::Bytes { from, to, bytes }
                }
                _ => Copy::Store { from: self.source(argument, 64)?, to, bytes },
            });
        }
        let index = self.push_copies(copies);
        self.calls.push((self.program.code.len(), function));
        self.note_frame(function);
        self.emit(Code::Call { copies: index, to: 0 });
        let mut copies = Vec::new();
        for ((index, result), parameter) in (0..).zip(returns).zip(&callee.returns) {
            let from = self.layout.address(function, VariableRef::Return(index)) as u32;
            let bytes = u32::try_from(parameter.size?).ok()?;
            match result {
                Operand::Variable(variable, offset) => {
                    let to = self.layout.address(self.current, *variable).wrapping_add_signed(*offset) as u32;
                    copies.push(Copy::Bytes { from, to, bytes });
                }
                _ => {
                    let to = self.target(result);
                    copies.push(Copy::Load { from, to, bytes });
                }
            }
        }
        if !copies.is_empty() {
            let index = self.push_copies(copies);
            self.emit(Code::Copies(index));
        }
        Some(())
    }

    /// Functions without a body: the annotations of this project, and the runtime's assertion.
    fn external_call(&mut self, name: &str, arguments: &[Operand]) -> Option<()> {
        match name {
            "__gpuvcc_requires" | "__gpuvcc_assume" | "__gpuvcc_assert" | "__gpuvcc_invariant" => {
                let kind = name.strip_prefix("__gpuvcc_").and_then(AnnotationKind::of)?;
                let slot = match arguments.first()? {
                    Operand::Variable(variable, offset) => {
                        let at = self.layout.address(self.current, *variable).wrapping_add_signed(*offset);
                        let d = self.temporary();
                        let index = self.push_copies(vec![Copy::Load { from: at as u32, to: d, bytes: 4 }]);
                        self.emit(Code::Copies(index));
                        d
                    }
                    argument => self.source(argument, 32)?,
                };
                let register = RegisterId(u32::from(slot));
                let expression = Value::is_not_zero(register, ScalarType::B(32))?;
                self.check(Fact { kind, expression, registers: Vec::new(), arrays: Vec::new() });
            }
            "__assertfail" | "__assert_fail" => self.emit(Code::Fails),
            // What it prints, nobody sees; how much it printed, nobody asks.
            "vprintf" => self.emit(Code::Nothing),
            _ => {
                let reason = format!("`{name}` has no body");
                self.refuse(reason);
            }
        }
        Some(())
    }

    fn push_copies(&mut self, copies: Vec<Copy>) -> u32 {
        self.program.copies.push(copies);
        self.program.copies.len() as u32 - 1
    }

    fn barrier(&mut self, kind: &BarrierKind, aligned: bool, id: &Operand, count: Option<&Operand>) -> Option<()> {
        let id = self.source(id, 32)?;
        let count = match count {
            Some(count) => Some(self.source(count, 32)?),
            None => None,
        };
        let reduction = match kind {
            BarrierKind::Sync | BarrierKind::Arrive => None,
            BarrierKind::Reduce { operation, dst, predicate } => {
                let kind = match &**operation {
                    "popc" => ReductionKind::Popc,
                    "and" => ReductionKind::And,
                    _ => ReductionKind::Or,
                };
                let d = self.destination(dst).map(|(slot, _)| slot);
                Some(Reduction { kind, d, p: self.source(predicate, 1)? })
            }
        };
        let index = self.program.barriers.len() as u32;
        let arrive = matches!(kind, BarrierKind::Arrive);
        self.program.barriers.push(Barrier { id, count, aligned, arrive, reduction });
        self.emit(Code::Barrier(index));
        Some(())
    }

    pub(super) fn push_warp(&mut self, kind: WarpKind, dst: &[Operand], s: [u16; 3], mask: Option<u16>) {
        let d = [0, 1].map(|index| dst.get(index).and_then(|operand| self.destination(operand)));
        self.push_operation(WarpOperation { kind, d, s, mask });
    }

    /// Appends an operation of the warp.
    pub(crate) fn push_operation(&mut self, operation: WarpOperation) {
        self.program.warp_operations.push(operation);
        self.emit(Code::Warp(self.program.warp_operations.len() as u32 - 1));
    }

    /// Instructions that the verifier takes for arbitrary.
    fn named(&mut self, name: &str, dst: &[Operand], sources: &[Operand]) -> Option<()> {
        let words: Vec<&str> = name.split('.').collect();
        if let Some((kind, used)) = warp_kind(&words) {
            let mut s = [0; 3];
            for (slot, operand) in s.iter_mut().zip(&sources[..used.min(sources.len())]) {
                *slot = self.source(operand, 64)?;
            }
            let mask = match (words.contains(&"sync"), sources.get(used)) {
                (true, Some(mask)) => Some(self.source(mask, 32)?),
                (true, None) => return None,
                (false, _) => None,
            };
            self.push_warp(kind, dst, s, mask);
            return Some(());
        }
        if let "mma" | "wmma" | "movmatrix" = words[0] {
            self.opaque(dst);
            return Some(());
        }
        if let "addc" | "subc" | "madc" = words[0] {
            return self.carry_in(&words, dst, sources);
        }
        let mut slots = Vec::new();
        for operand in sources {
            slots.push(self.source(operand, 32)?);
        }
        let d = self.target(dst.first()?);
        let function: crate::exec::values::packed::Function = match words[0] {
            "dp4a" | "dp2a" => {
                let four = words[0] == "dp4a";
                let high = words.contains(&"hi");
                let types: Vec<bool> =
                    words.iter().filter(|w| matches!(**w, "u32" | "s32")).map(|w| *w == "s32").collect();
                let (a, b) = (*types.first()?, *types.get(1)?);
                Box::new(move |s| dot_product(four, high, a, b, [s[0], s[1], s[2]]))
            }
            "mul24" | "mad24" => {
                let ty = if words.contains(&"s32") { ScalarType::S(32) } else { ScalarType::U(32) };
                let (saturate, count) = (words.contains(&"sat"), slots.len());
                Box::new(move |s| multiply24_high(ty, saturate, &s[..count]))
            }
            "szext" => {
                let (is_signed, wrap) = (words.contains(&"s32"), words.contains(&"wrap"));
                Box::new(move |s| sign_or_zero_extend(is_signed, wrap, s[0], s[1]))
            }
            "bmsk" => {
                let wrap = words.contains(&"wrap");
                Box::new(move |s| bit_mask(wrap, s[0], s[1]))
            }
            "fns" => Box::new(|s| find_nth_set(s[0], s[1], s[2])),
            "prmt" => {
                let mode = words.last()?.to_string();
                permute_mode(&mode, 0, 0, 0)?;
                Box::new(move |s| permute_mode(&mode, s[0] as u32, s[1] as u32, s[2] as u32).unwrap_or(0))
            }
            "isspacep" => {
                let windows = self.layout.windows;
                let a = self.source(sources.first()?, 64)?;
                let inside = move |address: u64, start: u64| address.wrapping_sub(start) < windows.size;
                let wanted = words.get(1)?.to_string();
                slots = vec![a];
                Box::new(move |s| {
                    u64::from(match wanted.as_str() {
                        "shared" => inside(s[0], windows.shared),
                        "local" => inside(s[0], windows.local),
                        "param" => inside(s[0], windows.param),
                        "global" => s[0] < windows.shared,
                        _ => false,
                    })
                })
            }
            "mapa" => {
                let address = self.source(sources.first()?, 64)?;
                slots = vec![address, self.source(sources.get(1)?, 32)?];
                self.note(Note::InBlock);
                match self.program.ranks {
                    // Another block than the only one has no memory.
                    1 => Box::new(|s| if s[1] & 0xffff_ffff == 0 { s[0] } else { s[0] | 0xffff_ffff }),
                    _ => Box::new(|s| s[0] & !(31 << RANK_SHIFT) | ((s[1] & 15) + 1) << RANK_SHIFT),
                }
            }
            "getctarank" => {
                let rank = special_register("%cluster_ctarank", "")?;
                slots = vec![self.source(sources.first()?, 64)?, self.source(&rank, 32)?];
                self.note(Note::BlockOf);
                match self.program.ranks {
                    1 => Box::new(|_| 0),
                    _ => Box::new(|s| (s[0] >> RANK_SHIFT & 31).checked_sub(1).unwrap_or(s[1])),
                }
            }
            // The state of an arrival is the phase, and below it how many arrivals were pending.
            "mbarrier" => Box::new(|s| s[0] & u64::from(MOST_ARRIVALS)),
            "createpolicy" | "istypep" => return None,
            _ => return None,
        };
        self.many(function, 64, d, &slots)
    }

    /// `addc`, `subc` and `madc`.
    fn carry_in(&mut self, words: &[&str], dst: &[Operand], sources: &[Operand]) -> Option<()> {
        let ty = match *words.last()? {
            "u32" => ScalarType::U(32),
            "s32" => ScalarType::S(32),
            "u64" => ScalarType::U(64),
            _ => ScalarType::S(64),
        };
        let mut slots = Vec::new();
        for operand in sources {
            slots.push(self.source(operand, ty.bits())?);
        }
        let d = self.target(dst.first()?);
        let out = words.contains(&"cc");
        let (mut a, mut b) = (slots[0], slots[1]);
        if words[0] == "madc" {
            let op = if words.contains(&"hi") { IntOp::MulHi } else { IntOp::MulLo };
            let product = self.temporary();
            match direct(op, ty) {
                Some(Direct::Two(f)) => self.emit(Code::Two { f, d: product, a, b }),
                _ => self.many(Box::new(move |s| integer(op, ty, false, s).unwrap_or(0)), 64, product, &slots[..2])?,
            }
            (a, b) = (product, slots[2]);
        }
        let subtract = words[0] == "subc";
        self.emit(Code::Carry { out, input: true, subtract, bits: ty.bits() as u8, d, a, b });
        Some(())
    }
}

/// A warp operation and how many sources stand before its mask.
fn warp_kind(words: &[&str]) -> Option<(WarpKind, usize)> {
    let has = |word: &str| words.contains(&word);
    let bits = if has("b64") { 64 } else { 32 };
    Some(match words[0] {
        "shfl" if has("up") => (WarpKind::ShuffleUp, 3),
        "shfl" if has("down") => (WarpKind::ShuffleDown, 3),
        "shfl" if has("bfly") => (WarpKind::ShuffleButterfly, 3),
        "shfl" => (WarpKind::ShuffleIndex, 3),
        "vote" if has("all") => (WarpKind::VoteAll, 1),
        "vote" if has("any") => (WarpKind::VoteAny, 1),
        "vote" if has("uni") => (WarpKind::VoteUniform, 1),
        "vote" => (WarpKind::Ballot, 1),
        "match" if has("any") => (WarpKind::MatchAny { bits }, 1),
        "match" => (WarpKind::MatchAll { bits }, 1),
        "activemask" => (WarpKind::ActiveMask, 0),
        "elect" => (WarpKind::Elect, 0),
        "redux" if has("f32") => return None,
        "redux" => {
            let operation = words.iter().find_map(|word| AtomicOperation::of(word))?;
            (WarpKind::Reduce(operation, has("s32")), 1)
        }
        _ => return None,
    })
}
