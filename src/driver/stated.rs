//! What options take for granted, in sentences for the report.
//!
//! Input: the options of a run. Output: a sentence for each that makes a proof, or an execution, say less or that adds to
//! what is assumed. Establishes: no such option goes unsaid. Reference: DESIGN section 3 (standing decisions).

use super::options::Options;
use crate::ivl::ast::StmtKind;
use crate::kernel::Kernel;
use crate::rules::Rules;

/// Sentences about the rules that decide what a defect is.
pub(crate) fn by_rules(rules: Rules) -> impl Iterator<Item = String> + use<> {
    let same = "two writes of the same value do not race (--allow-same-value)";
    let volatile = "volatile accesses race as plain ones do (--volatile-races)";
    let exited = "barriers that name no count do not wait for threads that have exited (--exited-threads=ok)";
    let tensor = "barriers order accesses to tensor memory in a kernel without `tcgen05.fence`, and words that held addresses of it \
                  are given to bulk copies without a proxy fence (--assume tensor-order)";
    let said = [
        (rules.allow_same_value, same),
        (rules.volatile_races, volatile),
        (rules.exited_threads_ok, exited),
        (rules.tensor_order, tensor),
    ];
    said.into_iter().filter(|(given, _)| *given).map(|(_, sentence)| sentence.to_string())
}

/// Sentences about the options that a proof rests on.
pub(crate) fn by_options(options: &Options, kernel: &Kernel) -> Vec<String> {
    let body = kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
    let mut statements = body.flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
    let has_barrier = statements.any(|stmt| matches!(stmt.kind, StmtKind::Barrier(_)));
    let rules = Rules { exited_threads_ok: options.rules.exited_threads_ok && has_barrier, ..options.rules };
    let mut said: Vec<String> = by_rules(rules).collect();
    if rules.may_alias {
        said.push("pointers may refer to arrays that overlap (--may-alias)".to_string());
    }
    said.extend(options.params.iter().map(|setting| format!("`{}` is {} (--param)", setting.name, setting.value)));
    said
}
