//@ verdict: race
//@ block: 64
//@ grid: 8
// The pointer inside a struct by value is one array for all threads.

struct Pair { int *p; int *q; };

extern "C" __global__ void struct_pointer(Pair pair) {
    int g = blockIdx.x * 64 + threadIdx.x;
    pair.q[g] = pair.p[g + 1];  // RACE
    pair.p[g] = g;  // RACE
}
