//! Codes of what is legal, but has no sound model here. They make a kernel `unsupported`.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "unsupported-instruction",
        title: "an instruction without a model",
        text: "The instruction is legal PTX, but this version has no model of what it does to memory or \
               control: bulk and tensor copies, mbarriers, surface accesses, tensor memory and the like. To skip it could hide a race, so the kernel is refused. The message names \
               the instruction, its line and the reason.",
        example: "mbarrier.arrive.shared.b64 %rd1, [%r1];",
    },
    Code {
        code: "undefined-function",
        title: "a call of a function that this file does not define",
        text: "What an external function does to memory is unknown. Link it into the PTX (nvcc -rdc=false, or \
               inline it), so that its body is here. With --unknown-functions=arbitrary such a function is taken to give \
               arbitrary results, to touch no memory that other threads see, to pass no barrier and to return; the report \
               names each such function among the assumptions, and no execution that calls one confirms a defect. Of the functions of the CUDA runtime, `vprintf`, `__assertfail`, `malloc` and \
               `free` are known, with assumptions that the report prints. The functions `__gpuvcc_requires`, `__gpuvcc_assume`, \
               `__gpuvcc_assert` and `__gpuvcc_invariant` are the exception: they are annotations.",
        example: "call.uni (retval0), cudaMalloc, (param0, param1);",
    },
    Code {
        code: "barrier-invariant",
        title: "a barrier invariant that would say nothing",
        text: "A barrier invariant is stated by every thread of the block in front of a barrier, and used behind it. That \
               needs to know what memory holds: nothing is kept track of for arrays with atomic operations, volatile, \
               cached or collective accesses, for shared arrays that the kernel never writes, and where pointers of \
               unknown origin may reach. With --exited-threads=ok threads that have left state nothing, and \
               where a proof needs --allow-same-value others may write what a thread reads.",
        example: "atom.shared.add.u32 %r1, [slot], 1;\n//@ barrier_invariant slot.u32[0] <= %ntid.x;\nbar.sync 0;",
    },
    Code {
        code: "recursion",
        title: "a recursive call",
        text: "Device functions are inlined into the kernel, so a function that calls itself, directly or \
               through others, has no model.",
        example: "call.uni fib, (param0);    // inside fib",
    },
    Code {
        code: "indirect-call",
        title: "a call of a function that is not known",
        text: "A call through a register is checked for each function that it may reach: those of its .calltargets \
               list, or all of the shape of its .callprototype whose addresses the file takes. Here there is none, \
               or one with other parameters.",
        example: "call (result), %rd1, (argument), prototype_0;",
    },
    Code {
        code: "call-depth",
        title: "inlining makes the kernel too large",
        text: "Device functions are inlined at each call, and here the result is deeper or longer than the \
               bounds that the message names.",
        example: "",
    },
    Code {
        code: "irreducible",
        title: "a loop with several entries",
        text: "Control flow is ordered by natural loops, which have one entry. Loops with several entries are \
               made natural by copying blocks; this one would need too many copies. Compilers make such loops \
               from `goto` into a loop body.",
        example: "if (c) goto middle;\nwhile (d) { f(); middle: g(); }",
    },
    Code {
        code: "too-many-blocks",
        title: "more basic blocks than predication can number",
        text: "Block numbers have 16 bits, so a kernel has at most 65535 basic blocks.",
        example: "",
    },
    Code {
        code: "too-many-sites",
        title: "more accesses than can be numbered",
        text: "Accesses are numbered with 16 bits, so a kernel has at most 65536 accesses of shared and global \
               memory.",
        example: "",
    },
    Code {
        code: "barrier-count",
        title: "a barrier for a part of the block",
        text: "A barrier with a thread count orders all threads of a block only if the count equals the block \
               size. Give the size with --block if it does; barriers for a part of the block, or with a count that is \
               no constant, have no model in the symbolic proof. With a known launch (--block, --grid) the exact engine \
               decides many of them (`not-static`).",
        example: "bar.sync 1, 64;            // with --block 64 this is the whole block",
    },
    Code {
        code: "barrier-arrive",
        title: "an arrival without waiting",
        text: "`bar.arrive` counts a thread as arrived and lets it go on, which makes producer-consumer \
               barriers. They have no model in the symbolic proof. With a known launch (--block, --grid) the exact \
               engine decides many of them (`not-static`).",
        example: "bar.arrive 1, 128;",
    },
    Code {
        code: "cluster-address",
        title: "an access to the shared memory of another block",
        text: "Addresses in `.shared::cluster` may lie in the shared memory of another block of the cluster, \
               which has no model in the symbolic proof. The exact engine follows them where the size of a cluster is known \
               (--cluster, `.reqnctapercluster`).",
        example: "ld.shared::cluster.u32 %r1, [%r2];",
    },
    Code {
        code: "address-size",
        title: "32-bit addresses",
        text: "Only PTX with `.address_size 64` has a model: generic and global addresses are 64 bits wide.",
        example: "nvcc -m64 -ptx k.cu",
    },
    Code {
        code: "parameter-store",
        title: "a store to a kernel parameter",
        text: "Kernel parameters are read-only; a write to them, also an atomic one, has no model.",
        example: "st.param.u32 [k_param_0], %r1;",
    },
    Code {
        code: "heap-copy",
        title: "an asynchronous copy of memory from `malloc`",
        text: "Memory from `malloc` is its thread's own, so accesses to it are not compared; but its thread could write \
               to it, or free it, while the copy still reads. Such copies have no model.",
        example: "cp.async.ca.shared.global [%r4], [%rd3], 4;  // %rd3 comes from malloc",
    },
    Code {
        code: "register-parameters",
        title: "parameters in registers",
        text: "Functions whose parameters are registers (old PTX) are not supported; compilers pass parameters \
               in `.param` space.",
        example: ".func f (.reg .u32 %x)",
    },
    Code {
        code: "same-value-width",
        title: "--allow-same-value with a wide store",
        text: "Equal values are compared for stores of at most 8 bytes.",
        example: "",
    },
    Code {
        code: "unsupported-ivl",
        title: "a construct that verification conditions do not have",
        text: "The program uses something of the verification language that has no translation to formulas \
               here, such as a branch inside an inlined procedure. The message names it.",
        example: "",
    },
];
