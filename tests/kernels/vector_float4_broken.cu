//@ verdict: race
//@ block: 128
//@ grid: 64
// The scalar store hits the first lane of the next quad.

extern "C" __global__ void vector_float4(const float4 *in, float4 *out) {
    int g = blockIdx.x * 128 + threadIdx.x;
    float4 v = in[g];
    v.x *= 2.0f, v.y *= 2.0f, v.z *= 2.0f, v.w *= 2.0f;
    out[g] = v;  // RACE
    ((float *)out)[4 * g + 4] = v.w;  // RACE
}
