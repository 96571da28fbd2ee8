//! Where functions of the driver come from: `dlsym`, `cuGetProcAddress`, and the linker.
//!
//! Output: wrappers in the place of the driver's functions; the driver's own functions for the recorder. Establishes: any other
//! symbol is answered by the real `dlsym`, which sees the program as its caller (`RTLD_NEXT` depends on who asks).
//! Relies on: versions of glibc's symbols. Reference: dlsym(3), dlvsym(3); CUDA Driver API, `cuGetProcAddress`.

use crate::functions::{Kind, by_version, exported};
use crate::wrappers::{is_ours, wrapper_for};
use crate::{Handle, SUCCESS, Status};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

type Dlsym = unsafe extern "C" fn(Handle, *const c_char) -> Handle;

unsafe extern "C" {
    fn dlvsym(handle: Handle, name: *const c_char, version: *const c_char) -> Handle;
    fn dlopen(file: *const c_char, flags: c_int) -> Handle;
}

type ProcAddress = unsafe extern "C" fn(*const c_char, *mut Handle, c_int, u64, *mut c_int) -> Status;

/// The version of CUDA since which the driver tells sizes of parameters.
const QUERIES_SINCE: c_int = 12040;
const RTLD_DEFAULT: Handle = null_mut();
const RTLD_NEXT: Handle = -1isize as Handle;
/// `RTLD_LAZY | RTLD_NOLOAD`
const IF_LOADED: c_int = 1 | 4;
/// Of `dlsym`: since libdl is a part of libc, and before that on x86-64 and on AArch64.
const VERSIONS: [&CStr; 3] = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];

