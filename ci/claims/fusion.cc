#include <fmt/format.h>

#include <algorithm>

#include "baselines/launches/kernel_name_reader.h"
#include "ci/claims/claims.h"
#include "ci/claims/compare.h"
#include "ci/claims/kernels.h"
#include "ci/console/format.h"
#include "ci/figures/benchmark_figures.h"
#include "ci/figures/floor.h"

namespace fusegate::ci {
namespace {

constexpr double kBytesOfBf16 = 2;
// How near the time saved must come to the round trip's at the copy rate for the one to be the
// other: two kernels have two ramps, and part of an intermediate may stay in the L2.
constexpr double kNear = 0.25;

double intermediate_bytes() {
  const auto name = baselines::parse_benchmark_name(reference_benchmark("geglu", "unfused"));
  return static_cast<double>(name->rows() * name->hidden) * kBytesOfBf16;
}

std::optional<double> min_bytes(const MeasuredRun& run, const std::string& benchmark) {
  const baselines::BenchmarkSeries* series = run.find(benchmark);
  if (series == nullptr) return std::nullopt;
  const auto found = series->counters.find("min_bytes");
  return found == series->counters.end() ? std::nullopt : std::optional(found->second);
}

Finding bytes_saved(const Side& fused, const Side& unfused) {
  Finding finding{"The least bytes to be moved are fewer by a write and a read of gelu(g)"};
  std::optional<double> with, without;
  if (fused.run != nullptr) {
    with = min_bytes(*fused.run, fused.benchmark("geglu", kReferenceProblem));
    without = min_bytes(*unfused.run, unfused.benchmark("geglu", kReferenceProblem));
  }
  if (!with || !without) {
    finding.missing = fmt::format("`min_bytes` of {} and of {} at {}", needs(fused, "geglu"),
                                  needs(unfused, "geglu"), kReferenceProblem);
    return finding;
  }
  finding.answer = answer_of(*without - *with == 2 * intermediate_bytes());
  finding.seen = {fmt::format("{:.1f} MB less {:.1f} MB is {:.1f} MB; gelu(g) has {:.1f} MB",
                              *without / 1e6, *with / 1e6, (*without - *with) / 1e6,
                              intermediate_bytes() / 1e6)};
  return finding;
}

// What fusing saves, in each process that measured both.
std::vector<double> saved_ns(const Side& fused, const Side& unfused) {
  std::vector<double> saved;
  if (fused.run == nullptr) return saved;
  for (const baselines::RunFile& process : fused.run->processes) {
    const MeasuredRun alone{{}, {process}};
    const auto with = alone.times_ns(fused.benchmark("geglu", kReferenceProblem));
    const auto without = alone.times_ns(unfused.benchmark("geglu", kReferenceProblem));
    if (!with.empty() && !without.empty()) saved.push_back(without.front() - with.front());
  }
  return saved;
}

// A write and a read of the intermediate at the rate of our run's copy, in each process.
std::vector<double> round_trip_ns(const ClaimsInput& input) {
  const auto rate = measured_rates(benchmark_figures(input.ours.run)).copy_gbps;
  if (!rate) return {};
  const std::optional<double> bytes = min_bytes(input.ours, rate->benchmark);
  std::vector<double> times = input.ours.times_ns(rate->benchmark);
  for (double& time_ns : times) time_ns *= 2 * intermediate_bytes() / *bytes;
  return times;
}

Finding saving_is_the_round_trip(const ClaimsInput& input, const Side& fused, const Side& unfused) {
  Finding finding{
      fmt::format("The time saved is that of the round trip at the rate of our run's "
                  "`control_copy`, to {}",
                  format_fraction(kNear))};
  const std::vector<double> saved = saved_ns(fused, unfused);
  const std::vector<double> trip = round_trip_ns(input);
  if (saved.empty() || trip.empty()) {
    finding.missing = fmt::format("{}, {} and `control_copy` in our run", needs(fused, "geglu"),
                                  needs(unfused, "geglu"));
    return finding;
  }
  if (std::ranges::min(saved) <= 0) {
    finding.answer = Answer::kNo;
    finding.seen = {"in some process it saves nothing"};
    return finding;
  }
  const Ratio ratio = *ratio_of(saved, trip);
  finding.answer = is_within(ratio, 1 - kNear, 1 + kNear);
  if (finding.answer == Answer::kUnknown) finding.missing = kNeedsTwoProcesses;
  finding.seen = {fmt::format("{} saved over {} for a write and a read: {}",
                              format_time_ns(typical(saved)), format_time_ns(typical(trip)),
                              ratio_text(ratio))};
  return finding;
}

Claim round_trip(const ClaimsInput& input, std::string statement, const Side& fused,
                 const Side& unfused) {
  Claim claim;
  claim.statement = std::move(statement);
  claim.published = "the intermediate is around 50 MB; the time saved is not published";
  claim.findings = {bytes_saved(fused, unfused),
                    time_finding({fmt::format("`geglu/{}` is faster than `geglu/{}`",
                                              fused.implementation, unfused.implementation),
                                  "geglu", kReferenceProblem},
                                 fused, unfused, is_faster),
                    saving_is_the_round_trip(input, fused, unfused)};
  return claim;
}

std::string published_pair(const ClaimsInput& input) {
  const auto compiled = input.published_ns(reference_benchmark("geglu", "torch_compile"));
  const auto liger = input.published_ns(reference_benchmark("geglu", "liger"));
  if (!compiled || !liger) return std::string(kNotGiven);
  return fmt::format("{} specialised, {} generic: {:.3f}", format_time_ns(*compiled),
                     format_time_ns(*liger), *compiled / *liger);
}

// Of three steps each: one look, which decides nothing.
Finding fused_kernels_in_traces(const ClaimsInput& input) {
  Finding finding{"In the traces", {}};
  for (const std::string_view name : {"geglu_mlp-torch_compile", "geglu_mlp-liger"}) {
    const ReadTrace* trace = input.trace(name);
    if (trace == nullptr) continue;
    for (const StepKernel& kernel : trace->steps.kernels) {
      const baselines::KernelName read = baselines::read_kernel_name(kernel.name);
      if (!is_library_gemm(read)) finding.seen.push_back(kernel_line(read, kernel.duration_ns));
    }
  }
  return finding;
}

Claim specialised_peers(const ClaimsInput& input) {
  Claim claim;
  claim.statement =
      "The kernel specialised for one shape (Inductor's) is faster than the generic one (Liger's)";
  claim.published = published_pair(input);
  claim.findings = {
      time_finding(
          {"`geglu/torch_compile` is faster than `geglu/liger`", "geglu", kReferenceProblem},
          peer_side(input, "torch_compile"), peer_side(input, "liger"), is_faster),
      fused_kernels_in_traces(input)};
  return claim;
}

}  // namespace

std::vector<Claim> claims_of_fusion(const ClaimsInput& input) {
  return {round_trip(input, "A fused gelu-mul saves one round trip of the intermediate: ours",
                     our_side(input, "fused"), our_side(input, "unfused")),
          round_trip(input, "The same of Inductor's, which is the series' own",
                     peer_side(input, "torch_compile"), peer_side(input, "torch_eager")),
          specialised_peers(input)};
}

}  // namespace fusegate::ci
