//@ verify: --block 64 --grid 2 --param 2=4
//@ arch: sm_90
//@ variant: fence unknown
//@ variant: barrier unknown
// Tiles come as bulk copies that tell a cuda::barrier of their bytes, as in the CUDA programming guide; the wait looks at a clock and sleeps.
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void kernel(const float *in, float *out, int n) {
    __shared__ alignas(128) float tile[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::memcpy_async_tx(tile, in + (blockIdx.x * n + i) * 64, cuda::aligned_size_t<16>(sizeof(tile)), full);  // HERE fence barrier
            token = cuda::device::barrier_arrive_tx(full, 1, sizeof(tile));
        } else {
            token = full.arrive();
        }
        full.wait(std::move(token));
        sum += tile[63 - threadIdx.x];
#ifndef BROKEN_fence
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
#endif
#ifndef BROKEN_barrier
        __syncthreads();
#endif
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}