fn real_dlsym() -> Option<Dlsym> {
    static REAL: OnceLock<Option<Dlsym>> = OnceLock::new();
    *REAL.get_or_init(|| {
        // SAFETY: glibc's function by its version; the type is that of dlsym.
        let of_version = |version: &&CStr| unsafe { dlvsym(RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
        let found = VERSIONS.iter().map(of_version).find(|found| !found.is_null())?;
        Some(unsafe { transmute::<Handle, Dlsym>(found) })
    })
}

/// The driver's function of a name, which ends with a zero byte; null: there is none.
pub(crate) fn of_driver(name: &str) -> Handle {
    let (Some(dlsym), Ok(name)) = (real_dlsym(), CStr::from_bytes_with_nul(name.as_bytes())) else { return null_mut() };
    // SAFETY: names are strings of C. The next one behind this library, if the program is linked with the driver.
    let next = unsafe { dlsym(RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return next;
    }
    let driver = unsafe { dlopen(c"libcuda.so.1".as_ptr(), IF_LOADED) };
    let found = if driver.is_null() { null_mut() } else { unsafe { dlsym(driver, name.as_ptr()) } };
    if found.is_null() { by_address(name) } else { found }
}

/// What the driver's `cuGetProcAddress` gives, where the program found it: the driver may have another name.
fn by_address(name: &CStr) -> Handle {
    let real = crate::wrappers::real(Kind::ProcAddress, 0);
    if real.is_null() {
        return null_mut();
    }
    // SAFETY: the driver's function; before CUDA 12 it does not look at the fifth argument.
    let real: ProcAddress = unsafe { transmute(real) };
    let (mut function, mut found) = (null_mut(), 0);
    let status = unsafe { real(name.as_ptr(), &mut function, QUERIES_SINCE, 0, &mut found) };
    if status == SUCCESS && !is_ours(function) { function } else { null_mut() }
}

/// The wrapper of an exported function, found at its first call; null: the driver has no such function.
pub(crate) fn exported_wrapper(found: &AtomicPtr<c_void>, kind: Kind, name: &str) -> Handle {
    if found.load(Ordering::Acquire).is_null() {
        let real = of_driver(name);
        if !real.is_null() {
            found.store(wrapper_for(kind, real), Ordering::Release);
        }
    }
    found.load(Ordering::Acquire)
}

/// Puts a wrapper where `cuGetProcAddress` put a function.
///
/// # Safety
/// The arguments are those of a call that succeeded.
pub(crate) unsafe fn replace(name: *const c_char, function: *mut Handle, version: i32) {
    if name.is_null() || function.is_null() || unsafe { *function }.is_null() {
        return;
    }
    let Ok(name) = unsafe { CStr::from_ptr(name) }.to_str() else { return };
    if let Some(kind) = by_version(name, version) {
        unsafe { *function = wrapper_for(kind, *function) };
    }
}

/// What `dlsym` answers, or, if that is null, the function that answers it.
#[repr(C)]
struct Choice {
    answer: Handle,
    asked: Dlsym,
}

unsafe extern "C" fn choose(handle: Handle, name: *const c_char) -> Choice {
    let Some(dlsym) = real_dlsym() else { return Choice { answer: null_mut(), asked: nothing } };
    let other = Choice { answer: null_mut(), asked: dlsym };
    if handle == RTLD_NEXT || name.is_null() {
        return other;
    }
    let Some(kind) = unsafe { CStr::from_ptr(name) }.to_str().ok().and_then(exported) else { return other };
    let found = unsafe { dlsym(handle, name) };
    // This library comes first where all are asked; without the driver behind it there is no such function.
    if handle == RTLD_DEFAULT && is_ours(found) && unsafe { dlsym(RTLD_NEXT, name) }.is_null() {
        return Choice { answer: null_mut(), asked: nothing };
    }
    if found.is_null() { other } else { Choice { answer: wrapper_for(kind, found), ..other } }
}

/// Answers that there is no such symbol, and sets `dlerror`.
unsafe extern "C" fn nothing(_handle: Handle, name: *const c_char) -> Handle {
    let found = real_dlsym().map_or(null_mut(), |dlsym| unsafe { dlsym(RTLD_NEXT, name) });
    std::hint::black_box(found)
}

/// In front of glibc's. It jumps there, so that the caller is still the program.
///
/// # Safety
/// That of dlsym(3).
#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: Handle, name: *const c_char) -> Handle {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {choose}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jne 2f",
        "jmp rdx",
        "2:",
        "ret",
        choose = sym choose,
    )
}

/// In front of glibc's. It jumps there, so that the caller is still the program.
///
/// # Safety
/// That of dlsym(3).
#[cfg(target_arch = "aarch64")]
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: Handle, name: *const c_char) -> Handle {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "bl {choose}",
        "mov x16, x0",
        "mov x17, x1",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbnz x16, 2f",
        "br x17",
        "2:",
        "mov x0, x16",
        "ret",
        choose = sym choose,
    )
}

/// Asks the driver for the name of a function.
pub(crate) fn name_of(function: Handle, is_kernel: bool) -> Option<String> {
    let query = of_driver(if is_kernel { "cuKernelGetName\0" } else { "cuFuncGetName\0" });
    if query.is_null() {
        return None;
    }
    // SAFETY: the driver's function; it writes a pointer to its own string.
    let query: unsafe extern "C" fn(*mut *const c_char, Handle) -> Status = unsafe { transmute(query) };
    let mut name = std::ptr::null();
    let status = unsafe { query(&mut name, function) };
    let is_there = status == SUCCESS && !name.is_null();
    is_there.then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// Asks the driver for the offset and the size of each parameter; `None`: it does not know.
pub(crate) fn parameters_of(function: Handle, is_kernel: bool) -> Option<Vec<(usize, usize)>> {
    let query = of_driver(if is_kernel { "cuKernelGetParamInfo\0" } else { "cuFuncGetParamInfo\0" });
    if query.is_null() {
        return None;
    }
    // SAFETY: the driver's function; it writes two sizes, and answers an error behind the last parameter.
    let query: unsafe extern "C" fn(Handle, usize, *mut usize, *mut usize) -> Status = unsafe { transmute(query) };
    let (mut offset, mut size) = (0, 0);
    let parameter =
        |index| (unsafe { query(function, index, &mut offset, &mut size) } == SUCCESS).then_some((offset, size));
    Some((0..).map_while(parameter).collect())
}
