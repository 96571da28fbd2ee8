//@ verdict: race
//@ block: 64
//@ grid: 8
// Neither x < y nor x >= y holds for a NaN: then all threads write one cell.

extern "C" __global__ void nan_compare(float x, float y, int *out) {
    int g = blockIdx.x * 64 + threadIdx.x;
    if (x < y) {
        out[g] = 1;
    } else if (x >= y) {
        out[g] = 2;
    } else {
        out[0] = g;  // RACE
    }
}
