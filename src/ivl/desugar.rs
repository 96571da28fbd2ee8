//! From the surface syntax to blocks.
//!
//! Input: declarations as parsed. Output: a [`Program`] whose expressions still carry placeholder
//! types and whose accesses have width 0 where none was written.
//! Establishes: only labelled blocks; every goto has its target; accesses of declared arrays are
//! loads, stores and atomics. Relies on: the grammar.
//! Reference: Boogie 2 (`if`, `while`, map assignment); lock-step paper, section 3.1.
//!
//! ```text
//! while (c) invariant I; { S }      goto loop1;
//!                                   loop1: assert {:invariant} I; goto loop1_body, loop1_exit;
//!                                   loop1_body: assume c; S; goto loop1;
//!                                   loop1_exit: assume !c; ...
//!                                   (break: goto loop1_done, behind the assumption)
//! A[i] := A[j] + 1bv32;             load1 := A[j]; A[i] := load1 + 1bv32;
//! m[i] := v;                        m := m[i := v];
//! ```
//!
//! Expressions have no order of evaluation, so every load in one takes place, also in the branch of an
//! `if then else` that is not chosen.

use super::access;
use super::ast::*;
use super::bv;
use super::surface::*;
use super::visit;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes an element has, for each array.
pub(super) type Arrays = BTreeMap<Name, u32>;

/// What comes of the declarations.
#[derive(Debug, Default)]
pub(super) struct Desugared {
    /// The program; parts with errors are left out of it.
    pub program: Program,
    /// Other names for types.
    pub synonyms: Vec<Synonym>,
    /// What is wrong, in the order of places.
    pub errors: Vec<Diagnostic>,
}

/// Collects the declarations and flattens procedure bodies.
pub(super) fn run(declarations: Vec<Declaration>) -> Desugared {
    let mut program = Program::default();
    let mut synonyms = Vec::new();
    let mut bodies = Vec::new();
    let mut separate_bodies = Vec::new();
    for declaration in declarations {
        match declaration {
            Declaration::Types(types) => {
                for declared in types {
                    match declared {
                        DeclaredType::Constructor(constructor) => program.types.push(constructor),
                        DeclaredType::Synonym(synonym) => synonyms.push(synonym),
                    }
                }
            }
            Declaration::Constants(constants) => program.constants.extend(constants),
            Declaration::Function(function) => program.functions.push(function),
            Declaration::Axiom(axiom) => program.axioms.push(axiom),
            Declaration::Globals(variables) => program.globals.extend(variables),
            Declaration::Array(array) => program.arrays.push(array),
            Declaration::Procedure(procedure, body) => {
                program.procedures.push(procedure);
                bodies.push(body);
            }
            Declaration::Implementation(implementation, body) => {
                program.implementations.push(implementation);
                separate_bodies.push(body);
            }
        }
    }
    let scope = TopLevel::of(&program);
    let mut errors = Vec::new();
    for (procedure, body) in program.procedures.iter_mut().zip(bodies) {
        let Some(body) = body else { continue };
        let formals = [&procedure.params[..], &procedure.results];
        procedure.body = Some(scope.flatten(&formals, body, &mut errors));
    }
    for (implementation, body) in program.implementations.iter_mut().zip(separate_bodies) {
        let formals = [&implementation.params[..], &implementation.results];
        implementation.body = scope.flatten(&formals, body, &mut errors);
    }
    errors.sort_by_key(|e: &Diagnostic| e.labels.first().map(|(span, _)| *span));
    Desugared { program, synonyms, errors }
}

/// What bodies see.
struct TopLevel {
    arrays: Arrays,
    names: BTreeSet<Name>,
}

impl TopLevel {
    fn of(program: &Program) -> TopLevel {
        let names = (program.constants.iter().map(|c| &c.variable.name))
            .chain(program.globals.iter().map(|v| &v.name))
            .chain(program.arrays.iter().map(|a| &a.name));
        let names = names.cloned().collect();
        TopLevel { arrays: program.arrays.iter().map(|a| (a.name.clone(), a.element_bytes)).collect(), names }
    }

    fn flatten(&self, formals: &[&[Variable]], body: Body, errors: &mut Vec<Diagnostic>) -> Implementation {
        let mut names = self.names.clone();
        let mut arrays = self.arrays.clone();
        for variable in formals.iter().copied().flatten().chain(&body.locals) {
            names.insert(variable.name.clone());
            // What hides an array is none.
            arrays.remove(&variable.name);
        }
        let mut flattener = Flattener::new(&arrays, names, &body);
        let implementation = flattener.body(body);
        errors.append(&mut flattener.errors);
        implementation
    }
}

