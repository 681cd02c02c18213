// A run's times rolled up to a layer and a token of the models that its suite names
// (baselines/record/model.h), and what got slower or faster by what it costs there. It informs; no
// verdict and no exit code comes of it.
//
//   time a layer = sum over the layer's calls of per_layer x time of the call
//   time a token = time a layer x layers / rows, the tokens of a batch
//
// What a model's file does not name, such as attention, is in neither.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "baselines/comparing/verdict.h"
#include "baselines/record/model.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

// All calls of a layer. NaN where a side lacks one of them.
struct ModelTime {
  std::string implementation{};           // of each call where they differ: "fused + split"
  std::vector<std::string> benchmarks{};  // a call each
  double baseline_ns = 0;                 // a layer, as are all times
  double candidate_ns = 0;
  double changed_ns = 0;        // by regressions and improvements, each its effect
  bool is_measured = true;      // in the candidate; false: identical code, times of the baseline
  std::string longest_stage{};  // of what they launch; empty where no call was profiled
  double longest_share = 0;     // of all kernels' time
};

struct ModelRow {
  std::string dtype;
  std::int64_t rows = 0;
  ModelTime fastest{};                       // of each call the candidate's fastest
  ModelTime baseline_fastest{};              // likewise; without a name where there is none
  std::vector<ModelTime> implementations{};  // that have all calls, the candidate's fastest first
};

// A regression or an improvement.
struct ModelMover {
  std::string benchmark;
  std::string dtype;
  std::int64_t rows = 0;
  VerdictKind kind = VerdictKind::kRegression;
  double effect = 0;
  double token_ns = 0;      // what a token costs more
  bool is_fastest = false;  // of its call, on either side: the model pays it
};

// Those of fastest calls first, the costliest first.
bool comes_first(const ModelMover& a, const ModelMover& b);

struct ModelTimes {
  Model model;
  std::vector<ModelRow> rows{};      // by dtype and rows; empty where the run has none of its calls
  std::vector<ModelMover> movers{};  // in the order of comes_first()

  double token_ns(std::int64_t batch, double layer_ns) const;  // batch: in tokens
};

// One a model, in the suite's order. earlier: the runs that the candidate is compared with; of
// identical code that it did not measure, the first of them that did stands in.
std::vector<ModelTimes> model_times(const Run& candidate, const std::vector<const Run*>& earlier,
                                    const std::vector<Verdict>& verdicts);

}  // namespace fusegate::baselines
