//@ verdict: race
//@ block: 8
//@ grid: 2
// Each block has a lock of its own, and all have one sum.
extern "C" __global__ void trap_lock_block(int *sum) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    *sum += threadIdx.x;  // RACE
    __threadfence();
    atomicExch(&lock, 0);
}
