#include "ci/gate/gate_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "baselines/comparing/comparison.h"
#include "baselines/comparing/families.h"
#include "baselines/io/instant.h"
#include "ci/console/format.h"
#include "ci/gate/few_processes.h"
#include "ci/gate/kernel_diff_text.h"
#include "ci/gate/verdict_groups.h"
#include "ci/gate/verdict_text.h"

namespace fusegate::ci {
namespace {

using baselines::EnvironmentDifference;
using baselines::GateCause;
using baselines::GateOptions;
using baselines::GateResult;
using baselines::HostChange;
using baselines::HostObstacle;
using baselines::HostVerdict;
using baselines::Verdict;
using baselines::VerdictKind;

std::size_t count(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, kind, &Verdict::kind));
}

// "; 2 inconclusive, 1 missing.", or a full stop alone. told: what was said of them already.
std::string remainder(const std::vector<Verdict>& verdicts,
                      VerdictKind told = VerdictKind::kUnchanged) {
  std::string text;
  for (const VerdictKind kind :
       {VerdictKind::kImprovement, VerdictKind::kIdentical, VerdictKind::kInconclusive,
        VerdictKind::kNew, VerdictKind::kMissing, VerdictKind::kInvalid}) {
    const std::size_t n = kind == told ? 0 : count(verdicts, kind);
    if (n == 0) continue;
    text += (text.empty() ? "; " : ", ") + count_text(n, kind);
  }
  return text + ".";
}

// "driver (baseline 580, candidate 590) and 1 more"
std::string differences_text(const std::vector<EnvironmentDifference>& differences) {
  const EnvironmentDifference& first = differences.front();
  std::string text =
      fmt::format("{} (baseline {}, candidate {})", first.field, first.baseline, first.candidate);
  if (differences.size() > 1) text += fmt::format(" and {} more", differences.size() - 1);
  return text;
}

// Round figures, as people say them.
constexpr std::array kRoundSlowdowns{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};

struct RuledOut {
  double slowdown = 0;
  std::size_t rows = 0;
};

// The smallest round slowdown that is ruled out in a share of the rows, or else the largest.
RuledOut ruled_out_in(const std::vector<double>& bounds, double share) {
  RuledOut found;
  for (const double slowdown : kRoundSlowdowns) {
    found = {slowdown, static_cast<std::size_t>(std::ranges::count_if(
                           bounds, [&](double bound) { return bound <= slowdown; }))};
    if (static_cast<double>(found.rows) >= share * static_cast<double>(bounds.size())) break;
  }
  return found;
}

// "; slowdowns above 1 % are ruled out in 97, above 2 % in all", of what was decided by its times.
// All: that a change can have slowed, decided or not.
std::string ruled_out_text(const std::vector<Verdict>& verdicts) {
  constexpr double kMost = 0.9;
  std::vector<double> bounds;
  std::size_t all_rows = 0;
  for (const Verdict& verdict : verdicts) {
    if (!can_be_slower(verdict)) continue;
    ++all_rows;
    if (std::isfinite(verdict.ruled_out)) bounds.push_back(verdict.ruled_out);
  }
  if (bounds.empty()) return "";
  const auto in_rows = [&](const RuledOut& part) {
    return part.rows == all_rows ? std::string("all") : std::to_string(part.rows);
  };
  const RuledOut most = ruled_out_in(bounds, kMost);
  const RuledOut all = ruled_out_in(bounds, 1);
  const bool others = bounds.size() < verdicts.size() && count(verdicts, VerdictKind::kIdentical);
  std::string text =
      fmt::format("; {}slowdowns above {} are ruled out in {}", others ? "of the others " : "",
                  format_fraction(most.slowdown), in_rows(most));
  if (all.slowdown == most.slowdown) return text;
  return text + fmt::format(", above {} in {}", format_fraction(all.slowdown), in_rows(all));
}

// What was decided, of the whole.
std::string no_regression_headline(const GateResult& result) {
  const auto decided =
      static_cast<std::size_t>(std::ranges::count_if(result.verdicts, baselines::is_decided));
  const std::size_t all = result.verdicts.size();
  const std::size_t identical = count(result.verdicts, VerdictKind::kIdentical);
  std::string text =
      fmt::format("No regression in {}{}", decided < all ? fmt::format("{} of ", decided) : "",
                  format_count(all, "benchmark"));
  if (identical == all) {
    text += ", all identical";
  } else if (identical > 0) {
    text += fmt::format(", {} identical", identical);
  }
  return text + ruled_out_text(result.verdicts) +
         remainder(result.verdicts, VerdictKind::kIdentical);
}

