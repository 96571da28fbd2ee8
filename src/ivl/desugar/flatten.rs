//! Structured statements become blocks.
//!
//! Input: a body as parsed. Output: its labelled blocks, and what is wrong with labels and jumps.
//! Establishes: every goto has a target. Relies on: the grammar. Reference: Boogie 2 (`if`, `while`, `break`).

use super::super::ast::*;
use super::super::bv;
use super::super::scope::with_suggestion;
use super::super::surface::*;
use super::Arrays;
use crate::diagnostic::Diagnostic;
use crate::ivl::claim::{Claim, Premise};
use crate::ivl::event::TRAP;
use crate::order::Fence;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) struct Flattener<'a> {
    pub(super) arrays: &'a Arrays,
    /// Names a fresh variable must not have.
    names: BTreeSet<Name>,
    /// Labels a fresh label must not have.
    labels: BTreeSet<Name>,
    defined: BTreeMap<Name, Span>,
    gotos: Vec<Identifier>,
    pub(super) locals: Vec<Variable>,
    blocks: Vec<Block>,
    open: Option<Block>,
    /// What `break` may leave, innermost last.
    breaks: Vec<Breakable>,
    constructs: usize,
    pub(super) errors: Vec<Diagnostic>,
}

/// A loop, or an `if` with a label.
struct Breakable {
    /// The label right before it.
    label: Option<Name>,
    /// Only a loop is left by a `break` without label.
    is_loop: bool,
    /// The block behind it that a `break` goes to.
    behind: Name,
    /// Whether one does.
    used: bool,
}

