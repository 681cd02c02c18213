#include "baselines/comparison.h"

#include <algorithm>
#include <cmath>

#include "baselines/between_cards.h"
#include "baselines/drift.h"
#include "baselines/moderated_contrasts.h"
#include "baselines/verdict.h"

namespace fusegate {
namespace {

using Field = double InvocationSummary::*;

// Which of a run's invocations enter.
enum class Part { kAll, kExtension };

struct Values {
  std::vector<double> logarithms;
  std::vector<int> blocks;
};

Values values_of(const BenchmarkSeries& series, Field field, Part part) {
  Values values;
  for (const InvocationSummary& summary : series.invocations) {
    if (part == Part::kExtension && !summary.extension) continue;
    values.logarithms.push_back(std::log(summary.*field));
    values.blocks.push_back(summary.block);
  }
  return values;
}

bool has_extension(const BenchmarkSeries& series) {
  return std::ranges::any_of(series.invocations, &InvocationSummary::extension);
}

double mean_log_time(const Comparison& comparison) {
  double sum = 0;
  std::size_t count = 0;
  for (const BenchmarkSeries* series : {comparison.baseline, comparison.candidate}) {
    for (const InvocationSummary& summary : series->invocations) sum += std::log(summary.time_ns);
    count += series->invocations.size();
  }
  return sum / static_cast<double>(count);
}

// A stored baseline has no extension, and stands whole against the candidate's.
TwoSides sides_of(const Comparison& comparison, Field field, const Circumstances& circumstances,
                  Part part = Part::kAll) {
  const Part baseline_part = has_extension(*comparison.baseline) ? part : Part::kAll;
  Values baseline = values_of(*comparison.baseline, field, baseline_part);
  Values candidate = values_of(*comparison.candidate, field, part);
  TwoSides sides;
  sides.baseline = std::move(baseline.logarithms);
  sides.candidate = std::move(candidate.logarithms);
  if (circumstances.side_by_side) {
    sides.baseline_blocks = std::move(baseline.blocks);
    sides.candidate_blocks = std::move(candidate.blocks);
  }
  sides.covariate = mean_log_time(comparison);
  return sides;
}

bool has_cycles(const BenchmarkSeries& series) {
  return std::ranges::all_of(series.invocations, [](const InvocationSummary& summary) {
    return std::isfinite(summary.cycles) && summary.cycles > 0;
  });
}

bool has_cycles(const Comparison& comparison) {
  return has_cycles(*comparison.baseline) && has_cycles(*comparison.candidate);
}

double p_slower(Contrast contrast, const Shift& shift, const Rule& rule) {
  return p_above(contrast, std::log1p(rule.min_effect) + shift.slower);
}

double p_faster(Contrast contrast, const Shift& shift, const Rule& rule) {
  contrast.effect = -contrast.effect;
  return p_above(contrast, std::log1p(rule.min_effect) + shift.faster);
}

class SuiteComparer {
 public:
  SuiteComparer(std::vector<Comparison>& suite, const Circumstances& circumstances,
                const Rule& rule)
      : suite_(suite), circumstances_(circumstances), rule_(rule) {}

  void compare() {
    mark();
    contrast_times();
    contrast_cycles();
    drift_ = drift_of(suite_);
    adjust(&Comparison::p_slower, [this](const Comparison& c) { return decide(c, p_slower); });
    adjust(&Comparison::p_faster, [this](const Comparison& c) { return decide(c, p_faster); });
    adjust(&Comparison::p_slower_in_time_alone, [this](const Comparison& c) {
      return p_slower(c.time, shift_for(c).time, rule_);
    });
    adjust(&Comparison::p_faster_in_time_alone, [this](const Comparison& c) {
      return p_faster(c.time, shift_for(c).time, rule_);
    });
    for (std::size_t i = 0; i < suite_.size(); ++i) confirm(i);
  }

 private:

  void mark() {
    for (Comparison& comparison : suite_) {
      const bool single_baseline = comparison.baseline->invocations.size() < 2;
      const bool single_candidate = comparison.candidate->invocations.size() < 2;
      comparison.has_single_invocation = single_baseline || single_candidate;
      comparison.has_borrowed_noise = single_baseline && single_candidate;
      comparison.is_control = is_control(comparison.candidate->name);
    }
  }

