//@ verdict: race
//@ block: 256
//@ grid: 64
// The low bits are cut off one bit too early.

extern "C" __global__ void walsh_step(float *data, int log_stride) {
    unsigned stride = 1u << (log_stride & 15);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = i & (stride / 2 - 1);
    unsigned a = ((i - low) << 1) + low;
    float x = data[a], y = data[a + stride];  // RACE
    data[a] = x + y;  // RACE
    data[a + stride] = x - y;  // RACE
}
