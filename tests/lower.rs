//! The `cfg` and `kernel` stages on files.
//!
//! - Every entry of `../shared/ptx-samples` (where that folder exists) and of the kernels below
//!   `tests/kernels` is lowered or refused as unsupported; what is lowered type-checks, is well-formed
//!   (Def. 5.1 of the lock-step paper) and uses no `$`.
//! - `tests/cfg/*.ptx` and `tests/lower/*.ptx` say in their leading comments what to expect of their
//!   one entry:
//!   `// options: may-alias check-bounds block=X,Y,Z grid=X,Y,Z NAME=VALUE`
//!   `// has TEXT`       a line of the printed graph or program is TEXT (spaces at its ends aside)
//!   `// has-not TEXT`   TEXT occurs nowhere in them
//!   `// count N TEXT`   TEXT occurs N times
//!   `// expect CODE LINE TEXT`   a diagnostic, TEXT part of the message; then there is no output
//!   `// snapshot cfg` or `// snapshot kernel`   the output is kept in `snapshots/`

use gpuvcc::diagnostic::{Diagnostic, Severity};
use gpuvcc::ivl::ast::{BinaryOp, ExprKind, ExprRef, Implementation, Stmt, StmtKind, Transfer};
use gpuvcc::kernel::{Kernel, LowerOptions};
use gpuvcc::ptx::ast::{Function, Module};
use gpuvcc::rules::Rules;
use gpuvcc::{cfg, ivl, kernel, ptx};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub fn trials() -> Vec<Trial> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut kernels = Vec::new();
    for folder in ["../shared/ptx-samples", "../../shared/ptx-samples", "tests/kernels"] {
        collect(&root.join(folder), &mut kernels);
    }
    let mut cases = Vec::new();
    ["tests/cfg", "tests/lower"].iter().for_each(|folder| collect(&root.join(folder), &mut cases));
    let kernels = kernels.into_iter().map(|path| trial("lowers", path, lowers));
    let cases = cases.into_iter().map(|path| trial("case", path, case));
    kernels.chain(cases).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
}

fn trial(kind: &str, path: PathBuf, test: fn(&str, &str) -> Result<(), Failed>) -> Trial {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Trial::test(format!("{kind}::{name}"), move || test(&name, &fs::read_to_string(&path)?))
}

fn translate(module: &Module, entry: &Function, options: &LowerOptions) -> Result<(String, Kernel), Vec<Diagnostic>> {
    let graph = cfg::build(module, entry, options.rules)?;
    let kernel = kernel::lower(module, entry, &graph, options)?;
    Ok((cfg::print(&graph), kernel))
}

fn show(errors: &[Diagnostic]) -> String {
    errors.iter().map(|e| format!("{}: {}\n", e.code, e.message)).collect()
}

fn lowers(_: &str, text: &str) -> Result<(), Failed> {
    let module = ptx::parse(text).map_err(|errors| show(&errors))?;
    for entry in module.functions.iter().filter(|f| f.is_entry) {
        for may_alias in [false, true] {
            let options = LowerOptions {
                rules: Rules { may_alias, check_bounds: may_alias, ..Rules::default() },
                ..LowerOptions::default()
            };
            match translate(&module, entry, &options) {
                Ok((_, kernel)) => well_formed(&kernel)?,
                Err(errors) if errors.iter().all(|e| e.severity == Severity::Unsupported) => {}
                // Facts about arrays are refused where others may write them.
                Err(errors) if may_alias && errors.iter().all(|e| e.message.starts_with("with --may-alias ")) => {}
                Err(errors) => return Err(format!("{}: {}", entry.name, show(&errors)).into()),
            }
        }
    }
    Ok(())
}

/// What the next stages rely on.
fn well_formed(kernel: &Kernel) -> Result<(), Failed> {
    ivl::check(&kernel.program).map_err(|errors| show(&errors))?;
    let text = ivl::print(&kernel.program);
    if let Some(line) = text.lines().find(|line| !line.trim().starts_with("//") && line.contains('$')) {
        return Err(format!("`$` in: {line}").into());
    }
    for procedure in &kernel.program.procedures {
        siblings_are_a_tautology(procedure.body.as_ref().ok_or("no body")?)?;
    }
    Ok(())
}

/// Branch targets start with `assume`, no other block does, and the conditions of siblings cover all
/// cases: `c` and `!c`, or `x == 0`, ..., `x >= n`.
fn siblings_are_a_tautology(body: &Implementation) -> Result<(), Failed> {
    let blocks: BTreeMap<&str, &Vec<Stmt>> = body.blocks.iter().map(|b| (b.label.as_str(), &b.stmts)).collect();
    for block in &body.blocks {
        let Transfer::Goto(targets) = &block.transfer else { continue };
        let [_, _, ..] = targets.as_slice() else { continue };
        let mut conditions = Vec::new();
        for target in targets {
            match blocks.get(target.as_str()).and_then(|stmts| stmts.first()).map(|s| &s.kind) {
                Some(StmtKind::Assume(_, condition)) => conditions.push(condition.clone()),
                _ => return Err(format!("`{target}` does not start with an assume").into()),
            }
        }
        if !covers(&conditions) {
            return Err(format!("the branches of `{}` do not cover all cases", block.label).into());
        }
    }
    Ok(())
}

