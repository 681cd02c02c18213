#include "baselines/io/error.h"

#include <fmt/format.h>

namespace fusegate::baselines {
namespace {

std::string message(std::string_view source, std::string_view field, std::string_view problem) {
  return field.empty() ? fmt::format("{}: {}", source, problem)
                       : fmt::format("{}: {}: {}", source, field, problem);
}

}  // namespace

InputError::InputError(std::string_view source, std::string_view field, std::string_view problem)
    : std::runtime_error(message(source, field, problem)) {}

}  // namespace fusegate::baselines
