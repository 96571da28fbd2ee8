//@ verdict: race
//@ block: 16
//@ grid: 1
// No barrier between the column and the row.

extern "C" __global__ void lu_diagonal(float *m, int offset) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < 16; i++) s[i][t] = m[offset + i * 512 + t];
    __syncthreads();
    #pragma unroll 1
    for (int i = 0; i < 15; i++) {
        if (t > i) {
            float x = s[t][i];  // RACE
            #pragma unroll 1
            for (int j = 0; j < i; j++) x -= s[t][j] * s[j][i];  // RACE
            s[t][i] = x / s[i][i];  // RACE
        }
        if (t > i) {
            float x = s[i + 1][t];  // RACE
            #pragma unroll 1
            for (int j = 0; j < i + 1; j++) x -= s[i + 1][j] * s[j][t];  // RACE
            s[i + 1][t] = x;  // RACE
        }
        __syncthreads();
    }
    #pragma unroll 1
    for (int i = 1; i < 16; i++) m[offset + i * 512 + t] = s[i][t];
}
