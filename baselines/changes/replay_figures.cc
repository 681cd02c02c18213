#include "baselines/changes/replay_figures.h"

#include <algorithm>
#include <cmath>

namespace fusegate::baselines {
namespace {

constexpr double kAgain = 1;  // night that a linked level is known by: the reference's own

bool has_replay(const NightRow& row) {
  return row.own->over_replay && is_logarithm(row.own->over_replay->value);
}

}  // namespace

void ReplayFigures::read(const Night& night, const std::vector<double>& code_of_reference,
                         NightRows& rows) {
  const auto [found, is_new] = keys_.try_emplace(night.replayed, static_cast<int>(levels_.size()));
  if (is_new) levels_.emplace_back();
  current_ = found->second;
  is_new_ = is_new;
  for (NightRow& row : rows) {
    if (!has_replay(row)) continue;
    const double variance = row.own->over_replay->variance * std::max(1, row.own->processes);
    noise_.add_processes(row.benchmark, variance, row.own->processes);
    row.replay = figure_of(row, code_of_reference);
  }
}

Figure ReplayFigures::figure_of(const NightRow& row, const std::vector<double>& code_of_reference) {
  auto& levels = levels_[static_cast<std::size_t>(current_)];
  if (row.benchmark >= levels.size()) levels.resize(row.benchmark + 1);
  Level& level = levels[row.benchmark];
  if (is_new_ && row.benchmark < code_of_reference.size() &&
      std::isfinite(code_of_reference[row.benchmark])) {
    level = {-code_of_reference[row.benchmark], kAgain};
  }
  const VarianceEstimate night = noise_.of(row.benchmark);
  Figure figure{.key = kKeys + current_};
  if (!level.is_known()) return figure;
  const double own = night.variance * noise_.share_of(row.benchmark, row.own->processes);
  const double of_level = night.variance / level.nights;
  figure.value = row.own->over_replay->value - level.mean;
  figure.gain = of_level / (of_level + own + row.code.variance);
  figure.variance = own + of_level;
  figure.is_judged = night.degrees_of_freedom > 0;
  return figure;
}

void ReplayFigures::learn(const NightRow& row, double left) {
  if (!has_replay(row)) return;
  Level& level = levels_[static_cast<std::size_t>(current_)][row.benchmark];
  if (level.is_known()) {
    level.mean += row.replay.gain * left;
    level.nights /= 1 - row.replay.gain;
    return;
  }
  const VarianceEstimate night = noise_.of(row.benchmark);
  const CodeLevel code = row.stored.is_judged && night.degrees_of_freedom > 0
                             ? CodeLevel{row.stored.value, row.stored.variance}
                             : row.code;
  level = {row.own->over_replay->value - code.mean,
           night.variance / (night.variance + code.variance)};
}

void ReplayFigures::take_back(int key, std::size_t benchmark, double amount) {
  levels_[static_cast<std::size_t>(key - kKeys)][benchmark].mean -= amount;
}

}  // namespace fusegate::baselines
