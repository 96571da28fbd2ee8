//@ verdict: race
//@ block: 256
//@ grid: 64
// The second loop goes one column too far.

extern "C" __global__ void rows_read_first_broken(float *out, const float *in, int size) {
    const float *row = in + (size_t)blockIdx.x * size;
    float sum = 0;
    #pragma unroll 1
    for (int i = threadIdx.x; i < size; i += 256)
        sum += row[i];
    #pragma unroll 1
    for (int i = threadIdx.x; i <= size; i += 256)
        out[(size_t)blockIdx.x * size + i] = sum * row[i];  // RACE
}
