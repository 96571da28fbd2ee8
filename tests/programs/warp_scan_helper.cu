//@ verdict: verified
//@ block: 32,4
//@ grid: 64
//@ param: rows=256
// Running sums along short rows, a warp a row, in shared memory with __syncwarp.

__device__ void scan_row(float *row, int lane) {
    for (int d = 1; d < 32; d *= 2) {
        float left = lane >= d ? row[lane - d] : 0.0f;
        __syncwarp();
        row[lane] += left;
        __syncwarp();
    }
}

extern "C" __global__ void warp_scan_helper(float *data, int rows) {
    __shared__ float tile[4][32];
    int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= rows) return;
    tile[threadIdx.y][threadIdx.x] = data[row * 32 + threadIdx.x];
    __syncwarp();
    scan_row(tile[threadIdx.y], threadIdx.x);
    data[row * 32 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
