// Reads a run file's "context" object, which describes the process.
#pragma once

#include <string>
#include <string_view>

#include "baselines/io/json_field.h"
#include "baselines/record/process.h"

namespace fusegate::baselines {

// The run file without its benchmarks. context: null or an object. Throws InputError.
RunFile read_run_context(const nlohmann::json& context, const std::string& source);

// Sets the fields that the object has.
void read_provenance(const JsonField& field, Provenance& provenance);

// Renames keys that files had before: "invocation" is "process" now, and "places", in a protocol,
// "layouts". object: context.fusegate, or a protocol; any other value stays as it is.
void use_current_names(nlohmann::json& object);

// "controls" of the object. Throws InputError naming the field.
DeclaredControls read_controls(const JsonField& object);

// "compared_with" of the object. Throws InputError naming the field.
ComparedWith read_compared_with(const JsonField& object);

// "across_ranks": {"geglu_mlp_tp": {"work": "geglu_mlp", "divided": ["hidden"], "exchanges":
// ["all_reduce"]}}; read of the object that has the key, if it does. Throws InputError naming the
// field.
nlohmann::json across_ranks_json(const OperationsAcrossRanks& operations);
OperationsAcrossRanks read_across_ranks(const JsonField& object);

// Whether a benchmark of the file is a control. A fusegate file from before controls were declared
// has the two operations that were controls then.
bool is_control(const DeclaredControls& declared, const Provenance& provenance,
                std::string_view benchmark);

// The fields must be strings, numbers and booleans.
Environment read_environment(const JsonField& field);

}  // namespace fusegate::baselines
