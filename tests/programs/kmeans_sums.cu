//@ verdict: verified
//@ block: 256
//@ grid: 391
//@ param: points=100000
//@ param: features=8
//@ slow: yes
// Adds each point to the centre that it belongs to.

extern "C" __global__ void kmeans_sums(const float *data, const int *member, float *sums, int *sizes, int points, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    int centre = member[point];
    atomicAdd(&sizes[centre], 1);
    for (int f = 0; f < features; f++)
        atomicAdd(&sums[centre * features + f], data[f * points + point]);
}
