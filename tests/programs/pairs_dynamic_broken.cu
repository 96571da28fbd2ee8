//@ verdict: race
//@ block: 256
//@ grid: 40
//@ dynamic-shared: 2048
//@ slow: yes
// Broken: the values begin in the middle of the keys.

extern __shared__ int storage[];

extern "C" __global__ void pairs_dynamic_broken(const int *keys, const int *values, int *out) {
    int *key = storage;
    int *value = storage + blockDim.x / 2;
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    key[tid] = keys[i];  // RACE
    value[tid] = values[i];  // RACE
    __syncthreads();
    int best = tid;
    for (int t = tid; t < blockDim.x; t++)
        if (key[t] < key[best]) best = t;
    out[i] = value[best];
}
