//@ verdict: race
//@ block: 256
//@ grid: 512
// The 32-bit index wraps: threads 65536 apart hit the same element.

extern "C" __global__ void wrap_index(int *a) {
    unsigned g = blockIdx.x * 256 + threadIdx.x;
    a[g << 16] = g;  // RACE
}
