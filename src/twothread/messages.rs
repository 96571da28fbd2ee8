//! Messages: what a thread did before it set a flag comes before what another one does when it has found it set.
//!
//! Input: accesses with `{:tells "message", "array", word, when}` and `{:told ...}` ([`crate::kernel::TELLS`]). Output: the condition
//! under which an access of thread 2 is ordered with the one of thread 1 that is remembered. Establishes: an access is left unchecked
//! only against one that comes before or behind it in causality order. Relies on: `kernel::messages`; flags in shared
//! memory are each block's own. Reference: PTX ISA, memory consistency model.
//!
//! Why this is sound. Let one thread be told a message at a word, and the other one tell it there. The first one has observed a writing of this
//! message to this word, or a barrier of its block is behind such an observation; there is one thread that writes this,
//! and the second one is that thread or passes a barrier of its block in front of the writing (`kernel::messages`). So what the second one
//! does comes before what the first one does. Which of them is thread 1 does not matter, since words and conditions are over
//! constants; which access of thread 1 is remembered is one constant (`_TRACKED_SITE`), so whether it tells or is told is one, too
//! (`_TRACKED_TELLS.m`, `_TRACKED_TOLD.m`, for each way to know the message m).
//!
//! What others say of values rests on races between two barriers. Arrays that are ordered by messages have no contents
//! ([`super::contents::selection`]), and those of them that have stores no tickets and no winners (`kernel::completion`).

use super::Pair;
use super::copies::Copies;
use super::log::TRACKED_SITE;
use crate::ivl::ast::{
    Access, ArraySpace, Attribute, AttributeArg, Condition, Constant, ExprRef, Implementation, Name, Program, Stmt,
    StmtKind, Thread, Type, Variable,
};
use crate::ivl::bv;
use crate::kernel::{TELLS, TOLD};
use crate::span::Span;
use std::collections::BTreeSet;

/// The part of an access in a message.
#[derive(Clone, PartialEq)]
struct Part {
    message: String,
    array: Name,
    is_told: bool,
    /// Byte offset of the flag.
    word: ExprRef,
    when: ExprRef,
}

/// The messages between the two threads.
#[derive(Default)]
pub(super) struct Messages {
    /// All parts that are different, with the numbers of the accesses that have them.
    parts: Vec<(Part, BTreeSet<u32>)>,
}

/// The arrays that are ordered by messages.
pub(super) fn arrays_in_messages(body: &Implementation) -> BTreeSet<Name> {
    let marked = accesses(body).filter(|(stmt, _)| parts(stmt).next().is_some());
    marked.map(|(_, access)| access.array.clone()).collect()
}

impl Messages {
    pub(super) fn new(program: &Program, body: &Implementation, pair: Pair) -> Messages {
        let is_common = |array: &Name| match pair {
            Pair::SameBlock => true,
            Pair::DifferentBlocks => program.arrays.iter().any(|a| a.name == *array && a.space == ArraySpace::Global),
            Pair::OneThread => false,
        };
        let mut messages = Messages::default();
        for part in accesses(body).flat_map(|(stmt, _)| parts(stmt)).filter(|part| is_common(&part.array)) {
            if messages.parts.iter().all(|(known, _)| *known != part) {
                messages.parts.push((part, BTreeSet::new()));
            }
        }
        messages
    }

    /// Behind the log of an access.
    pub(super) fn logged(&mut self, stmt: &Stmt, number: u32) {
        for part in parts(stmt) {
            if let Some((_, numbers)) = self.parts.iter_mut().find(|(known, _)| *known == part) {
                numbers.insert(number);
            }
        }
    }

    /// When an access of thread 2 is ordered with the one that is remembered.
    pub(super) fn is_ordered(&self, stmt: &Stmt, copies: &Copies) -> Option<ExprRef> {
        let mut ordered = Vec::new();
        for own in parts(stmt) {
            for (number, (other, _)) in self.parts.iter().enumerate() {
                if own.message == other.message && own.is_told != other.is_told {
                    let [first, second] = [(other, Thread::First), (&own, Thread::Second)]
                        .map(|(part, thread)| [&part.word, &part.when].map(|e| copies.expr(e, thread)));
                    let when = bv::and(first[1].clone(), second[1].clone());
                    let same_word = match first[0] == second[0] {
                        true => bv::boolean(true),
                        false => bv::eq(first[0].clone(), second[0].clone()),
                    };
                    ordered.push(bv::and(is_tracked(number, other), bv::and(when, same_word)));
                }
            }
        }
        ordered.into_iter().reduce(bv::or)
    }

    /// The constants that are introduced.
    pub(super) fn constants(&self) -> Vec<Constant> {
        let names = self.parts.iter().enumerate().map(|(number, (part, _))| name(number, part));
        names.map(|name| Constant { variable: Variable::new(name, Type::Bool), unique: false }).collect()
    }

    /// What they mean.
    pub(super) fn meanings(&self) -> Vec<Condition> {
        let is_site =
            |site: &u32| bv::eq(bv::var(Name::from(TRACKED_SITE), Type::Bv(16)), bv::literal(u128::from(*site), 16));
        let meaning = |(number, (part, sites)): (usize, &(Part, BTreeSet<u32>))| {
            let sites = sites.iter().map(is_site).fold(bv::boolean(false), bv::or);
            let attributes = vec![Attribute { name: Name::from("messages"), args: Vec::new() }];
            Condition { free: false, expr: bv::eq(is_tracked(number, part), sites), attributes, span: Span::NONE }
        };
        self.parts.iter().enumerate().map(meaning).collect()
    }
}

fn accesses(body: &Implementation) -> impl Iterator<Item = (&Stmt, &Access)> {
    body.blocks.iter().flat_map(|block| &block.stmts).filter_map(|stmt| match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
            Some((stmt, access))
        }
        _ => None,
    })
}

/// The parts of an access in messages.
fn parts(stmt: &Stmt) -> impl Iterator<Item = Part> + '_ {
    stmt.attributes.iter().filter_map(|mark| {
        let is_told = mark.name.as_str() == TOLD;
        match mark.args.as_slice() {
            [
                AttributeArg::Text(message),
                AttributeArg::Text(array),
                AttributeArg::Expr(word),
                AttributeArg::Expr(when),
            ] if (is_told || mark.name.as_str() == TELLS) && word.ty == Type::Bv(64) => Some(Part {
                message: message.clone(),
                array: Name::from(array.as_str()),
                is_told,
                word: word.clone(),
                when: when.clone(),
            }),
            _ => None,
        }
    })
}

/// The constant that is true if the access that is remembered has a part.
fn is_tracked(number: usize, part: &Part) -> ExprRef {
    bv::var(name(number, part), Type::Bool)
}

fn name(number: usize, part: &Part) -> Name {
    Name::from(format!("_TRACKED_{}.{number}", if part.is_told { "TOLD" } else { "TELLS" }))
}
