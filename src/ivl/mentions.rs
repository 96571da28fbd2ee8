//! What declarations of a program mention, and what of a program is used.

use super::ast::*;
use super::attributes::Attributes;
use super::visit::{Visitor, assigned, walk_expr, walk_procedure, walk_stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the body of a procedure stands for its calls.
pub(super) fn is_inlined(procedure: &Procedure) -> bool {
    procedure.attributes.has("inline")
}

/// What a name is declared as.
#[derive(PartialEq)]
pub(super) enum Declaration<'a> {
    Constant(&'a Constant),
    Function(&'a Function),
    Global(&'a Variable),
    Procedure(&'a Procedure),
}

/// All declarations with names but types.
pub(super) fn declarations(program: &Program) -> BTreeMap<&Name, Declaration<'_>> {
    let constants = program.constants.iter().map(|c| (&c.variable.name, Declaration::Constant(c)));
    let functions = program.functions.iter().map(|f| (&f.name, Declaration::Function(f)));
    let globals = program.globals.iter().map(|g| (&g.name, Declaration::Global(g)));
    let procedures = program.procedures.iter().map(|p| (&p.name, Declaration::Procedure(p)));
    constants.chain(functions).chain(globals).chain(procedures).collect()
}

/// The program in the order in which it is read: the procedures that stand for themselves, behind them the inlined ones
/// that they call. What neither they nor an axiom mention is left out; it cannot change what a procedure means.
pub(crate) fn in_reading_order(mut program: Program) -> Program {
    let used = used(&program);
    program.constants.retain(|constant| used.contains(&constant.variable.name));
    program.functions.retain(|function| used.contains(&function.name));
    program.globals.retain(|global| used.contains(&global.name));
    program.procedures.retain(|procedure| used.contains(&procedure.name));
    program.procedures.sort_by_key(is_inlined);
    program
}

/// What the procedures that are not inlined, the axioms and the implementations mention, and what that mentions.
fn used(program: &Program) -> BTreeSet<Name> {
    let declarations = declarations(program);
    let mut roots = Mentions::default();
    program.axioms.iter().for_each(|axiom| roots.expr(&axiom.expr));
    for implementation in &program.implementations {
        roots.0.insert(implementation.procedure.clone());
        implementation.body.blocks.iter().flat_map(|block| &block.stmts).for_each(|stmt| roots.stmt(stmt));
    }
    let own = program.procedures.iter().filter(|procedure| !is_inlined(procedure));
    roots.0.extend(own.map(|procedure| procedure.name.clone()));
    let mut open: Vec<Name> = roots.0.iter().cloned().collect();
    let mut used = roots.0;
    while let Some(name) = open.pop() {
        let Some(declaration) = declarations.get(&name) else { continue };
        open.extend(mentions(declaration).into_iter().filter(|name| used.insert(name.clone())));
    }
    used
}

/// The names that a declaration mentions.
pub(super) fn mentions(declaration: &Declaration) -> BTreeSet<Name> {
    let mut found = Mentions::default();
    match declaration {
        Declaration::Constant(constant) => found.variable(&constant.variable),
        Declaration::Global(global) => found.variable(global),
        Declaration::Function(function) => function.body.iter().for_each(|body| found.expr(body)),
        Declaration::Procedure(procedure) => found.procedure(procedure),
    }
    found.0
}

#[derive(Default)]
struct Mentions(BTreeSet<Name>);

impl Mentions {
    fn variable(&mut self, variable: &Variable) {
        variable.where_clause.iter().for_each(|e| self.expr(e));
        variable.attributes.iter().for_each(|attribute| self.attribute(attribute));
    }
}

impl Visitor for Mentions {
    fn expr(&mut self, expr: &ExprRef) {
        if let ExprKind::Var(name) | ExprKind::Call(name, _) = &expr.kind {
            self.0.insert(name.clone());
        }
        walk_expr(self, expr);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Call { procedure, .. } = &stmt.kind {
            self.0.insert(procedure.clone());
        }
        self.0.extend(assigned(stmt).into_iter().cloned());
        walk_stmt(self, stmt);
    }

    fn procedure(&mut self, procedure: &Procedure) {
        self.0.extend(procedure.modifies.iter().cloned());
        walk_procedure(self, procedure);
    }
}
