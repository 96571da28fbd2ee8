//@ verdict: verified
//@ block: 256
//@ grid: 32
// Structures of three floats: distances and a shift in place.

struct Point { float x, y, z; };
extern "C" __global__ void points_of_twelve(Point *points, float *distance, int n, float dx) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point p = points[i];
    distance[i] = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
    p.x += dx;
    points[i].x = p.x;
    points[i].y = -p.y;
    points[i].z = p.x;
}
