//@ verdict: race
//@ block: 256
//@ grid: 64
// All lanes write the count (the same value, still a race).

extern "C" __global__ void ballot(const int *in, int *out) {
    int t = threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffffu, in[blockIdx.x * 256 + t] > 0);
        out[blockIdx.x * 8 + (t >> 5)] = __popc(votes);  // RACE
}
