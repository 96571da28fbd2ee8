//! Events: what threads do to memory and to each other.

use crate::span::Span;
use crate::vcgen::term::Term;
use std::collections::BTreeMap;

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of the initial value.
    Initial,
    Read,
    Write,
    Fence,
    Barrier,
}

/// Events on which one depends, each with the condition under which it does.
pub(crate) type Dependencies = BTreeMap<usize, Term>;

/// An event of an execution, if it happens.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// `None` of initial values.
    pub(crate) thread: Option<usize>,
    /// Whether it happens.
    pub(crate) guard: Term,
    /// Location, address and value of accesses.
    pub(crate) access: Option<Accessed>,
    /// The sets of the model that it is in, beside those of its kind.
    pub(crate) tags: Vec<&'static str>,
    pub(crate) data: Dependencies,
    pub(crate) control: Dependencies,
    /// Of the write of an atomic operation: its read.
    pub(crate) read: Option<usize>,
    pub(crate) barrier: Option<Round>,
    pub(crate) span: Span,
}

/// What an access touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessed {
    pub(crate) location: usize,
    pub(crate) address: usize,
    pub(crate) value: Term,
}

/// Which barrier, and the how manieth time the thread comes to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) of_cluster: bool,
    /// The number of the barrier.
    pub(crate) number: Term,
    pub(crate) time: Term,
}
