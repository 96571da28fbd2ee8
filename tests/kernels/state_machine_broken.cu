//@ verdict: race
//@ block: 64
//@ grid: 16
// One case writes the next state of the neighbour.

extern "C" __global__ void state_machine(int *state, const int *input, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (int k = 0; k < length; k++) {
        int c = input[k];
        if (c == 0) continue;
        if (c < 0) break;
        switch (s) {
        case 0: s = c & 3; state[i] = s; break;  // RACE
        case 1: s = 2; state[i] += c; break;  // RACE
        case 2: s = 3; state[i + 1] = -c; break;  // RACE
        default: s = 0; state[i] ^= c;  // RACE
        }
    }
}
