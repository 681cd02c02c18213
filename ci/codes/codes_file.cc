#include "ci/codes/codes_file.h"

#include <fmt/format.h>

#include "baselines/io/file_io.h"

namespace fusegate::ci {
namespace {

using baselines::JsonField;

constexpr int kCodesSchemaVersion = 1;
constexpr const char* kVersionKey = "fusegate_codes";

int from_zero(const JsonField& field) {
  const int number = field.integer();
  if (number < 0) field.fail("must be 0 or above");
  return number;
}

// Member by member: where an aggregate's initialiser throws, g++ 12 destroys nested members twice.
ProgramKernel parse_kernel(const JsonField& field) {
  ProgramKernel kernel;
  kernel.name = field.at("name").text();
  kernel.architecture = field.at("architecture").text();
  kernel.code.hash = field.at("hash").text();
  kernel.code.instructions = from_zero(field.at("instructions"));
  kernel.code.registers = from_zero(field.at("registers"));
  kernel.code.shared_bytes = from_zero(field.at("shared_bytes"));
  kernel.code.local_bytes = from_zero(field.at("local_bytes"));
  kernel.of_one_name = from_zero(field.at("of_one_name"));
  for (const auto& [kind, count] : field.at("kinds").members()) {
    kernel.kinds[kind] = from_zero(count);
  }
  return kernel;
}

}  // namespace

nlohmann::json code_json(const ProgramKernel& kernel) {
  const baselines::KernelCode& code = kernel.code;
  return {{"hash", code.hash},
          {"instructions", code.instructions},
          {"registers", code.registers},
          {"shared_bytes", code.shared_bytes},
          {"local_bytes", code.local_bytes},
          {"kinds", kernel.kinds}};
}

std::string codes_text(const ProgramCodes& codes) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const ProgramKernel& kernel : codes.kernels) {
    nlohmann::json json = code_json(kernel);
    json["name"] = kernel.name;
    json["architecture"] = kernel.architecture;
    json["of_one_name"] = kernel.of_one_name;
    kernels.push_back(std::move(json));
  }
  const nlohmann::json file = {{kVersionKey, kCodesSchemaVersion},
                               {"sources", codes.sources},
                               {"kernels", std::move(kernels)},
                               {"host", codes.host},
                               {"notes", codes.notes}};
  return file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

ProgramCodes parse_codes(std::string_view text, const std::string& source) {
  const nlohmann::json json = baselines::parse_json(text, source);
  const JsonField file(json, source, "");
  if (const int version = file.at(kVersionKey).integer(); version != kCodesSchemaVersion) {
    file.at(kVersionKey)
        .fail(fmt::format("is {}; this fusegate reads {}", version, kCodesSchemaVersion));
  }
  ProgramCodes codes;
  for (const JsonField& name : file.at("sources").elements()) codes.sources.push_back(name.text());
  for (const JsonField& kernel : file.at("kernels").elements()) {
    codes.kernels.push_back(parse_kernel(kernel));
  }
  for (const auto& [section, hash] : file.at("host").members()) codes.host[section] = hash.text();
  for (const JsonField& note : file.at("notes").elements()) codes.notes.push_back(note.text());
  return codes;
}

ProgramCodes load_codes(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return read_codes({path});
  const std::string text = baselines::read_file(path);
  return text.starts_with('{') ? parse_codes(text, path.string()) : read_codes({path});
}

}  // namespace fusegate::ci
