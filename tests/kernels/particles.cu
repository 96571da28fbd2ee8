//@ verdict: verified
//@ block: 128
//@ grid: 64
// Array of structs, each thread moves its particle.

struct Particle { float x, y, vx, vy; };

extern "C" __global__ void particles(Particle *p, float dt) {
    int g = blockIdx.x * 128 + threadIdx.x;
    p[g].x += dt * p[g].vx;
    p[g].y += dt * p[g].vy;
    p[g].vx *= 0.99f;
}
