//@ verdict: verified
//@ block: 256
//@ grid: 40
//@ param: n=10000
// First step of a merge: the rank of each key of one half in the other half, whose own ranks are cleared.

extern "C" __global__ void merge_ranks(const int *keys, int *ranks, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int key = keys[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[n + middle] < key) low = middle + 1;
        else high = middle;
    }
    ranks[i] = i + low;
    ranks[n + i] = -1;
}
