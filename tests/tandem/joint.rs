//! Accesses that the threads of a warp do together: in PTX each lane accesses its part, in the IVL the lanes that give
//! an address access what lies there. The bytes are compared for the warp as a whole.

use super::emulator::{Element, Kind, Memory};
use super::follow::Bindings;
use gpuvcc::ivl::ast::{ArraySpace, Name};
use std::collections::BTreeMap;

/// An execution of an instruction by a warp: the block, the warp in it, the line, how often it came there before.
pub type Place = ([u32; 3], u32, u32, u32);

/// What the IVL says that some lane accesses.
pub struct Given {
    pub kind: Kind,
    pub array: Name,
    pub space: ArraySpace,
    /// First byte, where known.
    pub offset: Option<u64>,
    pub bytes: u32,
}

/// What the lanes did.
#[derive(Default)]
pub struct Joint {
    /// Lanes that came.
    pub lanes: u32,
    /// By the IVL.
    pub given: Vec<Given>,
    /// By the PTX.
    pub elements: Vec<Element>,
}

/// All such executions.
pub type Joints = BTreeMap<Place, Joint>;

impl Given {
    fn may_be(&self, element: &Element, bindings: &Bindings) -> bool {
        let in_memory = match (bindings.get(&self.array), element.memory) {
            (Some(known), memory) => *known == memory,
            (None, Memory::Shared(_)) => self.space == ArraySpace::Shared,
            (None, Memory::Global(_)) => self.space == ArraySpace::Global,
        };
        in_memory && self.kind == element.kind
    }

    fn covers(&self, element: &Element, bindings: &Bindings) -> bool {
        let inside = |offset: u64| {
            let start = element.offset.wrapping_sub(offset);
            start < u64::from(self.bytes) && start + u64::from(element.bytes) <= u64::from(self.bytes)
        };
        self.may_be(element, bindings) && self.offset.is_none_or(inside)
    }
}

/// Compares what whole warps did, and says how often. (The instructions are not defined where lanes are missing.)
pub fn compare(joints: &Joints, bindings: &Bindings) -> Result<u64, String> {
    let whole = || joints.iter().filter(|(_, joint)| joint.lanes == 32);
    for (place, joint) in whole() {
        let missed = joint.elements.iter().find(|element| !joint.given.iter().any(|g| g.covers(element, bindings)));
        if let Some(element) = missed {
            return Err(format!("{place:?}: the IVL of no lane has {element:x?}"));
        }
        for given in &joint.given {
            let Some(start) = given.offset else { continue };
            let done = |byte: u64| {
                let at = |element: &&Element| byte.wrapping_sub(element.offset) < u64::from(element.bytes);
                joint.elements.iter().filter(|element| given.may_be(element, bindings)).any(|e| at(&e))
            };
            if let Some(byte) = (start..start + u64::from(given.bytes)).find(|byte| !done(*byte)) {
                return Err(format!("{place:?}: no lane accesses byte {byte:x} of {}", given.array));
            }
        }
    }
    Ok(whole().count() as u64)
}
