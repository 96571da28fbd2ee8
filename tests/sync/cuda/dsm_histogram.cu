//@ verify: --block 64 --grid 4 --cluster 2 --param 2=200
//@ arch: sm_90
//@ variant: zero race
//@ variant: end race
// A histogram in the shared memory of a cluster, as in the CUDA programming guide: data decide the counter and the block that has it.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void kernel(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned counters[64];
    cg::cluster_group cluster = cg::this_cluster();
    counters[threadIdx.x] = 0;  // HERE zero
#ifdef BROKEN_zero
    __syncthreads();
#else
    cluster.sync();
#endif
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
        unsigned bin = in[i] % 128;
        unsigned *there = cluster.map_shared_rank(counters, bin / 64);
        atomicAdd(there + bin % 64, 1);  // HERE zero end
    }
#ifdef BROKEN_end
    __syncthreads();
#else
    cluster.sync();
#endif
    atomicAdd(&out[cluster.block_rank() * 64 + threadIdx.x], counters[threadIdx.x]);  // HERE end
}
