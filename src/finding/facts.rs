//! Models in the kernel's own words: threads, arrays, parameters.
//!
//! Input: values of a model, and what it refutes. Output: parts of findings, and findings that no execution has confirmed.
//! Establishes: only names and places of the input are told. Reference: DESIGN section 3.

use super::barrier_invariants::not_uniform;
use super::{AccessKind, AccessReport, Defect, Finding, ParameterValue, Reason};
use crate::exec::outcome::BarrierMisuse;
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{Name, Thread, Type};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Claim;
use crate::kernel::Kernel;
use crate::prove::{Constants, Refuted};
use crate::span::Origin;
use crate::twothread::{self, Site, TwoThread};
use crate::vcgen::passive::{Check, CheckKind};
use crate::vcgen::term::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What findings are told in: the kernel's own names, the launch.
pub(crate) struct Facts<'a> {
    pub(crate) kernel: &'a Kernel,
    /// Launch sizes of the proof.
    pub(crate) launch: Geometry,
}

/// The bits of a value in a model.
pub(crate) fn bits(constants: &Constants, name: &Name) -> Option<u128> {
    match constants.get(name)? {
        Value::Bits(value) => Some(*value),
        Value::Int(value) => u128::try_from(*value).ok(),
        Value::Bool(value) => Some(u128::from(*value)),
    }
}

