#include "ci/report/story_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "baselines/launches/kernel_name_reader.h"
#include "ci/console/format.h"

namespace fusegate::ci {
namespace {

using baselines::BeforeAfter;
using baselines::KernelPair;
using baselines::KernelStory;
using baselines::ProfiledKernel;
using baselines::StoryKind;
using baselines::VerdictKind;

std::string short_name(const ProfiledKernel& kernel) {
  return short_kernel_name(baselines::read_kernel_name(kernel.name));
}

// " in gelu"; nothing outside of any stage.
std::string in_stage(const std::string& stage) { return stage.empty() ? "" : " in " + stage; }

// "1 kernel more (a in gelu)" of those that one side has alone.
std::string alone(const KernelStory& story, bool added) {
  std::vector<std::string> names;
  for (const KernelPair& pair : story.pairs) {
    if (!pair.is_alone() || pair.after.has_value() != added) continue;
    const ProfiledKernel& kernel = added ? *pair.after : *pair.before;
    names.push_back(short_name(kernel) + in_stage(kernel.stage));
  }
  if (names.empty()) return "";
  return fmt::format("{} {} ({})", format_count(names.size(), "kernel"), added ? "more" : "fewer",
                     fmt::join(names, "; "));
}

std::string memory_operations(const KernelStory& story) {
  const auto& [before, after] = story.memory_operations;
  if (before == after) return "";
  const auto count = static_cast<std::size_t>(std::abs(after - before));
  return fmt::format("{} {} ({} -> {})", format_count(count, "memory operation"),
                     after > before ? "more" : "fewer", format_launches(before),
                     format_launches(after));
}

std::string other_kernels(const KernelStory& story) {
  std::vector<std::string> texts;
  for (const KernelPair& pair : story.pairs) {
    if (!pair.is_other()) continue;
    texts.push_back(fmt::format("another kernel{}: {}", in_stage(pair.after->stage),
                                fmt::join(pair.differences, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string launches(const KernelStory& story) {
  std::vector<std::string> texts;
  for (const std::string& text :
       {other_kernels(story), alone(story, true), alone(story, false), memory_operations(story)}) {
    if (!text.empty()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Kernels that are launched early run beside the one before, which is no host's doing.
bool overlap_moved(const KernelStory& story) {
  return story.gaps_moved && !story.leads_moved && story.gaps_ns.before <= 0 &&
         story.gaps_ns.after <= 0;
}

std::string gaps(const KernelStory& story) {
  if (overlap_moved(story)) {
    return fmt::format(
        "the same kernels overlap by {} instead of {}: each lets the next one start at another "
        "time",
        format_time_ns(-story.gaps_ns.after), format_time_ns(-story.gaps_ns.before));
  }
  std::vector<std::string> texts;
  const auto add = [&](const BeforeAfter& time_ns, std::string_view what) {
    texts.push_back(fmt::format("{} {} {} ({} -> {})", format_time_ns(std::abs(time_ns.change())),
                                time_ns.change() > 0 ? "more" : "less", what,
                                format_time_ns(time_ns.before), format_time_ns(time_ns.after)));
  };
  if (story.gaps_moved) add(story.gaps_ns, "between them");
  if (story.leads_moved) add(story.leads_ns, "before the first");
  std::string text = "the same kernels";
  if (!texts.empty()) text += fmt::format(" with {}", fmt::join(texts, " and "));
  text += ": the host";
  if (!story.host_moved) return text;
  return text + fmt::format(" takes {} to launch them where it took {}",
                            format_time_ns(story.host_ns.after),
                            format_time_ns(story.host_ns.before));
}

// The kernel that changed most the verdict's way, and its share of all that did.
std::string same_kernels(const KernelStory& story, double direction) {
  const auto way = [direction](const KernelPair& pair) {
    return pair.is_alone() || pair.is_other() ? 0 : std::max(0.0, direction * pair.change_ns());
  };
  double sum = 0;
  for (const KernelPair& pair : story.pairs) sum += way(pair);
  const KernelPair& most = *std::ranges::max_element(story.pairs, {}, way);
  std::string text = fmt::format(
      "the same kernel, {}: {}{} took {} and takes {}, {}", direction > 0 ? "slower" : "faster",
      short_name(*most.after), in_stage(most.after->stage),
      format_time_ns(most.before->duration_ns), format_time_ns(most.after->duration_ns),
      format_effect(most.after->duration_ns / most.before->duration_ns - 1));
  if (story.pairs.size() == 1) return text;
  return text + fmt::format(", {} of what all kernels {}", format_share(way(most) / sum),
                            direction > 0 ? "grew by" : "shrank by");
}

std::string clock(const KernelStory& story) {
  return fmt::format("another clock: {} in time, {} at equal clock",
                     format_effect(story.effect_time), format_effect(story.effect));
}

std::string untold(const KernelStory& story) {
  double change_ns = 0;
  for (const KernelPair& pair : story.pairs) change_ns += pair.change_ns();
  return fmt::format(
      "the same kernels, and the profiled calls do not show where the time went: {} there, {} as "
      "timed",
      format_time_change_ns(change_ns), format_time_change_ns(story.time_ns.change()));
}

std::string cause(const KernelStory& story) {
  switch (story.kind) {
    case StoryKind::kNothing:
      return "";
    case StoryKind::kLaunches:
    case StoryKind::kOtherKernel:
      return launches(story);
    case StoryKind::kGaps:
      return gaps(story);
    case StoryKind::kSameKernels:
      return same_kernels(story, story.verdict == VerdictKind::kRegression ? 1 : -1);
    case StoryKind::kClock:
      return (story.has_profiles ? "the same kernels at " : "") + clock(story);
    case StoryKind::kUntold:
      return untold(story);
    case StoryKind::kNoProfile:
      return "a side has no profile, so what it launched is not known";
  }
  return "";
}

// "; its work differs: another argument: void k(...), and 2 more"
std::string work_differences(const KernelStory& story) {
  if (story.work_differences.empty()) return "";
  std::string text = "; its work differs: " + story.work_differences.front();
  const std::size_t more = story.work_differences.size() - 1;
  return more == 0 ? text : text + fmt::format(", and {} more", more);
}

}  // namespace

std::string story_text(const KernelStory& story) {
  std::string text = cause(story);
  if (text.empty()) return text;
  const std::string launched = story.has_profiles ? launches(story) : "";
  const bool is_told = story.kind == StoryKind::kLaunches || story.kind == StoryKind::kOtherKernel;
  if (!launched.empty() && !is_told) text += "; also " + launched;
  text += work_differences(story);
  if (story.verdict == VerdictKind::kUnchanged) text += "; time is unchanged";
  return text;
}

}  // namespace fusegate::ci
