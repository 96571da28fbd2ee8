//! Prepares a kernel for fast evaluation: variables and blocks by number, expressions in a table.
//!
//! Input: a kernel IVL program. Output: [`Compiled`]. Establishes: every name is a number; what cannot
//! be evaluated is an instruction or a node that is never known; an assumption that only limits the
//! variables a `havoc` just made arbitrary is told apart from others. Relies on: the program
//! type-checks. Reference: the lock-step paper, section 3.1 (the kernel language).

use super::evaluate::{ExprId, Expressions, Position, type_width};
use super::skip::{Skip, find_skips};
use crate::finding::AccessKind;
use crate::ivl::ast::*;
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Premise;
use crate::order::{Order, Scope};
use crate::span::{Origin, Span};
use crate::twothread::barrier_invariants::is_of_annotation;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A kernel ready for evaluation.
pub struct Compiled<'a> {
    /// Expressions of the kernel.
    pub expressions: Expressions<'a>,
    /// Width in bits of each variable's values.
    pub widths: Vec<u32>,
    /// Constants of the program and parameters of the kernel, in the order of their numbers.
    pub constants: Vec<&'a Variable>,
    /// Numbers of the variables that the body mentions.
    read: BTreeSet<u32>,
    /// Conditions on the constants that every execution satisfies.
    pub requires: Vec<ExprId>,
    /// Blocks; the first is the start.
    pub blocks: Vec<CompiledBlock>,
    /// Array accesses of the text.
    pub accesses: Vec<AccessSite>,
    /// Barriers of blocks and of warps.
    pub barriers: Vec<BarrierSite>,
    /// Assertions.
    pub assertions: Vec<&'a Stmt>,
    /// Arrays.
    pub arrays: &'a [Array],
}

/// A basic block.
pub struct CompiledBlock {
    /// The condition under which a thread that may choose comes here; it is also the first instruction.
    pub guard: ExprId,
    /// Whether `guard` is the first instruction.
    pub guarded: bool,
    /// What it does.
    pub instructions: Vec<Instruction>,
    /// Where it leads, ascending; empty at the end of the kernel.
    pub successors: Vec<usize>,
    /// Where a thread goes on when the branch at the end is not known.
    pub skip: Option<Skip>,
    /// The branch, or the last statement before it, for reports.
    pub last: Option<Arc<Origin>>,
}

/// A statement, with variables and sites as numbers.
pub enum Instruction {
    /// `x := e`
    Assign(u32, ExprId),
    /// `x, y := e, f`
    AssignAll(Vec<(u32, ExprId)>),
    /// The variables become unknown.
    Havoc(Vec<u32>),
    /// Executions where it does not hold do not exist.
    Assume(ExprId),
    /// Assumptions directly after the `havoc` of these variables.
    AssumeOfArbitrary(Vec<u32>, Vec<ExprId>),
    /// An assertion, by its number in [`Compiled::assertions`].
    Assert(u32, ExprId),
    /// An access.
    Access {
        /// Number in [`Compiled::accesses`].
        site: u32,
        /// Its guard.
        guard: ExprId,
        /// Index in units of the site's scale.
        offset: ExprId,
        /// Value stored.
        value: Option<ExprId>,
        /// Variable that takes an unknown value.
        result: Option<u32>,
    },
    /// A barrier of the block.
    Barrier {
        /// Number in [`Compiled::barriers`].
        site: u32,
        /// Whether the thread takes part.
        guard: ExprId,
        /// Number of the barrier, if not 0.
        id: Option<ExprId>,
        /// Threads it waits for, if not the whole block.
        count: Option<ExprId>,
        /// Variable that takes an unknown value.
        result: Option<u32>,
    },
    /// A barrier of the warp, by its number in [`Compiled::barriers`].
    WarpBarrier(u32),
    /// The launch fails here; nothing follows.
    Trap,
    /// A statement that has no evaluation: evaluation ends.
    Opaque,
}

/// An access in the text.
#[derive(Clone, Debug)]
pub struct AccessSite {
    /// Number in [`Compiled::arrays`].
    pub array: usize,
    /// What it does.
    pub kind: AccessKind,
    /// Its scope if it is strong; atomics are.
    pub strong: Option<Scope>,
    /// Width.
    pub bytes: u32,
    /// Any thread of the warp may be the one that accesses.
    pub collective: bool,
    /// Bytes an index unit stands for.
    pub scale: u32,
    /// Whether the index is an integer, not a bit-vector.
    pub integer_index: bool,
    /// The PTX instruction.
    pub origin: Option<Arc<Origin>>,
    /// The statement in an IVL input.
    pub span: Span,
    /// Number of the first site with the same instruction: the elements of a vector, and copies of one
    /// instruction (inlining, node splitting), are one access in a report.
    pub instruction: u32,
}

