//! The functions of the driver that are wrapped.
//!
//! Output: a wrapper for each kind of function, and the exported names for programs that are linked with the driver.
//! Establishes: a wrapper calls its real function once. Relies on: `wrappers` for which function that is.
//! Reference: CUDA Driver API, "Execution Control", "Memory Management", "Module Management", "Library Management",
//! "Driver Entry Point Access".

use crate::launch::{self, Config, Launch};
use crate::wrappers::{self, SLOTS};
use crate::{Handle, NOT_FOUND, SUCCESS, Status, recording, state, symbols};
use std::ffi::{c_char, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

/// The wrappers of a kind, one for each real function that it may stand for.
macro_rules! wrappers_of {
    ($kind:ident ($($argument:ident: $type:ty),*) $before:block $after:block) => {{
        unsafe extern "C" fn wrapper<const SLOT: usize>($($argument: $type),*) -> Status {
            let real = wrappers::real(Kind::$kind, SLOT);
            // SAFETY: the driver's function of this kind, with the caller's arguments.
            let real: unsafe extern "C" fn($($type),*) -> Status = unsafe { transmute(real) };
            recording(|| $before);
            let status = unsafe { real($($argument),*) };
            if status == SUCCESS {
                // SAFETY: the driver read and wrote what these arguments point to.
                #[allow(unused_unsafe)]
                recording(|| unsafe { $after });
            }
            status
        }
        [wrapper::<0> as _, wrapper::<1> as _, wrapper::<2> as _, wrapper::<3> as _]
    }};
}

/// The function by which programs that are linked with the driver find a wrapper.
macro_rules! export {
    ($kind:ident $name:ident ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// That of the driver's function.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> Status {
            static WRAPPER: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
            let wrapper = symbols::exported_wrapper(&WRAPPER, Kind::$kind, concat!(stringify!($name), "\0"));
            if wrapper.is_null() {
                return NOT_FOUND;
            }
            // SAFETY: a wrapper of this kind, or the driver's function.
            let wrapper: unsafe extern "C" fn($($type),*) -> Status = unsafe { transmute(wrapper) };
            unsafe { wrapper($($argument),*) }
        }
    };
}

/// For each kind: the names by which programs link it, the name by which `cuGetProcAddress` knows it from a version on, its
/// arguments, what is done before the call, and what after a call that succeeded.
macro_rules! functions {
    ($($kind:ident [$($name:ident)*] $base:literal from $version:literal $arguments:tt
        before $before:block after $after:block)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($kind),* }

        pub(crate) const KINDS: &[Kind] = &[$(Kind::$kind),*];

        /// The kind of the function that the driver exports by a name.
        pub(crate) fn exported(name: &str) -> Option<Kind> {
            match name {
                $($(stringify!($name) => Some(Kind::$kind),)*)*
                _ => None,
            }
        }

        /// The kind of the function that `cuGetProcAddress` gives for a name and a version.
        pub(crate) fn by_version(name: &str, version: i32) -> Option<Kind> {
            match name {
                $($base if version >= $version => Some(Kind::$kind),)*
                _ => exported(name),
            }
        }

        pub(crate) fn wrappers(kind: Kind) -> [Handle; SLOTS] {
            match kind {
                $(Kind::$kind => wrappers_of!($kind $arguments $before $after)),*
            }
        }

        functions!(@export $($kind [$($name)*] $arguments)*);

        /// Whether a function is one of those that are exported here.
        pub(crate) fn is_exported(function: Handle) -> bool {
            [$($($name as Handle),*),*].contains(&function)
        }
    };
    (@export $kind:ident [$name:ident $($more:ident)*] $arguments:tt $($rest:tt)*) => {
        export!($kind $name $arguments);
        functions!(@export $kind [$($more)*] $arguments $($rest)*);
    };
    (@export $kind:ident [] $arguments:tt $($rest:tt)*) => { functions!(@export $($rest)*); };
    (@export) => {};
}

