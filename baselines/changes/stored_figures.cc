#include "baselines/changes/stored_figures.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "baselines/changes/environment_change.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {
namespace {

constexpr int kFewestCards = 4;         // that show how cards differ
constexpr std::size_t kFewestRows = 8;  // that show what the machine did
constexpr std::size_t kRowsForFactors = 24;
constexpr int kFactors = 2;
constexpr double kMadToDeviation = 1.4826;

bool has_figure(const NightRow& row) { return is_logarithm(row.own->log_equal_clock); }

Level& at(std::vector<Level>& levels, std::size_t benchmark) {
  if (benchmark >= levels.size()) levels.resize(benchmark + 1);
  return levels[benchmark];
}

const Level& get(const std::vector<Level>& levels, std::size_t benchmark) {
  static const Level none;
  return benchmark < levels.size() ? levels[benchmark] : none;
}

}  // namespace

void StoredFigures::read(const Night& night, NightRows& rows) {
  shift_ = {};
  Key& key = key_of(night);
  const int number = by_name_.at({key.card, key.environment});
  shift_.key = number;
  for (NightRow& row : rows) {
    row.stored.key = number;
    if (!has_figure(row)) continue;
    noise_.add_processes(row.benchmark, row.own->process_variance, row.own->processes);
    if (key.kind == Kind::kMoved) row.moved = figure_of(row, key.expected);
  }
  if (key.kind == Kind::kMoved && key.is_new) locate_moved_code(key, rows);
  take_out_machine(key, rows);
  key.is_new = false;
}

StoredFigures::Key& StoredFigures::key_of(const Night& night) {
  const std::string environment = environment_of(night);
  if (environment != environment_) {
    environment_before_ = std::exchange(environment_, environment);
    ++environments_;
  }
  const auto [found, is_new] =
      by_name_.try_emplace({night.card, environment}, static_cast<int>(keys_.size()));
  if (is_new) {
    keys_.push_back({.card = night.card, .environment = environment});
    expect(keys_.back());
  }
  Key& key = keys_[static_cast<std::size_t>(found->second)];
  if (!is_new && key.entered != environments_) expect_after_return(key);
  key.entered = environments_;
  return key;
}

// The levels of the environment before show what a return to this one moves.
void StoredFigures::expect_after_return(Key& key) {
  const auto before = by_name_.find({key.card, environment_before_});
  if (before == by_name_.end()) return;
  key.kind = Kind::kMoved;
  key.expected = keys_[static_cast<std::size_t>(before->second)].levels;
}

void StoredFigures::expect(Key& key) {
  if (expect_after_move(key)) return;
  expect_mean(key);
  if (!key.expected.empty()) key.kind = Kind::kNewCard;
}

// The same card's levels in the environment before, or else in the latest other one, and how cards
// that were in both moved.
bool StoredFigures::expect_after_move(Key& key) {
  const auto before = by_name_.find({key.card, environment_before_});
  auto other = std::find_if(std::next(keys_.rbegin()), keys_.rend(),
                            [&](const Key& own) { return own.card == key.card; });
  if (before != by_name_.end()) {
    other = std::make_reverse_iterator(keys_.begin() + before->second + 1);
  }
  if (other == keys_.rend()) return false;
  key.kind = Kind::kMoved;
  key.expected = other->levels;
  key.levels.resize(key.expected.size());
  for (std::size_t b = 0; b < key.expected.size(); ++b) {
    double move = 0, variances = 0, cards = 0;
    for (const Key& after : keys_) {
      if (&after == &key || after.environment != key.environment) continue;
      const auto own = by_name_.find({after.card, other->environment});
      if (own == by_name_.end()) continue;
      const Level &a = get(keys_[static_cast<std::size_t>(own->second)].levels, b),
                  &c = get(after.levels, b);
      if (!a.is_known() || !c.is_known()) continue;
      move += c.mean - a.mean;
      variances += 1 / a.nights + 1 / c.nights;
      ++cards;
    }
    if (cards == 0 || !key.expected[b].is_known()) continue;
    set_mean(key, b, key.expected[b].mean + move / cards);
    key.levels[b].nights = 1 / (1 / key.expected[b].nights + variances / (cards * cards));
  }
  return true;
}

// The mean of the environment's cards.
void StoredFigures::expect_mean(Key& key) {
  const Means& means = means_[key.environment];
  for (std::size_t b = 0; b < means.size(); ++b) {
    if (means[b].cards < kFewestCards) continue;
    at(key.expected, b) = {means[b].sum / means[b].cards, static_cast<double>(means[b].cards)};
  }
}

