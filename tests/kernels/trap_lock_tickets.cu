//@ verdict: race
//@ block: 8
//@ grid: 1
// Each thread sets the counter back to 0 under the lock, so all get one number.
extern "C" __global__ void trap_lock_tickets(int *out) {
    __shared__ int lock;
    __shared__ int cursor;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    cursor = 0;
    int mine = atomicAdd(&cursor, 1);
    __threadfence_block();
    atomicExch(&lock, 0);
    out[mine] = threadIdx.x;  // RACE
}
