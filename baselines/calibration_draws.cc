#include "baselines/calibration_draws.h"

#include <algorithm>
#include <boost/math/special_functions/binomial.hpp>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>

#include "baselines/parallel.h"

namespace fusegate {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// The gate calls nothing where a side has a single invocation.
constexpr std::size_t kSmallestSide = 2;

struct SideSizes {
  std::size_t baseline = 0;
  std::size_t candidate = 0;
};

SideSizes side_sizes(std::size_t invocations, int side) {
  const auto wanted = static_cast<std::size_t>(side);
  return {std::min(wanted, invocations - invocations / 2), std::min(wanted, invocations / 2)};
}

std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  return order;
}

std::vector<std::size_t> cards_with(const CalibrationPool& pool, std::size_t invocations) {
  std::vector<std::size_t> cards;
  for (std::size_t i = 0; i < pool.cards.size(); ++i) {
    if (pool.cards[i].invocations() >= invocations) cards.push_back(i);
  }
  return cards;
}

// The cards that draw_same_card() takes.
std::vector<std::size_t> cards_for_both_sides(const CalibrationPool& pool, int side) {
  const auto full = cards_with(pool, 2 * static_cast<std::size_t>(side));
  return full.empty() ? cards_with(pool, 2 * kSmallestSide) : full;
}

std::size_t one_of(const std::vector<std::size_t>& values, std::mt19937_64& random) {
  return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

struct Sides {
  Run baseline;
  Run candidate;
};

Sides sides_of(const CalibrationPool& pool, const Draw& draw) {
  return {drawn_run(pool.cards[draw.baseline_card], draw.baseline),
          drawn_run(pool.cards[draw.candidate_card], draw.candidate)};
}

void slow_down(BenchmarkSeries& series, double factor) {
  for (InvocationSummary& summary : series.invocations) {
    summary.time_ns *= factor;
    summary.cycles *= factor;
  }
}

bool has(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return std::ranges::any_of(verdicts, [kind](const Verdict& v) { return v.kind == kind; });
}

void add(const std::vector<Verdict>& verdicts, FalseAlarms& alarms) {
  alarms.regressions.add(has(verdicts, VerdictKind::kRegression));
  alarms.improvements.add(has(verdicts, VerdictKind::kImprovement));
}

void add(const FalseAlarms& more, FalseAlarms& sum) {
  for (const auto rate : {&FalseAlarms::regressions, &FalseAlarms::improvements}) {
    (sum.*rate).count += (more.*rate).count;
    (sum.*rate).of += (more.*rate).of;
  }
}

void add(const Detection& more, Detection& sum) {
  for (std::size_t i = 0; i < sum.found.size(); ++i) {
    sum.found[i].count += more.found[i].count;
    sum.found[i].of += more.found[i].of;
  }
  sum.outside.count += more.outside.count;
  sum.outside.of += more.outside.of;
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
      const std::string_view family = family_of(series.name);
      const auto found = std::ranges::find(families_, family);
      family_.push_back(static_cast<std::size_t>(found - families_.begin()));
      if (found == families_.end()) families_.push_back(family);
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
    const std::size_t slowed = number % families_.size();
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
  void slow_family(Run& run, std::size_t family, double factor) const {
    for (std::size_t i = 0; i < family_.size(); ++i) {
      if (family_[i] == family) slow_down(run.benchmarks[i], factor);
    }
  }

  // Verdicts come sorted by name, as the pool's benchmarks are.
  Detection detection(const std::vector<Verdict>& verdicts, std::size_t slowed,
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
  std::vector<std::string_view> families_;
  std::vector<std::size_t> family_;  // of each benchmark
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

void add_same_card(const DrawJudge& judge, const std::vector<Draw>& draws,
                   std::vector<RuleDraws>& rules) {
  std::vector<std::vector<JudgedDraw>> judged(draws.size());
  in_parallel(draws.size(),
              [&](std::size_t i) { judged[i] = judge.judge_with_slowdowns(draws[i], i); });
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    RuleCalibration& sum = rules[rule].calibration;
    for (const auto& draw : judged) {
      add(draw[rule].alarms, sum.same_card);
      for (std::size_t i = 0; i < sum.detection.size(); ++i) {
        add(draw[rule].detection[i], sum.detection[i]);
      }
    }
    for (std::size_t i = 0; i < rules[rule].detectable.size(); ++i) {
      std::vector<double> values;
      for (const auto& draw : judged) values.push_back(draw[rule].detectable[i]);
      rules[rule].detectable[i] = median(std::move(values));
    }
  }
}

// where: the place in the calibration where a draw counts.
template <typename Where>
void add_unchanged(const DrawJudge& judge, const std::vector<Draw>& draws,
                   std::vector<RuleDraws>& rules, Where where) {
  std::vector<std::vector<FalseAlarms>> alarms(draws.size());
  in_parallel(draws.size(), [&](std::size_t i) { alarms[i] = judge.judge_unchanged(draws[i]); });
  for (std::size_t i = 0; i < draws.size(); ++i) {
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      add(alarms[i][rule], rules[rule].calibration.*where(draws[i]));
    }
  }
}

}  // namespace

