//@ verdict: race
//@ block: 32
//@ grid: 3
// The second block does not wait for the first one, it looks once.
extern "C" __global__ void trap_message_third_tested(int *first, int *second, int *box, int *out, int number) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *box = number;  // RACE
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *(volatile int *)first = 1;
    } else if (blockIdx.x == 1) {
        if (*(volatile int *)first == 1) asm volatile("fence.acq_rel.gpu;" ::: "memory");
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *(volatile int *)second = 1;
    } else {
        while (*(volatile int *)second == 0) {
        }
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *out = *box;  // RACE
    }
}
