//@ verdict: verified
//@ block: 256
//@ grid: 40
//@ param: vertices=10000
//@ gap: known unknown: the solver does not end: a grid-stride loop with an inner loop between bounds from memory
// Each page gives its neighbours a share of its rank.

extern "C" __global__ void page_rank_push(const int *offsets, const int *targets, const float *rank, float *next, int vertices) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += blockDim.x * gridDim.x) {
        int first = offsets[v], last = offsets[v + 1];
        float share = 0.85f * rank[v] / (last - first);
        for (int e = first; e < last; e++)
            atomicAdd(next + targets[e], share);
    }
}
