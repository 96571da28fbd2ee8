//! Candidate invariants, one family a file; variants of a family have names of their own.
//!
//! Input: one cut loop of the passive program (values on entry, at the head, at the end of a round).
//! Output: candidates as IVL expressions over the variables at the head, the round counter and the
//! values on entry. Establishes: nothing; Houdini decides which are inductive.
//! Reference: proof-notes (which families are decisive); gpuverify-notes section 4; docs/families.md
//! (what each of them is worth).

mod activity;
mod affine;
mod bounds;
mod congruence;
mod cycle;
mod equality;
mod exit_test;
mod frame;
mod geometric;
mod groups;
mod logged;
mod objects;
mod pending;
mod remainder;
mod rotation;
mod round;
mod steps;
mod warp;

use super::ghosts::LoopGhosts;
use super::origins::Origins;
use super::reify::Names;
use super::walks::Walk;
use crate::ivl::ast::{ExprKind, ExprRef, Name, Thread, Type};
use crate::ivl::bv;
use crate::ivl::visit::{self, Visitor};
use crate::solver::Encoding;
use crate::twothread::log::Log;
use crate::twothread::{SameWarp, TwoThread};
use crate::vcgen::passive::{CutLoop, Passive};
use crate::vcgen::term::{Node, Sort, Term, Terms};
use foldhash::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};

pub(super) use congruence::zero_bits;

/// A family that is proposed only where a compiler made several loops of one.
pub(super) const OF_SPLIT_LOOPS: &str = "remainder";

/// Families that are proposed together.
pub(crate) struct Family {
    /// The names that the candidates carry: the family's own, then those of its variants.
    pub(crate) names: &'static [&'static str],
    /// Proposes candidates for one loop.
    propose: fn(&mut View),
}

/// All families, in the order of their candidates at a loop head.
pub(crate) const FAMILIES: &[Family] = &[
    Family { names: &["activity"], propose: activity::propose },
    Family { names: &["equality"], propose: equality::propose },
    Family { names: &["steps"], propose: steps::propose },
    // With those of `bounds`, register by register.
    Family { names: &["affine", "affine-late", "affine-left", "loop-bound", "non-negative"], propose: affine::propose },
    Family { names: &["congruence"], propose: congruence::propose },
    Family { names: &["cycle"], propose: cycle::propose },
    Family { names: &["exit-test", "exit-test-left"], propose: exit_test::propose },
    Family { names: &["frame"], propose: frame::propose },
    Family { names: &["geometric", "geometric-left", "power-of-two"], propose: geometric::propose },
    Family { names: &["groups"], propose: groups::propose },
    Family { names: &["logged"], propose: logged::propose },
    Family { names: &["objects"], propose: objects::propose },
    Family { names: &["remainder"], propose: remainder::propose },
    Family { names: &["rotation"], propose: rotation::propose },
    Family { names: &["round"], propose: round::propose },
    Family { names: &["pending"], propose: pending::propose },
    Family { names: &["warp"], propose: warp::propose },
];

/// The names of all families and variants, in the order of [`FAMILIES`].
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.names).copied()
}

#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Name of its family.
    pub family: &'static str,
    /// Index of its loop.
    pub(crate) in_loop: usize,
    /// The formula.
    pub(crate) expr: ExprRef,
}