// Three at most: "a, b, c and 4 more".
std::string first_of(const std::vector<std::string>& all, std::string_view separator = ", ") {
  const std::size_t shown = std::min<std::size_t>(3, all.size());
  const std::string text =
      fmt::format("{}", fmt::join(all.begin(), all.begin() + static_cast<long>(shown), separator));
  return shown == all.size() ? text : fmt::format("{} and {} more", text, all.size() - shown);
}

// The worst first: "a (5.2 %), b (3 %)".
std::string too_little_text(const GateResult& result, const std::vector<const Verdict*>& too_little,
                            double limit) {
  std::vector<std::string> names;
  for (const Verdict* verdict : too_little) {
    const double bound = verdict->ruled_out;
    names.push_back(fmt::format("{} ({})", verdict->benchmark,
                                std::isfinite(bound) ? fmt::format("{:.2g} %", 100 * bound)
                                                     : std::string("nothing known")));
  }
  return fmt::format("slowdowns above {} are not ruled out in {} of {}: {}.",
                     format_fraction(limit), names.size(),
                     format_count(result.verdicts.size(), "benchmark"), first_of(names));
}

std::string slower_headline(const GateResult& result) {
  const Verdict& worst = *std::ranges::max_element(result.verdicts, {}, [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kRegression ? verdict.effect : -1;
  });
  return fmt::format("{} of {} got slower, the most {} by {}{}",
                     count(result.verdicts, VerdictKind::kRegression),
                     format_count(result.verdicts.size(), "benchmark"), worst.benchmark,
                     format_magnitude(worst.effect), remainder(result.verdicts));
}

std::string invalid_text(const GateResult& result, const GateOptions& options) {
  const Verdict& invalid =
      *std::ranges::find(result.verdicts, VerdictKind::kInvalid, &Verdict::kind);
  return fmt::format("{} {}", invalid.benchmark, reason_text(invalid, options.rule));
}

std::string kernels_headline(const GateResult& result) {
  const auto changed = &baselines::KernelStory::launches_changed;
  const auto first = std::ranges::find_if(result.stories, changed);
  return fmt::format("Kernels changed in {} of {}, the first {}: {}.",
                     std::ranges::count_if(result.stories, changed),
                     format_count(result.verdicts.size(), "benchmark"), first->benchmark,
                     story_text(*first));
}

std::string launches_headline(const GateResult& result) {
  const auto& unmet = result.unmet_expectations;
  const bool one = unmet.size() == 1;
  return fmt::format("{} {} not launch what {}, such as {}.",
                     format_count(unmet.size(), "benchmark"), one ? "does" : "do",
                     one ? "it declares" : "they declare", unmet.front().benchmark);
}

std::string acceptance_date(const std::string& when) {
  return baselines::parse_instant(when) ? when.substr(0, when.find_first_of("T ")) : when;
}

std::string crept_headline(const GateResult& result, double max_creep) {
  const std::vector<Verdict>& slower = result.creep->slower;
  const auto beyond = [&](const Verdict& verdict) { return is_beyond(verdict, max_creep); };
  const Verdict& most = *std::ranges::find_if(slower, beyond);
  return fmt::format(
      "{} of {} got slower by more than {} since the anchor of {}, the most {} by {}.",
      std::ranges::count_if(slower, beyond), format_count(result.verdicts.size(), "benchmark"),
      format_fraction(max_creep), acceptance_date(result.creep->since), most.benchmark,
      format_magnitude(most.effect));
}

std::string unconfirmed_text(const GateResult& result) {
  std::vector<Verdict> slower;
  std::ranges::copy_if(result.verdicts, std::back_inserter(slower), baselines::looks_slower);
  const Verdict& most = *std::ranges::max_element(slower, {}, &Verdict::effect);
  const bool are_few = first_sight(most) == VerdictKind::kRegression;
  return fmt::format("{} of {} {} slower, the most {} by {}, {}", slower.size(),
                     format_count(result.verdicts.size(), "benchmark"),
                     slower.size() == 1 ? "looks" : "look", most.benchmark,
                     format_magnitude(most.effect),
                     are_few ? "by too few processes to call it" : "but not for certain");
}

