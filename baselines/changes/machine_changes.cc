#include "baselines/changes/machine_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "baselines/changes/dating.h"
#include "baselines/changes/environment_change.h"
#include "baselines/statistics/statistics.h"
#include "baselines/statistics/student_t.h"

namespace fusegate::baselines {
namespace {

constexpr double kNormal95 = 1.96;
// A third of the smallest effect that the gate calls against stored figures.
constexpr double kSmallestMove = 0.0005;

ChangePoint everything(std::span<const Night* const> nights, std::size_t first, double effect,
                       double error) {
  ChangePoint change{.subject = "everything"};
  change.first_session = nights[first]->session;
  if (first > 0) change.last_session_before = nights[first - 1]->session;
  change.alarm_session = nights.back()->session;
  change.effect = std::expm1(effect);
  change.low = std::expm1(effect - kNormal95 * error);
  change.high = std::expm1(effect + kNormal95 * error);
  return change;
}

std::vector<std::string> names_of(const NightRows& rows) {
  std::vector<std::string> names;
  for (const NightRow& row : rows) names.push_back(row.own->name);
  return names;
}

// Whether the code of most is known to be the same.
bool is_code_known(const NightRows& rows) {
  const auto known = std::ranges::count_if(
      rows, [](const NightRow& row) { return !row.own->identity.empty() && !row.is_new_code; });
  return 2 * known > std::ssize(rows);
}

}  // namespace

std::vector<ChangePoint> MachineChanges::read(std::span<const Night* const> nights,
                                              const NightRows& rows, StoredFigures& stored) {
  std::vector<ChangePoint> reported;
  const std::size_t now = nights.size() - 1;
  if (now > 0 && environment_of(*nights[now]) != environment_of(*nights[now - 1])) {
    first_of_environment_ = now;
    moves_.clear();
  }
  if (first_of_environment_ > 0 && now <= first_of_environment_ + 1) add_moves(rows);
  if (first_of_environment_ > 0 && now == first_of_environment_ + 1)
    report_environment(nights, reported);
  if (stored.shift().variance == 0) return reported;
  if (stored.shift().is_new) {
    note_new_card(now, stored.shift());
  } else {
    report_known_card(nights, rows, stored, reported);
  }
  return reported;
}

void MachineChanges::add_moves(const NightRows& rows) {
  for (const NightRow& row : rows) {
    if (!row.moved.is_judged || !row.is_code_known_tonight()) continue;
    Move& move = moves_[row.benchmark];
    move.name = row.own->name;
    move.sum += row.moved.value - row.code_tonight().mean;
    move.variance = row.moved.variance + row.code_tonight().variance;
    ++move.nights;
  }
}

void MachineChanges::report_environment(std::span<const Night* const> nights,
                                        std::vector<ChangePoint>& reported) const {
  constexpr double kLevel = 0.01, kMadToDeviation = 1.4826, kMedianError = 1.2533;
  const VarianceEstimate shift = shifts_.of(0);
  const double common = shift.degrees_of_freedom > 0 ? shift.variance : 0;
  std::vector<double> p, moved;
  for (const auto& [benchmark, own] : moves_) {
    const double error = std::sqrt((own.variance + common) / own.nights);
    p.push_back(2 * t_upper_tail(std::abs(own.sum / own.nights) / error,
                                 std::numeric_limits<double>::infinity()));
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  std::vector<std::string> names;
  std::size_t i = 0;
  for (const auto& [benchmark, own] : moves_) {
    if (adjusted[i++] >= kLevel) continue;
    names.push_back(own.name);
    moved.push_back(own.sum / own.nights);
  }
  // One of many may be by chance, and one alone is no driver's doing.
  if (moved.size() < 2 && moves_.size() > 2) return;
  if (moved.empty() || std::abs(median(moved)) < kSmallestMove) return;
  const double spread = kMadToDeviation * median_absolute_deviation(moved) * kMedianError;
  const double error = std::sqrt(spread * spread / static_cast<double>(moved.size()) + common / 2);
  const Night& before = *nights[first_of_environment_ - 1];
  const EnvironmentChange change = environment_change(before, *nights[first_of_environment_]);
  reported.push_back(everything(nights, first_of_environment_, median(moved), error));
  reported.back().benchmarks = std::move(names);
  reported.back().of_class = change.of_class;
  reported.back().reason = change.reason;
}

void MachineChanges::report_known_card(std::span<const Night* const> nights, const NightRows& rows,
                                       StoredFigures& stored, std::vector<ChangePoint>& reported) {
  const MachineShift& shift = stored.shift();
  Card& card = cards_[shift.key];
  if (card.off != 0) {
    if (std::abs(shift.value) < std::abs(card.off) / 2) {
      reported.push_back(everything(nights, card.first_night, card.off, card.error));
      reported.back().benchmarks = names_of(rows);
      reported.back().of_class = ChangeClass::kCard;
      reported.back().reason =
          fmt::format("card {} is unlike the {} others", stored.card(shift.key), card.others);
    }
    card.off = 0;
  }
  add_shift(nights.size() - 1, shift, card);
  if (card.cusum.alarm(rule_) == 0 || card.points.size() < 2) return;
  std::vector<KnownNormal> series;
  for (const ShiftPoint& point : card.points) series.push_back(point.shift);
  const DatedChange dated = date_change(series, [](std::size_t) { return false; });
  const std::size_t first = card.points[dated.first].night;
  stored.move_card(shift.key, dated.after.value);
  card = {.nights = static_cast<double>(card.points.size() - dated.first)};
  if (std::abs(dated.effect) < kSmallestMove) return;
  reported.push_back(everything(nights, first, dated.effect, std::sqrt(dated.variance)));
  reported.back().benchmarks = names_of(rows);
  const bool is_card = is_code_known(rows);
  reported.back().of_class = is_card ? ChangeClass::kCard : ChangeClass::kUnexplained;
  reported.back().reason =
      fmt::format("all benchmarks moved together on card {}{}", stored.card(shift.key),
                  is_card ? ", and their code is the same" : "");
}

// The levels of a card hold what the session did in which they were learnt, of all benchmarks; so
// the card's shifts have a level of their own.
void MachineChanges::add_shift(std::size_t night, const MachineShift& shift, Card& card) {
  constexpr double kFewestNights = 5;
  const VarianceEstimate noise = shifts_.of(0);
  const double variance = noise.variance + shift.variance, share = 1 + 1 / card.nights;
  const double left = shift.value - card.mean;
  shifts_.add(0, left, share);
  shifts_.estimate({0}, std::numeric_limits<double>::infinity());
  if (noise.degrees_of_freedom >= kFewestNights) {
    card.points.push_back({night, {shift.value, variance}});
    card.cusum.add(shifts_.score(0, left, variance * share), rule_);
  }
  const double most = rule_.clip * std::sqrt(variance * share);
  card.mean += std::clamp(left, -most, most) / (card.nights + 1);
  ++card.nights;
}

// One that is unlike the others is reported in its second night, if it is so again.
void MachineChanges::note_new_card(std::size_t night, const MachineShift& shift) {
  constexpr double kFewestCards = 4;
  const auto cards = static_cast<double>(shift.other_cards.size());
  if (cards < kFewestCards) return;
  const double center = mean(shift.other_cards);
  const double variance =
      pooled_variance({std::span<const double>(shift.other_cards)}).variance * (1 + 1 / cards);
  const double error = std::sqrt(variance + shift.variance), off = shift.value - center;
  if (std::abs(normal_score(off / error, cards - 1)) < rule_.clip) return;
  cards_[shift.key] = {
      .off = off, .error = error, .others = shift.other_cards.size(), .first_night = night};
}

}  // namespace fusegate::baselines
