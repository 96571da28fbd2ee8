//! The options that change what is proved, or what an execution may show.

/// What counts as a defect, and what is taken for granted. By default nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Two writes of the same value do not race.
    pub allow_same_value: bool,
    /// Volatile accesses race as plain ones do: they were made weak before ([`crate::ptx::weaken_volatile`]).
    pub volatile_races: bool,
    /// Threads that have exited count as arrived at barriers that name no count.
    pub exited_threads_ok: bool,
    /// Pointers may refer to the same array.
    pub may_alias: bool,
    /// A function without a body, of which nothing is known, gives arbitrary results and does nothing else that other
    /// threads see.
    pub unknown_functions_arbitrary: bool,
    /// Accesses stay inside arrays of known size.
    pub check_bounds: bool,
    /// Threads of a warp that execute an instruction together are ordered by it (the model before Volta). Only the
    /// emulator has it, and there only the lock-step schedules.
    pub warp_lockstep: bool,
    /// Barriers order accesses to tensor memory in kernels without `tcgen05.fence`, and the words that held its addresses may go to
    /// copies without a proxy fence (`--assume tensor-order`). By the letter of PTX both are races; code that Triton makes is so.
    pub tensor_order: bool,
    /// Threads of a warp that wait for each other do so at one instruction each time, or a proof fails. No option of a user:
    /// `--redundant` asks it of the kernel as it is.
    pub warps_meet: bool,
    /// Barrier objects have a model in lock-step ([`crate::kernel`], `objects`). No option of a user: it is tried where there is no
    /// answer without.
    pub objects_in_step: bool,
    /// Of what a kernel does, only its accesses of global memory are proved, as if nothing ordered them: barriers, barrier objects and
    /// shared memory belong to [`crate::phases`]. No option of a user.
    pub global_only: bool,
}
