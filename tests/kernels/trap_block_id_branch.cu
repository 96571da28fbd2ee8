//@ verdict: race
//@ block: 64
//@ grid: 8
// %ctaid is uniform in a block, not for threads of two blocks: both arms run at once.

extern "C" __global__ void block_id_branch(int *a, int *out) {
    int t = threadIdx.x;
    if (blockIdx.x == 3)
        a[t] = t;  // RACE
    else
        out[blockIdx.x * 64 + t] = a[63 - t];  // RACE
}
