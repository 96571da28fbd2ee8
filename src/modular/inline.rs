//! Procedures marked `{:inline N}` in the place of their calls.
//!
//! Input: a body. Output: the same, where no call of such a procedure is left. Establishes: each copy has variables and
//! labels of its own; the contract is checked at the call and where the copy returns, but for its free conditions, which
//! Boogie does not assume there either; a call nested deeper than N in
//! copies of its procedure ends the execution (`assume false`): longer ones are not looked at, as the author asks.
//! Relies on: labels exist. Reference: Boogie 2, inlining.

use crate::ivl::ast::{
    Attribute, AttributeArg, Block, Condition, Expr, ExprKind, ExprRef, Implementation, Name, Procedure, Program,
    SeparateImplementation, Stmt, StmtKind, Transfer, Variable,
};
use crate::ivl::attributes::{ASSUMPTION, Attributes};
use crate::ivl::claim::Claim;
use crate::ivl::{bv, visit};
use crate::span::Span;
use crate::vcgen::contracts::without_effect;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How deep calls of a procedure are replaced by its body; none: the contract stands for it. The procedure may say so, or
/// else the implementation.
pub(crate) fn depth(procedure: &Procedure, separate: Option<&SeparateImplementation>) -> Option<u32> {
    let own = separate.and_then(|separate| separate.attributes.last_of(INLINE));
    match procedure.attributes.last_of(INLINE).or(own)?.kind {
        ExprKind::Int(depth) => u32::try_from(depth).ok(),
        _ => None,
    }
}

const INLINE: &str = "inline";

/// The body of a procedure, with the names that the body has for parameters and results.
struct Callee<'a> {
    procedure: &'a Procedure,
    params: &'a [Variable],
    results: &'a [Variable],
    body: &'a Implementation,
    depth: u32,
}

fn callee<'a>(program: &'a Program, name: &Name) -> Option<Callee<'a>> {
    let procedure = program.procedures.iter().find(|p| p.name == *name)?;
    if let Some(body) = &procedure.body {
        let depth = depth(procedure, None)?;
        return Some(Callee { procedure, params: &procedure.params, results: &procedure.results, body, depth });
    }
    let separate = program.implementations.iter().find(|separate| separate.procedure == *name)?;
    let depth = depth(procedure, Some(separate))?;
    Some(Callee { procedure, params: &separate.params, results: &separate.results, body: &separate.body, depth })
}

/// The mark of an `assume false` in the place of a call that is nested too deep.
const CUT: &str = "too_deep";

/// The procedures whose recursion is cut off in a body.
pub(crate) fn cuts(body: &Implementation) -> BTreeSet<Name> {
    let stmts = body.blocks.iter().flat_map(|block| &block.stmts);
    stmts.filter_map(|stmt| Some(Name::from(stmt.attributes.named(CUT)?.text()?))).collect()
}

/// Replaces the calls.
pub(crate) fn run<'a>(program: &'a Program, body: &'a Implementation) -> Cow<'a, Implementation> {
    let is_inlined = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Call { procedure, .. } => callee(program, procedure).is_some(),
        _ => false,
    };
    if !body.blocks.iter().flat_map(|block| &block.stmts).any(is_inlined) {
        return Cow::Borrowed(body);
    }
    let mut inliner =
        Inliner { program, locals: body.locals.clone(), blocks: Vec::new(), copies: 0, around: BTreeMap::new() };
    inliner.blocks(body.blocks.clone());
    Cow::Owned(Implementation { locals: inliner.locals, blocks: inliner.blocks })
}

struct Inliner<'a> {
    program: &'a Program,
    locals: Vec<Variable>,
    blocks: Vec<Block>,
    /// Copies made so far: each has a number.
    copies: u32,
    /// How many copies of each procedure are around what is looked at.
    around: BTreeMap<Name, u32>,
}

