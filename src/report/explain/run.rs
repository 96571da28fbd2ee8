//! Codes of `gpuvcc run`, the emulator.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "no-defect",
        title: "one emulated execution had no defect",
        text: "The launch ran to its end without a race, divergence, deadlock, barrier misuse, failed assertion or \
               access outside of its arrays. Races are found by happens-before, so the order of threads matters \
               only where it changes what they read. Nothing is proved about other arguments, sizes or \
               schedules; `gpuvcc` without `run` does that.",
        example: "gpuvcc run scan.ptx --block 256 --arg zeros:1024 --arg 1024 --schedule random --seed 7",
    },
    Code {
        code: "argument",
        title: "an argument of an emulated launch is wrong",
        text: "Each parameter of the kernel needs one --arg that fits its type: a number, or for a pointer an array \
               (zeros, ramp, random, file, same). Arguments go to the parameters in order, or by name or position.",
        example: "gpuvcc run saxpy.ptx --arg 1.5 --arg ramp:256xf32 --arg zeros:256xf32 --arg 256",
    },
    Code {
        code: "not-emulated",
        title: "a thread came to something that the emulator does not have",
        text: "The instruction is legal, but has no model in the emulator: bulk and tensor copies, mbarriers, clusters, \
                recursion and calls of functions without a body are among them. What was found \
               before counts.",
        example: "mbarrier.arrive.shared.b64 %rd1, [%r1];",
    },
    Code {
        code: "excluded",
        title: "a `requires` or `assume` does not hold in an emulated execution",
        text: "The author of the kernel excludes such executions, so whatever happens in them is no defect. Other \
               arguments or sizes may satisfy the annotation that is named.",
        example: "//@ requires [n] <= 1024;   run with --arg n=2000",
    },
    Code {
        code: "step-limit",
        title: "a thread executed as many instructions as allowed",
        text: "It may wait for something that never happens (in lock-step, a spin lock within a warp never ends), or \
               need more: --steps.",
        example: "gpuvcc run long.ptx --arg zeros:16 --steps 1000000000",
    },
    Code {
        code: "trap",
        title: "a thread executed `trap`",
        text: "The instruction ends the launch with an error. Compilers put it behind failed assertions and \
               unreachable code.",
        example: "trap;",
    },
    Code {
        code: "uninitialised-shared",
        title: "a thread reads shared memory that no thread of its block has written",
        text: "Shared memory holds anything when a block starts; the emulator fills it from the seed. A value that is \
               read and not used does no harm, so this is a warning.",
        example: "ld.shared.u32 %r1, [buffer];   at the start of a kernel",
    },
    Code {
        code: "made-up-values",
        title: "values that the emulator does not compute",
        text: "Products of matrices (mma, wmma) are not computed, and the way in which a wmma fragment lies in \
               registers is not specified. Registers get values from the seed. Accesses whose addresses and \
               conditions do not depend on them are as on a GPU.",
        example: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ...",
    },
    Code {
        code: "many-readers",
        title: "a location was accessed in more ways than the emulator remembers",
        text: "Each word of memory remembers up to 256 groups of threads that read it, and as many that wrote it. Later ones were forgotten, so \
               an access that races only with them was not reported.",
        example: "",
    },
    Code {
        code: "no-barrier-graph",
        title: "no execution whose barriers could be drawn",
        text: "`--format dot` draws the barriers of one execution: the generations of each, who comes to them and who \
               waits. The symbolic proof executes nothing; `--engine exact` does, and so does `gpuvcc run --format dot`. \
               A kernel in which no thread comes to a barrier has no graph either.",
        example: "gpuvcc kernel.ptx --block 64 --grid 2 --engine exact --format dot | dot -Tsvg",
    },
];
