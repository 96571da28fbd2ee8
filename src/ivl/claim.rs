//! What an assertion claims, and what an assumption rests on.
//!
//! Input: the attributes of an assertion or assumption; or a [`Claim`] or [`Premise`]. Output: the other of the two.
//! Establishes: one notation, read and written here only; what our own stages add ([`Inferred`], probes, clauses of
//! contracts) is written but never read, so no text of a user can pass for it. Reference: DESIGN section 3 (the defects).

use super::ast::{Attribute, AttributeArg, Name};
use super::bv;
use std::sync::Arc;

/// What an assertion claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Its formula, and no more is said.
    Formula,
    /// Two accesses do not race: `{:race "write-read"}`.
    Race(Conflict),
    /// All threads of a block meet at a barrier, which is one for whole warps or not: `{:barrier_divergence}`.
    BarrierMet {
        /// `bar.*`, `.aligned`
        aligned: bool,
    },
    /// The lanes that the mask of a warp operation names execute it together, or have exited: `{:lanes_met}`.
    LanesMet,
    /// A barrier, or a warp operation, is used by its rules: `{:barrier_rule "number"}`.
    BarrierRule(BarrierRule),
    /// An access stays inside its array: `{:bounds}`.
    Bounds,
    /// An assertion of the user: `{:user_assert "text"}`.
    Stated(Arc<str>),
    /// A loop invariant of the user, with its text if it is an annotation: `{:invariant "text"}`.
    Invariant(Arc<str>),
    /// A barrier invariant of the user: `{:barrier_invariant "text"}`.
    BarrierInvariant(Arc<str>),
    /// A register of a barrier invariant is the same for all threads.
    Uniform {
        /// The barrier invariant.
        invariant: Arc<str>,
        register: Arc<str>,
    },
    /// An invariant that `infer` proposes or keeps.
    Inferred(Inferred),
    /// A question, which is no part of the proof.
    Probe(Probe, usize),
    /// A precondition of a callee.
    Precondition,
    /// A postcondition of the procedure.
    Postcondition,
    /// A bound of integers that `modular::intervals` adds at the head of a loop.
    IntegerBound,
}

/// How two accesses conflict: what was logged, then what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conflict {
    /// A write, then a read.
    WriteRead,
    /// A read, then a write.
    ReadWrite,
    /// Two writes.
    WriteWrite,
}

/// Rules about one thread at a barrier or warp operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BarrierRule {
    /// The number of a barrier is below 16.
    Number,
    /// The executing lane is in the mask of a warp operation.
    Member,
    /// The extent of a bulk copy is a multiple of 16 bytes.
    Size,
    /// A thread does not exit before its bulk copies have read the shared memory of its block.
    Abandoned,
    /// A product of matrices is executed by whole warp groups, all threads of the block together.
    WarpGroup,
    /// A barrier object is used in turn: [`crate::kernel::objects`] has what that is.
    Object,
}

/// A candidate invariant, or one that Houdini kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inferred {
    /// Its family, and its number among the candidates.
    Candidate(&'static str, usize),
    /// Its family, and whether the proof is known to use it.
    Kept(&'static str, bool),
}

/// Questions about a loop, asked as assertions that should fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Behind the loop: thread 1 did not enter. Provable if no thread that enters can leave.
    Exit,
    /// In front of the loop: thread 1 does not enter. Provable if no thread enters.
    Entry,
    /// At the end of the kernel: false. Provable if no execution comes there, so that nothing is proved.
    End,
    /// In front of an assumption of the user: thread 1 is not there. Provable if no thread comes to it.
    Reached,
    /// Behind it: the same. Provable if no thread that comes to it satisfies it.
    Satisfied,
    /// Behind the last round of a loop that is written out: no thread has another one. Provable if the rounds are enough.
    Rounds,
}

/// What an assumption rests on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Premise {
    /// The program says so, as guards of branches do.
    Program,
    /// The user requires it of every launch: `{:requires}`.
    Required,
    /// The user takes it for granted at this place: `{:assume}`.
    Assumed,
    /// A barrier invariant, for one thread: `{:instance "text"}`.
    Instance(Arc<str>),
    /// A free invariant of a loop: `{:invariant}`.
    Invariant,
    /// The witness of a pending access, perhaps by an invariant that `infer` proposes.
    Witness(Option<Inferred>),
}

