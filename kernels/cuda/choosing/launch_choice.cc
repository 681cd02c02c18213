#include "kernels/cuda/choosing/launch_choice.h"

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

std::vector<double> medians_of(const std::vector<std::vector<double>>& times) {
  std::vector<double> medians;
  for (const std::vector<double>& own : times) medians.push_back(median(own));
  return medians;
}

double ahead_of_others(std::vector<double> medians, std::size_t place) {
  const double own = medians[place];
  medians.erase(medians.begin() + static_cast<std::ptrdiff_t>(place));
  return medians.empty() ? TakenLaunch{}.ahead : *std::ranges::min_element(medians) / own - 1;
}

// ", 2.1 % ahead of the next"; "" where it was alone.
std::string ahead_text(double ahead) {
  if (std::isnan(ahead)) return "";
  if (ahead >= kHopeless) return fmt::format(", over {:g} % ahead of the next", 100 * kHopeless);
  return ahead < 0 ? fmt::format(", {:.1f} % behind the fastest", -100 * ahead)
                   : fmt::format(", {:.1f} % ahead of the next", 100 * ahead);
}

// "" where nothing is kept.
std::string kept_name(const KeptChoices& kept, const std::string& stage) {
  const auto found = kept.choices.find(stage);
  return found == kept.choices.end() ? "" : chosen_name(found->second);
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

std::vector<std::size_t> fastest_places(const std::vector<std::vector<double>>& times,
                                        std::size_t most) {
  std::vector<std::size_t> places(times.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  const std::vector<double> medians = medians_of(times);
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return medians[place]; });
  places.resize(most);
  std::ranges::sort(places);
  return places;
}

TakenLaunch take(const std::vector<std::vector<double>>& times, std::optional<std::size_t> kept) {
  const std::vector<std::size_t> good = close_to_fastest(times, kKept);
  const bool keeps = kept && std::ranges::find(good, *kept) != good.end();
  const std::size_t place = keeps ? *kept : close_to_fastest(times, kTie).front();
  return {place, ahead_of_others(medians_of(times), place)};
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

std::optional<std::size_t> place_kept(const KeptChoices& kept, const std::string& stage,
                                      const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, kept_name(kept, stage));
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::size_t> place_taken_strictly(const KeptChoices& kept, const std::string& stage,
                                                const std::vector<std::string>& names) {
  const std::string name = kept_name(kept, stage);
  if (!kept.strictly || name.empty()) return std::nullopt;
  const auto place = place_kept(kept, stage, names);
  if (place) return place;
  throw DeviceError(fmt::format("{}: \"{}\", which is strictly kept, is none of the {} candidates",
                                stage, name, names.size()));
}

std::string why_taken(const KeptChoices& kept, const std::string& stage, std::string_view choice,
                      double ahead) {
  const std::string before = kept_name(kept, stage), measured = "measured" + ahead_text(ahead);
  if (before.empty()) return measured;
  if (before != chosen_name(choice)) return measured + ", in place of " + before;
  return kept.strictly ? "kept without measuring" : measured + ", and kept";
}

}  // namespace fusegate::kernels
