//! Walks: registers that several loops, or the copies of an unrolled body, move by multiples of one stride.
//!
//! Input: a two-thread program and its passive form. Output: the walks, and ghost code for each walk of a register
//! `r` by a stride `s`, which begins at the loop L: `start.r.L$t`, its value in front of L, `steps.r.L$t`, the strides
//! that thread t has moved it since, and `steps.r.L.logged`, what `steps.r.L$1` was when the pending access was logged.
//! Establishes: ghosts never influence other variables. Relies on: the layout of loops (see [`super::ghosts`]).
//!
//! Compilers unroll `for (; i < n; i += stride)` into a loop for the remainder and one with four copies of the body. By
//! counters of rounds, a place of the second loop is `start + k1 * stride + 4 * k2 * stride` for each thread, and
//! two places are compared through four products of unknowns. By steps it is `start + steps * stride` everywhere.
//! Reference: scalar evolution (chains of recurrences); proof-notes, lesson 3.

mod code;
mod logs;
mod places;

pub(crate) use code::insert;
pub(crate) use logs::{Log, with_offsets};

use super::candidates::names_at_head;
use super::ghosts::LoopGhosts;
use crate::ivl::ast::{ExprRef, Name, Procedure, Stmt, StmtKind, Thread, Type};
use crate::ivl::bv;
use crate::ivl::visit::assigned;
use crate::vcgen::passive::{CutLoop, Passive};
use crate::vcgen::term::{Node, Sort, Term, Terms, signed};
use logs::{log_of, logging, outside};
use std::collections::{BTreeMap, BTreeSet};

/// Multiples of the stride beyond this are no unrolled loop.
const MOST_STEPS: i128 = 64;

/// A register that loops move by multiples of a stride.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// The register, without thread suffix.
    pub(crate) register: Name,
    /// Label of the head of the first loop.
    first: Name,
    /// Its type.
    pub(crate) ty: Type,
    /// The stride of each thread, over what its loops leave alone.
    pub(crate) stride: [ExprRef; 2],
    /// The same in the passive form.
    terms: [Term; 2],
    /// Loops that move it, by index, with the steps of one round.
    pub(crate) loops: BTreeMap<usize, i128>,
    /// Accesses whose places follow it.
    pub(crate) places: Vec<Place>,
    /// Other accesses of their arrays, in no loop.
    pub(crate) outside: Vec<Log>,
    /// The arrays of these places, with the numbers of all their accesses that the program logs.
    pub(crate) arrays: BTreeMap<Name, BTreeSet<u32>>,
    /// Other registers that move with it: the loop, the register, its type, how many times as far.
    pub(crate) followers: Vec<Follower>,
}

/// The place of accesses: `factor * (start + (steps.r + steps) * stride) + displacement`, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Numbers of the accesses.
    pub(crate) sites: Vec<u32>,
    /// Array.
    pub(crate) array: Name,
    /// The loop around, by index.
    pub(crate) in_loop: usize,
    /// Bytes.
    pub(crate) bytes: u32,
    /// Bytes for each unit of the register.
    pub(crate) factor: i128,
    /// Strides beyond those counted.
    pub(crate) steps: i128,
    /// Bytes beyond.
    pub(crate) displacement: i128,
}

/// A register with `register == factor * walk + displacement` at the head of a loop.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    /// The loop, by index.
    pub(crate) in_loop: usize,
    /// The register, without thread suffix.
    pub(crate) register: Name,
    /// Its type.
    pub(crate) ty: Type,
    /// How many times as far it moves.
    pub(crate) factor: i128,
    /// How far it is ahead.
    pub(crate) displacement: i128,
}

impl Walk {
    /// Whether the register of a loop, without thread suffix, is the walk's own or follows it there.
    pub(crate) fn moves(&self, index: usize, register: &Name) -> bool {
        let follows = |f: &Follower| f.in_loop == index && f.register == *register;
        self.loops.contains_key(&index) && (self.register == *register || self.followers.iter().any(follows))
    }

    /// `start.r$t`
    pub(crate) fn start(&self, thread: Thread) -> ExprRef {
        bv::var(self.start_name(thread), self.ty.clone())
    }

    fn start_name(&self, thread: Thread) -> Name {
        Name::from(format!("start.{}.{}", self.register, self.first)).of(thread)
    }

    /// `steps.r$t`
    pub(crate) fn steps(&self, thread: Thread) -> ExprRef {
        bv::var(self.steps_name(thread), Type::Int)
    }

