#include "baselines/comparing/families.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "baselines/comparing/between_cards.h"
#include "baselines/comparing/clock_share.h"
#include "baselines/comparing/comparison.h"
#include "baselines/comparing/drift.h"
#include "baselines/comparing/family_contrast.h"
#include "baselines/comparing/family_members.h"
#include "baselines/comparing/family_ranges.h"
#include "baselines/comparing/quantity.h"

namespace fusegate::baselines {
namespace {

// One benchmark as both runs and the verdict have it.
struct Measured {
  const Verdict* verdict = nullptr;
  Comparison comparison;
};

using MeasuredByName = std::map<std::string, Measured>;

bool is_usable(const Contrast& contrast) {
  return contrast.degrees_of_freedom > 0 && std::isfinite(contrast.effect) &&
         std::isfinite(contrast.standard_error) && contrast.standard_error > 0;
}

// Whether anything is left without what was measured afresh, which is some benchmarks' alone.
bool is_measured(const BenchmarkSeries* series) {
  return series && !std::ranges::all_of(series->invocations, &InvocationSummary::extension);
}

// A single invocation may be the odd one out, in all benchmarks at once.
bool is_readable(const Measured& measured) {
  const Comparison& comparison = measured.comparison;
  return is_measured(comparison.baseline) && is_measured(comparison.candidate) &&
         is_usable(comparison.time) && !comparison.has_single_invocation;
}

Measured measured_of(const Verdict& verdict) {
  Measured measured{&verdict, {}};
  measured.comparison.time = verdict.log_time;
  if (is_usable(verdict.log_cycles)) {
    measured.comparison.cycles = verdict.log_cycles;
    measured.comparison.equal_clock = verdict.log_equal_clock;
    measured.comparison.clock_share = verdict.clock_share;
  }
  measured.comparison.is_control = verdict.is_control;
  measured.comparison.has_single_invocation =
      verdict.baseline_invocations < 2 || verdict.candidate_invocations < 2;
  return measured;
}

MeasuredByName readable(const Run& baseline, const Run& candidate,
                        const std::vector<Verdict>& verdicts) {
  MeasuredByName all;
  for (const Verdict& verdict : verdicts) all[verdict.benchmark] = measured_of(verdict);
  const auto add = [&](const Run& run, const BenchmarkSeries* Comparison::*side) {
    for (const BenchmarkSeries& series : run.benchmarks) {
      const auto found = all.find(series.name);
      if (found != all.end()) found->second.comparison.*side = &series;
    }
  };
  add(baseline, &Comparison::baseline);
  add(candidate, &Comparison::candidate);
  std::erase_if(all, [](const auto& entry) { return !is_readable(entry.second); });
  return all;
}

// How far the machine moved, by the controls.
Drift drift_of(const MeasuredByName& measured) {
  std::vector<Comparison> suite;
  for (const auto& [name, row] : measured) suite.push_back(row.comparison);
  return drift_of(suite);
}

void add_values(const BenchmarkSeries& series, double clock_share, std::vector<double>& logarithms,
                std::vector<int>& blocks) {
  for (const InvocationSummary& summary : series.invocations) {
    if (summary.extension) continue;
    logarithms.push_back(log_at_share(summary, clock_share));
    blocks.push_back(summary.block);
  }
}

// A range before it is known whether there is anything to say of it.
struct Range {
  FamilyFinding finding;
  Contrast time;
  std::optional<Contrast> cycles;  // where every row has them
  Contrast stated;
  Shift Drift::*shift = &Drift::time;  // of what is stated
  bool both_must_show = false;         // time and cycles
};

// Cuts families into ranges and pools each.
class RangeReader {
 public:
  RangeReader(const MeasuredByName& measured, const Circumstances& circumstances, const Rule& rule)
      : measured_(measured),
        circumstances_(circumstances),
        rule_(rule),
        estimates_(rule.confidence) {}

  void read_family(const Family& family) {
    if (family.members.size() < 2) return;
    std::vector<FamilyPoint> points;
    for (const FamilyMember& member : family.members) {
      const Comparison& comparison = measured_.at(member.benchmark).comparison;
      points.push_back({member.position, estimates_.of(comparison.stated(circumstances_))});
    }
    for (const auto& part : agreeing_ranges(points, std::log1p(rule_.min_effect))) {
      std::vector<const Measured*> rows;
      for (const std::size_t i : part) rows.push_back(&measured_.at(family.members[i].benchmark));
      ranges_.push_back(read_range(rows));
      const FamilyRange names = describe_range(family, part);
      ranges_.back().finding.family = names.family;
      ranges_.back().finding.range = names.range;
    }
  }
  std::vector<Range> take() { return std::move(ranges_); }

 private:
  // share: which quantity (log_at_share()).
  TwoSides sides_of(const Comparison& comparison, double share) const {
    TwoSides sides;
    add_values(*comparison.baseline, share, sides.baseline, sides.baseline_blocks);
    add_values(*comparison.candidate, share, sides.candidate, sides.candidate_blocks);
    if (circumstances_.side_by_side) return sides;
    sides.baseline_blocks.clear();
    sides.candidate_blocks.clear();
    return sides;
  }

