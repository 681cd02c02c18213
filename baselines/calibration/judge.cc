#include "baselines/calibration/judge.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "baselines/calibration/draws.h"
#include "baselines/calibration/spread.h"
#include "baselines/comparing/families.h"
#include "baselines/comparing/judge.h"
#include "baselines/io/parallel.h"

namespace fusegate::baselines {
namespace {

struct Sides {
  Run baseline;
  Run candidate;
};

Sides sides_of(const CalibrationPool& pool, const Draw& draw) {
  Sides sides{drawn_run(pool.cards[draw.baseline_card], draw.baseline),
              drawn_run(pool.cards[draw.candidate_card], draw.candidate)};
  sides.baseline.session = draw.baseline_session;
  sides.candidate.session = draw.candidate_session;
  return sides;
}

void slow_down(BenchmarkSeries& series, double factor) {
  for (InvocationSummary& summary : series.invocations) {
    summary.time_ns *= factor;
    summary.cycles *= factor;
  }
}

bool has(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return std::ranges::any_of(verdicts, [kind](const Verdict& own) { return own.kind == kind; });
}

void add(const std::vector<Verdict>& verdicts, FalseAlarms& alarms) {
  alarms.regressions.add(has(verdicts, VerdictKind::kRegression));
  alarms.improvements.add(has(verdicts, VerdictKind::kImprovement));
}

void add(const Rate& more, Rate& sum) {
  sum.count += more.count;
  sum.of += more.of;
}

void add(const FalseAlarms& more, FalseAlarms& sum) {
  add(more.regressions, sum.regressions);
  add(more.improvements, sum.improvements);
}

void add(const Detection& more, Detection& sum) {
  for (std::size_t i = 0; i < sum.found.size(); ++i) add(more.found[i], sum.found[i]);
  add(more.outside, sum.outside);
}

PerClass<Quantiles> by_class(const std::vector<double>& values,
                             const std::vector<DurationClass>& classes) {
  PerClass<std::vector<double>> members;
  for (std::size_t i = 0; i < values.size(); ++i) {
    members[class_index(classes[i])].push_back(values[i]);
  }
  PerClass<Quantiles> result;
  std::ranges::transform(members, result.begin(), quantiles_of);
  return result;
}

// One draw by one rule.
struct JudgedDraw {
  FalseAlarms alarms;
  std::vector<double> detectable;
  std::vector<Detection> detection;
};

class DrawJudge {
 public:
  DrawJudge(const CalibrationPool& pool, const std::vector<DurationClass>& classes,
            const std::vector<Rule>& rules, const CalibrationOptions& options)
      : pool_(pool), classes_(classes), rules_(rules), options_(options) {
    for (const BenchmarkSeries& series : pool.cards.front().run.benchmarks) {
      family_.push_back(series.is_control ? std::nullopt : std::optional(family_of(series.name)));
      const bool known = std::ranges::find(families_, family_.back()) != families_.end();
      if (family_.back() && !known) families_.push_back(*family_.back());
    }
  }

  // One result a rule. Families are slowed in turn, so that each is as often.
  std::vector<JudgedDraw> judge_with_slowdowns(const Draw& draw, std::size_t number) const {
    Sides sides = sides_of(pool_, draw);
    std::vector<JudgedDraw> judged(rules_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const auto verdicts = judge(sides.baseline, sides.candidate, rules_[i]);
      add(verdicts, judged[i].alarms);
      for (const Verdict& verdict : verdicts) {
        judged[i].detectable.push_back(verdict.smallest_detectable);
      }
    }
    if (families_.empty()) return judged;
    const std::string_view slowed = families_[number % families_.size()];
    double slowed_so_far = 1;
    for (const double slowdown : options_.slowdowns) {
      slow_family(sides.candidate, slowed, (1 + slowdown) / slowed_so_far);
      slowed_so_far = 1 + slowdown;
      for (std::size_t i = 0; i < rules_.size(); ++i) {
        const auto verdicts = judge(sides.baseline, sides.candidate, rules_[i]);
        judged[i].detection.push_back(detection(verdicts, slowed, slowdown));
      }
    }
    return judged;
  }

  std::vector<FalseAlarms> judge_unchanged(const Draw& draw) const {
    const Sides sides = sides_of(pool_, draw);
    std::vector<FalseAlarms> alarms(rules_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      add(judge(sides.baseline, sides.candidate, rules_[i]), alarms[i]);
    }
    return alarms;
  }

