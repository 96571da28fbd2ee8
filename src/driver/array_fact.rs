//! The fact about what an array holds that a race needs to be wrong, tried and not guessed.
//!
//! Input: a kernel with a race whose addresses depend on what arrays hold. Output: the same finding with a sentence, if
//! the kernel is proved for the finding's launch once the entries of an array that it only reads are stated to be pairwise
//! different, or sorted, or those of one that it writes to be 0 when it starts. Establishes: the sentence is said only of a complete proof. Relies on: `kernel::array_facts`
//! refuses what such a fact cannot be about. Reference: book/src/annotating.md.

use super::input::Input;
use super::options::Options;
use super::pipeline::{self, Program};
use crate::effort::{self, Effort};
use crate::finding::{Defect, Finding, KernelReport, Verdict};
use crate::jobs::Jobs;
use crate::limits;
use crate::ptx::annotation::sidecar;
use crate::ptx::ast::{Address, AddressBase, Function, Instruction, Item, Op, RegisterId, ScalarType, StateSpace};
use crate::ptx::roles;
use crate::report::text::launch_text;
use std::collections::BTreeSet;

/// For one proof, and for all.
const ONE: Effort = Effort::milliseconds(500);
const ALL: Effort = Effort::seconds(1);

/// Facts with what the race needs where they do not hold; those about arrays that the kernel only reads first.
const FACTS: [(Fact, &str); 3] = [
    (Fact::Read("distinct"), "two equal elements of"),
    (Fact::Read("sorted"), "elements that run down in"),
    (Fact::Written, "something else than 0 at first in"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    /// About an array that the kernel only reads.
    Read(&'static str),
    /// About one that it writes: all are 0 at first.
    Written,
}

/// Tries facts for the first finding.
pub(crate) fn try_facts(
    report: &mut KernelReport,
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    jobs: &Jobs,
) {
    let Program::Ptx(module) = program else { return };
    let may_lack = |finding: &&Finding| {
        finding.defect == Defect::Race && finding.space == Some("global") && finding.mended.is_none()
    };
    let Some(launch) = report.findings.first().filter(may_lack).and_then(|finding| finding.launch) else { return };
    let Some(kernel) = module.functions.iter().position(|one| one.is_entry && *one.name == *entry) else { return };
    let function = &module.functions[kernel];
    let widths = element_widths(function);
    let arrays = function.params.iter().filter(|_| !options.rules.may_alias);
    let start = effort::spent();
    // The arrays of which facts were refused: the kernel writes them.
    let mut written = BTreeSet::new();
    for ((array, width), (fact, wrong)) in arrays
        .flat_map(|array| widths.iter().map(move |width| (array, width)))
        .flat_map(|of| FACTS.into_iter().map(move |fact| (of, fact)))
    {
        let left = ALL - (effort::spent() - start).min(ALL);
        if left.is_none() {
            return;
        }
        let is_written = written.contains(&array.name);
        let fact = match fact {
            Fact::Read(fact) if !is_written => format!("{fact}([{}].s{width})", array.name),
            Fact::Written if is_written => format!("initially([{}].s{width} == 0)", array.name),
            _ => continue,
        };
        let mut stated = module.clone();
        if sidecar::require(input.source.name(), 1, &fact, &mut stated, kernel).is_err() {
            continue;
        }
        let options = Options { geometry: launch, ..options.clone() };
        // Without an answer there is only less to say.
        let proof =
            limits::within(|| pipeline::proof(input, &Program::Ptx(stated), entry, &options, left.min(ONE), jobs));
        if let Ok(Err(_)) = &proof {
            written.insert(array.name.clone());
        }
        if let Ok(Ok(proof)) = proof
            && proof.verdict == Verdict::Verified
            && let Some(finding) = report.findings.first_mut()
        {
            let (launch, name) = (launch_text(&launch), array.spelling.as_deref().unwrap_or(&array.name));
            finding.mended =
                Some(format!("it needs {wrong} `{name}`: with `//@ requires {fact};` it is proved for {launch}"));
            return;
        }
    }
}

/// Bits of the integers that the kernel loads from global memory and makes addresses of.
fn element_widths(function: &Function) -> BTreeSet<u32> {
    let items = function.body.iter().flat_map(|body| &body.items);
    let instructions: Vec<&Instruction> = items
        .filter_map(|item| if let Item::Instruction(instruction) = item { Some(instruction) } else { None })
        .collect();
    let addresses = feeding_addresses(&instructions);
    let loads = instructions.iter().filter_map(|instruction| match &instruction.op {
        Op::Load { space: StateSpace::Global | StateSpace::Generic, ty, .. }
        | Op::Atomic { space: StateSpace::Global | StateSpace::Generic, ty, .. } => Some((instruction, ty)),
        _ => None,
    });
    let integers = loads.filter_map(|(instruction, ty)| match *ty {
        ScalarType::B(bits) | ScalarType::U(bits) | ScalarType::S(bits) if matches!(bits, 32 | 64) => {
            let (_, written) = roles::registers(instruction);
            written.iter().any(|register| addresses.contains(register)).then_some(bits)
        }
        _ => None,
    });
    integers.collect()
}

/// The registers from which addresses are made.
fn feeding_addresses(instructions: &[&Instruction]) -> BTreeSet<RegisterId> {
    let mut feeding = BTreeSet::new();
    for instruction in instructions {
        roles::visit(&mut instruction.op.clone(), &mut |slot| {
            if let roles::Slot::Address(Address { base: AddressBase::Register(register), .. }) = slot {
                feeding.insert(*register);
            }
        });
    }
    loop {
        let before = feeding.len();
        for instruction in
            instructions.iter().filter(|instruction| !matches!(instruction.op, Op::Load { .. } | Op::Atomic { .. }))
        {
            let (read, written) = roles::registers(instruction);
            if written.iter().any(|register| feeding.contains(register)) {
                feeding.extend(read);
            }
        }
        if feeding.len() == before {
            return feeding;
        }
    }
}