impl Facts<'_> {
    /// The position of a thread in a model: `tid` or `ctaid`; what has no constant is 0.
    pub(crate) fn position(&self, constants: &Constants, id: &str, thread: Thread) -> [u32; 3] {
        Axis::ALL.map(|axis| {
            let shared = Name::from(format!("{id}.{axis}"));
            let value = bits(constants, &shared.of(thread)).or_else(|| bits(constants, &shared));
            value.and_then(|v| u32::try_from(v).ok()).unwrap_or(0)
        })
    }

    /// Launch sizes in a model.
    pub(crate) fn launch(&self, constants: &Constants) -> Geometry {
        self.launch.map_registers(|register, fixed| {
            fixed.or_else(|| bits(constants, &Name::from(register)).and_then(|size| u32::try_from(size).ok()))
        })
    }

    /// Scalar parameters in a model.
    pub(crate) fn params(&self, constants: &Constants) -> BTreeMap<String, ParameterValue> {
        let mut out = BTreeMap::new();
        for param in self.kernel.params.iter().filter(|p| !p.is_pointer) {
            if let Some(value) = param.constant.as_ref().and_then(|c| bits(constants, c)) {
                out.insert(param.name.clone(), ParameterValue { value: value as u64, bits: param.bits.clamp(1, 64) });
            }
        }
        out
    }

    /// An access of a thread in a model.
    pub(crate) fn access(&self, constants: &Constants, site: &Site, thread: Thread) -> Option<AccessReport> {
        Some(AccessReport {
            op: match site.kind {
                twothread::AccessKind::Read => AccessKind::Read,
                twothread::AccessKind::Write => AccessKind::Write,
                twothread::AccessKind::Atomic => AccessKind::Atomic,
            },
            bytes: site.bytes,
            thread: self.position(constants, "tid", thread),
            block: self.position(constants, "ctaid", thread),
            origin: site.origin.clone()?,
        })
    }

    /// The array as the source names it, and its space.
    pub(crate) fn array(&self, name: &Name) -> (Option<String>, Option<&'static str>) {
        let shown = self.kernel.array_names.get(name).cloned().unwrap_or_else(|| name.to_string());
        let array = self.kernel.program.arrays.iter().find(|a| a.name == *name);
        let space = array.map(|a| match a.space {
            crate::ivl::ast::ArraySpace::Shared => "shared",
            crate::ivl::ast::ArraySpace::Global => "global",
        });
        (Some(shown), space)
    }

    /// A finding from a refuted assertion, not confirmed.
    pub(crate) fn finding(&self, two: &TwoThread, refuted: &Refuted) -> Finding {
        let constants = &refuted.constants;
        let check = &refuted.check;
        let mut finding = Finding {
            kind: "assertion".into(),
            barrier: check.origin.clone(),
            params: self.params(constants),
            launch: Some(self.launch(constants)),
            ..Finding::new(Defect::Assertion, false)
        };
        let (second, first) = (site_of(two, check), tracked_site(two, constants));
        let read = [second, first].into_iter().flatten().find_map(|site| site.barrier_invariant.as_ref());
        if let Some(written) = read {
            self.unsure_read(two, &mut finding, written, constants, (first, second));
            return finding;
        }
        match &check.claim {
            Claim::Race(conflict) => {
                finding.defect = Defect::Race;
                finding.barrier = None;
                finding.kind = conflict.name().to_string();
                if let Some(site) = second.or(first) {
                    (finding.array, finding.space) = self.array(&site.array);
                    let log = first.and_then(|first| first.seen_as.as_ref()).unwrap_or(&site.array);
                    let watched = two.log.of(log).and_then(|log| bits(constants, &log.watched));
                    finding.offset = watched.map(|v| i128::from(v as u64 as i64));
                }
                finding.accesses.extend(first.and_then(|s| self.access(constants, s, Thread::First)));
                finding.accesses.extend(second.and_then(|s| self.access(constants, s, Thread::Second)));
            }
            Claim::BarrierMet { .. } | Claim::LanesMet => {
                finding.defect = Defect::Divergence;
                finding.kind = if check.claim == Claim::LanesMet { "warp" } else { "barrier" }.into();
                for (thread, op) in [(Thread::First, AccessKind::Arrive), (Thread::Second, AccessKind::Absent)] {
                    finding.accesses.extend(self.arrival(constants, check.origin.as_ref(), thread, op));
                }
            }
            Claim::BarrierRule(rule) => {
                finding.defect = Defect::BarrierError;
                finding.kind = rule.name().into();
                finding.message = BarrierMisuse::of_rule(rule.name()).map_or("", BarrierMisuse::message).to_string();
                finding.accesses.extend(
                    refuted_thread(check)
                        .and_then(|thread| self.arrival(constants, check.origin.as_ref(), thread, AccessKind::Arrive)),
                );
            }
            Claim::Bounds => finding.kind = "bounds".into(),
            Claim::Stated(written) => {
                finding.kind = "user-assertion".into();
                finding.message = self.stated(refuted, written);
            }
            Claim::BarrierInvariant(written) => {
                finding.kind = "barrier-invariant".into();
                finding.message = self.stated(refuted, written);
            }
            Claim::Uniform { invariant, register } => {
                finding.kind = "barrier-invariant-uniform".into();
                finding.message = not_uniform(invariant, register);
            }
            Claim::Invariant(written) => self.broken_invariant(&mut finding, refuted, written),
            Claim::Formula
            | Claim::Inferred(_)
            | Claim::Probe(..)
            | Claim::Precondition
            | Claim::Postcondition
            | Claim::IntegerBound => {}
        }
        finding
    }

    fn broken_invariant(&self, finding: &mut Finding, refuted: &Refuted, written: &str) {
        finding.kind = match refuted.check.kind {
            CheckKind::Entry(_) => "invariant-entry",
            CheckKind::Maintenance(_) => "invariant-maintenance",
            CheckKind::Assertion => "invariant",
        }
        .into();
        finding.message = self.stated(refuted, written);
        if refuted.check.kind == CheckKind::Assertion {
            finding.message += "\nit stands in no loop, or depends on what its round does before it: so it is proved here only, \
                                and not assumed from round to round";
        }
    }

    /// What an assertion of the user says, the thread for which it fails, and the values of its registers.
    fn stated(&self, refuted: &Refuted, written: &str) -> String {
        let mut lines: Vec<String> = Vec::new();
        if !written.is_empty() {
            lines.push(format!("states: {written}"));
        }
        if let Some(thread) = refuted_thread(&refuted.check) {
            let [tx, ty, tz] = self.position(&refuted.constants, "tid", thread);
            let [bx, by, bz] = self.position(&refuted.constants, "ctaid", thread);
            lines.push(format!("fails for thread ({tx},{ty},{tz}) of block ({bx},{by},{bz})"));
        }
        let shown = refuted.values.iter().filter_map(|(name, now, before)| {
            let variable = name.shared();
            let register = self.kernel.register_names.get(&variable)?;
            let text = |value: Value| self.register_text(&variable, value);
            let now = text(*now);
            Some(match before.map(text) {
                Some(before) => format!("{register} = {now} (at the beginning of the round: {before})"),
                None => format!("{register} = {now}"),
            })
        });
        lines.extend(shown);
        lines.join("\n")
    }

    /// A register's value, as parameters are told.
    fn register_text(&self, variable: &Name, value: Value) -> String {
        let bits = match value {
            Value::Bool(value) => return value.to_string(),
            Value::Int(value) => value as u64,
            Value::Bits(bits) => bits as u64,
        };
        let bodies = self.kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let local = bodies.flat_map(|body| &body.locals).find(|local| local.name == *variable);
        let width = match local.map(|local| &local.ty) {
            Some(Type::Bv(width)) => *width,
            _ => 64,
        };
        let value = ParameterValue { value: bits, bits: width.clamp(1, 64) };
        format!("{} ({:#x})", value.signed(), value.unsigned())
    }

    /// A thread's part at a barrier.
    pub(crate) fn arrival(
        &self,
        constants: &Constants,
        origin: Option<&Arc<Origin>>,
        thread: Thread,
        op: AccessKind,
    ) -> Option<AccessReport> {
        Some(AccessReport {
            op,
            bytes: 0,
            thread: self.position(constants, "tid", thread),
            block: self.position(constants, "ctaid", thread),
            origin: origin?.clone(),
        })
    }

    /// Why an assertion stayed open.
    pub(crate) fn open(&self, two: &TwoThread, check: &Check, why: &str) -> Reason {
        let what = match site_of(two, check) {
            Some(site) => {
                let array = self.array(&site.array).0.unwrap_or_default();
                format!("whether this access of `{array}` races is not decided ({why})")
            }
            None => format!("this is not decided ({why})"),
        };
        Reason { code: "unknown-solver-limit", message: what, origin: check.origin.clone() }
    }
}

/// The number of the thread that an assertion of one thread is about.
fn refuted_thread(check: &Check) -> Option<Thread> {
    let number = check.attributes.named("thread")?.number()?;
    Thread::BOTH.into_iter().find(|thread| u128::from(thread.number()) == number)
}

/// The site of a race check: thread 2's access.
pub(crate) fn site_of<'a>(two: &'a TwoThread, check: &Check) -> Option<&'a Site> {
    two.site(check.site?)
}

/// The site that a model tracks: thread 1's access.
fn tracked_site<'a>(two: &'a TwoThread, constants: &Constants) -> Option<&'a Site> {
    let wanted = bits(constants, &two.log.tracked_site())?;
    two.sites.iter().find(|s| u128::from(s.number) == wanted)
}
