//@ verdict: race
//@ block: 8,8
//@ grid: 16,16
// Tiles that overlap: a step of 4 columns.

extern "C" __global__ void tiles_of_pitch_broken(float *out, const float *in, int pitch) {
    int at = (blockIdx.y * 8 + threadIdx.y) * pitch + blockIdx.x * 4 + threadIdx.x;
    out[at] = 2.0f * in[at];  // RACE
}
