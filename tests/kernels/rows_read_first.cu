//@ verdict: verified
//@ block: 256
//@ grid: 64
// Rows are read by one loop and written by another one. Only the first one tells that no index wraps: where `i += 256`
// does, it never ends.

extern "C" __global__ void rows_read_first(float *out, const float *in, int size) {
    const float *row = in + (size_t)blockIdx.x * size;
    float sum = 0;
    #pragma unroll 1
    for (int i = threadIdx.x; i < size; i += 256)
        sum += row[i];
    #pragma unroll 1
    for (int i = threadIdx.x; i < size; i += 256)
        out[(size_t)blockIdx.x * size + i] = sum * row[i];
}
