//@ verdict: race
//@ block: 64
//@ grid: 8
// Atomics of block scope from two blocks are not morally strong.

extern "C" __global__ void block_scope_atomic(int *count) {
    atomicAdd_block(count, 1);  // RACE
}
