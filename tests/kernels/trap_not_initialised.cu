//@ verdict: possible-race
//@ block: 64
//@ grid: 4
// Nobody says that the host leaves the table as it is. In the emulator it does.
__constant__ int order[4] = {3, 1, 0, 2};

extern "C" __global__ void trap_not_initialised(int *out) {
    out[order[blockIdx.x] * 64 + threadIdx.x] = threadIdx.x;  // RACE
}
