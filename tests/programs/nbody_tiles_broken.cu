//@ verdict: race
//@ block: 256
//@ grid: 64
//@ param: bodies=16384
//@ slow: yes
// Broken: the next tile is loaded while others still use this one.

struct Body { float x, y, z, mass; };

extern "C" __global__ void nbody_tiles_broken(const Body *in, float *ax, float *ay, float *az, int bodies) {
    __shared__ Body tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Body me = in[i];
    float fx = 0, fy = 0, fz = 0;
    for (int t = 0; t < bodies; t += 256) {
        tile[threadIdx.x] = in[t + threadIdx.x];  // RACE
        __syncthreads();
        #pragma unroll 4
        for (int k = 0; k < 256; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;  // RACE
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = tile[k].mass * r * r * r;  // RACE
            fx += dx * s, fy += dy * s, fz += dz * s;
        }
    }
    ax[i] = fx, ay[i] = fy, az[i] = fz;
}
