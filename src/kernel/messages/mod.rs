//! Messages: words in which a thread finds a number that only one thread writes, and behind that what this one did before.
//!
//! Input: the blocks of the kernel. Output: `{:tells "message", "array", word, when}` on what a thread or its block does before the
//! number is written to the word at that byte offset of that array, if `when` holds; `{:told "message", "array", word, when}` on
//! what a thread does when it knows that the number is there. Words and conditions are over constants. Establishes: of a message and a
//! word there is at most one writer (in a block, if the array is in shared memory); an access that tells comes before the release
//! pattern that ends with the writing, one that is told comes behind an acquire pattern that begins with a load which observed
//! a writing of this message, both of a scope that all threads who share the array are in. Relies on: words of a global array hold 0 when the
//! launch starts, which is printed; accesses through pointers of unknown origin stand in the program as accesses of every
//! array; accesses of one array that overlap are aligned alike (PTX ISA, `st`); threads of a block that part at a barrier
//! fail its assertion, and the barriers that `twothread` takes are of the whole block. Reference: PTX ISA, memory
//! consistency model (release and acquire patterns, synchronizes-with, causality order); the instruction-level paper, Figs. 10
//! and 11. What follows for pairs of threads is in `twothread::messages`.
//!
//! All that changes the array writes numbers that are known. A branch behind a load that is taken for some of them, and not for 0, is
//! taken by a thread that has observed one of the writings of these. They make up the message, and have one [`Writer`]: who knows
//! the word knows the thread that wrote.
//!
//! Telling, where F is the last fence with release semantics on each way to a writing, or the writing itself if it has them:
//!
//! 1. What the thread that writes does before F: an access to which no way leads from F.
//! 2. What any thread of its block does before P, a barrier on each way to F: an access to which no way leads from P.
//!
//! Where all that changes a word are additions of 1, each executed once, a load that finds as many as there are at most has
//! observed all of them ([`counters`]): the message is that of all who add, each tells it, and one that adds last knows it, too.
//!
//! Told, where each way from the load to the place passes a fence with acquire semantics, or the load has them:
//!
//! 3. What a thread does behind the branch.
//! 4. What any thread of a block does behind a barrier Q to which thread 0 of the block comes through the branch only ([`told`]).
//! 5. What a thread does that is told by one who was told before F, or whose acquire pattern ends with F: causality order is transitive.

mod comparisons;
mod counters;
mod goals;
mod grid;
mod observations;
mod rounds;
mod told;
mod writers;

use super::completion::accessed;
use super::locks::fences;
use super::lowering::Lowering;
use super::paths::{Paths, Position};
use super::regions::Space;
use super::tickets::adds_nothing;
use crate::ivl::ast::{Attribute, AttributeArg, Block, ExprRef, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::visit::free_vars;
use crate::ptx::ast::Module;
use crate::twothread::copies::Variation;
use counters::Counted;
use observations::Observation;
use std::collections::{BTreeMap, BTreeSet};
use told::{Known, Onward, Word};
use writers::{Write, Writer};

/// The attribute of an access that comes before a message.
pub(crate) const TELLS: &str = "tells";
/// The attribute of an access that comes behind a message.
pub(crate) const TOLD: &str = "told";
pub(crate) use grid::ALL_BLOCKS;

/// In kernels with more accesses than this no messages are looked for.
const MOST_ACCESSES: usize = 500;

/// A message, and the places around it.
struct Message<'b> {
    array: &'b Name,
    observation: Observation,
    tellers: Vec<Teller>,
    /// The fences with acquire semantics.
    acquires: Vec<Position>,
}

/// Those who have written where a message is known.
struct Teller {
    writer: Writer,
    /// In front of these, one for each writing, the thread that writes tells.
    fences: Vec<Position>,
    /// In front of these barriers all threads of its block do; empty if there is none in front of some writing.
    barriers: Vec<Position>,
}

/// What is found in a kernel.
struct Found {
    /// Marks of accesses, with the arrays of the flags.
    marks: Vec<(Name, Position, Attribute)>,
    barriers: Vec<GridBarrier>,
}

