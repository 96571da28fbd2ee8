//@ verdict: race
//@ block: 64
//@ grid: 8
// A load through the read-only path is a read like any other; the array is written.

extern "C" __global__ void nc_load(float *a) {
    int g = blockIdx.x * 64 + threadIdx.x;
    float v = __ldg(&a[g + 1]);  // RACE
    a[g] = v + 1.0f;  // RACE
}