Figure StoredFigures::figure_of(const NightRow& row, const std::vector<Level>& levels) const {
  const Level& level = get(levels, row.benchmark);
  Figure figure{.key = shift_.key};
  if (!has_figure(row) || !level.is_known()) return figure;
  const auto [night, degrees_of_freedom] = noise_.of(row.benchmark);
  const double own = night * noise_.share_of(row.benchmark, row.own->processes);
  const double of_level = night / level.nights;
  figure.value = row.own->log_equal_clock - level.mean;
  figure.gain = of_level / (of_level + own + row.code_tonight().variance);
  figure.variance = own + of_level;
  figure.is_judged = degrees_of_freedom > 0;
  return figure;
}

// Of rows of unchanged code, whose levels are known.
std::vector<FactorRow> StoredFigures::factor_rows(const NightRows& rows,
                                                  const std::vector<Level>& levels,
                                                  bool with_factors) const {
  std::vector<FactorRow> result;
  for (const NightRow& row : rows) {
    const Figure figure = figure_of(row, levels);
    if (!figure.is_known() || !row.is_code_known_tonight()) continue;
    FactorRow own{
        figure.value - row.code_tonight().mean, figure.variance + row.code_tonight().variance, {1}};
    for (const auto& factor : factors_) {
      if (!with_factors) break;
      own.loadings.push_back(row.benchmark < factor.size() ? factor[row.benchmark] : 0);
    }
    result.push_back(std::move(own));
  }
  return result;
}

void StoredFigures::take_out_machine(Key& key, NightRows& rows) {
  const bool is_new_card = key.kind == Kind::kNewCard && key.is_new;
  auto machine = factor_rows(rows, is_new_card ? key.expected : key.levels, is_new_card);
  if (is_new_card && machine.size() < kRowsForFactors) {
    machine = factor_rows(rows, key.expected, false);
  }
  shift_.is_new = is_new_card;
  if (machine.size() >= kFewestRows) {
    const FactorScores scores = factor_scores(machine);
    shift_.value = scores.scores.front();
    shift_.variance = std::max(1e-14, scores.shift_error * scores.shift_error);
    if (is_new_card) {
      shift_.other_cards = shifts_of_cards(key.environment);
      locate_new_card(key, rows, scores);
    }
  } else if (is_new_card) {
    locate_new_card(key, rows, {{0}, 0});
  }
  for (NightRow& row : rows) {
    row.stored = is_new_card ? new_card_figure(row, key.levels) : figure_of(row, key.levels);
    if (!is_new_card) row.stored.value -= shift_.value;
  }
}

// Of what a new card's figure scatters by, the night's. None where that is not known.
double StoredFigures::night_share_of_new_card(std::size_t benchmark) const {
  constexpr double kLeast = 0.01, kMost = 0.99;
  // While no card came twice.
  constexpr double kGuess = 0.1;
  const VarianceEstimate card = new_card_noise_.of(benchmark), night = noise_.of(benchmark);
  if (card.degrees_of_freedom == 0) return 0;
  if (night.degrees_of_freedom == 0) return kGuess;
  return std::clamp(night.variance / card.variance, kLeast, kMost);
}

Figure StoredFigures::new_card_figure(const NightRow& row, const std::vector<Level>& levels) const {
  const double share = night_share_of_new_card(row.benchmark);
  Figure figure = figure_of(row, levels);
  if (!figure.is_known() || share == 0) return {.key = shift_.key};
  figure.variance = new_card_noise_.of(row.benchmark).variance;
  figure.gain = (1 - share) * figure.variance / (figure.variance + row.code_tonight().variance);
  figure.is_judged = true;
  return figure;
}

// Where its scores say.
void StoredFigures::locate_new_card(Key& key, const NightRows& rows, const FactorScores& scores) {
  const auto expected = [&](std::size_t b) {
    double mean = key.expected[b].mean + scores.scores.front();
    for (std::size_t f = 1; f < scores.scores.size(); ++f) {
      if (b < factors_[f - 1].size()) mean += scores.scores[f] * factors_[f - 1][b];
    }
    return mean;
  };
  for (std::size_t b = 0; b < key.expected.size(); ++b) {
    if (!key.expected[b].is_known()) continue;
    const double share = night_share_of_new_card(b);
    if (share == 0) continue;
    set_mean(key, b, expected(b));
    key.levels[b].nights = share / (1 - share);
  }
  for (const NightRow& row : rows) {
    if (!has_figure(row) || !row.is_code_known_tonight()) continue;
    if (!get(key.expected, row.benchmark).is_known()) continue;
    const double left =
        row.own->log_equal_clock - expected(row.benchmark) - row.code_tonight().mean;
    new_card_noise_.add(row.benchmark, left, 1);
  }
  ++new_cards_;
}

