//! A passive program under a model: which checks fail, and on which way.
//!
//! Input: the part of a program that a query is about, and what holds in its model. Output: the failing checks to be
//! proved, with the blocks on the way to them. Establishes: control comes to each of them on that way, as far as the model
//! tells; each block is passed once. Reference: proof-notes, lesson 9.

use super::From;
use crate::vcgen::passive::{Passive, PassiveItem};
use crate::vcgen::term::Term;
use crate::vcgen::wp::Role;
use std::collections::BTreeSet;

/// What a query asks about a program.
pub(crate) struct Part {
    /// Where it starts.
    pub(crate) from: From,
    /// The candidates that are assumed.
    pub(crate) keep: Vec<bool>,
    /// What each check is to it.
    pub(crate) roles: Vec<Role>,
}

/// How a walk goes on behind a check that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Behind it, as if it held.
    GoesOn,
    /// On other ways.
    TurnsBack,
    /// Not at all.
    Ends,
}

/// Takes a failing check, and the blocks on the way to it.
pub(crate) type Fails<'a> = dyn FnMut(usize, &[usize]) -> After + 'a;

impl Part {
    /// The first block, and its first item: checks of invariants on entry stand in front of a round.
    fn start(&self, program: &Passive) -> (usize, usize) {
        match self.from {
            From::Start => (0, 0),
            From::Head(number) => {
                let head = program.head(number);
                (head, program.entry_checks(head))
            }
        }
    }

    /// The blocks behind the start from which control comes to a check that is to be proved.
    fn relevant(&self, program: &Passive) -> Vec<bool> {
        let mut relevant = vec![false; program.blocks.len()];
        for (b, block) in program.blocks.iter().enumerate().skip(self.start(program).0).rev() {
            let is_goal = |item: &PassiveItem| matches!(item, PassiveItem::Check(i) if self.roles[*i] == Role::Prove);
            relevant[b] = block.successors.iter().any(|&s| relevant[s]) || block.items.iter().any(is_goal);
        }
        relevant
    }

    /// What an item says in this part: a term, and what the check is if it is one.
    fn sense(&self, program: &Passive, item: &PassiveItem) -> Option<(Term, Option<(usize, Role)>)> {
        match item {
            PassiveItem::Assume { candidate: Some(c), .. } if self.keep.get(*c) != Some(&true) => None,
            PassiveItem::Assume { term, .. } => Some((*term, None)),
            PassiveItem::Check(i) => match self.roles[*i] {
                Role::Ignore => None,
                role => Some((program.checks[*i].term, Some((*i, role)))),
            },
        }
    }

    /// The terms that a walk looks at.
    pub(super) fn wanted(&self, program: &Passive) -> BTreeSet<Term> {
        let relevant = self.relevant(program);
        let blocks = program.blocks.iter().zip(relevant).filter(|(_, relevant)| *relevant);
        let items = blocks.flat_map(|(block, _)| &block.items);
        items.filter_map(|item| self.sense(program, item)).map(|(term, _)| term).collect()
    }

    /// Walks the ways on which all that is assumed `holds`, the first successors first.
    pub(crate) fn walk(&self, program: &Passive, holds: &mut dyn FnMut(Term) -> bool, fails: &mut Fails) {
        let relevant = self.relevant(program);
        let (start, first) = self.start(program);
        let mut path: Vec<usize> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![(0, start)];
        'blocks: while let Some((depth, b)) = open.pop() {
            if !relevant.get(b).is_some_and(|relevant| *relevant) || !seen.insert(b) {
                continue;
            }
            path.truncate(depth);
            path.push(b);
            let block = &program.blocks[b];
            let items = if depth == 0 { &block.items[first..] } else { &block.items };
            for item in items {
                let Some((term, check)) = self.sense(program, item) else { continue };
                if holds(term) {
                    continue;
                }
                let after = match check {
                    Some((check, Role::Prove)) => fails(check, &path),
                    _ => After::TurnsBack,
                };
                match after {
                    After::GoesOn => {}
                    After::TurnsBack => continue 'blocks,
                    After::Ends => return,
                }
            }
            open.extend(block.successors.iter().rev().map(|&next| (depth + 1, next)));
        }
    }
}