/// A barrier in the text.
#[derive(Clone, Debug)]
pub struct BarrierSite {
    /// The PTX instruction.
    pub origin: Option<Arc<Origin>>,
    /// The statement in an IVL input.
    pub span: Span,
    /// Whether all threads of the block must meet at this very instruction.
    pub aligned: bool,
    /// Whether it names how many threads it waits for.
    pub has_count: bool,
    /// Number of the first site with the same instruction: copies of one instruction (inlining, node
    /// splitting) are one barrier.
    pub instruction: u32,
}

impl<'a> Compiled<'a> {
    /// Compiles the one procedure attributed `{:kernel}`; `None` without one, or if a name is unknown.
    pub fn new(program: &'a Program) -> Option<Compiled<'a>> {
        let mut kernels = program.procedures.iter().filter(|procedure| procedure.attributes.has("kernel"));
        let (procedure, None) = (kernels.next()?, kernels.next()) else { return None };
        let body = procedure.body.as_ref()?;
        let constants: Vec<&Variable> =
            program.constants.iter().map(|constant| &constant.variable).chain(&procedure.params).collect();
        let mut builder = Builder::new(program, constants, procedure, body);
        let labels: BTreeMap<&Name, usize> =
            body.blocks.iter().enumerate().map(|(number, block)| (&block.label, number)).collect();
        for block in &body.blocks {
            let compiled = builder.block(block, &labels)?;
            builder.compiled.blocks.push(compiled);
        }
        builder.compiled.read = builder.compiled.expressions.variables();
        builder.conditions(program, procedure);
        let mut compiled = builder.compiled;
        let skips = find_skips(&mut compiled);
        for (block, skip) in compiled.blocks.iter_mut().zip(skips) {
            block.skip = skip;
        }
        Some(compiled)
    }

    /// Whether the body of the kernel mentions a constant.
    pub fn reads_constant(&self, name: &str) -> bool {
        let number = self.constants.iter().position(|constant| constant.name.as_str() == name);
        number.is_some_and(|number| self.read.contains(&(number as u32)))
    }

    /// Constants that a precondition fixes: `n == 8bv32`.
    pub fn fixed(&self) -> impl Iterator<Item = (Name, u128)> {
        let fixed = self.requires.iter().filter_map(|condition| self.expressions.fixed_variable(*condition));
        let named = |(number, value)| Some((self.constants.get(number as usize)?.name.clone(), value));
        fixed.filter_map(named)
    }

    /// True when two threads can talk to each other without a barrier of the block: then a loop may
    /// wait for another thread.
    pub fn can_wait(&self) -> bool {
        let opaque = |instruction: &Instruction| matches!(instruction, Instruction::WarpBarrier(_));
        self.accesses.iter().any(|site| site.strong.is_some())
            || self.blocks.iter().flat_map(|block| &block.instructions).any(opaque)
    }
}

struct Builder<'a> {
    compiled: Compiled<'a>,
    /// The first access of each PTX instruction.
    access_instructions: BTreeMap<&'a Arc<Origin>, u32>,
    /// The first barrier of each PTX instruction.
    barrier_instructions: BTreeMap<&'a Arc<Origin>, u32>,
    /// Constants by name.
    constants: BTreeMap<&'a Name, u32>,
    /// Locals by name; they hide constants.
    locals: BTreeMap<&'a Name, u32>,
    arrays: BTreeMap<&'a Name, usize>,
}

impl<'a> Builder<'a> {
    fn new(
        program: &'a Program,
        constants: Vec<&'a Variable>,
        kernel: &'a Procedure,
        body: &'a Implementation,
    ) -> Self {
        let locals: Vec<&Variable> = kernel.results.iter().chain(&body.locals).collect();
        let widths = constants.iter().chain(&locals).map(|variable| type_width(&variable.ty).unwrap_or(0)).collect();
        let number = |start: usize, variables: &[&'a Variable]| {
            variables.iter().enumerate().map(|(n, variable)| (&variable.name, (start + n) as u32)).collect()
        };
        Builder {
            access_instructions: BTreeMap::new(),
            barrier_instructions: BTreeMap::new(),
            constants: number(0, &constants),
            locals: number(constants.len(), &locals),
            arrays: program.arrays.iter().enumerate().map(|(number, array)| (&array.name, number)).collect(),
            compiled: Compiled {
                expressions: Expressions::new(&program.functions),
                widths,
                constants,
                read: BTreeSet::new(),
                requires: Vec::new(),
                blocks: Vec::new(),
                accesses: Vec::new(),
                barriers: Vec::new(),
                assertions: Vec::new(),
                arrays: &program.arrays,
            },
        }
    }