/// A barrier of a block behind which all blocks have come.
struct GridBarrier {
    at: Position,
    /// The array of a word that they use.
    array: Name,
    /// Whether this is a counter that has to reach greater and greater numbers.
    must_not_wrap: bool,
}

/// A kernel of which is asked what comes before what.
struct Ways<'a, 'b> {
    lowering: &'a Lowering<'a>,
    paths: Paths<'b>,
    /// How the constants vary.
    varies: BTreeMap<Name, Variation>,
    barriers: Vec<Position>,
}

impl Lowering<'_> {
    /// Finds the messages and the barriers of the grid, and marks what comes before and behind. Gives the arrays with such accesses.
    pub(super) fn mark_messages(&mut self, module: &Module, blocks: &mut [Block]) -> BTreeSet<Name> {
        self.declarations.waits = meet_writes(blocks, is_read);
        let Found { marks, barriers } = self.found(module, blocks);
        let mut arrays = BTreeSet::new();
        for (flags, (block, index), mark) in marks {
            let stmt = &mut blocks[block].stmts[index];
            arrays.extend(accessed(stmt).map(|access| access.array.clone()));
            stmt.attributes.push(mark);
            self.declarations.flags.insert(flags);
        }
        for GridBarrier { at: (block, index), array, must_not_wrap } in barriers {
            // Between two of them other blocks may change any of these without a race.
            let global = self.declarations.arrays.iter().flatten();
            arrays.extend(global.filter(|array| self.space(array) == Some(Space::Global)).cloned());
            let args = vec![AttributeArg::Text(array.to_string())];
            blocks[block].stmts[index].attributes.push(Attribute { name: Name::from(ALL_BLOCKS), args });
            self.declarations.has_grid_barriers = true;
            self.declarations.rounds.extend(must_not_wrap.then(|| array.clone()));
            self.declarations.flags.insert(array);
        }
        arrays
    }

    fn found(&self, module: &Module, blocks: &[Block]) -> Found {
        // A thread that has exited passes no barrier, and none waits for it.
        if self.options.rules.exited_threads_ok || !may_have_messages(blocks) {
            return Found { marks: Vec::new(), barriers: Vec::new() };
        }
        let paths = Paths::of(blocks);
        let barriers = paths.statements().filter(|(_, stmt)| matches!(stmt.kind, StmtKind::Barrier(_)));
        let barriers = barriers.map(|(at, _)| at).collect();
        let constants = self.declarations.constants.iter().map(|c| &c.variable);
        let varies = constants.map(|c| (c.name.clone(), Variation::of(c))).collect();
        let ways = Ways { lowering: self, paths, varies, barriers };
        let messages = ways.messages(module);
        let marks = ways.marks(&messages).into_iter();
        let marks = marks.map(|(number, at, mark)| (messages[number].array.clone(), at, mark));
        Found { marks: marks.collect(), barriers: ways.grid_barriers(module) }
    }

    /// What is assumed of flags.
    pub(super) fn assumed_of_flags(&self, names: &BTreeMap<Name, String>) -> Vec<String> {
        let flags = &self.declarations.flags;
        let global = flags.iter().filter(|array| self.space(array) == Some(Space::Global));
        let start = global.map(|array| {
            let name = names.get(array).map_or(array.as_str(), String::as_str);
            format!("the flags in `{name}` hold 0 when the launch starts")
        });
        let waits = "a thread that waits for a flag finds it set: all other threads go on, also those of its own warp";
        let at_once = "blocks that wait for all others run at once: the launch is cooperative";
        let at_once = self.declarations.has_grid_barriers.then(|| at_once.to_string());
        let wraps = self.declarations.rounds.iter().map(|array| {
            let name = names.get(array).map_or(array.as_str(), String::as_str);
            format!("the counter in `{name}` does not wrap around: rounds times blocks is less than 2^31")
        });
        start.chain((!flags.is_empty()).then(|| waits.to_string())).chain(at_once).chain(wraps).collect()
    }
}