/// What the families see of one loop.
pub(crate) struct View<'a> {
    /// Terms of the passive program.
    pub(crate) terms: &'a mut Terms,
    /// The cut loop.
    pub(crate) cut: &'a CutLoop,
    /// Its ghosts and labels.
    pub(crate) ghosts: &'a LoopGhosts,
    /// Its index among the loops.
    pub(crate) index: usize,
    /// Registers that move by one stride in several loops.
    pub(crate) walks: &'a [Walk],
    /// The steps by which loops move registers.
    pub(crate) steps: &'a remainder::Steps,
    /// Where values come from, if loops go on where others ended.
    pub(crate) origins: Option<&'a Origins>,
    /// The kernel's parameters.
    pub(crate) parameters: &'a [Term],
    /// Where logged accesses start from.
    pub(crate) starts: &'a [logged::Start],
    /// Names of values at the head.
    pub(crate) names: Names,
    /// Variables worth an invariant, without the thread suffix, with their type.
    pub(crate) variables: BTreeMap<Name, Type>,
    /// Variables that no round takes over from the one before.
    pub(crate) dead: BTreeMap<Name, Type>,
    /// What is remembered of accesses.
    pub(crate) log: &'a Log,
    /// What is known of the warps of the two threads.
    pub(crate) same_warp: Option<&'a SameWarp>,
    /// The encoding that will decide.
    pub(crate) encoding: Encoding,
    /// True when the loop may run a barrier.
    pub(crate) has_barrier: bool,
    /// Families that are left out.
    pub(crate) omitted: &'a [&'static str],
    /// Snapshots of entry values that candidates mention.
    pub(crate) snapshots: BTreeSet<Name>,
    /// What was found.
    pub(crate) found: Vec<(&'static str, ExprRef)>,
}

impl View<'_> {
    /// Adds a candidate, unless its family is left out or it says nothing new.
    pub(crate) fn propose(&mut self, family: &'static str, expr: ExprRef) {
        debug_assert!(names().any(|name| name == family), "infer: no family is named {family}");
        if self.omitted.contains(&family) || matches!(expr.kind, ExprKind::Bool(true)) {
            return;
        }
        if !self.found.iter().any(|f| f.1 == expr) {
            self.found.push((family, expr));
        }
    }

    /// Whether a value may be a bound of the author's: no id, and no size of the launch.
    pub(crate) fn may_be_bound(&self, value: Term) -> bool {
        let ranged = self.terms.symbol_of(value).is_some_and(|symbol| symbol.range.is_some());
        !ranged || self.parameters.contains(&value)
    }

    /// `v_active$t == head`
    pub(crate) fn active(&self, thread: Thread) -> ExprRef {
        let (ty, head) = self.ghosts.head_literal();
        bv::eq(bv::var(self.ghosts.v_active.of(thread), ty), head)
    }

    /// The snapshot of a variable's value on entry, as an expression.
    pub(crate) fn on_entry(&mut self, variable: &Name, ty: &Type) -> ExprRef {
        self.snapshots.insert(variable.clone());
        bv::var(self.ghosts.snapshot(variable), ty.clone())
    }

    /// The IVL expression of a term over names at the head; remembers the snapshots it needs.
    pub(crate) fn reify(&mut self, term: Term) -> Option<ExprRef> {
        let mut used = Vec::new();
        let expr = self.names.reify(self.terms, term, &mut used)?;
        for name in used {
            if let Some(original) = self.ghosts.original_of_snapshot(&name) {
                self.snapshots.insert(original);
            }
        }
        Some(expr)
    }

    /// The value that a thread's variable takes in a round, on the branches that change it: the
    /// leaves of the choices at the end, without the unchanged value.
    pub(crate) fn updates(&self, variable: &Name) -> Vec<Term> {
        let Some(&head) = self.cut.at_head.get(variable) else { return Vec::new() };
        let ends = self.cut.at_end.iter().filter_map(|end| end.get(variable));
        let mut leaves: BTreeSet<Term> = ends.flat_map(|&end| self.terms.leaves(end)).collect();
        leaves.remove(&head);
        leaves.into_iter().collect()
    }

    /// The same for a thread that is active. A register that moves twice in a round has choices within its sums, as
    /// `(active ? x + 1 : y) + 1`.
    pub(crate) fn updates_of_active(&mut self, variable: &Name) -> Vec<Term> {
        let updates = self.updates(variable);
        if !updates.iter().any(|&update| self.chooses_within(update)) {
            return updates;
        }
        let (Some(&head), Some(mut active)) = (self.cut.at_head.get(variable), self.as_active(variable)) else {
            return updates;
        };
        let mut leaves = BTreeSet::new();
        for end in self.cut.at_end.iter().filter_map(|end| end.get(variable)) {
            let end = self.terms.substitute(*end, &mut active);
            leaves.extend(self.terms.leaves(end));
        }
        leaves.remove(&head);
        leaves.into_iter().collect()
    }

    /// Whether a term is a sum with a choice among its members.
    fn chooses_within(&self, term: Term) -> bool {
        let is_choice = |&(member, _): &(Term, u128)| matches!(self.terms.node(member), Node::Ite(..));
        matches!(self.terms.node(term), Node::BvSum { members, .. } if members.iter().any(is_choice))
    }

    /// What makes the thread of a variable active at the head.
    fn as_active(&mut self, variable: &Name) -> Option<HashMap<Term, Term>> {
        let v_active = self.ghosts.v_active.of(variable.thread()?);
        let symbol = *self.cut.at_head.get(&v_active)?;
        let Sort::Bv(width) = self.terms.sort(symbol) else { return None };
        let head = self.terms.bv(u128::from(self.ghosts.head_id), width);
        Some(HashMap::from_iter([(symbol, head)]))
    }

    /// The condition, at the end of a round, under which an active thread comes back to the head.
    pub(crate) fn stay(&mut self, thread: Thread) -> Option<Term> {
        let v_active = self.ghosts.v_active.of(thread);
        let head_symbol = *self.cut.at_head.get(&v_active)?;
        let end = *self.cut.at_end.first()?.get(&v_active)?;
        let Sort::Bv(width) = self.terms.sort(end) else { return None };
        let head = self.terms.bv(u128::from(self.ghosts.head_id), width);
        let stay = self.terms.eq(end, head);
        let mut map = HashMap::from_iter([(head_symbol, head)]);
        Some(self.terms.substitute(stay, &mut map))
    }
}

