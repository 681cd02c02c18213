// What a run file's "context" object says about the whole invocation.
#pragma once

#include <string>
#include <string_view>

#include "baselines/io/json_field.h"
#include "baselines/record/invocation.h"

namespace fusegate::baselines {

// Fills everything but the benchmarks. context: null or an object. Throws InputError.
RunFile read_run_context(const nlohmann::json& context, const std::string& source);

// Sets what the object has and leaves the rest as it is.
void read_provenance(const JsonField& field, Provenance& provenance);

// "controls" of the object. Throws InputError naming the field.
DeclaredControls read_controls(const JsonField& object);

// Whether a file says so of one of its benchmarks. Where it declares none and a fusegate program
// wrote it, before they were declared, they are the two operations that were controls then.
bool is_control(const DeclaredControls& declared, const Provenance& provenance,
                std::string_view benchmark);

// Fields of strings, numbers and booleans.
Environment read_environment(const JsonField& field);

}  // namespace fusegate::baselines