// Changed code that no replay measured moved as most unchanged code did, as far as is known.
void StoredFigures::locate_moved_code(Key& key, NightRows& rows) {
  std::vector<double> moves;
  for (const NightRow& row : rows) {
    if (row.moved.is_known() && row.is_code_known_tonight()) {
      moves.push_back(row.moved.value - row.code_tonight().mean);
    }
  }
  if (moves.size() < kFewestRows) return;
  const double move = median(moves);
  const double spread = kMadToDeviation * median_absolute_deviation(moves);
  for (const NightRow& row : rows) {
    if (!row.moved.is_known() || row.is_code_known_tonight()) continue;
    const double night = noise_.of(row.benchmark).variance;
    set_mean(key, row.benchmark, key.expected[row.benchmark].mean + move);
    key.levels[row.benchmark].nights = night / (night + spread * spread);
  }
}

void StoredFigures::learn(const NightRow& row, double left) {
  if (!has_figure(row)) return;
  Key& key = keys_[static_cast<std::size_t>(row.stored.key)];
  Level& level = at(key.levels, row.benchmark);
  if (row.stored.is_known()) {
    set_mean(key, row.benchmark, level.mean + row.stored.gain * left);
    level.nights /= 1 - row.stored.gain;
    return;
  }
  const double night = noise_.of(row.benchmark).variance;
  const CodeLevel code = row.code_tonight();
  set_mean(key, row.benchmark, row.own->log_equal_clock - code.mean);
  key.levels[row.benchmark].nights = night / (night + code.variance);
}

void StoredFigures::set_mean(Key& key, std::size_t benchmark, double mean) {
  Level& level = at(key.levels, benchmark);
  Means& means = means_[key.environment];
  if (benchmark >= means.size()) means.resize(benchmark + 1);
  if (std::isfinite(level.mean)) {
    means[benchmark].sum += mean - level.mean;
  } else {
    means[benchmark].sum += mean;
    ++means[benchmark].cards;
  }
  level.mean = mean;
}

void StoredFigures::take_back(int key, std::size_t benchmark, double amount) {
  Key& own = keys_[static_cast<std::size_t>(key)];
  set_mean(own, benchmark, own.levels[benchmark].mean - amount);
}

void StoredFigures::move_card(int key, double amount) {
  Key& own = keys_[static_cast<std::size_t>(key)];
  for (std::size_t b = 0; b < own.levels.size(); ++b) {
    if (own.levels[b].is_known()) set_mean(own, b, own.levels[b].mean + amount);
  }
}

double StoredFigures::score(const NightRow& row, double left, double variance) const {
  return (shift_.is_new ? new_card_noise_ : noise_).score(row.benchmark, left, variance);
}

void StoredFigures::estimate(const std::vector<double>& log_ns) {
  constexpr double kMost = 1e6;
  noise_.estimate(log_ns, kMost);
  if (new_cards_ >= 3) new_card_noise_.estimate(log_ns, new_cards_ - 1);
  if (keys_.empty()) return;
  Factors factors = factors_of(keys_.back().environment);
  // What is left beside them is another noise.
  if (factors_.empty() && !factors.empty()) new_card_noise_ = {}, new_cards_ = 0;
  factors_ = std::move(factors);
}

std::vector<std::vector<double>> StoredFigures::card_deviations(
    const std::string& environment) const {
  constexpr std::size_t kMostCards = 48;
  const Means& means = means_.at(environment);
  std::vector<std::vector<double>> cards;
  for (auto key = keys_.rbegin(); key != keys_.rend() && cards.size() < kMostCards; ++key) {
    if (key->environment != environment) continue;
    std::vector<double> own(means.size(), Level::kNone);
    for (std::size_t b = 0; b < own.size(); ++b) {
      if (!get(key->levels, b).is_known() || means[b].cards < kFewestCards) continue;
      own[b] = key->levels[b].mean - means[b].sum / means[b].cards;
    }
    cards.push_back(std::move(own));
  }
  return cards;
}

std::vector<double> StoredFigures::shifts_of_cards(const std::string& environment) const {
  std::vector<double> shifts;
  for (auto& own : card_deviations(environment)) {
    std::erase_if(own, [](double value) { return !std::isfinite(value); });
    if (!own.empty()) shifts.push_back(median(std::move(own)));
  }
  return shifts;
}

Factors StoredFigures::factors_of(const std::string& environment) const {
  constexpr std::size_t kFewestForFactors = 6;
  const auto means = means_.find(environment);
  if (means == means_.end() || means->second.size() < kRowsForFactors) return {};
  auto cards = card_deviations(environment);
  const std::vector<double> shifts = shifts_of_cards(environment);
  if (shifts.size() != cards.size() || cards.size() < kFewestForFactors) return {};
  for (std::size_t card = 0; card < cards.size(); ++card) {
    for (double& value : cards[card]) value -= shifts[card];
  }
  return leading_factors(cards, kFactors);
}

}  // namespace fusegate::baselines
