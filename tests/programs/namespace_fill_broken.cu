//@ verdict: race
//@ block: 256
//@ grid: 100
//@ param: rows=100
//@ param: pitch=512
//@ param: width=500
//@ slow: yes
// Broken: the loop of a thread begins at its place, but steps by one.

namespace tensor {

template <typename T>
struct Matrix {
    T *data;
    __device__ T *row(size_t pitch, int r) const { return data + r * pitch; }
};

template <typename T>
__global__ void namespace_fill_broken(Matrix<T> matrix, T value, size_t pitch, int width, int rows) {
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        T *row = matrix.row(pitch, r);
        for (int c = threadIdx.x; c < width; c++)
            row[c] += value;  // RACE
    }
}

template __global__ void namespace_fill_broken<float>(Matrix<float>, float, size_t, int, int);

}
