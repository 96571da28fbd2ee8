//! What is known of the program: the names of functions, allocations, and the launches that are written.
//!
//! Output: lines of the file that `GPUVCC_RECORD` names. Establishes: each line once a process. What cannot be
//! recorded is said once, on stderr. Relies on: nothing. Reference: none.

use crate::{Handle, ptx};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CStr, c_char};
use std::io::Write;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;

/// The variable of the environment with the file of launches.
const FILE: &str = "GPUVCC_RECORD";

/// A function of a module.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Of a library, so a `CUkernel`.
    pub(crate) is_kernel: bool,
    module: usize,
}

#[derive(Default)]
struct State {
    functions: HashMap<usize, Function>,
    /// The text of modules that were loaded as PTX.
    texts: HashMap<usize, String>,
    /// Bytes of allocations by address.
    allocations: BTreeMap<u64, usize>,
    written: HashSet<String>,
    said: HashSet<String>,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

/// A process that was forked while another thread was here would wait for ever.
fn state() -> Option<MutexGuard<'static, State>> {
    for _ in 0..1000 {
        match STATE.try_lock() {
            Ok(state) => return Some(state),
            Err(std::sync::TryLockError::Poisoned(state)) => return Some(state.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

/// Says what is not recorded, once.
pub(crate) fn complain(message: &str) {
    if state().is_some_and(|mut state| state.said.insert(message.to_string())) {
        let _ = writeln!(std::io::stderr(), "gpuvcc record: {message}");
    }
}

/// # Safety
/// The image is one that the driver loaded: text of it ends with a zero byte.
pub(crate) unsafe fn loaded(module: Handle, image: *const c_char) {
    if image.is_null() || !ptx::may_start(unsafe { *image }.cast_unsigned()) {
        return;
    }
    let text = unsafe { CStr::from_ptr(image) }.to_string_lossy().into_owned();
    if let Some(mut state) = state() {
        state.texts.insert(module as usize, text);
    }
}

/// Handles may be given to others.
pub(crate) fn unloaded(module: Handle) {
    if let Some(mut state) = state() {
        state.texts.remove(&(module as usize));
        state.functions.retain(|_, function| function.module != module as usize);
    }
}

/// # Safety
/// The name is a string of C.
pub(crate) unsafe fn named(function: Handle, module: Handle, name: *const c_char, is_kernel: bool) {
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    if let Some(mut state) = state() {
        state.functions.insert(function as usize, Function { name, is_kernel, module: module as usize });
    }
}

/// A function is that of a kernel.
pub(crate) fn same(function: Handle, kernel: Handle) {
    if let Some(mut state) = state()
        && let Some(known) = state.functions.get(&(kernel as usize)).cloned()
    {
        state.functions.insert(function as usize, Function { is_kernel: false, ..known });
    }
}

pub(crate) fn function(handle: Handle) -> Option<Function> {
    state()?.functions.get(&(handle as usize)).cloned()
}

/// Offsets and sizes of parameters, by the PTX that was loaded.
pub(crate) fn parameters(function: &Function) -> Option<Vec<(usize, usize)>> {
    ptx::parameters(state()?.texts.get(&function.module)?, &function.name)
}

pub(crate) fn allocated(pointer: u64, bytes: usize) {
    if let Some(mut state) = state() {
        state.allocations.insert(pointer, bytes);
    }
}

pub(crate) fn freed(pointer: u64) {
    if let Some(mut state) = state() {
        state.allocations.remove(&pointer);
    }
}

/// The allocation in which an address lies: where it starts, and the bytes from the address on.
pub(crate) fn allocation(address: u64) -> Option<(u64, u64)> {
    let state = state()?;
    let (start, bytes) = state.allocations.range(..=address).next_back()?;
    let rest = start.checked_add(*bytes as u64)?.checked_sub(address)?;
    (rest > 0).then_some((*start, rest))
}

/// Writes a line, if it is a new one. One write each, at the end of the file: processes may share it.
pub(crate) fn write(line: String) {
    if !state().is_some_and(|mut state| state.written.insert(line.clone())) {
        return;
    }
    let Some(file) = std::env::var_os(FILE) else { return complain("no file to write to") };
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(&file);
    let written = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        complain(&format!("{}: {error}", file.to_string_lossy()));
    }
}