std::optional<Draw> draw_same_card(const CalibrationPool& pool, int side, std::mt19937_64& random) {
  const auto cards = cards_for_both_sides(pool, side);
  if (cards.empty()) return std::nullopt;
  Draw draw;
  draw.baseline_card = draw.candidate_card = one_of(cards, random);
  const std::size_t invocations = pool.cards[draw.baseline_card].invocations();
  const SideSizes sizes = side_sizes(invocations, side);
  const auto order = shuffled(invocations, random);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(sizes.baseline);
  draw.baseline.assign(order.begin(), middle);
  draw.candidate.assign(middle, middle + static_cast<std::ptrdiff_t>(sizes.candidate));
  return draw;
}

std::optional<Draw> draw_other_card(const CalibrationPool& pool, int side,
                                    std::mt19937_64& random) {
  auto cards = cards_with(pool, kSmallestSide);
  if (cards.size() < 2) return std::nullopt;
  std::ranges::shuffle(cards, random);
  const auto side_of = [&](std::size_t card) {
    auto order = shuffled(pool.cards[card].invocations(), random);
    order.resize(std::min(order.size(), static_cast<std::size_t>(side)));
    return order;
  };
  Draw draw{.baseline_card = cards[0], .candidate_card = cards[1]};
  draw.baseline = side_of(cards[0]);
  draw.candidate = side_of(cards[1]);
  return draw;
}

std::vector<Draw> whole_runs(const CalibrationPool& pool) {
  struct WholeRun {
    std::size_t card = 0;
    std::vector<std::size_t> invocations;
  };
  std::vector<WholeRun> runs(pool.runs.size());
  for (std::size_t card = 0; card < pool.cards.size(); ++card) {
    for (std::size_t i = 0; i < pool.cards[card].invocations(); ++i) {
      WholeRun& run = runs[pool.cards[card].run_of_invocation[i]];
      run.card = card;
      run.invocations.push_back(i);
    }
  }
  std::erase_if(runs, [](const WholeRun& run) { return run.invocations.size() < kSmallestSide; });
  std::vector<Draw> draws;
  for (const WholeRun& baseline : runs) {
    for (const WholeRun& candidate : runs) {
      if (&baseline == &candidate) continue;
      draws.push_back({baseline.card, candidate.card, baseline.invocations, candidate.invocations});
    }
  }
  return draws;
}

double possible_draws(const CalibrationPool& pool, int side) {
  const auto choose = [](std::size_t n, std::size_t k) {
    return boost::math::binomial_coefficient<double>(static_cast<unsigned>(n),
                                                     static_cast<unsigned>(k));
  };
  double sum = 0;
  for (const std::size_t card : cards_for_both_sides(pool, side)) {
    const std::size_t invocations = pool.cards[card].invocations();
    const SideSizes sizes = side_sizes(invocations, side);
    sum +=
        choose(invocations, sizes.baseline) * choose(invocations - sizes.baseline, sizes.candidate);
  }
  return sum;
}

std::vector<RuleDraws> judge_draws(const CalibrationPool& pool,
                                   const std::vector<DurationClass>& classes,
                                   const std::vector<Rule>& rules,
                                   const CalibrationOptions& options) {
  std::vector<RuleDraws> results;
  for (const Rule& rule : rules) {
    RuleDraws result;
    result.calibration.rule = rule;
    for (const double slowdown : options.slowdowns) {
      result.calibration.detection.push_back({.slowdown = slowdown});
    }
    result.detectable.resize(classes.size(), kNan);
    results.push_back(std::move(result));
  }
  const DrawJudge judge(pool, classes, rules, options);
  add_same_card(judge, draws_of(draw_same_card, pool, options), results);
  const auto is_same_card = [](const Draw& draw) {
    return draw.baseline_card == draw.candidate_card;
  };
  add_unchanged(judge, draws_of(draw_other_card, pool, options), results,
                [](const Draw&) { return &RuleCalibration::other_card; });
  add_unchanged(judge, whole_runs(pool), results, [&](const Draw& draw) {
    return is_same_card(draw) ? &RuleCalibration::same_card_runs
                              : &RuleCalibration::other_card_runs;
  });
  return results;
}

}  // namespace fusegate
