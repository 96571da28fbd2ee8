//! Executes the kernel IVL of one thread along the PTX instructions that the thread executed in the
//! emulator, and compares.
//!
//! What the IVL leaves open takes the value that the emulator has: loads yield what the memory held,
//! registers that hold anything hold what they really hold. Everything else has to agree. A pointer
//! may be counted from the start of its array, where the emulator has an address.

use super::emulator::{Element, Instance, Kind, Log, Memory};
use super::evaluate::{Evaluator, Store, Value, cut};
use super::joint::{Given, Joints};
use super::launch::Bases;
use gpuvcc::ivl::ast::*;
use gpuvcc::kernel::Kernel;
use gpuvcc::ptx::ast::{Register, ScalarType};
use gpuvcc::span::Origin;
use gpuvcc::twothread::barrier_invariants::is_of_annotation;
use std::collections::BTreeMap;

/// Why a thread is not followed to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// PTX and IVL disagree.
    Disagreement(String),
    /// An assumption of the user does not hold.
    UserAssumption,
    /// The IVL takes any of several branches, because of a register that nothing defined.
    AnyBranch,
}

/// An access that the IVL does.
struct Done<'p> {
    kind: Kind,
    access: &'p Access,
    offset: Value,
    value: Value,
    /// Whether it surely takes place, and at this offset.
    certain: bool,
}

/// The kernel, prepared.
pub struct Follower<'p> {
    evaluator: Evaluator<'p>,
    blocks: BTreeMap<&'p Name, &'p Block>,
    start: &'p Block,
    locals: &'p [Variable],
    arrays: BTreeMap<&'p Name, &'p Array>,
    /// The variable of each register of the entry that occurs.
    registers: BTreeMap<usize, &'p Variable>,
    bases: &'p Bases,
    block_size: [u32; 3],
}

/// Which memory each array of the IVL is. Learnt from the first access, the same for all threads.
pub type Bindings = BTreeMap<Name, Memory>;

struct Thread<'f, 'p> {
    follower: &'f Follower<'p>,
    bindings: &'f mut Bindings,
    store: Store,
    block: &'p Block,
    next: usize,
    /// How often the thread came to each line with a collective access.
    came: BTreeMap<u32, u32>,
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub instructions: u64,
    pub accesses: u64,
    /// Accesses of which the IVL knows the offset.
    pub exact: u64,
    /// Register values that the IVL computes.
    pub values: u64,
    /// Collective accesses of whole warps.
    pub joint: u64,
}

impl<'p> Follower<'p> {
    /// `registers` are those of the entry, in order.
    pub fn new(kernel: &'p Kernel, registers: &[Register], bases: &'p Bases, block_size: [u32; 3]) -> Follower<'p> {
        let procedure = &kernel.program.procedures[0];
        let body = procedure.body.as_ref().expect("a kernel has a body");
        Follower {
            evaluator: Evaluator::new(&kernel.program),
            blocks: body.blocks.iter().map(|block| (&block.label, block)).collect(),
            start: &body.blocks[0],
            locals: &body.locals,
            arrays: kernel.program.arrays.iter().map(|array| (&array.name, array)).collect(),
            registers: variables_of(registers, &body.locals),
            bases,
            block_size,
        }
    }

    /// Follows a thread. `constants` are the values of the program's constants.
    pub fn follow(
        &self,
        log: &Log,
        constants: &Store,
        (bindings, joints): (&mut Bindings, &mut Joints),
        compared: &mut Compared,
    ) -> Result<(), Stop> {
        let mut store = constants.clone();
        store.extend(self.locals.iter().map(|local| (local.name.clone(), None)));
        let mut thread = Thread { follower: self, bindings, store, block: self.start, next: 0, came: BTreeMap::new() };
        let mut before = &log.before;
        for instance in &log.instances {
            compared.instructions += 1;
            thread.instruction(instance, before, log, joints, compared).map_err(|stop| match stop {
                Stop::Disagreement(reason) => {
                    let Origin { line, text, .. } = &*instance.origin;
                    let (thread, block) = (log.thread, log.block);
                    Stop::Disagreement(format!("line {line} `{text}`, thread {thread:?} of block {block:?}: {reason}"))
                }
                other => other,
            })?;
            before = &instance.registers;
        }
        if log.complete && !thread.at_end() {
            return Err(Stop::Disagreement(format!("the thread ended; the IVL is in block {}", thread.block.label)));
        }
        Ok(())
    }
}

