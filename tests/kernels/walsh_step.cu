//@ verdict: verified
//@ block: 256
//@ grid: 64
// One step of a Walsh transform in global memory; the stride is a power of two.

extern "C" __global__ void walsh_step(float *data, int log_stride) {
    unsigned stride = 1u << (log_stride & 15);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = i & (stride - 1);
    unsigned a = ((i - low) << 1) + low;
    float x = data[a], y = data[a + stride];
    data[a] = x + y;
    data[a + stride] = x - y;
}
