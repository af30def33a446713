// rmsnorm.warp: a block of 256 threads per row. The row is read once, in vector accesses, and
// stays in registers while its squares are summed by warp shuffles and one cross-warp step; only
// what does not fit there is read again. -D RMSNORM_BIAS adds a bias.
#include "../common/row.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
    rmsnorm_warp(const Element* __restrict__ x, const Element* __restrict__ weight,
#ifdef RMSNORM_BIAS
                 const Element* __restrict__ bias,
#endif
                 Element* __restrict__ y, unsigned cols, float epsilon) {
  __shared__ float scratch[WARP_THREADS];
  const Element* in = x + size_t(blockIdx.x) * cols;
  Element* out = y + size_t(blockIdx.x) * cols;

  Row row;
  keep_row(row, in, cols);
  float sum = 0.0f;
  for_each_part(row, in, cols, [&](const RowPart& part, unsigned) {
#pragma unroll
    for (unsigned k = 0; k < ROW_WIDTH; ++k) sum += part.values[k] * part.values[k];
  });
  const float scale = rsqrtf(block_warp_reduce(sum, scratch, Sum()) / float(cols) + epsilon);

  for_each_part(row, in, cols, [&](const RowPart& part, unsigned place) {
    const RowPart w = Access::load(weight + place);
    RowPart result;
#pragma unroll
    for (unsigned k = 0; k < ROW_WIDTH; ++k)
      result.values[k] = part.values[k] * scale * w.values[k];
#ifdef RMSNORM_BIAS
    const RowPart b = Access::load(bias + place);
#pragma unroll
    for (unsigned k = 0; k < ROW_WIDTH; ++k) result.values[k] += b.values[k];
#endif
    Access::store(out + place, result);
  });
}
