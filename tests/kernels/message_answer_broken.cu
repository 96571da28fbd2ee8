//@ verdict: race
//@ block: 32
//@ grid: 2
// Broken: the first block does not wait for the answer.
extern "C" __global__ void message_answer_broken(int *ready, int *done, int *box, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *box = 21;
        __threadfence();
        *(volatile int *)ready = 1;
        *out = *box;  // RACE
    } else {
        while (*(volatile int *)ready == 0) {
        }
        __threadfence();
        *box = *box * 2;  // RACE
        __threadfence();
        *(volatile int *)done = 1;
    }
}
