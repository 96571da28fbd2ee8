//! Proofs and models of all pairs of threads to a report.
//!
//! Input: a kernel program, its predicated form, options. Output: the verdict with findings.
//! Establishes: `verified` only if every assertion of every pair that the launch allows was proved,
//! and every loop that can be entered can be left.
//! Reference: DESIGN section 3.

use super::barrier_invariants::not_uniform;
use super::confirm::Confirmation;
use super::emulate::Emulator;
use super::explore::Effort;
use super::finding::{
    AccessKind, AccessReport, Defect, Finding, KernelReport, Launch, ParameterValue, Reason, Verdict,
};
use super::prove::{self, Constants, PairOutcome, Plan, Refuted};
use super::vacuity::Vacuity;
use crate::diagnostic::Diagnostic;
use crate::infer::houdini::Deadline;
use crate::ivl::ast::{Attribute, AttributeArg, ExprKind, Name, Stmt, StmtKind, Type};
use crate::kernel::Kernel;
use crate::predicate::Predicated;
use crate::solver::{Encoding, Value};
use crate::span::Origin;
use crate::twothread::{self, Pair, Prelude, Site, TwoThread};
use crate::vcgen::passive::{Check, CheckKind};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What decides a kernel.
pub struct Question<'a> {
    /// The one-thread program and what is known about its names.
    pub kernel: &'a Kernel,
    /// Its predicated form.
    pub predicated: &'a Predicated,
    /// The race-checking runtime.
    pub prelude: &'a Prelude,
    /// Launch and options of the two-thread stage.
    pub options: twothread::Options,
    /// Encodings to try, in order.
    pub encodings: &'a [Encoding],
    /// When to stop.
    pub deadline: Deadline,
    /// Families of candidate invariants that are not tried.
    pub omitted: &'a [&'static str],
    /// What decides whether a defect is confirmed; `None` for kernels that are no PTX.
    pub emulator: Option<Emulator<'a>>,
    /// How long to look for defects.
    pub search: Search,
}

/// What is asked for beside a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Defects that a few launches show, and no proof.
    Execution,
    /// Nothing: the first assertion that fails is the end.
    Proof,
    /// Defects that executions soon show.
    Quick,
    /// Defects, also by models of the kernel with its loops written out.
    Thorough,
}

impl Question<'_> {
    /// Proves one pair; `stop` is asked after each encoding that left something unproved.
    ///
    /// # Errors
    /// What `vcgen` cannot translate.
    pub fn prove(
        &self,
        two: &TwoThread,
        stop: &mut dyn FnMut(&PairOutcome) -> bool,
    ) -> Result<PairOutcome, Diagnostic> {
        let uniform_barriers = two.pair == Pair::SameBlock && !self.options.exited_ok;
        let Question { encodings, deadline, omitted, .. } = *self;
        let first_failure = self.search == Search::Proof;
        prove::run(two, Plan { uniform_barriers, encodings, deadline, omitted, first_failure }, stop)
    }
}

/// Takes what came of a pair of threads, and tells whether to go on.
pub type Visit<'a> = dyn FnMut(&TwoThread, PairOutcome) -> Result<bool, Vec<Diagnostic>> + 'a;

