//! One kernel's way through the stages, one line a stage.

use super::array_fact;
use super::exact;
use super::input::{Input, Language};
use super::mend;
use super::notes;
use super::objects;
use super::options::{Arithmetic, Engine, Options, Stage};
use super::phases;
use super::procedures::{self, Source};
use super::redundant;
use super::same_value::{self, Plan};
use super::stated;
use crate::confirm::trials::{self, Trials};
use crate::confirm::{self, emulate::Emulator};
use crate::diagnostic::Diagnostic;
use crate::effort::{self, Effort};
use crate::finding::{KernelReport, ParameterValue, Subject, Verdict};
use crate::geometry::Geometry;
use crate::ivl;
use crate::ivl::ast::Name;
use crate::ivl::attributes::Attributes;
use crate::jobs::Jobs;
use crate::kernel::{self, Kernel, LowerOptions};
use crate::launch::condition::{self, Condition};
use crate::launch::conditions;
use crate::launch::{self, Attempt, plausible};
use crate::limits;
use crate::predicate::{self, Predicated};
use crate::prove::question::{Question, Visit, prove_pairs};
use crate::ptx;
use crate::slice::{self, Sliced};
use crate::solver::Encoding;
use crate::span::Span;
use crate::twothread::{self, Prelude};
use crate::verdict::decide::{self, Search};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// A parsed input.
pub enum Program {
    /// PTX.
    Ptx(ptx::ast::Module),
    /// Kernels and procedures in the IVL.
    Ivl(Box<Source>),
}

impl Program {
    /// Names of the kernels, in the order of the text.
    pub fn kernels(&self) -> Vec<String> {
        match self {
            Program::Ptx(module) => {
                let entries = module.functions.iter().filter(|function| function.is_entry && function.body.is_some());
                entries.map(|entry| entry.name.to_string()).collect()
            }
            Program::Ivl(source) => {
                let program = &source.program;
                let kernels = program.procedures.iter().filter(|procedure| procedure.attributes.has("kernel"));
                let procedures = procedures::names(program);
                let kernels: Vec<String> = kernels.map(|procedure| procedure.name.to_string()).collect();
                let others = procedures.into_iter().filter(|name| !kernels.contains(name)).collect::<Vec<String>>();
                kernels.into_iter().chain(others).collect()
            }
        }
    }
}

impl Program {
    /// What an entry is.
    pub(crate) fn subject(&self, entry: &str) -> Subject {
        self.of_procedure(entry).map_or(Subject::Kernel, |_| Subject::Procedure)
    }

    /// The program of a procedure that is no kernel.
    pub(super) fn of_procedure(&self, entry: &str) -> Option<&Source> {
        let Program::Ivl(source) = self else { return None };
        let is_kernel =
            |procedure: &ivl::ast::Procedure| procedure.name.as_str() == entry && procedure.attributes.has("kernel");
        (!source.program.procedures.iter().any(is_kernel)).then_some(source)
    }
}

/// The launch of a kernel that was refused before its own was known: the one asked for, with what the
/// entry requires.
pub fn launch_of(program: &Program, entry: &str, options: &Options) -> Geometry {
    let required = match program {
        Program::Ptx(module) => entry_of(module, entry).ok().and_then(|entry| entry.required_block),
        Program::Ivl(_) => None,
    };
    let mut launch = options.geometry;
    for (size, required) in launch.block.iter_mut().zip(required.into_iter().flatten()) {
        *size = size.or(Some(required.max(1)));
    }
    launch
}

/// Parses an input; all errors that can be told apart.
pub fn parse(input: &Input) -> Result<Program, Vec<Diagnostic>> {
    parse_with(input, false)
}

