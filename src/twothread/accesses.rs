//! Accesses of shared arrays: what is checked, and what a load yields.
//!
//! Input: the predicated program. Output: [`Accesses`]: a numbered [`Site`] for each access and whether
//! it is checked; for each access the LOG and CHECK calls, for each load its value. Establishes: an
//! access is left unchecked only if no access of the pair can conflict with it. Relies on: the kernel's
//! stores and atomics are all there (an unknown pointer appears as accesses of every array).
//! Reference: the tutorial paper, LOG and CHECK, adversarial abstraction; PTX memory consistency model.

use super::array_facts::ArrayFacts;
use super::completion::Completion;
use super::copies::Copies;
use super::held::Held;
use super::messages::Messages;
use super::underway::{self, Underway};
use super::{Options, Pair, barrier_invariants, narrow};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{
    Access, Array, ArraySpace, ExprKind, ExprRef, Function, Implementation, Name, Program, Stmt, StmtKind, Thread,
    Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::ivl::event::{Event, EventKind};
use crate::kernel::ALIGNED;
use crate::order::Scope;
use crate::predicate::rewrite::place;
use crate::span::{Origin, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AccessKind {
    /// Load.
    Read,
    /// Store.
    Write,
    /// Atomic read-modify-write; conflicts as a strong write.
    Atomic,
}

/// An access in the text of the kernel.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its number, from 0 in sort order; `_TRACKED_SITE` ranges over these.
    pub number: u32,
    pub(crate) array: Name,
    /// What it does.
    pub(crate) kind: AccessKind,
    /// `None` weak; otherwise the scope.
    pub(crate) strong: Option<Scope>,
    /// Width in bytes.
    pub(crate) bytes: u32,
    /// The barrier invariant that reads here; `None` for what the kernel itself does.
    pub(crate) barrier_invariant: Option<String>,
    /// Its instruction.
    pub(crate) origin: Option<Arc<Origin>>,
    /// Whether LOG and CHECK calls stand for it; if not, nothing of this pair conflicts with it.
    pub checked: bool,
    /// The log in which it is, if it stands for what accesses through another proxy see of an access.
    pub(crate) seen_as: Option<Name>,
}

/// What a thread accesses at a site.
struct Performed {
    active: ExprRef,
    /// In bytes, 64 bits; of narrow arrays right modulo 2^32.
    offset: ExprRef,
}

/// How accesses are translated.
pub(crate) struct Accesses<'a> {
    copies: &'a Copies,
    allow_same_value: bool,
    pair: Pair,
    arrays: BTreeMap<Name, &'a Array>,
    /// Arrays that some store or atomic names.
    written: BTreeSet<Name>,
    /// Arrays whose accesses are checked, in order of names.
    pub(crate) checked_arrays: BTreeSet<Name>,
    /// Those of them whose offsets are compared modulo 2^32.
    pub(crate) narrow_arrays: BTreeSet<Name>,
    /// Those whose strong accesses start at multiples of their widths.
    pub(crate) aligned_arrays: BTreeSet<Name>,
    /// Read functions by array, bytes and type.
    functions: BTreeMap<(Name, u32, Type), Name>,
    /// Names in use.
    taken: BTreeSet<Name>,
    /// All accesses so far.
    pub(crate) sites: Vec<Site>,
    /// What is stated of arrays that keep their values.
    facts: ArrayFacts,
    /// What the last block knows.
    pub(super) completion: Completion,
    /// What locks exclude.
    pub(super) held: Held,
    /// What flags order.
    pub(super) messages: Messages,
    /// Locals introduced: the results of LOG calls.
    pub(crate) introduced: Vec<Variable>,
    /// Declarations of read functions.
    pub(crate) declared: Vec<Function>,
}

