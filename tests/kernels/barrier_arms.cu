//@ verdict: verified
//@ block: 64
//@ grid: 64
// Odd and even threads work apart and meet at one barrier.

extern "C" __global__ void barrier_arms(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int g = blockIdx.x * 64 + t;
    if (t & 1) {
        s[t] = a[g] * 3.0f;
    } else {
        s[t] = a[g] - 1.0f;
    }
    __syncthreads();
    a[g] = s[t ^ 1];
}
