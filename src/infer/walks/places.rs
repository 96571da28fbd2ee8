//! The places of accesses, and of registers, in terms of a walk.
//!
//! Input: a cut loop with the offsets of its accesses. Output: those that are a multiple of the walk's register, so
//! many strides and bytes beyond. Establishes: nothing; Houdini decides whether they are right.

use super::logs::{Log, log_of, offset_name};
use super::{Follower, Place, Walk, registers, stride_of};
use crate::infer::ghosts::LoopGhosts;
use crate::ivl::ast::{Block, Name, Procedure, Thread, Type};
use crate::ivl::visit::assigned;
use crate::vcgen::passive::CutLoop;
use crate::vcgen::term::{Node, Sort, Term, Terms, signed};
use std::collections::BTreeSet;

/// Registers of a loop that move with a walk, and start from a multiple of it.
pub(super) fn followers(terms: &mut Terms, cut: &CutLoop, walk: &Walk, index: usize) -> Vec<Follower> {
    let entry_of = |name: &Name| cut.entry.get(&name.of(Thread::First)).copied();
    let Some(entry) = entry_of(&walk.register) else { return Vec::new() };
    let mut starts: Vec<Term> = terms.leaves(entry).into_iter().collect();
    starts.push(entry);
    let steps = walk.loops[&index];
    let mut found = Vec::new();
    let registers: Vec<Name> = registers(cut);
    for register in registers.into_iter().filter(|register| *register != walk.register) {
        let name = register.of(Thread::First);
        let (Some(&head), Some(own)) = (cut.at_head.get(&name), entry_of(&register)) else { continue };
        let Sort::Bv(width) = terms.sort(head) else { continue };
        let mut updates: BTreeSet<Term> =
            cut.at_end.iter().filter_map(|end| end.get(&name)).flat_map(|&end| terms.leaves(end)).collect();
        updates.remove(&head);
        let [update] = updates.into_iter().collect::<Vec<_>>()[..] else { continue };
        let step = terms.bv_sub(update, head);
        let Some((stride, times)) = stride_of(terms, step) else { continue };
        let wide = extended(terms, walk.terms[0], width);
        if !wide.contains(&stride) || times % steps != 0 {
            continue;
        }
        let factor = times / steps;
        let leaves: Vec<Term> = terms.leaves(own).into_iter().collect();
        let ahead = leaves.iter().find_map(|&leaf| {
            starts.iter().find_map(|&start| {
                extended(terms, start, width).into_iter().find_map(|start| {
                    let multiple = terms.bv_sum(width, 0, vec![(start, factor as u128)]);
                    let distance = terms.bv_sub(leaf, multiple);
                    terms.bv_value(distance).map(|value| signed(value, width))
                })
            })
        });
        if let Some(displacement) = ahead {
            found.push(Follower { in_loop: index, register, ty: Type::Bv(width), factor, displacement });
        }
    }
    found
}

/// A value at a width, extended either way.
fn extended(terms: &mut Terms, value: Term, width: u32) -> Vec<Term> {
    match terms.width(value) {
        own if own == width => vec![value],
        own if own < width => vec![terms.sign_extend(value, width), terms.zero_extend(value, width)],
        _ => Vec::new(),
    }
}

/// Places in a loop that follow a walk or one of its followers.
pub(super) fn places(
    terms: &mut Terms,
    cut: &CutLoop,
    procedure: &Procedure,
    walk: &Walk,
    (index, loops): (usize, &[LoopGhosts]),
) -> Vec<Place> {
    let is_inner = |block: &Block| loops.iter().any(|l| l.parent == Some(index) && l.blocks.contains(&block.label));
    let blocks = procedure.body.iter().flat_map(|body| &body.blocks);
    let blocks = blocks.filter(|block| loops[index].blocks.contains(&block.label) && !is_inner(block));
    let register = walk.register.of(Thread::First);
    let (mut found, mut counted): (Vec<Place>, i128) = (Vec::new(), 0);
    for stmt in blocks.flat_map(|block| &block.stmts) {
        if assigned(stmt).contains(&&register) {
            // From here on the steps of this round are counted.
            counted = walk.loops[&index];
        }
        let Some(Log { site, array, bytes, .. }) = log_of(stmt) else { continue };
        let offset = cut.at_end.first().and_then(|end| end.get(&offset_name(site))).copied();
        if let Some((factor, steps, displacement)) = offset.and_then(|offset| place(terms, cut, walk, index, offset)) {
            let place =
                Place { sites: vec![site], array, in_loop: index, bytes, factor, steps: steps - counted, displacement };
            match found.iter_mut().find(|known| known.is_same(&place)) {
                Some(known) => known.sites.push(site),
                None => found.push(place),
            }
        }
    }
    found
}

/// Factor, strides and bytes beyond, of an offset.
fn place(terms: &mut Terms, cut: &CutLoop, walk: &Walk, index: usize, offset: Term) -> Option<(i128, i128, i128)> {
    let Node::BvSum { width, constant, members } = terms.node(offset).clone() else {
        return place_of_members(terms, cut, walk, index, 64, 0, &[(offset, 1)]);
    };
    place_of_members(terms, cut, walk, index, width, constant, &members)
}

fn place_of_members(
    terms: &mut Terms,
    cut: &CutLoop,
    walk: &Walk,
    index: usize,
    width: u32,
    constant: u128,
    members: &[(Term, u128)],
) -> Option<(i128, i128, i128)> {
    let here = *cut.at_head.get(&walk.register.of(Thread::First))?;
    let strides = extended(terms, walk.terms[0], width);
    let (mut factor, mut ahead, mut displacement) = (None, 0, signed(constant, width));
    for &(member, times) in members {
        let times = signed(times, width);
        if strides.contains(&member) {
            ahead += times;
            continue;
        }
        let follower = walk.followers.iter().find(|follower| {
            follower.in_loop == index && cut.at_head.get(&follower.register.of(Thread::First)) == Some(&member)
        });
        let (of_walk, beyond, more) = match follower {
            Some(follower) => (follower.factor * times, 0, follower.displacement * times),
            None => inside(terms, walk, here, member).map(|(steps, more)| (times, steps * times, more * times))?,
        };
        if factor.replace(of_walk).is_some() {
            return None;
        }
        ahead += beyond;
        displacement += more;
    }
    let factor = factor.filter(|factor| *factor != 0 && ahead % factor == 0)?;
    Some((factor, ahead / factor, displacement))
}

/// Steps and units that a value, perhaps extended, is ahead of the register.
fn inside(terms: &Terms, walk: &Walk, here: Term, value: Term) -> Option<(i128, i128)> {
    let value = match *terms.node(value) {
        Node::SignExtend(_, inner) | Node::ZeroExtend(_, inner) => inner,
        _ => value,
    };
    if value == here {
        return Some((0, 0));
    }
    let Node::BvSum { width, constant, members } = terms.node(value) else { return None };
    let mut steps = None;
    let mut is_register = false;
    for &(member, times) in members {
        if member == here && times == 1 {
            is_register = true;
        } else if member == walk.terms[0] && steps.is_none() {
            steps = Some(signed(times, *width));
        } else {
            return None;
        }
    }
    is_register.then(|| (steps.unwrap_or(0), signed(*constant, *width)))
}
