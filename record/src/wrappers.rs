//! Which real function a wrapper calls.
//!
//! Input: real functions. Output: a wrapper for each. Establishes: different real functions (by version of the API, by kind
//! of default stream) have different wrappers, so none is called in another's place; without a free wrapper the real
//! function itself is handed out. Relies on: nothing. Reference: none.

use crate::functions::{self, KINDS, Kind};
use crate::{Handle, state};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Real functions of one kind; a driver has one or two.
pub(crate) const SLOTS: usize = 4;
/// More than there are kinds.
const MOST_KINDS: usize = 32;
const _: () = assert!(KINDS.len() <= MOST_KINDS);

static REAL: [[AtomicPtr<c_void>; SLOTS]; MOST_KINDS] =
    [const { [const { AtomicPtr::new(null_mut()) }; SLOTS] }; MOST_KINDS];

/// The function that a wrapper calls, which is set before the wrapper is handed out.
pub(crate) fn real(kind: Kind, slot: usize) -> Handle {
    REAL[kind as usize][slot].load(Ordering::Acquire)
}

/// What the program is given for a function of the driver.
pub(crate) fn wrapper_for(kind: Kind, real: Handle) -> Handle {
    if is_ours(real) {
        return real;
    }
    for (slot, wrapper) in REAL[kind as usize].iter().zip(functions::wrappers(kind)) {
        match slot.compare_exchange(null_mut(), real, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return wrapper,
            Err(found) if found == real => return wrapper,
            Err(_) => {}
        }
    }
    state::complain(&format!("more than {SLOTS} functions are {kind:?}; calls of the others are not recorded"));
    real
}

/// Whether a function is of this library.
pub(crate) fn is_ours(function: Handle) -> bool {
    functions::is_exported(function) || KINDS.iter().any(|kind| functions::wrappers(*kind).contains(&function))
}