/// All candidates of a passive program whose loops carry ghosts, but those of `omitted` families, and
/// the snapshots they need.
pub(crate) fn find(
    passive: &mut Passive,
    ghosts: &[LoopGhosts],
    walks: &[Walk],
    two: &TwoThread,
    barriers: &[bool],
    encoding: Encoding,
    omitted: &[&'static str],
) -> (Vec<Candidate>, Vec<BTreeSet<Name>>) {
    let relevant = relevant_symbols(passive);
    let mut candidates = Vec::new();
    let mut snapshots = vec![BTreeSet::new(); ghosts.len()];
    let steps = remainder::steps(&mut passive.terms, &passive.loops);
    let origins = if remainder::is_split(&steps) { Some(Origins::new(passive)) } else { None };
    let starts = origins.as_ref().map(|origins| logged::starts(passive, origins, &two.log)).unwrap_or_default();
    let Passive { terms, loops, parameters, .. } = &mut *passive;
    for cut in &*loops {
        let Some(index) = ghosts.iter().position(|g| g.head == cut.head) else { continue };
        let (mut variables, mut dead) = (loop_variables(terms, cut, &relevant), BTreeMap::new());
        for name in &ghosts[index].dead {
            dead.extend(variables.remove_entry(name));
        }
        let names = names_at_head(terms, cut, &ghosts[index]);
        let mut view = View {
            terms,
            cut,
            ghosts: &ghosts[index],
            index,
            walks,
            steps: &steps,
            origins: origins.as_ref(),
            parameters,
            starts: &starts,
            names,
            variables,
            dead,
            log: &two.log,
            same_warp: two.same_warp.as_ref(),
            encoding,
            has_barrier: barriers[index],
            omitted,
            snapshots: BTreeSet::new(),
            found: Vec::new(),
        };
        for family in FAMILIES {
            (family.propose)(&mut view);
        }
        snapshots[index] = std::mem::take(&mut view.snapshots);
        let found = std::mem::take(&mut view.found);
        candidates.extend(found.into_iter().map(|(family, expr)| Candidate { family, in_loop: index, expr }));
    }
    (candidates, snapshots)
}

/// For each candidate the one that says the same with the threads exchanged, or itself.
pub(crate) fn twins(candidates: &[Candidate]) -> Vec<usize> {
    let twin = |candidate: &Candidate| {
        let exchanged = exchanged(&candidate.expr);
        candidates.iter().position(|other| other.in_loop == candidate.in_loop && other.expr == exchanged)
    };
    candidates.iter().enumerate().map(|(i, candidate)| twin(candidate).unwrap_or(i)).collect()
}

/// An expression with the two threads' copies exchanged.
fn exchanged(e: &ExprRef) -> ExprRef {
    let names = visit::free_vars(e);
    let mut map = BTreeMap::new();
    let mut types = Types::default();
    types.expr(e);
    for name in names {
        if let (Some(thread), Some(ty)) = (name.thread(), types.0.get(&name)) {
            let other = name.of(thread.other());
            map.insert(name, bv::var(other, ty.clone()));
        }
    }
    visit::substitute(e, &map)
}

/// Types of the variables of an expression.
#[derive(Default)]
struct Types(BTreeMap<Name, Type>);

impl Visitor for Types {
    fn expr(&mut self, e: &ExprRef) {
        if let ExprKind::Var(name) = &e.kind {
            self.0.insert(name.clone(), e.ty.clone());
        }
        visit::walk_expr(self, e);
    }
}

/// Symbols that some check or assumption depends on, through the rounds of loops.
fn relevant_symbols(passive: &Passive) -> BTreeSet<Term> {
    let mut symbols = BTreeSet::new();
    let mut seen = HashSet::default();
    for check in &passive.checks {
        passive.terms.collect_symbols(check.term, &mut seen, &mut symbols);
    }
    for item in passive.blocks.iter().flat_map(|b| &b.items) {
        if let crate::vcgen::passive::PassiveItem::Assume { term, .. } = item {
            passive.terms.collect_symbols(*term, &mut seen, &mut symbols);
        }
    }
    loop {
        let before = symbols.len();
        for cut in &passive.loops {
            for name in &cut.assigned {
                if !cut.at_head.get(name).is_some_and(|t| symbols.contains(t)) {
                    continue;
                }
                for environment in cut.at_end.iter().chain([&cut.entry]) {
                    if let Some(&value) = environment.get(name) {
                        passive.terms.collect_symbols(value, &mut seen, &mut symbols);
                    }
                }
            }
        }
        if symbols.len() == before {
            return symbols;
        }
    }
}

/// Dualised variables that the loop carries from round to round and that matter.
fn loop_variables(terms: &Terms, cut: &CutLoop, relevant: &BTreeSet<Term>) -> BTreeMap<Name, Type> {
    let mut variables = BTreeMap::new();
    for name in &cut.assigned {
        let Some(&head) = cut.at_head.get(name).filter(|_| name.thread().is_some()) else { continue };
        if !relevant.contains(&head) || cut.at_end.iter().all(|end| end.get(name) == Some(&head)) {
            continue;
        }
        variables.insert(name.shared(), super::reify::type_of(terms.sort(head)));
    }
    variables
}

/// Names for what is known at the head of a loop: its own variables, those it leaves alone, values on entry.
pub(crate) fn names_at_head(terms: &Terms, cut: &CutLoop, ghosts: &LoopGhosts) -> Names {
    let mut names = Names::default();
    for (name, &value) in &cut.at_head {
        if cut.assigned.contains(name) && matches!(terms.node(value), Node::Symbol(_)) {
            names.add(value, name.clone());
        }
    }
    let is_literal = |t: Term| matches!(terms.node(t), Node::Bool(_) | Node::BvConst { .. } | Node::IntConst(_));
    for (name, &value) in &cut.entry {
        if !cut.assigned.contains(name) && !is_literal(value) {
            names.add(value, name.clone());
        }
    }
    for (name, &value) in &cut.entry {
        if cut.assigned.contains(name) && name.thread().is_some() && !is_literal(value) {
            names.add(value, ghosts.snapshot(name));
        }
    }
    names
}
