#include "kernels/cuda/pointwise/specialized_gated.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <tuple>
#include <typeinfo>

#include "kernels/activations/activations.h"
#include "kernels/contract/readable_name.h"
#include "kernels/cuda/device/cuda.h"
#include "kernels/cuda/pointwise/nvrtc_compile.h"

namespace fusegate::kernels {
namespace {

// The sources as raw string literals, which CMake writes.
constexpr char kSource[] =
#include "kernels/cuda/pointwise/gated_specialized.cu.inc"
    ;
const std::vector<NamedText> kHeaders{
#include "kernels/cuda/pointwise/nvrtc_headers.inc"
};

std::string source_text() {
  std::string text;
  for (const NamedText& header : kHeaders) text += fmt::format("#include \"{}\"\n", header.name);
  return text + kSource;
}

constexpr int kPackBytes = 16;

const char* format_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBf16:
      return "Bf16";
    case Dtype::kFp16:
      return "Fp16";
    default:
      throw DeviceError("element-wise kernels do not support " + std::string(dtype_name(dtype)));
  }
}

PointwisePlan plan_of(const GatedShape& shape, unsigned threads) {
  const int in_a_pack = kPackBytes / static_cast<int>(dtype_bytes(shape.dtype));
  return plan_pointwise(shape.rows * shape.cols, in_a_pack, true, threads);
}

SpecializedGated make(const GatedShape& shape, const cudaDeviceProp& device) {
  const std::string architecture = fmt::format("sm_{}{}", device.major, device.minor);
  const unsigned threads = specialized_threads(shape, static_cast<std::size_t>(device.l2CacheSize));
  SpecializedGated result;
  result.launch = {.blocks = plan_of(shape, threads).blocks, .threads = threads};
  result.choice = fmt::format("compiled for {}x{}, {}: {} blocks of {} threads", shape.rows,
                              shape.cols, architecture, result.launch.blocks.x, threads);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::vector<char> code = compile_gated(shape, threads, architecture);
  result.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  cudaLibrary_t library = nullptr;
  FUSEGATE_CUDA(
      cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  FUSEGATE_CUDA(
      cudaLibraryGetKernel(&result.kernel, library, shape.activation.gated_stage().c_str()));
  // Loads it, too: the first launch may be one that is captured or timed.
  result.launch.early = can_launch_early(reinterpret_cast<const void*>(result.kernel));
  return result;
}

}  // namespace

unsigned specialized_threads(const GatedShape& shape, std::size_t l2_bytes) {
  const auto fills = [&](unsigned threads) { return plan_of(shape, threads).exact(threads); };
  const auto bytes = static_cast<std::size_t>(shape.rows * shape.cols) * dtype_bytes(shape.dtype);
  if (is_large_output(bytes, l2_bytes) && fills(1024)) return 1024;
  for (const unsigned threads : {256u, 128u, 64u}) {
    if (fills(threads)) return threads;
  }
  return 256;
}

std::vector<char> compile_gated(const GatedShape& shape, unsigned threads,
                                const std::string& architecture) {
  const PointwisePlan plan = plan_of(shape, threads);
  std::string functor;
  dispatch_activation(Activations{}, shape.activation,
                      [&]<typename Functor>() { functor = readable_name(typeid(Functor).name()); });
  const std::string source = source_text();
  return nvrtc_compile({.source = {"gated_specialized.cu", source.c_str()},
                        .headers = kHeaders,
                        .macros = {"FUSEGATE_KERNEL=" + shape.activation.gated_stage(),
                                   "FUSEGATE_FUNCTOR=" + functor,
                                   fmt::format("FUSEGATE_FORMAT={}", format_name(shape.dtype)),
                                   fmt::format("FUSEGATE_THREADS={}", threads),
                                   fmt::format("FUSEGATE_PACKS={}u", plan.packs),
                                   fmt::format("FUSEGATE_TAIL={}u", plan.tail),
                                   fmt::format("FUSEGATE_EXACT={}", plan.exact(threads))},
                        .architecture = architecture});
}

void SpecializedGated::enqueue(const Tensor& g, const Tensor& u, const Tensor& out,
                               cudaStream_t stream) const {
  void* data[] = {out.data, g.data, u.data};
  void* addresses[] = {&data[0], &data[1], &data[2]};
  launch_kernel(reinterpret_cast<const void*>(kernel), launch, stream, addresses);
}

const SpecializedGated& specialized_gated(const GatedShape& shape, const cudaDeviceProp& device) {
  static std::map<std::tuple<std::string_view, std::int64_t, std::int64_t, Dtype, int, int>,
                  SpecializedGated>
      made;
  const std::tuple key{shape.activation.name, shape.rows,   shape.cols,
                       shape.dtype,           device.major, device.minor};
  auto found = made.find(key);
  if (found == made.end()) found = made.emplace(key, make(shape, device)).first;
  return found->second;
}

}  // namespace fusegate::kernels
