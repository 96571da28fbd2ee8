//@ verdict: race
//@ block: 8
//@ grid: 1
// The number beside belongs to another lock.
extern "C" __global__ void trap_lock_neighbour(int *lock, int *number) {
    int mine = threadIdx.x & 3;
    while (atomicCAS(&lock[mine], 0, 1) != 0) {
    }
    __threadfence();
    number[mine] += 1;  // RACE
    number[mine + 1] += 1;  // RACE
    __threadfence();
    atomicExch(&lock[mine], 0);
}
