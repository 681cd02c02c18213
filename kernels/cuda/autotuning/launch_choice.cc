#include "kernels/cuda/autotuning/launch_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fusegate::kernels {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The median of each round's times of the candidates that were timed in all rounds.
std::vector<double> levels_of(const std::vector<std::vector<double>>& times) {
  std::size_t rounds = 0;
  for (const std::vector<double>& own : times) rounds = std::max(rounds, own.size());
  std::vector<double> levels;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<double> of_round;
    for (const std::vector<double>& own : times) {
      if (own.size() == rounds) of_round.push_back(own[round]);
    }
    levels.push_back(median(of_round));
  }
  return levels;
}

// By the level of their rounds: a GPU's clock differs from round to round by more than candidates
// do, and those that are discarded early have none of the later rounds.
std::vector<double> medians_of(const std::vector<std::vector<double>>& times) {
  if (times.empty()) return {};
  const std::vector<double> levels = levels_of(times);
  const double level = median(levels);
  std::vector<double> medians;
  for (std::vector<double> own : times) {
    for (std::size_t round = 0; round < own.size(); ++round) own[round] *= level / levels[round];
    medians.push_back(median(own));
  }
  return medians;
}

double ahead_of_others(std::vector<double> medians, std::size_t index) {
  const double own = medians[index];
  medians.erase(medians.begin() + static_cast<std::ptrdiff_t>(index));
  return medians.empty() ? TakenLaunch{}.ahead : *std::ranges::min_element(medians) / own - 1;
}

bool is_close(const std::vector<std::vector<double>>& times, double margin, std::size_t index) {
  return std::ranges::binary_search(close_to_fastest(times, margin), index);
}

// "; the next is 2.1 % slower"; "" where there was no other.
std::string ahead_text(double ahead) {
  if (std::isnan(ahead)) return "";
  if (ahead >= kDiscardMargin) {
    return fmt::format("; the next is over {:g} % slower", 100 * kDiscardMargin);
  }
  return ahead < 0 ? fmt::format("; the fastest is {:.1f} % faster", -100 * ahead)
                   : fmt::format("; the next is {:.1f} % slower", 100 * ahead);
}

// "" where none is pinned.
std::string pinned_name(const PinnedChoices& pinned, const std::string& stage) {
  const auto found = pinned.choices.find(stage);
  return found == pinned.choices.end() ? "" : chosen_name(found->second);
}

}  // namespace

int launches_of_a_round(int most) {
  constexpr double kRoundMs = 0.2;
  constexpr int kLongLaunches = 8;
  return std::max(static_cast<int>(std::lround(most * kRoundMs / kBurstMs)),
                  std::min(most, kLongLaunches));
}

std::vector<std::size_t> close_to_fastest(const std::vector<std::vector<double>>& times,
                                          double margin) {
  const std::vector<double> medians = medians_of(times);
  std::vector<std::size_t> close;
  if (medians.empty()) return close;
  const double limit = *std::ranges::min_element(medians) * (1 + margin);
  for (std::size_t i = 0; i < medians.size(); ++i) {
    if (medians[i] <= limit) close.push_back(i);
  }
  return close;
}

std::vector<std::size_t> fastest_indices(const std::vector<std::vector<double>>& times,
                                         std::size_t most) {
  std::vector<std::size_t> indices(times.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (indices.size() <= most) return indices;
  const std::vector<double> medians = medians_of(times);
  std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return medians[i]; });
  indices.resize(most);
  std::ranges::sort(indices);
  return indices;
}

TakenLaunch take(const std::vector<std::vector<double>>& times, std::optional<std::size_t> pinned) {
  const bool takes_pinned = pinned && is_close(times, kPinnedMargin, *pinned);
  const std::size_t index = takes_pinned ? *pinned : close_to_fastest(times, kTieMargin).front();
  return {index, ahead_of_others(medians_of(times), index)};
}

std::optional<TakenLaunch> keep_pinned(const std::vector<std::vector<double>>& times,
                                       std::optional<std::size_t> pinned) {
  if (!pinned || !is_close(times, kSurelyPinnedMargin, *pinned)) return std::nullopt;
  return take(times, pinned);
}

std::string choice_text(std::string_view how, std::size_t taken, std::size_t candidates,
                        std::string_view name) {
  return fmt::format("{}: candidate {} of {}, {}", how, taken + 1, candidates, name);
}

std::string chosen_name(std::string_view choice) {
  const std::size_t rank = choice.find(": candidate ");
  const std::size_t end = rank == std::string_view::npos ? rank : choice.find(", ", rank);
  return std::string(end == std::string_view::npos ? choice : choice.substr(end + 2));
}

std::optional<std::size_t> index_of_pinned(const PinnedChoices& pinned, const std::string& stage,
                                           const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, pinned_name(pinned, stage));
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::size_t> require_pinned(const PinnedChoices& pinned, const std::string& stage,
                                          const std::vector<std::string>& names) {
  const std::string name = pinned_name(pinned, stage);
  if (pinned.required && name.empty() && names.size() == 1) return 0;
  if (!pinned.required || name.empty()) return std::nullopt;
  const auto index = index_of_pinned(pinned, stage, names);
  if (index) return index;
  throw DeviceError(fmt::format("{}: pinned choice \"{}\" is not among the {} candidates", stage,
                                name, names.size()));
}

std::string why_taken(const PinnedChoices& pinned, const std::string& stage,
                      std::string_view choice, double ahead) {
  const std::string before = pinned_name(pinned, stage), measured = "measured" + ahead_text(ahead);
  if (before.empty()) return measured;
  if (before != chosen_name(choice)) return measured + "; the pinned choice was " + before;
  return pinned.required ? "pinned, not measured" : measured + "; pinned";
}

}  // namespace fusegate::kernels
