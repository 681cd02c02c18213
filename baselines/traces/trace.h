// A trace: what ran when, on host threads and on GPU streams. fusegate_bench records one and writes
// it (writer.h); the fusegate program reads it and PyTorch's (reader.h).
//
// Categories bear the names that PyTorch's profiler (Kineto) gives them in its files, so that one
// reader, and every tool made for the ones, takes both. All times are ns on one axis for host and
// GPU, from an origin of the recorder's choice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::baselines {

enum class TraceCategory {
  kOperator,     // cpu_op: a PyTorch operator
  kRange,        // user_annotation: an NVTX range, record_function
  kRuntimeCall,  // cuda_runtime
  kDriverCall,   // cuda_driver
  kKernel,       // kernel
  kMemcpy,       // gpu_memcpy
  kMemset,       // gpu_memset
  kGpuRange,     // gpu_user_annotation: from the first to the last kernel launched in a range
  kPython,       // python_function
  kOverhead,     // overhead: the profiler's own
};

// How PyTorch names the ranges of its schedule's steps, before their numbers.
inline constexpr std::string_view kStepPrefix = "ProfilerStep#";

std::string_view category_name(TraceCategory category);
// Also by the names that PyTorch before 1.12 wrote. Nothing where it is none of the above.
std::optional<TraceCategory> parse_category(std::string_view name);
// A kernel or a memory operation: what takes a GPU's time.
bool is_gpu_work(TraceCategory category);
// A call of the CUDA runtime or driver.
bool is_call(TraceCategory category);

// A host thread (process and thread are the system's ids) or a GPU stream (the device's and the
// stream's number).
struct TraceTrack {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::string process_name{};
  std::string thread_name{};

  bool operator==(const TraceTrack&) const = default;
};

struct LaunchShape {
  std::array<std::int64_t, 3> grid{};
  std::array<std::int64_t, 3> block{};
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;         // static and dynamic together
  std::int64_t static_shared_bytes = 0;  // of these; known when recording, not in files

  bool operator==(const LaunchShape&) const = default;
};

struct TraceEvent {
  std::string name;
  TraceCategory category = TraceCategory::kRange;
  std::size_t track = 0;  // in Trace::tracks
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t correlation = 0;         // joins a call to what it launched; 0 for none
  std::int64_t external_id = 0;         // PyTorch's: joins work to its operator; 0 for none
  std::optional<std::int64_t> bytes{};  // of a memory operation
  std::optional<LaunchShape> launch{};  // of a kernel

  std::int64_t end_ns() const { return start_ns + duration_ns; }
  bool operator==(const TraceEvent&) const = default;
};

// One value of a quantity that changes over time, such as "SM clock (MHz)".
struct TraceCounter {
  std::string name;
  std::int64_t process = 0;  // whose lanes it is shown beside
  std::int64_t at_ns = 0;
  double value = 0;

  bool operator==(const TraceCounter&) const = default;
};

// What of a file could not be read, beside the events.
struct TraceLosses {
  std::size_t events = 0;    // left out, as one of their values is wrong
  std::size_t gpu_work = 0;  // of these, what was or may have been GPU work
  std::string first{};       // where, and what is wrong there
  std::size_t bytes = 0;     // that are no UTF-8, and are escaped in names
};

struct Trace {
  std::vector<TraceTrack> tracks;
  std::vector<TraceEvent> events;  // in any order
  std::vector<TraceCounter> counters;
  // What else a reader should know of it (commit, device, driver); null or an object.
  nlohmann::json about;
  TraceLosses lost{};

  // The index of the track of that process and thread, which is added where there is none yet.
  std::size_t add_track(TraceTrack track);
};

}  // namespace fusegate::baselines
