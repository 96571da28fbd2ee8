//@ verdict: verified
//@ block: 64
//@ grid: 16,128
//@ param: size=32
// Gradient of 3 x 3 max pooling with step 2: windows overlap, so a pixel may be the largest of several.

extern "C" __global__ void max_pool_backward(const float *gradient, const int *largest, float *result, int size) {
    int channel = blockIdx.y;
    int window = blockIdx.x * blockDim.x + threadIdx.x;
    if (window >= size * size) return;
    int i = channel * size * size + window;
    int image = channel * (2 * size + 1) * (2 * size + 1);
    atomicAdd(&result[image + largest[i]], gradient[i]);
}
