//@ verdict: race
//@ block: 128
//@ grid: 8
//@ param: span=16
// Broken: the position of a pair is rounded down to its span, and the place in the span is forgotten.

extern "C" __global__ void butterfly_span_broken(float *x, int span) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    int within = pair & (span - 1);
    int at = 2 * (pair - within);
    float a = x[at], b = x[at + span];  // RACE
    x[at] = a + b;                      // RACE
    x[at + span] = a - b;               // RACE
}
