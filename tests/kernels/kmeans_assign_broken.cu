//@ verdict: race
//@ block: 256
//@ grid: 40
// Each thread also clears the next point's centre.

extern "C" __global__ void kmeans_assign(const float *feature, const float *centre, int *member, int points, int k,
                                         int features) {
    int p = blockDim.x * blockIdx.x + threadIdx.x;
    if (p < points) {
        int best = -1;
        float least = 3.4e38f;
        member[p + 1] = 0;  // RACE
        for (int c = 0; c < k; c++) {
            float d = 0;
            for (int f = 0; f < features; f++) {
                float x = feature[f * points + p] - centre[c * features + f];
                d += x * x;
            }
            if (d < least) least = d, best = c;
        }
        member[p] = best;  // RACE
    }
}
