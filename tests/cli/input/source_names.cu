template <typename T>
__global__ void smooth(T* values, int count) // (T* other)
{
    int i = threadIdx.x;
    if (i < count)
        values[i] = values[i + 1];
}
template __global__ void smooth<int>(int*, int);
