// A function of a library.
template <typename T>
__device__ T load_next(const T* values, int i)
{
    return values[i + 1];
}
