//@ verdict: verified
//@ block: 256
//@ grid: 64
//@ param: batch=32
//@ param: pixels=784
//@ param: channels=64
// Mean of a channel over a batch of images; one block a channel.

extern "C" __global__ void batch_norm_stats(const float *images, float *mean, int batch, int channels, int pixels) {
    __shared__ float sums[256];
    int channel = blockIdx.x, tid = threadIdx.x;
    float sum = 0.0f;
    for (int b = 0; b < batch; b++)
        for (int p = tid; p < pixels; p += blockDim.x)
            sum += images[(b * channels + channel) * pixels + p];
    sums[tid] = sum;
    __syncthreads();
    for (int active = 128; active > 0; active >>= 1) {
        if (tid < active) sums[tid] += sums[tid + active];
        __syncthreads();
    }
    if (tid == 0) mean[channel] = sums[0] / (batch * pixels);
}
