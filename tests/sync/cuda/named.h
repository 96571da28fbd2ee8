// Named barriers, as CudaDMA and CUTLASS write them.
__device__ __forceinline__ void wait(int id, int count) { asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
__device__ __forceinline__ void arrive(int id, int count) {
    asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}
