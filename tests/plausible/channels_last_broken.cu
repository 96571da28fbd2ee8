//@ verdict: race
//@ block: 256
//@ grid: 1024
// The channels are taken for as many as there are columns.

extern "C" __global__ void channels_last_broken(float *out, const float *in, int channels, int height, int width) {
    int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell < channels * height * width) {
        int x = cell % width;
        int y = (cell / width) % height;
        int channel = cell / (width * height);
        out[(y * width + x) * width + channel] = in[cell];  // RACE
    }
}
