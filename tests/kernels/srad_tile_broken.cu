//@ verdict: race
//@ block: 16,16
//@ grid: 16,16
// The image is the destination as well.

extern "C" __global__ void srad_tile(float *image, float *coefficient, float *north, float *west, float q0) {
    __shared__ float s[18][18];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty, i = y * 256 + x;
    s[ty + 1][tx + 1] = image[i];  // RACE
    if (ty == 0) s[0][tx + 1] = image[y == 0 ? i : i - 256];  // RACE
    if (ty == 15) s[17][tx + 1] = image[y == 255 ? i : i + 256];  // RACE
    if (tx == 0) s[ty + 1][0] = image[x == 0 ? i : i - 1];  // RACE
    if (tx == 15) s[ty + 1][17] = image[x == 255 ? i : i + 1];  // RACE
    __syncthreads();
    float c = s[ty + 1][tx + 1];
    float n = s[ty][tx + 1] - c, so = s[ty + 2][tx + 1] - c, w = s[ty + 1][tx] - c, e = s[ty + 1][tx + 2] - c;
    float g = (n * n + so * so + w * w + e * e) / (c * c);
    float v = 1.0f / (1.0f + (g - q0) / (q0 * (1 + q0)));
    north[i] = n;
    west[i] = w;
    image[i] = v < 0 ? 0 : v > 1 ? 1 : v;  // RACE
}
