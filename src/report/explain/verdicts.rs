//! Codes of verdicts and findings.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "verified",
        title: "proved under the listed assumptions",
        text: "No terminating execution of this kernel, with the launch sizes that the report names and under \
               the assumptions that it lists, has a data race, a barrier divergence, a failed assertion or a \
               misuse of a barrier. This holds for every schedule and every input. The report says what was \
               checked; a kernel with nothing to check, or a launch of one thread, says so. Options that change what \
               is proved stand among the assumptions.",
        example: "gpuvcc saxpy.ptx --block 256 --grid 64",
    },
    Code {
        code: "verified-when",
        title: "proved under launch conditions that the tool found",
        text: "The same as verified, but only for launches that meet the conditions that the report lists. \
               It exits with 3: nobody has checked yet that every launch meets them. Fix the sizes with \
               --block and --grid, or state the condition in the kernel, to make it a plain verified. A line that begins \
               with `outside` is a defect that an execution has with values which no host is likely to pass (n = 0, a \
               pitch below the width); --any-values makes it a finding.",
        example: "holds when:\n- gridDim.y == 1",
    },
    Code {
        code: "race",
        title: "two threads access the same bytes, unordered, and one writes",
        text: "A concrete execution has a data race in the sense of the PTX memory model: two accesses of \
               different threads overlap, at least one writes, no barrier or other synchronisation orders \
               them, and they are not both strong accesses of the same bytes with a scope that holds both \
               threads. The report names both accesses, both threads, the launch and the parameters. Threads \
               of one warp are not in lockstep, and writing the same value twice is a race too (a `same-value race`, ranked last). Volatile accesses \
               are strong, with the scope of the system, and do not race with each other: the report says so where \
               there are any, and --volatile-races takes them for plain ones. An address of .shared, .local, .param \
               or .const is taken modulo 2^32, as the PTX manual has it.",
        example: "tile[threadIdx.x] = x;\ny = tile[threadIdx.x + 1];   // __syncthreads() is missing before this line",
    },
    Code {
        code: "possible-race",
        title: "the proof that two accesses do not race failed",
        text: "The solver found values under which two accesses may race, but not every one of them was \
               computed from a real start of the kernel: a loop invariant may be too weak, or a value came \
               from memory or from a floating-point operation. Look at the two lines; if they cannot meet, a \
               `//@ requires` or `//@ invariant` comment, or fixed sizes, may give the missing fact.",
        example: "a[index[i]] = 0;   // race-free only if index has no value twice, which nothing says",
    },
    Code {
        code: "divergence",
        title: "some threads of a block reach a barrier and others do not",
        text: "A concrete execution has a barrier that one thread of a block arrives at while another one \
               does not: it took another branch, left a loop earlier, has exited, or names another barrier. \
               `bar.sync` is `barrier.sync.aligned`, of which the PTX manual demands that all threads of the block \
               execute the same instruction; so whole warps that meet at two `bar.sync 0` diverge too, and the \
               message says that only this rule is broken. It is the same for a barrier with a count that is the \
               size of the block. Lanes that a warp operation waits for diverge likewise if they wait elsewhere. With \
               --exited-threads=ok barriers do not wait for threads that have exited. A \
               barrier that names its count still does: by the manual's `exit`, threads that exit release only \
               barriers \"for all threads in the CTA\".",
        example: "if (threadIdx.x < 16) __syncthreads();",
    },
    Code {
        code: "possible-divergence",
        title: "the proof that all threads reach a barrier together failed",
        text: "Not shown by a concrete execution: a branch or loop around the barrier depends on something \
               that the proof does not know to be equal for all threads of the block, for example on a value \
               loaded from memory. A barrier without `.aligned` gives at most this, since its threads may \
               legally meet at different barriers.",
        example: "while (flag[0]) { __syncthreads(); }   // may change between two threads' reads",
    },
    Code {
        code: "deadlock",
        title: "threads wait for each other for ever",
        text: "A concrete execution comes to a point where every thread that has not exited waits at a \
               barrier that can never complete.",
        example: "one warp of three waits at `bar.sync 1, 64`, another one at `bar.sync 2, 64`, the third has exited",
    },
    Code {
        code: "possible-deadlock",
        title: "the proof that barriers complete failed",
        text: "Threads may wait at a barrier that never completes, but no concrete execution was shown.",
        example: "",
    },
    Code {
        code: "barrier-error",
        title: "a barrier is used against its rules",
        text: "A concrete execution breaks a rule that the PTX manual sets for barriers: they have numbers from 0 to \
               15, the thread count is a multiple of 32 and not 0, threads that wait at one barrier name one count, \
               and the thread that executes bar.warp.sync or another .sync operation of a warp (shfl, vote, match, \
               redux, elect) is in its mask of members. An mbarrier object lives from its init to its inval and is accessed \
               by nothing else, no phase gets more arrivals or bytes than it can count, and none gets an arrival before \
               a wait has seen the end of the phase before. A constant number or count that breaks this is an error of \
               the input (`operand-kind`).",
        example: "mov.u32 %r1, 16;\nbar.sync %r1;\n\nshfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffff;   // in lane 16",
    },
    Code {
        code: "possible-barrier-error",
        title: "the proof that a barrier's rules are kept failed",
        text: "A barrier may be used against its rules, but no concrete execution was shown: its number, or the mask \
               of a warp operation, comes from a register whose value the proof does not know. A count in a register \
               has no model (`barrier-count`). Or two uses of a barrier may mix (kind `reuse`, from the exact engine): a \
               thread arrives for the next one without any barrier that tells it that the last one is complete.",
        example: "ld.global.u32 %r1, [%rd1];\nbar.warp.sync %r1;",
    },
    Code {
        code: "assertion",
        title: "an assertion fails",
        text: "A concrete execution makes a `//@ assert` or `//@ invariant` false. In a procedure of the IVL: the values shown lead from its start to an \
               assertion, precondition of a call, postcondition or invariant (on entry) that is false there.",
        example: "//@ assert %r8 < 64;",
    },
    Code {
        code: "possible-assertion",
        title: "the proof of an assertion failed",
        text: "The assertion (or the bounds of an access, with --check-bounds) could not be proved, and no \
               concrete execution was shown. If it stands in a loop, an invariant may be missing. An invariant that a \
               round does not maintain may still be true: a second one that says more of the registers shown, or of those that they \
               come from, may make both provable. In a procedure of the IVL the way that is shown begins behind a loop, a \
               call or a quantifier: what an invariant, a contract or a trigger does not say was chosen freely.",
        example: "",
    },
    Code {
        code: "unknown",
        title: "the method or the solver came to a limit",
        text: "Neither a proof nor a counterexample: a query ran out of time, a limit of the run was met \
               (`time-limit`, `memory-limit`), or the kernel has a reachable loop that no thread can leave, about \
               which a proof for terminating executions says nothing. \
               More time (--timeout), fixed sizes (--block, --grid) or fixed parameters (--param) may help.",
        example: "gpuvcc gemm.ptx --timeout 300 --block 16,16 --grid 64,64",
    },
    Code {
        code: "unknown-endless-loop",
        title: "a loop that no thread can leave",
        text: "The loop can be reached, but no execution of its body leads to an exit. A proof about terminating \
               executions says nothing of what stands after such a loop, so the kernel is not called \
               verified. Loops that wait for another thread (spin locks, persistent kernels) may look like \
               this when the value that they wait for never changes in the model.",
        example: "while (true) { }",
    },
    Code {
        code: "unknown-solver-limit",
        title: "the solver gave no answer in time",
        text: "A query ended without a proof and without a counterexample: the time ran out or the formula is \
               too hard. More time (--timeout), fixed sizes (--block, --grid), a fixed parameter (--param) or \
               the other arithmetic (--arith bv) may decide it.",
        example: "gpuvcc gemm.ptx --timeout 300 --param 0=1024",
    },
    Code {
        code: "not-static",
        title: "one execution does not decide for all",
        text: "The exact engine (--engine exact, or where barriers for a part of the block, barrier objects, bulk copies \
               or clusters leave the symbolic proof without an answer) executes the launch once. That decides for all schedules and all contents of arrays if \
               nothing that is open decides control or a barrier, and it decides an address only within an array or shared variable \
               that is known and that nothing else accesses in a way that conflicts: what arrays hold before the launch, memory \
               and registers that were not written, results of atomics, what strong accesses read, clocks, `%warpid`, \
               floating-point results, and where arrays and variables are placed. The message names the instruction, and \
               where the value came from. It also wants that barriers alone order the accesses, and that the threads of a \
               warp come to each barrier together. Sizes and scalars that nobody gives are chosen, and are conditions then.",
        example: "ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra DONE;          // memory decides\nbar.sync 1, 64;",
    },
    Code {
        code: "phases",
        title: "no proof for every trip count",
        text: "Kernels with barriers for a part of the block, barrier objects or copies that tell them are proved for every trip count \
               if the sizes of blocks are given, and what each thread does to shared memory and barriers is a function of its \
               number and of one scalar of 32 bits, the same in each turn of the ring. The note names the instruction where that is not so, \
               or what is not shown there: an order of two accesses, that who comes to a phase knows that the one before is complete, that \
               no wait is overtaken, that nobody waits for ever. It claims no defect. `--emit phases` prints what is shown; with \
               the launch and all scalars given, the exact engine decides, and shows defects.",
        example: "gpuvcc ring.ptx --block 64 --emit phases",
    },
    Code {
        code: "cluster-scope",
        title: "blocks of one cluster in a proof that has no clusters",
        text: "The two-thread proof takes each block for a cluster of its own, so that what is strong in the scope of a cluster is                strong in the scope of a block there. A race that it finds may be none between blocks of one cluster. The exact                engine knows clusters, and answers if all of the launch and all scalars are given.",
        example: "gpuvcc kernel.ptx --block 128 --grid 8 --cluster 2 --param n=1024",
    },
    Code {
        code: "time-limit",
        title: "the time of a kernel is over",
        text: "--timeout (60 seconds unless given) bounds all that is done for a kernel, and the reading of a file. \
               The message names the stage that was running: ptx, cfg, kernel, predicate, twothread, infer, vcgen, \
               solver, or driver between them. Defects that executions showed before are kept. What a stage works on \
               grows with the kernel; fixed sizes (--block, --grid), fixed parameters (--param) or one kernel at a \
               time (--jobs 1) may help, too.",
        example: "gpuvcc gemm.ptx --timeout 300 --block 16,16 --grid 64,64",
    },
    Code {
        code: "memory-limit",
        title: "the process has as much memory as it may have",
        text: "--memory bounds the memory of the process, in millions of bytes, for all --jobs together; unless given, \
               it is three quarters of what the machine or the control group has. Where it is short, the kernel that \
               has run longest ends, and the message names the stage that was running. The others are answered as \
               usual. Fewer kernels at a time (--jobs 1) leave more to each.",
        example: "gpuvcc gemm.ptx --memory 16000 --jobs 1",
    },
    Code {
        code: "unsupported",
        title: "something in the kernel has no sound model",
        text: "The kernel uses an instruction or a construct that this version cannot model without the risk \
               of a wrong `verified`; the message names the line. Nothing was proved.",
        example: "gpuvcc explain      lists the codes that say what is missing",
    },
];
