//! Loops of a predicated program as so many rounds, one after the other.
//!
//! Input: a two-thread program, the rounds of each loop. Output: the same program in one block, with a probe behind the last
//! round of each loop: no thread has another one. Establishes: where all those probes hold, every execution of the input is
//! one of the output, with the same accesses, barriers and assertions. Relies on: the layout of `predicate`: each
//! block passes control to the next one, but for `back` and `exit` of loops. Reference: Biere et al., bounded model
//! checking (a bound beyond which nothing goes on makes it complete); the lock-step paper, section 4.
//!
//! Why a round that no thread has changes nothing. In lock-step a thread sweeps over rounds that only the other one has, and what
//! stands there leaves it alone: statements are guarded by its activity, and what is assigned without a guard is dead
//! for it (`predicate::single_definition`, whose argument is about any sweep in which it is inactive). Where both are
//! inactive, this holds of both; accesses log and check nothing, barriers clear nothing, assertions are about nobody. So
//! the choice between `back` and `exit` may be left out between two rounds: the rounds behind the last that a thread has are empty,
//! and behind all of them comes `exit`, whose assumptions the probe proves. ([`crate::vcgen::unroll`], which looks for defects,
//! keeps that choice, as it has any loops; without it the formula has no joins.)

use crate::infer::ghosts::statement;
use crate::ivl::ast::{
    BinaryOp, Block, ExprRef, Implementation, Name, Program, Stmt, StmtKind, Thread, Transfer, Type,
};
use crate::ivl::bv;
use crate::ivl::claim::{Claim, Probe};
use crate::predicate::LoopInfo;
use crate::predicate::rewrite::BLOCK_ID_WIDTH;
use crate::twothread::TwoThread;
use std::collections::BTreeMap;

/// Writes the loops out, the loop of each index so many times. `None` if that takes more than so many statements, or the
/// program has another layout.
pub(super) fn run(two: &TwoThread, rounds: &[u32], most_statements: usize) -> Option<Program> {
    let mut program = two.program.clone();
    let procedure = program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure)?;
    let body = procedure.body.as_mut()?;
    let writer = Writer::of(two, body, rounds, most_statements)?;
    let mut stmts = Vec::new();
    writer.write(0, body.blocks.len(), None, &mut stmts)?;
    let first = body.blocks.first()?.clone();
    body.blocks = vec![Block { stmts, transfer: Transfer::Return, ..first }];
    Some(program)
}

/// Writes out those loops that have a number of rounds, but for those around a loop that has none; the others stay as
/// they are. `None` if that takes more than so many statements, if the program has another layout, or if no loop is written out.
///
/// The argument above is about one loop at a time, wherever it stands: the probe behind its last round is asserted each
/// time that control comes there, and stands in front of the assumptions of `exit`.
pub(super) fn partly(two: &TwoThread, rounds: &[Option<u32>], most_statements: usize) -> Option<TwoThread> {
    let is_kept = kept(two, rounds);
    if is_kept.iter().all(|kept| *kept) {
        return None;
    }
    let mut written = two.clone();
    let procedure = written.program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure)?;
    let body = procedure.body.as_mut()?;
    let rounds: Vec<u32> = rounds.iter().map(|rounds| rounds.unwrap_or(0)).collect();
    let writer = Writer::of(two, body, &rounds, most_statements)?;
    let (mut blocks, mut at, mut statements) = (Vec::new(), 0, 0);
    while let Some(block) = body.blocks.get(at) {
        let head = writer.heads.get(&at).filter(|(number, _)| !is_kept[*number]);
        let block = match head {
            None => block.clone(),
            Some(&(number, back)) => {
                let mut stmts = Vec::new();
                writer.write(at, back + 1, None, &mut stmts)?;
                at = back;
                Block { stmts, transfer: Transfer::Goto(vec![two.loops[number].exit.clone()]), ..block.clone() }
            }
        };
        at += 1;
        statements += block.stmts.len();
        if statements > most_statements {
            return None;
        }
        blocks.push(block);
    }
    body.blocks = blocks;
    let place = |number: usize| is_kept[..number].iter().filter(|kept| **kept).count();
    let loops = two.loops.iter().zip(&is_kept).filter(|(_, kept)| **kept);
    // The registers of the loops that are written out say nothing at the heads of those around them.
    let left = loops.map(|(info, _)| {
        let parent = info.parent.map(place);
        LoopInfo { parent, leaves_out_dead: true, ..info.clone() }
    });
    written.loops = left.collect();
    Some(written)
}

