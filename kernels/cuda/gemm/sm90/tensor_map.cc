#include "kernels/cuda/gemm/sm90/tensor_map.h"

#include <fmt/format.h>

#include "kernels/cuda/device/driver_function.h"

namespace fusegate::kernels {
namespace {

using Encode = decltype(cuTensorMapEncodeTiled);

Encode* find_encode() {
  Encode* const encode = driver_function<Encode>("cuTensorMapEncodeTiled", 12000);
  if (encode == nullptr) throw DeviceError("the driver has no cuTensorMapEncodeTiled");
  return encode;
}

CUtensorMapDataType type_of(Dtype dtype) {
  if (dtype_bytes(dtype) == 1) return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  return dtype == Dtype::kBf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}

}  // namespace

CUtensorMap make_tensor_map(const Tensor& tensor, int box_rows, int box_columns) {
  static Encode* const encode = find_encode();
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(tensor.cols()),
                              static_cast<cuuint64_t>(tensor.rows())};
  const cuuint64_t row_bytes[] = {sizes[0] * dtype_bytes(tensor.dtype)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const std::size_t box_bytes = static_cast<std::size_t>(box_columns) * dtype_bytes(tensor.dtype);
  const CUtensorMapSwizzle swizzle = box_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : box_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap map{};
  const CUresult result =
      encode(&map, type_of(tensor.dtype), 2, tensor.data, sizes, row_bytes, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw DeviceError(fmt::format("no tensor map for {} x {} in boxes of {} x {}: driver error {}",
                                  tensor.rows(), tensor.cols(), box_rows, box_columns,
                                  static_cast<int>(result)));
  }
  return map;
}

}  // namespace fusegate::kernels
