#include "ci/run/progress_event.h"

#include <nlohmann/json.hpp>

namespace fusegate::ci {
namespace {

constexpr std::string_view kPrefix = "@fusegate ";

}  // namespace

std::optional<ProgressEvent> parse_progress_event(std::string_view line) try {
  if (!line.starts_with(kPrefix)) return std::nullopt;
  const auto object = nlohmann::json::parse(line.substr(kPrefix.size()));
  if (object.at("event") == "note") {
    const auto text = object.at("text").get<std::string>();
    return text.empty() ? std::nullopt : std::optional(ProgressEvent{.note = text});
  }
  const bool is_start = object.at("event") == "start";
  const bool is_check = object.at("event") == "check";
  if (!is_start && !is_check && object.at("event") != "benchmark") return std::nullopt;
  ProgressEvent event{.total = object.at("total").get<int>(), .is_check = is_check};
  if (!is_start) {
    event.index = object.at("index").get<int>();
    event.benchmark = object.value("benchmark", "");
    event.failure = object.value("failure", "");
  }
  const bool sensible = event.index >= 0 && event.total >= event.index && event.total > 0;
  return sensible ? std::optional(event) : std::nullopt;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace fusegate::ci
