//! What is to be proved of a kernel, and of which pairs of threads.
//!
//! Input: a kernel program, its predicated form, options. Output: the two-thread programs of its pairs, and tries to prove
//! them. Establishes: the pairs are all that the launch can have. Reference: the tutorial paper, section 3 (two threads
//! are enough).

use super::{PairOutcome, Plan, Tries, WritesOut};
use crate::diagnostic::Diagnostic;
use crate::effort::Effort;
use crate::ivl::ast::{Name, Stmt, StmtKind};
use crate::jobs::Jobs;
use crate::kernel::Kernel;
use crate::limits;
use crate::predicate::Predicated;
use crate::solver::Encoding;
use crate::twothread::underway::has_copies;
use crate::twothread::{self, Pair, Prelude, TwoThread};

/// What a proof of a kernel is about, and what it may spend.
pub(crate) struct Question<'a> {
    /// The one-thread program and what is known about its names.
    pub(crate) kernel: &'a Kernel,
    /// The predicated form of its slice.
    pub(crate) predicated: &'a Predicated,
    /// Heads of its loops, those included that the slice has not.
    pub(crate) loop_heads: &'a [Name],
    /// The race-checking runtime.
    pub(crate) prelude: &'a Prelude,
    /// Launch and options of the two-thread stage.
    pub(crate) options: twothread::Options,
    /// Encodings to try, in order.
    pub(crate) encodings: &'a [Encoding],
    /// How many of them are tried.
    pub(crate) tries: usize,
    /// What the proof of each pair may spend.
    pub(crate) effort: Effort,
    /// Families of candidate invariants that are not tried.
    pub(crate) omitted: &'a [&'static str],
    /// Whether the first assertion that fails is the end.
    pub(crate) first_failure: bool,
    /// Whether the report is to have the invariants that were inferred.
    pub(crate) tell_invariants: bool,
    /// Threads that may help.
    pub(crate) jobs: &'a Jobs,
}

impl Question<'_> {
    /// The two-thread program of a pair.
    ///
    /// # Errors
    /// What has no model.
    pub(crate) fn program(&self, pair: Pair) -> Result<TwoThread, Vec<Diagnostic>> {
        let _stage = limits::stage("twothread");
        twothread::run(self.predicated, self.prelude, pair, &self.options)
    }

    /// The tries to prove a pair.
    pub(crate) fn tries<'t>(&'t self, two: &'t TwoThread) -> Tries<'t> {
        let uniform_barriers = two.pair == Pair::SameBlock && !self.options.rules.exited_threads_ok;
        let Question { encodings, tries, effort, omitted, first_failure, .. } = *self;
        let writes_out = if first_failure { WritesOut::Some } else { WritesOut::All };
        let plan =
            Plan { uniform_barriers, encodings, tries, effort, omitted, first_failure, writes_out, in_parts: false };
        Tries::new(two, plan)
    }
}

/// Takes what came of a pair of threads, and tells whether to go on.
pub(crate) type Visit<'a> = dyn FnMut(&TwoThread, PairOutcome) -> Result<bool, Vec<Diagnostic>> + 'a;

/// Proves all pairs by invariants, one after the other, and nothing beside: no defect is looked for.
///
/// # Errors
/// What a stage cannot model.
pub(crate) fn prove_pairs(question: &Question, visit: &mut Visit) -> Result<(), Vec<Diagnostic>> {
    for pair in pairs(&question.options, question.kernel) {
        let two = question.program(pair)?;
        let outcome = super::run(question.tries(&two).by_invariants(), &mut |_| false).map_err(|d| vec![d])?;
        if !visit(&two, outcome)? {
            break;
        }
    }
    Ok(())
}

/// The pairs of threads that have to be looked at.
pub fn pairs(options: &twothread::Options, kernel: &Kernel) -> Vec<Pair> {
    let mut pairs: Vec<Pair> =
        [Pair::SameBlock, Pair::DifferentBlocks].into_iter().filter(|p| options.pair_exists(*p)).collect();
    // A launch of one thread has no pair; its assertions are checked all the same.
    // One without assertions still shows whether the assumptions of the user leave anything.
    let checked = has_assertions(kernel) || pairs.is_empty() && assumption_of_user(kernel).is_some();
    // A thread may race with its own copies, whoever else is there.
    if may_be_one_thread(options) && checked || has_copies(statements(kernel)) {
        pairs.push(Pair::OneThread);
    }
    pairs
}

/// Whether a launch of one thread is among those asked for.
pub(crate) fn may_be_one_thread(options: &twothread::Options) -> bool {
    options.geometry.sizes().all(|size| size.is_none_or(|size| size == 1))
}

fn has_assertions(kernel: &Kernel) -> bool {
    statements(kernel).any(|s| matches!(s.kind, StmtKind::Assert(..)))
}

/// All statements of a kernel.
pub(crate) fn statements(kernel: &Kernel) -> impl Iterator<Item = &Stmt> {
    let blocks = kernel.program.procedures.iter().flat_map(|p| &p.body).flat_map(|b| &b.blocks);
    blocks.flat_map(|b| &b.stmts)
}

/// The first statement by which the user limits the executions.
pub fn assumption_of_user(kernel: &Kernel) -> Option<&Stmt> {
    let limits = |s: &&Stmt| matches!(&s.kind, StmtKind::Assume(premise, _) if premise.is_of_user());
    statements(kernel).find(limits)
}
