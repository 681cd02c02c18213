#include "baselines/record/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace fusegate::baselines {
namespace {

struct DoubtText {
  Doubt doubt;
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array kDoubts{
    DoubtText{Doubt::kNvmlMissing, "nvml_missing",
              "NVML is missing: power limits, other processes and throttling are unknown."},
    DoubtText{Doubt::kClockUnread, "clock_unread",
              "The SM clock of a sample could not be read, so cycles cannot confirm a verdict."},
    DoubtText{Doubt::kThrottled, "throttled",
              "The driver reported a thermal or hardware slowdown during the run."},
    DoubtText{Doubt::kOtherGpuProcess, "other_gpu_process",
              "Another process used the GPU during the run."},
    DoubtText{Doubt::kGpuLost, "gpu_lost",
              "The driver lost the GPU, or it was reset, during the run."},
    DoubtText{Doubt::kXid, "xid", "The driver reported an error of the GPU (Xid) during the run."},
    DoubtText{Doubt::kEccErrors, "ecc_errors",
              "The GPU counted memory errors (ECC) during the run."},
    DoubtText{Doubt::kLimitsChanged, "limits_changed",
              "The GPU's power limit, clocks, ECC, MIG or driver changed during the run."},
    DoubtText{Doubt::kMigSlice, "mig_slice",
              "The device is a slice of a GPU (MIG); other slices share its power and clocks."},
    DoubtText{Doubt::kUnlockedClocks, "unlocked_clocks",
              "Clocks were not locked: they follow load and power, so time alone is not steady."},
    DoubtText{Doubt::kShortBatch, "short_batch",
              "A batch of launches stayed shorter than the protocol asks for."},
    DoubtText{Doubt::kNotCapturable, "not_capturable",
              "A call cannot be captured as a CUDA graph, so its time includes the host's work."},
    DoubtText{Doubt::kUnsteady, "unsteady",
              "Samples within a process spread by more than the protocol allows."},
    DoubtText{Doubt::kDirtyTree, "dirty_tree", "The measured commit had uncommitted changes."},
    DoubtText{
        Doubt::kBusyHost, "busy_host",
        "Other work ran on the samples' core for more than 3 % of their time: the CPU was busy."},
    DoubtText{Doubt::kProfilerMissing, "profiler_missing",
              "CUPTI is missing: what ran on the GPU was not recorded."},
    DoubtText{Doubt::kProfilerRefused, "profiler_refused",
              "CUPTI may not be used on this machine: what ran on the GPU was not recorded."},
    DoubtText{Doubt::kProfilerTaken, "profiler_taken",
              "Another profiler was attached: what ran on the GPU was not recorded."},
    DoubtText{
        Doubt::kProfileFailed, "profile_failed",
        "CUPTI failed or lost records: what ran on the GPU is not known for every benchmark."},
    DoubtText{Doubt::kDebugLibrary, "debug_library",
              "Google Benchmark or fusegate itself was built without optimisation."},
    DoubtText{
        Doubt::kLoadedHost, "loaded_host",
        "The host's load was above its number of CPUs when a process began: other work ran there."},
    DoubtText{Doubt::kMeansOnly, "means_only",
              "The files have means and no samples: a slow sample shifts a process's mean, and the "
              "spread of samples is unknown."},
};

}  // namespace

std::string_view doubt_name(Doubt doubt) {
  return std::ranges::find(kDoubts, doubt, &DoubtText::doubt)->name;
}

std::optional<Doubt> parse_doubt(std::string_view name) {
  const auto* found = std::ranges::find(kDoubts, name, &DoubtText::name);
  if (found == kDoubts.end()) return std::nullopt;
  return found->doubt;
}

std::string_view doubt_sentence(Doubt doubt) {
  return std::ranges::find(kDoubts, doubt, &DoubtText::doubt)->sentence;
}

std::vector<Doubt> read_doubts(const JsonField& names) {
  std::vector<Doubt> result;
  for (const JsonField& element : names.elements()) {
    const auto doubt = parse_doubt(element.text());
    if (!doubt)
      element.fail(
          fmt::format("unknown doubt \"{}\"; update fusegate if a newer version wrote the file",
                      element.text()));
    add_doubts(result, {*doubt});
  }
  return result;
}

void add_doubts(std::vector<Doubt>& doubts, const std::vector<Doubt>& more) {
  for (const Doubt doubt : more) {
    if (std::ranges::find(doubts, doubt) == doubts.end()) doubts.push_back(doubt);
  }
}

void add_doubt_names(nlohmann::json& names, const std::vector<Doubt>& more) {
  std::set<std::string> all;
  if (!names.is_null()) names.get_to(all);
  for (const Doubt doubt : more) all.emplace(doubt_name(doubt));
  names = all;
}

}  // namespace fusegate::baselines
