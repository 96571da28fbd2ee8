//! Promotion: private variables whose accesses all have constant offsets become registers.
//!
//! Input: a [`Cfg`]. Output: the same meaning with loads and stores of such `.local` and `.param`
//! variables replaced by moves. Establishes: a promoted variable is reached by no other access.
//! Relies on: nobody but the thread itself sees these spaces. Reference: PTX "Local State Space",
//! "Parameter State Space". Why: arguments of inlined calls, and everything in unoptimised code, pass
//! through such variables; as registers the pointer analysis sees them.
//!
//! A register is a *frame address* if every write gives it the same variable and offset. A variable is
//! promoted if its frame addresses are used for nothing but `ld`, `st` and making frame addresses. The
//! bytes of its accesses are cut at every start and end of an access into *cells*, one register each.

use super::definite::Definite;
use super::exposed::Exposed;
use crate::cfg::graph::{Cfg, EdgeCondition, Statement};
use crate::ptx::ast::{
    Address, AddressBase, Instruction, IntOp, Op, Operand, Register, RegisterId, ScalarType, StateSpace, VariableRef,
};
use crate::ptx::roles::{Slot, registers_of, visit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Variables with more cells than this stay memory.
const MAX_CELLS: usize = 4096;

/// A variable and a byte offset in it.
type FrameAddress = (u32, i64);

/// What a register holds wherever it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// No write seen yet.
    Unset,
    /// This address.
    At(FrameAddress),
    /// Anything else, or several addresses.
    Other,
}

/// Promotes what can be promoted; whether there was anything.
pub(crate) fn run(cfg: &Cfg) -> (Cfg, bool) {
    if !cfg.variables.iter().any(|v| matches!(v.space, StateSpace::Local | StateSpace::Param)) {
        return (cfg.clone(), false);
    }
    let frames = frame_addresses(cfg);
    let uses = Uses::of(cfg, &frames);
    let mut cfg = cfg.clone();
    let cells = make_cells(&mut cfg, &uses);
    for node in cfg.graph.node_indices().collect::<Vec<_>>() {
        let statements = std::mem::take(&mut cfg.graph[node].statements);
        let mut rewritten = Vec::with_capacity(statements.len());
        for statement in statements {
            rewrite(&mut cfg.registers, &frames, &cells, statement, &mut rewritten);
        }
        cfg.graph[node].statements = rewritten;
    }
    (cfg, !cells.is_empty())
}

fn instructions(cfg: &Cfg) -> impl Iterator<Item = &Instruction> {
    cfg.graph.node_weights().flat_map(|block| &block.statements).filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    })
}

/// The frame address of each register: a fixpoint over all writes, whatever their order.
fn frame_addresses(cfg: &Cfg) -> Vec<Frame> {
    let mut frames = vec![Frame::Unset; cfg.registers.len()];
    loop {
        let mut changed = false;
        for instruction in instructions(cfg) {
            for (register, value) in writes(cfg, &frames, &instruction.op) {
                let old = &mut frames[register.0 as usize];
                let new = match (*old, value) {
                    (same, Frame::Unset) => same,
                    (Frame::Unset, value) => value,
                    (old, value) if old == value => old,
                    _ => Frame::Other,
                };
                changed |= *old != new;
                *old = new;
            }
        }
        if !changed {
            return frames;
        }
    }
}

fn writes(cfg: &Cfg, frames: &[Frame], op: &Op) -> Vec<(RegisterId, Frame)> {
    let mut written = Vec::new();
    let value = computed(cfg, frames, op);
    visit(&mut op.clone(), &mut |slot| {
        if let Slot::Destination(operand) = slot {
            let whole = matches!(operand, Operand::Register(_));
            let value = if whole { value } else { Frame::Other };
            written.extend(registers_of(operand).into_iter().map(|r| (r, value)));
        }
    });
    written
}

/// The frame address that an operation makes.
fn computed(cfg: &Cfg, frames: &[Frame], op: &Op) -> Frame {
    let of = |operand: &Operand| operand_frame(cfg, frames, operand);
    match op {
        Op::Mov { src, .. } => of(src),
        Op::Cvta { space: StateSpace::Local | StateSpace::Param, src, .. } => of(src),
        Op::Int { op, ty, saturate: false, sources, .. } if ty.bits() == 64 => match (op, sources.as_slice()) {
            (IntOp::Add, [a, Operand::Integer(k)] | [Operand::Integer(k), a]) => moved(of(a), *k as i64),
            (IntOp::Sub, [a, Operand::Integer(k)]) => moved(of(a), (*k as i64).wrapping_neg()),
            // Bits below the alignment are clear, so `or` adds.
            (IntOp::Or, [a, Operand::Integer(k)]) => match of(a) {
                Frame::At((variable, offset)) => {
                    let align = i64::from(cfg.variables[variable as usize].align.max(1));
                    let low = offset.rem_euclid(align);
                    let (fits, k) = ((0..align).contains(&(*k as i64)), *k as i64);
                    if fits && low & k == 0 { Frame::At((variable, offset + k)) } else { Frame::Other }
                }
                other => other,
            },
            _ => Frame::Other,
        },
        _ => Frame::Other,
    }
}

