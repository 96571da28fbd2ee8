//@ verdict: race
//@ block: 32,8
//@ grid: 32,128
//@ param: width=1000
//@ param: height=1000
// Broken: the step is done in place, neighbours are read while they are written.

extern "C" __global__ void heat_2d_broken(float *from, int width, int height, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    int i = y * width + x;
    float centre = from[i];
    float around = from[i - 1] + from[i + 1] + from[i - width] + from[i + width];  // RACE
    from[i] = centre + k * (around - 4.0f * centre);  // RACE
}
