// What a run file's "context" object says about the whole invocation.
#pragma once

#include <string>

#include "baselines/io/json_field.h"
#include "baselines/record/invocation.h"

namespace fusegate::baselines {

// Fills everything but the benchmarks. context: null or an object. Throws InputError.
RunFile read_run_context(const nlohmann::json& context, const std::string& source);

// Sets what the object has and leaves the rest as it is.
void read_provenance(const JsonField& field, Provenance& provenance);

// Fields of strings, numbers and booleans.
Environment read_environment(const JsonField& field);

}  // namespace fusegate::baselines
