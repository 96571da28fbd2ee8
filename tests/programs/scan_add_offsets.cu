//@ verdict: verified
//@ block: 256
//@ grid: 196
//@ param: n=100000
// Last step of a scan over blocks: adds the sum of the blocks before to the two elements of each thread.

extern "C" __global__ void scan_add_offsets(int *data, const int *block_sums, int n) {
    int i = blockIdx.x * 512 + threadIdx.x;
    int offset = block_sums[blockIdx.x];
    if (i < n) data[i] += offset;
    if (i + 256 < n) data[i + 256] += offset;
}