impl<'a> Accesses<'a> {
    /// Prepares the translation of the accesses in a kernel's body.
    pub(crate) fn new(
        program: &'a Program,
        body: &Implementation,
        copies: &'a Copies,
        pair: Pair,
        (options, knows_narrow): (&Options, bool),
        underway: &Underway<'_>,
    ) -> Accesses<'a> {
        let written = written_arrays(body.blocks.iter().flat_map(|block| &block.stmts));
        let mut checked_arrays = checked_arrays(program, &written, pair, &underway.arrays);
        let mut narrow_arrays = if knows_narrow { narrow::arrays(program, body) } else { BTreeSet::new() };
        for (array, shadow) in &underway.proxies.shadows {
            checked_arrays.extend(checked_arrays.contains(array).then(|| shadow.name.clone()));
            narrow_arrays.extend(narrow_arrays.contains(array).then(|| shadow.name.clone()));
        }
        let mut taken: BTreeSet<Name> = program.functions.iter().map(|function| function.name.clone()).collect();
        taken.extend(body.locals.iter().map(|local| local.name.clone()));
        Accesses {
            copies,
            allow_same_value: options.rules.allow_same_value,
            pair,
            arrays: program.arrays.iter().map(|array| (array.name.clone(), array)).collect(),
            checked_arrays,
            narrow_arrays,
            aligned_arrays: aligned_arrays(body),
            written,
            functions: BTreeMap::new(),
            taken,
            sites: Vec::new(),
            facts: ArrayFacts::default(),
            completion: Completion::new(body, pair),
            held: Held::new(program, body, pair),
            messages: Messages::new(program, body, pair),
            introduced: Vec::new(),
            declared: Vec::new(),
        }
    }

    /// Appends the LOG call of thread 1 and the CHECK call of thread 2 for an access; of one thread alone the LOG call of its
    /// copies, and the CHECK calls of what it does beside them.
    ///
    /// # Errors
    /// `unknown-array`, `offset-type`, `access-width`, `too-many-sites`; `same-value-width` for stores wider than 8
    /// bytes under `--allow-same-value`.
    pub(crate) fn log_and_check(
        &mut self,
        stmt: &Stmt,
        kind: AccessKind,
        access: &Access,
        (value, underway): (Option<&ExprRef>, &mut Underway<'_>),
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let number = self.next_number(stmt)?;
        if access.bytes == 0 {
            let message = "an access has at least one byte";
            return Err(Diagnostic::error("access-width", message, place(stmt)));
        }
        let strong = match kind {
            // `atom` and `red` without a scope have scope gpu.
            AccessKind::Atomic if underway.proxies.is_weak(stmt, &access.array) => None,
            AccessKind::Atomic => Some(access.strong.unwrap_or(Scope::Gpu)),
            AccessKind::Read | AccessKind::Write => access.strong,
        };
        if !self.arrays.contains_key(&access.array) {
            let message = format!("`{}` is not a declared array", access.array);
            return Err(Diagnostic::error("unknown-array", message, place(stmt)));
        }
        let checked = self.checked_arrays.contains(&access.array);
        let logged = checked.then(|| self.introduce_local(&format!("logged.{number}"), Type::Bool));
        self.sites.push(Site {
            number,
            array: access.array.clone(),
            kind,
            strong,
            bytes: access.bytes,
            barrier_invariant: barrier_invariants::text_of(stmt).map(str::to_string),
            origin: stmt.origin.clone(),
            checked,
            seen_as: None,
        });
        let Some(logged) = logged else { return Ok(()) };

        let is_narrow = self.narrow_arrays.contains(&access.array);
        let offset = if is_narrow { narrow::offset(access) } else { byte_offset(access) };
        let offset = offset.ok_or_else(|| offset_error(stmt))?;
        let own = access.own_guard().unwrap_or_else(|| bv::boolean(true));
        let mut performed = Thread::BOTH.map(|thread| Performed {
            active: self.copies.expr(&own, thread),
            offset: self.copies.expr(&offset, thread),
        });
        if access.collective.is_some() && self.pair == Pair::SameBlock {
            let there = access.guard.clone().unwrap_or_else(|| bv::boolean(true));
            let there = Thread::BOTH.map(|thread| self.copies.expr(&there, thread));
            performed = self.by_any_thread(stmt, performed, there, out);
        }
        let kind = match (kind, strong) {
            (AccessKind::Read, None) => EventKind::Read,
            (AccessKind::Write | AccessKind::Atomic, None) => {
                EventKind::Write(self.value_argument(stmt, value.filter(|_| access.collective.is_none()))?)
            }
            (AccessKind::Read, Some(scope)) => EventKind::StrongRead(scope),
            (AccessKind::Write | AccessKind::Atomic, Some(scope)) => EventKind::StrongWrite(scope),
        };
        let event = |thread: Thread| {
            let Performed { active, offset } = &performed[thread.index()];
            let kind = match &kind {
                EventKind::Write(value) => EventKind::Write(self.copies.expr(value, thread)),
                kind => kind.clone(),
            };
            let (active, offset, array) = (active.clone(), offset.clone(), access.array.clone());
            Box::new(Event { site: number, thread, array, kind, active, offset, bytes: access.bytes })
        };
        // What a thread knows to be over, it does not race with.
        let known = Thread::BOTH.map(|thread| underway.is_known_to(thread));
        let checked = |thread: Thread| {
            let mut event = event(thread);
            let open = known[thread.index()].clone().map(bv::not);
            event.active = open.into_iter().fold(event.active, bv::and);
            event
        };
        let generated = |kind| Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() };
        let is_alone = self.pair == Pair::OneThread;
        if is_alone {
            out.push(generated(StmtKind::Check(checked(Thread::First))));
        }
        if !is_alone || underway::is_asynchronous(stmt) {
            let mut event = event(Thread::First);
            if let Some(is_watched) = self.held.logged(stmt, number, self.copies) {
                event.active = bv::and(event.active, is_watched);
            }
            out.push(generated(StmtKind::Log { event, logged: logged.clone() }));
            out.extend(underway.logged(underway::ends(stmt), (number, &access.array), &logged).map(generated));
            self.completion.logged(stmt, number, self.copies);
            self.messages.logged(stmt, number);
        }
        if !is_alone {
            let mut checked = checked(Thread::Second);
            let ordered = [
                self.completion.is_behind(stmt, self.copies),
                self.held.is_under(stmt, self.copies),
                self.messages.is_ordered(stmt, self.copies),
            ];
            for is_ordered in ordered.into_iter().flatten() {
                checked.active = bv::and(checked.active, bv::not(is_ordered));
            }
            out.push(generated(StmtKind::Check(checked)));
        }
        if let Some(shadow) = underway.proxies.checked(stmt, &access.array) {
            let checked = if is_alone { Thread::First } else { Thread::Second };
            out.push(generated(StmtKind::Check(as_seen(*event(checked), &shadow.name))));
        }
        if barrier_invariants::text_of(stmt).is_none()
            && let Some(shadow) = underway.proxies.seen(stmt, &access.array).cloned()
        {
            let mut event = as_logged(*event(Thread::First), &shadow.name);
            event.site = self.next_number(stmt)?;
            if is_alone && access.collective.is_some() {
                // Another lane may give the address.
                event.active =
                    self.copies.expr(&access.guard.clone().unwrap_or_else(|| bv::boolean(true)), Thread::First);
                let anywhere = self.introduce_local(&format!("place.{}", event.site), Type::Bv(64));
                out.push(generated(StmtKind::Havoc(vec![anywhere.clone()])));
                event.offset = bv::var(anywhere, Type::Bv(64));
            }
            let logged = self.introduce_local(&format!("logged.{}", event.site), Type::Bool);
            let site = self.sites[number as usize].clone();
            self.sites.push(Site { number: event.site, seen_as: Some(shadow.name.clone()), ..site });
            let number = event.site;
            out.push(generated(StmtKind::Log { event, logged: logged.clone() }));
            out.extend(underway.logged(shadow.ends(stmt), (number, &shadow.name), &logged).map(generated));
        }
        Ok(())
    }

    /// The number of the next access.
    fn next_number(&self, stmt: &Stmt) -> Result<u32, Diagnostic> {
        u16::try_from(self.sites.len()).map(u32::from).map_err(|_| {
            let message = "the kernel has more than 65536 accesses of shared state";
            Diagnostic::unsupported("too-many-sites", message, place(stmt))
        })
    }

    /// A collective access of two threads of a block, which do `own` and are `there`. Whichever thread gives the
    /// address, another one of its warp may be the one that accesses: thread 1 may do what thread 2 asks for, or thread
    /// 2 what thread 1 asks for. Accesses of one execution do not conflict with each other in this way, only with those
    /// before and after it. The warp is not looked at: each thread has others in its own.
    fn by_any_thread(
        &mut self,
        stmt: &Stmt,
        own: [Performed; 2],
        there: [ExprRef; 2],
        out: &mut Vec<Stmt>,
    ) -> [Performed; 2] {
        let number = self.sites.len() - 1;
        let names = ["first", "second"].map(|who| self.introduce_local(&format!("{who}.helps.{number}"), Type::Bool));
        out.push(Stmt { kind: StmtKind::Havoc(names.to_vec()), ..stmt.clone() });
        let [first_helps, second_helps] = names.map(|name| bv::var(name, Type::Bool));
        let ([first, second], [first_there, second_there]) = (own, there);
        let helped = bv::and(second.active.clone(), first_there);
        let logs = Performed {
            active: bv::ite(first_helps.clone(), helped, bv::and(first.active.clone(), bv::not(second_helps.clone()))),
            offset: bv::ite(first_helps.clone(), second.offset.clone(), first.offset.clone()),
        };
        let helped = bv::and(first.active, second_there);
        let checks = Performed {
            active: bv::and(bv::not(first_helps), bv::ite(second_helps.clone(), helped, second.active)),
            offset: bv::ite(second_helps, first.offset, second.offset),
        };
        [logs, checks]
    }

    /// The value that a store passes, as 64 bits, if it is known; only `--allow-same-value` looks at it.
    fn value_argument(&self, stmt: &Stmt, value: Option<&ExprRef>) -> Result<ExprRef, Diagnostic> {
        if !self.allow_same_value {
            return Ok(bv::literal(0, 64));
        }
        match value.map(|value| (value, &value.ty)) {
            Some((value, Type::Bv(width))) if *width <= 64 => Ok(bv::zext(value.clone(), 64)),
            _ => {
                let message = "equal values are compared for stores of at most 8 bytes by one thread";
                Err(Diagnostic::unsupported("same-value-width", message, place(stmt)))
            }
        }
    }

    /// Appends the value of a load without contents: it is arbitrary, for each thread apart. Only a weak load of a global array that the kernel never writes yields the same at
    /// equal offsets: it is a function of the offset, of which nothing else is known.
    ///
    /// # Errors
    /// `offset-type`.
    pub(crate) fn load_value(
        &mut self,
        stmt: &Stmt,
        dst: &Name,
        access: &Access,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let is_global = self.arrays.get(&access.array).is_some_and(|array| array.space == ArraySpace::Global);
        let keeps_values = is_global
            && access.strong.is_none()
            && access.collective.is_none()
            && !self.written.contains(&access.array);
        let Some(ty) = self.copies.doubled.get(dst).cloned().filter(|_| keeps_values) else {
            let copies = Thread::BOTH.map(|thread| dst.of(thread));
            out.push(Stmt { kind: StmtKind::Havoc(copies.to_vec()), ..stmt.clone() });
            return Ok(());
        };
        let offset = byte_offset(access).ok_or_else(|| offset_error(stmt))?;
        let function = self.read_function(&access.array, access.bytes, &ty);
        for thread in Thread::BOTH {
            let value = bv::call(function.clone(), vec![self.copies.expr(&offset, thread)], ty.clone());
            out.push(Stmt { kind: StmtKind::Assign(vec![(dst.of(thread), value)]), ..stmt.clone() });
        }
        if ty == Type::Bv(8 * access.bytes) {
            let active = access.own_guard().unwrap_or_else(|| bv::boolean(true));
            let of = (&function, access.bytes);
            self.facts.loaded(stmt, self.copies, [&active, &offset], of, out);
            self.introduced.append(&mut self.facts.introduced);
        }
        Ok(())
    }

    /// `read.A.4`: the contents of an array that keeps its values.
    fn read_function(&mut self, array: &Name, bytes: u32, ty: &Type) -> Name {
        let key = (array.clone(), bytes, ty.clone());
        if let Some(name) = self.functions.get(&key) {
            return name.clone();
        }
        let name = self.fresh(&format!("read.{array}.{bytes}"));
        self.declared.push(Function {
            name: name.clone(),
            params: vec![(Name::from("offset"), Type::Bv(64))],
            result: ty.clone(),
            body: None,
            attributes: Vec::new(),
            span: Span::NONE,
        });
        self.functions.insert(key, name.clone());
        name
    }

    fn introduce_local(&mut self, stem: &str, ty: Type) -> Name {
        let name = self.fresh(stem);
        self.introduced.push(Variable::new(name.clone(), ty));
        name
    }

    fn fresh(&mut self, stem: &str) -> Name {
        let mut name = Name::from(stem);
        while !self.taken.insert(name.clone()) {
            name = Name::from(format!("{name}'"));
        }
        name
    }
}