  RangeContrast pooled(const std::vector<const Measured*>& rows, const Quantity& quantity) {
    std::vector<RangeRow> range;
    for (const Measured* row : rows) {
      const Comparison& comparison = row->comparison;
      range.push_back({quantity.contrast(comparison),
                       sides_of(comparison, quantity.share(comparison)), std::nullopt});
      if (circumstances_.other_card) {
        range.back().between_cards = between_cards(*comparison.candidate).*quantity.cards;
      }
    }
    return contrast_of_range(range, estimates_);
  }

  void add_rows(const std::vector<const Measured*>& rows, const PooledEffects& pooled,
                FamilyFinding& finding) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Verdict& verdict = *rows[i]->verdict;
      const Contrast& stated = rows[i]->comparison.stated(circumstances_);
      finding.rows.push_back({verdict.benchmark, verdict.kind, std::expm1(stated.effect),
                              std::expm1(pooled.shrunken[i])});
      finding.regressions += verdict.kind == VerdictKind::kRegression;
      finding.improvements += verdict.kind == VerdictKind::kImprovement;
    }
  }

  Range read_range(const std::vector<const Measured*>& rows) {
    Range range;
    const bool have_cycles = std::ranges::all_of(
        rows, [](const Measured* row) { return row->comparison.cycles.has_value(); });
    const Quantity& deciding = deciding_quantity(have_cycles, circumstances_);
    const RangeContrast stated = pooled(rows, deciding);
    range.stated = stated.contrast;
    range.shift = deciding.shift;
    range.both_must_show = have_cycles && !circumstances_.cycles_alone;
    range.time = pooled(rows, kTime).contrast;
    if (have_cycles) range.cycles = pooled(rows, kCycles).contrast;
    FamilyFinding& finding = range.finding;
    finding.effect = std::expm1(range.stated.effect);
    finding.effect_time = std::expm1(range.time.effect);
    finding.effect_cycles =
        have_cycles ? std::expm1(range.cycles->effect) : std::numeric_limits<double>::quiet_NaN();
    const Interval interval = confidence_interval(range.stated, rule_.confidence);
    finding.interval = {std::expm1(interval.low), std::expm1(interval.high)};
    finding.heterogeneity = stated.pooled.heterogeneity;
    finding.spread = std::expm1(std::sqrt(stated.pooled.tau_squared));
    finding.rows_differ = finding.spread > rule_.min_effect;
    add_rows(rows, stated.pooled, finding);
    return range;
  }

  const MeasuredByName& measured_;
  const Circumstances& circumstances_;
  const Rule& rule_;
  NormalEstimates estimates_;
  std::vector<Range> ranges_;
};

// As for a single benchmark.
double p_of_trend(const Range& range, double direction, const Drift& drift, const Rule& rule) {
  if (range.both_must_show && !both_show(range.time, *range.cycles, direction, rule)) return 1;
  return p_beyond(range.stated, direction, drift.*range.shift, rule);
}

// Adjusted over the ranges that could be called, in their order.
std::vector<double> adjusted_p(const std::vector<Range>& ranges, double direction,
                               const Drift& drift, const Rule& rule) {
  std::vector<double> p;
  for (const Range& range : ranges) {
    if (range.finding.rows.size() > 1) p.push_back(p_of_trend(range, direction, drift, rule));
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  std::vector<double> all(ranges.size(), 1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].finding.rows.size() > 1) all[i] = adjusted[next++];
  }
  return all;
}

// Whether there is anything to say; the trend is set where there is.
bool tells(FamilyFinding& finding, double p_slower, double p_faster, double level) {
  const bool slower = p_slower <= level || finding.regressions > 0;
  const bool faster = p_faster <= level || finding.improvements > 0;
  finding.trend = slower ? FamilyTrend::kSlower : FamilyTrend::kFaster;
  finding.p = slower ? p_slower : p_faster;
  finding.certain_together = finding.p <= level;
  return slower || faster;
}

void most_severe_first(std::vector<FamilyFinding>& findings) {
  std::ranges::stable_sort(findings, {}, [](const FamilyFinding& finding) {
    const bool faster = finding.trend == FamilyTrend::kFaster;
    return std::tuple(faster, faster ? finding.effect : -finding.effect);
  });
}

}  // namespace

std::string_view trend_name(FamilyTrend trend) {
  return trend == FamilyTrend::kSlower ? "slower" : "faster";
}

std::vector<FamilyFinding> find_families(const Run& baseline, const Run& candidate,
                                         const std::vector<Verdict>& verdicts, const Rule& rule) {
  const MeasuredByName measured = readable(baseline, candidate, verdicts);
  const Circumstances circumstances = circumstances_of(baseline, candidate);
  std::vector<std::string> names;
  for (const auto& [name, row] : measured) {
    if (!row.comparison.is_control) names.push_back(name);
  }
  RangeReader reader(measured, circumstances, rule);
  for (const Family& family : families_of(names)) reader.read_family(family);
  std::vector<Range> ranges = reader.take();
  const Drift drift = drift_of(measured);
  const std::vector<double> p_slower = adjusted_p(ranges, 1, drift, rule);
  const std::vector<double> p_faster = adjusted_p(ranges, -1, drift, rule);
  std::vector<FamilyFinding> findings;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    FamilyFinding& finding = ranges[i].finding;
    if (tells(finding, p_slower[i], p_faster[i], rule.false_discovery_rate)) {
      findings.push_back(std::move(finding));
    }
  }
  most_severe_first(findings);
  return findings;
}

}  // namespace fusegate::baselines
