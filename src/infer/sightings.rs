//! Where an execution accesses memory, so that the next one watches just that byte.
//!
//! Input: a passive program made with the watched-byte prelude, a state of an execution. Output: the
//! accesses that the state logs, or would log if their site were tracked and their byte watched.
//! Establishes: nothing; a wrong sighting only makes an execution that logs nothing. Without
//! sightings most executions log nothing: few bytes are accessed, and the watched one is arbitrary.

use crate::concrete::evaluate::Evaluator;
use crate::ivl::ast::Name;
use crate::twothread::log::{ArrayLog, Log};
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{BvCompare, Node, Term, Terms, Value, mask};

/// A place that logs: a conjunction that says "active, this site is tracked, the watched byte is mine".
struct Place {
    site: Term,
    watched: Term,
    /// Watched byte minus first byte of the access.
    distance: Term,
    /// Bytes.
    width: Term,
    active: Vec<Term>,
}

impl Place {
    fn terms(&self) -> impl Iterator<Item = Term> {
        [self.site, self.watched, self.distance, self.width].into_iter().chain(self.active.iter().copied())
    }

    fn is_active(&self, evaluator: &mut Evaluator) -> bool {
        self.active.iter().all(|&t| evaluator.holds(t))
    }
}

/// The places of a program that log, and the constants that decide what they log.
pub(crate) struct Watch {
    places: Vec<Place>,
    tracked: Option<Term>,
    starts: Vec<(Term, Term)>,
    strong_width: Option<Term>,
}

/// An access: what the constants must be for it to be logged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sighting {
    site: Value,
    watched: Term,
    /// First byte.
    offset: Value,
    /// Bytes.
    width: Value,
}

impl Watch {
    /// Finds the places.
    pub(crate) fn new(passive: &Passive, log: &Log) -> Watch {
        let constant = |name: &Name| passive.constants.iter().find(|(n, _)| n == name).map(|(_, t)| *t);
        let watched: Vec<(&ArrayLog, Term)> =
            log.arrays().filter_map(|log| Some((log, constant(&log.watched)?))).collect();
        let start = |(log, watched): &(&ArrayLog, Term)| Some((*watched, constant(&log.start)?));
        let tracked = constant(&log.tracked_site());
        let symbols: Vec<Term> = watched.iter().map(|(_, symbol)| *symbol).collect();
        let places = tracked.map(|tracked| places(&passive.terms, tracked, &symbols)).unwrap_or_default();
        Watch {
            places,
            tracked,
            starts: watched.iter().filter_map(start).collect(),
            strong_width: constant(&log.strong_width()),
        }
    }

    /// The terms whose values tell of accesses.
    pub(super) fn terms(&self) -> Vec<Term> {
        self.places.iter().flat_map(Place::terms).collect()
    }

    /// Adds the accesses of a state that are new, up to `limit` of each site.
    pub(super) fn look(&self, evaluator: &mut Evaluator, seen: &mut Vec<Sighting>, limit: usize) {
        for place in &self.places {
            let site = evaluator.value(place.site);
            if seen.iter().filter(|s| s.site == site).count() >= limit || !place.is_active(evaluator) {
                continue;
            }
            let (watched, distance) = (evaluator.value(place.watched), evaluator.value(place.distance));
            let (Value::Bits(watched), Value::Bits(distance)) = (watched, distance) else { continue };
            let offset = Value::Bits(watched.wrapping_sub(distance) & mask(64));
            let sighting = Sighting { site, watched: place.watched, offset, width: evaluator.value(place.width) };
            if !seen.contains(&sighting) {
                seen.push(sighting);
            }
        }
    }

    /// The constants under which an access is logged.
    pub(crate) fn constants(&self, sighting: Sighting) -> Vec<(Term, Value)> {
        let Sighting { site, watched, offset, .. } = sighting;
        let mut constants = vec![(watched, offset)];
        constants.extend(self.tracked.map(|tracked| (tracked, site)));
        constants.extend(self.starts.iter().filter(|(w, _)| *w == watched).map(|(_, start)| (*start, offset)));
        constants.extend(self.strong_width.map(|width| (width, sighting.width)));
        constants
    }
}

/// The logged accesses, each with the log of its array, its first byte and how many there are.
pub(super) fn logged(passive: &mut Passive, log: &Log) -> Vec<(ArrayLog, Term, u128)> {
    let constant = |name: &Name| passive.constants.iter().find(|(n, _)| n == name).map(|(_, t)| *t);
    let Some(tracked) = constant(&log.tracked_site()) else { return Vec::new() };
    let logs: Vec<(Term, &ArrayLog)> = log.arrays().filter_map(|log| Some((constant(&log.watched)?, log))).collect();
    let watched: Vec<Term> = logs.iter().map(|(watched, _)| *watched).collect();
    let mut logged = Vec::new();
    for place in places(&passive.terms, tracked, &watched) {
        let log = logs.iter().find(|(watched, _)| *watched == place.watched).map(|(_, log)| (*log).clone());
        let offset = passive.terms.bv_sub(place.watched, place.distance);
        if let (Some(log), Some(bytes)) = (log, passive.terms.bv_value(place.width)) {
            logged.push((log, offset, bytes));
        }
    }
    logged
}

fn places(terms: &Terms, tracked: Term, watched: &[Term]) -> Vec<Place> {
    (0..terms.len()).flat_map(|t| places_in(terms, Term(t as u32), tracked, watched)).collect()
}

/// The places that a conjunction tells of: of the log alone, or with what the other thread accesses.
fn places_in(terms: &Terms, t: Term, tracked: Term, watched: &[Term]) -> Vec<Place> {
    let Node::And(members) = terms.node(t) else { return Vec::new() };
    let mut site = None;
    let mut bytes = Vec::new();
    let mut active = Vec::new();
    for &member in members {
        match *terms.node(member) {
            Node::Eq(a, b) if a == tracked || b == tracked => site = Some(if a == tracked { b } else { a }),
            _ => match touches(terms, member, watched) {
                Some(byte) => bytes.push(byte),
                None => active.push(member),
            },
        }
    }
    let Some(site) = site else { return Vec::new() };
    let place = |(watched, distance, width)| Place { site, watched, distance, width, active: active.clone() };
    bytes.into_iter().map(place).collect()
}

/// The watched symbol, the distance and the width in `distance < width`.
fn touches(terms: &Terms, member: Term, watched: &[Term]) -> Option<(Term, Term, Term)> {
    let (distance, width) = match *terms.node(member) {
        Node::BvCompare(BvCompare::Ult, distance, width) => (distance, width),
        Node::Not(negated) => match *terms.node(negated) {
            Node::BvCompare(BvCompare::Ule, width, distance) => (distance, width),
            _ => return None,
        },
        _ => return None,
    };
    Some((watched_in(terms, distance, watched)?, distance, width))
}

/// The watched symbol that a distance starts from.
fn watched_in(terms: &Terms, distance: Term, watched: &[Term]) -> Option<Term> {
    match terms.node(distance) {
        Node::BvSum { members, .. } => {
            members.iter().find(|(m, factor)| *factor == 1 && watched.contains(m)).map(|(m, _)| *m)
        }
        _ => watched.iter().copied().find(|&w| w == distance),
    }
}
