//! Family `equality`: the two threads' copies agree.
//!
//! Shapes: `x$1 == x$2`; the same while both are active.
//! Example: `r9$1 == r9$2`, the counter of a loop whose bounds do not depend on the thread.
//! Inductive when every update is by equal values.
//! Reference: gpuverify-notes section 4 (`predicatedEquality`).

use super::{View, copy};
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    let both = bv::and(view.active(1), view.active(2));
    for (name, ty) in view.variables.clone() {
        if name == view.ghosts.v_active {
            continue;
        }
        let equal = bv::eq(bv::var(copy(&name, 1), ty.clone()), bv::var(copy(&name, 2), ty));
        view.propose("equality", equal.clone());
        view.propose("equality", bv::implies(both.clone(), equal));
    }
}
