//@ verdict: race
//@ block: 256
//@ grid: 64
// The stride is one short: round 2 of the first thread meets round 1 of the last.

extern "C" __global__ void do_while(int n, float *a) {
    int total = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        a[i] = a[i] * 0.5f;  // RACE
        i += total - 1;
    } while (i < n);
}
