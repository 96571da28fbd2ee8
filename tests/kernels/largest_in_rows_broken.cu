//@ verdict: race
//@ block: 128
//@ grid: 512
// No barrier stands between what the threads store and the first step of the tree.

extern "C" __global__ void largest_in_rows(const float *in, int *places, float *values, int rows, int columns) {
    __shared__ float value[128];
    __shared__ int place[128];
    int thread = threadIdx.x;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float best = -3.4e38f;
        int at = -1;
        for (int column = thread; column < columns; column += blockDim.x) {
            float here = in[(size_t)row * columns + column];
            if (here > best) {
                best = here;
                at = column;
            }
        }
        value[thread] = best;  // RACE
        place[thread] = at;  // RACE
        for (int half = blockDim.x / 2; half >= 1; half /= 2) {
            if (thread < half) {
                float other = value[thread + half];  // RACE
                if (other > value[thread] || (other == value[thread] && place[thread + half] < place[thread])) {  // RACE
                    value[thread] = other;
                    place[thread] = place[thread + half];  // RACE
                }
            }
            __syncthreads();
        }
        if (thread == 0) {
            places[row] = place[0];
            values[row] = value[0];
        }
        __syncthreads();
    }
}
