#include "baselines/comparing/verdict_reason.h"

#include <fmt/format.h>

#include <cmath>

namespace fusegate::baselines {
namespace {

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * std::abs(share)); }
std::string signed_percent(double share) { return fmt::format("{:+.2f} %", 100 * share); }

// Ratios: as much faster as the smallest slowdown that matters is slower.
double least_gain(const Rule& rule) { return -rule.min_effect / (1 + rule.min_effect); }

// What does not matter, "0.30 %"; both ends of it where they are of different sizes, "[-33.33,
// +50.00] %", lest an interval seem to lie within what it reaches past.
std::string band(const Rule& rule) {
  const std::string slower = percent(rule.min_effect), faster = percent(least_gain(rule));
  if (slower == faster) return slower;
  return fmt::format("[{:+.2f}, {:+.2f}] %", 100 * least_gain(rule), 100 * rule.min_effect);
}

std::string change(const Comparison& comparison, const Verdict& verdict, const Rule& rule) {
  const bool slower = verdict.kind == VerdictKind::kRegression;
  std::string text = fmt::format("{} by {}", slower ? "slower" : "faster", percent(verdict.effect));
  if (std::isnan(verdict.effect_cycles)) {
    text += " in time; cycles were not available to confirm it";
  } else {
    text += fmt::format(" at equal clock ({} in time, {} in cycles)",
                        signed_percent(verdict.effect_time), signed_percent(verdict.effect_cycles));
  }
  text += fmt::format("; tested against {}", percent(rule.min_effect));
  if (slower && comparison.confirming_invocations > 0) {
    text += fmt::format("; {} fresh processes confirm it", comparison.confirming_invocations);
  }
  return text;
}

// A control differs, or would be called if it were none.
std::string of_control(const Comparison& comparison, const Verdict& verdict) {
  if (!comparison.has_moved) return "";
  std::string text = fmt::format("its code is the same on both sides, so the machine moved: {}",
                                 signed_percent(verdict.effect_time));
  if (comparison.cycles) {
    text += fmt::format(" in time and {} in cycles", signed_percent(verdict.effect_cycles));
  }
  return text;
}

// Time changed for certain, or time at equal clock did, and yet no verdict.
std::string disagreement(const Comparison& comparison, const Circumstances& circumstances,
                         const Verdict& verdict, const Rule& rule) {
  if (!comparison.cycles || circumstances.cycles_alone) return "";
  if (const auto slower = slower_by_the_clock(comparison, rule)) {
    return fmt::format("time says {} ({}), time at equal clock does not ({}): the clock moved",
                       *slower ? "slower" : "faster", signed_percent(verdict.effect_time),
                       signed_percent(verdict.effect));
  }
  const bool is_slower = verdict.interval.low > rule.min_effect;
  const bool is_faster = verdict.interval.high < least_gain(rule);
  if (!is_slower && !is_faster) return "";
  if (both_show(comparison.time, *comparison.cycles, is_slower ? 1 : -1, rule)) return "";
  return fmt::format("{} at equal clock, but time ({}) and cycles ({}) do not both show it",
                     signed_percent(verdict.effect), signed_percent(verdict.effect_time),
                     signed_percent(verdict.effect_cycles));
}

std::string undecided(const Comparison& comparison, const Circumstances& circumstances,
                      const Verdict& verdict, const Rule& rule) {
  if (!comparison.has_estimate()) {
    return "one invocation a side says nothing about the spread between invocations; take at least "
           "two";
  }
  if (comparison.has_borrowed_noise) {
    return "one invocation a side may be the odd one out, and the noise shown is that of the "
           "suite's other benchmarks; take at least two";
  }
  if (comparison.has_single_invocation) {
    return fmt::format("one invocation of the {} may be the odd one out; take at least two",
                       comparison.candidate->invocations.size() < 2 ? "candidate" : "baseline");
  }
  if (const std::string moved = of_control(comparison, verdict); !moved.empty()) return moved;
  if (comparison.p_slower <= rule.false_discovery_rate && comparison.confirming_invocations > 0) {
    return fmt::format(
        "all invocations together say slower ({}), but the {} fresh ones alone do "
        "not confirm it",
        signed_percent(verdict.effect), comparison.confirming_invocations);
  }
  const std::string clock = disagreement(comparison, circumstances, verdict, rule);
  if (!clock.empty()) return clock;
  if (circumstances.other_card) {
    return fmt::format("the interval, widened by what two cards differ by, reaches past {}",
                       band(rule));
  }
  return fmt::format("the interval reaches past {}, but not far enough to call it", band(rule));
}

std::string choice_changes(const BenchmarkSeries& baseline, const BenchmarkSeries& candidate) {
  std::string text;
  for (const auto& [name, choice] : candidate.choices) {
    const auto before = baseline.choices.find(name);
    if (before == baseline.choices.end() || before->second == choice) continue;
    text += fmt::format("; {} was {} and is {}", name, before->second, choice);
  }
  return text;
}

}  // namespace

std::string reason_of(const Comparison& comparison, const Circumstances& circumstances,
                      const Verdict& verdict, const Rule& rule) {
  std::string text;
  if (verdict.kind == VerdictKind::kUnchanged) {
    text = fmt::format("the interval {} to {} lies within {}", signed_percent(verdict.interval.low),
                       signed_percent(verdict.interval.high), band(rule));
  } else if (verdict.kind == VerdictKind::kInconclusive) {
    text = undecided(comparison, circumstances, verdict, rule);
  } else {
    text = change(comparison, verdict, rule);
  }
  return text + choice_changes(*comparison.baseline, *comparison.candidate);
}

std::string reason_without_comparison(const BenchmarkSeries* baseline,
                                      const BenchmarkSeries* candidate) {
  const auto failed = [](const BenchmarkSeries& series, std::string_view side) {
    return fmt::format("failed in the {}: {}", side,
                       series.failure.empty() ? "no invocation measured it" : series.failure);
  };
  if (candidate && (!candidate->failure.empty() || candidate->invocations.empty())) {
    return failed(*candidate, "candidate");
  }
  if (baseline && (!baseline->failure.empty() || baseline->invocations.empty())) {
    return failed(*baseline, "baseline");
  }
  return baseline ? "the candidate has no such benchmark" : "the baseline has no such benchmark";
}

}  // namespace fusegate::baselines