struct Flattener<'a> {
    arrays: &'a Arrays,
    /// Names a fresh variable must not have.
    names: BTreeSet<Name>,
    /// Labels a fresh label must not have.
    labels: BTreeSet<Name>,
    defined: BTreeMap<Name, Span>,
    gotos: Vec<Identifier>,
    locals: Vec<Variable>,
    blocks: Vec<Block>,
    open: Option<Block>,
    /// What `break` may leave, innermost last.
    breaks: Vec<Breakable>,
    constructs: usize,
    errors: Vec<Diagnostic>,
}

/// A loop, or an `if` with a label.
struct Breakable {
    /// The labels before it.
    labels: Vec<Name>,
    /// Only a loop is left by a `break` without label.
    is_loop: bool,
    /// The block behind it that a `break` goes to.
    behind: Name,
    /// Whether one does.
    used: bool,
}

impl<'a> Flattener<'a> {
    fn new(arrays: &'a Arrays, names: BTreeSet<Name>, body: &Body) -> Self {
        let mut labels = BTreeSet::new();
        collect_labels(&body.stmts, &mut labels);
        Flattener {
            arrays,
            names,
            labels,
            defined: BTreeMap::new(),
            gotos: Vec::new(),
            locals: Vec::new(),
            blocks: Vec::new(),
            open: None,
            breaks: Vec::new(),
            constructs: 0,
            errors: Vec::new(),
        }
    }

    fn body(&mut self, body: Body) -> Implementation {
        self.locals = body.locals;
        if !matches!(body.stmts.first(), Some(Statement { kind: StatementKind::Label(_), .. })) {
            let label = self.fresh_label("Start");
            self.begin(label, body.stmts.first().map_or(body.end, |s| s.span));
        }
        self.statements(body.stmts);
        self.ends_at(body.end);
        self.end(Transfer::Return);
        self.missing_targets();
        Implementation { locals: std::mem::take(&mut self.locals), blocks: std::mem::take(&mut self.blocks) }
    }

    /// Reports gotos to nowhere and takes these targets away, so that no one reports them again.
    fn missing_targets(&mut self) {
        let mut missing = BTreeSet::new();
        for target in std::mem::take(&mut self.gotos) {
            if !self.defined.contains_key(&target.name) {
                let error =
                    Diagnostic::error("ivl-label", format!("no block is labelled `{}`", target.name), target.span);
                self.errors.push(super::scope::with_suggestion(error, &target.name, self.defined.keys()));
                missing.insert(target.name);
            }
        }
        for block in self.blocks.iter_mut().filter(|_| !missing.is_empty()) {
            if let Transfer::Goto(targets) = &mut block.transfer {
                targets.retain(|target| !missing.contains(target));
                if targets.is_empty() {
                    block.transfer = Transfer::Return;
                }
            }
        }
    }