    fn enter(&mut self, expr: &Expr) -> ExprId {
        let (constants, locals) = (&self.constants, &self.locals);
        self.compiled.expressions.enter(expr, &|name, position| {
            let local = if position == Position::Procedure { locals.get(name) } else { None };
            local.or_else(|| constants.get(name)).copied()
        })
    }

    fn enter_option(&mut self, expr: Option<&ExprRef>) -> ExprId {
        match expr {
            Some(expr) => self.enter(expr),
            None => self.compiled.expressions.truth(),
        }
    }

    /// Preconditions, and axioms that say something about constants. An axiom about functions alone
    /// cannot exclude values of constants.
    fn conditions(&mut self, program: &Program, kernel: &Procedure) {
        for condition in &kernel.requires {
            let id = self.enter(&condition.expr);
            self.compiled.requires.push(id);
        }
        for axiom in &program.axioms {
            if self.mentions_constant(&axiom.expr) {
                let id = self.enter(&axiom.expr);
                self.compiled.requires.push(id);
            }
        }
    }

    fn mentions_constant(&self, expr: &Expr) -> bool {
        let any = |parts: &[&ExprRef]| parts.iter().any(|part| self.mentions_constant(part));
        match &expr.kind {
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Bv(_) => false,
            ExprKind::Var(name) => self.constants.contains_key(name),
            ExprKind::Unary(_, a) | ExprKind::Old(a) | ExprKind::Extract { value: a, .. } => any(&[a]),
            ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => any(&[a, b]),
            ExprKind::Ite(a, b, c) => any(&[a, b, c]),
            ExprKind::Call(_, args) => args.iter().any(|arg| self.mentions_constant(arg)),
            ExprKind::Select(map, indices) => any(&[map]) || indices.iter().any(|i| self.mentions_constant(i)),
            ExprKind::Store(map, indices, value) => {
                any(&[map, value]) || indices.iter().any(|i| self.mentions_constant(i))
            }
            ExprKind::Quantifier { body, .. } => any(&[body]),
        }
    }

    fn block(&mut self, block: &'a Block, labels: &BTreeMap<&Name, usize>) -> Option<CompiledBlock> {
        let guarded = block.stmts.first().is_some_and(|stmt| matches!(stmt.kind, StmtKind::Assume(..)));
        let mut instructions = Vec::new();
        // The variables of a `havoc` with only assumptions since.
        let mut arbitrary: Vec<u32> = Vec::new();
        for stmt in &block.stmts {
            let instruction = self.statement(stmt)?;
            match instruction {
                Instruction::Assume(condition) if !arbitrary.is_empty() => {
                    if let Some(Instruction::AssumeOfArbitrary(_, conditions)) = instructions.last_mut() {
                        conditions.push(condition);
                    } else {
                        instructions.push(Instruction::AssumeOfArbitrary(arbitrary.clone(), vec![condition]));
                    }
                }
                Instruction::Havoc(variables) => {
                    // A `havoc` after another, without assumptions between, makes one group with it.
                    if !matches!(instructions.last(), Some(Instruction::Havoc(_))) {
                        arbitrary.clear();
                    }
                    arbitrary.extend(&variables);
                    instructions.push(Instruction::Havoc(variables));
                }
                other => {
                    arbitrary.clear();
                    instructions.push(other);
                }
            }
        }
        let successors = match &block.transfer {
            Transfer::Return => Vec::new(),
            Transfer::Goto(targets) => {
                let mut numbers = targets.iter().map(|label| labels.get(label).copied()).collect::<Option<Vec<_>>>()?;
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            }
        };
        let guard = match instructions.first() {
            Some(Instruction::Assume(condition)) if guarded => *condition,
            _ => self.compiled.expressions.truth(),
        };
        let last = block.stmts.iter().rev().find_map(|stmt| stmt.origin.clone());
        Some(CompiledBlock { guard, guarded, instructions, successors, skip: None, last })
    }