  void contrast_times() {
    std::vector<TwoSides> sides;
    for (const Comparison& comparison : suite_) {
      sides.push_back(sides_of(comparison, &InvocationSummary::time_ns, circumstances_));
    }
    const auto contrasts = moderated_contrasts(sides);
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      suite_[i].time = contrasts[i].contrast;
      time_variances_.push_back(contrasts[i].variance);
      if (!circumstances_.other_card) continue;
      add_variance(between_cards(*suite_[i].candidate).time, suite_[i].time);
    }
  }

  void contrast_cycles() {
    std::vector<TwoSides> sides;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      if (!has_cycles(suite_[i])) continue;
      places.push_back(i);
      sides.push_back(sides_of(suite_[i], &InvocationSummary::cycles, circumstances_));
    }
    cycle_variances_.resize(suite_.size());
    const auto contrasts = moderated_contrasts(sides);
    for (std::size_t i = 0; i < places.size(); ++i) {
      Comparison& comparison = suite_[places[i]];
      comparison.cycles = contrasts[i].contrast;
      cycle_variances_[places[i]] = contrasts[i].variance;
      if (!circumstances_.other_card) continue;
      add_variance(between_cards(*comparison.candidate).cycles, *comparison.cycles);
    }
  }

  // A control is measured by what all others are measured by: not by itself.
  Drift shift_for(const Comparison& comparison) const {
    return comparison.is_control ? Drift{} : drift_;
  }

  // Time and cycles must both say so: the larger p of the two.
  template <typename P>
  double decide(const Comparison& comparison, P p) const {
    const Drift drift = shift_for(comparison);
    const double p_time = p(comparison.time, drift.time, rule_);
    if (!comparison.cycles) return p_time;
    const double p_cycles = p(*comparison.cycles, drift.cycles, rule_);
    return circumstances_.cycles_alone ? p_cycles : std::max(p_time, p_cycles);
  }

  // Adjusts one p value a benchmark over the suite and puts it back.
  template <typename PValue>
  void adjust(double Comparison::*result, PValue p_value) {
    std::vector<double> p;
    for (const Comparison& comparison : suite_) p.push_back(p_value(comparison));
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < suite_.size(); ++i) suite_[i].*result = adjusted[i];
  }

  // The extension's own difference, with the noise that the whole run knows.
  double p_of_extension(const Comparison& comparison, Field field, const VarianceEstimate& noise,
                        const Shift& shift) const {
    const Difference difference =
        difference_of(sides_of(comparison, field, circumstances_, Part::kExtension));
    return p_slower({difference.effect, std::sqrt(noise.variance * difference.share),
                     noise.degrees_of_freedom},
                    shift, rule_);
  }

  void confirm(std::size_t i) {
    Comparison& comparison = suite_[i];
    comparison.confirming_invocations = static_cast<int>(
        std::ranges::count_if(comparison.candidate->invocations, &InvocationSummary::extension));
    if (comparison.confirming_invocations == 0) return;
    const Drift drift = shift_for(comparison);
    const double p_time = p_of_extension(comparison, &InvocationSummary::time_ns,
                                         time_variances_[i], drift.time);
    comparison.p_slower_confirmed = p_time;
    if (!comparison.cycles) return;
    const double p_cycles = p_of_extension(comparison, &InvocationSummary::cycles,
                                           cycle_variances_[i], drift.cycles);
    comparison.p_slower_confirmed =
        circumstances_.cycles_alone ? p_cycles : std::max(p_time, p_cycles);
  }

  std::vector<Comparison>& suite_;
  const Circumstances& circumstances_;
  const Rule& rule_;
  // Of one invocation, moderated over the suite.
  std::vector<VarianceEstimate> time_variances_;
  std::vector<VarianceEstimate> cycle_variances_;
  Drift drift_;
};

bool is_sustained(const Run& run) {
  const nlohmann::json& protocol = run.provenance.protocol;
  return protocol.is_object() && protocol.value("regime", nlohmann::json()) == "sustained";
}

}  // namespace

Circumstances circumstances_of(const Run& baseline, const Run& candidate) {
  const std::string& card = baseline.provenance.device_uuid;
  const std::string& other = candidate.provenance.device_uuid;
  return {.side_by_side = !baseline.session.empty() && baseline.session == candidate.session,
          .other_card = !card.empty() && !other.empty() && card != other,
          .cycles_alone = is_sustained(baseline) && is_sustained(candidate)};
}

void compare_suite(std::vector<Comparison>& suite, const Circumstances& circumstances,
                   const Rule& rule) {
  SuiteComparer(suite, circumstances, rule).compare();
}

}  // namespace fusegate
