//! Whether findings lie at the lines that a case marks.

use super::cases::Case;
use gpuvcc::finding::{AccessKind, Defect, Finding, KernelReport};
use gpuvcc::span::Origin;
use std::collections::BTreeSet;
use std::path::Path;

/// Some finding of the expected kind lies in the marked lines, and no confirmed one lies elsewhere.
pub fn places(case: &Case, report: &KernelReport, wanted: Defect) -> Result<(), String> {
    if !report.findings.iter().any(|finding| finding.defect == wanted && within_marks(case, finding)) {
        return Err(format!("no finding lies in the marked lines {:?}", marks(case, wanted)));
    }
    match report.findings.iter().find(|finding| finding.confirmed && !within_marks(case, finding)) {
        Some(finding) => Err(format!("a confirmed {} outside the marked lines", finding.code())),
        None => Ok(()),
    }
}

fn marks(case: &Case, defect: Defect) -> &BTreeSet<u32> {
    match defect {
        Defect::Divergence => &case.divergence_lines,
        Defect::Assertion => &case.assertion_lines,
        _ => &case.race_lines,
    }
}

/// Whether all places that a finding blames are marked. Where the absent thread of a divergence
/// stands is not its fault.
pub fn within_marks(case: &Case, finding: &Finding) -> bool {
    let lines: Vec<Option<u32>> = match finding.defect {
        Defect::Divergence => {
            let arrivals = finding.accesses.iter().filter(|access| access.op != AccessKind::Absent);
            let barriers = finding.barrier.iter().chain(arrivals.map(|access| &access.origin));
            barriers.map(|origin| line(case, origin)).collect()
        }
        Defect::Assertion => finding.barrier.iter().map(|origin| line(case, origin)).collect(),
        _ => finding.accesses.iter().map(|access| line(case, &access.origin)).collect(),
    };
    let enough = if finding.defect == Defect::Race { 2 } else { 1 };
    let marks = marks(case, finding.defect);
    lines.len() >= enough && lines.iter().all(|line| line.is_some_and(|line| marks.contains(&line)))
}

/// The line where the marks stand: that of the CUDA source (the inlined function's own line), or
/// that of the input. `None` when the instruction comes from another file.
fn line(case: &Case, origin: &Origin) -> Option<u32> {
    let Some(source) = &case.source else { return Some(origin.line) };
    let position = origin.position.as_ref()?;
    let same_file = Path::new(&*position.file).file_name() == source.file_name();
    same_file.then_some(position.line)
}
