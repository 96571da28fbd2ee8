//@ verdict: race
//@ block: 512
//@ grid: 32
//@ slow: yes
// Broken: the barrier stands behind the inner loop, not in it.

extern "C" __global__ void bitonic_block_broken(int *keys) {
    __shared__ int s[512];
    int tid = threadIdx.x;
    s[tid] = keys[blockIdx.x * 512 + tid];
    __syncthreads();
    for (int k = 2; k <= 512; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = tid ^ j;
            if (other > tid) {
                int a = s[tid], b = s[other];  // RACE
                if (((tid & k) == 0) == (a > b)) {  // RACE
                    s[tid] = b;  // RACE
                    s[other] = a;  // RACE
                }
            }
        }
        __syncthreads();
    }
    keys[blockIdx.x * 512 + tid] = s[tid];
}
