//@ verdict: verified
//@ block: 256
//@ grid: 64
// Grid-stride do-while loop; every thread has a first element.

extern "C" __global__ void do_while(int n, float *a) {
    int total = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        a[i] = a[i] * 0.5f;
        i += total;
    } while (i < n);
}
