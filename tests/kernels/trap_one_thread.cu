//@ verdict: verified
//@ block: 1
//@ grid: 1
// A launch of one thread has no second thread to race with.

extern "C" __global__ void one_thread(int n, int *a) {
    for (int i = 1; i < n; i++) a[0] += a[i];
    __syncthreads();
    a[0] = a[0] * 2;
}
