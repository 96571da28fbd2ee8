//@ verdict: race
//@ block: 64
//@ grid: 3
// Those who would wait for the first flag before they count do not exist.
extern "C" __global__ void trap_message_third_nobody(int *first, unsigned *count, int *box, int *out, int number) {
    if (blockIdx.x == 0) {
        if (threadIdx.x != 0) return;
        *box = number;  // RACE
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *(volatile int *)first = 1;
    } else if (blockIdx.x == 1) {
        if (threadIdx.x > 100) {
            while (*(volatile int *)first == 0) {
            }
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            atomicAdd(count, 1);
        } else if (threadIdx.x == 0) {
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            atomicAdd(count, 1);
        }
    } else {
        if (threadIdx.x != 0) return;
        while (*(volatile unsigned *)count != 1) {
        }
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        *out = *box;  // RACE
    }
}
