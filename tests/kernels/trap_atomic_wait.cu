//@ verdict: race
//@ block: 64
//@ grid: 1
// A thread waits in a loop for what another one adds; behind it they race.
extern "C" __global__ void trap_atomic_wait(int *out) {
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 1) atomicAdd(&ready, 1);  // RACE
    while (*(volatile int *)&ready == 0) {}
    int now = ready;  // RACE
    out[now] = threadIdx.x;  // RACE
}
