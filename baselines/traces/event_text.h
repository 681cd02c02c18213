// One element of "traceEvents" as it stands in the file, and the keys that matter in it. What
// nobody reads, stacks and input shapes above all, is passed over.
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

// The texts stay until the walk through the file ends.
struct TraceEventText {
  std::string_view phase;
  std::string_view category;
  std::string_view name;
  std::optional<std::int64_t> process, thread, start_ns, duration_ns;
  // Of "args".
  std::optional<std::int64_t> correlation, external_id, stream, bytes, registers, shared_bytes;
  std::optional<std::array<std::int64_t, 3>> grid, block;
  std::string_view given_name;                              // of a process or thread
  std::vector<std::pair<std::string_view, double>> values;  // of a counter
  // The first argument of a launch that is not of its type, and what it must be. Wrong in GPU work
  // alone: PyTorch's operators of Triton kernels have a "grid" that is a text.
  std::string_view wrong_argument;
  std::string wrong_because;
};

// Throws InputError for what is of a wrong type, as in "traceEvents[7].args.grid" for index 7.
TraceEventText read_event(simdjson::ondemand::object event, std::string_view source,
                          std::size_t index);

// ns of a number of microseconds as JSON writes it ("12", "12.345", "1.5e3"); what is below 1 ns is
// cut off. Nothing where it does not fit: 292 years.
std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text);

}  // namespace fusegate::baselines
