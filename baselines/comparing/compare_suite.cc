#include "baselines/comparing/compare_suite.h"

#include <algorithm>
#include <cmath>

#include "baselines/comparing/between_cards.h"
#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/drift.h"
#include "baselines/statistics/moderated_contrasts.h"

namespace fusegate::baselines {
namespace {

// The three quantities in which two runs are compared: time, cycles, and time at equal clock. What
// belongs to each lies in places of its own, which this names.
struct Quantity {
  double (*share)(const Comparison&);  // for log_at_share()
  const Contrast& (*contrast)(const Comparison&);
  VarianceEstimate BetweenCards::*cards;
  Shift Drift::*shift;
};

constexpr Quantity kTime{[](const Comparison&) { return 0.0; },
                         [](const Comparison& c) -> const Contrast& { return c.time; },
                         &BetweenCards::time, &Drift::time};
constexpr Quantity kCycles{[](const Comparison&) { return 1.0; },
                           [](const Comparison& c) -> const Contrast& { return *c.cycles; },
                           &BetweenCards::cycles, &Drift::cycles};
constexpr Quantity kEqualClock{
    [](const Comparison& c) { return c.clock_share; },
    [](const Comparison& c) -> const Contrast& { return *c.equal_clock; },
    &BetweenCards::equal_clock, &Drift::equal_clock};

// p of an effect in the direction (1: slower, -1: faster) beyond the smallest that matters and what
// the machine moved by.
double p_beyond(Contrast contrast, double direction, const Shift& shift, const Rule& rule) {
  contrast.effect *= direction;
  const double moved = direction > 0 ? shift.slower : shift.faster;
  return p_above(contrast, std::log1p(rule.min_effect) + moved);
}

// The one that decides. have_cycles: of all that is compared.
const Quantity& deciding_quantity(bool have_cycles, const Circumstances& circumstances) {
  if (!have_cycles) return kTime;
  return circumstances.cycles_alone ? kCycles : kEqualClock;
}

// Which of a run's invocations enter.
enum class Part { kAll, kExtension };

struct Values {
  std::vector<double> logarithms;
  std::vector<int> blocks;
};

Values values_of(const BenchmarkSeries& series, double share, Part part) {
  Values values;
  for (const InvocationSummary& summary : series.invocations) {
    if (part == Part::kExtension && !summary.extension) continue;
    values.logarithms.push_back(log_at_share(summary, share));
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
// share: which quantity (log_at_share()).
TwoSides sides_of(const Comparison& comparison, double share, const Circumstances& circumstances,
                  Part part = Part::kAll) {
  const Part baseline_part = has_extension(*comparison.baseline) ? part : Part::kAll;
  Values baseline = values_of(*comparison.baseline, share, baseline_part);
  Values candidate = values_of(*comparison.candidate, share, part);
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

bool has_cycles(const Comparison& comparison) {
  return has_cycles(*comparison.baseline) && has_cycles(*comparison.candidate);
}

class SuiteComparer {
 public:
  SuiteComparer(std::vector<Comparison>& suite, const Circumstances& circumstances,
                const Rule& rule)
      : suite_(suite), circumstances_(circumstances), rule_(rule), noise_(suite.size()) {}

  void compare() {
    mark();
    contrast_all();
    drift_ = drift_of(suite_);
    adjust(&Comparison::p_slower, [this](std::size_t i) { return decide(i, 1); });
    adjust(&Comparison::p_faster, [this](std::size_t i) { return decide(i, -1); });
    adjust(&Comparison::p_slower_in_time_alone, [this](std::size_t i) {
      return p_beyond(suite_[i].time, 1, drift_for(suite_[i]).time, rule_);
    });
    adjust(&Comparison::p_faster_in_time_alone, [this](std::size_t i) {
      return p_beyond(suite_[i].time, -1, drift_for(suite_[i]).time, rule_);
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
      comparison.is_identical = equal_work(*comparison.baseline, *comparison.candidate);
      if (has_cycles(comparison)) {
        comparison.clock_share = clock_share({comparison.baseline, comparison.candidate});
      }
    }
  }

  void contrast_all() {
    contrast(kTime, [](Comparison& comparison) -> Contrast& { return comparison.time; });
    contrast(kCycles,
             [](Comparison& comparison) -> Contrast& { return comparison.cycles.emplace(); });
    contrast(kEqualClock,
             [](Comparison& comparison) -> Contrast& { return comparison.equal_clock.emplace(); });
  }

  // Over the suite's benchmarks that have the quantity. Keeps the noise of the one that decides.
  template <typename Place>
  void contrast(const Quantity& quantity, Place place) {
    std::vector<TwoSides> sides;
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < suite_.size(); ++i) {
      if (&quantity != &kTime && !has_cycles(suite_[i])) continue;
      members.push_back(i);
      sides.push_back(sides_of(suite_[i], quantity.share(suite_[i]), circumstances_));
    }
    const auto contrasts = moderated_contrasts(sides);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Comparison& comparison = suite_[members[i]];
      Contrast& result = place(comparison);
      result = contrasts[i].contrast;
      if (&quantity == &deciding(comparison)) noise_[members[i]] = contrasts[i].variance;
      if (circumstances_.other_card) {
        add_variance(between_cards(*comparison.candidate).*quantity.cards, result);
      }
    }
  }

  const Quantity& deciding(const Comparison& comparison) const {
    return deciding_quantity(has_cycles(comparison), circumstances_);
  }

  // A control is measured by what all others are measured by: not by itself.
  Drift drift_for(const Comparison& comparison) const {
    return comparison.is_control ? Drift{} : drift_;
  }

  double decide(std::size_t i, double direction) const {
    const Comparison& comparison = suite_[i];
    const bool both_must_show = comparison.equal_clock && !circumstances_.cycles_alone;
    if (both_must_show && !both_show(comparison.time, *comparison.cycles, direction, rule_)) {
      return 1;
    }
    return p_beyond(comparison.stated(circumstances_), direction,
                    drift_for(comparison).*deciding(comparison).shift, rule_);
  }

  // Adjusts one p value a benchmark over the suite and puts it back.
  template <typename PValue>
  void adjust(double Comparison::*result, PValue p_value) {
    std::vector<double> p;
    for (std::size_t i = 0; i < suite_.size(); ++i) p.push_back(p_value(i));
    const std::vector<double> adjusted = benjamini_hochberg(p);
    for (std::size_t i = 0; i < suite_.size(); ++i) suite_[i].*result = adjusted[i];
  }

  // By the extension's own difference, with the noise that the whole run knows.
  void confirm(std::size_t i) {
    Comparison& comparison = suite_[i];
    comparison.confirming_invocations = static_cast<int>(
        std::ranges::count_if(comparison.candidate->invocations, &InvocationSummary::extension));
    if (comparison.confirming_invocations == 0) return;
    const double share = deciding(comparison).share(comparison);
    const Difference difference =
        difference_of(sides_of(comparison, share, circumstances_, Part::kExtension));
    comparison.p_slower_confirmed =
        p_beyond({difference.effect, std::sqrt(noise_[i].variance * difference.share),
                  noise_[i].degrees_of_freedom},
                 1, drift_for(comparison).*deciding(comparison).shift, rule_);
  }

  std::vector<Comparison>& suite_;
  const Circumstances& circumstances_;
  const Rule& rule_;
  // Of one invocation, moderated over the suite, in the quantity that decides.
  std::vector<VarianceEstimate> noise_;
  Drift drift_;
};

}  // namespace

void compare_suite(std::vector<Comparison>& suite, const Circumstances& circumstances,
                   const Rule& rule) {
  SuiteComparer(suite, circumstances, rule).compare();
}

}  // namespace fusegate::baselines
