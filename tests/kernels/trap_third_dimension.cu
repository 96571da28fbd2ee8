//@ verdict: race
//@ block: 4,4,4
//@ grid: 8
// Only %tid.z tells the two threads apart.

extern "C" __global__ void third_dimension(int *a) {
    a[(blockIdx.x * 4 + threadIdx.y) * 4 + threadIdx.x] = threadIdx.z;  // RACE
}
