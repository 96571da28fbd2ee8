//@ verdict: race
//@ block: 256
//@ grid: 16
// A block also writes the first diagonal of the next.

extern "C" __global__ void merge_path(const int *a, const int *b, int na, int nb, int *split) {
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int low = diagonal > nb ? diagonal - nb : 0, high = diagonal < na ? diagonal : na;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    split[blockIdx.x * 255 + threadIdx.x] = low;  // RACE
}
