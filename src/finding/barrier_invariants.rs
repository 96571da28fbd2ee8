//! What findings say of barrier invariants.
//!
//! Input: a check that failed about what a barrier invariant reads, or about its registers. Output: the finding's words.
//! Reference: Chong et al., "Barrier Invariants" (the access check).

use super::Finding;
use super::facts::{Facts, bits};
use crate::ivl::ast::Thread;
use crate::prove::Constants;
use crate::twothread::{Site, TwoThread};

impl Facts<'_> {
    /// Completes a finding about two accesses, of which one is that of a barrier invariant: no defect of the kernel.
    pub(super) fn unsure_read(
        &self,
        two: &TwoThread,
        finding: &mut Finding,
        written: &str,
        constants: &Constants,
        (first, second): (Option<&Site>, Option<&Site>),
    ) {
        finding.kind = "barrier-invariant-access".into();
        finding.message = format!(
            "states: {written}\nthe barrier invariant reads what another thread may write before the barrier, as far as \
             the proof sees: so it says nothing about what memory holds behind it"
        );
        let sites = || [second, first].into_iter().flatten();
        if let Some(site) = sites().next() {
            (finding.array, finding.space) = self.array(&site.array);
            let watched = two.log.of(&site.array).and_then(|log| bits(constants, &log.watched));
            finding.offset = watched.map(|v| i128::from(v as u64 as i64));
        }
        finding.barrier = sites().find(|site| site.barrier_invariant.is_some()).and_then(|site| site.origin.clone());
        finding.accesses.extend(first.and_then(|site| self.access(constants, site, Thread::First)));
        finding.accesses.extend(second.and_then(|site| self.access(constants, site, Thread::Second)));
    }
}

/// What it means that a register of a barrier invariant is not the same for all threads.
pub(super) fn not_uniform(written: &str, register: &str) -> String {
    format!(
        "states: {written}\nthe barrier invariant in front of this barrier speaks of `{register}`, which threads of a block \
         may hold different values in: what one of them states says nothing about another"
    )
}
