#include "baselines/calibration/draws.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "baselines/comparing/judge.h"
#include "baselines/comparing/rule.h"
#include "baselines/io/parallel.h"

namespace fusegate::baselines {
namespace {

std::vector<std::size_t> cards_with(const CalibrationPool& pool, std::size_t processes) {
  std::vector<std::size_t> cards;
  for (std::size_t i = 0; i < pool.cards.size(); ++i) {
    if (processes_of(pool.cards[i]) >= processes) cards.push_back(i);
  }
  return cards;
}

std::vector<Draw> draws_of(const CalibrationPool& pool, const CalibrationOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<Draw> draws;
  for (int i = 0; i < options.comparisons; ++i) {
    auto drawn = draw_comparison(pool, options.processes, random);
    if (!drawn) break;
    draws.push_back(std::move(*drawn));
  }
  return draws;
}

bool has(const std::vector<Verdict>& verdicts, VerdictKind kind) {
  return std::ranges::any_of(verdicts, [kind](const Verdict& own) { return own.kind == kind; });
}

}  // namespace

std::optional<Draw> draw_comparison(const CalibrationPool& pool, int processes,
                                    std::mt19937_64& random) {
  const auto wanted = static_cast<std::size_t>(processes);
  std::vector<std::size_t> cards = cards_with(pool, 2 * wanted);
  if (cards.empty()) cards = cards_with(pool, 2 * std::size_t{kFewestProcesses});
  if (cards.empty()) return std::nullopt;
  Draw draw;
  draw.card = cards[std::uniform_int_distribution<std::size_t>(0, cards.size() - 1)(random)];
  std::vector<std::size_t> order(processes_of(pool.cards[draw.card]));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  const std::size_t half = order.size() / 2;
  const auto begin = order.begin();
  const auto middle = begin + static_cast<std::ptrdiff_t>(std::min(wanted, order.size() - half));
  draw.baseline.assign(begin, middle);
  draw.candidate.assign(middle, middle + static_cast<std::ptrdiff_t>(std::min(wanted, half)));
  return draw;
}

JudgedDraws judge_draws(const CalibrationPool& pool, const CalibrationOptions& options) {
  const std::vector<Draw> draws = draws_of(pool, options);
  std::vector<std::vector<Verdict>> verdicts(draws.size());
  in_parallel(draws.size(), [&](std::size_t i) {
    const Run& card = pool.cards[draws[i].card];
    verdicts[i] = judge(drawn_run(card, draws[i].baseline), drawn_run(card, draws[i].candidate),
                        options.rule);
  });
  JudgedDraws judged;
  for (const auto& own : verdicts) {
    judged.alarms.regressions.add(has(own, VerdictKind::kRegression));
    judged.alarms.improvements.add(has(own, VerdictKind::kImprovement));
  }
  // Verdicts come sorted by name, as the pool's benchmarks are.
  for (std::size_t i = 0; i < pool.cards.front().benchmarks.size(); ++i) {
    std::vector<double> values;
    for (const auto& own : verdicts) values.push_back(own[i].estimates.smallest_detectable);
    judged.smallest_detectable.push_back(median(std::move(values)));
  }
  return judged;
}

}  // namespace fusegate::baselines
