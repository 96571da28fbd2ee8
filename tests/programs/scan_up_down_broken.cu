//@ verdict: race
//@ block: 256
//@ grid: 40
//@ slow: yes
// Broken: no barrier between the steps down.

extern "C" __global__ void scan_up_down_broken(const int *in, int *out) {
    __shared__ int temp[512];
    int tid = threadIdx.x, base = blockIdx.x * 512;
    int offset = 1;
    temp[2 * tid] = in[base + 2 * tid];
    temp[2 * tid + 1] = in[base + 2 * tid + 1];
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) temp[offset * (2 * tid + 2) - 1] += temp[offset * (2 * tid + 1) - 1];
        offset *= 2;
    }
    if (tid == 0) temp[511] = 0;  // RACE
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            int t = temp[a];  // RACE
            temp[a] = temp[b];  // RACE
            temp[b] += t;  // RACE
        }
    }
    __syncthreads();
    out[base + 2 * tid] = temp[2 * tid];
    out[base + 2 * tid + 1] = temp[2 * tid + 1];
}
