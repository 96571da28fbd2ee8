//! Accesses beside each other as one.
//!
//! Input: a two-thread program. Output: the same with fewer accesses, `None` where few are saved. Establishes: where all
//! assertions of the output hold, all of the input do. Relies on: a prelude that ships (an access is of so many bytes from
//! its offset on, and nothing else is told of a weak one); where a condition speaks of accesses by number, none is joined.
//! Reference: the tutorial paper, section 3 (LOG and CHECK); Wolfe, "Vector Optimization vs. Vectorization" (neighbours of
//! a loop that is written out).
//!
//! Compilers write short loops out: the 64 loads of a row stand one behind the other, at constant distances from one register, and
//! vectors are checked by element. Between two barriers, under one guard, weak accesses of one kind whose bytes have no gap
//! race if and only if one of all these bytes does: a byte is accessed by the one if and only if it is by one of the
//! others. The one is logged where the first was and checked where the last was, so that whatever was checked behind one of
//! the logs, or was logged before one of the checks, still is. In between nothing orders, nothing is assumed or asserted, and
//! neither the register nor the guard changes.

use crate::ivl::ast::{ExprKind, ExprRef, Name, Stmt, StmtKind, Type};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use crate::ivl::event::{Event, EventKind};
use crate::ivl::visit::{Visitor, assigned, free_vars, walk_procedure, without_spans};
use crate::twothread::TwoThread;
use foldhash::HashMap;
use std::collections::BTreeSet;

/// Fewer are not worth a proof of their own, as are less than one of so many.
const LEAST_SAVED: usize = 6;
const SHARE: usize = 3;

/// Bytes of one: what is wider is not compared thread by thread (`solver::enumeration`).
const WIDEST: i128 = 64;

/// With the accesses joined.
pub(super) fn run(two: &TwoThread) -> Option<TwoThread> {
    if !two.log.by_bytes || speaks_of_sites(two) {
        return None;
    }
    let is_narrow = |array: &Name| two.log.of(array).is_some_and(|log| log.narrow);
    let mut joined = two.clone();
    let procedure = joined.program.procedures.iter_mut().find(|procedure| procedure.name == two.procedure)?;
    let blocks = &mut procedure.body.as_mut()?.blocks;
    let checks = blocks.iter().flat_map(|block| &block.stmts).filter(|stmt| matches!(stmt.kind, StmtKind::Check(_)));
    let checks = checks.count();
    let saved: usize = blocks.iter_mut().map(|block| join(&mut block.stmts, &is_narrow)).sum();
    (saved >= LEAST_SAVED && saved * SHARE >= checks).then_some(joined)
}

/// Whether a condition of the program is about which access is remembered.
fn speaks_of_sites(two: &TwoThread) -> bool {
    struct Find(Name, bool);
    impl Visitor for Find {
        fn expr(&mut self, expr: &ExprRef) {
            self.1 |= free_vars(expr).contains(&self.0);
        }
    }
    let mut find = Find(two.log.tracked_site(), false);
    let procedures = two.program.procedures.iter().filter(|procedure| procedure.name == two.procedure);
    procedures.for_each(|procedure| walk_procedure(&mut find, procedure));
    find.1
}

/// A register, how many bits of it count, and how far from it, in bytes.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    register: Name,
    width: u32,
    distance: i128,
}

impl Place {
    /// So many bytes behind it, modulo its width.
    fn plus(self, bytes: i128) -> Place {
        let modulus = 1i128 << self.width;
        let sum = (self.distance + bytes).rem_euclid(modulus);
        Place { distance: if sum >= modulus / 2 { sum - modulus } else { sum }, ..self }
    }

    /// As an offset: 64 bits.
    fn offset(&self) -> ExprRef {
        let register = bv::var(self.register.clone(), Type::Bv(self.width));
        let distance = self.distance.rem_euclid(1 << self.width).unsigned_abs();
        let sum = if distance == 0 { register } else { bv::add(register, bv::literal(distance, self.width)) };
        if self.width == 64 { sum } else { bv::zext(sum, 64) }
    }
}

/// Accesses that are one if there is no gap between them.
struct Group {
    array: Name,
    /// An access of it, which has the kind.
    kind: EventKind,
    /// Guards of the two threads.
    active: [ExprRef; 2],
    /// Where the first of them is, for each thread.
    places: [Place; 2],
    members: Vec<Member>,
}