// Of the changes with that verdict, the largest first.
std::vector<const HostChange*> changes_of(const baselines::HostTimes& host, HostVerdict verdict) {
  std::vector<const HostChange*> found;
  for (const HostChange& change : host.changes) {
    if (change.verdict == verdict) found.push_back(&change);
  }
  return found;
}

// "3 benchmarks take longer to launch": a benchmark counts once, on a stream and as a graph.
std::string host_count_text(const std::vector<const HostChange*>& changes, std::string_view one,
                            std::string_view several) {
  std::set<std::string_view> names;
  for (const HostChange* change : changes) names.insert(change->benchmark);
  return fmt::format("{} {}", format_count(names.size(), "benchmark"),
                     names.size() == 1 ? one : several);
}

std::string host_slower_text(const baselines::HostTimes& host) {
  return host_count_text(changes_of(host, HostVerdict::kSlower), "takes the host longer to launch",
                         "take the host longer to launch");
}

std::string host_looks_text(const std::vector<const HostChange*>& changes) {
  return host_count_text(changes, "looks as if it took the host longer to launch",
                         "look as if they took the host longer to launch");
}

std::string host_headline(const GateResult& result) {
  const HostChange& most = *changes_of(result.host, HostVerdict::kSlower).front();
  return fmt::format("{}, the most {}.", host_slower_text(result.host), host_change_text(most));
}

std::string host_unconfirmed_text(const GateResult& result) {
  const auto changes = changes_of(result.host, HostVerdict::kLooksSlower);
  return fmt::format("{}, the most {}: {}.", host_looks_text(changes),
                     host_change_text(*changes.front()),
                     host_obstacle_text(changes.front()->obstacle));
}

// A clause where no cause of the exit code says it already.
std::string host_clause(const GateResult& result) {
  const bool is_told =
      std::ranges::find(result.causes, GateCause::kHostSlower) != result.causes.end();
  if (is_told || changes_of(result.host, HostVerdict::kSlower).empty()) return "";
  return fmt::format(" {}.", host_slower_text(result.host));
}