/// The same, where procedures may leave out what they modify.
pub(crate) fn parse_with(input: &Input, infers_modifies: bool) -> Result<Program, Vec<Diagnostic>> {
    let text = input.source.text();
    let ivl = |source: Source| Program::Ivl(Box::new(source));
    match input.language {
        Language::Ptx => ptx::parse(text).map(Program::Ptx),
        Language::Ivl(dialect) if infers_modifies => {
            ivl::parse_inferring(text, dialect).map(|(program, inferred)| ivl(Source::inferred(program, inferred)))
        }
        Language::Ivl(dialect) => ivl::parse_dialect(text, dialect).map(|program| ivl(Source::new(program))),
    }
}

/// `--emit tokens`
pub fn tokens(input: &Input) -> String {
    match input.language {
        Language::Ptx => ptx::tokens(input.source.text()),
        Language::Ivl(dialect) => ivl::tokens(input.source.text(), dialect),
    }
}

/// `--emit ast`
pub fn ast(program: &Program) -> String {
    match program {
        Program::Ptx(module) => ptx::print_ast(module),
        Program::Ivl(source) => ivl::print(&source.program),
    }
}

/// Everything up to the predicated program.
pub(super) struct Lowered {
    pub(super) kernel: Kernel,
    pub(super) sliced: Sliced,
    pub(super) predicated: Predicated,
}

pub(super) fn lower(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    conditions: &[Condition],
) -> Result<Lowered, Vec<Diagnostic>> {
    let mut lower_options = LowerOptions {
        geometry: options.geometry,
        params: options.params.iter().chain(&options.known_params).map(|p| (p.name.clone(), p.value as u64)).collect(),
        words: options.known_words.iter().map(|p| (p.name.clone(), p.value as u64)).collect(),
        rules: options.rules,
        aliases: options.known_aliases.clone(),
        max_threads: options.max_threads,
    };
    conditions.iter().for_each(|condition| condition.fix(&mut lower_options));
    let mut kernel = match program {
        Program::Ptx(module) => {
            let entry = entry_of(module, entry)?;
            let _stage = limits::stage("cfg");
            let cfg = crate::cfg::build(module, entry, options.rules)?;
            let _stage = limits::stage("kernel");
            kernel::lower(module, entry, &cfg, &lower_options)?
        }
        Program::Ivl(source) => super::ivl_kernel::enter(input.source.text(), &source.program, entry, &lower_options)?,
    };
    conditions::require(&mut kernel, conditions);
    ivl::check_stage(&kernel.program, "kernel");
    let mut sliced = sliced(&kernel, options, &BTreeSet::new());
    let mut predicated = predicated(&sliced)?;
    // Which loads yield arbitrary values is seen only now; what is stored there matters less.
    let again = self::sliced(&kernel, options, &twothread::unread(&predicated));
    if again.program != sliced.program {
        predicated = self::predicated(&again)?;
        sliced = again;
    }
    Ok(Lowered { kernel, sliced, predicated })
}

fn sliced(kernel: &Kernel, options: &Options, unread: &BTreeSet<Name>) -> Sliced {
    let _stage = limits::stage("slice");
    let sliced = slice::run(&kernel.program, options.rules, unread);
    ivl::check_stage(&sliced.program, "slice");
    sliced
}

fn predicated(sliced: &Sliced) -> Result<Predicated, Vec<Diagnostic>> {
    let _stage = limits::stage("predicate");
    let predicated = predicate::run(&sliced.program)?;
    ivl::check_stage(&predicated.program, "predicate");
    Ok(predicated)
}

pub(super) fn entry_of<'a>(
    module: &'a ptx::ast::Module,
    entry: &str,
) -> Result<&'a ptx::ast::Function, Vec<Diagnostic>> {
    let found = module.functions.iter().find(|f| f.is_entry && f.name.as_ref() == entry);
    found.ok_or_else(|| vec![Diagnostic::error("no-such-entry", format!("no kernel is named `{entry}`"), Span::NONE)])
}

fn two_thread_options(geometry: Geometry, options: &Options) -> twothread::Options {
    twothread::Options { geometry, rules: options.rules, contents: true }
}

