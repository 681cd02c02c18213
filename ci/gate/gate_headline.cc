#include "ci/gate/gate_headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "baselines/io/instant.h"
#include "baselines/io/message_names.h"
#include "ci/console/format.h"
#include "ci/gate/kernel_diff_text.h"

namespace fusegate::ci {
namespace {

using baselines::EnvironmentDifference;
using baselines::GateCause;
using baselines::HostChange;
using baselines::HostObstacle;
using baselines::HostVerdict;
using baselines::Verdict;
using baselines::VerdictKind;

// "; 2 inconclusive, 1 missing.", or a full stop alone. except: what was said already.
std::string others_text(const std::vector<Verdict>& verdicts,
                        VerdictKind except = VerdictKind::kUnchanged) {
  std::string text;
  for (const VerdictKind kind :
       {VerdictKind::kImprovement, VerdictKind::kIdentical, VerdictKind::kInconclusive,
        VerdictKind::kNew, VerdictKind::kMissing, VerdictKind::kInvalid}) {
    const std::size_t n = kind == except ? 0 : count_of(verdicts, kind);
    if (n == 0) continue;
    text += (text.empty() ? "; " : ", ") + count_text(n, kind);
  }
  if (const std::size_t n = accepted_count(verdicts); n > 0) {
    text += fmt::format("{}{} accepted", text.empty() ? "; " : ", ", n);
  }
  return text + ".";
}

std::string all_text(const GateFacts& facts) {
  return format_count(facts.result.verdicts.size(), "benchmark");
}

// "the most a by 5.00 %"
std::string most_text(const Verdict& most) {
  return fmt::format("the most {} by {}", most.benchmark, format_magnitude(most.estimates.effect));
}

// Round figures, as people say them.
constexpr std::array kRoundSlowdowns{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};

// The largest where none is as large.
double rounded_up(double slowdown) {
  const auto found = std::ranges::lower_bound(kRoundSlowdowns, slowdown);
  return found == kRoundSlowdowns.end() ? kRoundSlowdowns.back() : *found;
}

// "; slowdowns above 1 % are ruled out in 97, above 2 % in all", of what was decided by its times:
// in nine tenths of it at least, and in all. All: that a change can have slowed, decided or not.
std::string ruled_out_text(const std::vector<Verdict>& verdicts) {
  std::vector<double> bounds;
  std::ptrdiff_t all = 0;
  for (const Verdict& verdict : verdicts) {
    if (!can_be_slower(verdict) || verdict.is_accepted()) continue;
    ++all;
    if (std::isfinite(verdict.estimates.ruled_out)) bounds.push_back(verdict.estimates.ruled_out);
  }
  if (bounds.empty()) return "";
  std::ranges::sort(bounds);
  const auto above = [&](double slowdown, std::string_view are_ruled_out) {
    const auto in = std::ranges::upper_bound(bounds, slowdown) - bounds.begin();
    return fmt::format("above {}{} in {}", format_fraction(slowdown), are_ruled_out,
                       in == all ? "all" : std::to_string(in));
  };
  const bool others =
      bounds.size() < verdicts.size() && count_of(verdicts, VerdictKind::kIdentical);
  const double most = rounded_up(bounds[(9 * bounds.size() + 9) / 10 - 1]);
  const double largest = rounded_up(bounds.back());
  return fmt::format("; {}slowdowns {}{}", others ? "of the others " : "",
                     above(most, " are ruled out"),
                     largest == most ? "" : ", " + above(largest, ""));
}

// What was decided, of the whole.
std::string no_regression(const GateFacts& facts) {
  const std::vector<Verdict>& verdicts = facts.result.verdicts;
  const auto decided =
      static_cast<std::size_t>(std::ranges::count_if(verdicts, baselines::is_decided));
  const std::size_t all = verdicts.size();
  const std::size_t identical = count_of(verdicts, VerdictKind::kIdentical);
  std::string text =
      fmt::format("No regression in {}{}", decided < all ? fmt::format("{} of ", decided) : "",
                  all_text(facts));
  if (identical == all) {
    text += ", all identical";
  } else if (identical > 0) {
    text += fmt::format(", {} identical", identical);
  }
  return text + ruled_out_text(verdicts) + others_text(verdicts, VerdictKind::kIdentical);
}

// The worst first: "a (5.2 %), b (3 %, its own limit is 1 %)".
std::string not_ruled_out_text(const GateFacts& facts, const std::vector<const Verdict*>& open,
                               double limit, double (*own_limit)(const Verdict&, double)) {
  std::vector<std::string> names;
  for (const Verdict* verdict : open) {
    const double bound = verdict->estimates.ruled_out, own = own_limit(*verdict, limit);
    names.push_back(fmt::format(
        "{} ({}{})", verdict->benchmark,
        std::isfinite(bound) ? fmt::format("{:.2g} %", 100 * bound) : std::string("no bound known"),
        own == limit ? "" : fmt::format(", its own limit is {}", format_fraction(own))));
  }
  return fmt::format("slowdowns above {} are not ruled out in {} of {}: {}", format_fraction(limit),
                     names.size(), all_text(facts), baselines::first_of(names));
}

std::string slower(const GateFacts& facts) {
  const auto& verdicts = facts.result.verdicts;
  const Verdict& worst = *std::ranges::max_element(verdicts, {}, [](const Verdict& verdict) {
    return is_slower(verdict) ? verdict.estimates.effect : -1;
  });
  return fmt::format("{} of {} got slower, {}",
                     std::ranges::count_if(verdicts, baselines::is_slower), all_text(facts),
                     most_text(worst));
}

std::string invalid(const GateFacts& facts) {
  const auto& verdicts = facts.result.verdicts;
  const Verdict& first = *std::ranges::find(verdicts, VerdictKind::kInvalid, &Verdict::kind);
  return first.benchmark + ' ' + reason_text(first, facts.options.rule);
}

std::string unconfirmed(const GateFacts& facts) {
  std::vector<const Verdict*> found;
  for (const Verdict& verdict : facts.result.verdicts) {
    if (baselines::looks_slower(verdict)) found.push_back(&verdict);
  }
  const Verdict& most = **std::ranges::max_element(
      found, {}, [](const Verdict* verdict) { return verdict->estimates.effect; });
  const bool are_few = first_sight(most) == VerdictKind::kRegression;
  return fmt::format("{} of {} {} slower, {}, {}", found.size(), all_text(facts),
                     found.size() == 1 ? "looks" : "look", most_text(most),
                     are_few ? "in too few processes to be sure" : "but not for certain");
}

// "a (3 of 5 processes have it), b (it has aggregates only, and no samples)": of both sides once.
std::string left_out(const GateFacts& facts) {
  std::vector<std::string> texts;
  for (const auto& [side, what, why] : facts.result.left_out) {
    std::string text = fmt::format("{} ({})", what, why);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return baselines::first_of(texts);
}

std::string other_kernels(const GateFacts& facts) {
  const auto& diffs = facts.result.kernel_diffs;
  const auto changed = &baselines::KernelDiff::launches_changed;
  const auto first = std::ranges::find_if(diffs, changed);
  return fmt::format("Kernels changed in {} of {}, the first {}: {}",
                     std::ranges::count_if(diffs, changed), all_text(facts), first->benchmark,
                     kernel_diff_text(*first));
}

std::string other_launches(const GateFacts& facts) {
  const auto& unmet = facts.result.unmet_expectations;
  const bool one = unmet.size() == 1;
  return fmt::format("{} {} not launch what {}, such as {}",
                     format_count(unmet.size(), "benchmark"), one ? "does" : "do",
                     one ? "it declares" : "they declare", unmet.front().benchmark);
}

std::string more_memory(const GateFacts& facts) {
  const auto& grown = facts.result.memory_growth;
  const auto share = [](const baselines::MemoryGrowth& one) {
    return one.candidate / one.baseline;
  };
  const auto& most = *std::ranges::max_element(grown, {}, share);
  std::set<std::string_view> names;
  for (const baselines::MemoryGrowth& one : grown) names.insert(one.benchmark);
  return fmt::format("{} {} more memory, the most {}: {} after {}",
                     format_count(names.size(), "benchmark"), names.size() == 1 ? "takes" : "take",
                     most.benchmark, format_bytes(most.candidate), format_bytes(most.baseline));
}

std::string crept(const GateFacts& facts) {
  const double max_creep = *facts.options.max_creep;
  const std::vector<Verdict>& slower = facts.result.creep->slower;
  const auto beyond = [&](const Verdict& verdict) { return is_beyond(verdict, max_creep); };
  const Verdict& most = *std::ranges::find_if(slower, beyond);
  return fmt::format("{} of {} got slower by more than {} since the anchor of {}, {}",
                     std::ranges::count_if(slower, beyond), all_text(facts),
                     format_fraction(max_creep), date_of(facts.result.creep->since),
                     most_text(most));
}

std::string host_text(const GateFacts& facts, HostVerdict verdict) {
  const auto changes = host_changes(facts.result.host, verdict);
  const std::string why = host_obstacle_text(changes.front()->obstacle);
  return fmt::format("{}, the most {}{}{}", host_count_text(changes),
                     host_change_text(*changes.front()), why.empty() ? "" : ": ", why);
}

// A clause where no cause of the exit code says it already.
std::string host_clause(const GateFacts& facts) {
  const auto& causes = facts.result.causes;
  const auto changes = host_changes(facts.result.host, HostVerdict::kSlower);
  const bool is_said = std::ranges::find(causes, GateCause::kHostSlower) != causes.end();
  return is_said || changes.empty() ? "" : fmt::format(" {}.", host_count_text(changes));
}

// What most of the undecided need.
constexpr NextStep kAsUndecided{"", ""};

// What a cause says. others: which verdicts there are besides; so_far: what the causes before say.
struct CauseText {
  GateCause cause;
  std::string_view name;
  NextStep next;
  std::string_view sentence;
  std::string (*part)(const GateFacts&) = [](const GateFacts&) { return std::string(); };
};

const CauseText kCauseTexts[] = {
    {GateCause::kEnvironmentDiffers, "environment_differs", kMeasureSideBySide,
     "Could not judge: the environments differ in {part}.",
     [](const GateFacts& facts) {
       return baselines::first_of(difference_texts(facts.result.environment_differences), ", ", 1);
     }},
    {GateCause::kSlower, "slower", kChangeCode, "{part}{others}", slower},
    {GateCause::kInvalid, "invalid", kFixFailure, "Could not judge: {part}{others}", invalid},
    {GateCause::kNoBenchmark, "no_benchmark", kFixInput,
     "Could not judge: neither run has a benchmark."},
    {GateCause::kNoProcesses, "no_processes", kMeasureMore,
     "Could not judge: no benchmark has two processes on each side{others}"},
    {GateCause::kUnconfirmed, "unconfirmed", kAsUndecided, "Could not judge: {part}{others}",
     unconfirmed},
    {GateCause::kUndecided, "undecided", kAsUndecided,
     "Could not judge: with --strict every benchmark must be decided{others}"},
    {GateCause::kLeftOut, "left_out", kMeasureMore,
     "Could not judge: with --strict nothing may be left out: {part}{others}", left_out},
    {GateCause::kNotRuledOut, "not_ruled_out", kAsUndecided, "Could not judge: {part}.",
     [](const GateFacts& facts) {
       const double allow = facts.options.allow;
       return not_ruled_out_text(facts, not_ruled_out(facts.result.verdicts, allow), allow,
                                 baselines::allowed);
     }},
    {GateCause::kNoRegression, "no_regression", kNothingToDo, "{part}", no_regression},
    {GateCause::kAcceptanceExpired, "acceptance_expired", kFixInput,
     "Could not judge: {part}. {so_far}",
     [](const GateFacts& facts) {
       std::vector<std::string> texts;
       for (const auto& entry : facts.result.accepted.expired) {
         texts.push_back(fmt::format("\"{}\" ({})", entry.pattern, entry.until));
       }
       return "remove or renew what expired of the accepted slowdowns: " +
              baselines::first_of(texts);
     }},
    {GateCause::kTooLittleRuledOut, "too_little_ruled_out", kAsUndecided,
     "Could not judge: {part}.",
     [](const GateFacts& facts) {
       const double limit = *facts.options.require_ruled_out;
       return not_ruled_out_text(facts, too_little_ruled_out(facts.result.verdicts, limit), limit,
                                 [](const Verdict&, double of_all) { return of_all; });
     }},
    {GateCause::kOtherLaunches, "other_launches", kChangeCode, "{part}. {so_far}", other_launches},
    {GateCause::kMoreMemory, "more_memory", kChangeCode, "{part}. {so_far}", more_memory},
    {GateCause::kOtherKernels, "other_kernels", kChangeCode, "{part}.", other_kernels},
    {GateCause::kKernelsUnknown, "kernels_unknown", kFixInput,
     "Could not judge: a run has no profiles, so whether kernels changed is not known."},
    {GateCause::kHostSlower, "host_slower", kChangeCode, "{part}. {so_far}",
     [](const GateFacts& facts) { return host_text(facts, HostVerdict::kSlower); }},
    {GateCause::kHostUnconfirmed, "host_unconfirmed", kMeasureMore, "Could not judge: {part}.",
     [](const GateFacts& facts) { return host_text(facts, HostVerdict::kLooksSlower); }},
    {GateCause::kHostUnknown, "host_unknown", kFixInput,
     "Could not judge: no benchmark has a host time in both runs, so whether launching takes "
     "longer is not known."},
    {GateCause::kCrept, "crept", kChangeCode, "{part}. Against the baseline: {so_far}", crept},
};

const CauseText& text_of(GateCause cause) {
  return *std::ranges::find(kCauseTexts, cause, &CauseText::cause);
}

}  // namespace

std::string_view gate_cause_name(GateCause cause) { return text_of(cause).name; }

NextStep next_step(const GateFacts& facts) {
  if (facts.result.causes.empty()) return kFixInput;
  const NextStep& next = text_of(facts.result.causes.back()).next;
  if (next.action != kAsUndecided.action) return next;
  std::map<std::string_view, int> counts;
  for (const Verdict& verdict : facts.result.verdicts) {
    if (verdict.kind == VerdictKind::kInconclusive) ++counts[next_step(verdict).action];
  }
  const auto count = [&](const NextStep& step) { return counts[step.action]; };
  return std::ranges::max(std::array{kMeasureMore, kMeasureSideBySide, kCheckMachine}, {}, count);
}

std::size_t count_of(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, kind, &Verdict::kind));
}