fn moved(frame: Frame, by: i64) -> Frame {
    match frame {
        Frame::At((variable, offset)) => Frame::At((variable, offset.wrapping_add(by))),
        other => other,
    }
}

fn operand_frame(cfg: &Cfg, frames: &[Frame], operand: &Operand) -> Frame {
    match operand {
        Operand::Register(register) => frames[register.0 as usize],
        Operand::Variable(VariableRef::Body(v), offset) if is_private(cfg, *v) => Frame::At((*v, *offset)),
        _ => Frame::Other,
    }
}

fn is_private(cfg: &Cfg, variable: u32) -> bool {
    matches!(cfg.variables[variable as usize].space, StateSpace::Local | StateSpace::Param)
}

/// The accesses of each private variable, and the variables whose address goes elsewhere.
#[derive(Default)]
struct Uses {
    /// Start and length in bytes of each element accessed.
    accesses: BTreeMap<u32, BTreeSet<(i64, u32)>>,
    escaping: BTreeSet<u32>,
}

impl Uses {
    fn of(cfg: &Cfg, frames: &[Frame]) -> Uses {
        let mut uses = Uses::default();
        let exposed = Exposed::of(cfg);
        let definite = Definite::of(cfg, &exposed);
        let mut state = definite.new_state();
        for node in cfg.graph.node_indices() {
            definite.enter(&mut state, node);
            for statement in &cfg.graph[node].statements {
                match statement {
                    Statement::Instruction(instruction) => {
                        let undefined = |r: RegisterId| state.may_be_undefined(r, instruction.guard);
                        uses.instruction(cfg, frames, instruction, &undefined);
                    }
                    Statement::Annotation(annotation) => {
                        let registers = annotation.registers();
                        registers.iter().for_each(|r| uses.escape(frames[r.0 as usize]));
                    }
                    Statement::Undefine { .. } => {}
                }
                definite.step(&mut state, statement);
            }
        }
        for condition in cfg.graph.edge_weights() {
            if let EdgeCondition::Index(operand, _) = condition {
                uses.escape(operand_frame(cfg, frames, operand));
            }
        }
        uses
    }

    fn escape(&mut self, frame: Frame) {
        if let Frame::At((variable, _)) = frame {
            self.escaping.insert(variable);
        }
    }

    fn instruction(
        &mut self,
        cfg: &Cfg,
        frames: &[Frame],
        instruction: &Instruction,
        undefined: &dyn Fn(RegisterId) -> bool,
    ) {
        let access = match &instruction.op {
            Op::Load { space, ty, dst, address, .. } => Some((*space, *ty, dst.len(), address)),
            Op::Store { space, ty, src, address, .. } => Some((*space, *ty, src.len(), address)),
            _ => None,
        };
        let known = computed(cfg, frames, &instruction.op);
        let keeps = matches!(known, Frame::At(_))
            && writes(cfg, frames, &instruction.op).iter().all(|(r, _)| frames[r.0 as usize] == known);
        let mut sources = Vec::new();
        visit(&mut instruction.op.clone(), &mut |slot| match slot {
            Slot::Source(Operand::Vector(elements)) => {
                sources.extend(elements.iter().map(|e| (operand_frame(cfg, frames, e), false)));
            }
            Slot::Source(operand) => {
                let defined = registers_of(operand).iter().all(|r| !undefined(*r));
                sources.push((operand_frame(cfg, frames, operand), keeps && defined));
            }
            Slot::Address(address) => {
                let defined = !matches!(address.base, AddressBase::Register(r) if undefined(r));
                sources.push((address_frame(cfg, frames, address), access.is_some() && defined));
            }
            Slot::Destination(_) => {}
        });
        sources.iter().filter(|s| !s.1).for_each(|s| self.escape(s.0));
        if let Some((space, ty, elements, address)) = access
            && let Frame::At((variable, start)) = address_frame(cfg, frames, address)
        {
            self.access(cfg, variable, start, space, ty, elements);
        }
    }

    fn access(&mut self, cfg: &Cfg, variable: u32, start: i64, space: StateSpace, ty: ScalarType, elements: usize) {
        let bytes = ty.bytes();
        let end = start.checked_add(i64::from(bytes) * elements as i64);
        let size = cfg.variables[variable as usize].size.and_then(|s| i64::try_from(s).ok());
        let inside = start >= 0 && end.zip(size).is_some_and(|(end, size)| end <= size);
        if !inside || !matches!(space, StateSpace::Local | StateSpace::Param | StateSpace::Generic) {
            self.escaping.insert(variable);
            return;
        }
        let of_variable = self.accesses.entry(variable).or_default();
        of_variable.extend((0..elements as i64).map(|k| (start + k * i64::from(bytes), bytes)));
    }
}

fn address_frame(cfg: &Cfg, frames: &[Frame], address: &Address) -> Frame {
    let base = match address.base {
        AddressBase::Register(register) => frames[register.0 as usize],
        AddressBase::Variable(variable) => operand_frame(cfg, frames, &Operand::Variable(variable, 0)),
        AddressBase::Absolute => Frame::Other,
    };
    moved(base, address.offset)
}

