//! Kernels by patterns, as files have them.
//!
//! Input: a kernel's name in the PTX, and a pattern. Output: whether the pattern means it. Establishes: the name in the PTX
//! always does. Relies on: `ptx::mangled` for what authors call their kernels. Reference: none.

use crate::ptx::mangled;

/// Whether a pattern with `*`, `?` and `[...]` means a kernel.
pub(crate) fn matches(kernel: &str, pattern: &str) -> bool {
    let Ok(glob) = glob::Pattern::new(pattern) else { return false };
    mangled::is_called(kernel, pattern) || mangled::spellings(kernel).any(|spelling| glob.matches(&spelling))
}
