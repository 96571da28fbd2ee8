//@ verdict: race
//@ block: 256
//@ grid: 256
// The coefficients begin one element early, where the window ends.
extern "C" __global__ void window_filter(const float *in, const float *coefficients, float *out, int n, int taps) {
    extern __shared__ float window[];
    float *factors = window + blockDim.x + taps - 2;
    int first = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < blockDim.x + taps - 1; i += blockDim.x) {
        int at = first + i - (taps - 1);
        window[i] = at >= 0 && at < n ? in[at] : 0.0f; // RACE
    }
    for (int i = threadIdx.x; i < taps; i += blockDim.x) factors[i] = coefficients[i]; // RACE
    __syncthreads();
    int at = first + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < taps; i++) sum += factors[i] * window[threadIdx.x + taps - 1 - i];
    if (at < n) out[at] = sum;
}
