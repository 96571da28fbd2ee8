//@ verdict: verified
//@ block: 128
//@ grid: 79
//@ param: n=10000
// A cloth as a chain of particles: each is pulled by its neighbours, from old positions to new ones.

struct Particle { float position, velocity, mass; };

__device__ float spring(const Particle &a, const Particle &b) { return 10.0f * (b.position - a.position - 1.0f); }

extern "C" __global__ void integrate_particles(const Particle *old, Particle *moved, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = old[i];
    float force = 0.0f;
    if (i > 0) force -= spring(old[i - 1], p);
    if (i < n - 1) force += spring(p, old[i + 1]);
    p.velocity += dt * force / p.mass;
    p.position += dt * p.velocity;
    moved[i] = p;
}
