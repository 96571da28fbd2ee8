//@ verdict: race
//@ block: 256
//@ grid: 32
// The third field is stored where the next structure starts.

struct Point { float x, y, z; };
extern "C" __global__ void points_of_twelve(Point *points, float *distance, int n, float dx) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Point p = points[i];  // RACE
    distance[i] = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
    p.x += dx;
    points[i].x = p.x;  // RACE
    points[i].y = -p.y;
    (&points[i].x)[3] = p.x;  // RACE
}
