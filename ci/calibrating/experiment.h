// The protocol experiment: which way of measuring spreads least from process to process. Every
// variant is the same program under flags of its own; each round starts one process of every
// variant in a random order, so that a machine that drifts moves all variants alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/calibrating/variants.h"
#include "ci/console/console.h"
#include "ci/measuring/measuring_run.h"
#include "ci/report/document.h"

namespace fusegate::ci {

struct ExperimentRequest : MeasuringOptions {
  std::vector<Variant> variants{};
  int invocations = 8;    // of each variant
  std::string program{};  // empty: the benchmark program beside this one
  std::filesystem::path out{};
};

// The variants' places, one list a round.
std::vector<std::vector<std::size_t>> experiment_rounds(std::size_t variants, int rounds,
                                                        std::uint64_t seed);

// Leaves a run folder a variant in request.out. 0 where every invocation ended well, 2 where one
// did not or somebody interrupted; what was measured stays. Throws InputError where a variant
// cannot be measured at all.
baselines::ExitCode measure_experiment(const ExperimentRequest& request, Console& console);

// The table of an experiment's folder, one row a variant. Throws InputError.
Section experiment_section(const std::filesystem::path& folder);

}  // namespace fusegate::ci