fn encodings(arithmetic: Arithmetic) -> &'static [Encoding] {
    match arithmetic {
        Arithmetic::Auto => &[Encoding::Integers, Encoding::BitVectors],
        Arithmetic::Int => &[Encoding::Integers],
        Arithmetic::Bv => &[Encoding::BitVectors],
    }
}

/// What confirms the defects of a PTX kernel.
pub(super) fn emulator<'a>(
    input: &'a Input,
    program: &'a Program,
    entry: &str,
    options: &'a Options,
) -> Option<Emulator<'a>> {
    let Program::Ptx(module) = program else { return None };
    let number = module.functions.iter().position(|function| function.is_entry && *function.name == *entry)?;
    let (file, rules, dynamic_shared) = (input.source.name(), options.rules, options.dynamic_shared);
    let annotations = options.annotations.as_deref();
    let aliases = &options.known_aliases;
    Some(Emulator { module, number, file, annotations, dynamic_shared, rules, aliases })
}

pub(super) fn question<'a>(
    lowered: &'a Lowered,
    prelude: &'a Prelude,
    options: &'a Options,
    (effort, jobs): (Effort, &'a Jobs),
) -> Question<'a> {
    Question {
        kernel: &lowered.kernel,
        predicated: &lowered.predicated,
        loop_heads: &lowered.sliced.loop_heads,
        prelude,
        options: two_thread_options(lowered.kernel.geometry, options),
        encodings: encodings(options.arith),
        tries: usize::MAX,
        effort,
        omitted: &options.omit_families,
        first_failure: false,
        tell_invariants: options.invariants,
        jobs,
    }
}

/// Verifies a kernel, in this thread and in those that `jobs` has left. `Err`: errors in the input for this kernel, or
/// what has no sound model.
pub fn verify(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    jobs: &Jobs,
) -> Result<KernelReport, Vec<Diagnostic>> {
    verify_and(input, program, entry, options, jobs).map(|(report, _)| report)
}

/// The same, with the conditions of the proof if it has some.
pub(super) fn verify_and(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    jobs: &Jobs,
) -> Result<(KernelReport, Vec<Condition>), Vec<Diagnostic>> {
    if let Some(source) = program.of_procedure(entry) {
        return procedures::verify(input, source, entry, options).map(|report| (report, Vec::new()));
    }
    let (start, before) = (Instant::now(), effort::spent());
    if options.engine == Engine::Exact {
        let mut report = exact::verify(input, program, entry, options)?;
        report.time_ms = start.elapsed().as_millis() as u64;
        return Ok((report, Vec::new()));
    }
    let mut proved = Vec::new();
    let mut by_plan = |plan: Plan| {
        let options = Options { rules: plan.rules, ..options.clone() };
        verify_by(input, program, entry, &options, jobs, (plan, &mut proved))
    };
    let mut symbolic = |effort: Effort| {
        let answer = same_value::verify(options.rules, effort, &mut by_plan);
        objects::or_in_step(answer, program, options.rules, effort, &mut by_plan)
    };
    let (answer, was_asked) = exact::or_between(&mut symbolic, input, program, entry, options);
    let answer = phases::or_phases(answer, program, entry, options, &mut by_plan);
    let answer = (answer, was_asked);
    let mut report = exact::or_exact(answer, input, program, entry, options)?;
    report.given = given(program, entry, options);
    mend::try_barrier(&mut report, input, program, entry, options, jobs);
    array_fact::try_facts(&mut report, input, program, entry, options, jobs);
    let conditions = proved.into_iter().rev().find(|proved| condition::lines(proved) == report.conditions);
    if let (true, Program::Ptx(module)) = (options.redundant, program) {
        let own = effort::spent() - before;
        redundant::list(&mut report, input, (module, entry), options, conditions.as_deref(), (own, jobs));
    }
    report.time_ms = start.elapsed().as_millis() as u64;
    log::debug!("{entry}: {:?} in {} ms", effort::spent(), report.time_ms);
    Ok((report, conditions.unwrap_or_default()))
}

