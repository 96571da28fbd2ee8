//@ verdict: race
//@ block: 32,8
//@ grid: 32
// No barrier before the sums are read transposed.

extern "C" __global__ void vector_matrix(const float *v, const float *m, float *out, int rows) {
    __shared__ float s[8][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int r = threadIdx.y; r < rows; r += 8) sum += v[r] * m[r * 1024 + column];
    s[threadIdx.y][threadIdx.x] = sum;  // RACE
    int linear = threadIdx.y * 32 + threadIdx.x;
    if (linear < 32) {
        float total = 0;
        #pragma unroll 1
        for (int k = 0; k < 8; k++) total += s[k][linear];  // RACE
        out[blockIdx.x * 32 + linear] = total;
    }
}
