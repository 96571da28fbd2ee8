//@ verdict: race
//@ block: 256
//@ grid: 200
//@ param: n=50000
//@ param: capacity=131072
// Broken: an empty slot is looked at and then taken; two keys may take the same.

extern "C" __global__ void hash_insert_broken(unsigned *table, const unsigned *keys, int n, unsigned capacity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    unsigned slot = (key * 2654435761u) & (capacity - 1);
    while (true) {
        unsigned found = table[slot];  // RACE
        if (found == 0) table[slot] = key;  // RACE
        if (found == 0 || found == key) return;
        slot = (slot + 1) & (capacity - 1);
    }
}
