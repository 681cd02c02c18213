#include "baselines/comparing/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/comparing/judge.h"

namespace fusegate::baselines {
namespace {

std::size_t count(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, kind, &Verdict::kind));
}

// Undecided counts as judged where more invocations could have decided it; where a side has one
// only, no slowdown whatever would have given another answer.
bool was_judged(const Verdict& verdict) {
  return std::isfinite(verdict.interval.low) && verdict.baseline_invocations > 1 &&
         verdict.candidate_invocations > 1;
}

std::string counted(std::size_t n, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", n, n == 1 ? singular : plural);
}

// "; 2 inconclusive, 1 missing", or nothing.
std::string remainder(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const VerdictKind kind : {VerdictKind::kImprovement, VerdictKind::kInconclusive,
                                 VerdictKind::kNew, VerdictKind::kMissing, VerdictKind::kInvalid}) {
    const std::size_t n = count(verdicts, kind);
    if (n == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "; " : ", ", n, verdict_name(kind));
  }
  return text;
}

const Verdict& worst(const std::vector<Verdict>& verdicts) {
  return *std::ranges::max_element(verdicts, {}, [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kRegression ? verdict.effect : -1;
  });
}

void refuse(GateResult& result, std::string why) {
  result.exit_code = ExitCode::kCouldNotJudge;
  result.headline = "Could not judge: " + std::move(why);
}

void fold(GateResult& result, bool strict) {
  const std::vector<Verdict>& verdicts = result.verdicts;
  const std::string total = counted(verdicts.size(), "benchmark", "benchmarks");
  const std::string rest = remainder(verdicts) + ".";
  const auto invalid = std::ranges::find(verdicts, VerdictKind::kInvalid, &Verdict::kind);
  const auto undecided = [](const Verdict& verdict) {
    return verdict.kind == VerdictKind::kInconclusive || verdict.kind == VerdictKind::kMissing;
  };
  if (const std::size_t slower = count(verdicts, VerdictKind::kRegression); slower > 0) {
    result.exit_code = ExitCode::kRegression;
    result.headline = fmt::format("{} of {} got slower, the most {} by {:.2f} %{}", slower, total,
                                  worst(verdicts).benchmark, 100 * worst(verdicts).effect, rest);
  } else if (invalid != verdicts.end()) {
    refuse(result, fmt::format("{} {}{}", invalid->benchmark, invalid->reason, rest));
  } else if (std::ranges::none_of(verdicts, was_judged)) {
    refuse(result, verdicts.empty()
                       ? "neither run has a benchmark."
                       : fmt::format("no benchmark has two invocations on each side{}", rest));
  } else if (strict && std::ranges::any_of(verdicts, undecided)) {
    refuse(result, fmt::format("strict, and not every benchmark was decided{}", rest));
  } else {
    result.exit_code = ExitCode::kNoRegression;
    const bool decided = std::ranges::any_of(verdicts, [](const Verdict& verdict) {
      return was_judged(verdict) && verdict.kind != VerdictKind::kInconclusive;
    });
    result.headline =
        decided ? fmt::format("No regression in {}{}", total, rest)
                : fmt::format("No regression found in {}, and nothing decided{}", total, rest);
  }
}

// Asked for: a library that picks another kernel is to be looked at though time has not changed.
void fold_kernels(const Run& baseline, const Run& candidate, GateResult& result) {
  const auto changed = [](const KernelStory& story) { return story.launches_changed(); };
  const auto first = std::ranges::find_if(result.stories, changed);
  if (first != result.stories.end()) {
    if (result.exit_code == ExitCode::kRegression) return;
    result.exit_code = ExitCode::kRegression;
    result.headline = fmt::format("Kernels changed in {} of {}, the first {}: {}.",
                                  std::ranges::count_if(result.stories, changed),
                                  counted(result.verdicts.size(), "benchmark", "benchmarks"),
                                  first->benchmark, first->sentence);
    return;
  }
  const auto has_profile = [](const BenchmarkSeries& series) { return series.profile.has_value(); };
  const bool known = std::ranges::any_of(baseline.benchmarks, has_profile) &&
                     std::ranges::any_of(candidate.benchmarks, has_profile);
  if (!known && result.exit_code == ExitCode::kNoRegression) {
    refuse(result, "a run has no profiles, so whether kernels changed is not known.");
  }
}

// Told apart from its time: what it launches is certain in a single call.
void fold_expectations(const Run& candidate, GateResult& result) {
  const auto& unmet = result.unmet_expectations = unmet_expectations(candidate);
  if (unmet.empty()) return;
  result.exit_code = ExitCode::kRegression;
  result.headline = fmt::format("{} other than declared, such as {}. {}",
                                counted(unmet.size(), "benchmark launches", "benchmarks launch"),
                                unmet.front().benchmark, result.headline);
}

