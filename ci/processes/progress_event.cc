#include "ci/processes/progress_event.h"

#include <nlohmann/json.hpp>

namespace fusegate::ci {
namespace {

constexpr std::string_view kPrefix = "@fusegate ";

int count_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int>() : -1;
}

std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<ProgressEvent> parse_progress_event(std::string_view line) {
  if (!line.starts_with(kPrefix)) return std::nullopt;
  const auto object = nlohmann::json::parse(line.substr(kPrefix.size()), nullptr, false);
  if (!object.is_object()) return std::nullopt;  // also where it did not parse
  ProgressEvent event;
  event.total = count_in(object, "total");
  const std::string kind = text_in(object, "event");
  if (kind == "benchmark") {
    event.index = count_in(object, "index");
    event.benchmark = text_in(object, "benchmark");
    event.failure = text_in(object, "failure");
  } else if (kind != "start") {
    return std::nullopt;
  }
  const bool sensible = event.index >= 0 && event.total >= event.index && event.total > 0;
  return sensible ? std::optional(event) : std::nullopt;
}

}  // namespace fusegate::ci
