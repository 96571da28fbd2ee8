//! Kernel statements and their attributes: what `{:bytes 4}` on an access or `{:id e}` on a barrier
//! means, and how it is written.
//!
//! Input: attributes of a statement, or an [`Access`] or [`Barrier`]. Output: the other of the two.
//! Establishes: one notation, read and written here only. Relies on: nothing.
//! Reference: PTX `ld`, `st`, `atom`, `barrier`.
//!
//! | attribute | on | meaning | when absent |
//! |---|---|---|---|
//! | `{:bytes N}` | access | width in bytes | the width of the value |
//! | `{:strong "gpu"}` | access | strong at cta, cluster, gpu or sys | weak |
//! | `{:guard e}` | access, barrier | takes place only where e holds | true |
//! | `{:collective e}` | access | any thread of the warp accesses where those give a place for which e holds; needs `{:bytes N}` | the thread itself |
//! | `{:aligned}` | access | a strong one starts at a multiple of its width | so only if `{:scale N}` says it |
//! | `{:scale N}` | access | bytes an index unit stands for | the size of an element |
//! | `{:id e}` | barrier | barrier number, bv32 | barrier 0 |
//! | `{:count e}` | barrier | number of threads, bv32 | the whole block |
//! | `{:unaligned}` | barrier | threads may meet it at other sites | aligned |

use super::ast::*;
use super::bv;
use super::surface::Identifier;
use crate::diagnostic::Diagnostic;
use crate::order::Scope;
use crate::span::Span;

/// The widest access of a thread, in bytes: a vector of four words.
const WIDEST: u32 = 16;

/// The widest access of a warp, in bytes: a matrix of 32 by 8 words that lies in one piece.
const WIDEST_COLLECTIVE: u32 = 1024;