/// Which loops stay: those without a number of rounds, and those around them.
fn kept(two: &TwoThread, rounds: &[Option<u32>]) -> Vec<bool> {
    let mut kept = vec![false; two.loops.len()];
    for number in (0..two.loops.len()).filter(|&number| rounds[number].is_none()) {
        let mut around = Some(number);
        while let Some(number) = around {
            kept[number] = true;
            around = two.loops[number].parent;
        }
    }
    kept
}

struct Writer<'a> {
    two: &'a TwoThread,
    body: &'a Implementation,
    rounds: &'a [u32],
    most_statements: usize,
    /// Index of the head's block to the loop, and the index of the block of its back edge.
    heads: BTreeMap<usize, (usize, usize)>,
}

impl<'a> Writer<'a> {
    fn of(two: &'a TwoThread, body: &'a Implementation, rounds: &'a [u32], most_statements: usize) -> Option<Self> {
        let place = |label: &Name| body.blocks.iter().position(|block| block.label == *label);
        let mut heads = BTreeMap::new();
        for (index, info) in two.loops.iter().enumerate() {
            heads.insert(place(&info.head)?, (index, place(&info.back)?));
        }
        let writer = Writer { two, body, rounds, most_statements, heads };
        (0..body.blocks.len()).all(|block| writer.is_laid_out(block)).then_some(writer)
    }

    /// Whether control goes from a block to the next one, or around a loop as it should.
    fn is_laid_out(&self, at: usize) -> bool {
        let label = |block: usize| self.body.blocks.get(block).map(|block| &block.label);
        let back = self.two.loops.iter().find(|info| label(at) == Some(&info.back));
        let targets = match (&self.body.blocks[at].transfer, back) {
            (Transfer::Return, None) => return at + 1 == self.body.blocks.len(),
            (Transfer::Return, Some(_)) => return false,
            (Transfer::Goto(targets), None) => targets,
            (Transfer::Goto(targets), Some(info)) => {
                // What stands there is left out, so it has to say nothing but that a thread has another round.
                let stmts = &self.body.blocks[at].stmts;
                let only_assumes = stmts.iter().all(|stmt| matches!(stmt.kind, StmtKind::Assume(..)));
                let goes_back = targets.as_slice() == [info.head.clone()];
                return only_assumes && goes_back && label(at + 1) == Some(&info.exit);
            }
        };
        match targets.as_slice() {
            [next] => label(at + 1) == Some(next),
            [back, exit] => {
                let ends = |info: &LoopInfo| info.back == *back && info.exit == *exit;
                label(at + 1) == Some(back) && self.two.loops.iter().any(ends)
            }
            _ => false,
        }
    }

    /// The statements of some blocks, `inside` the loop with that head.
    fn write(&self, from: usize, to: usize, inside: Option<usize>, stmts: &mut Vec<Stmt>) -> Option<()> {
        let mut at = from;
        while at < to {
            match self.heads.get(&at).filter(|_| inside != Some(at)) {
                None => {
                    stmts.extend(self.body.blocks[at].stmts.iter().cloned());
                    at += 1;
                }
                Some(&(number, back)) => {
                    for _ in 0..*self.rounds.get(number)? {
                        self.write(at, back, Some(at), stmts)?;
                    }
                    stmts.push(self.probe(number));
                    at = back + 1;
                }
            }
            if stmts.len() > self.most_statements {
                return None;
            }
        }
        Some(())
    }

    /// No thread has another round of a loop.
    fn probe(&self, number: usize) -> Stmt {
        let head = bv::literal(u128::from(self.two.loops[number].head_id), BLOCK_ID_WIDTH);
        let is_away = |thread| bv::ne(bv::var(self.two.active.of(thread), Type::Bv(BLOCK_ID_WIDTH)), head.clone());
        let nobody: ExprRef = bv::op(BinaryOp::And, is_away(Thread::First), is_away(Thread::Second));
        statement(StmtKind::Assert(Claim::Probe(Probe::Rounds, number), nobody))
    }
}
