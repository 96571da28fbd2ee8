//! Several programs as one.
//!
//! Input: programs that share most declarations, as those for the pairs of threads of one kernel do, each with a name.
//! Output: one program with the procedures of all, in plain Boogie.
//! Establishes: a procedure means what it meant in its own program. Equal declarations are there once. Where a name is
//! declared otherwise in an earlier program, the later one and all that mention it get a suffix. An axiom that not all
//! programs have becomes a precondition of its program's own procedures, so that it says nothing about the others.
//! Relies on: programs that type-check, without shared arrays; nothing calls a procedure that is not inlined.
//! Reference: Boogie, whose input has one scope for all declarations.

use super::ast::*;
use super::event::expanded;
use super::mentions::{declarations, is_inlined, mentions};
use super::visit::{map_attribute, map_children, map_stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Merges programs; each comes with the suffix for its own versions of declarations.
pub(crate) fn merge(programs: Vec<(Name, Program)>) -> Program {
    let mut merged = Program::default();
    let mut axioms: Vec<Vec<Condition>> = Vec::new();
    let mut owners: Vec<BTreeSet<Name>> = Vec::new();
    for (suffix, program) in programs {
        // Calls stand for accesses, since the procedures that give these their meaning are renamed where they differ.
        let program = expanded(program);
        let program = Renaming::apart(&merged, &program, &suffix).program(&program);
        let own = |procedure: &&Procedure| !is_inlined(procedure) && procedure.body.is_some();
        owners.push(program.procedures.iter().filter(own).map(|procedure| procedure.name.clone()).collect());
        axioms.push(program.axioms.clone());
        add(&mut merged, program);
    }
    let shared = |axiom: &Condition| axioms.iter().all(|list| list.contains(axiom));
    for (axioms, owners) in axioms.iter().zip(&owners) {
        for axiom in axioms.iter().filter(|axiom| !shared(axiom)) {
            let owned = merged.procedures.iter_mut().filter(|procedure| owners.contains(&procedure.name));
            owned.for_each(|procedure| procedure.requires.push(axiom.clone()));
        }
    }
    merged.axioms = axioms.first().into_iter().flatten().filter(|axiom| shared(axiom)).cloned().collect();
    merged
}

/// Adds all but the axioms, each once.
fn add(merged: &mut Program, program: Program) {
    fn new<T: PartialEq>(list: &mut Vec<T>, items: Vec<T>) {
        for item in items {
            if !list.contains(&item) {
                list.push(item);
            }
        }
    }
    new(&mut merged.types, program.types);
    new(&mut merged.constants, program.constants);
    new(&mut merged.functions, program.functions);
    new(&mut merged.globals, program.globals);
    new(&mut merged.arrays, program.arrays);
    new(&mut merged.procedures, program.procedures);
    new(&mut merged.implementations, program.implementations);
}

/// New names for declarations.
struct Renaming(BTreeMap<Name, Name>);

impl Renaming {
    /// Of what `program` declares otherwise than `merged` does, and of what mentions that.
    fn apart(merged: &Program, program: &Program, suffix: &Name) -> Renaming {
        let (before, own) = (declarations(merged), declarations(program));
        let mentioned: BTreeMap<&Name, BTreeSet<Name>> =
            own.iter().map(|(name, declaration)| (*name, mentions(declaration))).collect();
        let differs = |name: &Name| before.get(name).is_some_and(|declaration| own.get(name) != Some(declaration));
        let mut apart: BTreeSet<&Name> = own.keys().copied().filter(|name| differs(name)).collect();
        loop {
            let more: Vec<&Name> = (mentioned.iter())
                .filter(|(name, uses)| before.contains_key(*name) && !apart.contains(*name) && meets(uses, &apart))
                .map(|(name, _)| *name)
                .collect();
            if more.is_empty() {
                break;
            }
            apart.extend(more);
        }
        let fresh = |name: &Name| {
            let mut new = Name::new(format!("{name}${suffix}"));
            while before.contains_key(&new) || own.contains_key(&new) {
                new = Name::new(format!("{new}$"));
            }
            new
        };
        Renaming(apart.into_iter().map(|name| (name.clone(), fresh(name))).collect())
    }

    fn name(&self, name: &Name) -> Name {
        self.0.get(name).unwrap_or(name).clone()
    }

    fn names(&self, names: &[Name]) -> Vec<Name> {
        names.iter().map(|name| self.name(name)).collect()
    }

    fn program(&self, program: &Program) -> Program {
        if self.0.is_empty() {
            return program.clone();
        }
        let constant = |c: &Constant| Constant { variable: self.variable(&c.variable), unique: c.unique };
        Program {
            types: program.types.clone(),
            constants: program.constants.iter().map(constant).collect(),
            functions: program.functions.iter().map(|f| self.function(f)).collect(),
            axioms: program.axioms.iter().map(|axiom| self.condition(axiom)).collect(),
            globals: program.globals.iter().map(|g| self.variable(g)).collect(),
            arrays: program.arrays.clone(),
            procedures: program.procedures.iter().map(|p| self.procedure(p)).collect(),
            implementations: program.implementations.iter().map(|i| self.separate(i)).collect(),
        }
    }

    fn expr(&self, expr: &ExprRef) -> ExprRef {
        let inner = map_children(expr, &mut |child| self.expr(child));
        let kind = match &inner.kind {
            ExprKind::Var(name) if self.0.contains_key(name) => ExprKind::Var(self.name(name)),
            ExprKind::Call(name, args) if self.0.contains_key(name) => ExprKind::Call(self.name(name), args.clone()),
            _ => return inner,
        };
        Arc::new(Expr { kind, ty: inner.ty.clone(), span: inner.span })
    }

    fn attributes(&self, attributes: &[Attribute]) -> Vec<Attribute> {
        attributes.iter().map(|attribute| map_attribute(attribute, &mut |e| self.expr(e))).collect()
    }

    fn variable(&self, variable: &Variable) -> Variable {
        Variable {
            name: self.name(&variable.name),
            where_clause: variable.where_clause.as_ref().map(|e| self.expr(e)),
            attributes: self.attributes(&variable.attributes),
            ..variable.clone()
        }
    }

    fn function(&self, function: &Function) -> Function {
        let body = function.body.as_ref().map(|body| self.expr(body));
        Function { name: self.name(&function.name), body, ..function.clone() }
    }

    fn condition(&self, condition: &Condition) -> Condition {
        let attributes = self.attributes(&condition.attributes);
        Condition { expr: self.expr(&condition.expr), attributes, ..condition.clone() }
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let mut result = map_stmt(stmt, &mut |e| self.expr(e));
        match &mut result.kind {
            StmtKind::Assign(pairs) => pairs.iter_mut().for_each(|(name, _)| *name = self.name(name)),
            StmtKind::Havoc(names) => *names = self.names(names),
            StmtKind::Call { procedure, results, .. } => {
                *procedure = self.name(procedure);
                *results = self.names(results);
            }
            _ => {}
        }
        result
    }

    fn body(&self, body: &Implementation) -> Implementation {
        let block =
            |block: &Block| Block { stmts: block.stmts.iter().map(|stmt| self.stmt(stmt)).collect(), ..block.clone() };
        Implementation { locals: body.locals.clone(), blocks: body.blocks.iter().map(block).collect() }
    }

    fn procedure(&self, procedure: &Procedure) -> Procedure {
        let conditions = |list: &[Condition]| list.iter().map(|condition| self.condition(condition)).collect();
        Procedure {
            name: self.name(&procedure.name),
            modifies: self.names(&procedure.modifies),
            requires: conditions(&procedure.requires),
            ensures: conditions(&procedure.ensures),
            body: procedure.body.as_ref().map(|body| self.body(body)),
            attributes: self.attributes(&procedure.attributes),
            ..procedure.clone()
        }
    }

    fn separate(&self, implementation: &SeparateImplementation) -> SeparateImplementation {
        SeparateImplementation {
            procedure: self.name(&implementation.procedure),
            body: self.body(&implementation.body),
            ..implementation.clone()
        }
    }
}

fn meets(uses: &BTreeSet<Name>, apart: &BTreeSet<&Name>) -> bool {
    uses.iter().any(|name| apart.contains(name))
}
