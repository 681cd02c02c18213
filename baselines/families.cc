#include "baselines/families.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "baselines/family_contrast.h"
#include "baselines/family_members.h"
#include "baselines/family_ranges.h"

namespace fusegate {
namespace {

// One benchmark as both runs and the verdict have it.
struct Measured {
  const Verdict* verdict = nullptr;
  const BenchmarkSeries* baseline = nullptr;
  const BenchmarkSeries* candidate = nullptr;
};

using MeasuredByName = std::map<std::string, Measured>;

bool is_usable(const Contrast& contrast) {
  return contrast.degrees_of_freedom > 0 && std::isfinite(contrast.effect) &&
         std::isfinite(contrast.standard_error) && contrast.standard_error > 0;
}

// A single invocation may be the odd one out, in all benchmarks at once.
bool is_readable(const Measured& measured) {
  return measured.baseline && measured.candidate && is_usable(measured.verdict->log_time) &&
         measured.verdict->baseline_invocations > 1 && measured.verdict->candidate_invocations > 1;
}

MeasuredByName readable(const Run& baseline, const Run& candidate,
                        const std::vector<Verdict>& verdicts) {
  MeasuredByName all;
  for (const Verdict& verdict : verdicts) all[verdict.benchmark].verdict = &verdict;
  const auto add = [&](const Run& run, const BenchmarkSeries* Measured::*side) {
    for (const BenchmarkSeries& series : run.benchmarks) {
      const auto found = all.find(series.name);
      if (found != all.end()) found->second.*side = &series;
    }
  };
  add(baseline, &Measured::baseline);
  add(candidate, &Measured::candidate);
  std::erase_if(all, [](const auto& entry) { return !is_readable(entry.second); });
  return all;
}

std::vector<double> logarithms(const BenchmarkSeries& series, double InvocationSummary::*field) {
  std::vector<double> values;
  for (const InvocationSummary& summary : series.invocations) {
    values.push_back(std::log(summary.*field));
  }
  return values;
}

// A range before it is known whether there is anything to say of it.
struct Range {
  FamilyFinding finding;
  RangeContrast time;
  std::optional<RangeContrast> cycles;
};

void add_rows(const std::vector<Measured>& rows, const PooledEffects& pooled,
              FamilyFinding& finding) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Verdict& verdict = *rows[i].verdict;
    finding.rows.push_back(
        {verdict.benchmark, verdict.kind, verdict.effect_time, std::expm1(pooled.shrunken[i])});
    finding.regressions += verdict.kind == VerdictKind::kRegression;
    finding.improvements += verdict.kind == VerdictKind::kImprovement;
  }
}

// Cuts families into ranges and pools each.
class RangeReader {
 public:
  RangeReader(const MeasuredByName& measured, const Rule& rule)
      : measured_(measured), rule_(rule), estimates_(rule.confidence) {}

  void read_family(const Family& family) {
    if (family.members.size() < 2) return;
    std::vector<FamilyPoint> points;
    for (const FamilyMember& member : family.members) {
      const Contrast& contrast = measured_.at(member.benchmark).verdict->log_time;
      points.push_back({member.position, estimates_.of(contrast)});
    }
    for (const auto& part : agreeing_ranges(points, std::log1p(rule_.min_effect))) {
      std::vector<Measured> rows;
      for (const std::size_t i : part) rows.push_back(measured_.at(family.members[i].benchmark));
      ranges_.push_back(read_range(rows));
      const FamilyRange names = describe_range(family, part);
      ranges_.back().finding.family = names.family;
      ranges_.back().finding.range = names.range;
    }
  }
  std::vector<Range> take() { return std::move(ranges_); }

 private:
  RangeContrast pooled(const std::vector<Measured>& rows, Contrast Verdict::*contrast,
                       double InvocationSummary::*field) {
    std::vector<RangeRow> range;
    for (const Measured& row : rows) {
      range.push_back({row.verdict->*contrast, logarithms(*row.baseline, field),
                       logarithms(*row.candidate, field)});
    }
    return contrast_of_range(range, estimates_);
  }

  Range read_range(const std::vector<Measured>& rows) {
    Range range;
    range.time = pooled(rows, &Verdict::log_time, &InvocationSummary::time_ns);
    const bool have_cycles = std::ranges::all_of(
        rows, [](const Measured& row) { return is_usable(row.verdict->log_cycles); });
    if (have_cycles) range.cycles = pooled(rows, &Verdict::log_cycles, &InvocationSummary::cycles);
    FamilyFinding& finding = range.finding;
    const Interval interval = confidence_interval(range.time.contrast, rule_.confidence);
    finding.effect_time = std::expm1(range.time.contrast.effect);
    finding.interval = {std::expm1(interval.low), std::expm1(interval.high)};
    finding.effect_cycles = have_cycles ? std::expm1(range.cycles->contrast.effect)
                                        : std::numeric_limits<double>::quiet_NaN();
    finding.heterogeneity = range.time.pooled.heterogeneity;
    finding.spread = std::expm1(std::sqrt(range.time.pooled.tau_squared));
    finding.rows_differ = finding.spread > rule_.min_effect;
    add_rows(rows, range.time.pooled, finding);
    return range;
  }

  const MeasuredByName& measured_;
  const Rule& rule_;
  NormalEstimates estimates_;
  std::vector<Range> ranges_;
};

// As for a single benchmark: against the smallest effect that matters, and time and cycles must
// agree.
double p_beyond(const Range& range, double direction, const Rule& rule) {
  const auto p = [&](Contrast contrast) {
    contrast.effect *= direction;
    return p_above(contrast, std::log1p(rule.min_effect));
  };
  return std::max(p(range.time.contrast), range.cycles ? p(range.cycles->contrast) : 0);
}

// Adjusted over the ranges that could be called, in their order.
std::vector<double> adjusted_p(const std::vector<Range>& ranges, double direction,
                               const Rule& rule) {
  std::vector<double> p;
  for (const Range& range : ranges) {
    if (range.finding.rows.size() > 1) p.push_back(p_beyond(range, direction, rule));
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
    return std::tuple(faster, faster ? finding.effect_time : -finding.effect_time);
  });
}

}  // namespace

std::string_view trend_name(FamilyTrend trend) {
  return trend == FamilyTrend::kSlower ? "slower" : "faster";
}

std::vector<FamilyFinding> find_families(const Run& baseline, const Run& candidate,
                                         const std::vector<Verdict>& verdicts, const Rule& rule) {
  const MeasuredByName measured = readable(baseline, candidate, verdicts);
  std::vector<std::string> names;
  for (const auto& [name, row] : measured) names.push_back(name);
  RangeReader reader(measured, rule);
  for (const Family& family : families_of(names)) reader.read_family(family);
  std::vector<Range> ranges = reader.take();
  const std::vector<double> p_slower = adjusted_p(ranges, 1, rule);
  const std::vector<double> p_faster = adjusted_p(ranges, -1, rule);
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

}  // namespace fusegate
