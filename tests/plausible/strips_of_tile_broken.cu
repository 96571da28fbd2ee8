//@ verdict: race
//@ block: 32,8
//@ grid: 16,16
// Broken: strips are four rows apart, where threads have eight.

extern "C" __global__ void strips_of_tile_broken(float *out, const float *in, int pitch) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int strip = 0; strip < 32; strip += 4)
        out[(y + strip) * pitch + x] = in[(y + strip) * pitch + x];  // RACE
}
