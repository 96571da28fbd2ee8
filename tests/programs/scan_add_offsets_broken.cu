//@ verdict: race
//@ block: 256
//@ grid: 196
//@ param: n=100000
// Broken: the second element of a thread is its neighbour's first.

extern "C" __global__ void scan_add_offsets_broken(int *data, const int *block_sums, int n) {
    int i = blockIdx.x * 512 + threadIdx.x;
    int offset = block_sums[blockIdx.x];
    if (i < n) data[i] += offset;  // RACE
    if (i + 1 < n) data[i + 1] += offset;  // RACE
}
