/* Facts for gpuvcc in CUDA C++ (nvcc, NVRTC, clang).
 *
 *   GPUVCC_REQUIRES(c)     c holds in every launch: taken as true, and listed in the report
 *   GPUVCC_ASSUME(c)       c holds whenever a thread comes here: taken as true, and listed
 *   GPUVCC_ASSERT(c)       prove c here
 *   GPUVCC_INVARIANT(c)    prove that c holds in each round of the loop around, and use it
 *   GPUVCC_FACT("distinct([kernel_param_0].s32)")
 *                          what arrays hold when the kernel starts, in front of the first branch: a text, too (README, "Facts
 *                          about contents"): `distinct`, `sorted`, `initially`, `initialised`
 *   GPUVCC_BARRIER_INVARIANT("fact at threads")
 *                          directly in front of __syncthreads(): each thread proves the fact there, and uses behind the
 *                          barrier those of the threads that it lists (the book, "Annotating"). It is a text, so variables
 *                          have no meaning in it but __shared__ arrays: `tile.s32[4 * threadIdx.x] < 64 at threadIdx.x + 1`.
 *                          Parameters have the names of the PTX: `[kernel_param_0].s32[0]`.
 *
 * Each one becomes a comment of the PTX, such as `//@ requires %r8;`, so ptxas makes the same machine
 * code but for the instructions that compute c. Host code sees nothing: c is not evaluated there. To have
 * the facts in the build that is verified only, compile the others with -DGPUVCC_OFF.
 *
 * What to expect of an optimising compiler:
 * - A comment is never dropped where its code is reachable, stays on the same side of every branch and
 *   in the same order with other `asm volatile`. Loads and stores around it may move past it; c is computed
 *   from the values that its variables have in the source at this place.
 * - An invariant belongs at the beginning of the body: `for (...) { GPUVCC_INVARIANT(c); ...`. Loops are
 *   rotated (the test moves behind the body), so that c is proved for rounds that begin, and not after the
 *   last one; say there with GPUVCC_ASSERT what should hold behind the loop.
 * - In an unrolled loop there is one comment for each copy of the body, and all are proved. A loop that is
 *   unrolled completely is none any more: its comments are proved where they stand. `#pragma unroll 1` keeps it.
 * - No access to memory moves past a barrier invariant, and a `%` in its text is best avoided: compilers differ in
 *   whether inline assembly without operands writes it twice.
 * - c should have no side effects, and is best made of integers: what is loaded from memory that the kernel
 *   writes is arbitrary.
 */
#ifndef GPUVCC_H
#define GPUVCC_H

#if defined(__CUDA_ARCH__) && !defined(GPUVCC_OFF)
#define GPUVCC_ANNOTATION_(kind, condition) asm volatile("//@ " kind " %0;" ::"r"((condition) ? 1 : 0))
#else
#define GPUVCC_ANNOTATION_(kind, condition) ((void)0)
#endif

#define GPUVCC_REQUIRES(condition) GPUVCC_ANNOTATION_("requires", condition)
#define GPUVCC_ASSUME(condition) GPUVCC_ANNOTATION_("assume", condition)
#define GPUVCC_ASSERT(condition) GPUVCC_ANNOTATION_("assert", condition)
#define GPUVCC_INVARIANT(condition) GPUVCC_ANNOTATION_("invariant", condition)

#if defined(__CUDA_ARCH__) && !defined(GPUVCC_OFF)
#define GPUVCC_BARRIER_INVARIANT(text) asm volatile("//@ barrier_invariant " text ";" ::: "memory")
#define GPUVCC_FACT(text) asm volatile("//@ requires " text ";")
#else
#define GPUVCC_FACT(text) ((void)0)
#define GPUVCC_BARRIER_INVARIANT(text) ((void)0)
#endif

#endif
