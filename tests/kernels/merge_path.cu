//@ verdict: verified
//@ block: 256
//@ grid: 16
// Each thread finds where its diagonal crosses the merge path of two sorted arrays.

extern "C" __global__ void merge_path(const int *a, const int *b, int na, int nb, int *split) {
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int low = diagonal > nb ? diagonal - nb : 0, high = diagonal < na ? diagonal : na;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    split[blockIdx.x * 256 + threadIdx.x] = low;
}
