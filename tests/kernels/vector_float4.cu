//@ verdict: verified
//@ block: 128
//@ grid: 64
// Sixteen-byte loads and stores, then a scalar store into the own quad.

extern "C" __global__ void vector_float4(const float4 *in, float4 *out) {
    int g = blockIdx.x * 128 + threadIdx.x;
    float4 v = in[g];
    v.x *= 2.0f, v.y *= 2.0f, v.z *= 2.0f, v.w *= 2.0f;
    out[g] = v;
    ((float *)out)[4 * g] = v.w;
}
