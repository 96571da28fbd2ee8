//@ verdict: verified
//@ block: 32
//@ grid: 2
// The second block doubles what the first one wrote, and the first one reads the answer.
extern "C" __global__ void message_answer(int *ready, int *done, int *box, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *box = 21;
        __threadfence();
        *(volatile int *)ready = 1;
        while (*(volatile int *)done == 0) {
        }
        __threadfence();
        *out = *box;
    } else {
        while (*(volatile int *)ready == 0) {
        }
        __threadfence();
        *box = *box * 2;
        __threadfence();
        *(volatile int *)done = 1;
    }
}