    /// The name of that.
    pub(crate) fn steps_name(&self, thread: Thread) -> Name {
        Name::from(format!("steps.{}.{}", self.register, self.first)).of(thread)
    }

    /// `steps.r.logged`
    pub(crate) fn logged(&self) -> ExprRef {
        bv::var(self.logged_name(), Type::Int)
    }

    fn logged_name(&self) -> Name {
        Name::from(format!("steps.{}.{}.logged", self.register, self.first))
    }
}

impl Place {
    /// Whether the accesses of both are the same bytes.
    fn is_same(&self, other: &Place) -> bool {
        let bytes = |place: &Place| (place.in_loop, place.bytes, place.factor, place.steps, place.displacement);
        bytes(self) == bytes(other) && self.array == other.array
    }
}

/// Whether a loop moves a register by an unknown stride.
pub(crate) fn may_exist(passive: &mut Passive) -> bool {
    let Passive { terms, loops: cuts, .. } = passive;
    cuts.iter().any(|cut| !moved(terms, cut).is_empty())
}

/// The walks of a program that is passive with [`with_offsets`]. Registers that one loop moves by one stride a round
/// are none: counters of rounds are enough for them.
pub(crate) fn find(passive: &mut Passive, procedure: &Procedure, loops: &[LoopGhosts]) -> Vec<Walk> {
    let Passive { terms, loops: cuts, .. } = passive;
    let mut walks = moving(terms, cuts, loops);
    walks.retain(|walk| walk.loops.keys().all(|&index| is_moved_once(procedure, &loops[index], &walk.register)));
    for walk in &mut walks {
        for (index, _) in walk.loops.clone() {
            let Some(cut) = cuts.iter().find(|cut| cut.head == loops[index].head) else { continue };
            walk.followers.extend(places::followers(terms, cut, walk, index));
            let places = places::places(terms, cut, procedure, walk, (index, loops));
            walk.places.extend(places);
        }
        walk.outside = outside(procedure, loops, walk);
        walk.arrays = walk.places.iter().map(|p| (p.array.clone(), logging(procedure, &p.array))).collect();
    }
    let apart = |walk: &Walk| walk.places.iter().map(|place| place.steps).collect::<BTreeSet<_>>().len();
    walks.retain(|walk| !walk.places.is_empty() && (walk.loops.len() > 1 || apart(walk) > 1));
    let follows = |walk: &Walk| walks.iter().flat_map(|w| &w.followers).any(|f| f.register == walk.register);
    let leads: Vec<bool> = walks.iter().map(|walk| !follows(walk)).collect();
    walks.into_iter().zip(leads).filter(|(_, leads)| *leads).map(|(walk, _)| walk).collect()
}

/// Registers that loops move by a stride, with the loops that go on where the one before ended.
fn moving(terms: &mut Terms, cuts: &[CutLoop], loops: &[LoopGhosts]) -> Vec<Walk> {
    let mut walks: Vec<Walk> = Vec::new();
    for cut in cuts {
        let Some(index) = loops.iter().position(|l| l.head == cut.head) else { continue };
        let names = names_at_head(terms, cut, &loops[index]);
        for (register, ty, strides, steps) in moved(terms, cut) {
            let last = |walk: &Walk| walk.loops.last_key_value().map(|(last, _)| loops[*last].head.clone());
            let before = walks.iter_mut().rev().find(|w| w.register == register && w.terms == strides);
            let before =
                before.filter(|walk| last(walk).is_some_and(|last| goes_on(terms, cuts, &last, cut, &register)));
            if let Some(walk) = before {
                walk.loops.insert(index, steps);
            } else if let [Some(first), Some(second)] = strides.map(|s| names.reify(terms, s, &mut Vec::new())) {
                walks.push(Walk {
                    register,
                    first: loops[index].head.clone(),
                    ty,
                    stride: [first, second],
                    terms: strides,
                    loops: BTreeMap::from([(index, steps)]),
                    places: Vec::new(),
                    outside: Vec::new(),
                    arrays: BTreeMap::new(),
                    followers: Vec::new(),
                });
            }
        }
    }
    walks
}

