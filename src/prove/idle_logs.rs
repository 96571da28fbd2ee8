//! Accesses that need not be remembered.
//!
//! Input: a two-thread program. Output: the same, but accesses are not logged behind which nothing looks at what is
//! remembered of them. Establishes: each assertion holds in the one program if and only if it does in the other. Relies on:
//! procedures of the prelude are straight lines. Reference: dead store elimination (Aho, Lam, Sethi, Ullman, section 9.2.5).
//!
//! A log is dropped where what it changes is mentioned by no check that control can come to, and where whatever else mentions it
//! (logs, barriers) has it change nothing but that. What the prelude makes of it does not matter. Reads of an
//! array behind the last write to it are such accesses: no write of the other thread is checked any more.

use crate::ivl::ast::{Name, Procedure, Stmt, StmtKind};
use crate::ivl::event::as_call;
use crate::ivl::graph;
use crate::ivl::visit::{Visitor, assigned, free_vars};
use crate::twothread::TwoThread;
use foldhash::HashMap;
use std::collections::BTreeSet;

/// The state that a statement has to do with, beside the registers of the program.
#[derive(Clone, Default)]
struct Effect {
    /// What it changes.
    changes: BTreeSet<Name>,
    /// What a change of `changes`, an assertion or a result depends on; for each place by itself, what it depends on.
    depends: Vec<(Option<Name>, BTreeSet<Name>)>,
}

impl Effect {
    /// Whether some state has a part in anything but itself.
    fn observes(&self, state: &BTreeSet<Name>) -> bool {
        let tells = |(target, from): &(Option<Name>, BTreeSet<Name>)| {
            from.iter().any(|name| state.contains(name)) && target.as_ref().is_none_or(|target| !state.contains(target))
        };
        self.depends.iter().any(tells)
    }
}

/// Without those logs.
pub(super) fn without(two: &TwoThread) -> TwoThread {
    let effects = Effects::of(two);
    let blocks = &two.implementation().blocks;
    let graph = graph::of(two.implementation());
    let of_blocks: Vec<Vec<Effect>> =
        blocks.iter().map(|block| block.stmts.iter().map(|stmt| effects.effect(stmt)).collect()).collect();
    let mut idle = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let behind = reachable(&graph.successors, at);
        for (number, stmt) in block.stmts.iter().enumerate() {
            let changes = &of_blocks[at][number].changes;
            let mut follows = of_blocks[at][number + 1..].iter().chain(behind.iter().flat_map(|&b| &of_blocks[b]));
            let is_log = matches!(stmt.kind, StmtKind::Log { .. });
            if is_log && !of_blocks[at][number].observes(changes) && !follows.any(|effect| effect.observes(changes)) {
                idle.push((at, number));
            }
        }
    }
    let mut two = two.clone();
    let procedure = two.program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure);
    if let Some(body) = procedure.and_then(|procedure| procedure.body.as_mut()) {
        for (at, number) in idle {
            let stmt = &mut body.blocks[at].stmts[number];
            // Whether it was remembered may matter elsewhere.
            if let StmtKind::Log { logged, .. } = &stmt.kind {
                stmt.kind = StmtKind::Havoc(vec![logged.clone()]);
            }
        }
    }
    two
}

/// The blocks that control can come to from a block.
fn reachable(successors: &[Vec<usize>], from: usize) -> BTreeSet<usize> {
    let (mut found, mut waiting) = (BTreeSet::new(), successors[from].clone());
    while let Some(block) = waiting.pop() {
        if found.insert(block) {
            waiting.extend(&successors[block]);
        }
    }
    found
}

/// What the procedures of a prelude do to its state.
struct Effects {
    state: BTreeSet<Name>,
    procedures: HashMap<Name, Effect>,
}

impl Effects {
    fn of(two: &TwoThread) -> Effects {
        let state = two.program.globals.iter().map(|global| global.name.clone()).collect();
        let mut effects = Effects { state, procedures: HashMap::default() };
        for procedure in two.program.procedures.iter().filter(|procedure| procedure.name != two.procedure) {
            let effect = effects.of_procedure(procedure);
            effects.procedures.insert(procedure.name.clone(), effect);
        }
        effects
    }

    fn of_procedure(&self, procedure: &Procedure) -> Effect {
        let stmts = procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        stmts.fold(Effect::default(), |mut effect, stmt| {
            let own = self.plain(stmt);
            effect.changes.extend(own.changes);
            effect.depends.extend(own.depends);
            effect
        })
    }

    fn effect(&self, stmt: &Stmt) -> Effect {
        match &*as_call(&stmt.kind, &[]).0 {
            StmtKind::Call { procedure, .. } => match self.procedures.get(procedure) {
                Some(effect) => effect.clone(),
                None => self.anything(),
            },
            _ => self.plain(stmt),
        }
    }

    /// What may be.
    fn anything(&self) -> Effect {
        Effect { changes: self.state.clone(), depends: vec![(None, self.state.clone())] }
    }

    /// What a statement does; of a call, which procedures of a prelude seldom have, nothing is known.
    fn plain(&self, stmt: &Stmt) -> Effect {
        if matches!(stmt.kind, StmtKind::Call { .. }) {
            return self.anything();
        }
        let is_state = |name: &Name| self.state.contains(name);
        let changes = assigned(stmt).into_iter().filter(|name| is_state(name)).cloned().collect();
        let depends = match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let pairs = pairs.iter().map(|(target, value)| {
                    let target = Some(target).filter(|target| is_state(target)).cloned();
                    (target, free_vars(value).into_iter().filter(is_state).collect())
                });
                pairs.collect()
            }
            _ => {
                let mut mentions = Mentions::default();
                mentions.stmt(stmt);
                vec![(None, mentions.0.into_iter().filter(is_state).collect())]
            }
        };
        Effect { changes, depends }
    }
}

/// The variables of all expressions.
#[derive(Default)]
struct Mentions(BTreeSet<Name>);

impl Visitor for Mentions {
    fn expr(&mut self, expr: &crate::ivl::ast::ExprRef) {
        self.0.extend(free_vars(expr));
    }
}
