// One element of "traceEvents" as the file has it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baselines/io/json_walk.h"

namespace fusegate::baselines {

// The keys that are used; others, stacks and input shapes above all, are skipped. Texts stay valid
// until the walk through the file ends.
struct EventText {
  std::string_view phase, category, name;
  std::optional<std::int64_t> process, thread, start_ns, duration_ns;
  // Of "args".
  std::optional<std::int64_t> correlation, external_id, stream, bytes, registers, shared_bytes;
  std::optional<std::array<std::int64_t, 3>> grid, block;
  std::string_view given_name;                              // of a process or thread
  std::vector<std::pair<std::string_view, double>> values;  // of a counter
  // The first launch argument of a wrong type, and what it must be. An error in GPU work only:
  // PyTorch's operators of Triton kernels have a text as "grid".
  std::string_view wrong_argument;
  std::string wrong_because;
  // Why the event is left out, and the key, as in "args.correlation".
  std::string wrong_key, problem;

  // The first problem counts.
  void reject(std::string_view key, std::string_view why);
};

// Never throws for a bad value: the event has a problem then.
EventText read_event_text(simdjson::ondemand::value event);

}  // namespace fusegate::baselines
