#include <fmt/format.h>

#include <cstdint>
#include <set>

#include "ci/claims/claims.h"
#include "ci/claims/compare.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

constexpr const char* kNoFigure = "no figure";
constexpr std::string_view kMlp = "geglu_mlp";
constexpr std::int64_t kFewRows = 64 * 128 - 1;  // fewer than the series' problem has

Claim beyond(std::string statement, std::vector<Finding> findings) {
  Claim claim;
  claim.origin = Claim::Origin::kBeyond;
  claim.statement = std::move(statement);
  claim.published = kNoFigure;
  claim.findings = std::move(findings);
  return claim;
}

Claim specialised_ours(const ClaimsInput& input) {
  return beyond(
      "Of our own fused kernels too, the one compiled for a single shape is faster",
      {time_finding(
          {"`geglu/fused_specialized` is faster than `geglu/fused` at every problem", "geglu"},
          our_side(input, "fused_specialized"), our_side(input, "fused"), is_faster)});
}

Finding loses_somewhere(std::string_view operation, const Side& fused, const Side& unfused) {
  return time_finding(
      {.text = fmt::format("`{0}/{1}` is slower than `{0}/{2}` at some problem of "
                           "{3} rows or fewer",
                           operation, fused.implementation, unfused.implementation, kFewRows),
       .operation = operation,
       .most_rows = kFewRows},
      fused, unfused, is_slower, any_of);
}

Claim small_batches_ours(const ClaimsInput& input) {
  Claim claim = beyond(
      "There are small batches where fusing gelu and mul loses, on the GPU: ours",
      {loses_somewhere("geglu", our_side(input, "fused"), our_side(input, "unfused")),
       loses_somewhere(kMlp, our_side(input, "fused_pointwise"), our_side(input, "unfused"))});
  claim.any_suffices = true;
  return claim;
}

Claim small_batches_peers(const ClaimsInput& input) {
  const Side eager = peer_side(input, "torch_eager");
  Claim claim =
      beyond("There are small batches where fusing gelu and mul loses, on the GPU: PyTorch's",
             {loses_somewhere(kMlp, peer_side(input, "torch_compile"), eager),
              loses_somewhere(kMlp, peer_side(input, "liger"), eager)});
  claim.any_suffices = true;
  return claim;
}

Claim last_rung(const ClaimsInput& input) {
  return beyond("GeGLU in the GEMM's epilogue is a rung above the fused gelu-mul",
                {time_finding({"`geglu_mlp/fused_epilogue` is faster than "
                               "`geglu_mlp/fused_pointwise` at every problem",
                               kMlp},
                              our_side(input, "fused_epilogue"), our_side(input, "fused_pointwise"),
                              is_faster)});
}

std::set<std::string> peer_implementations(const ClaimsInput& input) {
  std::set<std::string> names;
  if (!input.peers) return names;
  for (const baselines::BenchmarkSeries& series : input.peers->run.benchmarks) {
    const auto name = baselines::parse_benchmark_name(series.name);
    if (name && name->operation == kMlp) names.insert(name->implementation);
  }
  return names;
}

Claim faster_than_peers(const ClaimsInput& input) {
  std::vector<Finding> findings;
  for (const std::string& peer : peer_implementations(input)) {
    findings.push_back(
        time_finding({fmt::format("It is faster than `geglu_mlp/{}` at every problem", peer), kMlp},
                     our_side(input, "fused_epilogue"), peer_side(input, peer), is_faster));
  }
  if (findings.empty()) {
    Finding none{"It is faster than each peer at every problem"};
    none.missing = needs(peer_side(input, "..."), kMlp);
    findings.push_back(none);
  }
  return beyond("GeGLU in the GEMM's epilogue is faster than every peer", std::move(findings));
}

// The host's time for a call over the GPU's, at one problem.
Finding launch_bound(std::string question, const Side& side, const MeasuredProblem& problem,
                     Answer (*rule)(const Ratio&, double)) {
  Finding finding{std::move(question)};
  const std::string name = side.benchmark(kMlp, problem.problem);
  const auto host = side.run->host_ns(name);
  const auto gpu = side.run->times_ns(name);
  const auto ratio = ratio_of(host, gpu);
  if (!ratio) {
    finding.missing = fmt::format("`host_ns` of `{}` in {}", name, side.whose);
    return finding;
  }
  finding.answer = rule(*ratio, 1);
  if (finding.answer == Answer::kUnknown) finding.missing = kNeedsTwoProcesses;
  finding.seen = {fmt::format("{}: {} over {}, {}", baselines::problem_text(problem.name),
                              format_time_ns(typical(host)), format_time_ns(typical(gpu)),
                              ratio_text(*ratio))};
  return finding;
}

void add_launch_bound(const Side& side, std::vector<Finding>* findings) {
  const std::string few =
      fmt::format("At the fewest rows a call of `{}/{}` costs the host more time than the GPU",
                  kMlp, side.implementation);
  const std::string many = "At the most rows it costs the GPU more";
  const std::vector<MeasuredProblem> problems = problems_of(side, kMlp);
  if (problems.size() < 2) {
    for (const std::string& question : {few, many}) {
      findings->push_back({question});
      findings->back().missing = needs(side, kMlp) + " at two problems";
    }
    return;
  }
  findings->push_back(launch_bound(few, side, problems.front(), is_above));
  findings->push_back(launch_bound(many, side, problems.back(), is_below));
}

Claim launch_bound_when_small(const ClaimsInput& input) {
  std::vector<Finding> findings;
  add_launch_bound(our_side(input, "unfused"), &findings);
  add_launch_bound(peer_side(input, "torch_eager"), &findings);
  return beyond("With few rows a call is launch-bound, and with many it is not",
                std::move(findings));
}

}  // namespace

std::vector<Claim> claims_beyond(const ClaimsInput& input) {
  return {specialised_ours(input), small_batches_ours(input), small_batches_peers(input),
          last_rung(input),        faster_than_peers(input),  launch_bound_when_small(input)};
}

std::vector<Claim> check_claims(const ClaimsInput& input) {
  std::vector<Claim> all;
  for (const auto& part :
       {claims_of_linear, claims_of_mlp, claims_of_compiled, claims_of_fusion, claims_beyond}) {
    for (Claim& claim : part(input)) all.push_back(std::move(claim));
  }
  return all;
}

}  // namespace fusegate::ci
