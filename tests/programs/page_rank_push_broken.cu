//@ verdict: race
//@ block: 256
//@ grid: 40
//@ param: vertices=10000
//@ slow: yes
// Broken: shares that come at the same time are lost.

extern "C" __global__ void page_rank_push_broken(const int *offsets, const int *targets, const float *rank, float *next, int vertices) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += blockDim.x * gridDim.x) {
        int first = offsets[v], last = offsets[v + 1];
        float share = 0.85f * rank[v] / (last - first);
        for (int e = first; e < last; e++)
            next[targets[e]] += share;  // RACE
    }
}
