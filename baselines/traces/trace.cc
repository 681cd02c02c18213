#include "baselines/traces/trace.h"

#include <algorithm>
#include <utility>

namespace fusegate::baselines {
namespace {

constexpr std::array<std::pair<TraceCategory, std::string_view>, 10> kNames{{
    {TraceCategory::kOperator, "cpu_op"},
    {TraceCategory::kRange, "user_annotation"},
    {TraceCategory::kRuntimeCall, "cuda_runtime"},
    {TraceCategory::kDriverCall, "cuda_driver"},
    {TraceCategory::kKernel, "kernel"},
    {TraceCategory::kMemcpy, "gpu_memcpy"},
    {TraceCategory::kMemset, "gpu_memset"},
    {TraceCategory::kGpuRange, "gpu_user_annotation"},
    {TraceCategory::kPython, "python_function"},
    {TraceCategory::kOverhead, "overhead"},
}};

}  // namespace

std::string_view category_name(TraceCategory category) {
  return std::ranges::find(kNames, category, [](const auto& pair) { return pair.first; })->second;
}

std::optional<TraceCategory> parse_category(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, [](const auto& pair) { return pair.second; });
  if (found == kNames.end()) return std::nullopt;
  return found->first;
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