/// An access through the generic proxy in the second log of its array: no access through another proxy is morally strong with it.
fn as_logged(event: Event, log: &Name) -> Box<Event> {
    let kind = match event.kind {
        EventKind::Read | EventKind::StrongRead(_) => EventKind::Read,
        EventKind::Write(value) => EventKind::Write(value),
        EventKind::StrongWrite(_) => EventKind::Write(bv::literal(0, 64)),
    };
    Box::new(Event { array: log.clone(), kind, ..event })
}

/// An access through the asynchronous proxy, checked against that log: all in it is weak, so a strong write conflicts with everything.
fn as_seen(event: Event, log: &Name) -> Box<Event> {
    let kind = match event.kind {
        EventKind::Read | EventKind::StrongRead(_) => EventKind::Read,
        EventKind::Write(_) | EventKind::StrongWrite(_) => EventKind::StrongWrite(Scope::Gpu),
    };
    Box::new(Event { array: log.clone(), kind, ..event })
}

/// The arrays that some store or atomic names, whatever its guard.
fn written_arrays<'b>(stmts: impl IntoIterator<Item = &'b Stmt>) -> BTreeSet<Name> {
    let array = |stmt: &'b Stmt| match &stmt.kind {
        StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => Some(access.array.clone()),
        _ => None,
    };
    stmts.into_iter().filter_map(array).collect()
}

