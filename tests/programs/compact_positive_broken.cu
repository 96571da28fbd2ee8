//@ verdict: race
//@ block: 256
//@ grid: 400
//@ param: n=102000
// Broken: the counter is read and written by all threads.

extern "C" __global__ void compact_positive_broken(const float *in, float *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = in[i];
        if (value > 0.0f) {
            int place = (*count)++;  // RACE
            out[place] = value;  // RACE
        }
    }
}