const SCOPES: [(&str, Scope); 4] =
    [("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];

/// The access of `array` at `offset`, and the attributes that are not part of it. The width is 0
/// where the checker has to take it from the value.
pub(super) fn from_attributes(
    array: &Identifier,
    offset: ExprRef,
    element_bytes: u32,
    attributes: Vec<Attribute>,
) -> Result<(Access, Vec<Attribute>), Diagnostic> {
    let (mut guard, mut strong, mut bytes, mut scale, mut collective) = (None, None, None, None, None);
    let mut rest = Vec::new();
    for attribute in attributes {
        match attribute.name.as_str() {
            "guard" => once(&mut guard, expression(&attribute, array.span)?, "guard", array.span)?,
            "bytes" => once(&mut bytes, number(&attribute, WIDEST_COLLECTIVE, array.span)?, "bytes", array.span)?,
            "scale" => once(&mut scale, number(&attribute, 1 << 16, array.span)?, "scale", array.span)?,
            "collective" => once(&mut collective, expression(&attribute, array.span)?, "collective", array.span)?,
            "strong" => once(&mut strong, scope(&attribute, array.span)?, "strong", array.span)?,
            _ => rest.push(attribute),
        }
    }
    match bytes {
        None if collective.is_some() => return Err(malformed("{:collective e} {:bytes N}", array.span)),
        Some(bytes) if bytes > WIDEST && collective.is_none() => {
            return Err(malformed(&format!("{{:bytes N}} with N from 1 to {WIDEST}"), array.span));
        }
        _ => {}
    }
    let (bytes, scale) = (bytes.unwrap_or(0), scale.unwrap_or(element_bytes));
    Ok((Access { array: array.name.clone(), guard, offset, scale, bytes, strong, collective }, rest))
}

/// The barrier, and the attributes that are not part of it.
pub(super) fn barrier_from_attributes(
    result: Option<Name>,
    attributes: Vec<Attribute>,
    span: Span,
) -> Result<(Barrier, Vec<Attribute>), Diagnostic> {
    let (mut guard, mut id, mut count, mut unaligned) = (None, None, None, None);
    let mut rest = Vec::new();
    for attribute in attributes {
        match attribute.name.as_str() {
            "guard" => once(&mut guard, expression(&attribute, span)?, "guard", span)?,
            "id" => once(&mut id, word(expression(&attribute, span)?), "id", span)?,
            "count" => once(&mut count, word(expression(&attribute, span)?), "count", span)?,
            "unaligned" if attribute.args.is_empty() => once(&mut unaligned, (), "unaligned", span)?,
            "unaligned" => return Err(malformed("{:unaligned}", span)),
            _ => rest.push(attribute),
        }
    }
    Ok((Barrier { guard, id, count, aligned: unaligned.is_none(), result }, rest))
}

/// The barrier of a warp, and the attributes that are not part of it; `None` where nothing says who waits for whom.
pub(super) fn warp_barrier_from_attributes(
    attributes: &[Attribute],
    span: Span,
) -> Result<Option<(WarpBarrier, Vec<Attribute>)>, Diagnostic> {
    let (mut guard, mut mask, mut thread) = (None, None, None);
    let mut rest = Vec::new();
    for attribute in attributes {
        match attribute.name.as_str() {
            "guard" => once(&mut guard, expression(attribute, span)?, "guard", span)?,
            "mask" => once(&mut mask, word(expression(attribute, span)?), "mask", span)?,
            "number" => once(&mut thread, word(expression(attribute, span)?), "number", span)?,
            _ => rest.push(attribute.clone()),
        }
    }
    match (mask, thread) {
        (Some(mask), Some(thread)) => Ok(Some((WarpBarrier { guard, mask, thread }, rest))),
        (None, None) => Ok(None),
        _ => Err(malformed("with {:mask EXPRESSION} and {:number EXPRESSION}", span)),
    }
}

/// The attributes of a barrier of a warp.
pub(super) fn warp_barrier_to_attributes(barrier: &WarpBarrier) -> Vec<Attribute> {
    let mut out =
        vec![attribute("mask", Some(barrier.mask.clone())), attribute("number", Some(barrier.thread.clone()))];
    out.extend(barrier.guard.iter().map(|e| attribute("guard", Some(e.clone()))));
    out
}

/// The attributes that say what is not default about an access. The width is written where it is not
/// an element's, though the type of the value tells it too: readers look for it here.
pub(super) fn to_attributes(access: &Access, element_bytes: u32) -> Vec<Attribute> {
    let mut out = Vec::new();
    if access.bytes != element_bytes || access.collective.is_some() {
        out.push(attribute("bytes", Some(bv::int(access.bytes.into()))));
    }
    if access.scale != element_bytes {
        out.push(attribute("scale", Some(bv::int(access.scale.into()))));
    }
    if let Some(strong) = access.strong {
        out.push(Attribute {
            name: Name::new("strong"),
            args: SCOPES.iter().filter(|(_, s)| *s == strong).map(|(t, _)| AttributeArg::Text(t.to_string())).collect(),
        });
    }
    out.extend(access.collective.iter().map(|givers| attribute("collective", Some(givers.clone()))));
    out.extend(access.guard.iter().map(|guard| attribute("guard", Some(guard.clone()))));
    out
}

/// The attributes that say what is not default about a barrier.
pub(super) fn barrier_to_attributes(barrier: &Barrier) -> Vec<Attribute> {
    let mut out = Vec::new();
    out.extend(barrier.id.iter().map(|e| attribute("id", Some(e.clone()))));
    out.extend(barrier.count.iter().map(|e| attribute("count", Some(e.clone()))));
    if !barrier.aligned {
        out.push(attribute("unaligned", None));
    }
    out.extend(barrier.guard.iter().map(|e| attribute("guard", Some(e.clone()))));
    out
}

fn attribute(name: &str, arg: Option<ExprRef>) -> Attribute {
    Attribute { name: Name::new(name), args: arg.map(AttributeArg::Expr).into_iter().collect() }
}

fn once<T>(slot: &mut Option<T>, value: T, name: &str, span: Span) -> Result<(), Diagnostic> {
    if slot.replace(value).is_some() {
        return Err(Diagnostic::error("ivl-duplicate", format!("{{:{name}}} is given twice"), span));
    }
    Ok(())
}

fn malformed(form: &str, span: Span) -> Diagnostic {
    Diagnostic::error("ivl-kernel", format!("malformed attribute: it is written {form}"), span)
}

fn expression(attribute: &Attribute, span: Span) -> Result<ExprRef, Diagnostic> {
    match attribute.args.as_slice() {
        [AttributeArg::Expr(e)] => Ok(e.clone()),
        _ => Err(malformed(&format!("{{:{} EXPRESSION}}", attribute.name), span)),
    }
}

/// An integer literal as a 32-bit word; anything else as it is.
fn word(e: ExprRef) -> ExprRef {
    match e.kind {
        ExprKind::Int(value @ 0..=0xffff_ffff) => bv::literal(value.unsigned_abs(), 32),
        _ => e,
    }
}

fn number(attribute: &Attribute, limit: u32, span: Span) -> Result<u32, Diagnostic> {
    let literal = expression(attribute, span)?;
    match literal.kind {
        ExprKind::Int(value) if value >= 1 && value <= i128::from(limit) => Ok(value as u32),
        _ => Err(malformed(&format!("{{:{} N}} with N from 1 to {limit}", attribute.name), span)),
    }
}

fn scope(attribute: &Attribute, span: Span) -> Result<Scope, Diagnostic> {
    let found = match attribute.args.as_slice() {
        [AttributeArg::Text(text)] => SCOPES.iter().find(|(name, _)| name == text).map(|(_, scope)| *scope),
        _ => None,
    };
    found.ok_or_else(|| malformed("{:strong \"cta\"}, \"cluster\", \"gpu\" or \"sys\"", span))
}