/// The arrays whose strong accesses start at multiples of their widths, counted from one place: PTX says so of its addresses, and elements
/// of an array do.
fn aligned_arrays(body: &Implementation) -> BTreeSet<Name> {
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        let access = match &stmt.kind {
            StmtKind::Load { access, .. } | StmtKind::Store { access, .. } if access.strong.is_some() => access,
            StmtKind::Atomic { access, .. } => access,
            _ => continue,
        };
        let is_aligned = stmt.attributes.has(ALIGNED) || access.scale.is_multiple_of(access.bytes);
        if is_aligned { &mut found } else { &mut others }.insert(access.array.clone());
    }
    found.retain(|array| !others.contains(array));
    found
}

/// An array that the kernel never writes has no conflicts; a `.shared` array is another one in another
/// block; one thread has nobody to race with but its own copies.
fn checked_arrays(program: &Program, written: &BTreeSet<Name>, pair: Pair, copied: &BTreeSet<Name>) -> BTreeSet<Name> {
    let common = |array: &&Array| match pair {
        Pair::SameBlock => true,
        Pair::DifferentBlocks => array.space == ArraySpace::Global,
        Pair::OneThread => copied.contains(&array.name),
    };
    let arrays = program.arrays.iter().filter(common).map(|array| array.name.clone());
    arrays.filter(|name| written.contains(name)).collect()
}

/// The offset in bytes, 64 bits. Wrapping at 2^64 can only make distinct offsets equal, which is
/// the cautious side; equal ones stay equal.
pub(super) fn byte_offset(access: &Access) -> Option<ExprRef> {
    let offset = match access.offset.ty {
        Type::Bv(width) if width <= 64 => bv::zext(access.offset.clone(), 64),
        Type::Int => bv::from_int(access.offset.clone(), 64),
        _ => return None,
    };
    match (access.scale, &offset.kind) {
        (1, _) => Some(offset),
        // Modulo 2^64, like the multiplication.
        (scale, ExprKind::Bv(index)) => Some(bv::literal(index.wrapping_mul(u128::from(scale)), 64)),
        (scale, _) => Some(bv::mul(offset, bv::literal(u128::from(scale), 64))),
    }
}

/// For offsets that are none.
pub(super) fn offset_error(stmt: &Stmt) -> Diagnostic {
    Diagnostic::error("offset-type", "an array offset is an integer or a bit-vector of at most 64 bits", place(stmt))
}
