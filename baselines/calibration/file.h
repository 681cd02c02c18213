// A calibration as a file: JSON beside the baselines, laid out for review as they are, one line a
// benchmark. Keys:
//
//   fusegate_calibration   the schema's version
//   date, suite, environment, protocol, doubts
//   runs                   [{source, device_uuid, commit, dirty, date, host, processes}]
//   left_out               names of benchmarks
//   draws                  {comparisons, side (processes), seed, and null: possible,
//                          possible_side_by_side}
//   spread                 CLASS -> {target, time, cycles -> {benchmarks, median, p90, max, rms,
//                          within_target}}
//   rules                  [{min_effect, false_discovery_rate, confidence,
//                          same_card, side_by_side -> {regressions, improvements -> RATE,
//                          detection [],
//                          smallest_detectable: CLASS -> {benchmarks, median, p90, max}},
//                          other_card, same_card_runs, other_card_runs
//                          -> {regressions, improvements -> RATE}}]. One, of which same_card
//                          alone is filled; files written before have more
//   between_card           null, or {cards, benchmarks, time, cycles, classes, compute_bound,
//                          memory_bound -> {benchmarks, time, cycles, equal_clock}}; each class
//                          has from_ns too. The gate reads it (card_differences.h)
//   benchmarks             [{name, time_ns, spread_time, spread_cycles, degrees_of_freedom,
//                          smallest_detectable}]
//
// CLASS is from_20_us, from_3_to_20_us or below_3_us; RATE is {count, of, share, low, high}.
// Spreads, effects and shares are fractions; what is not known is null.
#pragma once

#include <filesystem>
#include <string>

#include "baselines/calibration/calibration.h"

namespace fusegate::baselines {

inline constexpr int kCalibrationSchemaVersion = 1;

// The file's text, the same for the same calibration; numbers have four significant digits.
std::string calibration_text(const Calibration& calibration);

// store/<device slug>/<suite slug>.calibration.json
std::filesystem::path calibration_path(const std::filesystem::path& store,
                                       const Environment& environment, const std::string& suite);

}  // namespace fusegate::baselines