impl<'a> Flattener<'a> {
    pub(super) fn new(arrays: &'a Arrays, names: BTreeSet<Name>, body: &Body) -> Self {
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

    pub(super) fn body(&mut self, body: Body) -> Implementation {
        self.locals = body.locals;
        if !matches!(body.stmts.first(), Some(Statement { kind: StatementKind::Label(_), .. })) {
            let label = self.fresh_label("Start");
            self.begin(label, body.stmts.first().map_or(body.end, |s| s.span));
        }
        let runs_into_end = !body.stmts.last().is_some_and(Statement::is_structured);
        self.statements(body.stmts);
        if runs_into_end {
            self.ends_at(body.end);
        }
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
                self.errors.push(with_suggestion(error, &target.name, self.defined.keys()));
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
        let mut label = None;
        for statement in statements {
            let before = label.take();
            match &statement.kind {
                StatementKind::If { .. } | StatementKind::While { .. } => self.structured(statement, before),
                StatementKind::Label(name) => {
                    label = Some(name.clone());
                    self.statement(statement);
                }
                _ => self.statement(statement),
            }
        }
    }

    fn structured(&mut self, statement: Statement, label: Option<Name>) {
        let span = statement.span;
        self.reopen(span);
        match statement.kind {
            StatementKind::If { branches, otherwise } => self.if_statement(branches, otherwise, label, span),
            StatementKind::While { guard, invariants, body } => {
                self.while_statement(guard, invariants, body, label, span)
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
        if matches!(kind, StatementKind::End) {
            // Nothing is made for it: it may stand behind a jump.
            self.ends_at(span);
            return;
        }
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
            StatementKind::Assume(e) => {
                let mut attributes = attributes;
                self.push(StmtKind::Assume(Premise::take(&mut attributes), e), attributes, span);
            }
            StatementKind::Assert(e) => {
                let mut attributes = attributes;
                self.push(StmtKind::Assert(Claim::take(&mut attributes), e), attributes, span);
            }
            StatementKind::Call { procedure, args, results } => {
                self.push(StmtKind::Call { procedure, args, results }, attributes, span)
            }
            StatementKind::Atomic { dst, target } => self.atomic(dst, target, attributes, span),
            StatementKind::Barrier { result } => self.barrier(result, attributes, span),
            StatementKind::Fence(text) if text == TRAP => self.push(StmtKind::Trap, attributes, span),
            StatementKind::Fence(text) => match Fence::named(&text) {
                Some(fence) if fence == Fence::warp() => self.warp_barrier(attributes, span),
                Some(fence) => self.push(StmtKind::Fence(fence), attributes, span),
                None => {
                    let message = format!("no fence of PTX is called `{text}`");
                    self.errors.push(Diagnostic::error("ivl-kernel", message, span));
                }
            },
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
            StatementKind::If { .. } | StatementKind::While { .. } | StatementKind::End => {}
        }
    }

    fn break_statement(&mut self, label: Option<Identifier>, span: Span) {
        let frame = self.breaks.iter_mut().rev().find(|frame| match &label {
            Some(label) => frame.label.as_ref() == Some(&label.name),
            None => frame.is_loop,
        });
        match (frame, label) {
            (Some(frame), _) => {
                frame.used = true;
                let target = frame.behind.clone();
                self.ends_at(span);
                self.end(Transfer::Goto(vec![target]));
            }
            (None, Some(label)) => {
                let message = format!("`break` is in no statement that is labelled `{}`", label.name);
                let error = Diagnostic::error("ivl-label", message, label.span);
                let known = self.breaks.iter().filter_map(|frame| frame.label.as_ref());
                self.errors.push(with_suggestion(error, &label.name, known));
            }
            (None, None) => self.errors.push(Diagnostic::error("ivl-label", "`break` outside of a loop", span)),
        }
    }

    fn if_statement(&mut self, branches: Vec<Branch>, otherwise: Vec<Statement>, label: Option<Name>, span: Span) {
        let mut join = None;
        let labelled = label.is_some();
        if labelled {
            let behind = self.fresh_label(&format!("if{}_done", self.constructs + 1));
            self.breaks.push(Breakable { label, is_loop: false, behind, used: false });
        }
        let mut ends = Vec::new();
        let mut last = span;
        for (place, Branch { guard, body, span: own }) in branches.into_iter().enumerate() {
            // The first is where the statement is, which the places of its blocks have always been.
            let span = if place == 0 { span } else { own };
            last = span;
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
        if otherwise.is_empty() {
            self.ends_at(last);
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
        label: Option<Name>,
        span: Span,
    ) {
        let number = self.next_construct();
        let [head, inside, exit, done] =
            ["", "_body", "_exit", "_done"].map(|suffix| self.fresh_label(&format!("loop{number}{suffix}")));
        self.begin(head.clone(), span);
        for invariant in invariants {
            let kind = match invariant.free {
                true => StmtKind::Assume(Premise::Invariant, invariant.expr),
                false => StmtKind::Assert(Claim::Invariant("".into()), invariant.expr),
            };
            self.push(kind, invariant.attributes, invariant.span);
        }
        self.end(Transfer::Goto(vec![inside.clone(), exit.clone()]));
        self.begin(inside, span);
        self.assume_guard(&guard, true);
        self.breaks.push(Breakable { label, is_loop: true, behind: done, used: false });
        self.statements(body);
        let broken = self.breaks.pop().filter(|frame| frame.used);
        self.end(Transfer::Goto(vec![head]));
        self.begin(exit, span);
        self.assume_guard(&guard, false);
        // Where nothing follows, this is where the body returns.
        self.ends_at(span);
        if let Some(frame) = broken {
            // A `break` leaves while the guard holds, so it must miss the assumption above.
            self.begin(frame.behind, span);
        }
    }

    fn assume_guard(&mut self, guard: &Guard, value: bool) {
        if let Some(condition) = guard {
            let formula = if value { condition.clone() } else { negate(condition) };
            self.push(StmtKind::assume(formula), Vec::new(), condition.span);
        }
    }

    pub(super) fn push(&mut self, kind: StmtKind, attributes: Vec<Attribute>, span: Span) {
        if let Some(block) = &mut self.open {
            block.stmts.push(Stmt { kind, attributes, span, origin: None });
        }
    }

    /// Starts a block; an open one falls through to it.
    fn begin(&mut self, label: Name, span: Span) {
        self.end(Transfer::Goto(vec![label.clone()]));
        self.defined.entry(label.clone()).or_insert(span);
        self.open = Some(Block { label, stmts: Vec::new(), transfer: Transfer::Return, span, end: Span::NONE });
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

    pub(super) fn fresh_variable(&mut self, stem: &str) -> Name {
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
                branches.iter().for_each(|branch| collect_labels(&branch.body, labels));
                collect_labels(otherwise, labels);
            }
            StatementKind::While { body, .. } => collect_labels(body, labels),
            _ => {}
        }
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
