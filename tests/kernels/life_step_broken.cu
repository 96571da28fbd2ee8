//@ verdict: race
//@ block: 16,16
//@ grid: 16,16
// The tile is filled by half as many threads as the loop believes.

extern "C" __global__ void life_step(const unsigned char *in, unsigned char *out) {
    __shared__ unsigned char cell[18 * 18];
    int t = threadIdx.y * 16 + threadIdx.x, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    for (int i = t; i < 18 * 18; i += 128)
        cell[i] = in[(y0 + i / 18) * 258 + x0 + i % 18];  // RACE
    __syncthreads();
    int c = (threadIdx.y + 1) * 18 + threadIdx.x + 1;
    int n = cell[c - 19] + cell[c - 18] + cell[c - 17] + cell[c - 1] + cell[c + 1] + cell[c + 17] + cell[c + 18] + cell[c + 19];
    out[(y0 + threadIdx.y) * 256 + x0 + threadIdx.x] = n == 3 || (n == 2 && cell[c]);
}