impl Conflict {
    /// All of them.
    pub(crate) const ALL: [Conflict; 3] = [Conflict::WriteRead, Conflict::ReadWrite, Conflict::WriteWrite];

    /// As attributes and reports have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Conflict::WriteRead => "write-read",
            Conflict::ReadWrite => "read-write",
            Conflict::WriteWrite => "write-write",
        }
    }
}

impl BarrierRule {
    /// As attributes and reports have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            BarrierRule::Number => "number",
            BarrierRule::Member => "member",
            BarrierRule::Size => "size",
            BarrierRule::Abandoned => "copy-outlives-block",
            BarrierRule::WarpGroup => "warp-group",
            BarrierRule::Object => "object-turn",
        }
    }
}

impl Probe {
    fn name(self) -> &'static str {
        match self {
            Probe::Exit => "exit_probe",
            Probe::Entry => "entry_probe",
            Probe::End => "end_probe",
            Probe::Reached => "reached_probe",
            Probe::Satisfied => "satisfied_probe",
            Probe::Rounds => "rounds_probe",
        }
    }
}

impl Claim {
    /// Takes the first attribute that says what an assertion claims out of its attributes.
    pub fn take(attributes: &mut Vec<Attribute>) -> Claim {
        let found = attributes.iter().enumerate().find_map(|(at, attribute)| Some((at, Claim::read(attribute)?)));
        let Some((at, claim)) = found else { return Claim::Formula };
        attributes.remove(at);
        claim
    }

    fn read(attribute: &Attribute) -> Option<Claim> {
        let texts = || attribute.args.iter().map(text_of).collect::<Option<Vec<&str>>>();
        Some(match (attribute.name.as_str(), texts()?.as_slice()) {
            ("race", [kind]) => Claim::Race(Conflict::ALL.into_iter().find(|conflict| conflict.name() == *kind)?),
            ("barrier_divergence", []) => Claim::BarrierMet { aligned: true },
            ("barrier_divergence_unaligned", []) => Claim::BarrierMet { aligned: false },
            ("lanes_met", []) => Claim::LanesMet,
            ("barrier_rule", [rule]) => {
                let rules = [
                    BarrierRule::Number,
                    BarrierRule::Member,
                    BarrierRule::Size,
                    BarrierRule::Abandoned,
                    BarrierRule::WarpGroup,
                    BarrierRule::Object,
                ];
                Claim::BarrierRule(rules.into_iter().find(|known| known.name() == *rule)?)
            }
            ("bounds", []) => Claim::Bounds,
            ("user_assert", [text]) => Claim::Stated(Arc::from(*text)),
            ("invariant", []) => Claim::Invariant(Arc::from("")),
            ("invariant", [text]) => Claim::Invariant(Arc::from(*text)),
            ("barrier_invariant", [text]) => Claim::BarrierInvariant(Arc::from(*text)),
            ("barrier_invariant_uniform", [invariant, register]) => {
                Claim::Uniform { invariant: Arc::from(*invariant), register: Arc::from(*register) }
            }
            _ => return None,
        })
    }

    /// The attributes that say so.
    pub fn attributes(&self) -> Vec<Attribute> {
        let texts =
            |name: &str, texts: &[&str]| vec![attribute(name, texts.iter().map(|text| written(text)).collect())];
        match self {
            Claim::Formula => Vec::new(),
            Claim::Race(conflict) => texts("race", &[conflict.name()]),
            Claim::BarrierMet { aligned: true } => texts("barrier_divergence", &[]),
            Claim::BarrierMet { aligned: false } => texts("barrier_divergence_unaligned", &[]),
            Claim::LanesMet => texts("lanes_met", &[]),
            Claim::BarrierRule(rule) => texts("barrier_rule", &[rule.name()]),
            Claim::Bounds => texts("bounds", &[]),
            Claim::Stated(text) => texts("user_assert", &[text]),
            Claim::Invariant(text) if text.is_empty() => texts("invariant", &[]),
            Claim::Invariant(text) => texts("invariant", &[text]),
            Claim::BarrierInvariant(text) => texts("barrier_invariant", &[text]),
            Claim::Uniform { invariant, register } => texts("barrier_invariant_uniform", &[invariant, register]),
            Claim::Inferred(inferred) => inferred.attributes(),
            Claim::Probe(probe, number) => vec![attribute(probe.name(), vec![counted(*number)])],
            Claim::Precondition => texts("precondition", &[]),
            Claim::Postcondition => texts("postcondition", &[]),
            Claim::IntegerBound => texts("inferred", &[]),
        }
    }

