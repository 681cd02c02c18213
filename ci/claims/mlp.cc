#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "baselines/launches/kernel_name_reader.h"
#include "ci/claims/claims.h"
#include "ci/claims/compare.h"
#include "ci/claims/kernels.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kEager = "geglu_mlp-torch_eager";
constexpr std::size_t kGate = 0, kUp = 1, kGelu = 2, kMul = 3, kDown = 4, kKernels = 5;
// As the series prints them, with what it leaves out left out.
constexpr std::string_view kPublishedGate = "ampere_bf16_s16816gemm_bf16_128x128_stages_32x5_tn";
constexpr std::string_view kPublishedDown = "ampere_bf16_s16816gemm_bf16_128x256_stages_64x3_tn";
constexpr std::string_view kPublishedPointwise = "vectorized_elementwise_kernel<4,";
constexpr double kPublishedQueries = 3;

const std::string& unfused() {
  static const std::string name = reference_benchmark("geglu_mlp", "unfused");
  return name;
}

bool is_five(const KernelNames& kernels) {
  return kernels.size() == kKernels && library_gemms(kernels).size() == 3 &&
         is_library_gemm(kernels[kGate]) && is_library_gemm(kernels[kUp]) &&
         is_library_gemm(kernels[kDown]);
}

bool says(const baselines::KernelName& kernel, std::string_view capital, std::string_view lower) {
  return kernel.name.find(capital) != std::string::npos ||
         kernel.name.find(lower) != std::string::npos;
}

bool is_eager_mlp(const KernelNames& kernels) {
  return is_five(kernels) && says(kernels[kGelu], "Gelu", "gelu") &&
         says(kernels[kMul], "Mul", "mul");
}

Claim five_kernels(const ClaimsInput& input) {
  Claim claim;
  claim.statement = "The eager GeGLU MLP is five kernels: three GEMMs, a gelu and a mul";
  claim.published = "5 kernels a forward pass";
  claim.findings = {
      trace_kernels_finding("Every step of PyTorch's trace launches GEMM, GEMM, gelu, mul, GEMM",
                            input, kEager, is_eager_mlp),
      profile_finding("So does every profiled call of our `geglu_mlp/unfused`", input, unfused(),
                      is_eager_mlp)};
  return claim;
}

bool same_family(const baselines::KernelName& seen, std::string_view published) {
  const baselines::KernelName wanted = baselines::read_kernel_name(published);
  return seen.library == wanted.library && seen.function == wanted.function &&
         seen.architecture == wanted.architecture;
}

bool same_shape(const baselines::KernelName& seen, std::string_view published) {
  const baselines::KernelName wanted = baselines::read_kernel_name(published);
  return seen.tile == wanted.tile && seen.stages == wanted.stages;
}

// The rule for all three, of which two share what was published.
bool every_gemm(const KernelNames& kernels,
                bool (*rule)(const baselines::KernelName&, std::string_view)) {
  return is_five(kernels) && rule(kernels[kGate], kPublishedGate) &&
         rule(kernels[kUp], kPublishedGate) && rule(kernels[kDown], kPublishedDown);
}

bool is_tn(const baselines::KernelName& seen, std::string_view published) {
  return seen.layout == baselines::read_kernel_name(published).layout;
}

Claim kernel_names(const ClaimsInput& input) {
  const auto gemms = [&](const char* question,
                         bool (*rule)(const baselines::KernelName&, std::string_view)) {
    Finding finding = trace_kernels_finding(
        question, input, kEager,
        [rule](const KernelNames& kernels) { return every_gemm(kernels, rule); });
    finding.seen.clear();  // the last finding has them all
    return finding;
  };
  Claim claim;
  claim.statement =
      "These are the kernels: cuBLAS's for Ampere, and PyTorch's of 4 elements a thread";
  claim.published = fmt::format(
      "`ampere_bf16_s16816gemm_bf16_128x128_...stages_32x5_tn` twice, "
      "`...128x256_...stages_64x3_tn`, `{} ...>` twice",
      kPublishedPointwise);
  claim.findings = {
      gemms("The GEMMs are of the published library, function and architecture", same_family),
      gemms("They have the published tiles and stages", same_shape),
      gemms("They have the published layout, tn", is_tn),
      trace_kernels_finding(
          "The element-wise kernels are `vectorized_elementwise_kernel<4, ...>`", input, kEager,
          [](const KernelNames& kernels) {
            return is_five(kernels) &&
                   kernels[kGelu].name.find(kPublishedPointwise) != std::string::npos &&
                   kernels[kMul].name.find(kPublishedPointwise) != std::string::npos;
          })};
  return claim;
}

Claim occupancy_queries(const ClaimsInput& input) {
  std::vector<std::string> seen;
  Finding finding = trace_finding(
      "Every step of PyTorch's trace asks for the occupancy three times", input, kEager,
      [&](const ReadTrace& trace) {
        std::size_t calls = 0;
        for (const baselines::TraceRow& row : rows_with_prefix(trace.summary, "cudaOccupancy")) {
          calls += row.calls;
        }
        const double a_step = static_cast<double>(calls) / static_cast<double>(trace.steps.steps);
        seen.push_back(fmt::format("{:g} calls of `cudaOccupancy...` a step", a_step));
        return answer_of(a_step == kPublishedQueries);
      });
  finding.seen = seen;
  Claim claim;
  claim.statement = "Each GEMM is an occupancy query and a launch, an element-wise kernel a launch";
  claim.published = "3 queries a forward pass";
  claim.findings = {finding};
  return claim;
}

bool two_shapes(const KernelNames& kernels) {
  if (!is_five(kernels)) return false;
  const auto shape = [&](std::size_t i) { return std::pair(kernels[i].tile, kernels[i].stages); };
  return !kernels[kGate].tile.empty() && shape(kGate) == shape(kUp) && shape(kDown) != shape(kGate);
}

