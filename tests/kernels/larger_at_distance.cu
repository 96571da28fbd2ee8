//@ verdict: verified
//@ block: 16,16
//@ grid: 64,64
// The larger of two at a distance: tiles overlap by twice as much, and their inner threads write.

#define N 512
extern "C" __global__ void larger_at_distance(int distance, const float *from, int *to) {
    __shared__ float tile[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, inner = 16 - 2 * distance;
    int x = inner * blockIdx.x - distance + tx, y = inner * blockIdx.y - distance + ty;
    bool inside = x >= 0 && x < N && y >= 0 && y < N;
    if (inside) tile[ty][tx] = from[N * y + x];
    __syncthreads();
    bool computes = distance >= 0 && tx >= distance && tx < 16 - distance && ty >= distance && ty < 16 - distance;
    if (inside && computes) {
        int larger = tile[ty][tx - distance] > tile[ty][tx + distance] ? -distance : distance;
        to[N * y + x] = tx + larger;
    }
}
