#include <memory>
#include <stdexcept>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/cuda/device/dispatch.h"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/gemm/sm90/swapped_gated.cuh"

namespace fusegate::kernels {
namespace {

template <typename T, typename Functor, std::size_t kIndex>
using GemmOf =
    sm90::SwappedGated<T, Functor, kSwappedTilesSm90[kIndex].rows,
                       2 * kSwappedTilesSm90[kIndex].cols, kSwappedTilesSm90[kIndex].halves_rows,
                       kSwappedTilesSm90[kIndex].stages, kSwappedTilesSm90[kIndex].cluster,
                       kSwappedTilesSm90[kIndex].shares_weights>;

// Sums in the device's workspace, where the library's kernels have ended, or have not begun, when
// these are at work; and flags.
struct SumsOfBlocks {
  sm90::GivenSums sums;
  std::shared_ptr<Memory> flags;
};

// bytes: of a consumer's sums.
SumsOfBlocks make_sums(CudaDevice& device, unsigned blocks, std::size_t bytes) {
  const std::size_t consumers = std::size_t{blocks} * sm90::kConsumers;
  if (consumers * bytes > device.workspace().bytes()) {
    throw DeviceError("swapped_gated_sm90: its sums take " + std::to_string(consumers * bytes) +
                      " bytes, and the device's workspace has " +
                      std::to_string(device.workspace().bytes()));
  }
  const std::vector<std::uint32_t> none(consumers);
  auto flags = std::make_shared<Memory>(device.allocate(consumers * sizeof(none[0])));
  device.copy_to_device(std::as_bytes(std::span(none)), flags->data());
  return {{static_cast<float4*>(device.workspace().data()),
           static_cast<std::uint32_t*>(flags->data())},
          std::move(flags)};
}

// What the host needs to know of a kernel, so that one function launches all of them.
struct BuiltKernel {
  void (*kernel)(sm90::SwappedMaps, TileRaster, sm90::GivenSums, int, bool) = nullptr;
  int shared_bytes = 0, cluster = 1;
  int loaded_rows = 0, loaded_weights = 0;
  int out_rows = 0, out_columns = 0;  // of a box
  std::size_t sums_bytes = 0;         // of a consumer
};

template <typename Gemm>
constexpr BuiltKernel kBuilt{.kernel = sm90::swapped_gated_kernel<Gemm>,
                             .shared_bytes = Gemm::kSharedBytes,
                             .cluster = Gemm::kCluster,
                             .loaded_rows = Gemm::kLoadedRows,
                             .loaded_weights = Gemm::kLoadedWeights,
                             .out_rows = Gemm::Output::kRows,
                             .out_columns = Gemm::Output::kPanel,
                             .sums_bytes = sm90::kWarpgroup * sizeof(typename Gemm::TileSums)};

std::function<void()> make_launch(CudaDevice& device, const GatedGemmPlan& plan,
                                  const BuiltKernel& of, const GatedOperands& o) {
  const LaunchShape shape = persistent_shape(reinterpret_cast<const void*>(of.kernel),
                                             of.shared_bytes, of.cluster, plan.blocks);
  const bool up_is_first = o.w_up.data < o.w_gate.data;
  const sm90::SwappedMaps maps{
      .x = make_stage_map(o.x, of.loaded_rows),
      .weights = up_is_first ? make_pair_map(o.w_up, o.w_gate, of.loaded_weights)
                             : make_pair_map(o.w_gate, o.w_up, of.loaded_weights),
      .h = make_tensor_map(o.h, of.out_rows, of.out_columns),
  };
  SumsOfBlocks given;
  if (plan.streams_k) given = make_sums(device, shape.blocks.x, of.sums_bytes);
  return [launch = launch_of(of.kernel, shape, device.stream(), maps, plan.raster, given.sums,
                             static_cast<int>(o.x.cols()), up_is_first),
          flags = given.flags] { launch(); };
}

}  // namespace

std::function<void()> make_swapped_gated_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                              const Activation& activation,
                                              const GatedOperands& operands) {
  if (operands.h.dtype != Dtype::kBf16) {
    throw std::invalid_argument("swapped_gated_sm90: it is built for bf16");
  }
  const BuiltKernel* kernel = nullptr;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    dispatch_index<kSwappedTilesSm90.size()>(plan.tile, [&]<std::size_t kIndex>() {
      kernel = &kBuilt<GemmOf<__nv_bfloat16, Functor, kIndex>>;
    });
  });
  return make_launch(device, plan, *kernel, operands);
}

}  // namespace fusegate::kernels
