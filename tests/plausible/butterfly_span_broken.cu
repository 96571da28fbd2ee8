//@ verdict: race
//@ block: 128
//@ grid: 8
// Broken: spans of pairs are as far apart as spans of values.

extern "C" __global__ void butterfly_span_broken(float *x, int span) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    int within = pair & (span - 1);
    int at = pair - within + within;
    float a = x[at], b = x[at + span];  // RACE
    x[at] = a + b;                      // RACE
    x[at + span] = a - b;               // RACE
}
