//@ verdict: race
//@ block: 32
//@ grid: 1
//@ param: n=40
// Threads have one, two or three rounds; only the third one of thread 0 comes to a place of another thread.
extern "C" __global__ void trap_rounds_of_threads(int *out, int n) {
    int t = threadIdx.x;
    int steps = t == 0 ? 3 : t < n - 32 ? 2 : 1;
    for (int i = 0; i < steps; i++)
        out[i < 2 ? t + 32 * i : 17] = i;  // RACE
}