/// Registers that occur are the first variables, in the same order; their names begin alike.
fn variables_of<'p>(registers: &[Register], locals: &'p [Variable]) -> BTreeMap<usize, &'p Variable> {
    let mut result = BTreeMap::new();
    let mut rest = locals.iter().peekable();
    for (index, register) in registers.iter().enumerate() {
        let ty = if register.ty == ScalarType::Pred { Type::Bool } else { Type::Bv(register.ty.bits()) };
        let plain: String = register.name.chars().filter(char::is_ascii_alphanumeric).collect();
        let is_it = |local: &&Variable| {
            let name: String = local.name.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
            let stem = name.strip_prefix('x').filter(|_| !plain.starts_with('x')).unwrap_or(&name);
            let suffix = stem.strip_prefix(plain.as_str());
            // A number behind it keeps it apart from another name.
            let apart =
                suffix.is_some_and(|suffix| suffix.is_empty() || local.name.as_str().ends_with(&format!(".{suffix}")));
            local.ty == ty && apart
        };
        if let Some(local) = rest.next_if(is_it) {
            result.insert(index, local);
        }
    }
    result
}

impl<'p> Thread<'_, 'p> {
    fn at_end(&mut self) -> bool {
        self.go_on();
        while self.block.stmts.get(self.next).is_some_and(is_user) {
            self.next += 1;
            self.go_on();
        }
        self.next == self.block.stmts.len() && self.block.transfer == Transfer::Return
    }

    /// Passes the ends of blocks that lead to one other.
    fn go_on(&mut self) {
        while self.next == self.block.stmts.len()
            && let Transfer::Goto(targets) = &self.block.transfer
            && let [target] = &targets[..]
        {
            (self.block, self.next) = (self.follower.blocks[target], 0);
        }
    }

    fn instruction(
        &mut self,
        instance: &Instance,
        before: &[u64],
        log: &Log,
        joints: &mut Joints,
        compared: &mut Compared,
    ) -> Result<(), Stop> {
        let mut done = Vec::new();
        self.go_on();
        let is_own = |stmt: &Stmt| stmt.origin.as_deref() == Some(&*instance.origin);
        while let Some(stmt) = self.block.stmts.get(self.next).filter(|stmt| is_own(stmt) || is_user(stmt)) {
            self.next += 1;
            self.statement(stmt, instance, &mut done)?;
            if is_user(stmt) {
                self.go_on();
            }
        }
        if self.next == self.block.stmts.len()
            && let Transfer::Goto(targets) = &self.block.transfer
            && targets.len() > 1
        {
            let from = self.block;
            self.branch(targets, &is_own)?;
            // A guarded barrier is a branch around the barrier.
            while let Some(stmt) = self.block.stmts.get(self.next).filter(|stmt| is_own(stmt) && from != self.block) {
                self.next += 1;
                self.statement(stmt, instance, &mut done)?;
            }
        }
        match done.iter().any(|done| done.access.collective.is_some()) {
            true => self.join(instance, &done, log, joints),
            false => self.compare_accesses(instance, &done, compared)?,
        }
        self.compare_registers(instance, before, compared)
    }

    /// Notes a collective access, to be compared when all lanes are known.
    fn join(&mut self, instance: &Instance, done: &[Done<'p>], log: &Log, joints: &mut Joints) {
        let line = instance.origin.line;
        let [x, y, z] = log.thread;
        let [width, height, _] = self.follower.block_size;
        let came = self.came.entry(line).or_default();
        let joint = joints.entry((log.block, (x + width * (y + height * z)) / 32, line, *came)).or_default();
        *came += 1;
        joint.lanes += 1;
        joint.elements.extend(instance.accesses.iter().cloned());
        let gives =
            |done: &&Done| done.access.collective.as_ref().is_none_or(|givers| self.truth(givers) != Some(false));
        joint.given.extend(done.iter().filter(gives).map(|done| Given {
            kind: done.kind,
            array: done.access.array.clone(),
            space: self.space(done.access),
            offset: done.offset.map(|offset| (offset as u64).wrapping_mul(u64::from(done.access.scale))),
            bytes: done.access.bytes,
        }));
    }

    /// Goes where the assumptions lead, if they are this instruction's.
    fn branch(&mut self, targets: &'p [Name], is_own: &dyn Fn(&Stmt) -> bool) -> Result<(), Stop> {
        let mut open = Vec::new();
        for target in targets {
            let block = self.follower.blocks[target];
            let (Some(stmt), Some(StmtKind::Assume(_, condition))) =
                (block.stmts.first(), block.stmts.first().map(|stmt| &stmt.kind))
            else {
                return Err(Stop::Disagreement(format!("block {target} has no condition")));
            };
            if !is_own(stmt) {
                return Ok(());
            }
            match self.truth(condition) {
                Some(true) => open.push(block),
                Some(false) => {}
                None => return Err(Stop::AnyBranch),
            }
        }
        let [block] = open[..] else { return Err(Stop::Disagreement(format!("{} branches are open", open.len()))) };
        (self.block, self.next) = (block, 1);
        Ok(())
    }

    fn value(&self, e: &Expr) -> Value {
        self.follower.evaluator.value(e, &self.store)
    }

    fn truth(&self, e: &Expr) -> Option<bool> {
        self.follower.evaluator.truth(e, &self.store)
    }

    fn statement(&mut self, stmt: &'p Stmt, instance: &Instance, done: &mut Vec<Done<'p>>) -> Result<(), Stop> {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let values: Vec<Value> = pairs.iter().map(|(_, value)| self.value(value)).collect();
                self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
            }
            StmtKind::Havoc(names) => names.iter().for_each(|name| {
                self.store.insert(name.clone(), None);
            }),
            StmtKind::Assume(_, condition) if self.truth(condition) == Some(false) => {
                return Err(match is_user(stmt) {
                    true => Stop::UserAssumption,
                    false => Stop::Disagreement("an assumption does not hold".to_string()),
                });
            }
            StmtKind::Assume(..) => {}
            StmtKind::Assert(..) | StmtKind::Fence(_) | StmtKind::WarpBarrier(_) | StmtKind::Trap => {}
            // What annotations read, no instruction reads.
            StmtKind::Load { dst, .. } if is_of_annotation(stmt) => {
                self.store.insert(dst.clone(), None);
            }
            StmtKind::Load { dst, access } => {
                let element = self.access(Kind::Load, access, None, instance, done);
                self.store.insert(dst.clone(), element.map(|element| u128::from(element.value)));
            }
            StmtKind::Store { value, access } => {
                let value = self.value(value);
                self.access(Kind::Store, access, value, instance, done);
            }
            // A lane's share of what its leader adds is no access of its own.
            StmtKind::Atomic { dst: Some(dst), .. }
                if stmt.attributes.iter().any(|mark| mark.name.as_str() == "share") =>
            {
                self.store.insert(dst.clone(), None);
            }
            StmtKind::Atomic { dst, access } => {
                let element = self.access(Kind::Atomic, access, None, instance, done);
                if let Some(dst) = dst {
                    self.store.insert(dst.clone(), element.map(|element| u128::from(element.value)));
                }
            }
            StmtKind::Barrier(barrier) => {
                if let Some(result) = &barrier.result {
                    self.store.insert(result.clone(), None);
                }
            }
            StmtKind::Call { .. } | StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                panic!("no statement of a kernel: {stmt:?}")
            }
        }
        Ok(())
    }

    /// Notes an access; the element of the PTX instruction that it is.
    fn access<'i>(
        &mut self,
        kind: Kind,
        access: &'p Access,
        value: Value,
        instance: &'i Instance,
        done: &mut Vec<Done<'p>>,
    ) -> Option<&'i Element> {
        let guard = access.guard.as_ref().map_or(Some(true), |guard| self.truth(guard));
        if guard == Some(false) {
            return None;
        }
        let offset = self.value(&access.offset);
        let one = Done { kind, access, offset, value, certain: guard == Some(true) && offset.is_some() };
        let element = instance.accesses.iter().find(|element| self.is_exactly(&one, element));
        done.push(one);
        element
    }

    fn memory(&self, access: &Access) -> Option<Memory> {
        self.bindings.get(&access.array).copied()
    }

    /// Whether an access with a known offset is this element, as far as one can tell by now.
    fn is_exactly(&self, done: &Done, element: &Element) -> bool {
        let in_memory = match (self.memory(done.access), element.memory) {
            (Some(known), memory) => known == memory,
            (None, Memory::Shared(_)) => self.space(done.access) == ArraySpace::Shared,
            (None, Memory::Global(_)) => self.space(done.access) == ArraySpace::Global,
        };
        let offset = done.offset.map(|offset| (offset as u64).wrapping_mul(u64::from(done.access.scale)));
        in_memory && done.kind == element.kind && done.access.bytes == element.bytes && offset == Some(element.offset)
    }

    fn space(&self, access: &Access) -> ArraySpace {
        self.follower.arrays[&access.array].space
    }

    /// Whether an access may be this element: at an offset that is not known.
    fn may_be(&self, done: &Done, element: &Element) -> bool {
        let shared = matches!(element.memory, Memory::Shared(_));
        let space = (self.space(done.access) == ArraySpace::Shared) == shared;
        let known = self.memory(done.access).is_none_or(|memory| memory == element.memory);
        done.offset.is_none() && space && known && done.kind == element.kind && done.access.bytes == element.bytes
    }

    fn compare_accesses(
        &mut self,
        instance: &Instance,
        done: &[Done<'p>],
        compared: &mut Compared,
    ) -> Result<(), Stop> {
        for element in &instance.accesses {
            compared.accesses += 1;
            let exact = done.iter().find(|done| self.is_exactly(done, element));
            let Some(found) = exact.or_else(|| done.iter().find(|done| self.may_be(done, element))) else {
                let accesses: Vec<String> = done.iter().map(describe).collect();
                return Err(Stop::Disagreement(format!("the IVL misses {element:x?}; it has {accesses:?}")));
            };
            if found.access.strong != element.scope {
                return Err(Stop::Disagreement(format!("another strength than {element:?}: {}", describe(found))));
            }
            if let (Kind::Store, Some(value)) = (element.kind, found.value)
                && !self.is_same(value, u128::from(element.value), 8 * element.bytes)
            {
                return Err(Stop::Disagreement(format!("another value than {element:x?}: {}", describe(found))));
            }
            if exact.is_some() {
                compared.exact += 1;
                let array = found.access.array.clone();
                self.bindings.entry(array).or_insert(element.memory);
            }
        }
        // Nothing that the thread does not do.
        let spurious = done
            .iter()
            .find(|done| done.certain && !instance.accesses.iter().any(|element| self.is_exactly(done, element)));
        match spurious {
            Some(done) => {
                Err(Stop::Disagreement(format!("the PTX does no {}; it does {:x?}", describe(done), instance.accesses)))
            }
            None => Ok(()),
        }
    }

    /// Whether values agree, up to the base of an array.
    fn is_same(&self, ivl: u128, ptx: u128, width: u32) -> bool {
        ivl == ptx || self.follower.bases.explain(cut(ptx.wrapping_sub(ivl), width), width)
    }

    fn compare_registers(&mut self, instance: &Instance, before: &[u64], compared: &mut Compared) -> Result<(), Stop> {
        for (&index, variable) in &self.follower.registers {
            let width = if let Type::Bv(width) = variable.ty { width } else { 1 };
            if width > 64 {
                // Two slots in the emulator; their halves are compared where they are unpacked.
                continue;
            }
            let real = cut(u128::from(instance.registers[index]), width);
            let changed = instance.registers[index] != before[index];
            let known = self.store.get_mut(&variable.name).expect("a variable of the kernel");
            match *known {
                None => *known = Some(real),
                Some(value) => {
                    compared.values += u64::from(changed);
                    if !self.is_same(value, real, width) {
                        let reason = format!("{} is {value:#x} in the IVL and {real:#x} in PTX", variable.name);
                        return Err(Stop::Disagreement(reason));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a statement is an annotation of the user.
fn is_user(stmt: &Stmt) -> bool {
    // A barrier invariant has statements without attributes, too, and such that stand behind its barrier.
    let is_comment = stmt.origin.as_ref().is_some_and(|origin| origin.text.starts_with("//@"));
    is_comment
        || match &stmt.kind {
            StmtKind::Assert(claim, _) => claim.is_of_user(),
            StmtKind::Assume(premise, _) => premise.is_of_user(),
            _ => false,
        }
}

fn describe(done: &Done) -> String {
    let Done { kind, access, offset, value, .. } = done;
    let Access { array, bytes, strong, .. } = access;
    format!("{kind:?} of {bytes} bytes of {array} at {offset:x?}, value {value:x?}, strong {strong:?}")
}
