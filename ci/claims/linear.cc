#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ci/claims/claims.h"
#include "ci/claims/compare.h"
#include "ci/claims/kernels.h"
#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"

namespace fusegate::ci {
namespace {

constexpr std::string_view kEager = "linear-torch_eager";
constexpr std::string_view kCompiled = "linear-torch_compile";
constexpr std::string_view kPublishedKernel =
    "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8";
constexpr std::array<std::string_view, 6> kViews{"aten::t",          "aten::transpose",
                                                 "aten::as_strided", "aten::view",
                                                 "aten::reshape",    "aten::_unsafe_view"};

bool is_one_gemm(const KernelNames& kernels) {
  return kernels.size() == 1 && is_library_gemm(kernels.front());
}

bool reads_transposed(const KernelNames& kernels) {
  return is_one_gemm(kernels) && kernels.front().layout == "tn";
}

Finding no_add(const ClaimsInput& input) {
  return trace_finding("PyTorch's trace has no `aten::add`", input, kEager,
                       [](const ReadTrace& trace) {
                         return answer_of(find_operator(trace.summary, "aten::add") == nullptr &&
                                          find_operator(trace.summary, "aten::add_") == nullptr);
                       });
}

// What the epilogue saves over a kernel of its own; decides nothing.
Finding epilogue_saves(const ClaimsInput& input) {
  Finding finding = time_finding(
      {"`linear/addmm` takes less than `linear/matmul_add`, whose bias is a kernel of its own",
       "linear"},
      our_side(input, "addmm"), our_side(input, "matmul_add"), is_faster);
  finding.answer.reset();
  finding.missing.clear();
  return finding;
}

Claim one_kernel(const ClaimsInput& input) {
  Claim claim;
  claim.statement = "A Linear with bias is one kernel: the bias is added in the GEMM's epilogue";
  claim.published = fmt::format("one kernel, `{}` at 1024 x 32 -> 64", kPublishedKernel);
  claim.findings = {
      trace_kernels_finding("Every step of PyTorch's trace launches one kernel, a library's GEMM",
                            input, kEager, is_one_gemm),
      no_add(input),
      profile_finding("Every profiled call of our `linear/addmm` launches one kernel, a library's "
                      "GEMM",
                      input, reference_benchmark("linear", "addmm"), is_one_gemm),
      epilogue_saves(input)};
  return claim;
}

Finding views_launch_nothing(const ClaimsInput& input, std::string_view trace) {
  std::vector<std::string> seen;
  const std::string question = fmt::format(
      "In the trace `{}.json` `aten::t` and all other views of tensors have no GPU work", trace);
  Finding finding = trace_finding(question, input, trace, [&](const ReadTrace& read) {
    std::vector<Answer> answers;
    for (const std::string_view view : kViews) {
      const baselines::TraceRow* row = find_operator(read.summary, view);
      if (row == nullptr) continue;
      answers.push_back(answer_of(row->cuda_ns == 0));
      const double cpu_ns = static_cast<double>(row->cpu_ns) / static_cast<double>(row->calls);
      seen.push_back(fmt::format("`{}`: {}, {} of the host's time each, {} of the GPU's", view,
                                 format_count(row->calls, "call"), format_time_ns(cpu_ns),
                                 format_time_ns(static_cast<double>(row->cuda_ns))));
    }
    return find_operator(read.summary, "aten::t") == nullptr ? Answer::kUnknown : all_of(answers);
  });
  finding.seen.insert(finding.seen.end(), seen.begin(), seen.end());
  if (finding.answer == Answer::kUnknown && finding.missing.empty()) {
    finding.missing = fmt::format("`aten::t` in the trace `{}.json`", trace);
  }
  return finding;
}

Claim transpose_launches_nothing(const ClaimsInput& input) {
  Claim claim;
  claim.statement = "The weight's transpose launches nothing: it only rewrites shape and strides";
  claim.published = "0.000 us of CUDA time for `aten::t` and the other views";
  claim.findings = {views_launch_nothing(input, kEager),
                    views_launch_nothing(input, "geglu_mlp-torch_eager")};
  return claim;
}

Claim transpose_is_in_the_name(const ClaimsInput& input) {
  Claim claim;
  claim.statement = "The GEMM reads the weight transposed, and its name says so: layout `tn`";
  claim.published = fmt::format("`{}`", kPublishedKernel);
  claim.findings = {
      trace_kernels_finding("The one kernel of PyTorch's trace has layout tn by its name", input,
                            kEager, reads_transposed),
      profile_finding("So has the one of our `linear/addmm`", input,
                      reference_benchmark("linear", "addmm"), reads_transposed)};
  return claim;
}

Answer is_no_gain(const TimeRatio& ratio) {
  switch (is_faster(ratio)) {
    case Answer::kYes:
      return Answer::kNo;
    case Answer::kNo:
      return Answer::kYes;
    case Answer::kUnknown:
      break;
  }
  return Answer::kUnknown;
}

Claim compile_does_not_help(const ClaimsInput& input) {
  Claim claim;
  claim.statement = "`torch.compile` does not help a single Linear on the GPU";
  claim.published = "the same kernel, eager and compiled; its time is not published";
  claim.findings = {
      same_kernels_finding("The compiled trace launches the very kernels of the eager one", input,
                           kCompiled, kEager, all_kernels),
      time_finding({"`linear/torch_compile` is not faster than `linear/torch_eager`", "linear"},
                   peer_side(input, "torch_compile"), peer_side(input, "torch_eager"), is_no_gain)};
  return claim;
}

Finding rows_of_its_own(const ClaimsInput& input) {
  std::vector<std::string> seen;
  Finding finding = trace_finding(
      "It has operators that the eager one has not", input, kCompiled, [&](const ReadTrace& read) {
        const ReadTrace* eager = input.trace(kEager);
        if (eager == nullptr) return Answer::kUnknown;
        for (const baselines::TraceRow& row : read.summary.rows) {
          const bool own = row.category == baselines::TraceCategory::kOperator &&
                           find_operator(eager->summary, row.name) == nullptr;
          if (own) seen.push_back(markdown_code(row.name));
        }
        return answer_of(!seen.empty());
      });
  finding.seen.insert(finding.seen.end(), seen.begin(), seen.end());
  if (finding.answer == Answer::kUnknown && finding.missing.empty()) {
    finding.missing = needs_trace(kEager);
  }
  return finding;
}

Claim compile_removes_the_view(const ClaimsInput& input) {
  Claim claim;
  claim.statement =
      "Compiling takes the dispatch of `aten::t` off the host, and adds rows of its own";
  claim.published = "shown in its traces; no figure";
  claim.findings = {
      trace_finding("The compiled trace has no `aten::t`", input, kCompiled,
                    [](const ReadTrace& read) {
                      return answer_of(find_operator(read.summary, "aten::t") == nullptr);
                    }),
      rows_of_its_own(input)};
  return claim;
}

Claim compile_costs_host_time(const ClaimsInput& input) {
  const Side compiled = peer_side(input, "torch_compile");
  const Side eager = peer_side(input, "torch_eager");
  Claim claim;
  claim.statement =
      "For a single Linear `torch.compile` costs host time, by its guards and prologue";
  claim.published = "no figure: the series shows rows added and a few microseconds of views gone";
  claim.findings = {over_problems(
      {"The host's time for a call is longer compiled than eager", "linear"}, compiled, eager,
      all_of, [&](const MeasuredProblem& problem) {
        const auto above = compiled.run->host_ns(compiled.benchmark("linear", problem.problem));
        const auto below = eager.run->host_ns(eager.benchmark("linear", problem.problem));
        const auto ratio = ratio_of(above, below);
        if (!ratio)
          return Judged{Answer::kUnknown, baselines::problem_text(problem.name) + ": not recorded"};
        return Judged{is_above(*ratio, 1),
                      fmt::format("{}: {} over {}, {}", baselines::problem_text(problem.name),
                                  format_time_ns(typical(above)), format_time_ns(typical(below)),
                                  ratio_text(*ratio))};
      })};
  return claim;
}

}  // namespace

std::vector<Claim> claims_of_linear(const ClaimsInput& input) {
  return {one_kernel(input),
          transpose_launches_nothing(input),
          transpose_is_in_the_name(input),
          compile_does_not_help(input),
          compile_removes_the_view(input),
          compile_costs_host_time(input)};
}

}  // namespace fusegate::ci
