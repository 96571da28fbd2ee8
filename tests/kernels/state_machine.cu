//@ verdict: verified
//@ block: 64
//@ grid: 16
// A switch in a loop with continue and break; every path writes the thread's own cell.

extern "C" __global__ void state_machine(int *state, const int *input, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int k = 0; k < length; k++) {
        int c = input[k];
        if (c == 0) continue;
        if (c < 0) break;
        switch (s) {
        case 0: s = c & 3; state[i] = s; break;
        case 1: s = 2; state[i] += c; break;
        case 2: s = 3; state[i] = -c; break;
        default: s = 0; state[i] ^= c;
        }
    }
}
