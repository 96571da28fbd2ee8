//@ verdict: race
//@ block: 128
//@ grid: 79
//@ param: n=10000
// Broken: the positions are moved in place.

struct Particle { float position, velocity, mass; };

__device__ float spring(const Particle &a, const Particle &b) { return 10.0f * (b.position - a.position - 1.0f); }  // RACE

extern "C" __global__ void integrate_particles_broken(Particle *old, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = old[i];
    float force = 0.0f;
    if (i > 0) force -= spring(old[i - 1], p);
    if (i < n - 1) force += spring(p, old[i + 1]);
    p.velocity += dt * force / p.mass;
    p.position += dt * p.velocity;
    old[i] = p;  // RACE
}
