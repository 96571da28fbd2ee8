//@ verdict: race
//@ block: 256
//@ grid: 64
// The store is clamped too, so all late threads meet in the last element.

extern "C" __global__ void clamped_read(int n, const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[min(i, n - 1)] = in[min(i, n - 1)] * 0.5f;  // RACE
}
