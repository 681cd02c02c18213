#include "baselines/io/error.h"

#include "baselines/io/printable.h"

namespace fusegate::baselines {
namespace {

// A message is one line that can be read, whatever a file's fields and names hold. The longest of
// our own lists why a run is not accepted.
constexpr std::size_t kLongestLocation = 400;
constexpr std::size_t kLongestProblem = 1000;

std::string message(std::string_view source, std::string_view field, std::string_view problem) {
  std::string text = printable_excerpt(source, kLongestLocation) + ": ";
  if (!field.empty()) text += printable_excerpt(field, kLongestLocation) + ": ";
  return text + printable_excerpt(problem, kLongestProblem);
}

}  // namespace

InputError::InputError(std::string_view source, std::string_view field, std::string_view problem)
    : std::runtime_error(message(source, field, problem)) {}

}  // namespace fusegate::baselines