fn covers(conditions: &[ExprRef]) -> bool {
    if let [a, b] = conditions
        && (ivl::bv::not(a.clone()) == *b || ivl::bv::not(b.clone()) == *a)
    {
        return true;
    }
    let Some((last, equalities)) = conditions.split_last() else { return false };
    let numbered = (0u128..)
        .zip(equalities)
        .all(|(k, e)| matches!(&e.kind, ExprKind::Binary(BinaryOp::Eq, _, number) if number.kind == ExprKind::Bv(k)));
    let rest = equalities.len() as u128;
    numbered
        && matches!(&last.kind, ExprKind::Call(name, args)
        if name.as_str() == "BV32_UGE" && args[1].kind == ExprKind::Bv(rest))
}

/// The expectations of a file.
#[derive(Default)]
struct Header {
    options: LowerOptions,
    has: Vec<String>,
    has_not: Vec<String>,
    count: Vec<(usize, String)>,
    expect: Vec<(String, usize, String)>,
    snapshots: Vec<String>,
}

fn header(text: &str) -> Result<Header, Failed> {
    let mut header = Header::default();
    for line in text.lines().map_while(|l| l.strip_prefix("// ")) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "options:" => rest.split_whitespace().try_for_each(|o| option(o, &mut header.options))?,
            "has" => header.has.push(rest.to_string()),
            "has-not" => header.has_not.push(rest.to_string()),
            "count" => {
                let (number, text) = rest.split_once(' ').ok_or("count N TEXT")?;
                header.count.push((number.parse()?, text.to_string()));
            }
            "expect" => {
                let mut words = rest.splitn(3, ' ');
                let mut next = || words.next().ok_or("expect CODE LINE TEXT");
                header.expect.push((next()?.to_string(), next()?.parse()?, next()?.to_string()));
            }
            "snapshot" => header.snapshots.push(rest.to_string()),
            _ => {}
        }
    }
    Ok(header)
}

fn option(text: &str, options: &mut LowerOptions) -> Result<(), Failed> {
    let sizes = |value: &str| -> [Option<u32>; 3] {
        let mut parts = value.split(',').map(|n| n.parse().ok());
        [(); 3].map(|()| parts.next().unwrap_or(Some(1)))
    };
    match text.split_once('=') {
        None if text == "may-alias" => options.rules.may_alias = true,
        None if text == "check-bounds" => options.rules.check_bounds = true,
        Some(("block", value)) => options.geometry.block = sizes(value),
        Some(("grid", value)) => options.geometry.grid = sizes(value),
        Some((name, value)) => options.params.push((name.to_string(), value.parse()?)),
        None => return Err(format!("unknown option {text}").into()),
    }
    Ok(())
}

fn case(name: &str, text: &str) -> Result<(), Failed> {
    let header = header(text)?;
    let module = ptx::parse(text).map_err(|errors| show(&errors))?;
    let entry = module.functions.iter().find(|f| f.is_entry).ok_or("no entry")?;
    let (graph, kernel) = match translate(&module, entry, &header.options) {
        Ok(translated) => translated,
        Err(errors) => return diagnostics(text, &header, &errors),
    };
    if !header.expect.is_empty() {
        return Err("lowered, but diagnostics are expected".into());
    }
    well_formed(&kernel)?;
    let program = ivl::print(&kernel.program);
    let output = format!("{graph}{program}{}", kernel.assumptions.join("\n"));
    for expected in &header.has {
        if !output.lines().any(|line| line.trim() == expected.trim()) {
            return Err(format!("no line `{expected}` in\n{output}").into());
        }
    }
    if let Some(found) = header.has_not.iter().find(|t| output.contains(t.as_str())) {
        return Err(format!("`{found}` in\n{output}").into());
    }
    for (number, counted) in &header.count {
        let found = output.matches(counted.as_str()).count();
        if found != *number {
            return Err(format!("{found} times `{counted}`, not {number}, in\n{output}").into());
        }
    }
    for stage in &header.snapshots {
        let (folder, output) = if stage == "cfg" { ("cfg", &graph) } else { ("kernel", &program) };
        snapshot(folder, name, output);
    }
    Ok(())
}

fn diagnostics(text: &str, header: &Header, errors: &[Diagnostic]) -> Result<(), Failed> {
    let line = |error: &Diagnostic| {
        let start = error.labels.first().map_or(0, |label| label.0.start as usize);
        text[..start.min(text.len())].matches('\n').count() + 1
    };
    let matches = |error: &Diagnostic, (code, at, message): &(String, usize, String)| {
        error.code == code && line(error) == *at && error.message.contains(message.as_str())
    };
    let fits = errors.len() == header.expect.len() && errors.iter().zip(&header.expect).all(|(e, x)| matches(e, x));
    if fits {
        return Ok(());
    }
    let found: Vec<_> = errors.iter().map(|e| format!("expect {} {} {}", e.code, line(e), e.message)).collect();
    Err(format!("found:\n{}", found.join("\n")).into())
}

fn snapshot(folder: &str, name: &str, output: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, output));
}