/// Whether a register comes to a loop as another loop before left it, in every thread.
fn goes_on(terms: &Terms, cuts: &[CutLoop], last: &Name, cut: &CutLoop, register: &Name) -> bool {
    let name = register.of(Thread::First);
    let before = cuts.iter().find(|cut| cut.head == *last).and_then(|cut| cut.at_head.get(&name));
    let (Some(&before), Some(&entry)) = (before, cut.entry.get(&name)) else { return false };
    terms.leaves(entry).into_iter().all(|leaf| {
        let mut symbols = BTreeSet::new();
        terms.collect_symbols(leaf, &mut Default::default(), &mut symbols);
        symbols.contains(&before)
    })
}

/// The registers that a loop assigns, without thread.
fn registers(cut: &CutLoop) -> Vec<Name> {
    cut.assigned.iter().filter(|name| name.thread() == Some(Thread::First)).map(Name::shared).collect()
}

/// Registers that a round moves by a constant multiple of something that the loop does not change.
fn moved(terms: &mut Terms, cut: &CutLoop) -> Vec<(Name, Type, [Term; 2], i128)> {
    let registers: Vec<Name> = registers(cut);
    let mut found = Vec::new();
    for register in registers {
        let by = |terms: &mut Terms, thread: Thread| -> Option<(Term, i128)> {
            let name = register.of(thread);
            let &head = cut.at_head.get(&name)?;
            let ends: BTreeSet<Term> = cut.at_end.iter().filter_map(|end| end.get(&name)).copied().collect();
            let mut updates: BTreeSet<Term> = ends.iter().flat_map(|&end| terms.leaves(end)).collect();
            updates.remove(&head);
            let [update] = updates.into_iter().collect::<Vec<_>>()[..] else { return None };
            let step = match terms.sort(head) {
                Sort::Bv(32 | 64) => terms.bv_sub(update, head),
                _ => return None,
            };
            stride_of(terms, step).filter(|(stride, _)| is_fixed(terms, cut, *stride))
        };
        let (Some((first, steps)), Some((second, other))) = (by(terms, Thread::First), by(terms, Thread::Second))
        else {
            continue;
        };
        if steps == other {
            let ty = crate::infer::reify::type_of(terms.sort(cut.at_head[&register.of(Thread::First)]));
            found.push((register, ty, [first, second], steps));
        }
    }
    found
}

/// A step as a stride that is unknown, so many times.
fn stride_of(terms: &Terms, step: Term) -> Option<(Term, i128)> {
    match terms.node(step) {
        Node::BvConst { .. } => None,
        Node::BvSum { width, constant: 0, members } => match members.as_ref() {
            [(stride, times)] => Some((*stride, signed(*times, *width))).filter(|(_, times)| times.abs() <= MOST_STEPS),
            _ => None,
        },
        Node::BvSum { .. } => None,
        _ => Some((step, 1)),
    }
}

/// Whether a loop leaves a value alone.
fn is_fixed(terms: &Terms, cut: &CutLoop, value: Term) -> bool {
    let mut symbols = BTreeSet::new();
    terms.collect_symbols(value, &mut Default::default(), &mut symbols);
    cut.assigned.iter().filter_map(|name| cut.at_head.get(name)).all(|head| !symbols.contains(head))
}

/// Whether a loop has one assignment to the register of each thread.
fn is_moved_once(procedure: &Procedure, ghosts: &LoopGhosts, register: &Name) -> bool {
    let blocks = procedure.body.iter().flat_map(|body| &body.blocks).filter(|b| ghosts.blocks.contains(&b.label));
    let stmts: Vec<&Stmt> = blocks.flat_map(|block| &block.stmts).collect();
    let assigns = |stmt: &&&Stmt, thread: Thread| assigned(stmt).contains(&&register.of(thread));
    Thread::BOTH.into_iter().all(|thread| stmts.iter().filter(|stmt| assigns(stmt, thread)).count() == 1)
}

/// Whether the walks of a loop tell where every access of it is: then no witness is needed.
pub(crate) fn covers(walks: &[Walk], procedure: &Procedure, index: usize, ghosts: &LoopGhosts) -> bool {
    let places = || walks.iter().filter(|walk| walk.loops.contains_key(&index)).flat_map(|walk| &walk.places);
    let is_log = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Log { .. });
    let blocks = procedure.body.iter().flat_map(|body| &body.blocks).filter(|b| ghosts.blocks.contains(&b.label));
    let mut logs = blocks.flat_map(|block| &block.stmts).filter(is_log);
    let is_known = |site: u32| places().any(|place| place.sites.contains(&site));
    places().next().is_some() && logs.all(|stmt| log_of(stmt).is_some_and(|log| is_known(log.site)))
}
