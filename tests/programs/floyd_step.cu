//@ verdict: verified
//@ block: 16,16
//@ grid: 16,16
//@ param: n=256
//@ param: k=17
//@ gap: launch possible-race: rows of any number n, times n
// Shortest paths through one more vertex. Distances through k to k itself do not change, so row and column k are left alone.

extern "C" __global__ void floyd_step(int *distance, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    if (i == k || j == k) return;
    int through = distance[i * n + k] + distance[k * n + j];
    distance[i * n + j] = min(distance[i * n + j], through);
}
