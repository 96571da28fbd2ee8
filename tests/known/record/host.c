/* A host program that launches matmul_naive: `host HOW PTX`. HOW is `dlsym`, `address` (cuGetProcAddress) or `linked`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Any();

#ifdef LINKED
Any cuModuleLoadData, cuModuleGetFunction, cuMemAlloc_v2, cuMemFree_v2, cuLaunchKernel, cuLaunchCooperativeKernel,
    cuLaunchKernelEx;
#endif

static void *driver;
static Any *by_address;

static Any *find(const char *name, const char *how) {
#ifdef LINKED
    if (!strcmp(name, "cuModuleLoadData")) return cuModuleLoadData;
    if (!strcmp(name, "cuModuleGetFunction")) return cuModuleGetFunction;
    if (!strcmp(name, "cuMemAlloc")) return cuMemAlloc_v2;
    if (!strcmp(name, "cuMemFree")) return cuMemFree_v2;
    if (!strcmp(name, "cuLaunchKernel")) return cuLaunchKernel;
    if (!strcmp(name, "cuLaunchCooperativeKernel")) return cuLaunchCooperativeKernel;
    if (!strcmp(name, "cuLaunchKernelEx")) return cuLaunchKernelEx;
#endif
    if (!strcmp(how, "address")) {
        void *function = 0;
        int found;
        by_address(name, &function, 12040, (uint64_t)0, &found);
        return (Any *)function;
    }
    int is_memory = !strncmp(name, "cuMem", 5);
    char full[80];
    snprintf(full, sizeof full, "%s%s", name, is_memory ? "_v2" : "");
    return (Any *)dlsym(driver, full);
}

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned count;
} Config;

typedef struct {
    int id, padding;
    unsigned value[16];
} Attribute;

int main(int count, char **arguments) {
    const char *how = arguments[1];
#ifndef LINKED
    /* Functions of a driver that is not loaded are not there. */
    if (dlsym(RTLD_DEFAULT, "cuLaunchKernel") || !dlerror()) return 99;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    by_address = (Any *)dlsym(driver, "cuGetProcAddress_v2");
    if (!driver || dlsym(driver, "cuNothing")) return 98;
#endif
    /* Who asks for the next function is the program, not the recorder. */
    if (!dlsym(RTLD_NEXT, "malloc")) return 97;

    static char ptx[1 << 20];
    FILE *file = fopen(arguments[2], "r");
    ptx[fread(ptx, 1, sizeof ptx - 1, file)] = 0;
    fclose(file);

    void *module, *function, *none;
    int n = 100;
    uint64_t a, b, c;
    find("cuModuleLoadData", how)(&module, ptx);
    find("cuModuleGetFunction", how)(&none, module, "no_kernel");
    find("cuModuleGetFunction", how)(&function, module, "matmul_naive");
    find("cuMemAlloc", how)(&a, (size_t)40000);
    find("cuMemAlloc", how)(&b, (size_t)40000);
    find("cuMemAlloc", how)(&c, (size_t)40000);

    void *values[] = {&n, &a, &b, &c};
    Any *launch = find("cuLaunchKernel", how);
    int failed = 0;
    for (int time = 0; time < 2; time++)
        failed += launch(function, 7, 7, 1, 16, 16, 1, 64, (void *)0, values, (void **)0);
    /* No launch: the driver refuses it. */
    failed += launch(function, 7, 7, 1, 2048, 1, 1, 0, (void *)0, values, (void **)0);

    /* The same arguments in a buffer; the second array begins inside of the first. */
    struct {
        int n;
        uint64_t a, b, c;
    } packed = {64, a, a + 16384, c};
    size_t bytes = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &bytes, (void *)0};
    failed += launch(function, 4, 4, 1, 16, 16, 1, 0, (void *)0, (void **)0, extra);

    /* All in one structure, if there is such a kernel. */
    void *structure, *whole[] = {&packed};
    if (!find("cuModuleGetFunction", how)(&structure, module, "structure"))
        failed += launch(structure, 1, 1, 1, 32, 1, 1, 0, (void *)0, whole, (void **)0);

    n = 96;
    Attribute attributes[] = {{4, 0, {2, 1, 1}}};
    Config config = {{6, 6, 1}, {16, 16, 1}, 0, 0, attributes, 1};
    failed += find("cuLaunchKernelEx", how)(&config, function, values, (void **)0);

    n = 32;
    find("cuMemFree", how)(b);
    failed += find("cuLaunchCooperativeKernel", how)(function, 1, 1, 1, 32, 8, 1, 0, (void *)0, values);
    if (by_address) {
        /* Functions of one name that differ by version and flags stay what they are. */
        void *old = 0, *of_thread = 0;
        int found;
        unsigned pointer[2] = {0, 77};
        by_address("cuMemAlloc", &old, 2000, (uint64_t)0, &found);
        ((Any *)old)(pointer, 8);
        by_address("cuLaunchKernel", &of_thread, 12040, (uint64_t)2, &found);
        ((Any *)of_thread)(function, 1, 1, 1, 32, 8, 1, 0, (void *)0, values, (void **)0);
        if (pointer[1] != 77) return 96;
    }
    printf("%d failed\n", failed);
    return 7;
}
