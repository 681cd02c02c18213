// overlapped of the parallel gated MLPs, on Hopper, for many rows: two kernels that exchange data
// with other ranks while they run. The down product sends tiles of its summand to the ranks that
// add them up, while it multiplies others (ranks/wide_exchange.cuh). Where rows are split, the
// gated product begins with this rank's rows of x, while copy engines gather the others
// (ranks/gathering_gemm.cuh).
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/cuda/gemm/gated_gemm_plan.h"
#include "kernels/cuda/gemm/sm90/products.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/ranks/overlapped.h"
#include "kernels/cuda/ranks/peer_buffer.h"
#include "kernels/cuda/ranks/x_gather.h"
#include "kernels/operations/exchanges.h"
#include "kernels/operations/gated_mlp_parallel.h"

namespace fusegate::kernels {
namespace {

constexpr const char* kDown = "down_proj";

// Of the whole of out, from this rank's part of hidden.
GemmSize size_of_down(const Problem& problem) {
  const LadderProblem p(problem_of_rank(problem));
  return {p.rows(), p.dim, p.hidden};
}

RankOf rank_of(const Device& device) { return {device.ranks().rank(), device.ranks().count()}; }

// Two stages' work in one.
Stage together(const Stage& first, const Stage& second) {
  return {.name = first.name + "_" + second.name,
          .flops = first.flops + second.flops,
          .min_bytes = first.min_bytes + second.min_bytes};
}

// The same on all ranks.
int fewest_clusters(Ranks& ranks, const WideExchangePlan& plan) {
  return static_cast<int>(std::lround(-ranks.largest("clusters", -wide_exchange_clusters(plan))));
}

PreparedKernel tensor_parallel(const Activation& activation, Device& device, const Problem& problem,
                               Inputs in, const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const GemmSize size = size_of_down(problem);
  const WideExchangePlan plan = plan_wide_exchange(size, rank_of(device), false, gpu.limits());
  const auto buffer = PeerBuffer::of(gpu, {.slot_bytes = plan.slot_bytes});
  const int clusters = fewest_clusters(device.ranks(), plan);
  Tensor h;
  // The gated product that is the fastest before the same product without an exchange.
  const auto candidates = [&](const Tensor& between) {
    h = between;
    const TileRaster raster = plan_wide_gemm_sm90(size, gpu.limits());
    return MlpCandidates{
        .gate_up = tiled_gated_sm90(gpu, activation, {in[0], in[1], in[2], h}),
        .down = {{wide_gemm_text(raster), make_wide_gemm_sm90(gpu, raster, h, in[3], out)}}};
  };
  PreparedKernel kernel =
      fastest_mlp(activation, gpu, problem_of_rank(problem), in, out, candidates);
  Stage& down = kernel.stages.back();
  const std::string choice = down.choice;
  down = together(down, all_reduce_work(out, device.ranks().count()));
  down.choice = choice;
  down.launch = make_wide_exchange(gpu, plan, buffer->exchange(), {h, in[3], out}, clusters, true);
  kernel.of_ranks = buffer->memory();
  return kernel;
}

// The gated product, of rows that come from all ranks.
Stage gather_gate_up(const Activation& activation, CudaDevice& gpu, const RankExchange& exchange,
                     const GatedOperands& operands) {
  const auto& [x, w_gate, w_up, h] = operands;
  const GemmSize size{h.rows(), h.cols(), x.cols()};
  const GatheringPlan plan = plan_gathering(size, rank_of(gpu), gpu.limits());
  const Tensor gathered{exchange.gathered(exchange.rank), {h.rows(), x.cols()}, x.dtype};
  Stage stage =
      together(all_gather_work(gathered), gate_up_work(activation, gathered, w_gate, w_up, h));
  stage.launch = [gather = XGather(gpu, plan, exchange, x),
                  multiply = make_gathering_gemm(gpu, plan, activation, exchange, operands)] {
    gather.begin();
    multiply();
    gather.end();
  };
  return stage;
}

PreparedKernel sequence_parallel(const Activation& activation, Device& device,
                                 const Problem& problem, Inputs in, const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const GemmSize size = size_of_down(problem);
  const WideExchangePlan plan = plan_wide_exchange(size, rank_of(device), true, gpu.limits());
  const std::int64_t gathered_bytes = size.m * in[0].cols() * 2;
  const auto buffer =
      PeerBuffer::of(gpu, {.slot_bytes = plan.slot_bytes, .gathered_bytes = gathered_bytes});
  const int clusters = fewest_clusters(device.ranks(), plan);
  PreparedKernel kernel;
  const Tensor h = kernel.intermediate(device, {size.m, size.k}, problem.dtype);
  kernel.stages.push_back(
      gather_gate_up(activation, gpu, buffer->exchange(), {in[0], in[1], in[2], h}));
  const Tensor summand{nullptr, {size.m, size.n}, problem.dtype};  // its shape
  Stage down = together(matmul_work(kDown, h, in[3], summand),
                        reduce_scatter_work(summand, device.ranks().count()));
  // It follows copies too, which an early launch would not wait for.
  down.launch = make_wide_exchange(gpu, plan, buffer->exchange(), {h, in[3], out}, clusters, false);
  kernel.stages.push_back(std::move(down));
  kernel.of_ranks = buffer->memory();
  return kernel;
}

std::string refuses(bool has_rows, const Device& device, const Problem& problem) {
  const auto& gpu = static_cast<const CudaDevice&>(device);
  if (const std::string why = refuses_to_split(problem, has_rows); !why.empty()) return why;
  if (const std::string why = refuses_sm90(gpu); !why.empty()) return why;
  const GemmSize size = size_of_down(problem);
  if (size.k % kGemmAlignment != 0) return "a rank's part of hidden must be a multiple of 8";
  const auto ranks = static_cast<int>(problem.at(kRanksAxis));
  return refuses_wide_exchange(size, ranks, has_rows, gpu.limits());
}

ExpectedStage expected_product(const std::string& stage, const std::string& kernel, int copies) {
  return {.name = stage, .kernels = {{"GEMM of ours", kernel}}, .most_memory_operations = copies};
}

Expectation expectation(const Activation& activation, bool has_rows) {
  if (!has_rows) {
    return {.stages = {expected_own_matmul(activation.gate_up_stage()),
                       expected_product("down_proj_all_reduce", "wide_exchange_kernel<", 0)}};
  }
  constexpr int kMostCopies = 2 * kGatherChunks * (kMostRanks - 1);
  return {.stages = {expected_product("all_gather_" + activation.gate_up_stage(),
                                      "gathering_gemm_kernel<", kMostCopies),
                     expected_product("down_proj_reduce_scatter", "wide_exchange_kernel<", 0)}};
}

Implementation of(const Activation& activation, bool has_rows) {
  return {.operation = activation.mlp_across_ranks(has_rows),
          .name = "overlapped",
          .device = "cuda",
          .dtypes = {Dtype::kBf16},
          .multiples = {{"dim", kGemmAlignment}},
          .prepare = std::bind_front(has_rows ? &sequence_parallel : &tensor_parallel, activation),
          .refuses = std::bind_front(&refuses, has_rows),
          .expects = {expectation(activation, has_rows)}};
}

const BothForms<&of> registered;

}  // namespace
}  // namespace fusegate::kernels