/// Proves all pairs, one after the other, and nothing beside: no defect is looked for.
///
/// # Errors
/// What a stage cannot model.
pub fn prove_pairs(question: &Question, visit: &mut Visit) -> Result<(), Vec<Diagnostic>> {
    for pair in pairs(&question.options, question.kernel) {
        let two = twothread::run(question.predicated, question.prelude, pair, &question.options)?;
        let outcome = question.prove(&two, &mut |_| false).map_err(|d| vec![d])?;
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
    if may_be_one_thread(options) && checked {
        pairs.push(Pair::OneThread);
    }
    pairs
}

fn may_be_one_thread(options: &twothread::Options) -> bool {
    options.block.iter().chain(&options.grid).all(|size| size.is_none_or(|s| s == 1))
}

fn has_assertions(kernel: &Kernel) -> bool {
    statements(kernel).any(|s| matches!(s.kind, StmtKind::Assert(_)))
}

/// Decides a kernel and completes its report.
///
/// # Errors
/// What a stage cannot model.
pub fn run(question: &Question, mut report: KernelReport) -> Result<KernelReport, Vec<Diagnostic>> {
    let facts = Facts { kernel: question.kernel, launch: report.launch };
    let mut unknown = Vec::new();
    let mut findings = Vec::new();
    let mut confirmation = Confirmation::new(question, &facts);
    if question.search == Search::Execution {
        confirmation.explore_everywhere(Effort::QUICK);
        report.findings = confirmation.confirmed;
        merge(&mut report.findings);
        report.verdict = Verdict::of(&report.findings).unwrap_or(Verdict::Unknown);
        return Ok(report);
    }
    let mut vacuity = Vacuity::default();
    let mut waiting: VecDeque<Pair> = pairs(&question.options, question.kernel).into();
    while let Some(pair) = waiting.pop_front() {
        let two = match twothread::run(question.predicated, question.prelude, pair, &question.options) {
            Ok(two) => two,
            // What has no model may still be executed.
            Err(_) if confirmation.explore_everywhere(Effort::PATIENT) => {
                findings.append(&mut confirmation.confirmed);
                break;
            }
            Err(refusals) => return Err(refusals),
        };
        let mut stop = |outcome: &PairOutcome| confirmation.run(&two, outcome);
        let outcome = question.prove(&two, &mut stop).map_err(|d| vec![d])?;
        vacuity.add(&outcome);
        let left = vacuity.is_total() && pair != Pair::OneThread && may_be_one_thread(&question.options);
        if waiting.is_empty() && left {
            // The user may mean launches of one thread.
            waiting.push_back(Pair::OneThread);
        }
        count(&mut report, &two, &outcome);
        let unproved = !outcome.refuted.is_empty() || !outcome.open.is_empty();
        match question.search {
            Search::Thorough => confirmation.unroll(&two, &outcome),
            Search::Proof if unproved => {
                report.verdict = Verdict::Unknown;
                report.findings = outcome.refuted.iter().map(|refuted| facts.finding(&two, refuted)).collect();
                return Ok(report);
            }
            _ => {}
        }
        // They tell more than the model does; what is proved after all is no defect.
        findings.append(&mut confirmation.take_doubted(unproved));
        for refuted in &outcome.refuted {
            findings.push(facts.finding(&two, refuted));
        }
        let told = |check: &Check| outcome.refuted.iter().any(|refuted| prove::is_part(check, &refuted.check));
        for (check, why) in outcome.open.iter().filter(|(check, _)| !told(check)) {
            unknown.push(facts.open(&two, check, why));
        }
        for &index in &outcome.endless {
            unknown.push(endless(&two, index));
        }
        // One execution with a defect decides the verdict; the other pairs cannot change it.
        findings.append(&mut confirmation.confirmed);
        if findings.iter().any(|f| f.confirmed) {
            break;
        }
    }
    if vacuity.is_total() {
        return Err(vec![contradictory(question.kernel)]);
    }
    report.diagnostics.extend(vacuity.diagnostics(question.kernel)?);
    if !question.predicated.loops.is_empty() {
        let heads: Vec<&str> = question.predicated.loops.iter().map(|l| l.head.as_str()).collect();
        report.assumptions.push(format!("every loop ends (loops at {})", heads.join(", ")));
    }
    report.checked.loops = question.predicated.loops.len() as u64;
    merge(&mut findings);
    report.verdict = match Verdict::of(&findings) {
        Some(verdict) => verdict,
        None if unknown.is_empty() => Verdict::Verified,
        None => Verdict::Unknown,
    };
    report.findings = findings;
    unknown.dedup();
    report.reasons.extend(unknown);
    Ok(report)
}

/// Nothing may be proved of nothing.
fn contradictory(kernel: &Kernel) -> Diagnostic {
    let span = assumption_of_user(kernel).and_then(|s| s.origin.as_ref()).map_or(crate::span::Span::NONE, |o| o.span);
    let message = "no execution of this launch meets the requirements to the end, so a proof would say nothing";
    Diagnostic::error("contradictory-requirements", message, span)
        .note("look at `requires`, `assume`, --param and the launch sizes")
}

pub(super) fn statements(kernel: &Kernel) -> impl Iterator<Item = &Stmt> {
    let blocks = kernel.program.procedures.iter().flat_map(|p| &p.body).flat_map(|b| &b.blocks);
    blocks.flat_map(|b| &b.stmts)
}

/// The first statement by which the user limits the executions.
pub fn assumption_of_user(kernel: &Kernel) -> Option<&Stmt> {
    let limits = |s: &&Stmt| ["requires", "assume"].iter().any(|name| attribute(&s.attributes, name).is_some());
    statements(kernel).find(limits)
}

/// Adds what a pair checked to the report.
fn count(report: &mut KernelReport, two: &TwoThread, outcome: &PairOutcome) {
    let checked: Vec<&Site> = two.sites.iter().filter(|s| s.checked).collect();
    let mut pairs = 0u64;
    for (i, a) in checked.iter().enumerate() {
        pairs += checked[i..].iter().filter(|b| a.array == b.array && (writes(a) || writes(b))).count() as u64;
    }
    match two.pair {
        Pair::SameBlock => report.checked.pairs_same_block = pairs,
        Pair::DifferentBlocks => report.checked.pairs_different_blocks = pairs,
        Pair::OneThread => {}
    }
    report.checked.accesses = report.checked.accesses.max(two.sites.len() as u64);
    report.checked.barriers = report.checked.barriers.max(two.barriers as u64);
    let is_counted = |c: &&Check| is_user_assertion(c) && !matches!(c.kind, CheckKind::Maintenance(_));
    let assertions = outcome.inference.passive.checks.iter().filter(is_counted).count();
    report.checked.assertions = report.checked.assertions.max(assertions as u64 / 2);
    report.candidates.tried += outcome.candidates.0 as u64;
    report.candidates.kept += outcome.candidates.1 as u64;
}

fn writes(site: &Site) -> bool {
    site.kind != twothread::AccessKind::Read
}

fn is_user_assertion(check: &Check) -> bool {
    ["user_assert", "bounds", "invariant", "barrier_invariant"]
        .iter()
        .any(|name| attribute(&check.attributes, name).is_some())
}

pub(super) fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|a| a.name.as_str() == name)
}

