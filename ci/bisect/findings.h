// What a bisection found, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "baselines/io/error.h"
#include "ci/bisect/bisection.h"
#include "ci/console/terminal.h"

namespace fusegate::ci {

// 0 where a commit was found, or several that share the change; else 2.
baselines::ExitCode exit_code_of(const BisectionResult& result);

// One sentence, without a full stop.
std::string bisection_headline(const BisectionRequest& request, const BisectionResult& result);

// The headline, each commit with its effect and kernel diff, and the steps.
std::string bisection_text(const BisectionRequest& request, const BisectionResult& result,
                           const TextStyle& style);

// As docs/schema/bisection.schema.json has it.
nlohmann::json bisection_json(const BisectionRequest& request, const BisectionResult& result);
// Of one that could not be judged.
nlohmann::json failed_bisection_json(const BisectionRequest& request, const std::string& problem);

}  // namespace fusegate::ci
