//@ verdict: race
//@ block: 128
//@ grid: 64
// The pairs overlap: the put of one option is the call of the next.

__device__ __forceinline__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * __expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * 1.781477937f)));
    return d > 0 ? 1.0f - c : c;
}

extern "C" __global__ void black_scholes(float *prices, const float *stock, const float *strike, const float *years,
                                         float rate, float volatility, int n) {
    int threads = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        float s = stock[i], x = strike[i], t = years[i];
        float root = sqrtf(t);
        float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float discount = x * __expf(-rate * t);
        float call = s * normal(d1) - discount * normal(d1 - volatility * root);
        prices[i] = call;  // RACE
        prices[i + 1] = call + discount - s;  // RACE
    }
}