/// Whether strong accesses find what is in an array, and strong accesses write it.
fn may_have_messages(blocks: &[Block]) -> bool {
    let statements = || blocks.iter().flat_map(|block| &block.stmts);
    let finds = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Load { .. } | StmtKind::Atomic { dst: Some(_), .. });
    statements().filter(|stmt| accessed(stmt).is_some()).count() <= MOST_ACCESSES && meet_writes(blocks, finds)
}

/// Whether strong accesses of a kind are of an array that other strong ones write.
fn meet_writes(blocks: &[Block], is_it: impl Fn(&Stmt) -> bool) -> bool {
    let strong = |is_it: &dyn Fn(&Stmt) -> bool| -> BTreeSet<&Name> {
        let found = blocks.iter().flat_map(|block| &block.stmts).filter(|stmt| is_it(stmt)).filter_map(accessed);
        found.filter(|access| access.strong.is_some()).map(|access| &access.array).collect()
    };
    !strong(&is_it).is_disjoint(&strong(&|stmt| !is_read(stmt)))
}

/// Whether an access leaves what is there.
fn is_read(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Load { .. }) || adds_nothing(stmt)
}

impl<'b> Ways<'_, 'b> {
    fn messages(&self, module: &Module) -> Vec<Message<'b>> {
        let starts_with_zero = |array: &Name| {
            self.lowering.space(array) == Some(Space::Global) && self.lowering.starts_with_zero(module, array)
        };
        let is_shared = |array: &Name| self.lowering.space(array) == Some(Space::Shared);
        let mut found = Vec::new();
        for (array, writes) in self.writes() {
            for observation in self.observations(array, &writes) {
                let is_clear = starts_with_zero(array) || is_shared(array) && self.is_cleared(&observation, &writes);
                found.extend(self.message(array, &writes, observation).filter(|_| is_clear));
            }
        }
        for (array, counted) in self.counters() {
            if starts_with_zero(array) {
                let totals = self.totals(array, &counted).into_iter();
                found.extend(totals.filter_map(|observation| self.count(array, &counted, observation)));
            }
        }
        found
    }

    /// A message, if what an observation may have observed is one.
    fn message(&self, array: &'b Name, writes: &[Write<'b>], observation: Observation) -> Option<Message<'b>> {
        let observed: Vec<&Write<'_>> = observation.writes.iter().map(|index| &writes[*index]).collect();
        let mut writers = observed.iter().map(|write| self.writer(write)).collect::<Option<Vec<Writer>>>()?;
        let writer = writers.pop()?;
        if writers.iter().any(|one| *one != writer) || !self.is_unique(&writer, array) {
            return None;
        }
        let tellers = vec![self.teller(array, writer, &observed)?];
        Some(self.told_by(array, observation, tellers))
    }

    /// The message of a counter.
    fn count(&self, array: &'b Name, counted: &Counted<'b>, observation: Observation) -> Option<Message<'b>> {
        let tellers = counted.additions.iter().zip(&counted.writers);
        let tellers = tellers.map(|(addition, writer)| self.teller(array, writer.clone(), &[addition]));
        Some(self.told_by(array, observation, tellers.collect::<Option<Vec<Teller>>>()?))
    }

    fn told_by(&self, array: &'b Name, observation: Observation, tellers: Vec<Teller>) -> Message<'b> {
        let [_, acquires] = fences(&self.paths, self.lowering.least_scope(array));
        Message { array, observation, tellers, acquires }
    }

    /// The places in front of some writings, if each releases.
    fn teller(&self, array: &Name, writer: Writer, writes: &[&Write<'_>]) -> Option<Teller> {
        let least = self.lowering.least_scope(array);
        let [releases, _] = fences(&self.paths, least);
        let is_strong = |write: &&Write<'_>| write.access.strong.is_some_and(|scope| scope >= least);
        let fence = |write: &&Write<'_>| {
            if write.releases { Some(write.at) } else { self.paths.last_before(&releases, write.at) }
        };
        let fences = writes.iter().map(fence).collect::<Option<Vec<Position>>>()?;
        let barriers = fences.iter().map(|fence| self.paths.last_before(&self.barriers, *fence));
        let barriers = barriers.collect::<Option<Vec<Position>>>().unwrap_or_default();
        writes.iter().all(is_strong).then_some(Teller { writer, fences, barriers })
    }

    /// The marks of what comes before and behind messages, with their numbers; of arrays that are written, where both are.
    fn marks(&self, messages: &[Message<'_>]) -> Vec<(usize, Position, Attribute)> {
        let flags: BTreeSet<&Name> = messages.iter().map(|message| message.array).collect();
        let known: Vec<Vec<Known>> = messages.iter().map(|message| self.known(message)).collect();
        let onward: Vec<Vec<Onward>> = (0..messages.len()).map(|from| self.onward(messages, &known, from)).collect();
        let mut found: BTreeMap<(&Name, usize), Marks> = BTreeMap::new();
        for (at, stmt) in self.paths.statements() {
            let Some(access) = accessed(stmt).filter(|access| !flags.contains(&access.array)) else { continue };
            if is_other(stmt) || access.collective.is_some() {
                continue;
            }
            let mut add = |name, number: usize, Word { word, when }: Word| {
                let array = messages[number].array;
                let texts = [format!("{array}.{number}"), array.to_string()].map(AttributeArg::Text);
                let args = texts.into_iter().chain([word, when].map(AttributeArg::Expr)).collect();
                let marks = found.entry((&access.array, number)).or_default();
                marks.is_written |= !matches!(stmt.kind, StmtKind::Load { .. });
                marks.marks.push((at, Attribute { name: Name::from(name), args }));
            };
            for (number, message) in messages.iter().enumerate() {
                for word in message.tellers.iter().filter_map(|teller| self.tells(teller, at)) {
                    add(TELLS, number, word);
                }
                let Some(told) = self.is_told(message, &known[number], at) else { continue };
                for (other, word) in &onward[number] {
                    add(TOLD, *other, word.clone().also(&told.when));
                }
                add(TOLD, number, told);
            }
        }
        found.retain(|_, marks| marks.are_used());
        let marks = |((_, number), marks): ((&Name, usize), Marks)| {
            marks.marks.into_iter().map(move |(at, mark)| (number, at, mark))
        };
        found.into_iter().flat_map(marks).collect()
    }

    /// Whether an access comes before what a teller, or one of its block, has written.
    fn tells(&self, teller: &Teller, at: Position) -> Option<Word> {
        let is_before = |points: &[Position]| points.iter().all(|point| !self.paths.leads(*point, at, &[]));
        let Writer { word, .. } = &teller.writer;
        let all = !teller.barriers.is_empty() && is_before(&teller.barriers) && !self.is_private(word);
        let when = if all {
            teller.writer.is_it(|name| self.varies.get(name) == Some(&Variation::Block))
        } else {
            is_before(&teller.fences).then(|| teller.writer.is_it(|_| true))?
        };
        Some(Word { word: word.clone(), when })
    }

    /// The value of an expression at a place over constants.
    fn over_constants(&self, e: &ExprRef, at: Position) -> Option<ExprRef> {
        self.paths.value(e, at, &|name| self.varies.contains_key(name))
    }

    /// Whether threads of a block may differ in an expression over constants.
    fn is_private(&self, e: &ExprRef) -> bool {
        free_vars(e).iter().any(|name| self.varies.get(name) == Some(&Variation::Thread))
    }
}

/// Whether what an access does is not ordered like what its thread does.
fn is_other(stmt: &Stmt) -> bool {
    let others = ["unknown_pointer", "non_coherent", "ghost", "barrier_invariant", super::ASYNCHRONOUS];
    others.iter().any(|mark| stmt.attributes.has(mark))
}

/// The marks of an array's accesses in one message.
#[derive(Default)]
struct Marks {
    marks: Vec<(Position, Attribute)>,
    is_written: bool,
}

impl Marks {
    fn are_used(&self) -> bool {
        let has = |name| self.marks.iter().any(|(_, mark)| mark.name.as_str() == name);
        self.is_written && has(TELLS) && has(TOLD)
    }
}