    /// `None` when a variable or array is not declared.
    fn statement(&mut self, stmt: &'a Stmt) -> Option<Instruction> {
        Some(match &stmt.kind {
            StmtKind::Assign(assignments) => {
                let mut list = Vec::with_capacity(assignments.len());
                for (name, expr) in assignments {
                    let value = self.enter(expr);
                    // Globals are left out: reading them is never known.
                    list.extend(self.locals.get(name).map(|&number| (number, value)));
                }
                match list[..] {
                    [(number, value)] => Instruction::Assign(number, value),
                    _ => Instruction::AssignAll(list),
                }
            }
            StmtKind::Havoc(names) => {
                Instruction::Havoc(names.iter().filter_map(|name| self.locals.get(name).copied()).collect())
            }
            // Threads that the two do not stand for asserted it.
            StmtKind::Assume(Premise::Instance(_), _) => Instruction::Havoc(Vec::new()),
            StmtKind::Assume(_, condition) => Instruction::Assume(self.enter(condition)),
            StmtKind::Assert(_, condition) => {
                self.compiled.assertions.push(stmt);
                Instruction::Assert(self.compiled.assertions.len() as u32 - 1, self.enter(condition))
            }
            // What annotations read is no access.
            StmtKind::Load { dst, .. } if is_of_annotation(stmt) => {
                Instruction::Havoc(self.locals.get(dst).copied().into_iter().collect())
            }
            StmtKind::Load { dst, access } => {
                let result = self.locals.get(dst).copied();
                self.access(stmt, access, AccessKind::Read, None, result)?
            }
            StmtKind::Store { value, access } => {
                let value = self.enter(value);
                self.access(stmt, access, AccessKind::Write, Some(value), None)?
            }
            StmtKind::Atomic { dst, access } => {
                let result = dst.as_ref().and_then(|dst| self.locals.get(dst).copied());
                self.access(stmt, access, AccessKind::Atomic, None, result)?
            }
            StmtKind::Barrier(barrier) => {
                let site = self.barrier_site(stmt, barrier.aligned, barrier.count.is_some());
                Instruction::Barrier {
                    site,
                    guard: self.enter_option(barrier.guard.as_ref()),
                    id: barrier.id.as_ref().map(|id| self.enter(id)),
                    count: barrier.count.as_ref().map(|count| self.enter(count)),
                    result: barrier.result.as_ref().and_then(|result| self.locals.get(result).copied()),
                }
            }
            // The mark of a block that ends in `trap`.
            StmtKind::Trap => Instruction::Trap,
            StmtKind::Fence(fence) => match fence.order() {
                Order::Warp => Instruction::WarpBarrier(self.barrier_site(stmt, false, false)),
                // Alone they order nothing.
                Order::Fence { .. } | Order::BarrierObjects | Order::Proxy => Instruction::Havoc(Vec::new()),
                Order::Block | Order::Counted => panic!("replay: `{fence}` is a statement of its own"),
            },
            StmtKind::Call { .. } | StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                Instruction::Opaque
            }
        })
    }

    fn barrier_site(&mut self, stmt: &'a Stmt, aligned: bool, has_count: bool) -> u32 {
        let number = self.compiled.barriers.len() as u32;
        let instruction = first_with(&mut self.barrier_instructions, stmt, number);
        let (origin, span) = (stmt.origin.clone(), stmt.span);
        self.compiled.barriers.push(BarrierSite { origin, span, aligned, has_count, instruction });
        number
    }

    fn access(
        &mut self,
        stmt: &'a Stmt,
        access: &Access,
        kind: AccessKind,
        value: Option<ExprId>,
        result: Option<u32>,
    ) -> Option<Instruction> {
        // An atomic without a scope of its own has that of the whole device.
        let number = self.compiled.accesses.len() as u32;
        let default = (kind == AccessKind::Atomic).then_some(Scope::Gpu);
        self.compiled.accesses.push(AccessSite {
            array: *self.arrays.get(&access.array)?,
            kind,
            strong: access.strong.or(default),
            bytes: access.bytes,
            collective: access.collective.is_some(),
            scale: access.scale,
            integer_index: access.offset.ty == Type::Int,
            origin: stmt.origin.clone(),
            span: stmt.span,
            instruction: first_with(&mut self.access_instructions, stmt, number),
        });
        Some(Instruction::Access {
            site: number,
            guard: self.enter_option(access.own_guard().as_ref()),
            offset: self.enter(&access.offset),
            value,
            result,
        })
    }
}

/// The first site with the PTX instruction of `stmt`, or `number` if there is none before it.
fn first_with<'a>(instructions: &mut BTreeMap<&'a Arc<Origin>, u32>, stmt: &'a Stmt, number: u32) -> u32 {
    stmt.origin.as_ref().map_or(number, |origin| *instructions.entry(origin).or_insert(number))
}
