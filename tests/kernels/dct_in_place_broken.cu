//@ verdict: race
//@ block: 64
//@ grid: 32
// Columns are written over rows that others still read.

__device__ void pass(float *v, int step) {
    float a = v[0], b = v[step], c = v[2 * step], d = v[3 * step];  // RACE
    float e = v[4 * step], f = v[5 * step], g = v[6 * step], h = v[7 * step];  // RACE
    v[0] = a + h; v[step] = b + g; v[2 * step] = c + f; v[3 * step] = d + e;  // RACE
    v[4 * step] = a - h; v[5 * step] = b - g; v[6 * step] = c - f; v[7 * step] = d - e;  // RACE
}

extern "C" __global__ void dct_in_place(float *data) {
    __shared__ float s[8 * 64];
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int i = t; i < 512; i += 64) s[i] = data[base + i];
    __syncthreads();
    pass(s + t * 8, 1);
    pass(s + (t >> 3) * 64 + (t & 7), 8);
    __syncthreads();
    for (int i = t; i < 512; i += 64) data[base + i] = s[i];
}
