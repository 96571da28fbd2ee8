//@ verdict: verified
//@ block: 256
//@ grid: 64
// Each warp counts its positive elements by a ballot; lane 0 writes.

extern "C" __global__ void ballot(const int *in, int *out) {
    int t = threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffffu, in[blockIdx.x * 256 + t] > 0);
    if ((t & 31) == 0)
        out[blockIdx.x * 8 + (t >> 5)] = __popc(votes);
}
