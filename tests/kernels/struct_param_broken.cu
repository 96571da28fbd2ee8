//@ verdict: race
//@ block: 256
//@ grid: 64
// The destination index is halved.

struct Job { const float *src; float *dst; int n; float scale; };

extern "C" __global__ void struct_param(Job job) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < job.n)
        job.dst[i / 2] = job.src[i] * job.scale;  // RACE
}