/// Verifies a kernel under the rules of its options; the conditions of all proofs are added to the list.
fn verify_by(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    jobs: &Jobs,
    (by, proved): (Plan, &mut Vec<Vec<Condition>>),
) -> Result<KernelReport, Vec<Diagnostic>> {
    let prelude = super::preludes::of(&options.prelude)?;
    let emulator = emulator(input, program, entry, options);
    let lowered = lower(input, program, entry, options, &[])?;
    let kernel = lowered.kernel.clone();
    let essence = Kernel { program: slice::essence(&kernel.program, options.rules), ..kernel };
    let usual = (!options.any_values).then(|| plausible::conditions(&lowered.kernel, &essence));
    log::debug!("likely of {entry}: {:?}", usual.as_deref().map(condition::lines));
    let is_plausible = |launch: Geometry<u32>, params: &BTreeMap<String, ParameterValue>| {
        plausible::are_met(usual.as_deref().unwrap_or_default(), launch, params)
    };
    let decide = |conditions: &[Condition], plan: Attempt| {
        let plan = Attempt { search: plan.search.min(by.search), ..plan };
        let lowered = lower(input, program, entry, options, conditions)?;
        let mut question = question(&lowered, &prelude, options, (plan.effort, jobs));
        question.first_failure = plan.search == Search::Proof;
        question.tries = plan.encodings;
        let mut report = KernelReport::new(input.source.name(), entry, lowered.kernel.geometry);
        report.assumptions = lowered.kernel.assumptions.clone();
        report.assumptions.extend(stated::by_options(options, &lowered.kernel));
        report.diagnostics = lowered.kernel.warnings.clone();
        decide::run(&question, plan.search, (emulator, &is_plausible), report)
    };
    // A limit ends an attempt, and the launches that were decided before are not lost with it.
    let decide = |conditions: &[Condition], plan: Attempt| {
        limits::within(|| decide(conditions, plan)).unwrap_or_else(|exceeded| {
            Ok(KernelReport::new(input.source.name(), entry, options.geometry).stopped(exceeded))
        })
    };
    let mut decide = |conditions: &[Condition], plan: Attempt| {
        let report = decide(conditions, plan);
        if report.as_ref().is_ok_and(|report| report.verdict == Verdict::Verified) {
            proved.push(conditions.to_vec());
        }
        report
    };
    let mut report = launch::decide((&lowered.kernel, &essence), usual.as_deref(), by.effort, &mut decide)?;
    report.launch = lowered.kernel.geometry;
    Ok(report)
}

/// Whether a kernel is proved for the launch of the options, without a search for defects. `Err` as for [`verify`].
pub(crate) fn proof(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    effort: Effort,
    jobs: &Jobs,
) -> Result<KernelReport, Vec<Diagnostic>> {
    proof_under(input, program, entry, options, &[], (effort, jobs))
}

/// The same for launches that meet conditions.
pub(crate) fn proof_under(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    conditions: &[Condition],
    (effort, jobs): (Effort, &Jobs),
) -> Result<KernelReport, Vec<Diagnostic>> {
    let prelude = super::preludes::of(&options.prelude)?;
    let lowered = lower(input, program, entry, options, conditions)?;
    let mut question = question(&lowered, &prelude, options, (effort, jobs));
    question.first_failure = true;
    let mut report = KernelReport::new(input.source.name(), entry, lowered.kernel.geometry);
    report.assumptions = lowered.kernel.assumptions.clone();
    decide::run(&question, Search::Proof, (None, &|_, _| true), report)
}

/// Whether a few random executions of a kernel show a defect in the launch of the options.
pub(super) fn shows_defect(input: &Input, program: &Program, entry: &str, options: &Options) -> bool {
    let Ok(lowered) = lower(input, program, entry, options, &[]) else { return false };
    let emulator = emulator(input, program, entry, options);
    emulator.is_some_and(|emulator| confirm::shows_defect(&emulator, &lowered.kernel))
}

