#include "kernels/cuda/device/tensor_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

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

// sizes: of each dimension, the contiguous one first; strides: in bytes, of the others.
CUtensorMap encoded(const Tensor& tensor, std::span<const cuuint64_t> sizes,
                    std::span<const cuuint64_t> strides, std::span<const cuuint32_t> box) {
  static Encode* const encode = find_encode();
  constexpr std::array<cuuint32_t, 4> kSteps{1, 1, 1, 1};
  const std::size_t box_bytes = box[0] * dtype_bytes(tensor.dtype);
  const CUtensorMapSwizzle swizzle = box_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : box_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap map{};
  const CUresult result =
      encode(&map, type_of(tensor.dtype), static_cast<cuuint32_t>(sizes.size()), tensor.data,
             sizes.data(), strides.data(), box.data(), kSteps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw DeviceError(fmt::format("no tensor map for {} x {} in boxes of {}: driver error {}",
                                  tensor.rows(), tensor.cols(), fmt::join(box, " x "),
                                  static_cast<int>(result)));
  }
  return map;
}

}  // namespace

CUtensorMap make_tensor_map(const Tensor& tensor, int box_rows, int box_columns,
                            std::int64_t stride) {
  const std::array sizes{static_cast<cuuint64_t>(tensor.cols()),
                         static_cast<cuuint64_t>(tensor.rows())};
  const std::array strides{static_cast<cuuint64_t>(std::max(stride, tensor.cols())) *
                           dtype_bytes(tensor.dtype)};
  const std::array box{static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  return encoded(tensor, sizes, strides, box);
}

CUtensorMap make_pair_map(const Tensor& first, const Tensor& second, int box_rows) {
  const auto columns = static_cast<cuuint64_t>(first.cols());
  const cuuint64_t row_bytes = columns * dtype_bytes(first.dtype);
  const auto between = static_cast<cuuint64_t>(static_cast<const std::byte*>(second.data) -
                                               static_cast<const std::byte*>(first.data));
  const std::array<cuuint64_t, 4> sizes{columns, 8, 2, static_cast<cuuint64_t>(first.rows()) / 8};
  const std::array<cuuint64_t, 3> strides{row_bytes, between, 8 * row_bytes};
  const std::array<cuuint32_t, 4> box{64, 8, 2, static_cast<cuuint32_t>(box_rows) / 16};
  return encoded(first, sizes, strides, box);
}

}  // namespace fusegate::kernels