functions! {
    LaunchKernel [cuLaunchKernel cuLaunchKernel_ptsz] "cuLaunchKernel" from 4000
        (function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
         block_z: c_uint, shared: c_uint, stream: Handle, values: *mut Handle, extra: *mut Handle)
        before {} after {
            let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
            launch::record(&Launch { function, grid, block, cluster: [1; 3], shared }, values, extra);
        }
    LaunchCooperative [cuLaunchCooperativeKernel cuLaunchCooperativeKernel_ptsz] "cuLaunchCooperativeKernel" from 9000
        (function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
         block_z: c_uint, shared: c_uint, stream: Handle, values: *mut Handle)
        before {} after {
            let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
            launch::record(&Launch { function, grid, block, cluster: [1; 3], shared }, values, null_mut());
        }
    LaunchEx [cuLaunchKernelEx cuLaunchKernelEx_ptsz] "cuLaunchKernelEx" from 11060
        (config: *const Config, function: Handle, values: *mut Handle, extra: *mut Handle)
        before {} after { launch::record(&Launch::of_config(function, &*config), values, extra); }
    ModuleLoad [cuModuleLoadData cuModuleLoadFatBinary] "cuModuleLoadData" from 2000
        (module: *mut Handle, image: *const c_char)
        before {} after { state::loaded(*module, image); }
    ModuleLoadEx [cuModuleLoadDataEx] "cuModuleLoadDataEx" from 2010
        (module: *mut Handle, image: *const c_char, count: c_uint, options: Handle, option_values: Handle)
        before {} after { state::loaded(*module, image); }
    LibraryLoad [cuLibraryLoadData] "cuLibraryLoadData" from 12000
        (library: *mut Handle, image: *const c_char, options: Handle, option_values: Handle, count: c_uint,
         library_options: Handle, library_values: Handle, library_count: c_uint)
        before {} after { state::loaded(*library, image); }
    ModuleUnload [cuModuleUnload] "cuModuleUnload" from 2000 (module: Handle)
        before { state::unloaded(module); } after {}
    LibraryUnload [cuLibraryUnload] "cuLibraryUnload" from 12000 (library: Handle)
        before { state::unloaded(library); } after {}
    GetFunction [cuModuleGetFunction] "cuModuleGetFunction" from 2000
        (function: *mut Handle, module: Handle, name: *const c_char)
        before {} after { state::named(*function, module, name, false); }
    GetKernel [cuLibraryGetKernel] "cuLibraryGetKernel" from 12000
        (kernel: *mut Handle, library: Handle, name: *const c_char)
        before {} after { state::named(*kernel, library, name, true); }
    KernelFunction [cuKernelGetFunction] "cuKernelGetFunction" from 12000 (function: *mut Handle, kernel: Handle)
        before {} after { state::same(*function, kernel); }
    Allocate [cuMemAlloc_v2] "cuMemAlloc" from 3020 (pointer: *mut u64, bytes: usize)
        before {} after { state::allocated(*pointer, bytes); }
    AllocatePitch [cuMemAllocPitch_v2] "cuMemAllocPitch" from 3020
        (pointer: *mut u64, pitch: *mut usize, width: usize, height: usize, element: c_uint)
        before {} after { state::allocated(*pointer, (*pitch).saturating_mul(height)); }
    AllocateManaged [cuMemAllocManaged] "cuMemAllocManaged" from 6000 (pointer: *mut u64, bytes: usize, flags: c_uint)
        before {} after { state::allocated(*pointer, bytes); }
    AllocateAsync [cuMemAllocAsync cuMemAllocAsync_ptsz] "cuMemAllocAsync" from 11020
        (pointer: *mut u64, bytes: usize, stream: Handle)
        before {} after { state::allocated(*pointer, bytes); }
    AllocateFromPool [cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz] "cuMemAllocFromPoolAsync" from 11020
        (pointer: *mut u64, bytes: usize, pool: Handle, stream: Handle)
        before {} after { state::allocated(*pointer, bytes); }
    // Before the call: after it, another thread may have been given the same address.
    Free [cuMemFree_v2] "cuMemFree" from 3020 (pointer: u64)
        before { state::freed(pointer); } after {}
    FreeAsync [cuMemFreeAsync cuMemFreeAsync_ptsz] "cuMemFreeAsync" from 11020 (pointer: u64, stream: Handle)
        before { state::freed(pointer); } after {}
    // The first version has no fifth argument; the caller's register is passed on and not looked at.
    ProcAddress [cuGetProcAddress cuGetProcAddress_v2] "cuGetProcAddress" from 11030
        (name: *const c_char, function: *mut Handle, version: i32, flags: u64, found: Handle)
        before {} after { symbols::replace(name, function, version); }
}
