//@ verdict: verified-when
//@ block: 256
//@ grid: 256
//@ condition: window_filter_param_4 <= 262144
//@ condition: 0 <= window_filter_param_4
// A filter over a window of shared memory: the samples of the block and of the taps behind it, and behind those the coefficients. Where the
// window ends depends on `taps`, which no block has room for beyond some 58,000.
extern "C" __global__ void window_filter(const float *in, const float *coefficients, float *out, int n, int taps) {
    extern __shared__ float window[];
    float *factors = window + blockDim.x + taps - 1;
    int first = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < blockDim.x + taps - 1; i += blockDim.x) {
        int at = first + i - (taps - 1);
        window[i] = at >= 0 && at < n ? in[at] : 0.0f;
    }
    for (int i = threadIdx.x; i < taps; i += blockDim.x) factors[i] = coefficients[i];
    __syncthreads();
    int at = first + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < taps; i++) sum += factors[i] * window[threadIdx.x + taps - 1 - i];
    if (at < n) out[at] = sum;
}
