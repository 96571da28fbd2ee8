//@ verdict: race
//@ block: 64
//@ grid: 8
// A vector of two words overlaps the next thread by its second half only.

extern "C" __global__ void vector_overlap(unsigned *w, unsigned v) {
    unsigned t = blockIdx.x * 64 + threadIdx.x;
    if (t % 2 == 0)
        *(uint2 *)(w + t) = make_uint2(v, t);  // RACE
    else
        w[t] = t;  // RACE
}
