//@ verdict: verified-when
//@ block: 8,8
//@ grid: 16,16
//@ condition: tiles_of_pitch_param_2 >= 128
//@ condition: 8 * gridDim.y * tiles_of_pitch_param_2 <= 2147483647
//@ condition: 0 <= tiles_of_pitch_param_2
// Tiles of 8 by 8 in rows whose pitch nothing bounds: they stay apart where a row has all the tiles of the launch.

extern "C" __global__ void tiles_of_pitch(float *out, const float *in, int pitch) {
    int at = (blockIdx.y * 8 + threadIdx.y) * pitch + blockIdx.x * 8 + threadIdx.x;
    out[at] = 2.0f * in[at];  // OUTSIDE
}
