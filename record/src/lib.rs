//! The library that `gpuvcc record` loads into a program (`LD_PRELOAD`): it writes down the kernels that are launched.
//!
//! Input: calls of the CUDA driver API. Output: a JSON line for each different launch, in the file that the environment
//! names. Establishes: each call reaches the driver with its arguments, once and in its order, and the program gets its
//! result; what the recorder asks the driver itself changes nothing. Relies on: glibc. Reference: CUDA Driver API.
//!
//! `functions` lists what is wrapped, `wrappers` hands out a wrapper for each real function, `symbols` finds real functions
//! and answers `dlsym`, `launch` makes the line, `state` knows names and allocations, `ptx` sizes of parameters.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
// Tests export nothing, so that their program keeps its own `dlsym`.
#![cfg_attr(test, allow(dead_code))]

mod functions;
mod launch;
mod ptx;
mod state;
mod symbols;
mod wrappers;

use std::ffi::c_void;

/// `CUfunction`, `CUmodule` and the like.
type Handle = *mut c_void;
/// `CUresult`
type Status = std::ffi::c_int;
const SUCCESS: Status = 0;
/// `CUDA_ERROR_NOT_FOUND`
const NOT_FOUND: Status = 500;

/// Runs what records. The program sees nothing of it, whatever happens.
fn recording(what: impl FnOnce()) {
    unsafe extern "C" {
        fn __errno_location() -> *mut std::ffi::c_int;
    }
    // SAFETY: glibc's `errno` of this thread.
    let errno = unsafe { __errno_location() };
    let before = unsafe { *errno };
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
    unsafe { *errno = before };
}
