//@ verdict: verified
//@ block: 256
//@ grid: 100
//@ param: rows=100
//@ param: pitch=512
//@ param: width=500
// A template of a library in a namespace: adds to the rows of a matrix with a pitch; a block a row.

namespace tensor {

template <typename T>
struct Matrix {
    T *data;
    __device__ T *row(size_t pitch, int r) const { return data + r * pitch; }
};

template <typename T>
__global__ void namespace_fill(Matrix<T> matrix, T value, size_t pitch, int width, int rows) {
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        T *row = matrix.row(pitch, r);
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            row[c] += value;
    }
}

template __global__ void namespace_fill<float>(Matrix<float>, float, size_t, int, int);

}
