//@ verdict: verified
//@ block: 128
//@ grid: 512
// Where the largest element of each row is: what a thread finds in its columns is compared with others down a tree, where the values decide
// which accesses there are. Proofs let values that are loaded be arbitrary there, so the loop over the columns is of no consequence.

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
        value[thread] = best;
        place[thread] = at;
        __syncthreads();
        for (int half = blockDim.x / 2; half >= 1; half /= 2) {
            if (thread < half) {
                float other = value[thread + half];
                if (other > value[thread] || (other == value[thread] && place[thread + half] < place[thread])) {
                    value[thread] = other;
                    place[thread] = place[thread + half];
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
