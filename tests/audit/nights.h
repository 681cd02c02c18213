// Simulated nights of a suite, and what judge_nights() makes of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "baselines/changes/judge_nights.h"
#include "baselines/history/night.h"

namespace fusegate::baselines::audit {

// What a night's figure is. Standard deviations of logarithms where nothing changes.
enum class NightFigure {
  kReplay,               // 0.034 %, of a fixed reference
  kKnownCards,           // 0.047 %, stored, one of eight cards each night
  kNewCardsWithFactors,  // 0.18 % beside two factors of 0.29 and 0.14 %, stored, a new card each
                         // night
  kNewCards,             // 0.28 %, likewise, without factors
};
const char* night_figure_name(NightFigure figure);

struct NightScenario {
  NightFigure figure = NightFigure::kReplay;
  int benchmarks = 344;  // six a kernel, one in six an operation, twenty a library's kernel
  int nights = 365;
  bool has_heavy_tails = false;  // Student's t with three degrees of freedom; else normal
  std::vector<std::size_t> stepping{};
  int first_night = 0;  // that has the step, or after which they creep
  double step = 0;      // logarithm
  double creep = 0;     // a night
};

std::vector<Night> simulated_nights(const NightScenario& scenario, unsigned seed);

// Names of simulated benchmarks, by number.
std::string night_benchmark_name(int number);

struct NightOutcome {
  int nights_to_detection = 0;  // of the first change that names one that steps; 0: not found
  int named = 0;                // of those that step, in that change
  int false_alarms = 0;         // changes that name none that steps, or before they do
};
NightOutcome judge_simulated(const NightScenario& scenario, unsigned seed);
std::vector<NightOutcome> judge_simulated(const NightScenario& scenario, int runs);

}  // namespace fusegate::baselines::audit