    fn statements(&mut self, statements: Vec<Statement>) {
        let mut labels = Vec::new();
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(label) => labels.push(label.clone()),
                StatementKind::If { .. } | StatementKind::While { .. } => {
                    self.structured(statement, std::mem::take(&mut labels));
                    continue;
                }
                _ => labels.clear(),
            }
            self.statement(statement);
        }
    }

    fn structured(&mut self, statement: Statement, labels: Vec<Name>) {
        let span = statement.span;
        self.reopen(span);
        match statement.kind {
            StatementKind::If { branches, otherwise } => self.if_statement(branches, otherwise, labels, span),
            StatementKind::While { guard, invariants, body } => {
                self.while_statement(guard, invariants, body, labels, span)
            }
            _ => {}
        }
    }

    /// A statement behind a jump and without label: nothing leads there, but it is legal.
    fn reopen(&mut self, span: Span) {
        if self.open.is_none() {
            let label = self.fresh_label("unreachable");
            self.begin(label, span);
        }
    }

    fn statement(&mut self, statement: Statement) {
        let Statement { kind, attributes, span } = statement;
        if let StatementKind::Label(label) = kind {
            let label = match self.defined.get(&label) {
                Some(first) => {
                    let message = format!("two blocks are labelled `{label}`");
                    let word = Span { end: span.end.saturating_sub(1).max(span.start), ..span };
                    self.errors.push(Diagnostic::error("ivl-duplicate", message, word).also(*first, "first here"));
                    self.fresh_label(label.as_str())
                }
                None => label,
            };
            self.begin(label, span);
            return;
        }
        self.reopen(span);
        match kind {
            StatementKind::Label(_) => {}
            StatementKind::Assign { targets, values } => self.assign(targets, values, attributes, span),
            StatementKind::Havoc(names) => self.push(StmtKind::Havoc(names), attributes, span),
            StatementKind::Assume(e) => self.push(StmtKind::Assume(e), attributes, span),
            StatementKind::Assert(e) => self.push(StmtKind::Assert(e), attributes, span),
            StatementKind::Call { procedure, args, results } => {
                self.push(StmtKind::Call { procedure, args, results }, attributes, span)
            }
            StatementKind::Atomic { dst, target } => self.atomic(dst, target, attributes, span),
            StatementKind::Barrier { result } => self.barrier(result, attributes, span),
            StatementKind::Fence(text) => self.push(StmtKind::Fence(text.into()), attributes, span),
            StatementKind::Goto(targets) => {
                let labels = targets.iter().map(|t| t.name.clone()).collect();
                self.gotos.extend(targets);
                self.end(Transfer::Goto(labels));
            }
            StatementKind::Return => {
                self.ends_at(span);
                self.end(Transfer::Return);
            }
            StatementKind::Break(label) => self.break_statement(label, span),
            StatementKind::If { .. } | StatementKind::While { .. } => {}
        }
    }

    fn break_statement(&mut self, label: Option<Identifier>, span: Span) {
        let frame = self.breaks.iter_mut().rev().find(|frame| match &label {
            Some(label) => frame.labels.contains(&label.name),
            None => frame.is_loop,
        });
        match (frame, label) {
            (Some(frame), _) => {
                frame.used = true;
                let target = frame.behind.clone();
                self.end(Transfer::Goto(vec![target]));
            }
            (None, Some(label)) => {
                let message = format!("`break` is in no statement that is labelled `{}`", label.name);
                let error = Diagnostic::error("ivl-label", message, label.span);
                let known = self.breaks.iter().flat_map(|frame| &frame.labels);
                self.errors.push(super::scope::with_suggestion(error, &label.name, known));
            }
            (None, None) => self.errors.push(Diagnostic::error("ivl-label", "`break` outside of a loop", span)),
        }
    }

    fn if_statement(
        &mut self,
        branches: Vec<(Guard, Vec<Statement>)>,
        otherwise: Vec<Statement>,
        labels: Vec<Name>,
        span: Span,
    ) {
        let mut join = None;
        let labelled = !labels.is_empty();
        if labelled {
            let behind = self.fresh_label(&format!("if{}_done", self.constructs + 1));
            self.breaks.push(Breakable { labels, is_loop: false, behind, used: false });
        }
        let mut ends = Vec::new();
        for (guard, body) in branches {
            let number = self.next_construct();
            let then_label = self.fresh_label(&format!("if{number}_then"));
            let else_label = self.fresh_label(&format!("if{number}_else"));
            join.get_or_insert(number);
            self.end(Transfer::Goto(vec![then_label.clone(), else_label.clone()]));
            self.begin(then_label, span);
            self.assume_guard(&guard, true);
            self.statements(body);
            ends.extend(self.suspend());
            self.begin(else_label, span);
            self.assume_guard(&guard, false);
        }
        self.statements(otherwise);
        ends.extend(self.suspend());
        let broken = if labelled { self.breaks.pop().filter(|frame| frame.used) } else { None };
        if !ends.is_empty() {
            let join = self.fresh_label(&format!("if{}_join", join.unwrap_or(0)));
            for index in ends {
                self.blocks[index].transfer = Transfer::Goto(vec![join.clone()]);
            }
            self.begin(join, span);
        }
        if let Some(frame) = broken {
            self.begin(frame.behind, span);
        }
    }

    fn while_statement(
        &mut self,
        guard: Guard,
        invariants: Vec<Condition>,
        body: Vec<Statement>,
        labels: Vec<Name>,
        span: Span,
    ) {
        let number = self.next_construct();
        let [head, inside, exit, done] =
            ["", "_body", "_exit", "_done"].map(|suffix| self.fresh_label(&format!("loop{number}{suffix}")));
        self.begin(head.clone(), span);
        for invariant in invariants {
            let kind = if invariant.free { StmtKind::Assume } else { StmtKind::Assert };
            let mut attributes = vec![Attribute { name: Name::new("invariant"), args: Vec::new() }];
            attributes.extend(invariant.attributes);
            self.push(kind(invariant.expr), attributes, invariant.span);
        }
        self.end(Transfer::Goto(vec![inside.clone(), exit.clone()]));
        self.begin(inside, span);
        self.assume_guard(&guard, true);
        self.breaks.push(Breakable { labels, is_loop: true, behind: done, used: false });
        self.statements(body);
        let broken = self.breaks.pop().filter(|frame| frame.used);
        self.end(Transfer::Goto(vec![head]));
        self.begin(exit, span);
        self.assume_guard(&guard, false);
        if let Some(frame) = broken {
            // A `break` leaves while the guard holds, so it must miss the assumption above.
            self.begin(frame.behind, span);
        }
    }

    fn assume_guard(&mut self, guard: &Guard, value: bool) {
        if let Some(condition) = guard {
            let formula = if value { condition.clone() } else { negate(condition) };
            self.push(StmtKind::Assume(formula), Vec::new(), condition.span);
        }
    }

    fn assign(&mut self, targets: Vec<Target>, values: Vec<ExprRef>, attributes: Vec<Attribute>, span: Span) {
        if targets.len() != values.len() {
            let message = format!("{} targets take {} values", targets.len(), values.len());
            self.errors.push(Diagnostic::error("ivl-type", message, span));
            return;
        }
        if let ([target], [value]) = (&targets[..], &values[..]) {
            if self.arrays.contains_key(&target.variable.name) {
                let value = self.hoist(value);
                if let Some((access, attributes)) = self.access(target, attributes) {
                    self.push(StmtKind::Store { value, access }, attributes, span);
                }
                return;
            }
            if let Some(source) = array_element(value, self.arrays).filter(|_| target.indices.is_empty()) {
                if let Some((access, attributes)) = self.access(&source, attributes) {
                    self.push(StmtKind::Load { dst: target.variable.name.clone(), access }, attributes, span);
                }
                return;
            }
        }
        let mut pairs = Vec::new();
        for (target, value) in targets.iter().zip(&values) {
            if self.arrays.contains_key(&target.variable.name) {
                let message = "an array element cannot stand among the targets of a parallel assignment";
                self.errors.push(Diagnostic::error("ivl-kernel", message, target.variable.span));
            }
            let value = self.hoist(value);
            pairs.push((target.variable.name.clone(), self.updated(target, value)));
        }
        self.push(StmtKind::Assign(pairs), attributes, span);
    }

    /// The new value of the whole variable when the target's element becomes `value`.
    fn updated(&mut self, target: &Target, value: ExprRef) -> ExprRef {
        let span = target.variable.span;
        let untyped = |kind| Arc::new(Expr { kind, ty: Type::Bool, span });
        let indices: Vec<Vec<ExprRef>> =
            target.indices.iter().map(|group| group.iter().map(|i| self.hoist(i)).collect()).collect();
        // The maps that the indices go through, outermost first.
        let mut maps = vec![untyped(ExprKind::Var(target.variable.name.clone()))];
        for group in indices.iter().take(indices.len().saturating_sub(1)) {
            let inner = untyped(ExprKind::Select(maps[maps.len() - 1].clone(), group.clone()));
            maps.push(inner);
        }
        indices
            .into_iter()
            .zip(maps)
            .rev()
            .fold(value, |value, (group, map)| untyped(ExprKind::Store(map, group, value)))
    }

    /// Loads of array elements inside an expression move to statements before it.
    fn hoist(&mut self, expr: &ExprRef) -> ExprRef {
        let arrays = self.arrays;
        visit::map_expr(expr, &mut |e| {
            if let ExprKind::Quantifier { .. } = e.kind {
                // An index may be bound here; the checker refuses arrays in formulas.
                return Some(e.clone());
            }
            let source = array_element(e, arrays)?;
            let name = self.fresh_variable("load");
            let ty = Type::Bv(8 * arrays[&source.variable.name]);
            self.locals.push(Variable {
                name: name.clone(),
                ty: ty.clone(),
                where_clause: None,
                attributes: Vec::new(),
                span: e.span,
            });
            let (access, _) = self.access(&source, Vec::new())?;
            self.push(StmtKind::Load { dst: name.clone(), access }, Vec::new(), e.span);
            Some(Arc::new(Expr { kind: ExprKind::Var(name), ty, span: e.span }))
        })
    }

    fn access(&mut self, target: &Target, attributes: Vec<Attribute>) -> Option<(Access, Vec<Attribute>)> {
        let array = &target.variable;
        let Some(element_bytes) = self.arrays.get(&array.name) else {
            let error = Diagnostic::error("ivl-name", format!("no array is called `{}`", array.name), array.span);
            self.errors.push(super::scope::with_suggestion(error, &array.name, self.arrays.keys()));
            return None;
        };
        let [index] = target.indices.as_slice() else {
            return self.kernel_error("an array takes one index in brackets", array.span);
        };
        let [offset] = index.as_slice() else {
            return self.kernel_error("an array takes one index", array.span);
        };
        let offset = self.hoist(offset);
        match access::from_attributes(array, offset, *element_bytes, attributes) {
            Ok(result) => Some(result),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    fn kernel_error<T>(&mut self, message: &str, span: Span) -> Option<T> {
        self.errors.push(Diagnostic::error("ivl-kernel", message, span));
        None
    }

    fn atomic(&mut self, dst: Option<Name>, target: Target, attributes: Vec<Attribute>, span: Span) {
        if let Some((access, attributes)) = self.access(&target, attributes) {
            self.push(StmtKind::Atomic { dst, access }, attributes, span);
        }
    }

    fn barrier(&mut self, result: Option<Target>, attributes: Vec<Attribute>, span: Span) {
        let result = match result {
            Some(target) if !target.indices.is_empty() => {
                let message = "a barrier's result goes to a variable";
                self.errors.push(Diagnostic::error("ivl-kernel", message, target.variable.span));
                return;
            }
            result => result.map(|target| target.variable.name),
        };
        match access::barrier_from_attributes(result, attributes, span) {
            Ok((barrier, attributes)) => self.push(StmtKind::Barrier(barrier), attributes, span),
            Err(error) => self.errors.push(error),
        }
    }

    fn push(&mut self, kind: StmtKind, attributes: Vec<Attribute>, span: Span) {
        if let Some(block) = &mut self.open {
            block.stmts.push(Stmt { kind, attributes, span, origin: None });
        }
    }

    /// Starts a block; an open one falls through to it.
    fn begin(&mut self, label: Name, span: Span) {
        self.end(Transfer::Goto(vec![label.clone()]));
        self.defined.entry(label.clone()).or_insert(span);
        self.open = Some(Block { label, stmts: Vec::new(), transfer: Transfer::Return, span, end: span });
    }

    /// Where the transfer of the open block stands.
    fn ends_at(&mut self, span: Span) {
        if let Some(block) = &mut self.open {
            block.end = span;
        }
    }

    fn end(&mut self, transfer: Transfer) {
        if let Some(mut block) = self.open.take() {
            block.transfer = transfer;
            self.blocks.push(block);
        }
    }

    /// Ends the open block, if any, and tells where it is so that its transfer can be set later.
    fn suspend(&mut self) -> Option<usize> {
        let index = self.blocks.len();
        self.open.is_some().then(|| {
            self.end(Transfer::Return);
            index
        })
    }

    fn next_construct(&mut self) -> usize {
        self.constructs += 1;
        self.constructs
    }

    fn fresh_label(&mut self, stem: &str) -> Name {
        fresh(stem, &mut self.labels)
    }

    fn fresh_variable(&mut self, stem: &str) -> Name {
        let mut number = 1;
        while !self.names.insert(Name::from(format!("{stem}{number}"))) {
            number += 1;
        }
        Name::from(format!("{stem}{number}"))
    }
}

/// The stem itself, or with underscores behind it where that name is taken.
fn fresh(stem: &str, taken: &mut BTreeSet<Name>) -> Name {
    let mut name = Name::new(stem);
    while !taken.insert(name.clone()) {
        name = Name::from(format!("{name}_"));
    }
    name
}

fn collect_labels(statements: &[Statement], labels: &mut BTreeSet<Name>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Label(label) => {
                labels.insert(label.clone());
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| collect_labels(body, labels));
                collect_labels(otherwise, labels);
            }
            StatementKind::While { body, .. } => collect_labels(body, labels),
            _ => {}
        }
    }
}

/// `A[i]` of a declared array, as a target.
fn array_element(expr: &ExprRef, arrays: &Arrays) -> Option<Target> {
    let ExprKind::Select(map, index) = &expr.kind else { return None };
    match &map.kind {
        ExprKind::Var(name) if arrays.contains_key(name) => {
            Some(Target { variable: Identifier { name: name.clone(), span: map.span }, indices: vec![index.clone()] })
        }
        _ => None,
    }
}

/// `!e` with the span of e; a comparison of integers or an equality turns around.
fn negate(e: &ExprRef) -> ExprRef {
    let kind = match &e.kind {
        ExprKind::Binary(op, a, b) => match opposite(*op) {
            Some(op) => ExprKind::Binary(op, a.clone(), b.clone()),
            None => ExprKind::Unary(UnaryOp::Not, e.clone()),
        },
        _ => bv::not(e.clone()).kind.clone(),
    };
    Arc::new(Expr { kind, ty: Type::Bool, span: e.span })
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        _ => return None,
    })
}