impl Inliner<'_> {
    fn blocks(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: Block) {
        let Block { label, stmts, transfer, span, end } = block;
        let mut open = Block { label, stmts: Vec::new(), transfer: transfer.clone(), span, end };
        for stmt in stmts {
            let StmtKind::Call { procedure, args, results } = &stmt.kind else {
                open.stmts.push(stmt);
                continue;
            };
            match callee(self.program, procedure) {
                None => open.stmts.push(stmt),
                Some(callee) => open = self.copy(&callee, &stmt, args, results, open),
            }
        }
        open.transfer = transfer;
        self.blocks.push(open);
    }

    /// Ends the open block with a copy of the callee; gives the block that goes on behind it.
    fn copy(&mut self, callee: &Callee, call: &Stmt, args: &[ExprRef], results: &[Name], mut open: Block) -> Block {
        let nested = self.around.get(&callee.procedure.name).copied().unwrap_or(0);
        if nested >= callee.depth {
            let name = AttributeArg::Text(callee.procedure.name.to_string());
            let attributes = vec![Attribute { name: Name::from(CUT), args: vec![name] }];
            open.stmts.push(Stmt { attributes, ..statement(StmtKind::assume(bv::boolean(false)), call.span) });
            return open;
        }
        self.copies += 1;
        let copy = Copy::new(self.program, callee, self.copies);
        self.locals.extend(copy.declared.iter().cloned());
        // All at once: an argument may be a variable of an earlier copy.
        let values = callee.params.iter().zip(args).map(|(param, arg)| (copy.name(&param.name), arg.clone()));
        open.stmts.push(statement(StmtKind::Assign(values.collect()), call.span));
        let fresh: Vec<Name> = callee.results.iter().chain(&callee.body.locals).map(|v| copy.name(&v.name)).collect();
        if !fresh.is_empty() {
            open.stmts.push(statement(StmtKind::Havoc(fresh), call.span));
        }
        if !copy.saved.is_empty() {
            let saved = copy.saved.iter().map(|(global, (old, ty))| (old.clone(), bv::var(global.clone(), ty.clone())));
            open.stmts.push(statement(StmtKind::Assign(saved.collect()), call.span));
        }
        let contract = copy.for_contract(callee);
        for requires in callee.procedure.requires.iter().filter(|requires| !requires.free) {
            open.stmts.push(copy.clause(requires, &contract, Claim::Precondition, call.span));
        }
        let entry = callee.body.blocks.first().map(|block| copy.label(&block.label));
        let behind = Name::from(format!("{}@behind.{}", open.label, self.copies));
        let mut after = Block { label: behind.clone(), stmts: Vec::new(), ..open.clone() };
        for ensures in callee.procedure.ensures.iter().filter(|ensures| !ensures.free) {
            after.stmts.push(copy.clause(ensures, &contract, Claim::Postcondition, call.span));
        }
        let pairs = results.iter().zip(callee.results);
        let pairs: Vec<(Name, ExprRef)> =
            pairs.map(|(to, from)| (to.clone(), bv::var(copy.name(&from.name), from.ty.clone()))).collect();
        if !pairs.is_empty() {
            after.stmts.push(statement(StmtKind::Assign(pairs), call.span));
        }
        open.transfer = Transfer::Goto(vec![entry.unwrap_or_else(|| behind.clone())]);
        self.blocks.push(open);
        *self.around.entry(callee.procedure.name.clone()).or_default() += 1;
        let blocks = callee.body.blocks.iter().map(|block| copy.block(block, &behind)).collect();
        self.blocks(blocks);
        self.around.insert(callee.procedure.name.clone(), nested);
        after
    }
}

fn statement(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span, origin: None }
}

/// One copy of a body.
struct Copy {
    number: u32,
    procedure: Name,
    /// Names of the body, and what they are called in the copy.
    names: BTreeMap<Name, ExprRef>,
    declared: Vec<Variable>,
    /// Global variables that `old` speaks of, with the variables that keep what they were at the call.
    saved: BTreeMap<Name, (Name, crate::ivl::ast::Type)>,
}

