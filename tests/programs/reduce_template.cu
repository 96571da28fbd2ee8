//@ verdict: verified
//@ block: 256
//@ grid: 128
//@ param: n=1000000
// The reduction of a C++ library: block size and type are arguments of a template.

template <typename T, unsigned BLOCK>
__global__ void reduce_template(const T *in, T *out, unsigned n) {
    __shared__ T data[BLOCK];
    unsigned tid = threadIdx.x;
    T sum = 0;
    for (unsigned i = blockIdx.x * BLOCK + tid; i < n; i += BLOCK * gridDim.x)
        sum += in[i];
    data[tid] = sum;
    __syncthreads();
    if (BLOCK >= 256) { if (tid < 128) data[tid] += data[tid + 128]; __syncthreads(); }
    if (BLOCK >= 128) { if (tid < 64) data[tid] += data[tid + 64]; __syncthreads(); }
    if (tid < 32) {
        for (unsigned d = 32; d > 0; d /= 2) {
            T sum = data[tid] + data[tid + d];
            __syncwarp();
            data[tid] = sum;
            __syncwarp();
        }
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

template __global__ void reduce_template<int, 256>(const int *, int *, unsigned);
