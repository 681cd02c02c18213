// What the benchmark program says of its progress: lines on its standard output that start with
// "@fusegate " and go on with one JSON object. Every other line is for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fusegate::ci {

struct ProgressEvent {
  int index = 0;  // places finished; 0: the invocation has just started
  int total = 0;  // places in this invocation: of each benchmark as many as the protocol has
  std::string benchmark{};  // whose place it was
  std::string failure{};    // why it has no result; empty where it has one
  std::string note{};       // what people should know of all that it measures; then nothing else
  // Nothing is measured yet: this benchmark's results are being checked. index and total are then
  // of benchmarks.
  bool is_check = false;
};

// nothing where the line is no event, or one of a kind that this version does not know.
std::optional<ProgressEvent> parse_progress_event(std::string_view line);

}  // namespace fusegate::ci