 private:
  void slow_family(Run& run, std::string_view family, double factor) const {
    for (std::size_t i = 0; i < family_.size(); ++i) {
      if (family_[i] == family) slow_down(run.benchmarks[i], factor);
    }
  }

  // Verdicts come sorted by name, as the pool's benchmarks are.
  Detection detection(const std::vector<Verdict>& verdicts, std::string_view slowed,
                      double slowdown) const {
    Detection result;
    result.slowdown = slowdown;
    bool outside = false;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const bool called = verdicts[i].kind == VerdictKind::kRegression;
      if (family_[i] == slowed) {
        result.found[class_index(classes_[i])].add(called);
      } else {
        outside = outside || called;
      }
    }
    result.outside.add(outside);
    return result;
  }

  const CalibrationPool& pool_;
  const std::vector<DurationClass>& classes_;
  const std::vector<Rule>& rules_;
  const CalibrationOptions& options_;
  std::vector<std::string_view> families_;               // each once
  std::vector<std::optional<std::string_view>> family_;  // of each benchmark; nothing: a control
};

using DrawFunction = std::optional<Draw> (*)(const CalibrationPool&, int, std::mt19937_64&);

std::vector<Draw> draws_of(DrawFunction draw, const CalibrationPool& pool,
                           const CalibrationOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<Draw> draws;
  for (int i = 0; i < options.comparisons; ++i) {
    auto drawn = draw(pool, options.side, random);
    if (!drawn) break;
    draws.push_back(std::move(*drawn));
  }
  return draws;
}

// Sums the draws up by one rule; the result is a benchmark's median over the draws.
std::vector<double> sum_up(const std::vector<std::vector<JudgedDraw>>& judged, std::size_t rule,
                           const std::vector<DurationClass>& classes, DrawnCalibration& sum) {
  for (const auto& draw : judged) {
    add(draw[rule].alarms, sum.alarms);
    if (sum.detection.empty()) sum.detection.resize(draw[rule].detection.size());
    for (std::size_t i = 0; i < sum.detection.size(); ++i) {
      sum.detection[i].slowdown = draw[rule].detection[i].slowdown;
      add(draw[rule].detection[i], sum.detection[i]);
    }
  }
  std::vector<double> detectable;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    std::vector<double> values;
    for (const auto& draw : judged) values.push_back(draw[rule].detectable[i]);
    detectable.push_back(median(std::move(values)));
  }
  sum.smallest_detectable = by_class(detectable, classes);
  return detectable;
}

std::vector<std::vector<JudgedDraw>> judge_all(const DrawJudge& judge,
                                               const std::vector<Draw>& draws) {
  std::vector<std::vector<JudgedDraw>> judged(draws.size());
  in_parallel(draws.size(),
              [&](std::size_t i) { judged[i] = judge.judge_with_slowdowns(draws[i], i); });
  return judged;
}

// where: the place in the calibration where a draw counts.
template <typename Where>
void add_unchanged(const DrawJudge& judge, const std::vector<Draw>& draws,
                   std::vector<RuleCalibration>& rules, Where where) {
  std::vector<std::vector<FalseAlarms>> alarms(draws.size());
  in_parallel(draws.size(), [&](std::size_t i) { alarms[i] = judge.judge_unchanged(draws[i]); });
  for (std::size_t i = 0; i < draws.size(); ++i) {
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      add(alarms[i][rule], rules[rule].*where(draws[i]));
    }
  }
}

}  // namespace

JudgedDraws judge_draws(const CalibrationPool& pool, const std::vector<DurationClass>& classes,
                        const std::vector<Rule>& rules, const CalibrationOptions& options) {
  JudgedDraws result;
  for (const Rule& rule : rules) result.rules.emplace_back().rule = rule;
  const DrawJudge judge(pool, classes, rules, options);
  const auto same_card = judge_all(judge, draws_of(draw_same_card, pool, options));
  const auto side_by_side = judge_all(judge, draws_of(draw_side_by_side, pool, options));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    auto detectable = sum_up(same_card, i, classes, result.rules[i].same_card);
    sum_up(side_by_side, i, classes, result.rules[i].side_by_side);
    if (i == 0) result.detectable = std::move(detectable);
  }
  add_unchanged(judge, draws_of(draw_other_card, pool, options), result.rules,
                [](const Draw&) { return &RuleCalibration::other_card; });
  add_unchanged(judge, whole_runs(pool), result.rules, [](const Draw& draw) {
    return draw.baseline_card == draw.candidate_card ? &RuleCalibration::same_card_runs
                                                     : &RuleCalibration::other_card_runs;
  });
  return result;
}

}  // namespace fusegate::baselines
