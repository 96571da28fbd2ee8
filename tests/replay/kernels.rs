//! Random launches of shipped kernels in the emulator: what they find in a broken one lies on marked lines.

use crate::support::cases::{Case, cases};
use gpuvcc::aliases::Aliases;
use gpuvcc::confirm::emulate::Emulator;
use gpuvcc::confirm::explore::{Effort, Explorer, Suspects};
use gpuvcc::finding::{Defect, Finding};
use gpuvcc::kernel::{Kernel, LowerOptions, lower};
use gpuvcc::prove::question::assumption_of_user;
use gpuvcc::ptx::ast::Module;
use gpuvcc::span::Origin;
use libtest_mimic::{Failed, Trial};

/// Broken kernels whose defect they do not show, with the reason.
const UNCONFIRMED: &str = include_str!("unconfirmed.txt");

/// Of the correct kernels every how many-th is looked at: launches of each are tried whenever its verdict is tested.
const STEP: usize = 6;

/// One trial a kernel.
pub fn trials() -> Result<Vec<Trial>, String> {
    let trial = |case: Case| Trial::test(format!("kernels/{}", case.name), move || check(&case));
    let (correct, others): (Vec<Case>, Vec<Case>) =
        cases("tests/kernels")?.into_iter().partition(|case| case.verdict == "verified");
    Ok(correct.into_iter().step_by(STEP).chain(others).map(trial).collect())
}

fn check(case: &Case) -> Result<(), Failed> {
    let text = std::fs::read_to_string(&case.input)?;
    let Ok(module) = gpuvcc::ptx::parse(&text) else { return Ok(()) };
    let Some((number, kernel)) = lowered(case, &module)? else { return Ok(()) };
    let explored = explored(case, &module, number, &kernel);
    let wrong = |finding: &&Finding| {
        let lines = if finding.defect == Defect::Race { &case.race_lines } else { &case.divergence_lines };
        !finding.accesses.iter().all(|access| lines.contains(&line(case, &access.origin)))
    };
    if let Some(finding) = explored.iter().find(wrong).filter(|_| case.verdict != "unsupported") {
        return Err(format!("random launches show what no mark says\n{finding:#?}").into());
    }
    let found = |defect: Defect| explored.iter().any(|finding| finding.defect == defect);
    let shown = match case.verdict.as_str() {
        "race" => found(Defect::Race),
        "divergence" => found(Defect::Divergence),
        _ => return Ok(()),
    };
    let listed = UNCONFIRMED.lines().any(|line| line.split_whitespace().next() == Some(&case.name));
    match (shown, listed) {
        (true, true) => Err("the defect is shown; take the kernel off unconfirmed.txt".into()),
        (false, false) => Err("the defect is not shown".into()),
        _ => Ok(()),
    }
}

/// What random launches show, whatever the line.
fn explored(case: &Case, module: &Module, number: usize, kernel: &Kernel) -> Vec<Finding> {
    let file = case.input.to_string_lossy();
    let rules = case.options.rules;
    let emulator = Emulator {
        aliases: &Aliases::default(),
        module,
        number,
        file: &file,
        annotations: None,
        dynamic_shared: None,
        rules,
    };
    let suspects = Suspects { races: (1..10_000).collect(), barriers: (1..10_000).collect(), ..Suspects::default() };
    if assumption_of_user(kernel).is_some() {
        return Vec::new();
    }
    let explored = Explorer::new(&emulator, kernel, &suspects, Effort::PATIENT).run(kernel.geometry);
    explored.map_or_else(Vec::new, |explored| explored.findings)
}

/// Index and program of the kernel; `None` for what the earlier stages do not support.
fn lowered(case: &Case, module: &Module) -> Result<Option<(usize, Kernel)>, Failed> {
    if case.input.extension().is_some_and(|extension| extension == "ivl") {
        return Ok(None);
    }
    let wanted = |name: &str| case.entry.as_deref().is_none_or(|entry| entry == name);
    let number = module.functions.iter().position(|f| f.is_entry && f.body.is_some() && wanted(&f.name));
    let number = number.ok_or("no such kernel")?;
    let entry = &module.functions[number];
    let options = LowerOptions {
        geometry: case.options.geometry,
        params: case.options.params.iter().map(|p| (p.name.clone(), p.value as u64)).collect(),
        ..LowerOptions::default()
    };
    let kernel = gpuvcc::cfg::build(module, entry, options.rules).and_then(|cfg| lower(module, entry, &cfg, &options));
    Ok(kernel.ok().map(|kernel| (number, kernel)))
}

/// The line that a mark would stand on.
fn line(case: &Case, origin: &Origin) -> u32 {
    let position = origin.position.as_ref().filter(|_| case.source.is_some());
    position.map_or(origin.line, |position| position.line)
}
