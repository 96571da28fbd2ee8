//@ verdict: race
//@ block: 8
//@ grid: 1
// Thread 0 still has the lock when it is set back behind a barrier.
extern "C" __global__ void trap_lock_reset(int *sum) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
    }
    __syncthreads();
    if (threadIdx.x == 1) lock = 0;
    __syncthreads();
    if (threadIdx.x != 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence_block();
    }
    *sum += threadIdx.x;  // RACE
    __threadfence_block();
    atomicExch(&lock, 0);
}
