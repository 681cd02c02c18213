#include "ci/gate/kernel_diff_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "baselines/launches/kernel_name.h"
#include "ci/console/format.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

using baselines::BeforeAfter;
using baselines::KernelCause;
using baselines::KernelDiff;
using baselines::KernelPair;
using baselines::LaunchChange;
using baselines::LaunchFact;
using baselines::ProfiledKernel;
using baselines::VerdictKind;

// Of differences of work that are named one by one.
constexpr std::size_t kMostWorkTexts = 2;

std::string kernel_text(const std::string& kernel) {
  return short_kernel_name(baselines::read_kernel_name(kernel));
}

// " in gelu"; nothing outside of any stage.
std::string in_stage(const std::string& stage) { return stage.empty() ? "" : " in " + stage; }

// "1 kernel more (a in gelu)" of those that one side has alone.
std::string alone(const KernelDiff& diff, bool added) {
  std::vector<std::string> names;
  for (const KernelPair& pair : diff.pairs) {
    if (!pair.is_alone() || pair.after.has_value() != added) continue;
    const ProfiledKernel& kernel = added ? *pair.after : *pair.before;
    names.push_back(short_name(kernel) + in_stage(kernel.stage));
  }
  if (names.empty()) return "";
  return fmt::format("{} {} ({})", format_count(names.size(), "kernel"), added ? "more" : "fewer",
                     fmt::join(names, "; "));
}

std::string memory_operations(const KernelDiff& diff) {
  const auto& [before, after] = diff.memory_operations;
  if (before == after) return "";
  const auto count = static_cast<std::size_t>(std::abs(after - before));
  return fmt::format("{} {} ({} -> {})", format_count(count, "memory operation"),
                     after > before ? "more" : "fewer", format_launches(before),
                     format_launches(after));
}

// "10,240" of "10240"; as it is where it is no number.
std::string grouped(const std::string& number) {
  if (number.find_first_not_of("0123456789") != std::string::npos) return number;
  std::string text;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (i > 0 && (number.size() - i) % 3 == 0) text += ',';
    text += number[i];
  }
  return text;
}

// "registers 166 -> 120"
std::string fact_text(const LaunchFact& fact) {
  const std::string unit = fact.unit.empty() ? "" : " " + fact.unit;
  return fmt::format("{} {} -> {}{}", fact.what, grouped(fact.before), grouped(fact.after), unit);
}

std::vector<std::string> fact_texts(const std::vector<LaunchFact>& facts,
                                    std::vector<std::string> after = {}) {
  std::ranges::transform(facts, std::back_inserter(after), fact_text);
  return after;
}

// "168 registers, 10,240 B dynamic shared memory and 1,204 instructions as before"
std::string unchanged_text(const LaunchChange& change) {
  std::vector<std::string> texts;
  for (const LaunchFact& fact : baselines::kept_facts(*change.before, *change.after)) {
    const std::string unit = fact.unit.empty() ? "" : fact.unit + " ";
    texts.push_back(fmt::format("{} {}{}", grouped(fact.after), unit, fact.what));
  }
  return texts.empty() ? "" : fmt::format("{} as before", fmt::join(texts, ", "));
}

std::string what_changed(const LaunchChange& change) {
  std::vector<std::string_view> parts;
  if (change.code_changed()) parts.emplace_back("machine code");
  if (!change.code_changed() && !change.facts.empty()) parts.emplace_back("launch");
  if (change.arguments_changed()) parts.emplace_back("arguments");
  return fmt::format("{}", fmt::join(parts, " and "));
}

// 0: what can have changed a time most.
int rank(const LaunchChange& change) {
  if (change.is_alone() || change.code_changed()) return 0;
  return change.facts.empty() ? 2 : 1;
}

// Of the launch whose kernel that is.
bool is_of(const LaunchChange& change, const ProfiledKernel& kernel) {
  return change.after && change.after->kernel == kernel.name &&
         (change.stage.empty() || change.stage == kernel.stage);
}

