//@ verdict: race
//@ block: 64
//@ grid: 16,128
//@ param: size=32
// Broken: the gradients of overlapping windows get lost.

extern "C" __global__ void max_pool_backward_broken(const float *gradient, const int *largest, float *result, int size) {
    int channel = blockIdx.y;
    int window = blockIdx.x * blockDim.x + threadIdx.x;
    if (window >= size * size) return;
    int i = channel * size * size + window;
    int image = channel * (2 * size + 1) * (2 * size + 1);
    result[image + largest[i]] += gradient[i];  // RACE
}
