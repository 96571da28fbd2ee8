//! One finding for each defect and pair of source lines.
//!
//! Input: the findings of a kernel. Output: the same, one of each group, in ranking order. Establishes: a confirmed finding
//! stands for its group if there is one; `similar` counts the other pairs of instructions of the group. Relies on: nothing.

use super::{Defect, Finding};
use std::sync::Arc;

/// A source line, or a PTX line where no source is known.
type Place = (u32, Option<(Arc<str>, u32)>);

/// What findings of one group have in common.
type Group = (Defect, Vec<Place>, Option<u32>);

/// Leaves one finding of each group.
pub(crate) fn merge(findings: &mut Vec<Finding>) {
    findings.sort_by_key(Finding::rank);
    // The instructions of the findings of a group, which belong to one missing barrier.
    let mut groups: Vec<(Group, Vec<Vec<u32>>)> = Vec::new();
    findings.retain(|finding| {
        let (group, instructions) = (group(finding), instructions(finding));
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, known)) => {
                if !known.contains(&instructions) {
                    known.push(instructions);
                }
                false
            }
            None => {
                groups.push((group, vec![instructions]));
                true
            }
        }
    });
    for (finding, (_, instructions)) in findings.iter_mut().zip(&groups) {
        finding.similar = instructions.len() as u32 - 1;
    }
}

/// Whether two findings are of one group, where neither is the graver one.
pub(crate) fn are_one(first: &Finding, second: &Finding) -> bool {
    first.rank() == second.rank() && group(first) == group(second)
}

fn group(finding: &Finding) -> Group {
    let place = |access: &super::AccessReport| match access.origin.position.as_ref().map(|position| position.own()) {
        Some(own) => (0, Some((own.file.clone(), own.line))),
        None => (access.origin.line, None),
    };
    let mut places: Vec<Place> = finding.accesses.iter().map(place).collect();
    places.sort();
    // What an execution shows of a misused barrier names the access only.
    let barrier = finding.barrier.as_ref().filter(|_| finding.defect != Defect::BarrierError);
    (finding.defect, places, barrier.map(|barrier| barrier.line))
}

/// The PTX lines of the threads' parts.
fn instructions(finding: &Finding) -> Vec<u32> {
    let mut lines: Vec<u32> = finding.accesses.iter().map(|access| access.origin.line).collect();
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{AccessKind, AccessReport};
    use crate::span::{Origin, SourcePosition, Span};

    fn access(ptx: u32, line: u32) -> AccessReport {
        let header = SourcePosition { file: "load.cuh".into(), line: ptx, column: 0, inlined_at: None };
        let call = SourcePosition { file: "k.cu".into(), line, column: 0, inlined_at: None };
        let position = Some(Arc::new(SourcePosition { inlined_at: Some(Arc::new(call)), ..header }));
        let origin = Origin { span: Span::NONE, line: ptx, position, text: "ld".into() };
        AccessReport { op: AccessKind::Read, bytes: 4, thread: [0; 3], block: [0; 3], origin: Arc::new(origin) }
    }

    fn race(confirmed: bool, first: (u32, u32), second: (u32, u32)) -> Finding {
        let accesses = vec![access(first.0, first.1), access(second.0, second.1)];
        Finding { accesses, ..Finding::new(Defect::Race, confirmed) }
    }

    #[test]
    fn pairs_of_lines_of_the_author_give_one_finding_with_a_count() {
        let mut findings = vec![
            race(false, (50, 9), (60, 13)),
            race(false, (61, 13), (50, 9)),
            race(true, (51, 9), (60, 13)),
            race(false, (50, 9), (60, 13)),
            race(false, (50, 9), (70, 14)),
        ];
        merge(&mut findings);
        let shown: Vec<(bool, u32)> = findings.iter().map(|finding| (finding.confirmed, finding.similar)).collect();
        assert_eq!(shown, [(true, 2), (false, 0)]);
    }
}
