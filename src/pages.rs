//! How large the pages of memory are that the process gets from the system.
//!
//! Input: what is about to begin. Output: none. Establishes: nothing that an answer depends on. The allocator asks for huge
//! pages (2 MB), which are cleared as a whole when a byte of them is first used. For the tables of a context of Z3, 17 MB
//! that are written at once, this takes a third of the time that small pages take; trees of small nodes are written page
//! by page, and clearing a small page just before it is used leaves it in the cache. So a run begins with small pages and
//! gets huge ones with its first context: with huge ones throughout, a module of 26.7 MB took a fifth more time to read,
//! and a tenth more memory. Relies on: the system. Reference: prctl(2),
//! PR_SET_THP_DISABLE; processes that are started inherit it.

/// Small pages from now on.
pub fn small() {
    set(true);
}

/// Huge pages from now on, where the allocator asks for them.
pub(crate) fn huge() {
    set(false);
}

#[cfg(target_os = "linux")]
fn set(are_small: bool) {
    // What cannot be had is no fault: it is about time only.
    let _ = rustix::thread::disable_transparent_huge_pages(are_small);
}

#[cfg(not(target_os = "linux"))]
fn set(_are_small: bool) {}
