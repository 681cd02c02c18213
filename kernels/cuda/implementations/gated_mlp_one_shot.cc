// one_shot of the parallel gated MLPs, for few rows: fused_epilogue for this rank's part of hidden,
// then an all-reduce in one kernel, in which each rank sends its summand to all others; of the
// sequence-parallel ones between an all-gather and a reduce-scatter (ranks/packets.cuh). two_shot,
// of more than two ranks and more rows: an all-reduce in one kernel, in which each rank adds up a
// part of out and sends it on (ranks/one_shot.cuh).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/cuda/gemm/gated_gemm_plan.h"
#include "kernels/cuda/implementations/cuda_stages.h"
#include "kernels/cuda/implementations/expected_stages.h"
#include "kernels/cuda/ranks/one_shot.h"
#include "kernels/cuda/ranks/peer_buffer.h"
#include "kernels/operations/exchanges.h"
#include "kernels/operations/gated_mlp_parallel.h"

namespace fusegate::kernels {
namespace {

std::int64_t bytes_of(const Tensor& tensor) { return static_cast<std::int64_t>(tensor.bytes()); }

// What a rank holds of out, or sends at most.
std::int64_t bytes_of_out(const Problem& problem, bool has_rows) {
  const LadderProblem p(problem);
  return p.rows() * p.dim * 2 / (has_rows ? problem.at(kRanksAxis) : 1);
}

Exchanges exchanges_of(CudaDevice& gpu, const RankExchange& exchange) {
  const auto ranks = static_cast<int>(gpu.ranks().count());
  const auto as = [](Stage work, const OneShotPlan& plan, std::function<void()> launch) {
    work.choice = one_shot_text(plan);
    work.launch = std::move(launch);
    return work;
  };
  return {.all_reduce =
              [=, &gpu](const Tensor& out) {
                const OneShotPlan plan = plan_all_reduce(bytes_of(out), ranks, gpu.limits());
                return as(all_reduce_work(out, ranks), plan,
                          make_one_shot(gpu, plan, exchange, out));
              },
          .all_gather =
              [=, &gpu](const Tensor& part, const Tensor& whole) {
                const OneShotPlan plan = plan_packets(bytes_of(part), gpu.limits());
                return as(all_gather_work(whole), plan,
                          make_one_shot_gather(gpu, plan, exchange, part, whole));
              },
          .reduce_scatter =
              [=, &gpu](const Tensor& summand, const Tensor& part) {
                const OneShotPlan plan = plan_packets(bytes_of(part), gpu.limits());
                return as(reduce_scatter_work(summand, ranks), plan,
                          make_one_shot_scatter(gpu, plan, exchange, summand, part));
              }};
}

PreparedKernel prepare(const Activation& activation, bool has_rows, Device& device,
                       const Problem& problem, Inputs in, const Tensor& out) {
  auto& gpu = static_cast<CudaDevice&>(device);
  const auto buffer = PeerBuffer::of(gpu, {.slot_bytes = has_rows ? 0 : bytes_of(out)});
  const auto mlp = [&](const Problem& of_rank, Inputs inputs, const Tensor& to) {
    return fastest_fused_mlp(activation, gpu, of_rank, inputs, to);
  };
  const auto compose = has_rows ? &sequence_parallel_mlp : &tensor_parallel_mlp;
  PreparedKernel kernel =
      compose(device, problem, in, out, mlp, exchanges_of(gpu, buffer->exchange()));
  kernel.of_ranks = buffer->memory();
  return kernel;
}

std::string refuses_bytes(std::int64_t bytes, std::int64_t most, const char* of) {
  if (bytes <= most) return "";
  return fmt::format("{} of {} KiB is too large to send whole: it takes {} KiB at most", of,
                     bytes >> 10, most >> 10);
}

std::string refuses(bool has_rows, const Device&, const Problem& problem) {
  if (const std::string why = refuses_to_split(problem, has_rows); !why.empty()) return why;
  const std::int64_t bytes = bytes_of_out(problem, has_rows), ranks = problem.at(kRanksAxis);
  const std::int64_t in_packets = kMostInPackets / std::max<std::int64_t>(ranks - 1, 1);
  if (has_rows) return refuses_bytes(bytes, in_packets, "a rank's part of out");
  return refuses_bytes(bytes, ranks > 2 ? in_packets : kMostOneShotBytes, "out");
}

std::string refuses_two(const Device& device, const Problem& problem) {
  if (const std::string why = refuses_to_split(problem, false); !why.empty()) return why;
  if (refuses(false, device, problem).empty()) return "out is short enough for one_shot";
  return refuses_bytes(bytes_of_out(problem, false), kMostOneShotBytes, "out");
}

// Registrations run in no particular order, so that each calls these.
std::vector<Expectation> expectations(const Activation& activation, bool has_rows) {
  const std::vector<Expectation> mlps = expected_fastest_fused_mlp(activation);
  const auto expected = [](const std::string& operation, const std::string& kernel) {
    return std::vector{expected_element_wise(operation, kernel)};
  };
  if (!has_rows) {
    return expected_between(
        {}, mlps, expected("all_reduce", "chunked_all_reduce_kernel<|packets_all_reduce_kernel"));
  }
  return expected_between(expected("all_gather", "packets_all_gather_kernel"), mlps,
                          expected("reduce_scatter", "packets_reduce_scatter_kernel"));
}

Implementation of(const Activation& activation, bool has_rows) {
  return {.operation = activation.mlp_across_ranks(has_rows),
          .name = "one_shot",
          .device = "cuda",
          .dtypes = {Dtype::kBf16},
          .multiples = {{"dim", kGemmAlignment}},
          .prepare = std::bind_front(&prepare, activation, has_rows),
          .refuses = std::bind_front(&refuses, has_rows),
          .expects = expectations(activation, has_rows)};
}

const BothForms<&of> registered;

const ImplementationRegistration two_shot(kGemmActivations, [](const Activation& activation) {
  return Implementation{
      .operation = activation.mlp_across_ranks(false),
      .name = "two_shot",
      .device = "cuda",
      .dtypes = {Dtype::kBf16},
      .multiples = {{"dim", kGemmAlignment}},
      .prepare = std::bind_front(&prepare, activation, false),
      .refuses = &refuses_two,
      .expects = expectations(activation, false),
  };
});

}  // namespace
}  // namespace fusegate::kernels
