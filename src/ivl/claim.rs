//! What an assertion claims, read from its attributes.
//!
//! Input: the attributes of an assertion or of a check. Output: [`Claim`]. Establishes: one table tells which attribute
//! stands for which claim. Reference: DESIGN section 3 (the defects).

use super::ast::Attribute;

/// `{:barrier_rule "number"}`: what an assertion about the use of a barrier, or of a warp operation, is about.
pub const BARRIER_RULE: &str = "barrier_rule";

/// What an assertion claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<'a> {
    /// Two accesses do not race; `write-read`, `read-write` or `write-write`.
    Race(&'a str),
    /// All threads of a block meet at a barrier.
    BarrierMet,
    /// A barrier is used by its rules: which.
    BarrierRule(&'a str),
    /// An access stays inside its array.
    Bounds,
    /// An assertion of the user, with its text.
    Assertion(&'a str),
    /// A loop invariant of the user.
    Invariant(&'a str),
    /// A barrier invariant of the user.
    BarrierInvariant(&'a str),
    /// A register in a barrier invariant is the same for all threads.
    Uniform(&'a Attribute),
}

impl<'a> Claim<'a> {
    /// What an assertion with these attributes claims; `None` for others than those of kernels.
    pub fn of(attributes: &'a [Attribute]) -> Option<Claim<'a>> {
        let claim = |attribute: &'a Attribute| {
            let text = attribute.text().unwrap_or_default();
            Some(match attribute.name.as_str() {
                "race" => Claim::Race(text),
                "barrier_divergence" | "barrier_divergence_unaligned" => Claim::BarrierMet,
                BARRIER_RULE => Claim::BarrierRule(text),
                "bounds" => Claim::Bounds,
                "user_assert" => Claim::Assertion(text),
                "barrier_invariant" => Claim::BarrierInvariant(text),
                "barrier_invariant_uniform" => Claim::Uniform(attribute),
                "invariant" => Claim::Invariant(text),
                _ => return None,
            })
        };
        attributes.iter().find_map(claim)
    }

    /// Whether the user wrote it.
    pub fn is_of_user(self) -> bool {
        matches!(self, Claim::Assertion(_) | Claim::Invariant(_) | Claim::BarrierInvariant(_))
    }
}