/// Random executions of a kernel in launches that meet conditions. `Err` as for [`verify`].
pub(crate) fn trials(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    conditions: &[Condition],
) -> Result<Trials, Vec<Diagnostic>> {
    let lowered = lower(input, program, entry, options, conditions)?;
    let Some(emulator) = emulator(input, program, entry, options) else { return Ok(Trials::default()) };
    let are_met = |launch: Geometry<u32>, params: &BTreeMap<String, ParameterValue>| {
        conditions.iter().all(|condition| condition.holds_in(launch, params))
    };
    Ok(trials::run(&emulator, &lowered.kernel, &are_met))
}

/// The parameters to which options give a value, as the kernel calls them.
pub(super) fn given(program: &Program, entry: &str, options: &Options) -> BTreeSet<String> {
    let settings = options.params.iter().chain(&options.known_params).chain(&options.known_words);
    let keys = settings.map(|setting| setting.name.as_str());
    match program {
        Program::Ptx(module) => {
            let Ok(entry) = entry_of(module, entry) else { return BTreeSet::new() };
            let found = keys.filter_map(|key| entry.parameter_or_position(key));
            found.map(|index| entry.params[index].name.to_string()).collect()
        }
        Program::Ivl(_) => keys.map(str::to_string).collect(),
    }
}

/// The proof attempts for all pairs of threads, for measurements. `Err` as for [`verify`].
pub fn prove(
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    visit: &mut Visit,
) -> Result<(), Vec<Diagnostic>> {
    let effort = Effort::of(options.timeout);
    let prelude = super::preludes::of(&options.prelude)?;
    let lowered = lower(input, program, entry, options, &[])?;
    let jobs = Jobs::default();
    prove_pairs(&question(&lowered, &prelude, options, (effort, &jobs)), visit)
}

/// The text of a stage from `cfg` on. `Err` as for [`verify`].
pub fn emit(
    input: &Input,
    program: &Program,
    entry: &str,
    stage: Stage,
    options: &Options,
) -> Result<String, Vec<Diagnostic>> {
    if let (Stage::Cfg, Program::Ptx(module)) = (stage, program) {
        let cfg = crate::cfg::build(module, entry_of(module, entry)?, options.rules)?;
        let dot = options.format == super::options::Format::Dot;
        return Ok(if dot { crate::cfg::dot(&cfg) } else { crate::cfg::print(&cfg) });
    }
    if let Some(source) = program.of_procedure(entry) {
        return procedures::emit(source, entry, stage, options).map(|placed| placed.text);
    }
    if let (Stage::Phases, Program::Ptx(module)) = (stage, program) {
        return phases::text(program, module, entry, options);
    }
    let lowered = lower(input, program, entry, options, &[])?;
    match stage {
        Stage::Tokens | Stage::Ast | Stage::Cfg | Stage::Phases => Ok(ast(program)),
        Stage::Kernel => {
            let kernel = &lowered.kernel.program;
            Ok(ivl::print_with_notes(kernel, &notes::of_kernel(kernel)))
        }
        Stage::Slice => {
            let sliced = &lowered.sliced.program;
            Ok(ivl::print_with_notes(sliced, &notes::of_kernel(sliced)))
        }
        Stage::Order => Ok(predicate::order_text(&lowered.predicated)),
        Stage::Predicated => {
            let notes = notes::of_predicated(&lowered.sliced.program, &lowered.predicated);
            Ok(ivl::print_with_notes(&lowered.predicated.program, &notes))
        }
        Stage::Twothread
        | Stage::Ivl
        | Stage::IvlFull
        | Stage::Candidates
        | Stage::Passive
        | Stage::Vc
        | Stage::Smt2 => {
            let prelude = super::preludes::of(&options.prelude)?;
            let (effort, jobs) = (Effort::of(options.timeout), Jobs::default());
            let question = question(&lowered, &prelude, options, (effort, &jobs));
            match stage {
                Stage::Twothread => super::emit::two_thread(&question).map(|placed| placed.text),
                _ => super::emit::inferred(&question, stage, options.minimal),
            }
        }
    }
}
