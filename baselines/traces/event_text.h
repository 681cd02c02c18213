// One element of "traceEvents" as it stands in the file, and the keys that matter in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fusegate::baselines {

struct TraceEventText {
  std::string phase;
  std::string category;
  std::string name;
  std::optional<std::int64_t> process, thread, start_ns, duration_ns;
  // Of "args".
  std::optional<std::int64_t> correlation, external_id, stream, bytes, registers, shared_bytes;
  std::optional<std::array<std::int64_t, 3>> grid, block;
  std::string given_name;                              // of a process or thread
  std::vector<std::pair<std::string, double>> values;  // of a counter
  // The first argument of a launch that is not of its type, and what it must be. Wrong in GPU work
  // alone: PyTorch's operators of Triton kernels have a "grid" that is a text.
  std::string wrong_argument, wrong_because;

  // Back to empty, keeping memory: a large file has a million events.
  void clear() {
    for (std::string* text :
         {&phase, &category, &name, &given_name, &wrong_argument, &wrong_because})
      text->clear();
    for (auto* number : {&process, &thread, &start_ns, &duration_ns, &correlation, &external_id,
                         &stream, &bytes, &registers, &shared_bytes}) {
      number->reset();
    }
    grid.reset();
    block.reset();
    values.clear();
  }
};

// Where an integer argument belongs; null where nobody reads it.
inline std::optional<std::int64_t>* integer_argument(TraceEventText& event, std::string_view key) {
  if (key == "correlation") return &event.correlation;
  if (key == "External id" || key == "external id") return &event.external_id;
  if (key == "stream") return &event.stream;
  if (key == "bytes") return &event.bytes;
  if (key == "registers per thread") return &event.registers;
  if (key == "shared memory") return &event.shared_bytes;
  return nullptr;
}

inline std::optional<std::array<std::int64_t, 3>>* triple_argument(TraceEventText& event,
                                                                   std::string_view key) {
  if (key == "grid") return &event.grid;
  if (key == "block") return &event.block;
  return nullptr;
}

// ns of a number of microseconds as JSON writes it ("12.345", "1.5e3"); what is below 1 ns is cut
// off. Nothing where it does not fit: 292 years.
std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text);

}  // namespace fusegate::baselines
