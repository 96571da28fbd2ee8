//@ verdict: race
//@ block: 32
//@ grid: 31
// The halves take the wrong columns, so they overlap.

extern "C" __global__ void lu_perimeter(float *m, const float *diagonal) {
    __shared__ float d[16][16], row[16][16], column[16][16];
    int t = threadIdx.x & 15;
    bool first = threadIdx.x < 16;
    float *mine = m + (blockIdx.x + 1) * 16;
    #pragma unroll 1
    for (int i = first ? 0 : 8; i < (first ? 8 : 16); i++) {
        d[i][t] = diagonal[i * 16 + t];
        row[i][t] = mine[i * 512 + t];
        column[i][t] = m[((blockIdx.x + 1) * 16 + i) * 512 + t];
    }
    __syncthreads();
    if (first) {
        #pragma unroll 1
        for (int i = 1; i < 16; i++) {
            #pragma unroll 1
            for (int j = 0; j < i; j++) row[i][t] -= d[i][j] * row[j][t];  // RACE
        }
    } else {
        #pragma unroll 1
        for (int i = 0; i < 16; i++) {
            float x = column[t][i];
            #pragma unroll 1
            for (int j = 0; j < i; j++) x -= row[t][j] * d[j][i];  // RACE
            row[t][i] = x / d[i][i];  // RACE
        }
    }
    __syncthreads();
    if (first) {
        #pragma unroll 1
        for (int i = 1; i < 16; i++) mine[i * 512 + t] = row[i][t];
    } else {
        #pragma unroll 1
        for (int i = 0; i < 16; i++) m[((blockIdx.x + 1) * 16 + i) * 512 + t] = column[i][t];
    }
}
