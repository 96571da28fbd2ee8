//@ verdict: race
//@ block: 32,4
//@ grid: 64
//@ param: rows=256
//@ slow: yes
// Broken: lanes write before the others have read; a warp is not in lockstep.

__device__ void scan_row(float *row, int lane) {
    for (int d = 1; d < 32; d *= 2) {
        float left = lane >= d ? row[lane - d] : 0.0f;  // RACE
        row[lane] += left;  // RACE
        __syncwarp();
    }
}

extern "C" __global__ void warp_scan_helper_broken(float *data, int rows) {
    __shared__ float tile[4][32];
    int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= rows) return;
    tile[threadIdx.y][threadIdx.x] = data[row * 32 + threadIdx.x];
    __syncwarp();
    scan_row(tile[threadIdx.y], threadIdx.x);
    data[row * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
