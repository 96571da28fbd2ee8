
__global__ void smooth(int* values, int count, int stride)
{



}
