//@ verdict: verified
//@ block: 256
//@ grid: 64
// Pointers and sizes arrive in a struct by value.

struct Job { const float *src; float *dst; int n; float scale; };

extern "C" __global__ void struct_param(Job job) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.n)
        job.dst[i] = job.src[i] * job.scale;
}