fn number(attribute: &Attribute) -> Option<u128> {
    attribute.args.iter().find_map(|arg| match arg {
        AttributeArg::Expr(e) => match e.kind {
            ExprKind::Int(value) => u128::try_from(value).ok(),
            ExprKind::Bv(value) => Some(value),
            _ => None,
        },
        AttributeArg::Text(_) => None,
    })
}

fn text(attribute: &Attribute) -> Option<&str> {
    attribute.args.iter().find_map(|arg| match arg {
        AttributeArg::Text(text) => Some(text.as_str()),
        AttributeArg::Expr(_) => None,
    })
}

fn endless(two: &TwoThread, index: usize) -> Reason {
    let this = &two.loops[index];
    Reason {
        code: "unknown-endless-loop",
        message: format!(
            "no thread that enters the loop at `{}` can leave it, so nothing is said about what stands after it",
            this.head
        ),
        origin: this.origin.clone(),
    }
}

/// What findings are told in: the kernel's own names, the launch.
pub struct Facts<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Launch sizes of the proof.
    pub launch: Launch,
}

/// The bits of a value in a model.
pub fn bits(constants: &Constants, name: &str) -> Option<u128> {
    match constants.get(name)? {
        Value::Bits(value) => Some(*value),
        Value::Int(value) => u128::try_from(*value).ok(),
        Value::Bool(value) => Some(u128::from(*value)),
    }
}

