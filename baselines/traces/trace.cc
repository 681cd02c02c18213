#include "baselines/traces/trace.h"

#include <algorithm>
#include <utility>

namespace fusegate::baselines {
namespace {

// In the enum's order.
constexpr std::array<std::string_view, 10> kNames{
    "cpu_op",     "user_annotation", "cuda_runtime",        "cuda_driver",     "kernel",
    "gpu_memcpy", "gpu_memset",      "gpu_user_annotation", "python_function", "overhead"};

// Kineto's as PyTorch 1.8 to 1.11 wrote them.
constexpr std::array<std::pair<std::string_view, TraceCategory>, 6> kFormerNames{
    {{"Operator", TraceCategory::kOperator},
     {"Runtime", TraceCategory::kRuntimeCall},
     {"Kernel", TraceCategory::kKernel},
     {"Memcpy", TraceCategory::kMemcpy},
     {"Memset", TraceCategory::kMemset},
     {"PythonFunction", TraceCategory::kPython}}};

}  // namespace

std::string_view category_name(TraceCategory category) {
  return kNames.at(static_cast<std::size_t>(category));
}

std::optional<TraceCategory> parse_category(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<TraceCategory>(found - kNames.begin());
  for (const auto& [former, category] : kFormerNames) {
    if (former == name) return category;
  }
  return std::nullopt;
}

bool is_gpu_work(TraceCategory category) {
  return category == TraceCategory::kKernel || category == TraceCategory::kMemcpy ||
         category == TraceCategory::kMemset;
}

bool is_call(TraceCategory category) {
  return category == TraceCategory::kRuntimeCall || category == TraceCategory::kDriverCall;
}

std::size_t Trace::add_track(TraceTrack track) {
  const auto found = std::ranges::find_if(tracks, [&](const TraceTrack& known) {
    return known.process == track.process && known.thread == track.thread;
  });
  const auto index = static_cast<std::size_t>(found - tracks.begin());
  if (found == tracks.end()) tracks.push_back(std::move(track));
  return index;
}

}  // namespace fusegate::baselines