/// An access: its bytes from the place of the group on, and its statements.
struct Member {
    start: i128,
    end: i128,
    log: usize,
    check: usize,
}

impl Group {
    fn mentions(&self, name: &Name) -> bool {
        self.places.iter().any(|place| place.register == *name)
            || self.active.iter().any(|guard| free_vars(guard).contains(name))
    }
}

/// Joins the accesses of a block: how many it has less.
fn join(stmts: &mut Vec<Stmt>, is_narrow: &dyn Fn(&Name) -> bool) -> usize {
    let mut dropped = BTreeSet::new();
    for mut group in groups(stmts, is_narrow) {
        group.members.sort_by_key(|member| (member.start, member.log));
        for run in without_gaps(&group.members) {
            write(stmts, &group.places, run, &mut dropped);
        }
    }
    let mut number = 0;
    stmts.retain(|_| {
        number += 1;
        !dropped.contains(&(number - 1))
    });
    dropped.len()
}

/// Those members, sorted by start, that touch the ones before.
fn without_gaps(members: &[Member]) -> Vec<&[Member]> {
    let (mut runs, mut from, mut end) = (Vec::new(), 0, None);
    for (number, member) in members.iter().enumerate() {
        let is_wide = member.end - members[from].start > WIDEST;
        if end.is_some_and(|end| member.start > end || is_wide) {
            runs.push(&members[from..number]);
            from = number;
            end = None;
        }
        end = end.max(Some(member.end));
    }
    runs.push(&members[from..]);
    runs.retain(|run| run.len() > 1);
    runs
}

/// Makes one access of several. The checks that are not needed are added to `dropped`.
fn write(stmts: &mut [Stmt], places: &[Place; 2], run: &[Member], dropped: &mut BTreeSet<usize>) {
    let first = run.iter().map(|member| member.log).min();
    let last = run.iter().map(|member| member.check).max();
    let (start, end) = (run.iter().map(|member| member.start).min(), run.iter().map(|member| member.end).max());
    let bytes = start.zip(end).and_then(|(start, end)| u32::try_from(end - start).ok());
    let (Some(first), Some(last), Some(start), Some(bytes)) = (first, last, start, bytes) else { return };
    let [of_first, of_second] = places.clone().map(|place| Place { distance: start, ..place }.offset());
    let mut site = None;
    for member in run {
        let stmt = &mut stmts[member.log];
        match &mut stmt.kind {
            StmtKind::Log { event, .. } if member.log == first => {
                (event.offset, event.bytes) = (of_first.clone(), bytes);
                site = Some(event.site);
            }
            StmtKind::Log { logged, .. } => {
                stmt.kind = StmtKind::Assign(vec![(logged.clone(), bv::boolean(false))]);
            }
            _ => {}
        }
    }
    dropped.extend(run.iter().map(|member| member.check).filter(|check| *check != last));
    if let StmtKind::Check(event) = &mut stmts[last].kind {
        (event.offset, event.bytes, event.site) = (of_second, bytes, site.unwrap_or(event.site));
    }
}

/// The accesses of a block that are logged and checked one behind the other.
fn groups(stmts: &[Stmt], is_narrow: &dyn Fn(&Name) -> bool) -> Vec<Group> {
    let (mut open, mut closed, mut sums): (Vec<Group>, Vec<Group>, Sums) = Default::default();
    for (number, stmt) in stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Log { .. } | StmtKind::Assign(_) | StmtKind::Havoc(_) => {}
            StmtKind::Check(event) => {
                let log = number.checked_sub(1).map(|log| &stmts[log].kind);
                if let Some(StmtKind::Log { event: logged, .. }) = log
                    && let Some(new) = group([logged, event], number, &sums, is_narrow)
                {
                    match open.iter_mut().find(|group| is_beside(group, &new)) {
                        Some(group) => group.members.extend(new.members),
                        None => open.push(new),
                    }
                }
            }
            _ => closed.append(&mut open),
        }
        for name in assigned(stmt) {
            let (mentioning, others) = open.into_iter().partition(|group: &Group| group.mentions(name));
            closed.extend::<Vec<Group>>(mentioning);
            open = others;
        }
        sums.follow(stmt);
    }
    closed.extend(open);
    closed
}

