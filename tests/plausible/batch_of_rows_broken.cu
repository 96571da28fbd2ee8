//@ verdict: race
//@ block: 32
//@ grid: 60,5
// The number of the matrix is forgotten, so all of them add to the first one.
extern "C" __global__ void batch_of_rows_broken(float *sums, int rows) {
    if (threadIdx.x == 0 && blockIdx.y < rows) sums[blockIdx.x] += 1.0f;  // RACE
}
