//@ verdict: verified
//@ block: 16,16
//@ grid: 16,16
//@ param: n=250
// Distances of all pairs of points; the matrix is symmetric, so one half is computed and written twice.

extern "C" __global__ void triangle_pairs(const float2 *points, float *distance, int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    if (j < i) return;
    float dx = points[j].x - points[i].x, dy = points[j].y - points[i].y;
    distance[i * n + j] = atan2f(dy, dx);
    if (i != j) distance[j * n + i] = -atan2f(dx, dy);
}
