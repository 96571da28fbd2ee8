//@ verdict: verified
//@ block: 256
//@ grid: 64
// One compare-exchange step of a bitonic sort; any j is race-free.

extern "C" __global__ void bitonic_step(float *d, int j, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int p = i ^ j;
    if (p > i) {
        float a = d[i], b = d[p];
        if ((i & k) == 0 ? a > b : a < b)
            d[i] = b, d[p] = a;
    }
}
