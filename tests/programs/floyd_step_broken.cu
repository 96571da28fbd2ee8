//@ verdict: race
//@ block: 16,16
//@ grid: 16,16
//@ param: n=256
//@ param: k=17
// Broken: row and column k are written, too, while all others read them.

extern "C" __global__ void floyd_step_broken(int *distance, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    int through = distance[i * n + k] + distance[k * n + j];  // RACE
    distance[i * n + j] = min(distance[i * n + j], through);  // RACE
}
