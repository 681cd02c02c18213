#include "kernels/cuda/pointwise/specialized_gelu_mul.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <tuple>

#include "kernels/cuda/device/cuda_error.h"
#include "kernels/cuda/pointwise/nvrtc_compile.h"

namespace fusegate::kernels {
namespace {

// The sources as raw string literals, which CMake writes.
constexpr char kSource[] =
#include "kernels/cuda/pointwise/gelu_mul_specialized.cu.inc"
    ;
constexpr char kBody[] =
#include "kernels/cuda/pointwise/pointwise_body.cuh.inc"
    ;
constexpr char kGelu[] =
#include "kernels/cuda/device/gelu_tanh.cuh.inc"
    ;

constexpr int kPackBytes = 16;

const char* format_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16:
      return "Bf16";
    case Dtype::kFp16:
      return "Fp16";
    case Dtype::kFp32:
      return "Fp32";
  }
  return "";
}

PointwisePlan plan_of(const GeluMulShape& shape, unsigned threads) {
  const int in_a_pack = kPackBytes / static_cast<int>(dtype_bytes(shape.dtype));
  return plan_pointwise(shape.rows * shape.cols, in_a_pack, true, threads);
}

SpecializedGeluMul make(const GeluMulShape& shape, const cudaDeviceProp& device) {
  const std::string architecture = fmt::format("sm_{}{}", device.major, device.minor);
  const unsigned threads = specialized_threads(shape);
  SpecializedGeluMul result;
  result.launch = {.blocks = plan_of(shape, threads).blocks, .threads = threads};
  result.choice = fmt::format("compiled for {}x{}, {}: {} blocks of {} threads", shape.rows,
                              shape.cols, architecture, result.launch.blocks.x, threads);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::vector<char> code = compile_gelu_mul(shape, threads, architecture);
  result.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  cudaLibrary_t library = nullptr;
  FUSEGATE_CUDA(
      cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  FUSEGATE_CUDA(cudaLibraryGetKernel(&result.kernel, library, "gelu_mul"));
  // Loads it, too: the first launch may be one that is captured or timed.
  result.launch.early = can_launch_early(reinterpret_cast<const void*>(result.kernel));
  return result;
}

}  // namespace

unsigned specialized_threads(const GeluMulShape& shape) {
  const auto fills = [&](unsigned threads) { return plan_of(shape, threads).exact(threads); };
  const auto bytes = static_cast<std::size_t>(shape.rows * shape.cols) * dtype_bytes(shape.dtype);
  if (bytes >= kLargeOutput && fills(1024)) return 1024;
  for (const unsigned threads : {256u, 128u, 64u}) {
    if (fills(threads)) return threads;
  }
  return 256;
}

std::vector<char> compile_gelu_mul(const GeluMulShape& shape, unsigned threads,
                                   const std::string& architecture) {
  const PointwisePlan plan = plan_of(shape, threads);
  return nvrtc_compile({.source = {"gelu_mul_specialized.cu", kSource},
                        .headers = {{"kernels/cuda/pointwise/pointwise_body.cuh", kBody},
                                    {"kernels/cuda/device/gelu_tanh.cuh", kGelu}},
                        .macros = {fmt::format("FUSEGATE_FORMAT={}", format_name(shape.dtype)),
                                   fmt::format("FUSEGATE_THREADS={}", threads),
                                   fmt::format("FUSEGATE_PACKS={}u", plan.packs),
                                   fmt::format("FUSEGATE_TAIL={}u", plan.tail),
                                   fmt::format("FUSEGATE_EXACT={}", plan.exact(threads))},
                        .architecture = architecture});
}

void SpecializedGeluMul::enqueue(const Tensor& g, const Tensor& u, const Tensor& out,
                                 cudaStream_t stream) const {
  void* data[] = {out.data, g.data, u.data};
  void* addresses[] = {&data[0], &data[1], &data[2]};
  launch_kernel(reinterpret_cast<const void*>(kernel), launch, stream, addresses);
}

const SpecializedGeluMul& specialized_gelu_mul(const GeluMulShape& shape,
                                               const cudaDeviceProp& device) {
  static std::map<std::tuple<GeluMulShape, int, int>, SpecializedGeluMul> made;
  const std::tuple key{shape, device.major, device.minor};
  auto found = made.find(key);
  if (found == made.end()) found = made.emplace(key, make(shape, device)).first;
  return found->second;
}

}  // namespace fusegate::kernels
