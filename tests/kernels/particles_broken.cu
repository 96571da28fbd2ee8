//@ verdict: race
//@ block: 128
//@ grid: 64
// The velocity is taken from the next particle, which is being moved.

struct Particle { float x, y, vx, vy; };

extern "C" __global__ void particles(Particle *p, float dt) {
    int g = blockIdx.x * 128 + threadIdx.x;
    p[g].x += dt * p[g + 1].vx;  // RACE
    p[g].y += dt * p[g].vy;
    p[g].vx *= 0.99f;  // RACE
}
