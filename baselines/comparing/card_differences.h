// How far two cards of one model differ, where the runs to be compared do not show it: as a
// device's calibration says (`fusegate calibrate` with runs of several cards), or as is assumed of
// a device that nobody calibrated.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "baselines/comparing/verdict.h"
#include "baselines/statistics/variance_prior.h"

namespace fusegate::baselines {

// Standard deviations of one card from its model's mean, of logarithms, for calls of so long and
// longer.
struct CardSpreads {
  double from_ns = 0;
  double time = 0;
  double cycles = 0;
  double equal_clock = 0;
};

// Nobody measured this: it is wide, so that a device of which nothing is known is not blamed for
// its cards. Two degrees of freedom say that it may be wider still.
inline constexpr double kAssumedCardSpread = 0.02;

struct CardDifferences {
  std::string calibration{};  // its file; empty where it is assumed
  int cards = 0;              // by which it was measured
  double degrees_of_freedom = 2;
  // In the order of from_ns; the first holds for what is shorter too.
  std::vector<CardSpreads> classes{{.time = kAssumedCardSpread,
                                    .cycles = kAssumedCardSpread,
                                    .equal_clock = kAssumedCardSpread}};

  // The variance of the difference between a mean over so many cards and one over so many others.
  VarianceEstimate variance(Quantity quantity, double time_ns, int baseline_cards,
                            int candidate_cards) const;
};

// Nothing where the calibration is of one card, or was made before there were bounds to its
// classes. Throws InputError naming file and field.
std::optional<CardDifferences> read_card_differences(const std::filesystem::path& calibration);

}  // namespace fusegate::baselines
