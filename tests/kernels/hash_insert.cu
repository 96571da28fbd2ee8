//@ verdict: verified
//@ block: 256
//@ grid: 64
// A hash table with open addresses: slots are taken by compare-and-swap, values exchanged.

extern "C" __global__ void hash_insert(unsigned *keys, unsigned *values, unsigned mask, const unsigned *new_keys, const unsigned *new_values, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned key = new_keys[i], hash = key * 2654435761u;
        hash ^= hash >> 15;
        for (unsigned probe = 0; probe <= mask; probe++) {
            unsigned slot = (hash + probe) & mask;
            unsigned old = atomicCAS(&keys[slot], 0xffffffffu, key);
            if (old == 0xffffffffu || old == key) {
                atomicExch(&values[slot], new_values[i]);
                break;
            }
        }
    }
}
