//@ verdict: divergence
//@ block: 128
//@ grid: 64
//@ param: length=10000
//@ param: pattern=7
// The text is short enough for the launch to be run as a whole, whichever block a model names.
// Broken: a thread too close to the end leaves the loop, and the barrier in it.
extern "C" __global__ void count_matches_broken(const char *text, const char *word, unsigned *matches, int length, int pattern) {
    __shared__ unsigned found;
    for (int start = blockIdx.x * 128; start < length; start += gridDim.x * 128) {
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        int i = start + threadIdx.x;
        if (i + pattern > length) break;
        int k = 0;
        while (k < pattern && text[i + k] == word[k]) k++;
        if (k == pattern) atomicAdd(&found, 1u);
        __syncthreads();  // DIVERGENCE
        if (threadIdx.x == 0) matches[start / 128] = found;
    }
}
