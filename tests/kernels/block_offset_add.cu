//@ verdict: verified
//@ block: 256
//@ grid: 64
// Adds the sum of the earlier blocks to each element and records the block end.

extern "C" __global__ void block_offset_add(int *data, int *offset, int *ends) {
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    int v = data[g] + offset[blockIdx.x];
    data[g] = v;
    if (t == 255)
        ends[blockIdx.x] = v;
}
