//@ verdict: verified
//@ block: 256
//@ grid: 200
//@ param: n=50000
//@ param: capacity=131072
// Puts keys into a hash table with linear probing; the table begins with zeros.

extern "C" __global__ void hash_insert(unsigned *table, const unsigned *keys, int n, unsigned capacity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    unsigned slot = (key * 2654435761u) & (capacity - 1);
    while (true) {
        unsigned found = atomicCAS(&table[slot], 0u, key);
        if (found == 0 || found == key) return;
        slot = (slot + 1) & (capacity - 1);
    }
}
