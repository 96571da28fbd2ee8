//! Family `equality`: the two threads' copies agree.
//!
//! Shapes: `x$1 == x$2`; the same while both are active.
//! Example: `r9$1 == r9$2`, the counter of a loop whose bounds do not depend on the thread.
//! Inductive when every update is by equal values.
//! Reference: gpuverify-notes section 4 (`predicatedEquality`).

use super::View;
use crate::ivl::ast::Thread;
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    let both = bv::and(view.active(Thread::First), view.active(Thread::Second));
    for (name, ty) in view.variables.clone() {
        if name == view.ghosts.v_active {
            continue;
        }
        let equal = bv::eq(bv::var(name.of(Thread::First), ty.clone()), bv::var(name.of(Thread::Second), ty));
        view.propose("equality", equal.clone());
        view.propose("equality", bv::implies(both.clone(), equal));
    }
}
