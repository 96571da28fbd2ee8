//@ verdict: race
//@ block: 256
//@ grid: 40
//@ param: n=10000
// Broken: the last block has more threads than there are keys.

extern "C" __global__ void merge_ranks_broken(const int *keys, int *ranks, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int key = keys[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (keys[n + middle] < key) low = middle + 1;
        else high = middle;
    }
    ranks[i] = i + low;  // RACE
    ranks[n + i] = -1;  // RACE
}
