// What `fusegate codes` writes, docs/schema/codes.schema.json.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "baselines/io/json_field.h"
#include "ci/codes/program_codes.h"

namespace fusegate::ci {

nlohmann::json code_json(const ProgramKernel& kernel);
std::string codes_text(const ProgramCodes& codes);

// Throws InputError naming the file and the field.
ProgramCodes parse_codes(std::string_view text, const std::string& source);

// A file of `fusegate codes`, or what read_codes() reads. Throws as these do.
ProgramCodes load_codes(const std::filesystem::path& path);

}  // namespace fusegate::ci