/// Whether two groups differ in their members only.
fn is_beside(group: &Group, new: &Group) -> bool {
    group.array == new.array && group.kind == new.kind && group.active == new.active && group.places == new.places
}

/// An access by itself, if it may be joined to others.
fn group(
    [logged, checked]: [&Event; 2],
    check: usize,
    sums: &Sums,
    is_narrow: &dyn Fn(&Name) -> bool,
) -> Option<Group> {
    let may_join = match &checked.kind {
        EventKind::Read => true,
        EventKind::Write(value) => matches!(value.kind, ExprKind::Bv(0)),
        EventKind::StrongRead(_) | EventKind::StrongWrite(_) => false,
    };
    let are_one = logged.site == checked.site && logged.array == checked.array && logged.bytes == checked.bytes;
    let kind = |event: &Event| match &event.kind {
        EventKind::Write(value) => EventKind::Write(without_spans(value)),
        kind => kind.clone(),
    };
    if !may_join || !are_one || kind(logged) != kind(checked) {
        return None;
    }
    let [first, second] = [logged, checked].map(|event| sums.offset(&event.offset, is_narrow(&event.array)));
    let (first, second) = (first?, second?);
    let start = first.distance;
    if (second.distance, second.width) != (start, first.width) {
        return None;
    }
    let places = [first, second].map(|place| Place { distance: 0, ..place });
    let active = [without_spans(&logged.active), without_spans(&checked.active)];
    let members = vec![Member { start, end: start + i128::from(checked.bytes), log: check - 1, check }];
    Some(Group { array: checked.array.clone(), kind: kind(checked), active, places, members })
}

/// Registers that are others and a constant.
#[derive(Default)]
struct Sums(HashMap<Name, Place>);

impl Sums {
    /// What is known behind a statement.
    fn follow(&mut self, stmt: &Stmt) {
        let new = match &stmt.kind {
            StmtKind::Assign(pairs) => match &pairs[..] {
                [(name, value)] => self.place(value).map(|place| (name.clone(), place)),
                _ => None,
            },
            _ => None,
        };
        for name in assigned(stmt) {
            self.0.remove(name);
            self.0.retain(|_, place| place.register != *name);
        }
        self.0.extend(new.filter(|(name, place)| place.register != *name));
    }

    /// Where an access is. An offset of which the low half counts may be the extension of a register.
    fn offset(&self, offset: &ExprRef, is_narrow: bool) -> Option<Place> {
        match &offset.kind {
            ExprKind::Call(name, arguments) if is_narrow => match (parse_builtin(name.as_str()), &arguments[..]) {
                (Some(Builtin::ZeroExtend { from: 32, to: 64 }), [half]) => self.place(half),
                _ => self.place(offset),
            },
            _ => self.place(offset),
        }
    }