    /// Whether the user wrote it.
    pub fn is_of_user(&self) -> bool {
        matches!(self, Claim::Stated(_) | Claim::Invariant(_) | Claim::BarrierInvariant(_))
    }

    /// Whether it is a clause of a contract, at the place where that is checked.
    pub(crate) fn is_clause(&self) -> bool {
        matches!(self, Claim::Precondition | Claim::Postcondition)
    }

    /// What `infer` made of it.
    pub(crate) fn inferred(&self) -> Option<&Inferred> {
        if let Claim::Inferred(inferred) = self { Some(inferred) } else { None }
    }

    /// The number of the candidate that it is.
    pub(crate) fn candidate(&self) -> Option<usize> {
        self.inferred().and_then(Inferred::candidate)
    }

    /// The probe that it is, and the number of its loop or of its assumption.
    pub(crate) fn probe(&self) -> Option<(Probe, usize)> {
        match self {
            Claim::Probe(probe, number) => Some((*probe, *number)),
            _ => None,
        }
    }
}

impl Inferred {
    fn candidate(&self) -> Option<usize> {
        if let Inferred::Candidate(_, number) = self { Some(*number) } else { None }
    }

    fn attributes(&self) -> Vec<Attribute> {
        match *self {
            Inferred::Candidate(family, number) => vec![attribute("candidate", vec![written(family), counted(number)])],
            Inferred::Kept(family, is_used) => {
                let used = is_used.then(|| attribute("used", Vec::new()));
                std::iter::once(attribute("invariant", vec![written(family)])).chain(used).collect()
            }
        }
    }
}

impl Premise {
    /// Takes the first attribute that says what an assumption rests on out of its attributes.
    pub fn take(attributes: &mut Vec<Attribute>) -> Premise {
        let found = attributes.iter().enumerate().find_map(|(at, attribute)| Some((at, Premise::read(attribute)?)));
        let Some((at, premise)) = found else { return Premise::Program };
        attributes.remove(at);
        premise
    }

    fn read(attribute: &Attribute) -> Option<Premise> {
        let texts: Option<Vec<&str>> = attribute.args.iter().map(text_of).collect();
        Some(match (attribute.name.as_str(), texts?.as_slice()) {
            ("requires", []) => Premise::Required,
            ("assume", []) => Premise::Assumed,
            ("invariant", []) => Premise::Invariant,
            ("instance", [text]) => Premise::Instance(Arc::from(*text)),
            _ => return None,
        })
    }

    /// The attributes that say so.
    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        match self {
            Premise::Program => Vec::new(),
            Premise::Required => vec![attribute("requires", Vec::new())],
            Premise::Assumed => vec![attribute("assume", Vec::new())],
            Premise::Invariant => vec![attribute("invariant", Vec::new())],
            Premise::Instance(text) => vec![attribute("instance", vec![written(text)])],
            Premise::Witness(inferred) => {
                let mut attributes = inferred.as_ref().map(Inferred::attributes).unwrap_or_default();
                attributes.push(attribute("witness", Vec::new()));
                attributes
            }
        }
    }

    /// Whether an annotation of the user says so, about the launch or about a place.
    pub fn is_of_user(&self) -> bool {
        matches!(self, Premise::Required | Premise::Assumed)
    }

    /// The invariant on which it rests.
    pub(crate) fn inferred(&self) -> Option<&Inferred> {
        if let Premise::Witness(inferred) = self { inferred.as_ref() } else { None }
    }

    /// The number of the candidate on which it rests.
    pub(crate) fn candidate(&self) -> Option<usize> {
        self.inferred().and_then(Inferred::candidate)
    }
}

fn attribute(name: &str, args: Vec<AttributeArg>) -> Attribute {
    Attribute { name: Name::from(name), args }
}

fn written(text: &str) -> AttributeArg {
    AttributeArg::Text(text.to_string())
}

fn counted(number: usize) -> AttributeArg {
    AttributeArg::Expr(bv::int(number as i128))
}

fn text_of(arg: &AttributeArg) -> Option<&str> {
    match arg {
        AttributeArg::Text(text) => Some(text),
        AttributeArg::Expr(_) => None,
    }
}