// Where a benchmark crept beyond the limit, that is a regression, unless there is one against the
// baseline already.
void fold_creep(const Creep& creep, double max_creep, GateResult& result) {
  const auto beyond = [&](const Verdict& verdict) { return is_beyond(verdict, max_creep); };
  const auto most = std::ranges::find_if(creep.slower, beyond);
  if (most == creep.slower.end() || result.exit_code == ExitCode::kRegression) return;
  result.exit_code = ExitCode::kRegression;
  result.headline = fmt::format(
      "{} of {} got slower by more than {:g} % since the anchor of {}, the most {} by {:.2f} %. "
      "Against the baseline: {}",
      std::ranges::count_if(creep.slower, beyond),
      counted(result.verdicts.size(), "benchmark", "benchmarks"), 100 * max_creep,
      acceptance_date(creep), most->benchmark, 100 * most->effect, result.headline);
}

void note_doubts(const std::vector<Doubt>& doubts, std::string_view side, GateResult& result) {
  for (const Doubt doubt : doubts) {
    result.notes.push_back(fmt::format("{}: {}", side, doubt_sentence(doubt)));
  }
}

void note_provenance(const Provenance& baseline, const Provenance& candidate, GateResult& result) {
  if (baseline.suite != candidate.suite) {
    result.notes.push_back(fmt::format("The baseline is of suite \"{}\", the candidate of \"{}\".",
                                       baseline.suite, candidate.suite));
  }
  const bool both = !baseline.device_uuid.empty() && !candidate.device_uuid.empty();
  if (both && baseline.device_uuid != candidate.device_uuid) {
    // Ten H200 in three sets (between_cards.cc).
    result.notes.push_back(
        "The runs come from two cards, which widens every interval: at equal clock, H200s differed "
        "by "
        "up to 1.4 % in kernels of a few microseconds and by up to 0.3 % in long ones.");
  }
}

// On a GPU, where the kernels that a process has loaded before may decide where the next one's code
// lies (docs/protocol.md, "What is left").
void note_parts(const Run& baseline, const Run& candidate, GateResult& result) {
  const std::size_t alone =
      count(result.verdicts, VerdictKind::kMissing) + count(result.verdicts, VerdictKind::kNew);
  const bool on_gpu =
      !baseline.provenance.device_uuid.empty() && !candidate.provenance.device_uuid.empty();
  if (alone == 0 || alone == result.verdicts.size() || !on_gpu) return;
  result.notes.push_back(fmt::format(
      "{} in one of the runs alone: processes that measure other benchmarks besides may "
      "differ by up to 0.8 % in a GEMM whose code is the same.",
      alone == 1 ? "1 benchmark is" : fmt::format("{} benchmarks are", alone)));
}

void add_notes(const std::vector<std::string>& notes, GateResult& result) {
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
}

}  // namespace

std::vector<UnmetExpectation> unmet_expectations(const Run& run) {
  std::vector<UnmetExpectation> unmet;
  for (const BenchmarkSeries& series : run.benchmarks) {
    if (!series.expectation || series.expectation->met()) continue;
    unmet.push_back({series.name, *series.expectation});
  }
  return unmet;
}

GateResult gate(const Run& baseline, const Run& candidate, const GateOptions& options) {
  GateResult result;
  note_doubts(baseline.doubts, "Baseline", result);
  note_doubts(candidate.doubts, "Candidate", result);
  note_provenance(baseline.provenance, candidate.provenance, result);
  result.environment_differences = differences_between(baseline, candidate);
  if (!result.environment_differences.empty() && !options.allow_environment_differences) {
    const EnvironmentDifference& first = result.environment_differences.front();
    refuse(result, fmt::format("the environments differ in {} (baseline {}, candidate {}){}.",
                               first.field, first.baseline, first.candidate,
                               result.environment_differences.size() == 1
                                   ? ""
                                   : fmt::format(" and {} more",
                                                 result.environment_differences.size() - 1)));
    return result;
  }
  result.verdicts = judge(baseline, candidate, options.rule);
  fold(result, options.strict);
  fold_expectations(candidate, result);
  note_parts(baseline, candidate, result);
  result.families = families_of(result.verdicts);
  result.stories = tell_stories(baseline, candidate, result.verdicts, options.rule);
  if (options.fail_on_changed_kernels) fold_kernels(baseline, candidate, result);
  return result;
}

GateResult gate(const LoadedBaseline& baseline, const Run& candidate, const GateOptions& options) {
  GateResult result = gate(baseline.run, candidate, options);
  if (baseline.acceptance) {
    result.staleness =
        staleness_of(*baseline.acceptance, baseline.run, candidate, options.max_age_days);
    add_notes(result.staleness->notes, result);
  }
  // Where nothing was judged, there is nothing yet that the anchor could add to.
  if (baseline.anchor && !result.verdicts.empty()) {
    result.creep = creep_since(*baseline.anchor, candidate, result.verdicts, options.rule);
    if (options.max_creep) fold_creep(*result.creep, *options.max_creep, result);
    add_notes(result.creep->notes, result);
  }
  return result;
}

}  // namespace fusegate::baselines