impl Copy {
    fn new(program: &Program, callee: &Callee, number: u32) -> Self {
        let procedure = callee.procedure.name.clone();
        let mut copy = Copy { number, procedure, names: BTreeMap::new(), declared: Vec::new(), saved: BTreeMap::new() };
        let own: Vec<&Variable> = callee.params.iter().chain(callee.results).chain(&callee.body.locals).collect();
        for variable in &own {
            let name = copy.name(&variable.name);
            copy.names.insert(variable.name.clone(), bv::var(name, variable.ty.clone()));
        }
        for variable in &own {
            // As for Boogie, parameters and results of a copy are variables like others, whatever their clauses say.
            let is_local = callee.body.locals.iter().any(|local| local.name == variable.name);
            let own_clause = variable.where_clause.as_ref().filter(|_| is_local);
            let where_clause = own_clause.map(|e| visit::substitute(e, &copy.names));
            let name = copy.name(&variable.name);
            // Nor is an assumption variable of a copy true at the start.
            let attributes =
                variable.attributes.iter().filter(|attribute| attribute.name.as_str() != ASSUMPTION).cloned().collect();
            copy.declared.push(Variable { name, where_clause, attributes, ..(*variable).clone() });
        }
        let modified: BTreeSet<&Name> = callee.procedure.modifies.iter().collect();
        for global in program.globals.iter().filter(|global| modified.contains(&global.name)) {
            let old = copy.name(&Name::from(format!("{}@old", global.name)));
            copy.declared.push(Variable::new(old.clone(), global.ty.clone()));
            copy.saved.insert(global.name.clone(), (old, global.ty.clone()));
        }
        copy
    }

    /// No identifier has an `@`, and the dot tells copy 1 of `p1` from copy 11 of `p`.
    fn name(&self, name: &Name) -> Name {
        Name::from(format!("{name}@{}.{}", self.procedure, self.number))
    }

    fn label(&self, label: &Name) -> Name {
        self.name(label)
    }

    /// The names of the contract, which may be others than those of the body.
    fn for_contract(&self, callee: &Callee) -> BTreeMap<Name, ExprRef> {
        let procedure = callee.procedure;
        let pairs = procedure.params.iter().zip(callee.params).chain(procedure.results.iter().zip(callee.results));
        pairs.map(|(formal, own)| (formal.name.clone(), bv::var(self.name(&own.name), own.ty.clone()))).collect()
    }

    fn clause(&self, clause: &Condition, names: &BTreeMap<Name, ExprRef>, claim: Claim, span: Span) -> Stmt {
        let expr = self.expr(&clause.expr, names);
        // The place of the formula tells which clause it is.
        let expr = Arc::new(Expr { span: clause.span, ..(*expr).clone() });
        let attributes = without_effect(&clause.attributes).cloned().collect();
        Stmt { kind: StmtKind::Assert(claim, expr), attributes, span, origin: None }
    }

    /// With other names, and saved values for `old`.
    fn expr(&self, e: &ExprRef, names: &BTreeMap<Name, ExprRef>) -> ExprRef {
        let saved = self.saved.iter().map(|(global, (old, ty))| (global.clone(), bv::var(old.clone(), ty.clone())));
        let saved: BTreeMap<Name, ExprRef> = saved.collect();
        visit::substitute(&visit::replace_old(e, &saved), names)
    }

    fn block(&self, block: &Block, behind: &Name) -> Block {
        let transfer = match &block.transfer {
            Transfer::Return => Transfer::Goto(vec![behind.clone()]),
            Transfer::Goto(targets) => Transfer::Goto(targets.iter().map(|target| self.label(target)).collect()),
        };
        let stmts = block.stmts.iter().map(|stmt| self.stmt(stmt)).collect();
        Block { label: self.label(&block.label), stmts, transfer, span: block.span, end: block.end }
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let renamed = |name: &Name| match self.names.get(name).map(|e| &e.kind) {
            Some(ExprKind::Var(new)) => new.clone(),
            _ => name.clone(),
        };
        let mut stmt = visit::map_stmt(stmt, &mut |e| self.expr(e, &self.names));
        match &mut stmt.kind {
            StmtKind::Assign(pairs) => pairs.iter_mut().for_each(|(name, _)| *name = renamed(name)),
            StmtKind::Havoc(names) => names.iter_mut().for_each(|name| *name = renamed(name)),
            StmtKind::Call { results, .. } => results.iter_mut().for_each(|name| *name = renamed(name)),
            _ => {}
        }
        stmt
    }
}