std::string other_kernels(const KernelDiff& diff) {
  std::vector<std::string> texts;
  for (const KernelPair& pair : diff.pairs) {
    if (!pair.is_other()) continue;
    const auto change = std::ranges::find_if(diff.work_changes, [&](const LaunchChange& change) {
      return change.is_other() && is_of(change, *pair.after);
    });
    const auto differences = change == diff.work_changes.end()
                                 ? pair.differences
                                 : fact_texts(change->facts, pair.differences);
    texts.push_back(fmt::format("different kernel{}: {}", in_stage(pair.after->stage),
                                fmt::join(differences, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string launches(const KernelDiff& diff) {
  std::vector<std::string> texts{other_kernels(diff), alone(diff, true), alone(diff, false),
                                 memory_operations(diff)};
  std::erase(texts, "");
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Kernels that are launched early run beside the one before, which is no host's doing.
bool overlap_moved(const KernelDiff& diff) {
  return diff.gaps_moved && !diff.leads_moved && diff.gaps_ns.before <= 0 &&
         diff.gaps_ns.after <= 0;
}

std::string gaps(const KernelDiff& diff) {
  if (overlap_moved(diff)) {
    return fmt::format(
        "the same kernels overlap by {} instead of {}: each lets the next one start at a different "
        "time",
        format_time_ns(-diff.gaps_ns.after), format_time_ns(-diff.gaps_ns.before));
  }
  std::vector<std::string> texts;
  const auto add = [&](const BeforeAfter& time_ns, std::string_view what) {
    texts.push_back(fmt::format("{} {} {} ({} -> {})", format_time_ns(std::abs(time_ns.change())),
                                time_ns.change() > 0 ? "more" : "less", what,
                                format_time_ns(time_ns.before), format_time_ns(time_ns.after)));
  };
  if (diff.gaps_moved) add(diff.gaps_ns, "between them");
  if (diff.leads_moved) add(diff.leads_ns, "before the first");
  std::string text = "the same kernels";
  if (!texts.empty()) text += fmt::format(" with {}", fmt::join(texts, " and "));
  if (!diff.host_moved) {
    const bool later = diff.gaps_ns.change() + diff.leads_ns.change() > 0;
    return text + fmt::format(": the host launches them {}", later ? "later" : "earlier");
  }
  return text + fmt::format(": the host takes {} to launch them instead of {}",
                            format_time_ns(diff.host_ns.after),
                            format_time_ns(diff.host_ns.before));
}

// Of the kernel that changed most: its name, unless what was said before is of this one alone.
std::string subject(const KernelDiff& diff, const ProfiledKernel& kernel, double direction) {
  const auto is_said = [&](const LaunchChange& change) { return is_of(change, kernel); };
  const bool is_changed = std::ranges::any_of(diff.work_changes, is_said);
  if (is_changed && diff.work_changes.size() == 1 && !diff.order_changed) return "it";
  return fmt::format("{}{}: {}{}", is_changed ? "" : "the same kernel, ",
                     direction > 0 ? "slower" : "faster", short_name(kernel),
                     in_stage(kernel.stage));
}

// The kernel that changed most the verdict's way, and its share of all that did.
std::string same_kernels(const KernelDiff& diff, double direction) {
  const auto way = [direction](const KernelPair& pair) {
    return pair.is_alone() || pair.is_other() ? 0 : std::max(0.0, direction * pair.change_ns());
  };
  double sum = 0;
  for (const KernelPair& pair : diff.pairs) sum += way(pair);
  const KernelPair& most = *std::ranges::max_element(diff.pairs, {}, way);
  std::string text =
      fmt::format("{} took {} and takes {}, {}", subject(diff, *most.after, direction),
                  format_time_ns(most.before->duration_ns), format_time_ns(most.after->duration_ns),
                  format_effect(most.after->duration_ns / most.before->duration_ns - 1));
  if (diff.pairs.size() == 1) return text;
  return text + fmt::format(", {} of what all kernels {}", format_share(way(most) / sum),
                            direction > 0 ? "grew by" : "shrank by");
}

std::string clock(const KernelDiff& diff) {
  const auto [where, effect] = without_clock(diff.estimates);
  return fmt::format("a different clock: {} in time, {} {}", format_effect(diff.estimates.in_time),
                     format_effect(effect), where);
}

std::string not_shown(const KernelDiff& diff) {
  double change_ns = 0;
  for (const KernelPair& pair : diff.pairs) change_ns += pair.change_ns();
  return fmt::format("the profiled calls do not show the change: {} in them, {} as timed",
                     format_time_change_ns(change_ns),
                     format_time_change_ns(diff.time_ns.change()));
}

std::string cause(const KernelDiff& diff) {
  switch (diff.kind) {
    case KernelCause::kNothing:
      return "";
    case KernelCause::kLaunches:
    case KernelCause::kOtherKernel:
      return launches(diff);
    case KernelCause::kGaps:
      return gaps(diff);
    case KernelCause::kSameKernels:
      return same_kernels(diff, diff.verdict == VerdictKind::kRegression ? 1 : -1);
    case KernelCause::kClock:
      return (diff.has_profiles && !diff.work_changed() ? "the same kernels at " : "") +
             clock(diff);
    case KernelCause::kOtherWork:
      return diff.has_profiles ? not_shown(diff) : "a side has no profile to show its time";
    case KernelCause::kUnexplained:
      return fmt::format(
          "the same kernels, and {}{}{}", not_shown(diff),
          diff.work_unknown.empty() ? "" : "; whether their machine code changed is unknown: ",
          diff.work_unknown);
    case KernelCause::kNoProfile:
      return "a side has no profile, so what it launched is unknown";
  }
  return "";
}

// Whether the profile's kernels say that the launch is there, gone or another kernel.
bool is_in_profile(const KernelDiff& diff, const LaunchChange& change) {
  return diff.launches_changed() && (change.is_alone() || change.is_other());
}

std::string joined(const std::vector<std::string>& texts) {
  const std::span shown = std::span(texts).first(std::min(texts.size(), kMostWorkTexts));
  const std::size_t more = texts.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, "; "),
                     more == 0 ? "" : fmt::format("; {} more changed", more));
}

// "gelu_mul: machine code of few_rows_kernel changed: block 128 -> 256 threads, registers 166 ->
// 120".
std::string launch_change_text(const LaunchChange& change) {
  const std::string stage = change.stage.empty() ? "" : change.stage + ": ";
  const std::string name = kernel_text(change.launch().kernel);
  if (change.is_alone()) {
    return fmt::format("{}{} {}", stage, name, change.after ? "added" : "removed");
  }
  if (change.is_other()) {
    return fmt::format("{}different kernel: {}", stage,
                       fmt::join(fact_texts(change.facts, change.name_differences), ", "));
  }
  const std::string facts = change.facts.empty() && change.code_changed()
                                ? unchanged_text(change)
                                : fmt::format("{}", fmt::join(fact_texts(change.facts), ", "));
  return fmt::format("{}{} of {} changed{}{}", stage, what_changed(change), name,
                     facts.empty() ? "" : ": ", facts);
}

std::vector<std::string> work_texts(const KernelDiff& diff, bool with_profiled) {
  std::vector<LaunchChange> changes = diff.work_changes;
  if (!with_profiled) {
    std::erase_if(changes, [&](const LaunchChange& one) { return is_in_profile(diff, one); });
  }
  std::ranges::stable_sort(changes, {}, rank);
  std::vector<std::string> texts;
  std::ranges::transform(changes, std::back_inserter(texts), launch_change_text);
  if (diff.order_changed) texts.emplace_back("the launches depend on each other differently");
  return texts;
}

}  // namespace

std::string short_name(const ProfiledKernel& kernel) { return kernel_text(kernel.name); }

std::vector<std::string> work_texts(const KernelDiff& diff) { return work_texts(diff, true); }

std::string work_text(const KernelDiff& diff) { return joined(work_texts(diff)); }

std::string kernel_diff_text(const KernelDiff& diff) {
  const std::string found = cause(diff);
  if (found.empty()) return found;
  const std::string work = joined(work_texts(diff, false));
  const bool is_launches =
      diff.kind == KernelCause::kLaunches || diff.kind == KernelCause::kOtherKernel;
  std::vector<std::string> texts{is_launches ? found : work, is_launches ? work : found};
  const std::string launched = diff.has_profiles && !is_launches ? launches(diff) : "";
  if (!launched.empty()) texts.push_back("also " + launched);
  if (diff.verdict == VerdictKind::kUnchanged) texts.emplace_back("time is unchanged");
  std::erase(texts, "");
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace fusegate::ci