// "a (3 of 5 processes have it), b (it has aggregates only, and no samples)": of both sides once.
std::string left_out_list(const GateResult& result) {
  std::vector<std::string> texts;
  for (const auto& [side, what, why] : result.left_out) {
    std::string text = fmt::format("{} ({})", what, why);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return first_of(texts);
}

std::string could_not(std::string_view why) { return fmt::format("Could not judge: {}", why); }

// so_far: the headline of the causes before.
std::string with_cause(GateCause cause, const std::string& so_far, const GateResult& result,
                       const GateOptions& options) {
  const std::string rest = remainder(result.verdicts);
  switch (cause) {
    case GateCause::kEnvironmentDiffers:
      return could_not(fmt::format("the environments differ in {}.",
                                   differences_text(result.environment_differences)));
    case GateCause::kSlower:
      return slower_headline(result);
    case GateCause::kInvalid:
      return could_not(invalid_text(result, options) + rest);
    case GateCause::kNoBenchmark:
      return could_not("neither run has a benchmark.");
    case GateCause::kNoInvocations:
      return could_not("no benchmark has two invocations on each side" + rest);
    case GateCause::kUnconfirmed:
      return could_not(unconfirmed_text(result) + rest);
    case GateCause::kUndecided:
      return could_not("with --strict every benchmark must be decided" + rest);
    case GateCause::kLeftOut:
      return could_not("with --strict nothing may be left out: " + left_out_list(result) + rest);
    case GateCause::kNotRuledOut:
      return could_not(too_little_text(
          result, baselines::not_ruled_out(result.verdicts, options.allow), options.allow));
    case GateCause::kNoRegression:
      return no_regression_headline(result);
    case GateCause::kTooLittleRuledOut:
      return could_not(too_little_text(
          result, baselines::too_little_ruled_out(result.verdicts, *options.require_ruled_out),
          *options.require_ruled_out));
    case GateCause::kOtherLaunches:
      return fmt::format("{} {}", launches_headline(result), so_far);
    case GateCause::kOtherKernels:
      return kernels_headline(result);
    case GateCause::kKernelsUnknown:
      return could_not("a run has no profiles, so whether kernels changed is not known.");
    case GateCause::kHostSlower:
      return fmt::format("{} {}", host_headline(result), so_far);
    case GateCause::kHostUnconfirmed:
      return could_not(host_unconfirmed_text(result));
    case GateCause::kHostUnknown:
      return could_not(
          "no benchmark has a host time in both runs, so whether launching takes longer is not "
          "known.");
    case GateCause::kCrept:
      return fmt::format("{} Against the baseline: {}", crept_headline(result, *options.max_creep),
                         so_far);
  }
  return so_far;
}

void add_doubts(const std::vector<baselines::Doubt>& doubts, std::string_view side,
                std::vector<std::string>& notes) {
  for (const baselines::Doubt doubt : doubts) {
    notes.push_back(fmt::format("{}: {}", side, doubt_sentence(doubt)));
  }
}

// Of the baseline where it skipped or left out others.
void add_skipped(const baselines::Run& baseline, const baselines::Run& candidate,
                 std::vector<std::string>& notes) {
  if (!candidate.skipped.empty()) notes.push_back("Candidate: " + skipped_text(candidate));
  if (!baseline.skipped.empty() && baseline.skipped != candidate.skipped) {
    notes.push_back("Baseline: " + skipped_text(baseline));
  }
  if (!candidate.left_out.empty()) notes.push_back("Candidate: " + left_out_text(candidate));
  if (!baseline.left_out.empty() && baseline.left_out != candidate.left_out) {
    notes.push_back("Baseline: " + left_out_text(baseline));
  }
}

// Where no card says what was measured on, another host may be another machine.
void add_hosts(const baselines::Provenance& baseline, const baselines::Provenance& candidate,
               std::vector<std::string>& notes) {
  const bool on_cards = !baseline.device_uuid.empty() || !candidate.device_uuid.empty();
  const bool are_known = !baseline.host.empty() && !candidate.host.empty();
  if (on_cards || !are_known || baseline.host == candidate.host) return;
  notes.push_back(
      fmt::format("The baseline was measured on host {}, the candidate on {}: what "
                  "differs may be the machine.",
                  baseline.host, candidate.host));
}

// Baselines of before there was a context to store tell nothing of it.
void add_contexts(const baselines::LoadedBaseline& baseline, const baselines::Run& candidate,
                  std::vector<std::string>& notes) {
  const baselines::Environment& before = baseline.run.provenance.context;
  if (baseline.acceptance && before.empty()) return;
  std::vector<std::string> texts;
  for (const auto& [field, was, is] :
       baselines::environment_differences(before, candidate.provenance.context)) {
    texts.push_back(fmt::format("{} (baseline {}, candidate {})", field, was, is));
  }
  if (texts.empty()) return;
  notes.push_back(fmt::format(
      "The program's own context differs in {}. Such keys do not stop a comparison; those of the "
      "environment do (docs/other-formats.md).",
      first_of(texts)));
}

// The gate would let it pass for ever.
void add_ungated(const Judgement& judgement, std::vector<std::string>& notes) {
  const auto& staleness = judgement.result.staleness;
  if (!staleness || staleness->not_in_baseline.empty()) return;
  const bool one = staleness->not_in_baseline.size() == 1;
  notes.push_back(fmt::format("Nothing gates {} until the baseline has {}. {}",
                              one ? "the new benchmark" : "the new benchmarks", one ? "it" : "them",
                              renewal_text(judgement.baseline.run)));
}

void add_odd(const std::vector<baselines::OddProcess>& odd, std::string_view side,
             std::vector<std::string>& notes) {
  for (const baselines::OddProcess& one : odd) {
    notes.push_back(fmt::format("{}: {} and {}", side, odd_process_text(one),
                                one.is_set_aside
                                    ? "is set aside."
                                    : fmt::format("stays: of fewer than {} none is set aside.",
                                                  baselines::kFewestToSetAside)));
  }
}

// The changes in a few names.
std::string host_note(const std::string& count, const std::vector<const HostChange*>& changes) {
  std::vector<std::string> texts;
  for (const HostChange* change : changes) texts.push_back(host_change_text(*change));
  return fmt::format("Host time: {}: {}.", count, first_of(texts, "; "));
}

void add_host(const GateResult& result, const GateOptions& options,
              std::vector<std::string>& notes) {
  const baselines::HostTimes& host = result.host;
  if (const auto slower = changes_of(host, HostVerdict::kSlower); !slower.empty()) {
    notes.push_back(host_note(host_slower_text(host), slower));
  }
  std::map<HostObstacle, std::vector<const HostChange*>> looks;
  for (const HostChange* change : changes_of(host, HostVerdict::kLooksSlower)) {
    looks[change->obstacle].push_back(change);
  }
  for (const auto& [obstacle, changes] : looks) {
    notes.push_back(fmt::format("{} It is not called: {}.",
                                host_note(host_looks_text(changes), changes),
                                host_obstacle_text(obstacle)));
  }
  if (const auto faster = changes_of(host, HostVerdict::kFaster); !faster.empty()) {
    notes.push_back(host_note(host_count_text(faster, "takes the host less time to launch",
                                              "take the host less time to launch"),
                              faster));
  }
  if (options.fail_on_host && host.other_host) {
    notes.push_back(
        "Host time: the sides were measured on two hosts, so it fails nothing; fusegate replay "
        "measures both on one.");
  }
}

// Whether equal work told it, so that it was taken out of what was judged.
bool machine_is_told(const std::vector<Verdict>& verdicts) {
  return std::ranges::any_of(
      verdicts, [](const Verdict& verdict) { return std::isfinite(verdict.machine_effect); });
}

std::vector<double> equal_work_effects(const std::vector<Verdict>& verdicts) {
  std::vector<double> effects;
  for (const Verdict& verdict : verdicts) {
    const bool is_timed = std::isfinite(verdict.effect);
    if (verdict.kind == VerdictKind::kIdentical && is_timed) effects.push_back(verdict.effect);
  }
  return effects;
}

void add_machine(const std::vector<Verdict>& verdicts, std::vector<std::string>& notes) {
  const std::vector<double> effects = equal_work_effects(verdicts);
  if (effects.empty()) return;
  const auto [least, most] = std::ranges::minmax(effects);
  notes.push_back(fmt::format(
      "{} did equal work: there the machine made {} to {}, {} in the median.{}",
      format_count(effects.size(), "benchmark"), format_effect(least), format_effect(most),
      format_effect(baselines::median(effects)),
      machine_is_told(verdicts) ? " That is taken out of the other rows' effects." : ""));
}

// On a GPU the profile tells why, or that a side has none; nothing of it is there on a CPU.
void add_cause_on_cpu(const baselines::Run& candidate, const std::vector<Verdict>& verdicts,
                      std::vector<std::string>& notes) {
  const auto changed = std::ranges::find_if(verdicts, [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kImprovement;
  });
  if (changed == verdicts.end() || !candidate.environment.contains(baselines::kCpuCycles)) return;
  notes.push_back(fmt::format(
      "Why is not known: kernels are profiled on a GPU only. On a CPU, `perf stat -d` of both "
      "programs with --benchmark_filter='{}' shows their instructions and cache misses.",
      changed->benchmark));
}

void add_suites(const baselines::Provenance& baseline, const baselines::Provenance& candidate,
                std::vector<std::string>& notes) {
  if (baseline.suite == candidate.suite) return;
  notes.push_back(fmt::format("The baseline is of suite \"{}\", the candidate of \"{}\".",
                              baseline.suite, candidate.suite));
}

// "4 cards": how many tell what cards differ by; "" where each side has one.
std::string telling_cards(const baselines::Run& baseline, const baselines::Run& candidate) {
  const auto cards =
      std::max(baselines::cards_of(baseline).size(), baselines::cards_of(candidate).size());
  return cards > 1 ? fmt::format("{} cards", cards) : "";
}

// Which knowledge of cards the verdicts stand on.
void add_cards(const baselines::Run& baseline, const baselines::Run& candidate,
               const GateResult& result, const baselines::CardDifferences& known,
               std::vector<std::string>& notes) {
  if (!baselines::circumstances_of(baseline, candidate).other_card) return;
  const std::string cards = telling_cards(baseline, candidate);
  std::string told;
  if (machine_is_told(result.verdicts)) {
    told = "What that does is told by equal work.";
  } else if (!cards.empty()) {
    told = fmt::format("How far cards differ is told by the {} of one side.", cards);
  } else if (!known.calibration.empty()) {
    told = fmt::format("Every interval is widened by how far {} cards differ ({}).", known.cards,
                       known.calibration);
  } else {
    told = fmt::format(
        "No calibration tells how far cards of this device differ: {} each is assumed, which "
        "nobody "
        "measured and which is wide on purpose. It widens every interval. A baseline of several "
        "cards tells it, and so does a calibration.",
        format_magnitude(baselines::kAssumedCardSpread));
  }
  notes.push_back("The candidate was measured on a card that the baseline was not. " + told);
}

// On a GPU, where the kernels that a process has loaded before may decide where the next one's code
// lies (docs/protocol.md, "What is left"). What that is worth, equal work tells, which had the same
// company.
void add_parts(const baselines::Run& baseline, const baselines::Run& candidate,
               const std::vector<Verdict>& verdicts, std::vector<std::string>& notes) {
  const std::size_t alone =
      count(verdicts, VerdictKind::kMissing) + count(verdicts, VerdictKind::kNew);
  const bool on_gpu =
      !baseline.provenance.device_uuid.empty() && !candidate.provenance.device_uuid.empty();
  if (alone == 0 || alone == verdicts.size() || !on_gpu) return;
  notes.push_back(fmt::format(
      "{} {} in only one of the runs, and what a process measures besides may move a benchmark of "
      "the same code. {}",
      format_count(alone, "benchmark"), alone == 1 ? "is" : "are",
      equal_work_effects(verdicts).empty() ? "Nothing here tells by how much; `fusegate replay` "
                                             "measures both programs with the same "
                                             "benchmarks."
                                           : "By how much, equal work tells here."));
}

// Where only one side tells what its benchmarks launch, no work is known to be equal.
void add_unknown_work(const baselines::Run& baseline, const baselines::Run& candidate,
                      std::vector<std::string>& notes) {
  const auto tells = [](const baselines::Run& run) {
    return std::ranges::any_of(run.benchmarks,
                               [](const auto& series) { return series.identity.has_value(); });
  };
  const bool baseline_tells = tells(baseline);
  if (baseline_tells == tells(candidate)) return;
  notes.push_back(fmt::format(
      "The {} does not tell what its benchmarks launched, as older programs do not: no work is "
      "known to be equal, and all is judged by its times.{}",
      baseline_tells ? "candidate" : "baseline",
      baseline_tells ? "" : " A baseline that is measured anew tells it."));
}

void add_libraries(const std::vector<EnvironmentDifference>& libraries,
                   std::vector<std::string>& notes) {
  std::string baseline;
  std::string candidate;
  for (const EnvironmentDifference& library : libraries) {
    const std::string_view comma = baseline.empty() ? "" : ", ";
    baseline += fmt::format("{}{} {}", comma, library.field, library.baseline);
    candidate += fmt::format("{}{} {}", comma, library.field, library.candidate);
  }
  if (baseline.empty()) return;
  notes.push_back(fmt::format("The baseline was measured with {}; the candidate with {}.", baseline,
                              candidate));
}

void add_missing(const std::vector<std::string>& names, std::string_view where,
                 std::vector<std::string>& notes) {
  if (names.empty()) return;
  notes.push_back(fmt::format("{} {} not in the {}: {}.", format_count(names.size(), "benchmark"),
                              names.size() == 1 ? "is" : "are", where, first_of(names)));
}

// A family in place of its rows.
std::string crept_text(const std::vector<Verdict>& slower) {
  std::vector<std::string> texts;
  for (const baselines::Family& family : baselines::families_of(slower)) {
    const auto of_family = [&](const Verdict& row) {
      return baselines::family_of(row.benchmark) == family.name;
    };
    texts.push_back(fmt::format("{} {} slower",
                                family.rows > 1
                                    ? fmt::format("{} of {}", family.rows, family.name)
                                    : std::ranges::find_if(slower, of_family)->benchmark,
                                format_share(family.mean_effect)));
  }
  return first_of(texts, "; ");
}

std::vector<std::string> creep_notes(const baselines::Creep& creep) {
  const std::string since = acceptance_date(creep.since);
  if (!creep.differences.empty()) {
    return {fmt::format(
        "The candidate cannot be compared with the anchor of {}: {}. fusegate accept RUN --anchor "
        "replaces the anchor.",
        since, creep_not_judged(creep))};
  }
  if (creep.slower.empty()) return {};
  return {fmt::format("Since the anchor of {}{}: {}.", since,
                      creep.other_card ? ", on another card" : "", crept_text(creep.slower))};
}

}  // namespace

