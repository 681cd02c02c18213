// Replaces device/tensor_map.cc, and two CUDA functions that the launching code calls.
#include "kernels/cuda/device/tensor_map.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda.h"
#include "tests/emulation/cluster.h"

namespace fusegate::kernels {

namespace sm90 {
unsigned char raw[1];  // the kernels' `extern __shared__`
}

CUtensorMap make_tensor_map(const Tensor& tensor, int box_rows, int box_columns,
                            std::int64_t stride) {
  const auto element = static_cast<int>(dtype_bytes(tensor.dtype));
  const int box_bytes = box_columns * element;
  const bool is_taken = box_rows >= 1 && box_rows <= 256 && box_columns <= 256 &&
                        box_bytes % 16 == 0 && tensor.cols() * element % 16 == 0 &&
                        stride * element % 16 == 0 &&
                        std::bit_cast<std::uintptr_t>(tensor.data) % 16 == 0;
  if (!is_taken) {
    throw DeviceError(fmt::format("no tensor map for {} x {} in boxes of {} x {}", tensor.rows(),
                                  tensor.cols(), box_rows, box_columns));
  }
  const emulation::BoxMap boxes{static_cast<std::byte*>(tensor.data),
                                tensor.rows(),
                                tensor.cols(),
                                std::max(stride, tensor.cols()),
                                box_rows,
                                box_columns,
                                box_bytes == 128  ? 0x70U
                                : box_bytes == 64 ? 0x30U
                                                  : 0U,
                                element,
                                0};
  CUtensorMap map{};
  static_assert(sizeof(boxes) <= sizeof(map));
  std::memcpy(&map, &boxes, sizeof(boxes));
  return map;
}

CUtensorMap make_pair_map(const Tensor& first, const Tensor& second, int box_rows) {
  CUtensorMap map = make_tensor_map(first, 16, 64);
  emulation::BoxMap boxes{};
  std::memcpy(&boxes, &map, sizeof(boxes));
  boxes.rows *= 2;
  boxes.box_rows = box_rows;
  boxes.second_bytes = static_cast<std::byte*>(second.data) - static_cast<std::byte*>(first.data);
  std::memcpy(&map, &boxes, sizeof(boxes));
  return map;
}

void throw_cuda_error(cudaError_t status, const char* call, const char* file,
                      const char* function) {
  throw DeviceError(
      fmt::format("{}: {}(): {}: {}", file, function, call, static_cast<int>(status)));
}

}  // namespace fusegate::kernels

extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  attributes->binaryVersion = attributes->ptxVersion = 90;
  return cudaSuccess;
}