std::size_t accepted_count(const std::vector<Verdict>& verdicts) {
  return count_of(verdicts, VerdictKind::kRegression) -
         static_cast<std::size_t>(std::ranges::count_if(verdicts, baselines::is_slower));
}

std::string gate_headline(const GateFacts& facts) {
  std::string headline;
  for (const GateCause cause : facts.result.causes) {
    const CauseText& own = text_of(cause);
    headline = fmt::format(fmt::runtime(own.sentence), fmt::arg("part", own.part(facts)),
                           fmt::arg("others", others_text(facts.result.verdicts)),
                           fmt::arg("so_far", headline));
  }
  if (!facts.options.filter.empty() && !facts.result.verdicts.empty()) {
    headline = fmt::format("Filtered: {} of {} judged. {}", facts.result.verdicts.size(),
                           format_count(facts.result.benchmarks, "benchmark"), headline);
  }
  return headline + host_clause(facts);
}

std::vector<std::string> difference_texts(const std::vector<EnvironmentDifference>& differences) {
  std::vector<std::string> texts;
  for (const auto& [field, before, after] : differences) {
    texts.push_back(fmt::format("{} (baseline {}, candidate {})", field, before, after));
  }
  return texts;
}

std::string date_of(const std::string& when) {
  return baselines::parse_instant(when) ? when.substr(0, when.find_first_of("T ")) : when;
}