impl Facts<'_> {
    /// The position of a thread in a model: `tid` or `ctaid`; what has no constant is 0.
    pub fn position(&self, constants: &Constants, id: &str, thread: u32) -> [u32; 3] {
        ["x", "y", "z"].map(|axis| {
            let own = bits(constants, &format!("{id}.{axis}${thread}"));
            let value = own.or_else(|| bits(constants, &format!("{id}.{axis}")));
            value.and_then(|v| u32::try_from(v).ok()).unwrap_or(0)
        })
    }

    /// Launch sizes in a model.
    pub fn launch(&self, constants: &Constants) -> Launch {
        let sizes = |fixed: [Option<u32>; 3], id: &str| {
            let mut out = fixed;
            for (size, axis) in out.iter_mut().zip(["x", "y", "z"]) {
                let found = bits(constants, &format!("{id}.{axis}")).and_then(|v| u32::try_from(v).ok());
                *size = size.or(found);
            }
            out
        };
        Launch { block: sizes(self.launch.block, "ntid"), grid: sizes(self.launch.grid, "nctaid") }
    }

    /// Scalar parameters in a model.
    pub fn params(&self, constants: &Constants) -> BTreeMap<String, ParameterValue> {
        let mut out = BTreeMap::new();
        for param in self.kernel.params.iter().filter(|p| !p.is_pointer) {
            if let Some(value) = param.constant.as_ref().and_then(|c| bits(constants, c.as_str())) {
                out.insert(param.name.clone(), ParameterValue { value: value as u64, bits: param.bits.clamp(1, 64) });
            }
        }
        out
    }

    /// An access of a thread in a model.
    pub fn access(&self, constants: &Constants, site: &Site, thread: u32) -> Option<AccessReport> {
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
    pub fn array(&self, name: &Name) -> (Option<String>, Option<&'static str>) {
        let shown = self.kernel.array_names.get(name).cloned().unwrap_or_else(|| name.to_string());
        let array = self.kernel.program.arrays.iter().find(|a| a.name == *name);
        let space = array.map(|a| match a.space {
            crate::ivl::ast::ArraySpace::Shared => "shared",
            crate::ivl::ast::ArraySpace::Global => "global",
        });
        (Some(shown), space)
    }

    /// A finding from a refuted assertion, not confirmed.
    fn finding(&self, two: &TwoThread, refuted: &Refuted) -> Finding {
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
            self.unsure_read(&mut finding, written, constants, (first, second));
        } else if let Some(race) = attribute(&check.attributes, "race") {
            finding.defect = Defect::Race;
            finding.barrier = None;
            finding.kind = text(race).unwrap_or("race").to_string();
            if let Some(site) = second.or(first) {
                (finding.array, finding.space) = self.array(&site.array);
                let watched = bits(constants, &format!("_WATCHED_OFFSET_{}", site.array));
                finding.offset = watched.map(|v| i128::from(v as u64 as i64));
            }
            finding.accesses.extend(first.and_then(|s| self.access(constants, s, 1)));
            finding.accesses.extend(second.and_then(|s| self.access(constants, s, 2)));
        } else if check.attributes.iter().any(|a| a.name.as_str().starts_with("barrier_divergence")) {
            finding.defect = Defect::Divergence;
            finding.kind = "barrier".into();
            for (thread, op) in [(1, AccessKind::Arrive), (2, AccessKind::Absent)] {
                finding.accesses.extend(self.arrival(constants, check.origin.as_ref(), thread, op));
            }
        } else if attribute(&check.attributes, "bounds").is_some() {
            finding.kind = "bounds".into();
        } else if let Some(user) = attribute(&check.attributes, "user_assert") {
            finding.kind = "user-assertion".into();
            finding.message = self.stated(refuted, text(user));
        } else if let Some(fact) = attribute(&check.attributes, "barrier_invariant") {
            finding.kind = "barrier-invariant".into();
            finding.message = self.stated(refuted, text(fact));
        } else if let Some(fact) = attribute(&check.attributes, "barrier_invariant_uniform") {
            finding.kind = "barrier-invariant-uniform".into();
            finding.message = not_uniform(fact);
        } else if let Some(invariant) = attribute(&check.attributes, "invariant") {
            finding.kind = match check.kind {
                CheckKind::Entry(_) => "invariant-entry",
                CheckKind::Maintenance(_) => "invariant-maintenance",
                CheckKind::Assertion => "invariant",
            }
            .into();
            finding.message = self.stated(refuted, text(invariant));
            if check.kind == CheckKind::Assertion {
                finding.message += "\nit stands in no loop, or depends on what its round does before it: so it is proved here only, \
                                    and not assumed from round to round";
            }
        }
        finding
    }

    /// What an assertion of the user says, the thread for which it fails, and the values of its registers.
    fn stated(&self, refuted: &Refuted, written: Option<&str>) -> String {
        let mut lines: Vec<String> = written.map(|written| format!("states: {written}")).into_iter().collect();
        let thread = attribute(&refuted.check.attributes, "thread").and_then(number);
        if let Some(thread) = thread.and_then(|number| u32::try_from(number).ok()) {
            let [tx, ty, tz] = self.position(&refuted.constants, "tid", thread);
            let [bx, by, bz] = self.position(&refuted.constants, "ctaid", thread);
            lines.push(format!("fails for thread ({tx},{ty},{tz}) of block ({bx},{by},{bz})"));
        }
        let shown = refuted.values.iter().filter_map(|(name, now, before)| {
            let base = name.as_str().rsplit_once('$').map_or(name.as_str(), |(base, _)| base);
            let register = self.kernel.register_names.get(&Name::from(base))?;
            let text = |value: Value| self.register_text(base, value);
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
    fn register_text(&self, variable: &str, value: Value) -> String {
        let bits = match value {
            Value::Bool(value) => return value.to_string(),
            Value::Int(value) => value as u64,
            Value::Bits(bits) => bits as u64,
        };
        let bodies = self.kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let local = bodies.flat_map(|body| &body.locals).find(|local| local.name.as_str() == variable);
        let width = match local.map(|local| &local.ty) {
            Some(Type::Bv(width)) => *width,
            _ => 64,
        };
        let value = ParameterValue { value: bits, bits: width.clamp(1, 64) };
        format!("{} ({:#x})", value.signed(), value.unsigned())
    }

    /// A thread's part at a barrier.
    pub fn arrival(
        &self,
        constants: &Constants,
        origin: Option<&Arc<Origin>>,
        thread: u32,
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
    fn open(&self, two: &TwoThread, check: &Check, why: &str) -> Reason {
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

/// The site of a race check: thread 2's access.
pub(super) fn site_of<'a>(two: &'a TwoThread, check: &Check) -> Option<&'a Site> {
    let wanted = number(attribute(&check.attributes, "site")?)?;
    two.sites.iter().find(|s| u128::from(s.number) == wanted)
}

/// The site that a model tracks: thread 1's access.
fn tracked_site<'a>(two: &'a TwoThread, constants: &Constants) -> Option<&'a Site> {
    let wanted = bits(constants, "_TRACKED_SITE")?;
    two.sites.iter().find(|s| u128::from(s.number) == wanted)
}

/// A source line, or a PTX line where no source is known.
type Place = (u32, Option<(Arc<str>, u32)>);

/// One finding for each defect and pair of source places, the confirmed one if there is one.
fn merge(findings: &mut Vec<Finding>) {
    findings.sort_by_key(Finding::rank);
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let mut places: Vec<Place> = finding
            .accesses
            .iter()
            .map(|a| (a.origin.line, a.origin.position.as_ref().map(|p| (p.file.clone(), p.line))))
            .map(|(line, source)| if source.is_some() { (0, source) } else { (line, None) })
            .collect();
        places.sort();
        let key = (finding.defect, places, finding.barrier.as_ref().map(|b| b.line));
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
}
