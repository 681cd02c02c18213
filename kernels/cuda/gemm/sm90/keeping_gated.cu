// The gated product of gated_pingpong.cuh that also stores g and u, as a step of training keeps
// them for its backward pass: no kernel reads both again to compute h. Of what a tile stores, 64
// rows of g, of u and of h in turn, a consumer writes one part into its hand while the TMA stores
// the part before, and the other consumer multiplies meanwhile. h is of g and u that are not
// rounded.
#include <stdexcept>

#include "kernels/activations/activations.h"
#include "kernels/cuda/gemm/sm90/gated_pingpong.cuh"
#include "kernels/cuda/gemm/sm90/launches.h"
#include "kernels/cuda/gemm/sm90/products.h"

namespace fusegate::kernels {
namespace sm90 {

struct KeepingMaps {
  GatedMaps gated;
  CUtensorMap g, u;

  __device__ void prefetch() const {
    gated.prefetch();
    prefetch_map(g);
    prefetch_map(u);
  }
};

// kColumns: of h.
template <typename Functor_, int kColumns_, int kStages_, int kCluster_>
struct KeepingGated : GatedPingpong<__nv_bfloat16, Functor_, kColumns_, kStages_, kCluster_> {
  using Part = OutputTile<__nv_bfloat16, kColumns_, 64>;  // 64 rows of one of three
  static constexpr int kSets = 2;                         // of a consumer's hand
  static_assert(kSets * Part::kBytes == KeepingGated::kHandBytes);
};

template <typename Gemm>
struct KeepingConsumer {
  const KeepingMaps& maps;
  const TileShared<Gemm>& shared;
  const typename Gemm::Work& work;
  int number = 0;

  using Part = typename Gemm::Part;
  using TileSums = Sums<kTurnHalves, Gemm::Shape::kWidth / 2>;

  __device__ void run() const {
    take_turns<Gemm>(shared, work, number, [&](const TileSums& d, const TilePosition& tile) {
      const int column = tile.col * Gemm::kColumns, row = work.template row<Gemm>(tile);
#pragma unroll
      for (int half = 0; half < kTurnHalves; ++half) store_rows(d[half], half, column, row);
    });
    if (threadIdx.x % kWarpgroup == 0) wait_stores();
  }

 private:
  // d: 64 rows' sums of g, then of u.
  template <int kCount>
  __device__ void store_rows(const float (&d)[kCount], int half, int column, int row) const {
    constexpr int kUp = kCount / 2;
    const auto g = [&](int i) { return float2{d[i], d[i + 1]}; };
    const auto u = [&](int i) { return float2{d[i + kUp], d[i + 1 + kUp]}; };
    const auto store = [&](const CUtensorMap& map, int part, const auto& pair) {
      store_part(map, 3 * half + part, column, row + half * 64, pair);
    };
    store(maps.g, 0, g);
    store(maps.u, 1, u);
    store(maps.gated.h, 2, [&](int i) { return gated<Gemm>(g(i), u(i)); });
  }

  // The n-th part of a tile, an even number of which it has, in the set that is not the last one's.
  template <typename Pair>
  __device__ void store_part(const CUtensorMap& map, int n, int column, int row,
                             const Pair& pair) const {
    static_assert(3 * kTurnHalves % Gemm::kSets == 0);
    const std::uint32_t part = shared.hand(number) + n % Gemm::kSets * Part::kBytes;
    const int thread = threadIdx.x % kWarpgroup;
    if (thread == 0) wait_stores_read<Gemm::kSets - 1>();
    named_sync(kOwnBarrier + number, kWarpgroup);
    write_rows<Part>(part, thread / 32 * 16, 0, pair);
    fence_async_proxy();
    named_sync(kOwnBarrier + number, kWarpgroup);
    if (thread == 0) store_tile<Part>(map, part, column, row);
  }
};

// One cluster works on a tile of kCluster tiles, one above the other. rows: of x.
template <typename Gemm>
__global__ void __launch_bounds__(kBlockThreads, 1)
    keeping_gated_kernel(const __grid_constant__ KeepingMaps maps,
                         const __grid_constant__ TileRaster raster, int rows, int k) {
  FUSEGATE_TAKE_LONGER;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ unsigned char raw[];
  const TileShared<Gemm> shared(raw);
  const GatedWork work{work_of_block<Gemm>(raster, rows, k)};
  start_block(shared, maps);
  let_next_kernel_start();
  run_block<Gemm>(
      [&](int consumer) {
        KeepingConsumer<Gemm>{maps, shared, work, consumer}.run();
      },
      [&] {
        GatedProducer<Gemm>{maps.gated, shared, work}.run();
      });
#endif  // other architectures never launch it
}

}  // namespace sm90

namespace {

constexpr GatedTileSm90 kTile = kGatedTilesSm90[kKeepingTileSm90];
static_assert(kTile.pingpong);

template <typename Gemm>
std::function<void()> make_launch(CudaDevice& device, const GatedGemmPlan& plan,
                                  const KeptUnit& unit) {
  const auto kernel = sm90::keeping_gated_kernel<Gemm>;
  const LaunchShape shape = persistent_launch<Gemm>(kernel, plan.blocks);
  const auto parts = [](const Tensor& tensor, std::int64_t stride = 0) {
    return make_tensor_map(tensor, Gemm::Part::kRows, Gemm::Part::kPanel, stride);
  };
  const sm90::KeepingMaps maps{.gated = {.x = make_x_maps(unit.x, Gemm::Shape::kRows),
                                         .w_gate = make_stage_map(unit.w_gate, Gemm::kColumns),
                                         .w_up = make_stage_map(unit.w_up, Gemm::kColumns),
                                         .h = parts(unit.h)},
                               .g = parts(unit.g, unit.stride),
                               .u = parts(unit.u, unit.stride)};
  return launch_of(kernel, shape, device.stream(), maps, plan.raster,
                   static_cast<int>(unit.x.rows()), static_cast<int>(unit.x.cols()));
}

}  // namespace

std::function<void()> make_keeping_gated_sm90(CudaDevice& device, const GatedGemmPlan& plan,
                                              const Activation& activation, const KeptUnit& unit) {
  if (unit.h.dtype != Dtype::kBf16) {
    throw std::invalid_argument("keeping_gated_sm90: it is built for bf16");
  }
  std::function<void()> launch;
  dispatch_activation(GemmActivations{}, activation, [&]<typename Functor>() {
    using Gemm = sm90::KeepingGated<Functor, kTile.cols, kTile.stages, kTile.cluster>;
    launch = make_launch<Gemm>(device, plan, unit);
  });
  return launch;
}

}  // namespace fusegate::kernels
