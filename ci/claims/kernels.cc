#include "ci/claims/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "baselines/launches/kernel_name_reader.h"
#include "ci/claims/compare.h"
#include "ci/console/format.h"
#include "ci/console/markdown_escape.h"
#include "ci/traces/summary_table.h"

namespace fusegate::ci {
namespace {

constexpr std::size_t kNameWidth = 90;

void show_profile(const baselines::KernelProfile& profile, Finding* finding) {
  for (const baselines::ProfiledKernel& kernel : profile.kernels) {
    const std::string line =
        kernel_line(baselines::read_kernel_name(kernel.name), kernel.duration_ns);
    finding->seen.push_back(kernel.stage.empty() ? line : kernel.stage + ": " + line);
  }
  const auto operations = static_cast<std::size_t>(profile.memory_operations);
  finding->seen.push_back(
      fmt::format("{} of {} launched these, and {}", profile.gaps_ns.size(),
                  format_count(static_cast<std::size_t>(profile.invocations), "profiled call"),
                  format_count(operations, "memory operation")));
}

// bench/peers/record_trace.py calls each step's range as the benchmark is called.
bool is_of_the_reference(const ReadTrace& trace, std::string_view name) {
  const std::size_t dash = name.find('-');
  const std::string benchmark =
      reference_benchmark(name.substr(0, dash), name.substr(std::min(dash + 1, name.size())));
  return std::ranges::any_of(trace.summary.rows, [&](const baselines::TraceRow& row) {
    return row.category == baselines::TraceCategory::kRange && row.name == benchmark;
  });
}

}  // namespace

KernelNames read_kernels(const TraceSteps& steps) {
  KernelNames names;
  for (const StepKernel& kernel : steps.kernels)
    names.push_back(baselines::read_kernel_name(kernel.name));
  return names;
}

KernelNames read_kernels(const baselines::KernelProfile& profile) {
  KernelNames names;
  for (const baselines::ProfiledKernel& kernel : profile.kernels) {
    names.push_back(baselines::read_kernel_name(kernel.name));
  }
  return names;
}

bool is_library_gemm(const baselines::KernelName& kernel) {
  const bool library = kernel.library == "cublas" || kernel.library == "cutlass";
  return library && !kernel.function.starts_with("splitK");
}

KernelNames all_kernels(const KernelNames& kernels) { return kernels; }

KernelNames library_gemms(const KernelNames& kernels) {
  KernelNames gemms;
  std::ranges::copy_if(kernels, std::back_inserter(gemms), is_library_gemm);
  return gemms;
}

KernelNames all_but_gemms(const KernelNames& kernels) {
  KernelNames others;
  std::ranges::remove_copy_if(kernels, std::back_inserter(others), is_library_gemm);
  return others;
}

std::string kernel_line(const baselines::KernelName& kernel, double duration_ns) {
  const std::string read =
      kernel.is_read() ? fmt::format(" ({})", markdown_code(baselines::short_kernel_name(kernel)))
                       : "";
  return fmt::format("{}{}, {}", markdown_code(short_name(kernel.name, kNameWidth)), read,
                     format_time_ns(duration_ns));
}

Finding trace_finding(std::string question, const ClaimsInput& input, std::string_view trace,
                      const std::function<Answer(const ReadTrace&)>& rule) {
  Finding finding{std::move(question)};
  const ReadTrace* read = input.trace(trace);
  if (read == nullptr || read->steps.steps == 0 || !is_of_the_reference(*read, trace)) {
    finding.missing = needs_trace(trace);
    return finding;
  }
  if (!read->steps.alike) {
    finding.seen.push_back("the steps launch different kernels");
    finding.missing = fmt::format("a trace `{}.json` whose steps launch the same", trace);
    return finding;
  }
  finding.answer = rule(*read);
  return finding;
}

Finding trace_kernels_finding(std::string question, const ClaimsInput& input,
                              std::string_view trace,
                              const std::function<bool(const KernelNames&)>& rule) {
  Finding finding = trace_finding(std::move(question), input, trace, [&](const ReadTrace& read) {
    return answer_of(rule(read_kernels(read.steps)));
  });
  if (finding.answer == Answer::kUnknown) return finding;
  for (const StepKernel& kernel : input.trace(trace)->steps.kernels) {
    finding.seen.push_back(
        kernel_line(baselines::read_kernel_name(kernel.name), kernel.duration_ns));
  }
  return finding;
}

Finding same_kernels_finding(std::string question, const ClaimsInput& input, std::string_view trace,
                             std::string_view other, KernelNames (*select)(const KernelNames&)) {
  KernelNames wanted;
  Finding finding = trace_finding(question, input, other, [&](const ReadTrace& read) {
    wanted = select(read_kernels(read.steps));
    return Answer::kYes;
  });
  if (finding.answer == Answer::kUnknown) return finding;
  return trace_kernels_finding(std::move(question), input, trace, [&](const KernelNames& kernels) {
    return !wanted.empty() &&
           std::ranges::equal(select(kernels), wanted, {}, &baselines::KernelName::name,
                              &baselines::KernelName::name);
  });
}

Finding profile_finding(std::string question, const ClaimsInput& input,
                        const std::string& benchmark,
                        const std::function<bool(const KernelNames&)>& rule) {
  Finding finding{std::move(question)};
  std::vector<Answer> answers;
  for (const baselines::RunFile& process : input.ours.processes) {
    const auto result =
        std::ranges::find(process.benchmarks, benchmark, &baselines::BenchmarkResult::name);
    if (result == process.benchmarks.end() || !result->profile) continue;
    answers.push_back(answer_of(rule(read_kernels(*result->profile))));
  }
  finding.answer = all_of(answers);
  if (answers.empty()) {
    finding.missing = fmt::format("a profile of `{}` in our run", benchmark);
    return finding;
  }
  show_profile(*input.ours.find(benchmark)->profile, &finding);
  return finding;
}

}  // namespace fusegate::ci