std::vector<const HostChange*> host_changes(const baselines::HostTimes& host, HostVerdict verdict) {
  std::vector<const HostChange*> found;
  for (const HostChange& change : host.changes) {
    if (change.verdict == verdict) found.push_back(&change);
  }
  return found;
}

// A benchmark counts once, on a stream and as a graph.
std::string host_count_text(const std::vector<const HostChange*>& changes) {
  std::set<std::string_view> names;
  for (const HostChange* change : changes) names.insert(change->benchmark);
  const std::string count = format_count(names.size(), "benchmark");
  const std::string_view s = names.size() == 1 ? "s" : "";
  switch (changes.front()->verdict) {
    case HostVerdict::kSlower:
      return fmt::format("{} take{} the host longer to launch", count, s);
    case HostVerdict::kFaster:
      return fmt::format("{} take{} the host less time to launch", count, s);
    case HostVerdict::kLooksSlower:
      break;
  }
  return fmt::format("{} seem{} to take the host longer to launch", count, s);
}

std::string host_change_text(const HostChange& change) {
  return fmt::format("{}{} {} -> {} ({})", change.benchmark,
                     change.launch == baselines::HostLaunch::kGraph ? " as a graph" : "",
                     format_time_ns(change.baseline_ns), format_time_ns(change.candidate_ns),
                     format_effect(change.candidate_ns / change.baseline_ns - 1));
}

std::string host_verdict_text(HostVerdict verdict) {
  std::string text(host_verdict_name(verdict));
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string host_obstacle_text(HostObstacle obstacle) {
  switch (obstacle) {
    case HostObstacle::kOtherHost:
      return "it was measured on another host, which may be the cause; `fusegate replay` measures "
             "both on one";
    case HostObstacle::kOneValue:
      return "a side has a single value, of one process or of an older baseline; measure at least "
             "two processes on each side";
    case HostObstacle::kFewProcesses:
      return fmt::format("a side has fewer than {0} processes; measure at least {0}",
                         baselines::kFewestProcesses);
    case HostObstacle::kSuiteMoved:
      return "most benchmarks changed as much between the two sessions, which may be the machine; "
             "`fusegate replay` measures both in one";
    case HostObstacle::kNone:
      break;
  }
  return "";
}

}  // namespace fusegate::ci
