// The few CUDA declarations that the kernels compiled with clang need.
// NVRTC has its own; it never sees this file.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif

#define GPUVCC_FIELD(field, reg)                                                       \
    __declspec(property(get = get_##field)) unsigned field;                            \
    __device__ __attribute__((always_inline, nodebug)) static unsigned get_##field() { \
        return __nvvm_read_ptx_sreg_##reg();                                           \
    }
#define GPUVCC_ID(name, reg)                                                                      \
    struct gpuvcc_##name { GPUVCC_FIELD(x, reg##_x) GPUVCC_FIELD(y, reg##_y) GPUVCC_FIELD(z, reg##_z) }; \
    extern const __device__ gpuvcc_##name name;
GPUVCC_ID(threadIdx, tid)
GPUVCC_ID(blockIdx, ctaid)
GPUVCC_ID(blockDim, ntid)
GPUVCC_ID(gridDim, nctaid)

struct alignas(16) float4 { float x, y, z, w; };

#define atomicAdd(p, v) __nvvm_atom_add_gen_i((int *)(p), (v))
#define __syncthreads_count(p) __nvvm_bar0_popc(p)
#define __syncthreads_and(p) __nvvm_bar0_and(p)
#define __syncthreads_or(p) __nvvm_bar0_or(p)
#define __shfl_down_sync(mask, v, d) __nvvm_shfl_sync_down_f32((mask), (v), (d), 31)
#define __threadfence_block() __nvvm_membar_cta()