std::string gate_headline(const GateResult& result, const GateOptions& options) {
  std::string headline;
  for (const GateCause cause : result.causes) {
    headline = with_cause(cause, headline, result, options);
  }
  return headline + host_clause(result);
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
      return "measured on another host, which may be the cause";
    case HostObstacle::kOneValue:
      return "a side tells one value alone, of one process or of an older baseline";
    case HostObstacle::kFewProcesses:
      return fmt::format("fewer than {} processes of a side measured it",
                         baselines::kFewestProcesses);
    case HostObstacle::kSuiteMoved:
      return "most benchmarks moved as much between the two sessions, which the machine may have "
             "done; fusegate replay tells";
    case HostObstacle::kNone:
      break;
  }
  return "";
}

std::vector<std::string> staleness_notes(const baselines::Staleness& staleness) {
  std::vector<std::string> notes;
  if (!baselines::parse_instant(staleness.accepted)) {
    notes.push_back(
        fmt::format("The baseline's age is not known: \"{}\", its date of acceptance, is no date.",
                    staleness.accepted));
  }
  if (staleness.too_old) {
    notes.push_back(fmt::format(
        "The baseline is stale: accepted {:.0f} days before the candidate was measured, more than "
        "{:g}.",
        *staleness.age_days, staleness.max_age_days));
  }
  add_libraries(staleness.libraries, notes);
  add_missing(staleness.not_in_baseline, "baseline", notes);
  add_missing(staleness.not_in_candidate, "candidate", notes);
  return notes;
}

