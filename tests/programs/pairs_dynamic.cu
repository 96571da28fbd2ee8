//@ verdict: verified
//@ block: 256
//@ grid: 40
//@ dynamic-shared: 2048
//@ slow: yes
// Keys and values of a block in one dynamic array; each thread keeps the value of the least key to its right.

extern __shared__ int storage[];

extern "C" __global__ void pairs_dynamic(const int *keys, const int *values, int *out) {
    int *key = storage;
    int *value = storage + blockDim.x;
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    key[tid] = keys[i];
    value[tid] = values[i];
    __syncthreads();
    int best = tid;
    for (int t = tid; t < blockDim.x; t++)
        if (key[t] < key[best]) best = t;
    out[i] = value[best];
}
