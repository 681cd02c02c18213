// Sweeps of models: {"models": ["gemma-3-27b"], "rows": [1, 64], "dtype": ["bf16"]} in a suite is a
// sweep of each of their calls (baselines/record/model.h), at batch sizes of so many rows.
//
// A model is named by its file, without ".json", in a folder `models` that lies in the folder of
// the suites or beside that; or by a file's path. "dtype" and "implementations" mean what they mean
// in any sweep.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/io/json_field.h"
#include "baselines/record/model.h"

namespace fusegate::bench {

// The names of the models of suites in a folder, sorted; none where there is no folder.
std::vector<std::string> models_in(const std::filesystem::path& suites);

// folders: of suites, the first that has a model counts. Adds the models that the sweep names to
// `models`. Throws InputError naming the field, of the sweep or of a model's file: an unknown key,
// model or axis, a missing axis.
nlohmann::json sweeps_of_models(const baselines::JsonField& sweep,
                                const std::vector<std::filesystem::path>& folders,
                                std::vector<baselines::Model>& models);

// The same of all sweeps of a suite that name models, which take their places; others stay where
// they are, and so do their fields in messages. Returns the models.
std::vector<baselines::Model> expand_models(nlohmann::json& suite, const std::string& source,
                                            const std::vector<std::filesystem::path>& folders);

}  // namespace fusegate::bench