    fn place(&self, value: &ExprRef) -> Option<Place> {
        match &value.kind {
            ExprKind::Var(name) => match (self.0.get(name), &value.ty) {
                (Some(place), _) => Some(place.clone()),
                (None, Type::Bv(width @ (32 | 64))) => {
                    Some(Place { register: name.clone(), width: *width, distance: 0 })
                }
                _ => None,
            },
            ExprKind::Call(name, arguments) => match (parse_builtin(name.as_str()), &arguments[..]) {
                (Some(Builtin::Op(BvOp::Add, _)), [sum, constant]) => match &constant.kind {
                    ExprKind::Bv(bytes) => Some(self.place(sum)?.plus(i128::try_from(*bytes).ok()?)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::ghosts::{assign, statement};
    use crate::ivl::ast::Thread;
    use crate::order::Order;
    use std::collections::BTreeMap;

    fn register(name: &str, thread: u32) -> ExprRef {
        bv::var(Name::from(format!("{name}${thread}")), Type::Bv(64))
    }

    /// `call LOG; call CHECK` for `[name + distance]`.
    fn access(stmts: &mut Vec<Stmt>, kind: &EventKind, (name, distance): (&str, u128), bytes: u32) {
        let site = u32::try_from(stmts.len()).unwrap();
        let [log, check] = [(1, Thread::First), (2, Thread::Second)].map(|(number, thread)| {
            let offset = bv::add(register(name, number), bv::literal(distance & u128::from(u64::MAX), 64));
            let active = bv::var(Name::from(format!("p${number}")), Type::Bool);
            Box::new(Event { site, thread, array: Name::from("a"), kind: kind.clone(), active, offset, bytes })
        });
        stmts.push(statement(StmtKind::Log { event: log, logged: Name::from(format!("logged.{site}")) }));
        stmts.push(statement(StmtKind::Check(check)));
    }

    fn order() -> Stmt {
        statement(StmtKind::Order { array: Name::from("a"), both: bv::boolean(true), by: Order::Block })
    }

    fn write_of_nothing() -> EventKind {
        EventKind::Write(bv::literal(0, 64))
    }

    fn joined(mut stmts: Vec<Stmt>) -> (usize, Vec<Stmt>) {
        let saved = join(&mut stmts, &|_| false);
        (saved, stmts)
    }

    #[test]
    fn neighbours_are_one() {
        let mut stmts = Vec::new();
        (0..8).for_each(|i| access(&mut stmts, &EventKind::Read, ("r", 28 - 4 * i), 4));
        let (saved, stmts) = joined(stmts);
        assert_eq!(saved, 7);
        let StmtKind::Log { event, .. } = &stmts[0].kind else { panic!("{stmts:?}") };
        assert_eq!((event.bytes, without_spans(&event.offset)), (32, without_spans(&register("r", 1))));
        let Some(StmtKind::Check(event)) = stmts.last().map(|stmt| &stmt.kind) else { panic!("{stmts:?}") };
        assert_eq!((event.bytes, without_spans(&event.offset)), (32, without_spans(&register("r", 2))));
    }

    #[test]
    fn gaps_kinds_and_order_keep_apart() {
        let read = &EventKind::Read;
        let saved = |of: &dyn Fn(&mut Vec<Stmt>)| {
            let mut stmts = Vec::new();
            access(&mut stmts, read, ("r", 0), 4);
            of(&mut stmts);
            joined(stmts).0
        };
        assert_eq!(saved(&|stmts| access(stmts, read, ("r", 4), 4)), 1);
        assert_eq!(saved(&|stmts| access(stmts, read, ("r", 5), 4)), 0, "a gap of one byte");
        assert_eq!(saved(&|stmts| access(stmts, read, ("s", 4), 4)), 0, "another register");
        assert_eq!(saved(&|stmts| access(stmts, &write_of_nothing(), ("r", 4), 4)), 0, "another kind");
        let strong = EventKind::StrongRead(crate::order::Scope::Gpu);
        assert_eq!(saved(&|stmts| access(stmts, &strong, ("r", 4), 4)), 0, "a strong one");
        let behind = |stmt: Stmt| {
            saved(&|stmts| {
                stmts.push(stmt.clone());
                access(stmts, read, ("r", 4), 4);
            })
        };
        assert_eq!(behind(order()), 0, "a barrier");
        assert_eq!(behind(statement(StmtKind::assume(bv::boolean(true)))), 0, "an assumption");
        assert_eq!(behind(assign(&Name::from("r$2"), bv::literal(0, 64))), 0, "the register changes");
        assert_eq!(behind(statement(StmtKind::Havoc(vec![Name::from("p$1")]))), 0, "the guard changes");
        assert_eq!(behind(assign(&Name::from("s$1"), bv::literal(0, 64))), 1);
    }

    /// The extension of a sum of 32 bits begins anew behind 2^32, which does not matter where only 32 bits count.
    #[test]
    fn extended_sums_are_joined_where_the_low_half_counts() {
        let mut stmts = Vec::new();
        (0..2).for_each(|i| access(&mut stmts, &EventKind::Read, ("r", 4 * i), 4));
        for stmt in &mut stmts {
            if let StmtKind::Log { event, .. } | StmtKind::Check(event) = &mut stmt.kind {
                let low = bv::var(Name::from(if event.thread == Thread::First { "r$1" } else { "r$2" }), Type::Bv(32));
                let distance = bv::literal(if event.site == 0 { 0xffff_fffe } else { 2 }, 32);
                event.offset = bv::zext(bv::add(low, distance), 64);
            }
        }
        assert_eq!(join(&mut stmts.clone(), &|_| false), 0);
        assert_eq!(join(&mut stmts, &|_| true), 1);
        let StmtKind::Log { event, .. } = &stmts[0].kind else { panic!("{stmts:?}") };
        let start = bv::add(bv::var(Name::from("r$1"), Type::Bv(32)), bv::literal(0xffff_fffe, 32));
        assert_eq!((event.bytes, without_spans(&event.offset)), (8, without_spans(&bv::zext(start, 64))));
    }

    /// Which bytes of which kinds are logged before which are checked, with nothing in between that orders.
    fn compared(stmts: &[Stmt]) -> BTreeSet<(String, u64, String, u64)> {
        let mut values: BTreeMap<Name, u128> = BTreeMap::new();
        for (name, value) in [("r$1", 1000), ("r$2", 2000), ("s$1", 3000), ("s$2", 4000), ("p$1", 1), ("p$2", 1)] {
            values.insert(Name::from(name), value);
        }
        let (mut found, mut logged) = (BTreeSet::new(), Vec::new());
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign(pairs) => {
                    let (name, value) = &pairs[0];
                    let value = value_of(value, &values);
                    values.insert(name.clone(), value);
                }
                StmtKind::Log { event, .. } => logged.extend(bytes_of(event, &values)),
                StmtKind::Check(event) => {
                    for (kind, byte) in bytes_of(event, &values) {
                        found.extend(logged.iter().map(|(a, at): &(String, u64)| (a.clone(), *at, kind.clone(), byte)));
                    }
                }
                _ => logged.clear(),
            }
        }
        found
    }

    fn bytes_of(event: &Event, values: &BTreeMap<Name, u128>) -> Vec<(String, u64)> {
        let kind = if event.kind == EventKind::Read { "read" } else { "write" };
        let start = value_of(&event.offset, values) as u64;
        let is_active = value_of(&event.active, values) == 1;
        (0..u64::from(event.bytes) * u64::from(is_active)).map(|i| (kind.to_string(), start.wrapping_add(i))).collect()
    }

    fn value_of(expr: &ExprRef, values: &BTreeMap<Name, u128>) -> u128 {
        match &expr.kind {
            ExprKind::Var(name) => values[name],
            ExprKind::Bv(value) => *value,
            ExprKind::Bool(value) => u128::from(*value),
            ExprKind::Call(_, arguments) => {
                arguments.iter().map(|a| value_of(a, values)).sum::<u128>() & u128::from(u64::MAX)
            }
            other => panic!("{other:?}"),
        }
    }

    /// Whatever is compared is still compared, and of bytes that nobody accesses in that way nothing.
    #[test]
    fn the_same_bytes_are_compared() {
        let mut seed = 1u64;
        let mut pick = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut saved_in_all = 0;
        for case in 0..3000 {
            let mut stmts = Vec::new();
            for _ in 0..12 {
                let name = ["r", "s"][pick(2) as usize];
                match pick(12) {
                    0 => stmts.push(order()),
                    1 | 2 => {
                        let to = ["r", "s"][pick(2) as usize];
                        let distance = bv::literal(u128::from(pick(5)).wrapping_sub(2) & u128::from(u64::MAX), 64);
                        for thread in [1, 2] {
                            let sum = bv::add(register(name, thread), distance.clone());
                            stmts.push(assign(&Name::from(format!("{to}${thread}")), sum));
                        }
                    }
                    3 => stmts.push(assign(&Name::from(["p$1", "p$2"][pick(2) as usize]), bv::boolean(pick(2) == 0))),
                    number => {
                        let kind = if number % 2 == 0 { EventKind::Read } else { write_of_nothing() };
                        let distance = (u128::from(pick(12)) * 2).wrapping_sub(12);
                        access(&mut stmts, &kind, (name, distance), [1, 2, 4][pick(3) as usize]);
                    }
                }
            }
            let before = compared(&stmts);
            let (saved, after) = joined(stmts);
            saved_in_all += saved;
            let after = compared(&after);
            assert!(before.is_subset(&after), "case {case}: {:?}", before.difference(&after).next());
            let is_known = |(a, at, b, byte): &(String, u64, String, u64)| {
                let is_logged = |kind: &str, at: u64| before.iter().any(|(k, place, ..)| k == kind && *place == at);
                let is_checked = |kind: &str, at: u64| before.iter().any(|(.., k, place)| k == kind && *place == at);
                is_logged(a, *at) && is_checked(b, *byte)
            };
            assert!(after.iter().all(is_known), "case {case}");
        }
        assert!(saved_in_all > 1000, "{saved_in_all}");
    }
}
