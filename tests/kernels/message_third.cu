//@ verdict: verified
//@ block: 32
//@ grid: 3
// The second block tells the third one what the first one has told it.
extern "C" __global__ void message_third(int *first, int *second, int *box, int *out, int number) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *box = number;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *(volatile int *)first = 1;
    } else if (blockIdx.x == 1) {
        while (*(volatile int *)first == 0) {
        }
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *(volatile int *)second = 1;
    } else {
        while (*(volatile int *)second == 0) {
        }
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *out = *box;
    }
}
