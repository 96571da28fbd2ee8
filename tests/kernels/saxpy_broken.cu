//@ verdict: race
//@ block: 256
//@ grid: 64
// The result lands on the right neighbour, which reads it.

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) y[i + 1] = a * x[i] + y[i];  // RACE
}
