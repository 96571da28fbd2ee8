//! Statements and instructions, dispatched by their shape.
//!
//! Input: a statement of a block. Output: IVL statements with its origin. Establishes: instructions
//! without a sound model are refused with their line, none is skipped.
//! Reference: each PTX instruction by its name.

use super::completion::{addition_of, increments, is_addition, is_increment, semantics};
use super::lowering::{Lowering, tag_literal, tag_type};
use super::points::Points;
use super::tickets::{addend, adds};
use crate::cfg::graph::Statement;
use crate::cfg::indirect::CALLEE;
use crate::ivl::ast::{Attribute, Barrier, ExprKind, ExprRef, StmtKind, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{BarrierRule, Claim};
use crate::order::Ordering;
use crate::ptx::ast::{
    AnnotationKind, BarrierKind, Instruction, IntOp, Op, Operand, RegisterId, ScalarType, StateSpace,
};
use crate::ptx::table::{CLUSTER, REGISTERS};

impl<'a> Lowering<'a> {
    /// Translates a statement; `rest` follows it in its block.
    pub(crate) fn statement(&mut self, statement: &'a Statement, rest: &[Statement]) {
        match statement {
            Statement::Instruction(instruction) => {
                self.instruction(instruction);
                self.use_barrier_invariants();
            }
            Statement::Annotation(annotation) if annotation.kind == AnnotationKind::BarrierInvariant => {
                self.barrier_invariant(annotation, rest);
            }
            Statement::Annotation(annotation) => self.annotation(annotation),
            // The analyses make reads of these registers arbitrary.
            Statement::Undefine { .. } => {}
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        self.origin = Some(instruction.origin.clone());
        self.guard = None;
        self.guard_value = None;
        if let Some(guard) = instruction.guard {
            let value = self.read_guard(guard);
            self.guard_value = Some(value);
            self.guard = Some(guard);
        }
        self.new_tags = self.tags_after(&instruction.op);
        self.operation(&instruction.op);
        self.is_volatile = false;
        self.new_tags.clear();
    }

    fn operation(&mut self, op: &Op) {
        match op {
            Op::Mov { ty, dst, src } => self.mov(*ty, dst, src),
            Op::Int { op, ty, saturate, dst, sources, .. } => {
                let value = self.integer(*op, *ty, *saturate, sources);
                self.write(dst, value, ty.is_signed());
            }
            Op::Float { name, ty, dst, sources } => self.float(name, *ty, dst, sources),
            Op::Setp { comparison, ty, name, dst, complement, a, b, combine } => {
                let holds = self.compare(*comparison, *ty, name, a, b);
                let positive = self.combine(holds.clone(), combine.as_deref());
                let mut writes = vec![(dst.clone(), positive, false)];
                if let Some(complement) = complement {
                    let negative = self.combine(bv::not(holds), combine.as_deref());
                    writes.push(((**complement).clone(), negative, false));
                }
                self.write_all(writes);
            }
            Op::Set { comparison, to, ty, name, dst, a, b, combine } => {
                let holds = self.compare(*comparison, *ty, name, a, b);
                let holds = self.combine(holds, combine.as_deref());
                let value = self.truth_value(holds, *to);
                self.write(dst, value, to.is_signed());
            }
            Op::Selp { ty, dst, a, b, predicate } => {
                let (a, b) = (self.read(a, ty.bits()), self.read(b, ty.bits()));
                let predicate = self.read_predicate(predicate);
                self.write(dst, bv::ite(predicate, a, b), false);
            }
            Op::Cvt { to, from, saturate, name, dst, sources } => {
                let value = self.convert(*to, *from, *saturate, name, sources);
                self.write(dst, value, to.is_signed());
            }
            Op::Cvta { from_generic, space, bits, dst, src } => self.cvta(*from_generic, *space, *bits, dst, src),
            Op::Load { space, ty, dst, address, ordering, non_coherent } => {
                self.is_volatile = *ordering == Ordering::Volatile;
                let before = self.statements.len();
                self.load(*space, *ty, dst, address, ordering.strong_scope(), *non_coherent);
                self.mark_loads(before, &semantics(*ordering));
            }
            Op::Store { space, ty, src, address, ordering } => {
                self.is_volatile = *ordering == Ordering::Volatile;
                let before = self.statements.len();
                self.store(*space, *ty, src, address, ordering.strong_scope());
                let marks = semantics(*ordering).into_iter().filter(|_| self.statements.len() > before);
                marks.collect::<Vec<_>>().into_iter().for_each(|mark| self.mark_store(mark));
            }
            Op::Atomic { space, operation, ty, elements, dst, address, sources, ordering } => {
                let change = match addend(operation, *ty, sources) {
                    Some(addend) => Some(adds(addend)),
                    None if is_addition(operation, *ty, sources) => {
                        Some(addition_of(self.read(&sources[0], ty.bits())))
                    }
                    None if is_increment(operation, *ty, sources) => Some(increments(self.read(&sources[0], 32))),
                    None => self.mark_of_change(operation, *ty, sources),
                };
                let marks: Vec<Attribute> = change.into_iter().chain(semantics(*ordering)).collect();
                self.atomic(*space, *ty, *elements, dst, address, (ordering.strong_scope(), marks));
            }
            Op::Matrix { space, dst, address, rows, stride, .. } => {
                self.matrix(*space, dst, address, *rows, stride.as_deref());
            }
            Op::Barrier { kind, aligned, id, count } => self.barrier(kind, *aligned, id, count.as_ref()),
            Op::WarpBarrier { mask } => self.warp_barrier(mask),
            Op::Fence(fence) => self.fence(fence),
            Op::Arbitrary { name, .. } if name.starts_with("mapa") => {
                let message = format!("`{name}`: addresses of another block's shared memory");
                self.unsupported("unsupported-instruction", message);
            }
            Op::Arbitrary { name, dst, sources } if **name == *CALLEE => self.callee(dst, sources),
            Op::Arbitrary { name, dst, sources } => {
                self.declarations.reads_textures |= op.is_texture_fetch();
                self.arbitrary_operation(name, dst, sources);
            }
            Op::Allocate { dst, size } => self.allocate(dst, size),
            Op::Free { address } => self.free(address),
            Op::Async { name, operation } => self.asynchronous(name, operation),
            Op::Object { name, usage } => self.object(name, usage),
            Op::ClusterBarrier { name, .. } => self.without_model(name, CLUSTER),
            Op::Registers { .. } if self.options.rules.global_only => {}
            Op::Registers { name, .. } => self.without_model(name, REGISTERS),
            Op::Nothing { .. } => {}
            Op::Unsupported { name, reason } => self.without_model(name, reason),
            Op::Branch { .. }
            | Op::BranchIndexed { .. }
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Call { .. }
            | Op::CallIndirect { .. } => {
                panic!("kernel: a control-flow instruction inside a block");
            }
        }
    }

    /// A kernel that can come to it is refused.
    pub(super) fn without_model(&mut self, name: &str, reason: &str) {
        let message = format!("`{name}` has no sound model yet: {reason}");
        self.unsupported("unsupported-instruction", message);
    }

    /// The place in a list of the function at an address. Which function that is, no list changes.
    fn callee(&mut self, dst: &[Operand], sources: &[Operand]) {
        let [address, listed @ ..] = sources else { panic!("kernel: a call through nothing") };
        let address = self.read(address, 64);
        let function = self.declarations.function(&mut self.names, CALLEE, vec![Type::Bv(64)], Type::Bv(32));
        let called = bv::call(function, vec![address], Type::Bv(32));
        let mut place = bv::literal(0, 32);
        for (number, callee) in (0u128..).zip(listed).skip(1) {
            let is_it = bv::eq(called.clone(), self.read(callee, 32));
            place = bv::ite(is_it, bv::literal(number, 32), place);
        }
        dst.iter().for_each(|dst| self.write(dst, place.clone(), false));
    }

    /// `malloc`: any address. Where the block starts and ends, accesses are checked against.
    fn allocate(&mut self, dst: &Operand, size: &Operand) {
        let size = self.read(size, 64);
        let Operand::Register(register) = dst else { return };
        let address = self.arbitrary(Type::Bv(64));
        let region = self.pointers.regions.heap(*register);
        if self.options.rules.check_bounds
            && let Some([start, extent]) = self.declarations.blocks.get(&region).cloned()
        {
            let kept = [(start, address.clone()), (extent, size)];
            self.emit(StmtKind::Assign(kept.into()));
            self.declarations.assumes_allocation = true;
        }
        self.write(dst, address, false);
    }

    fn mov(&mut self, ty: ScalarType, dst: &Operand, src: &Operand) {
        if ty == ScalarType::Pred {
            let value = self.read_predicate(src);
            return self.write(dst, value, false);
        }
        let value = self.read(src, ty.bits());
        // Parts of a temporary print better than parts of a sum.
        let value = if matches!(dst, Operand::Vector(_)) { self.shared(value) } else { value };
        self.write(dst, value, false);
    }

    pub(super) fn write_arbitrary(&mut self, dst: &[Operand]) {
        let mut writes = Vec::new();
        for operand in dst {
            for register in super::pointers::destinations(std::slice::from_ref(operand)) {
                let ty = super::lowering::register_type(self.cfg.registers[register.0 as usize].ty);
                let value = self.arbitrary(ty);
                writes.push((Operand::Register(register), value, false));
            }
        }
        self.write_all(writes);
    }

    /// `cvta` adds the space's window, which is 0 for `.global` and cancels where bases are 0.
    fn cvta(&mut self, from_generic: bool, space: StateSpace, bits: u32, dst: &Operand, src: &Operand) {
        let points = self.pointers.operand(&self.pointer_state, src);
        let value = self.read(src, bits);
        let zero_based = self.pointers.is_pure(&points, space)
            && points.regions.iter().all(|r| self.declarations.base(*r) == bv::literal(0, 64));
        let name = match space {
            StateSpace::Shared | StateSpace::SharedCluster if !zero_based => "shared",
            StateSpace::Const if !zero_based => "const",
            StateSpace::Local => "local",
            StateSpace::Param if !zero_based => "param",
            _ => return self.write(dst, value, false),
        };
        let window = self.declarations.window(&mut self.names, name);
        let window = bv::zext(window, bits);
        let value = if from_generic { bv::sub(value, window) } else { bv::add(value, window) };
        self.write(dst, value, false);
    }

    fn barrier(&mut self, kind: &BarrierKind, aligned: bool, id: &Operand, count: Option<&Operand>) {
        if self.options.rules.global_only {
            if let BarrierKind::Reduce { dst, .. } = kind {
                let value = self.arbitrary(Type::Bv(32));
                self.write(dst, value, false);
            }
            return;
        }
        let reduce = match kind {
            BarrierKind::Sync => None,
            BarrierKind::Arrive => {
                return self
                    .unsupported("barrier-arrive", "`bar.arrive`: producer-consumer barriers have no model yet");
            }
            BarrierKind::Reduce { operation, dst, .. } => Some((operation, dst)),
        };
        let id = (*id != Operand::Integer(0)).then(|| self.read(id, 32));
        if let Some(number) = id.as_ref().filter(|id| !matches!(id.kind, ExprKind::Bv(..=15))) {
            let exists = bv::binary(BvOp::Ult, number.clone(), bv::literal(16, 32));
            self.emit(StmtKind::Assert(Claim::BarrierRule(BarrierRule::Number), exists));
        }
        let count = count.map(|count| self.read(count, 32));
        let result = reduce.map(|(operation, _)| {
            let ty = if &**operation == "popc" { Type::Bv(32) } else { Type::Bool };
            (self.temporary(ty.clone()), ty)
        });
        let name = result.as_ref().map(|r| r.0.clone());
        let uniform = self.uniform_registers();
        self.tell_objects();
        self.emit_with(StmtKind::Barrier(Barrier { guard: None, id, count, aligned, result: name }), uniform);
        if let (Some((_, dst)), Some((name, ty))) = (reduce, result) {
            self.write(dst, bv::var(name, ty), false);
        }
    }

    /// The region tags that the registers written by an operation get.
    fn tags_after(&mut self, op: &Op) -> std::collections::BTreeMap<RegisterId, ExprRef> {
        let dst = match op {
            Op::Mov { dst, .. }
            | Op::Int { dst, .. }
            | Op::Selp { dst, .. }
            | Op::Cvt { dst, .. }
            | Op::Cvta { dst, .. } => dst.clone(),
            Op::Load { dst, .. } => match dst.as_slice() {
                [single] => single.clone(),
                several => Operand::vector(several.to_vec()),
            },
            _ => return std::collections::BTreeMap::new(),
        };
        let tagged: Vec<_> = super::pointers::destinations(std::slice::from_ref(&dst))
            .into_iter()
            .filter(|r| self.tags.contains_key(r))
            .collect();
        if tagged.is_empty() {
            return std::collections::BTreeMap::new();
        }
        let after = super::transfer::results(&mut self.pointers, &self.pointer_state, op);
        let mut tags = std::collections::BTreeMap::new();
        for (register, points) in after {
            if tagged.contains(&register) {
                let tag = if points.regions.len() > 1 {
                    self.tag_of_result(op)
                } else {
                    tag_literal(points.regions.first().copied())
                };
                tags.insert(register, tag);
            }
        }
        tags
    }

    /// The tag of a result that may lie in several regions: that of the operand it points with.
    fn tag_of_result(&mut self, op: &Op) -> ExprRef {
        match op {
            Op::Mov { src, .. } | Op::Cvta { src, .. } => self.tag_of(src),
            Op::Cvt { sources, .. } => self.tag_of(&sources[0]),
            Op::Selp { a, b, predicate, .. } => {
                let (a, b) = (self.tag_of(a), self.tag_of(b));
                let predicate = self.read_predicate(predicate);
                bv::ite(predicate, a, b)
            }
            Op::Int { op, ty, sources, .. } => match (op, sources.as_slice()) {
                (IntOp::Min | IntOp::Max, [a, b]) => {
                    let tags = (self.tag_of(a), self.tag_of(b));
                    let (a, b) = (self.read(a, ty.bits()), self.read(b, ty.bits()));
                    let less = bv::binary(if ty.is_signed() { BvOp::Slt } else { BvOp::Ult }, a, b);
                    if *op == IntOp::Min { bv::ite(less, tags.0, tags.1) } else { bv::ite(less, tags.1, tags.0) }
                }
                (IntOp::Slct, [a, b, c]) => {
                    let tags = (self.tag_of(a), self.tag_of(b));
                    let c = self.read(c, 32);
                    bv::ite(bv::binary(BvOp::Sge, c, bv::literal(0, 32)), tags.0, tags.1)
                }
                // Address arithmetic: one operand points, the others are indices.
                _ => {
                    let pointer = sources.iter().find(|s| !self.points_of(s).regions.is_empty()).cloned();
                    pointer.map_or_else(|| tag_literal(None), |p| self.tag_of(&p))
                }
            },
            _ => tag_literal(None),
        }
    }

    fn points_of(&self, operand: &Operand) -> Points {
        self.pointers.operand(&self.pointer_state, operand)
    }

    /// The region tag of an operand.
    pub(crate) fn tag_of(&mut self, operand: &Operand) -> ExprRef {
        let points = self.points_of(operand);
        match operand {
            Operand::Register(register) if points.regions.len() > 1 => match self.tags.get(register) {
                Some(name) => bv::var(name.clone(), tag_type()),
                None => panic!("kernel: a register with several regions has no tag"),
            },
            _ => tag_literal(points.regions.first().copied()),
        }
    }
}
