//@ verdict: verified
//@ block: 128
//@ grid: 8
// One thread looks for a number, and all go on with what it found.
extern "C" __global__ void search_by_one(const int *a, int n, int *out) {
    __shared__ int found;
    if (threadIdx.x == 0) {
        int i = 0;
        while (i < n && a[i] != 7) i++;
        found = i;
    }
    __syncthreads();
    int *mine = out + blockIdx.x * 256;
    for (int j = 0; j < found; j++) {
        mine[threadIdx.x] += j;
        __syncthreads();
    }
    if (found < n) __syncthreads();
    mine[(found & 1) * 128 + threadIdx.x] = 1;
}
