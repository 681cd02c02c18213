// What the benchmark program says of its progress: lines on its standard output that start with
// "@fusegate " and go on with one JSON object. Every other line is for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fusegate {

struct ProgressEvent {
  int index = 0;          // benchmarks finished; 0: the invocation has just started
  int total = 0;          // benchmarks in this invocation
  std::string benchmark;  // the one that finished
  std::string failure;    // why it has no result; empty where it has one
};

// nothing where the line is no event, or one of a kind that this version does not know.
std::optional<ProgressEvent> parse_progress_event(std::string_view line);

}  // namespace fusegate
