//@ verdict: race
//@ block: 16,16
//@ grid: 16,16
//@ param: n=250
// Broken: both halves are computed, and each of them written twice.

extern "C" __global__ void triangle_pairs_broken(const float2 *points, float *distance, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    float dx = points[j].x - points[i].x, dy = points[j].y - points[i].y;
    distance[i * n + j] = atan2f(dy, dx);  // RACE
    if (i != j) distance[j * n + i] = -atan2f(dx, dy);  // RACE
}