Claim tile_shapes(const ClaimsInput& input) {
  Claim claim;
  claim.statement =
      "Gate and up share one tile shape, down has another, though all three are the same FLOPs";
  claim.published = "128x128, 32x5 for gate and up; 128x256, 64x3 for down; 38.7 GFLOP each";
  claim.findings = {
      trace_kernels_finding("So in every step of PyTorch's trace, by the kernels' names", input,
                            kEager, two_shapes),
      profile_finding("So in every profiled call of our `geglu_mlp/unfused`", input, unfused(),
                      two_shapes)};
  return claim;
}

std::vector<double> stage_ns(const ClaimsInput& input, std::string_view stage) {
  return input.ours.values(
      unfused(), [&](const baselines::BenchmarkResult& result) -> std::optional<double> {
        if (!result.profile) return std::nullopt;
        const auto& kernels = result.profile->kernels;
        const auto found = std::ranges::find(kernels, stage, &baselines::ProfiledKernel::stage);
        return found == kernels.end() ? std::nullopt : std::optional(found->duration_ns);
      });
}

std::optional<double> published_stage_ns(const ClaimsInput& input, std::string_view stage) {
  return input.published_ns(
      fmt::format("{}/stage:{}", reference_benchmark("geglu_mlp", "torch_eager"), stage));
}

std::optional<double> published_ratio(const ClaimsInput& input) {
  const auto down = published_stage_ns(input, "down_proj");
  const auto gate = published_stage_ns(input, "gate_proj");
  return down && gate ? std::optional(*down / *gate) : std::nullopt;
}

Finding down_is_faster(const ClaimsInput& input) {
  Finding finding{"In our profiled calls down_proj takes less than gate_proj"};
  const std::vector<double> down = stage_ns(input, "down_proj");
  const std::vector<double> gate = stage_ns(input, "gate_proj");
  const auto ratio = ratio_of(down, gate);
  if (!ratio) {
    finding.missing = fmt::format("a profile of `{}` in our run", unfused());
    return finding;
  }
  finding.answer = is_faster({*ratio, std::nullopt});
  if (finding.answer == Answer::kUnknown) finding.missing = kNeedsTwoProcesses;
  finding.seen = {time_line("down_proj over gate_proj", down, gate, {*ratio, std::nullopt})};
  return finding;
}

// The published figures are rounded to 10 us, 5 % of them.
constexpr double kRounded = 0.05;

Finding down_by_a_tenth(const ClaimsInput& input) {
  Finding finding{"The ratio is the published one, to the 5 % that its figures are rounded to"};
  const auto published = published_ratio(input);
  const auto ratio = ratio_of(stage_ns(input, "down_proj"), stage_ns(input, "gate_proj"));
  if (!published || !ratio) {
    finding.missing =
        published ? fmt::format("a profile of `{}` in our run", unfused()) : std::string(kNotGiven);
    return finding;
  }
  finding.answer = is_within(*ratio, *published * (1 - kRounded), *published * (1 + kRounded));
  if (finding.answer == Answer::kUnknown) finding.missing = kNeedsTwoProcesses;
  finding.seen = {fmt::format("{} here, {:.3f} published", ratio_text(*ratio), *published)};
  return finding;
}

// PyTorch's own, of three steps: a trace is one look, and decides nothing.
Finding down_in_the_trace(const ClaimsInput& input) {
  Finding finding = trace_finding("The same in PyTorch's trace", input, kEager,
                                  [](const ReadTrace&) { return Answer::kYes; });
  const bool told = finding.answer == Answer::kYes;
  finding.answer.reset();
  finding.missing.clear();
  if (!told) return finding;
  const std::vector<StepKernel>& kernels = input.trace(kEager)->steps.kernels;
  if (kernels.size() != kKernels) return finding;
  finding.seen = {fmt::format("{} over {}: {:.3f}", format_time_ns(kernels[kDown].duration_ns),
                              format_time_ns(kernels[kGate].duration_ns),
                              kernels[kDown].duration_ns / kernels[kGate].duration_ns)};
  return finding;
}

// As Linears of the same shapes, measured as everything is and not with a profiler attached.
Finding down_as_linear(const ClaimsInput& input) {
  Finding finding{"The same of `linear/addmm`, 3072 -> 768 over 768 -> 3072", {}};
  const std::string gate = reference_benchmark("linear", "addmm");
  const std::string down = "linear/addmm/bf16/batch:64/seq:128/dim:3072/hidden:768";
  if (const auto ratio = time_ratio(input.ours, down, input.ours, gate)) {
    finding.seen = {
        time_line("bias included", input.ours.times_ns(down), input.ours.times_ns(gate), *ratio)};
  }
  return finding;
}

Claim down_to_gate(const ClaimsInput& input) {
  const auto ratio = published_ratio(input);
  Claim claim;
  claim.statement = "down_proj is faster than gate_proj, by about a tenth, for the same FLOPs";
  claim.published =
      ratio ? fmt::format("{} over {}: {:.3f}",
                          format_time_ns(*published_stage_ns(input, "down_proj")),
                          format_time_ns(*published_stage_ns(input, "gate_proj")), *ratio)
            : std::string(kNotGiven);
  claim.findings = {down_is_faster(input), down_by_a_tenth(input), down_in_the_trace(input),
                    down_as_linear(input)};
  return claim;
}

}  // namespace

std::vector<Claim> claims_of_mlp(const ClaimsInput& input) {
  return {five_kernels(input), kernel_names(input), occupancy_queries(input), tile_shapes(input),
          down_to_gate(input)};
}

}  // namespace fusegate::ci