/// The cells of each promoted variable: start, length in bytes, register.
type Cells = BTreeMap<u32, Vec<(i64, u32, RegisterId)>>;

fn make_cells(cfg: &mut Cfg, uses: &Uses) -> Cells {
    let mut cells = Cells::new();
    for (&variable, accesses) in uses.accesses.iter().filter(|(v, _)| !uses.escaping.contains(v)) {
        let cuts: BTreeSet<i64> = accesses.iter().flat_map(|(start, n)| [*start, start + i64::from(*n)]).collect();
        if cuts.len() > MAX_CELLS {
            continue;
        }
        let cuts: Vec<i64> = cuts.into_iter().collect();
        let mut made = Vec::new();
        for pair in cuts.windows(2) {
            let (start, bytes) = (pair[0], (pair[1] - pair[0]) as u32);
            let covered = |(s, n): &(i64, u32)| *s <= start && start < s + i64::from(*n);
            if accesses.iter().any(covered) {
                let name = Arc::from(format!("{}.{start}", cfg.variables[variable as usize].name));
                cfg.registers.push(Register { name, ty: ScalarType::B(8 * bytes) });
                made.push((start, bytes, RegisterId(cfg.registers.len() as u32 - 1)));
            }
        }
        cells.insert(variable, made);
    }
    cells
}

fn rewrite(
    registers: &mut Vec<Register>,
    frames: &[Frame],
    cells: &Cells,
    statement: Statement,
    out: &mut Vec<Statement>,
) {
    let instruction = match statement {
        Statement::Instruction(instruction) => instruction,
        Statement::Undefine { registers, variables } => {
            let of_cells = variables.iter().filter_map(|v| cells.get(v)).flatten().map(|cell| cell.2);
            let registers = registers.into_iter().chain(of_cells).collect();
            return out.push(Statement::Undefine { registers, variables });
        }
        annotation => return out.push(annotation),
    };
    let at = |address: &Address| {
        let base = match address.base {
            AddressBase::Register(register) => frames[register.0 as usize],
            AddressBase::Variable(VariableRef::Body(variable)) => Frame::At((variable, 0)),
            _ => Frame::Other,
        };
        match moved(base, address.offset) {
            Frame::At((variable, start)) => cells.get(&variable).map(|c| (c, start)),
            _ => None,
        }
    };
    let (guard, origin) = (instruction.guard, instruction.origin.clone());
    let mut push = |op: Op| out.push(Statement::Instruction(Instruction { guard, op, origin: origin.clone() }));
    match &instruction.op {
        Op::Load { ty, dst, address, .. } => {
            let Some((cells, start)) = at(address) else { return out.push(Statement::Instruction(instruction)) };
            for (element, operand) in (0i64..).zip(dst) {
                let parts = parts(cells, start + element * i64::from(ty.bytes()), ty.bytes());
                read_cells(registers, *ty, operand, parts, &mut push);
            }
        }
        Op::Store { ty, src, address, .. } => {
            let Some((cells, start)) = at(address) else { return out.push(Statement::Instruction(instruction)) };
            for (element, operand) in (0i64..).zip(src) {
                let dst = parts(cells, start + element * i64::from(ty.bytes()), ty.bytes());
                push(Op::Mov { ty: ScalarType::B(8 * ty.bytes()), dst, src: operand.clone() });
            }
        }
        _ => out.push(Statement::Instruction(instruction)),
    }
}

/// The registers of the bytes of one element: one, or several from the lowest.
fn parts(cells: &[(i64, u32, RegisterId)], start: i64, bytes: u32) -> Operand {
    let end = start + i64::from(bytes);
    let inside = cells.iter().filter(|(s, _, _)| (start..end).contains(s));
    let mut found: Vec<Operand> = inside.map(|cell| Operand::Register(cell.2)).collect();
    if found.len() == 1 { found.remove(0) } else { Operand::vector(found) }
}

/// Reads cells into a register, which may be wider than the element.
fn read_cells(registers: &mut Vec<Register>, ty: ScalarType, dst: &Operand, src: Operand, push: &mut impl FnMut(Op)) {
    let Operand::Register(target) = dst else { return };
    let bits = 8 * ty.bytes();
    let whole = ScalarType::B(bits);
    let width = registers[target.0 as usize].ty.bits();
    if !ty.is_signed() || width <= bits {
        return push(Op::Mov { ty: whole, dst: dst.clone(), src });
    }
    registers.push(Register { name: Arc::from("%narrow"), ty: whole });
    let narrow = Operand::Register(RegisterId(registers.len() as u32 - 1));
    push(Op::Mov { ty: whole, dst: narrow.clone(), src });
    push(Op::Cvt {
        to: ScalarType::S(width),
        from: ScalarType::S(bits),
        saturate: false,
        name: Arc::from(format!("cvt.s{width}.s{bits}")),
        dst: dst.clone(),
        sources: vec![narrow],
    });
}
