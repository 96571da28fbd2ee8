//! Codes of the command line, of launches, and of the program itself.

use super::Code;

/// The table.
pub const CODES: &[Code] = &[
    Code {
        code: "input-unreadable",
        title: "an input file cannot be read",
        text: "The file does not exist, is a directory, may not be read, is larger than 1 GiB, holds NUL bytes \
               (cubin, fatbin, object files) or is not UTF-8 text. PTX comes from `nvcc -ptx` or `clang -S`; \
               `cuobjdump -ptx` extracts it from binaries that embed it.",
        example: "nvcc -ptx -lineinfo -arch=sm_90 scan.cu -o scan.ptx && gpuvcc scan.ptx",
    },
    Code {
        code: "no-kernel",
        title: "an input has no kernel",
        text: "PTX needs at least one `.entry` with a body, an IVL program a procedure with the attribute \
               {:kernel}. Device functions (`.func`) are verified where a kernel calls them.",
        example: "procedure {:kernel} add_neighbour() { ... }",
    },
    Code {
        code: "no-such-entry",
        title: "--entry names a kernel that no input has",
        text: "Names are compared exactly, and C++ kernels have mangled names in PTX. The message gives near \
               names, or some of those that exist.",
        example: "gpuvcc saxpy.ptx --entry _Z5saxpyifPfS_",
    },
    Code {
        code: "contradictory-requirements",
        title: "requirements that no execution meets",
        text: "Everything is true of no execution at all, so such a proof would say nothing: preconditions, `requires` \
               and `assume` annotations, fixed parameters and launch sizes contradict each other.",
        example: "//@ requires %p1;   and later   //@ requires !%p1;",
    },
    Code {
        code: "launch-size",
        title: "launch sizes that contradict each other or the kernel",
        text: "A kernel with `.reqntid` runs only with that block size, `.maxntid` bounds its product, a launch \
               has fewer threads than --max-threads, and no GPU launches blocks of more than 1024 threads. Sizes \
               that break this describe no launch, so nothing could be proved of them.",
        example: ".reqntid 256, 1, 1\ngpuvcc k.ptx --block 128",
    },
    Code {
        code: "parameter",
        title: "--param names no scalar parameter, names one twice, or its value does not fit",
        text: "Parameters are named as in the PTX, or by their position from 0. The value must fit the width of \
               the parameter, and pointers have no value to fix.",
        example: "gpuvcc saxpy.ptx --param saxpy_param_0=1024\ngpuvcc saxpy.ptx --param 0=1024",
    },
    Code {
        code: "internal-error",
        title: "a bug of gpuvcc",
        text: "A stage found its own rules broken. Nothing was proved about the kernel, the exit code is 4, and \
               other kernels of the run are not affected. Please report it with the input.",
        example: "",
    },
];
