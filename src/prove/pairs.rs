//! The proofs of a kernel's pairs of threads, side by side where jobs are left.
//!
//! Input: pairs. Output: their proofs, in the order of the pairs. Establishes: who takes the proofs gets the same for any
//! number of jobs: a helper only makes tries before they are asked for, and those that are never asked for are dropped,
//! with their errors. Relies on: the proof of a pair does not depend on what comes of the others.

use super::question::Question;
use super::{Doubt, PairOutcome};
use crate::diagnostic::Diagnostic;
use crate::effort::{self, Effort};
use crate::interrupt::{self, Interrupt};
use crate::jobs::{self, Helper};
use crate::twothread::{Pair, TwoThread};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

/// The two-thread program, or why there is none.
type Program = Result<Arc<TwoThread>, Vec<Diagnostic>>;
type Try = Result<PairOutcome, Diagnostic>;
/// What a helper made, with the effort that it took: who takes it counts it.
type Made<T> = (T, Effort);

/// Proofs that are to be taken.
pub(crate) struct Proofs<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    question: &'scope Question<'scope>,
    waiting: VecDeque<PairProof<'scope>>,
}

/// The proof of a pair.
pub(crate) struct PairProof<'scope> {
    question: &'scope Question<'scope>,
    pair: Pair,
    helped: Option<Helped<'scope>>,
}

/// What a helper makes of a pair. When it is dropped, the helper comes to an end.
struct Helped<'scope> {
    program: Receiver<Made<Program>>,
    tries: Receiver<Made<Try>>,
    helper: Option<Helper<'scope>>,
    interrupt: Interrupt,
}

impl<'scope, 'env> Proofs<'scope, 'env> {
    /// None yet.
    pub(crate) fn new(scope: &'scope Scope<'scope, 'env>, question: &'scope Question<'scope>) -> Self {
        Proofs { scope, question, waiting: VecDeque::new() }
    }

    /// Adds pairs.
    pub(crate) fn add(&mut self, pairs: Vec<Pair>) {
        let question = self.question;
        self.waiting.extend(pairs.into_iter().map(|pair| PairProof { question, pair, helped: None }));
    }

    /// Whether none is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next proof; helpers begin with those behind it.
    pub(crate) fn take(&mut self) -> Option<PairProof<'scope>> {
        let next = self.waiting.pop_front()?;
        for proof in self.waiting.iter_mut().filter(|proof| proof.helped.is_none()) {
            proof.helped = begin(self.scope, self.question, proof.pair);
        }
        Some(next)
    }
}

/// The proof of a pair by a helper, if there is one.
fn begin<'scope>(
    scope: &'scope Scope<'scope, '_>,
    question: &'scope Question<'scope>,
    pair: Pair,
) -> Option<Helped<'scope>> {
    let job = question.jobs.take()?;
    let (interrupt, (told_program, program), (told, tries)) = (Interrupt::default(), mpsc::channel(), mpsc::channel());
    let asked = interrupt.clone();
    let work = move || {
        let program = measured(|| question.program(pair).map(Arc::new));
        let two = program.0.as_ref().ok().cloned();
        // Whoever does not listen any more does not want the rest.
        if told_program.send(program).is_ok()
            && let Some(two) = two
        {
            let mut tries = question.tries(&two);
            while let (Some(outcome), effort) = measured(|| tries.next()) {
                if told.send((outcome, effort)).is_err() {
                    return;
                }
            }
        }
    };
    let helper = jobs::help(scope, job, || interrupt::during(Some(asked), work)).ok()?;
    Some(Helped { program, tries, helper: Some(helper), interrupt })
}

fn measured<T>(work: impl FnOnce() -> T) -> Made<T> {
    effort::apart(effort::spent(), work)
}

fn taken<T>((result, effort): Made<T>) -> T {
    effort::take(effort);
    result
}

impl PairProof<'_> {
    /// The two-thread program of the pair.
    ///
    /// # Errors
    /// What has no model.
    pub(crate) fn program(&mut self) -> Program {
        match &mut self.helped {
            None => self.question.program(self.pair).map(Arc::new),
            Some(helped) => match helped.program.recv() {
                Ok(made) => taken(made),
                Err(_) => helped.fail(),
            },
        }
    }

    /// As [`prove::run`]. `doubt` is for a proof that no helper began.
    ///
    /// # Errors
    /// What `vcgen` cannot translate.
    pub(crate) fn run(
        mut self,
        two: &TwoThread,
        doubt: Option<Doubt>,
        stop: &mut dyn FnMut(&PairOutcome) -> bool,
    ) -> Try {
        match &mut self.helped {
            None => super::run(self.question.tries(two).doubting(doubt), stop),
            Some(helped) => super::run(std::iter::from_fn(|| helped.next()), stop),
        }
    }
}

impl Helped<'_> {
    fn next(&mut self) -> Option<Try> {
        match self.tries.recv() {
            Ok(made) => Some(taken(made)),
            Err(_) => {
                self.helper.take().map(jobs::wait_for)?;
                None
            }
        }
    }

    /// The helper ended before it told the program: only a panic does so.
    fn fail(&mut self) -> ! {
        if let Some(helper) = self.helper.take() {
            jobs::wait_for(helper);
        }
        panic!("prove: a helper ended too soon");
    }
}

impl Drop for Helped<'_> {
    fn drop(&mut self) {
        self.interrupt.ask();
    }
}
