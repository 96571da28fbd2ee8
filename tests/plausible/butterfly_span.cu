//@ verdict: verified-when
//@ block: 128
//@ grid: 8
//@ condition: butterfly_span_param_1 is a power of two
//@ condition: 1 <= butterfly_span_param_1 <= 2147483647
// Pairs that lie a span apart. Spans are powers of two: one less is the mask of the position in a span.
extern "C" __global__ void butterfly_span(float *x, int span) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    int within = pair & (span - 1);
    int at = 2 * (pair - within) + within;
    float a = x[at], b = x[at + span];  // OUTSIDE
    x[at] = a + b;                      // OUTSIDE
    x[at + span] = a - b;               // OUTSIDE
}
