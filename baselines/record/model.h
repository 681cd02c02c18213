// A model: the calls of its layers that a suite measures, from a file such as bench/models/*.json.
//
//   {"name": "gemma-3-27b",
//    "sources": {"https://...": "5376 wide, 21504 between, 62 layers"},
//    "layers": 62,
//    "calls": [{"operation": "geglu_mlp", "dim": 5376, "hidden": 21504}]}
//
// "calls": what one layer calls for a batch of tokens, "per_layer" times each (default 1; 0.5:
// every other layer). Its other keys are axes of the operation. The tokens of the batch, its rows,
// are batch x seq; or the size of the axis that "rows" names. "sources" is for readers.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"
#include "baselines/record/benchmark_name.h"

namespace fusegate::baselines {

struct ModelCall {
  std::string operation;
  std::map<std::string, nlohmann::json> axes{};  // but those of the rows
  std::string rows_axis{};                       // empty: batch x seq
  double per_layer = 1;

  // The rows where the benchmark is of this call, else 0.
  std::int64_t rows_of(const BenchmarkName& benchmark) const;
};

struct Model {
  std::string name;
  int layers = 1;
  std::vector<ModelCall> calls;
};

// Throws InputError naming the field: an unknown key, no layers, no calls.
Model read_model(const JsonField& field);

// As a file has it, without its sources.
nlohmann::json model_json(const Model& model);

}  // namespace fusegate::baselines
