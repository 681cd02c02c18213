#include "baselines/record/warning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace fusegate::baselines {
namespace {

struct WarningText {
  Warning warning;
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array kWarnings{
    WarningText{Warning::kNvmlMissing, "nvml_missing",
                "NVML is missing: power limits, other processes and throttling are unknown."},
    WarningText{Warning::kClockUnread, "clock_unread",
                "The SM clock of a sample could not be read, so cycles cannot confirm a verdict."},
    WarningText{Warning::kThrottled, "throttled",
                "The driver reported a thermal or hardware slowdown during the run."},
    WarningText{Warning::kOtherGpuProcess, "other_gpu_process",
                "Another process used the GPU during the run."},
    WarningText{Warning::kGpuLost, "gpu_lost",
                "The driver lost the GPU, or it was reset, during the run."},
    WarningText{Warning::kXid, "xid",
                "The driver reported an error of the GPU (Xid) during the run."},
    WarningText{Warning::kEccErrors, "ecc_errors",
                "The GPU counted memory errors (ECC) during the run."},
    WarningText{Warning::kLimitsChanged, "limits_changed",
                "The GPU's power limit, clocks, ECC, MIG or driver changed during the run."},
    WarningText{Warning::kMigSlice, "mig_slice",
                "The device is a slice of a GPU (MIG); other slices share its power and clocks."},
    WarningText{Warning::kUnlockedClocks, "unlocked_clocks",
                "Clocks were not locked: they follow load and power, so time alone is not steady."},
    WarningText{Warning::kShortBatch, "short_batch",
                "A batch of launches stayed shorter than the protocol asks for."},
    WarningText{Warning::kNotCapturable, "not_capturable",
                "A call cannot be captured as a CUDA graph, so its time includes the host's work."},
    WarningText{Warning::kUnsteady, "unsteady",
                "Samples within a process spread by more than the protocol allows."},
    WarningText{Warning::kDirtyTree, "dirty_tree", "The measured commit had uncommitted changes."},
    WarningText{
        Warning::kBusyHost, "busy_host",
        "Other work ran on the samples' core for more than 3 % of their time: the CPU was busy."},
    WarningText{Warning::kProfilerMissing, "profiler_missing",
                "CUPTI is missing: what ran on the GPU was not recorded."},
    WarningText{Warning::kProfilerRefused, "profiler_refused",
                "CUPTI may not be used on this machine: what ran on the GPU was not recorded."},
    WarningText{Warning::kProfilerTaken, "profiler_taken",
                "Another profiler was attached: what ran on the GPU was not recorded."},
    WarningText{
        Warning::kProfileFailed, "profile_failed",
        "CUPTI failed or lost records: what ran on the GPU is not known for every benchmark."},
    WarningText{Warning::kDebugLibrary, "debug_library",
                "Google Benchmark or fusegate itself was built without optimisation."},
    WarningText{
        Warning::kLoadedHost, "loaded_host",
        "The host's load was above its number of CPUs when a process began: other work ran there."},
    WarningText{
        Warning::kMixedChoices, "mixed_choices",
        "Processes of the run chose different kernels, so their times spread by what these take."},
    WarningText{
        Warning::kMeansOnly, "means_only",
        "The files have means and no samples: a slow sample shifts a process's mean, and the "
        "spread of samples is unknown."},
};

}  // namespace

std::string_view warning_name(Warning warning) {
  return std::ranges::find(kWarnings, warning, &WarningText::warning)->name;
}

std::optional<Warning> parse_warning(std::string_view name) {
  const auto* found = std::ranges::find(kWarnings, name, &WarningText::name);
  if (found == kWarnings.end()) return std::nullopt;
  return found->warning;
}

std::string_view warning_sentence(Warning warning) {
  return std::ranges::find(kWarnings, warning, &WarningText::warning)->sentence;
}

std::vector<Warning> read_warnings(const JsonField& owner) {
  const auto current = owner.find("warnings");
  const auto names = current ? current : owner.find("doubts");
  std::vector<Warning> result;
  if (!names) return result;
  for (const JsonField& element : names->elements()) {
    const auto warning = parse_warning(element.text());
    if (!warning) {
      element.fail(
          fmt::format("unknown warning \"{}\"; update fusegate if a newer version wrote the file",
                      element.text()));
    }
    add_warnings(result, {*warning});
  }
  return result;
}

void add_warnings(std::vector<Warning>& warnings, const std::vector<Warning>& more) {
  for (const Warning warning : more) {
    if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
  }
}

void add_warning_names(nlohmann::json& names, const std::vector<Warning>& more) {
  std::set<std::string> all;
  if (!names.is_null()) names.get_to(all);
  for (const Warning warning : more) all.emplace(warning_name(warning));
  names = all;
}

}  // namespace fusegate::baselines
