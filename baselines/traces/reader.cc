#include "baselines/traces/reader.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "baselines/io/error.h"
#include "baselines/io/json_walk.h"
#include "baselines/traces/event_text.h"

namespace fusegate::baselines {
namespace {

using simdjson::ondemand::json_type;

class TraceBuilder {
 public:
  explicit TraceBuilder(std::string_view source) : source_(source) {}

  void read(simdjson::ondemand::document& document) {
    const json_type type = document.type();
    if (type == json_type::array) return read_events(document.get_array());
    if (type != json_type::object) {
      throw InputError(source_, "", "must be a JSON object or an array of events");
    }
    bool saw_events = false;
    for (auto member : document.get_object()) {
      if (key_of(member) != "traceEvents") continue;
      if (saw_events) throw InputError(source_, "traceEvents", "stands there twice");
      saw_events = true;
      simdjson::ondemand::value events = member.value();
      if (events.type() != json_type::array) {
        throw InputError(source_, "traceEvents", "must be an array");
      }
      read_events(events.get_array());
    }
    if (!saw_events) throw InputError(source_, "traceEvents", "is missing");
  }

  Trace take() {
    for (TraceTrack& track : trace_.tracks) {
      track.process_name = process_names_[track.process];
      track.thread_name = thread_names_[{track.process, track.thread}];
    }
    return std::move(trace_);
  }

 private:
  std::string path() const { return fmt::format("traceEvents[{}]", index_); }
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const {
    throw InputError(source_, fmt::format("{}.{}", path(), key), problem);
  }
  std::int64_t required(const std::optional<std::int64_t>& value, std::string_view key) const {
    if (!value) fail(key, "is missing or no number");
    return *value;
  }

  void read_events(simdjson::ondemand::array events) {
    for (simdjson::ondemand::value event : events) {
      if (event.type() != json_type::object) throw InputError(source_, path(), "must be an object");
      add(read_event(event, source_, index_));
      ++index_;
    }
  }

  void add(const TraceEventText& text) {
    if (text.phase == "X") {
      add_complete(text);
    } else if (text.phase == "M") {
      add_name(text);
    } else if (text.phase == "C") {
      add_counters(text);
    } else if (text.phase == "B" || text.phase == "E") {
      fail("ph", fmt::format("\"{}\" is not read, only complete events are (\"X\")", text.phase));
    } else if (text.phase.empty()) {
      fail("ph", "is missing");
    }
  }

  void add_complete(const TraceEventText& text) {
    const auto category = parse_category(text.category);
    if (!category) return;
    TraceEvent event{.name = std::string(text.name), .category = *category};
    if (text.name.empty()) fail("name", "is missing or empty");
    event.start_ns = required(text.start_ns, "ts");
    event.duration_ns = required(text.duration_ns, "dur");
    if (event.duration_ns < 0) fail("dur", "must not be negative");
    if (is_gpu_work(*category) && !text.wrong_argument.empty()) {
      fail(fmt::format("args.{}", text.wrong_argument), text.wrong_because);
    }
    event.track = track_of(text, *category);
    event.correlation = text.correlation.value_or(0);
    event.external_id = text.external_id.value_or(0);
    event.bytes = text.bytes;
    if (*category == TraceCategory::kKernel && text.grid && text.block) {
      event.launch = LaunchShape{*text.grid, *text.block, text.registers.value_or(0),
                                 text.shared_bytes.value_or(0)};
    }
    trace_.events.push_back(std::move(event));
  }

  std::size_t track_of(const TraceEventText& text, TraceCategory category) {
    const std::int64_t drawn = required(text.thread, "tid");
    const std::pair id(required(text.process, "pid"),
                       is_gpu_work(category) ? text.stream.value_or(drawn) : drawn);
    const auto [known, added] = tracks_.try_emplace(id, trace_.tracks.size());
    if (added) trace_.tracks.push_back({.process = id.first, .thread = id.second});
    return known->second;
  }

  void add_name(const TraceEventText& text) {
    if (!text.process) return;
    if (text.name == "process_name") process_names_[*text.process] = text.given_name;
    if (text.name == "thread_name" && text.thread) {
      thread_names_[{*text.process, *text.thread}] = text.given_name;
    }
  }

  void add_counters(const TraceEventText& text) {
    for (const auto& [key, value] : text.values) {
      trace_.counters.push_back(
          {.name = key == "value" ? std::string(text.name) : fmt::format("{}: {}", text.name, key),
           .process = text.process.value_or(0),
           .at_ns = required(text.start_ns, "ts"),
           .value = value});
    }
  }

  std::string_view source_;
  std::size_t index_ = 0;
  Trace trace_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> tracks_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names_;
};

}  // namespace

Trace parse_trace(std::string text, const std::string& source) {
  TraceBuilder builder(source);
  walk_json(std::move(text), source, [&](auto& document) { builder.read(document); });
  Trace trace = builder.take();
  if (trace.events.empty()) {
    throw InputError(source, "traceEvents",
                     "has no complete event of a category that PyTorch's profiler or fusegate "
                     "writes (cpu_op, user_annotation, cuda_runtime, kernel, ...)");
  }
  return trace;
}

}  // namespace fusegate::baselines