std::string creep_not_judged(const baselines::Creep& creep) {
  if (creep.differences.empty()) return "";
  const EnvironmentDifference& first = creep.differences.front();
  std::string text =
      fmt::format("{} is {} there and {} here", first.field, first.baseline, first.candidate);
  if (creep.differences.size() == 1) return text;
  return text + fmt::format(", and {} more differ", creep.differences.size() - 1);
}

std::vector<std::string> gate_notes(const Judgement& judgement, const baselines::Run& candidate) {
  const baselines::Run& baseline = judgement.baseline.run;
  const GateResult& result = judgement.result;
  std::vector<std::string> notes;
  add_doubts(baseline.doubts, "Baseline", notes);
  add_doubts(candidate.doubts, "Candidate", notes);
  add_odd(result.odd_in_baseline, "Baseline", notes);
  add_odd(result.odd_in_candidate, "Candidate", notes);
  add_suites(baseline.provenance, candidate.provenance, notes);
  add_hosts(baseline.provenance, candidate.provenance, notes);
  add_contexts(judgement.baseline, candidate, notes);
  add_cards(baseline, candidate, result, judgement.options.rule.cards, notes);
  add_unknown_work(baseline, candidate, notes);
  add_machine(result.verdicts, notes);
  add_cause_on_cpu(candidate, result.verdicts, notes);
  add_host(result, judgement.options, notes);
  add_parts(baseline, candidate, result.verdicts, notes);
  const auto add = [&](const std::vector<std::string>& more) {
    notes.insert(notes.end(), more.begin(), more.end());
  };
  add(unfinished_texts(baseline));
  add(unfinished_texts(candidate));
  if (const std::string text = unmeasured_text(candidate); !text.empty()) notes.push_back(text);
  add_skipped(baseline, candidate, notes);
  // A replay measures as many as it needs.
  if (judgement.baseline.acceptance && !judgement.replay) {
    const std::string few = few_processes_text(baseline, result.verdicts);
    if (!few.empty()) notes.push_back(few);
  }
  if (result.staleness) add(staleness_notes(*result.staleness));
  add_ungated(judgement, notes);
  if (result.creep) add(creep_notes(*result.creep));
  return notes;
}

}  // namespace fusegate::ci
