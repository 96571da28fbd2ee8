//@ verdict: divergence
//@ block: 128
//@ grid: 8
// Each thread looks for its own number.
extern "C" __global__ void search_by_one(const int *a, int n, int *out) {
    int found = 0;
    while (found < n && a[found] != threadIdx.x) found++;
    int *mine = out + blockIdx.x * 256;
    if (found < n) __syncthreads();  // DIVERGENCE
    mine[(found & 1) * 128 + threadIdx.x] = 1;
}
