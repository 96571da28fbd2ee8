//@ verdict: race
//@ block: 256
//@ grid: 391
//@ param: points=100000
//@ param: features=8
// Broken: the number of points is counted without atomics.

extern "C" __global__ void kmeans_sums_broken(const float *data, const int *member, float *sums, int *sizes, int points, int features) {
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) return;
    int centre = member[point];
    sizes[centre]++;  // RACE
    for (int f = 0; f < features; f++)
        atomicAdd(&sums[centre * features + f], data[f * points + point]);
}
