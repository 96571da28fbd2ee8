//! Both preludes against the definition of a race: for every pair of small accesses, a check fails for
//! some choice of the prelude exactly when the two accesses race.

use super::evaluate::{Store, evaluate};
use super::program::unfold;
use gpuvcc::ivl::ast::*;
use gpuvcc::twothread::prelude::{LOGGING_SETS, Setting, WATCHED_BYTE, load};

/// An access: read or write, `None` weak or the scope, start, width, value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Access {
    write: bool,
    scope: Option<u128>,
    start: u128,
    width: u128,
    value: u128,
}

/// The definition: overlap, a write, and not morally strong. `gpu` is scope 2.
fn race(a: Access, b: Access, setting: Setting) -> bool {
    let overlap = a.start < b.start + b.width && b.start < a.start + a.width;
    let reaches = |scope: u128| setting.same_block || scope >= 2;
    let morally_strong = match (a.scope, b.scope) {
        (Some(p), Some(q)) => reaches(p) && reaches(q) && (a.start, a.width) == (b.start, b.width),
        _ => false,
    };
    let byte = |access: Access, at: u128| access.value >> (8 * (at - access.start)) & 0xff;
    let weak_writes = a.write && b.write && a.scope.is_none() && b.scope.is_none();
    let (from, to) = (a.start.max(b.start), (a.start + a.width).min(b.start + b.width));
    let same = setting.allow_same_value && weak_writes && (from..to).all(|at| byte(a, at) == byte(b, at));
    overlap && (a.write || b.write) && !morally_strong && !same
}

fn accesses() -> Vec<Access> {
    let mut result = Vec::new();
    for write in [false, true] {
        for (start, width) in [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)] {
            for scope in [None, Some(0), Some(1), Some(2), Some(3)] {
                let values: &[u128] = if write && scope.is_none() { &[0x0101, 0x0201, 0x0102] } else { &[0] };
                result.extend(values.iter().map(|&value| Access { write, scope, start, width, value }));
            }
        }
    }
    result
}

/// Runs a straight-line procedure; false when an assertion fails.
fn execute(program: &Program, name: &str, args: &[u128], store: &mut Store) -> bool {
    let name = format!("{name}_A");
    let procedure = program.procedures.iter().find(|procedure| procedure.name.as_str() == name).expect("contract");
    store.extend(procedure.params.iter().map(|param| param.name.clone()).zip(args.iter().copied()));
    for stmt in procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts) {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                for (target, value) in pairs {
                    let value = evaluate(value, store);
                    store.insert(target.clone(), value);
                }
            }
            StmtKind::Assert(_, e) if evaluate(e, store) == 0 => return false,
            StmtKind::Assert(..) | StmtKind::Havoc(_) => {}
            other => panic!("not in a prelude: {other:?}"),
        }
    }
    true
}

/// Procedure of an access and its arguments.
fn call(access: Access, verb: &str) -> (String, Vec<u128>) {
    let kind = if access.write { "WRITE" } else { "READ" };
    let mut args =
        if verb == "LOG" { vec![1, 7, access.start, access.width] } else { vec![1, access.start, access.width] };
    match access.scope {
        Some(scope) => args.push(scope),
        None if access.write => args.push(access.value),
        None => {}
    }
    let strong = if access.scope.is_some() { "STRONG_" } else { "" };
    (format!("{verb}_{strong}{kind}"), args)
}

/// Whether some choice of constants and havocs makes the check of `b` after the log of `a` fail.
/// Irrelevant choices are left at values that occur, which only narrows the search.
fn fails(program: &Program, a: Access, b: Access, site: u128, cleared: bool) -> bool {
    let mut found = false;
    for byte in 0..a.width {
        let mut store = Store::new();
        for global in &program.globals {
            store.insert(global.name.clone(), 1);
        }
        let watched = a.start + byte;
        for (name, value) in [
            ("_TRACKED_SITE", site),
            ("_WATCHED_WIDTH", a.width),
            ("_WATCHED_SCOPE", a.scope.unwrap_or(0)),
            ("_WATCHED_OFFSET_A", watched),
            ("_WATCHED_START_A", a.start),
            ("_WATCHED_VALUE_A", a.value >> (8 * byte) & 0xff),
            ("track", 1),
            ("byte", byte),
        ] {
            store.insert(name.into(), value);
        }
        assert!(execute(program, "BARRIER_CLEAR", &[1], &mut store));
        let (name, args) = call(a, "LOG");
        assert!(execute(program, &name, &args, &mut store));
        assert!(execute(program, "BARRIER_CLEAR", &[u128::from(cleared)], &mut store));
        let (name, args) = call(b, "CHECK");
        found |= !execute(program, &name, &args, &mut store);
    }
    found
}

/// The accesses as far apart as they are, or by multiples of 2^32 more.
fn far_apart(a: Access, b: Access) -> [(Access, Access); 3] {
    let far = |access: Access, times: u128| Access { start: access.start + (times << 32), ..access };
    [(a, b), (far(a, 1), b), (far(a, 2), far(b, 7))]
}

#[test]
fn a_check_fails_exactly_for_races() {
    let accesses = accesses();
    let settings = [true, false].into_iter().flat_map(|same_block| {
        let flags = [[false; 3], [true, false, false], [false, true, false], [true, true, false], [false, false, true]];
        flags.map(|[allow_same_value, narrow, aligned]| Setting { same_block, allow_same_value, narrow, aligned })
    });
    for (text, setting) in settings.flat_map(|setting| [(WATCHED_BYTE, setting), (LOGGING_SETS, setting)]) {
        let prelude = load(text).expect("ships");
        let mut program = prelude.instantiate(&Name::from("A"), setting);
        program.constants.extend(prelude.common(setting).constants);
        unfold(&mut program);
        for &a in &accesses {
            for &b in &accesses {
                let is_aligned = |access: Access| access.scope.is_none() || access.start.is_multiple_of(access.width);
                if setting.aligned && !(is_aligned(a) && is_aligned(b)) {
                    continue;
                }
                let is_race = race(a, b, setting);
                for (number, (a, b)) in far_apart(a, b).into_iter().enumerate() {
                    let meet = is_race && (number == 0 || setting.narrow);
                    assert_eq!(fails(&program, a, b, 7, false), meet, "{a:?} {b:?} {setting:?}");
                }
            }
            // Another site is not remembered, and a barrier that both passed forgets.
            assert!(!fails(&program, a, accesses[accesses.len() - 1], 8, false));
            assert!(!fails(&program, a, accesses[accesses.len() - 1], 7, true));
        }
    }
}
