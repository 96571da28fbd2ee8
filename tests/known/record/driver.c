/* A driver that stands in for libcuda.so.1: it logs its calls, in order, and starts nothing. With OLD it does not tell the
   sizes of parameters, like drivers before CUDA 12.4. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void call(const char *name, unsigned long first, unsigned long second) {
    FILE *file = fopen(getenv("STAND_IN_LOG"), "a");
    fprintf(file, "%s %lu %lu\n", name, first, second);
    fclose(file);
}

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned count;
} Config;

static int has_structure;

int cuModuleLoadData(void **module, const char *image) {
    call("load", strlen(image), 0);
    has_structure = !!strstr(image, "structure");
    *module = (void *)0x10;
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    call("function", (unsigned long)module, name[0]);
    int is_structure = !strcmp(name, "structure");
    *function = is_structure ? (void *)0x30 : (void *)0x20;
    return is_structure ? (has_structure ? 0 : 500) : strcmp(name, "no_kernel") ? 0 : 500;
}

static uint64_t next = 0x7f0000000000;

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
    *pointer = next;
    next += bytes;
    call("allocate", bytes, 0);
    return 0;
}

/* The version before 3.2 has pointers of 32 bits. */
int cuMemAlloc(unsigned *pointer, unsigned bytes) {
    call("allocate32", bytes, 0);
    *pointer = 1;
    return 0;
}

int cuMemFree_v2(uint64_t pointer) {
    call("free", pointer, 0);
    return 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **values, void **extra) {
    call("launch", gx * 10000 + gy * 100 + gz, bx * 10000 + by * 100 + bz);
    call("n", *(int *)(values ? values[0] : extra[1]), shared + (unsigned long)stream + (unsigned long)function);
    return bx * by * bz > 1024 ? 1 : 0;
}

int cuLaunchKernel_ptsz(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **values, void **extra) {
    call("launch of this thread", gx * 10000 + gy * 100 + gz, bx * 10000 + by * 100 + bz);
    return 0;
}

int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void *stream, void **values) {
    call("cooperative", gx * 10000 + gy * 100 + gz, bx * 10000 + by * 100 + bz);
    call("n", *(int *)values[0], shared + (unsigned long)stream);
    return 0;
}

int cuLaunchKernelEx(const Config *config, void *function, void **values, void **extra) {
    call("launch ex", config->grid[0], config->block[0]);
    call("n", *(int *)values[0], config->count);
    return 0;
}

#ifndef OLD
int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    int is_structure = function == (void *)0x30;
    if (index > (is_structure ? 0 : 3)) return 1;
    if (is_structure) {
        *offset = 0;
        *size = 32;
        return 0;
    }
    *offset = index * 8;
    *size = index ? 8 : 4;
    return 0;
}
#endif

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *found) {
    char full[80];
    call("address", version, flags);
    int has_v2 = version >= 3020 && (!strcmp(name, "cuMemAlloc") || !strcmp(name, "cuMemFree"));
    snprintf(full, sizeof full, "%s%s", name, has_v2 ? "_v2" : flags & 2 ? "_ptsz" : "");
    *function = dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), full);
    return *function ? 0 : 500;
}
