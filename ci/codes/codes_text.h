// A difference in codes as people and programs read it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "baselines/io/error.h"
#include "ci/codes/codes_diff.h"
#include "ci/document/document.h"

namespace fusegate::ci {

// "1 of 293 kernels changed, launched by 2 of 40 benchmarks"; "no kernel changed: no GPU needed".
std::string codes_headline(const CodesDiff& diff);
Document codes_document(const CodesDiff& diff);
// docs/schema/codes-diff.schema.json
nlohmann::json codes_diff_json(const CodesDiff& diff);
// 0: no GPU is needed, 1: it is, 2: not every architecture can be compared.
baselines::ExitCode codes_exit_code(const CodesDiff& diff);

}  // namespace fusegate::ci
