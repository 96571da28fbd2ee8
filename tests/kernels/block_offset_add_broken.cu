//@ verdict: race
//@ block: 256
//@ grid: 64
// The block end overwrites the offset that the other threads still read.

extern "C" __global__ void block_offset_add(int *data, int *offset, int *ends) {
    int t = threadIdx.x;
    int g = blockIdx.x * 256 + t;
    int v = data[g] + offset[blockIdx.x];  // RACE
    data[g] = v;
    if (t == 255)
        offset[blockIdx.x] = v;  // RACE
}
